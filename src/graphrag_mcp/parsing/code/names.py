"""Names as the syntax of a language writes them, and which of them are local variables where."""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

from tree_sitter import Node

from graphrag_mcp.languages.grammars import Captures
from graphrag_mcp.languages.syntax import SourceCode, node_around, outwards

_QUOTES = ('"', "`")
_TITLE_QUOTES = ('"', "'", "`")
_NOT_IN_TITLES = re.compile(r'"|\\(?=[\W_])')  # Quotes, and what escapes one.
_TITLE_CHARS = 100
_LONGEST_TYPE = 250  # Each of a row of calls is an expression with those before it.
_MOST_FIELDS = 6
_SET_LATER = {  # What is after the name there still sees the variable before.
    *("assignment", "assignment_expression", "for_expression", "init_declarator", "let_condition", "let_declaration"),
    *("property_declaration", "val_definition", "var_definition", "variable_declarator"),
}
_SEEN_AT_ONCE = frozenset({"assignment"})  # There a bare name after it is that variable.
_MOST_PATTERNS = 4  # Around a name in a declaration.
# What a node says of names, in the order of what begins at one place: `captures.py` has the roles.
NAMING_ROLES = ("block.own", "block", "bound", "bare", "called", "handed")


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
    name = name.removeprefix("r#").removeprefix("#")
    return name[1:] if name[:1] == ":" and name[1:2].isidentifier() else name


def called_name(node: Node, code: SourceCode) -> Node | None:
    """Return the name of a call; in a macro's tokens that before type arguments, none for `a > (b)` and `fn a(b)`."""
    if node_around(node).type not in ("token_tree", "token_repetition"):
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
    kinds = (outer.type for outer in outwards(node.parent) if outer.type != "scoped_identifier")
    return next(kinds, "") in ("macro_invocation", "token_tree")


class Naming(NamedTuple):
    """One node that says something of names."""

    start: int
    role: str
    node: Node
    captures: Captures


def not_local(namings: Iterable[Naming], code: SourceCode) -> Iterator[Naming]:
    """Yield the bare, called and handed names that are no variables of a block around them."""
    blocks: list[tuple[float, bool, set[str]]] = [(float("inf"), True, set())]  # End, whether it is closed, variables.
    for begin, naming in _in_order(namings, _SEEN_AT_ONCE):
        while blocks[-1][0] <= begin:
            blocks.pop()
        if naming.role in ("block.own", "block"):
            blocks.append((naming.node.end_byte, naming.role == "block.own", set()))
        elif naming.role == "bound":
            blocks[-1][2].add(code.node_text(naming.node).rstrip(":"))
        elif not _is_bound(code.node_text(naming.node), blocks):
            yield naming


def _is_bound(name: str, blocks: Sequence[tuple[float, bool, set[str]]]) -> bool:
    for _, is_closed, names in reversed(blocks):
        if name in names:
            return True
        if is_closed:
            break
    return False


_UNBOUND = ((-1, -1),)  # From the beginning, none.


class Bindings:
    """Which variable a name is at an offset: the one of the innermost block around it that was bound last."""

    def __init__(self, namings: Iterable[Naming], code: SourceCode, names: Collection[str]) -> None:
        """names: those that are asked for."""
        self._bound: dict[str, list[tuple[int, int]]] = {}  # From where on, and where that variable begins.
        blocks: list[tuple[float, list[tuple[str, int]]]] = [(float("inf"), [])]  # End, names and what they were.
        for begin, naming in _in_order(namings):
            while blocks[-1][0] <= begin:
                self._leave(*blocks.pop())
            if naming.role in ("block.own", "block"):
                blocks.append((naming.node.end_byte, []))
            elif naming.role == "bound" and (name := code.node_text(naming.node).rstrip(":")) in names:
                bound = self._bound.setdefault(name, [*_UNBOUND])
                blocks[-1][1].append((name, bound[-1][1]))
                bound.append((begin, naming.start))
        while len(blocks) > 1:
            self._leave(*blocks.pop())

    def _leave(self, end: float, before: list[tuple[str, int]]) -> None:
        for name, start in reversed(before):
            self._bound[name].append((int(end), start))

    def start_of(self, name: str, at: int) -> int:
        """Return where the variable begins that a name is at an offset, -1 where it is none that is bound."""
        bound = self._bound.get(name, _UNBOUND)
        return bound[bisect_right(bound, at, key=itemgetter(0)) - 1][1]


def _in_order(namings: Iterable[Naming], at_once: Set[str] = frozenset()) -> list[tuple[int, Naming]]:
    """Return namings in the order in which they count, with from where on. at_once: see `_begin`."""
    events = ((_begin(naming, at_once), naming) for naming in namings)
    return sorted(events, key=lambda event: (event[0], NAMING_ROLES.index(event[1].role)))


def _begin(naming: Naming, at_once: Set[str]) -> int:
    """Return from where on a name is bound: `let a = a.next()` still calls that of the variable before.

    at_once: the nodes in which what is after a name sees it.
    """
    for node in islice(outwards(naming.node.parent), _MOST_PATTERNS if naming.role == "bound" else 0):
        if node.type in _SET_LATER and node.type not in at_once:
            value = node.child_by_field_name("value") or node.child_by_field_name("right")
            return value.end_byte if value and value.start_byte > naming.start else naming.start
    return naming.start
