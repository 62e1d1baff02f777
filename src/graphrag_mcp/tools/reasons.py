"""Why a result was found, and why related code is shown."""

from graphrag_mcp.model.files import RelationKind
from graphrag_mcp.model.search import EdgeDirection, FactorKind, GraphNeighbour, Hit

# How a neighbour is related to the result that points at it, and to the one that it points at; the most useful first.
_RELATIONS = {
    RelationKind.CALLS: ("called by", "calls"),
    RelationKind.TESTS: ("tested by", "tests"),
    RelationKind.INHERITS: ("base of", "inherits from"),
    RelationKind.USES: ("used by", "uses"),
    RelationKind.HANDS_ON: ("handed on by", "hands on"),
    RelationKind.SUPERSEDES: ("superseded by", "supersedes"),
    RelationKind.LINKS_TO: ("linked from", "links to"),
    RelationKind.IMPORTS: ("imported by", "imports"),
    RelationKind.CONTAINS: ("member of", "contains"),
}
_MOST_USEFUL_FIRST = list(_RELATIONS)


def why(hit: Hit, *, with_ranks: bool = True) -> str:
    """Return why a hit was found, for example "keyword #1, vector #3, defines `Session`"."""
    ranks = sorted(hit.ranks.items(), key=lambda item: (item[1], item[0])) if with_ranks else []
    parts = [f"{source} #{rank}" for source, rank in ranks]
    notes = {factor.name: factor.note for factor in hit.factors}
    if notes.get("definition"):
        parts.append(f"defines `{notes['definition'].replace('`', '')}`")
    if notes.get("literal"):
        parts.append(f"contains {notes['literal']}")
    if "location" in notes:
        parts.append(f"{notes['location']} is in the query")
    elif "path" in notes:
        parts.append("path in the query")
    elif notes.get("stem"):
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
    phrase = _RELATIONS[neighbour.relation][neighbour.direction == EdgeDirection.IN]
    if other:
        return f"{phrase} `{other.replace('`', '')}`"
    return f"{phrase} the file of a result" if neighbour.hops == 1 else f"{phrase} a file near a result"


def usefulness(neighbour: GraphNeighbour) -> tuple[int, int]:
    """Return a sort key: near before far, then by the use of the relation to a reader."""
    return neighbour.hops, _MOST_USEFUL_FIRST.index(neighbour.relation)


def certainty(neighbour: GraphNeighbour) -> str:
    """Return how certain the relation is, and how far away."""
    return f"{neighbour.certainty}, {neighbour.hops} hops away" if neighbour.hops > 1 else neighbour.certainty
