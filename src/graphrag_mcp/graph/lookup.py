"""Finds the definitions and files that a caller names by a name, a path or a location."""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from functools import partial
from pathlib import Path

from graphrag_mcp.errors import UnknownNameError, no_such_line, not_indexed
from graphrag_mcp.model.files import VARIABLE, SymbolKind
from graphrag_mcp.model.graph import CodeNode
from graphrag_mcp.model.grouping import of_each, preferred
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.ports import SymbolGraph
from graphrag_mcp.text.names import (
    LOCATION,
    as_name,
    key_names,
    operator_name,
    qualified_by,
    read_declaration,
    read_name,
    sets_key,
)

SIMILAR_NAMES = 8

_SEPARATORS = re.compile(r"::|->|#|/")  # They may be between a name and its qualifiers instead of the dot.
_RECEIVER = re.compile(r"\(\*?(\w+)\)")  # Around the type of a method in stack traces of Go.
_INNER = re.compile(r"(?<=\w)\$(?=[A-Z])")  # The JVM names inner classes so.
_PROTOTYPE = re.compile(r"\.prototype(?=\.)")  # JavaScript names methods so.
_TEXT_KINDS = (SymbolKind.SECTION, SymbolKind.KEY)  # Definitions that are no code.
_MEMBER = re.compile(r"(?P<path>[^:#]+)(?:::?|#)(?P<name>.+)\Z")


def find_nodes(graph: SymbolGraph, text: str, root: Path, scope: Scope) -> list[CodeNode]:
    """Return what a name (`refresh`, `Session.refresh`), a path, `path:line` or `path::name` refers to."""
    if (operator := operator_name(text)) and (nodes := _definitions(graph, operator, scope)):
        return nodes
    is_called = text.strip().endswith("()")
    text = text.strip().removesuffix("()")
    declared = read_declaration(text)
    if declared and (nodes := _definitions(graph, ".".join((*declared.qualifiers, declared.name)), scope)):
        fitting = [node for node in nodes if declared.is_overload(node.name, node.signature)]
        return fitting or preferred(nodes, lambda node: not declared.misses(node.signature))
    file = graph.file(_relative(text, root))
    nodes = _at_location(graph, text, root) or _in_file(graph, text, root, scope) or [*filter(None, [file])]
    nodes = nodes or _said(text, _definitions(graph, text, scope))
    return preferred(nodes, lambda node: not (is_called and node.kind in VARIABLE))


def unknown_name(graph: SymbolGraph, text: str, scope: Scope, members: str) -> UnknownNameError:
    """Return the error for a name that nothing has; it lists similar names. members: those of its type, as a text."""
    last = _plain(text).rpartition(".")[2]
    similar = graph.similar_names(last, SIMILAR_NAMES, scope) or get_close_matches(last, graph.names(), SIMILAR_NAMES)
    shown = "similar names: " + ", ".join(map(as_name, similar)) if similar else ""
    hint = "; ".join(filter(None, (shown, members))) or "search for it in words"
    return UnknownNameError("symbol", f"nothing that is indexed defines {text!r}, and no file is called that; {hint}")


def find_file(graph: SymbolGraph, path: str, root: Path) -> CodeNode:
    """Return an indexed file. Raises UnknownNameError when there is none."""
    path = _relative(path, root)
    file = graph.file(path)
    if file is None:
        raise UnknownNameError("path", not_indexed(path))
    return file


def complete(beginning: str, names: Iterable[str]) -> list[str]:
    """Return the names that begin with the text, then those that contain it, ignoring case."""
    typed = beginning.lower()
    matches = (name for name in names if typed in name.lower())
    return sorted(matches, key=lambda name: (not name.lower().startswith(typed), name))


def dotted(name: str) -> str:
    """Return a name with dots between it and its qualifiers."""
    return _SEPARATORS.sub(".", name)


def _at_location(graph: SymbolGraph, text: str, root: Path) -> list[CodeNode]:
    location = LOCATION.match(text)
    if location is None:
        return []
    path = _relative(location["path"], root)
    line, file = int(location["line"]), graph.file(path)
    if file is None:
        return []
    if line > file.end_line:
        raise UnknownNameError("symbol", no_such_line(path, line, file.end_line))
    return [*sorted(graph.in_file(path, line), key=lambda node: node.kind is SymbolKind.KEY), file][:1]


def _in_file(graph: SymbolGraph, text: str, root: Path, scope: Scope) -> list[CodeNode]:
    if (member := _MEMBER.match(text)) is None:
        return []
    path, nodes = _relative(member["path"], root), _definitions(graph, member["name"], scope)
    here = [node for node in nodes if node.path == path]
    return here or [node for node in nodes if node.path.endswith(f"/{path}") and "." in path]


def _definitions(graph: SymbolGraph, name: str, scope: Scope) -> list[CodeNode]:
    """Return the definitions of a name: as written, since a heading may contain separators, else with dots for them.

    Names in other case are returned only where no code has the name as written, and those after a module or folder, or
    in another style (`set_command` for `SetCommand`), where nothing else is found.
    """
    plain = _plain(name)
    last = plain.rpartition(".")[2]
    nodes = graph.definitions(name, scope) or graph.definitions(plain, scope)
    if all(node.name not in (last, name) for node in nodes):  # `queue.Storage` is no field `Queue.storage`.
        others = _in_other_words(graph, plain, scope)
        nodes = [node for node in others if node.name == last] or nodes or others
    # If nothing has the name, it may be the title of a test.
    nodes = nodes or _keys_set_by(graph, name, scope) or graph.definitions(f'"{name}"', scope)
    if read_name(name).is_flag and (keys := [node for node in nodes if node.kind is SymbolKind.KEY]):
        return keys
    if "." in name or name.startswith("#"):  # A class of JavaScript may have `value` and `#value`.
        nodes = preferred(nodes, lambda node: f".{node.qualified_name}".endswith(f".{name}"))
    exact = [node for node in nodes if node.name in (last, name)]
    return exact if any(node.kind not in _TEXT_KINDS for node in exact) else nodes


def _said(text: str, nodes: list[CodeNode]) -> list[CodeNode]:
    """Return the definitions, each marked if the text has another name than it: in other case, or another style."""
    name = _plain(text).rpartition(".")[2]
    is_said = (node.kind in _TEXT_KINDS or node.name == name or text.endswith(node.name.strip('"')) for node in nodes)
    return nodes if any(is_said) else [node._replace(asked_as=name) for node in nodes]


def _keys_set_by(graph: SymbolGraph, variable: str, scope: Scope) -> list[CodeNode]:
    """Return the keys of configuration whose values an environment variable sets."""
    nodes = of_each(partial(graph.definitions, scope=scope), key_names(variable))
    return [node for node in nodes if node.kind is SymbolKind.KEY and sets_key(variable, node.qualified_name)]


def _in_other_words(graph: SymbolGraph, name: str, scope: Scope) -> list[CodeNode]:
    """Return the definitions of a name whose first qualifiers are folders or a module, or that has another style."""
    named = read_name(name)
    for spelling in named.spellings:
        nodes = [
            node
            for node in graph.definitions(spelling, scope)
            if not named.qualifiers or qualified_by(named.qualifiers, node.qualified_name, node.path) == 0
        ]
        if nodes:
            return nodes
    return []


def _plain(name: str) -> str:
    """Return a name with dots between its parts: of `pkg.(*Type).Method` and `Outer$Inner` too, as in stack traces."""
    return dotted(_PROTOTYPE.sub("", _INNER.sub(".", _RECEIVER.sub(r"\1", name)))).strip(".*&-")


def _relative(path: str, root: Path) -> str:
    if Path(path).is_absolute():
        return Path(path).relative_to(root).as_posix() if Path(path).is_relative_to(root) else path
    return path.removeprefix("./")
