"""Scores one candidate beyond its fused rank: what agrees with the query is added, what the file is is multiplied."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from graphrag_mcp.model import Category, Factor, Mention, StoredFile, SymbolKind, SymbolMatch
from graphrag_mcp.search.fusion import Fused
from graphrag_mcp.search.query import Intent, NamedSymbol, Query
from graphrag_mcp.settings import RetrievalSettings
from graphrag_mcp.words import directory_words, stem_words

SECONDS_PER_DAY = 86_400
HIGH_SIMILARITY_RANK = 2  # The first hundredth of a list of 200.
MIN_PREFIX = 3  # "conf" agrees with "configuration"; two letters agree with half the dictionary.

# How likely a query that names a symbol means a definition of this kind.
_KIND_GRADE = {
    SymbolKind.TYPE: 1.0,
    SymbolKind.FUNCTION: 0.8,
    SymbolKind.METHOD: 0.8,
    SymbolKind.MODULE: 0.8,
    SymbolKind.CONSTANT: 0.6,
    SymbolKind.FIELD: 0.4,
    SymbolKind.SECTION: 0.4,
}
_NESTING_GRADE = 0.9  # For each level: the outer of two equal names is the one that is meant.
_WRONG_QUALIFIER_GRADE = 0.5
_WRONG_CASE_GRADE = 0.8
_OWN_FILE_GRADE = 1.15  # `class Session` in session.py.


# ---------------------------------------------------------------- what agrees with the query: added


def definition_bonuses(query: Query, matches: Iterable[SymbolMatch], settings: RetrievalSettings) -> dict[int, Factor]:
    """Return, by chunk, what a definition gains because the query says its name: the best one of each chunk."""
    weight = settings.definition_bonus if query.intent is Intent.SYMBOL else settings.mention_bonus
    best: dict[int, Factor] = {}
    for match in matches:
        grade = max((_grade(named, match) for named in query.symbols), default=0.0)
        bonus = Factor("definition", weight * grade, "bonus", match.symbol.qualified_name)
        if bonus.value and (match.chunk_id not in best or best[match.chunk_id].value < bonus.value):
            best[match.chunk_id] = bonus
    return best


def _grade(named: NamedSymbol, match: SymbolMatch) -> float:
    symbol = match.symbol
    if named.name.lower() != symbol.name.lower():
        return 0.0
    outer = [part.lower() for part in symbol.qualified_name.split(".")[:-1]]
    grade = _KIND_GRADE[symbol.kind] * (1.0 if named.name == symbol.name else _WRONG_CASE_GRADE)
    if named.qualifiers:
        where = {*outer, *path_words(match.path).stem, *match.path.lower().split("/")}
        grade *= 1.0 if named.qualifiers[-1].lower() in where else _WRONG_QUALIFIER_GRADE
    else:
        grade *= _NESTING_GRADE ** len(outer)
    if path_words(match.path).flat_stem == symbol.name.lower().replace("_", ""):
        grade *= _OWN_FILE_GRADE
    return grade


FILE_BONUSES = ("stem", "stem covers query", "directory", "coherence", "votes", "path")


def file_bonuses(
    query: Query, path: str, coherence: float, votes: float, agreement: "Agreement", settings: RetrievalSettings
) -> tuple[float, ...]:
    """Return what every chunk of a file gains, one number for each of FILE_BONUSES.

    `coherence` is the file's share of the candidates, `votes` what they say of it by mentioning it; 0 to 1 each.
    """
    words = path_words(path)
    stem, around = agreement.of(words.stem), agreement.of(words.directory)
    return (
        settings.stem_bonus * stem.words,
        settings.stem_query_bonus * stem.terms,
        settings.directory_bonus * around.terms,
        settings.coherence_bonus * coherence,
        settings.vote_bonus * votes,
        settings.path_bonus if any(_is_end(name, path) for name in query.paths) else 0.0,
    )


def graph_votes(
    voters: Iterable[Fused], mentions: Iterable[Mention], files: Mapping[int, StoredFile]
) -> dict[int, float]:
    """Return how much the voters' mentions lead to each file: 1 for the file they lead to most, by file id.

    A voter has one vote for a file, score² / log₂(2 + occurrences) of the rarest definition in it that it mentions: a
    good candidate is about what it calls and few others do. `files` maps chunk ids, those of the definitions too.
    """
    scores = {one.chunk_id: one.score for one in voters}
    rarest: dict[tuple[int, int], int] = {}
    for chunk_id, definition_chunk_id, occurrences in mentions:
        if chunk_id in scores and (file := files.get(definition_chunk_id)) is not None:
            vote = (chunk_id, file.file_id)
            rarest[vote] = min(occurrences, rarest.get(vote, occurrences))
    sums: dict[int, float] = {}
    for (chunk_id, file_id), occurrences in rarest.items():
        sums[file_id] = sums.get(file_id, 0.0) + scores[chunk_id] ** 2 / math.log2(2 + occurrences)
    most = max(sums.values(), default=0.0)
    return {file_id: total / most for file_id, total in sums.items()} if most else {}


@dataclass(frozen=True, slots=True)
class Agreed:
    """The share of some words that the query says, and the share of the query that they say, 0 to 1."""

    words: float
    terms: float


_NOTHING_AGREED = Agreed(0.0, 0.0)


class Agreement:
    """Compares words with the terms of one query, once each: the files of a project share most of theirs."""

    def __init__(self, terms: Sequence[str]) -> None:
        self._terms = terms
        # What agrees begins alike, so a word is compared with the few terms that share its beginning.
        self._by_beginning: dict[str, list[int]] = {}
        for place, term in enumerate(terms):
            self._by_beginning.setdefault(term[:MIN_PREFIX], []).append(place)
        self._said: dict[str, frozenset[int]] = {}
        self._agreed: dict[tuple[str, ...], Agreed] = {}

    def of(self, words: tuple[str, ...]) -> Agreed:
        """Return how much the words and the query's terms agree."""
        found = self._agreed.get(words)
        if found is None:
            found = self._agreed[words] = self._compare(words)
        return found

    def _compare(self, words: tuple[str, ...]) -> Agreed:
        said = [terms for word in words if word[:MIN_PREFIX] in self._by_beginning and (terms := self._terms_of(word))]
        if not said:
            return _NOTHING_AGREED
        return Agreed(len(said) / len(words), len(frozenset().union(*said)) / len(self._terms))

    def _terms_of(self, word: str) -> frozenset[int]:
        found = self._said.get(word)
        if found is None:
            places = self._by_beginning[word[:MIN_PREFIX]]
            found = frozenset(place for place in places if agree(word, self._terms[place]))
            self._said[word] = found
        return found


def agree(word: str, term: str) -> bool:
    """Tell whether two stemmed words are the same, or one abbreviates the other."""
    if word == term:
        return True
    short, long = (word, term) if len(word) < len(term) else (term, word)
    return len(short) >= MIN_PREFIX and long.startswith(short)


@dataclass(frozen=True, slots=True)
class PathWords:
    """The stemmed words of a path: its stem's and its folders'. `flat_stem`: the stem in lower case, joined."""

    stem: tuple[str, ...]
    directory: tuple[str, ...]
    flat_stem: str


@lru_cache(maxsize=50_000)
def path_words(path: str) -> PathWords:
    """Split a path into words, once for each path."""
    name = path.rsplit("/", 1)[-1]
    flat = name.split(".", 1)[0].lower().replace("-", "").replace("_", "")
    return PathWords(stem_words(path), directory_words(path), flat)


def _is_end(name: str, path: str) -> bool:
    return path == name or path.endswith("/" + name) or path.startswith(name + "/") or f"/{name}/" in path


# ---------------------------------------------------------------- what the file is: multiplied


def priors(query: Query, settings: RetrievalSettings) -> dict[Category, float]:
    """Return how likely a file of each category is what is looked for, 1 for those that the query asks for.

    Without it, tests and documents win on words alone: they say in prose what the code does in code (B-28).
    """
    values = {
        Category.IMPLEMENTATION: 1.0,
        Category.TESTS: settings.prior_tests,
        Category.DOCUMENTATION: settings.prior_documentation,
        Category.CONFIG: settings.prior_config,
        Category.EXAMPLES: settings.prior_examples,
        Category.VENDORED: settings.prior_vendored,
        Category.DATA: settings.prior_data,
        Category.OTHER: settings.prior_other,
    }
    return values | dict.fromkeys(query.categories, 1.0)


def source_confidence(ranks: Mapping[str, int], settings: RetrievalSettings) -> float:
    """Return the factor for the surest way a chunk was found (000-35): the largest one, not the product (B-13).

    A high vector similarity is a place among the first of the vector list, since what a cosine means depends on the
    model. The exact path's factor is the bonus "path": it has to lift what no list proposed.
    """
    confidence = settings.confidence_graph if "graph" in ranks else 1.0
    if ranks.get("vector", HIGH_SIMILARITY_RANK + 1) <= HIGH_SIMILARITY_RANK:
        confidence = max(confidence, settings.confidence_vector)
    return confidence


def recency(file: StoredFile, now: float, settings: RetrievalSettings) -> float:
    """Return the factor for a file's age (K-02): tiers of days, or a decay; 1 when the age is unknown."""
    if not settings.recency_boost_enabled or settings.recency_profile == "off" or file.modified_at is None:
        return 1.0
    days = age_days(file.modified_at, now)
    return _decay(days) if settings.recency_profile == "decay" else _tier(days, settings)


def age_days(modified_at: float, now: float) -> float:
    """Return the age in days; a time in the future is age zero."""
    return max(0.0, now - modified_at) / SECONDS_PER_DAY


def _tier(days: float, settings: RetrievalSettings) -> float:
    """001-10: fresh, recent, standard, old."""
    if days < settings.recency_fresh_days:
        return settings.recency_fresh_factor
    if days < settings.recency_recent_days:
        return settings.recency_recent_factor
    if days < settings.recency_old_days:
        return settings.recency_standard_factor
    return settings.recency_old_factor


def _decay(days: float) -> float:
    """000-30 with its jump at 30 days taken out (B-12): ×1.5, ×1.2, ×1, then max(0.5, e^(-(days - 30) / 365))."""
    if days < 1:
        return 1.5
    if days < 7:
        return 1.2
    return max(0.5, math.exp(-max(0.0, days - 30) / 365))


def archive_penalty(file: StoredFile) -> float:
    """Return the penalty of an archived file, once, whatever else says that it is archived (K-03, B-10)."""
    return file.archive.penalty if file.archive else 1.0


def clamped_product(factors: Iterable[float], settings: RetrievalSettings) -> float:
    """Multiply: boosts together at most `boost_max`, penalties together at least `penalty_floor` (K-14)."""
    boost = penalty = 1.0
    for factor in factors:
        if factor > 1:
            boost *= factor
        else:
            penalty *= factor
    return min(boost, settings.boost_max) * max(penalty, settings.penalty_floor)


def coherence_by_file(scores: Iterable[tuple[int, float]]) -> dict[int, float]:
    """Return each file's share of the found chunks' scores, 1 for the file with the most; takes (file id, score)."""
    sums: dict[int, float] = {}
    for file_id, score in scores:
        sums[file_id] = sums.get(file_id, 0.0) + score
    most = max(sums.values(), default=0.0)
    return {file_id: total / most for file_id, total in sums.items()} if most else {}
