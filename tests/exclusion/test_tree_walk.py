"""What the walk yields, and what it says of the rest."""

import logging
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from project_files import touch_files, write_files

from graphrag_mcp.exclusion.manager import ExclusionManager
from graphrag_mcp.exclusion.walker import Unwalked, WalkedFile, walk
from graphrag_mcp.settings import IndexingSettings


def list_files(root: Path, start: str = "") -> list[str]:
    """Return the paths of the files to index."""
    return [item.path for item in walk(ExclusionManager(root), start) if isinstance(item, WalkedFile)]


def list_skipped(root: Path, settings: IndexingSettings | None = None) -> dict[str, str]:
    """Return the skipped paths with their reasons."""
    manager = ExclusionManager(root, settings) if settings else ExclusionManager(root)
    return {item.path: item.reason for item in walk(manager) if isinstance(item, Unwalked)}


@pytest.mark.requirement("000-05")
def test_files_come_in_the_order_of_their_paths(tmp_path: Path) -> None:
    """One order on every machine, folders among the files."""
    touch_files(tmp_path, "b.py", "a/z.py", "a.py", "a/b/c.py", "a-b/x.py", "é.py", "B/x.py", "a0.py")
    paths = list_files(tmp_path)
    assert paths == sorted(paths)
    assert len(paths) == 8


@pytest.mark.requirement("K-16")
def test_a_file_carries_its_size_and_time(tmp_path: Path) -> None:
    """What the next run compares with."""
    touch_files(tmp_path, "src/a.py")
    os.utime(tmp_path / "src/a.py", (1, 1))
    status = (tmp_path / "src/a.py").stat()
    found = WalkedFile("src/a.py", status.st_size, 1_000_000_000, status.st_ctime_ns)
    assert list(walk(ExclusionManager(tmp_path))) == [found]


@pytest.mark.requirement("000-05", "000-20")
def test_every_skipped_path_has_a_reason(tmp_path: Path) -> None:
    """Excluded folders are yielded once, with the rule that excludes them, and not entered."""
    touch_files(tmp_path, "node_modules/a/b.js", "src/a.py", "src/x.log", ".env", "logo.png", ".git/HEAD", "gen/a.py")
    write_files(tmp_path, gitignore="/gen/\n")
    skipped = [item for item in walk(ExclusionManager(tmp_path)) if isinstance(item, Unwalked)]
    assert skipped == [
        Unwalked(".env", "secret", ".env* (built-in)"),
        Unwalked(".git/", "vcs", ".git (built-in)"),
        Unwalked("gen/", "ignored", "/gen/ (.gitignore:1)"),
        Unwalked("logo.png", "binary", "*.png (built-in)"),
        Unwalked("node_modules/", "default", "node_modules/ (built-in defaults)"),
        Unwalked("src/x.log", "default", "*.log (built-in defaults)"),
    ]


@pytest.mark.requirement("000-05")
def test_walk_and_manager_agree(tmp_path: Path) -> None:
    """One matcher for the walk and for a single path."""
    touch_files(tmp_path, "a/b/c.py", "a/b/d.txt", "a/build/e.py", "f.pyc", "g/node_modules/h.js", "g/i.md")
    (tmp_path / "a/.gitignore").write_text("*.txt\n")
    manager = ExclusionManager(tmp_path)
    every = [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()]
    assert list_files(tmp_path) == sorted(path for path in every if not manager.should_exclude(path))


@pytest.mark.requirement("K-23")
def test_symlinks_are_not_followed(tmp_path: Path) -> None:
    """Neither out of the root nor in a circle; the target inside the root is indexed itself."""
    root = touch_files(tmp_path / "root", "src/a.py")
    touch_files(tmp_path, "outside/secret.py")
    (root / "src/loop").symlink_to(root)
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "b.py").symlink_to("src/a.py")
    (root / "broken.py").symlink_to("gone.py")
    assert list_files(root) == ["src/a.py"]
    assert list_skipped(root) == dict.fromkeys(["b.py", "broken.py", "out", "src/loop"], "symlink")


@pytest.mark.requirement("000-05")
def test_pipes_and_sockets_are_not_opened(tmp_path: Path) -> None:
    """Only regular files are read."""
    os.mkfifo(tmp_path / "pipe.py")
    os.mkfifo(tmp_path / ".gitignore")
    assert list_skipped(tmp_path) == {"pipe.py": "special file", ".gitignore": "special file"}


@pytest.mark.requirement("K-23")
def test_a_name_that_is_not_utf8_is_skipped_in_words(tmp_path: Path) -> None:
    """The path that is shown can be written anywhere."""
    (tmp_path / "caf\udce9.py").touch()
    (tmp_path / "d\udcff").mkdir()
    assert list_skipped(tmp_path) == {"caf\\xe9.py": "not UTF-8", "d\\xff/": "not UTF-8"}


@pytest.mark.requirement("K-24")
def test_a_large_file_is_skipped(tmp_path: Path) -> None:
    """Above the limit of the settings, and only above it."""
    (tmp_path / "at.txt").write_bytes(b"x" * 100)
    (tmp_path / "above.txt").write_bytes(b"x" * 101)
    assert list_skipped(tmp_path, IndexingSettings(max_file_bytes=100)) == {"above.txt": "too large"}


@pytest.mark.requirement("000-05")
def test_what_vanishes_during_the_walk_is_skipped(tmp_path: Path) -> None:
    """A file and a folder that are gone when their turn comes are named, and the walk goes on."""
    touch_files(tmp_path, "a.py", "b.py", "c/d.py", "e.py")
    items = walk(ExclusionManager(tmp_path))
    next(items)
    (tmp_path / "b.py").unlink()
    shutil.rmtree(tmp_path / "c")
    gone = [Unwalked(path, "unreadable", "No such file or directory") for path in ("b.py", "c/")]
    assert [item for item in items if isinstance(item, Unwalked)] == gone


@pytest.mark.requirement("K-16")
def test_a_root_that_is_gone_is_said_to_be_unreadable(tmp_path: Path) -> None:
    """An unmounted disk must not look like an empty project."""
    assert list(walk(ExclusionManager(tmp_path / "gone"))) == [Unwalked("", "unreadable", "No such file or directory")]


@pytest.mark.requirement("000-47")
def test_a_nested_repository_is_walked_and_a_worktree_is_not(tmp_path: Path) -> None:
    """Submodules belong to the project; a worktree is a second copy of one."""
    author = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    nested = touch_files(tmp_path, "nested/a.py") / "nested"
    subprocess.run(["git", "init", "-q", nested], check=True)
    subprocess.run(["git", "-C", nested, *author, "commit", "-q", "--allow-empty", "-m", "Begin"], check=True)
    subprocess.run(["git", "-C", nested, "worktree", "add", "-q", tmp_path / "tree"], check=True)
    touch_files(tmp_path, "tree/a.py", "module/a.py")
    (tmp_path / "module/.git").write_text("gitdir: ../.git/modules/module\n")
    assert list_files(tmp_path) == ["module/a.py", "nested/a.py"]
    assert list_skipped(tmp_path)["tree/"] == "worktree"


@pytest.mark.requirement("K-16")
def test_a_walk_may_start_below_the_root(tmp_path: Path) -> None:
    """At a folder or a single file, under the same rules."""
    touch_files(tmp_path, "src/a.py", "src/b/c.py", "src.py", "dist/d.js")
    (tmp_path / "link").symlink_to("src")
    assert list_files(tmp_path, "src") == ["src/a.py", "src/b/c.py"]
    assert list_files(tmp_path, "src/b/c.py") == ["src/b/c.py"]
    for nowhere in ("gone", "gone/x.py", "dist", "dist/d.js", "link", "link/a.py", "link/b/c.py"):
        assert list_files(tmp_path, nowhere) == []


@pytest.mark.requirement("000-20", "000-41")
def test_every_skip_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """At debug level, with the rule that took it."""
    touch_files(tmp_path, "src/a.py", "build/out.js")
    write_files(tmp_path, graphragignore="build/\n")
    with caplog.at_level(logging.DEBUG, "graphrag_mcp.exclusion"):
        list_files(tmp_path)
    (message,) = [record.getMessage() for record in caplog.records if "build/" in record.getMessage()]
    assert ".graphragignore:1" in message
