"""Follows lines back through the commits that changed them, also through moves, and names what a commit changed."""

import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import NamedTuple

from msgspec import Struct

from graphrag_mcp.history.log import read_commits
from graphrag_mcp.model.files import Symbol, SymbolKind
from graphrag_mcp.model.history import ChangedLines, Commit
from graphrag_mcp.system.git import Git, GitError, GitTimeoutError
from graphrag_mcp.system.git_files import files_of, has_content, patch_of, read_blobs
from graphrag_mcp.system.safe_files import read_file_below
from graphrag_mcp.text.secrets import mask_secrets

MOST_MOVES = 5
NOT_COMMITTED = "not committed yet"
_MOST_BYTES = 1 << 24  # No larger file on the disk is read.
_MOST_MASKED = 1 << 21  # Characters; masking them takes a quarter of a second.
_LEAST_ALIKE = 0.6  # Added lines are moved if this share of them was removed elsewhere.
_FEWEST_LINES = 3  # Only lines with letters count, since a brace is everywhere.
_NEW_FOR_OLD = 3  # The most added lines for each removed one; a renamed function has fewer.
_MOST_WANTED = 1_000  # Characters of a line.
_DIFF_TREE = ("diff-tree", "--no-commit-id", "--root", "-r")
_DIFF = ("--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "-U0")
HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
_TELLING = re.compile(r"\w{2}")
MOST_NAMED_FILES = 8  # Further files of a commit are listed without their definitions.
_NAMED = (SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.TYPE)
_COMMIT_DIFF = ("--no-ext-diff", "--no-textconv", "--no-color", "--full-index", "-M90%", "-U0")
_FILE_HEAD = re.compile(r"^diff --git ", re.MULTILINE)
_PATHS = {"a/": re.compile(r"^--- (.*)$", re.MULTILINE), "b/": re.compile(r"^\+\+\+ (.*)$", re.MULTILINE)}
NOWHERE = "/dev/null"  # The path of a file that is not there, in a patch.
_NEW_BLOB = re.compile(r"^index [0-9a-f]+\.\.([0-9a-f]+)", re.MULTILINE)


class Lines(NamedTuple):
    """Lines of a file in a commit, 1-based and inclusive."""

    commit: str
    path: str
    start: int
    end: int


class Evolution(Struct, frozen=True):
    """The commits that changed some lines, the newest first, each with the lines.

    moved: the commit that moved them to where they stand, if one did. note: what was not read in time, "" for nothing.
    added_by: the commit that added them, "" if it is not known. added: the texts that it added, without blanks.
    """

    commits: Mapping[Commit, ChangedLines]
    moved: frozenset[str]
    note: str = ""
    added_by: str = ""
    added: frozenset[str] = frozenset()


def follow_lines(git: Git, lines: Lines, name: str, deadline: float) -> Evolution:
    """Return the commits that changed lines, as `git log -L` finds them.

    Where a commit added them as a whole, they end there, though git goes on with a line in whose place they stand; if
    it removed the same lines elsewhere, they are followed there. name: what they define. deadline: on the monotonic
    clock. Raises GitError when git cannot read the file.
    """
    commits: dict[Commit, ChangedLines] = {}
    movers: list[str] = []
    try:
        while len(movers) < MOST_MOVES:
            last, patch, is_new = "", "", False
            wanted = f"-L{lines.start},{lines.end}:{lines.path}"
            with closing(read_commits(git, deadline, wanted, "--end-of-options", lines.commit, "--")) as read:
                for commit, patch in read:
                    commits.setdefault(commit, _changed_lines(patch))
                    last = commit.name
                    if is_new := _is_new(patch, name):
                        break
            if not is_new:  # What a merge added has no such commit: the oldest one that is seen changed other lines.
                break
            origin = _moved_from(git, last, patch, deadline)
            if origin is None:
                added = [line.text for line in patch_lines(patch) if line.sign == "+"]
                if not any(name in text for text in added):
                    break
                return Evolution(commits, frozenset(movers[:1]), "", last, frozenset(map(without_blanks, added)))
            movers.append(last)
            lines = origin
    except GitTimeoutError:
        return Evolution(commits, frozenset(movers[:1]), "older commits were not read in time")
    return Evolution(commits, frozenset(movers[:1]))


def _is_new(patch: str, name: str) -> bool:
    """Return whether the patch of some lines added them all, at most in the place of a few others.

    That is one that keeps no line of words, and removes none with the name.
    """
    lines = [line for line in patch_lines(patch) if _TELLING.search(line.text)]
    added, removed = ([line.text for line in lines if line.sign == sign] for sign in "+-")
    is_named = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)").search
    is_made = not removed or (any(map(is_named, added)) and not any(map(is_named, removed)))
    return is_made and max(1, _NEW_FOR_OLD * len(removed)) <= len(added) == len(lines) - len(removed)


class PatchLine(NamedTuple):
    """A line of a patch. sign: "-", "+" or " ". number: before the commit if the line is removed, else after.

    hunk: the indexes, before and after, of the first lines that are changed together with it.
    """

    hunk: tuple[int, int]
    sign: str
    number: int
    text: str


def _changed_lines(patch: str) -> ChangedLines:
    lines = list(patch_lines(patch))
    removed, added = (frozenset(line.number for line in lines if line.sign == sign) for sign in "-+")
    return ChangedLines(_path_in(patch), added, removed)


def _path_in(patch: str, side: str = "b/") -> str:
    """Return the path that the file of a patch has after it, or before it ("a/"); "" where no line changed."""
    path = _PATHS[side].search(patch)
    return patched_path(path[1]).removeprefix(side) if path else ""


def _file_patches(git: Git, deadline: float, *arguments: str) -> list[str]:
    """Return the patches of the files that a commit changed. Raises GitError."""
    return _FILE_HEAD.split(as_text(git.run(deadline, *_DIFF_TREE, "-p", *arguments)))[1:]


def changed_paths(git: Git, commit: str, deadline: float, *options: str) -> list[str]:
    """Return the paths of the files that a commit changed, from the top. Raises GitError."""
    listing = git.run(deadline, *_DIFF_TREE, "-z", "--name-only", *options, "--end-of-options", commit)
    return [os.fsdecode(path) for path in listing.split(b"\0") if path]


def patch_lines(patch: str) -> Iterator[PatchLine]:
    """Yield the lines of a patch of one file; a hunk may have fewer than it says."""
    before = removed = after = added = 0
    hunk = (0, 0)
    for line in patch.split("\n"):
        sign = line[:1] or " "  # An editor leaves the blank of empty lines away.
        if head := HUNK.match(line):
            before, removed, after, added = hunk_numbers(head)
            hunk = before - bool(removed), after - bool(added)
        elif (removed or added) and sign in "-+ ":  # Not the words for no end of line at the end of the file.
            yield PatchLine(hunk, sign, before if sign == "-" else after, line[1:])
            before, removed = before + (sign != "+"), removed - (sign != "+")
            after, added = after + (sign != "-"), added - (sign != "-")


def is_moved(git: Git, commit: str, path: str, text: str, deadline: float) -> bool:
    """Return whether a commit that added a line with a text to a file removed one there or elsewhere. Raises GitError.

    Blanks do not count within the file. A text without a word is taken as moved, where git finds that it was.
    """
    if not _TELLING.search(text) or "\0" in text:
        return True
    # Other files are those that have it more or less often.
    places = (("--end-of-options", commit, "--", path), (f"-S{text[:_MOST_WANTED]}", "--end-of-options", commit))
    return any(without_blanks(text) in removed_texts(git, deadline, "-m", *place) for place in places)


def removed_texts(git: Git, deadline: float, *arguments: str) -> set[str]:
    """Return the lines that a commit removed, without blanks. arguments: of `git diff-tree`. Raises GitError."""
    parts = _file_patches(git, deadline, *_DIFF, *arguments)
    return {without_blanks(line.text) for part in parts for line in patch_lines(part) if line.sign == "-"}


def without_blanks(text: str) -> str:
    """Return a line without blanks, since an indentation changes where a line is moved."""
    return "".join(text.split())


def shown_change(git: Git, commit: str, changed: ChangedLines, deadline: float) -> list[str]:
    """Return the lines that a commit changed, each after "-" or "+", with secrets masked. Raises GitError.

    Whole files are masked, since a part of a secret looks like none. Where the removed lines are unknown, all lines
    are returned that were changed together with the added ones. Nothing is returned where the commit removed none of
    these, or removed lines of another path.
    """
    whole = (*_DIFF_TREE, "-p", *_DIFF, f"-U{_MOST_BYTES}")
    patch = git.run(deadline, *whole, "--end-of-options", commit, "--", changed.path).decode("utf-8", "replace")
    parts = [part for part in _FILE_HEAD.split(patch)[1:] if _path_in(part) == changed.path]  # It may be a folder, too.
    if len(parts) != 1 or len(patch) > _MOST_MASKED:
        return []
    lines = _masked(list(patch_lines(parts[0])))
    if changed.name:
        name = re.compile(rf"(?<!\w){re.escape(changed.name)}(?!\w)")
        wanted = [line for line in lines if line.sign != " " and name.search(line.text)]
    elif changed.removed is None:
        runs = [list(run) for is_changed, run in groupby(lines, lambda line: line.sign != " ") if is_changed]
        wanted = [line for run in runs if any(_is_in(line, changed) for line in run) for line in run]
        wanted = wanted if any(line.sign == "-" for line in wanted) else []
    else:
        wanted = [line for line in lines if _is_in(line, changed)]
        wanted = wanted if len(wanted) == len(changed.added) + len(changed.removed) else []
    return [f"{line.sign} {line.text.rstrip()}" for line in wanted if re.search(r"\w", line.text)]


def _is_in(line: PatchLine, changed: ChangedLines) -> bool:
    numbers = {"+": changed.added, "-": changed.removed or ()}.get(line.sign, ())
    return line.number in numbers


def _masked(lines: Sequence[PatchLine]) -> list[PatchLine]:
    """Return the changed lines of a whole file with the secrets masked that it has before or after the change."""
    texts: dict[PatchLine, str] = {}
    for other in "+-":
        side = [line for line in lines if line.sign != other]
        masked = mask_secrets("\n".join(line.text for line in side)).split("\n") if side else []
        texts.update(zip(side, masked, strict=True))
    return [line._replace(text=texts[line]) for line in lines]


def committed_lines(git: Git, path: str, start: int, end: int, deadline: float) -> Lines:
    """Return where lines of a file on the disk are in the commit that is checked out.

    path: relative to the folder. Raises GitError, also if they are all new.
    """
    head, top_path = git.head(), git.folder + path
    blob = files_of(git, head, deadline, [path]).get(path)
    if blob is None:
        raise GitError(NOT_COMMITTED)
    try:
        content = read_file_below(git.top, top_path, _MOST_BYTES)
    except OSError as error:
        raise GitError(f"the file cannot be read ({error.strerror})") from error
    diff = "" if has_content(blob, content) else patch_of(git, blob, content, deadline)
    shift, last = 0, end
    for hunk in HUNK.finditer(diff):
        old, removed, new, added = hunk_numbers(hunk)
        if new + added <= start + (not added):
            shift += removed - added
            continue
        if new > end:
            break
        if new <= start and new + added > end:
            if not removed:
                raise GitError(NOT_COMMITTED)
            return Lines(head, top_path, old, old + removed - 1)
        last += removed - added
    return Lines(head, top_path, start + shift, max(start, last) + shift)


def _moved_from(git: Git, commit: str, patch: str, deadline: float) -> Lines | None:
    """Return the lines that a commit removed elsewhere, if the lines that it added are mostly the same."""
    added = (line.text.strip() for line in patch_lines(patch) if line.sign == "+")
    telling = frozenset(filter(_TELLING.search, added))
    if len(telling) < _FEWEST_LINES:
        return None
    try:
        parts = _file_patches(git, deadline, *_DIFF, "--end-of-options", f"{commit}^", commit)
    except GitTimeoutError:
        raise
    except GitError:  # The first commit has none before it.
        return None
    runs = [(*_densest(run, telling), _path_in(part, "a/")) for part in parts for run in _removed(part)]
    alike, first, last, path = max(runs, key=itemgetter(0), default=(0, 0, 0, ""))
    return Lines(f"{commit}^", path, first, last) if alike >= _LEAST_ALIKE * len(telling) else None


def _densest(run: Sequence[tuple[int, str]], telling: frozenset[str]) -> tuple[int, int, int]:
    """Return the part of removed lines that has most of the telling lines and few others.

    The result is the number of its distinct telling lines, its first and its last line.
    """
    best, start, height = (0, 0, 0), 0, 0
    for here, (_, text) in enumerate(run):
        if height <= 0:
            start, height = here, 0
        height += 1 if text in telling else -1 if _TELLING.search(text) else 0
        if height > best[0]:
            best = (height, start, here)
    _, first, last = best
    inside = [text for _, text in run[first : last + 1]]
    while inside[0] in inside[1:]:  # The first lines may belong to the code before, which ends alike.
        inside.pop(0)
    return len(telling.intersection(inside)), run[last][0] - len(inside) + 1, run[last][0]


def _removed(patch: str) -> Iterator[list[tuple[int, str]]]:
    """Yield the runs of lines that a patch without context removes from a file, with their numbers."""
    removed = (line for line in patch_lines(patch) if line.sign == "-")
    for _, run in groupby(removed, attrgetter("hunk")):
        yield [(line.number, line.text.strip()) for line in run]


def hunk_numbers(hunk: re.Match[str]) -> tuple[int, ...]:
    """Return the first line before and the number of lines, then those after."""
    return tuple(map(int, hunk.groups("1")))


def patched_path(written: str) -> str:
    """Return a path of a patch; one with special characters is written like a string of C."""
    written = written.removesuffix("\t")  # Git puts a tab after a path with a space.
    if not written.startswith('"'):
        return written
    return os.fsdecode(os.fsencode(written[1:-1]).decode("unicode_escape").encode("latin-1"))


def as_text(output: bytes) -> str:
    """Return git's output as text, whatever bytes are in it."""
    return output.decode("utf-8", "surrogateescape")


class _Changed(NamedTuple):
    """A file after a commit. spans: the first and last line of each part that the commit changed."""

    path: str
    blob: str
    spans: tuple[tuple[int, int], ...]


def changed_symbols(git: Git, commit: str, deadline: float) -> Mapping[str, tuple[str, ...]]:
    """Return the files that a commit changed, each with the innermost definitions around its new lines.

    Files that it removed are left out; of many files only the first have definitions. Raises GitError.
    """
    parts = _file_patches(git, deadline, *_COMMIT_DIFF, "--end-of-options", commit)
    changed = [file for part in parts if (file := _read_changed(part)) is not None]
    blobs = read_blobs(git, [file.blob for file in changed[:MOST_NAMED_FILES]], deadline)
    names: dict[str, tuple[str, ...]] = {}
    for file in changed:
        data = blobs.get(file.blob, b"") if time.monotonic() < deadline else b""
        names[file.path] = _names(file, data)
    return names


def _read_changed(part: str) -> _Changed | None:
    """Return the file of one part of a patch; None if it was removed, or if none of its lines changed."""
    blob, path = _NEW_BLOB.search(part), _path_in(part)
    if blob is None or path in {"", NOWHERE}:
        return None
    spans = [(start, start + max(count, 1) - 1) for _, _, start, count in map(hunk_numbers, HUNK.finditer(part))]
    return _Changed(path, blob[1], tuple(spans))


def _names(changed: _Changed, data: bytes) -> tuple[str, ...]:
    from graphrag_mcp.parsing.parser import symbols_above  # A past that is not asked for its symbols needs no parser.

    last = max((end for _, end in changed.spans), default=0)
    symbols = [symbol for symbol in symbols_above(changed.path, data, last) if symbol.kind in _NAMED]
    around = (_innermost(symbols, start, end) for start, end in changed.spans)
    return tuple(dict.fromkeys(symbol.qualified_name for symbol in around if symbol is not None))


def _innermost(symbols: Sequence[Symbol], start: int, end: int) -> Symbol | None:
    overlapping = [symbol for symbol in symbols if symbol.start_line <= end and start <= symbol.end_line]
    return min(overlapping, key=lambda symbol: symbol.end_line - symbol.start_line, default=None)
