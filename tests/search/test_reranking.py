"""The second look: what it may change, and what happens when it fails."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from graphrag_mcp.errors import ModelUnavailableError
from graphrag_mcp.model.files import Category, DocumentFacts, DocumentStatus
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import SearchRequest
from graphrag_mcp.ports import CrossEncoder
from tests.contracts.conftest import Source
from tests.search.stores import NO_DEDUP, Bench, garnets, paths

ALL = SearchRequest("garnet", limit=8, scope=Scope(exclude_archived=False))
CROSS = msgspec.structs.replace(NO_DEDUP, rerank="cross_encoder")
SUM = msgspec.structs.replace(NO_DEDUP, rerank="weighted_sum")


class Longest:
    """Likes the longest text best."""

    def __init__(self, more: float = 0.0) -> None:
        """more: of the score of texts with at least five times `straw`."""
        self.more = more
        self.read = 0

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        self.read = len(texts)
        return [len(text) / 10_000 + self.more * (text.count("straw") > 4) for text in texts]


class Broken:
    """Fails as a model does that runs out of memory."""

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        raise MemoryError("too much")


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """Six files that match less and less, and grow."""
    bench = Bench(tmp_path, garnets(6))
    yield bench
    bench.close()


def _with(bench: Bench, model: CrossEncoder) -> Bench:
    bench.stores = replace(bench.stores, cross_encoder=lambda: model)
    return bench


@pytest.mark.requirement("001-03", "K-26")
def test_nothing_looks_twice_unless_it_is_asked_to(bench: Bench) -> None:
    """Off by default, and no model is loaded."""

    def refuse() -> CrossEncoder:
        raise AssertionError("loaded")

    bench.stores = replace(bench.stores, cross_encoder=refuse)
    assert bench.search(ALL).meta.search_strategy.reranker == "none"


@pytest.mark.requirement("K-26", "B-20")
def test_a_cross_encoder_adds_to_the_scores(bench: Bench) -> None:
    """What fusion found still counts, and fusion and reranker are named apart."""
    before = {hit.chunk.path: hit.score for hit in bench.search(ALL).primary}
    result = _with(bench, Longest()).search(ALL, CROSS)
    gained = {hit.chunk.path: hit.score - before[hit.chunk.path] for hit in result.primary}
    assert list(gained) == sorted(gained, key=lambda path: -(before[path] + gained[path]))
    assert sorted(gained, key=gained.__getitem__) == list(before)
    assert paths(_with(bench, Longest(more=10.0)).search(ALL, CROSS))[0] == list(before)[-1]
    assert (result.meta.search_strategy.fusion_method, result.meta.search_strategy.reranker) == (
        "relative",
        "cross_encoder",
    )
    assert "cross-encoder" in [factor.name for factor in result.primary[0].factors]


@pytest.mark.requirement("002-01", "K-10")
def test_it_reads_three_times_the_places_of_an_answer(tmp_path: Path) -> None:
    """Over-retrieve, then rerank: as many for any limit, so that the first places do not depend on it."""
    bench = Bench(tmp_path, garnets(60))
    model = Longest()
    _with(bench, model).search(replace(ALL, limit=3), CROSS)
    few = model.read
    bench.search(replace(ALL, limit=15), CROSS)
    bench.close()
    assert few == model.read == 30


@pytest.mark.requirement("K-26")
@pytest.mark.parametrize("kind", ["broken", "missing"])
def test_a_failure_leaves_the_order_and_a_warning(bench: Bench, kind: str) -> None:
    """The previous order, and one sentence."""

    def missing() -> CrossEncoder:
        raise ModelUnavailableError("the cross-encoder x cannot be loaded: offline")

    expected = paths(bench.search(ALL))
    bench.stores = replace(bench.stores, cross_encoder=missing if kind == "missing" else Broken)
    result = bench.search(ALL, CROSS)
    assert paths(result) == expected
    assert result.meta.search_strategy.reranker == "none"
    assert [warning[:13] for warning in result.meta.warnings] == ["not reranked:"]


@pytest.mark.requirement("K-26")
def test_age_and_status_still_count_after_a_cross_encoder(tmp_path: Path) -> None:
    """It knows nothing of them, so they come after it."""
    archived = replace(garnets(6)[5], path="archive/long.py", archived=True)
    bench = _with(Bench(tmp_path, [*garnets(5), archived]), Longest())
    result = bench.search(ALL, CROSS)
    bench.close()
    assert paths(result)[0] != "archive/long.py"


def _guide(path: str, status: DocumentStatus | None = None) -> Source:
    return Source(path, ["garnet guide"], [[1.0]], Category.DOCUMENTATION, facts=DocumentFacts(status=status))


@pytest.mark.requirement("002-09", "002-10", "002-20", "002-22", "B-21")
def test_the_weighted_sum_puts_the_successor_first(tmp_path: Path) -> None:
    """The superseded stays in the answer, below what supersedes it."""
    bench = Bench(
        tmp_path,
        [
            _guide("docs/v1.md", DocumentStatus.SUPERSEDED),
            _guide("docs/v2.md", DocumentStatus.ACTIVE),
            _guide("blog.md"),
        ],
    )
    result = bench.search(ALL, SUM)
    bench.close()
    assert paths(result) == ["docs/v2.md", "blog.md", "docs/v1.md"]
    assert result.meta.search_strategy.reranker == "weighted_sum"
    top = result.primary[0]
    assert top.score == pytest.approx(sum(factor.value for factor in top.factors))
    assert {"vector", "keyword", "active"} <= {factor.name for factor in top.factors}


@pytest.mark.requirement("002-08")
def test_documents_are_capped_after_the_second_look(tmp_path: Path) -> None:
    """Three chunks of one document at most, by default."""
    bench = Bench(
        tmp_path, [Source("a.md", ["garnet"] * 6, [[1.0]] * 6), Source("b.md", ["garnet straw"], [[0.9, 0.1]])]
    )
    shown = paths(bench.search(ALL, SUM))
    bench.close()
    assert shown.count("a.md") == 3
    assert "b.md" in shown
