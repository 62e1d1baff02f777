"""The vectors of the sketches of files: made when a search first needs a file's, and kept for the next ones."""

import threading
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence

from graphrag_mcp.model.files import Symbol
from graphrag_mcp.ports import ChunkStore, Embedder, Matrix
from graphrag_mcp.search.ranking.sketches import FileSketches, sketch

KEPT_SKETCHES = 16_384  # 16 MB; a file of code has about 20.
MOST_DEFINITIONS = 4_000  # A file with more is generated, and is not sketched.


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
