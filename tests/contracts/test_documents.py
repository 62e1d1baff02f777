"""What a catalog knows of whole files: the status that a document states; definitions, chunks and calls of a file."""

import pytest

from graphrag_mcp.model.files import (
    Category,
    DocumentFacts,
    DocumentStatus,
    Relation,
    RelationKind,
    Resolution,
    Symbol,
    SymbolKind,
)
from graphrag_mcp.model.scope import Scope, match_keys
from tests.contracts.conftest import Backend, Source


def _document(path: str, status: DocumentStatus | None, archived: bool = False) -> Source:
    facts = DocumentFacts(title=path, status=status)
    return Source(path, ["one", "two"], [[1.0], [1.0]], Category.DOCUMENTATION, archived=archived, facts=facts)


@pytest.mark.requirement("002-14")
def test_documents_are_found_by_their_status(backend: Backend) -> None:
    """The first chunk of each, in the order of their paths, inside the scope."""
    backend.write(
        [
            _document("docs/c.md", DocumentStatus.REJECTED),
            _document("docs/a.md", DocumentStatus.REJECTED),
            _document("docs/b.md", DocumentStatus.ACTIVE),
            _document("docs/none.md", None),
            _document("archive/old.md", DocumentStatus.REJECTED, archived=True),
        ]
    )
    found = backend.catalog.documents(DocumentStatus.REJECTED, 10, Scope())
    assert backend.places(found) == [("docs/a.md", 0), ("docs/c.md", 0)]
    assert len(backend.catalog.documents(DocumentStatus.REJECTED, 1, Scope())) == 1
    hidden = Scope(excluded_keys=frozenset(match_keys("docs/a.md")))
    assert backend.places(backend.catalog.documents(DocumentStatus.REJECTED, 10, hidden)) == [("docs/c.md", 0)]
    assert backend.catalog.documents(DocumentStatus.SUPERSEDED, 10, Scope()) == []


@pytest.mark.requirement("002-15")
def test_a_status_that_changes_is_seen(backend: Backend) -> None:
    """A status without documents is not an error, and the next commit counts."""
    backend.write([_document("docs/a.md", DocumentStatus.PROPOSED)])
    assert backend.catalog.documents(DocumentStatus.REJECTED, 10, Scope()) == []
    backend.write([_document("docs/a.md", DocumentStatus.REJECTED)])
    assert len(backend.catalog.documents(DocumentStatus.REJECTED, 10, Scope())) == 1


def test_the_definitions_of_a_file_come_in_the_order_of_its_lines(backend: Backend) -> None:
    """An outer one before those inside it; after an edit those of the new content; a file without any has none."""
    outer = Symbol("Session", "Session", SymbolKind.TYPE, 1, 20, "class Session")
    inner = Symbol("open", "Session.open", SymbolKind.METHOD, 1, 5, "def open(self)")
    last = Symbol("close", "close", SymbolKind.FUNCTION, 11, 12)

    def read(path: str) -> list[Symbol]:
        ids = [chunk_id for chunk_id, _ in backend.keywords.search(["garnet"], 10, Scope())]
        file_ids = {chunk.path: chunk.file_id for chunk in backend.catalog.chunks(ids).values()}
        return list(backend.catalog.definitions(list(file_ids.values()))[file_ids[path]])

    backend.write(
        [
            Source("a.py", ["garnet", "straw"], [[1.0], [1.0]], symbols=(last, inner, outer)),
            Source("b.md", ["garnet"], [[1.0]]),
        ]
    )
    assert read("a.py") == [outer, inner, last]
    assert read("b.md") == []
    backend.write([Source("a.py", ["garnet"], [[1.0]], symbols=(last,))])
    assert read("a.py") == [last]


def test_a_file_tells_the_lines_of_its_chunks_and_what_it_calls(backend: Backend) -> None:
    """Of its present content, by the ids of its chunks."""
    calls, imports, known = RelationKind.CALLS, RelationKind.IMPORTS, (0.5, Resolution.UNRESOLVED)
    relations = tuple(
        Relation(kind, "open", name, line, *known)
        for kind, name, line in ((calls, "retry", 7), (imports, "socket", 1), (calls, "connect", 3))
    )

    def read() -> tuple[list[tuple[int, int]], list[tuple[int, str]]]:
        ((chunk_id, _),) = backend.keywords.search(["garnet"], 10, Scope())
        file_id = backend.catalog.chunks([chunk_id])[chunk_id].file_id
        spans = backend.catalog.spans([file_id])[file_id]
        assert spans[chunk_id] == (1, 10)
        chunks = backend.catalog.chunks(list(spans))
        assert {key: (chunk.start_line, chunk.end_line) for key, chunk in chunks.items()} == spans
        return sorted(spans.values()), list(backend.catalog.calls([file_id])[file_id])

    backend.write([Source("a.py", ["garnet", "straw"], [[1.0], [1.0]], relations=relations)])
    assert read() == ([(1, 10), (11, 20)], [(3, "connect"), (7, "retry")])
    backend.write([Source("a.py", ["garnet"], [[1.0]])])
    assert read() == ([(1, 10)], [])
