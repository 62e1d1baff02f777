"""What calls through foreign types may run: methods of the project that stand for those of a library."""

from collections.abc import Collection, Iterator, Sequence, Set
from dataclasses import dataclass

from graphrag_mcp.languages.policy import Policy
from graphrag_mcp.model.expressions import LITERAL, Call, Expression, ModuleName, Name, parameters_in, parse
from graphrag_mcp.model.facts import Mark, Mention, SymbolId, Use
from graphrag_mcp.model.files import SymbolKind
from graphrag_mcp.model.graph import Certainty
from graphrag_mcp.model.links import Place, place_id
from graphrag_mcp.model.values import (
    ABSENT,
    All,
    Either,
    Foreign,
    Function,
    Instance,
    Many,
    Module,
    Outside,
    Table,
    Type,
    Value,
    of_kind,
    symbols_of,
)
from graphrag_mcp.resolution.expressions import Expressions
from graphrag_mcp.resolution.files import File
from graphrag_mcp.resolution.members import Members
from graphrag_mcp.resolution.modules import Modules
from graphrag_mcp.resolution.state import LIBRARIES, ResolverPart
from graphrag_mcp.resolution.symbols import Symbols
from graphrag_mcp.resolution.types import Lineage


@dataclass(eq=False)
class ForeignTypes(ResolverPart):
    """Knows the foreign types above those of the project, and which values may be one of theirs."""

    symbols: Symbols
    lineage: Lineage
    modules: Modules
    members: Members
    expressions: Expressions

    def reached_by(self, use: str, receivers: Set[int], method: SymbolId, above: Collection[int]) -> Certainty | None:
        """Return whether a use of a foreign member may run a method of the project; None if it does not.

        It may if the receiver has a type that the method's own type names as a base; it is not known where only a
        foreign type above that one is not known. receivers: the places of the types of the receiver, or the numbers of
        their names. above: the places of the types above that of the method.
        """
        bases = self.with_member(method) if self._is_such_use(use, method) else ()
        if not bases:
            return None
        named = {place_id(Place("", name)) for name in map(self.name, self.lineage.above(tuple(bases))) if name}
        if not receivers.isdisjoint({*named, *above}):
            return Certainty.MAY_CALL
        is_known = all(isinstance(base, Instance) or self.name(base) == "Object" for base in bases)
        is_open = _NAMELESS in receivers or (not is_known and min(receivers) < 0)
        return Certainty.BY_NAME if is_open else None

    def with_member(self, member: SymbolId) -> Sequence[Value | None]:
        """Return the foreign types above the type of a member that have such a member, or may."""
        return self.state.once(("foreign members", member), lambda: list(self._with_member(member))) or ()

    def callers(self, symbol: SymbolId) -> Iterator[str]:
        """Yield the foreign types above that may call a member, and the foreign decorators that may hand it over."""
        declaration, policy = self.declared(symbol), self.state.policy(symbol)
        is_private = declaration.name.startswith("#") or (
            declaration.name.startswith("__") and not declaration.name.endswith("__")
        )
        is_open = not is_private and bool(self.with_member(symbol))
        for written, base in self._bases_above(SymbolId(symbol.path, declaration.owner)) if is_open else ():
            name = self.name(base) or _KINDS.get(type(base)) or written_name(written)
            called = policy.foreign.called_back(name)
            hooks = [hook.removesuffix("*") for hook in called or () if hook.endswith("*")]
            if called is None or declaration.name in called or declaration.name.startswith(tuple(hooks)):
                yield name or "a base that is not known"
        is_known = Mark.PROPERTY in declaration.marks or (
            Mark.GIVEN in declaration.marks and Mark.AUTOMATIC not in declaration.marks
        )
        for text in () if is_known else declaration.decorators:  # A test is run, and a fixture is named by a parameter.
            value = self.expressions.written(symbol, text)
            is_foreign = value is None or (isinstance(value, Outside) and policy.foreign.is_registering(value.name))
            if is_foreign or self._is_marking(symbol, text, value) or self._is_keeping(value):
                yield "@" + text.partition("(")[0]

    def _is_marking(self, symbol: SymbolId, decorator: str, decorated: Value | None) -> bool:
        """Return whether a decorator is an object of the project: it marks functions that others find by that.

        So may whatever a function of the project makes other than a function. decorated: the value of the decorator.
        """
        match parse(decorator):
            case Call(marker) | marker:
                value = self.expressions.value(symbol.path, self.declared(symbol).at, marker)
        if isinstance(value, Instance) or (isinstance(value, Function) and not isinstance(decorated, Function)):
            return value.symbols[0].path not in LIBRARIES
        return False

    def _is_keeping(self, decorator: Value | None) -> bool:
        """Return whether a function of the project marks what it is given, or hands it on to be kept."""
        for symbol in decorator.symbols if isinstance(decorator, Function) else ():
            declaration, file = self.declared(symbol), self.state.open(symbol.path)
            names = {parameter.name for parameter in declaration.inputs if parameter.value != "self"}
            inside = file.mentions_in(declaration)
            if any(mention.use == Use.WRITE and mention.receiver in names for mention in inside):
                return True
            for flow in file.facts.flows:
                if declaration.start <= flow.at < declaration.stop and flow.value in names:
                    taker = self.expressions.value(symbol.path, flow.at, parse(flow.into))
                    name = taker.name if isinstance(taker, Outside) else ""
                    if not name or name == "setattr" or self.state.policy(symbol).foreign.is_registering(name):
                        return True
        return False

    def is_published(self, symbol: SymbolId) -> bool:
        """Return whether other projects get a declaration when they import the package that it is in."""
        declaration = self.declared(symbol)
        if declaration.owner >= 0 or declaration.name[:1] == "_":
            return False
        entries = self.state.policy(symbol).modules.entries(self.state.source, symbol.path)
        hits = (self.modules.export(Module(entry), declaration.name) for entry in entries)
        return any(symbol in symbols_of(hit) for hit in hits)

    def overridden(self, method: SymbolId) -> Iterator[str]:
        """Yield the foreign types above that declare a method, in a language that marks what overrides another.

        Where nothing of a type is marked, whatever an unknown base may declare counts.
        """
        declaration, owner = self.declared(method), self.symbols.around(method)
        siblings = self.symbols.methods_of(owner) if owner else ()
        is_marking = any(OVERRIDE in self.declared(other).marks for other in siblings)
        for base in self.with_member(method):
            name = self.name(base)
            if isinstance(base, Instance):
                member = self.members.find(base, declaration.name)
                counts = [len(self.declared(above).inputs) for above in symbols_of(member)]
                is_same = len(declaration.inputs) in counts
            elif name == "Object":
                is_same = len(declaration.inputs) == (declaration.name == "equals")
            else:
                is_open = self.state.policy(method).foreign.is_registering(name.rpartition(".")[2])
                is_same = is_open and (OVERRIDE in declaration.marks or not is_marking)
            if is_same:
                yield name or "a base that is not known"

    def _with_member(self, member: SymbolId) -> Iterator[Value | None]:
        declaration, owner = self.declared(member), self.symbols.around(member)
        if owner is None or not {Mark.STATIC, Mark.PRIVATE}.isdisjoint(declaration.marks):
            return
        if not self.symbols.is_replaceable(member) or self.symbols.is_constructor(member, owner):
            return
        if self.symbols.is_common(member):
            yield Outside("Object")
        for base in self.above(owner):
            if self._may_have(owner, base, declaration.name):
                yield base

    def above(self, kind: SymbolId) -> Sequence[Value | None]:
        """Return the foreign types above a type of the project, also those from which it inherits nothing."""
        return list(dict.fromkeys(base for _, base in self._bases_above(kind, within_library=True)))

    def _bases_above(self, kind: SymbolId, *, within_library: bool = False) -> Iterator[tuple[str, Value | None]]:
        """Yield the foreign types above a type of the project, each with the text that names it."""
        around = [kind]
        for other in around:
            for written, base in zip(self.declared(other).bases, self.lineage.bases_of(other), strict=True):
                is_foreign = not isinstance(base, Instance | Type) or is_library(base)
                if is_foreign:
                    yield written.type, of_kind(Instance, base)
                if isinstance(base, Instance | Type) and (within_library or not is_foreign):
                    around += [symbol for symbol in base.symbols if symbol not in around]

    def name(self, value: Value | None) -> str:
        """Return the name of a foreign type, qualified by its module; "" where it has none."""
        match value:
            case Outside(name) | Foreign(name):
                return name.removesuffix("()")
            case Instance((symbol, *_)):
                library = self.state.policy(symbol).foreign.library
                module = "" if symbol.path == library.path else f"{symbol.path[1:-1]}."
                return module + self.declared(symbol).qualified
        return ""

    def _may_have(self, owner: SymbolId, base: Value | None, name: str) -> bool:
        """Return whether a foreign type may have a member of a name."""
        if isinstance(base, Instance):
            return self.members.find(base, name) is not ABSENT
        return self.symbols.may_have(owner, base, name)

    def _is_such_use(self, use: str, method: SymbolId) -> bool:
        declaration = self.declared(method)
        is_run = declaration.kind == SymbolKind.METHOD and Mark.PROPERTY not in declaration.marks
        return use in ((Use.CALL, Use.FUNCTION) if is_run else (Use.VALUE, Use.WRITE))

    def used(self, path: str, mention: Mention) -> Iterator[tuple[Place, int]]:
        """Yield the foreign types whose member is used, and those of the project that have it from a foreign one.

        Each with the number of arguments that the member takes, -1 if that is not known.
        """
        file = self.state.open(path)
        if mention.use not in _OF_MEMBERS or not mention.name:
            return
        if file.policy.members.method_sets:
            yield from self._interfaces(file, mention) if mention.use == Use.CALL and mention.receiver else ()
            return
        for value in dict.fromkeys(self._receivers(file, mention)):
            name = self.name(value)
            if isinstance(value, Instance) and not is_library(value):
                yield self.state.place(value.symbols[0]), mention.arity
            elif self._may_be_object(value, name, file.policy):
                yield Place("", name), mention.arity

    def _interfaces(self, file: File, mention: Mention) -> Iterator[tuple[Place, int]]:
        """Yield the foreign types of a receiver that may be interfaces with the method.

        For an interface of the project that has the method from a known foreign one, itself: its types have it, too.
        """
        receiver = self.expressions.value(file.path, mention.at, parse(mention.receiver))
        types = receiver.symbols[:1] if isinstance(receiver, Instance) else ()
        own = next(filter(self.symbols.is_interface, types), None)
        above = self.lineage.above((receiver,)) if isinstance(receiver, Instance) else (receiver,)
        modules = {imported.module for imported in file.facts.imports}
        for base in above:
            name = base.name if isinstance(base, Outside | Foreign) else ""
            if name and name not in modules:
                known = file.policy.foreign.interfaces.get(name)
                if known and mention.name in known:
                    place = self.state.place(own) if own else Place("", name)
                    yield place, parameters_in(known[mention.name])
                elif known is None and file.policy.foreign.may_be_interface(name):
                    yield Place("", name), -1

    def _receivers(self, file: File, mention: Mention) -> Iterator[Value | None]:
        """Yield the types of what a member is used of: for a bare name the types around it."""
        if mention.receiver:
            receiver = parse(mention.receiver)
            if receiver != LITERAL and not self._is_type(file, mention.at, receiver):
                yield from _parts(self.expressions.value(file.path, mention.at, receiver))
        elif file.policy.names.bare_members:
            yield from (Instance((SymbolId(file.path, number),)) for number in file.types_around(mention.at))

    def _is_type(self, file: File, at: int, receiver: Expression) -> bool:
        """Return whether an expression is the name of an imported type or module."""
        match receiver:
            case Name(name):
                return name in file.imports and not file.innermost(name, at)
            case ModuleName():
                return True
        return False

    def _may_be_object(self, value: Value | None, name: str, policy: Policy) -> bool:
        """Return whether a value may be an object of a foreign type, and not of one that nothing extends."""
        if policy.foreign.is_open:
            is_instance = isinstance(value, Outside) and value.name.endswith("()")
            return is_instance or isinstance(value, Many | Table | Foreign)
        is_builtin = name[:1].islower() and "." not in name
        is_final = is_builtin or name.rpartition(".")[2] in policy.foreign.final
        return isinstance(value, Outside | Foreign | Instance) and not is_final


OVERRIDE = "@Override"
_OF_MEMBERS = (Use.CALL, Use.FUNCTION, Use.VALUE, Use.WRITE)
_NAMELESS = place_id(Place("", ""))
_KINDS: dict[type, str] = {Table: "collections.abc.MutableMapping", Many: "collections.abc.MutableSequence"}


def written_name(written: str) -> str:
    """Return the name in the text of a base."""
    return written.lstrip("=?").partition("<")[0].partition("@")[0]


def is_library(value: Instance | Type) -> bool:
    """Return whether a type is of the language's own library."""
    return value.symbols[0].path in LIBRARIES


def _parts(value: Value | None) -> Sequence[Value | None]:
    """Return the types that a value may have."""
    return value.values if isinstance(value, Either | All) else (value,)
