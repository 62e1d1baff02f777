"""What the members of values are."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from graphrag_mcp.languages.policy import Policy, policy_of
from graphrag_mcp.model.expressions import parse, says_type
from graphrag_mcp.model.facts import USES_OF_FUNCTIONS, Mark, SymbolId
from graphrag_mcp.model.files import CALLABLE, SymbolKind
from graphrag_mcp.model.values import (
    ABSENT,
    INHERITED,
    OUTSIDE,
    Above,
    All,
    Either,
    Folder,
    Foreign,
    Function,
    Instance,
    Later,
    Many,
    Module,
    Outside,
    Package,
    Referent,
    Several,
    Signature,
    Table,
    Type,
    Value,
    Variable,
    either,
    nothing,
    of_kind,
    replaced,
    symbols_of,
)
from graphrag_mcp.resolution.files import ANYTHING, Sought
from graphrag_mcp.resolution.modules import Modules
from graphrag_mcp.resolution.overloads import Overloads
from graphrag_mcp.resolution.state import MAX_LEVELS, ResolverPart, is_foreign
from graphrag_mcp.resolution.symbols import Symbols
from graphrag_mcp.resolution.types import Lineage, Types


def _method_of(value: Value, name: str) -> Value | None:
    """Return a method of a list or map, as far as it gives what is in it."""
    match value, name:
        case Table(key, held), "items":
            return Signature((), Many(Several((key, held))))
        case Table(key, _), "keys":
            return Signature((), Many(key))
        case Table(_, held), "values":
            return Signature((), Many(held))
        case (Table(_, held), "get" | "pop" | "setdefault") | (Many(held), "pop" | "popleft"):
            return Signature((), held)
        case ((Table() | Many()), "copy"):
            return Signature((), value)
    return None


def _like(kind: type[Instance] | type[Type], bases: Iterable[Value | None]) -> list[Value | None]:
    """Return what instances inherit, or the types themselves."""
    return [of_kind(kind, value) for value in bases]


@dataclass(eq=False)
class Members(ResolverPart):
    """Finds members in values, in their types and in what those inherit."""

    symbols: Symbols
    types: Types
    lineage: Lineage
    overloads: Overloads
    modules: Modules

    def find(self, value: Value | None, name: str, sought: Sought = ANYTHING) -> Referent | None:
        """Return a member of a value: ABSENT if it has none of that name, None if that is not known."""
        return self.state.once(("member", value, name, sought), lambda: self._find(value, name, sought))

    def _find(self, value: Value | None, name: str, sought: Sought) -> Referent | None:  # noqa: C901 - a case for each kind
        match value:
            case Outside(of) if of.endswith("()"):
                return Referent((), None)
            case Foreign():
                return Referent((), OUTSIDE if is_foreign(value) else None)
            case Outside(of):
                return Referent((), Outside(f"{of}.{name}" if of else ""))
            case Module():
                member = self.modules.export(value, name)
                if member is ABSENT and name == "then" and self.state.open(value.path).policy.foreign.library.promise:
                    return Referent((), Signature((Signature((value,), None),), None))
                return member
            case Folder(path, language):
                inside = policy_of(language).modules.inside(self.state.source, path, name)
                return Referent((), inside) if inside else None
            case Later(held) if name in ("__enter__", "__aenter__"):
                return Referent((), Signature((), Later(held) if name == "__aenter__" else held))
            case Instance(symbols) | Type(symbols) if self.state.policy(symbols[0]).members.is_linear:
                return self._in_order(self.state.policy(symbols[0]), self.lineage.order(value), name)
            case Above(symbols) if self.state.policy(symbols[0]).members.is_linear:
                above = self.lineage.order(Instance(symbols))[1:]
                return self._in_order(self.state.policy(symbols[0]), above, name)
            case All(values):
                return self._any([self.find(value, name, sought) for value in values])
            case Type(symbols, arguments) if name == self.state.policy(symbols[0]).members.prototype:
                return Referent((), Instance(symbols, arguments))
            case Function(symbols):
                return self._of_function(value, symbols[0], name)
            case Package(unit, is_nested):
                if symbols := self.symbols.fitting(self.state.with_libraries.find(unit, name), sought):
                    return Referent(symbols, self.ask.meaning(symbols))
                return Referent((), Package(f"{unit}.{name}", is_nested=True)) if is_nested else None
            case Either(values):
                return self._common([self.find(value, name, sought) for value in values], name)
            case Instance(symbols) | Type(symbols):
                if self.state.policy(symbols[0]).calls.overloads:
                    return self._along((value,), name, sought)
                member = self._inherited([value], name)
                if member and isinstance(called := member.value, Function) and called.of != value:
                    return Referent(member.symbols, replace(called, receiver=value))
                assigned = self._given_member(value, name)
                if not member or not member.symbols:
                    return assigned or member
                if assigned and not set(assigned.symbols) <= set(member.symbols):
                    # What is assigned to a method may run in its place.
                    return Referent(tuple(dict.fromkeys(member.symbols + assigned.symbols)), member.value, is_open=True)
                return member
            case Above(symbols):
                bases = tuple(self.lineage.bases(Instance(symbols)))
                if self.state.policy(symbols[0]).calls.overloads:
                    return self._along(bases, name, sought)
                member = self._inherited(_like(Instance, bases), name)
                member = self._inherited(_like(Type, bases), name) if member is ABSENT else member
                is_own = member is ABSENT and name in self.state.policy(symbols[0]).members.constructors
                return INHERITED if is_own else member  # It is the member that the language gives.
            case Variable(known, above) if above:
                member = self.find(above, name, sought)
                return member if known or (member and member.symbols) else None
            case Many() | Table() | Several() | Signature() | Later():
                return Referent((), _method_of(value, name))
        return None

    def _along(self, values: tuple[Value | None, ...], name: str, sought: Sought) -> Referent | None:
        """Look in the types one by one: the first variable or type counts, and all functions that none overrides."""
        hits: list[Referent] = []
        is_foreign, owner = False, None
        for value in self.lineage.above(values):
            match value:
                case Instance() | Type():
                    owner = value
                    own = self._own(value, name, sought=sought)
                    if own and own.symbols and value not in values and all(map(self._is_private, own.symbols)):
                        continue  # It is not inherited.
                    if own and not isinstance(own.value, Function) and not hits:
                        return own
                    hits += [own] if own else []
                case Outside() | Foreign():
                    is_foreign = True
                case _ if hits:
                    break
                case _:
                    return None
        if hits:
            return hits[0] if len(hits) == 1 else self.overloads.joined(hits)
        if is_foreign:
            return INHERITED
        is_common = owner is not None and name in self.state.policy(owner.symbols[0]).members.common
        return Referent((), Outside(name)) if is_common else ABSENT

    def _is_private(self, symbol: SymbolId) -> bool:
        return Mark.PRIVATE in self.declared(symbol).marks

    def _of_function(self, value: Function, symbol: SymbolId, name: str) -> Referent | None:
        file, declaration = self.state.open(symbol.path), self.declared(symbol)
        if name == file.policy.members.prototype:
            return Referent((), Instance(value.symbols))
        if any(Mark.TYPED in self.declared(symbol).marks for symbol in value.symbols):
            return None  # It is of the variable's own type.
        if attached := self.modules.attached(value, symbol.path, name):
            return attached
        spaces = self.symbols.spaces(file.symbols(declaration.owner, declaration.name))
        inside = self.find(Type(spaces), name) if spaces else ABSENT
        if inside is not ABSENT:
            return inside
        if name == "bind":
            return Referent((), Signature((), value))
        library = self.ask.library(file, file.policy.foreign.library.functions)
        return self.find(Instance(library), name) if library else None

    def _in_order(self, policy: Policy, order: Sequence[Value | None], name: str) -> Referent | None:
        """Look in the types one by one; a field that is only assigned in methods is that of a type above as well."""
        is_foreign = is_hooked = False
        member: Referent | None = None
        for value in order:
            if isinstance(value, Outside):
                known = policy.foreign.members(value.name)
                is_foreign = is_foreign or known is None or name in known
            elif isinstance(value, Many | Table | Several | Signature | Later):
                is_foreign = True
            elif not isinstance(value, Instance | Type):
                return member
            elif own := self._own(value, name, order[0]):
                if is_foreign:
                    return member
                member = Referent(member.symbols + own.symbols, member.value) if member else own
                if not own.symbols or not all(map(self.symbols.is_only_assigned, own.symbols)):
                    return member
            else:
                is_hooked = is_hooked or any(self._own(value, hook) for hook in policy.members.hooks)
        if member:
            return member
        return Referent((), None) if is_foreign else None if is_hooked else ABSENT

    def before(self, kind: SymbolId, method: SymbolId) -> Sequence[SymbolId]:
        """Return the types in the order of one, from which `super` means a method that a type behind them declares."""
        near: list[SymbolId] = []
        for value in self.lineage.order(Instance((kind,))):
            own = self._own(value, self.declared(method).name) if isinstance(value, Instance) else None
            if value is None or method in symbols_of(own):
                break
            near = ([] if own else near) + list(value.symbols if isinstance(value, Instance) else ())
        return near

    def _given_member(self, value: Instance | Type, name: str) -> Referent | None:
        """Return a member that a value, or what it inherits from, is given outside of its declaration."""
        for _ in range(MAX_LEVELS):
            if member := self.modules.attached(value, value.symbols[0].path, name):
                return member
            base = next((base for base in self.lineage.bases(value) if isinstance(base, Instance | Type)), None)
            if base is None:
                break
            value = base
        return None

    def _any(self, members: Sequence[Referent | None]) -> Referent | None:
        """Return a member of a value that has several types."""
        hits = [hit for hit in members if hit and (hit.symbols or not isinstance(hit.value, Outside | None))]
        if hits:
            return min(hits, key=lambda hit: (not hit.symbols, hit.is_open))
        return None if None in members else next((hit for hit in members if hit is not ABSENT), ABSENT)

    def _common(self, members: Sequence[Referent | None], name: str) -> Referent | None:
        """Return a member of one of several values; those without it are not meant."""
        if None in members:
            return None
        having = [hit for hit in members if hit and hit is not ABSENT]
        if not having:
            return ABSENT
        if len(having) < len(members) and all(not hit.symbols and isinstance(hit.value, Outside) for hit in having):
            return None
        symbols = dict.fromkeys(symbol for hit in having for symbol in hit.symbols)
        if symbols and Referent((), None) in having:
            return None
        is_open = len(symbols) > max(len(hit.symbols) for hit in having) or any(hit.is_open for hit in having)
        owner = next(iter(symbols), None)
        is_open = is_open or bool(
            owner and INHERITED in having and name in self.state.policy(owner).members.of_literals
        )
        return Referent(tuple(symbols), either(hit.value for hit in having), is_open)

    def _inherited(self, level: list[Value | None], name: str) -> Referent | None:
        """Look level by level: in the types themselves, then in what they embed."""
        seen: set[Value | None] = set()
        for _ in range(MAX_LEVELS):
            hits: list[Referent] = []
            following: list[Value | None] = []
            found = {value: self._at_level(value, name) for value in level if value not in seen}
            seen.update(found)
            for value, own in found.items():
                if own is ABSENT and isinstance(value, Instance | Type):
                    bases = [base for base in self.lineage.bases(value) if self._may_have(value, base, name)]
                    bases = _like(type(value), bases)
                    hits += [Referent((), base) for base in bases if self._is_called(value, base, name)][:1]
                    following += bases
                elif own and own is not ABSENT and own is not INHERITED:
                    hits.append(own)
            if None in found.values() or len(set(hits)) > 1:
                return None
            is_foreign = any(own is INHERITED for own in found.values())
            if hits:
                return self._beside_foreign(hits[0], is_foreign=is_foreign)
            if is_foreign:
                return Referent((), OUTSIDE)
            if not following:
                return ABSENT
            level = following
        return None

    def _at_level(self, value: Value | None, name: str) -> Referent | None:
        """Return a member without what is above: ABSENT if there is none, INHERITED if a foreign type may have it."""
        if value is None or isinstance(value, Variable):
            return None
        if isinstance(value, Outside | Foreign):
            return INHERITED
        if not isinstance(value, Instance | Type):  # What an alias stands for, as several types in one.
            return self.find(value, name)
        own = self._own(value, name)
        return None if own and not own.symbols and own.value is None else own or ABSENT

    def _beside_foreign(self, member: Referent, *, is_foreign: bool) -> Referent | None:
        """Return a member that a foreign type of the same level may have, too."""
        if not is_foreign:
            return member
        is_likely = bool(member.symbols) and not self.symbols.has_method_sets(member.symbols[0])
        return Referent(member.symbols, None, is_open=True) if is_likely else None

    def _may_have(self, owner: Instance | Type, base: Value | None, name: str) -> bool:
        return self.symbols.may_have(owner.symbols[0], base, name) or self._is_called(owner, base, name)

    def _own(
        self, value: Instance | Type, name: str, of: Value | None = None, sought: Sought = ANYTHING
    ) -> Referent | None:
        """Return what a type declares itself, or what the type that it is made of has. of: whose member it is."""
        if not self.state.step():
            return None
        named = [symbol for other in value.symbols for symbol in self.symbols.declared_in(other, name)]
        symbols = self.symbols.fitting(named, sought)
        symbols = self.symbols.members_of(symbols, is_of_type=isinstance(value, Type))
        declaration = self.declared(symbols[0]) if len(symbols) == 1 else None
        if declaration and Mark.ALIAS in declaration.marks and declaration.kind != SymbolKind.TYPE:
            return self.ask.referent(symbols[0].path, declaration.at, parse(declaration.value))
        if symbols:
            kinds = {self.declared(symbol).kind for symbol in symbols}
            is_function = kinds <= set(CALLABLE) or sought.use in USES_OF_FUNCTIONS
            if is_function and Mark.PROPERTY not in self.declared(symbols[0]).marks:
                whose = of if isinstance(of, Instance | Type) and not value.arguments else value
                made = self.ask.function(symbols, Instance(whose.symbols, whose.arguments))
                if isinstance(made, Function) and isinstance(of, Instance) and whose is not of:
                    made = replace(made, receiver=of)
                return Referent(symbols, made)
            if kinds <= set(CALLABLE) and self.state.policy(symbols[0]).names.rebinds:  # A property, and what sets it.
                read = Function(symbols[:1], of or value) if isinstance(value, Instance) else None
                return Referent(symbols, self.ask.result(read, nothing, 0))
            held = replaced(self.ask.meaning(symbols), self.types.arguments(value))
            is_of_instance = all(map(self.symbols.is_only_assigned, symbols))
            is_said = all(says_type(self.declared(symbol).value) for symbol in symbols)
            return Referent(symbols, held if is_of_instance else self._read(value, held, is_said=is_said))
        instance = Instance(value.symbols, value.arguments)
        made_of = self.types.underlying(instance)
        if self.state.policy(value.symbols[0]).names.has_spaces:
            return self._of_mapped(made_of, name) if made_of != instance else None
        if isinstance(made_of, Instance) and made_of.symbols != value.symbols:
            fields = tuple(
                symbol
                for other in made_of.symbols
                for symbol in self.symbols.declared_in(other, name)
                if self.symbols.is_field(symbol) or self.symbols.is_interface(other)
            )
            if fields:
                return Referent(fields, self.ask.meaning(fields))
        return None

    def _of_mapped(self, made_of: Value | None, name: str) -> Referent | None:
        """Return a member of a type that is made of another: with an index, or with the members of that one."""
        match made_of:
            case Table(key, held) if key is not None and key != OUTSIDE:
                member = self.find(key, name)
                symbols = symbols_of(member)
                return None if member is ABSENT else Referent(symbols, held, is_open=not symbols)
            case Table(key, held):
                return Referent((), held, is_open=key is None)
            case Instance() | All() | Either():
                member = self.find(made_of, name)
                return None if member is ABSENT else member or Referent((), None)
        return None

    def _read(self, owner: Instance | Type, held: Value | None, *, is_said: bool) -> Value | None:
        """Return what reading a field gives: of an enumeration an instance; a field may decide it itself.

        is_said: whether the code says its type, which then is what is read, unless that is known to decide.
        """
        policy = self.state.policy(owner.symbols[0])
        if policy.foreign.enumerations and self.is_enumeration(owner):
            return Instance(owner.symbols)
        reading = policy.members.reading if isinstance(held, Instance) else ""
        reader = self.find(held, reading) if reading else ABSENT
        return held if reader is ABSENT or (is_said and not symbols_of(reader)) else None

    def is_enumeration(self, kind: Instance | Type) -> bool:
        """Return whether the fields of a type are its instances, or it is marked as one of constants."""
        foreign = self.state.policy(kind.symbols[0]).foreign.enumerations
        above = self.lineage.order(kind) if foreign else ()
        is_below = any(isinstance(value, Outside) and value.name.removesuffix("()") in foreign for value in above)
        return is_below or Mark.ENUMERATION in self.declared(kind.symbols[0]).marks

    def _is_called(self, owner: Instance | Type, base: Value | None, name: str) -> bool:
        """Return whether an embedded type has a name: in a struct it names the field."""
        if self.symbols.is_interface(owner.symbols[0]):
            return False
        if isinstance(base, Instance):
            return self.declared(base.symbols[0]).name == name
        return isinstance(base, Outside) and base.name.rpartition(".")[2] == name
