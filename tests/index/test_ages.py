"""Commit times, with real git."""

import os
import random
import subprocess
from pathlib import Path

import pytest

from graphrag_mcp.index.ages import commit_times
from graphrag_mcp.system import git_files
from graphrag_mcp.system.git import head_commit
from tests.repositories import NEW, commit, copied, git

OLD, MIDDLE = 1_500_000_000, 1_600_000_000
TIMEOUT = 30.0


def mtimes(root: Path) -> dict[str, int]:
    paths = [path for path in root.rglob("*") if path.is_file() and ".git" not in path.relative_to(root).parts]
    return {path.relative_to(root).as_posix(): path.stat().st_mtime_ns for path in paths}


@pytest.fixture(autouse=True, params=["a few", "many"])
def _files_asked_for(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few files are named to git, of many it lists all: the same is said of them."""
    if request.param == "many":
        monkeypatch.setattr(git_files, "_NAMED_FILES", -1)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("original")
    git(root, "init", "-q")
    commit(root, {"a.py": "a = 1\n", "sub/b.py": "b = 1\n", "sub/ünï\n.py": "c = 1\n"}, OLD)
    commit(root, {"sub/b.py": "b = 2\n"}, MIDDLE)
    commit(root, {}, NEW)
    return root


@pytest.fixture
def repository(original: Path, tmp_path: Path) -> Path:
    """A copy of it for one test."""
    return copied(original, tmp_path / "project")


@pytest.mark.requirement("K-02")
def test_a_file_has_the_time_of_the_last_commit_that_changed_it(repository: Path) -> None:
    """Mtime says nothing after a checkout; an empty commit touches nothing."""
    times = commit_times(repository, mtimes(repository), TIMEOUT)
    assert times == {"a.py": OLD, "sub/b.py": MIDDLE, "sub/ünï\n.py": OLD}
    assert times.note == ""


def test_paths_are_relative_to_a_root_below_the_top_of_the_work_tree(repository: Path) -> None:
    """A project may be one folder of a larger repository."""
    times = commit_times(repository / "sub", mtimes(repository / "sub"), TIMEOUT)
    assert times == {"b.py": MIDDLE, "ünï\n.py": OLD}


def test_only_wanted_files_are_dated(repository: Path) -> None:
    """Git is stopped as soon as every wanted file has been seen."""
    wanted = {"sub/b.py": mtimes(repository)["sub/b.py"]}
    assert commit_times(repository, wanted, TIMEOUT) == {"sub/b.py": MIDDLE}
    assert commit_times(repository, {}, TIMEOUT) == {}


def test_names_are_not_patterns(repository: Path) -> None:
    """Git would read them as pathspecs."""
    names = ("*.py", ":(top)a.py", "sub/[ab].py", "-x.py")
    commit(repository, dict.fromkeys(names, "d = 1\n"), MIDDLE)
    (repository / "sub/b.py").write_text("b = 3\n", encoding="utf-8")
    wanted = {name: mtimes(repository)[name] for name in names}
    assert commit_times(repository, wanted, TIMEOUT) == dict.fromkeys(names, MIDDLE)


@pytest.mark.requirement("K-02")
def test_files_with_uncommitted_changes_have_no_commit_time(repository: Path) -> None:
    """Edited, staged and untracked files keep their mtime."""
    (repository / "a.py").write_text("a = 2\n", encoding="utf-8")
    (repository / "new.py").write_text("n = 1\n", encoding="utf-8")
    (repository / "sub/b.py").write_text("b = 3\n", encoding="utf-8")
    git(repository, "add", "sub/b.py")
    assert commit_times(repository, mtimes(repository), TIMEOUT) == {"sub/ünï\n.py": OLD}


def test_a_pipe_in_place_of_gits_excludes_is_not_waited_for(repository: Path) -> None:
    """An archive may bring one along, and a run waits for what is asked of git."""
    names = mtimes(repository)
    before = commit_times(repository, names, TIMEOUT)
    (repository / ".git/info/exclude").unlink(missing_ok=True)
    os.mkfifo(repository / ".git/info/exclude")
    now = commit_times(repository, names, 5.0)
    assert (now, now.note) == (before, "")


def test_a_file_that_was_only_touched_is_not_changed(repository: Path) -> None:
    """Where the index's record differs, the content decides."""
    os.utime(repository / "a.py")
    assert commit_times(repository, mtimes(repository), TIMEOUT)["a.py"] == OLD


def test_a_renamed_file_has_the_time_of_its_renaming(repository: Path) -> None:
    """Renames are not followed: the path came into being then."""
    git(repository, "mv", "a.py", "moved.py")
    git(repository, "commit", "-q", "-m", "move", when=NEW)
    assert commit_times(repository, mtimes(repository), TIMEOUT)["moved.py"] == NEW


def test_a_merge_dates_no_file_that_it_only_brought_in(repository: Path) -> None:
    """The commit on the branch changed the file, the merge did not."""
    git(repository, "checkout", "-q", "-b", "branch", "HEAD~1")
    commit(repository, {"c.py": "c = 1\n"}, MIDDLE)
    git(repository, "checkout", "-q", "main")
    git(repository, "merge", "-q", "--no-ff", "-m", "merge", "branch", when=NEW)
    assert commit_times(repository, mtimes(repository), TIMEOUT)["c.py"] == MIDDLE


def test_a_shallow_clone_dates_only_what_its_history_holds(repository: Path, tmp_path: Path) -> None:
    """The oldest commit of a shallow clone seems to add every file; that time would be wrong, as a checkout's is."""
    commit(repository, {"a.py": "a = 9\n"}, NEW)
    git(tmp_path, "clone", "-q", "--depth", "2", f"file://{repository}", "shallow")
    times = commit_times(tmp_path / "shallow", mtimes(tmp_path / "shallow"), TIMEOUT)
    assert times == {"a.py": NEW, "sub/b.py": None, "sub/ünï\n.py": None}
    assert "shallow" in times.note


@pytest.fixture
def with_subtree(repository: Path) -> Path:
    """A repository with another one merged in as the folder `lib`, whose paths are also paths of the repository."""
    git(repository, "checkout", "-q", "--orphan", "other")
    git(repository, "rm", "-rfq", ".")
    commit(repository, {"a.py": "other = 1\n", "sub/b.py": "other = 2\n"}, NEW + 1)
    git(repository, "checkout", "-q", "main")
    git(repository, "merge", "-q", "-s", "ours", "--no-commit", "--allow-unrelated-histories", "other")
    git(repository, "read-tree", "--prefix=lib/", "-u", "other")
    git(repository, "commit", "-q", "-m", "subtree", when=NEW + 2)
    return repository


def test_files_of_a_subtree_have_the_time_of_their_merge(with_subtree: Path) -> None:
    """They came into being then; a file of the same path in the other repository is another file."""
    times = commit_times(with_subtree, mtimes(with_subtree), TIMEOUT)
    subtree = {"lib/a.py": NEW + 2, "lib/sub/b.py": NEW + 2}
    assert times == {"a.py": OLD, "sub/b.py": MIDDLE, "sub/ünï\n.py": OLD} | subtree
    assert commit_times(with_subtree / "lib/sub", mtimes(with_subtree / "lib/sub"), TIMEOUT) == {"b.py": NEW + 2}


def test_a_merge_that_keeps_our_side_changes_no_time(repository: Path) -> None:
    """What the other side had done is in the history, and not in the file."""
    git(repository, "checkout", "-q", "-b", "branch")
    commit(repository, {"a.py": "a = 5\n"}, NEW + 1)
    git(repository, "checkout", "-q", "main")
    git(repository, "merge", "-q", "-s", "ours", "-m", "keep", "branch", when=NEW + 2)
    assert commit_times(repository, mtimes(repository), TIMEOUT)["a.py"] == OLD


def test_a_merge_that_changes_a_file_itself_dates_it(repository: Path) -> None:
    """A conflict that was resolved, and an edit that neither side had."""
    git(repository, "checkout", "-q", "-b", "branch")
    commit(repository, {"a.py": "a = 5\n", "c.py": "c = 1\n"}, NEW + 1)
    git(repository, "checkout", "-q", "main")
    commit(repository, {"a.py": "a = 6\n"}, NEW + 2)
    git(repository, "merge", "-q", "-s", "ours", "--no-commit", "branch")
    for name, text in (("a.py", "a = 11\n"), ("c.py", "c = 1\n"), ("sub/b.py", "b = 'evil'\n")):
        (repository / name).write_text(text, encoding="utf-8")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "merge", when=NEW + 3)
    times = commit_times(repository, mtimes(repository), TIMEOUT)
    assert times == {"a.py": NEW + 3, "sub/b.py": NEW + 3, "c.py": NEW + 1, "sub/ünï\n.py": OLD}


def test_a_merge_of_many_branches_dates_no_file_that_it_only_brought_in(repository: Path) -> None:
    """An octopus has a parent for each of them."""
    for number in (1, 2, 3):
        git(repository, "checkout", "-q", "-b", f"branch{number}", "main")
        commit(repository, {f"c{number}.py": "c = 1\n"}, NEW + number)
    git(repository, "checkout", "-q", "main")
    git(repository, "merge", "-q", "-m", "octopus", "branch1", "branch2", "branch3", when=NEW + 9)
    times = commit_times(repository, mtimes(repository), TIMEOUT)
    assert {times[f"c{number}.py"] for number in (1, 2, 3)} == {NEW + 1, NEW + 2, NEW + 3}
    assert times["a.py"] == OLD


@pytest.fixture(scope="module", params=range(4))
def random_history(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of random edits, branches and merges of any kind."""
    choose = random.Random(request.param)
    root = tmp_path_factory.mktemp("random")
    git(root, "init", "-q")
    names = ["a.txt", "b.txt", "d/a.txt", "d/c.txt"]
    commit(root, dict.fromkeys(names, "0\n"), NEW)
    for when in range(NEW + 1, NEW + 30):
        branches = git(root, "branch", "--format=%(refname:short)").split()
        others = [branch for branch in branches if branch != git(root, "branch", "--show-current").strip()]
        act = choose.choice(["edit", "edit", "branch", "switch", "merge", "merge"])
        if act == "edit":
            commit(root, {choose.choice(names): f"{choose.randrange(3)}\n"}, when - choose.choice([0, 0, 50]))
        elif act == "branch":
            git(root, "checkout", "-q", "-b", f"branch{when}")
        elif others and act == "switch":
            git(root, "checkout", "-q", choose.choice(others))
        elif others:
            merged = choose.sample(others, min(len(others), choose.choice([1, 1, 2])))
            git(root, "merge", "-q", "--no-ff", "--no-commit", "-s", "ours", *merged)
            git(root, "checkout", merged[-1], "--", *choose.sample(names, choose.randrange(3)), "d/c.txt")
            git(root, "commit", "-q", "--allow-empty", "-m", "merge", when=when)
    git(root, "merge", "-q", "-s", "ours", "-m", "last", *git(root, "branch", "--format=%(refname)").split())
    return root


def test_every_file_has_the_time_that_git_tells_of_it_alone(random_history: Path) -> None:
    """By `git log -1 -- PATH`, file by file."""
    names = mtimes(random_history)
    expected = {name: float(git(random_history, "log", "-1", "--format=%ct", "--", name)) for name in names}
    assert commit_times(random_history, names, TIMEOUT) == expected


@pytest.mark.requirement("K-02")
@pytest.mark.parametrize("setup", ["missing", "plain", "unborn", "damaged"])
def test_without_a_readable_history_there_are_no_times_but_a_reason(tmp_path: Path, setup: str) -> None:
    """Missing times count as neutral; nothing raises."""
    root = tmp_path / "root"
    if setup != "missing":
        root.mkdir()
        (root / "a.py").write_text("a\n", encoding="utf-8")
    if setup in ("unborn", "damaged"):
        git(root, "init", "-q")
    if setup == "damaged":
        (root / ".git/HEAD").write_text("nonsense", encoding="utf-8")
    times = commit_times(root, {"a.py": 0}, TIMEOUT)
    assert times == {}
    assert times.note
    assert head_commit(root) == ""


def test_without_git_there_are_no_times_but_a_reason(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Git is not needed to search."""
    monkeypatch.setenv("PATH", "")
    times = commit_times(repository, mtimes(repository), TIMEOUT)
    assert times == {}
    assert "cannot be started" in times.note


def test_a_timeout_is_a_reason(repository: Path) -> None:
    """A history of millions of commits does not hold up the index."""
    times = commit_times(repository, mtimes(repository), 0.0)
    assert times == {}
    assert "took too long" in times.note


def test_the_head_is_the_commit_that_is_checked_out(repository: Path) -> None:
    """Times need reading again only when it moves."""
    assert head_commit(repository) == git(repository, "rev-parse", "HEAD").strip()


def test_variables_that_redirect_git_are_ignored(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server may be started from a hook, where GIT_DIR names another repository."""
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")
    assert commit_times(repository, mtimes(repository), TIMEOUT)["a.py"] == OLD


HOSTILE_SETTINGS = {
    "core.fsmonitor": "{program}",
    "core.pager": "{program}",
    "core.sshCommand": "{program}",
    "core.askPass": "{program}",
    "core.editor": "{program}",
    "core.alternateRefsCommand": "{program}",
    "credential.helper": "{program}",
    "diff.external": "{program}",
    "diff.evil.command": "{program}",
    "diff.evil.textconv": "{program}",
    "filter.evil.clean": "{program}",
    "filter.evil.smudge": "{program}",
    "filter.evil.process": "{program}",
    "gpg.program": "{program}",
    "log.showSignature": "true",
    "log.showRoot": "false",
    "pager.log": "{program}",
    "diff.renames": "copies",
    "diff.relative": "false",
    "color.ui": "always",
    "extensions.partialClone": "origin",
    "remote.origin.promisor": "true",
    "remote.origin.uploadpack": "{program}",
}


@pytest.fixture
def trap(repository: Path, tmp_path: Path) -> Path:
    """Return the file that any program named by the repository's configuration would create."""
    marker = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho $0 $* >> '{marker}'\nexit 1\n", encoding="utf-8")
    program.chmod(0o755)
    commit(repository, {".gitattributes": "*.py diff=evil filter=evil\n"}, NEW)
    for hook in ("post-index-change", "reference-transaction", "fsmonitor-watchman"):
        target = repository / ".git/hooks" / hook
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(program.read_bytes())
        target.chmod(0o755)
    git(repository, "config", "core.repositoryFormatVersion", "1")
    for name, value in HOSTILE_SETTINGS.items():
        git(repository, "config", name, value.format(program=program))
    git(repository, "config", "remote.origin.url", str(tmp_path))
    os.utime(repository / "a.py")
    return marker


def test_the_configuration_of_a_hostile_repository_runs_nothing(repository: Path, trap: Path) -> None:
    """A repository is untrusted input: to look at it must not be to run it."""
    times = commit_times(repository, mtimes(repository), TIMEOUT)
    assert head_commit(repository)
    assert times["a.py"] == OLD
    assert not trap.exists()
    subprocess.run(["git", "status"], cwd=repository, check=False, capture_output=True)
    assert trap.exists(), "the trap itself does not work"


def test_missing_objects_are_not_fetched_from_where_a_hostile_repository_says(repository: Path, trap: Path) -> None:
    """A partial clone fetches on demand, by a program that its configuration names."""
    tree = git(repository, "rev-parse", "HEAD~3^{tree}").strip()
    (repository / ".git/objects" / tree[:2] / tree[2:]).unlink()
    times = commit_times(repository, mtimes(repository), TIMEOUT)
    assert "git could not read the commits" in times.note
    assert not trap.exists()
    subprocess.run(["git", "log", "--name-only"], cwd=repository, check=False, capture_output=True)
    assert trap.exists(), "the trap itself does not work"
