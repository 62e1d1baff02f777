"""What declarations stand for."""

from dataclasses import dataclass

from graphrag_mcp.model.expressions import parse, says_type
from graphrag_mcp.model.facts import Mark, Thing
from graphrag_mcp.model.files import CALLABLE, SymbolKind
from graphrag_mcp.model.values import (
    Function,
    Instance,
    Later,
    Outside,
    Signature,
    Type,
    Value,
    always,
    either,
    nothing,
)
from graphrag_mcp.resolution.calls import Calls
from graphrag_mcp.resolution.expressions import Expressions
from graphrag_mcp.resolution.names import Names
from graphrag_mcp.resolution.state import Part
from graphrag_mcp.resolution.things import Things
from graphrag_mcp.resolution.types import Types


@dataclass(eq=False)
class Meanings(Part):
    """Decides the values of declarations."""

    things: Things
    types: Types
    calls: Calls
    expressions: Expressions
    names: Names

    def meaning(self, things: tuple[Thing, ...]) -> Value | None:
        """Return the value of declarations of one name."""
        return self.state.once(("meaning", things), lambda: self._meaning(things))

    def _meaning(self, things: tuple[Thing, ...]) -> Value | None:
        if len(things) > 1:
            values = tuple(thing for thing in things if not self._is_only_type(thing))
            things = things if all(map(self.things.is_type, values)) else values
        kinds, rebinds = {self.declared(thing).kind for thing in things}, self.state.policy(things[0]).names.rebinds
        if kinds <= {SymbolKind.TYPE, SymbolKind.MODULE}:
            return self._aliased(things[0]) or Type(things)
        if functions := tuple(thing for thing in things if self.declared(thing).kind in CALLABLE):
            if Mark.PROPERTY in self.declared(functions[0]).marks:
                return self.calls.result(Function(functions[:1]), nothing, 0)
            others = [self._held(thing) for thing in things if rebinds and thing not in functions]
            return either([self.function(functions), *others])
        held = [thing for thing in things if says_type(self.declared(thing).value)]
        path, assigned = (
            things[0].path,
            [(declaration.at, declaration.value) for declaration in map(self.declared, things)],
        )
        if len(things) > 1 and not held and rebinds and all(text for _, text in assigned):
            return self.expressions.in_turn(path, self.declared(things[0]).name, assigned)
        return either(self._held(thing) for thing in held or things)

    def function(self, things: tuple[Thing, ...], of: Value | None = None) -> Value | None:
        """Return functions, as their decorators change them."""
        is_changed = self.state.policy(things[0]).names.rebinds and any(
            self.declared(thing).decorators for thing in things
        )
        if not is_changed:  # Decorators of TypeScript rarely give anything else.
            return Function(things, of)
        made = [self._decorated(thing, Function((thing,), of)) for thing in things]
        if all(value == Function((thing,), of) for value, thing in zip(made, things, strict=True)):
            return Function(things, of)
        return either(made)

    def _decorated(self, thing: Thing, value: Value | None) -> Value | None:
        declaration, policy = self.declared(thing), self.state.policy(thing)
        for text in reversed(declaration.decorators):
            decorator, decorated = self.expressions.written(thing, text), value
            how = policy.calls.passes.get(decorator.name, "") if isinstance(decorator, Outside) else ""
            if how == "later":
                entered = self.calls.result(decorated, nothing, 0)
                value = Signature((), Later(self.expressions.each(entered, 1)))
            elif how != "value":
                value = self.calls.result(decorator, always(decorated), 1)
        return value

    def _is_only_type(self, thing: Thing) -> bool:
        """Return whether a declaration is a type without a value: an interface or an alias."""
        return not {Mark.INTERFACE, Mark.ALIAS}.isdisjoint(self.declared(thing).marks) and self.things.is_type(thing)

    def _aliased(self, thing: Thing) -> Value | None:
        declaration = self.declared(thing)
        if Mark.ALIAS not in declaration.marks or not declaration.value:
            return None
        value = self.types.named(thing.path, declaration.at, parse(declaration.value))
        return Type(value.things, value.arguments) if isinstance(value, Instance) else value

    def _held(self, thing: Thing) -> Value | None:
        """Return what a variable or field holds."""
        declaration = self.declared(thing)
        if not declaration.value:
            return None
        assigned = [(declaration.at, declaration.value)]
        if declaration.owner < 0 and not says_type(declaration.value):
            assigned += self.names.assigned(self.state.open(thing.path), declaration.name, [])
        return self.expressions.in_turn(thing.path, declaration.name, assigned)
