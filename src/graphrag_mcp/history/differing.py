"""Finds the files that differ between a commit and the disk, between two commits, or by a patch."""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from msgspec import Struct

from graphrag_mcp.errors import RequestError, quoted
from graphrag_mcp.exclusion.never_indexed import find_barrier
from graphrag_mcp.history.lines import NOWHERE, patch_lines
from graphrag_mcp.system.git import Git, GitError, UnknownRevisionError
from graphrag_mcp.system.git_files import clean_files, files_of, is_stored_by_filter, left_out, read_blobs
from graphrag_mcp.text.secrets import mask_secrets

MOST_FILES = 100  # Further files are counted and not compared.
_LEAST_ALIKE = 0.5  # As in git, a file with this share of the lines of another is that file renamed.
_RANGE = re.compile(r"(?P<old>.*?)(?P<dots>\.{2,3})(?P<new>.*)\Z")
_PATCHED = re.compile(r"^--- (?:a/)?(?P<old>.*?)(?:\t.*)?\n\+\+\+ (?:b/)?(?P<new>.*?)(?:\t.*)?\n", re.MULTILINE)

# It yields the files on the disk, without secrets.
Read = Callable[[Sequence[str]], Iterable[tuple[str, bytes | None]]]


class Differing(NamedTuple):
    """A file before and after. before: its path then, "" for a new file. path: its path now, "" for a removed one."""

    before: str
    path: str
    old: bytes = b""
    new: bytes = b""


class Difference(Struct, frozen=True):
    """What differs. base: with what the files were compared. left: how many files were not."""

    base: str
    files: tuple[Differing, ...]
    left: int = 0


def differing_files(root: Path, base: str, listed: Sequence[str], read: Read, deadline: float) -> Difference:
    """Return how the indexed files differ from a commit, or those of a range (`a..b`). Raises RequestError.

    base: "" for what is checked out, another name for where this branch left it. listed: the files that are indexed.
    """
    base = base or "HEAD"
    try:
        git = Git(root)
        old, new = _ends(git, base, deadline)
        before, after = files_of(git, old, deadline), files_of(git, new, deadline) if new else {}
        present = {path for path in {*before, *after, *listed} if os.path.lexists(root / path)}
        if new:
            hidden = present - set(listed)
            changed = sorted({path for path, _ in after.items() - before.items()} - hidden)
            removed = before.keys() - after.keys()
        else:
            mtimes = {path: os.lstat(root / path).st_mtime_ns for path in present.intersection(listed)}
            changed = sorted(mtimes.keys() - clean_files(git, mtimes, deadline, old))
            removed = before.keys() - present
            removed -= left_out(git, deadline) if removed else set()
        paths = map(PurePosixPath, sorted(removed))
        gone = [str(path) for path in paths if not find_barrier(path.name, path.parent.name, is_folder=False)]
        changed, left = changed[:MOST_FILES], max(0, len(changed) - MOST_FILES)
        names = [(path, side[path]) for side in (before, after) for path in (*changed, *gone) if path in side]
        blobs = read_blobs(git, (name for _, name in names), deadline)
    except (GitError, OSError) as error:
        raise RequestError("base", f"base: {error}") from None
    known = {name: blob for name, blob in blobs.items() if not is_stored_by_filter(blob)}
    unknown = {path for path, name in names if name not in known}
    changed, gone = ([path for path in paths if path not in unknown] for paths in (changed, gone))
    texts = {path: known[after[path]] for path in changed} if new else _texts(read, changed)
    olds = {path: known[before[path]] for path in (*changed, *gone) if path in before}
    differing = [
        Differing(path, path, olds[path], text)
        for path, text in texts.items()
        if path in olds and _folded(olds[path]) != _folded(text)
    ]
    come = {path: text for path, text in texts.items() if path not in olds}
    moved = _with_renames({path: olds[path] for path in gone}, come)
    return Difference(base, (*differing, *moved), left + len(unknown))


def patched_files(patch: str, listed: Sequence[str], read: Read) -> Difference:
    """Return the files of a patch before and after it, whether it is applied to the disk or not.

    Raises RequestError for one that does not fit the files.
    """
    files = []
    _, *parts = _PATCHED.split(mask_secrets(patch))
    if not parts:
        raise RequestError("--patch", "--patch: this is no patch: no line begins with --- and the next with +++")
    for *ends, part in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        before, after = ("" if path == NOWHERE else path for path in ends)
        present = [path for path in (after, before) if path in listed]
        if not present and before and after:
            raise RequestError("--patch", f"--patch: {quoted(after)} is not an indexed file")
        text = b"".join(_texts(read, present[:1]).values()).decode("utf-8", "replace")
        sides = _sides(text.removesuffix("\n").split("\n") if text else [], list(_hunks(part)))
        if sides is None:
            raise RequestError("--patch", f"--patch: it does not fit {quoted(after or before)} as it is on the disk")
        end = "\n" if text.endswith("\n") or not text else ""
        files.append(Differing(before, after, *(("\n".join(side) + end * bool(side)).encode() for side in sides)))
    return Difference("the patch", tuple(files))


class _Hunk(NamedTuple):
    """Lines that a patch replaces. start, to: the indexes of the first ones before and after."""

    start: int
    to: int
    old: list[str]
    new: list[str]


def _hunks(part: str) -> Iterator[_Hunk]:
    for (start, to), run in groupby(patch_lines(part), attrgetter("hunk")):
        lines = list(run)
        old, new = ([line.text for line in lines if line.sign != sign] for sign in "+-")
        yield _Hunk(start, to, old, new)


def _sides(lines: list[str], hunks: Sequence[_Hunk]) -> tuple[list[str], list[str]] | None:
    """Return the file before and after the hunks; None where they fit neither forward nor backward."""
    after = _apply(lines, hunks)
    before = _apply(lines, [_Hunk(hunk.to, hunk.start, hunk.new, hunk.old) for hunk in hunks])
    grows = sum(len(hunk.new) - len(hunk.old) for hunk in hunks) >= 0
    if before is not None and (after is None or grows):  # The longer text is found where the shorter one is not.
        return before, lines
    return (lines, after) if after is not None else None


def _apply(lines: list[str], hunks: Sequence[_Hunk]) -> list[str] | None:
    """Return the lines with each hunk in place, where its lines are nearest to those that it names; else None."""
    result: list[str] = []
    done = 0
    for start, _, old, new in hunks:
        starts = [at for at in range(done, len(lines) - len(old) + 1) if lines[at : at + len(old)] == old]
        if not starts:
            return None
        _, nearest = min((abs(at - start), at) for at in starts)
        result += [*lines[done:nearest], *new]
        done = nearest + len(old)
    return result + lines[done:]


def _ends(git: Git, base: str, deadline: float) -> tuple[str, str]:
    """Return the commits before and after; "" for the disk. Raises RequestError, or GitError."""
    if match := _RANGE.match(base):
        old, new = (_commit(git, match[end] or "HEAD", base, deadline) for end in ("old", "new"))
        return (_merge_base(git, old, new, deadline) if match["dots"] == "..." else old), new
    head = git.head()
    return _merge_base(git, _commit(git, base, base, deadline), head, deadline), ""


def _commit(git: Git, name: str, base: str, deadline: float) -> str:
    try:
        return git.resolve(name, deadline)
    except UnknownRevisionError:
        what = f"{quoted(base)} names no commit of this repository"
        raise RequestError("base", f"base: {what}; give a branch, a tag, a commit, or a range a..b") from None


def _merge_base(git: Git, old: str, new: str, deadline: float) -> str:
    return git.run(deadline, "merge-base", "--end-of-options", old, new).decode().strip()


def _texts(read: Read, paths: Sequence[str]) -> dict[str, bytes]:
    return {path: text for path, text in read(paths) if text is not None}


def _folded(text: bytes) -> bytes:
    """Return a text with the line ends of Unix, which git stores for many files that have others on the disk."""
    return text.replace(b"\r\n", b"\n")


def _with_renames(gone: Mapping[str, bytes], new: Mapping[str, bytes]) -> list[Differing]:
    """Return removed and new files; those of which half of the lines are the same are one."""
    lines = {path: Counter(text.splitlines()) for path, text in (*gone.items(), *new.items())}
    sizes = {path: max(1, count.total()) for path, count in lines.items()}
    alike = sorted(
        (-share, before, path)
        for before in gone
        for path in new
        if min(sizes[before], sizes[path]) >= _LEAST_ALIKE * max(sizes[before], sizes[path])
        and (share := (lines[before] & lines[path]).total() / max(sizes[before], sizes[path])) >= _LEAST_ALIKE
    )
    pairs: dict[str, str] = {}
    for _, before, path in alike:
        if before not in pairs and path not in pairs.values():
            pairs[before] = path
    files = [Differing(before, path, gone[before], new[path]) for before, path in pairs.items()]
    files += [Differing(before, "", text) for before, text in gone.items() if before not in pairs]
    return files + [Differing("", path, b"", text) for path, text in new.items() if path not in pairs.values()]
