"""The facts of one file, arranged for look-ups."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from operator import attrgetter, itemgetter
from typing import NamedTuple, TypeAlias

from graphrag_mcp.languages.policy import Policy, policy_of
from graphrag_mcp.model.expressions import Expression, Member, Name, TupleOf, parse
from graphrag_mcp.model.facts import (
    ASSIGNED,
    Bound,
    Declared,
    Exported,
    FileFacts,
    Flow,
    Imported,
    Mark,
    Mention,
    SymbolId,
    Use,
    identities_of,
)
from graphrag_mcp.model.files import CALLABLE, SymbolKind
from graphrag_mcp.model.grouping import grouped
from graphrag_mcp.model.links import Place
from graphrag_mcp.resolution.reads import IMPORTED_BY_ALL, MOST_OF_A_NAME, Key, Noted, Reads, Row

Span: TypeAlias = tuple[int, int]  # Offsets; the second is behind it.


Rows: TypeAlias = Mapping[Key, Row] | Noted[Key, Row]


class Sought(NamedTuple):
    """As what a name is looked up. arity: the number of arguments of a call, -1 where it does not matter."""

    use: str = ""
    arity: int = -1


ANYTHING = Sought()
_TYPE, _VALUE = Sought(Use.TYPE), Sought(Use.VALUE)


def sought_in(policy: Policy, use: str, count: int = -1) -> Sought:
    """Return what tells names of this use apart from others, in a language."""
    if policy.names.has_spaces:
        return _TYPE if use == Use.TYPE else _VALUE
    return Sought(use, count) if policy.names.spaces else ANYTHING


def arguments_of(call: Mention) -> Sequence[Expression]:
    """Return what a call is given, in languages with overloads."""
    arguments = parse(call.arguments)
    return arguments.items if isinstance(arguments, TupleOf) else (arguments,)


class Nested:
    """Finds the spans around an offset, among spans that lie in each other or beside each other.

    spans: the outer ones first. parents: of each the index of the one around it, -1 for none.
    """

    def __init__(self, spans: Iterable[Span]) -> None:
        self.spans = sorted(set(spans), key=lambda span: (span[0], -span[1]))
        self.parents: list[int] = []
        self._starts = [start for start, _ in self.spans]
        open_spans: list[int] = []
        for index, (start, _) in enumerate(self.spans):
            while open_spans and self.spans[open_spans[-1]][1] <= start:
                open_spans.pop()
            self.parents.append(open_spans[-1] if open_spans else -1)
            open_spans.append(index)

    def around(self, at: int) -> list[Span]:
        """Return the spans around an offset, the inner ones first."""
        around: list[Span] = []
        index = bisect_right(self._starts, at) - 1
        while index >= 0:
            if self.spans[index][1] > at:
                around.append(self.spans[index])
            index = self.parents[index]
        return around


class File:
    """The facts of one file, arranged for look-ups."""

    def __init__(self, path: str, facts: FileFacts, reads: Reads | None = None) -> None:
        """reads: where look-ups by other files are noted."""
        self.path, self.facts, self._reads = path, facts, reads
        self.policy = policy_of(facts.language)
        self._meanings: dict[tuple[str, int, int, str], list[Bound]] = {}

    @cached_property
    def _bound(self) -> Mapping[str, tuple[Nested, Mapping[Span, list[Bound]]]]:
        """The bindings by name and span."""
        scopes: dict[str, dict[Span, list[Bound]]] = {}
        for binding in self.facts.bound:
            scopes.setdefault(binding.name, {}).setdefault((binding.start, binding.stop), []).append(binding)
        return {name: (Nested(by_span), by_span) for name, by_span in scopes.items()}

    @cached_property
    def _declared(self) -> tuple[Nested, Mapping[Span, list[int]]]:
        """The declarations by span."""
        declared = enumerate(self.facts.declared)
        numbers = grouped(((declaration.start, declaration.stop), number) for number, declaration in declared)
        return Nested(numbers), numbers

    def _noting(self, kind: str, rows: Mapping[Key, Row], name_of: Callable[[Key], str] = str) -> "Rows[Key, Row]":
        return Noted(self._reads, self.path, kind, rows, name_of) if self._reads else rows

    def note(self, kind: str, name: str = "") -> None:
        """Note that something of the file was read."""
        if self._reads:
            self._reads.note(self.path, kind, name)

    @cached_property
    def identities(self) -> Sequence[str]:
        """A name for each declaration that does not depend on what stands before it; see `identities_of`."""
        return identities_of(self.facts)

    @cached_property
    def places(self) -> Sequence[Place]:
        """The places of the declarations."""
        return [Place(self.path, identity) for identity in self.identities]

    @cached_property
    def members(self) -> "Rows[tuple[int, str], Sequence[int]]":
        """The declarations by their owner and name."""
        declared = enumerate(self.facts.declared)
        members = grouped(((declaration.owner, declaration.name), number) for number, declaration in declared)
        return self._noting("member", members, itemgetter(1))

    @cached_property
    def methods(self) -> "Rows[int, Sequence[int]]":
        """The methods that a type declares, by its number."""
        methods = grouped(
            (declaration.owner, number)
            for number, declaration in enumerate(self.facts.declared)
            if declaration.kind == SymbolKind.METHOD
        )
        return self._noting("methods", methods, lambda owner: self.identities[owner])

    @cached_property
    def properties(self) -> "Rows[str, bool]":
        """The qualified names of what is read without a call."""
        return self._noting(
            "property",
            {declaration.qualified: True for declaration in self.facts.declared if Mark.PROPERTY in declaration.marks},
        )

    def symbols(self, owner: int, name: str) -> tuple[SymbolId, ...]:
        """Return the declarations of a name in another one, or at the top: -1; at most one more than is told apart."""
        numbers = self.members.get((owner, name), ())[: MOST_OF_A_NAME + 1]
        return tuple(SymbolId(self.path, number) for number in numbers)

    @cached_property
    def imports(self) -> "Rows[str, Sequence[Imported]]":
        """What the file imports, by the names that it gives it."""
        return self._noting("import", {name: rows for name, rows in self._imports.items() if name})

    @cached_property
    def _imports(self) -> Mapping[str, Sequence[Imported]]:
        return grouped((imported.name, imported) for imported in self.facts.imports)

    def unnamed_imports(self, name: str) -> Sequence[Imported]:
        """Return what the file imports without a name, which may give it this one."""
        self.note(IMPORTED_BY_ALL)
        self.note("imported as", name)
        return self._imports.get("", ())

    @cached_property
    def exports(self) -> "Rows[str, Sequence[Exported]]":
        """What the file exports, by the names for others."""
        return self._noting("export", grouped((export.name, export) for export in self.facts.exports))

    @property
    def is_module(self) -> bool:
        """Whether the file imports or exports anything."""
        return bool(self.facts.imports or self.facts.exports)

    @cached_property
    def assigned(self) -> "Rows[str, Sequence[tuple[Flow, Expression | None]]]":
        """What variables and members are given, by the name; with the value whose member it is."""
        assigned: dict[str, list[tuple[Flow, Expression | None]]] = {}
        for flow in self.facts.flows:
            if flow.argument == ASSIGNED and self.policy.names.is_dynamic:
                match parse(flow.into):
                    case Member(owner, name):
                        assigned.setdefault(name, []).append((flow, owner))
                    case Name(name):
                        assigned.setdefault(name, []).append((flow, None))
        return self._noting("given", assigned)

    @cached_property
    def handed(self) -> Mapping[Expression, list[Flow]]:
        """The values that are given as arguments, by what is called."""
        return grouped((parse(flow.into), flow) for flow in self.facts.flows if flow.argument >= 0)

    @cached_property
    def given(self) -> Mapping[tuple[int, Expression], Sequence[Mention]]:
        """The calls that are given a value as their argument of a number, in languages with overloads."""
        return grouped(
            ((place, value), mention)
            for mention in self.facts.mentions
            if mention.arguments
            for place, value in enumerate(arguments_of(mention))
        )

    def mentions_in(self, declaration: Declared) -> Iterator[Mention]:
        """Yield the mentions in a declaration."""
        yield from (mention for mention in self.facts.mentions if declaration.start <= mention.at < declaration.stop)

    def mentions_on(self, line: int) -> Sequence[Mention]:
        """Return the mentions of a line, as they are written."""
        first = bisect_left(self.facts.mentions, line, key=attrgetter("line"))
        return self.facts.mentions[first : bisect_right(self.facts.mentions, line, first, key=attrgetter("line"))]

    def owned_by(self, number: int) -> Iterator[tuple[SymbolId, Declared]]:
        """Yield the declarations that are members of one, of whatever name."""
        for member, declaration in enumerate(self.facts.declared):
            if declaration.owner == number:
                yield SymbolId(self.path, member), declaration

    def types_around(self, at: int) -> list[int]:
        """Return the types around an offset, outer ones first."""
        return [
            number for number, declaration in reversed(self.declared_around(at)) if declaration.kind == SymbolKind.TYPE
        ]

    def declared_around(self, at: int) -> list[tuple[int, Declared]]:
        """Return the declarations around an offset with their numbers, inner ones first."""
        nested, by_span = self._declared
        return [(number, self.facts.declared[number]) for span in nested.around(at) for number in by_span[span]]

    def is_in_function(self, at: int, owner: int) -> bool:
        """Return whether an offset is in the body of a function inside of a type."""
        start = self.facts.declared[owner].start
        return any(start < inner for inner, _ in self._each.around(at)) or any(
            declaration.kind in CALLABLE and start < declaration.at < at and self._bodies.get(declaration.at, 0) <= at
            for _, declaration in self.declared_around(at)
        )

    @cached_property
    def _each(self) -> Nested:
        """The parts of the file that are functions of their own, without a name: they see nothing of a type around."""
        return Nested((binding.start, binding.stop) for binding in self.facts.bound if binding.kind == "each")

    @cached_property
    def _bodies(self) -> Mapping[int, int]:
        """Where the bodies of functions with parameters begin, by where the functions do."""
        return {binding.at: binding.start for binding in self.facts.bound if binding.kind == "parameter"}

    @cached_property
    def _borders(self) -> Sequence[int]:
        """The offsets at which a span begins or ends, that of a function's body too."""
        borders = {0}
        for binding in self.facts.bound:
            borders.update((binding.start, binding.stop))
        for declaration in self.facts.declared:
            borders.update((declaration.start, declaration.at + 1, declaration.stop))
        return sorted(borders)

    def scope_at(self, at: int) -> int:
        """Return the first offset from which on all spans are those around this one: names mean the same there."""
        return self._borders[bisect_right(self._borders, at) - 1]

    def innermost(self, name: str, at: int, sought: Sought = ANYTHING) -> list[Bound]:
        """Return the bindings of a name in the smallest range around an offset."""
        return next((bound for group in self._groups(name, at) if (bound := self._meaning(group, sought.use))), [])

    def around(self, name: str, at: int) -> list[Bound]:
        """Return the bindings of a name around an offset, the outer ones first."""
        return [binding for group in reversed([*self._groups(name, at)]) for binding in group]

    def _groups(self, name: str, at: int) -> Iterator[list[Bound]]:
        """Yield the bindings of a name around an offset by their spans, the inner ones first."""
        self.note("bound", name)
        if name in self._bound:
            nested, by_span = self._bound[name]
            yield from (by_span[span] for span in nested.around(at))

    def _meaning(self, group: list[Bound], use: str) -> list[Bound]:
        """Return those of a group that a use may mean; kept, since a variable may be bound a thousand times."""
        key = (group[0].name, group[0].start, group[0].stop, use)
        if key not in self._meanings:
            self._meanings[key] = [binding for binding in group if self._may_mean(binding, use)]
        return self._meanings[key]

    def _may_mean(self, binding: Bound, use: str) -> bool:
        if use and self.policy.names.has_spaces:
            return binding.kind in ("declared", "alias") or (binding.kind == "type") == (use == Use.TYPE)
        spaces = self.policy.names.spaces.get(use)
        if not spaces:
            return True
        if binding.kind == "declared":
            kind = self.facts.declared[int(binding.value[1:])].kind
        else:
            kind = SymbolKind.TYPE if binding.kind == "type" else SymbolKind.FIELD
        return any(kind in kinds for kinds in spaces)
