"""What the stages of a search do, in which order, and what the settings change about it."""

import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from graphrag_mcp.errors import ServerError
from graphrag_mcp.model.files import Category
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import ListSource, Ranked, SearchRequest
from graphrag_mcp.ports import Matrix
from graphrag_mcp.search.ranking.fusion import RankedList, fuse_rrf
from graphrag_mcp.search.ranking.ranker import BOOST_MAX
from graphrag_mcp.search.retrieval import KEYWORD_DEPTH
from graphrag_mcp.settings import RankingPart, RetrievalSettings
from tests.contracts.conftest import Source
from tests.search.stores import DUPLICATES, NO_DEDUP, Bench, garnets, paths

VECTOR, KEYWORD, _GRAPH, _SECOND = ListSource
POOL = "graphrag_mcp.search.orchestrator.POOL"
QUERY = SearchRequest("garnet", limit=5)
ALL = replace(QUERY, limit=25, scope=Scope(exclude_archived=False))


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """Files of which the two lists think differently: the keywords prefer late ones, the vectors early ones."""
    sources = [
        Source(f"src/file_{number}.py", ["garnet " + "straw " * (10 - number)], [[1.0, 0.1 * number]])
        for number in range(8)
    ]
    bench = Bench(tmp_path, [*sources, Source("src/far.py", ["hay"], [[0.0, 1.0]])])
    yield bench
    bench.close()


@pytest.mark.requirement("P-3", "000-06", "000-26", "001-14", "B-09")
@pytest.mark.parametrize("k", [60, 5])
def test_the_fused_score_is_the_sum_of_reciprocal_ranks(bench: Bench, k: int) -> None:
    """Of the places alone, with the k of the settings, and kept on the hit."""
    for weights in ({"vector": 1.0, "keyword": 1.0}, {"vector": 2.0, "keyword": 0.5}):
        update: dict[str, object] = {"fusion_algorithm": "rrf", "rrf_k": k}
        update |= {f"{source}_weight": weight for source, weight in weights.items()}
        hits = bench.search(ALL, msgspec.structs.replace(NO_DEDUP, **update)).primary
        assert {len(hit.ranks) for hit in hits} == {1, 2}
        for hit in hits:
            total = sum(weights[source] / (k + rank) for source, rank in hit.ranks.items())
            assert hit.fused_score == pytest.approx(total / (sum(weights.values()) / (k + 1)))


@pytest.mark.requirement("001-06")
def test_rrf_reads_no_scores() -> None:
    """Nothing is normalised, since only places count."""
    items = [Ranked(1, 0.9), Ranked(2, 0.8), Ranked(3, -4.0)]
    scaled = [Ranked(one.chunk_id, one.score * 1000 - 7) for one in items]
    other = RankedList(KEYWORD, [Ranked(3, 12.0)])
    assert fuse_rrf([RankedList(VECTOR, items), other], 60) == fuse_rrf([RankedList(VECTOR, scaled), other], 60)


@pytest.mark.requirement("001-13", "001-19", "001-21", "K-07")
def test_the_settings_choose_the_fusion(bench: Bench) -> None:
    """The weighted sum stays at hand, and the answer names what ran."""
    results = {
        name: bench.search(ALL, msgspec.structs.replace(NO_DEDUP, fusion_algorithm=name))
        for name in ("relative", "rrf", "weighted")
    }
    for name, result in results.items():
        assert result.meta.search_strategy.fusion_method == name
    weighted = {hit.chunk.path: hit.fused_score for hit in results["weighted"].primary}
    vector = {one.chunk_id: one.score for one in bench.vectors.answers[-1]}
    high, low = max(vector.values()), min(vector.values())
    best = next(hit for hit in results["weighted"].primary if hit.ranks.get("vector") == 1)
    assert (high - low) > 0
    # First of the vectors and last of the keywords: 1.0 · 1 + 0.5 · 0, of 1.5 at most.
    assert weighted[best.chunk.path] == pytest.approx(1.0 / 1.5)


@pytest.mark.requirement("000-27", "K-07")
def test_without_rrf_the_vectors_alone_rank(bench: Bench) -> None:
    """The keyword list has no say, and nothing that only it found is shown."""
    result = bench.search(replace(ALL, use_rrf=False))
    nearest = [one.chunk_id for one in bench.vectors.answers[-1]]
    assert [hit.chunk.chunk_id for hit in result.primary] == nearest
    assert all(set(hit.ranks) == {"vector"} for hit in result.primary)
    assert result.meta.search_strategy.fusion_method == "semantic_only"


@pytest.mark.requirement("000-29", "K-03", "K-08")
def test_penalties_come_after_fusion_and_the_cut_comes_last(tmp_path: Path) -> None:
    """An archived file that is first in both lists falls behind before the list is cut."""
    archived = replace(garnets(1)[0], path="archive/file.py", archived=True)
    bench = Bench(tmp_path, [archived, *garnets(3)[1:]])
    shown = bench.search(replace(ALL, limit=1))
    everything = bench.search(ALL)
    hidden = bench.search(replace(ALL, scope=Scope()))
    bench.close()
    assert paths(shown) == ["src/file_001.py"]
    fallen = next(hit for hit in everything.primary if hit.chunk.archive)
    assert fallen.fused_score == 1.0
    assert fallen.score < everything.primary[0].score
    assert "archive/file.py" not in paths(hidden)


@pytest.mark.requirement("000-24", "K-10")
@pytest.mark.parametrize("limit", [1, 5, 25])
@pytest.mark.parametrize("pool", [30, 120, 200])
def test_each_list_is_asked_for_more_than_the_limit(
    bench: Bench, limit: int, pool: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many from every list, whatever the limit is."""
    monkeypatch.setattr(POOL, pool)
    bench.search(replace(QUERY, limit=limit))
    assert (bench.vectors.limits, bench.keywords.limits) == ([pool], [KEYWORD_DEPTH * pool])


@pytest.mark.requirement("K-10")
def test_the_first_places_do_not_depend_on_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even where a limit needs more candidates than the pool has: those come after the others."""
    sources = garnets(60)
    odd = [replace(one, words=[f"garnet {'straw ' * (number % 7)}"]) for number, one in enumerate(sources)]
    bench = Bench(tmp_path, odd)
    monkeypatch.setattr(POOL, 10)
    shown = {limit: bench.search(replace(ALL, limit=limit)) for limit in (1, 5, 10, 25, 40)}
    bench.close()
    places = {limit: [hit.chunk.path for hit in (*one.primary, *one.runner_up)] for limit, one in shown.items()}
    assert len(places[40]) == len(set(places[40])) == 40
    assert all(places[limit] == places[40][: max(10, limit)] for limit in shown)


@pytest.mark.requirement("K-10")
def test_a_pool_that_duplicates_ate_is_filled_once_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thirty copies ahead of ten others leave a full answer."""
    copies = [Source(f"src/copy_{number}.py", ["garnet garnet"], [[1.0]]) for number in range(30)]
    others = [Source(f"src/other_{number}.py", [f"garnet word{number}"], [[1.0, 0.5]]) for number in range(10)]
    bench = Bench(tmp_path, [*copies, *others])
    monkeypatch.setattr(POOL, 20)
    result = bench.search(QUERY, RetrievalSettings(switched_off=(RankingPart.EQUAL_VECTORS,)))
    bench.close()
    assert bench.vectors.limits == [20, 60]
    assert len(result.primary) == 5


@pytest.mark.requirement("K-10", "K-22")
def test_a_pool_that_min_score_emptied_is_not_filled_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies behind it scores no better."""
    bench = Bench(tmp_path, garnets(40))
    monkeypatch.setattr(POOL, 20)
    result = bench.search(replace(QUERY, min_score=0.97))
    bench.close()
    assert bench.vectors.limits == [20]
    assert 0 < len(result.primary) < 5


@pytest.mark.requirement("001-03", "003-06")
@pytest.mark.parametrize("is_remote", [False, True])
def test_the_lists_are_asked_side_by_side(bench: Bench, is_remote: bool) -> None:
    """Each of two stores answers only while the other is being asked."""
    together = threading.Barrier(2, timeout=5)

    class Waiting:
        remote = is_remote

        def search(self, asked: "Sequence[str] | Matrix", limit: int, scope: Scope) -> list[Ranked]:
            together.wait()
            return [Ranked(1 << 16, 1.0)]

        def similarities(self, vector: Matrix, chunk_ids: Sequence[int]) -> Mapping[int, float]:
            return {}

        def vectors(self, chunk_ids: Sequence[int]) -> Mapping[int, Matrix]:
            return {}

        def frequencies(self, terms: Sequence[str]) -> None:
            return None

    bench.stores = replace(bench.stores, keywords=Waiting(), vectors=Waiting())
    result = bench.search(QUERY)
    assert result.meta.unavailable == {}
    assert result.primary[0].ranks == {"vector": 1, "keyword": 1}


@pytest.mark.requirement("001-12", "001-21")
def test_candidates_are_looked_up_once_however_many(tmp_path: Path) -> None:
    """Age, archive status and category of all candidates come with one look-up of stored facts."""
    for count in (3, 100):
        bench = Bench(tmp_path / str(count), garnets(count))
        result = bench.search(QUERY)
        bench.close()
        assert result.meta.compression.original_count == count
        assert bench.catalog.file_lookups == 1


@pytest.mark.requirement("001-21", "K-08")
def test_all_boosts_together_stay_modest(bench: Bench) -> None:
    """Whatever the single factors are, their product is capped."""
    plain = (*DUPLICATES, RankingPart.COHERENCE, RankingPart.FILE_NAMES)
    huge = RetrievalSettings(recency_factors={"old": 10.0}, confidence_vector=10.0, switched_off=plain)
    for hit in bench.search(ALL, huge).primary:
        assert hit.score <= hit.fused_score * BOOST_MAX + 1e-9


@pytest.mark.requirement("003-10", "K-22")
def test_a_threshold_keeps_what_reaches_it(bench: Bench) -> None:
    """By the call or by the settings, on the scale of the fused score; the call wins."""
    hits = bench.search(ALL).primary
    floor = hits[3].fused_score
    above = {hit.chunk.path for hit in hits if hit.fused_score >= floor}
    assert 0 < len(above) < len(hits)
    by_call = bench.search(replace(ALL, min_score=floor))
    by_settings = bench.search(ALL, msgspec.structs.replace(NO_DEDUP, min_score=floor))
    assert set(paths(by_call)) == set(paths(by_settings)) == above
    assert by_call.meta.compression.after_threshold == len(above)
    assert bench.search(replace(ALL, min_score=0.0), msgspec.structs.replace(NO_DEDUP, min_score=1.0)).primary == hits


@pytest.mark.requirement("004-02", "004-05", "K-01", "B-29")
def test_a_kind_of_file_can_be_asked_for_and_weighed(tmp_path: Path) -> None:
    """Kinds are pushed down into the lists, and shift the say between them before that."""
    code = Source("src/a.py", ["garnet straw straw straw"], [[1.0]])
    config = Source("app.toml", ["garnet"], [[0.2, 1.0]], Category.CONFIG)
    bench = Bench(tmp_path, [code, config])
    asked = bench.search(replace(ALL, scope=Scope(categories=frozenset({Category.CONFIG}))))
    even = {hit.chunk.path: hit.fused_score for hit in bench.search(ALL).primary}
    shifted = msgspec.structs.replace(NO_DEDUP, category_weights={"implementation": 0.7, "config": 0.2})
    uneven = {hit.chunk.path: hit.fused_score for hit in bench.search(ALL, shifted).primary}
    bench.close()
    assert paths(asked) == ["app.toml"]
    assert [len(answer) for answer in bench.keywords.answers] == [1, 2, 2]
    assert uneven["app.toml"] > even["app.toml"]  # Found by its words, which is what counts for configuration.


class Failing:
    """A keyword index whose every search fails."""

    def __init__(self, error: Exception, *, remote: bool) -> None:
        self.remote = remote
        self._error = error

    def search(self, *_: object) -> Sequence[Ranked]:
        raise self._error


@pytest.mark.requirement("P-1")
@pytest.mark.parametrize("remote", [True, False])
def test_a_list_that_cannot_be_read_from_the_index_file_is_an_error(bench: Bench, remote: bool) -> None:
    """Without it, an answer would lack what it had and not say so; wherever the file is needed."""
    bench.stores = replace(bench.stores, keywords=Failing(sqlite3.DatabaseError("malformed"), remote=remote))
    with pytest.raises(sqlite3.DatabaseError):
        bench.search(ALL, NO_DEDUP)


@pytest.mark.requirement("P-1")
def test_a_list_that_fails_on_this_machine_is_an_error(bench: Bench) -> None:
    """No other way to search stands in for it."""
    bench.stores = replace(bench.stores, keywords=Failing(MemoryError(), remote=False))
    with pytest.raises(MemoryError):
        bench.search(ALL, NO_DEDUP)


@pytest.mark.requirement("P-1")
@pytest.mark.parametrize("error", [ServerError("Qdrant is down"), KeyError("path")])
def test_a_server_that_fails_is_left_out_and_named(bench: Bench, error: Exception) -> None:
    """The other lists answer; no name of an exception is shown."""
    bench.stores = replace(bench.stores, keywords=Failing(error, remote=True))
    result = bench.search(ALL, NO_DEDUP)
    assert result.primary
    assert set(result.meta.unavailable) == {"keyword"}
    assert "KeyError" not in result.meta.unavailable["keyword"]
