"""Decides what names mean: names, values, members and calls, from facts alone.

Unknown (None) is contagious: nothing that is made of an unknown value is ever decided. What is particular to a
language is in its policy. The resolver remembers what it found, so it serves one state of the index.
"""

from bisect import bisect_left
from collections.abc import Sequence, Set
from dataclasses import dataclass
from operator import attrgetter

from msgspec.structs import replace

from graphrag_mcp.model.expressions import Expression, Member, argument_around, parse, says_type
from graphrag_mcp.model.facts import BUILD, Flow, Mark, Mention, SymbolId, Use
from graphrag_mcp.model.files import SymbolKind
from graphrag_mcp.model.sources import FactSource
from graphrag_mcp.model.values import (
    ABSENT,
    INHERITED,
    OUTSIDE,
    Foreign,
    Function,
    Instance,
    Later,
    Outside,
    Referent,
    Signature,
    Type,
    Value,
    always,
    either,
    nothing,
    of_kind,
    symbols_of,
)
from graphrag_mcp.resolution.calls import Calls
from graphrag_mcp.resolution.expressions import Expressions
from graphrag_mcp.resolution.files import File, sought_in
from graphrag_mcp.resolution.foreign import ForeignTypes
from graphrag_mcp.resolution.members import Members
from graphrag_mcp.resolution.modules import Modules
from graphrag_mcp.resolution.names import Names
from graphrag_mcp.resolution.overloads import Overloads
from graphrag_mcp.resolution.reads import MOST_OF_A_NAME
from graphrag_mcp.resolution.state import ResolverPart, State, is_foreign, of_project
from graphrag_mcp.resolution.symbols import Symbols
from graphrag_mcp.resolution.types import Lineage, Types


@dataclass(eq=False)
class Meanings(ResolverPart):
    """Decides the values of declarations."""

    symbols: Symbols
    types: Types
    calls: Calls
    expressions: Expressions
    names: Names

    def meaning(self, symbols: tuple[SymbolId, ...]) -> Value | None:
        """Return the value of declarations of one name."""
        return self.state.once(("meaning", symbols), lambda: self._meaning(symbols))

    def _meaning(self, symbols: tuple[SymbolId, ...]) -> Value | None:
        if len(symbols) > 1:
            spaces = self.symbols.spaces(symbols)
            values = tuple(symbol for symbol in symbols if not self.symbols.is_only_type(symbol))
            values = tuple(symbol for symbol in values if symbol not in spaces) or values
            symbols = symbols if all(map(self.symbols.is_type, values)) else values
        kinds, rebinds = {self.declared(symbol).kind for symbol in symbols}, self.state.policy(symbols[0]).names.rebinds
        if kinds <= {SymbolKind.TYPE, SymbolKind.MODULE}:
            return None if self.names.lineage.is_no_type(symbols[0]) else self._aliased(symbols[0]) or Type(symbols)
        if functions := tuple(filter(self.symbols.is_callable, symbols)):
            if Mark.PROPERTY in self.declared(functions[0]).marks:
                return self.calls.result(Function(functions[:1]), nothing, 0)
            others = [self._held(symbol) for symbol in symbols if rebinds and symbol not in functions]
            return either([self.function(functions), *others])
        held = [symbol for symbol in symbols if says_type(self.declared(symbol).value)]
        assigned = [(declaration.at, declaration.value) for declaration in map(self.declared, symbols)]
        if len(symbols) > 1 and not held and rebinds and all(text for _, text in assigned):
            return self.expressions.in_turn(symbols[0].path, self.declared(symbols[0]).name, assigned)
        return either(self._held(symbol) for symbol in held or symbols)

    def function(self, symbols: tuple[SymbolId, ...], of: Value | None = None) -> Value | None:
        """Return functions, as their decorators change them."""
        if not self.state.policy(symbols[0]).names.rebinds:  # Decorators of TypeScript rarely give anything else.
            return Function(symbols, of)
        made = [self._decorated(symbol, Function((symbol,), of)) for symbol in symbols]
        if all(value == Function((symbol,), of) for value, symbol in zip(made, symbols, strict=True)):
            return Function(symbols, of)
        return either(made)

    def _decorated(self, symbol: SymbolId, value: Value | None) -> Value | None:
        declaration, policy = self.declared(symbol), self.state.policy(symbol)
        for text in reversed(declaration.decorators):
            decorator, decorated = self.expressions.written(symbol, text), value
            how = policy.calls.passes.get(decorator.name, "") if isinstance(decorator, Outside) else ""
            if how == "later":
                entered = self.calls.result(decorated, nothing, 0)
                value = Signature((), Later(self.expressions.each(entered, 1)))
            elif how != "value":
                value = self.calls.result(decorator, always(decorated), 1)
        return value

    def _aliased(self, symbol: SymbolId) -> Value | None:
        declaration = self.declared(symbol)
        if Mark.ALIAS not in declaration.marks:
            return None
        value = self.types.named(symbol.path, declaration.at, parse(declaration.value))
        if isinstance(value, Signature):
            return replace(value, alias=symbol)
        return of_kind(Type, value)

    def _held(self, symbol: SymbolId) -> Value | None:
        """Return what a variable or field holds."""
        declaration = self.declared(symbol)
        if not declaration.value:
            return None
        assigned = [(declaration.at, declaration.value)]
        if declaration.owner < 0 and not says_type(declaration.value):
            assigned += self.names.assigned(self.state.open(symbol.path), declaration.name, [])
        return self.expressions.in_turn(symbol.path, declaration.name, assigned)


_MOST_CALLS = 20  # Before a value that they may be given.


class Resolver:
    """Answers what names and expressions mean, in one state of the index.

    Each part answers one kind of question, and is built on those before it.
    """

    def __init__(self, source: FactSource, *, as_run: bool = False) -> None:
        """as_run: names mean what runs, where others mean what a file beside that declares."""
        self.state = State(source)
        self.begin, self.declared = self.state.begin, self.state.declared
        state, symbols = self.state, Symbols(self.state, self)
        types = Types(state, self, symbols)
        lineage = Lineage(state, self, types)
        overloads = Overloads(state, self, symbols, lineage)
        modules = Modules(state, self, symbols, as_run)
        members = Members(state, self, symbols, types, lineage, overloads, modules)
        calls = Calls(state, self, symbols, types, lineage, overloads, members)
        expressions = Expressions(state, self, types, members, calls)
        names = Names(state, self, symbols, types, lineage, modules, members, calls, expressions)
        meanings = Meanings(state, self, symbols, types, calls, expressions, names)
        self.foreign = ForeignTypes(state, self, symbols, lineage, modules, members, expressions)
        self.symbols, self.types, self.lineage, self.overloads = symbols, types, lineage, overloads
        self.modules, self.members, self.calls = modules, members, calls
        self.expressions, self.names = expressions, names
        # What the parts ask of those above them; see `Questions`.
        self.value, self.written = expressions.value, expressions.written
        self.list_of, self.instantiated = expressions.list_of, expressions.instantiated
        self.referent, self.in_file, self.library = names.referent, names.in_file, names.library
        self.meaning, self.function = meanings.meaning, meanings.function
        self.find, self.parameter = members.find, calls.parameter
        self.result, self.taken, self.operation = calls.result, calls.taken, calls.operation

    def resolve(self, path: str, mention: Mention) -> Referent | None:
        """Return what a mention refers to; None if that is not decided."""
        if not self.state.begin_part():
            return None
        file = self.state.open(path)
        referent = self._named(path, mention, mention.arity)
        if referent is None:
            is_foreign = mention.use == Use.KEY and self._is_foreign_place(path, mention.at, parse(mention.receiver))
            return Referent((), OUTSIDE) if is_foreign else None
        is_nothing = not referent.symbols and referent.value in (None, OUTSIDE) and referent is not INHERITED
        if is_nothing and mention.use == Use.CALL and file.policy.names.spaces:
            referent = self._named(path, mention, -1)  # One with another number of parameters: it was changed.
        elif file.policy.calls.overloads:
            referent = self._chosen(path, mention, referent)
        if referent is None or referent is ABSENT or (referent.is_open and not referent.symbols):
            return None
        if len(referent.symbols) > MOST_OF_A_NAME:
            return None
        symbols = of_project(referent.symbols)
        if file.policy.modules.needs and len(symbols) > 1:
            symbols = self.state.once(("built", path, symbols), lambda: self._built(file, symbols)) or symbols
        return referent._replace(symbols=symbols)

    def _built(self, file: File, symbols: tuple[SymbolId, ...]) -> tuple[SymbolId, ...]:
        """Return which of several declarations of one thing are in each build in which a file is, none if none is."""
        rule = file.policy.modules.needs
        own = tuple(symbol for symbol in symbols if symbol.path == file.path)
        if rule is None or own or len({self.declared(symbol).qualified for symbol in symbols}) > 1:
            return own
        needs = {
            each.path: rule(each.path, [binding.value for binding in each.around(BUILD, 0)[:1]])
            for each in (file, *(self.state.open(symbol.path) for symbol in symbols))
        }
        return tuple(each for each in symbols if set() < needs[each.path] <= needs[file.path])

    def _chosen(self, path: str, mention: Mention, referent: Referent) -> Referent:
        """Return which of several overloads a mention means, and of a type that it creates the constructors."""
        if len(referent.symbols) > 1:
            referent = self.overloads.seen_from(path, referent)
        if len(referent.symbols) > 1 and mention.arguments:
            referent = self.overloads.chosen(path, mention, referent)
        if mention.use == Use.CREATE and isinstance(referent.value, Type):
            constructors = self._constructors(path, mention, referent.value)
            return Referent(referent.symbols + constructors, referent.value)
        return referent

    def _named(self, path: str, mention: Mention, count: int) -> Referent | None:
        """Return what a mention refers to by its name; count: as the arity of `Sought`."""
        if mention.use == Use.ARGUMENT:
            return self._field_given(path, mention)
        if not mention.receiver:
            sought = sought_in(self.state.open(path).policy, mention.use, count)
            return self.names.name(path, mention.at, mention.name, sought)
        receiver = parse(mention.receiver)
        if mention.name.isdecimal():
            return self._field_at(self.expressions.value(path, mention.at, receiver), int(mention.name))
        named = Member(receiver, mention.name) if mention.name else receiver
        return self.names.referent(path, mention.at, named, mention.use, count)

    def _field_given(self, path: str, mention: Mention) -> Referent | None:
        """Return the field that an argument sets by its name: of a type that is created without a function of its own.

        Otherwise the argument is a parameter's.
        """
        made = self.calls.callee(path, mention.at, parse(mention.receiver))
        if isinstance(made, Type):
            of = Instance(made.symbols)
            is_placed = mention.name.isdecimal()
            field = self._field_of(of, int(mention.name)) if is_placed else self.members.find(of, mention.name)
            makers = [
                self.members.find(of, name)
                for symbol in made.symbols
                for name in self.state.policy(symbol).members.constructors
            ]
            if field is None and is_placed:
                return None
            if field and not any(map(symbols_of, makers)):
                return Referent(tuple(filter(self.symbols.is_field, field.symbols)), None)
        return Referent((), OUTSIDE)

    def _field_of(self, kind: Instance, place: int) -> Referent | None:
        """Return the field of a class by its place in what the creation of an instance takes: bases come first."""

        def find() -> Sequence[SymbolId]:
            above = reversed(self.lineage.above((kind,)))
            types = of_project(symbol for value in above if isinstance(value, Instance) for symbol in value.symbols)
            return [
                field
                for symbol in types
                for field, declaration in self.state.open(symbol.path).owned_by(symbol.number)
                if declaration.kind == SymbolKind.FIELD
                and says_type(declaration.value)
                and declaration.start < declaration.stop
            ]

        fields = self.state.once(("fields of a class", kind), find)
        return None if fields is None else Referent(tuple(fields[place : place + 1]), OUTSIDE)

    def _field_at(self, value: Value | None, place: int) -> Referent | None:
        """Return the field of a struct by its place in it; embedded types have one, too."""
        if value is None:
            return None
        fields = list(map(self._fields, value.symbols)) if isinstance(value, Instance) else []
        if None in fields:
            return None
        at_place = (field for own in fields if own for field in own[place : place + 1])
        return Referent(tuple(filter(None, at_place)), OUTSIDE)

    def _fields(self, kind: SymbolId) -> Sequence[SymbolId | None] | None:
        """Return the fields of a struct in their order, with None for an embedded type."""

        def find() -> Sequence[SymbolId | None]:
            declaration, file = self.declared(kind), self.state.open(kind.path)
            owned = file.owned_by(kind.number)
            numbered = [(field.start, symbol.number) for symbol, field in owned if field.kind == SymbolKind.FIELD]
            embedded = [(mention.at, -1) for mention in file.mentions_in(declaration) if mention.use == Use.BASE]
            places = sorted(numbered + embedded)
            return [SymbolId(kind.path, number) if number >= 0 else None for _, number in places]

        return self.state.once(("fields of a struct", kind), find)

    def _is_foreign_place(self, path: str, at: int, place: Expression) -> bool:
        """Return whether a literal is given to a foreign function that is given nothing of the project besides."""
        argument = argument_around(place)
        if argument is None or not isinstance(self.calls.callee(path, at, argument.function), Outside):
            return False
        others = (
            flow for flow in self.state.open(path).handed.get(argument.function, ()) if flow.argument != argument.place
        )
        return all(is_foreign(self.expressions.value(path, flow.at, parse(flow.value))) for flow in others)

    def is_open(self, referent: Referent) -> bool:
        """Return whether each declaration may not be meant: only its value is, or a method of another type."""
        if len(referent.symbols) < 2:
            return referent.is_open
        distinct = {
            (method.qualified, tuple(parameter.value for parameter in method.inputs))
            for method in map(self.declared, filter(self.symbols.is_method, referent.symbols))
        }
        policy = self.state.policy(referent.symbols[0])
        if len({symbol.path for symbol in referent.symbols}) > 1 and (policy.names.rebinds or policy.modules.needs):
            return True  # One of two imports, or of two builds: which of them depends on a condition.
        if len(referent.symbols) > 1 and any(Mark.HOISTED in self.declared(each).marks for each in referent.symbols):
            return True  # What one block declares, or another.
        return referent.is_open or (len(distinct) > 1 and self.symbols.has_overloads(referent.symbols[0]))

    def _constructors(self, path: str, mention: Mention, kind: Type) -> tuple[SymbolId, ...]:
        """Return the constructors that the creation of an instance may call, by its arguments."""
        constructors = self.symbols.constructors(kind, mention.arity)
        if len(constructors) < 2 or not mention.arguments:
            return constructors
        called = Function(constructors, Instance(kind.symbols, kind.arguments))
        return self.overloads.chosen(path, mention, Referent(constructors, called)).symbols

    def taker(self, path: str, flow: Flow) -> Value | None:
        """Return what takes a value that a file hands over: the type of the parameter, variable or result."""
        into = self.given_to(path, flow)
        if flow.argument < 0:
            return into
        is_method_of_type = isinstance(into, Function) and isinstance(into.receiver, Type)
        if is_method_of_type and self.state.open(path).policy.members.method_sets:
            # The first argument is its instance.
            return self.calls.parameter(into, flow.argument - 1) if flow.argument else None
        return self.calls.parameter(into, flow.argument)

    def given_to(self, path: str, flow: Flow) -> Value | None:
        """Return to what a file hands a value over: a function, or a value of the type of the variable or result."""
        into, file = parse(flow.into), self.state.open(path)
        if flow.argument < 0:
            return self.expressions.value(path, flow.at, into)
        calls = file.given.get((flow.argument, parse(flow.value)), ()) if file.policy.calls.overloads else ()
        end = bisect_left(calls, flow.at, key=attrgetter("at"))
        before = calls[max(0, end - _MOST_CALLS) : end]
        call = next((call for call in reversed(before) if call.name in flow.into), None)
        referent = self.resolve(path, call) if call else None
        if referent is None:
            return self.calls.callee(path, flow.at, into)
        kind, makers = referent.value, tuple(filter(self.symbols.is_callable, referent.symbols))
        return Function(makers, Instance(kind.symbols, kind.arguments)) if isinstance(kind, Type) and makers else kind

    def may_satisfy(self, kind: SymbolId, interface: SymbolId) -> bool:
        """Return whether a type has all methods of an interface, by their names, and nothing else decides it.

        Either having them may do, or not all that the interface demands is known.
        """
        policy = self.state.policy(kind)
        if not (policy.names.has_spaces or self._is_partly_foreign(interface)):
            return False
        marks = (self.declared(kind).marks, self.declared(interface).marks)
        return [Mark.INTERFACE in mark for mark in marks] == [False, True] and all(
            self.members.find(Instance((kind,)), name) is not ABSENT for name in self.required(interface)
        )

    def _is_partly_foreign(self, interface: SymbolId) -> bool:
        """Return whether an interface demands what a foreign one does, of which the methods are not known."""
        return self.symbols.has_method_sets(interface) and any(
            isinstance(base, Outside | Foreign) and self.symbols.foreign_methods(interface, base) is None
            for base in self.lineage.above((Instance((interface,)),))
        )

    def is_function_type(self, kind: SymbolId) -> bool:
        """Return whether functions are values of a type because they take and give the same."""
        made_of = self.types.underlying(Instance((kind,)))
        called = self.members.find(made_of, "()") if isinstance(made_of, Instance) else None
        return isinstance(made_of, Signature) or bool(symbols_of(called))

    def required(self, interface: SymbolId) -> Set[str]:
        """Return the names of the methods that an interface declares itself, without optional ones."""
        methods = map(self.declared, self.symbols.methods_of(interface))
        return {declaration.name for declaration in methods if Mark.OPTIONAL not in declaration.marks}

    def operation_of(self, symbol: SymbolId) -> SymbolId | None:
        """Return the method that a function is where a type is expected: the only abstract one of an interface."""
        function = self.operation(Instance((symbol,))) if self.symbols.has_overloads(symbol) else None
        return function.symbols[0] if isinstance(function, Function) else None
