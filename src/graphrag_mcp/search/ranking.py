"""Orders the candidates of one query: fused score, plus what agrees, times what each is, with further hits damped."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from graphrag_mcp.model import Factor, Hit, StoredChunk, SymbolMatch
from graphrag_mcp.search import boosts
from graphrag_mcp.search.fusion import Fused
from graphrag_mcp.search.query import Query
from graphrag_mcp.settings import RetrievalSettings

COHERENCE_POOL = 100  # Candidates whose files are counted; later ones are in the lists by chance.


def rank(
    query: Query,
    fused: Sequence[Fused],
    chunks: Mapping[int, StoredChunk],
    definitions: Iterable[SymbolMatch],
    settings: RetrievalSettings,
    *,
    now: float,
    with_recency: bool,
    with_bonuses: bool = True,
) -> list[Hit]:
    """Return a hit for every candidate, best first; each carries all that made its score."""
    known = [one for one in fused if one.chunk_id in chunks]
    defined = boosts.definition_bonuses(query, definitions, settings) if with_bonuses else {}
    head = {one.chunk_id: one.score for one in known[:COHERENCE_POOL]}
    coherence = boosts.coherence_by_file(chunks, head)
    files: dict[str, list[Factor]] = {}
    hits = []
    for one in known:
        chunk = chunks[one.chunk_id]
        if chunk.path not in files:
            share = coherence.get(chunk.path, 0.0)
            files[chunk.path] = boosts.file_bonuses(query, chunk.path, share, settings) if with_bonuses else []
        bonuses = [defined[chunk.chunk_id]] if chunk.chunk_id in defined else []
        factors = _factors(query, chunk, one, settings, now, with_recency=with_recency, with_bonuses=with_bonuses)
        hit = Hit(chunk=chunk, score=0.0, fused_score=one.score, ranks=one.ranks, factors=(*bonuses, *factors))
        hits.append(replace(hit, score=_score(hit, files[chunk.path], 1.0, settings)))
    return _saturate(hits, files, settings)


def _factors(
    query: Query,
    chunk: StoredChunk,
    fused: Fused,
    settings: RetrievalSettings,
    now: float,
    *,
    with_recency: bool,
    with_bonuses: bool,
) -> list[Factor]:
    factors = [boosts.archive_penalty(chunk)]
    if with_bonuses:
        factors.append(boosts.prior(query, chunk, settings))
        factors.append(boosts.source_confidence(query, chunk.path, fused.ranks, settings))
    if with_recency:
        factors.append(boosts.recency(chunk, now, settings))
    return [factor for factor in factors if factor.value != 1.0]


def _score(hit: Hit, file_bonuses: Sequence[Factor], share: float, settings: RetrievalSettings) -> float:
    """Return (fused + own bonuses + share · file's bonuses) · factors."""
    own = sum(factor.value for factor in hit.factors if factor.kind == "bonus")
    base = hit.fused_score + own + share * sum(bonus.value for bonus in file_bonuses)
    return boosts.multiply(base, (factor for factor in hit.factors if factor.kind == "factor"), settings)


def _saturate(hits: Iterable[Hit], files: Mapping[str, Sequence[Factor]], settings: RetrievalSettings) -> list[Hit]:
    """Damp the second, third, … hit of a file, and let only its first carry the whole of the file's bonuses."""
    seen: dict[str, int] = {}
    ordered = []
    for hit in sorted(hits, key=_best_first):
        path = hit.chunk.path
        place = seen[path] = seen.get(path, -1) + 1
        share = settings.file_bonus_decay**place
        damping = settings.saturation**place
        extra = [replace(bonus, value=bonus.value * share) for bonus in files[path]]
        if place:
            extra.append(Factor("saturation", damping, note=f"hit {place + 1} of the file"))
        score = _score(hit, files[path], share, settings) * damping
        ordered.append(replace(hit, score=score, factors=(*hit.factors, *extra)))
    return sorted(ordered, key=_best_first)


def _best_first(hit: Hit) -> tuple[float, int, str, int]:
    """Ties: more sources, then path, then line (K-01)."""
    return -hit.score, -len(hit.ranks), hit.chunk.path, hit.chunk.start_line
