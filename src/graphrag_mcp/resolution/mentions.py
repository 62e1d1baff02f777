"""What the mentions of a file mean: each becomes links, or an undecided place."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property, partial

from msgspec.structs import replace

from graphrag_mcp.model.expressions import AnyOf, Call, Member, Name, names_in, parse, says_type
from graphrag_mcp.model.facts import ANY_MEMBER, GIVEN, NO_OWNER, Mark, Mention, SymbolId, Use, modules_of
from graphrag_mcp.model.files import RelationKind, SymbolKind
from graphrag_mcp.model.grouping import grouped
from graphrag_mcp.model.links import DECLARED, IMPORTED, SOME, SUPER, How, Link, Place, folder_place, super_place
from graphrag_mcp.model.values import (
    ABSENT,
    OUTSIDE,
    Above,
    Function,
    Instance,
    Module,
    Outside,
    Package,
    Referent,
    Type,
    Value,
    symbols_of,
    value_of,
)
from graphrag_mcp.resolution.files import File
from graphrag_mcp.resolution.handing import Handing
from graphrag_mcp.resolution.references import Places, References, functions_of, types_of
from graphrag_mcp.resolution.resolver import Resolver
from graphrag_mcp.resolution.state import LIBRARIES, of_project
from graphrag_mcp.resolution.symbols import relation_kind

_RUNNING = (Use.CALL, Use.CREATE)
_OF_VALUES = (Use.CALL, Use.CREATE, Use.VALUE)
_BY_USE = {
    Use.CALL: RelationKind.CALLS,
    Use.CREATE: RelationKind.INSTANTIATES,
    Use.BASE: RelationKind.INHERITS,
    Use.IMPORT: RelationKind.IMPORTS,
    Use.TYPE: RelationKind.USES,
    Use.FUNCTION: RelationKind.HANDS_ON,
    **dict.fromkeys((Use.WRITE, Use.FILL, Use.KEY, Use.ARGUMENT, Use.ELEMENT), RelationKind.WRITES),
}  # A mention of something unknown: it may be a type, a function or a field.
_OWN = (Name("self"), Name("cls"))
_BINDING = "bind"  # The member of a function that hands it on.
_METACLASSES = ("ABCMeta", "EnumMeta", "EnumType", "type")
_MAX_TYPES = 8  # A receiver of more types is not known.
_ACCESS = "?."  # The longest text between a name and its member.


class Mentions(Places):
    """The links of the mentions of one file."""

    def __init__(self, references: References, file: File, handing: Handing) -> None:
        super().__init__(references, file)
        self._handing = handing
        members = [  # What is asked for of a name, each with the offset of that.
            (mention.at - len(".") - len(mention.receiver.rpartition(".")[2]), mention)
            for mention in self._facts.mentions
            if mention.receiver
        ]
        self._members = {at: mention.name for at, mention in members}
        has_pointers = file.policy.members.method_sets  # A method may change the value on which it is called.
        self._called = {at: mention.name for at, mention in members if has_pointers and mention.use == Use.CALL}
        # What members are given, by how they are written.
        self._given = grouped((flow.into, flow.value) for flow in self._facts.flows)

    def links(self) -> Iterator[Link]:
        """Yield the links of mentions and conversions."""
        for mention in self._facts.mentions:
            yield from self._of_mention(self._as_meant(mention))
        yield from self._converted()

    def _of_mention(self, mention: Mention) -> Iterator[Link]:
        if mention.use == Use.IMPORT and mention.name[:1] == '"':
            yield from self._of_module(mention, self._source(mention.at))
            return
        if mention.name == ANY_MEMBER:
            value = self._value(mention)
            for part in self._resolver.lineage.above((value,)) if isinstance(value, Instance) else (value,):
                yield from self._any_of(part, _kind_of(mention), mention)
            yield from self._handing.runs(mention, self._source(mention.at)) if mention.use == Use.CALL else ()
            return
        referent = self._resolver.resolve(self._path, mention)
        yield from self._in_code(mention, symbols_of(referent))
        is_value = self._file.policy.names.has_spaces and mention.use in _OF_VALUES
        if is_value and referent is not None and all(map(self._resolver.symbols.is_only_type, referent.symbols)):
            referent = referent._replace(symbols=())
        symbols = symbols_of(referent)
        if self._is_of_metaclass(mention) and (not symbols or mention.use == Use.WRITE):
            yield self._link(mention, Place("", mention.name), How.UNDECIDED, receiver=SOME)
        if mention.use == Use.CALL and not symbols:
            yield from self._handing.runs(mention, self._source(mention.at))
        yield from self._undecided(mention) if referent is None else self._decided(mention, referent)

    def _link(
        self, mention: Mention, target: Place, how: How, kind: RelationKind | None = None, receiver: Place | None = None
    ) -> Link:
        source = self._source(mention.at)
        return Link(target, source, mention.line, kind or _kind_of(mention), mention.use, how, mention.arity, receiver)

    def _link_to(self, mention: Mention, symbol: SymbolId, how: How, receiver: Place | None = None) -> Link:
        """Return the link of a mention to a declaration."""
        kind = relation_kind(self._resolver.symbols, symbol, mention)
        if kind is RelationKind.HANDS_ON and self._members.get(mention.at, _BINDING) != _BINDING:
            kind = RelationKind.USES  # Only a member of it is read.
        return self._link(mention, self._place(symbol), how, kind, receiver)

    def _undecided(self, mention: Mention) -> Iterator[Link]:
        for symbol in self._one_of(mention):
            yield self._link_to(mention, symbol, How.OPEN)
        receiver = self._lacking(mention) if mention.receiver else None
        for name in self._names_of(mention):
            yield self._link(mention, Place("", name), How.UNDECIDED, receiver=receiver)

    def _decided(self, mention: Mention, referent: Referent) -> Iterator[Link]:
        if mention.use == Use.IMPORT and isinstance(referent.value, Module) and not referent.symbols:
            yield self._link(mention, Place(referent.value.path, ""), How.CERTAIN, RelationKind.IMPORTS)
        held = (*self._held(mention, referent), *self._one_of(mention))
        is_set_below = bool(mention.receiver) and self._is_set_below(mention)
        is_one_of_several = self._is_one_of_several(mention, referent)
        is_open = is_set_below or mention.use == Use.ADDRESS or mention.receiver == f'"{GIVEN}"'
        is_open = is_open or (is_one_of_several and bool(held or referent.is_open or mention.use == Use.WRITE))
        meant = How.OPEN if is_open else How.ONE_OF if is_one_of_several else How.CERTAIN
        for symbol in referent.symbols:
            if not (mention.use == Use.WRITE and self._is_own(mention, symbol)):
                is_replaced = held and self._is_decorated(symbol) and symbol not in held
                yield from self._meant(mention, symbol, How.OPEN if is_replaced else meant)
                if mention.use == Use.ADDRESS:  # Who has it may also read. It is certainly used.
                    yield self._link_to(replace(mention, use=Use.VALUE), symbol, How.OPEN)
                    how = How.OPEN if is_one_of_several else How.CERTAIN
                    yield self._link(mention, self._place(symbol), how, RelationKind.USES, SOME)
        yield from self._changed(mention, referent)
        is_kept = isinstance(referent.value, Function | Type) and self._is_kept(mention, referent)
        for symbol in held:
            if symbol not in referent.symbols:
                yield self._link_to(mention, symbol, How.CERTAIN if is_kept else How.OPEN)
        if not referent.symbols and (is_set_below or self._is_added(mention, referent)):
            receiver = None if is_set_below else SOME
            yield self._link(mention, Place("", mention.name), How.UNDECIDED, receiver=receiver)
        elif not referent.symbols:
            yield from self._elsewhere(mention, referent, is_held=bool(held))

    def _in_code(self, mention: Mention, declared: Sequence[SymbolId]) -> Iterator[Link]:
        """Yield what runs where a mention is, or may be, of what a file declares that is beside the code."""
        is_declared = any(self._resolver.modules.code(symbol.path) for symbol in declared)
        if mention.use == Use.TYPE or not (is_declared or self._reads_declared):
            return
        referent, receiver = self._as_run.resolve(self._path, mention), SOME if mention.receiver else None
        self._resolver.state.is_cut |= self._as_run.state.is_cut
        for symbol in symbols_of(referent):
            if symbol not in declared and not self._resolver.symbols.is_only_type(symbol):
                yield self._link_to(mention, symbol, How.OPEN, receiver)
        if is_declared and referent is None and mention.use != Use.IMPORT:
            yield self._link(mention, Place("", mention.name), How.UNDECIDED, receiver=DECLARED)

    @cached_property
    def _reads_declared(self) -> bool:
        """Return whether the file imports one that only declares what the code beside it has."""
        values = (self._resolver.modules.module(self._file, module) for module in modules_of(self._facts))
        return any(isinstance(value, Module) and self._resolver.modules.code(value.path) for value in values)

    @cached_property
    def _as_run(self) -> Resolver:
        """Return what resolves names as they are where code runs: without what files beside it declare."""
        resolver = Resolver(self._resolver.state.source, as_run=True)
        resolver.state.begin_file(self._file)
        return resolver

    def _meant(self, mention: Mention, symbol: SymbolId, how: How) -> Iterator[Link]:
        """Yield the links to a declaration that a mention means, and what follows from them."""
        yield from (self._link_to(mention, symbol, how, place) for place in self._receivers_of(mention, symbol))
        if below := self._below(mention, symbol):
            line = self._declared(below).line
            yield Link(self._place(symbol), self._place(below), line, RelationKind.INHERITS, "", How.BELOW)
        if mention.use == Use.WRITE and self._replaces(mention, symbol):
            yield self._link_to(mention, symbol, How.REPLACED)
        if self._is_any(mention, symbol):
            yield self._link(mention, self._place(symbol), How.ANY, RelationKind.READS)

    def _changed(self, mention: Mention, referent: Referent) -> Iterator[Link]:
        """Yield that a method may change what a field holds, since its receiver is a pointer to that."""
        method = self._called.get(mention.at, "") if mention.use == Use.VALUE else ""
        held = [symbol for symbol in referent.symbols if Mark.INLINE in self._declared(symbol).marks] if method else []
        if not held or referent.value is None:
            return
        called = self._resolver.members.find(referent.value, method)
        marks = [self._declared(symbol).marks for symbol in symbols_of(called)]
        foreign, name = self._file.policy.foreign, self._resolver.foreign.name(referent.value)
        is_changing = name not in foreign.interfaces and name not in foreign.unchanging
        if any(Mark.POINTER in each for each in marks) if marks else is_changing:
            address = replace(mention, use=Use.ADDRESS)
            yield from (self._link_to(address, symbol, How.OPEN) for symbol in held)

    def _elsewhere(self, mention: Mention, referent: Referent, *, is_held: bool) -> Iterator[Link]:
        """Yield the links of a mention of something that the project does not define."""
        name = Place("", mention.name)
        for receiver, count in self._resolver.foreign.used(self._path, mention):
            yield self._link(mention, name, How.FOREIGN, receiver=receiver)._replace(arity=count)
        is_import = mention.use == Use.IMPORT and isinstance(referent.value, Outside)
        if is_import or (mention.use in _RUNNING and mention.name and not is_held and _is_foreign_function(referent)):
            yield self._link(mention, name, How.OUTSIDE, RelationKind.IMPORTS if is_import else None)

    def _is_added(self, mention: Mention, referent: Referent) -> bool:
        """Return whether a member is only assigned to a function: a type that this is given as may declare it."""
        return not isinstance(referent.value, Outside) and isinstance(self._value(mention), Function)

    def _is_one_of_several(self, mention: Mention, referent: Referent) -> bool:
        """Return whether another thing may be meant; a write does not refer to what others assign to a member."""
        are_apart = all(self._declared(symbol).owner == NO_OWNER for symbol in referent.symbols[1:])
        return self._resolver.is_open(referent) and not (
            mention.use == Use.WRITE and len(referent.symbols) > 1 and are_apart
        )

    def _is_own(self, mention: Mention, symbol: SymbolId) -> bool:
        """Return whether a member is declared where a function is given to it: `A.prototype.run = function () {}`."""
        declaration = self._declared(symbol)
        is_here = (
            symbol.path == self._path
            and declaration.start <= mention.at < declaration.stop
            and declaration.line == mention.line
        )
        return is_here and bool(mention.receiver)

    def _is_of_metaclass(self, mention: Mention) -> bool:
        """Return whether a member is one of the classes that a type makes."""
        if mention.receiver not in ("self", "cls") or not self._file.policy.names.rebinds:
            return False
        value = self._value(mention)
        bases = self._resolver.lineage.above((value,)) if isinstance(value, Instance) else ()
        names = (self._resolver.foreign.name(value) for value in bases)
        return any(name.rpartition(".")[2] in _METACLASSES for name in names)

    def _lacking(self, mention: Mention) -> Place:
        """Return the type of the project that does not have the member which is used, if it is known."""
        value = self._value(mention)
        types = types_of(value) if isinstance(value, Instance | Type) else ()
        if len(types) == 1:
            return self._place(types[0])
        first = mention.receiver.partition(".")[0]
        rows = (*self._file.imports.get(first, ()), *self._file.unnamed_imports(first))
        is_imported = any(first in (row.name, row.module.partition(".")[0]) for row in rows)
        return IMPORTED if is_imported and self._resolver.names.name(self._path, mention.at, first) is None else SOME

    def _of_module(self, mention: Mention, source: Place) -> Iterator[Link]:
        """Yield the link to the file, or to the package, that an import brings."""
        value = self._resolver.modules.module(self._file, mention.name.strip('"'))
        target, how = Place("", mention.name), How.OUTSIDE
        if isinstance(value, Module) and value.path not in LIBRARIES:
            target, how = Place(value.path, ""), How.CERTAIN
            if code := self._resolver.modules.code(value.path):
                yield Link(Place(code, ""), source, mention.line, RelationKind.IMPORTS, mention.use, how)
        elif isinstance(value, Package):
            target, how = folder_place(value.unit.rpartition(":")[0]), How.CERTAIN
        elif value is None:
            how = How.UNDECIDED
        yield Link(target, source, mention.line, RelationKind.IMPORTS, mention.use, how)

    def _any_of(self, value: Value | None, kind: RelationKind, mention: Mention) -> Iterator[Link]:
        """Yield that any member of a value may be meant."""
        modules = [Place(value.path, "")] if isinstance(value, Module) and value.path not in LIBRARIES else []
        for place in (*map(self._place, types_of(value)), *modules):
            yield Link(place, self._source(mention.at), mention.line, kind, mention.use, How.ANY)

    def _is_set_below(self, mention: Mention) -> bool:
        """Return whether a receiver is what a class says of itself, and types below may say otherwise."""
        receiver = parse(mention.receiver)
        if not (self._file.policy.names.rebinds and isinstance(receiver, Member) and receiver.owner in _OWN):
            return False
        referent = self._resolver.names.referent(self._path, mention.at, receiver)
        fields = [symbol for symbol in symbols_of(referent) if self._declared(symbol).name == receiver.name]
        is_said = not all(map(self._resolver.symbols.is_only_assigned, fields))
        return is_said and isinstance(value_of(referent), Module | Outside | Type | Function)

    def _as_meant(self, mention: Mention) -> Mention:
        """Return a mention as it is meant: what is given to a function called like one of the language is only read.

        `f.call(...)` calls f.
        """
        if mention.use == Use.VALUE and self._members.get(mention.at) in self._file.policy.calls.invoking:
            return replace(mention, use=Use.CALL)
        around = self._references.around(self._path, mention.at) if mention.use == Use.BASE else None
        if around and self._resolver.lineage.is_no_type(around):
            return replace(mention, use=Use.VALUE)
        if mention.use != Use.FILL:
            return mention
        names, beside = self._file.policy.calls.emptying, self._file.mentions_on(mention.line)
        is_own = any(other.name in names and self._is_own_call(other) for other in beside)
        return replace(mention, use=Use.VALUE) if is_own else mention

    def _is_own_call(self, mention: Mention) -> bool:
        """Return whether a function of the project is called."""
        return mention.use == Use.CALL and bool(symbols_of(self._resolver.resolve(self._path, mention)))

    def _names_of(self, mention: Mention) -> Sequence[str]:
        """Return the names that an undecided mention may mean: its own, and those that an import gives it."""
        imports = () if mention.receiver else self._file.imports.get(mention.name, ())
        items = [imported.item for imported in imports if imported.item not in ("", "*")]
        return tuple(dict.fromkeys((mention.name, *items))) if mention.name else ()

    def _held(self, mention: Mention, referent: Referent) -> tuple[SymbolId, ...]:
        """Return the functions and types that a called variable or member holds."""
        policy = self._file.policy
        if mention.use not in _RUNNING or not (policy.names.rebinds or policy.names.is_dynamic):
            return ()
        return of_project(functions_of(referent.value))

    def _one_of(self, mention: Mention) -> tuple[SymbolId, ...]:
        """Return the functions that a called variable may hold, where it holds one of several values."""
        is_variable = mention.use == Use.CALL and not mention.receiver
        bound = (
            self._file.innermost(mention.name, mention.at) if is_variable and self._file.policy.names.rebinds else []
        )
        symbols: dict[SymbolId, None] = {}
        for binding in bound:
            expression = parse(binding.value)
            for part in expression.values if isinstance(expression, AnyOf) else ():
                value = self._resolver.expressions.value(self._path, binding.at, part)
                symbols |= dict.fromkeys(of_project(functions_of(value)))
        return tuple(symbols)

    def _is_decorated(self, symbol: SymbolId) -> bool:
        declaration = self._declared(symbol)
        return bool(declaration.decorators) and Mark.PROPERTY not in declaration.marks

    def _is_kept(self, mention: Mention, referent: Referent) -> bool:
        """Return whether a called name means what a variable was given, not what its type or a default says."""
        if mention.receiver:
            return not mention.name
        bound = self._file.innermost(mention.name, mention.at)
        texts = [binding.value for binding in bound] + [self._declared(symbol).value for symbol in referent.symbols]
        if isinstance(referent.value, Type) and not all(
            self._names(binding.at, binding.value, referent.value) for binding in bound
        ):
            return False  # It may be a type below.
        return not any(map(says_type, texts)) and all(binding.kind != "parameter" for binding in bound)

    def _names(self, at: int, text: str, kind: Type) -> bool:
        """Return whether an expression is a name of a type, or no value."""
        named = self._resolver.names.referent(self._path, at, parse(text))
        return text == "-" or set(kind.symbols) <= set(symbols_of(named))

    def _receivers_of(self, mention: Mention, symbol: SymbolId) -> Sequence[Place | None]:
        """Return the types of the value whose member is used, where types below may declare it again."""
        if not mention.receiver:
            return (None,)
        if not self._resolver.symbols.is_replaceable(symbol):
            return (SOME,)
        value = self._value(mention)
        if isinstance(value, Above) and self._file.policy.members.is_linear:
            return list(map(super_place, map(self._place, value.symbols)))
        if isinstance(value, Above) or (mention.use == Use.CALL and self._is_exact(mention, value)):
            return (SUPER,)
        if isinstance(value, Instance) and self._file.policy.members.method_sets:
            made = self._resolver.types.underlying(value)  # A type that is made of an interface has the values of that.
            value = made if any(map(self._resolver.symbols.is_interface, types_of(made))) else value
        types = [self._place(symbol) for symbol in types_of(value)]
        return types if 0 < len(types) <= _MAX_TYPES else (SOME,)

    def _is_exact(self, mention: Mention, value: Value | None) -> bool:
        """Return whether what is called is of a class by its own name, or is made there by that: of none below it."""
        receiver = parse(mention.receiver)
        named = receiver.function if isinstance(receiver, Call) else receiver
        is_kind = isinstance(value, Instance if named is not receiver else Type)
        if not (is_kind and isinstance(named, Name) and self._file.policy.names.rebinds):
            return False
        symbols = symbols_of(self._resolver.names.name(self._path, mention.at, named.name))
        making = self._resolver.members.find(Type(types_of(value)), self._file.policy.calls.making)
        return symbols == types_of(value) and making is ABSENT

    def _below(self, mention: Mention, base: SymbolId) -> SymbolId | None:
        """Return the type that a mention of a base declares; one without a name is declared where it is created."""
        below = self._references.around(self._path, mention.at) if mention.use in (Use.BASE, Use.CREATE) else None
        if below is None or mention.use == Use.BASE:
            return below
        is_type = self._declared(below).kind == SymbolKind.TYPE
        bases = self._resolver.lineage.bases_of(below) if is_type else ()
        return below if any(base in types_of(value) for value in bases) else None

    def _replaces(self, mention: Mention, symbol: SymbolId) -> bool:
        """Return whether a mention gives a method another value than itself: not `this.run = this.run.bind(this)`."""
        flows = self._given.get(f"{mention.receiver}.{mention.name}", ())
        return self._resolver.symbols.is_method(symbol) and not any(mention.name in names_in(value) for value in flows)

    def _value(self, mention: Mention) -> Value | None:
        return self._resolver.expressions.value(self._path, mention.at, parse(mention.receiver))

    def _is_any(self, mention: Mention, symbol: SymbolId) -> bool:
        """Return whether a mention of an enumeration may mean any of its constants: one without a member.

        Some languages ask for a constant by its name: where that is written, it is a mention of the constant.
        """
        declaration = self._declared(symbol)
        if declaration.kind != SymbolKind.TYPE or mention.use not in (Use.VALUE, Use.CALL, Use.TYPE):
            return False
        if not self._resolver.members.is_enumeration(Type((symbol,))):
            return False
        name, beside = declaration.name, self._file.mentions_on(mention.line)
        by_text = self._resolver.state.policy(symbol).members.by_text
        is_asked = any(other.name == by_text and other.receiver in (name, "Enum") for other in beside)
        if is_asked and not any(other.use == Use.REFLECTED for other in beside):
            return True
        if by_text or mention.use not in (Use.VALUE, Use.CALL):
            return False
        stop = mention.at + len(name)
        near = (other for other in beside if stop < other.at <= stop + len(_ACCESS) and other.use != Use.ARGUMENT)
        return all(other.receiver.rpartition(".")[2] != name for other in near)

    def _converted(self) -> Iterator[Link]:
        """Yield that a struct is made of another one: that reads and writes all their fields."""
        for flow in self._facts.flows if self._file.policy.members.method_sets else ():
            before = bisect_left(self._starts, flow.at) - 1  # The mention of the type.
            value = partial(self._resolver.expressions.value, self._path, flow.at)
            into = value(parse(flow.into)) if flow.argument == 0 and before >= 0 else None
            if isinstance(into, Type):
                at = self._facts.mentions[before]
                yield from self._any_of(into, RelationKind.WRITES, replace(at, use=Use.WRITE))
                read = replace(at, use=Use.VALUE)
                yield from self._any_of(value(parse(flow.value)), RelationKind.READS, read)


def _kind_of(mention: Mention) -> RelationKind:
    """Return the kind of relation of a mention whose target is not known."""
    return _BY_USE.get(Use(mention.use), RelationKind.READS)


def _is_foreign_function(referent: Referent) -> bool:
    """Return whether a name is one of a foreign module, or one that nothing declares; builtins are neither."""
    return isinstance(referent.value, Outside) and ("." in referent.value.name or referent.value == OUTSIDE)
