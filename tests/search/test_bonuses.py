"""What is added to a score."""

import pytest

from graphrag_mcp.model.files import ArchiveClass, Category, Symbol, SymbolKind
from graphrag_mcp.model.search import ChunkMention, StoredFile, SymbolMatch
from graphrag_mcp.search.query.understand import understand
from graphrag_mcp.search.ranking import bonuses
from graphrag_mcp.search.ranking.fusion import Fused
from graphrag_mcp.search.ranking.weights import Weights

WEIGHTS = Weights()


def _file(
    path: str = "src/a.py",
    category: Category = Category.IMPLEMENTATION,
    archive: ArchiveClass | None = None,
    modified_at: float | None = None,
) -> StoredFile:
    return StoredFile(1, path, category, archive, modified_at)


def _match(name: str, path: str = "src/a.py", kind: SymbolKind = SymbolKind.TYPE) -> SymbolMatch:
    return SymbolMatch(1, path, Symbol(name.rsplit(".", 1)[-1], name, kind, 1, 2))


def test_a_symbol_query_lifts_its_definition_most() -> None:
    """A query that is a name asks for the definition; a name inside prose hints at it."""
    match = _match("Session")
    alone = bonuses.definition_bonuses(understand("Session"), [match], WEIGHTS)[1].value
    inside = bonuses.definition_bonuses(understand("how does Session.send retry"), [_match("Session.send")], WEIGHTS)
    assert alone > inside[1].value > 0


def test_a_type_is_meant_before_a_field_of_the_same_name() -> None:
    """Definitions are graded by kind."""
    query = understand("timeout")
    grades = [
        bonuses.definition_bonuses(query, [_match("timeout", kind=kind)], WEIGHTS)[1].value
        for kind in (SymbolKind.TYPE, SymbolKind.FUNCTION, SymbolKind.CONSTANT, SymbolKind.FIELD)
    ]
    assert grades == sorted(grades, reverse=True)
    assert len(set(grades)) == 4


def test_the_qualifier_chooses_between_equal_names() -> None:
    """`Session.send` means the method of Session."""
    query = understand("Session.send")
    right = bonuses.definition_bonuses(query, [_match("Session.send", kind=SymbolKind.METHOD)], WEIGHTS)[1]
    wrong = bonuses.definition_bonuses(query, [_match("Adapter.send", kind=SymbolKind.METHOD)], WEIGHTS)[1]
    assert right.value > wrong.value


def test_a_file_named_like_the_query_gains() -> None:
    """The stem's agreement is worth most when the whole name is said."""
    query = understand("session cookie handling")
    gains = {
        path: sum(bonuses.file_bonuses(query, path, 0.0, 0.0, 0.0, bonuses.Agreement(query.terms), WEIGHTS).values())
        for path in ("src/sessions.py", "src/session_cookie.py", "src/wrappers.py")
    }
    assert gains["src/session_cookie.py"] > gains["src/sessions.py"] > gains["src/wrappers.py"] == 0


def test_the_file_that_states_what_is_asked_about_the_project_gains() -> None:
    """That of the root most: another may be of a part."""
    query = understand("which Python do I need at least?")
    agreement = bonuses.Agreement(query.terms)
    gains = [
        bonuses.file_bonuses(query, path, 0.0, 0.0, 0.0, agreement, WEIGHTS, is_document=is_document)["stating"]
        for path, is_document in (
            ("pyproject.toml", True),
            ("plugins/pyproject.toml", True),
            ("src/parser.py", True),
            ("install.py", False),
        )
    ]
    assert gains == [WEIGHTS.stating, WEIGHTS.stating / 2, 0.0, 0.0]


def test_a_rare_word_of_the_query_in_a_name_says_more_than_a_common_one() -> None:
    """The share of the query that a name covers is a share of its words' rarity."""
    query = understand("server backpressure")
    agreement = bonuses.Agreement(query.terms, {"server": 0.5, "backpressur": 4.5})
    assert agreement.of(("server",)).terms == pytest.approx(0.1)
    assert agreement.of(("backpressur",)).terms == pytest.approx(0.9)


def test_a_short_word_agrees_with_a_long_one_that_it_begins() -> None:
    """`config` is `configuration`; two letters are nothing."""
    assert bonuses.agree("config", "configur")
    assert not bonuses.agree("co", "configur")
    assert not bonuses.agree("session", "permission")


def test_the_best_candidates_vote_for_what_they_mention() -> None:
    """A rare name mentioned by a good candidate says more than a common one by a poor one."""
    voters = [Fused(1, 1.0, {}), Fused(2, 0.5, {})]
    files = {number: StoredFile(number, f"{number}.py", Category.IMPLEMENTATION) for number in (10, 20, 30)}
    votes = bonuses.graph_votes(
        voters, [ChunkMention(1, 10, 2), ChunkMention(2, 20, 2), ChunkMention(2, 30, 100)], files
    )
    assert votes[10] == 1.0
    assert votes[10] > votes[20] > votes[30] > 0
    assert votes[20] == 0.25
    assert bonuses.graph_votes(voters, [ChunkMention(1, 99, 2)], files) == {}
