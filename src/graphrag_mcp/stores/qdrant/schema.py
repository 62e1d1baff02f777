"""The collection: its vectors, the fields of a point's payload, and which of them filters use."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.structs import asdict
from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import UnexpectedResponse

from graphrag_mcp.errors import IndexStoreError
from graphrag_mcp.languages.registry import is_inline_test
from graphrag_mcp.model.files import NO_FACTS, ArchiveClass, Category, DocumentFacts, SymbolKind
from graphrag_mcp.model.paths import EVERY_PATH, folders
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import StoredChunk, StoredFile
from graphrag_mcp.ports import ScopePaths
from graphrag_mcp.settings import ServerSettings
from graphrag_mcp.stores.qdrant.connection import reaching
from graphrag_mcp.stores.replica import (
    Point,
    PointRow,
    ReplicatedChunk,
    ReplicatedFile,
    Seconds,
    fields_of,
    read,
    scope_cover,
)
from graphrag_mcp.text.secrets import mask_secrets

DENSE = "dense"
KEYWORDS = "keywords"

MOST_DEFINITIONS = 4_000  # A file with more is generated, and a search makes no use of them.
_MOST_PROJECTS = 10_000
_LONGEST = 100_000  # Characters of a text.
_PAGE = 1000
_MOST_PAGES = 100_000  # A server that says without end that there is more is not believed.
STREAMS = 3  # Uploads at the same time.
INDEXED_KILOBYTES = 10_000  # Qdrant's default: a larger segment gets an index.

POINT_FIELDS = list(PointRow.__struct_fields__)  # A search reads these of a hit.
FIRST_POINT = models.FieldCondition(key="ordinal", match=models.MatchValue(value=0))  # Every file has one such point.
ARCHIVED = models.FieldCondition(key="is_archived", match=models.MatchValue(value=True))
_INDEXES: Mapping[str, Any] = {
    # Projects never mix, so a server may keep each one's points together (003: one collection for all).
    "project_id": models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True),
    "ordinal": models.IntegerIndexParams(type=models.IntegerIndexType.INTEGER),
    "is_archived": models.BoolIndexParams(type=models.BoolIndexType.BOOL),
    **dict.fromkeys(
        (
            *("path", "folders", "version", "match_keys", "path_words", "category", "language", "facts.status"),
            "commits_of",
        ),
        models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD),
    ),
}


class QdrantProject(Struct, frozen=True):
    """The points of one project in one collection. A failure of the server is a ServerError."""

    client: QdrantClient
    collection: str
    name: str

    def filter(self, *conditions: models.Condition) -> models.Filter:
        """Return a filter for the points that meet all conditions."""
        return models.Filter(must=[any_of("project_id", [self.name]), *conditions])

    def count(self) -> int:
        """Return how many points there are, counted exactly."""
        with reaching():
            return self.client.count(self.collection, self.filter(), exact=True).count

    def names(self) -> dict[str, int]:
        """Return all projects of the collection, each with the number of its points; none without a collection."""
        with reaching():
            if not self.client.collection_exists(self.collection):
                return {}
            hits = self.client.facet(self.collection, key="project_id", limit=_MOST_PROJECTS, exact=True).hits
        return {str(hit.value): hit.count for hit in hits if hit.count}

    def first(self, most: int, fields: list[str], *conditions: models.Condition) -> list[models.Record]:
        """Return some points that meet all conditions, with these fields."""
        with reaching():
            return self.client.scroll(self.collection, self.filter(*conditions), limit=most, with_payload=fields)[0]

    def query(
        self,
        vector: list[float] | models.SparseVector,
        using: str,
        wanted: models.Filter,
        limit: int,
        fields: list[str] | None = None,
    ) -> list[models.ScoredPoint]:
        """Return the best points that a filter finds, also of no project, best first, with these fields."""
        with reaching():
            return self.client.query_points(
                self.collection,
                query=vector,
                using=using,
                query_filter=wanted,
                limit=limit,
                with_payload=fields or False,
            ).points

    def scroll(self, fields: list[str], *conditions: models.Condition) -> Iterator[Mapping[str, Any]]:
        """Yield these fields of all points that meet all conditions."""
        yield from (record.payload or {} for record in self.records(fields, self.filter(*conditions)))

    def texts(self, field: str, *conditions: models.Condition) -> Iterator[str]:
        """Yield a field of all points that meet all conditions and have a text there."""
        yield from (text for values in self.scroll([field], *conditions) if isinstance(text := values.get(field), str))

    def records(self, fields: list[str], wanted: models.Filter) -> Iterator[models.Record]:
        """Yield all points that a filter finds, also of no project, with these fields."""
        offset = None
        for _ in range(_MOST_PAGES):
            with reaching():
                records, offset = self.client.scroll(
                    self.collection, wanted, limit=_PAGE, offset=offset, with_payload=fields
                )
            yield from records
            if offset is None:
                return

    def retrieve(self, keys: Sequence[str], **wanted: Any) -> list[models.Record]:
        """Return these points; wanted: the client's with_payload and with_vectors."""
        with reaching():
            return self.client.retrieve(self.collection, keys, **wanted)

    def upsert(self, points: Sequence[models.PointStruct], batch: int) -> None:
        """Write points, some at a time, in several streams."""
        with reaching():
            batches = [points[start : start + batch] for start in range(0, len(points), batch)]
            with ThreadPoolExecutor(STREAMS, thread_name_prefix="upload") as streams:
                list(streams.map(partial(self.client.upsert, self.collection, wait=True), batches))

    def delete(self, points: models.Filter | models.PointIdsList) -> None:
        """Remove points."""
        with reaching():
            self.client.delete(self.collection, points, wait=True)


def create_collection(client: QdrantClient, collection: str, dimensions: int, settings: ServerSettings) -> bool:
    """Create what is missing of the collection; return whether there was none. Other processes may do the same.

    A new one has no vector index until `build_index`. settings: how a new one is made. Raises IndexStoreError when the
    collection holds vectors of another size or kind.
    """
    is_new = not client.collection_exists(collection)
    if is_new:
        vectors = models.VectorParams(size=dimensions, distance=models.Distance.COSINE, on_disk=settings.qdrant_on_disk)
        int8 = models.ScalarQuantizationConfig(type=models.ScalarType.INT8, always_ram=True)
        try:
            client.create_collection(
                collection,
                vectors_config={DENSE: vectors},
                sparse_vectors_config={KEYWORDS: models.SparseVectorParams()},
                # Every search is in one project, so each has an index of its own.
                hnsw_config=models.HnswConfigDiff(m=0, payload_m=16),
                optimizers_config=models.OptimizersConfigDiff(indexing_threshold=0),
                quantization_config=models.ScalarQuantization(scalar=int8) if settings.qdrant_quantized else None,
                shard_number=settings.qdrant_shards,
                replication_factor=settings.qdrant_replicas,
                write_consistency_factor=settings.qdrant_write_copies,
                on_disk_payload=settings.qdrant_on_disk,
                # A filter on a field without an index would scan the collection; in strict mode, it fails.
                strict_mode_config=models.StrictModeConfig(
                    enabled=True, unindexed_filtering_retrieve=False, unindexed_filtering_update=False
                ),
            )
        except UnexpectedResponse as error:
            if error.status_code != 409:  # Another process was faster.
                raise
    info = client.get_collection(collection)
    params = info.config.params
    dense = params.vectors.get(DENSE) if isinstance(params.vectors, dict) else None
    if dense is None or (dense.size, dense.distance) != (dimensions, models.Distance.COSINE):
        held = f"vectors of {dense.size} dimensions, compared by {dense.distance.value}" if dense else "other vectors"
        raise IndexStoreError(
            f"Qdrant's collection {collection!r} holds {held}, and the model gives {dimensions}, compared by Cosine; "
            "set GRAPHRAG_QDRANT_COLLECTION to another name"
        )
    sparse = (params.sparse_vectors or {}).get(KEYWORDS)
    if sparse is None:
        raise IndexStoreError(
            f"Qdrant's collection {collection!r} has no sparse vectors {KEYWORDS!r}; "
            "set GRAPHRAG_QDRANT_COLLECTION to another name"
        )
    if sparse.modifier == models.Modifier.IDF:  # It would count the chunks of all projects of the collection.
        plain = models.SparseVectorParams(modifier=models.Modifier.NONE)
        client.update_collection(collection, sparse_vectors_config={KEYWORDS: plain})
    for field, schema in _INDEXES.items():
        if field not in info.payload_schema:
            client.create_payload_index(collection, field, schema, wait=True)
    return is_new


def build_index(client: QdrantClient, collection: str) -> None:
    """Have the vectors indexed, if that was put off while the collection was filled for the first time."""
    if client.get_collection(collection).config.optimizer_config.indexing_threshold == 0:
        usual = models.OptimizersConfigDiff(indexing_threshold=INDEXED_KILOBYTES)
        client.update_collection(collection, optimizers_config=usual)


def payload(project: str, model: str, file: ReplicatedFile, chunk: ReplicatedChunk) -> dict[str, Any]:
    """Return the payload of a chunk's point: the chunk and its file."""
    stored = chunk.chunk
    return {
        "project_id": project,
        "model": model,
        **fields_of(file, chunk),
        "folders": folders(file.path),
        "path_words": list(file.path_words),
        "path_shares": list(file.path_words.values()),
        "archive_penalty": stored.archive.penalty if stored.archive else None,
        "modified_at": stored.modified_at,
        "facts": asdict(stored.facts),
        "text": stored.text,
        "kind": stored.kind,
        "symbol": stored.symbol,
        "names": list(stored.names),
        "enclosing": list(stored.enclosing),
        "signature": stored.signature,
        **({"outline": _outline(file)} if chunk.point.ordinal == 0 else {}),
    }


def _outline(file: ReplicatedFile) -> dict[str, Any]:
    """Return the definitions of a file in the order of their lines, its calls, and the lines of its chunks."""
    symbols = sorted((row.symbol for row in file.symbols), key=lambda symbol: (symbol.start_line, -symbol.end_line))
    is_known = len(symbols) <= MOST_DEFINITIONS
    return {
        "definitions": [
            [row.name, row.qualified_name, row.kind.value, row.start_line, row.end_line, row.signature]
            for row in (symbols if is_known else ())
        ],
        "calls": list(map(list, file.calls if is_known else ())),
        "spans": [[chunk.chunk.start_line, chunk.chunk.end_line] for chunk in file.chunks],
    }


class FileRow(PointRow, frozen=True):
    """What the first point of a file says of it."""

    category: Category
    is_archived: bool
    symbol: str = ""
    archive_path: str | None = None
    archive_penalty: Annotated[float, Meta(ge=0, le=1)] | None = None
    modified_at: Seconds | None = None
    facts: DocumentFacts | None = None

    @property
    def archive(self) -> ArchiveClass | None:
        if not self.is_archived or self.archive_path is None or self.archive_penalty is None:
            return None
        return ArchiveClass(self.archive_path, self.archive_penalty)


FILE_FIELDS = list(FileRow.__struct_fields__)


class ChunkRow(FileRow, frozen=True):
    """What a point of a chunk has."""

    language: str = ""
    start_line: int = 1
    end_line: int = 1
    text: str = ""
    kind: str = ""
    names: tuple[str, ...] = ()
    enclosing: tuple[str, ...] = ()
    signature: str = ""


class PathRow(PointRow, frozen=True):
    """What the first point of a file says of the words in its path."""

    path_words: tuple[str, ...]
    path_shares: tuple[Annotated[float, Meta(ge=0, lt=1 << 33)], ...]


class OutlineRow(Struct, frozen=True):
    """See `_outline`."""

    definitions: list[tuple[str, str, SymbolKind, int, int, str]]
    calls: list[tuple[int, str]]
    spans: list[tuple[int, int]]


def point_of(key: str, row: PointRow) -> Point:
    """Return the chunk of a point."""
    return Point(key, row.path, row.version, row.ordinal)


def points_of(records: Iterable[models.Record]) -> list[Point]:
    """Return the chunks of records with `POINT_FIELDS`."""
    return [point_of(str(record.id), row) for record in records if (row := read(record.payload, PointRow))]


def stored_file(file_id: int, row: FileRow) -> StoredFile:
    """Return the file of a chunk as a search ranks it."""
    category = Category.TESTS if is_inline_test(row.path, row.symbol) else row.category
    return StoredFile(file_id, row.path, category, row.archive, row.modified_at, row.facts or NO_FACTS)


def stored_chunk(chunk_id: int, file_id: int, row: ChunkRow) -> StoredChunk:
    """Return a chunk as a search shows it: without secrets, and no longer than one that this program makes."""
    return StoredChunk(
        chunk_id=chunk_id,
        file_id=file_id,
        path=row.path,
        language=row.language,
        category=row.category,
        start_line=row.start_line,
        end_line=row.end_line,
        text=mask_secrets(row.text[:_LONGEST]),
        kind=row.kind,
        symbol=row.symbol,
        names=row.names,
        enclosing=row.enclosing,
        signature=mask_secrets(row.signature[:_LONGEST]),
        archive=row.archive,
        modified_at=row.modified_at,
        facts=row.facts or NO_FACTS,
    )


def in_scope(scope: Scope, paths: ScopePaths) -> list[models.Condition]:
    """Return the conditions of a scope."""
    wanted: list[models.Condition] = []
    denied: list[models.Condition] = []
    if scope.exclude_archived:
        shown: list[models.Condition] = [models.FieldCondition(key="is_archived", match=models.MatchValue(value=False))]
        if lifted := paths.lifted(scope.include_patterns):
            shown.append(any_of("path", lifted))
        wanted.append(models.Filter(should=shown))
    if scope.categories:
        wanted.append(any_of("category", sorted(scope.categories)))
    if scope.languages:
        wanted.append(any_of("language", sorted(scope.languages)))
    cover = scope_cover(scope, paths)
    if cover != EVERY_PATH:
        (wanted if cover.is_inside else denied).append(any_of("folders", [*cover.folders, *cover.files]))
    if scope.excluded_keys:
        denied.append(any_of("match_keys", sorted(scope.excluded_keys)))
    return [*wanted, models.Filter(must_not=denied)] if denied else wanted


def any_of(field: str, values: Sequence[str]) -> models.FieldCondition:
    """Return the condition that a field has any of some values."""
    return models.FieldCondition(key=field, match=models.MatchAny(any=list(values)))
