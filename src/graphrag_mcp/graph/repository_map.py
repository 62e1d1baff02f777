"""Ranks the definitions of a project by how much of its code depends on them: where a newcomer begins to read."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphrag_mcp.model.files import Category, SymbolKind
from graphrag_mcp.model.graph import CodeNode
from graphrag_mcp.model.search import Scope
from graphrag_mcp.ports import SymbolGraph

MOST_DEFINITIONS = 4  # A name that more have, such as `run`, says nothing of who depends on whom.
BY_NAME_ALONE = 0.1  # `start`, `any`: many a name that one definition has is a library's or the language's too.
DAMPING = 0.85  # As published for PageRank.
ROUNDS = 30  # .85 to the 30th is .008: no order changes after that.
NODES_READ = 2_000  # More than any budget shows.
OWNERS_READ = 500  # Types of methods, each looked up by its name.

_TYPE = SymbolKind.TYPE
_CODE = Scope(categories=frozenset({Category.IMPLEMENTATION}))
_COLUMNS = np.dtype(
    [("file", "i8"), ("node", "i8"), ("node_file", "i8"), ("mentions", "f8"), ("definitions", "f8"), ("imported", "?")]
)
_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RepositoryMap:
    """Definitions, the most depended upon first, and how many there are to choose from."""

    nodes: tuple[CodeNode, ...]
    total: int


def map_repository(graph: SymbolGraph) -> RepositoryMap:
    """Rank the definitions of the code that is in use; tests, examples and the like have no say, and no place."""
    edges = np.fromiter(graph.dependencies(MOST_DEFINITIONS, _CODE), _COLUMNS)
    if not len(edges):
        return RepositoryMap((), 0)
    ids, place = np.unique(edges["node"], return_inverse=True)
    totals = np.bincount(place, weights=_score(edges))
    best = np.argsort(-totals, kind="stable")[:NODES_READ]
    nodes = graph.nodes(ids[best].tolist())
    ranked = zip(ids[best].tolist(), totals[best], strict=True)
    worth = {nodes[node_id]: total for node_id, total in ranked if node_id in nodes}
    shown = _credit_types(graph, worth)
    return RepositoryMap(tuple(sorted(shown, key=lambda node: -shown[node])), len(ids))


def _credit_types(graph: SymbolGraph, worth: Mapping[CodeNode, float]) -> dict[CodeNode, float]:
    """Give a method's worth to its type: that is what a reader looks for, and an outline has its methods."""
    methods = {node: value for node, value in worth.items() if node.kind is SymbolKind.METHOD}
    credited = {node: value for node, value in worth.items() if node not in methods}
    owners = dict.fromkeys(owner for node in methods if (owner := node.qualified_name.rpartition(".")[0]))
    types = {owner: graph.definitions(owner, _CODE) for owner in list(owners)[:OWNERS_READ]}
    for method, value in methods.items():
        found = [node for node in types.get(method.qualified_name.rpartition(".")[0], ()) if node.kind is _TYPE]
        found = [node for node in found if node.path == method.path] or found
        if len(found) == 1:
            credited[found[0]] = credited.get(found[0], 0.0) + value
    return credited


def _score(edges: NDArray[np.void]) -> _Floats:
    """Return what each mention is worth: its share of the PageRank of the file that says it.

    PageRank (Brin and Page 1998) over the files; a file's rank goes to what it mentions, in proportion to the square
    root of how often, split among the definitions of a name, and little of it to a name that is not imported.
    """
    files, ends = np.unique(np.concatenate([edges["file"], edges["node_file"]]), return_inverse=True)
    source, target = ends[: len(edges)], ends[len(edges) :]
    weights = np.sqrt(edges["mentions"]) / edges["definitions"]
    shares = weights / np.bincount(source, weights, minlength=len(files))[source]
    shares = shares * np.where(edges["imported"], 1, BY_NAME_ALONE)
    rank = np.full(len(files), 1 / len(files))
    for _ in range(ROUNDS):
        passed = np.bincount(target, rank[source] * shares, minlength=len(files))
        lost = 1 - passed.sum()  # By files that mention nothing, or only names that may be others'.
        rank = (1 - DAMPING) / len(files) + DAMPING * (passed + lost / len(files))
    scores: _Floats = rank[source] * shares
    return scores
