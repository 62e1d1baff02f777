"""Following edits: real files, the real observer."""

import errno
import logging
import os
import re
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import pytest
from watchdog.observers.api import BaseObserver
from watchdog.observers.inotify import InotifyWatchGroup
from watchdog.observers.inotify_c import (
    CallbackId,
    InotifyConstants,
    InotifyEvent,
    InotifyFD,
    Mask,
    WatchCallback,
    WatchDescriptor,
)

from graphrag_mcp.app.local import App
from graphrag_mcp.exclusion.manager import ExclusionManager
from graphrag_mcp.index import prepare, watcher
from graphrag_mcp.index.watcher import Batch, WatchedTree, shared_file_system, watch
from graphrag_mcp.model.reports import IndexReport
from graphrag_mcp.model.search import SearchRequest
from graphrag_mcp.settings import load_settings
from tests.repositories import commit, git
from tests.waiting import HANG_SECONDS, kernel_watches, wait_until

OF_READING = InotifyConstants.IN_ACCESS | InotifyConstants.IN_OPEN | InotifyConstants.IN_CLOSE_NOWRITE
FRESH_SECONDS = 2.0  # The promise: a saved edit is searchable two seconds later.
PATIENCE_SECONDS = 8.0  # What no event told of is never found: the tree is compared only where events are incomplete.


class Watched:
    """An application that follows a project in a thread."""

    def __init__(self, root: Path, data: Path, index_root: str = "") -> None:
        self.root = root
        self.app = App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(data)}), index_root)
        self.app.index()
        self.reports: list[IndexReport] = []
        self._watches_before = kernel_watches() if sys.platform == "linux" else 0
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.app.watch, args=(self.stop, self.reports.append))
        self.thread.start()
        wait_until(lambda: _is_observed() or self.app.status().warnings, PATIENCE_SECONDS)

    def finds(self, query: str, path: str) -> bool:
        """Tell whether a search for the query has the file first."""
        hits = self.app.search(SearchRequest(query)).primary
        return bool(hits) and hits[0].chunk.path == path

    def folders_watched(self) -> int:
        """Return how many folders of the project the kernel watches."""
        return kernel_watches() - self._watches_before

    def close(self) -> None:
        """End the thread and the application."""
        self.stop.set()
        self.thread.join(5)
        self.app.close()


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    """A watched project of two files."""
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / "src/one.py").write_text("def first_thing():\n    pass\n")
    (root / "src/two.py").write_text("def second_thing():\n    pass\n")
    watched = Watched(root, tmp_path / "data")
    yield watched
    watched.close()


@pytest.fixture
def often_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare a tree whose changes are not all told ten times a second, however long it takes."""
    monkeypatch.setattr(watcher, "POLL_SECONDS", 0.1)
    monkeypatch.setattr(watcher, "POLL_SHARE", 1.0)


def _is_observed() -> bool:
    return any(isinstance(thread, BaseObserver) for thread in threading.enumerate())


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


@pytest.mark.requirement("B-32")
def test_a_saved_edit_is_searchable_within_two_seconds(watched: Watched) -> None:
    """Trailing debounce of at most two seconds, no edit lost."""
    (watched.root / "src/one.py").write_text("def handle_zebra_crossing():\n    pass\n")
    wait_until(lambda: watched.finds("handle_zebra_crossing", "src/one.py"), FRESH_SECONDS)


@pytest.mark.requirement("B-32")
def test_edits_in_quick_succession_end_with_the_last(watched: Watched) -> None:
    """No cool-down drops the last edit of a burst."""
    for number in range(20):
        (watched.root / "src/one.py").write_text(f"def burst_number_{number}():\n    pass\n")
        time.sleep(0.02)
    wait_until(lambda: watched.finds("burst_number_19", "src/one.py"), FRESH_SECONDS)


@pytest.mark.requirement("B-32")
def test_a_move_is_a_deletion_and_a_creation(watched: Watched) -> None:
    """Move = delete + create, for files and for folders."""
    (watched.root / "src").rename(watched.root / "lib")
    wait_until(lambda: watched.finds("first_thing", "lib/one.py"), PATIENCE_SECONDS)
    paths = {hit.chunk.path for hit in watched.app.search(SearchRequest("second_thing", limit=25)).primary}
    assert not [path for path in paths if path.startswith("src/")]


@pytest.mark.requirement("K-16")
def test_an_edit_of_the_ignore_file_purges_and_restores(watched: Watched) -> None:
    """Edits to ignore files take effect at once."""
    rules = watched.root / ".graphragignore"
    rules.write_text("one.py\n")
    wait_until(lambda: not watched.finds("first_thing", "src/one.py"), PATIENCE_SECONDS)
    rules.write_text("")
    wait_until(lambda: watched.finds("first_thing", "src/one.py"), PATIENCE_SECONDS)


def test_ignored_files_wake_nobody(watched: Watched) -> None:
    """The watcher uses the same ExclusionManager as the walker."""
    (watched.root / "node_modules/x").mkdir(parents=True)
    (watched.root / "node_modules/x/index.js").write_text("function ignored() {}")
    (watched.root / "src/three.py").write_text("def third_thing():\n    pass\n")
    wait_until(lambda: watched.finds("third_thing", "src/three.py"), PATIENCE_SECONDS)
    wait_until(lambda: bool(watched.reports), PATIENCE_SECONDS)  # A run is told of after its commit.
    assert sum(report.added for report in watched.reports) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="needs inotify")
def test_who_reads_the_tree_wakes_nobody(watched: Watched) -> None:
    """A build or a `grep` beside the server costs it nothing: the kernel is not asked to tell of opened files."""
    texts = []
    for file in Path("/proc/self/fdinfo").iterdir():
        with suppress(FileNotFoundError):  # Other threads close files.
            texts.append(file.read_text())
    masks = [int(mask, 16) for text in texts for mask in re.findall(r"^inotify wd:.* mask:([0-9a-f]+)", text, re.M)]
    assert len(masks) >= watched.folders_watched() > 0
    assert not any(mask & OF_READING for mask in masks)


def test_what_is_excluded_is_not_watched_until_the_rules_change(tmp_path: Path) -> None:
    """Each folder takes a watch of the kernel, which `node_modules` would use up."""
    for folder in ("a/b", "c", "node_modules/x/y", "ours/node_modules/z"):
        _write(tmp_path / "project" / folder / "one.py", "def first_thing():\n    pass\n")
    _write(tmp_path / "project/.gitignore", "node_modules\nc\n")
    before = kernel_watches()
    with closing(Watched(tmp_path / "project", tmp_path / "data")) as watched:
        wait_until(lambda: kernel_watches() - before == 4, PATIENCE_SECONDS)  # The root, a, a/b and ours.
        for folder in ("node_modules/new/deep", "src/new/deep"):
            _write(watched.root / folder / "two.py", "def second_thing():\n    pass\n")
        wait_until(lambda: watched.finds("second_thing", "src/new/deep/two.py"), PATIENCE_SECONDS)
        wait_until(lambda: kernel_watches() - before == 7, PATIENCE_SECONDS)
        _write(watched.root / ".gitignore", "node_modules\n")
        wait_until(lambda: kernel_watches() - before == 8, PATIENCE_SECONDS)
        _write(watched.root / "c/one.py", "def third_thing():\n    pass\n")
        wait_until(lambda: watched.finds("third_thing", "c/one.py"), PATIENCE_SECONDS)
    wait_until(lambda: kernel_watches() == before, PATIENCE_SECONDS)


@pytest.mark.requirement("K-16")
def test_rules_outside_of_what_is_indexed_are_followed(tmp_path: Path) -> None:
    """Those of git's own folder, of a folder that is excluded, and above the indexed folder."""
    root = tmp_path / "project"
    for name in ("one", "two", "three"):
        _write(root / f"a/b/{name}.py", f"def {name}_thing():\n    pass\n")
    _write(root / "config/rules", "")
    _write(root / ".graphragignore", "config\n")
    _write(root / "a/b/.graphragignore", ":include:config/rules\n")
    git(root, "init", "-q")
    with closing(Watched(root, tmp_path / "data", "a/b")) as watched:
        assert watched.finds("one_thing", "a/b/one.py")
        _write(root / ".git/info/exclude", "one.py\n")
        wait_until(lambda: not watched.finds("one_thing", "a/b/one.py"), PATIENCE_SECONDS)
        _write(root / "config/rules", "two.py\n")
        wait_until(lambda: not watched.finds("two_thing", "a/b/two.py"), PATIENCE_SECONDS)
        _write(root / ".gitignore", "three.py\n")
        wait_until(lambda: not watched.finds("three_thing", "a/b/three.py"), PATIENCE_SECONDS)


@pytest.mark.requirement("K-16")
def test_rules_above_the_root_and_the_users_own_are_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No event tells of them."""
    root = tmp_path / "work/project"
    for name in ("one", "two", "three"):
        _write(root / f"{name}.py", f"def {name}_thing():\n    pass\n")
    git(tmp_path / "work", "init", "-q")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    with closing(Watched(root, tmp_path / "data")) as watched:
        _write(tmp_path / "work/.gitignore", "one.py\n")
        wait_until(lambda: not watched.finds("one_thing", "one.py"), PATIENCE_SECONDS)
        _write(tmp_path / "home/git/ignore", "two.py\n")
        wait_until(lambda: not watched.finds("two_thing", "two.py"), PATIENCE_SECONDS)
        assert watched.finds("three_thing", "three.py")


@pytest.mark.requirement("K-16")
def test_rules_are_followed_wherever_they_come_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository that appears, git's own settings, an include that is refused until it is no symlink."""
    root = tmp_path / "project"
    for name in ("one", "two", "three", "four"):
        _write(root / f"{name}.py", f"def {name}_thing():\n    pass\n")
    _write(tmp_path / "outside", "")
    (root / "rules").symlink_to(tmp_path / "outside")
    _write(root / ".graphragignore", ":include:rules\n")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    with closing(Watched(root, tmp_path / "data")) as watched:
        git(root, "init", "-q")
        _write(root / ".git/info/exclude", "one.py\n")
        wait_until(lambda: not watched.finds("one_thing", "one.py"), PATIENCE_SECONDS)
        _write(tmp_path / "mine", "two.py\n")
        _write(tmp_path / "home/.gitconfig", f"[core]\nexcludesFile = {tmp_path / 'mine'}\n")
        wait_until(lambda: not watched.finds("two_thing", "two.py"), PATIENCE_SECONDS)
        (root / "rules").unlink()
        _write(root / "rules", "three.py\n")
        wait_until(lambda: not watched.finds("three_thing", "three.py"), PATIENCE_SECONDS)
        assert watched.finds("four_thing", "four.py")


@pytest.mark.requirement("K-16")
def test_a_folder_that_becomes_a_work_tree_and_none_again(tmp_path: Path) -> None:
    """Another work tree is left out, a folder in its place is not."""
    root = tmp_path / "project"
    _write(root / "one.py", "def first_thing():\n    pass\n")
    git(root, "init", "-q")
    git(root, "add", "one.py")
    commit(root, {})
    with closing(Watched(root, tmp_path / "data")) as watched:
        _write(root / "tree/two.py", "def second_thing():\n    pass\n")
        wait_until(lambda: watched.finds("second_thing", "tree/two.py"), PATIENCE_SECONDS)
        shutil.rmtree(root / "tree")
        git(root, "worktree", "add", "-q", "tree")
        wait_until(lambda: watched.app.status().files == 1, PATIENCE_SECONDS)
        git(root, "worktree", "remove", "tree")
        _write(root / "tree/three.py", "def third_thing():\n    pass\n")
        wait_until(lambda: watched.finds("third_thing", "tree/three.py"), PATIENCE_SECONDS)


@pytest.mark.requirement("K-16")
def test_rules_that_change_before_the_watch_stands_change_what_is_watched(tmp_path: Path) -> None:
    """No event tells of that either."""
    _write(tmp_path / ".gitignore", "gen\n")
    _write(tmp_path / "gen/one.py", "")
    tree = WatchedTree(ExclusionManager(tmp_path))
    _write(tmp_path / ".gitignore", "")
    (look,) = watch(tree, threading.Event())  # It has ended by itself, to begin anew.
    assert look.everything


@pytest.mark.usefixtures("often_compared")
def test_a_tree_of_more_folders_than_may_be_watched_is_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An index must not pass for fresh because the kernel has no watches left."""

    def refuse(self: InotifyFD, path: bytes, mask: Mask, callback: WatchCallback, id_: CallbackId) -> WatchDescriptor:
        if path.endswith(b"/far"):
            raise OSError(errno.ENOSPC, "inotify watch limit reached")
        return add_callback(self, path, mask, callback, id_)

    add_callback = InotifyFD.add_callback
    monkeypatch.setattr(InotifyFD, "add_callback", refuse)
    for folder in ("near/far", "far"):
        _write(tmp_path / "project" / folder / "one.py", "def first_thing():\n    pass\n")
    with closing(Watched(tmp_path / "project", tmp_path / "data")) as watched:
        _write(watched.root / "near/far/one.py", "def other_thing():\n    pass\n")
        wait_until(lambda: watched.finds("other_thing", "near/far/one.py"), PATIENCE_SECONDS)
        (said,) = watched.app.status().warnings
        assert "raise fs.inotify.max_user_watches" in said


@pytest.mark.usefixtures("often_compared")
@pytest.mark.parametrize(("kind", "is_shared"), [("9p", True), ("nfs4", True), ("fuse.sshfs", True), ("ext4", False)])
def test_a_tree_that_others_may_change_unseen_is_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, is_shared: bool
) -> None:
    """Linux tells nothing of what Windows writes beside WSL, or another machine on a server of files."""
    device = tmp_path.stat().st_dev
    place = f"{os.major(device)}:{os.minor(device)} / / rw,relatime shared:1"
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"22 27 0:999999 / /proc rw - proc proc rw\n31 23 {place} - {kind} /dev/root rw\n")
    monkeypatch.setattr(watcher, "MOUNTS", mounts)
    root = tmp_path / "project"
    root.mkdir()
    stop = threading.Event()
    timer = threading.Timer(HANG_SECONDS if is_shared else 1.0, stop.set)  # It is compared after half a second.
    timer.start()
    (look,) = watch(WatchedTree(ExclusionManager(root)), stop)
    timer.cancel()
    assert look.everything
    assert (kind in look.why) is is_shared
    assert stop.is_set() is not is_shared  # Or it has ended by itself, to begin anew.


def test_a_shared_folder_may_be_mounted_in_the_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It counts only where something of it may be indexed."""
    mounts = tmp_path / "mountinfo"
    monkeypatch.setattr(watcher, "MOUNTS", mounts)
    _write(tmp_path / "project/.gitignore", "cache\n")
    tree = WatchedTree(ExclusionManager(tmp_path / "project"))
    for place, found in (("our docs", "nfs4"), ("cache", ""), ("../beside", "")):
        point = os.path.normpath(tmp_path / "project" / place).replace(" ", "\\040")
        mounts.write_text(f"31 23 0:999999 / {point} rw,relatime shared:1 - nfs4 server:/ rw\n")
        assert shared_file_system(tree.root, tree.may_contain_files) == found


@pytest.mark.requirement("B-32")
def test_lost_events_lead_to_a_full_comparison(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More events than can be kept become one comparison of the whole tree."""
    monkeypatch.setattr(watcher, "MAX_PATHS", 3)
    stop = threading.Event()
    batches = watch(WatchedTree(ExclusionManager(tmp_path)), stop)
    assert next(batches) == Batch((), everything=True)
    for number in range(10):
        (tmp_path / f"{number}.py").write_text("x")
    assert list(batches) == []  # It has ended, and the next watch begins with everything.


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no inotify")
def test_events_that_the_kernel_dropped_lead_to_a_full_comparison(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel's own event says so, whatever is logged."""
    monkeypatch.setattr(logging.root.manager, "disable", logging.CRITICAL)
    batches = watch(WatchedTree(ExclusionManager(tmp_path)), threading.Event())
    assert next(batches).everything
    (reader,) = [thread for thread in threading.enumerate() if isinstance(thread, InotifyFD)]
    reader.handle_event(InotifyEvent(WatchDescriptor(-1), InotifyConstants.IN_Q_OVERFLOW, 0, b""))
    assert list(batches) == []  # It has ended, and the next watch begins with everything.


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no inotify")
@pytest.mark.usefixtures("often_compared")
@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (InotifyWatchGroup, "_add_all_callbacks"),
        (InotifyWatchGroup, "_remove_watch_internally"),
        (InotifyWatchGroup, "on_queue_overflow"),
        (InotifyFD, "add_callback"),
    ],
)
def test_another_version_of_watchdog_means_polling(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: type, name: str
) -> None:
    """A private method that is missing, or has other parameters, is named in the status; edits are still found."""
    _write(tmp_path / "project/one.py", "def first_thing():\n    pass\n")
    monkeypatch.setattr(owner, name, lambda self, other_parameter: None)
    with closing(Watched(tmp_path / "project", tmp_path / "data")) as watched:
        _write(watched.root / "two.py", "def second_thing():\n    pass\n")
        wait_until(lambda: watched.finds("second_thing", "two.py"), PATIENCE_SECONDS)
        (warning,) = watched.app.status().warnings
    assert warning.startswith(f"this version of watchdog is not supported ({owner.__name__}.{name} is missing")
    assert warning.endswith("falling back to polling every 10 s or more; reinstall graphrag-mcp to get watchdog 7.1")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no inotify")
def test_a_watchdog_without_what_is_imported_means_polling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that was moved costs only the events."""
    monkeypatch.delattr("watchdog.observers.inotify_c.InotifyFD")
    monkeypatch.delitem(sys.modules, "graphrag_mcp.index.inotify", raising=False)
    batches = watch(WatchedTree(ExclusionManager(tmp_path)), threading.Event())
    assert "InotifyFD" in next(batches).why
    batches.close()


def test_rules_that_change_among_lost_events_change_what_is_watched(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A checkout of thousands of files may bring other rules, too."""
    _write(watched.root / "gen/x.py", "def gen_thing():\n    pass\n")
    _write(watched.root / ".gitignore", "gen\n")
    wait_until(lambda: not watched.finds("gen_thing", "gen/x.py"), PATIENCE_SECONDS)
    monkeypatch.setattr(watcher, "MAX_PATHS", 5)
    for number in range(20):
        _write(watched.root / f"src/many_{number}.py", "")
    _write(watched.root / ".gitignore", "")
    wait_until(lambda: watched.finds("gen_thing", "gen/x.py"), PATIENCE_SECONDS)
    if sys.platform == "linux":
        wait_until(lambda: watched.folders_watched() == 3, PATIENCE_SECONDS)  # The root, src and gen.
    _write(watched.root / "gen/x.py", "def zebra_thing():\n    pass\n")
    _write(watched.root / "gen/y.py", "def lemur_thing():\n    pass\n")
    wait_until(lambda: watched.finds("lemur_thing", "gen/y.py"), PATIENCE_SECONDS)


@pytest.mark.requirement("B-32")
@pytest.mark.slow
@pytest.mark.parametrize(
    "moves",
    [
        [("src", "out/src"), ("", "src"), ("src", ""), ("out/src", "")],
        [("src", "out/t"), ("out/t", "lib"), ("", "src"), ("src", "other")],
        [("src", "../away"), ("keep", "src"), ("src", "keep")],
        [("src", "lib")],
    ],
)
def test_edits_are_followed_after_folders_were_moved(tmp_path: Path, moves: list[tuple[str, str]]) -> None:
    """Into what is excluded, out of the tree, over each other; rules that name a folder no longer hold."""
    root = tmp_path / "project"
    for folder in ("src/gen", "src/sub", "keep", "out"):
        _write(root / folder / "one.py", "def first_thing():\n    pass\n")
    _write(root / ".gitignore", "out\n/src/gen\n")
    with closing(Watched(root, tmp_path / "data")) as watched:
        for source, target in moves:
            if source and target:
                (root / source).rename(root / target)
            elif source:
                shutil.rmtree(root / source)
            else:
                _write(root / target / "sub/new.py", "def new_thing():\n    pass\n")
        time.sleep(1.5)  # Longer than a batch: what is written later is found by events alone.
        _write(root / ".graphragignore", "out\n")  # The rules of git's ignore file hold, too: src/gen.
        time.sleep(1.0)
        places = [path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_dir()]
        kept = [place for place in places if place != "src/gen" and not place.startswith("out")]
        for number, place in enumerate(kept):
            _write(root / place / f"lemur_{number}.py", f"def lemur_{number}_thing():\n    pass\n")
        assert kept
        for number, place in enumerate(kept):
            found = f"lemur_{number}_thing", f"{place}/lemur_{number}.py"
            wait_until(lambda found=found: watched.finds(*found), PATIENCE_SECONDS)
        assert watched.thread.is_alive()


@pytest.mark.requirement("K-23")
def test_a_name_that_is_not_text_does_not_end_the_watch(watched: Watched) -> None:
    """Nothing in it is indexed."""
    (watched.root / os.fsdecode(b"src/b\xffd")).mkdir()
    time.sleep(0.8)  # Longer than a batch: the name is not in that of the file.
    _write(watched.root / "src/three.py", "def third_thing():\n    pass\n")
    wait_until(lambda: watched.finds("third_thing", "src/three.py"), PATIENCE_SECONDS)


@pytest.mark.usefixtures("often_compared")
def test_without_any_watch_the_tree_is_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel may refuse the first of them."""

    def refuse(self: InotifyFD, path: bytes, mask: Mask, callback: WatchCallback, id_: CallbackId) -> WatchDescriptor:
        raise OSError(errno.ENOSPC, "inotify watch limit reached")

    _write(tmp_path / "project/one.py", "def first_thing():\n    pass\n")
    with ExitStack() as ending:
        with monkeypatch.context() as refusing:
            refusing.setattr(InotifyFD, "add_callback", refuse)
            watched = ending.enter_context(closing(Watched(tmp_path / "project", tmp_path / "data")))
            _write(watched.root / "two.py", "def second_thing():\n    pass\n")
            wait_until(lambda: watched.finds("second_thing", "two.py"), PATIENCE_SECONDS)
            assert watched.app.status().warnings == (watcher.WATCH_LIMIT_REACHED,)
        wait_until(lambda: watched.app.status().warnings == (), PATIENCE_SECONDS)


def test_comparing_an_unchanged_tree_is_no_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches and servers would read everything again."""
    monkeypatch.setattr(prepare, "RECENT_NS", 0)
    for name in ("one.py", "two.png"):
        _write(tmp_path / "project" / name, "def first_thing():\n    pass\n")
    settings = load_settings(tmp_path / "project", {"GRAPHRAG_DATA_DIR": str(tmp_path / "data")})
    with closing(App(tmp_path / "project", settings)) as app:
        app.index()
        before = app._parts.handle.searched().database.commit_number()
        app.index()
        assert app._parts.handle.searched().database.commit_number() == before


def test_what_was_left_out_and_is_gone_is_no_longer_listed(watched: Watched) -> None:
    """A file's reason goes with the file, and does not wait for the next comparison of the whole tree."""
    (watched.root / "src/image.py").write_bytes(b"\x89PNG\0\0\0")
    wait_until(lambda: "src/image.py" in dict(watched.app.status().skipped_examples), PATIENCE_SECONDS)
    (watched.root / "src/image.py").unlink()
    wait_until(lambda: not watched.app.status().skipped_examples, PATIENCE_SECONDS)
