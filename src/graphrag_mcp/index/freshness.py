"""Checks the files of a result before it is shown: a file may have changed since it was indexed.

A file with the size and time of its index entry counts as unchanged, unless the time is so recent that another write
could have the same one. The chunks of a changed file are relocated, or marked as stale.
"""

import os
import time
from collections.abc import Collection, Iterable, Mapping
from enum import Enum, auto
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from graphrag_mcp.model.search import GraphNeighbour, Hit, SearchResult, StoredChunk
from graphrag_mcp.stores.sqlite.catalog import FileState
from graphrag_mcp.system.safe_files import RECENT_NS, changed_ns, hash_content, read_file_below
from graphrag_mcp.text.counts import counted
from graphrag_mcp.text.secrets import MASK, mask_secrets
from graphrag_mcp.text.source import NotText, decode

CHANGED = "these lines have changed since the file was indexed"
UNREADABLE = "the file cannot be read now; its text is shown as indexed"

_Shown = TypeVar("_Shown", Hit, GraphNeighbour)


def shown_files(result: SearchResult) -> dict[int, str]:
    """Return the path of each file in a result, by the id of the content shown."""
    return {chunk.file_id: chunk.path for chunk in _chunks(result)}


def find_changed(root: Path, shown: Mapping[int, str], states: Mapping[int, FileState], max_bytes: int) -> set[str]:
    """Return the paths of files whose content is no longer the one shown.

    states: the index entries of the contents that the tree still has.
    """
    return {
        path
        for file_id, path in shown.items()
        if file_id not in states or not _is_unchanged(root, path, states[file_id], max_bytes)
    }


def size_of(file: Path) -> int:
    """Return the bytes of a file, 0 when there is none."""
    try:
        return file.lstat().st_size
    except OSError:
        return 0


def correct(root: Path, result: SearchResult, changed: Collection[str], max_bytes: int) -> SearchResult:
    """Return the result with current line numbers; chunks that are gone from their file are marked as stale.

    Hits in files that are gone are left out, and a warning counts them.
    """
    texts = {path: _read(root, path, max_bytes) for path in changed}

    def corrected(items: Iterable[_Shown]) -> tuple[_Shown, ...]:
        pairs = ((item, texts.get(item.chunk.path, _SAME)) for item in items)
        return tuple(_with_chunk(item, _locate(item.chunk, text)) for item, text in pairs if text is not _GONE)

    primary = tuple(_with_copies(hit, texts) for hit in corrected(result.primary))
    lost = len(result.primary) - len(primary)
    warnings = (f"omitted, because their files were deleted: {counted(lost, 'result')}",) if lost else ()
    return replace(
        result,
        primary=primary,
        expanded=corrected(result.expanded),
        rejected=corrected(result.rejected),
        runner_up=corrected(result.runner_up),
        meta=replace(result.meta, warnings=(*result.meta.warnings, *warnings)),
    )


def relocate(root: Path, chunk: StoredChunk, max_bytes: int) -> StoredChunk | None:
    """Return a chunk at its current lines, marked as stale if they are gone from the file; None without the file."""
    text = _read(root, chunk.path, max_bytes)
    return None if text is _GONE else _locate(chunk, text)


class _State(Enum):
    """Why a file has no text to compare with."""

    SAME = auto()
    GONE = auto()
    UNREADABLE = auto()


_SAME, _GONE, _UNREADABLE = _State


def _chunks(result: SearchResult) -> Iterable[StoredChunk]:
    shown: tuple[Hit | GraphNeighbour, ...] = (
        *result.primary,
        *result.expanded,
        *result.rejected,
        *result.runner_up,
    )
    yield from (item.chunk for item in shown)
    yield from (copy for hit in result.primary for copy in (*hit.archived_copies, *hit.twins))


def _is_unchanged(root: Path, path: str, state: FileState, max_bytes: int) -> bool:
    try:
        status = os.lstat(f"{root}/{path}")
        if has_time_of(status, state):
            return True
        if status.st_size != state.size:
            return False
        return hash_content(read_file_below(root, path, max_bytes)) == state.content_hash
    except OSError:
        return False


def has_time_of(status: os.stat_result, state: FileState) -> bool:
    """Return whether size and time are those of the index entry, and too old for another write to have the same."""
    changed = changed_ns(status)
    return (status.st_size, changed) == (state.size, state.changed_ns) and time.time_ns() - changed > RECENT_NS


def _read(root: Path, path: str, max_bytes: int) -> str | _State:
    """Return the text of a file, not masked."""
    try:
        text = decode(read_file_below(root, path, max_bytes))
    except FileNotFoundError:
        return _GONE if root.is_dir() else _UNREADABLE
    except OSError:
        return _UNREADABLE
    return _UNREADABLE if isinstance(text, NotText) else text.text


def _with_chunk(item: _Shown, chunk: StoredChunk) -> _Shown:
    """Move what is shown of a chunk with it; its other lines in a changed file are no longer known."""
    if chunk is item.chunk or not isinstance(item, Hit) or item.focus is None:
        return replace(item, chunk=chunk)
    return replace(item, chunk=chunk, focus=item.focus.moved(chunk.start_line - item.chunk.start_line))


def _with_copies(hit: Hit, texts: Mapping[str, str | _State]) -> Hit:
    """Drop the archived copies and twins that are gone from their files."""
    if not any(copy.path in texts for copy in (*hit.archived_copies, *hit.twins)):
        return hit

    def located(copies: Iterable[StoredChunk]) -> tuple[StoredChunk, ...]:
        current = (_locate(copy, texts.get(copy.path, _SAME)) for copy in copies)
        return tuple(copy for copy in current if not copy.stale)

    return replace(hit, archived_copies=located(hit.archived_copies), twins=located(hit.twins))


def _locate(chunk: StoredChunk, text: str | _State) -> StoredChunk:
    """Relocate a chunk to its lines in a text, nearest to its old lines."""
    if not isinstance(text, str):
        return chunk if text is _SAME else replace(chunk, stale=UNREADABLE)
    if MASK in chunk.text:  # Only then is it needed: masking takes longer than all other steps.
        text = mask_secrets(text)
    starts = _lines_of(text, chunk.text) or _lines_of(_without_ends(text), _without_ends(chunk.text))
    if not starts:
        return replace(chunk, stale=CHANGED)
    start = min(starts, key=lambda line: abs(line - chunk.start_line))
    return replace(chunk, start_line=start, end_line=start + chunk.end_line - chunk.start_line)


def _without_ends(text: str) -> str:
    """Return a text without the blanks at the ends of its lines: the index does not keep those of blank lines."""
    return "\n".join(map(str.rstrip, text.split("\n")))


def _lines_of(text: str, lines: str) -> list[int]:
    """Return the numbers of the lines at which whole lines of a text begin."""
    lines = lines.rstrip("\n")
    numbers: list[int] = []
    offset = text.find(lines) if lines else -1
    while offset >= 0:
        end = offset + len(lines)
        if text[offset - 1 : offset] in ("", "\n") and text[end : end + 1] in ("", "\n"):
            numbers.append(1 + text.count("\n", 0, offset))
        offset = text.find(lines, offset + 1)
    return numbers
