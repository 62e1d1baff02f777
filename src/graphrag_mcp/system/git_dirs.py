"""Reads git's own folders: where they are, what HEAD and other refs name, and the ignore rules outside the work tree.

Never runs git inside the project, and never reads its git configuration, which can make git start programs.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

from graphrag_mcp.system.safe_files import read_regular_file

# git answers in milliseconds, but a home folder may be on a slow network disk.
_GIT_TIMEOUT_SECONDS = 10
_POINTER = "gitdir: "
_HEAD = "ref: refs/heads/"
_COMMIT_SHOWN = 12
_PACKED_BYTES = 1 << 26
_LINE_BYTES = 4096  # No path is longer.
_SETTINGS_BYTES = 1 << 20
_MAY_NAME_EXCLUDES = re.compile(b"excludesfile|include", re.IGNORECASE)
_MOST_STEPS = 5  # Git follows no longer chain of symbolic refs.
_SYMBOLIC = "ref: "
_COMMIT = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(/|$)|/$|\.$|^[./-]")
_PSEUDO = re.compile("[A-Z_]+")
_OF_ONE_TREE = ("refs/bisect/", "refs/worktree/", "refs/rewritten/")
# Git looks them up in this order.
_REF_PATTERNS = ("refs/{}", "refs/tags/{}", "refs/heads/{}", "refs/remotes/{}", "refs/remotes/{}/HEAD")


def find_work_tree(folder: Path) -> Path | None:
    """Return the top of the git work tree that holds the folder, None outside of any."""
    return next((parent for parent in (folder, *folder.parents) if os.path.lexists(parent / ".git")), None)


def find_info_exclude(top: Path) -> Path | None:
    """Return the work tree's `info/exclude`, which all worktrees of a repository share, whether or not it exists."""
    common = find_common_folder(top)
    return None if common is None else common / "info" / "exclude"


def find_common_folder(top: Path) -> Path | None:
    """Return the git folder that all work trees of the repository share, None if there is none that can be read."""
    git = top / ".git"
    if git.is_dir():
        return git
    pointer = read_git_pointer(top)
    if pointer is None:
        return None
    common = read_line(pointer / "commondir")
    return pointer / common if common else pointer


def git_folder(top: Path) -> Path:
    """Return the git folder of one work tree, whether or not it exists."""
    git = top / ".git"
    return git if git.is_dir() else read_git_pointer(top) or git


def read_branch(top: Path) -> str:
    """Return the branch that a work tree has checked out, the beginning of the commit without one, "" if neither."""
    head = read_line(git_folder(top) / "HEAD")
    if head.startswith(_HEAD):
        return head.removeprefix(_HEAD)
    return head[:_COMMIT_SHOWN] if _COMMIT.fullmatch(head) else ""


def read_head(top: Path) -> tuple[str, str, int]:
    """Return what changes whenever another commit is checked out: HEAD, the commit of its branch, and packed refs."""
    common = find_common_folder(top)
    if common is None:
        return "", "", 0
    head = read_line(git_folder(top) / "HEAD")
    branch = head.removeprefix(_SYMBOLIC)
    try:
        packed = (common / "packed-refs").stat().st_mtime_ns
    except OSError:
        packed = 0
    is_ref = branch != head and branch.startswith("refs/") and ".." not in branch
    return head, read_line(common / branch) if is_ref else "", packed


def read_git_pointer(folder: Path) -> Path | None:
    """Return the git folder that a `.git` file points to, None if `.git` is not a file that points anywhere."""
    text = read_line(folder / ".git")
    return folder / text.removeprefix(_POINTER) if text.startswith(_POINTER) else None


def is_linked_worktree(folder: Path) -> bool:
    """Return whether the folder is a second checkout of some repository (a submodule is not)."""
    pointer = read_git_pointer(folder)
    return pointer is not None and pointer.parent.name == "worktrees"


def find_global_excludes(top: Path) -> Path | None:
    """Return the user's own excludes file as git finds it, whether or not it exists.

    top: the top of the work tree, from where git reads a relative path.
    """
    configured = _read_global_setting()
    if configured is not None:
        return top / configured if configured else None
    config_home = _config_home()
    return config_home / "git" / "ignore" if config_home else None


def find_global_settings() -> list[Path]:
    """Return the user's own settings files of git, whether or not they exist; they may name the excludes file."""
    if path := os.environ.get("GIT_CONFIG_GLOBAL"):
        return [Path(path)]
    home, config_home = _home(), _config_home()
    return [*([home / ".gitconfig"] if home else []), *([config_home / "git" / "config"] if config_home else [])]


def _config_home() -> Path | None:
    if path := os.environ.get("XDG_CONFIG_HOME"):
        return Path(path).expanduser()
    home = _home()
    return home / ".config" if home else None


def _home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:  # Some containers have a user without a home.
        return None


def _read_global_setting() -> str | None:
    # To start git takes a hundred times as long as to see that it would find nothing.
    if not any(map(_may_name_excludes, find_global_settings())):
        return None
    git = shutil.which("git")
    if git is None:
        return None
    command = [git, "config", "--global", "--includes", "--type=path", "--get", "core.excludesFile"]
    try:
        answer = subprocess.run(
            command, cwd="/", stdin=subprocess.DEVNULL, capture_output=True, timeout=_GIT_TIMEOUT_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return os.fsdecode(answer.stdout).removesuffix("\n") if answer.returncode == 0 else None


def _may_name_excludes(settings: Path) -> bool:
    """Return whether a settings file may name the excludes file or include one that does, False if there is none."""
    try:
        content = read_regular_file("/" / settings, _SETTINGS_BYTES)  # Git is started there.
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return _MAY_NAME_EXCLUDES.search(content) is not None


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
    refs = [name] if name.startswith("refs/") or _PSEUDO.fullmatch(name) else []
    objects = (_follow(own, common, ref) for ref in (*refs, *(pattern.format(name) for pattern in _REF_PATTERNS)))
    return next(filter(None, objects), "")


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
    match = re.search(rb"^([0-9a-f]+) %b\r?$" % re.escape(os.fsencode(ref)), packed, re.MULTILINE)
    return match[1].decode() if match else ""
