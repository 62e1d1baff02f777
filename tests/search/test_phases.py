"""The four phases of a search, each called on its own; scoring and selecting without any store."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import fields, replace

from graphrag_mcp.model.files import Category, Symbol, SymbolKind
from graphrag_mcp.model.search import (
    FusionMethod,
    ListSource,
    PhaseTimes,
    Ranked,
    SearchRequest,
    StoredFile,
    SymbolMatch,
)
from graphrag_mcp.search.enrich import rejected_approaches, related_code
from graphrag_mcp.search.gather import gather
from graphrag_mcp.search.query.understand import understand
from graphrag_mcp.search.ranking.fusion import RankedList, fuse
from graphrag_mcp.search.ranking.ranker import score_candidates
from graphrag_mcp.search.ranking.scored import Candidates
from graphrag_mcp.search.retrieval import ChunkAndVector, Lookups, Retrieved, Retriever
from graphrag_mcp.search.select import PLACES, select
from graphrag_mcp.settings import RetrievalSettings
from graphrag_mcp.tools.search_answer import search_payload
from tests.fakes import make_chunk
from tests.indexed import indexed
from tests.search.stores import NO_DEDUP, Bench, garnets, paths

SETTINGS = RetrievalSettings()
NOW = 1_800_000_000.0


def candidates(text: str, vector: Sequence[Ranked], keyword: Sequence[Ranked], **changes: object) -> Candidates:
    """Return candidates of which chunk 10·n is in file n, as if stores had returned them."""
    lists = [RankedList(ListSource.VECTOR, vector), RankedList(ListSource.KEYWORD, keyword)]
    fused = fuse(lists, FusionMethod.RELATIVE, SETTINGS, {})
    files = {
        one.chunk_id: StoredFile(one.chunk_id // 10, f"src/file_{one.chunk_id // 10}.py", Category.IMPLEMENTATION)
        for one in fused
    }
    retrieved = Candidates(fused, files, retrieved=Retrieved(vector, keyword), lists=lists)
    return replace(retrieved, **changes)  # type: ignore[arg-type]


def contents(count: int) -> Mapping[int, ChunkAndVector]:
    """Return the chunks that `candidates` numbers, each with a text of its own."""
    return {
        10 * number: (make_chunk(f"src/file_{number}.py", chunk_id=10 * number, text=f"text {number}"), None)
        for number in range(count)
    }


def test_scoring_needs_no_store() -> None:
    """What several lists propose comes first; the order is a function of what was gathered."""
    asked = "where is the basket stored"
    retrieved = candidates(asked, [Ranked(10, 0.9), Ranked(20, 0.8)], [Ranked(20, 9.0), Ranked(30, 2.0)])
    ranking = score_candidates(understand(asked), retrieved, SETTINGS, NOW)
    assert [scored.fused.chunk_id for scored in ranking] == [20, 10, 30]
    assert retrieved.method is FusionMethod.RELATIVE


def test_a_definition_that_the_query_names_is_scored_first_without_any_store() -> None:
    """What was gathered is a value: a definition found by name outweighs a better place in both lists."""
    match = SymbolMatch(20, "src/file_2.py", Symbol("Basket", "Basket", SymbolKind.TYPE, 1, 9))
    retrieved = candidates("Basket", [Ranked(10, 0.9), Ranked(20, 0.8)], [Ranked(10, 9.0), Ranked(20, 8.0)])
    plain = score_candidates(understand("Basket"), retrieved, SETTINGS, NOW)
    named = replace(retrieved, retrieved=Retrieved(definitions=[match]))
    lifted = score_candidates(understand("Basket"), named, SETTINGS, NOW)
    assert [one.fused.chunk_id for one in plain] == [10, 20]
    assert [one.fused.chunk_id for one in lifted] == [20, 10]


def test_the_best_document_has_the_third_place_when_a_question_asks_for_a_fact() -> None:
    """Its prior would hide it, though nothing matches better; the bonus that moves it explains its score."""
    vector = [Ranked(number, 1 - place / 100) for place, number in enumerate((60, 10, 20, 30, 40, 50))]
    shown = {}
    for asked in ("what is the default of the limit", "how is the limit applied"):
        retrieved = candidates(asked, vector, vector)
        document = replace(retrieved.files[60], path="docs/limits.md", category=Category.DOCUMENTATION)
        ranking = score_candidates(
            understand(asked), replace(retrieved, files={**retrieved.files, 60: document}), SETTINGS, NOW
        )
        scores = [scored.score for scored in ranking]
        assert scores == sorted(scores, reverse=True)
        shown[asked] = [scored.fused.chunk_id for scored in ranking]
    moved, unmoved = shown.values()
    assert moved[2] == 60
    assert unmoved.index(60) > 2


def test_selecting_reads_no_more_than_it_shows() -> None:
    """The hits are read in blocks; candidates behind the last that is needed are never read."""
    retrieved = candidates("text", [Ranked(10 * number, 1.0 - number / 100) for number in range(60)], [])
    request = SearchRequest("text", limit=5)
    ranking = score_candidates(understand("text"), retrieved, NO_DEDUP, NOW)
    stored, read = contents(60), list[int]()

    def read_contents(ids: Sequence[int]) -> Mapping[int, ChunkAndVector]:
        read.extend(ids)
        return {one: stored[one] for one in ids}

    selection = select([ranking], request, NO_DEDUP, read_contents, wants_definitions=True)
    assert [hit.chunk.chunk_id for hit in selection.hits] == [0, 10, 20, 30, 40]
    assert len(selection.hits) + len(selection.runners_up) == PLACES
    assert len(read) == PLACES + 2
    assert selection.stats.original_count == 60


def test_selecting_drops_a_copy_and_what_has_left_the_index() -> None:
    """Two chunks of one text are one hit, and a chunk that no longer exists is none."""
    retrieved = candidates("text", [Ranked(10 * number, 1.0 - number / 100) for number in range(4)], [])
    request = SearchRequest("text", limit=5)
    ranking = score_candidates(understand("text"), retrieved, SETTINGS, NOW)
    stored = dict(contents(4))
    stored[20] = (replace(stored[20][0], text="text 1"), None)
    del stored[30]
    selection = select(
        [ranking],
        request,
        SETTINGS,
        lambda ids: {one: stored[one] for one in ids if one in stored},
        wants_definitions=True,
    )
    assert [hit.chunk.chunk_id for hit in selection.hits] == [0, 10]
    assert (selection.stats.after_threshold, selection.stats.after_content_dedup) == (4, 3)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """Files that both lists find."""
    bench = Bench(tmp_path, garnets(12))
    yield bench
    bench.close()


def test_each_phase_can_be_called_alone(bench: Bench) -> None:
    """Put together by hand, the phases give what the orchestrator gives."""
    request = SearchRequest("garnet", limit=5)
    query, retriever = understand(request.query, NO_DEDUP), Retriever()
    lookups = Lookups(retriever, bench.stores)
    gathered = gather(query, request, 50, lookups, NO_DEDUP)
    ranking = score_candidates(query, gathered, NO_DEDUP, NOW)
    selection = select([ranking], request, NO_DEDUP, lookups.contents, wants_definitions=True)
    assert related_code(request, selection.hits, lookups, NO_DEDUP) == []
    assert rejected_approaches(request, set(), lookups, NO_DEDUP) == []
    assert lookups.unavailable == {}
    assert [hit.chunk.path for hit in selection.hits] == paths(bench.search(request))
    retriever.close()


def test_each_hop_halves_what_a_relation_contributes(tmp_path: Path) -> None:
    """The list of the graph has the callers of a definition that the question names, and their callers."""
    files = {"a.py": "def close():\n    pass\n", "b.py": "from a import close\ndef stop():\n    close()\n"}
    files["c.py"] = "from b import stop\ndef leave():\n    stop()\n"
    request = SearchRequest("what calls close()", max_hops=2)
    with indexed(tmp_path, files) as app, closing(Retriever()) as retriever, app.view() as view:
        lookups = Lookups(retriever, view.stores())
        gathered = gather(understand(request.query, SETTINGS), request, 50, lookups, SETTINGS)
    (graph,) = (ranked.items for ranked in gathered.lists if ranked.source is ListSource.GRAPH)
    assert [near.score for near in graph] == [graph[0].score, graph[0].score / 2]


def test_the_statistics_have_the_time_of_each_phase(bench: Bench) -> None:
    """The phases add up to the whole search, in the result and in its JSON form."""
    result = bench.search(SearchRequest("garnet", limit=5))
    times = {phase.name: getattr(result.meta.phases_ms, phase.name) for phase in fields(PhaseTimes)}
    assert list(times) == ["gather", "score", "select", "enrich"]
    assert all(time > 0 for time in times.values())
    assert sum(times.values()) == pytest.approx(result.meta.retrieval_ms, abs=0.01)
    assert search_payload(result)["meta"]["phases_ms"] == times
