"""Understands a query: what it names, what kind of file it asks for, which relation it asks about."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from graphrag_mcp.model import Category, RelationKind
from graphrag_mcp.words import query_words

MAX_TERMS = 64  # More words than this is a pasted log; the rarest of them would still be among the first.


Meaning = TypeVar("Meaning")


class Intent(StrEnum):
    """The three shapes of a query."""

    SYMBOL = "symbol"
    PATH = "path"
    NATURAL = "natural"


@dataclass(frozen=True, slots=True)
class Query:
    """A query, understood.

    terms: stemmed words for the keyword index, distinct, in order. symbols: names the query says, each with its
    qualifiers before it ("Session.send" gives name "send", qualifiers ("Session",)). paths: file paths or names it
    says. categories: kinds of file it really asks for; their prior is lifted. relations: edges it asks about.
    """

    text: str
    intent: Intent
    terms: tuple[str, ...]
    symbols: tuple["NamedSymbol", ...]
    paths: tuple[str, ...]
    categories: frozenset[Category]
    relations: tuple[RelationKind, ...]


@dataclass(frozen=True, slots=True)
class NamedSymbol:
    """A symbol as a query writes it, without its last name's qualifiers, outermost first."""

    name: str
    qualifiers: tuple[str, ...] = ()


def understand(text: str) -> Query:
    """Return what the query asks for."""
    tokens = [match.group(0) for match in _TOKEN.finditer(text)]
    paths = tuple(dict.fromkeys(token.strip("./") for token in tokens if _is_path(token)))
    alone = len(tokens) == 1
    symbols = tuple(
        dict.fromkeys(
            _named_symbol(token) for token in tokens if not _is_path(token) and (alone or _is_identifier(token))
        )
    )
    intent = Intent.NATURAL
    if alone:
        intent = Intent.PATH if paths else Intent.SYMBOL
    return Query(
        text=text,
        intent=intent,
        terms=tuple(query_words(text)[:MAX_TERMS]),
        symbols=symbols,
        paths=paths,
        categories=_asked(text, _CATEGORY_PHRASES),
        relations=tuple(sorted(_asked(text, _RELATION_PHRASES))),
    )


# A name with its qualifiers, or a path: `Foo::bar`, `foo.bar()`, `Foo#bar`, `ptr->field`, `src/a/b.py`, `useState`.
_TOKEN = re.compile(r"[\w$@./\\-]*\w(?:(?:::|->|#)[\w$~]+)*[!?]?(?:\(\))?", re.UNICODE)
_SEPARATORS = re.compile(r"::|->|[.#]")
_FILE_NAME = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,7}$")


def _is_path(token: str) -> bool:
    if "::" in token or "->" in token or token.endswith("()"):
        return False
    if "/" in token.strip("/"):
        return True
    return bool(_FILE_NAME.search(token)) and token.rsplit(".", 1)[-1].lower() in _FILE_EXTENSIONS


# Only extensions that are no common member name: `app.run` and `foo.go` look alike.
_FILE_EXTENSIONS = frozenset(
    """bash c cc cfg conf cpp cs css cxx ex exs go h hpp hs html ini java js json jsx kt kts lua md mdx mjs php py pyi
    rb rs rst scala sh sql swift toml ts tsx txt xml yaml yml zig""".split()  # noqa: SIM905 - 45 quotes read worse.
)


def _is_identifier(token: str) -> bool:
    """Tell a name of the code from a word of prose: it has an underscore, an inner capital, a qualifier or a call."""
    if token.endswith("()") or "_" in token.strip("_") or "::" in token or "->" in token or "#" in token:
        return True
    inner = token[1:]
    if "." in inner.strip("."):
        return True
    return any(letter.isupper() for letter in inner) and any(letter.islower() for letter in token)


def _named_symbol(token: str) -> NamedSymbol:
    parts = [part for part in _SEPARATORS.split(token.removesuffix("()")) if part]
    return NamedSymbol(parts[-1], tuple(parts[:-1])) if parts else NamedSymbol(token)


# What a query must say to be about tests, documents, … rather than to contain the word: "test client" asks for code.
_CATEGORY_PHRASES: dict[str, Category] = {
    r"tests? (for|of|that|cover\w*|which)": Category.TESTS,
    r"(unit|integration|regression|e2e|end.to.end) tests?": Category.TESTS,
    r"(is|are|how|where|what) [\w .`']*\btested": Category.TESTS,
    r"(where|which|what) (are|is)? ?(the )?tests?\b": Category.TESTS,
    r"test (cases?|suites?|coverage|files?)": Category.TESTS,
    r"(documentation|docs?|readme|changelog|tutorial|guide)( (for|of|on|about|page|file|that|explain\w*)|$)": (
        Category.DOCUMENTATION
    ),
    r"^(documentation|docs|readme|changelog|release notes)\b": Category.DOCUMENTATION,
    r"(documented|release notes|migration guide|design document|adr)\b": Category.DOCUMENTATION,
    r"(config|configuration|settings?) (files?|yaml|toml|json)": Category.CONFIG,
    r"(ci|github|gitlab) (workflows?|pipelines?|actions?|configuration|config|jobs?)": Category.CONFIG,
    r"(docker ?file|docker.compose|makefile|pyproject|package\.json|cargo\.toml|build script)": Category.CONFIG,
    r"(examples?|samples?|demos?) (of|for|that|showing|using|app\w*|project)": Category.EXAMPLES,
    r"benchmarks? (of|for|that)": Category.EXAMPLES,
}
_RELATION_PHRASES: dict[str, RelationKind] = {
    r"(who|what|which \w+|where) (calls?|uses?|invokes?|is \S+ (called|used|invoked))": RelationKind.CALLS,
    r"(callers?|callees?|usages?|uses|call sites?) (of|for)": RelationKind.CALLS,
    r"(who|what|which \w+) (imports?|depends? on|requires?)": RelationKind.IMPORTS,
    r"(subclasses|implementations?|implementors|children) of": RelationKind.INHERITS,
    r"(who|what|which \w+) (inherits?|extends?|implements?|subclass\w*)": RelationKind.INHERITS,
    r"tests? (for|of|that cover\w*)": RelationKind.TESTS,
}


def _asked(text: str, phrases: Mapping[str, Meaning]) -> frozenset[Meaning]:
    plain = " ".join(text.lower().split())
    return frozenset(meaning for phrase, meaning in phrases.items() if re.search(rf"\b{phrase}", plain))
