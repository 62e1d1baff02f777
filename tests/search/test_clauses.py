"""A question that asks for two things is answered for both, in turn."""

from pathlib import Path

import pytest

from graphrag_mcp.model.search import SearchRequest
from graphrag_mcp.search.query.understand import clauses
from graphrag_mcp.tools.search_answer import describe_meta
from tests.contracts.conftest import Source
from tests.search.stores import Bench, paths

QUESTION = "where is garnet polished, and where is opal cut?"
SOURCES = [
    *(Source(f"src/polish_{number}.py", [f"garnet is polished here {'straw ' * number}"]) for number in range(6)),
    *(Source(f"src/slice_{number}.py", [f"opal cut {'straw ' * (9 + 9 * number)}"]) for number in range(6)),
]


def test_the_results_of_both_clauses_come_in_turn(tmp_path: Path) -> None:
    """The first result answers the first clause and the second the other, however much better one of them matches."""
    bench = Bench(tmp_path, SOURCES)
    try:
        found = [path.split("_")[0] for path in paths(bench.search(SearchRequest(QUESTION, limit=6)))]
    finally:
        bench.close()
    assert found == ["src/polish", "src/slice"] * 3


def test_the_answer_says_that_it_took_the_question_apart(tmp_path: Path) -> None:
    """One line names both clauses; every result explains its own score."""
    bench = Bench(tmp_path, SOURCES)
    try:
        result = bench.search(SearchRequest(QUESTION))
    finally:
        bench.close()
    assert describe_meta(result.meta) == [
        'Two questions, answered in turn: "where is garnet polished" and "where is opal cut?"'
    ]
    assert all(hit.factors for hit in result.primary)


def test_several_phrasings_are_not_taken_apart(tmp_path: Path) -> None:
    """They are one question already."""
    bench = Bench(tmp_path, SOURCES)
    try:
        result = bench.search(SearchRequest(QUESTION, also=("opal",)))
    finally:
        bench.close()
    assert result.meta.clauses == ()


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("where is X parsed and what checks it", ("where is X parsed", "what checks it")),
        ("Which part reads keys, and how are they stored?", ("Which part reads keys", "how are they stored?")),
        ("which version and which browsers does it need", ()),
        ("routing and how errors are handled", ()),
        ("how are keys read, and what if one is missing", ()),
        ("which key sets the level, and what is its default", ()),
        ("where and how is it stored", ()),
        ("where is a read and where is b and where is c", ()),
        ("how are keys read and values stored", ()),
        ("where is it stored and " + "how " * 100, ()),
    ],
)
def test_only_two_clauses_with_terms_are_apart(text: str, parts: tuple[str, ...]) -> None:
    """A list of words, a condition, or three clauses stay one question."""
    assert clauses(text) == parts
