"""Describes in a few words why a result was found, and the relation between two definitions."""

from graphrag_mcp.model.files import RelationKind
from graphrag_mcp.model.search import EdgeDirection, FactorKind, GraphNeighbour, Hit

# The relation of a neighbour to the result, by kind and direction.
_RELATIONS = {
    (RelationKind.CALLS, EdgeDirection.OUT): "called by",
    (RelationKind.CALLS, EdgeDirection.IN): "calls",
    (RelationKind.IMPORTS, EdgeDirection.OUT): "imported by",
    (RelationKind.IMPORTS, EdgeDirection.IN): "imports",
    (RelationKind.INHERITS, EdgeDirection.OUT): "base of",
    (RelationKind.INHERITS, EdgeDirection.IN): "inherits from",
    (RelationKind.USES, EdgeDirection.OUT): "used by",
    (RelationKind.USES, EdgeDirection.IN): "uses",
    (RelationKind.HANDS_ON, EdgeDirection.OUT): "handed on by",
    (RelationKind.HANDS_ON, EdgeDirection.IN): "hands on",
    (RelationKind.TESTS, EdgeDirection.OUT): "tested by",
    (RelationKind.TESTS, EdgeDirection.IN): "tests",
    (RelationKind.CONTAINS, EdgeDirection.OUT): "member of",
    (RelationKind.CONTAINS, EdgeDirection.IN): "contains",
    (RelationKind.LINKS_TO, EdgeDirection.OUT): "linked from",
    (RelationKind.LINKS_TO, EdgeDirection.IN): "links to",
    (RelationKind.SUPERSEDES, EdgeDirection.OUT): "superseded by",
    (RelationKind.SUPERSEDES, EdgeDirection.IN): "supersedes",
}
_MOST_USEFUL_FIRST = (
    RelationKind.CALLS,
    RelationKind.TESTS,
    RelationKind.INHERITS,
    RelationKind.USES,
    RelationKind.HANDS_ON,
    RelationKind.SUPERSEDES,
    RelationKind.LINKS_TO,
    RelationKind.IMPORTS,
    RelationKind.CONTAINS,
)


def why(hit: Hit) -> str:
    """Return why a hit was found, for example "keyword #1, vector #3, defines `Session`"."""
    parts = [f"{source} #{rank}" for source, rank in sorted(hit.ranks.items(), key=lambda item: (item[1], item[0]))]
    notes = {factor.name: factor.note for factor in hit.factors}
    if notes.get("definition"):
        parts.append(f"defines `{notes['definition'].replace('`', '')}`")
    if notes.get("literal"):
        parts.append(f"contains {notes['literal']}")
    if "location" in notes:
        parts.append(f"{notes['location']} is in the query")
    elif "path" in notes:
        parts.append("path in the query")
    elif "stem" in notes:
        parts.append("file name matches")
    if "fact" in notes:
        parts.append("a document, which may state it")
    if hit.phrasings:
        parts.append(f"phrasing {', '.join(map(str, sorted(hit.phrasings)))}")
    if hit.chunk.archive is not None:
        parts.append(f"archived: {hit.chunk.archive.reason}")
    if hit.chunk.facts.status is not None:
        parts.append(f"status: {hit.chunk.facts.status}")
    return ", ".join(parts)


def explain(hit: Hit) -> list[str]:
    """Return one line for the score, and one for each factor of it."""
    lines = [f"score {hit.score:.4f}, fused {hit.fused_score:.4f} (0 to 1, what min_score compares)"]
    for factor in hit.factors:
        sign = "×" if factor.kind is FactorKind.FACTOR else "-" if factor.value < 0 else "+"
        lines.append(f"{sign} {abs(factor.value):.3f}  {factor.name}" + (f" ({factor.note})" if factor.note else ""))
    return lines


def relation_to(neighbour: GraphNeighbour) -> str:
    """Return the relation of the neighbour to the result, for example "calls `Session.open`"."""
    other = neighbour.source if neighbour.direction is EdgeDirection.OUT else neighbour.target
    phrase = _RELATIONS[neighbour.relation, neighbour.direction]
    if other:
        return f"{phrase} `{other.replace('`', '')}`"
    return f"{phrase} the file of a result" if neighbour.hops == 1 else f"{phrase} a file near a result"


def usefulness(neighbour: GraphNeighbour) -> tuple[int, int]:
    """Return a sort key: near before far, then by the use of the relation to a reader."""
    return neighbour.hops, _MOST_USEFUL_FIRST.index(neighbour.relation)


def certainty(neighbour: GraphNeighbour) -> str:
    """Return how certain the relation is, and how far away."""
    return f"{neighbour.certainty}, {neighbour.hops} hops away" if neighbour.hops > 1 else neighbour.certainty
