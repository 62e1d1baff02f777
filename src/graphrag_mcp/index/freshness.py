"""Looks at the files of a result before it is shown: the index follows the edits, and some are faster.

A file that has the size and time that the index remembers is taken as it is, unless its time is so recent that another
write might have left the same. What changed is found again where it moved to, or marked.
"""

import os
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from enum import Enum, auto
from pathlib import Path
from typing import TypeVar

from graphrag_mcp.grep.occurrences import Content
from graphrag_mcp.ingest.prepare import RECENT_NS, hash_content
from graphrag_mcp.model.search import GraphNeighbour, Hit, SearchResult, StoredChunk
from graphrag_mcp.parsing.parser import PARSER_VERSION
from graphrag_mcp.stores.sqlite.catalog import FileState
from graphrag_mcp.system.safe_files import FilesBelow, changed_ns, read_file_below
from graphrag_mcp.text.counts import counted
from graphrag_mcp.text.secrets import MASK, mask_secrets
from graphrag_mcp.text.source import NotText, decode, read_text

CHANGED = "these lines have changed since the file was indexed"
UNREADABLE = "the file cannot be read now; its text is shown as indexed"

KEPT_CHARACTERS = 64_000_000  # Of masked texts: a repository of 18,000 files has 18 million in files with secrets.

_THIS_PARSER = f"{PARSER_VERSION}."  # What the recipes of its files begin with.
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
    """Return a chunk where its lines stand now, marked when they are gone from the file; None without the file."""
    text = _read(root, chunk.path, max_bytes)
    return None if text is _GONE else _locate(chunk, text)


def read_contents(
    root: Path, paths: Iterable[str], clean: Mapping[str, FileState], masked: "MaskedTexts", max_bytes: int
) -> Iterator[Content]:
    """Yield what files hold now, in their order.

    clean: the files in which the index found no secret. Only those that have not changed since come as bytes.
    """
    with FilesBelow(root) as files:
        for path in paths:
            try:
                data, status = files.read(path, max_bytes)
            except OSError:
                yield Content(path, None)
            else:
                is_clean = path in clean and _is_same(data, status, clean[path])
                yield Content(path, data if is_clean else masked.text_of(data))


class MaskedTexts:
    """Keeps the masked texts of the last files that came as bytes: to mask one takes longer than all the rest.

    Safe to use from several threads at once.
    """

    def __init__(self) -> None:
        self._texts: dict[bytes, str] = {}  # By hash of the content, the oldest first.
        self._characters = 0
        self._guard = threading.Lock()

    def text_of(self, data: bytes) -> str | None:
        """Return the masked text of a file; None when it is no text."""
        key = hash_content(data)
        with self._guard:
            if key in self._texts:
                return self._texts[key]
        text = read_text(data)
        if isinstance(text, NotText):
            return None
        with self._guard:
            self._keep(key, text.text)
        return text.text

    def _keep(self, key: bytes, text: str) -> None:
        if key in self._texts:
            return
        self._texts[key] = text
        self._characters += len(text)
        while self._characters > KEPT_CHARACTERS:
            self._characters -= len(self._texts.pop(next(iter(self._texts))))


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
    yield from (one.chunk for one in shown)
    yield from (copy for hit in result.primary for copy in hit.archived_copies)


def _is_unchanged(root: Path, path: str, state: FileState, max_bytes: int) -> bool:
    try:
        status = (root / path).lstat()
        if _has_time_of(status, state):
            return True
        if status.st_size != state.size:
            return False
        return hash_content(read_file_below(root, path, max_bytes)) == state.content_hash
    except OSError:
        return False


def _is_same(data: bytes, status: os.stat_result, state: FileState) -> bool:
    """Tell whether what was read is what this version of the program indexed. status: as it was after the reading."""
    if not state.recipe.startswith(_THIS_PARSER) or len(data) != state.size:
        return False
    return _has_time_of(status, state) or hash_content(data) == state.content_hash


def _has_time_of(status: os.stat_result, state: FileState) -> bool:
    """Tell whether size and time are those that are remembered, and old enough that no write could leave the same."""
    changed = changed_ns(status)
    return (status.st_size, changed) == (state.size, state.changed_ns) and time.time_ns() - changed > RECENT_NS


def _read(root: Path, path: str, max_bytes: int) -> str | _State:
    """Return the text of a file, with the secrets in it."""
    try:
        text = decode(read_file_below(root, path, max_bytes))
    except FileNotFoundError:
        return _GONE if root.is_dir() else _UNREADABLE
    except OSError:
        return _UNREADABLE
    return _UNREADABLE if isinstance(text, NotText) else text.text


def _with_copies(hit: Hit, texts: Mapping[str, str | _State]) -> Hit:
    """Leave out the copies that are gone from their files."""
    if not any(copy.path in texts for copy in hit.archived_copies):
        return hit
    located = [_locate(copy, texts.get(copy.path, _SAME)) for copy in hit.archived_copies]
    return replace(hit, archived_copies=tuple(copy for copy in located if not copy.stale))


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
