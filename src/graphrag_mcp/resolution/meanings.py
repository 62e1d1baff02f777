"""What the declarations of a name are: types, functions as their decorators change them, or what variables hold."""

from dataclasses import dataclass

from msgspec.structs import replace

from graphrag_mcp.model.facts import Mark, SymbolId
from graphrag_mcp.model.files import CALLABLE, SymbolKind
from graphrag_mcp.model.notation import parse, says_type
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
from graphrag_mcp.resolution.state import ResolverPart
from graphrag_mcp.resolution.symbols import Symbols
from graphrag_mcp.resolution.types import Types


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
            values = tuple(symbol for symbol in symbols if not self.symbols.is_only_type(symbol))
            symbols = symbols if all(map(self.symbols.is_type, values)) else values
        kinds, rebinds = {self.declared(symbol).kind for symbol in symbols}, self.state.policy(symbols[0]).names.rebinds
        if kinds <= {SymbolKind.TYPE, SymbolKind.MODULE}:
            return self._aliased(symbols[0]) or Type(symbols)
        if functions := tuple(symbol for symbol in symbols if self.declared(symbol).kind in CALLABLE):
            if Mark.PROPERTY in self.declared(functions[0]).marks:
                return self.calls.result(Function(functions[:1]), nothing, 0)
            others = [self._held(symbol) for symbol in symbols if rebinds and symbol not in functions]
            return either([self.function(functions), *others])
        held = [symbol for symbol in symbols if says_type(self.declared(symbol).value)]
        path, assigned = (
            symbols[0].path,
            [(declaration.at, declaration.value) for declaration in map(self.declared, symbols)],
        )
        if len(symbols) > 1 and not held and rebinds and all(text for _, text in assigned):
            return self.expressions.in_turn(path, self.declared(symbols[0]).name, assigned)
        return either(self._held(symbol) for symbol in held or symbols)

    def function(self, symbols: tuple[SymbolId, ...], of: Value | None = None) -> Value | None:
        """Return functions, as their decorators change them."""
        is_changed = self.state.policy(symbols[0]).names.rebinds and any(
            self.declared(symbol).decorators for symbol in symbols
        )
        if not is_changed:  # Decorators of TypeScript rarely give anything else.
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
        if Mark.ALIAS not in declaration.marks or not declaration.value:
            return None
        value = self.types.named(symbol.path, declaration.at, parse(declaration.value))
        if isinstance(value, Signature):
            return replace(value, alias=symbol)
        return Type(value.symbols, value.arguments) if isinstance(value, Instance) else value

    def _held(self, symbol: SymbolId) -> Value | None:
        """Return what a variable or field holds."""
        declaration = self.declared(symbol)
        if not declaration.value:
            return None
        assigned = [(declaration.at, declaration.value)]
        if declaration.owner < 0 and not says_type(declaration.value):
            assigned += self.names.assigned(self.state.open(symbol.path), declaration.name, [])
        return self.expressions.in_turn(symbol.path, declaration.name, assigned)
