"""Names as the syntax of a language writes them."""

import re
from collections.abc import Iterable

from tree_sitter import Node

from graphrag_mcp.languages.syntax import SourceCode

_QUOTES = ('"', "`")
_TITLE_QUOTES = ('"', "'", "`")
_NOT_IN_TITLES = re.compile(r'"|\\(?=[\W_])')  # Quotes, and what escapes one.
_TITLE_CHARS = 100
_LONGEST_TYPE = 250  # Each of a row of calls is an expression with those before it.
_MOST_FIELDS = 6


class OwnNamespace:
    """The types of its own namespace that a file names. names: those of the namespaces that it declares."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._near: dict[str, int] = {}  # The types that are written without a namespace, each with its first row,
        self._far: set[str] = set()  # and those that are written with one.

    def note(self, node: Node, code: SourceCode) -> None:
        """Note how a type is written: `Name`, `\\Name` or `Other\\Name`; nothing of an expression."""
        if node.end_byte - node.start_byte > _LONGEST_TYPE:
            return
        text = code.node_text(node)
        is_far = "\\" in text or code.data.startswith(b"\\", node.start_byte - 1)
        name = last_name(text)
        if name[:1].isupper() and text.replace("\\", "").isidentifier():
            self._far.add(name) if is_far else self._near.setdefault(name, code.row(node.start_byte))

    @property
    def types(self) -> dict[str, int]:
        """The types that are written without a namespace only, with their rows; none where it is not known which."""
        return {name: row for name, row in self._near.items() if name not in self._far and len(self.names) == 1}


def last_name(text: str) -> str:
    """Return `c` of `a.b.c`, `a::b::c` and `a\\b\\c`."""
    return text.replace("::", ".").replace("\\", ".").rpartition(".")[2]


def type_name(text: str) -> str:
    """Return how a type is written, without its arguments: `a.C` of `a::C<T>` and `a.C`, but `C` of `a\\C`."""
    parts = [part.strip() for part in text.partition("<")[0].replace("::", ".").rpartition("\\")[2].split(".")]
    return ".".join(filter(None, parts))


def fields_of(text: str) -> str:
    """Return `cart.owner` of `cart.owner`, `$cart->owner` and `cart?.owner`; "" for anything else."""
    names = text.strip("$@&*").replace("->", ".").replace("?.", ".").replace("!.", ".").split(".")
    return ".".join(names) if 1 < len(names) <= _MOST_FIELDS and all(map(str.isidentifier, names)) else ""


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


def called_name(node: Node, code: SourceCode) -> Node | None:
    """Return the name of a call; in a macro's tokens that before type arguments, none for `a > (b)` and `fn a(b)`."""
    if node.parent is None or node.parent.type not in ("token_tree", "token_repetition"):
        return node
    if code.data.endswith(b"fn ", 0, node.start_byte):
        return None
    following = node.next_sibling
    if following is None or following.is_named:
        return node
    before: Node | None = node if following.type == ">" else None
    while before is not None and not code.data.startswith(b"::<", before.end_byte):
        before = before.prev_named_sibling
    return before


def is_macro(node: Node) -> bool:
    """Return whether a name is that of a macro that is invoked, in Rust; in TypeScript `f!()` calls a function."""
    around = node.parent
    if around is not None and around.type == "scoped_identifier":
        around = around.parent
    return around is not None and around.type in ("macro_invocation", "token_tree")
