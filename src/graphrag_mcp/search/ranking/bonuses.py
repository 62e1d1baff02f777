"""Bonuses added to a candidate's score because its definitions, file name, directory or wording agree with the query.

BM25 compares stems, and a rare word that is repeated outweighs three that occur once. A question for what is done gives
both to functions alone; any other question, which may mean a type or a file, gives neighbours alone to all chunks.
"""

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from msgspec import Struct

from graphrag_mcp.model.files import CALLABLE, SymbolKind
from graphrag_mcp.model.search import (
    ChunkMention,
    Factor,
    FactorKind,
    LiteralPlace,
    Ranked,
    StoredChunk,
    StoredFile,
    SymbolMatch,
)
from graphrag_mcp.search.query.literals import names_path
from graphrag_mcp.search.query.understand import LONG, Intent, Query
from graphrag_mcp.search.ranking.fusion import Fused, relative
from graphrag_mcp.search.ranking.weights import Weights
from graphrag_mcp.text.names import NamedSymbol, sets_key
from graphrag_mcp.text.words import directory_words, identifier_parts, is_telling, query_words, stem_words

WORDING = "wording"  # The bonus.
COMPARED = 80  # Candidates whose text is read.
ENOUGH = 4  # Of fewer words, the share says less: two are there in one of their forms by chance.
MOST_WORDS = 32  # The first ones of a pasted text.
MOST_PLACES = 20  # A word is looked at in no more places of a chunk.
NEAR = 12  # Characters between neighbours.
_APART = 3  # Words from one to the next, with those that are not telling.
_WORD = re.compile(r"\w+")
RARE = 2.0  # The idf of a word in about one of seven chunks.
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
    SymbolKind.KEY: 0.6,
}
_NESTING_GRADE = 0.9  # For each level: the outer of two equal names is the one that is meant.
_WRONG_QUALIFIER_GRADE = 0.5
_WRONG_CASE_GRADE = 0.8
_OTHER_STYLE_GRADE = 0.8  # `setCommand` for `set_command`.
_USE_GRADE = 0.1  # The grade of a literal where it is used, while another place defines it.
_UNDEFINED_GRADE = 0.4  # The grade of a literal that no place defines.
_LINE_LOSS = 0.025  # Each of 20 lines is worth half of a single one.
_LEAST_SHARE = 0.4  # What a literal counts in a long question.
_FURTHER_LITERAL = 0.3
_LAST_NAME = re.compile(r"[^\w-]+")
_LOCATION_BONUS = 1.5  # More than the words of a query add to other parts of the file.
LONG_SHARE = 0.5  # A long text gets this share of the bonus for history: its first line says less than a question.
_OWN_FILE_GRADE = 1.15  # `class Session` in session.py.


class Wording(NamedTuple):
    """The share of a question's words, and of its neighbours, that a chunk has, each weighed by its rarity: 0 to 1.

    Of a question of less than ENOUGH words it is a part of that.
    """

    words: float
    pairs: float


def compare_wording(
    text: str, rarity: Mapping[str, float], chunks: Mapping[int, StoredChunk], *, asks_for_behaviour: bool
) -> dict[int, Wording]:
    """Return the wording of each chunk; {} for a question with less than two telling words. rarity: idf by stem."""
    words, pairs = _weigh(text, rarity)
    if len(words) < 2:
        return {}
    of_words, of_pairs = sum(words.values()), sum(pairs.values()) or 1.0
    telling = min(1.0, len(words) / ENOUGH)
    compared = {}
    for chunk_id, chunk in chunks.items():
        if asks_for_behaviour and chunk.kind not in CALLABLE:
            continue
        places = _places(words, f"{chunk.symbol} {chunk.signature}\n{chunk.text}")
        together = sum(weight for (one, other), weight in pairs.items() if _are_near(one, other, places))
        covered = sum(words[word] for word in places) if asks_for_behaviour else 0.0
        compared[chunk_id] = Wording(telling * covered / of_words, telling * together / of_pairs)
    return compared


def _weigh(text: str, rarity: Mapping[str, float]) -> tuple[dict[str, float], dict[tuple[str, str], float]]:
    """Return the rarity of the telling words of a text, and of those that follow each other."""
    parts = [part for word in _WORD.findall(text) for part in identifier_parts(word)]
    telling = [(place, part) for place, part in enumerate(parts) if len(part) > 1 and is_telling(part)]
    telling = [(place, part) for place, part in telling if not part.isdigit()][:MOST_WORDS]
    idf = {part: max((rarity.get(stem, 0.0) for stem in query_words(part)), default=0.0) for _, part in telling}
    words = {part: weight for part, weight in idf.items() if weight > 0}
    pairs = {
        (one, other): min(words[one], words[other])
        for (first, one), (second, other) in pairwise(telling)
        if one != other and second - first <= _APART and one in words and other in words
    }
    return words, pairs


def _places(words: Mapping[str, float], text: str) -> dict[str, list[int]]:
    """Return where the words begin, as parts of identifiers too; without those that do not occur."""
    lower = text.lower()
    if len(lower) != len(text):  # A few letters are longer in lower case.
        text = lower
    return {word: places for word in words if word in lower and (places := _parts(word, lower, text))}


def _parts(word: str, lower: str, text: str) -> list[int]:
    """Return where a word is a part of an identifier: "port" of `portOf` and `get_port`, not of `import` or `ports`."""
    places: list[int] = []
    start = lower.find(word)
    while start >= 0 and len(places) < MOST_PLACES:
        end = start + len(word)
        if _begins(text, start) and _begins(text, end):
            places.append(start)
        start = lower.find(word, end)
    return places


def _begins(text: str, place: int) -> bool:
    """Return whether a part of an identifier, or something else, begins at a place."""
    before, at = text[place - 1 : place], text[place : place + 1]  # Nothing stands before the first place.
    if not (before.isalpha() and at.isalpha()):
        return True
    return at.isupper() and (before.islower() or text[place + 1 : place + 2].islower())


def _are_near(one: str, other: str, places: Mapping[str, list[int]]) -> bool:
    return any(
        0 <= second - first - len(one) <= NEAR or 0 <= first - second - len(other) <= NEAR
        for first in places.get(one, ())
        for second in places.get(other, ())
    )


def definition_bonuses(query: Query, matches: Iterable[SymbolMatch], weights: Weights) -> dict[int, Factor]:
    """Return the bonus for definitions that the query names, by chunk: the best one of each chunk."""
    weight = weights.definition if query.intent is Intent.SYMBOL else weights.mention
    best: dict[int, Factor] = {}
    for match in matches:
        grade = max((_grade(named, match) for named in query.symbols), default=0.0)
        bonus = Factor("definition", weight * grade, FactorKind.BONUS, match.symbol.qualified_name)
        if bonus.value and (match.chunk_id not in best or best[match.chunk_id].value < bonus.value):
            best[match.chunk_id] = bonus
    return best


def relation_bonuses(related: Iterable[Ranked], weights: Weights) -> dict[int, Factor]:
    """Return the bonus for neighbours by the relation that the query asks about, by chunk."""
    bonus = weights.relation
    return {item.chunk_id: Factor("relation", bonus * item.score, FactorKind.BONUS) for item in related}


def literal_bonuses(
    query: Query, places: Sequence[LiteralPlace], names: Collection[str], weights: Weights
) -> dict[int, Factor]:
    """Return the bonus for containing literals of the query, by chunk: the best one, and a part of each further one.

    A literal counts less with each further line that contains it, and by the share of the query's terms that are in it;
    little where it is used, while another place defines it. names: of the definitions that the query names.
    """
    defined = {place.literal for place in places if place.defines or _LAST_NAME.split(place.literal)[-1] in names}
    graded: dict[int, list[tuple[float, str]]] = {}
    for place in places:
        grade = 1.0 if place.defines else _USE_GRADE if place.literal in defined else _UNDEFINED_GRADE
        rarity = 1 - _LINE_LOSS * (place.lines - 1)
        share = _LEAST_SHARE + (1 - _LEAST_SHARE) * _share(query, place.literal)
        graded.setdefault(place.chunk_id, []).append((grade * rarity * share, place.literal))
    bonuses = {}
    for chunk_id, grades in graded.items():
        (best, _), *further = ordered = sorted(grades, reverse=True)
        value = weights.literal * (best + _FURTHER_LITERAL * sum(grade for grade, _ in further))
        note = ", ".join(f"`{literal}`" for _, literal in ordered)
        bonuses[chunk_id] = Factor("literal", value, FactorKind.BONUS, note)
    return bonuses


def _share(query: Query, literal: str) -> float:
    return len(set(query_words(literal)).intersection(query.terms)) / max(1, len(query.terms))


def location_bonuses(located: Mapping[int, int]) -> dict[int, Factor]:
    """Return the bonus for the lines that the query names, by chunk."""
    return {
        chunk: Factor("location", _LOCATION_BONUS, FactorKind.BONUS, f"line {line}") for chunk, line in located.items()
    }


def wording_bonuses(wording: Mapping[int, Wording], weights: Weights) -> dict[int, Factor]:
    """Return the bonus for the question's own wording, by chunk."""
    values = {chunk: weights.words * shares.words + weights.pairs * shares.pairs for chunk, shares in wording.items()}
    return {chunk: Factor(WORDING, value, FactorKind.BONUS) for chunk, value in values.items() if value}


def by_chunk(*bonuses: Mapping[int, Factor]) -> dict[int, tuple[Factor, ...]]:
    chunks = dict.fromkeys(chunk_id for some in bonuses for chunk_id in some)
    return {chunk_id: tuple(some[chunk_id] for some in bonuses if chunk_id in some) for chunk_id in chunks}


def _grade(named: NamedSymbol, match: SymbolMatch) -> float:
    symbol = match.symbol
    if symbol.name.lower() not in named.spellings:
        is_set = symbol.kind is SymbolKind.KEY and sets_key(named.name, symbol.qualified_name)
        return _KIND_GRADE[SymbolKind.KEY] if is_set else 0.0
    outer = [part.lower() for part in symbol.qualified_name.split(".")[:-1]]
    is_same_word = named.name.lower() == symbol.name.lower()
    grade = _KIND_GRADE[symbol.kind] * (1.0 if is_same_word else _OTHER_STYLE_GRADE)
    grade *= 1.0 if named.name == symbol.name else _WRONG_CASE_GRADE
    if named.qualifiers:
        where = {*outer, *path_words(match.path).stem, *match.path.lower().split("/")}
        grade *= 1.0 if named.qualifiers[-1].lower() in where else _WRONG_QUALIFIER_GRADE
    else:
        grade *= _NESTING_GRADE ** len(outer)
    if path_words(match.path).flat_stem == symbol.name.lower().replace("_", ""):
        grade *= _OWN_FILE_GRADE
    return grade


def file_bonuses(
    query: Query,
    path: str,
    coherence: float,
    votes: float,
    history: float,
    agreement: "Agreement",
    weights: Weights,
    *,
    is_document: bool = False,
) -> dict[str, float]:
    """Return the bonuses that every chunk of a file gets, by signal.

    coherence: the file's share of the candidates' scores. votes: how much they mention it. history: how well the
    messages of commits that changed it match. Each is 0 to 1. is_document: whether it is a document or settings.
    """
    words = path_words(path)
    stem, around = agreement.of(words.stem), agreement.of(words.directory)
    return {
        "stem": weights.stem * stem.words,
        "stem covers query": weights.stem_query * stem.terms,
        "directory": weights.directory * around.terms,
        "coherence": weights.coherence * coherence,
        "votes": weights.votes * votes,
        "stating": weights.stating * _states(query, path) if is_document else 0.0,
        "path": weights.path if query.paths and any(names_path(name, path) for name in query.paths) else 0.0,
        "history": weights.history * history * (LONG_SHARE if len(query.text) > LONG else 1.0),
    }


def _states(query: Query, path: str) -> float:
    """Return 1 for a file of the root that states, by its name, what a question asks about the project.

    In a folder it may be that of a part: half of it, a third in a folder of a folder, and so on.
    """
    *folders, name = path.lower().split("/")
    return 1 / (1 + len(folders)) if any(files.match(name) for files in query.stating) else 0.0


def graph_votes(
    voters: Iterable[Fused], mentions: Iterable[ChunkMention], files: Mapping[int, StoredFile]
) -> dict[int, float]:
    """Return the votes for each file by file id, 1 for the file with the most.

    A voter has one vote for a file, score² / log₂(2 + occurrences) of the rarest definition in it that it mentions:
    what few others mention is better evidence. files: by chunk id, of the voters and of the definitions.
    """
    scores = {voter.chunk_id: voter.score for voter in voters}
    rarest: dict[tuple[int, int], int] = {}
    for chunk_id, definition_chunk_id, occurrences in mentions:
        if chunk_id in scores and (file := files.get(definition_chunk_id)) is not None:
            vote = (chunk_id, file.file_id)
            rarest[vote] = min(occurrences, rarest.get(vote, occurrences))
    sums: dict[int, float] = {}
    for (chunk_id, file_id), occurrences in rarest.items():
        sums[file_id] = sums.get(file_id, 0.0) + scores[chunk_id] ** 2 / math.log2(2 + occurrences)
    return relative(sums)


class Agreed(Struct, frozen=True):
    """words: the share of some words that the query contains. terms: the share of the query that they cover. 0 to 1."""

    words: float
    terms: float


_NOT_KNOWN: Mapping[str, float] = {}
_NOTHING_AGREED = Agreed(0.0, 0.0)


class Agreement:
    """Compares words with the terms of one query, each word once: the files of a project share most of theirs.

    rarity: idf by term, 0 for a term that agrees with nothing; the weight of a term in the share of the query that
    words cover. Where it is not known, all terms count alike.
    """

    def __init__(self, terms: Sequence[str], rarity: Mapping[str, float] = _NOT_KNOWN) -> None:
        self._terms = terms
        self._weights = [rarity.get(term, 1.0) for term in terms]
        self._weight = sum(self._weights)
        # Words that agree have the same beginning, so a word is compared with the few terms that share it.
        self._by_beginning: dict[str, list[int]] = {}
        for position, term in enumerate(terms):
            if self._weights[position]:
                self._by_beginning.setdefault(term[:MIN_PREFIX], []).append(position)
        self._terms_by_word: dict[str, frozenset[int]] = {}
        self._agreed: dict[tuple[str, ...], Agreed] = {}

    def of(self, words: tuple[str, ...]) -> Agreed:
        """Return how much the words and the query's terms agree."""
        agreed = self._agreed.get(words)
        if agreed is None:
            agreed = self._agreed[words] = self._compare(words)
        return agreed

    def _compare(self, words: tuple[str, ...]) -> Agreed:
        matched = list(filter(None, map(self._terms_of, words)))
        if not matched:
            return _NOTHING_AGREED
        covered = sum(self._weights[term] for term in frozenset().union(*matched))
        return Agreed(len(matched) / len(words), covered / self._weight)

    def rare(self, words: tuple[str, ...]) -> tuple[str, ...]:
        """Return the terms that are rare in the project and agree with the words."""
        terms = frozenset[int]().union(*map(self._terms_of, words))
        return tuple(self._terms[term] for term in sorted(terms) if self._weights[term] >= RARE)

    def _terms_of(self, word: str) -> frozenset[int]:
        terms = self._terms_by_word.get(word)
        if terms is None:
            positions = self._by_beginning.get(word[:MIN_PREFIX], ())
            terms = frozenset(position for position in positions if agree(word, self._terms[position]))
            self._terms_by_word[word] = terms
        return terms


def agree(word: str, term: str) -> bool:
    """Return whether two stemmed words are the same, or one abbreviates the other."""
    if word == term:
        return True
    short, long = (word, term) if len(word) < len(term) else (term, word)
    return len(short) >= MIN_PREFIX and long.startswith(short)


class PathWords(Struct, frozen=True):
    """The stemmed words of a path: its stem's and its folders'. `flat_stem`: the stem in lower case, joined."""

    stem: tuple[str, ...]
    directory: tuple[str, ...]
    flat_stem: str


@lru_cache(maxsize=50_000)
def path_words(path: str) -> PathWords:
    """Return the words of a path; cached."""
    name = path.rsplit("/", 1)[-1]
    flat = name.split(".", 1)[0].lower().replace("-", "").replace("_", "")
    return PathWords(stem_words(path), directory_words(path), flat)


def coherence_by_file(scores: Iterable[tuple[int, float]]) -> dict[int, float]:
    """Return the sum of each file's scores by file id, 1 for the file with the most; takes (file id, score)."""
    sums: dict[int, float] = {}
    for file_id, score in scores:
        sums[file_id] = sums.get(file_id, 0.0) + score
    return relative(sums)
