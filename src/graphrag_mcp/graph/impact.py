"""What a change may reach: all that depends on the changed code, the most certain first, and the tests to run."""

from collections import ChainMap, defaultdict
from collections.abc import Collection, Iterable, Iterator, KeysView, Mapping, Sequence, Set
from functools import cache
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from graphrag_mcp.graph.cases import cases_of, commands_for, is_helper
from graphrag_mcp.graph.tracing import Walk, is_by_name, is_shown, is_test_in_name, members, with_sources
from graphrag_mcp.model.files import CALLABLE, Category, RelationKind
from graphrag_mcp.model.graph import NO_DOUBT, Certainty, CodeEdge, CodeNode, Doubt, Line
from graphrag_mcp.model.history import Companion
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.shown import shown
from graphrag_mcp.ports import CodeRelations, SymbolGraph

LEADING = (
    RelationKind.CALLS,
    RelationKind.INSTANTIATES,
    RelationKind.HANDS_ON,
    RelationKind.IMPLEMENTS,
    RelationKind.OVERRIDES,
    RelationKind.INHERITS,
    RelationKind.USES,
    RelationKind.READS,
    RelationKind.WRITES,
    RelationKind.TESTS,
    RelationKind.IMPORTS,
    RelationKind.LINKS_TO,
    RelationKind.CONTAINS,
)
_Way = tuple[int, str, str, Certainty]  # From which source, in which file, by which name, and how surely.


@shown("node", "is_test", "via", "edge", "lines", "also", "hops", "confidence", "is_by_name")
class Reached(Struct, frozen=True):
    """A definition or file that the change may reach, with its most certain path: `via` is the node before it.

    confidence: the product of the confidences on the path, 0 to 1. lines: all lines of the file on which it refers to
    what has the name of `via`. relations: how. also: the lines that a file has for other names, if certain.
    is_by_name: whether a relation on the path is not decided.
    """

    node: CodeNode
    via: CodeNode
    edge: CodeEdge
    hops: int
    confidence: float
    lines: tuple[int, ...] = ()
    relations: tuple[RelationKind, ...] = ()
    also: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    is_by_name: bool = False

    @property
    def is_test(self) -> bool:
        """Whether it is in a file of tests."""
        return self.node.category is Category.TESTS

    @property
    def is_guess(self) -> bool:
        """Whether the last relation on the path may as well be to another definition of the name."""
        return self.edge.is_guess


@shown("hops", "is_guess", path="node.path", symbol="node.symbol")
class RankedTest(NamedTuple):
    """A test that a change may reach. hops: the relations on the way, 0 for a changed test."""

    node: CodeNode
    hops: int
    is_guess: bool = False


class Tested:
    """The tests that a change may reach; for its fields see `Impact`."""

    __slots__ = ()
    tests: Sequence[Reached] | Sequence[RankedTest]
    tests_of_types: Sequence[CodeNode]
    doubt: Doubt
    is_deeper: bool
    build_files: Mapping[str, str]

    @property
    def started(self) -> KeysView[CodeNode]:
        """Those of the tests that a runner starts, in their order; the others help them."""
        return dict.fromkeys(cases_of([test.node for test in self.tests])).keys()

    @property
    def likely(self) -> list[CodeNode]:
        """Those of the tests that are no guess."""
        return [test.node for test in self.tests if not test.is_guess]

    @property
    def test_commands(self) -> list[str]:
        """The commands that run the tests."""
        tests, is_whole = self.tests_of_types or self.likely, self.doubt.is_cut or self.is_deeper
        return commands_for(tests, self.build_files, whole=is_whole)


@shown("starts", "cases", "tests_of_types", "test_commands", "together", "doubt", "is_deeper")
class Impact(Struct, Tested, frozen=True):
    """What a change of the starts may reach, nearest and most certain first; tests are in `tests`, not in `reached`.

    doubt: what is not known of the relations to the starts and their members, and of those on the way. together: what
    usually changes in the same commits as the file of the first start. is_deeper: whether what was reached last may
    itself be used, beyond the hops that were asked for. build_files: see `read_build_files`. tests_of_types: those of
    the types that own the starts, or else the nearest code that depends on them, where no test reaches the starts.
    types_tested: these types.
    """

    starts: tuple[CodeNode, ...]
    reached: tuple[Reached, ...]
    tests: tuple[Reached, ...]
    doubt: Doubt = NO_DOUBT
    together: tuple[Companion, ...] = ()
    is_deeper: bool = False
    build_files: Mapping[str, str] = field(default_factory=dict)
    tests_of_types: tuple[CodeNode, ...] = ()
    types_tested: tuple[CodeNode, ...] = ()

    @property
    def levels(self) -> Iterator[list[CodeNode]]:
        """The starts, and the code that depends on them, the nearest first."""
        yield [*self.starts]
        for _, rows in groupby((row for row in self.reached if not row.is_guess), key=attrgetter("hops")):
            yield [row.node for row in rows]

    @property
    def cases(self) -> int:
        """How many of the tests a runner starts."""
        return len(self.started)


def find_impact(
    graph: SymbolGraph,
    relations: CodeRelations,
    starts: Sequence[CodeNode],
    hops: int,
    scope: Scope,
    *,
    with_members: bool = True,
) -> Impact:
    """Follow all relations that lead to the starts and, with_members, to what is defined inside them.

    Guesses are reported but not followed. A file that merely imports something is reached, but its importers are not:
    they are reached through the calls of its functions.
    """
    changed = [member for node in starts for member in (_with_members(graph, node) if with_members else [node])]
    inside = {member.node_id: member for member in changed}
    best: dict[int, Reached] = {}
    places: dict[_Way, set[tuple[int, RelationKind]]] = defaultdict(set)
    doubt, told = Doubt(), set[Line]()
    walk = Walk(list(inside.values()), hops)
    for hop in walk:
        here = Doubt()
        fresh: dict[int, Reached] = {}
        known = ChainMap(fresh, best)
        level = walk.nodes
        while level:
            edges, doubt_of_level = _edges_to(relations, level, inside.keys(), scope)
            here |= doubt_of_level
            told.update((edge.path, edge.line) for edge, _ in edges)
            nodes = graph.nodes(edge.source_id for edge, _ in edges)
            level = []
            for edge, via in edges:
                if edge.source_id not in nodes:
                    continue
                places[_way(edge, via)].add((edge.line, edge.relation))
                path = _path(known.get(via.node_id), nodes[edge.source_id], via, edge, hop)
                if _is_better(path, known.get(edge.source_id)):
                    is_new = edge.source_id not in fresh
                    fresh[edge.source_id] = path
                    if is_new and _is_helper(path):  # What helps tests costs no hop.
                        level.append(path.node)
        doubt |= here.at(hop)
        best |= fresh
        followed = (row for row in fresh.values() if not (row.node.is_file or _is_helper(row)))
        walk.go_on(row.node for row in followed if not (row.is_guess or is_test_in_name(row.node, row.edge)))
    for row in list(_tests_around(graph, relations, changed, best.values(), hops, scope)):
        places[_way(row.edge, row.via)].add((row.edge.line, row.edge.relation))
        best.setdefault(row.node.node_id, row)
    of_files = _of_files(places)
    ordered = sorted((_with_lines(row, places, of_files) for row in best.values()), key=_order)
    return Impact(
        tuple(starts),
        tuple(row for row in ordered if not row.is_test),
        tuple(sorted((row for row in ordered if row.is_test), key=attrgetter("is_by_name"))),
        replace(doubt.without(told), is_cut=walk.is_cut),
        is_deeper=any(node.category is not Category.TESTS for node in walk.nodes),
    )


def _edges_to(
    relations: CodeRelations, nodes: Iterable[CodeNode], inside: Collection[int], scope: Scope
) -> tuple[list[tuple[CodeEdge, CodeNode]], Doubt]:
    """Return the relations from outside to some nodes, each with its node, and what is not known of them.

    That something tests a node comes last: another relation of it says more.
    """
    edges: list[tuple[CodeEdge, CodeNode]] = []
    doubt = Doubt()
    for node in nodes:
        incoming, doubt_of_node = relations.incoming(node, LEADING, scope)
        doubt |= doubt_of_node
        edges += [(edge, node) for edge in incoming if edge.source_id not in inside and is_shown(edge)]
    return sorted(edges, key=lambda pair: pair[0].relation is RelationKind.TESTS), doubt


def _path(before: Reached | None, source: CodeNode, via: CodeNode, edge: CodeEdge, hop: int) -> Reached:
    """Return what is reached by a relation to `via`. before: the path to that, None for a start."""
    confidence = (before.confidence if before else 1.0) * edge.confidence
    is_unsure = is_by_name(edge) or (before is not None and before.is_by_name)
    return Reached(source, via, edge, hop, confidence, is_by_name=is_unsure)


def _tests_around(
    graph: SymbolGraph,
    relations: CodeRelations,
    changed: Sequence[CodeNode],
    reached: Iterable[Reached],
    hops: int,
    scope: Scope,
) -> Iterator[Reached]:
    """Yield the tests of functions in which something that is reached is defined: what they return may run it."""
    inner = dict.fromkeys(changed, (0, 1.0, False))
    inner |= {row.node: (row.hops, row.confidence, row.is_by_name)
              for row in reached if row.hops < hops and not row.is_guess}  # fmt: skip
    seen = {node.node_id for node in inner}
    in_file = cache(graph.in_file)
    for node, (distance, confidence, is_unsure) in inner.items():
        is_code = not node.is_file and node.category is not Category.TESTS
        inside = in_file(node.path) if is_code else ()
        around = (other for other in inside if other.start_line <= node.start_line <= other.end_line)
        for outer in (other for other in around if other.kind in CALLABLE and other.node_id not in seen):
            seen.add(outer.node_id)
            for edge, source in with_sources(graph, relations.incoming(outer, LEADING, scope)[0]):
                if source.category is Category.TESTS and not edge.is_guess:
                    way = (source, outer, edge, distance + 1, confidence * edge.confidence)
                    yield Reached(*way, is_by_name=is_unsure or is_by_name(edge))


_Places = Mapping[_Way, Set[tuple[int, RelationKind]]]


def _way(edge: CodeEdge, via: CodeNode) -> _Way:
    return edge.source_id, edge.path, via.qualified_name, edge.certainty


def _with_lines(row: Reached, places: _Places, of_files: Mapping[int, Mapping[str, tuple[int, ...]]]) -> Reached:
    """Return what is reached with all lines. of_files: those of files, by their ids and by the name that they have."""
    found = places[_way(row.edge, row.via)]
    lines, kinds = sorted({line for line, _ in found}), sorted({kind for _, kind in found})
    others = of_files.get(row.edge.source_id, {})
    also = {name: left for name in others if (left := tuple(sorted(set(others[name]).difference(lines))))}
    return replace(row, edge=row.edge._replace(line=lines[0]), lines=tuple(lines), relations=tuple(kinds), also=also)


def _of_files(places: _Places) -> dict[int, dict[str, tuple[int, ...]]]:
    """Return the certain lines of files, by their ids and by the name that they have."""
    of_files: dict[int, dict[str, tuple[int, ...]]] = {}
    for (source, _, name, certainty), found in places.items():
        if source < 0 and certainty is Certainty.CERTAIN:
            of_files.setdefault(source, {})[name] = tuple(sorted({line for line, _ in found}))
    return of_files


def _is_helper(row: Reached) -> bool:
    return not (row.is_guess or is_test_in_name(row.node, row.edge)) and is_helper(row.node)


def _is_better(path: Reached, known: Reached | None) -> bool:
    """Return whether a path replaces the known one: none, a guess, or one of as many hops that is less certain.

    A test is rather far and certain than near.
    """
    if known is None:
        return True
    if path.is_guess != known.is_guess:
        return known.is_guess
    if path.is_test and path.is_by_name != known.is_by_name:
        return known.is_by_name
    return path.hops == known.hops and path.confidence > known.confidence


def _order(row: Reached) -> tuple[bool, int, float, str, int]:
    return row.is_guess, row.hops, -row.confidence, row.edge.path, row.edge.line


def _with_members(graph: SymbolGraph, node: CodeNode) -> list[CodeNode]:
    return [node, *(graph.in_file(node.path) if node.is_file else members(graph, node))]
