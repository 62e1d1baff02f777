"""What kind of thing each declaration is."""

from collections.abc import Iterator, Mapping, Sequence

from graphrag_mcp.model.facts import USES_OF_FUNCTIONS, Mark, Thing, Use
from graphrag_mcp.model.files import CALLABLE, SymbolKind
from graphrag_mcp.model.values import (
    Foreign,
    Outside,
    Type,
    Value,
)
from graphrag_mcp.resolution.files import Sought
from graphrag_mcp.resolution.state import Part


class Things(Part):
    """Answers from declarations, and from the policy of their language."""

    def methods_of(self, thing: Thing) -> Sequence[Thing]:
        """Return the methods that a type declares itself, in whichever file of its unit."""
        file = self.state.open(thing.path)
        own = [Thing(thing.path, number) for number in file.methods.get(thing.number, ())]
        return own or self.state.source.methods(file.facts.unit, self.declared(thing).qualified)

    def owner_of(self, member: Thing) -> Thing | None:
        """Return the type whose member a declaration is."""
        declaration, source = self.declared(member), self.state.source
        if declaration.owner >= 0:
            return Thing(member.path, declaration.owner)
        owner, _, _ = declaration.qualified.rpartition(".")
        symbols = source.find(source.unit(member.path), owner) if owner else ()
        return next((thing for thing in symbols if self.is_type(thing)), None)

    def has_method_sets(self, thing: Thing) -> bool:
        """Return whether types implement an interface by having its methods."""
        return self.state.policy(thing).members.method_sets

    def has_overloads(self, thing: Thing) -> bool:
        """Return whether the arguments decide which function of a name is called."""
        return self.state.policy(thing).calls.overloads

    def is_common(self, thing: Thing) -> bool:
        """Return whether a declaration is a member that every type has."""
        return self.declared(thing).name in self.state.policy(thing).members.common

    def is_property(self, thing: Thing) -> bool:
        """Return whether a declaration is read without a call, or is what is run when such a one is written."""
        declaration = self.declared(thing)
        if Mark.PROPERTY in declaration.marks or declaration.kind != SymbolKind.METHOD:
            return Mark.PROPERTY in declaration.marks
        return declaration.qualified in self.state.open(thing.path).properties

    def is_implicit(self, thing: Thing) -> bool:
        """Return whether the language itself calls a method, or a function of a module, where nothing names it."""
        declaration, policy = self.declared(thing), self.state.policy(thing)
        may_be = declaration.kind == SymbolKind.METHOD or (
            policy.names.rebinds and declaration.owner < 0 and declaration.kind in CALLABLE
        )
        return may_be and policy.members.is_implicit(declaration.name)

    def is_only_assigned(self, thing: Thing) -> bool:
        """Return whether nothing but assignments in methods declares a field: it has no place of its own."""
        declaration = self.declared(thing)
        return declaration.kind == SymbolKind.FIELD and declaration.start == declaration.stop

    def is_replaceable(self, thing: Thing) -> bool:
        """Return whether types below can declare a member again: a method, or a field in some languages."""
        kind = self.declared(thing).kind
        return kind == SymbolKind.METHOD or (
            kind == SymbolKind.FIELD and self.state.policy(thing).members.replaces_fields
        )

    def foreign_methods(self, thing: Thing, base: Value | None) -> Mapping[str, int] | None:
        """Return the methods of a foreign interface with their numbers of parameters, None where they are not known."""
        policy = self.state.policy(thing)
        return policy.foreign.interfaces.get(base.name) if isinstance(base, Outside | Foreign) else None

    def is_constructor(self, thing: Thing, owner: Thing) -> bool:
        """Return whether a member makes the instances of its type."""
        name, policy = self.declared(thing).name, self.state.policy(thing)
        return (name if name != self.declared(owner).name else "") in policy.members.constructors

    def is_run_by_call(self, thing: Thing, owner: Thing) -> bool:
        """Return whether a member runs when its type or an instance is called."""
        return (
            self.is_constructor(thing, owner) or self.declared(thing).name == self.state.policy(thing).members.calling
        )

    def constructors(self, kind: Type, count: int) -> tuple[Thing, ...]:
        """Return the constructors of a type that take a number of arguments."""
        own = [
            thing
            for other in kind.things
            for name in self.state.policy(other).members.constructors
            for thing in self.declared_in(other, name or self.declared(other).name)
        ]
        return self.fitting(own, Sought(Use.CALL, count))

    def is_type(self, thing: Thing) -> bool:
        return self.declared(thing).kind == SymbolKind.TYPE

    def fitting(self, things: Sequence[Thing], sought: Sought) -> tuple[Thing, ...]:
        """Return the declarations that a name may mean by its use; of functions those that take the arguments."""
        if not things:
            return ()
        spaces = self.state.policy(things[0]).names.spaces.get(sought.use)
        if not spaces:
            return tuple(things)
        for kinds in spaces:
            if fitting := [thing for thing in things if self.declared(thing).kind in kinds]:
                break
        if sought.use not in USES_OF_FUNCTIONS:
            return tuple(fitting)
        accessors = [thing for thing in things if self.declared(thing).parameters == ()]
        return tuple(
            thing for thing in fitting or accessors if sought.use != Use.CALL or self._has_room(thing, sought.given)
        )

    def members_of(self, things: Sequence[Thing], *, is_of_type: bool) -> tuple[Thing, ...]:
        """Return those members that a type itself has, or its instances, where both may have one of a name."""
        if not things or not self.state.policy(things[0]).names.has_spaces:
            return tuple(things)
        of_it = [thing for thing in things if (Mark.STATIC in self.declared(thing).marks) == is_of_type]
        others = [thing for thing in things if thing not in of_it and self.declared(thing).kind != SymbolKind.METHOD]
        return tuple(of_it or others or [thing for thing in things if self._is_of_interface(thing)])

    def _is_of_interface(self, member: Thing) -> bool:
        owner = self.declared(member).owner
        return owner >= 0 and Mark.INTERFACE in self.declared(Thing(member.path, owner)).marks

    def _has_room(self, thing: Thing, count: int) -> bool:
        """Return whether a function takes a number of arguments."""
        parameters = self.declared(thing).parameters
        if count < 0 or parameters is None:
            return True
        has_rest = bool(parameters) and parameters[-1].rest
        return count >= len(parameters) - 1 if has_rest else count == len(parameters)

    def declared_in(self, owner: Thing, name: str) -> Iterator[Thing]:
        """Yield the members of a name that a type declares, in whichever file of its unit."""
        file = self.state.open(owner.path)
        if self.declared(owner).kind in CALLABLE:
            return
        yield from file.things(owner.number, name)
        declaration = self.declared(owner)
        if file.policy.modules.open_types and declaration.name:
            for thing in self.state.source.find(self.state.source.unit(owner.path), f"{declaration.qualified}.{name}"):
                if self.declared(thing).owner != owner.number or thing.path != owner.path:
                    yield thing
