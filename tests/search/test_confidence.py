"""Whether anything matches a query well: the judgement alone, and over the golden corpus."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from graphrag_mcp.app.local import App
from graphrag_mcp.model.files import Symbol, SymbolKind
from graphrag_mcp.model.reports import IndexPhase, IndexState
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import Frequencies, Ranked, SearchMeta, SearchRequest, SymbolMatch
from graphrag_mcp.search.confidence import (
    LOW,
    MIN_CHUNKS,
    NO_JUDGEMENT,
    SEEN,
    Judgement,
    Signals,
    best_of,
    confidence,
    judge,
    judge_together,
    known_frequencies,
    missing_names,
    missing_words,
    read_signals,
)
from graphrag_mcp.search.orchestrator import SearchOrchestrator
from graphrag_mcp.search.query.understand import understand
from graphrag_mcp.search.retrieval import Retrieved
from graphrag_mcp.settings import load_settings
from graphrag_mcp.tools.search_answer import render
from tests.golden.golden import Golden

MANY = 1_000
READY = IndexState(IndexPhase.READY)

# Answered, and called unanswered all the same: abbreviations that nothing spells out, and a question about the whole.
KNOWN_DOUBTS = {
    "which programs does the system consist of and in which languages are they written",
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


def test_a_near_chunk_raises_the_confidence_and_a_rare_word_lowers_it() -> None:
    """The two signals."""
    signals = Signals(cosine=0.3, rare=0.2)
    assert confidence(replace(signals, cosine=0.4)) > confidence(signals) > confidence(replace(signals, rare=0.4))


def test_words_that_hardly_any_chunk_has_lower_the_confidence() -> None:
    """What a question is about is often its rarest word; those of a relation are of the question alone."""
    query = understand("where are connections of widgets teleported")
    for count, rare in ((0, 1 / 4), (2, 1 / 12), (3, 0.0)):
        signals = read_signals(query, found(), Frequencies({"connect": 40, "widget": 50, "teleport": count}, MANY))
        assert signals is not None and signals.rare == pytest.approx(rare)
    relation, words = understand("which classes implement Widget"), understand("where are widgets implemented twice")
    assert relation.relations and not words.relations
    counts = CountingKeywords({"widget": 50})
    doubted, surer = (judge(query, found(0.4), (), counts).confidence or 0 for query in (words, relation))
    assert surer > doubted + 0.1


def test_where_no_chunk_of_the_scope_has_a_word_all_are_rare() -> None:
    """How often a word occurs is counted in the whole index."""
    query, counts = understand("where are widgets teleported"), CountingKeywords({"widget": 50, "teleport": 50})
    nearest = replace(found(0.2), keyword=())
    assert not judge(query, found(0.2), (), counts).is_low
    assert judge(query, nearest, (), counts).is_low


@pytest.mark.parametrize(
    ("word", "indexed"),
    [
        ("decide", ""),  # Everyday speech.
        ("biggest", "big"),
        ("expansion", "expand"),
        ("colours", "color"),
        ("subcommand", "command"),
        ("undeclared", "declar"),
        ("readable", "read"),
    ],
)
def test_a_word_that_says_nothing_or_is_derived_from_one_that_is_there_is_not_missing(word: str, indexed: str) -> None:
    """The index has the same in another form, or the word is said of anything."""
    query = understand(f"where does it {word} widgets")
    known = known_frequencies(query.terms, CountingKeywords({"widget": 50, indexed: 50}))
    assert known is not None and min(known.of_terms.values()) >= SEEN
    assert not missing_words(query, known)


def test_an_ordinary_word_counts_where_there_are_no_others() -> None:
    """A query of one word may be a name."""
    query = understand("decide")
    known = known_frequencies(query.terms, CountingKeywords({}))
    assert known is not None and missing_words(query, known) == ("decide",)


def test_extremes_stay_between_zero_and_one() -> None:
    """Nothing in common is next to certain, and so is a perfect match."""
    assert 0 <= confidence(Signals(-1.0, 1.0)) < LOW < 0.99 < confidence(Signals(1.0)) <= 1


def test_what_the_query_names_is_always_there() -> None:
    """A definition or a path that exists is an answer, whatever the lists say."""
    assert confidence(Signals(0.0, is_named=True)) == 1.0


def test_a_path_within_a_question_is_no_sign_that_it_exists() -> None:
    """Files are found by the words of a path; a path alone is what is looked for."""
    match = replace(found(0.0), paths=[Ranked(1, 1.0)])
    counts = CountingKeywords({})
    assert judge(understand("what becomes of a pointer such as /a/b/0"), match, (), counts).is_low
    assert judge(understand("src/pool.py"), match, (), counts).confidence == 1.0


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


def test_phrasings_are_judged_by_their_mean() -> None:
    """A guess that happens to match does not make a question about something else sure, and its words are not asked."""
    question, guess = Judgement(0.25, ("checksum",)), Judgement(0.75, ("mismatch",))
    assert judge_together([question, guess]) == Judgement(0.5, ("checksum",))
    assert judge_together([question, Judgement(0.0), guess]).is_weak
    assert not judge_together([Judgement(0.0), Judgement(0.0), guess]).is_low
    assert judge_together([question, NO_JUDGEMENT]).confidence is None
    assert best_of([question, guess]) == Judgement(0.75, ("checksum", "mismatch"))


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
