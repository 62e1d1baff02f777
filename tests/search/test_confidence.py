"""Whether anything matches a query well: the judgement alone, and over the golden corpus."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.model.files import Symbol, SymbolKind
from graphrag_mcp.model.reports import IndexPhase, IndexState
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import Frequencies, Ranked, SearchMeta, SearchRequest, SymbolMatch
from graphrag_mcp.search.confidence import (
    LOW,
    MIN_CHUNKS,
    NO_JUDGEMENT,
    UNSURE,
    Judgement,
    Signals,
    best_of,
    confidence,
    judge,
    judge_together,
    missing_names,
    missing_words,
    read_signals,
)
from graphrag_mcp.search.orchestrator import SearchOrchestrator
from graphrag_mcp.search.query.understand import understand
from graphrag_mcp.search.retrieval import Retrieved
from graphrag_mcp.settings import load_settings
from graphrag_mcp.tools.search_text import render
from tests.golden.golden import Golden

MANY = 1_000
READY = IndexState(IndexPhase.READY)

# Answered, and called unanswered all the same: abbreviations that nothing spells out, and a question about the whole.
KNOWN_DOUBTS = {
    "which programs does the system consist of and in which languages are they written",
    "order repo",
    "tx rollback",
}

UNANSWERABLE = [
    "kubernetes autoscaler leader election",
    "how to bake sourdough bread with a starter",
    "convolutional neural network training loop with dropout",
    "bluetooth low energy pairing on android",
    "chess engine alpha beta pruning transposition table",
    "genome sequence alignment scoring matrix",
    "video transcoding with ffmpeg hardware acceleration",
    "blorptang frobnicate wizzlecrank",
    "asdf qwer zxcv uiop",
    "TensorShapeInference",
    "quantum circuit transpiler qubit mapping",
    "raytracing shader for soft shadows",
]


class CountingKeywords:
    """A keyword index that knows frequencies and nothing else."""

    remote = False

    def __init__(self, counts: dict[str, int] | None, chunks: int = MANY) -> None:
        self._counts = counts
        self._chunks = chunks

    def search(self, terms: Sequence[str], limit: int, scope: Scope) -> list[Ranked]:
        return []

    def frequencies(self, terms: Sequence[str]) -> Frequencies | None:
        if self._counts is None:
            return None
        return Frequencies({term: self._counts.get(term, 0) for term in terms}, self._chunks)


def found(cosine: float = 0.1, score: float = 1.0) -> Retrieved:
    return Retrieved(vector=[Ranked(1, cosine), Ranked(2, cosine / 2)], keyword=[Ranked(1, score)])


# ---------------------------------------------------------------- the judgement alone


def test_each_signal_raises_the_confidence() -> None:
    """More of anything that agrees can only make it surer."""
    least = Signals(cosine=0.2, share=0.3, terms=4)
    for better in (replace(least, cosine=0.4), replace(least, share=0.5), replace(least, terms=9)):
        assert confidence(better) > confidence(least)
    assert confidence(replace(least, rare=0.5)) < confidence(least)


def test_words_that_hardly_any_chunk_has_lower_the_confidence() -> None:
    """What a question is about is often its rarest word; those of a relation are of the question alone."""
    common = {"where": MANY, "connection": 40, "reset": 30, "widget": 50, "implement": 50}
    signals = read_signals(found(), Frequencies(common | {"teleport": 2}, MANY))
    assert signals is not None and 0.2 < signals.rare < 0.4
    assert read_signals(found(), Frequencies(common | {"teleport": 3}, MANY)) == replace(signals, rare=0.0)
    relation, words = understand("which classes implement Widget"), understand("where are widgets implemented twice")
    assert relation.relations and not words.relations
    counts = CountingKeywords({"widget": 50})
    doubted, surer = (judge(query, found(0.6, 6.0), (), counts).confidence or 0 for query in (words, relation))
    assert surer > doubted + 0.1


def test_extremes_stay_between_zero_and_one() -> None:
    """Nothing in common is next to certain, and so is a perfect match."""
    assert 0 <= confidence(Signals(-1.0, 0.0, 1)) < LOW < 0.99 < confidence(Signals(1.0, 5.0, 64)) <= 1


def test_what_the_query_names_is_always_there() -> None:
    """A definition or a path that exists is an answer, whatever the lists say."""
    assert confidence(Signals(0.0, 0.0, 1, is_named=True)) == 1.0


def test_a_definition_found_is_never_doubted() -> None:
    """An exact name is never hidden behind the remark that nothing matches."""
    match = SymbolMatch(7, "a.py", Symbol("openSession", "openSession", SymbolKind.FUNCTION, 1, 2))
    weak = found(cosine=0.0, score=0.0)
    query = understand("openSession")
    assert judge(query, weak, (), CountingKeywords({})).is_low
    assert not judge(query, replace(weak, definitions=[match]), (), CountingKeywords({})).is_low


@pytest.mark.parametrize("store", ["vector", "keyword"])
def test_without_one_of_the_lists_nothing_is_judged(store: str) -> None:
    """What was not searched may match."""
    assert judge(understand("kubernetes operator"), found(), {store: "down"}, CountingKeywords({})).confidence is None


def test_without_frequencies_nothing_is_judged() -> None:
    """A server does not say how rare a word is."""
    assert judge(understand("kubernetes operator"), found(), (), CountingKeywords(None)).confidence is None


def test_a_handful_of_chunks_says_nothing() -> None:
    """In a tiny index every word is common or absent."""
    query = understand("kubernetes operator")
    assert judge(query, found(), (), CountingKeywords({}, MIN_CHUNKS - 1)).confidence is None
    assert judge(query, found(), (), CountingKeywords({}, MIN_CHUNKS)).is_low


def test_words_that_are_everywhere_say_nothing() -> None:
    """Their weight is nothing, and a share of nothing would be anything."""
    assert read_signals(found(), Frequencies({"self": MANY, "return": MANY}, MANY)) is None


def test_a_query_without_words_is_not_judged() -> None:
    """Punctuation has no terms."""
    assert judge(understand("?!...;"), found(), (), CountingKeywords({})).confidence is None


def test_lists_that_are_empty_count_as_nothing_in_common() -> None:
    """A query of which the model knows no word is near to nothing."""
    assert judge(understand("blorptang wizzle"), Retrieved(), (), CountingKeywords({})).is_low


def test_missing_words_are_named_as_the_query_says_them() -> None:
    """Not their stems, not the words of the question, and not a name all of whose parts occur."""
    query = understand("where are the Autoscalers of kubernetesPods and podSets elected")
    counts = Frequencies(dict.fromkeys(query.terms, 0) | {"pod": 3, "set": 9}, MANY)
    assert missing_words(query, counts) == ("Autoscalers", "kubernetesPods", "elected")


@pytest.mark.parametrize(
    ("text", "indexed", "missing"),
    [
        ("how does RedisBackend reconnect", {"redi", "backend"}, ("RedisBackend",)),
        ("how does retry_count grow", {"retri"}, ("retry_count",)),
        ("where is the topic of Kafka read", {"topic"}, ("Kafka",)),
        ("where is an XPath evaluated", {"path"}, ("XPath",)),
        ("Reconnects take too long", set(), ()),  # The first word of a sentence is no name.
        ("how is a reconnect counted", set(), ()),
    ],
)
def test_a_name_that_occurs_nowhere_is_told_in_any_answer(text: str, indexed: set[str], missing: tuple[str]) -> None:
    """What is found then is about something else; another word may only be said differently in the code."""
    query = understand(text)
    counts = Frequencies({term: int(term in indexed) for term in query.terms}, MANY)
    assert missing_names(query, found(), counts) == missing


def test_phrasings_are_judged_as_most_of_them_are() -> None:
    """A guess that happens to match does not make a question about something else sure, and its words are not asked."""
    question, guess = Judgement(0.2, ("checksum",)), Judgement(0.9, ("mismatch",))
    assert judge_together([question, guess, Judgement(0.3)]) == Judgement(0.3, ("checksum",))
    assert judge_together([question, Judgement(0.01), guess]).is_weak
    assert not judge_together([Judgement(0.02), Judgement(0.01), guess]).is_low
    assert judge_together([question, NO_JUDGEMENT]).confidence is None
    assert best_of([question, guess]) == Judgement(0.9, ("checksum", "mismatch"))


def test_a_name_that_is_defined_in_another_style_is_not_missing() -> None:
    """`retryCount` is `retry_count`."""
    query = understand("how does retry_count grow")
    match = SymbolMatch(1, "a.py", Symbol("retryCount", "retryCount", SymbolKind.FUNCTION, 1, 2))
    counts = Frequencies(dict.fromkeys(query.terms, 0), MANY)
    assert missing_names(query, replace(found(), definitions=(match,)), counts) == ()


# ---------------------------------------------------------------- over a real index


def _meta(app: App, query: str, scope: Scope | None = None) -> SearchMeta:
    return app.search(SearchRequest(query, scope=scope or Scope())).meta


@pytest.mark.parametrize("query", UNANSWERABLE)
def test_what_the_project_has_nothing_about_is_called_so(golden: Golden, query: str) -> None:
    """A warehouse program has no kubernetes."""
    meta = _meta(golden.app, query)
    assert meta.nothing_matches
    assert meta.confidence is not None


def test_what_the_project_answers_is_not_doubted(golden: Golden) -> None:
    """Of the golden queries whose answer is shown, none is called unanswered beside those that are known."""
    doubted, answered = set[str](), 0
    for query in golden.queries:
        result = golden.app.search(SearchRequest(query.judged.query, scope=Scope(exclude_archived=False)))
        if query.judged.relevant & {hit.chunk.path for hit in result.primary}:
            answered += 1
            doubted |= {query.judged.query} if result.meta.nothing_matches else set()
    assert answered > 100
    assert doubted <= KNOWN_DOUBTS


@pytest.mark.parametrize("query", ["verify_token", "OrderService.cancel_order", "stockroom/db/pool.py"])
def test_names_and_paths_that_exist_are_certain(golden: Golden, query: str) -> None:
    """Exact queries are never hidden."""
    assert _meta(golden.app, query).confidence == 1.0


def test_a_word_that_occurs_nowhere_is_named(golden: Golden) -> None:
    """The reader learns which word was in vain."""
    assert "kubernetes" in _meta(golden.app, "kubernetes autoscaler leader election").missing_words


def test_the_answer_begins_with_it_and_shows_no_code(golden: Golden) -> None:
    """The agent reads a few lines in the place of five chunks."""
    text = render(golden.app.search(SearchRequest("kubernetes autoscaler leader election")), 6000)
    assert text.startswith('Nothing matches well (not indexed anywhere: "kubernetes", "autoscaler"')
    assert "```" not in text
    assert len(text.splitlines()) <= 10


def test_the_judgement_changes_no_result(golden: Golden, tmp_path: Path) -> None:
    """It speaks about the results and leaves them alone; switched off, it says nothing."""
    off = load_settings(tmp_path, {"GRAPHRAG_JUDGE_CONFIDENCE": "false"}).retrieval
    orchestrator = SearchOrchestrator(off)
    request = SearchRequest("kubernetes autoscaler leader election")
    silent = orchestrator.search(request, golden.app.stores(), READY)
    judged = golden.app.search(request)
    assert [hit.chunk.chunk_id for hit in silent.primary] == [hit.chunk.chunk_id for hit in judged.primary]
    assert silent.meta.confidence is None
    assert not silent.meta.nothing_matches
    orchestrator.close()


def test_an_index_that_is_not_complete_is_not_judged(golden: Golden) -> None:
    """The answer may be in what is still missing."""
    orchestrator = SearchOrchestrator(golden.app.settings.retrieval)
    request = SearchRequest("kubernetes autoscaler leader election")
    assert orchestrator.search(request, golden.app.stores(), IndexState(IndexPhase.BUILDING)).meta.confidence is None
    orchestrator.close()


def test_cosines_of_another_model_are_not_judged(golden: Golden) -> None:
    """The coefficients hold for the model in the package."""
    stores = replace(golden.app.stores(), has_calibrated_cosines=False)
    orchestrator = SearchOrchestrator(golden.app.settings.retrieval)
    assert orchestrator.search(SearchRequest(UNANSWERABLE[0]), stores, READY).meta.confidence is None
    orchestrator.close()


@pytest.mark.parametrize(
    ("text", "is_weak"), [("where is the topic of Kafka read", True), ("where is the topic read", False)]
)
def test_a_proper_name_that_occurs_nowhere_makes_a_match_weak(text: str, is_weak: bool) -> None:
    """However well the other words match."""
    query = understand(text)
    keywords = CountingKeywords({"topic": 60, "read": 60})
    judged = judge(query, found(cosine=0.9, score=9.0), (), keywords)
    assert (judged.confidence or 0) > UNSURE
    assert judged.is_weak == is_weak
