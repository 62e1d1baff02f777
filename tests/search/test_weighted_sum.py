"""The linear reranker: each term, its weight, and who stays below whom."""

from typing import Any

import pytest

from graphrag_mcp.model.files import NO_FACTS, ArchiveClass, Category, DocumentFacts, DocumentStatus
from graphrag_mcp.model.search import StoredFile
from graphrag_mcp.search.query.understand import understand
from graphrag_mcp.search.ranking.weighted_sum import Scores, WeightedSum, clipped, normalised, total
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

_SCORES = Scores({1: 0.8}, {1: 5.0, 2: 10.0})


def _terms(
    facts: DocumentFacts = NO_FACTS,
    archive: ArchiveClass | None = None,
    query: str = "session tokens",
    scores: Scores = _SCORES,
    settings: RetrievalSettings | None = None,
    **chunk: Any,
) -> dict[str, float]:
    file = StoredFile(1, "docs/a.md", Category.DOCUMENTATION, archive, NOW, facts)
    weigh = WeightedSum(understand(query), scores, settings or RetrievalSettings(), NOW)
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
    assert _terms(scores=Scores(named=frozenset({1})))["mention"] == 0.5
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
    named = Scores({1: 0.7}, named=frozenset({1}))
    old = _terms(DocumentFacts(status=DocumentStatus.SUPERSEDED), scores=named)
    new = _terms(DocumentFacts(status=DocumentStatus.ACTIVE), scores=Scores({1: 0.7}))
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
    assert _terms(scores=Scores({1: 0.8, 2: 0.9}), settings=stretched).get("vector", 0.0) == 0.0


@pytest.mark.requirement("002-25")
def test_the_score_is_the_sum() -> None:
    """Auditable by hand."""
    weigh = WeightedSum(understand("x"), Scores({1: 0.5}), RetrievalSettings(), NOW)
    terms = weigh.terms(make_chunk(), StoredFile(1, "a", Category.OTHER))
    assert total(terms) == pytest.approx(sum(term.value for term in terms))
