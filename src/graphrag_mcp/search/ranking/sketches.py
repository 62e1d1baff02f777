"""Sketches of the definitions of a file: the few words that tell what each does, without its code.

The words and weights are measured: callers, comments, literals and parameter names beyond the signature do not help.
"""

import threading
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping, Sequence
from operator import attrgetter

import numpy as np
from msgspec import Struct

from graphrag_mcp.model.files import CALLABLE, Symbol, SymbolKind
from graphrag_mcp.ports import ChunkStore, Embedder, Matrix

CALLEES = 40  # A sketch of a function names no more.
MEMBERS = 12  # A sketch of a type names no more.
IS_DEFINITION = 0.3  # A function or type gains it over code outside of both.
TYPES_DO_LESS = 0.3  # A type says what there is; a question for what is done means its functions.
PER_LOG_LINE = 0.045  # Long definitions do more of what is asked for than short ones.

_TYPES = frozenset({SymbolKind.TYPE, SymbolKind.MODULE})
_start = attrgetter("start_line")
KEPT_SKETCHES = 16_384  # 16 MB; a file of code has about 20.
MOST_DEFINITIONS = 4_000  # A file with more is generated, and is not sketched.


class Sketch(Struct, frozen=True):
    """A definition, the lines that show it, and its words.

    Of a type, the lines are those before its first function, which has a sketch of its own.
    """

    symbol: Symbol
    start_line: int
    end_line: int
    text: str


class FileSketches(Struct, frozen=True):
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


class SketchCache:
    """The sketches of files by file id. Safe to use from any thread.

    It is bound to one index file and one model: there, ids are never reused, and the rows of an id never change.
    """

    def __init__(self, catalog: ChunkStore, embedder: Embedder, most: int = KEPT_SKETCHES) -> None:
        """most: how many sketches and files are kept; the files that were not asked for the longest go first."""
        self._catalog = catalog
        self._embedder = embedder
        self._kept: OrderedDict[int, FileSketches] = OrderedDict()
        self._most = most
        self._count = 0
        self._guard = threading.Lock()

    def of(self, file_ids: Collection[int]) -> Mapping[int, FileSketches]:
        """Return the sketches of files; those without a definition that has one are left out."""
        with self._guard:
            cached = {file_id: self._kept[file_id] for file_id in file_ids if file_id in self._kept}
            for file_id in cached:
                self._kept.move_to_end(file_id)
        if missing := [file_id for file_id in file_ids if file_id not in cached]:
            made = self._make(missing)
            cached |= made
            self._keep(made)
        return {file_id: sketches for file_id, sketches in cached.items() if sketches.sketches}

    def gains(self, file_ids: Collection[int], query: Matrix) -> Mapping[int, Mapping[Symbol, float]]:
        """Return how much each sketched definition of files speaks for itself, by file id. query: its vector."""
        return {
            file_id: dict(zip((each.symbol for each in file.sketches), file.gains(query).tolist(), strict=True))
            for file_id, file in self.of(file_ids).items()
        }

    def _keep(self, made: Mapping[int, FileSketches]) -> None:
        with self._guard:
            for file_id, sketches in made.items():
                if file_id not in self._kept:
                    self._kept[file_id] = sketches
                    self._count += 1 + len(sketches.sketches)
            while self._count > self._most:
                _, oldest = self._kept.popitem(last=False)
                self._count -= 1 + len(oldest.sketches)

    def _make(self, file_ids: Sequence[int]) -> dict[int, FileSketches]:
        catalog = self._catalog
        definitions, calls, spans = catalog.definitions(file_ids), catalog.calls(file_ids), catalog.spans(file_ids)
        sketches = {  # A server that fails knows none for now.
            file_id: sketch(own, calls[file_id]) if len(own) <= MOST_DEFINITIONS else []
            for file_id, own in definitions.items()
            if file_id in spans
        }
        texts = [sketch.text for made in sketches.values() for sketch in made]
        vectors = self._embedder.embed_documents(texts)
        by_file, start = {}, 0
        for file_id, made in sketches.items():
            own = vectors[start : start + len(made)].copy()  # A part would keep those of all files in memory.
            by_file[file_id] = FileSketches.over(made, own, spans[file_id])
            start += len(made)
        return by_file
