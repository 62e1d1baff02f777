"""Ranks a chunk that only names something behind the chunk that defines it: prototypes, overloads, imports."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import TypeVar

from graphrag_mcp.model.files import DECLARATION_SUFFIXES, DECLARATIONS, IMPORTS
from graphrag_mcp.model.search import Factor, Hit, StoredChunk
from graphrag_mcp.text.words import identifiers_by_line

Carried = TypeVar("Carried")


def behind_definitions(hits: Sequence[tuple[Hit, Carried]]) -> list[tuple[Hit, Carried]]:
    """Return the hits, best first, each that declares or imports right behind the first that defines one of its names.

    Only these hits are compared: where none defines a name, the declaration is the best answer there is.
    """
    order = list(hits)
    for entry in hits:
        if named := _named(entry[0].chunk):
            place = order.index(entry)
            first = next((at for at, (other, _) in enumerate(order) if _defines(other.chunk, named)), place)
            if first > place:
                order.insert(first + 1, (_lowered(entry[0], order[first][0]), entry[1]))
                del order[place]
    return order


def _named(chunk: StoredChunk) -> frozenset[str]:
    """Return the names that a chunk declares or imports; nothing for a chunk that defines."""
    if chunk.kind == DECLARATIONS or chunk.path.endswith(DECLARATION_SUFFIXES):
        return frozenset(chunk.names)
    return frozenset(chain(*identifiers_by_line(chunk.text))) if chunk.kind == IMPORTS else frozenset()


def _defines(chunk: StoredChunk, names: frozenset[str]) -> bool:
    return not names.isdisjoint(chunk.names) and not _named(chunk)


def _lowered(hit: Hit, definition: Hit) -> Hit:
    factor = Factor("only names", definition.score / hit.score if hit.score else 1.0, note=definition.chunk.symbol)
    return replace(hit, score=definition.score, factors=(*hit.factors, factor))
