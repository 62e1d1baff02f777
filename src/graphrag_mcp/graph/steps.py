"""The relations of a trace: which of them are one, and in which order they are listed."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter, itemgetter

from graphrag_mcp.graph.declared import in_header, may_define, standing
from graphrag_mcp.languages.policy import policy_of
from graphrag_mcp.languages.registry import FACT_LANGUAGES, describe, detect_language
from graphrag_mcp.model.files import CALLABLE, Category, RelationKind
from graphrag_mcp.model.graph import OF_USES, Certainty, CodeEdge, CodeNode, Direction
from graphrag_mcp.ports import SymbolGraph
from graphrag_mcp.text.names import without_constructor
from graphrag_mcp.text.words import index_words

# Each result of these counts once, however it is reached.
_EACH_ONCE = (Direction.TESTS, Direction.SUBCLASSES, Direction.IMPLEMENTERS, Direction.OVERRIDES)
_RANKS = {certainty: rank for rank, certainty in enumerate(Certainty)}


@dataclass(frozen=True, slots=True)
class Step:
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
        if edge.source_id in nodes and edge.target_id in nodes:
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
            declared |= {node: target for node in targets if in_header(node) and _thing(node) == _thing(target)}
        steps.append(Step(hop, nodes[first.source_id], target, first, tuple(sorted({edge.line for edge in group}))))
    steps = [replace(step, target=declared[step.target]) if step.target in declared else step for step in steps]
    return sorted(steps, key=_order), declared


def once(steps: Sequence[Step], direction: Direction) -> list[Step]:
    """Return each test, and each type or method below, once.

    Of a place that creates an instance that of its constructor is left out. Of several ways the surest is kept, then
    the shortest, then the first. What is asked for may have several definitions: a place that may mean one of them is
    left out where it means another, and is there once where it may mean any.
    """
    best: dict[tuple[object, ...], Step] = {}
    is_place = direction in OF_USES
    sure = {place for step in steps if is_place and _is_sure(step) for place in _places(step)}
    steps = [step for step in steps if step.hop > 1 or _is_sure(step) or not sure.issuperset(_places(step))]
    for step in sorted(steps, key=_preference):
        kind = RelationKind.CALLS if step.edge.relation is RelationKind.INSTANTIATES else step.edge.relation
        target = step.target.node_id if kind is not RelationKind.CALLS else _thing(step.target)
        target = "" if is_place and step.hop == 1 and not _is_sure(step) else target
        way = (step.hop, kind, step.lines, step.edge.certainty, target) if direction not in _EACH_ONCE else ()
        best.setdefault((step.source.node_id, *way), step)
    chosen = set(map(id, best.values()))
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
