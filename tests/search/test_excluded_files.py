"""Excluded files in a search over real stores: as if they had never existed."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from graphrag_mcp.model.scope import Scope, normalise_excluded_files
from graphrag_mcp.model.search import SearchRequest, SearchResult
from graphrag_mcp.settings import RetrievalSettings
from tests.search.stores import NO_DEDUP, Bench, garnets, paths

FILES = 12
ROOT = Path("/project")


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """Twelve files that match alike."""
    bench = Bench(tmp_path, garnets(FILES))
    yield bench
    bench.close()


def _search(bench: Bench, *excluded: int, limit: int = 5, settings: RetrievalSettings = NO_DEDUP) -> SearchResult:
    keys, _ = normalise_excluded_files([f"src/file_{number:03}.py" for number in excluded], ROOT)
    return bench.search(SearchRequest("garnet", limit=limit, scope=Scope(excluded_keys=keys)), settings)


@pytest.mark.requirement("P-5", "003-13", "003-19")
def test_excluded_files_are_in_no_list_and_no_count(bench: Bench) -> None:
    """The lists that are fused and the statistics know nothing of them."""
    result = _search(bench, 0, 1, 2, 3, limit=FILES)
    left = FILES - 4
    assert result.meta.compression.original_count == left
    assert paths(result) == [f"src/file_{number:03}.py" for number in range(4, FILES)]
    for source in ("vector", "keyword"):
        assert sorted(hit.ranks[source] for hit in result.primary) == list(range(1, left + 1))


@pytest.mark.requirement("003-02", "003-19")
@pytest.mark.parametrize(("algorithm", "tolerance"), [("rrf", 0.0), ("relative", 0.05)])
def test_what_is_left_scores_as_if_nothing_else_existed(
    bench: Bench, tmp_path: Path, algorithm: str, tolerance: float
) -> None:
    """The order is that of an index without the files, and so are the scores by rank.

    The scores by BM25 differ a little, since how rare a word is is counted over the whole index.
    """
    settings = msgspec.structs.replace(NO_DEDUP, fusion_algorithm=algorithm)
    without = Bench(tmp_path / "other", garnets(FILES)[3:])
    expected = without.search(SearchRequest("garnet", limit=FILES), settings).primary
    without.close()
    found = _search(bench, 0, 1, 2, limit=FILES, settings=settings).primary
    assert [hit.chunk.path for hit in found] == [hit.chunk.path for hit in expected]
    assert [hit.fused_score for hit in found] == pytest.approx([hit.fused_score for hit in expected], abs=tolerance)


@pytest.mark.requirement("003-12", "K-09")
def test_excluding_asks_no_store_for_more(bench: Bench) -> None:
    """Pushed down into the stores, so nothing is fetched to be thrown away."""
    _search(bench)
    _search(bench, 0, 1, 2)
    assert (len(set(bench.vectors.limits)), len(set(bench.keywords.limits))) == (1, 1)
    assert [len(answer) for answer in bench.vectors.answers] == [FILES, FILES - 3]


@pytest.mark.requirement("003-18", "003-25")
def test_excluding_more_than_half_still_fills_the_limit(bench: Bench) -> None:
    """As long as that many other files match."""
    assert len(_search(bench, *range(7)).primary) == 5
    assert len(_search(bench, *range(9)).primary) == FILES - 9


@pytest.mark.requirement("003-27")
def test_excluding_everything_is_an_empty_answer(bench: Bench) -> None:
    """No error, and counts of zero."""
    result = _search(bench, *range(FILES))
    assert (result.primary, result.expanded, result.meta.unavailable) == ((), (), {})
    assert (result.meta.compression.original_count, result.meta.compression.final_count) == (0, 0)


@pytest.mark.requirement("003-05")
def test_an_exclusion_ends_with_its_call(bench: Bench) -> None:
    """No list is kept from one call to the next."""
    before = paths(_search(bench))
    assert paths(_search(bench, 0)) != before
    assert paths(_search(bench)) == before


@pytest.mark.requirement("003-06", "003-29")
def test_a_search_returns_hits_and_what_each_stage_left_over(bench: Bench) -> None:
    """The counts fall from stage to stage and end at what is shown."""
    result = _search(bench, 0)
    stats = result.meta.compression
    stages = [
        stats.original_count,
        stats.after_threshold,
        stats.after_content_dedup,
        stats.after_ngram_dedup,
        stats.after_semantic_dedup,
        stats.after_doc_limit,
        stats.final_count,
    ]
    assert stages == sorted(stages, reverse=True)
    assert stats.final_count == len(result.primary) == 5


@pytest.mark.requirement("003-20")
def test_the_cap_per_document_counts_without_excluded_files(tmp_path: Path) -> None:
    """Exclusion and cap work together."""
    sources = garnets(3)
    long = [f"garnet part{number}" for number in range(6)]
    bench = Bench(tmp_path, [*sources, type(sources[0])("src/long.py", long, [[1.0]] * 6)])
    request = SearchRequest("garnet", limit=10, scope=Scope(excluded_keys=frozenset({"file_000.py"})))
    assert paths(bench.search(request)).count("src/long.py") == 3
    assert len(bench.search(request).primary) == 3 + 2
    bench.close()
