"""Judges whether anything matches a query well, so that an answer can say when nothing does.

A logistic regression on scores that the search computes in any case: confidence = 1 / (1 + e^-z), with

    z = INTERCEPT + COSINE · best cosine + SHARE · share + LENGTH · ln(number of terms)

where `share` is the best chunk's BM25 divided by the sum of the terms' weights (their idf): the part of the query that
one chunk contains. It falls with the length of a query; the last term compensates for that. Fitted by
`benchmarks/confidence.py` with the cosines of the model in this package; nothing is judged with another model.
"""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from graphrag_mcp.model.search import Frequencies, Ranked
from graphrag_mcp.ports import KeywordIndex
from graphrag_mcp.search.query.understand import Query
from graphrag_mcp.search.retrieval import Retrieved
from graphrag_mcp.stores.keywords import idf
from graphrag_mcp.text.words import identifier_parts, query_words

# Fitted on 17 repositories, with their own queries against those of others; figures in docs/ranking.md.
INTERCEPT = -11.7
COSINE = 9.3
SHARE = 7.5
LENGTH = 1.7
# Chosen on 293 questions in a user's words, to 24 repositories: below it are .086 of them, and .861 of 60 about
# something else; below .19, which 1.25 % of the answered queries of those 17 repositories do not reach, .167 and .933.
LOW = 0.10

# Of 83 everyday questions, .52 of those below it are answered in five results and .68 of the others; of 367
# descriptions of commits, the mean file NDCG is .52 below and .75 above. Six of 338 development queries lie below.
UNSURE = 0.8
# Of 120 questions of new users to nine repositories, 13 lie below it, five of them answered in five results; and nine
# of 18 about what these repositories do not have.
WEAK = 0.45

RARE = 10  # Chunks: rarer words get the same weight, or one unusual abbreviation would decide.
MIN_CHUNKS = 50  # With fewer, the frequency of a word proves nothing.
MIN_WEIGHT = 0.1  # Below this weight of all terms together, every term is in half of the chunks.
_PROPER = re.compile(r"(?<=[\w,] )[A-Z]\w+")  # Not the first word of a sentence.


@dataclass(frozen=True, slots=True)
class Judgement:
    """The probability that any chunk matches the query. confidence: 0 to 1; None where it could not be judged.

    missing: the words of the query, as written, that no chunk contains; only names, where it is sure that one matches.
    names_unknown: whether one of them is a proper name: the question may be of something that is not here.
    """

    confidence: float | None = None
    missing: tuple[str, ...] = ()
    names_unknown: bool = False

    @property
    def is_low(self) -> bool:
        """Return whether nothing matches well."""
        return self.confidence is not None and self.confidence < LOW

    @property
    def is_weak(self) -> bool:
        """Return whether what matches best may well be no answer."""
        return self.confidence is not None and (self.names_unknown or self.confidence < WEAK)

    @property
    def is_unsure(self) -> bool:
        """Return whether another phrasing may find more."""
        return self.confidence is not None and self.confidence < UNSURE


NO_JUDGEMENT = Judgement()


@dataclass(frozen=True, slots=True)
class Signals:
    """The inputs of the judgement; see the module. is_named: whether a definition, literal or path is named."""

    cosine: float
    share: float
    terms: int
    is_named: bool = False


def judge(query: Query, retrieved: Retrieved, unavailable: Collection[str], keywords: KeywordIndex) -> Judgement:
    """Return the probability that any chunk matches; NO_JUDGEMENT if a list or the frequencies are missing."""
    if "vector" in unavailable or "keyword" in unavailable:
        return NO_JUDGEMENT
    frequencies = keywords.frequencies(query.terms)
    signals = read_signals(retrieved, frequencies) if frequencies is not None else None
    if frequencies is None:
        return NO_JUDGEMENT
    if signals is None:
        return Judgement(missing=missing_words(query, frequencies))
    probability = confidence(signals)
    proper = proper_names(query, frequencies)
    names_unknown = not signals.is_named and any(len(identifier_parts(name)) == 1 for name in proper)
    if probability < UNSURE:
        return Judgement(probability, missing_words(query, frequencies), names_unknown)
    return Judgement(probability, missing_names(query, retrieved, frequencies), names_unknown)


def best_of(judgements: Sequence[Judgement]) -> Judgement:
    """Return the judgement of the question that matches best, with what all of them lack."""
    missing = dict.fromkeys(word for judgement in judgements for word in judgement.missing)
    return replace(max(judgements, key=_confidence_of), missing=tuple(missing))


def judge_together(phrasings: Sequence[Judgement]) -> Judgement:
    """Return the judgement of several phrasings of one question: of the first, with the median of their confidences.

    A guessed phrasing may match something else: by the best one, .39 of 88 questions about other projects were not
    weak, by the median .19, and all of 92 that are answered are not by both. One that matches well counts a third.
    """
    confidences = [judged.confidence for judged in phrasings if judged.confidence is not None]
    if len(confidences) < len(phrasings):
        return replace(phrasings[0], confidence=None)
    return replace(phrasings[0], confidence=max(median(confidences), max(confidences) / 3))


def _confidence_of(judgement: Judgement) -> float:
    """Return the confidence; what was not judged counts as matching."""
    return 1.0 if judgement.confidence is None else judgement.confidence


def read_signals(retrieved: Retrieved, frequencies: Frequencies) -> Signals | None:
    """Return the signals of a query; None where the index or the query is too small to judge."""
    if frequencies.chunks < MIN_CHUNKS:
        return None
    weight = sum(idf(max(count, RARE), frequencies.chunks) for count in frequencies.of_terms.values())
    if weight < MIN_WEIGHT:
        return None
    return Signals(
        cosine=_best(retrieved.vector),
        share=_best(retrieved.keyword) / weight,
        terms=len(frequencies.of_terms),
        is_named=bool(retrieved.definitions or retrieved.literals or retrieved.paths),
    )


def confidence(signals: Signals) -> float:
    """Return the probability that any chunk matches; 1 if the query names something that is indexed."""
    if signals.is_named:
        return 1.0
    z = INTERCEPT + COSINE * signals.cosine + SHARE * signals.share + LENGTH * math.log(signals.terms)
    return 1 / (1 + math.exp(-z))


def missing_words(query: Query, frequencies: Frequencies) -> tuple[str, ...]:
    """Return the words of the query, as written, none of whose terms is in the index."""
    counts = frequencies.of_terms
    words = dict.fromkeys(re.findall(r"\w+", query.title))
    terms_of = {word: [term for term in query_words(word) if term in counts] for word in words}
    return tuple(word for word, terms in terms_of.items() if terms and not _is_known(terms, counts))


def _is_known(terms: Sequence[str], counts: Mapping[str, int]) -> bool:
    """Return whether a word occurs, or all parts of it do: "OpenTelemetry" is no word of a project that opens files."""
    whole, *parts = terms
    return bool(counts[whole]) or (bool(parts) and all(counts[part] for part in parts))


def missing_names(query: Query, retrieved: Retrieved, frequencies: Frequencies) -> tuple[str, ...]:
    """Return the names in the query that are not in the index: of code in no style, and capitalised words."""
    defined = {match.symbol.name.lower() for match in retrieved.definitions}
    in_code = [
        symbol.name
        for symbol in query.symbols
        if frequencies.of_terms.get(symbol.name.lower()) == 0 and defined.isdisjoint(symbol.spellings)
    ]
    return tuple(dict.fromkeys((*in_code, *proper_names(query, frequencies))))


def proper_names(query: Query, frequencies: Frequencies) -> list[str]:
    """Return the capitalised words of the query, besides the first of a sentence, that are not in the index."""
    proper = set(_PROPER.findall(query.title))
    return [word for word in missing_words(query, frequencies) if word in proper]


def _best(scored: Sequence[Ranked]) -> float:
    return max((item.score for item in scored), default=0.0)
