"""The laws of the keyword index: fields weigh differently, and a term is a word, never syntax."""

import pytest

from graphrag_mcp.model.scope import Scope
from tests.contracts.conftest import Backend, Source


@pytest.mark.requirement("003-29")
def test_a_word_counts_more_in_a_name_than_in_the_text(backend: Backend) -> None:
    """BM25 over fields; the same word, once in the file's name and once in its text."""
    backend.write([Source("src/other.py", ["garnet in words"]), Source("src/garnet.py", ["opal in words"])])
    found = backend.keywords.search(["garnet"], 5, Scope())
    assert [path for path, _ in backend.places([one.chunk_id for one in found])] == ["src/garnet.py", "src/other.py"]
    assert found[0].score > found[1].score


@pytest.mark.requirement("004-10")
@pytest.mark.parametrize("term", ['"', '"garnet', "*", "gar*", "AND", "NEAR(", "body:garnet", "^garnet", "(", "", "'"])
def test_a_term_is_never_syntax(backend: Backend, term: str) -> None:
    """What the query language of a backend means something by is looked for as it stands, or not at all."""
    backend.write([Source("src/other.py", ["garnet in words"])])
    found = backend.keywords.search([term, "words"], 5, Scope())
    assert [path for path, _ in backend.places([one.chunk_id for one in found])] == ["src/other.py"]


def test_an_index_says_how_rare_words_are_or_that_it_does_not(backend: Backend) -> None:
    """In chunks, whatever the field; after every write; a server is not asked for each word."""
    backend.write([Source("src/garnet.py", ["opal in words", "opal again"]), Source("src/other.py", ["garnet"])])
    frequencies = backend.keywords.frequencies(["opal", "garnet", "topaz"])
    assert (frequencies is None) == backend.keywords.remote
    if frequencies is not None:
        assert frequencies == ({"opal": 2, "garnet": 3, "topaz": 0}, 3)
        backend.write([Source("src/more.py", ["topaz"])])
        assert backend.keywords.frequencies(["topaz"]) == ({"topaz": 1}, 4)
