"""What is gathered about the candidates of a query; scoring reads nothing else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from graphrag_mcp.history.recall import Memory
from graphrag_mcp.model.search import FusionMethod, ListSource, Ranked, StoredFile
from graphrag_mcp.search.ranking.fusion import Fused, RankedList
from graphrag_mcp.search.ranking.wording import Wording
from graphrag_mcp.search.retrieval import Retrieved


@dataclass(frozen=True, slots=True)
class Candidates:
    """All that is known about the chunks that may be shown.

    files: by chunk id; a chunk without a file has left the index. method: how the lists were fused. located: chunks at
    the locations that the query names, with the line. wording: of the first candidates, by chunk id. rarity: idf of the
    query's terms, 0 for the project's own name; empty where it is not known. By file id: votes of the best candidates,
    0 to 1 (see `bonuses.graph_votes`); history, what past commits say; backlinks, how many other files refer to it.
    """

    fused: Sequence[Fused]
    files: Mapping[int, StoredFile]
    method: FusionMethod = FusionMethod.RELATIVE
    retrieved: Retrieved = field(default_factory=Retrieved)
    lists: Sequence[RankedList] = ()
    located: Mapping[int, int] = field(default_factory=dict)
    wording: Mapping[int, Wording] = field(default_factory=dict)
    rarity: Mapping[str, float] = field(default_factory=dict)
    votes: Mapping[int, float] = field(default_factory=dict)
    history: Mapping[int, Memory] = field(default_factory=dict)
    backlinks: Mapping[int, int] = field(default_factory=dict)

    @property
    def is_hybrid(self) -> bool:
        """Whether keywords and bonuses count, or vectors alone."""
        return self.method is not FusionMethod.SEMANTIC_ONLY

    @property
    def related(self) -> Sequence[Ranked]:
        """The chunks that have the relation that the query asks for to the definitions that it names."""
        return next((ranked.items for ranked in self.lists if ranked.source is ListSource.GRAPH), ())

    def scores(self, source: ListSource) -> Mapping[int, float]:
        """Return all known scores of a source, by chunk id."""
        return next(({**dict(ranked.items), **ranked.others} for ranked in self.lists if ranked.source is source), {})
