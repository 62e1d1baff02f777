"""What stands beside the results: related code, rejected approaches, and the next best."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from graphrag_mcp.model.files import (
    Category,
    DocumentFacts,
    DocumentStatus,
    Relation,
    RelationKind,
    Resolution,
    Symbol,
    SymbolKind,
)
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import SearchRequest
from tests.contracts.conftest import Source
from tests.search.stores import NO_DEDUP, Bench, garnets, paths


def _proposal(name: str, near: float, status: DocumentStatus = DocumentStatus.REJECTED) -> Source:
    vector = [near, (1 - near**2) ** 0.5]
    facts = DocumentFacts(title=name, status=status)
    return Source(f"docs/{name}.md", ["idea", "more"], [vector, vector], Category.DOCUMENTATION, facts=facts)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """Code that matches, and proposals that were rejected, more and less near to every query."""
    proposals = [_proposal(f"near{number}", 0.9 - number / 10) for number in range(4)]
    others = [_proposal("far", 0.3), _proposal("accepted", 0.95, DocumentStatus.ACTIVE)]
    bench = Bench(tmp_path, [*garnets(8), *proposals, *others])
    yield bench
    bench.close()


@pytest.mark.requirement("002-13", "002-14", "002-24")
def test_rejected_approaches_have_their_own_block(bench: Bench) -> None:
    """The beginnings of three, nearest first, apart from the results and not counted."""
    result = bench.search(SearchRequest("garnet", limit=5))
    assert [hit.chunk.path for hit in result.rejected] == ["docs/near0.md", "docs/near1.md", "docs/near2.md"]
    assert {hit.origin for hit in result.rejected} == {"rejected"}
    assert {hit.chunk.start_line for hit in result.rejected} == {1}
    assert len(result.primary) == 5
    assert result.meta.retrieval_stats.rejected_count == 3
    assert result.meta.search_strategy.rejected_injection_enabled


@pytest.mark.requirement("002-14")
@pytest.mark.parametrize(
    ("update", "expected"),
    [
        ({"rejected_injection_max_docs": 1}, 1),
        ({"rejected_injection_max_docs": 0}, 0),
        ({"rejected_min_similarity": 0.85}, 1),
        ({"rejected_injection_max_docs": 10, "rejected_min_similarity": 0.2}, 5),
    ],
)
def test_how_many_and_how_near_are_settings(bench: Bench, update: dict[str, object], expected: int) -> None:
    """Three of 0.40 and more by default."""
    settings = msgspec.structs.replace(NO_DEDUP, **update)
    assert len(bench.search(SearchRequest("garnet", limit=5), settings).rejected) == expected


@pytest.mark.requirement("003-26", "B-22")
def test_what_is_excluded_is_in_no_block(bench: Bench) -> None:
    """The scope covers the rejected too."""
    scope = Scope(categories=frozenset({Category.IMPLEMENTATION}))
    assert bench.search(SearchRequest("garnet", scope=scope)).rejected == ()


@pytest.mark.requirement("002-15", "K-20")
def test_without_such_documents_it_is_a_plain_search(tmp_path: Path) -> None:
    """Empty blocks, no error, and the same results."""
    bench = Bench(tmp_path, garnets(8))
    result = bench.search(SearchRequest("garnet", limit=5))
    bench.close()
    assert (result.rejected, result.expanded, result.meta.unavailable) == ((), (), {})
    assert len(result.primary) == 5


@pytest.mark.requirement("002-16", "002-17", "002-19")
def test_the_next_best_are_named(bench: Bench) -> None:
    """The places after the limit up to the tenth, and the counts of everything."""
    result = bench.search(SearchRequest("garnet", limit=5))
    everything = paths(bench.search(SearchRequest("garnet", limit=10)))
    assert [hit.chunk.path for hit in result.runner_up] == everything[5:10]
    stats = result.meta.retrieval_stats
    assert (stats.primary_count, stats.runner_up_count) == (5, len(everything) - 5)
    assert stats.candidates_pre_threshold == stats.candidates_post_threshold > 8
    assert stats.max_score_used == max(hit.fused_score for hit in result.primary)
    assert bench.search(SearchRequest("garnet", min_score=0.99)).meta.retrieval_stats.min_score_used == 0.99
    assert result.meta.compression.final_count == 5


@pytest.mark.requirement("002-18")
def test_the_strategy_is_told(bench: Bench) -> None:
    """What ran, and which filters applied."""
    strategy = bench.search(SearchRequest("garnet", scope=Scope(languages=frozenset({"python"})))).meta.search_strategy
    assert (strategy.semantic_enabled, strategy.fts_enabled, strategy.graph_expansion_enabled) == (True, True, True)
    assert strategy.filters_applied == ("exclude_archived", "languages")
    alone = bench.search(SearchRequest("garnet"), msgspec.structs.replace(NO_DEDUP, fusion_algorithm="semantic_only"))
    assert (alone.meta.search_strategy.fusion_method, alone.meta.search_strategy.fts_enabled) == (
        "semantic_only",
        False,
    )


def _function(name: str) -> Symbol:
    return Symbol(name, name, SymbolKind.FUNCTION, 1, 9)


@pytest.mark.requirement("002-11", "002-12", "002-13")
def test_expansion_keeps_to_the_allowed_relations(tmp_path: Path) -> None:
    """An allow-list of edges, a cap on the nodes, and the origin on each."""
    calls = [
        Relation(RelationKind.CALLS, "run", "help", 2, 1.0, Resolution.UNRESOLVED),
        Relation(RelationKind.INHERITS, "run", "parent", 3, 1.0, Resolution.UNRESOLVED),
    ]
    bench = Bench(
        tmp_path,
        [
            Source("a.py", ["garnet"], [[1.0]], symbols=(_function("run"),), relations=tuple(calls)),
            Source("b.py", ["hay"], [[0.0, 1.0]], symbols=(_function("help"),)),
            Source("c.py", ["hay"], [[0.0, 1.0]], symbols=(replace(_function("parent"), kind=SymbolKind.TYPE),)),
        ],
    )

    def expanded(**update: object) -> list[str]:
        result = bench.search(SearchRequest("garnet", limit=1), msgspec.structs.replace(NO_DEDUP, **update))
        assert {one.origin for one in result.expanded} <= {"graph_expansion"}
        return sorted(one.chunk.path for one in result.expanded)

    found = [expanded(), expanded(graph_expansion_edge_types=("inherits",)), expanded(graph_expansion_max_nodes=0)]
    bench.close()
    assert found == [["b.py", "c.py"], ["c.py"], []]
