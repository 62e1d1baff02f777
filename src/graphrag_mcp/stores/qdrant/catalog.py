"""The catalog of a search without a local index: the payloads of a Qdrant collection."""

import hashlib
import threading
import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import Any

from qdrant_client import models

from graphrag_mcp.errors import ServerError
from graphrag_mcp.model.files import Category, DocumentStatus, Symbol
from graphrag_mcp.model.paths import ChosenPaths, GlobCompiler
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import Ranked, StoredChunk, StoredFile
from graphrag_mcp.stores.qdrant import schema
from graphrag_mcp.stores.qdrant.indexes import QdrantPoints
from graphrag_mcp.stores.qdrant.schema import QdrantProject
from graphrag_mcp.stores.replica import ChunkIds, Point

_PATHS_READ = 256  # Further files with a word of the query in their name are not read.
_PATHS_KEPT_SECONDS = 5.0  # The look-ups of one search compare their globs with the same paths.


class QdrantCatalog:
    """Reads chunks and files from the payloads; none while the server fails (see `Servers.problem`)."""

    remote = True

    def __init__(self, points: QdrantPoints) -> None:
        self._points = points
        self._ids: ChunkIds = points.chunk_ids
        self.scope_paths = points.scope_paths

    def chunks(self, chunk_ids: Sequence[int]) -> Mapping[int, StoredChunk]:
        payloads = self._payloads(chunk_ids, True)
        return {
            chunk_id: schema.read_chunk(chunk_id, _file_id(values), values) for chunk_id, values in payloads.items()
        }

    def files(self, chunk_ids: Sequence[int]) -> Mapping[int, StoredFile]:
        payloads = self._payloads(chunk_ids, schema.FILE_FIELDS)
        return {chunk_id: schema.read_file(_file_id(values), values) for chunk_id, values in payloads.items()}

    def find_paths(self, words: Sequence[str], limit: int, scope: Scope) -> list[Ranked]:
        if not words:
            return []
        records = self._points.project.first(
            _PATHS_READ,
            [*schema.POINT_FIELDS, "path_words", "path_shares"],
            *schema.in_scope(scope, self.scope_paths),
            schema.any_of("path_words", words),
            schema.FIRST_POINT,
        )
        wanted = set(words)
        scored: list[tuple[float, str, Point]] = []
        for record in records:
            values = record.payload or {}
            shares = zip(values["path_words"], values["path_shares"], strict=True)
            score = sum(share for word, share in shares if word in wanted)
            scored.append((-score, values["path"], schema.read_point(str(record.id), values)))
        scored.sort(key=itemgetter(0, 1))
        ids = self._ids.ids([point for _, _, point in scored[:limit]])
        return [Ranked(known, -score) for known, (score, _, _) in zip(ids, scored, strict=False) if known is not None]

    def definitions(self, file_ids: Collection[int]) -> Mapping[int, Sequence[Symbol]]:  # noqa: ARG002
        """Return nothing: a payload has the names of a chunk, not their lines."""
        return {}

    def spans(self, file_ids: Collection[int]) -> Mapping[int, Mapping[int, tuple[int, int]]]:  # noqa: ARG002
        """Return nothing: the chunks of a file would be a request of their own."""
        return {}

    def calls(self, file_ids: Collection[int]) -> Mapping[int, Sequence[tuple[int, str]]]:  # noqa: ARG002
        """Return nothing: a payload has no relations."""
        return {}

    def documents(self, status: DocumentStatus, limit: int, scope: Scope) -> list[int]:
        stated = models.FieldCondition(key="facts.status", match=models.MatchValue(value=status.value))
        visible = schema.in_scope(scope, self.scope_paths)
        records = self._points.project.first(limit, schema.POINT_FIELDS, *visible, stated, schema.FIRST_POINT)
        points = [schema.read_point(str(record.id), record.payload or {}) for record in records]
        ids = self._ids.ids(sorted(points, key=attrgetter("path")))
        return [known for known in ids if known is not None]

    def languages(self) -> Collection[str]:
        return count_files(self._points.project).keys()

    def paths(self, scope: Scope) -> list[tuple[str, Category]]:
        visible = schema.in_scope(scope, self.scope_paths)
        payloads = self._points.project.scroll(["path", "category"], *visible, schema.FIRST_POINT)
        return sorted((values["path"], Category(values["category"])) for values in payloads)

    def _payloads(self, chunk_ids: Sequence[int], fields: bool | list[str]) -> dict[int, dict[str, Any]]:
        keys = self._ids.keys(chunk_ids)
        try:
            records = self._points.read(keys.values(), with_payload=fields)
        except ServerError:
            return {}
        payloads = {str(record.id): record.payload or {} for record in records}
        return {chunk_id: payloads[key] for chunk_id, key in keys.items() if key in payloads}


class QdrantScopePaths:
    """Finds the files that the globs of a scope mean, by the paths on the server."""

    def __init__(self, project: QdrantProject, compile_globs: GlobCompiler) -> None:
        self._project = project
        self._compile_globs = compile_globs
        self._reading = threading.Lock()
        self._read_at = -_PATHS_KEPT_SECONDS
        self._paths: Sequence[str] = ()

    def lifted(self, patterns: tuple[str, ...]) -> Sequence[str]:
        if not patterns:
            return []
        matches = self._compile_globs(patterns)
        payloads = self._project.scroll(["path"], schema.ARCHIVED, schema.FIRST_POINT)
        return [values["path"] for values in payloads if matches(values["path"])]

    def chosen(self, globs: tuple[str, ...]) -> ChosenPaths:
        with self._reading:
            if time.monotonic() - self._read_at >= _PATHS_KEPT_SECONDS:
                self._paths = [values["path"] for values in self._project.scroll(["path"], schema.FIRST_POINT)]
                self._read_at = time.monotonic()
            return ChosenPaths(globs, self._paths, self._compile_globs)


def count_files(project: QdrantProject) -> dict[str, int]:
    """Return how many files of each language the project has, most first."""
    return dict(
        Counter(values["language"] for values in project.scroll(["language"], schema.FIRST_POINT)).most_common()
    )


def stored_model(project: QdrantProject) -> str:
    """Return the fingerprint of the model that the project's vectors were made with, "" without any."""
    records = project.first(1, ["model"])
    return str((records[0].payload or {})["model"]) if records else ""


def _file_id(values: Mapping[str, Any]) -> int:
    return int.from_bytes(hashlib.blake2b(values["path"].encode(errors="surrogateescape"), digest_size=8).digest())
