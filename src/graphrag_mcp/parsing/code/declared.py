"""Finds the options and settings that code declares: flags, keys, and environment variables with a default.

They are arguments of a few well-known functions and annotations. Only the calls of these are looked at, so a file
without one costs nothing. A variable that is read without a default is used, and not declared.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, product
from operator import attrgetter
from typing import NamedTuple

from tree_sitter import Node

from graphrag_mcp.languages.syntax import SourceCode, node_around, outwards
from graphrag_mcp.model.files import Symbol, SymbolKind

MAX_KEYS = 100  # More keys of one file are left out.
_MOST_STRINGS = 6  # Strings of a call that are looked at; the name is among the first.
_DEEPEST = 4  # Nodes between the arguments of a call and a string, and from the name of a call to its arguments.
_SIGNATURE_CHARS = 120

_FLAG = re.compile(r"--?[A-Za-z][\w.-]+")
_NAME = re.compile(r"\.?(?=..)([A-Za-z][\w-]*(?:\.[\w-]+)*)")  # After a dot behind a prefix: `prefix + ".port"`.
_VARIABLE = re.compile(r"([A-Z][A-Z0-9_]+)")
_PLACEHOLDER = re.compile(r"\\?\$\{([\w.-]+)[:}].*")
_BETWEEN_FLAGS = re.compile(r"[\s,/|=]+")  # "-p, --port <number>", "--color/--no-color"

_ARGUMENTS = ("arguments", "argument_list", "literal_value")
_ANNOTATIONS = frozenset({"annotation", "user_type"})
# Nodes between the arguments and a string that names something; in others, such as Python's `help=`, it does not.
_AROUND_NAMES = frozenset(
    {"argument", "array", "binary_expression", "collection_literal", "element_value_array_initializer",
     "element_value_pair", "keyed_element", "literal_element", "value_argument"}
)  # fmt: skip


class Registration(NamedTuple):
    """How the calls of a function name what they declare, where they have no flag (`--port`).

    arguments: the fewest that such a call has. receivers: what stands before the dot; empty for anything.
    """

    shape: re.Pattern[str] | None = None
    arguments: int = 1
    receivers: frozenset[str] = frozenset()

    def fits(self, name: Node, receiver: str, is_call: bool) -> bool:
        """Return whether the name is used as that of the function; one that is not called may be an annotation."""
        is_used = is_call or node_around(name).type in _ANNOTATIONS
        return is_used and (not self.receivers or receiver in self.receivers)


_GO_TYPES = ("Bool", "Count", "Duration", "Float64", "Int", "Int64", "String", "StringArray", "StringSlice",
             "StringToString", "Text", "Uint", "Uint64")  # fmt: skip
REGISTRATIONS = {
    **dict.fromkeys(
        ("Option", "Parameter", "add_argument", "add_flag", "add_option", "on", "requiredOption"), Registration()
    ),
    **dict.fromkeys(("BindPFlag", "SetDefault", "addOption", "getProperty", "option"), Registration(_NAME, 2)),
    **dict.fromkeys(("BindEnv", "ConfigurationProperties", "long"), Registration(_NAME)),
    **dict.fromkeys(map("".join, product(("", *_GO_TYPES), ("", "P", "Var", "VarP"))), Registration(_NAME, 3)),
    **dict.fromkeys((f"{kind}Flag" for kind in _GO_TYPES), Registration(_NAME, 2)),
    **dict.fromkeys(("fetch", "get"), Registration(_VARIABLE, 2, frozenset({"ENV", "env", "environ"}))),
    "getenv": Registration(_VARIABLE, 2),
    "env": Registration(_VARIABLE),
    "Value": Registration(_PLACEHOLDER),
}
SETTING = Registration(_NAME)  # A string that a query names as a setting.


def declared_keys(registrations: Iterable[tuple[Node, Registration]], code: SourceCode) -> list[Symbol]:
    """Return what a file declares, each name where it is first declared, in the order of the file.

    registrations: names of functions that fit their registration, and strings.
    """
    keys = (key for node, registration in registrations for key in _keys(node, registration, code))
    first: dict[str, Symbol] = {}
    for key in sorted(keys, key=attrgetter("start_line")):
        first.setdefault(key.qualified_name, key)
    return list(islice(first.values(), MAX_KEYS))


def _keys(node: Node, registration: Registration, code: SourceCode) -> Iterator[Symbol]:
    around = node if "string" in node.type else _arguments(node)
    if around is None:
        return
    strings = [around] if around is node else list(islice(_strings(around, _DEEPEST), _MOST_STRINGS))
    for string, name in _names(strings, registration, around.named_child_count, code):
        yield _symbol(name, code.row(string.start_byte), node.start_byte, around.end_byte, code)


def _names(
    strings: Sequence[Node], registration: Registration, arguments: int, code: SourceCode
) -> list[tuple[Node, str]]:
    """Return the names that a call declares, each with its string: all its flags, else the first in the right shape."""
    texts = [(string, code.node_text(string).lstrip("bfru").strip("\"'`")) for string in strings]
    words = ((string, word) for string, text in texts if text[:1] == "-" for word in _BETWEEN_FLAGS.split(text))
    flags = [(string, word) for string, word in words if _FLAG.fullmatch(word)]
    if flags or registration.shape is None or arguments < registration.arguments:
        return flags
    return [(string, match[1]) for string, text in texts if (match := registration.shape.fullmatch(text))][:1]


def _arguments(name: Node) -> Node | None:
    """Return the arguments of what has the name that is called."""
    for node in islice(outwards(name), _DEEPEST):
        after = node.next_named_sibling
        if after is not None and after.type.endswith(_ARGUMENTS) and not after.type.startswith("type_"):
            return after
    return None


def _strings(node: Node, depth: int) -> Iterator[Node]:
    for child in node.named_children:
        if "string" in child.type:
            yield child
        elif child.type in _AROUND_NAMES and depth:
            yield from _strings(child, depth - 1)


def _symbol(name: str, row: int, start: int, end: int, code: SourceCode) -> Symbol:
    """Return a key with the line of its name; its signature is all of the call from its line on, to show the default.

    start, end: of the call.
    """
    begin = code.starts[code.row(start)]
    line_end = code.starts[row + 1] if row + 1 < len(code.starts) else len(code.data)
    text = " ".join(code.text(begin, min(max(end, line_end), begin + 4 * _SIGNATURE_CHARS)).split())
    last = name.lstrip("-").rpartition(".")[2]
    return Symbol(last, name, SymbolKind.KEY, row + 1, row + 1, text[:_SIGNATURE_CHARS])
