"""Reads what a name means in a repository, without git: HEAD, branches and tags."""

import os
import re
from pathlib import Path

from graphrag_mcp.system.safe_files import read_regular_file

_PACKED_BYTES = 1 << 26
_LINE_BYTES = 4096  # No path is longer.
_MOST_STEPS = 5  # Of symbolic refs, as in git.
_SYMBOLIC = "ref: "
_COMMIT = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(/|$)|/$|\.$|^[./-]")
_PSEUDO = re.compile("[A-Z_]+")
_OF_ONE_TREE = ("refs/bisect/", "refs/worktree/", "refs/rewritten/")
_PLACES = ("refs/{}", "refs/tags/{}", "refs/heads/{}", "refs/remotes/{}", "refs/remotes/{}/HEAD")  # In git's order.


def read_line(file: Path) -> str:
    """Return the first line of a small file, "" if there is none."""
    try:
        content = read_regular_file(file, _LINE_BYTES, follow_symlink=False)
    except OSError:
        return ""
    return os.fsdecode(content.partition(b"\n")[0].removesuffix(b"\r"))


def read_head_commit(own: Path, common: Path) -> str:
    """Return the commit that a work tree has checked out, "" if there is none.

    own: the git folder of the work tree. common: the one that all work trees share.
    """
    return _follow(own, common, "HEAD")


def read_ref(own: Path, common: Path, name: str) -> str:
    """Return the object that a branch, a tag or another ref names, "" if there is none."""
    if not name or _FORBIDDEN.search(name):
        return ""
    places = [name] if name.startswith("refs/") or _PSEUDO.fullmatch(name) else []
    found = (_follow(own, common, ref) for ref in (*places, *(place.format(name) for place in _PLACES)))
    return next(filter(None, found), "")


def _follow(own: Path, common: Path, ref: str) -> str:
    for _ in range(_MOST_STEPS):
        folder = common if ref.startswith("refs/") and not ref.startswith(_OF_ONE_TREE) else own
        value = read_line(folder / ref)
        if not value.startswith(_SYMBOLIC):
            name = value.split(maxsplit=1)[0] if value.strip() else _read_packed(common, ref)
            return name if _COMMIT.fullmatch(name) else ""
        ref = value.removeprefix(_SYMBOLIC).strip()
        if _FORBIDDEN.search(ref):
            return ""
    return ""


def _read_packed(common: Path, ref: str) -> str:
    try:
        packed = read_regular_file(common / "packed-refs", _PACKED_BYTES, follow_symlink=False)
    except OSError:
        return ""
    found = re.search(rb"^([0-9a-f]+) %b\r?$" % re.escape(os.fsencode(ref)), packed, re.MULTILINE)
    return found[1].decode() if found else ""
