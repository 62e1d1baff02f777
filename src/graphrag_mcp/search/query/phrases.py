"""Reads from the grammar of a query which kind of file, or which relation, it asks for.

"tests for the session" asks for tests, "test client" for code: the word must be what the query is about. It is when it
comes first and is qualified, when it comes last, or in a phrase that is not ambiguous.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple, TypeVar

from graphrag_mcp.model.files import Category, RelationKind
from graphrag_mcp.model.search import EdgeDirection
from graphrag_mcp.search.query.project import asks_about_project

Meaning = TypeVar("Meaning")


class AskedRelation(NamedTuple):
    """A relation that a query asks about, from the definition it names."""

    kind: RelationKind
    direction: EdgeDirection


_CALLERS = AskedRelation(RelationKind.CALLS, EdgeDirection.IN)
_SUBTYPES = AskedRelation(RelationKind.INHERITS, EdgeDirection.IN)
_TESTERS = AskedRelation(RelationKind.TESTS, EdgeDirection.IN)

_TESTS = r"(?:(?:unit|integration|regression|acceptance|smoke|e2e|end.to.end) )?(?:tests?|specs?)(?: cases?| suites?)?"
_DOCUMENTS = (
    r"(?:documentation|docs?|documents?|readme|changelog|faq|tutorials?|manuals?|handbooks?|runbooks?|walkthroughs?|"
    r"release notes|how.?tos?|(?:\w+ )?guides?|adrs?|decision records?|design (?:docs?|documents?)|(?:\w+ )?proposals?)"
)
# "A function that tests for equality" is code.
_TESTS_FOR = r"(?<!that )(?<!which )\b(?:tests (?:for|of|that cover\w*|covering)|(?:a|any|the) test (?:for|of))\b"
_EXAMPLES = r"(?:(?:usage |code )?(?:examples?|samples?|demos?)(?: apps?| applications?| programs?| projects?| code)?)"
_BENCHMARKS = r"benchmarks?"
_BUILD_FILES = (
    r"(?:makefile|make targets?|npm scripts?|docker ?file|docker.compose|compose file|build scripts?|package manifest|"
    r"environment variables|env vars|lockfile|pre.commit hooks?|editor.?config)"
)
_TOOL_SETTINGS = r"(?:lint\w*|format\w*|compiler|type.?checker|coverage|ci|docker|editor|release|deployment|build)"

# Before the word that the query is about, and after it.
_ASKING = r"^(?:(?:show|find|list|give|see|read|me|all|any|some|an?|the|our|which|what|where|is|are|there) )*"
_QUALIFIED = (
    r"(?:$|[:,?]| (?:for|of|on|about|to|that|which|with|covering|showing|explaining|comparing|around|against|in)\b)"
)

_CATEGORY_PHRASES: dict[str, Category] = {
    _ASKING + _TESTS + _QUALIFIED: Category.TESTS,
    _TESTS_FOR: Category.TESTS,
    r"\b(?:unit|integration|regression|e2e|end.to.end) tests?\b": Category.TESTS,
    r"\b(?:is|are|where|what|how|which) .*\b(?:tested|covered)\b": Category.TESTS,
    r"\b(?:covered|checked|verified) by (?:\w+ )?(?:tests?|specs?)\b": Category.TESTS,
    r"\btest (?:cases?|suites?|coverage) (?:for|of)\b": Category.TESTS,
    r"\b(?:used|needed|shared) (?:by|in) (?:the |our )?tests\b": Category.TESTS,
    r"^(?:what|which tests?|does an? test|do the tests) (?:tests?|checks?|covers?|verif\w+)\b": Category.TESTS,
    _ASKING + _DOCUMENTS + _QUALIFIED: Category.DOCUMENTATION,
    rf"[ ,]{_DOCUMENTS}(?:$|:)": Category.DOCUMENTATION,
    r"\b(?:the|our) (?:docs|documentation|readme|manual|changelog|guide)\b": Category.DOCUMENTATION,
    r"\b(?:documented|release notes|migration guide|design document|decision record)\b": Category.DOCUMENTATION,
    _ASKING + _EXAMPLES + _QUALIFIED: Category.EXAMPLES,
    rf"[ ,]{_EXAMPLES}$": Category.EXAMPLES,
    _ASKING + _BENCHMARKS + _QUALIFIED: Category.EXAMPLES,
    rf"\b{_BUILD_FILES}\b": Category.CONFIG,
    rf"\b{_TOOL_SETTINGS} (?:config\w*|settings?|options?|rules?|workflows?|pipelines?|jobs?)\b": Category.CONFIG,
    r"\b(?:config|configuration|settings?) files?\b": Category.CONFIG,
    r"\b(?:github|gitlab) (?:workflows?|pipelines?|actions?)\b": Category.CONFIG,
    r"\bwhere (?:is|are) .* (?:configured|set up)\b": Category.CONFIG,
    _ASKING + r"workflows?" + _QUALIFIED: Category.CONFIG,
}
_STATING = frozenset(
    {Category.DOCUMENTATION, Category.CONFIG}
)  # What states how a project is used, built and released.
_FACT = re.compile(
    r"^(?:what|which|when|may|can|is|are|does|do|should|must)\b|\bhow (?:many|much|long|large|big|often)\b|"
    r"\b(?:i|we|my|our)\b|\bdefaults?\b"
)
_PAST = re.compile(
    r"\b(?:old|older|previous|previously|former|legacy|archived|superseded|deprecated|obsolete|rejected|retired)\b"
)
_CHANGES = re.compile(
    r"\b(?:releas\w*|(?:which|what|since|in) version|chang\w*|since|when|migrat\w*|upgrad\w*|new|deprecat\w*|breaking|"
    r"remov\w*|histor\w*|added|introduc\w*)\b"
)
_ANYTHING = r"(?:who|what|which \w+|where)"
_RELATION_PHRASES: dict[str, AskedRelation] = {
    rf"\b{_ANYTHING} (?:calls?|uses?|invokes?|is \S+ (?:called|used|invoked))\b": _CALLERS,
    r"\b(?:callers?|usages?|uses|call sites?) (?:of|for)\b": _CALLERS,
    r"\bcallees? of\b": AskedRelation(RelationKind.CALLS, EdgeDirection.OUT),
    rf"\b{_ANYTHING} does \S+ (?:call|use|invoke)\b": AskedRelation(RelationKind.CALLS, EdgeDirection.OUT),
    rf"\b{_ANYTHING} (?:imports?|depends? on|requires?)\b": AskedRelation(RelationKind.IMPORTS, EdgeDirection.IN),
    rf"\b{_ANYTHING} does \S+ (?:import|depend on|require)\b": AskedRelation(RelationKind.IMPORTS, EdgeDirection.OUT),
    r"\b(?:subclasses|subtypes|implementations|implementors|children) of\b": _SUBTYPES,
    rf"\b{_ANYTHING} (?:inherits?|extends?|implements?|subclass\w*)\b": _SUBTYPES,
    rf"\b{_ANYTHING} tests?\b": _TESTERS,
    _TESTS_FOR: _TESTERS,
}


def asked_categories(text: str) -> frozenset[Category]:
    """Return the kinds of file that a query asks for; a question about the project asks for two."""
    asked = _asked(text, _CATEGORY_PHRASES)
    return asked | _STATING if asks_about_project(text) else asked


def asks_for_fact(text: str) -> bool:
    """Return whether a question asks what holds or what one can do, and not where or how the code does something."""
    return _FACT.search(_plain(text)) is not None


def asks_for_retired(text: str) -> bool:
    """Return whether a query asks for retired files, which are then not ranked lower."""
    return _PAST.search(text.lower()) is not None


def asks_for_changes(text: str) -> bool:
    """Return whether a query may ask what has changed, which a change log says."""
    return _CHANGES.search(text.lower()) is not None


def asked_relations(text: str) -> tuple[AskedRelation, ...]:
    """Return the relations that a query asks about, in a fixed order."""
    return tuple(sorted(_asked(text, _RELATION_PHRASES)))


def _asked(text: str, phrases: Mapping[str, Meaning]) -> frozenset[Meaning]:
    plain = _plain(text)
    return frozenset(meaning for phrase, meaning in phrases.items() if re.search(phrase, plain))


def _plain(text: str) -> str:
    return " ".join(text.lower().split())
