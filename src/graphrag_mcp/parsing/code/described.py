"""The word by which tests name the type that the block around them describes: `described_class` of RSpec."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from graphrag_mcp.parsing.code.names import type_name
from graphrag_mcp.parsing.outline import Describing, Reference, Variable, enclosing_indexes

_Named = TypeVar("_Named", Reference, Variable)


def name_described(
    word: str, blocks: Sequence[Describing], references: Sequence[Reference], variables: Sequence[Variable]
) -> tuple[list[Reference], list[Variable]]:
    """Return the references and variables, both in the order of their starts, with the type in place of the word."""
    named = []
    for use, described in _innermost(references, blocks):
        around, _, last = described.rpartition("::")
        if described and use.name == word:
            path, _, receiver = around.rpartition("::")
            use = use._replace(name=last, receiver=receiver, path=path, is_path=bool(receiver), is_far=bool(path))
        elif described and use.receiver == word:
            use = use._replace(receiver=last, path=around, is_plain=False)
        named.append(use)
    held = [
        variable._replace(kind=type_name(described)) if described and variable.kind == word else variable
        for variable, described in _innermost(variables, blocks)
    ]
    return named, held


def _innermost(places: Sequence[_Named], blocks: Sequence[Describing]) -> Iterator[tuple[_Named, str]]:
    """Yield each place with the type that the innermost block around it describes, "" for none."""
    ordered = sorted(blocks, key=lambda block: (block.start, -block.end))
    for place, index in zip(places, enclosing_indexes(ordered, [place.start for place in places]), strict=True):
        yield place, ordered[index].name if index >= 0 else ""
