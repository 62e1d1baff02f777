"""How sure a difference is, which query won, and where a miss was lost."""

import pytest

from graphrag_mcp.search.evaluation import components
from graphrag_mcp.search.evaluation.comparison import bootstrap, compare
from graphrag_mcp.search.evaluation.scores import JudgedQuery, Scores, Target, diagnose
from graphrag_mcp.settings import RetrievalSettings


def _scores(value: float) -> Scores:
    return Scores(value, value, value, value, value, value, value)


@pytest.mark.requirement("001-17")
def test_an_interval_holds_the_mean_and_narrows_with_more_values() -> None:
    """A figure comes with how far it may be off, the same every time."""
    few, many = bootstrap([0.0, 1.0] * 5), bootstrap([0.0, 1.0] * 500)
    assert few.mean == many.mean == 0.5
    assert few.low < many.low < 0.5 < many.high < few.high
    assert bootstrap([0.0, 1.0] * 5) == few
    assert bootstrap([]) == (0.0, 0.0, 0.0)


@pytest.mark.requirement("001-17")
def test_values_that_are_all_the_same_leave_no_doubt() -> None:
    """The interval of a constant is a point."""
    assert bootstrap([0.25] * 8) == (0.25, 0.25, 0.25)


@pytest.mark.requirement("001-17", "001-18")
def test_a_comparison_names_the_queries_won_and_lost() -> None:
    """Per query, the largest change first; a query that only one run has is left out."""
    before = {"a": _scores(0.2), "b": _scores(0.9), "c": _scores(0.5), "d": _scores(0.1), "only": _scores(1)}
    after = {"a": _scores(0.4), "b": _scores(0.3), "c": _scores(0.5), "d": _scores(0.9)}
    found = compare(before, after)
    assert [one.id for one in found.won] == ["d", "a"]
    assert [(one.id, one.before, one.after) for one in found.lost] == [("b", 0.9, 0.3)]
    assert found.differences["mrr"].mean == pytest.approx((0.2 - 0.6 + 0 + 0.8) / 4)


@pytest.mark.requirement("001-04", "001-17", "002-21")
@pytest.mark.parametrize("part", components.OFF)
def test_each_component_can_be_had_alone_and_left_out(part: str) -> None:
    """The baseline with one part, and the whole without it, differ from both ends."""
    assert components.alone(part) != components.baseline()
    assert components.without(part) != RetrievalSettings()
    for name, off in components.OFF[part].items():
        left = getattr(components.alone(part), name)
        assert not set(left) & set(off) if name == "switched_off" else left == getattr(RetrievalSettings(), name)


@pytest.mark.requirement("001-17")
@pytest.mark.parametrize(
    ("ranked", "absent", "words"),
    [
        ([], "not indexed: ignored: build/ (.gitignore:1)", ".gitignore:1"),
        (["x.py"], "", "not a candidate"),
        ([f"{number}.py" for number in range(30)] + ["a.py"], "", "ranked low: file 31 of 31"),
        (["x.py", "a.py"], "", "file 2, behind"),
    ],
)
def test_a_miss_says_where_it_was_lost(ranked: list[str], absent: str, words: str) -> None:
    """Filtered, never a candidate, or ranked low."""
    query = JudgedQuery("q", "where is it", "natural", frozenset({"a.py"}), (Target(("a.py",)),))
    miss = diagnose(query, lambda _: absent, ranked)
    assert len(miss.reasons) == 1
    assert words in miss.reasons[0]
