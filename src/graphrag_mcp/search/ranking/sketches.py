"""Sketches of the definitions of a file: the few words that tell what each does, without its code.

The words and weights are measured: callers, comments, literals and parameter names beyond the signature do not help.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from graphrag_mcp.model.files import CALLABLE, Symbol, SymbolKind
from graphrag_mcp.ports import Matrix

CALLEES = 40  # A sketch of a function names no more.
MEMBERS = 12  # A sketch of a type names no more.
IS_DEFINITION = 0.3  # A function or type gains it over code outside of both.
TYPES_DO_LESS = 0.3  # A type says what there is; a question for what is done means its functions.
PER_LOG_LINE = 0.045  # Long definitions do more of what is asked for than short ones.

_TYPES = frozenset({SymbolKind.TYPE, SymbolKind.MODULE})
_start = attrgetter("start_line")


@dataclass(frozen=True, slots=True)
class Sketch:
    """A definition, the lines that show it, and its words.

    Of a type, the lines are those before its first function, which has a sketch of its own.
    """

    symbol: Symbol
    start_line: int
    end_line: int
    text: str


@dataclass(frozen=True, slots=True)
class FileSketches:
    """The sketches of a file. shown: the chunks that show each. size, is_type, vectors: a row for each."""

    sketches: Sequence[Sketch]
    shown: Sequence[Sequence[int]]
    size: Matrix
    is_type: Matrix
    vectors: Matrix

    @classmethod
    def over(cls, sketches: Sequence[Sketch], vectors: Matrix, spans: Mapping[int, tuple[int, int]]) -> "FileSketches":
        """Return the sketches with the chunks that show them; spans: lines of the file's chunks, in their order."""
        chunk_ids = list(spans)
        starts, ends = ([span[end] for span in spans.values()] for end in (0, 1))
        shown = [
            chunk_ids[bisect_left(ends, sketch.start_line) : bisect_right(starts, sketch.end_line)]
            for sketch in sketches
        ]
        lines = np.array([sketch.end_line - sketch.start_line + 1 for sketch in sketches], dtype=np.float32)
        size: Matrix = np.asarray(IS_DEFINITION + PER_LOG_LINE * np.log1p(lines), dtype=np.float32)
        is_type = np.array([sketch.symbol.kind in _TYPES for sketch in sketches], dtype=np.float32)
        return cls(sketches, shown, size, is_type, vectors)

    def gains(self, query: Matrix, *, asks_for_behaviour: bool = False) -> Matrix:
        """Return how much each sketch speaks for what shows it."""
        gains = self.vectors @ query + self.size
        return np.asarray(gains - TYPES_DO_LESS * self.is_type if asks_for_behaviour else gains)


def sketch(definitions: Sequence[Symbol], calls: Sequence[tuple[int, str]]) -> list[Sketch]:
    """Return the sketches of a file's functions and types, in the order of their lines.

    definitions: all of the file, in the order of their lines. calls: line and name, likewise.
    """
    functions = list(_outermost(definitions))
    sketches = [_sketch(symbol, symbol.end_line, _called(symbol, calls)) for symbol in functions]
    starts = [symbol.start_line for symbol in functions]
    for symbol in definitions:
        if symbol.kind in _TYPES:
            following = bisect_left(starts, symbol.start_line + 1)
            first = starts[following] if following < len(starts) else symbol.end_line + 1
            head = max(symbol.start_line, min(symbol.end_line, first - 1))
            sketches.append(_sketch(symbol, head, _members(symbol, definitions)))
    return sorted(sketches, key=lambda definition: (definition.start_line, definition.end_line))


def _outermost(definitions: Sequence[Symbol]) -> Iterator[Symbol]:
    end = 0
    for symbol in definitions:
        if symbol.kind in CALLABLE and symbol.start_line > end:
            yield symbol
            end = symbol.end_line


def _called(symbol: Symbol, calls: Sequence[tuple[int, str]]) -> list[str]:
    said: dict[str, None] = {}
    for place in range(bisect_left(calls, (symbol.start_line, "")), len(calls)):
        line, name = calls[place]
        if line > symbol.end_line or len(said) == CALLEES:
            break
        said[name] = None
    return list(said)


def _members(symbol: Symbol, definitions: Sequence[Symbol]) -> list[str]:
    first = bisect_right(definitions, symbol.start_line, key=_start)
    last = bisect_right(definitions, symbol.end_line, lo=first, key=_start)
    members = (definitions[place] for place in range(first, last))
    return list(dict.fromkeys(member.name for member in members if member.kind is not SymbolKind.KEY))[:MEMBERS]


def _sketch(symbol: Symbol, end_line: int, related: Sequence[str]) -> Sketch:
    around = symbol.qualified_name.split(".")[:-1]
    text = " ".join([*around, *[symbol.name] * 3, *[symbol.signature] * 2, *related])
    return Sketch(symbol, symbol.start_line, end_line, text)
