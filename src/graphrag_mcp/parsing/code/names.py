"""Names as the syntax of a language writes them."""

import re
from collections.abc import Iterable

_QUOTES = ('"', "`")
_TITLE_QUOTES = ('"', "'", "`")
_NOT_IN_TITLES = re.compile(r'"|\\(?=[\W_])')  # Quotes, and what escapes one.
_TITLE_CHARS = 100


def last_name(text: str) -> str:
    """Return `c` of `a.b.c`, `a::b::c` and `a\\b\\c`."""
    return text.replace("::", ".").replace("\\", ".").rpartition(".")[2]


def as_title(parts: Iterable[str]) -> str:
    """Return the title of a test, in quotes: no name in code can be mistaken for it."""
    words = ".".join(part[1:-1] if part[:1] in _TITLE_QUOTES else part for part in parts)
    return f'"{" ".join(_NOT_IN_TITLES.sub("", words).split())[:_TITLE_CHARS]}"'


def without_marks(name: str) -> str:
    """Return a name without what only marks it as one.

    That is `go` for JavaScript's private `#go`, `type` for Rust's raw `r#type`, `to_s` for Ruby's symbol `:to_s`, and
    `order` for the quoted "order" of SQL and Swift's `order` in backticks.
    """
    if name[:1] in _QUOTES and name[-1:] == name[:1] and len(name) > 2:
        name = name[1:-1]
    name = name.removeprefix("r#").removeprefix("#") if "#" in name else name
    return name[1:] if name[:1] == ":" and (name[1:2].isalpha() or name[1:2] == "_") else name
