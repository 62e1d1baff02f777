"""The parts of a flow: links with their costs, chains of them, and where a chain is broken."""

import math
from typing import NamedTuple

from msgspec import Struct

from graphrag_mcp.model.files import VARIABLE, RelationKind
from graphrag_mcp.model.graph import RUNNING, Certainty, CodeEdge, CodeNode, Mentioned
from graphrag_mcp.model.shown import shown

# What a link costs, from certain to guessed. The first chain is the one that costs least.
_CALL = 0.15
_COSTS = {
    RelationKind.CALLS: _CALL,
    RelationKind.INSTANTIATES: _CALL,
    RelationKind.HANDS_ON: 0.4,
    RelationKind.USES: 0.7,  # In a flow: that a type is handed over.
    RelationKind.CONTAINS: 0.3,
    RelationKind.WRITES: 1.2,
    RelationKind.READS: 1.8,
}
_DISPATCH, _BY_NAME = 0.25, 1.2
_PER_CHOICE = 0.4
PER_LINK = 0.05


@shown("source", "target", "edge", "choices", "read", "text", "also")
class Link(Struct, frozen=True, eq=False):
    """One step of a chain: a lead with both ends, in the order of the flow.

    text: its line, where it is shown. also: further lines of the source that lead to the target. Links that differ in
    these alone are equal.
    """

    source: CodeNode
    target: CodeNode
    edge: CodeEdge
    choices: int = 1
    read: str = ""
    extra: float = 0.0
    text: str = ""
    also: tuple[int, ...] = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Link) and self._compared == other._compared

    def __hash__(self) -> int:
        return self.source.node_id ^ self.target.node_id

    @property
    def _compared(self) -> tuple[object, ...]:
        return self.source, self.target, self.edge, self.choices, self.read, self.extra

    def far(self, *, forward: bool) -> CodeNode:
        """Return the end to which a search in a direction goes."""
        return self.target if forward else self.source

    @property
    def is_sure(self) -> bool:
        """Whether it certainly calls a function, hands one over, or reads a property."""
        is_property = self.edge.relation is RelationKind.READS and self.source.kind not in VARIABLE and not self.read
        return self.edge.certainty is Certainty.CERTAIN and (is_property or self.edge.relation in RUNNING)

    @property
    def cost(self) -> float:
        """What it costs: a guess more than what is certain, one of many more than one of few."""
        choices = math.log(self.choices)
        if self.edge.certainty is Certainty.BY_NAME:
            return _BY_NAME + _PER_CHOICE * choices
        is_dispatch = self.edge.certainty is Certainty.MAY_CALL and self.edge.relation is RelationKind.CALLS
        dispatch = _DISPATCH if is_dispatch else 0.0
        return _COSTS.get(self.edge.relation, 1.0) + dispatch + _PER_CHOICE * choices + self.extra


class Chain(Struct, frozen=True):
    """Links, each from where the one before leads to."""

    links: tuple[Link, ...]

    @property
    def nodes(self) -> list[CodeNode]:
        """The definitions on the way, with both ends."""
        return [self.links[0].source, *(link.target for link in self.links)]

    @property
    def cost(self) -> float:
        """The sum of the links' costs."""
        return sum(link.cost + PER_LINK for link in self.links)

    @property
    def is_sure(self) -> bool:
        """Whether each link certainly calls code, or hands it over; data and parts may lead elsewhere."""
        return all(link.is_sure for link in self.links)

    @property
    def has_parts(self) -> bool:
        """Whether a link says only what a definition contains."""
        return any(link.edge.relation is RelationKind.CONTAINS for link in self.links)

    def around(self, radius: int) -> dict[CodeNode, range]:
        """Return the lines around the site in each definition, and the first ones of the last definition."""
        around = {}
        for link in self.links:
            node, line = link.source, link.edge.line
            if link.edge.path == node.path and node.start_line <= line <= node.end_line:
                around[node] = range(max(node.start_line, line - radius), min(node.end_line, line + radius) + 1)
        last = self.links[-1].target
        around.setdefault(last, range(last.start_line, min(last.end_line, last.start_line + 2 * radius) + 1))
        return around


class Branch(NamedTuple):
    """A link of a tree, with its depth from 1."""

    depth: int
    link: Link


class Gap(NamedTuple):
    """Two definitions of one file between which no link is known: how far a start leads, and what leads to an end."""

    reached: CodeNode
    reaching: CodeNode
    before: tuple[Link, ...]
    after: tuple[Link, ...]


@shown("starts", "ends", "through", "near", "is_guessed", "is_cut")
class Flow(Struct, frozen=True):
    """How starts reach ends.

    chains: the best first. through: definitions of further ones, one of each. tree: with starts or ends alone, the
    links from or to them, each below the one before it. near: definitions that the question names and no chain
    contains. beside: how those on chains and near ones lead to each other, where no chain says it. is_guessed:
    whether the ends were guessed, and near definitions have more of the question's words than the chains. reached,
    reaching: how many definitions were looked at from each side. gaps: without a chain, where it may be broken.
    stops: calls near the start that may mean several definitions, so that none is followed. is_cut: whether a limit
    ended the search.
    """

    starts: tuple[CodeNode, ...]
    ends: tuple[CodeNode, ...]
    chains: tuple[Chain, ...] = ()
    through: tuple[CodeNode, ...] = ()
    tree: tuple[Branch, ...] = ()
    near: tuple[CodeNode, ...] = ()
    beside: tuple[Link, ...] = ()
    is_guessed: bool = False
    reached: int = 0
    reaching: int = 0
    gaps: tuple[Gap, ...] = ()
    stops: tuple[Mentioned, ...] = ()
    is_cut: bool = False
