"""Finds which definitions of which files a commit changed."""

import re
import time
from collections.abc import Mapping
from pathlib import Path

from graphrag_mcp.history.lines import HUNK, hunk_numbers
from graphrag_mcp.model.files import Symbol, SymbolKind
from graphrag_mcp.parsing.parser import parse_file
from graphrag_mcp.system.git import GitError, run_git

MOST_FILES = 8  # Of a commit whose definitions are told.
_NAMED = (SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.TYPE)
_DIFF = ("--no-ext-diff", "--no-textconv", "--no-color", "-M90%", "-U0", "-r", "-p", "--root", "--no-commit-id")
_FILE = re.compile(r"^diff --git ", re.MULTILINE)
_PATH = re.compile(r"^\+\+\+ (?:b/)?(.*?)\t?$", re.MULTILINE)


def changed_symbols(top: Path, commit: str, deadline: float) -> Mapping[str, tuple[str, ...]]:
    """Return the files that a commit changed, each with the innermost definitions around its new lines.

    Files that it removed are left out; of many files only the first have definitions. Raises GitError.
    """
    diff = run_git(top, deadline, "diff-tree", *_DIFF, "--end-of-options", commit)
    found: dict[str, tuple[str, ...]] = {}
    for part in _FILE.split(diff.decode("utf-8", "surrogateescape"))[1:]:
        named = _PATH.search(part)
        if named is None or named[1] == "/dev/null":
            continue
        spans = [(start, start + max(count, 1) - 1) for _, _, start, count in map(hunk_numbers, HUNK.finditer(part))]
        is_read = len(found) < MOST_FILES and time.monotonic() < deadline
        found[named[1]] = _symbols(top, commit, named[1], spans, deadline) if is_read else ()
    return found


def _symbols(top: Path, commit: str, path: str, spans: list[tuple[int, int]], deadline: float) -> tuple[str, ...]:
    try:
        data = run_git(top, deadline, "cat-file", "blob", f"{commit}:{path}")
    except GitError:  # Missing in a partial clone.
        return ()
    symbols = [one for one in parse_file(path, data).symbols if one.kind in _NAMED]
    around = (_innermost(symbols, start, end) for start, end in spans)
    return tuple(dict.fromkeys(one.qualified_name for one in around if one is not None))


def _innermost(symbols: list[Symbol], start: int, end: int) -> Symbol | None:
    overlapping = [one for one in symbols if one.start_line <= end and start <= one.end_line]
    return min(overlapping, key=lambda one: one.end_line - one.start_line, default=None)
