"""Reads the files of a commit and compares others with them, without running the repository's filters."""

import hashlib
import os
import re
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from graphrag_mcp.system.git import Git, GitError, GitTimeoutError, is_name
from graphrag_mcp.system.safe_files import read_file_below
from graphrag_mcp.text.counts import counted

_NANOSECONDS = 1_000_000_000
_MAX_BLOB_BYTES = 1 << 24  # Larger files of a commit are neither compared nor shown.
_MAX_HASHED_BYTES = 100_000_000  # Larger files on the disk count as changed.
_MOST_BLOB_BYTES = 1 << 27  # One question reads no more contents.
_MOST_FILES = 1_000_000  # A small tree object can contain any number of files.
_NAMED_FILES = 50  # Up to this number, paths are passed to git; beyond it, git lists its whole index.
# A filter stores content that begins so in the place of a file.
_STORED_BY_FILTERS = (b"version https://git-lfs", b"\0GITCRYPT\0")
_DIFF = ("--no-ext-diff", "--no-textconv", "--no-color", "-U0")

# It matches one entry of `ls-files --stage --debug -z`. The debug part may change with git; without it, hashes decide.
_INDEX_ENTRY = re.compile(
    rb"(?P<mode>\d{6}) (?P<hash>[0-9a-f]{40,64}) (?P<stage>\d)\t(?P<path>[^\0]+)\0"
    rb"(?:  ctime: [^\n]*\n  mtime: (?P<seconds>\d+):(?P<nanoseconds>\d+)\n(?:  [^\n]*\n)*)?"
)
# No git adds a file of the first sort, but a forged tree may have it; bytes that are not UTF-8 are in no indexed name.
_ODD_PATH = re.compile(r"(^|/)(\.\.?|\.git|)(/|$)|[\udc80-\udcff]")
_TREE_ENTRY = re.compile(rb"(?:^|(?<=\0))100\d{3} blob ([0-9a-f]{40,64})\t([^\0]+)\0")


def files_of(git: Git, commit: str, deadline: float, wanted: Iterable[str] = ()) -> dict[str, str]:
    """Return the blobs of a commit by path, relative to the folder and below it. Raises GitError."""
    # `diff-index` would read the work tree.
    listing = git.run(deadline, "ls-tree", "-r", "-z", commit, "--", *_pathspecs(git, wanted))
    _check_number(listing)
    entries = ((os.fsdecode(entry[2]), entry[1].decode()) for entry in _TREE_ENTRY.finditer(listing))
    return {path.removeprefix(git.folder): blob for path, blob in entries if not _ODD_PATH.search(path)}


def paths_of(git: Git, commit: str, deadline: float) -> list[str]:
    """Return the paths of a commit, relative to the top of the work tree. Raises GitError."""
    listing = git.run(deadline, "ls-tree", "-r", "-z", "--name-only", commit)
    _check_number(listing)
    return listing.decode("utf-8", "surrogateescape").rstrip("\0").split("\0")


def tracked_files(git: Git, deadline: float) -> set[str]:
    """Return the paths that git tracks, relative to the folder and below it. Raises GitError."""
    listing = git.run(deadline, "ls-files", "-z", "--", *_pathspecs(git), index=True)
    return {os.fsdecode(path).removeprefix(git.folder) for path in listing.split(b"\0") if path}


def clean_files(git: Git, files: Mapping[str, int], deadline: float, commit: str) -> set[str]:
    """Return the files whose content is that of a commit. files: with their mtime in nanoseconds. Raises GitError.

    Like git, this trusts the mtime that git's index records, and hashes the content only where the two differ.
    """
    wanted = files if len(files) <= _NAMED_FILES else ()
    committed = files_of(git, commit, deadline, wanted)
    recorded: dict[str, re.Match[bytes]] = {}
    with suppress(GitError):  # Without a readable index, all contents are hashed.
        listing = git.run(deadline, "ls-files", "--stage", "--debug", "-z", "--", *_pathspecs(git, wanted), index=True)
        for entry in _INDEX_ENTRY.finditer(listing):
            recorded[os.fsdecode(entry["path"].removeprefix(os.fsencode(git.folder)))] = entry
    return {
        path for path, mtime_ns in files.items() if (blob := committed.get(path))
        and (_has_recorded_mtime(recorded.get(path), blob, mtime_ns) or _has_hash(git, path, blob, deadline))
    }  # fmt: skip


def left_out(git: Git, deadline: float) -> set[str]:
    """Return the tracked files that a sparse checkout leaves out. Raises GitError."""
    listing = git.run(deadline, "ls-files", "-t", "-z", "--", *_pathspecs(git), index=True)
    folder = os.fsencode(git.folder)
    return {os.fsdecode(entry[2:].removeprefix(folder)) for entry in listing.split(b"\0") if entry.startswith(b"S ")}


def read_blobs(git: Git, names: Iterable[str], deadline: float) -> dict[str, bytes]:
    """Return blobs by name, without those above 16 MB, and those that a partial clone lacks. Raises GitError."""
    valid = list(dict.fromkeys(name for name in names if is_name(name)))
    sizes = git.run(deadline, "cat-file", "--batch-check", stdin=_lines(valid))
    small: list[str] = []
    left = _MOST_BLOB_BYTES
    for name, answer in zip(valid, sizes.splitlines(), strict=False):
        kind, _, size = answer.partition(b" ")[2].partition(b" ")
        if kind == b"blob" and int(size) <= min(left, _MAX_BLOB_BYTES):
            small.append(name)
            left -= int(size)
    answers = git.run(deadline, "cat-file", "--batch", stdin=_lines(small)) if small else b""
    return dict(_read_batch(answers))


def patch_of(git: Git, blob: str, content: bytes, deadline: float) -> str:
    """Return the hunks between a blob and another content. Raises GitError."""
    with tempfile.TemporaryDirectory() as folder:
        new = git.run(deadline, "hash-object", "-w", "--stdin", stdin=content, into=folder).decode().strip()
        patch = git.run(deadline, "diff", *_DIFF, "--end-of-options", blob, new, into=folder)
    return patch.decode("utf-8", "surrogateescape")


def is_stored_by_filter(blob: bytes) -> bool:
    """Return whether a blob stands for another content, which a filter of the repository would bring."""
    return blob.startswith(_STORED_BY_FILTERS)


def has_content(blob: str, content: bytes) -> bool:
    """Return whether a content is that of a blob, with its own line ends or with those of Unix."""
    return _blob_name(content, blob) == blob or _blob_name(content.replace(b"\r\n", b"\n"), blob) == blob


def _check_number(listing: bytes) -> None:
    if listing.count(b"\0") > _MOST_FILES:
        raise GitError(f"the commit has more than {counted(_MOST_FILES, 'file')}")


def _pathspecs(git: Git, wanted: Iterable[str] = ()) -> list[str]:
    return [git.folder + path for path in wanted] or ([git.folder] if git.folder else [])


def _lines(names: Iterable[str]) -> bytes:
    return "".join(f"{name}\n" for name in names).encode()


def _read_batch(answers: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the blobs of `cat-file --batch`: a line with name, kind and size, the content, a line end."""
    at = 0
    while (end := answers.find(b"\n", at)) >= 0:
        header = answers[at:end].split()
        at = end + 1
        if len(header) == 3:
            size = int(header[2])
            yield header[0].decode(), answers[at : at + size]
            at += size + 1


def _has_recorded_mtime(entry: re.Match[bytes] | None, blob: str, mtime_ns: int) -> bool:
    """Return whether git's index has a blob for a file, and has it as of this time."""
    if entry is None or entry["stage"] != b"0" or entry["hash"].decode() != blob or entry["seconds"] is None:
        return False
    seconds, nanoseconds = divmod(mtime_ns, _NANOSECONDS)
    recorded = int(entry["nanoseconds"])  # It is 0 where git was built without nanoseconds.
    return int(entry["seconds"]) == seconds and recorded in (0, nanoseconds)


def _has_hash(git: Git, path: str, blob: str, deadline: float) -> bool:
    """Return whether the file is the blob of that name."""
    if time.monotonic() > deadline:
        raise GitTimeoutError("comparing the files with git's index took too long")
    try:
        content = read_file_below(git.top, git.folder + path, _MAX_HASHED_BYTES)
    except OSError:
        return False
    return has_content(blob, content)


def _blob_name(content: bytes, like: str) -> str:
    algorithm = hashlib.sha256 if len(like) == hashlib.sha256().digest_size * 2 else hashlib.sha1
    return algorithm(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
