"""Understands a query: what it names, what kind of file it asks for, which relation it asks about.

"tests for the session" asks for tests, "test client" for code: the word must be what the query is about. It is when it
comes first and is qualified, when it comes last, or in a phrase that is not ambiguous (`phrases.toml`).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import chain, islice
from typing import NamedTuple, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from graphrag_mcp.model.files import Category, RelationKind
from graphrag_mcp.model.search import EdgeDirection
from graphrag_mcp.search.query.literals import Literal, Location, Run, literals, message_runs, read_locations
from graphrag_mcp.settings import RetrievalSettings
from graphrag_mcp.text.expressions import expand, read_table
from graphrag_mcp.text.names import NAME, NamedSymbol, is_identifier, read_declaration, read_name
from graphrag_mcp.text.words import is_telling, query_words

Meaning = TypeVar("Meaning")
LONG = 250  # Characters: a longer text is an issue or a log, whose first line is its subject.
MAX_QUOTING = 1_000  # Characters of a query in which texts of the code are looked for.
MAX_TERMS = 64  # More words than this is a pasted log; the rarest of them would still be among the first.
MAX_ADDED = 12  # Synonyms.
MAX_CHARACTERS = 512  # A longer query gets no synonyms.
LONGEST_PAIR = 300  # Characters of a question that asks for two things: a longer text is prose.
SYNONYMS: Mapping[str, tuple[str, ...]] = {
    word: tuple(synonyms.split()) for word, synonyms in read_table("graphrag_mcp.search.query", "synonyms.toml").items()
}
# "HTTP/2", "UTF-8", "SHA-256": names write them as one word.
_NUMBERED = re.compile(r"\b([A-Za-z]{2,})[-/](\d{1,4})\b")
_WORD = re.compile(r"\w+")
_FORMS = "(?:e[ds]?|ers?|ing|able|ations?)"
# Letters as in British and in American words, and what follows them.
_SPELLINGS = (
    ("is", "iz", _FORMS),
    ("lys", "lyz", "(?:ed?|ers?|ing)"),
    ("our", "or", "(?:|s|ed|ing|ful|able|al|ites?|hood)"),
    ("enc", "ens", "(?:e[ds]?|ing)"),
    ("tre", "ter", "s?"),
    ("ogue", "og", "s?"),
    ("rey", "ray", "s?"),
    ("rtefact", "rtifact", "s?"),
)
_SHORTEST = {"rey": "", "ray": "", "rtefact": "", "rtifact": ""}  # Else at least two letters are before them.
_RULES = tuple(
    (re.compile(rf"(\w{_SHORTEST.get(left, '{2,}')}){left}({after})"), rf"\g<1>{right}\g<2>")
    for british, american, after in _SPELLINGS
    for left, right in ((british, american), (american, british))
)
_QUOTED = re.compile(r"""`[^`]*`|"[^"]*"|(?<!\w)'[^']*'(?!\w)""")


class AskedRelation(NamedTuple):
    """A relation that a query asks about, from the definition it names."""

    kind: RelationKind
    direction: EdgeDirection


PHRASES = read_table("graphrag_mcp.search.query", "phrases.toml")


def _any_of(phrases: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(expand(phrase, PHRASES["part"]) for phrase in phrases))


_CATEGORIES = {Category(name): _any_of(phrases) for name, phrases in PHRASES["category"].items()}
_RELATIONS = {
    AskedRelation(RelationKind(kind), EdgeDirection(direction)): _any_of(phrases)
    for direction, kinds in PHRASES["relation"].items()
    for kind, phrases in kinds.items()
}
_PROJECT = {_any_of(phrases): _any_of([PHRASES["stated_in"][topic]]) for topic, phrases in PHRASES["project"].items()}
# What states how a project is used, built and released.
_STATING = frozenset({Category.DOCUMENTATION, Category.CONFIG})
_FACT = re.compile(
    r"^(?:what|which|when|may|can|is|are|does|do|should|must)\b|\bhow (?:many|much|long|large|big|often)\b|"
    r"\b(?:i|we|my|our)\b|\bdefaults?\b"
)
_BEHAVIOUR = re.compile(r"^(?:how|where|when|why|what happens|(?:which|what) (?:part|code|function|place))\b")
_KIND_OF_TYPE = re.compile(r"\b(?:class|struct|interface|trait|enum|type|protocol|record|model|schema)(?:e?s)?\b")
_PAST = re.compile(
    r"\b(?:old|older|previous|previously|former|legacy|archived|superseded|deprecated|obsolete|rejected|retired)\b"
)
_CHANGES = re.compile(
    r"\b(?:releas\w*|(?:which|what|since|in) version|chang\w*|since|when|migrat\w*|upgrad\w*|new|deprecat\w*|breaking|"
    r"remov\w*|histor\w*|added|introduc\w*)\b"
)


def asked_categories(text: str) -> frozenset[Category]:
    """Return the kinds of file that a query asks for; a question about the project asks for two."""
    categories = _asked(text, _CATEGORIES)
    return categories | _STATING if stating_files(text) else categories


def stating_files(text: str) -> tuple[re.Pattern[str], ...]:
    """Return how the names of the files begin, in lower case, that state what a question about the project asks."""
    plain = _plain(text)
    return tuple(files for asked, files in _PROJECT.items() if asked.search(plain))


def asks_for_fact(text: str) -> bool:
    """Return whether a question asks what holds or what one can do, and not where or how the code does something."""
    return _FACT.search(_plain(text)) is not None


def asks_for_behaviour(text: str) -> bool:
    """Return whether a question asks what is done, and not for a type by its kind."""
    plain = _plain(text)
    return _BEHAVIOUR.search(plain) is not None and _KIND_OF_TYPE.search(plain) is None


def asks_for_retired(text: str) -> bool:
    """Return whether a query asks for retired files, which are then not ranked lower."""
    return _PAST.search(text.lower()) is not None


def asks_for_changes(text: str) -> bool:
    """Return whether a query may ask what has changed, which a change log says."""
    return _CHANGES.search(text.lower()) is not None


def asked_relations(text: str) -> tuple[AskedRelation, ...]:
    """Return the relations that a query asks about, in a fixed order."""
    return tuple(sorted(_asked(text, _RELATIONS)))


def _asked(text: str, meanings: Mapping[Meaning, re.Pattern[str]]) -> frozenset[Meaning]:
    plain = _plain(text)
    return frozenset(meaning for meaning, phrases in meanings.items() if phrases.search(plain))


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


class Intent(StrEnum):
    """The three shapes of a query."""

    SYMBOL = "symbol"
    PATH = "path"
    NATURAL = "natural"


class Query(Struct, frozen=True):
    """A query, understood.

    title: the first line of a long text, else the text. terms: stemmed words for the keyword index, distinct, in order.
    expansion_terms: words with a lower weight: synonyms, and the rest of a long text. symbols: names in the query, each
    with its qualifiers before it ("Session.send" gives name "send", qualifiers ("Session",)). literals, runs: what may
    are in the code as they are written, and words that may be parts of a message. paths: file paths or names in it.
    locations: lines of files in it. categories: kinds of file it asks for; their prior is 1. relations: those it asks
    about. wants_fact: whether it asks for a fact, which documents state, and not for code. wants_changes: whether it
    may ask what has changed. wants_retired: whether it asks for archived or superseded files. stating: how the names
    of the files begin that state what it asks about the project.
    """

    text: str
    title: str
    intent: Intent
    terms: tuple[str, ...]
    expansion_terms: tuple[str, ...]
    symbols: tuple[NamedSymbol, ...]
    literals: tuple[Literal, ...]
    runs: tuple[Run, ...]
    paths: tuple[str, ...]
    locations: tuple[Location, ...]
    categories: frozenset[Category]
    relations: tuple[AskedRelation, ...]
    wants_fact: bool
    wants_changes: bool
    wants_retired: bool
    stating: tuple[re.Pattern[str], ...]


_DEFAULTS = RetrievalSettings()


def understand(text: str, settings: RetrievalSettings = _DEFAULTS) -> Query:
    """Return what the query asks for."""
    declared = read_declaration(text)
    tokens = [] if declared else NAME.findall(text)
    paths = tuple(dict.fromkeys(token.strip("./") for token in tokens if _is_path(token)))
    alone = declared is not None or len(tokens) == 1
    symbols = (declared,) if declared else _named_symbols(tokens)
    intent = Intent.NATURAL
    if alone:
        intent = Intent.PATH if paths else Intent.SYMBOL
    title = _title(text)
    words = query_words(text)
    terms = query_words(title) if title is not text else words
    synonyms = add_synonyms(text, words, settings.expansions) if settings.query_expansion and not alone else ()
    return Query(
        text=text,
        title=title,
        intent=intent,
        terms=tuple(terms[:MAX_TERMS]),
        expansion_terms=tuple(word for word in words if word not in terms)[:MAX_TERMS] + synonyms,
        symbols=symbols,
        literals=literals(text[:MAX_QUOTING]),
        runs=message_runs(text[:MAX_QUOTING]),
        paths=paths,
        locations=read_locations(text),
        categories=asked_categories(title),
        relations=asked_relations(title),
        wants_fact=asks_for_fact(title),
        wants_changes=asks_for_changes(text),
        wants_retired=asks_for_retired(title),
        stating=stating_files(title),
    )


def _named_symbols(tokens: Sequence[str]) -> tuple[NamedSymbol, ...]:
    """Return what of a text is a name in code; a single word is one in any case."""
    names = [token for token in tokens if not _is_path(token) and (len(tokens) == 1 or is_identifier(token))]
    return tuple(dict.fromkeys(map(read_name, names)))


def joined(phrasings: Sequence[Query]) -> Query:
    """Return the first phrasing with the terms and symbols of all: what any of them may have matched."""
    first, *others = phrasings
    if not others:
        return first
    terms = dict.fromkeys(chain.from_iterable(query.terms for query in phrasings))
    symbols = dict.fromkeys(chain.from_iterable(query.symbols for query in phrasings))
    return replace(first, terms=tuple(terms), symbols=tuple(symbols))


def _title(text: str) -> str:
    """Return the subject of a text: its first line when it is long, else all of it."""
    if len(text) <= LONG:
        return text
    lines = (line.strip(" #*\t") for line in text.splitlines())
    return next((line for line in lines if line), text)[:LONG]


_FILE_NAME = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,7}$")


def _is_path(token: str) -> bool:
    if "::" in token or "->" in token or token.endswith("()"):
        return False
    if "/" in token.strip("/"):
        return True
    return bool(_FILE_NAME.search(token)) and token.rsplit(".", 1)[-1].lower() in _FILE_EXTENSIONS


# Only extensions that are not common member names: `app.run` and `foo.go` look alike.
_FILE_EXTENSIONS = frozenset(
    """bash c cc cfg conf cpp cs css cxx ex exs go h hpp hs html ini java js json jsx kt kts lua md mdx mjs php py pyi
    rb rs rst scala sh sql swift toml ts tsx txt xml yaml yml zig""".split()  # noqa: SIM905 - 45 quotes read worse.
)


def add_synonyms(text: str, terms: Sequence[str], more: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return at most MAX_ADDED stemmed terms to add to those of a query: "auth" also looks for authentication, login.

    None for more than MAX_CHARACTERS. Only the keyword index needs them: the vectors of synonyms are near each other,
    and an added word would move the query's.
    more: synonyms by word, which replace those of SYNONYMS.
    """
    if len(text) > MAX_CHARACTERS:
        return ()
    known = dict(SYNONYMS) | {word.lower(): tuple(synonyms) for word, synonyms in more.items()}
    words = dict.fromkeys(word.strip(".,:;!?()'\"`").lower() for word in text.split())
    numbered = ["".join(parts).lower() for parts in _NUMBERED.findall(text)]
    synonyms = chain(numbered, chain.from_iterable(known.get(word, ()) for word in words))
    added = dict.fromkeys(term for synonym in synonyms for term in query_words(synonym))
    return tuple(islice((term for term in added if term not in terms), MAX_ADDED))


# ---------------------------------------------------------------- two questions in one

_JOINED = re.compile(r",?\s+and\s+(?=(?:where|how|what(?! if\b))\b)", re.IGNORECASE)
_ASKS = re.compile(r"(?:where|how|what|which|who|when|why|(?:from|in|on) (?:where|which))\b", re.IGNORECASE)
_REFERS_BACK = re.compile(
    r"what (?:is|are|was|does|do|did|can|will|has|have) (?:it|its|they|their|this|that)\b", re.IGNORECASE
)


def clauses(text: str) -> tuple[str, ...]:
    """Return the clauses of a question for two things, "where is X read, and where is Y written", else nothing.

    Each must be a question with a term of its own. "And what if", "and what is its default" ask about the same.
    """
    parts = tuple(part.strip() for part in _JOINED.split(text)) if len(text) <= LONGEST_PAIR else ()
    if len(parts) != 2 or _REFERS_BACK.match(parts[1]):
        return ()
    asks = all(_ASKS.match(part) and any(map(is_telling, _WORD.findall(part))) for part in parts)
    return parts if asks else ()


def understand_apart(parts: tuple[str, ...], settings: RetrievalSettings) -> list[Query]:
    """Return what each clause asks for; the second refers back, so it also has the terms of the first, as synonyms."""
    first, second = (understand(part, settings) for part in parts)
    context = tuple(term for term in first.terms if term not in second.terms)
    return [first, replace(second, expansion_terms=context, text=f"{parts[1]} {parts[0]}")]


# A word of prose: none in quotes, in a path, in a name or in an option.
_PLAIN_WORD = re.compile(r"""(?:^|(?<=[\s(]))[A-Z]?[a-z]{3,}(?=[\s),;:?!]|[.](?:\s|$)|$)""")


def respell(text: str, is_known: Callable[[str], bool]) -> str:
    """Return the text with the words that the repository has in the other spelling only written like that.

    is_known: whether a stemmed word is indexed.
    """
    quoted = [match.span() for match in _QUOTED.finditer(text)]

    def spelled(word: re.Match[str]) -> str:
        is_quoted = any(start <= word.start() < end for start, end in quoted)
        others = [] if is_quoted or not is_telling(word[0]) else [*_others(word[0], is_known)]
        return others[0] if others and not _is_known(word[0], is_known) else word[0]

    return _PLAIN_WORD.sub(spelled, text)


def _others(word: str, is_known: Callable[[str], bool]) -> Iterator[str]:
    for pattern, replacement in _RULES:
        if match := pattern.fullmatch(word):
            other = match.expand(replacement)
            if is_telling(other) and _is_known(other, is_known):
                yield other


def _is_known(word: str, is_known: Callable[[str], bool]) -> bool:
    return any(map(is_known, query_words(word)))
