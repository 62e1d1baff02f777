"""Asks git when the last commit touched each file: an mtime says nothing after a clone or a checkout (K-02)."""

import hashlib
import os
import re
import subprocess
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from graphrag_mcp.counts import counted
from graphrag_mcp.git import GitError, run_git, start_git
from graphrag_mcp.regular_files import read_file_below

_DIFF_OPTIONS = ("--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--relative")
_HEAD_TIMEOUT_SECONDS = 10.0
_READ_BYTES = 65_536
_NANOSECONDS = 1_000_000_000
_MAX_BLOB_BYTES = 100_000_000
_NAMED_FILES = 50  # So few are named to git, which lists the whole index else.

# One entry of `ls-files --stage --debug -z`. The debug part is documented as free to change: without it, hashes decide.
_INDEX_ENTRY = re.compile(
    rb"(?P<mode>\d{6}) (?P<hash>[0-9a-f]{40,64}) (?P<stage>\d)\t(?P<path>[^\0]+)\0"
    rb"(?:  ctime: [^\n]*\n  mtime: (?P<seconds>\d+):(?P<nanoseconds>\d+)\n(?:  [^\n]*\n)*)?"
)
_TREE_ENTRY = re.compile(rb"(100\d{3}) blob ([0-9a-f]{40,64})\t([^\0]+)\0")


class CommitTimes(dict[str, float]):
    """The time of the last commit by path, in seconds since 1970; `note` says why some are missing, "" if none is."""

    def __init__(self, times: Mapping[str, float] | None = None, note: str = "") -> None:
        super().__init__(times or {})
        self.note = note


def head_commit(root: Path) -> str:
    """Return the commit that is checked out, "" when there is none or git cannot tell."""
    try:
        head = run_git(root, time.monotonic() + _HEAD_TIMEOUT_SECONDS, "rev-parse", "--verify", "--quiet", "HEAD")
    except GitError:
        return ""
    return head.decode("ascii", "replace").strip()


def origin(root: Path) -> str:
    """Return where the repository was cloned from as "host/path", in whatever form git was told it; "" without one."""
    try:
        url = run_git(root, time.monotonic() + _HEAD_TIMEOUT_SECONDS, "config", "--get", "remote.origin.url")
    except GitError:
        return ""
    return _host_and_path(url.decode("utf-8", "replace").strip())


def _host_and_path(url: str) -> str:
    """Return "example.org/team/tool" of URLs and of scp-like addresses, without user, password, port and suffix."""
    if "://" in url:
        parts = urlsplit(url)
        host, path = parts.hostname or "", parts.path
    else:
        user_and_host, _, path = url.partition(":")
        host = user_and_host.rpartition("@")[2] if "@" in user_and_host and "/" not in user_and_host else ""
    path = path.strip("/").removesuffix(".git")
    return f"{host.lower()}/{path}" if host and path else ""


def commit_times(root: Path, files: Mapping[str, int], timeout_seconds: float) -> CommitTimes:
    """Return the commit times of those files that are tracked and have no uncommitted change.

    files: paths relative to `root`, which may lie below the top of the work tree, with their mtime in nanoseconds.
    """
    deadline = time.monotonic() + timeout_seconds
    times: dict[str, float] = {}
    try:
        clean = _clean_files(root, files, deadline)
        if not clean:
            return CommitTimes()
        is_shallow = run_git(root, deadline, "rev-parse", "--is-shallow-repository").strip() == b"true"
        _read_last_commits(root, clean, is_shallow, deadline, times)
    except GitError as error:
        return CommitTimes(times, str(error))
    if is_shallow and len(times) < len(clean):
        return CommitTimes(times, "the clone is shallow: the age of files older than its history is unknown")
    return CommitTimes(times)


def _clean_files(root: Path, files: Mapping[str, int], deadline: float) -> set[str]:
    """Return the files whose content is the committed one.

    As git does, the index's record of the mtime is believed; content is hashed only where the two differ.
    """
    wanted = files if len(files) <= _NAMED_FILES else ()
    listing = run_git(root, deadline, "ls-files", "--stage", "--debug", "-z", "--", *wanted)
    # Not `diff-index`, which reads info/exclude: a pipe in its place would hold up the run.
    committed = set(_TREE_ENTRY.findall(run_git(root, deadline, "ls-tree", "-r", "-z", "HEAD", "--", *wanted)))
    clean: set[str] = set()
    for entry in _INDEX_ENTRY.finditer(listing):
        path = os.fsdecode(entry["path"])
        mtime_ns = files.get(path)
        if mtime_ns is None or entry["stage"] != b"0" or entry.group("mode", "hash", "path") not in committed:
            continue
        if _has_recorded_mtime(entry, mtime_ns) or _has_hash(root, path, entry["hash"].decode(), deadline):
            clean.add(path)
    return clean


def _has_recorded_mtime(entry: re.Match[bytes], mtime_ns: int) -> bool:
    if entry["seconds"] is None:
        return False
    seconds, nanoseconds = divmod(mtime_ns, _NANOSECONDS)
    recorded = int(entry["nanoseconds"])  # 0 where git was built without them
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


def _read_last_commits(
    root: Path, wanted: set[str], is_shallow: bool, deadline: float, times: dict[str, float]
) -> None:
    """Fill in the time of the newest commit that changed each wanted file; git is stopped after the last one.

    Merges are left out: what they bring in stands in the commits that they merge. The oldest commits of a shallow
    clone look like roots that add every file, so there the changes of roots are not asked for.
    """
    missing = {os.fsencode(path) for path in wanted}
    show_root = f"log.showRoot={'false' if is_shallow else 'true'}"
    command = ("-c", show_root, "log", "--format=%x00%ct", "--no-merges", *_DIFF_OPTIONS, "HEAD", "--")
    late = threading.Event()
    with start_git(root, *command) as process:
        timer = threading.Timer(max(deadline - time.monotonic(), 0), _stop_late, (process, late))
        timer.daemon = True
        timer.start()
        for name, seconds in _read_log(_fields(process.stdout)):
            if name in missing:
                missing.discard(name)
                times[os.fsdecode(name)] = seconds
            if not missing:
                process.kill()
                break
        process.wait()
        timer.cancel()
    if late.is_set():
        raise GitError(f"reading git's history took too long; without a time: {counted(len(missing), 'file')}")
    if missing and process.returncode:
        raise GitError(f"git's history cannot be read to its end; without a time: {counted(len(missing), 'file')}")


def _stop_late(process: "subprocess.Popen[bytes]", late: threading.Event) -> None:
    late.set()
    process.kill()


def _fields(stream: IO[bytes] | None) -> Iterator[bytes]:
    rest = b""
    while stream is not None and (block := os.read(stream.fileno(), _READ_BYTES)):
        *fields, rest = (rest + block).split(b"\0")
        yield from fields


def _read_log(fields: Iterable[bytes]) -> Iterator[tuple[bytes, float]]:
    """Yield each name with its commit's time. A commit is an empty field, its time, a line end, then its names."""
    seconds = 0.0
    expected = "name"
    for field in fields:
        if not field:
            expected = "time"
        elif expected == "time":
            seconds = float(field)
            expected = "first name"
        else:
            yield (field[1:] if expected == "first name" else field), seconds
            expected = "name"
