"""A file that git tracks is not ignored, whatever `.gitignore` says: that is git's own rule."""

import subprocess
from pathlib import Path

import pytest
from project_files import touch_files, write_files

from graphrag_mcp.exclusion.manager import ExclusionManager
from graphrag_mcp.exclusion.walker import WalkedFile, walk
from tests.repositories import git


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project whose manifest, generated code and built folder are tracked by force."""
    touch_files(
        tmp_path, "pkg/package.json", "pkg/src/index.ts", "gen/api/client.py", "gen/other.py", "build/kept/a.py",
        "build/b.py", "a.gen.py", "b.gen.py", "node_modules/x/index.js", "own/secret.py", "ünï cödé/é\n.gen.py",
    )  # fmt: skip
    write_files(tmp_path, gitignore="/gen/\nbuild\n*.gen.py\n**/package.json\n", graphragignore="own/\nnode_modules/\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".gitignore", "pkg/src")
    tracked = ("pkg/package.json", "gen/api/client.py", "build/kept/a.py", "a.gen.py", "own/secret.py")
    git(tmp_path, "add", "-f", *tracked, "node_modules/x/index.js", "ünï cödé/é\n.gen.py")
    return tmp_path


def _listed(root: Path) -> set[str]:
    return {item.path for item in walk(ExclusionManager(root)) if isinstance(item, WalkedFile)}


def test_tracked_files_are_indexed_though_git_would_ignore_them(root: Path) -> None:
    """Files, files in an ignored folder, and odd names; what is beside them untracked stays ignored."""
    assert _listed(root) >= {
        "pkg/package.json",
        "gen/api/client.py",
        "build/kept/a.py",
        "a.gen.py",
        "ünï cödé/é\n.gen.py",
    }
    assert not _listed(root) & {"gen/other.py", "build/b.py", "b.gen.py"}


def test_our_own_ignore_file_excludes_what_git_tracks(root: Path) -> None:
    """`.graphragignore` decides in the end."""
    assert not _listed(root) & {"own/secret.py", "node_modules/x/index.js"}


def test_an_included_gitignore_keeps_its_meaning(root: Path) -> None:
    """`:include:.gitignore` gives its rules strength, but they are still those of git."""
    (root / ".graphragignore").write_text(":include:.gitignore\nown/\n")
    assert _listed(root) >= {"pkg/package.json", "gen/api/client.py", "a.gen.py"}
    assert not _listed(root) & {"gen/other.py", "b.gen.py", "own/secret.py"}


def test_the_defaults_exclude_what_git_tracks(root: Path) -> None:
    """A dependency that is checked in is still a dependency."""
    (root / ".graphragignore").unlink()
    with (root / ".gitignore").open("a") as rules:
        rules.write("node_modules\n")
    assert "node_modules/x/index.js" not in _listed(root)
    assert "gen/api/client.py" in _listed(root)


def test_sources_in_a_folder_that_is_mostly_built_are_indexed(tmp_path: Path) -> None:
    """`build/main.rs` is tracked, `build/out.js` is not; a bundle in `dist/` is one though it is tracked."""
    touch_files(tmp_path, "build/main.rs", "build/out.js", "target/deep/gen.rs", "dist/app.js", "src/lib.rs")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "build/main.rs", "dist/app.js", "src/lib.rs")
    assert _listed(tmp_path) == {"build/main.rs", "src/lib.rs"}


def test_a_root_below_the_top_sees_its_own_files(root: Path) -> None:
    """The index of git has paths from the top of the work tree."""
    with (root / ".gitignore").open("a") as rules:
        rules.write("*.py\n")
    assert _listed(root / "gen") == {"api/client.py"}


def test_walk_and_manager_agree(root: Path) -> None:
    """The watcher asks path by path, and gets the same answers."""
    manager = ExclusionManager(root)
    files = subprocess.run(["find", ".", "-type", "f", "-print0"], cwd=root, capture_output=True, check=True).stdout
    paths = {path.decode().removeprefix("./") for path in files.split(b"\0") if path}
    assert {path for path in paths if not manager.should_exclude(path)} == _listed(root)


def test_what_is_added_later_is_seen_after_a_reload(root: Path) -> None:
    """Each run of the index reads the rules again."""
    manager = ExclusionManager(root)
    assert manager.should_exclude("b.gen.py")
    git(root, "add", "-f", "b.gen.py")
    manager.reload()
    assert not manager.should_exclude("b.gen.py")
