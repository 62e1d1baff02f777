"""Follows the code graph from a definition, hop by hop: which relations are one, in which order, what is not known."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from operator import attrgetter, itemgetter
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from graphrag_mcp.graph.cases import cases_of, is_helper
from graphrag_mcp.graph.declared import in_header, may_define, standing
from graphrag_mcp.languages.policy import policy_of
from graphrag_mcp.languages.registry import FACT_LANGUAGES, describe, detect_language
from graphrag_mcp.model.files import CALLABLE, Category, RelationKind, SymbolKind
from graphrag_mcp.model.graph import (
    ACCESSING,
    CALLING,
    NO_DOUBT,
    OF_USES,
    Certainty,
    CodeEdge,
    CodeNode,
    Direction,
    Doubt,
    Line,
    Mentioned,
)
from graphrag_mcp.model.grouping import firsts
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.shown import shown
from graphrag_mcp.ports import CodeRelations, SymbolGraph
from graphrag_mcp.text.names import without_constructor
from graphrag_mcp.text.words import index_words

# Each result of these counts once, however it is reached.
_EACH_ONCE = (Direction.TESTS, Direction.SUBCLASSES, Direction.IMPLEMENTERS, Direction.OVERRIDES)
_AS_ONE = {RelationKind.INSTANTIATES: RelationKind.CALLS}
_RANKS = {certainty: rank for rank, certainty in enumerate(Certainty)}
MAX_NODES = 400  # A longer answer is not read; its doubt reports it.
HOPS_OF_HELPERS = 2  # Helpers of tests that stand between a test and the code.
HOPS_TO_TESTS = 2  # A test mostly calls what it tests itself, or through one helper.
HELPING = (RelationKind.TESTS, *CALLING, *ACCESSING)  # By these a test tests something, itself or through a helper.
BELOW = (RelationKind.IMPLEMENTS, RelationKind.OVERRIDES, RelationKind.INHERITS)
INCOMING: Mapping[Direction, tuple[RelationKind, ...]] = {
    Direction.CALLERS: (*CALLING, *ACCESSING),
    Direction.USERS: (*CALLING, *ACCESSING, RelationKind.INHERITS),
    Direction.READERS: (RelationKind.READS, RelationKind.HANDS_ON),
    Direction.WRITERS: (RelationKind.WRITES,),
    Direction.IMPORTERS: (RelationKind.IMPORTS, RelationKind.LINKS_TO),
    Direction.SUBCLASSES: BELOW,
    Direction.IMPLEMENTERS: BELOW,
    Direction.OVERRIDES: BELOW,
    Direction.TESTS: HELPING,
}
_OUTGOING: Mapping[Direction, tuple[RelationKind, ...]] = {
    Direction.CALLEES: (RelationKind.CALLS, RelationKind.INSTANTIATES),
    Direction.IMPORTS: (RelationKind.IMPORTS, RelationKind.LINKS_TO),
    Direction.SUPERCLASSES: BELOW,
}


class Step(Struct, frozen=True):
    """One relation of a trace, with the nodes at its ends and its distance from the start in hops.

    lines: all lines of the file of `edge` on which it stands.
    """

    hop: int
    source: CodeNode
    target: CodeNode
    edge: CodeEdge
    lines: tuple[int, ...]

    @property
    def is_guess(self) -> bool:
        """Whether it may as well be another definition of the name."""
        return self.edge.is_guess

    def far_end(self, direction: Direction) -> CodeNode:
        """Return the end that a trace in a direction leads to."""
        return self.target if direction.is_outgoing else self.source


def is_shown(edge: CodeEdge) -> bool:
    """Return whether a relation is listed: not if its receiver is unknown, where types are known at all."""
    return not is_by_name(edge) or edge.is_named


def is_by_name(edge: CodeEdge) -> bool:
    """Return whether a relation is not decided."""
    return edge.certainty is Certainty.BY_NAME


def is_test_in_name(node: CodeNode, edge: CodeEdge) -> bool:
    """Return whether a type is only named like a test of something: what uses the type does not run a test."""
    return edge.relation is RelationKind.TESTS and node.kind not in CALLABLE


def with_sources(graph: SymbolGraph, edges: Sequence[CodeEdge]) -> list[tuple[CodeEdge, CodeNode]]:
    """Return relations with their sources, those of which the source is still there."""
    nodes = graph.nodes(edge.source_id for edge in edges)
    return [(edge, nodes[edge.source_id]) for edge in edges if edge.source_id in nodes]


def join(
    graph: SymbolGraph, edges: Sequence[CodeEdge], hop: int, direction: Direction
) -> tuple[list[Step], Mapping[CodeNode, CodeNode]]:
    """Return one step for all edges of one kind between two nodes; for all imports of a file, whatever of another's.

    Then the declarations in headers that a place certainly means with a definition, which stands for them.
    """
    nodes = graph.nodes(end for edge in edges for end in (edge.source_id, edge.target_id))
    together: dict[tuple[object, ...], list[CodeEdge]] = {}
    named: dict[tuple[object, ...], str] = {}
    for edge in sorted(edges, key=attrgetter("is_guess")):
        if nodes.keys() >= {edge.source_id, edge.target_id}:
            # It stands for its overloads and declarations, and a type for its constructors.
            target = nodes[edge.target_id]
            way = (edge.source_id, edge.relation, edge.certainty)
            name = "" if direction is Direction.IMPORTERS else without_constructor(target.qualified_name)
            if direction.is_outgoing:
                name = str(target.node_id) if _tells_overloads(target) else _thing(target)
            elif not edge.is_guess:
                named[way] = name
            elif edge.is_named:  # It is not known which of the starts is meant.
                name = named.get(way, "")
            together.setdefault((*way, name), []).append(edge)
    steps, declared = [], dict[CodeNode, CodeNode]()
    for group in together.values():
        first = group[0]
        targets = [nodes[edge.target_id] for edge in group if edge.is_guess is first.is_guess]
        target = standing(targets, is_followed=direction.is_outgoing)
        if first.certainty is Certainty.CERTAIN and may_define(target):
            declared |= {node: target for node in targets if in_header(node)}
        steps.append(Step(hop, nodes[first.source_id], target, first, tuple(sorted({edge.line for edge in group}))))
    steps = [replace(step, target=declared.get(step.target, step.target)) for step in steps]
    return sorted(steps, key=_order), declared


def once(steps: Sequence[Step], direction: Direction) -> list[Step]:
    """Return each test, and each type or method below, once.

    Of a place that creates an instance that of its constructor is left out. Of several ways the surest is kept, then
    the shortest, then the first. What is asked for may have several definitions: a place that may mean one of them is
    left out where it means another, and is there once where it may mean any.
    """
    is_place = direction in OF_USES
    sure = {place for step in steps if is_place and _is_sure(step) for place in _places(step)}
    steps = [step for step in steps if step.hop > 1 or _is_sure(step) or not sure.issuperset(_places(step))]

    def way(step: Step) -> tuple[object, ...]:
        if direction in _EACH_ONCE:
            return (step.source.node_id,)
        kind = _AS_ONE.get(step.edge.relation, step.edge.relation)
        target = _thing(step.target) if kind is RelationKind.CALLS else step.target.node_id
        may_be_any = is_place and step.hop == 1 and not _is_sure(step)
        place = (step.source.node_id, step.hop, kind, step.lines, step.edge.certainty)
        return place if may_be_any else (*place, target)

    chosen = set(map(id, firsts(sorted(steps, key=_preference), way)))
    return [step for step in steps if id(step) in chosen]


def nearest_names_first(steps: Sequence[Step], starts: Sequence[CodeNode]) -> list[Step]:
    """Return the tests: those that reach a start through other code by what their names and paths share with it.

    A shared word counts the more, the fewer of the tests have it.
    """
    tests = [step for step in steps if step.source.category is Category.TESTS]
    words = {word for start in starts for word in _words(start)}
    shared = [words.intersection(_words(step.source)) for step in tests]
    frequency = Counter(word for some in shared for word in some)
    worth = [sum(math.log(len(tests) / frequency[word]) for word in some) for some in shared]
    ranks = [(step.hop > 1, -value if step.hop > 1 else 0.0) for step, value in zip(tests, worth, strict=True)]
    return [step for _, step in sorted(zip(ranks, tests, strict=True), key=itemgetter(0))]


def _words(node: CodeNode) -> list[str]:
    return index_words(f"{node.path} {node.qualified_name}")


def _is_sure(step: Step) -> bool:
    return step.hop == 1 and step.edge.certainty is Certainty.CERTAIN


def _places(step: Step) -> set[tuple[int, RelationKind, int]]:
    """Return where a relation to what is asked for stands."""
    return {(step.source.node_id, step.edge.relation, line) for line in step.lines}


def _preference(step: Step) -> tuple[object, ...]:
    edge, target = step.edge, step.target
    # That an instance is made says more than that a type is used or called.
    is_other = edge.relation is not RelationKind.INSTANTIATES
    is_derived = edge.relation is RelationKind.TESTS
    way = (_RANKS[edge.certainty], step.hop, is_derived, edge.path, edge.line)
    return (*way, is_other, edge.relation, target.path, target.start_line)


def _tells_overloads(node: CodeNode) -> bool:
    """Return whether each overload is a definition of its own."""
    language = detect_language(node.path)
    return language in FACT_LANGUAGES and policy_of(language).calls.overloads


def _thing(node: CodeNode) -> str:
    """Return what is the same for all definitions of one thing: a header's has others in other files."""
    language = detect_language(node.path)
    path = "" if describe(language).headers else node.path
    constructors = policy_of(language).members.constructors if language in FACT_LANGUAGES else ()
    owner, _, name = node.qualified_name.rpartition(".")
    return f"{path} {owner if name in constructors else without_constructor(node.qualified_name)}"


def _order(step: Step) -> tuple[int, bool, str, int]:
    is_test = step.source.category is Category.TESTS
    return _RANKS[step.edge.certainty], is_test, step.edge.path, step.edge.line


class Walk:
    """Gives the numbers of its hops; during one, `nodes` are where it stands, and `go_on` says where it goes next.

    is_cut: whether it stopped with hops left, since it had reached MAX_NODES.
    """

    def __init__(self, nodes: list[CodeNode], hops: int) -> None:
        self.nodes, self.is_cut, self._hops = nodes, False, hops
        self._reached = {node.node_id for node in nodes}

    def __iter__(self) -> Iterator[int]:
        for hop in range(1, self._hops + 1):
            yield hop
            if not self.nodes or len(self._reached) > MAX_NODES:
                self.is_cut = bool(self.nodes) and hop < self._hops
                return

    def go_on(self, reached: Iterable[CodeNode]) -> None:
        """Go on from what was reached, if it is new."""
        fresh = {node.node_id: node for node in reached if node.node_id not in self._reached}
        self._reached |= fresh.keys()
        self.nodes = list(fresh.values())


@shown("path", "line", "lines", "relation", "certainty", symbol="node.symbol")
class Dependant(NamedTuple):
    """A place that depends on a definition. node: the definition, or else the file, that has it.

    lines: all where it does, from the first on; none where only that is known.
    """

    node: CodeNode
    path: str
    line: int
    relation: RelationKind
    certainty: Certainty
    lines: tuple[int, ...] = ()

    @property
    def site(self) -> Line:
        """The path and the first line."""
        return self.path, self.line


def dependant(node: CodeNode, edge: CodeEdge, lines: tuple[int, ...] = ()) -> Dependant:
    """Return the place of a relation from a node."""
    return Dependant(node, edge.path, edge.line, edge.relation, edge.certainty, lines)


@shown("lines", "left_out", "other_definitions")
class Naming(Struct, frozen=True):
    """The lines with the name of values whose uses are not recorded.

    steps: the last of a trace, which have them. lines: how many they are. left_out: other lines with the name, which do
    not set it where writers are asked for, or do nothing else where readers are. values: how many definitions they may
    mean. other_definitions: of the name, which were not asked for.
    """

    steps: tuple[Step, ...]
    lines: int
    left_out: int
    values: int
    other_definitions: int


@shown("starts", "direction", "hops", "stops", "imports", "doubt", "named", "naming")
class Trace(Struct, frozen=True):
    """The relations found from the starts.

    steps: in the order (hop, certainty, code before tests, location); of tests see `nearest_names_first`. stops:
    mentions that are not decided. doubt: what is not known of the relations on the way; it is cut after MAX_NODES.
    hops: the most that were asked for. is_deeper: whether more hops would lead further. imports: the lines that import
    what users are asked for. named: tests that are only named like the starts, where none calls them itself.
    naming: the lines with the name of a value, None where its uses are recorded.
    """

    starts: tuple[CodeNode, ...]
    direction: Direction
    steps: tuple[Step, ...]
    stops: tuple[Mentioned, ...] = ()
    doubt: Doubt = NO_DOUBT
    hops: int = 1
    is_deeper: bool = False
    imports: tuple[Line, ...] = ()
    named: tuple[CodeNode, ...] = ()
    naming: Naming | None = None

    @property
    def cases(self) -> int:
        """How many of the sources a runner starts, where tests are asked for; the others help them."""
        return len(cases_of(list(dict.fromkeys(step.source for step in self.steps))))


def trace(
    graph: SymbolGraph,
    relations: CodeRelations,
    starts: Sequence[CodeNode],
    direction: Direction,
    hops: int,
    scope: Scope,
    *,
    with_members: bool = False,
    unresolved: bool = False,
) -> Trace:
    """Follow one kind of relation from the starts for at most `hops`; what is only by name is not followed.

    with_members: a relation from another file to a definition in a start file counts as one to the file.
    unresolved: include places whose receiver is not known.
    """
    is_of_tests = direction is Direction.TESTS
    hops = max(hops, HOPS_TO_TESTS) if is_of_tests else hops
    files = [node for node in starts if node.is_file] if with_members and direction in INCOMING else []
    inside = [member for file in files for member in graph.in_file(file.path)]
    parts = []
    if direction is Direction.IMPORTERS:  # What is in a type is imported as a part of it; its name alone says nothing.
        parts = [inner for node in starts if not node.is_file for inner in members(graph, node)]
    walk = Walk([*starts, *inside, *parts], hops + HOPS_OF_HELPERS * is_of_tests)
    own = {file.file_id for file in files}
    steps: list[Step] = []
    stops: dict[tuple[str, str], Mentioned] = {}
    unsure: set[int] = set()  # What leads to a start by name only.
    told: set[Line] = set()
    is_deeper = False
    doubt = Doubt(is_typed=direction in INCOMING or all(relations.decides(node.path) for node in starts))
    for hop in walk:
        if direction in INCOMING:
            # Code outside functions has no callers, so that its doubt is none of what is further away.
            judged = {node for node in walk.nodes if not (hop > 1 and node.is_file)}.difference(parts)
            edges, here = _edges_to(relations, walk.nodes, judged, direction, scope, unresolved=unresolved)
        else:
            pending = filter(relations.unresolved, {node.path for node in walk.nodes})
            edges, here = [], Doubt(files_pending=frozenset(pending))
            for node in walk.nodes:
                outgoing, unknown = relations.outgoing(node, _OUTGOING[direction])
                edges += outgoing
                stops |= {(mentioned.name, mentioned.module): mentioned for mentioned in unknown}
        joined, declared = join(graph, edges, hop, direction)
        fresh = [step for step in joined if step.source.file_id not in own]
        known = set(starts)
        starts = [node for node in starts if declared.get(node) not in known]
        if is_of_tests:
            fresh, unsure = _no_surer(fresh, unsure)
            here = _of_tests(graph, here, scope) if hop >= hops else here  # Before that, others may lead to a test.
        steps += fresh
        told.update((step.edge.path, line) for step in fresh if is_shown(step.edge) for line in step.lines)
        doubt |= here.at(hop)
        followed = [step for step in fresh if not (step.is_guess or is_test_in_name(step.source, step.edge))]
        walk.go_on(step.far_end(direction) for step in followed)
        if hop >= hops:
            # What calls a test does not count.
            is_deeper |= any(not (is_of_tests and node.category is Category.TESTS) for node in walk.nodes)
            walk.nodes = list(filter(is_helper, walk.nodes))  # They cost no hop.
    steps = once(nearest_names_first(steps, starts) if is_of_tests else steps, direction)
    doubt = replace(doubt.without(told), is_cut=walk.is_cut)
    renamed = [node for node in starts if direction is Direction.USERS and not node.is_file]
    imports = certain_lines(relations, renamed, (RelationKind.IMPORTS,), scope)  # A rename has to change them.
    return Trace(tuple(starts), direction, tuple(steps), tuple(stops.values()), doubt, hops, is_deeper, imports)


def _edges_to(
    relations: CodeRelations,
    nodes: Sequence[CodeNode],
    judged: Set[CodeNode],
    direction: Direction,
    scope: Scope,
    *,
    unresolved: bool,
) -> tuple[list[CodeEdge], Doubt]:
    """Return the relations to nodes, and what is not known of those to some of them. unresolved: as for `trace`."""
    edges: list[CodeEdge] = []
    here = Doubt()
    for node in nodes:
        incoming, doubt = relations.incoming(node, INCOMING[direction], scope)
        if node in judged:
            here |= doubt
        edges += [edge for edge in incoming if unresolved or is_shown(edge)]
    return _surest(edges) if direction is Direction.IMPORTERS else relations.settled(edges, nodes), here


def _no_surer(steps: Sequence[Step], unsure: Set[int]) -> tuple[list[Step], set[int]]:
    """Return steps as no surer than what they lead to, and what leads on by name only. unsure: what did before."""
    steps = [
        replace(step, edge=step.edge._replace(certainty=Certainty.BY_NAME, is_named=True))
        if step.target.node_id in unsure
        else step
        for step in steps
    ]
    sure = {step.source.node_id for step in steps if not is_by_name(step.edge)}
    return steps, {step.source.node_id for step in steps} - sure


def certain_lines(
    relations: CodeRelations, nodes: Sequence[CodeNode], kinds: Sequence[RelationKind], scope: Scope
) -> tuple[Line, ...]:
    """Return the lines that certainly have relations of some kinds to definitions."""
    edges = (edge for node in nodes for edge in relations.incoming(node, kinds, scope)[0])
    return tuple(dict.fromkeys((edge.path, edge.line) for edge in edges if edge.certainty is Certainty.CERTAIN))


def _surest(edges: Sequence[CodeEdge]) -> list[CodeEdge]:
    """Leave out what is by name where the place decides it: a module and what it defines may have one name."""
    sure = {(edge.path, edge.line) for edge in edges if not is_by_name(edge)}
    return [edge for edge in edges if not is_by_name(edge) or (edge.path, edge.line) not in sure]


def _of_tests(graph: SymbolGraph, doubt: Doubt, scope: Scope) -> Doubt:
    """Return the doubt of places in tests."""
    tests = graph.visible({path for path, _ in doubt.undecided}, replace(scope, categories=frozenset({Category.TESTS})))
    return replace(doubt, undecided=frozenset(place for place in doubt.undecided if place[0] in tests))


def members(graph: SymbolGraph, node: CodeNode) -> list[CodeNode]:
    """Return what is defined inside of a type or module, none for anything else."""
    if node.kind not in (SymbolKind.TYPE, SymbolKind.MODULE):
        return []
    return [
        member
        for member in graph.in_file(node.path)
        if member.qualified_name.startswith(f"{node.qualified_name}.")
        and node.start_line <= member.start_line <= node.end_line
    ]
