"""The measures, against values worked out by hand."""

from math import log2

import pytest

from graphrag_mcp.search.evaluation.scores import JudgedQuery, Location, Scores, Target, mean, score


def query(*targets: Target, relevant: tuple[str, ...] = ()) -> JudgedQuery:
    paths = relevant or tuple(path for target in targets for path in target.paths)
    return JudgedQuery("q", "where is it", "semantic", frozenset(paths), targets)


def whole(*paths: str) -> list[Location]:
    return [(path, None, None) for path in paths]


@pytest.mark.requirement("001-17")
def test_the_right_file_first_scores_one_everywhere() -> None:
    """A perfect answer."""
    assert score(query(Target(("a.py",))), whole("a.py", "b.py")) == Scores(1, 1, 1, 1, 1, 1, 1)


@pytest.mark.requirement("001-17")
def test_the_right_file_third_scores_half() -> None:
    """1 / log2(4) = 0.5 for NDCG, 1/3 for MRR."""
    assert score(query(Target(("a.py",))), whole("b.py", "c.py", "a.py")) == Scores(0.5, 0.5, 1 / 3, 1, 0, 1, 1)


@pytest.mark.requirement("001-17")
def test_two_targets_share_the_ideal() -> None:
    """Found at 1 and 3 of an ideal 1 and 2: (1 + 0.5) / (1 + 1/log2 3)."""
    result = score(query(Target(("a.py",)), Target(("b.py",))), whole("a.py", "x.py", "b.py"))
    assert result.chunk_ndcg == pytest.approx(1.5 / (1 + 1 / log2(3)))
    assert result.file_ndcg == result.chunk_ndcg


@pytest.mark.requirement("001-17")
def test_a_span_counts_only_where_lines_overlap() -> None:
    """The right file is not yet the right function."""
    judged = query(Target(("a.py",), 10, 20))
    assert score(judged, [("a.py", 1, 9), ("a.py", 20, 30)]).chunk_ndcg == pytest.approx(1 / log2(3))
    assert score(judged, [("a.py", 21, 30)]) == Scores(0, 1, 1, 1, 1, 1, 0)


@pytest.mark.requirement("001-17")
def test_chunks_of_one_file_are_one_file() -> None:
    """The file list has no repetitions, the chunk list has."""
    result = score(query(Target(("b.py",))), whole("a.py", "a.py", "b.py"))
    assert result.file_ndcg == pytest.approx(1 / log2(3))
    assert result.chunk_ndcg == 0.5


@pytest.mark.requirement("001-17")
def test_nothing_after_the_tenth_place_counts() -> None:
    """An agent reads ten."""
    paths = [f"{number}.py" for number in range(10)]
    assert score(query(Target(("a.py",))), whole(*paths, "a.py")) == Scores(0, 0, 0, 0, 0, 0, 0)


@pytest.mark.requirement("001-17")
def test_the_mean_is_taken_measure_by_measure() -> None:
    """And nothing at all averages to zero."""
    assert mean([Scores(1, 1, 1, 1, 1, 1, 1), Scores(0, 0.5, 0, 0, 0, 1, 0)]) == Scores(
        0.5, 0.75, 0.5, 0.5, 0.5, 1, 0.5
    )
    assert mean([]) == Scores(0, 0, 0, 0, 0, 0, 0)
