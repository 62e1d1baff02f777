"""What a file hands over: functions where interfaces are expected, and what is kept until it is called."""

from collections.abc import Iterator, Sequence

from graphrag_mcp.model.expressions import Expression, Member, Name, parse, says_type
from graphrag_mcp.model.facts import (
    ANY_MEMBER,
    Mention,
    SymbolId,
    Use,
)
from graphrag_mcp.model.files import CALLABLE, VARIABLE, RelationKind, SymbolKind
from graphrag_mcp.model.links import How, Link, Place
from graphrag_mcp.model.values import (
    Function,
    Instance,
)
from graphrag_mcp.resolution.files import File
from graphrag_mcp.resolution.libraries import LIBRARIES
from graphrag_mcp.resolution.places import Places, types_of
from graphrag_mcp.resolution.references import References, functions_of, held_in
from graphrag_mcp.resolution.slots import Slots


class Handing(Places):
    """The links of what one file hands over."""

    def __init__(self, references: References, file: File) -> None:
        super().__init__(references, file)
        self._slots = Slots(references.resolver, file)

    def links(self) -> Iterator[Link]:
        """Yield the links of handed values."""
        yield from self._handed()
        yield from self._filled()

    def _handed(self) -> Iterator[Link]:
        """Yield the functions that are given where an interface is expected."""
        for flow in self._facts.flows:
            value = self._resolver.expressions.value(self._path, flow.at, parse(flow.value))
            is_given = isinstance(value, Function) or "#" in flow.value or flow.value[:1] == "^"  # `Type::new`
            for interface in types_of(self._resolver.taker(self._path, flow)) if is_given else ():
                operation = self._resolver.operation(interface)
                if operation is None and not self._resolver.is_function_type(interface):
                    continue
                line, source = self._line(flow.at), self._source(flow.at)
                functions = [self._place(symbol) for symbol in value.symbols] if isinstance(value, Function) else [None]
                for function in functions:
                    kind = RelationKind.IMPLEMENTS
                    yield Link(self._place(interface), source, line, kind, "", How.HANDED, -1, function)
                    if function and operation:
                        place = self._place(operation)
                        yield Link(function, place, line, RelationKind.OVERRIDES, "", How.HANDED_AS)

    def runs(self, mention: Mention, source: Place) -> Iterator[Link]:
        """Yield that what a variable, parameter or field holds is called, where it is not known."""
        receiver = parse(mention.receiver)
        called: Expression = Name(mention.name)
        if mention.receiver:
            called = receiver if mention.name in ("", ANY_MEMBER) else Member(receiver, mention.name)
        slot = self._slots.of(mention.at, called)
        if slot:
            yield Link(slot, source, mention.line, RelationKind.CALLS, mention.use, How.RUNS)

    def _filled(self) -> Iterator[Link]:
        """Yield the functions and types that are kept in parameters, fields, variables and collections."""
        for flow in self._facts.flows:
            is_stored = flow.argument < 0 or self._slots.is_added(flow)
            if stored := self._kept(flow.at, flow.value, with_slots=is_stored):
                for slot in self._slots.filled(flow):
                    yield from _fill(slot, stored, self._line(flow.at))
        for declaration, place in zip(self._facts.declared, self._file.places, strict=True):
            is_written = declaration.value and (not says_type(declaration.value) or declaration.value[0] == "#")
            if declaration.kind in VARIABLE and is_written:
                yield from _fill(
                    place, self._kept(declaration.at, declaration.value, with_slots=True), declaration.line
                )

    def _kept(self, at: int, text: str, *, with_slots: bool) -> Sequence[tuple[Place, str]]:
        """Return the functions and types that a value is or contains, else the place in which it was kept before."""
        value = held_in(self._resolver.expressions.value(self._path, at, parse(text)))
        symbols = list(functions_of(value))
        if isinstance(value, Instance) and value.symbols[0].path == self._path:
            symbols += self._in_literal(value.symbols[0].number)
        functions = [(self._place(symbol), Use.FUNCTION) for symbol in symbols if symbol.path not in LIBRARIES]
        slot = self._slots.of(at, parse(text)) if with_slots and not functions else None
        return functions or ([(slot, Use.VALUE)] if slot else [])

    def _in_literal(self, number: int) -> Iterator[SymbolId]:
        """Yield the functions that an object literal contains."""
        literal = self._facts.declared[number]
        inside = enumerate(self._facts.declared) if not literal.name and literal.kind == SymbolKind.TYPE else ()
        for place, declaration in inside:
            if declaration.owner == number and declaration.kind in CALLABLE:
                yield SymbolId(self._path, place)
            elif declaration.owner == number:
                yield from functions_of(
                    self._resolver.expressions.written(SymbolId(self._path, place), declaration.value)
                )


def _fill(slot: Place, stored: Sequence[tuple[Place, str]], line: int) -> Iterator[Link]:
    """Yield from both sides what is kept in a place."""
    for place, use in stored:
        if place != slot:
            yield Link(slot, place, line, RelationKind.HANDS_ON, use, How.FILLS)
            yield Link(place, slot, line, RelationKind.HANDS_ON, use, How.FILLED)
