"""Compares files with those of a commit, and reads these, without running the repository's filters."""

import hashlib
import os
import re
import subprocess
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from graphrag_mcp.system.git import GitError, run_git, start_git, stopped_at
from graphrag_mcp.system.safe_files import read_file_below

_NANOSECONDS = 1_000_000_000
_MAX_BLOB_BYTES = 100_000_000
_NAMED_FILES = 50  # Up to this number, paths are passed to git; beyond it, git lists its whole index.

# One entry of `ls-files --stage --debug -z`. The debug part may change with git; without it, hashes decide.
_INDEX_ENTRY = re.compile(
    rb"(?P<mode>\d{6}) (?P<hash>[0-9a-f]{40,64}) (?P<stage>\d)\t(?P<path>[^\0]+)\0"
    rb"(?:  ctime: [^\n]*\n  mtime: (?P<seconds>\d+):(?P<nanoseconds>\d+)\n(?:  [^\n]*\n)*)?"
)
_TREE_ENTRY = re.compile(rb"100\d{3} blob ([0-9a-f]{40,64})\t([^\0]+)\0")


def files_of(root: Path, commit: str, deadline: float, wanted: Iterable[str] = ()) -> dict[str, str]:
    """Return the blobs of a commit by path, relative to a folder of the work tree, below it. Raises GitError."""
    # Not `diff-index`: it reads info/exclude, and would block if that were a pipe.
    listing = run_git(root, deadline, "ls-tree", "-r", "-z", commit, "--", *wanted)
    return {os.fsdecode(path): blob.decode() for blob, path in _TREE_ENTRY.findall(listing)}


def clean_files(root: Path, files: Mapping[str, int], deadline: float, commit: str = "HEAD") -> set[str]:
    """Return the files whose content is that of a commit. files: with their mtime in nanoseconds. Raises GitError.

    Like git, this trusts the mtime that git's index records, and hashes the content only where the two differ.
    """
    wanted = files if len(files) <= _NAMED_FILES else ()
    listing = run_git(root, deadline, "ls-files", "--stage", "--debug", "-z", "--", *wanted)
    committed = files_of(root, commit, deadline, wanted)
    clean: set[str] = set()
    for entry in _INDEX_ENTRY.finditer(listing):
        path, blob = os.fsdecode(entry["path"]), entry["hash"].decode()
        mtime_ns = files.get(path)
        if mtime_ns is None or entry["stage"] != b"0" or committed.get(path) != blob:
            continue
        if _has_recorded_mtime(entry, mtime_ns) or _has_hash(root, path, blob, deadline):
            clean.add(path)
    return clean


def left_out(root: Path, deadline: float) -> set[str]:
    """Return the tracked files that a sparse checkout leaves out. Raises GitError."""
    listing = run_git(root, deadline, "ls-files", "-t", "-z")
    return {os.fsdecode(entry[2:]) for entry in listing.split(b"\0") if entry.startswith(b"S ")}


def read_blobs(root: Path, names: Iterable[str], deadline: float) -> dict[str, bytes]:
    """Return blobs by name; those that a partial clone lacks are left out: nothing is fetched. Raises GitError."""
    found: dict[str, bytes] = {}
    with (
        start_git(root, "cat-file", "--batch", stdin=subprocess.PIPE) as process,
        stopped_at(deadline, process) as late,
    ):
        for name in names:
            if process.stdin is None or process.stdout is None:
                break
            process.stdin.write(f"{name}\n".encode())
            process.stdin.flush()
            header = process.stdout.readline().split()
            if len(header) == 3:
                found[name] = process.stdout.read(int(header[2]))
                process.stdout.read(1)
        if late.is_set():
            raise GitError("reading the files of a commit took too long")
    return found


def _has_recorded_mtime(entry: re.Match[bytes], mtime_ns: int) -> bool:
    if entry["seconds"] is None:
        return False
    seconds, nanoseconds = divmod(mtime_ns, _NANOSECONDS)
    recorded = int(entry["nanoseconds"])  # 0 where git was built without nanoseconds.
    return int(entry["seconds"]) == seconds and recorded in (0, nanoseconds)


def _has_hash(root: Path, path: str, name: str, deadline: float) -> bool:
    """Return whether the file is the blob of that name; filters such as line-end conversion are not applied."""
    if time.monotonic() > deadline:
        raise GitError("comparing the files with git's index took too long")
    try:
        content = read_file_below(root, path, _MAX_BLOB_BYTES)
    except OSError:
        return False
    blob = b"blob %d\0" % len(content)
    algorithm = hashlib.sha256 if len(name) == hashlib.sha256().digest_size * 2 else hashlib.sha1
    return algorithm(blob + content, usedforsecurity=False).hexdigest() == name
