"""The request and the result of a search."""

import math
from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from graphrag_mcp.model.files import NO_FACTS, ArchiveClass, Category, DocumentFacts, RelationKind, Symbol
from graphrag_mcp.model.graph import Certainty
from graphrag_mcp.model.reports import IndexState
from graphrag_mcp.model.scope import DEFAULT_SCOPE, Scope
from graphrag_mcp.model.shown import shown

# ---------------------------------------------------------------- asking


class SearchRequest(Struct, frozen=True):
    """One validated search.

    limit: results to return. max_hops: how far the ranking follows a relation that the query asks for. related_hops:
    how far related code may be from a result. related_results: of how many of the first results it is found, since two
    have enough of it. chunks_per_document: 0 means no cap. min_score: on the 0 to 1 scale of `Hit.fused_score`.
    also: further phrasings of the same question, whose results are fused with those of `query`.
    """

    query: str
    limit: int = 5
    scope: Scope = DEFAULT_SCOPE
    include_graph_context: bool = True
    max_hops: int = 2
    related_hops: int = 1
    related_results: int = 2
    use_rrf: bool = True
    rerank_with_recency: bool = True
    chunks_per_document: int = 3
    min_score: float | None = None
    warnings: tuple[str, ...] = ()
    also: tuple[str, ...] = ()


class Case(StrEnum):
    """Whether letters in upper and lower case are equal when a text is looked for."""

    SMART = "smart"  # They are, unless the text has one in upper case.
    SENSITIVE = "sensitive"
    IGNORE = "ignore"


# ---------------------------------------------------------------- answering


class ListSource(StrEnum):
    """What proposes candidates in a ranked list of its own."""

    VECTOR = "vector"
    KEYWORD = "keyword"
    GRAPH = "graph"
    SECOND = "second look"


class FusionMethod(StrEnum):
    """How the ranked lists of a search were merged."""

    RELATIVE = "relative"
    RRF = "rrf"
    WEIGHTED = "weighted"
    SEMANTIC_ONLY = "semantic_only"


class RerankMethod(StrEnum):
    """What scored the top candidates a second time."""

    NONE = "none"
    WEIGHTED_SUM = "weighted_sum"
    CROSS_ENCODER = "cross_encoder"


class FactorKind(StrEnum):
    """How a `Factor` takes part in a score."""

    BONUS = "bonus"  # Added to the fused score.
    FACTOR = "factor"  # Multiplies the sum.
    TERM = "term"  # One of a sum that replaces the fused score.


class EdgeDirection(StrEnum):
    """Which end of a relation a neighbour is."""

    OUT = "out"  # The result points at the neighbour.
    IN = "in"  # The neighbour points at the result.


class HitOrigin(StrEnum):
    """Which block of a result a hit belongs to."""

    SEARCH = "search"
    GRAPH_EXPANSION = "graph_expansion"
    REJECTED = "rejected"


class StoredFile(Struct, frozen=True):
    """The data of a file that the ranking uses. `modified_at`: seconds since 1970, UTC."""

    file_id: int
    path: str
    category: Category
    archive: ArchiveClass | None = None
    modified_at: float | None = None
    facts: DocumentFacts = NO_FACTS


class StoredChunk(Struct, frozen=True):
    """A chunk with the data of its file.

    modified_at: seconds since 1970, UTC. stale: why the lines may differ from the current file; "" when they do not.
    """

    chunk_id: int
    file_id: int
    path: str
    language: str
    category: Category
    start_line: int
    end_line: int
    text: str
    kind: str
    symbol: str = ""
    names: tuple[str, ...] = ()
    enclosing: tuple[str, ...] = ()
    signature: str = ""
    archive: ArchiveClass | None = None
    modified_at: float | None = None
    facts: DocumentFacts = NO_FACTS
    stale: str = ""


class Ranked(NamedTuple):
    """One entry of a store's list: the chunk and its score, on the scale of this store."""

    chunk_id: int
    score: float


class Frequencies(NamedTuple):
    """The number of chunks with each of some terms, and the number of all chunks."""

    of_terms: Mapping[str, int]
    chunks: int

    def idf(self, term: str) -> float:
        """Return the rarity of a term: ln(1 + (N - n + .5) / (n + .5)), always positive."""
        count = self.of_terms.get(term, 0)
        return math.log(1 + (max(0, self.chunks - count) + 0.5) / (count + 0.5))


class ChunkMention(NamedTuple):
    """A reference in a chunk to a name that one or two other files define; definition_chunk_id: of one definition.

    occurrences: how often the project mentions the name; a frequent name discriminates less.
    """

    chunk_id: int
    definition_chunk_id: int
    occurrences: int


class SymbolMatch(Struct, frozen=True):
    """A definition whose name is in the query, and the chunk in which it begins."""

    chunk_id: int
    path: str
    symbol: Symbol


class LiteralPlace(NamedTuple):
    """A chunk that contains a text which the query has letter for letter.

    defines: whether the text is declared, gets a value or is composed there. lines: that contain it, in all chunks.
    """

    chunk_id: int
    literal: str
    defines: bool
    lines: int


class Factor(Struct, frozen=True):
    """One reason for a score."""

    name: str
    value: float
    kind: FactorKind = FactorKind.FACTOR
    note: str = ""


class Focus(Struct, frozen=True):
    """What of a chunk matched the query.

    symbol: the definition, None where none is known. start_line, end_line: its lines in the chunk, with the comment
    above it, or those of the whole chunk where no definition stands out. lines: the numbers of those that match best,
    in order. also_here: other definitions of the file. used: its constants with a written value that the lines name.
    names: those of all definitions of a chunk of several, where none stands out.
    """

    symbol: Symbol | None
    start_line: int
    end_line: int
    lines: tuple[int, ...] = ()
    also_here: tuple[Symbol, ...] = ()
    used: tuple[Symbol, ...] = ()
    names: tuple[str, ...] = ()

    def moved(self, by: int) -> "Focus":
        """Return it moved down by some lines, in a file that changed: what lies outside the chunk is left out."""
        start, end = self.start_line + by, self.end_line + by
        symbol = replace(self.symbol, start_line=start, end_line=end) if self.symbol is not None else None
        return Focus(symbol, start, end, tuple(line + by for line in self.lines), names=self.names)


class Hit(Struct, frozen=True):
    """One result with everything that explains it.

    score: what decides the order; above 1 when much agrees with the query. fused_score: the fusion alone, 0 to 1 and
    comparable between queries of the same kind; `min_score` is compared with it. ranks: the rank in each source's
    list, from 1. archived_copies: chunks of archived files with the same content, which are not shown. twins:
    chunks with almost the same content, which are not shown either. focus: None of
    hits that no query found. phrasings: those of several that found it, from 1.
    """

    chunk: StoredChunk
    score: float
    fused_score: float
    ranks: Mapping[ListSource, int] = field(default_factory=dict)
    factors: tuple[Factor, ...] = ()
    origin: HitOrigin = HitOrigin.SEARCH
    archived_copies: tuple[StoredChunk, ...] = ()
    twins: tuple[StoredChunk, ...] = ()
    focus: Focus | None = None
    phrasings: tuple[int, ...] = ()


@shown(
    "source", "relation", "target", "direction", "hops", "confidence", "certainty", "confirmed", "origin",
    path="chunk.path", start_line="chunk.start_line", end_line="chunk.end_line", stale="chunk.stale",
)  # fmt: skip
class GraphNeighbour(Struct, frozen=True):
    """One neighbour of the results in the code graph: which relation leads there, and how sure it is."""

    chunk: StoredChunk
    relation: RelationKind
    direction: EdgeDirection
    source: str
    target: str
    hops: int
    confidence: float
    certainty: Certainty
    is_guess: bool = False
    origin: HitOrigin = HitOrigin.GRAPH_EXPANSION

    @property
    def confirmed(self) -> bool:
        """Whether it is more than a candidate."""
        return not self.is_guess


class CompressionStats(Struct, frozen=True):
    """How many hits each stage of the pipeline left over; excluded files are in none of the counts."""

    original_count: int = 0
    after_threshold: int = 0
    after_content_dedup: int = 0
    after_ngram_dedup: int = 0
    after_semantic_dedup: int = 0
    after_doc_limit: int = 0
    final_count: int = 0


class SearchStrategy(Struct, frozen=True):
    """What ran, so that a "hybrid" search never silently is not one."""

    fusion_method: FusionMethod
    semantic_enabled: bool
    fts_enabled: bool
    graph_expansion_enabled: bool
    reranker: RerankMethod = RerankMethod.NONE
    rejected_injection_enabled: bool = False
    intent: str = ""
    filters_applied: tuple[str, ...] = ()


class RetrievalStats(Struct, frozen=True):
    """How many results each block has, and what the threshold left.

    candidates_pre_threshold, candidates_post_threshold: before and after min_score, which is min_score_used.
    max_score_used: the best fused score.
    """

    primary_count: int = 0
    expanded_count: int = 0
    rejected_count: int = 0
    runner_up_count: int = 0
    candidates_pre_threshold: int = 0
    candidates_post_threshold: int = 0
    min_score_used: float = 0.0
    max_score_used: float = 0.0


class PhaseTimes(Struct, frozen=True):
    """How long each phase of a search took, in milliseconds."""

    gather: float = 0.0
    score: float = 0.0
    select: float = 0.0
    enrich: float = 0.0


class SearchMeta(Struct, frozen=True):
    """Counts, timing and strategy of one search; `unavailable` maps a store to the reason it was left out.

    confidence: how sure it is that something matches, 0 to 1; None where it was not judged. nothing_matches: it is so
    low that the results are only the nearest there are; is_weak: that they may be. missing_words: the query's names
    that occur nowhere, and all such words where it is not sure that something matches. restriction: where the
    question's words restrict the search to, as a sentence. clauses: of a question that asks for two things; their
    results are shown in turn. near_names: of further candidates, each with its `path:line`, where it is not sure that
    the results are right.
    """

    retrieval_ms: float
    search_strategy: SearchStrategy
    compression: CompressionStats
    index: IndexState
    retrieval_stats: RetrievalStats = RetrievalStats()
    phases_ms: PhaseTimes = PhaseTimes()
    unavailable: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    confidence: float | None = None
    nothing_matches: bool = False
    is_weak: bool = False
    missing_words: tuple[str, ...] = ()
    restriction: str = ""
    clauses: tuple[str, ...] = ()
    near_names: Mapping[str, str] = field(default_factory=dict)


class SearchResult(Struct, frozen=True):
    """The answer to one request: the ranked hits, and what is shown next to them without being a hit.

    expanded: what the best hits call, are called by, test, … rejected: documents of approaches that were turned down,
    near to the query. runner_up: the hits that the limit cut off.
    """

    query: str
    primary: tuple[Hit, ...]
    expanded: tuple[GraphNeighbour, ...]
    meta: SearchMeta
    rejected: tuple[Hit, ...] = ()
    runner_up: tuple[Hit, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing was found, or nothing that matches well."""
        return not self.primary or self.meta.nothing_matches
