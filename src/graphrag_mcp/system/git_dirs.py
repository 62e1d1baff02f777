"""Finds git's own folders and the ignore rules outside of the work tree.

Never runs git inside the project, and never reads its git configuration, which can make git start programs.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

from graphrag_mcp.system.git_refs import read_line

# git answers in milliseconds, but a home folder may be on a slow network disk.
_GIT_TIMEOUT_SECONDS = 10


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
    branch = head.removeprefix("ref: ")
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
    """Tell whether the folder is a second checkout of some repository (a submodule is not)."""
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
    if given := os.environ.get("GIT_CONFIG_GLOBAL"):
        return [Path(given)]
    home, config_home = _home(), _config_home()
    return [*([home / ".gitconfig"] if home else []), *([config_home / "git" / "config"] if config_home else [])]


def _config_home() -> Path | None:
    if given := os.environ.get("XDG_CONFIG_HOME"):
        return Path(given).expanduser()
    home = _home()
    return home / ".config" if home else None


def _home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:  # A user without one, as in some containers.
        return None


def _read_global_setting() -> str | None:
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


_POINTER = "gitdir: "
_HEAD = "ref: refs/heads/"
_COMMIT = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
_COMMIT_SHOWN = 12
