"""The same search on servers: what the embedded stores find, Qdrant and Neo4j find."""

from collections.abc import Iterator, Sequence
from contextlib import closing

import pytest
from qdrant_client import QdrantClient

from graphrag_mcp.app.local import App
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import SearchRequest, SearchResult
from tests.servers.conftest import QUERIES, Place, place_in, search_in_memory
from tests.servers.neo4j_server import Neo4jServer

pytestmark = pytest.mark.server
EMBEDDED = {"qdrant_url": "", "neo4j_uri": ""}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, neo4j_server: Neo4jServer) -> Place:
    """The package's own sources."""
    return place_in(tmp_path_factory.mktemp("parity"), neo4j_server)


@pytest.fixture(scope="module")
def copied(place: Place, qdrant: QdrantClient) -> Iterator[App]:
    """They are indexed and on both servers."""
    with pytest.MonkeyPatch.context() as patch, closing(place.app()) as app:
        search_in_memory(qdrant, patch)
        app.index()
        assert [report.problem for report in app.sync()] == ["", ""]
        yield app


def _places(result: SearchResult) -> list[tuple[str, int]]:
    return [(hit.chunk.path, hit.chunk.start_line) for hit in result.primary]


@pytest.mark.requirement("003-26")
def test_the_top_ten_is_the_same(copied: App, place: Place) -> None:
    """Dense identical, keywords overlap by 0.8, the whole search by 0.9."""
    embedded = place.app(**EMBEDDED)
    overlaps: dict[str, list[float]] = {"vector": [], "keyword": [], "whole": []}
    for query in QUERIES:
        here, there = embedded.search(SearchRequest(query, limit=10)), copied.search(SearchRequest(query, limit=10))
        assert here.meta.unavailable == there.meta.unavailable == {}
        overlaps["whole"].append(_overlap(_places(here), _places(there)))
        lists: dict[str, list[list[int]]] = {"vector": [], "keyword": []}
        for stores in (embedded.stores(), copied.stores()):
            assert stores.vectors is not None and stores.embedder is not None
            vectors = stores.vectors.search(stores.embedder.embed_query(query), 10, Scope())
            keywords = stores.keywords.search(query.lower().split(), 10, Scope())
            lists["vector"].append([one.chunk_id for one in vectors])
            lists["keyword"].append([one.chunk_id for one in keywords])
        for name, (one, other) in lists.items():
            overlaps[name].append(_overlap(one, other))
    embedded.close()
    means = {name: sum(values) / len(values) for name, values in overlaps.items()}
    assert means["vector"] == 1.0
    assert means["keyword"] >= 0.8
    assert means["whole"] >= 0.9


def test_a_machine_without_an_index_finds_the_same(copied: App, place: Place) -> None:
    """`serve --remote`: the servers alone give nine of the ten files that the index beside them gives.

    Without an index nobody can say which of a file's functions do what is asked, so its chunks may be others.
    """
    remote = place.remote()
    overlaps = []
    for query in QUERIES:
        here, there = copied.search(SearchRequest(query, limit=10)), remote.search(SearchRequest(query, limit=10))
        assert there.meta.unavailable == {}
        files = [[hit.chunk.path for hit in result.primary] for result in (here, there)]
        overlaps.append(_overlap(*files))
    assert remote.status().files >= 0.95 * copied.status().files  # A file without text has no points.
    remote.close()
    # Without an index nobody knows which terms are common, so the sparse list has them all.
    assert sum(overlaps) / len(overlaps) >= 0.9


def _overlap(one: Sequence[object], other: Sequence[object]) -> float:
    return len(set(one) & set(other)) / max(len(set(one)), len(set(other)), 1)
