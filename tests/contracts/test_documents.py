"""Documents by the status that they state."""

from graphrag_mcp.model.files import Category, DocumentFacts, DocumentStatus
from graphrag_mcp.model.scope import Scope, match_keys
from tests.contracts.conftest import Backend, Source


def _document(path: str, status: DocumentStatus | None, archived: bool = False) -> Source:
    facts = DocumentFacts(title=path, status=status)
    return Source(path, ["one", "two"], [[1.0], [1.0]], Category.DOCUMENTATION, archived=archived, facts=facts)


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


def test_a_status_that_changes_is_seen(backend: Backend) -> None:
    """A status without documents is not an error, and the next commit counts."""
    backend.write([_document("docs/a.md", DocumentStatus.PROPOSED)])
    assert backend.catalog.documents(DocumentStatus.REJECTED, 10, Scope()) == []
    backend.write([_document("docs/a.md", DocumentStatus.REJECTED)])
    assert len(backend.catalog.documents(DocumentStatus.REJECTED, 10, Scope())) == 1
