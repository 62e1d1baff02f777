"""Judges whether anything matches a query well, so that an answer can say when nothing does.

A logistic regression on scores that the search computes in any case: confidence = 1 / (1 + e^-z), with

    z = INTERCEPT + COSINE · best cosine + RARE · rare

where `rare` is the part of the query's weight (the idf of its terms) that is of words which hardly any chunk has. Words
of everyday speech ("decide", "several") are not among them: a question is put in them whatever it is about. A word
counts as often as the most frequent word that it is derived from or spelt like. Fitted by `benchmarks/confidence.py`
with the cosines of the model in this package; with another, nothing is judged.
"""

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from operator import attrgetter
from statistics import fmean

from msgspec import Struct
from msgspec.structs import replace

from graphrag_mcp.model.search import Frequencies
from graphrag_mcp.ports import KeywordIndex
from graphrag_mcp.search.query.understand import Intent, Query
from graphrag_mcp.search.retrieval import Retrieved
from graphrag_mcp.text.words import query_words

# Fitted on questions of users to 18 repositories, of other users to eight more, "how" questions to nine and queries of
# seven, against what these do not have, questions to other repositories, and off-topic ones. Figures: each repository
# left out in turn; R are 430 questions answered in three.
INTERCEPT = -6.05
COSINE = 17.36
RARE = -13.73
# Below it are none of R, none of 67 that are answered later or not at all, 11 of 46 about what is not there, and .94 of
# 2,520 off topic.
LOW = 0.01
# Right in three is as likely as not at .42. Below it are 27 of R, and 41 of the 46.
WEAK = 0.4
# Below it are .28 of the answered questions of users, .4 of those not answered, and 44 of the 46.
UNSURE = 0.75

SEEN = 3  # Chunks: fewer hardly have a word.
SMALL = 300  # Chunks: with fewer, a word that one of them has is not rare.
ENOUGH = 4  # Terms: of fewer, one that is an abbreviation would decide.
MIN_CHUNKS = 50  # With fewer, the frequency of a word proves nothing.
ONE_PART = 2  # Terms of a word with one part of more than a letter: "XPath" gives xpath and path.
LEAST_BASE = 4  # Characters of a stem without an ending or a beginning; shorter ones are other words.
_PROPER = re.compile(r"(?<=[\w,] )[A-Z]\w+")  # Not the first word of a sentence.

# Words that are said of anything: verbs, adjectives, adverbs, pronouns and numbers such as those in the first thousand
# of West's General Service List, with irregular forms. Not its nouns: what a question names is what it is about. Of the
# effect on the confidence, the verbs alone have three quarters.
_ORDINARY = """
act add admit agree allow answer appear apply arrive ask avoid became become began begin begun behave believe belong
break bring broken brought build built buy call came care carry catch caught cause change choose chose chosen come
compare consider contain continue cut deal decide demand depend describe determine differ discover divide done draw
drawn drew drive driven drop end enter expect explain fail fall fallen feel fell felt fill find finish fit follow
force forget forgot forgotten found gain gave get give given go goes gone got grew grow grown guess handle hang happen
hear heard held help hid hidden hide hold hope hurt include increase intend keep kept knew know known lack laid land
last laugh lay lead learn leave led left lend lent let lie like listen live look lose lost love made make manage
matter mean meant meet mention mind miss move need notice obtain offer own pass pay permit pick place play prefer
prepare press prevent produce promise protect prove provide pull push put raise reach realise receive recognise refer
refuse regard remain remember remove repeat replace require rest return rise run said saw say see seem seen sell send
sent serve shake share shorten show shown shut sit speak spend spent spread stand start stay steal stick stood stop
strike succeed suffer suggest suppose surprise take taken talk taught teach tell tend thank think thought threw throw
thrown tie told took torn touch treat tried try turn understand understood use visit wait wake walk want warn waste
wear went win wish woke won wonder work worn worry write written
able actual again against ago ahead alone along already always another anyway apart available away back bad behind
beside best better between beyond big bigger biggest careful certain cheap clean clear close common complete correct
dangerous different difficult down during earlier early easy else enough entire equal even ever exact extra fair far
fast few final fine forever former forward free frequent fresh full further general good great half happy hard heavy
high hot huge important impossible indeed instead just large larger largest late least less likely little long longer
longest loose low main many maybe mere more most much narrow natural near necessary never new next nice normal not now
obvious odd off often old older oldest once only opposite ordinary original other otherwise particular past per
perhaps plain poor possible probable proper quick quiet quite rare rather ready real recent right rough round same
sensible several short similar simple since slight slow small smaller smallest smooth soft soon special still straight
strange strong sudden suitable sure tall thick thin tight tiny together too total toward twice until unusual upon
useful usual various very weak well whatever whichever whole wide without wrong yet young
anybody anyone anything bit everybody everyone everything half kind lot nobody none nothing one part people person
piece reason side somebody somehow someone something sometimes somewhere sort ten thing three time two way
"""
ORDINARY = frozenset(query_words(_ORDINARY))
# Ends of stems, and those of the words they are derived from; the first three are British spellings.
_ENDINGS = (
    ("our", "or"), ("is", "iz"), ("ys", "yz"), ("est", ""), ("er", ""), ("or", ""), ("ness", ""), ("abl", ""),
    ("iv", ""), ("al", ""), ("anc", ""), ("ment", ""), ("ful", ""), ("ans", "and"), ("ens", "end"), ("cis", "cid"),
    ("olut", "olv"), ("", "er"),
)  # fmt: skip
_BEGINNINGS = ("un", "re", "sub", "mis", "de")


class Judgement(Struct, frozen=True):
    """The probability that any chunk matches the query. confidence: 0 to 1; None where it could not be judged.

    missing: the words of the query, as written, that no chunk contains; only names, where it is sure that one matches.
    """

    confidence: float | None = None
    missing: tuple[str, ...] = ()

    @property
    def known(self) -> float:
        """The confidence; what was not judged counts as matching."""
        return 1.0 if self.confidence is None else self.confidence

    @property
    def is_low(self) -> bool:
        """Whether nothing matches well."""
        return self.known < LOW

    @property
    def is_weak(self) -> bool:
        """Whether what matches best may well be no answer."""
        return self.known < WEAK

    @property
    def is_unsure(self) -> bool:
        """Whether another phrasing may find more."""
        return self.known < UNSURE


NO_JUDGEMENT = Judgement()


class Signals(Struct, frozen=True):
    """The inputs of the judgement; see the module. is_named: whether a definition, a literal or the path is named."""

    cosine: float
    rare: float = 0.0
    is_named: bool = False


def judge(query: Query, retrieved: Retrieved, unavailable: Collection[str], keywords: KeywordIndex) -> Judgement:
    """Return the probability that any chunk matches; NO_JUDGEMENT if a list or the frequencies are missing."""
    if "vector" in unavailable or "keyword" in unavailable:
        return NO_JUDGEMENT
    frequencies = known_frequencies(query.terms, keywords)
    if frequencies is None:
        return NO_JUDGEMENT
    signals = read_signals(query, retrieved, frequencies)
    probability = confidence(signals) if signals is not None else None
    if probability is None or probability < UNSURE:
        return Judgement(probability, missing_words(query, frequencies))
    return Judgement(probability, missing_names(query, retrieved, frequencies))


def best_of(judgements: Sequence[Judgement]) -> Judgement:
    """Return the judgement of the question that matches best, with what all of them lack."""
    missing = dict.fromkeys(word for judgement in judgements for word in judgement.missing)
    return replace(max(judgements, key=attrgetter("known")), missing=tuple(missing))


def judge_together(phrasings: Sequence[Judgement]) -> Judgement:
    """Return the judgement of several phrasings of one question: of the first, with the mean of their confidences.

    A guessed phrasing may match something else. The area under the curve, of 57 answered questions against 240 to other
    repositories, is .985 by the mean, .970 by the median, .948 by the best, and .919 by the question alone.
    """
    confidences = [judged.confidence for judged in phrasings if judged.confidence is not None]
    return replace(phrasings[0], confidence=fmean(confidences) if len(confidences) == len(phrasings) else None)


def known_frequencies(terms: Sequence[str], keywords: KeywordIndex) -> Frequencies | None:
    """Return how many chunks have each term or a word that it is derived from; None where the index does not know.

    Ordinary words count as seen, unless there are no others.
    """
    frequencies = keywords.frequencies(terms)
    if frequencies is None:
        return None
    counts = dict(frequencies.of_terms)
    rare = [term for term, count in counts.items() if count < SEEN]
    ordinary = ORDINARY if not ORDINARY.issuperset(counts) else frozenset[str]()
    counts |= dict.fromkeys(ordinary.intersection(rare), SEEN)
    related = {term: tuple(_related(term)) for term in rare if term not in ordinary}
    if found := keywords.frequencies([word for words in related.values() for word in words]):
        for term, words in related.items():
            counts[term] = max(counts[term], 0, *map(found.of_terms.__getitem__, words))
    return Frequencies(counts, frequencies.chunks)


def _related(stem: str) -> Iterator[str]:
    """Yield the stems that a stem may be derived from, or is another spelling of; none is sure to be a word."""
    for ending, other in _ENDINGS:
        base = stem.removesuffix(ending)
        if stem.endswith(ending) and len(base + other) >= LEAST_BASE:
            yield base + other
            if ending and not other and base[-1] == base[-2]:
                yield base[:-1]
    for beginning in _BEGINNINGS:
        if stem.startswith(beginning) and len(stem) - len(beginning) >= LEAST_BASE:
            yield stem.removeprefix(beginning)


def read_signals(query: Query, retrieved: Retrieved, frequencies: Frequencies) -> Signals | None:
    """Return the signals of a query; None where the index is too small to judge, or the query has no words."""
    counts = frequencies.of_terms
    if frequencies.chunks < MIN_CHUNKS or not counts:
        return None
    # Code that implements a type need not have the word.
    seen = min(SEEN, max(1, frequencies.chunks // SMALL))
    lacking = 0.0 if query.relations else sum(1 - min(count, seen) / seen for count in counts.values())
    # The words of a path find files, too, where the path itself does not exist.
    path = retrieved.paths if query.intent is Intent.PATH else ()
    return Signals(
        cosine=max((item.score for item in retrieved.vector), default=0.0),
        # Counts are of the whole index; in the scope, there may be none.
        rare=lacking / max(len(counts), ENOUGH) if retrieved.keyword else 1.0,
        is_named=bool(retrieved.definitions or retrieved.literals or path),
    )


def confidence(signals: Signals) -> float:
    """Return the probability that any chunk matches; 1 if the query names something that is indexed."""
    if signals.is_named:
        return 1.0
    return 1 / (1 + math.exp(-(INTERCEPT + COSINE * signals.cosine + RARE * signals.rare)))


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
    proper = set(_PROPER.findall(query.title))
    return tuple(dict.fromkeys((*in_code, *(word for word in missing_words(query, frequencies) if word in proper))))
