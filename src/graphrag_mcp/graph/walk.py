"""The walk that every question about what is further away takes: hop by hop, from no node twice."""

from collections.abc import Iterable, Iterator

from graphrag_mcp.model.graph import CodeNode

MAX_NODES = 400  # A longer answer is not read; its doubt reports it.


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
