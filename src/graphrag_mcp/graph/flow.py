"""How code reaches other code: the chains of calls, dispatch, values and data between two sets of definitions."""

import heapq
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from msgspec.structs import replace

from graphrag_mcp.graph.chains import PER_LINK, Branch, Chain, Flow, Gap, Link
from graphrag_mcp.graph.declared import in_header, may_define
from graphrag_mcp.graph.leads import Lead
from graphrag_mcp.graph.relations import Relations
from graphrag_mcp.graph.tracing import with_sources
from graphrag_mcp.model.files import ASIDE, CALLABLE, VARIABLE, Category, RelationKind, SymbolKind
from graphrag_mcp.model.graph import RUNNING, Certainty, CodeEdge, CodeNode, Line, Mentioned
from graphrag_mcp.model.grouping import grouped
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.ports import SymbolGraph
from graphrag_mcp.text.words import index_words, stem_words

MOST_EXPANDED = 1_500  # Definitions whose links are followed; with more, benchmarks.flows finds no further chain.
MAX_CHAINS = 3
MAX_THROUGH = 5  # No more further chains are named by a definition on them.
MAX_NEAR = 10
MAX_BESIDE = 8
MAX_STOPS = 4  # No more calls that are not followed are named.
MAX_NEAR_START = 12  # Definitions near the start among whose calls they are looked for.
MAX_TREE = 25
LONGEST = 9  # Links of a chain; a longer one explains nothing to a reader.

_DATA_AFTER = 0.8  # The readers of what a definition stores are looked up as if it cost so much more than it does.
_IRRELEVANT = 0.3  # What a definition without any word of the question costs more.
_MOST_WORDS = 3  # More words of the question in one definition do not make it more relevant.
# Another chain may cost _LESS_THAN times what the first one does, and _SLACK more.
_LESS_THAN, _SLACK = 2.0, 0.5
_FURTHEST = 4.0  # If an end is guessed, every chain may cost this.
_SURE = 0.3  # Choosing an end that is named costs no more; one that costs more is a guess.
_COST_WEIGHT = 0.4  # The weight of the cost against the share of the question's words, to order chains.


class Relevance:
    """How much definitions have to do with a question."""

    def __init__(self, question: str) -> None:
        self.words = frozenset(index_words(question))
        self._known: dict[int, frozenset[str]] = {}

    def shared(self, node: CodeNode) -> frozenset[str]:
        """Return the words of the question that the name of a definition or of its file has."""
        known = self._known.get(node.node_id)
        if known is None:
            words = {*index_words(node.qualified_name), *stem_words(node.path)}
            known = self._known[node.node_id] = self.words & words
        return known

    def of(self, node: CodeNode) -> float:
        """Return 0 to 1; 1 for all without a question."""
        most = min(len(self.words), _MOST_WORDS)
        return min(len(self.shared(node)) / most, 1.0) if most else 1.0

    def covered(self, nodes: Iterable[CodeNode]) -> float:
        """Return the share of the question's words that some definitions have."""
        return len(frozenset().union(*map(self.shared, nodes))) / len(self.words) if self.words else 0.0


class _Side:
    """The search from one side, the cheapest first. known: the cost of a definition, and the link next to it."""

    def __init__(self, nodes: Mapping[CodeNode, float]) -> None:
        self.known: dict[int, tuple[float, Link | None, int]] = {}
        self.nodes = {node.node_id: node for node in nodes}
        self._settled: set[tuple[int, bool]] = set()
        self._queue: list[tuple[float, int, bool]] = []
        for node, cost in nodes.items():
            self._add(node, cost, None, 0)

    @property
    def least(self) -> float:
        """The cost of the next definition."""
        while self._queue and self._queue[0][1:] in self._settled:
            heapq.heappop(self._queue)
        return self._queue[0][0] if self._queue else math.inf

    @property
    def nearest(self) -> list[CodeNode]:
        """The definitions that were met, those that cost least first."""
        return [self.nodes[node_id] for node_id in sorted(self.known, key=lambda node_id: self.known[node_id][0])]

    @property
    def taken(self) -> int:
        """How many definitions were looked at."""
        return len(self._settled)

    def take(self) -> tuple[CodeNode, bool]:
        """Return the next definition, and whether its calls are done and its data is next; `least` must be finite."""
        cost, node_id, is_data = heapq.heappop(self._queue)
        self._settled.add((node_id, is_data))
        if not is_data:
            heapq.heappush(self._queue, (cost + _DATA_AFTER, node_id, True))
        return self.nodes[node_id], is_data

    def extend(self, node: CodeNode, far: CodeNode, link: Link, cost: float) -> None:
        """Learn a link from a settled definition to one further away."""
        before, _, length = self.known[node.node_id]
        if length < LONGEST and before + cost < self.known.get(far.node_id, (math.inf,))[0]:
            self.nodes[far.node_id] = far
            self._add(far, before + cost, link, length + 1)

    def _add(self, node: CodeNode, cost: float, link: Link | None, length: int) -> None:
        self.known[node.node_id] = (cost, link, length)
        heapq.heappush(self._queue, (cost, node.node_id, False))

    def links(self, node_id: int, *, forward: bool) -> list[Link]:
        """Return the links between a definition and where the search began, in the order of the flow."""
        links: list[Link] = []
        while (link := self.known[node_id][1]) is not None:
            links.append(link)
            node_id = link.far(forward=not forward).node_id
        return links[::-1] if forward else links

    def tree(self, *, forward: bool) -> Iterator[Branch]:
        """Yield the cheapest links, each below the one that leads to it."""
        links = [link for _, link, _ in sorted(self.known.values(), key=lambda known: known[0]) if link is not None]
        below = grouped((link.far(forward=not forward).node_id, link) for link in links[:MAX_TREE])
        roots = [node_id for node_id, (_, link, _) in self.known.items() if link is None]
        pending = [(1, link) for root in reversed(roots) for link in reversed(below[root])]
        while pending:
            depth, link = pending.pop()
            yield Branch(depth, link)
            far = link.far(forward=forward)
            pending += [(depth + 1, step) for step in reversed(below[far.node_id])]


class FlowSearch:
    """A search for chains, within what it may take."""

    def __init__(self, graph: SymbolGraph, relations: Relations, question: str, scope: Scope) -> None:
        self._graph, self._relations, self._scope = graph, relations, scope
        self._relevance = Relevance(question)
        self._left = MOST_EXPANDED
        self._hidden: frozenset[Category] = ASIDE
        self._declared: dict[int, CodeNode] = {}

    def between(self, starts: Mapping[CodeNode, float], ends: Mapping[CodeNode, float]) -> Flow:
        """Return how the starts reach the ends, each given with what it costs to choose it."""
        starts, ends = self._defined(starts), self._defined(ends)
        forward, backward = _Side(starts), _Side(ends)
        self._hidden = ASIDE - {node.category for node in (*starts, *ends)}
        best = math.inf
        # With guessed ends the cheapest chain need not be the one that is asked for.
        is_open = max([*starts.values(), *ends.values()]) > _SURE
        while self._left:
            open_ = [side for side in (forward, backward) if side.least < math.inf]
            bound = max(best * _LESS_THAN + _SLACK, _FURTHEST if is_open else 0.0)
            if not open_ or sum(side.least for side in open_) >= bound:
                break
            side = min(open_, key=lambda side: side.least)
            is_forward = side is forward
            other = backward if is_forward else forward
            node = self._expand(side, forward=is_forward)
            if node.node_id in other.known and len(self._chain(forward, backward, node.node_id)):
                best = min(best, side.known[node.node_id][0] + other.known[node.node_id][0])
        chains, through = self._chains(forward, backward, sure_first=not is_open)
        shown = {_name_in_file(node) for chain in chains for node in chain.nodes}
        candidates = [node for node in {**backward.nodes, **forward.nodes}.values() if _name_in_file(node) not in shown]
        near, covered = self._near(candidates), self._relevance.covered
        return Flow(
            tuple(starts),
            tuple(ends),
            tuple(sorted(map(self._counted, chains), key=lambda chain: not (is_open or chain.is_sure))),
            through=tuple(node for node in through if node not in near),
            near=tuple(near),
            beside=tuple(self._beside(chains, near, with_data=is_open)),
            is_guessed=is_open and covered(near) > covered(node for chain in chains for node in chain.nodes),
            reached=len(forward.known),
            reaching=len(backward.known),
            gaps=() if chains else tuple(self._gaps(forward, backward)),
            stops=() if chains else tuple(islice(self._stops(forward), MAX_STOPS)),
            is_cut=not self._left,
        )

    def tree(self, nodes: Mapping[CodeNode, float], *, forward: bool) -> Flow:
        """Return what the nodes lead to, or what leads to them, the most relevant first."""
        nodes = self._defined(nodes)
        side = _Side(nodes)
        self._hidden = ASIDE - {node.category for node in nodes}
        while self._left and side.taken <= MAX_TREE and side.least < math.inf:
            self._expand(side, forward=forward)
        starts, ends = (tuple(nodes), ()) if forward else ((), tuple(nodes))
        tree = tuple(side.tree(forward=forward))
        return Flow(starts, ends, tree=tree, reached=len(side.known), is_cut=not self._left)

    def _defined(self, ends: Mapping[CodeNode, float]) -> dict[CodeNode, float]:
        """Return the ends without the declarations in headers of others: some place certainly means both."""
        names = {node.qualified_name for node in ends if in_header(node)}
        others = [node for node in ends if node.qualified_name in names and may_define(node)]
        definitions = {(node.qualified_name, place): node for node in others for place in self._places(node)}
        names = {node.qualified_name for node in others}
        left = dict(ends)
        for declared in (node for node in ends if node.qualified_name in names and in_header(node)):
            meant = ((declared.qualified_name, place) for place in self._places(declared))
            if defined := next(filter(None, map(definitions.get, meant)), None):
                self._declared.setdefault(defined.node_id, declared)
                del left[declared]
        return left

    def _places(self, node: CodeNode) -> list[Line]:
        """Return where a function is certainly called or handed over."""
        edges = self._relations.decided(node, RUNNING, self._scope)
        return [(edge.path, edge.line) for edge in edges if edge.certainty is Certainty.CERTAIN]

    def _expand(self, side: _Side, *, forward: bool) -> CodeNode:
        """Learn the links of the next definition of a side, and return it."""
        node, is_data = side.take()
        if forward:
            is_start = side.known[node.node_id][1] is None
            links = self._stored(node) if is_data else self._onward(node, is_start=is_start)
        else:
            links = iter(()) if is_data else self._back(node)
        self._left -= 1
        for link in links:
            far = link.far(forward=forward)
            side.extend(node, far, link, self._cost(link, far))
        return node

    def _cost(self, link: Link, far: CodeNode) -> float:
        return link.cost + PER_LINK + _IRRELEVANT * (1 - self._relevance.of(far))

    # ------------------------------------------------------------ links

    def _onward(self, node: CodeNode, *, is_start: bool) -> Iterator[Link]:
        """Yield the links from a definition; from a variable where all begins to its readers, not from one called."""
        yield from self._links_of(node, self._relations.leads.onward(node))
        if node.kind in VARIABLE and is_start:
            yield from self._incoming(node, (RelationKind.READS,), is_turned=True)

    def _stored(self, node: CodeNode) -> Iterator[Link]:
        """Yield the links from a definition to those that read what it writes."""
        if node.kind in CALLABLE:
            yield from self._links_of(node, self._relations.leads.of_data(node))

    def _links_of(self, node: CodeNode, leads: Sequence[Lead]) -> Iterator[Link]:
        targets = self._graph.nodes(lead.edge.target_id for lead in leads)
        places = [((lead.edge.line, targets[lead.edge.target_id].qualified_name), lead) for lead in leads]
        defined = {place for place, lead in places if may_define(targets[lead.edge.target_id])}
        for place, lead in places:
            target = targets[lead.edge.target_id]
            if target.category not in self._hidden and not (in_header(target) and place in defined):
                yield Link(node, target, *lead)

    def _back(self, node: CodeNode) -> Iterator[Link]:
        if node.kind in VARIABLE:
            yield from self._incoming(node, (RelationKind.WRITES,))
            return
        yield from self._incoming(node, RUNNING)
        if node.node_id in self._declared:  # Some calls mean only the declaration in the header.
            declared = self._incoming(self._declared[node.node_id], RUNNING)
            yield from (replace(link, target=node) for link in declared)
        for around in self._graph.in_file(node.path, node.start_line)[1:2] if not node.is_file else ():
            if around.kind is SymbolKind.TYPE:
                leads = self._relations.leads.onward(around)
                yield from (Link(around, node, *lead) for lead in leads if lead.edge.target_id == node.node_id)
            elif around.kind is not SymbolKind.MODULE:
                edge = CodeEdge(around.node_id, node.node_id, RelationKind.CONTAINS, node.path, node.start_line)
                yield Link(around, node, edge)

    def _incoming(self, node: CodeNode, kinds: Sequence[RelationKind], *, is_turned: bool = False) -> Iterator[Link]:
        """Yield the relations to a definition as links to it. is_turned: from it, as data leads to its readers."""
        decided = with_sources(self._graph, self._relations.decided(node, kinds, self._scope))
        first = {other.node_id: (edge, other) for edge, other in reversed(decided)}
        choices = len(first) if node.kind in VARIABLE else 1
        for edge, other in first.values():
            if other.category not in self._hidden:
                is_open = edge.certainty is Certainty.MAY_CALL
                extra = self._relations.leads.extra_of(other, edge.line) if is_open else 0.0
                yield Link(*((node, other) if is_turned else (other, node)), edge, choices, extra=extra)

    # ------------------------------------------------------------ chains

    def _chain(self, forward: _Side, backward: _Side, node_id: int) -> list[Link]:
        return [*forward.links(node_id, forward=True), *backward.links(node_id, forward=False)]

    def _chains(self, forward: _Side, backward: _Side, *, sure_first: bool) -> tuple[list[Chain], list[CodeNode]]:
        """Return the best chains: those that cost little and contain the words of the question; and what others add.

        sure_first: before these the ones without doubt, which may be longer.
        """
        meetings = forward.known.keys() & backward.known.keys()
        chains = [Chain(tuple(links)) for number in meetings if (links := self._chain(forward, backward, number))]
        simple = filter(_is_simple, chains)
        ordered = sorted(simple, key=lambda chain: (sure_first and not chain.is_sure, self._order(chain), chain.cost))
        chosen: list[Chain] = []
        through: list[CodeNode] = []
        shown: set[int] = set()
        for chain in ordered:
            fresh = [node for node in chain.nodes if node.node_id not in shown]
            is_another = chosen and fresh and chain.cost < _LESS_THAN * chosen[0].cost + _SLACK
            is_wanted = not chosen or (is_another and (chosen[0].has_parts or not chain.has_parts))
            if is_wanted and self._is_confirmed(chain):
                shown.update(node.node_id for node in fresh)
                if len(chosen) < MAX_CHAINS:
                    chosen.append(chain)
                else:
                    through.append(fresh[0])
            if len(through) == MAX_THROUGH:
                break
        return chosen, through

    def _is_confirmed(self, chain: Chain) -> bool:
        """Return whether what is said to be handed over is: a search from the end does not see what is done with it."""
        return all(link.edge.relation is not RelationKind.HANDS_ON or self._lead(link) for link in chain.links)

    def _counted(self, chain: Chain) -> Chain:
        """Return a chain with what a search from the end does not see: choices at a link, further lines with it."""
        known = (replace(self._with_choices(link), also=tuple(sorted(self._others(link)))) for link in chain.links)
        return Chain(tuple(known))

    def _others(self, link: Link) -> set[int]:
        """Return the other lines that lead likewise from the source of a link to its target."""
        edges, _ = self._relations.outgoing(link.source, (link.edge.relation,))
        ends = (link.source.node_id, link.target.node_id, link.edge.path)
        lines = {edge.line for edge in edges if (edge.source_id, edge.target_id, edge.path) == ends} - {link.edge.line}
        return {line for line in lines if self._graph.in_file(link.edge.path, line)[:1] in ([], [link.source])}

    def _with_choices(self, link: Link) -> Link:
        lead = self._lead(link) if link.edge.certainty is Certainty.MAY_CALL else None
        return link if lead is None else Link(link.source, link.target, *lead)

    def _lead(self, link: Link) -> Lead | None:
        leads = self._relations.leads.onward(link.source)
        return next((lead for lead in leads if lead.edge.target_id == link.target.node_id), None)

    def _order(self, chain: Chain) -> float:
        return _COST_WEIGHT * chain.cost - self._relevance.covered(chain.nodes)

    def _near(self, nodes: Sequence[CodeNode]) -> list[CodeNode]:
        """Return the definitions that the question names most, of those that were met."""
        named = [node for node in nodes if self._relevance.shared(node) and not node.is_file]
        return sorted(named, key=lambda node: -len(self._relevance.shared(node)))[:MAX_NEAR]

    def _beside(self, chains: Sequence[Chain], near: Sequence[CodeNode], *, with_data: bool) -> list[Link]:
        """Return how the definitions that are shown lead to each other, those first that the question names most.

        with_data: also where one reads what another gives a value.
        """
        said = {(link.source.node_id, link.target.node_id) for chain in chains for link in chain.links}
        shown = {node.node_id: node for nodes in (*(chain.nodes for chain in chains), near) for node in nodes}
        links: dict[tuple[int, int], Link] = {}
        for node in shown.values():
            for link in (*self._back(node), *self._stored(node)):
                ends = (link.source.node_id, link.target.node_id)
                is_meant = (with_data or not link.read) and link.edge.relation is not RelationKind.CONTAINS
                is_new = link.edge.certainty is not Certainty.BY_NAME and ends not in said and ends[0] != ends[1]
                if is_meant and is_new and shown.keys() >= set(ends):
                    links.setdefault(ends, link)
        named = sorted(links.values(), key=lambda link: (-self._relevance.of(link.target), link.cost))
        return named[:MAX_BESIDE]

    def _stops(self, forward: _Side) -> Iterator[Mentioned]:
        """Yield the calls of what was reached that are not followed: methods of the project, of unknown receivers."""
        said = set()
        for node in forward.nearest[:MAX_NEAR_START]:
            _, undecided = self._relations.outgoing(node, (RelationKind.CALLS,))
            for mention in undecided:
                if mention.is_defined and mention.name not in said:
                    said.add(mention.name)
                    yield mention

    def _gaps(self, forward: _Side, backward: _Side) -> Iterator[Gap]:
        """Yield what was reached and what leads to an end, nearest to each other: in one file."""
        by_file = {node.path: node for node in reversed(forward.nearest)}
        for node in backward.nearest:
            if reached := by_file.pop(node.path, None):
                before = forward.links(reached.node_id, forward=True)
                after = backward.links(node.node_id, forward=False)
                yield Gap(reached, node, tuple(before), tuple(after))


def _name_in_file(node: CodeNode) -> tuple[str, str]:
    """Return what the overloads of a function have in common."""
    return node.path, node.qualified_name


def _is_simple(chain: Chain) -> bool:
    nodes = [node.node_id for node in chain.nodes]
    return len(set(nodes)) == len(nodes)
