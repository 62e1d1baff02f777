"""What is gathered about the candidates of a query; scoring reads nothing else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from graphrag_mcp.history.recall import Memory
from graphrag_mcp.model.search import FusionMethod, LiteralPlace, Ranked, StoredFile, SymbolMatch
from graphrag_mcp.search.ranking.ranked_lists import Fused, RankedList
from graphrag_mcp.search.ranking.wording import Wording
from graphrag_mcp.search.retrieval import Retrieved


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the stores hold about the candidates besides their ranks.

    definitions: those that the query names. literals: where its literals stand. located: chunks at the
    locations that it names, with the line. related: chunks that have the relation
    that the query asks for to the definitions. keyword: BM25 by chunk id. By file id: votes of the best candidates, 0
    to 1 (see `bonuses.graph_votes`); history, what past commits say; backlinks, how many other files refer to it.
    rarity: idf of the query's terms, 0 for the project's own name; empty where it is not known. wording: of the first
    candidates, by chunk id.
    """

    definitions: Sequence[SymbolMatch] = ()
    literals: Sequence[LiteralPlace] = ()
    located: Mapping[int, int] = field(default_factory=dict)
    related: Sequence[Ranked] = ()
    keyword: Mapping[int, float] = field(default_factory=dict)
    votes: Mapping[int, float] = field(default_factory=dict)
    history: Mapping[int, Memory] = field(default_factory=dict)
    backlinks: Mapping[int, int] = field(default_factory=dict)
    rarity: Mapping[str, float] = field(default_factory=dict)
    wording: Mapping[int, Wording] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Candidates:
    """All that is known about the chunks that may be shown.

    method: how the lists were fused. files: by chunk id; a chunk without a file has left the index.
    """

    fused: Sequence[Fused]
    files: Mapping[int, StoredFile]
    evidence: Evidence = field(default_factory=Evidence)
    method: FusionMethod = FusionMethod.RELATIVE
    retrieved: Retrieved = field(default_factory=Retrieved)
    lists: Sequence[RankedList] = ()

    @property
    def is_hybrid(self) -> bool:
        """Whether keywords and bonuses count, or vectors alone."""
        return self.method is not FusionMethod.SEMANTIC_ONLY
