"""What a query is widened by, and what never is."""

import pytest

from graphrag_mcp.search.query.understand import MAX_ADDED, MAX_CHARACTERS, SYNONYMS, add_synonyms, understand
from graphrag_mcp.settings import RetrievalSettings
from graphrag_mcp.text.words import query_words


def _expand(text: str, **more: tuple[str, ...]) -> tuple[str, ...]:
    return add_synonyms(text, query_words(text), more)


@pytest.mark.requirement("004-03", "004-17")
def test_about_fifty_terms_are_known() -> None:
    """A small dictionary, in which auth, db and http stand."""
    assert 50 <= len(SYNONYMS) <= 80
    assert {"auth", "db", "http"} <= set(SYNONYMS)


@pytest.mark.requirement("004-03", "B-30")
def test_an_abbreviation_is_looked_for_in_full() -> None:
    """Auth also finds authentication, as one of the words, not instead of it."""
    assert set(query_words("authentication login token")) <= set(_expand("auth middleware"))
    assert "auth" not in _expand("auth middleware")


@pytest.mark.requirement("004-08")
def test_nothing_known_adds_nothing() -> None:
    """The query stays what it was."""
    assert _expand("kumquat marmalade") == ()


@pytest.mark.requirement("004-09", "K-24")
def test_a_query_grows_by_so_much_at_most() -> None:
    """Twelve terms, and none where the text is long already."""
    text = "auth db config error http login log api url"
    assert len(_expand(text)) == MAX_ADDED == 12
    assert _expand(text + " x" * MAX_CHARACTERS) == ()


@pytest.mark.requirement("004-10", "K-24")
@pytest.mark.parametrize("text", ['auth" OR 1', "auth*", "(auth)", "auth:", "'auth'", "AUTH!"])
def test_marks_around_a_word_are_no_part_of_it(text: str) -> None:
    """What the keyword index would take for its own syntax never reaches it."""
    assert all(term.isalnum() for term in _expand(text))


@pytest.mark.requirement("004-18")
def test_a_project_adds_its_own_words() -> None:
    """New ones, and others in the place of ours."""
    assert _expand("sku search", sku=("article",)) == tuple(query_words("article"))
    assert _expand("db search", db=("ledger",)) == tuple(query_words("ledger"))


@pytest.mark.requirement("004-04")
def test_only_the_words_are_widened() -> None:
    """What is embedded is the query itself; an identifier alone is looked up as it stands."""
    query = understand("auth middleware")
    assert query.text == "auth middleware"
    assert query.terms == tuple(query_words("auth middleware"))
    assert set(query.expansion_terms) == set(_expand("auth middleware"))
    assert understand("auth").expansion_terms == ()
    assert understand("auth middleware", RetrievalSettings(query_expansion=False)).expansion_terms == ()


@pytest.mark.parametrize(
    ("text", "word"), [("an HTTP/2 server", "http2"), ("UTF-8 text", "utf8"), ("sha-256", "sha256")]
)
def test_a_numbered_name_is_also_looked_for_as_one_word(text: str, word: str) -> None:
    """Code writes it without the mark between, since no identifier may have one."""
    assert word in _expand(text)
