"""Finds the keys of a configuration file: YAML, TOML, JSON, INI, properties, environment templates, `name value`.

A key is named by its path: `server.http.port`. The elements of lists have no keys. The bounds keep a file of data, or a
schema, from filling the index with names that are never looked up.
"""

import importlib
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

from tree_sitter import Language, Node

from graphrag_mcp.languages.syntax import SourceCode, SyntaxTimeoutError, parse_tree
from graphrag_mcp.model.files import Category, Symbol, SymbolKind

MAX_KEYS = 100  # More keys of one file are left out.
MAX_DEPTH = 5  # Parts of a path.
_LARGEST = 60_000  # Characters; hand-written settings are smaller.
_LARGEST_CONF = 200_000  # Some explain each line at length.
_SIGNATURE_CHARS = 120
_TRANSLATED = frozenset({"i18n", "l10n", "lang", "langs", "locale", "locales", "translations"})


class Key(NamedTuple):
    """path: the names from the outermost to its own. row: the line on which it stands, from 0."""

    path: tuple[str, ...]
    row: int


def configuration_keys(path: str, text: str, category: Category) -> tuple[Symbol, ...]:
    """Return the keys of a file as symbols, in its order; none of another file, or one that cannot be read."""
    *folders, name = path.lower().split("/")
    suffix = name.rpartition(".")[2]
    read = assigned_keys if name.startswith(".env") else _READERS.get(suffix)
    largest = _LARGEST_CONF if read is conf_keys else _LARGEST
    if read is None or category is not Category.CONFIG or len(text) > largest or not _TRANSLATED.isdisjoint(folders):
        return ()
    lines = text.split("\n")
    named = (Key(tuple(filter(str.strip, key.path)), key.row) for key in read(text))
    shallow = (key for key in named if 0 < len(key.path) <= MAX_DEPTH)
    return tuple(_symbol(key, lines) for key in islice(shallow, MAX_KEYS))


def _symbol(key: Key, lines: list[str]) -> Symbol:
    line = lines[key.row].strip()[:_SIGNATURE_CHARS]
    return Symbol(key.path[-1], ".".join(key.path), SymbolKind.KEY, key.row + 1, key.row + 1, line)


# ---------------------------------------------------------------- YAML, TOML and JSON, from their syntax trees

_KEYED = frozenset({"pair", "block_mapping_pair", "flow_pair", "table"})
# Nodes between a key and the keys below it. Lists are not among them.
_AROUND = frozenset(
    {"stream", "document", "block_node", "flow_node", "block_mapping", "flow_mapping", "object", "inline_table"}
)
_NO_NAMES = frozenset({"<<", ""})  # The first is YAML's merge of another mapping.
_QUOTES = "\"'"
_DEEP_BLOCK = re.compile(rb"^[ \t?:-]{200}", re.MULTILINE)  # tree-sitter-yaml crashes at 250 blocks in each other.


@cache
def _language(package: str) -> Language:
    return Language(importlib.import_module(package).language())


def _read(package: str, text: str) -> Iterator[Key]:
    """Yield the keys in the order of the text. Raises SyntaxTimeoutError."""
    code = SourceCode(text)
    if _DEEP_BLOCK.search(code.data):
        raise SyntaxTimeoutError("nested too deeply")
    tree = parse_tree(_language(package), code, ascii_only=not text.isascii())
    yield from _below(tree.root_node, (), code)


def _below(root: Node, outer: tuple[str, ...], code: SourceCode) -> Iterator[Key]:
    """Yield the keys below a node. The tree is as deep as the text is nested, so it is walked without recursion."""
    pending = [(child, outer) for child in reversed(root.named_children)]
    while pending:
        node, path = pending.pop()
        if node.type in _KEYED:
            children = node.named_children
            if children and (parts := _parts(children[0], code)):
                inner = (*path, *parts)
                yield Key(inner, children[0].start_point.row)
                pending += [(value, inner) for value in reversed(children[1:])]
        elif node.type in _AROUND:
            pending += [(child, path) for child in reversed(node.named_children)]


def _parts(name: Node, code: SourceCode) -> tuple[str, ...]:
    """Return the names in a key: several of TOML's `a.b`, which nests to the left, one of any other."""
    if name.type != "dotted_key":
        text = code.node_text(name).strip().strip(_QUOTES)
        return () if text in _NO_NAMES or "\n" in text else (text,)
    parts: list[str] = []
    pending = [name]
    while pending:
        node = pending.pop()
        if node.type == "dotted_key":
            pending += node.named_children
        else:
            parts += _parts(node, code)
    return tuple(reversed(parts))


# ---------------------------------------------------------------- one setting in a line

_UNSTATED = frozenset({"", "#", ";", "!"})  # With these a line begins that states nothing.
_EXPORT = "export "
_SPACED = re.compile(r"[A-Za-z][\w.-]*(?=[ \t]+\S)")  # `maxmemory 100mb`
_MOST_LINES = 0.8  # The share of lines that shows a format.


def assigned_keys(text: str) -> Iterator[Key]:
    """Yield the keys in the order of the text, below the section in which they stand.

    An indented line, and one after a backslash, continue the value before them.
    """
    section: tuple[str, ...] = ()
    continued = False
    for row, line in enumerate(text.split("\n")):
        continues, continued = continued, line.endswith("\\")
        stated = line.strip()
        if continues or stated[:1] in _UNSTATED or line[0].isspace():
            continue
        if stated.startswith("[") and stated.endswith("]"):
            section = (stated[1:-1].strip(),)
            yield Key(section, row)
        elif name := _assigned(stated.removeprefix(_EXPORT)):
            yield Key((*section, *name.split(".")), row)


def conf_keys(text: str) -> Iterator[Key]:
    """Yield the keys of a `.conf` file: assigned ones, or the first words where most lines are a name and its value.

    Such a name may be repeated, as `location` is; its first line counts.
    """
    lines = [line.strip() for line in text.split("\n")]
    stated = [line for line in lines if line[:1].isalnum()]
    if sum(map(bool, map(_assigned, stated))) > len(stated) / 2:
        yield from assigned_keys(text)
    elif sum(map(bool, map(_SPACED.match, stated))) >= _MOST_LINES * len(stated):
        first = {match[0]: row for row in reversed(range(len(lines))) if (match := _SPACED.match(lines[row]))}
        yield from (Key((name,), row) for name, row in sorted(first.items(), key=itemgetter(1)))


def _assigned(line: str) -> str:
    """Return the name before the first `=` or `:`; "" where there is none, or where it is not a single word."""
    end = min((place for mark in "=:" if (place := line.find(mark)) > 0), default=0)
    name = line[:end].rstrip()
    return name if name.split() == [name] else ""


_READERS: dict[str, Callable[[str], Iterable[Key]]] = {
    **dict.fromkeys(("yaml", "yml"), partial(_read, "tree_sitter_yaml")),
    "toml": partial(_read, "tree_sitter_toml"),
    **dict.fromkeys(("json", "jsonc"), partial(_read, "tree_sitter_json")),
    **dict.fromkeys(("ini", "cfg", "properties"), assigned_keys),
    **dict.fromkeys(("conf", "sshd_config", "ssh_config"), conf_keys),
}
