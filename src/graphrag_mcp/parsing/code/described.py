"""The word by which tests name the type that the block around them describes: `described_class` of RSpec."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeVar

from graphrag_mcp.parsing.code.names import type_name
from graphrag_mcp.parsing.outline import Reference, Variable


class Describing(NamedTuple):
    """A block that describes a type, in byte offsets, and the type as it is written: `Acme::Cart`."""

    start: int
    end: int
    name: str


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
    opened: list[Describing] = []
    ordered = sorted(blocks, key=lambda block: (-block.start, block.end))
    for place in places:
        while ordered and ordered[-1].start <= place.start:
            opened.append(ordered.pop())
        while opened and opened[-1].end <= place.start:
            opened.pop()
        yield place, opened[-1].name if opened else ""
