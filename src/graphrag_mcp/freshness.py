"""Looks at the files of a result before it is shown: the index follows the edits, and some are faster.

A file that has the size and time that the index remembers is taken as it is, unless its time is so recent that another
write might have left the same. What changed is found again where it moved to, or marked.
"""

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from enum import Enum, auto
from pathlib import Path
from typing import TypeVar

from graphrag_mcp.counts import counted
from graphrag_mcp.indexing.prepare import RECENT_NS, hash_content
from graphrag_mcp.parsing.secrets import MASK, mask_secrets
from graphrag_mcp.parsing.source import NotText, Text, decode, read_text
from graphrag_mcp.regular_files import changed_ns, read_file_below
from graphrag_mcp.results import GraphNeighbour, Hit, SearchResult, StoredChunk
from graphrag_mcp.stores.sqlite.catalog import FileState

CHANGED = "the file has changed since it was indexed, and these lines with it"
UNREADABLE = "the file cannot be read now; this is what it held when it was indexed"

_Shown = TypeVar("_Shown", Hit, GraphNeighbour)


def shown_files(result: SearchResult) -> dict[int, str]:
    """Return the path of each file that a result shows, by the id of the content that it shows."""
    return {chunk.file_id: chunk.path for chunk in _chunks(result)}


def find_changed(root: Path, shown: Mapping[int, str], states: Mapping[int, FileState], max_bytes: int) -> set[str]:
    """Return the paths of files whose content is not the one that is shown, any more.

    states: what the index remembers of the contents that the tree still has.
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
    """Return the result with the lines where they stand now, and a mark on those that are gone from their file.

    Hits in files that are gone are left out, and a warning counts them.
    """
    texts = {path: _read(root, path, max_bytes) for path in changed}

    def corrected(ones: Iterable[_Shown]) -> tuple[_Shown, ...]:
        found = ((one, texts.get(one.chunk.path, _SAME)) for one in ones)
        return tuple(replace(one, chunk=_locate(one.chunk, text)) for one, text in found if text is not _GONE)

    primary = corrected(result.primary)
    lost = len(result.primary) - len(primary)
    warnings = (f"left out: {counted(lost, 'result')} of removed files",) if lost else ()
    return replace(
        result,
        primary=primary,
        expanded=corrected(result.expanded),
        rejected=corrected(result.rejected),
        runner_up=corrected(result.runner_up),
        meta=replace(result.meta, warnings=(*result.meta.warnings, *warnings)),
    )


def relocate(root: Path, chunk: StoredChunk, max_bytes: int) -> StoredChunk | None:
    """Return a chunk where its lines stand now, marked when they are gone from the file; None without the file."""
    text = _read(root, chunk.path, max_bytes)
    return None if text is _GONE else _locate(chunk, text)


def read_now(root: Path, path: str, max_bytes: int) -> str | None:
    """Return the text of a file as it is now, without the secrets in it; None when it cannot be read."""
    text = _read(root, path, max_bytes, read_text)
    return text if isinstance(text, str) else None


class _State(Enum):
    """What stands for a file's text where there is none to compare with."""

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
    return (one.chunk for one in shown)


def _is_unchanged(root: Path, path: str, state: FileState, max_bytes: int) -> bool:
    try:
        found = (root / path).lstat()
        changed = changed_ns(found)
        if (found.st_size, changed) == (state.size, state.changed_ns):
            if time.time_ns() - changed > RECENT_NS:
                return True
        elif found.st_size != state.size:
            return False
        return hash_content(read_file_below(root, path, max_bytes)) == state.content_hash
    except OSError:
        return False


def _read(root: Path, path: str, max_bytes: int, read: Callable[[bytes], Text | NotText] = decode) -> str | _State:
    """Return the text of a file; with the secrets in it, unless it is read with `read_text`."""
    try:
        text = read(read_file_below(root, path, max_bytes))
    except FileNotFoundError:
        return _GONE if root.is_dir() else _UNREADABLE
    except OSError:
        return _UNREADABLE
    return _UNREADABLE if isinstance(text, NotText) else text.text


def _locate(chunk: StoredChunk, text: str | _State) -> StoredChunk:
    """Find a chunk's lines in a text, nearest to where they were."""
    if not isinstance(text, str):
        return chunk if text is _SAME else replace(chunk, stale=UNREADABLE)
    if MASK in chunk.text:  # Only then: it takes longer than all the rest.
        text = mask_secrets(text)
    found = [1 + text.count("\n", 0, place) for place in _places(text, chunk.text)]
    if not found:
        return replace(chunk, stale=CHANGED)
    start = min(found, key=lambda line: abs(line - chunk.start_line))
    return replace(chunk, start_line=start, end_line=start + chunk.end_line - chunk.start_line)


def _places(text: str, lines: str) -> Iterable[int]:
    """Yield where whole lines stand in a text."""
    lines = lines.rstrip("\n")
    place = text.find(lines)
    while place >= 0 and lines:
        end = place + len(lines)
        if text[place - 1 : place] in ("", "\n") and text[end : end + 1] in ("", "\n"):
            yield place
        place = text.find(lines, place + 1)
