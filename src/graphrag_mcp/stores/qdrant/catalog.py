"""The catalog of a search without a local index: the payloads of a Qdrant collection."""

import threading
import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import TypeVar
from uuid import UUID

from qdrant_client import models

from graphrag_mcp.model.files import Category, DocumentStatus, Symbol
from graphrag_mcp.model.graph import Line
from graphrag_mcp.model.paths import ChosenPaths, GlobCompiler
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import Ranked, StoredChunk, StoredFile
from graphrag_mcp.stores.qdrant import schema
from graphrag_mcp.stores.qdrant.indexes import QdrantPoints
from graphrag_mcp.stores.qdrant.schema import ChunkRow, FileRow, OutlineRow, PathRow, QdrantProject
from graphrag_mcp.stores.replica import ChunkIds, Point, point_key, read, version_number

_PATHS_READ = 256  # Further files with a word of the query in their name are not read.
_VERSIONS_KEPT = 50_000
CHUNK_FIELDS = models.PayloadSelectorExclude(exclude=["outline"])
_PATHS_KEPT_SECONDS = 5.0  # The look-ups of one search compare their globs with the same paths.


_Row = TypeVar("_Row", bound=FileRow)


class QdrantCatalog:
    """Reads chunks and files from the payloads; none while the server fails (see `Servers.reads`)."""

    remote = True

    def __init__(self, points: QdrantPoints) -> None:
        self._points = points
        self._ids: ChunkIds = points.chunk_ids
        self.scope_paths = points.scope_paths
        self._versions: dict[int, str] = {}  # The versions of the files that were read, by their ids.
        self._outlines: tuple[frozenset[int], dict[int, tuple[str, OutlineRow]]] = (frozenset(), {})

    def chunks(self, chunk_ids: Sequence[int]) -> Mapping[int, StoredChunk]:
        rows = self._rows(chunk_ids, CHUNK_FIELDS, ChunkRow)
        return {chunk_id: schema.stored_chunk(chunk_id, self._file_id(row), row) for chunk_id, row in rows.items()}

    def files(self, chunk_ids: Sequence[int]) -> Mapping[int, StoredFile]:
        rows = self._rows(chunk_ids, schema.FILE_FIELDS, FileRow)
        return {chunk_id: schema.stored_file(self._file_id(row), row) for chunk_id, row in rows.items()}

    def lines(self, paths: Collection[str]) -> dict[Line, str]:
        """Return the lines of files by path and number. Raises ServerError."""
        fields = [*schema.FILE_FIELDS, "start_line", "text"]
        found = self._points.project.scroll(fields, schema.any_of("path", sorted(paths))) if paths else ()
        rows = filter(None, (read(values, ChunkRow) for values in found))
        chunks = (schema.stored_chunk(0, 0, row) for row in rows)
        return {
            (chunk.path, chunk.start_line + number): line
            for chunk in chunks
            for number, line in enumerate(chunk.text.split("\n"))
        }

    def find_paths(self, words: Sequence[str], limit: int, scope: Scope) -> list[Ranked]:
        if not words:
            return []
        records = self._points.project.first(
            _PATHS_READ,
            list(PathRow.__struct_fields__),
            *schema.in_scope(scope, self.scope_paths),
            schema.any_of("path_words", words),
            schema.FIRST_POINT,
        )
        wanted = set(words)
        scored: list[tuple[float, str, Point]] = []
        for record in records:
            if row := read(record.payload, PathRow):
                shares = zip(row.path_words, row.path_shares, strict=False)
                score = sum(share for word, share in shares if word in wanted)
                scored.append((-score, row.path, schema.point_of(str(record.id), row)))
        scored.sort(key=itemgetter(0, 1))
        ids = self._ids.ids([point for _, _, point in scored[:limit]])
        return [Ranked(known, -score) for known, (score, _, _) in zip(ids, scored, strict=False) if known is not None]

    def definitions(self, file_ids: Collection[int]) -> Mapping[int, Sequence[Symbol]]:
        """Return the definitions of those files that were read before; none while the server fails."""
        return {
            file_id: [Symbol(*row) for row in outline.definitions]
            for file_id, (_, outline) in self._outlines_of(file_ids).items()
        }

    def spans(self, file_ids: Collection[int]) -> Mapping[int, Mapping[int, tuple[int, int]]]:
        project, spans = self._points.project.name, dict[int, Mapping[int, tuple[int, int]]]()
        for file_id, (version, outline) in self._outlines_of(file_ids).items():
            keys = [point_key(project, version, number) for number in range(len(outline.spans))]
            spans[file_id] = dict(zip((UUID(key).int for key in keys), outline.spans, strict=True))
        return spans

    def calls(self, file_ids: Collection[int]) -> Mapping[int, Sequence[tuple[int, str]]]:
        return {file_id: outline.calls for file_id, (_, outline) in self._outlines_of(file_ids).items()}

    def documents(self, status: DocumentStatus, limit: int, scope: Scope) -> list[int]:
        stated = models.FieldCondition(key="facts.status", match=models.MatchValue(value=status.value))
        visible = schema.in_scope(scope, self.scope_paths)
        records = self._points.project.first(limit, schema.POINT_FIELDS, *visible, stated, schema.FIRST_POINT)
        ids = self._ids.ids(sorted(schema.points_of(records), key=attrgetter("path")))
        return [known for known in ids if known is not None]

    def languages(self) -> Collection[str]:
        return count_files(self._points.project).keys()

    def paths(self, scope: Scope) -> list[tuple[str, Category]]:
        visible = schema.in_scope(scope, self.scope_paths)
        payloads = self._points.project.scroll(schema.FILE_FIELDS, *visible, schema.FIRST_POINT)
        rows = (read(values, FileRow) for values in payloads)
        return sorted((row.path, row.category) for row in rows if row)

    def _file_id(self, row: FileRow) -> int:
        """Return the id of a version of a file, and remember its version."""
        file_id = version_number(row.version) >> 1
        if len(self._versions) >= _VERSIONS_KEPT:
            self._versions.clear()
        self._versions[file_id] = row.version
        return file_id

    def _outlines_of(self, file_ids: Collection[int]) -> Mapping[int, tuple[str, OutlineRow]]:
        """Return versions and outlines of files, which are read once for the look-ups that follow each other."""
        wanted = frozenset(file_ids)
        if self._outlines[0] != wanted:
            versions = {known: self._versions[known] for known in wanted if known in self._versions}
            keys = {point_key(self._points.project.name, version, 0): known for known, version in versions.items()}
            records = self._points.read(keys, with_payload=["outline"])
            if not records:  # They are asked for again: the server may have failed.
                return {}
            found = {known: records[key].payload or {} for key, known in keys.items() if key in records}
            outlines = {known: read(payload.get("outline"), OutlineRow) for known, payload in found.items()}
            self._outlines = wanted, {known: (versions[known], row) for known, row in outlines.items() if row}
        return self._outlines[1]

    def _rows(
        self, chunk_ids: Sequence[int], fields: models.PayloadSelectorExclude | list[str], kind: type[_Row]
    ) -> dict[int, _Row]:
        keys = self._ids.keys(chunk_ids)
        records = self._points.read(keys.values(), with_payload=fields)
        rows = {key: row for key, record in records.items() if (row := read(record.payload, kind))}
        return {chunk_id: rows[key] for chunk_id, key in keys.items() if key in rows}


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
        matches = self._compile_globs(patterns, "include_patterns")
        return [path for path in self._project.texts("path", schema.ARCHIVED, schema.FIRST_POINT) if matches(path)]

    def chosen(self, globs: tuple[str, ...]) -> ChosenPaths:
        with self._reading:
            if time.monotonic() - self._read_at >= _PATHS_KEPT_SECONDS:
                self._paths = list(self._project.texts("path", schema.FIRST_POINT))
                self._read_at = time.monotonic()
            return ChosenPaths(globs, self._paths, self._compile_globs)


def count_files(project: QdrantProject) -> dict[str, int]:
    """Return how many files of each language the project has, most first."""
    return dict(Counter(project.texts("language", schema.FIRST_POINT)).most_common())


def stored_model(project: QdrantProject) -> str:
    """Return the fingerprint of the model that the project's vectors were made with, "" without any."""
    records = project.first(1, ["model"])
    return str((records[0].payload or {}).get("model", "")) if records else ""
