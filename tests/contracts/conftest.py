"""The backends that have to obey the contracts; a new backend adds one opener here and passes every test beside it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from graphrag_mcp.exclusion.excluded_files import match_keys
from graphrag_mcp.exclusion.include_globs import compile_globs
from graphrag_mcp.model import ArchiveClass, Category, Chunk, ParsedFile, ParseMode, Relation, Symbol
from graphrag_mcp.parsing.modules import module_keys
from graphrag_mcp.ports import ChunkStore, GraphStore, KeywordIndex, Matrix, VectorIndex
from graphrag_mcp.stores.sqlite.catalog import FileState, SqliteCatalog
from graphrag_mcp.stores.sqlite.database import Database
from graphrag_mcp.stores.sqlite.graph import SqliteGraphStore
from graphrag_mcp.stores.sqlite.keyword import SqliteKeywordIndex
from graphrag_mcp.stores.sqlite.scope import ScopeResolver
from graphrag_mcp.stores.sqlite.vectors import SqliteVectorIndex
from graphrag_mcp.stores.sqlite.writer import FileRows, SqliteIndexWriter, pack_vectors

DIMENSIONS = 8


@dataclass(frozen=True, slots=True)
class Source:
    """A file to put into a backend: each chunk is ten lines long, with its words and its vector."""

    path: str
    words: Sequence[str]
    vectors: Sequence[Sequence[float]] = ()
    category: Category = Category.IMPLEMENTATION
    language: str = "python"
    archived: bool = False
    symbols: tuple[Symbol, ...] = ()
    relations: tuple[Relation, ...] = ()


@dataclass(frozen=True, slots=True)
class Backend:
    """One set of stores, and how to fill it. `place(chunk_id)` gives (path, ordinal), whatever ids the backend uses."""

    vectors: VectorIndex
    keywords: KeywordIndex
    graph: GraphStore
    catalog: ChunkStore
    write: Callable[[Sequence[Source]], None]
    delete: Callable[[Sequence[str]], None]

    def places(self, chunk_ids: Sequence[int]) -> list[tuple[str, int]]:
        """Return (path, ordinal of the chunk) for each id."""
        chunks = self.catalog.chunks(chunk_ids)
        return [(chunks[one].path, (chunks[one].start_line - 1) // 10) for one in chunk_ids]


@pytest.fixture(params=["sqlite"])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Backend]:
    """Every backend in turn, empty."""
    openers: Mapping[str, Callable[[Path], Iterator[Backend]]] = {"sqlite": _open_sqlite}
    yield from openers[request.param](tmp_path)


def _open_sqlite(folder: Path) -> Iterator[Backend]:
    database = Database(folder / "index.sqlite")
    scopes = ScopeResolver(database, compile_globs)
    writer = SqliteIndexWriter(database)
    model_id = writer.model_id("test", DIMENSIONS)

    def write(sources: Sequence[Source]) -> None:
        writer.write([(file_rows(source), packed_vectors(source)) for source in sources], model_id)

    yield Backend(
        vectors=SqliteVectorIndex(database, scopes, "test", DIMENSIONS),
        keywords=SqliteKeywordIndex(database, scopes),
        graph=SqliteGraphStore(database, scopes),
        catalog=SqliteCatalog(database, scopes),
        write=write,
        delete=writer.delete,
    )
    database.close()


def file_rows(source: Source) -> FileRows:
    """Return the rows of a source, as indexing would prepare them."""
    chunks = tuple(
        Chunk(start_line=10 * number + 1, end_line=10 * number + 10, text=words, kind="function")
        for number, words in enumerate(source.words)
    )
    stem = source.path.rsplit("/", 1)[-1].split(".")[0]
    return FileRows(
        parsed=ParsedFile(
            source.path,
            source.language,
            source.category,
            ParseMode.SYNTAX,
            chunks,
            source.symbols,
            source.relations,
        ),
        state=FileState(1, 1, b"hash", "recipe"),
        archive=ArchiveClass("in archive/", 0.5) if source.archived else None,
        modified_at=1_700_000_000.0,
        match_keys=match_keys(source.path),
        path_words={stem: 1.0},
        module_keys=module_keys(source.path),
        keywords=[("", stem, "", "", "", chunk.text) for chunk in chunks],
        text_hashes=[f"{source.path}{chunk.text}".encode()[:16] for chunk in chunks],
    )


def packed_vectors(source: Source) -> list[bytes]:
    """Return a unit vector for each chunk: the given ones, the first axis where none is given."""
    given = [*source.vectors, *([[1.0]] * (len(source.words) - len(source.vectors)))]
    return pack_vectors(np.stack([unit(*values) for values in given])) if given else []


def unit(*values: float) -> Matrix:
    """Return a unit vector that begins with these values."""
    vector = np.zeros(DIMENSIONS, np.float32)
    vector[: len(values)] = values
    return vector / np.linalg.norm(vector)
