"""The same search on servers: what the embedded stores find, Qdrant and Neo4j find."""

import pytest

from graphrag_mcp.app import App
from graphrag_mcp.model import Scope, SearchRequest
from tests.servers.conftest import QUERIES, Place

pytestmark = pytest.mark.server
EMBEDDED = {"qdrant_url": "", "neo4j_uri": ""}


def _top(app: App, query: str) -> list[tuple[str, int]]:
    hits = app.search(SearchRequest(query, limit=10)).primary
    return [(hit.chunk.path, hit.chunk.start_line) for hit in hits]


def test_the_top_ten_is_the_same(copied: App, place: Place) -> None:
    """003-26: dense identical, keywords overlap by 0.8, the whole search by 0.9."""
    embedded = place.app(**EMBEDDED)
    overlaps: dict[str, list[float]] = {"vector": [], "keyword": [], "whole": []}
    for query in QUERIES:
        here, there = embedded.search(SearchRequest(query, limit=10)), copied.search(SearchRequest(query, limit=10))
        assert here.meta.unavailable == there.meta.unavailable == {}
        overlaps["whole"].append(_overlap(_top(embedded, query), _top(copied, query)))
        stores = [app._stores() for app in (embedded, copied)]
        terms = query.lower().split()
        for name, ask in {
            "vector": lambda one: one.vectors.search(one.embedder.embed_query(query), 10, Scope()),
            "keyword": lambda one: one.keywords.search(terms, 10, Scope()),
        }.items():
            lists = [[hit.chunk_id for hit in ask(one)] for one in stores]
            overlaps[name].append(_overlap(*lists))
    embedded.close()
    means = {name: sum(values) / len(values) for name, values in overlaps.items()}
    print(means)
    assert means["vector"] == 1.0
    assert means["keyword"] >= 0.8
    assert means["whole"] >= 0.9


def test_a_machine_without_an_index_finds_the_same(copied: App, place: Place) -> None:
    """`serve --remote`: the servers alone give the hits, texts and neighbours that the index gives."""
    remote = place.remote()
    overlaps = []
    for query in QUERIES:
        here, there = copied.search(SearchRequest(query, limit=10)), remote.search(SearchRequest(query, limit=10))
        assert there.meta.unavailable == {}
        texts = [[hit.chunk.text for hit in result.primary] for result in (here, there)]
        overlaps.append(_overlap(*texts))
    assert remote.status().files >= 0.95 * copied.status().files  # A file without text has no points.
    remote.close()
    assert sum(overlaps) / len(overlaps) >= 0.95


def _overlap(one: list[object], other: list[object]) -> float:
    return len(set(one) & set(other)) / max(len(set(one)), len(set(other)), 1)
