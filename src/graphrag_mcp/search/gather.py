"""Gathers what the stores hold for a query: ranked lists, their fusion, and further facts about the candidates."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from graphrag_mcp.history.recall import MOST_FILES, Memory
from graphrag_mcp.model.files import Category
from graphrag_mcp.model.search import (
    ChunkMention,
    Frequencies,
    FusionMethod,
    ListSource,
    Ranked,
    SearchRequest,
    StoredFile,
)
from graphrag_mcp.ports import ChunkStore
from graphrag_mcp.search.query.literals import Location, lines_in
from graphrag_mcp.search.query.understand import Intent, Query, asks_for_behaviour
from graphrag_mcp.search.ranking.bonuses import COMPARED, Wording, compare_wording, graph_votes
from graphrag_mcp.search.ranking.fusion import EVEN, Fused, RankedList, fuse
from graphrag_mcp.search.ranking.reranking import further_list
from graphrag_mcp.search.ranking.scored import Candidates
from graphrag_mcp.search.ranking.weights import weights_of
from graphrag_mcp.search.retrieval import Lookups, Retrieved
from graphrag_mcp.settings import RankingPart, RetrievalSettings
from graphrag_mcp.text.words import query_words

MAX_NEIGHBOURS = 20  # In the graph's list.
VOTERS = 20  # Candidates that vote for the files whose definitions they mention.


def gather(
    query: Query, request: SearchRequest, pool: int, lookups: Lookups, settings: RetrievalSettings
) -> Candidates:
    """Return the candidates: at most `pool` of each list, and the definitions and files that the query names."""
    retrieved = lookups.retrieve(query, request.scope, pool)
    method = FusionMethod(settings.fusion_algorithm)
    if method is FusionMethod.SEMANTIC_ONLY and not retrieved.vector:
        method = FusionMethod.RELATIVE
    is_hybrid = method is not FusionMethod.SEMANTIC_ONLY
    lists = _lists(query, request, pool, retrieved, method, lookups, settings)
    fused = fuse(lists, method, settings, _vector_shares(lists, lookups.stores.catalog, settings))
    memories: Sequence[Memory] = ()
    located = _chunks_at(query.locations, retrieved.paths, lookups.stores.catalog) if is_hybrid else {}
    if is_hybrid:
        fused += _unlisted(fused, retrieved, located)
        memories = _remember(query, request, lookups, settings)
        fused += _first_remembered(memories, fused, retrieved, lookups.stores.catalog)
    voters = fused[:VOTERS]
    mentions: Sequence[ChunkMention] = ()
    if is_hybrid and RankingPart.VOTES not in settings.switched_off:
        ids = [voter.chunk_id for voter in voters]
        mentions = lookups.in_graph(lambda graph: graph.mentions(ids, request.scope))
    targets = {mention.definition_chunk_id for mention in mentions}
    files = lookups.stores.catalog.files(
        [*(candidate.chunk_id for candidate in fused), *targets, *(memory.chunk_id for memory in memories)]
    )
    frequencies = lookups.frequencies(query.terms) if is_hybrid else None
    rarity = _rarity(query.terms, frequencies, lookups.stores.project) if frequencies is not None else {}
    return Candidates(
        fused,
        files,
        method,
        retrieved,
        lists,
        located,
        wording=_wording(query, fused, rarity, lookups.stores.catalog),
        rarity=rarity,
        votes=graph_votes(voters, mentions, files),
        history={files[memory.chunk_id].file_id: memory for memory in memories if memory.chunk_id in files},
        backlinks=_backlinks([candidate.chunk_id for candidate in fused], files, lookups, settings),
    )


def _vector_shares(
    lists: Sequence[RankedList], catalog: ChunkStore, settings: RetrievalSettings
) -> Mapping[int, float]:
    """Return the share of the vectors in a chunk's score by its file's category, see `fuse_rrf`; off by default."""
    weights = settings.category_weights
    if not weights:
        return {}
    files = catalog.files([item.chunk_id for ranked in lists for item in ranked.items])
    return {chunk_id: weights.get(file.category, EVEN) for chunk_id, file in files.items()}


def _backlinks(
    chunk_ids: Sequence[int], files: Mapping[int, StoredFile], lookups: Lookups, settings: RetrievalSettings
) -> Mapping[int, int]:
    """Return by file id how many other files call, import or link to the chunks' files; {} while the boost is off."""
    if not settings.backlink_boost_weight:
        return {}
    counts = dict(lookups.in_graph(lambda graph: list(graph.backlinks(chunk_ids).items())))
    return {files[chunk_id].file_id: number for chunk_id, number in counts.items() if chunk_id in files}


def _rarity(terms: Sequence[str], frequencies: Frequencies, project: str) -> Mapping[str, float]:
    """Return the idf of the terms, 0 for those of the project's name: a file that is called like it says nothing."""
    own = set(query_words(project))
    return {term: 0.0 if term in own else frequencies.idf(term) for term in terms}


def _wording(
    query: Query, fused: Sequence[Fused], rarity: Mapping[str, float], catalog: ChunkStore
) -> Mapping[int, Wording]:
    """Return how much of a question's wording the first candidates have; {} for names, relations and kinds of file."""
    if query.intent is not Intent.NATURAL or query.relations or query.categories or not rarity:
        return {}
    chunks = catalog.chunks([candidate.chunk_id for candidate in fused[:COMPARED]])
    return compare_wording(query.title, rarity, chunks, asks_for_behaviour=asks_for_behaviour(query.title))


def _lists(
    query: Query,
    request: SearchRequest,
    pool: int,
    retrieved: Retrieved,
    method: FusionMethod,
    lookups: Lookups,
    settings: RetrievalSettings,
) -> list[RankedList]:
    """Return the lists to fuse; the graph has one when the query asks for a relation of a definition it names."""
    lists = []
    if "vector" not in lookups.unavailable:
        others = _cosines_of_keyword_hits(retrieved, lookups) if method is FusionMethod.RELATIVE else {}
        lists.append(RankedList(ListSource.VECTOR, retrieved.vector, settings.vector_weight, others))
    if "keyword" not in lookups.unavailable:
        lists.append(
            RankedList(ListSource.KEYWORD, retrieved.keyword, settings.keyword_weight, retrieved.keyword_beyond)
        )
    if query.relations and retrieved.definitions and request.include_graph_context and request.max_hops:
        related = _related(query, request, retrieved, lookups)
        lists.append(RankedList(ListSource.GRAPH, related, weights_of(settings).graph))
    if method is FusionMethod.RELATIVE:
        lists += further_list(query, pool, request.scope, lookups)
    return lists


def _cosines_of_keyword_hits(retrieved: Retrieved, lookups: Lookups) -> Mapping[int, float]:
    """Return the cosines of chunks that only the keyword list proposed: a missing score would count as zero."""
    nearest = {item.chunk_id for item in retrieved.vector}
    return lookups.similarities([item.chunk_id for item in retrieved.keyword if item.chunk_id not in nearest])


def _related(query: Query, request: SearchRequest, retrieved: Retrieved, lookups: Lookups) -> list[Ranked]:
    """Return the chunks that have a relation the query asks about to a definition it names."""
    seeds = [match.chunk_id for match in retrieved.definitions]
    kinds = [kind for kind, _ in query.relations]
    related = lookups.in_graph(
        lambda graph: graph.neighbours(seeds, request.max_hops, MAX_NEIGHBOURS, request.scope, kinds)
    )
    related_as_asked = [
        neighbour for neighbour in related if (neighbour.relation, neighbour.direction) in query.relations
    ]
    # Each hop halves the contribution.
    return [Ranked(near.chunk.chunk_id, near.confidence / 2 ** (near.hops - 1)) for near in related_as_asked]


def _unlisted(fused: Sequence[Fused], retrieved: Retrieved, located: Iterable[int]) -> list[Fused]:
    """Return the chunks that the query names and no list proposed: definitions, literals, files and lines of files."""
    listed = {candidate.chunk_id for candidate in fused}
    by_name = (
        item.chunk_id for items in (retrieved.definitions, retrieved.literals, retrieved.paths) for item in items
    )
    named = dict.fromkeys(chain(by_name, located))
    return [Fused(chunk_id, 0.0, {}) for chunk_id in named if chunk_id not in listed]


def _remember(query: Query, request: SearchRequest, lookups: Lookups, settings: RetrievalSettings) -> Sequence[Memory]:
    """Return the files that past commits propose, of code without tests.

    None for a name, a path, a relation or a kind of file.
    """
    is_plain = query.intent is Intent.NATURAL and not query.relations and not query.categories
    if not is_plain or RankingPart.HISTORY in settings.switched_off:
        return ()
    memories = lookups.recall(query.terms, request.scope)
    if not memories:
        return ()
    files = lookups.stores.catalog.files([memory.chunk_id for memory in memories])
    code = {chunk_id for chunk_id, file in files.items() if file.category is Category.IMPLEMENTATION}
    return [memory for memory in memories if memory.chunk_id in code]


def _first_remembered(
    memories: Sequence[Memory], fused: Sequence[Fused], retrieved: Retrieved, catalog: ChunkStore
) -> list[Fused]:
    """Return for each of the best files of past commits that no list proposed its best chunk by keywords, or first."""
    if not memories:
        return []
    best = [memory.chunk_id for memory in memories[:MOST_FILES]]
    beyond = sorted(retrieved.keyword_beyond, key=lambda chunk_id: -retrieved.keyword_beyond[chunk_id])
    listed = [candidate.chunk_id for candidate in fused]
    file_of = {chunk_id: file.file_id for chunk_id, file in catalog.files([*best, *beyond, *listed]).items()}
    known = {file_of.get(chunk_id) for chunk_id in listed}
    chosen: dict[int | None, int] = {}
    for chunk_id in [*beyond, *best]:
        chosen.setdefault(file_of.get(chunk_id), chunk_id)
    return [
        Fused(chosen[file_of[chunk_id]], 0.0, {})
        for chunk_id in best
        if chunk_id in file_of and file_of[chunk_id] not in known
    ]


def _chunks_at(locations: Sequence[Location], paths: Sequence[Ranked], catalog: ChunkStore) -> Mapping[int, int]:
    """Return the named line of each chunk that contains one. paths: a chunk of each file that may be meant."""
    if not locations or not paths:
        return {}
    wanted: defaultdict[int, list[int]] = defaultdict(list)
    for file in catalog.files([item.chunk_id for item in paths]).values():
        wanted[file.file_id] += lines_in(locations, file.path)
    spans = catalog.spans([file_id for file_id, lines in wanted.items() if lines])
    return {
        chunk_id: line
        for file_id, chunks in spans.items()
        for chunk_id, (start, end) in chunks.items()
        for line in wanted[file_id]
        if start <= line <= end
    }
