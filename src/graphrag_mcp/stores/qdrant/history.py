"""The past commits of a project on Qdrant: a point for each, with its message as a sparse vector and its files."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from msgspec import Struct
from qdrant_client import models

from graphrag_mcp.model.history import Recalled, Touched
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import Frequencies
from graphrag_mcp.stores.keywords import discriminative_terms
from graphrag_mcp.stores.qdrant.bm25 import QdrantFrequencies, query_vector, vector_of
from graphrag_mcp.stores.qdrant.indexes import QdrantPoints
from graphrag_mcp.stores.qdrant.schema import (
    FIRST_POINT,
    KEYWORDS,
    POINT_FIELDS,
    QdrantProject,
    any_of,
    in_scope,
    points_of,
)
from graphrag_mcp.stores.replica import ReplicatedCommit, number_of, point_key, read
from graphrag_mcp.system.git import is_name
from graphrag_mcp.text.secrets import mask_secrets

_BATCH = 500
_MOST_PATHS = 500  # Files of the commits of one question.
_LONGEST = 1_000  # Characters of a subject.
_LATEST = 1 << 33  # Seconds since 1970.


class QdrantHistory:
    """Reads commits and writes them. They belong to no project, so no other search returns them."""

    remote = True

    def __init__(self, points: QdrantPoints) -> None:
        self._points = points
        self._project: QdrantProject = points.project
        self._frequencies = QdrantFrequencies(self._project, "messages")
        self._paths: dict[int, tuple[Sequence[str], int]] = {}  # The paths and files of the commits that were recalled.

    def frequencies(self, terms: Sequence[str]) -> Frequencies:
        """Return how many messages contain each term; none where no commit was copied."""
        return self._frequencies.read(terms) if self._frequencies.exist() else Frequencies(dict.fromkeys(terms, 0), 0)

    def recall(self, frequencies: Frequencies, limit: int) -> list[Recalled]:
        chosen = discriminative_terms(frequencies)
        if not chosen.of_terms:
            return []
        fields = list(_Row.__struct_fields__)
        commits: list[Recalled] = []
        for point in self._project.query(query_vector(chosen), KEYWORDS, _of(self._project), limit, fields):
            number, row = number_of(str(point.id)), _read(point.payload)
            if number is not None and row:
                self._paths[number] = row.paths, row.files
                subject = mask_secrets(row.subject[:_LONGEST])
                commits.append(Recalled(number, row.commit, row.seconds, subject, point.score))
        return commits

    def files(self, commit_ids: Collection[int], scope: Scope) -> list[Touched]:
        touched = [(known, *self._paths.pop(known)) for known in commit_ids if known in self._paths]
        paths = list(dict.fromkeys(path for _, paths, _ in touched for path in paths))[:_MOST_PATHS]
        visible = in_scope(scope, self._points.scope_paths)
        records = self._project.first(_MOST_PATHS, POINT_FIELDS, *visible, any_of("path", paths), FIRST_POINT)
        chunk_of = {point.path: number for point in points_of(records) if (number := number_of(point.key)) is not None}
        rows = ((known, path, files) for known, paths, files in touched for path in paths)
        return [Touched(known, chunk_of[path], files) for known, path, files in rows if path in chunk_of]


class QdrantCommits:
    """Writes the commits of a project."""

    def __init__(self, project: QdrantProject) -> None:
        self._project = project
        self._frequencies = QdrantFrequencies(project, "messages")

    def write(self, tip: str, commits: Callable[[], Sequence[ReplicatedCommit]]) -> None:
        """Bring them to those of a tip: only what differs is sent."""
        key = point_key(self._project.name, "commits", 0)
        records = self._project.retrieve([key], with_payload=["tip"])
        if (records[0].payload or {}).get("tip") == tip if records else not tip:
            return
        wanted = {point_key(self._project.name, commit.name, 0): commit for commit in commits()}
        records_held = self._project.records(["digest"], _of(self._project))
        held = {str(record.id): (record.payload or {}).get("digest", "") for record in records_held}
        new = {number: commit for number, commit in wanted.items() if held.get(number) != commit.digest}
        mean = sum(sum(commit.words.values()) for commit in wanted.values()) / max(1, len(wanted)) or 1.0
        self._project.upsert([self._point(number, commit, mean) for number, commit in new.items()], _BATCH)
        if gone := [number for number in held if number not in wanted]:
            self._project.delete(models.PointIdsList(points=list(gone)))
        counts: dict[str, int] = {}
        for commit in wanted.values():
            for word in commit.words:
                counts[word] = counts.get(word, 0) + 1
        self._frequencies.write(Frequencies(counts, len(wanted)))
        about = {"commits_tip_of": self._project.name, "tip": tip}
        self._project.upsert([models.PointStruct(id=key, vector={}, payload=about)], 1)

    def delete(self) -> None:
        """Remove them."""
        self._project.delete(models.PointIdsList(points=[point_key(self._project.name, "commits", 0)]))
        self._frequencies.delete()
        self._project.delete(_of(self._project))

    def _point(self, number: str, commit: ReplicatedCommit, mean: float) -> models.PointStruct:
        payload = {
            "commits_of": self._project.name,
            "commit": commit.name,
            "seconds": commit.seconds,
            "subject": commit.subject,
            "files": commit.files,
            "paths": list(commit.paths),
            "digest": commit.digest,
        }
        vector = vector_of(commit.words, sum(commit.words.values()), mean)
        return models.PointStruct(id=number, vector={KEYWORDS: vector}, payload=payload)


class _Row(Struct, frozen=True):
    commit: str
    seconds: int
    subject: str
    files: int
    paths: list[str]


def _read(values: Mapping[str, Any] | None) -> _Row | None:
    """Return the payload of a commit; None for one that no sync wrote."""
    row = read(values, _Row)
    return row if row and is_name(row.commit) and row.files > 0 and 0 <= row.seconds < _LATEST else None


def _of(project: QdrantProject) -> models.Filter:
    return models.Filter(must=[any_of("commits_of", [project.name])])
