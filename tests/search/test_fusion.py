"""Fusion: the formulas of the requirements, checked by hand."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag_mcp.model.search import ListSource, Ranked
from graphrag_mcp.search.ranking.fusion import Fused, RankedList, fuse_relative, fuse_rrf, fuse_weighted

VECTOR, KEYWORD, GRAPH, _SECOND = ListSource


def _list(source: ListSource, ids: list[int], weight: float = 1.0) -> RankedList:
    return RankedList(source, [Ranked(one, 1.0 / place) for place, one in enumerate(ids, 1)], weight)


@pytest.mark.requirement("000-26", "001-05")
@pytest.mark.parametrize(("rank", "share"), [(1, 0.0164), (10, 0.0143), (100, 0.00625)])
def test_a_place_is_worth_its_reciprocal_rank(rank: int, share: float) -> None:
    """1/(k + rank) with k = 60, ranks from 1."""
    found = {one.chunk_id: one.score for one in fuse_rrf([_list(VECTOR, list(range(1, 101)))], 60)}
    assert found[rank] / 61 == pytest.approx(share, rel=0.01)


@pytest.mark.requirement("K-22")
def test_first_in_every_list_scores_one() -> None:
    """The score is a share of the best possible, whatever the query."""
    (best, *_) = fuse_rrf([_list(VECTOR, [7, 8]), _list(KEYWORD, [7, 9]), _list(GRAPH, [7], 0.5)], 60)
    assert (best.chunk_id, best.score) == (7, pytest.approx(1.0))


@pytest.mark.requirement("K-22")
def test_the_scores_of_the_requirements_come_out() -> None:
    """With the graph on, both tops give .8, a single top .4, a single place 20 gives .305."""
    lists = [
        _list(VECTOR, list(range(1, 30))),
        _list(KEYWORD, [1, 100]),
        _list(GRAPH, [200], 0.5),
    ]
    scores = {one.chunk_id: one.score for one in fuse_rrf(lists, 60)}
    assert scores[1] == pytest.approx(0.8)
    assert scores[20] == pytest.approx(0.305, abs=0.001)
    assert fuse_rrf([_list(VECTOR, [1]), _list(KEYWORD, []), _list(GRAPH, [], 0.5)], 60)[0].score == (
        pytest.approx(0.4)
    )


@pytest.mark.requirement("K-01")
def test_the_category_decides_which_list_has_the_say() -> None:
    """Implementation .7/.3 gives vector alone .56 and keyword alone .24 of the best possible."""
    lists = [_list(VECTOR, [1]), _list(KEYWORD, [2]), _list(GRAPH, [], 0.5)]
    scores = {one.chunk_id: one.score for one in fuse_rrf(lists, 60, {1: 0.7, 2: 0.7})}
    assert scores == {1: pytest.approx(0.56), 2: pytest.approx(0.24)}


@pytest.mark.requirement("001-07", "B-14")
@given(
    st.lists(st.integers(1, 200), min_size=1, max_size=61, unique=True),
    st.lists(st.integers(1, 200), min_size=1, max_size=61, unique=True),
)
def test_what_both_lists_have_beats_what_one_has(vector: list[int], keyword: list[int]) -> None:
    """Unweighted, and with at most 61 candidates a list."""
    fused = fuse_rrf([_list(VECTOR, vector), _list(KEYWORD, keyword)], 60)
    both = [one.score for one in fused if len(one.ranks) == 2]
    single = [one.score for one in fused if len(one.ranks) == 1]
    assert not both or not single or min(both) >= max(single)


@pytest.mark.requirement("000-28")
def test_every_place_is_remembered() -> None:
    """Each result keeps the list of sources that found it."""
    fused = fuse_rrf([_list(VECTOR, [5, 6]), _list(KEYWORD, [6])], 60)
    assert {one.chunk_id: dict(one.ranks) for one in fused} == {6: {"vector": 2, "keyword": 1}, 5: {"vector": 1}}


def test_an_empty_search_fuses_to_nothing() -> None:
    """No list, no result, no error."""
    assert fuse_rrf([], 60) == []
    assert fuse_weighted([_list(VECTOR, [])]) == []


@pytest.mark.requirement("001-02", "K-07")
def test_the_weighted_sum_normalises_each_list() -> None:
    """1.0·vector + 0.5·keyword on min-max scores, whatever the scales of the lists."""
    vector = RankedList(VECTOR, [Ranked(1, 0.9), Ranked(2, 0.5), Ranked(3, 0.1)], 1.0)
    keyword = RankedList(KEYWORD, [Ranked(3, 40.0), Ranked(2, 20.0), Ranked(1, 0.0)], 0.5)
    scores = {one.chunk_id: one.score for one in fuse_weighted([vector, keyword])}
    assert scores == {1: pytest.approx(1.0 / 1.5), 2: pytest.approx(0.75 / 1.5), 3: pytest.approx(0.5 / 1.5)}


@pytest.mark.requirement("B-19")
def test_a_flat_list_counts_in_full() -> None:
    """Min-max of one item, or of equal ones, is 1."""
    assert fuse_weighted([RankedList(VECTOR, [Ranked(1, 0.2)])])[0].score == pytest.approx(1.0)


@pytest.mark.requirement("001-13", "004-05")
def test_relative_scores_keep_by_how_much_the_first_is_better() -> None:
    """Shares of the best score, weighted; a list that found nothing takes no part."""
    vector = RankedList(VECTOR, [Ranked(1, 0.8), Ranked(2, 0.4)], 1.0)
    keyword = RankedList(KEYWORD, [Ranked(2, 12.0), Ranked(3, 3.0)], 3.0)
    scores = {one.chunk_id: one.score for one in fuse_relative([vector, keyword, RankedList(GRAPH, [], 5.0)])}
    assert scores == pytest.approx({2: (0.5 + 3) / 4, 1: 1 / 4, 3: 0.75 / 4})


def test_relative_scores_count_what_a_list_knows_of_others() -> None:
    """A missing score would count as none; a chunk that no list proposed stays out, and a negative cosine is none."""
    vector = RankedList(VECTOR, [Ranked(1, 0.8)], 1.0, {2: 0.4, 9: 0.7, 3: -0.2})
    keyword = RankedList(KEYWORD, [Ranked(2, 10.0), Ranked(3, 10.0)], 1.0)
    fused = fuse_relative([vector, keyword])
    assert {one.chunk_id: one.score for one in fused} == pytest.approx({2: 0.75, 1: 0.5, 3: 0.5})
    assert next(one for one in fused if one.chunk_id == 2).ranks == {"keyword": 1}


@pytest.mark.requirement("K-22")
def test_first_everywhere_is_one_under_relative_scores_too() -> None:
    """Whatever the weights."""
    lists = [
        RankedList(VECTOR, [Ranked(1, 0.3)], 0.65),
        RankedList(KEYWORD, [Ranked(1, 40.0)], 1.0),
    ]
    assert fuse_relative(lists)[0].score == pytest.approx(1.0)
    assert fuse_relative([]) == []
    assert fuse_relative([RankedList(VECTOR, [Ranked(1, 0.0)])])[0].score == 0.0


@pytest.mark.requirement("004-05", "004-18", "K-01")
@pytest.mark.parametrize("fuse", [fuse_relative, lambda lists, shares: fuse_rrf(lists, 60, shares)])
def test_a_category_may_shift_the_say_between_the_lists(fuse: Callable[..., list[Fused]]) -> None:
    """0.7 to the vectors for code lifts what they found; 0.5 is plain fusion."""
    lists = [
        RankedList(VECTOR, [Ranked(1, 1.0), Ranked(2, 0.9)]),
        RankedList(KEYWORD, [Ranked(2, 1.0)]),
    ]
    plain = {one.chunk_id: one.score for one in fuse(lists, {})}
    shifted = {one.chunk_id: one.score for one in fuse(lists, {1: 0.7, 2: 0.7})}
    assert shifted[1] == pytest.approx(plain[1] * 1.4)
