"""Finds which definitions of which files a commit changed."""

import re
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from graphrag_mcp.history.lines import HUNK, as_text, hunk_numbers, patched_path
from graphrag_mcp.model.files import Symbol, SymbolKind
from graphrag_mcp.parsing.parser import parse_file
from graphrag_mcp.system.git import Git
from graphrag_mcp.system.git_files import read_blobs

MOST_FILES = 8  # Of a commit whose definitions are told.
_NAMED = (SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.TYPE)
_DIFF = ("--no-ext-diff", "--no-textconv", "--no-color", "--full-index", "-M90%", "-U0", "-r", "-p", "--root")
_FILE = re.compile(r"^diff --git ", re.MULTILINE)
_PATH = re.compile(r"^\+\+\+ (.*)$", re.MULTILINE)
_BLOB = re.compile(r"^index [0-9a-f]+\.\.([0-9a-f]+)", re.MULTILINE)


class _Changed(NamedTuple):
    """A file after a commit. spans: its new lines."""

    path: str
    blob: str
    spans: tuple[tuple[int, int], ...]


def changed_symbols(git: Git, commit: str, deadline: float) -> Mapping[str, tuple[str, ...]]:
    """Return the files that a commit changed, each with the innermost definitions around its new lines.

    Files that it removed are left out; of many files only the first have definitions. Raises GitError.
    """
    diff = git.run(deadline, "diff-tree", "--no-commit-id", *_DIFF, "--end-of-options", commit)
    changed = [one for part in _FILE.split(as_text(diff))[1:] if (one := _read(part)) is not None]
    blobs = read_blobs(git, [one.blob for one in changed[:MOST_FILES]], deadline)
    found: dict[str, tuple[str, ...]] = {}
    for one in changed:
        data = blobs.get(one.blob) if time.monotonic() < deadline else None
        found[one.path] = _symbols(one, data) if data is not None else ()
    return found


def _read(part: str) -> _Changed | None:
    """Return the file of one part of a patch, in whose head both expressions match first; None if it was removed."""
    named, blob = _PATH.search(part), _BLOB.search(part)
    if named is None or blob is None or named[1] == "/dev/null":
        return None
    spans = [(start, start + max(count, 1) - 1) for _, _, start, count in map(hunk_numbers, HUNK.finditer(part))]
    return _Changed(patched_path(named[1]).removeprefix("b/"), blob[1], tuple(spans))


def _symbols(changed: _Changed, data: bytes) -> tuple[str, ...]:
    symbols: Sequence[Symbol] = [one for one in parse_file(changed.path, data).symbols if one.kind in _NAMED]
    around = (_innermost(symbols, start, end) for start, end in changed.spans)
    return tuple(dict.fromkeys(one.qualified_name for one in around if one is not None))


def _innermost(symbols: Sequence[Symbol], start: int, end: int) -> Symbol | None:
    overlapping = [one for one in symbols if one.start_line <= end and start <= one.end_line]
    return min(overlapping, key=lambda one: one.end_line - one.start_line, default=None)
