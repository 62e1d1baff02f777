"""The definitions of a repository that most of its code depends on."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphrag_mcp.model.files import Category, SymbolKind
from graphrag_mcp.model.graph import CodeNode
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.ports import SymbolGraph

BY_NAME_ALONE = 0.1  # `start`, `any`: a name with one definition is often a library's or the language's too.
DAMPING = 0.85  # The usual value of PageRank.
ROUNDS = 30  # 0.85 ** 30 is 0.008: the order no longer changes.
NODES_READ = 2_000  # Definitions of a map: more than any budget shows.
OWNERS_READ = 500  # Types of methods, each looked up by its name.
CODE = Scope(categories=frozenset({Category.IMPLEMENTATION}))
_COLUMNS = np.dtype([("file", "i8"), ("node", "i8"), ("node_file", "i8"), ("mentions", "f8"), ("is_named", "?")])
_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RepositoryMap:
    """Definitions, the most depended upon first, and the number of all candidates."""

    nodes: tuple[CodeNode, ...]
    total: int


def map_repository(graph: SymbolGraph) -> RepositoryMap:
    """Rank the definitions of code that is not archived; tests, examples and the like neither count nor appear."""
    edges = np.fromiter(graph.dependencies(CODE), _COLUMNS)
    if not len(edges):
        return RepositoryMap((), 0)
    ids, position = np.unique(edges["node"], return_inverse=True)
    totals = np.bincount(position, weights=_score(edges))
    best = np.argsort(-totals, kind="stable")[:NODES_READ]
    nodes = graph.nodes(ids[best].tolist())
    ranked = zip(ids[best].tolist(), totals[best], strict=True)
    worth = {nodes[node_id]: total for node_id, total in ranked if node_id in nodes}
    shown = _credit_types(graph, worth)
    return RepositoryMap(tuple(sorted(shown, key=lambda node: -shown[node])), len(ids))


def _credit_types(graph: SymbolGraph, worth: Mapping[CodeNode, float]) -> dict[CodeNode, float]:
    """Add a method's score to its type: a reader looks for the type, and an outline lists its methods."""
    methods = {node: value for node, value in worth.items() if node.kind is SymbolKind.METHOD}
    credited = {node: value for node, value in worth.items() if node not in methods}
    owners = dict.fromkeys(owner for node in methods if (owner := node.qualified_name.rpartition(".")[0]))
    named = {owner: graph.definitions(owner, CODE) for owner in list(owners)[:OWNERS_READ]}
    types = {owner: [node for node in nodes if node.kind is SymbolKind.TYPE] for owner, nodes in named.items()}
    for method, value in methods.items():
        types_of = types.get(method.qualified_name.rpartition(".")[0], [])
        types_of = [node for node in types_of if node.path == method.path] or types_of
        if len(types_of) == 1:
            credited[types_of[0]] = credited.get(types_of[0], 0.0) + value
    return credited


def _score(edges: NDArray[np.void]) -> _Floats:
    """Return the score of each dependency: its share of the PageRank of the file that it comes from.

    PageRank (Brin and Page 1998) over the files; a file's rank goes to the definitions that it references, in
    proportion to the square root of the number of references, and reduced to BY_NAME_ALONE where only names were
    compared.
    """
    files, ends = np.unique(np.concatenate([edges["file"], edges["node_file"]]), return_inverse=True)
    source, target = ends[: len(edges)], ends[len(edges) :]
    weights = np.sqrt(edges["mentions"])
    shares = weights / np.bincount(source, weights, minlength=len(files))[source]
    shares = shares * np.where(edges["is_named"], BY_NAME_ALONE, 1)
    rank = np.full(len(files), 1 / len(files))
    for _ in range(ROUNDS):
        passed = np.bincount(target, rank[source] * shares, minlength=len(files))
        lost = 1 - passed.sum()  # Files without references pass nothing on.
        rank = (1 - DAMPING) / len(files) + DAMPING * (passed + lost / len(files))
    scores: _Floats = rank[source] * shares
    return scores
