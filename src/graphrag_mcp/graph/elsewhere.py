"""What is below types that are defined elsewhere: the project names them, and has nothing of them."""

import re
from collections.abc import Callable, Iterator
from itertools import islice

from msgspec.structs import replace

from graphrag_mcp.graph.lookup import dotted
from graphrag_mcp.graph.relations import Relations
from graphrag_mcp.graph.tracing import Step, Trace, trace
from graphrag_mcp.grep.occurrences import Occurrences
from graphrag_mcp.model.files import Category, RelationKind, SymbolKind
from graphrag_mcp.model.graph import CodeEdge, CodeNode, Direction, Mentioned
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.ports import CodeRelations, SymbolGraph

MOST_NAMING = 1_000  # No more lines and types with the name are read.
IDENTIFIER = re.compile(r"[^\W\d](?:\w|[.$]|::|->)*(?:\(\))?")


class DefinedElsewhere:
    """Answers about one project. find_lines: the lines of a scope that have a name, at most so many."""

    def __init__(
        self, graph: SymbolGraph, relations: CodeRelations, find_lines: Callable[[str, Scope, int], Occurrences]
    ) -> None:
        self._graph, self._relations, self._find_lines = graph, relations, find_lines

    def below(self, text: str, direction: Direction, hops: int, scope: Scope) -> Trace | None:
        """Return the types below one that is defined elsewhere, None if nothing is."""
        written, relations = dotted(text.rpartition("/")[2]), self._relations
        if not IDENTIFIER.fullmatch(written) or not isinstance(relations, Relations):
            return None
        last = written.rpartition(".")[2]
        naming = self._find_lines(last, scope, MOST_NAMING)
        paths = dict.fromkeys(row.path for row in naming.lines)
        types = list(islice(self._types_below(relations, last, list(paths), scope), MOST_NAMING))
        naming_it = {node: (stop.path, stop.line) for node, stop in types if _may_be(stop, written)}
        satisfying, embedding = relations.satisfying(written, scope)
        having = self._graph.nodes(satisfying).values()
        every = {node: (node.path, node.start_line) for node in having} | naming_it
        visible = self._graph.visible({node.path for node in every}, scope)
        nearest = [node for node in every if node.path in visible]
        if not (nearest or embedding):
            return None
        foreign = CodeNode(0, 0, "", Category.IMPLEMENTATION, text, text, SymbolKind.TYPE, 0, 0)
        kind = RelationKind.IMPLEMENTS if direction is Direction.IMPLEMENTERS else RelationKind.INHERITS
        first = [_step(node, foreign, kind, *every[node]) for node in nearest]
        rest = Trace((), direction, ())
        if nearest and hops > 1:
            rest = trace(self._graph, relations, nearest, direction, hops - 1, scope, with_members=True)
        further = (step for step in rest.steps if step.source not in nearest)
        steps = (*first, *(replace(step, hop=step.hop + 1) for step in further))
        is_cut = len(types) == MOST_NAMING or naming.total > len(naming.lines) or rest.doubt.is_cut
        is_typed = rest.doubt.is_typed and all(relations.decides(node.path) for node in nearest)
        unparsed = frozenset().union(*(relations.unparsed(last, node.path) for node in nearest))
        doubt = replace(
            rest.doubt,
            is_cut=is_cut,
            is_typed=is_typed,
            embedding=embedding | rest.doubt.embedding,
            unparsed=rest.doubt.unparsed | unparsed,
            others=frozenset(),
        )
        return Trace((foreign,), direction, steps, doubt=doubt, hops=hops)

    def _types_below(
        self, relations: Relations, name: str, paths: list[str], scope: Scope
    ) -> Iterator[tuple[CodeNode, Mentioned]]:
        """Yield the types that name others above them which are defined elsewhere: in some files, or of a name."""
        inside = (node for path in paths for node in self._graph.in_file(path) if node.kind is SymbolKind.TYPE)
        for node in islice(inside, MOST_NAMING):
            above = trace(self._graph, relations, [node], Direction.SUPERCLASSES, 1, scope, with_members=True)
            yield from ((node, stop) for stop in above.stops)
        yield from relations.naming_above(name)

    def overriding(self, text: str, direction: Direction, hops: int, scope: Scope) -> Trace | None:
        """Return the methods of a name in the types below one that is defined elsewhere, None if there is no such."""
        owner, _, name = dotted(text).rpartition(".")
        below = self.below(owner, Direction.SUBCLASSES, hops, scope) if owner else None
        if below is None:
            return None
        start = below.starts[0]._replace(name=name, qualified_name=text, kind=SymbolKind.METHOD)
        steps = tuple(
            _step(node, start, RelationKind.OVERRIDES, node.path, node.start_line)
            for kind in dict.fromkeys(step.source for step in below.steps)
            for node in self._graph.in_file(kind.path)
            if node.qualified_name == f"{kind.qualified_name}.{name}"
        )
        return replace(below, starts=(start,), direction=direction, steps=steps)


def _may_be(mentioned: Mentioned, name: str) -> bool:
    """Return whether a type that is not defined here may be the one of a name, with or without its module."""
    *qualifiers, last = name.split(".")
    *written, own = re.split(r"\W+", f"{mentioned.module}.{mentioned.name}")
    return own == last and (not any(written) or set(written).issuperset(qualifiers[-1:]))


def _step(node: CodeNode, target: CodeNode, kind: RelationKind, path: str, line: int) -> Step:
    """Return the relation of a node to what is defined elsewhere."""
    return Step(1, node, target, CodeEdge(node.node_id, 0, kind, path, line), (line,))
