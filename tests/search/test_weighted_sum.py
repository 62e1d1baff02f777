"""The linear reranker: each term, its weight, and who stays below whom."""

from collections.abc import Mapping
from typing import Any

import pytest

from graphrag_mcp.model.files import (
    NO_FACTS,
    ArchiveClass,
    Category,
    DocumentFacts,
    DocumentStatus,
    Symbol,
    SymbolKind,
)
from graphrag_mcp.model.search import ListSource, Ranked, StoredFile, SymbolMatch
from graphrag_mcp.search.query.understand import understand
from graphrag_mcp.search.ranking.fusion import Fused, RankedList, normalised
from graphrag_mcp.search.ranking.reranking import WeightedSum, clipped
from graphrag_mcp.search.ranking.scored import Candidates, FileScore, Scored
from graphrag_mcp.search.retrieval import Retrieved
from graphrag_mcp.settings import RetrievalSettings
from tests.fakes import make_chunk

NOW = 1_800_000_000.0
WEIGHTS = {
    "vector": 0.55,
    "keyword": 0.25,
    "heading": 0.05,
    "tag_overlap": 0.05,
    "preamble": 0.05,
    "recency": 0.02,
    "status": 0.02,
    "mention_boost": 0.50,
}


def _candidates(vector: Mapping[int, float], keyword: Mapping[int, float], named: bool = False) -> Candidates:
    """Return candidates with these scores by chunk id. named: whether the query names chunk 1."""
    lists = [
        RankedList(source, [Ranked(*item) for item in scores.items()])
        for source, scores in ((ListSource.VECTOR, vector), (ListSource.KEYWORD, keyword))
    ]
    match = SymbolMatch(1, "docs/a.md", Symbol("tokens", "tokens", SymbolKind.SECTION, 1, 2))
    return Candidates([], {}, retrieved=Retrieved(definitions=[match] if named else []), lists=lists)


_CANDIDATES = _candidates({1: 0.8}, {1: 5.0, 2: 10.0})


def _terms(
    facts: DocumentFacts = NO_FACTS,
    archive: ArchiveClass | None = None,
    query: str = "session tokens",
    candidates: Candidates = _CANDIDATES,
    settings: RetrievalSettings | None = None,
    **chunk: Any,
) -> dict[str, float]:
    file = StoredFile(1, "docs/a.md", Category.DOCUMENTATION, archive, NOW, facts)
    weigh = WeightedSum(understand(query), candidates, settings or RetrievalSettings(), NOW)
    found = weigh.terms(make_chunk(**{"path": "docs/a.md", "start": 10, "symbol": ""} | chunk), file)
    return {term.name: term.value for term in found}


@pytest.mark.requirement("002-02", "002-03", "002-05", "002-21")
@pytest.mark.parametrize("name", WEIGHTS)
def test_every_weight_is_a_setting_with_the_seeds_default(name: str) -> None:
    """A knob for each term, by our name; the designs' names are in `test_settings.py`."""
    assert RetrievalSettings().rerank_weights[name] == WEIGHTS[name]


@pytest.mark.requirement("002-02", "002-03", "B-17")
def test_the_terms_are_signals_from_0_to_1_times_their_weights() -> None:
    """Cosine, share of the best BM25, headings, tags, preamble, recency, status."""
    facts = DocumentFacts(status=DocumentStatus.ACTIVE, tags=("session",), priority=100)
    terms = _terms(facts, enclosing=("Tokens", "Session tokens"), start=1, chunk_id=1)
    assert terms == pytest.approx(
        {
            "vector": 0.55 * 0.8,
            "keyword": 0.25 * 0.5,
            "heading": 0.05,
            "tags": 0.05 * 0.5,
            "preamble": 0.05,
            "recency": 0.02,
            "active": 0.02,
            "priority": 0.1,
        }
    )


@pytest.mark.requirement("002-03", "K-20")
def test_what_the_query_names_is_mentioned() -> None:
    """A definition or a path that the query says literally."""
    assert _terms(candidates=_candidates({}, {}, named=True))["mention"] == 0.5
    assert _terms(query="what is in docs/a.md")["mention"] == 0.5
    assert "mention" not in _terms()


@pytest.mark.requirement("002-04", "002-06", "K-03")
@pytest.mark.parametrize(
    ("facts", "penalty"),
    [
        (DocumentFacts(status=DocumentStatus.SUPERSEDED), 0.4),
        (DocumentFacts(status=DocumentStatus.DEPRECATED), 0.4),
        (DocumentFacts(status=DocumentStatus.ARCHIVED), 0.6),
    ],
)
def test_a_status_is_subtracted(facts: DocumentFacts, penalty: float) -> None:
    """Additive here, and only here."""
    assert _terms(facts)["status"] == -penalty
    assert _terms(DocumentFacts(type="auto"))["auto tier"] == -0.02
    assert _terms(archive=ArchiveClass("archive/", 0.5))["status"] == -0.6


@pytest.mark.requirement("002-22", "B-18", "B-21")
def test_no_mention_lifts_the_superseded_above_its_successor() -> None:
    """The mention of a document with a penalty gives at most what the penalty takes."""
    named = _candidates({1: 0.7}, {}, named=True)
    old = _terms(DocumentFacts(status=DocumentStatus.SUPERSEDED), candidates=named)
    new = _terms(DocumentFacts(status=DocumentStatus.ACTIVE), candidates=_candidates({1: 0.7}, {}))
    assert sum(old.values()) < sum(new.values())
    assert old["mention"] == 0.4


@pytest.mark.requirement("002-07", "B-19")
def test_cosines_may_be_stretched_first() -> None:
    """Min-max over the candidates; one alone, or all alike, is 1."""
    assert normalised({1: 0.2, 2: 0.6, 3: 0.4}) == pytest.approx({1: 0.0, 2: 1.0, 3: 0.5})
    assert normalised({1: 0.3}) == {1: 1.0}
    assert normalised({}) == {}
    assert clipped({1: -0.5, 2: 1.7, 3: 0.4}) == {1: 0.0, 2: 1.0, 3: 0.4}
    stretched = RetrievalSettings(rerank_normalize_scores=True)
    assert _terms(candidates=_candidates({1: 0.8, 2: 0.9}, {}), settings=stretched).get("vector", 0.0) == 0.0


@pytest.mark.requirement("002-25")
def test_the_score_is_the_sum() -> None:
    """Auditable by hand."""
    weigh = WeightedSum(understand("x"), _candidates({1: 0.5}, {}), RetrievalSettings(), NOW)
    scored = Scored(0.9, Fused(1, 0.9, {}), FileScore(StoredFile(1, "a", Category.OTHER)))
    rescored = weigh.rescore(scored, make_chunk(chunk_id=1))
    assert rescored.terms
    assert rescored.score == pytest.approx(sum(term.value for term in rescored.terms))
