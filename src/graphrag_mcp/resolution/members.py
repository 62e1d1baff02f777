"""What the members of values are."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from graphrag_mcp.languages.policy import Policy, policy_of
from graphrag_mcp.model.expressions import parse
from graphrag_mcp.model.facts import USES_OF_FUNCTIONS, Mark
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
    Found,
    Function,
    Instance,
    Later,
    Many,
    Module,
    Outside,
    Package,
    Several,
    Signature,
    Table,
    Type,
    Value,
    Variable,
    either,
    nothing,
    replaced,
)
from graphrag_mcp.resolution.files import ANYTHING, Sought
from graphrag_mcp.resolution.libraries import is_foreign
from graphrag_mcp.resolution.lineage import Lineage
from graphrag_mcp.resolution.modules import Modules
from graphrag_mcp.resolution.overloads import Overloads
from graphrag_mcp.resolution.state import MAX_LEVELS, Part
from graphrag_mcp.resolution.things import Things
from graphrag_mcp.resolution.types import Types


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
    return [kind(value.things, value.arguments) if isinstance(value, Instance | Type) else value for value in bases]


@dataclass(eq=False)
class Members(Part):
    """Finds members in values, in their types and in what those inherit."""

    things: Things
    types: Types
    lineage: Lineage
    overloads: Overloads
    modules: Modules

    def find(self, value: Value, name: str, sought: Sought = ANYTHING) -> Found | None:
        """Return a member of a value: ABSENT if it has none of that name, None if that is not known."""
        return self.state.once(("member", value, name, sought), lambda: self._find(value, name, sought))

    def _find(self, value: Value, name: str, sought: Sought) -> Found | None:  # noqa: C901 - a case for each kind
        match value:
            case Outside(of) if of.endswith("()"):
                return Found((), None)
            case Foreign():
                return Found((), OUTSIDE if is_foreign(value) else None)
            case Outside(of):
                return Found((), Outside(f"{of}.{name}" if of else ""))
            case Module():
                member = self.modules.export(value, name)
                is_promise = (
                    member is ABSENT and name == "then" and bool(self.state.open(value.path).policy.foreign.promise)
                )
                return Found((), Signature((Signature((value,), None),), None)) if is_promise else member
            case Folder(path, language) if find := policy_of(language).modules.inside:
                inside = find(self.state.source, path, name)
                return Found((), inside) if inside else None
            case Later(held) if name in ("__enter__", "__aenter__"):
                return Found((), Signature((), Later(held) if name == "__aenter__" else held))
            case Instance(things) | Type(things) if self.state.policy(things[0]).members.is_linear:
                return self._in_order(self.state.policy(things[0]), self.lineage.order(value), name)
            case Above(things) if self.state.policy(things[0]).members.is_linear:
                above = self.lineage.order(Instance(things))[1:]
                return self._in_order(self.state.policy(things[0]), above, name)
            case All(values):
                return self._any([self.find(value, name, sought) if value else None for value in values])
            case Type(things, arguments) if name == self.state.policy(things[0]).members.prototype:
                return Found((), Instance(things, arguments))
            case Function(things):
                return self._of_function(value, things[0].path, name)
            case Package(unit, is_nested):
                if things := self.things.fitting(self.state.modules.find(unit, name), sought):
                    return Found(things, self.ask.meaning(things))
                return Found((), Package(f"{unit}.{name}", is_nested=True)) if is_nested else None
            case Either(values):
                return self._common([self.find(value, name, sought) for value in values], name)
            case Instance(things) | Type(things):
                if self.state.policy(things[0]).calls.overloads:
                    return self._along((value,), name, sought)
                member = self._inherited([value], name)
                if member and isinstance(called := member.value, Function) and called.of != value:
                    return Found(member.things, replace(called, receiver=value))
                assigned = self._given_member(value, name)
                if member and member.things and assigned and not set(assigned.things) <= set(member.things):
                    # What is assigned to a method may run in its place.
                    return Found(tuple(dict.fromkeys(member.things + assigned.things)), member.value, is_open=True)
                return member if member and member.things else assigned or member
            case Above(things):
                bases = tuple(self.lineage.bases(Instance(things)))
                if self.state.policy(things[0]).calls.overloads:
                    return self._along(bases, name, sought)
                member = self._inherited(_like(Instance, bases), name)
                member = self._inherited(_like(Type, bases), name) if member is ABSENT else member
                is_own = member is ABSENT and name in self.state.policy(things[0]).members.constructors
                return INHERITED if is_own else member  # It is the member that the language gives.
            case Variable(known, above) if above:
                member = self.find(above, name, sought)
                return member if known or (member and member.things) else None
            case Many() | Table() | Several() | Signature() | Later():
                return Found((), _method_of(value, name))
        return None

    def _along(self, values: tuple[Value | None, ...], name: str, sought: Sought) -> Found | None:
        """Look in the types one by one: the first variable or type counts, and all functions that none overrides."""
        hits: list[Found] = []
        is_foreign = is_common = False
        owner = None
        for value in self.lineage.above(values):
            match value:
                case Instance() | Type():
                    owner = value
                    own = self._own(value, name, sought=sought)
                    if own and not isinstance(own.value, Function) and not hits:
                        return own
                    hits += [own] if own else []
                case Outside() | Foreign():
                    known = self.things.foreign_methods(owner.things[0], value) if owner else None
                    is_foreign, is_common = is_foreign or known is None, is_common or name in (known or ())
                case _ if hits:
                    break
                case _:
                    return None
        if hits:
            return hits[0] if len(hits) == 1 else self.overloads.joined(hits)
        if is_foreign:
            return INHERITED
        is_common = is_common or (owner is not None and name in self.state.policy(owner.things[0]).members.common)
        return Found((), Outside(name)) if is_common else ABSENT

    def _of_function(self, value: Function, path: str, name: str) -> Found | None:
        file = self.state.open(path)
        if file.policy.members.prototype and name == file.policy.members.prototype:
            return Found((), Instance(value.things))
        if any(Mark.TYPED in self.declared(thing).marks for thing in value.things):
            return None  # It is of the variable's own type.
        if attached := self.modules.attached(value, path, name):
            return attached
        if name == "bind":
            return Found((), Signature((), value))
        library = self.ask.library(file, file.policy.foreign.functions)
        return self.find(Instance(library), name) if library else None

    def _in_order(self, policy: Policy, order: Sequence[Value | None], name: str) -> Found | None:
        """Look in the types one by one; a field that is only assigned in methods is that of a type above as well."""
        is_foreign = is_hooked = False
        member: Found | None = None
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
                member = Found(member.things + own.things, member.value) if member else own
                if not (own.things and all(map(self.things.is_only_assigned, own.things))):
                    return member
            else:
                is_hooked = is_hooked or any(self._own(value, hook) for hook in policy.members.hooks)
        if member:
            return member
        return Found((), None) if is_foreign else None if is_hooked else ABSENT

    def _given_member(self, value: Instance | Type, name: str) -> Found | None:
        """Return a member that a value, or what it inherits from, is given outside of its declaration."""
        for _ in range(MAX_LEVELS):
            if member := self.modules.attached(value, value.things[0].path, name):
                return member
            bases = [base for base in self.lineage.bases(value) if isinstance(base, Instance | Type)]
            if not bases:
                break
            value = bases[0]
        return None

    def _any(self, members: Sequence[Found | None]) -> Found | None:
        """Return a member of a value that has several types."""
        hits = [hit for hit in members if hit and (hit.things or not isinstance(hit.value, Outside | None))]
        if hits or None in members:
            return min(hits, key=lambda hit: (not hit.things, hit.is_open)) if hits else None
        return next((hit for hit in members if hit is not ABSENT), ABSENT)

    def _common(self, members: Sequence[Found | None], name: str) -> Found | None:
        """Return a member of one of several values; those without it are not meant."""
        if None in members:
            return None
        having = [hit for hit in members if hit is not None and hit is not ABSENT]
        if not having:
            return ABSENT
        if len(having) < len(members) and all(not hit.things and isinstance(hit.value, Outside) for hit in having):
            return None
        things = dict.fromkeys(thing for hit in having for thing in hit.things)
        if things and Found((), None) in having:
            return None
        is_open = len(things) > max(len(hit.things) for hit in having) or any(hit.is_open for hit in having)
        owner = next(iter(things), None)
        is_open = is_open or bool(
            owner and INHERITED in having and name in self.state.policy(owner).members.of_literals
        )
        return Found(tuple(things), either(hit.value for hit in having), is_open)

    def _inherited(self, level: list[Value | None], name: str) -> Found | None:
        """Look level by level: in the types themselves, then in what they embed."""
        seen: set[Value] = set()
        for _ in range(MAX_LEVELS):
            hits: list[Found] = []
            following: list[Value | None] = []
            is_unknown = is_foreign = False
            for value in level:
                if value is None or isinstance(value, Variable):
                    is_unknown = True
                elif isinstance(value, Outside | Foreign):
                    is_foreign = True
                elif isinstance(value, Instance | Type) and value not in seen:
                    seen.add(value)
                    own = self._own(value, name)
                    if own and not own.things and own.value is None:
                        is_unknown = True
                    elif own:
                        hits.append(own)
                    else:
                        bases = [base for base in self.lineage.bases(value) if self._may_have(value, base, name)]
                        bases = _like(type(value), bases)
                        hits += [Found((), base) for base in bases if self._is_called(value, base, name)][:1]
                        following += bases
            if hits:
                is_one = not is_unknown and all(hit == hits[0] for hit in hits)
                return self._beside_foreign(hits[0], is_foreign=is_foreign) if is_one else None
            if is_unknown:
                return None
            if is_foreign:
                return Found((), OUTSIDE)
            if not following:
                return ABSENT
            level = following
        return None

    def _beside_foreign(self, member: Found, *, is_foreign: bool) -> Found | None:
        """Return a member that a foreign type of the same level may have, too."""
        if not is_foreign:
            return member
        is_likely = bool(member.things) and not self.things.has_method_sets(member.things[0])
        return Found(member.things, None, is_open=True) if is_likely else None

    def _may_have(self, owner: Instance | Type, base: Value | None, name: str) -> bool:
        known = self.things.foreign_methods(owner.things[0], base)
        return known is None or name in known

    def _own(
        self, value: Instance | Type, name: str, of: Value | None = None, sought: Sought = ANYTHING
    ) -> Found | None:
        """Return what a type declares itself, or what the type that it is made of has. of: whose member it is."""
        named = [thing for other in value.things for thing in self.things.declared_in(other, name)]
        things = self.things.fitting(named, sought)
        things = self.things.members_of(things, is_of_type=isinstance(value, Type))
        declaration = self.declared(things[0]) if len(things) == 1 else None
        if declaration and Mark.ALIAS in declaration.marks and declaration.kind != SymbolKind.TYPE:
            return self.ask.found(things[0].path, declaration.at, parse(declaration.value))
        if things:
            kinds = {self.declared(thing).kind for thing in things}
            is_function = kinds <= set(CALLABLE) or sought.use in USES_OF_FUNCTIONS
            if is_function and Mark.PROPERTY not in self.declared(things[0]).marks:
                whose = of if isinstance(of, Instance | Type) and not value.arguments else value
                made = self.ask.function(things, Instance(whose.things, whose.arguments))
                if isinstance(made, Function) and isinstance(of, Instance) and whose is not of:
                    made = replace(made, receiver=of)
                return Found(things, made)
            if kinds <= set(CALLABLE) and self.state.policy(things[0]).names.rebinds:  # A property, and what sets it.
                read = Function(things[:1], of or value) if isinstance(value, Instance) else None
                return Found(things, self.ask.result(read, nothing, 0))
            held = replaced(self.ask.meaning(things), self.types.arguments(value))
            is_of_instance = all(map(self.things.is_only_assigned, things))
            return Found(things, held if is_of_instance else self._read(value, held))
        instance = Instance(value.things, value.arguments)
        made_of = self.types.underlying(instance)
        if self.state.policy(value.things[0]).names.has_spaces:
            return self._of_mapped(made_of, name) if made_of != instance else None
        if isinstance(made_of, Instance) and made_of.things != value.things:
            fields = tuple(
                thing
                for other in made_of.things
                for thing in self.things.declared_in(other, name)
                if self.declared(thing).kind == SymbolKind.FIELD or Mark.INTERFACE in self.declared(other).marks
            )
            if fields:
                return Found(fields, self.ask.meaning(fields))
        return None

    def _of_mapped(self, made_of: Value | None, name: str) -> Found | None:
        """Return a member of a type that is made of another: with an index, or with the members of that one."""
        match made_of:
            case Table(key, held) if key is not None and key != OUTSIDE:
                member = self.find(key, name)
                things = member.things if member else ()
                return None if member is ABSENT else Found(things, held, is_open=not things)
            case Table(key, held):
                return Found((), held, is_open=key is None)
            case Instance() | All() | Either():
                member = self.find(made_of, name)
                return None if member is ABSENT else member or Found((), None)
        return None

    def _read(self, owner: Instance | Type, held: Value | None) -> Value | None:
        """Return what reading a field gives: of an enumeration an instance; a field may decide it itself."""
        policy = self.state.policy(owner.things[0])
        if policy.foreign.enumerations and self.is_enumeration(owner):
            return Instance(owner.things)
        is_own = (
            isinstance(held, Instance)
            and policy.members.reading
            and self.find(held, policy.members.reading) is not ABSENT
        )
        return None if is_own else held

    def is_enumeration(self, kind: Instance | Type) -> bool:
        """Return whether the fields of a type are its instances, or it is marked as one of constants."""
        foreign = self.state.policy(kind.things[0]).foreign.enumerations
        above = self.lineage.order(kind) if foreign else ()
        is_below = any(isinstance(value, Outside) and value.name.removesuffix("()") in foreign for value in above)
        return is_below or Mark.ENUMERATION in self.declared(kind.things[0]).marks

    def _is_called(self, owner: Instance | Type, base: Value | None, name: str) -> bool:
        """Return whether an embedded type has a name: in a struct it names the field."""
        if Mark.INTERFACE in self.declared(owner.things[0]).marks:
            return False
        if isinstance(base, Instance):
            return self.declared(base.things[0]).name == name
        return isinstance(base, Outside) and base.name.rpartition(".")[2] == name
