"""The answer of a search as JSON."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from graphrag_mcp.model.search import Hit, SearchResult, StoredChunk
from graphrag_mcp.tools.arguments import SearchArguments
from graphrag_mcp.tools.as_json import FRAME, as_json, json_cost
from graphrag_mcp.tools.excerpts import RELATED_SHARE, Excerpt, cost_of, cut_texts, room_of, take_fitting
from graphrag_mcp.tools.matches import also_here, best_lines, match_of, text_of, why
from graphrag_mcp.tools.tool import Call

COPIES_SHOWN = 3  # Archived chunks with the content of a result.
_BRIEF = ("path", "start_line", "end_line", "symbol", "status", "score", "origin")  # A brief result has these.
_TEXT_FRAME = 40  # Characters around a text: its name, and the count of the lines cut.


def search_json(result: SearchResult, call: Call[SearchArguments]) -> dict[str, Any]:
    """Return as much of `search_payload` as fits from the call's first result on, with the cursor to the next."""
    total = total_of(result)
    paging = {"first": call.first, "total": total, "cursor": call.cursor_at(call.first, total)}
    result = replace(result, primary=result.primary[call.first :])
    payload = search_payload(result, room_of(call.tokens) - json_cost(paging))
    paging["cursor"] = call.cursor_at(call.first + len(payload["primary"]), total)
    return payload | paging


def total_of(result: SearchResult) -> int:
    """Return how many results there are, shown or not."""
    return max(result.meta.compression.after_doc_limit, len(result.primary))


def search_payload(result: SearchResult, room: int | None = None) -> dict[str, Any]:
    """Return `{query, primary, rejected, runner_up, expanded, meta}`; with `room`, cut to about that size as JSON.

    primary: one object per result, best first; at least the first, and those whose objects fit. `start_line` to
    `signature` and `text` are of what matched, `hidden_lines` is the number of lines cut from it, `part_of` gives the
    lines of its definition if there are more, `chunk` those of the chunk that was ranked. `lines` are the lines that
    match best, `also_here` other definitions of the file. `fused_score` (0 to 1, 1: best in every list) is compared
    with min_score; `score`, which orders the results, is that with the factors, and may exceed 1. `ranks` is the
    position in each list, from 1; `phrasings` are those of several that found it, from 1; `factors` explain the score;
    `recency_weight` and `archive_penalty` repeat two of them.
    `archived_copies` are locations of the same content in archived files, and `twins` of almost
    the same content, which are not results.
    rejected: documents of rejected approaches. runner_up: the further places up to the tenth, without their texts.
    expanded: related code, where `confirmed` is false when it is only a candidate.
    meta: retrieval_ms, phases_ms, search_strategy, retrieval_stats, compression, index, unavailable, warnings;
    `restriction`, a sentence where the question's words name a kind of file or a path to search in;
    `confidence` (0 to 1, null: not judged), `is_weak` where it is low, `nothing_matches` where it
    is very low; `missing_words`, the names that occur nowhere, and where nothing matches all
    words that do not; `near_names` of further ones with their places, where the confidence is below .75; `clauses` of a
    question that asks for two things, whose results come in turn.
    """
    shown, texts = [_hit(hit) for hit in result.primary], [text_of(hit) for hit in result.primary]
    excerpts = list(map(Excerpt, texts))
    meta = as_json(result.meta)
    extras = {
        "rejected": [_brief(hit) for hit in result.rejected],
        "runner_up": [_brief(hit) for hit in result.runner_up],
        "expanded": as_json(result.expanded),
    }
    if room is not None:
        left = room - json_cost({"query": result.query, "primary": [], **dict.fromkeys(extras, ()), "meta": meta})
        share = min(room // RELATED_SHARE, (left - json_cost(shown[:1])) // 2)  # Half is left for the code.
        for name, values in extras.items():
            extras[name], unused = take_fitting(values, share, FRAME, 0, json_cost)
            left, share = left - share + unused, unused
        shown, left = take_fitting(shown, left, _TEXT_FRAME, cost=json_cost)
        texts = texts[: len(shown)]
        escaped = sum(map(json_cost, texts)) / max(1, sum(map(cost_of, texts)))
        excerpts = cut_texts(texts, int(left / max(1.0, escaped)))
    primary = [
        hit | {"text": excerpt.text, "hidden_lines": excerpt.hidden_lines}
        for hit, excerpt in zip(shown, excerpts, strict=True)
    ]
    return {"query": result.query, "primary": primary, **extras, "meta": meta}


def _hit(hit: Hit) -> dict[str, Any]:
    chunk, match = hit.chunk, match_of(hit)
    weights: Mapping[str, float] = {factor.name: factor.value for factor in hit.factors}
    return {
        "path": chunk.path,
        **as_json(match),
        "chunk": (chunk.start_line, chunk.end_line),
        "lines": [{"line": line, "text": text} for line, text in best_lines(hit)],
        "also_here": [{"symbol": name, "line": line} for name, line, _ in also_here(hit)],
        "header_path": " > ".join(chunk.enclosing),
        "language": chunk.language,
        "category": chunk.category,
        "score": hit.score,
        "fused_score": hit.fused_score,
        "why": why(hit),
        "ranks": dict(hit.ranks),
        "phrasings": sorted(hit.phrasings),
        "factors": as_json(hit.factors),
        "origin": hit.origin,
        "is_archived": chunk.archive is not None,
        "archive_reason": chunk.archive.reason if chunk.archive else None,
        "twins": [_place(twin) | {"is_archived": twin.archive is not None} for twin in hit.twins[:COPIES_SHOWN]],
        "twins_total": len(hit.twins),
        "archived_copies": [_place(copy) for copy in hit.archived_copies[:COPIES_SHOWN]],
        "archived_copies_total": len(hit.archived_copies),
        "archive_penalty": weights.get("archive", 1.0),
        "recency_weight": weights.get("recency", 1.0),
        "modified_at": iso(chunk.modified_at),
        "status": chunk.facts.status,
        "stale": chunk.stale,
    }


def _place(chunk: StoredChunk) -> dict[str, Any]:
    return {"path": chunk.path, "start_line": chunk.start_line, "end_line": chunk.end_line}


def _brief(hit: Hit) -> dict[str, Any]:
    whole = _hit(hit)
    return {name: whole[name] for name in _BRIEF} | {"title": hit.chunk.facts.title}


def iso(seconds: float | None) -> str | None:
    """Return a time in seconds since 1970 as ISO 8601 in UTC."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
