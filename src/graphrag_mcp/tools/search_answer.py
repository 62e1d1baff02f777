"""The answer of a search as text and as JSON."""

from bisect import bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec.structs import replace

from graphrag_mcp.model.reports import IndexPhase
from graphrag_mcp.model.search import EdgeDirection, GraphNeighbour, Hit, SearchMeta, SearchResult, StoredChunk
from graphrag_mcp.text.counts import counted, listed
from graphrag_mcp.text.names import as_name
from graphrag_mcp.tools.arguments import SearchArguments
from graphrag_mcp.tools.excerpts import (
    RELATED_SHARE,
    SEARCH_TOKENS,
    Excerpt,
    also_here,
    best_lines,
    certainty,
    cost_of,
    cost_of_lines,
    cut_text,
    cut_texts,
    explain,
    first_share,
    fold,
    id_of,
    match_of,
    relation_to,
    room_of,
    take_fitting,
    text_of,
    usefulness,
    why,
)
from graphrag_mcp.tools.printing import (
    FRAME,
    MCP,
    Asking,
    as_json,
    describe_index,
    fenced,
    json_cost,
    location,
    numbered,
    one_line,
    printable,
)
from graphrag_mcp.tools.tool import Call

COPIES_SHOWN = 3  # Archived chunks with the content of a result.
_BRIEF = ("path", "start_line", "end_line", "symbol", "status", "score", "origin")  # A brief result has these.
_TEXT_FRAME = 40  # Characters around a text: its name, and the count of the lines cut.
NextAt = Callable[[int, int], str]
LEAST_CODE = 200  # Characters of the first result, about five lines; with less room, signatures are more useful.
BODY_FRAME = 60  # Characters around a text: two fences, the language, the number of lines cut.
BETWEEN = 2  # Characters between two results: an empty line.
CODE_RESULTS = 2  # The first results of a page have their code: with three, fewer answers hold the lines that answer.
RELATED_ROWS = 5  # Related code is shown on request: none of 120 answers needed it.
POINTED_NAMES = 3  # Other definitions of its file, for each of the results that have code.
LEAST_CONFIDENCE = 0.5  # A less certain relation is more often wrong than right, and is not shown.
NAMES_SHOWN = 6  # Definitions of a chunk of which none stands out.
NEAREST_SHOWN = 5  # Chunks of an answer in which nothing matches well.
WORDS_SHOWN = 6
SIGNATURE_CHARACTERS = 160
CONSTANT_CHARACTERS, VALUE_CHARACTERS = 100, 40
# Lines around a best one, the nearest first.
AROUND = (0, *(step for distance in range(1, 40) for step in (distance, -distance)))
LEAST_FOLDED, LEAST_APART = 200, 700  # Characters: less is the beginning; less has one run of lines.


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


def search_text(result: SearchResult, call: Call[SearchArguments]) -> str:
    """Return the answer of a search tool."""
    tokens = call.tokens if call.arguments.token_budget else min(call.tokens, SEARCH_TOKENS)
    with_code = call.arguments.response_format == "detailed"
    return render(
        result,
        tokens,
        with_code=with_code,
        have=call.arguments.held,
        first=call.first,
        following=call.next_at,
        asking=call.asking,
    )


def render(
    result: SearchResult,
    tokens: int,
    *,
    with_code: bool = True,
    explained: bool = False,
    have: Collection[str] = (),
    first: int = 0,
    following: NextAt = lambda _row, _total: "",
    asking: Asking = MCP,
) -> str:
    """Return the answer to a search in at most about `tokens` tokens; `explained` adds every factor of a score.

    have: the ids of code that is not repeated. first: results before this one, from 0, are not shown. following:
    returns the argument that continues at a result.
    """
    room = room_of(tokens)
    total = total_of(result)
    result = replace(result, primary=result.primary[first:])
    notes = describe_meta(result.meta)
    if not result.primary:
        return printable("\n".join([*notes, *_next_steps(result, asking)]))
    if result.meta.nothing_matches and not first:  # A page after the first shows the rest as usual.
        nearest = [_header(position, hit, explained) for position, hit in enumerate(result.primary[:NEAREST_SHOWN], 1)]
        rest = _describe_rest(0, following(len(nearest), total), asking)
        return printable(_render_nearest(result, [*notes, describe_nothing(result.meta, asking)], nearest, rest))
    related = [*_related(result.expanded, room // RELATED_SHARE), *_rejected(result.rejected)]
    further = _further(result.runner_up, first + len(result.primary) + 1, room // RELATED_SHARE)
    names = _near_names(result.meta)
    room -= cost_of_lines((*notes, *related, *further)) + cost_of(names)
    headers = [_header(position, hit, explained) for position, hit in enumerate(result.primary, first + 1)]
    counts = range(CODE_RESULTS, 0, -1) if with_code else ()
    blocks: list[str] = next(filter(None, (_detailed(headers, result.primary, room, have, n) for n in counts)), [])
    between = "\n\n" if blocks else "\n"
    blocks = blocks or take_fitting(_outlines(headers, result.primary, CODE_RESULTS), room, 1)[0]
    rest = _describe_rest(len(headers) - len(blocks), following(first + len(blocks), total), asking)
    parts = ["\n".join(notes), between.join(blocks), "\n".join(further), rest, "\n".join(related), names]
    return printable("\n\n".join(part for part in parts if part))


def describe_nothing(meta: SearchMeta, asking: Asking) -> str:
    """Return in one line that nothing matches well, why, and what to do about it."""
    missing = _missing(meta)
    why_not = missing or "no chunk contains these words together"
    narrowing = [name for name in meta.search_strategy.filters_applied if name != "exclude_archived"]
    if narrowing and not missing:
        why_not += f" within the active filters ({', '.join(narrowing)})"
    by_text, status = asking.tool("find_occurrences"), asking.tool("index_status")
    advice = f"rephrase it, or use {by_text} for an exact text; {status} says what was left out"
    return f"Nothing matches well ({why_not}); {advice}."


def _missing(meta: SearchMeta) -> str:
    words = [f'"{one_line(word)}"' for word in meta.missing_words[:WORDS_SHOWN]]
    if len(meta.missing_words) > WORDS_SHOWN:
        words.append(f"{len(meta.missing_words) - WORDS_SHOWN} more")
    return f"not indexed anywhere: {', '.join(words)}" if words else ""


def describe_meta(meta: SearchMeta) -> list[str]:
    """Return the notes before the results: an incomplete index, a missing store, how the question is read, warnings."""
    is_current = meta.index.state is IndexPhase.READY and not meta.index.message
    notes = [] if is_current else [describe_index(meta.index)]
    if meta.unavailable:
        notes.append("Not searched: " + "; ".join(f"{name} ({reason})" for name, reason in meta.unavailable.items()))
    if meta.restriction:
        notes.append(one_line(meta.restriction))
    if meta.clauses:
        clauses = " and ".join(f'"{one_line(clause)}"' for clause in meta.clauses)
        notes.append(f"Two questions, answered in turn: {clauses}")
    missing = "" if meta.nothing_matches else _missing(meta)
    if meta.is_weak and not meta.nothing_matches:
        notes.append("Weak match: these chunks are the nearest, and may not answer.")
    if missing:
        notes.append(f"{missing[0].upper()}{missing[1:]}.")
    return notes + [f"Warning: {warning}" for warning in meta.warnings]


def heading(hit: Hit) -> str:
    """Return the location of what matched, its name and its kind."""
    match = match_of(hit)
    whole = f", part of {match.part_of[0]}-{match.part_of[1]}" if match.part_of else ""
    where = f"{as_name(hit.chunk.path)}:{match.start_line}-{match.end_line}"
    names = hit.focus.names if hit.focus is not None else ()
    name = listed(list(map(as_name, names)), NAMES_SHOWN) if names else as_name(match.symbol)
    kind = "definitions" if names else match.kind
    return "  ".join(part for part in (where, name, f"({kind}{whole})") if part)


def _render_nearest(result: SearchResult, notes: Sequence[str], headers: Sequence[str], rest: str) -> str:
    """Return that nothing matches well, and the nearest chunks without their code."""
    first = "\n".join(notes)
    nearest = "\n".join(["Nearest chunks:", *headers])
    rejected = "\n".join(_rejected(result.rejected))
    return "\n\n".join(part for part in (first, nearest, rest, rejected, _near_names(result.meta)) if part)


def _near_names(meta: SearchMeta) -> str:
    """Return where else to look, and the words for another phrasing; "" where the answer is sure."""
    names = ", ".join(f"{as_name(name)} {as_name(place)}" for name, place in meta.near_names.items())
    return f"Names in this repository near the question: {names}" if names else ""


def _header(position: int, hit: Hit, explained: bool) -> str:
    lines = [
        one_line("  ".join(part for part in (f"{position}. {heading(hit)}", why(hit, with_ranks=explained)) if part))
    ]
    if hit.chunk.stale:
        lines.append(f"   stale: {hit.chunk.stale}")
    if hit.archived_copies:
        lines.append(f"   same content {one_line(_copies(hit.archived_copies))}")
    if hit.twins:
        lines.append(f"   {one_line(_copies(hit.twins))}")
    if explained:
        lines += [f"   {line}" for line in explain(hit)]
    return "\n".join(lines)


def _copies(copies: Sequence[StoredChunk]) -> str:
    locations = [location(copy) + (" (archived)" if copy.archive else "") for copy in copies]
    return f"also in {listed(locations, COPIES_SHOWN)}"


def _outlines(headers: Sequence[str], hits: Sequence[Hit], pointing: int) -> list[str]:
    """Return results without code: the signature of what matched; of a part, or without one, its best line.

    pointing: how many of the first name other definitions of their files. With best lines below each signature, and so
    less code above, fewer answers held the lines that answer.
    """
    outlines = []
    for place, (header, hit) in enumerate(zip(headers, hits, strict=True)):
        match = match_of(hit)
        signature = one_line(match.signature[:SIGNATURE_CHARACTERS])
        best = _quoted(hit)[:1] if match.part_of or not signature else []
        said = best or ([f"   > {signature}"] if signature else [])
        outlines.append("\n".join([header, *said, *(_pointers(hit) if place < pointing else ())]))
    return outlines


def _quoted(hit: Hit, after: int = 0) -> list[str]:
    return [f"   {number} | {one_line(text)}" for number, text in best_lines(hit, after)]


def _pointers(hit: Hit) -> list[str]:
    pointed = (
        (f"{as_name(name)}:{line}", f" = {one_line(value)}" if 0 < len(value) <= VALUE_CHARACTERS else "")
        for name, line, value in also_here(hit)[:POINTED_NAMES]
    )
    named = ", ".join(f"{name}{value}" for name, value in pointed)
    return [f"   also here: {named}"] if named else []


def _further(hits: Sequence[Hit], first: int, room: int) -> list[str]:
    lines = [one_line(f"{place}. {_briefly(hit)}") for place, hit in enumerate(hits, first)]
    fitting, _ = take_fitting(["Further places:", *lines], room, 1)
    return fitting if len(fitting) > 1 else []


def _briefly(hit: Hit) -> str:
    stale = "  stale" if hit.chunk.stale else ""
    archived = f"  archived: {hit.chunk.archive.reason}" if hit.chunk.archive is not None else ""
    match = match_of(hit)
    lines = f"{match.start_line}-{match.end_line}"  # What the name defines may begin anywhere in them.
    return f"{as_name(hit.chunk.path)}:{lines}  {as_name(match.symbol) or match.kind}{archived}{stale}"


def _describe_rest(unfitting: int, following: str, asking: Asking) -> str:
    words = f"{counted(unfitting, 'more result')} did not fit" if unfitting else "more results"
    if following:
        return f"... {words}: {following}"
    return f"... {words}; lower the limit or raise {asking.argument('token_budget')}" if unfitting else ""


def _detailed(headers: Sequence[str], hits: Sequence[Hit], room: int, have: Collection[str], count: int) -> list[str]:
    """Return the results that fit, the first `count` with code; none when the code of the first does not fit."""
    outlines = _outlines(headers, hits, count)
    around = ("".join([*_pointers(hit), *_used(hit)]) for hit in hits)
    framed = [f"{header}{text}" for header, text in zip(headers, around, strict=True)][:count]
    shown, room = take_fitting([*framed, *outlines[count:]], room - BODY_FRAME * len(framed), BETWEEN)
    ids = [id_of(hit) for hit in hits[: min(len(shown), count)]]
    held = {given.removeprefix("#") for given in have}
    texts = ["" if known in held else _numbered(hit) for known, hit in zip(ids, hits, strict=False)]
    if first_share(room, len(texts)) < min(LEAST_CODE, cost_of(texts[0])):
        return []
    blocks = []
    for place, excerpt in enumerate(cut_texts(texts, room, lambda place, text, share: _cut(hits[place], text, share))):
        if not texts[place]:
            blocks.append(f"{headers[place]}\n   you have its code: #{ids[place]}")
        elif not excerpt.text:
            blocks.append(outlines[place])
        else:
            first, line_end, rest = headers[place].partition("\n")
            blocks.append(_block(f"{first}  #{ids[place]}{line_end}{rest}", excerpt, hits[place]))
    return [*blocks, *outlines[count : len(shown)]]


def _numbered(hit: Hit) -> str:
    return "\n".join(numbered(text_of(hit).split("\n"), match_of(hit).start_line))


def _cut(hit: Hit, text: str, room: int) -> Excerpt:
    """Return a text that fits; else the first line of what matched, and the lines around the best ones."""
    if hit.focus is None or not hit.focus.lines or cost_of(text) <= room or room < LEAST_FOLDED:
        return cut_text(text, room)
    rows, first, symbol = text.split("\n"), match_of(hit).start_line, hit.focus.symbol
    start = max(first, symbol.start_line) if symbol is not None else first
    best = [line for line in hit.focus.lines if line >= start] or hit.focus.lines  # Above it are imports and comments.
    head = min(start - first, len(rows) - 1)
    is_decorated = text_of(hit).split("\n")[head].lstrip().startswith("@")
    heads = (head, head + 1) if is_decorated else (head,)
    around = (line - first + step for step in AROUND for line in (best if room >= LEAST_APART else best[:1]))
    least = head if best[0] >= start else 0
    worth = list(dict.fromkeys(number for number in (*heads, *around) if least <= number < len(rows)))

    def folded(count: int) -> str:
        return "\n".join(fold(rows, worth[:count], room, count))

    most = bisect_right(range(len(worth) + 1), room, key=lambda count: cost_of(folded(count)))
    return Excerpt(folded(most - 1))


def _block(header: str, excerpt: Excerpt, hit: Hit) -> str:
    """Return a result with its code, and the best of the lines that were cut."""
    lines, last = [header, fenced(hit.chunk.text, excerpt.text)], match_of(hit).end_line
    if excerpt.hidden_lines:
        first = last - excerpt.hidden_lines + 1
        lines.append(f"... {counted(excerpt.hidden_lines, 'more line')} ({first}-{last})")
        lines += _quoted(hit, after=first - 1)
    return "\n".join([*lines, *_used(hit), *_pointers(hit)])


def _used(hit: Hit) -> list[str]:
    used = hit.focus.used if hit.focus is not None else ()
    return [f"   {symbol.start_line} | {one_line(symbol.signature[:CONSTANT_CHARACTERS])}" for symbol in used]


def _related(neighbours: Sequence[GraphNeighbour], room: int) -> list[str]:
    """Return the most useful relations of what matched, without guesses."""
    certain = [near for near in neighbours if near.confirmed and near.confidence >= LEAST_CONFIDENCE]
    lines = [_neighbour(neighbour) for neighbour in sorted(certain, key=usefulness)[:RELATED_ROWS]]
    fitting, _ = take_fitting(["Related in the code graph:", *lines], room, 1)
    left = len(certain) - len(fitting) + 1
    rest = [f"... {counted(left, 'more relation')}"] if left else []
    return [*fitting, *rest] if len(fitting) > 1 else []


def _rejected(hits: Sequence[Hit]) -> list[str]:
    if not hits:
        return []
    lines = (f"- {as_name(hit.chunk.path)}:{hit.chunk.start_line}  {as_name(hit.chunk.facts.title)}" for hit in hits)
    return ["Rejected approaches (decided against; read why before proposing them):", *lines]


def _neighbour(neighbour: GraphNeighbour) -> str:
    chunk = neighbour.chunk
    name = (neighbour.target if neighbour.direction is EdgeDirection.OUT else neighbour.source) or chunk.symbol
    parts = [f"- {location(chunk)}", as_name(name), relation_to(neighbour)]
    notes = certainty(neighbour) + ("; stale" if chunk.stale else "")
    return one_line("  ".join(part for part in parts if part)) + f"  ({notes})"


def _next_steps(result: SearchResult, asking: Asking) -> list[str]:
    lines = [f'No results for "{result.query}".']
    if result.meta.index.state is IndexPhase.BUILDING:
        lines.append("Retry when the index is complete.")
    counts = result.meta.compression
    if counts.original_count and not counts.after_threshold:
        lines.append(f"Below min_score: all of {counted(counts.original_count, 'candidate')}.")
    if result.meta.search_strategy.filters_applied:
        filters = ", ".join(result.meta.search_strategy.filters_applied)
        lines.append(f"Active filters: {filters}. {asking.argument('exclude_archived=false')} includes archived files.")
    status = asking.tool("index_status")
    lines.append(f"Try other words or an identifier; {status} lists what is indexed and what was left out.")
    return lines
