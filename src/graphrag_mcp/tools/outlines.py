"""Maps, outlines and chunks as text, for resources and the command line."""

from collections.abc import Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING

from graphrag_mcp.model.files import CALLABLE, SymbolKind
from graphrag_mcp.model.graph import CodeNode
from graphrag_mcp.model.search import StoredChunk
from graphrag_mcp.text.counts import counted
from graphrag_mcp.text.names import as_name
from graphrag_mcp.tools.excerpts import cost_of, cost_of_lines, room_of, take_fitting
from graphrag_mcp.tools.printing import fenced, location, numbered, one_line, printable

if TYPE_CHECKING:  # They import numpy through the ports, and no client should wait for that.
    from graphrag_mcp.graph.navigator import Outline
    from graphrag_mcp.graph.orientation import Orientation, RepositoryMap

SIGNATURE_CHARACTERS = 160
# Characters of the parts of an orientation.
ROOMS = {"Folders, with their files": 300, "Most depended on": 500, "Entry points": 250}
ROOM = 110  # Characters of each other part; with the titles, all parts together have 2,100.
NAMES_SHOWN = 2  # No more names of a module are shown.
_LATER = {SymbolKind.CONSTANT: 1, SymbolKind.FIELD: 2}  # Where not all definitions fit, these come after the others.
_INNER = 3


def write_map(repository_map: "RepositoryMap", tokens: int, note: str = "") -> str:
    """Return the best definitions that fit, grouped by file; files in the order of their best definition."""
    if not repository_map.nodes:
        nothing = "No definition was found to be used by another code file; read the outlines of files instead."
        return "\n".join(filter(None, (note, nothing)))
    room = room_of(tokens) - 200
    files: dict[str, list[CodeNode]] = {}
    for node in repository_map.nodes:
        cost = cost_of(_line(node)) + 1 + (cost_of(node.path) + 1 if node.path not in files else 0)
        if cost > room:
            break
        room -= cost
        files.setdefault(node.path, []).append(node)
    shown = sum(map(len, files.values()))
    head = f"The {shown:,} of {counted(repository_map.total, 'definition')} that most of the code depends on, by file:"
    lines: list[str] = []
    for path, nodes in files.items():
        lines += [as_name(path), *map(_line, sorted(nodes, key=attrgetter("start_line")))]
    return printable("\n".join(filter(None, (note, head, *lines))))


def write_orientation(orientation: "Orientation", note: str = "") -> str:
    """Return what a newcomer needs first, in about 2,100 characters at most."""
    shown = {path: ", ".join(map(as_name, names[:NAMES_SHOWN])) for path, names in orientation.modules.items()}
    modules = [f"{as_name(path)} ({names})" for path, names in shown.items()]
    parts = {
        "About": [as_name(orientation.about)] if orientation.about else [],
        "Folders, with their files": list(orientation.folders),
        "Languages": [f"{language} {count:,}" for language, count in orientation.languages.items()],
        "Packages": list(map(as_name, orientation.packages)),
        "Entry points": list(map(as_name, orientation.entries)),
        "Lines like HTTP routes": _counted_lines(orientation.routes),
        "Most depended on": modules,
        "Tests": list(map(as_name, orientation.tests)),
        "Environment is read in": _counted_lines(orientation.environment),
    }
    lines = [f"{title}: {_fitting(values, ROOMS.get(title, ROOM))}" for title, values in parts.items() if values]
    return printable("\n".join(filter(None, (note, *lines))))


def _counted_lines(lines: Mapping[str, int]) -> list[str]:
    return [f"{as_name(path)} ({counted(count, 'line')})" for path, count in lines.items()]


def _fitting(values: Sequence[str], room: int) -> str:
    """Return as many values as fit in a line, and how many do not."""
    shown: list[str] = []
    for value in values:
        room -= cost_of(one_line(value)) + 2
        if room < 0 and shown:
            return f"{', '.join(shown)} and {len(values) - len(shown):,} more"
        shown.append(one_line(value))
    return ", ".join(shown)


def write_outline(outline: "Outline", tokens: int, note: str = "", is_stale: bool = False) -> str:
    """Return a file's definitions, each indented by its nesting."""
    file, definitions = outline.file, outline.definitions
    changed = "Changed since it was indexed; line numbers may be off." if is_stale else ""
    head = f"{as_name(file.path)}: {counted(file.end_line, 'line')}, {counted(len(definitions), 'definition')}"
    lines = outline_lines(definitions, room_of(tokens))
    return printable("\n".join(filter(None, (note, changed, head, *lines))))


def outline_lines(definitions: Sequence[CodeNode], room: int, more: str = "") -> list[str]:
    """Return definitions, each indented by its nesting, as many as fit, constants and fields last.

    Those inside of functions are there only if all fit. more: what shows the others.
    """
    rows: list[tuple[int, int, str]] = []
    around: list[CodeNode] = []
    for place, node in enumerate(definitions):
        around = [outer for outer in around if outer.end_line >= node.end_line]
        is_inner = any(outer.kind in CALLABLE for outer in around)
        rows.append((_INNER if is_inner else _LATER.get(node.kind, 0), place, "  " * len(around) + _line(node)))
        around.append(node)
    if cost_of_lines(line for _, _, line in rows) > room:
        rows = [row for row in rows if row[0] != _INNER]
    fitting, _ = take_fitting(sorted(rows), room, 1, least=0, cost=lambda row: cost_of(row[2]))
    lines = [line for _, _, line in sorted(fitting, key=itemgetter(1))]
    left = len(definitions) - len(lines)
    return [*lines, f"... {left:,} more{more}"] if left else lines


def write_chunk(chunk: StoredChunk, note: str = "") -> str:
    """Return a chunk under its location."""
    head = f"{location(chunk)}  {as_name(chunk.symbol)}".rstrip()
    stale = f"stale: {chunk.stale}" if chunk.stale else ""
    lines = numbered(chunk.text.rstrip("\n").split("\n"), chunk.start_line)
    text = fenced(chunk.text, "\n".join(lines))
    return printable("\n".join(filter(None, (note, head, stale, text))))


def _line(node: CodeNode) -> str:
    signature = one_line(node.signature)[:SIGNATURE_CHARACTERS]
    name = f"> {signature}" if node.name in signature else f"{node.kind} {as_name(node.qualified_name)}"
    return f"  {node.start_line}-{node.end_line}  {name}"
