"""Judges whether anything matches a query well, so that an answer can say when nothing does.

A logistic regression on scores that the search computes in any case: confidence = 1 / (1 + e^-z), with

    z = INTERCEPT + COSINE · best cosine + SHARE · share + LENGTH · ln(number of terms) + RARE · rare

where `share` is the best chunk's BM25 divided by the sum of the terms' weights (their idf): the part of the query that
one chunk contains. It falls with the length of a query; the next term compensates for that. `rare` is the part of the
weights that is of terms which hardly any chunk has. Fitted by `benchmarks/confidence.py` with the cosines of the model
in this package; with another, nothing is judged.
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
from graphrag_mcp.text.words import query_words

# Fitted on 17 repositories with their own queries against those of others, on 180 questions of users to 18 more, 36 of
# them about what these do not have, and on 177 "how" questions. LENGTH is that of the first set alone: users' questions
# are long, and short ones are no worse.
INTERCEPT = -8.6
COSINE = 11.29
SHARE = 2.45
LENGTH = 1.7
RARE = -2.79
# Figures of this fit, each repository left out in turn. Below it are none of 326 answered queries of those 17
# repositories, .015 of 130 answered questions of users, and .91 of 510 about nothing of the kind.
LOW = 0.08
# Below it are .20 of the answered questions of users, and .81 of 36 about what the repositories do not have; with the
# cosine, the share and the length alone .19 and .64.
WEAK = 0.5
# Below it are .38 of the answered questions of users, all 36 about what is not there, and .02 of the 326.
UNSURE = 0.7

FEW = 10  # Chunks: rarer words get the same weight, or one unusual abbreviation would decide.
SEEN = 3  # Chunks: fewer hardly have a word.
MIN_CHUNKS = 50  # With fewer, the frequency of a word proves nothing.
MIN_WEIGHT = 0.1  # Below this weight of all terms together, every term is in half of the chunks.
ONE_PART = 2  # Terms of a word with one part of more than a letter: "XPath" gives xpath and path.
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
    rare: float = 0.0
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
    # Code that implements a type need not have the word.
    probability = confidence(replace(signals, rare=0.0) if query.relations else signals)
    proper = proper_names(query, frequencies)
    names_unknown = not signals.is_named and any(len(query_words(name)) <= ONE_PART for name in proper)
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
    weight = sum(idf(max(count, FEW), frequencies.chunks) for count in frequencies.of_terms.values())
    if weight < MIN_WEIGHT:
        return None
    rare = sum(count < SEEN for count in frequencies.of_terms.values()) * idf(FEW, frequencies.chunks)
    return Signals(
        cosine=_best(retrieved.vector),
        share=_best(retrieved.keyword) / weight,
        terms=len(frequencies.of_terms),
        rare=rare / weight,
        is_named=bool(retrieved.definitions or retrieved.literals or retrieved.paths),
    )


def confidence(signals: Signals) -> float:
    """Return the probability that any chunk matches; 1 if the query names something that is indexed."""
    if signals.is_named:
        return 1.0
    length = LENGTH * math.log(signals.terms)
    z = INTERCEPT + COSINE * signals.cosine + SHARE * signals.share + length + RARE * signals.rare
    return 1 / (1 + math.exp(-z))


def missing_words(query: Query, frequencies: Frequencies) -> tuple[str, ...]:
    """Return the words of the query, as written, none of whose terms is in the index."""
    counts = frequencies.of_terms
    words = dict.fromkeys(re.findall(r"\w+", query.title))
    terms_of = {word: [term for term in query_words(word) if term in counts] for word in words}
    return tuple(word for word, terms in terms_of.items() if terms and not _is_known(terms, counts))


def _is_known(terms: Sequence[str], counts: Mapping[str, int]) -> bool:
    """Return whether a word occurs, or all of its two parts or more: neither "XPath" nor "OpenTelemetry" for "path"."""
    whole, *parts = terms
    return bool(counts[whole]) or (len(terms) > ONE_PART and all(counts[part] for part in parts))


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
