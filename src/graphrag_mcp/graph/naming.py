"""Adds to a trace the lines that have the name of a value, where a language records no uses of values."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter

from graphrag_mcp.graph.tracing import BELOW, Naming, Step, Trace, certain_lines
from graphrag_mcp.grep.named import NamedLine, find_named_lines
from graphrag_mcp.grep.occurrences import Files
from graphrag_mcp.languages.registry import FACT_LANGUAGES, detect_language, is_unrecorded, platform_of
from graphrag_mcp.model.files import VARIABLE, RelationKind, SymbolKind
from graphrag_mcp.model.graph import CALLING, OF_USES, Certainty, CodeEdge, CodeNode, Direction
from graphrag_mcp.model.grouping import grouped
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.ports import CodeRelations, SymbolGraph

_MEANING = (*CALLING, *BELOW)
_MOST_OTHERS = 20
_NO_CODE = (SymbolKind.KEY, SymbolKind.SECTION)


def with_named_lines(graph: SymbolGraph, relations: CodeRelations, files: Files, found: Trace, scope: Scope) -> Trace:
    """Return a trace with the lines that have the name of what was asked for, if that is such a value."""
    values = [node for node in found.starts if is_unrecorded(node.path, node.kind, node.name)]
    if not values or found.direction not in OF_USES or not values[0].name.isidentifier():
        return found
    name = values[0].name
    languages = {language for node in values for language in platform_of(detect_language(node.path))} - FACT_LANGUAGES
    named = find_named_lines(name, languages, scope, files)
    if not named.is_searched:
        return found
    namesakes = (node for node in graph.definitions(name, scope) if node.name == name and node.kind not in _NO_CODE)
    known_starts = set(found.starts)
    others = [node for node in namesakes if detect_language(node.path) in languages and node not in known_starts]
    recorded = [node for node in others if node.kind not in VARIABLE][:_MOST_OTHERS]
    meaning = certain_lines(relations, recorded, _MEANING, scope)
    elsewhere = {line[:2] for line in named.lines if line.is_once}.intersection(meaning)
    known = {(step.edge.path, line) for step in found.steps for line in step.lines} | elsewhere
    lines = [line for line in named.lines if line[:2] not in known]
    wanted = [line for line in lines if _is_wanted(line, found.direction)]
    steps = tuple(_steps(graph, values[0], wanted, found.direction))
    naming = Naming(steps, len(wanted), len(lines) - len(wanted), len(values), len(others))
    doubt = found.doubt.without([line[:2] for line in wanted])
    # Lines that do not parse were compared, too.
    unparsed = frozenset[str]() if len(values) == len(found.starts) else doubt.unparsed
    doubt = replace(doubt, is_cut=doubt.is_cut or named.is_cut, unparsed=unparsed, others=doubt.others | elsewhere)
    return replace(found, steps=(*found.steps, *steps), doubt=doubt, naming=naming)


def _is_wanted(line: NamedLine, direction: Direction) -> bool:
    if direction is Direction.WRITERS:
        return line.writes
    return line.reads or direction is not Direction.READERS


def _steps(graph: SymbolGraph, target: CodeNode, lines: Sequence[NamedLine], direction: Direction) -> Iterator[Step]:
    """Yield a step for the lines of one kind in one definition."""
    for path, inside in groupby(lines, key=attrgetter("path")):
        placed = _placed(graph, path, list(inside))
        together = grouped(((node, _kind(line, direction)), line.line) for line, node in placed)
        for (node, kind), numbers in together.items():
            edge = CodeEdge(node.node_id, target.node_id, kind, path, numbers[0], Certainty.BY_NAME, is_named=True)
            yield Step(1, node, target, edge, tuple(numbers))


def _kind(line: NamedLine, direction: Direction) -> RelationKind:
    if line.is_import:
        return RelationKind.IMPORTS
    if line.writes and direction is not Direction.READERS:
        return RelationKind.WRITES
    return RelationKind.READS if direction is Direction.READERS else RelationKind.USES


def _placed(graph: SymbolGraph, path: str, lines: Iterable[NamedLine]) -> Iterator[tuple[NamedLine, CodeNode]]:
    """Yield lines of one file, in their order, each with the innermost definition around it, or the file."""
    file = graph.file(path)
    following = sorted(graph.in_file(path), key=lambda node: (-node.start_line, node.end_line))
    around: list[CodeNode] = []
    for line in lines:
        while following and following[-1].start_line <= line.line:
            around.append(following.pop())
        while around and around[-1].end_line < line.line:
            around.pop()
        if node := around[-1] if around else file:
            yield line, node
