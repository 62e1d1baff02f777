"""Reads from the grammar of a query which kind of file, or which relation, it asks for.

"tests for the session" asks for tests, "test client" for code: the word must be what the query is about. It is when it
comes first and is qualified, when it comes last, or in a phrase that is not ambiguous (`phrases.toml`).
"""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeVar

from graphrag_mcp.model.files import Category, RelationKind
from graphrag_mcp.model.search import EdgeDirection
from graphrag_mcp.text.expressions import expand, read_table

Meaning = TypeVar("Meaning")


class AskedRelation(NamedTuple):
    """A relation that a query asks about, from the definition it names."""

    kind: RelationKind
    direction: EdgeDirection


_DATA = read_table("graphrag_mcp.search.query", "phrases.toml")


def _any_of(phrases: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(expand(phrase, _DATA["part"]) for phrase in phrases))


_CATEGORIES = {Category(name): _any_of(phrases) for name, phrases in _DATA["category"].items()}
_RELATIONS = {
    AskedRelation(RelationKind(kind), EdgeDirection(direction)): _any_of(phrases)
    for direction, kinds in _DATA["relation"].items()
    for kind, phrases in kinds.items()
}
_PROJECT = {_any_of(phrases): _any_of([_DATA["stated_in"][topic]]) for topic, phrases in _DATA["project"].items()}
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
