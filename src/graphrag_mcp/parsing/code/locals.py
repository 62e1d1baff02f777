"""Which names of a file are local variables where, and so mean nothing that is defined elsewhere."""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import NamedTuple

from tree_sitter import Node

from graphrag_mcp.languages.grammars import Captures
from graphrag_mcp.languages.syntax import SourceCode

_SET_LATER = {  # What is after the name there still sees the variable before.
    *("assignment", "assignment_expression", "for_expression", "init_declarator", "let_condition", "let_declaration"),
    *("property_declaration", "val_definition", "var_definition", "variable_declarator"),
}
_MOST_PATTERNS = 4  # Around a name in a declaration.

# What a node says of names, in the order of what begins at one place: `captures.py` has the roles.
NAMING_ROLES = ("block.own", "block", "bound", "bare", "handed")


class Naming(NamedTuple):
    """One node that says something of names."""

    start: int
    role: str
    node: Node
    captures: Captures


def not_local(namings: Iterable[Naming], code: SourceCode) -> Iterator[Naming]:
    """Yield the bare and handed names that are no variables of a block around them."""
    blocks: list[tuple[float, bool, set[str]]] = [(float("inf"), True, set())]  # End, whether it is closed, variables.
    for naming in sorted(namings, key=lambda naming: (naming.start, NAMING_ROLES.index(naming.role))):
        while blocks[-1][0] <= naming.start:
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


class Bindings:
    """Which variable a name is at an offset: the one of the innermost block around it that was bound last."""

    def __init__(self, namings: Iterable[Naming], code: SourceCode, names: Collection[str]) -> None:
        """names: those that are asked for."""
        self._bound: dict[str, list[tuple[int, int]]] = {}  # From where on, and where that variable begins.
        blocks: list[tuple[float, list[tuple[str, int]]]] = [(float("inf"), [])]  # End, names and what they were.
        events = ((_begin(naming), naming) for naming in namings)
        for begin, naming in sorted(events, key=lambda event: (event[0], NAMING_ROLES.index(event[1].role))):
            while blocks[-1][0] <= begin:
                self._leave(*blocks.pop())
            if naming.role in ("block.own", "block"):
                blocks.append((naming.node.end_byte, []))
            elif naming.role == "bound" and (name := code.node_text(naming.node).rstrip(":")) in names:
                bound = self._bound.setdefault(name, [(-1, -1)])
                blocks[-1][1].append((name, bound[-1][1]))
                bound.append((begin, naming.start))
        while len(blocks) > 1:
            self._leave(*blocks.pop())

    def _leave(self, end: float, before: list[tuple[str, int]]) -> None:
        for name, start in reversed(before):
            self._bound[name].append((int(end), start))

    def start_of(self, name: str, at: int) -> int:
        """Return where the variable begins that a name is at an offset, -1 where it is none that is bound."""
        bound = self._bound.get(name, ())
        index = bisect_right(bound, at, key=itemgetter(0)) - 1
        return bound[index][1] if index >= 0 else -1


def _begin(naming: Naming) -> int:
    """Return from where on a name is bound: `let a = a.next()` still calls that of the variable before."""
    node = naming.node
    for _ in range(_MOST_PATTERNS if naming.role == "bound" else 0):
        if node.parent is None:
            break
        node = node.parent
        if node.type in _SET_LATER:
            value = node.child_by_field_name("value") or node.child_by_field_name("right")
            return value.end_byte if value and value.start_byte > naming.start else naming.start
    return naming.start
