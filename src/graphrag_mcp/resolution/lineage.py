"""What is above a type, and in which order."""

from collections.abc import Iterator
from dataclasses import dataclass

from graphrag_mcp.model.facts import SymbolId
from graphrag_mcp.model.notation import parse
from graphrag_mcp.model.values import Foreign, Instance, Type, Value, replaced
from graphrag_mcp.resolution.state import ResolverPart
from graphrag_mcp.resolution.types import Types

MAX_ABOVE = 100  # Types above each other; what is above them is unknown. Libraries have 10.


@dataclass(eq=False)
class Lineage(ResolverPart):
    """Follows types to their bases."""

    types: Types

    def bases_of(self, symbol: SymbolId) -> list[Value | None]:
        """Return the types that a type names as its bases, also those from which it inherits nothing."""
        declaration = self.declared(symbol)
        return [self.types.named(symbol.path, declaration.at, parse(base.type)) for base in declaration.bases]

    def seen_as(self, value: Instance, kind: Instance | Foreign) -> Value | None:
        """Return a value as one of a type above its own."""
        for inner in self.above((value,))[1:]:
            match inner, kind:
                case (Instance(own), Instance(other)) | (Foreign(own), Foreign(other)) if own == other:
                    return inner
        return None

    def above(self, values: tuple[Value | None, ...]) -> list[Value | None]:
        """Return values and all that is above them: a type before its bases, the first base before the others."""
        return self.state.once(("lineage", values), lambda: self._ordered(values)) or [None]

    def _ordered(self, values: tuple[Value | None, ...]) -> list[Value | None]:
        order: dict[Value | None, None] = {}
        entered: set[Value | None] = set()

        def enter(value: Value | None, depth: int) -> None:
            if value not in entered:
                entered.add(value)
                for base in reversed(list(self.bases(value)) if isinstance(value, Instance | Type) else []):
                    enter(base if depth < MAX_ABOVE else None, depth + 1)
                order[value] = None

        for value in reversed(values):
            enter(value, 0)
        return list(reversed(order))

    def order(self, value: Instance | Type) -> list[Value | None]:
        """Return a type and all above it, as members are looked for; None stands for what is not known."""
        return self.state.once(("order", value), lambda: self._merged(value)) or [None]

    def _merged(self, value: Instance | Type) -> list[Value | None]:
        """Merge the orders of the bases so that each type stands before its own bases (C3)."""
        as_kind = type(value)
        bases = [
            as_kind(other.symbols, other.arguments) if isinstance(other, Instance) else other
            for other in self.bases(value)
        ]
        rows = [list(self.order(value)) if isinstance(value, Instance | Type) else [value] for value in bases]
        rows.append(list(bases))
        merged: list[Value | None] = [value]
        while rows := [row for row in rows if row]:
            later = [value for row in rows for value in row[1:]]
            is_short = len(merged) < MAX_ABOVE
            following = next((row[0] for row in rows if row[0] not in later), None) if is_short else None
            merged.append(following)
            if following is None:  # It is unknown, or the types have no such order.
                break
            rows = [row[1:] if row[0] == following else row for row in rows]
        return merged

    def bases(self, value: Instance | Type) -> Iterator[Value | None]:
        """Yield the types from which a type inherits, with its type arguments."""
        for symbol in value.symbols:
            declaration = self.declared(symbol)
            for base in declaration.bases:
                if base.how in self.state.policy(symbol).members.not_inherited:
                    continue
                above = self.types.named(symbol.path, declaration.at, parse(base.type))
                yield replaced(above, self.types.arguments(value))
