"""Git is asked about a repository without running in it, and what it prints is bounded."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from graphrag_mcp.errors import RequestError
from graphrag_mcp.history.lines import committed_lines, follow_lines
from graphrag_mcp.history.log import read_commits, read_log
from graphrag_mcp.index.ages import commit_times
from graphrag_mcp.model.history import day_of
from graphrag_mcp.search.evaluation import history as evaluation
from graphrag_mcp.system import git_files
from graphrag_mcp.system.git import Git, GitError, GitTimeoutError, UnknownRevisionError, origin
from graphrag_mcp.system.git_dirs import read_head
from graphrag_mcp.system.git_files import clean_files, files_of, left_out, patch_of, paths_of, read_blobs, tracked_files
from tests.repositories import commit, copied, git

CODE = "def alpha():\n    return 1\n"


def _forged(root: Path, kind: str, content: bytes) -> str:
    """Write an object as it is, and return its name."""
    command = ["git", "hash-object", "-t", kind, "-w", "--stdin", "--literally"]
    made = subprocess.run(command, cwd=root, input=content, capture_output=True, check=True)
    return made.stdout.decode().strip()


def soon(seconds: float = 60.0) -> float:
    """A deadline that only a hang misses."""
    return time.monotonic() + seconds


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of three commits on main, with a branch, a tag and an annotated tag."""
    folder = tmp_path_factory.mktemp("original")
    git(folder, "init", "-q")
    for number in range(3):
        commit(folder, {"a.py": CODE * (number + 1), "src/b.py": CODE})
    git(folder, "branch", "topic/one", "HEAD~1")
    git(folder, "tag", "v1", "HEAD~2")
    git(folder, "tag", "-a", "-m", "two", "v2", "HEAD~1")
    git(folder, "update-ref", "refs/remotes/origin/main", "HEAD~2")
    git(folder, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    return folder


@pytest.fixture
def root(original: Path, tmp_path: Path) -> Path:
    """A copy of it for one test."""
    return copied(original, tmp_path / "project")


# ---------------------------------------------------------------- names


REVISIONS = (
    *("HEAD", "@", "main", "HEAD~2", "main~1^0", "HEAD^", "topic/one", "heads/main", "refs/heads/main", "v1", "v2"),
    *("tags/v2", "v2^{commit}", "v2^{}", "origin/main", "origin", "remotes/origin/main"),
)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("revision", REVISIONS)
def test_a_revision_means_what_it_means_to_git(root: Path, revision: str, packed: bool) -> None:
    """Branches, tags and steps from them, loose and packed."""
    if packed:
        git(root, "pack-refs", "--all")
    expected = git(root, "rev-parse", "--verify", f"{revision}^{{commit}}").strip()
    assert Git(root).resolve(revision, soon()) == expected


def test_a_commit_may_be_abbreviated_or_described(root: Path) -> None:
    """As `git log --oneline` and `git describe` print it."""
    head = git(root, "rev-parse", "HEAD").strip()
    for name in (head, head[:7], head[:7].upper(), git(root, "describe", "--long").strip()):
        assert Git(root).resolve(name, soon()) == head


REFUSED = (
    *("", ":/alpha", "HEAD^{/alpha}", "@{1}", "main@{yesterday}", "@{upstream}", "main@{u}", "HEAD:a.py", ":a.py"),
    *("--output=x", "-1", "main..v1", "HEAD^{tree}", "HEAD^@", "HEAD^!", "HEAD^-", "../HEAD", "refs/../HEAD", "HEAD "),
    *("main\0", "main\n", "*", "ma?n", "config", "description", "HEAD.lock", "ma\\in", "nothing", "index", "~1"),
)


@pytest.mark.parametrize("revision", REFUSED)
def test_what_is_no_plain_revision_is_refused(root: Path, revision: str) -> None:
    """Searches by text, reflogs, paths, options, ranges and files of the git folder."""
    with pytest.raises(UnknownRevisionError):
        Git(root).resolve(revision, soon())


def test_the_head_of_a_work_tree_is_its_own(root: Path, tmp_path: Path) -> None:
    """Of a linked work tree, of a detached one, and of one without a commit."""
    git(root, "worktree", "add", "-q", "--detach", str(tmp_path / "second"), "v1")
    second = Git(tmp_path / "second")
    assert second.head() == git(root, "rev-parse", "v1").strip()
    assert set(tracked_files(second, soon())) == {"a.py", "src/b.py"}
    (tmp_path / "young").mkdir()
    git(tmp_path / "young", "init", "-q")
    with pytest.raises(GitError, match="no commit"):
        Git(tmp_path / "young").head()


# ---------------------------------------------------------------- kinds of repositories


def _check(root: Path) -> None:
    """Everything that is asked of a repository gives what git gives in it."""
    asked = Git(root)
    head = git(root, "rev-parse", "HEAD").strip()
    assert asked.head() == head
    files = files_of(asked, head, soon())
    assert files["a.py"] == git(root, "rev-parse", "HEAD:a.py").strip()
    assert read_blobs(asked, files.values(), soon())[files["a.py"]] == (root / "a.py").read_bytes()
    assert tracked_files(asked, soon()) == set(git(root, "ls-files").split())
    mtimes = {path: (root / path).stat().st_mtime_ns for path in files}
    assert clean_files(asked, mtimes, soon(), head) == set(files)
    assert [one.name for one in read_log(asked, head)] == git(root, "log", "--format=%H", "--no-merges").split()


def as_it_is(root: Path, _: Path) -> Path:
    """Loose objects."""
    return root


def packed(root: Path, _: Path) -> Path:
    """Packs, a commit graph, a multi-pack index."""
    git(root, "gc", "-q")
    git(root, "multi-pack-index", "write")
    git(root, "commit-graph", "write", "--reachable")
    return root


def with_a_split_index(root: Path, _: Path) -> Path:
    """The index is in two files."""
    git(root, "update-index", "--split-index")
    return root


def as_a_clone_that_borrows(root: Path, folder: Path) -> Path:
    """Objects are in another repository, which borrows from a third."""
    git(folder, "clone", "-q", "--shared", str(root), str(folder / "second"))
    git(folder, "clone", "-q", "--shared", str(folder / "second"), str(folder / "third"))
    return folder / "third"


def as_a_submodule(root: Path, folder: Path) -> Path:
    """Its git folder is inside that of another project."""
    (folder / "outer").mkdir()
    git(folder / "outer", "init", "-q")
    git(folder / "outer", "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(root), "inner")
    return folder / "outer/inner"


def with_names_of_sha256(_: Path, folder: Path) -> Path:
    """Names of 64 digits."""
    (folder / "long").mkdir()
    git(folder / "long", "init", "-q", "--object-format=sha256")
    commit(folder / "long", {"a.py": CODE, "src/b.py": CODE})
    return folder / "long"


def in_a_folder_with_an_odd_name(root: Path, folder: Path) -> Path:
    """What separates folders in a list of them, quotes, line ends, and bytes that are no text."""
    odd = folder / os.fsdecode(b'a:b "c" \\d\ne\xff')
    root.rename(odd)
    return odd


def with_links_for_folders(root: Path, folder: Path) -> Path:
    """`objects` and `refs` are links, as some tools make them."""
    for name in ("objects", "refs"):
        (root / ".git" / name).rename(folder / name)
        (root / ".git" / name).symlink_to(folder / name)
    return root


KINDS: tuple[Callable[[Path, Path], Path], ...] = (
    as_it_is, packed, with_a_split_index, as_a_clone_that_borrows, as_a_submodule, with_names_of_sha256,
    in_a_folder_with_an_odd_name, with_links_for_folders,
)  # fmt: skip


@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
def test_every_kind_of_repository_is_read(root: Path, tmp_path: Path, make: Callable[[Path, Path], Path]) -> None:
    """The answers are those of git in the repository."""
    _check(make(root, tmp_path))


def test_a_shallow_clone_ends_where_git_ends(root: Path, tmp_path: Path) -> None:
    """Its oldest commits have parents that are not there."""
    git(tmp_path, "clone", "-q", "--depth", "2", f"file://{root}", str(tmp_path / "shallow"))
    asked = Git(tmp_path / "shallow")
    assert asked.is_shallow
    assert len(list(read_log(asked, asked.head()))) == 2


def test_a_sparse_checkout_leaves_files_out(root: Path) -> None:
    """They are not deleted."""
    git(root, "sparse-checkout", "set", "--no-cone", "/a.py")
    assert left_out(Git(root), soon()) == {"src/b.py"}


def test_a_partial_clone_says_what_it_lacks(root: Path, tmp_path: Path) -> None:
    """Nothing is fetched, and it is not said that there are no commits."""
    git(root, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--filter=blob:none", f"file://{root}", str(tmp_path / "partial"))
    asked = Git(tmp_path / "partial")
    before = sorted(path.name for path in (tmp_path / "partial/.git/objects").rglob("*"))
    assert asked.is_partial
    assert len(list(read_log(asked, asked.head()))) == 3
    with pytest.raises(GitError, match="partial clone lacks the contents"):
        asked.run(soon(), "log", "-p", "--end-of-options", asked.head(), "--")
    old = git(root, "rev-parse", "v2:a.py").strip()
    assert read_blobs(asked, [old], soon()) == {}
    assert sorted(path.name for path in (tmp_path / "partial/.git/objects").rglob("*")) == before


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give a folder away")
def test_the_repository_of_another_owner_is_read(root: Path) -> None:
    """`safe.directory` protects from what git would run there; nothing runs there."""
    for path in (root, *root.rglob("*")):
        os.chown(path, 65534, 65534)
    asked = Git(root)
    assert len(list(read_log(asked, asked.head()))) == 3


def test_a_folder_without_a_repository_says_so(tmp_path: Path) -> None:
    """The reason reaches the user."""
    with pytest.raises(GitError, match="not a Git repository"):
        Git(tmp_path)


def test_a_missing_git_is_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The repository is not called one without commits."""
    monkeypatch.setenv("PATH", "")
    with pytest.raises(GitError, match="git cannot be started"):
        files_of(Git(root), Git(root).head(), soon())


def test_a_git_that_is_too_old_is_named(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It does not know our options."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/git").write_text("#!/bin/sh\nexit 129\n")
    (tmp_path / "bin/git").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(GitError, match="too old"):
        files_of(Git(root), Git(root).head(), soon())


# ---------------------------------------------------------------- bounds


def _tree_bomb(root: Path) -> str:
    """Make a commit whose ten entries all name the next tree, ten deep: ten thousand million paths."""
    kind, name = "100644 blob", git(root, "rev-parse", "HEAD:a.py").strip()
    for _ in range(10):
        entries = "".join(f"{kind} {name}\t{entry}\n" for entry in "abcdefghij")
        made = subprocess.run(["git", "mktree"], cwd=root, input=entries, text=True, capture_output=True, check=True)
        kind, name = "040000 tree", made.stdout.strip()
    return git(root, "commit-tree", "-m", "bomb", "-p", "HEAD", name).strip()


@pytest.mark.slow
def test_a_tree_bomb_is_stopped_at_a_limit_of_bytes(root: Path) -> None:
    """Neither this process nor git grows with what a tree of a few kilobytes stands for."""
    import resource

    bomb = _tree_bomb(root)
    git(root, "update-ref", "HEAD", bomb)
    with pytest.raises(GitError, match="printed more than"):
        files_of(Git(root), bomb, soon(300))
    assert "printed more than" in commit_times(root, {f"{number}.py": 1 for number in range(100)}, 300).note
    unit = 1 if sys.platform == "darwin" else 1024
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit < 900_000_000


@pytest.mark.slow
def test_a_huge_blob_is_left_out_of_what_is_read(root: Path) -> None:
    """A blob of 200 MB of short lines takes 200 kB in a pack."""
    (root / "big.txt").write_bytes(b"aaaaaaaaaa\n" * 20_000_000)
    git(root, "add", "-f", "big.txt")
    git(root, "commit", "-qm", "big")
    (root / "big.txt").unlink()
    asked = Git(root)
    names = files_of(asked, asked.head(), soon(300))
    assert read_blobs(asked, names.values(), soon(300)).keys() == {names["a.py"], names["src/b.py"]}


def test_git_is_stopped_at_the_deadline(root: Path) -> None:
    """What it printed before is not lost, and the process is gone."""
    with pytest.raises(GitTimeoutError, match="took too long"):
        Git(root).run(time.monotonic() - 1, "log", "--end-of-options", Git(root).head())


PIPES = (
    *("objects/pack/pack-0.idx", "objects/pack/pack-0.pack", "index", "HEAD", "config", "shallow", "packed-refs"),
    *("objects/info/alternates", "objects/info/commit-graph", "objects/info/commit-graphs/commit-graph-chain"),
    *("objects/pack/multi-pack-index", "objects/00/" + "0" * 38, "lender/pack/pack-0.idx"),
)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
@pytest.mark.parametrize("name", PIPES)
def test_a_pipe_in_the_git_folder_is_not_waited_for(root: Path, name: str) -> None:
    """Each answer comes at once, if only as an error."""
    (root / ".git" / name).parent.mkdir(parents=True, exist_ok=True)
    (root / ".git" / name).unlink(missing_ok=True)
    if name.startswith("lender"):
        (root / ".git/objects/info/alternates").write_text("../lender\n")
    os.mkfifo(root / ".git" / name)
    began = time.monotonic()
    origin(root)
    with suppress(GitError):
        Git(root).resolve("v9", soon(20))
    commit_times(root, {"a.py": 1}, 20)
    assert time.monotonic() - began < 15


def test_lenders_that_lend_each_other_are_looked_at_once(root: Path, tmp_path: Path) -> None:
    """Five that each name all five would be thousands of looks."""
    folders = [root / ".git/objects", *(tmp_path / f"lender{number}" for number in range(5))]
    for folder in folders:
        (folder / "info").mkdir(parents=True, exist_ok=True)
        (folder / "info/alternates").write_text("".join(f"{one}\n" for one in folders))
    looked: list[Path] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("graphrag_mcp.system.git.list_folder", lambda folder: looked.append(folder) or [])
        Git(root)
    assert len(looked) == len(set(looked)) <= 2 * len(folders)


# ---------------------------------------------------------------- what it finds


def test_paths_of_a_forged_tree_lead_nowhere(root: Path) -> None:
    """A tree may hold names that no git would add."""
    blob = git(root, "rev-parse", "HEAD:a.py").strip()
    rows = b"".join(
        b"100644 %s\0%s" % (name, bytes.fromhex(blob))
        for name in (b"..", b".git", b"/etc/passwd", b"a//b", b"ok.py", b"x/../../y")
    )
    forged = git(root, "commit-tree", "-m", "forged", _forged(root, "tree", rows)).strip()
    assert list(files_of(Git(root), forged, soon())) == ["ok.py"]


def test_line_ends_alone_are_no_change(root: Path) -> None:
    """A checkout may have those of Windows where the commit has those of Unix."""
    (root / "a.py").write_bytes((root / "a.py").read_bytes().replace(b"\n", b"\r\n"))
    asked = Git(root)
    assert "a.py" in clean_files(asked, {"a.py": 1}, soon(), asked.head())


def test_a_patch_needs_no_file_in_the_repository(root: Path) -> None:
    """The new content is written elsewhere, and nothing is left of it."""
    asked = Git(root)
    before = sorted((root / ".git").rglob("*"))
    blob = files_of(asked, asked.head(), soon())["src/b.py"]
    assert "+    return 2\n" in patch_of(asked, blob, CODE.replace("1", "2").encode(), soon())
    assert sorted((root / ".git").rglob("*")) == before


@pytest.mark.parametrize("pack", [False, True])
def test_a_patch_leaves_the_time_of_an_object_that_is_there(root: Path, pack: bool) -> None:
    """Git renews the time of a loose object, or of a pack, when it is to write what that holds."""
    old = git(root, "show", "HEAD~1:a.py").encode()
    if pack:
        git(root, "gc", "-q")
    objects = [path for path in (root / ".git/objects").rglob("*") if path.is_file()]
    for path in objects:
        os.utime(path, (1e9, 1e9))
    asked = Git(root)
    assert patch_of(asked, files_of(asked, asked.head(), soon())["a.py"], old, soon())
    assert {path.stat().st_mtime for path in objects} == {1e9}


def test_a_path_is_no_record_of_another_file(root: Path) -> None:
    """The name of a link may read like the line of a file."""
    blob = git(root, "rev-parse", "HEAD:a.py").strip()
    row = b"120000 x100644 blob %s\tforged.py\0%s" % (blob.encode(), bytes.fromhex(blob))
    forged = git(root, "commit-tree", "-m", "forged", _forged(root, "tree", row)).strip()
    assert files_of(Git(root), forged, soon()) == {}


@pytest.mark.parametrize("when", [b"18446744073709551615", b"9223372036854775807", b"99999999999999", b"-5", b""])
def test_a_commit_of_an_impossible_time_is_told(root: Path, when: bytes) -> None:
    """Its day is one that can be written."""
    content = git(root, "cat-file", "commit", "HEAD").encode().partition(b"author")[0]
    content += b"author A <a@b> %s +0000\ncommitter A <a@b> %s +0000\n\nforged\n" % (when, when)
    forged = _forged(root, "commit", content)
    ((commit, _),) = read_commits(Git(root), soon(), "-1", "--end-of-options", forged)
    assert commit.name == forged
    assert day_of(commit) in ("1970-01-01", "9999-12-31")  # Git says one of some, and the other is the last there is.


@pytest.mark.parametrize("odd", ['x = 1\r--- "\\N{x}"\n', "\x0c\n" * 5, "x = 1\u2028--- a/a.py\n"])
def test_lines_end_where_git_ends_them(root: Path, odd: str) -> None:
    """What Python takes for an end of lines too is neither a file's name nor a line of its own."""
    moved = "def beta(x):\n    first = x + 1\n    second = first * 2\n    return second\n"
    commit(root, {"old.py": odd + moved, "new.py": "\n"})
    commit(root, {"old.py": "\n", "new.py": "\n" + moved})
    asked = Git(root)
    lines = committed_lines(asked, "new.py", 2, 5, soon())
    assert lines is not None
    assert len(follow_lines(asked, lines, "", soon()).commits) == 2


@pytest.mark.parametrize("url", ["http://[x/", "https://u:p@[::1/x", "https://ex\u2100mple/a"])
def test_the_url_of_no_host_is_none(root: Path, url: str) -> None:
    """It is not an error of ours."""
    git(root, "config", "remote.origin.url", url)
    assert origin(root) == ""


def test_a_reftable_is_named(root: Path) -> None:
    """The repository is not said to have no commit."""
    (root / ".git/reftable").mkdir()
    (root / ".git/HEAD").write_text("ref: refs/heads/.invalid\n")
    with pytest.raises(GitError, match="reftable"):
        Git(root).head()


def test_a_head_that_leads_elsewhere_is_not_followed(root: Path, tmp_path: Path) -> None:
    """Neither an absolute path nor one with two dots."""
    (tmp_path / "outside").write_text("secret\n")
    for target in (tmp_path / "outside", "refs/../../../outside", "../../outside"):
        (root / ".git/HEAD").write_text(f"ref: {target}\n")
        assert read_head(root)[1] == ""


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
def test_a_git_that_is_a_script_is_stopped_with_what_it_started(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its child would keep the output open."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/git").write_text("#!/bin/sh\nsleep 30\n")
    (tmp_path / "bin/git").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    asked = Git(root)
    began = time.monotonic()
    with pytest.raises(GitTimeoutError):
        asked.run(soon(0.5), "log")
    assert time.monotonic() - began < 15


def test_the_number_of_files_is_bounded(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A listing of short names fits the limit of bytes, and would take ten times as much here."""
    monkeypatch.setattr(git_files, "_MOST_FILES", 1)
    asked = Git(root)
    for read in (files_of, paths_of):
        with pytest.raises(GitError, match=r"more than 1 file$"):
            read(asked, asked.head(), soon())


def test_a_tree_that_cannot_be_written_out_is_an_error(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It holds a name twice, a name that no disk takes, or one blob under many paths."""
    blob = bytes.fromhex(git(root, "rev-parse", "HEAD:a.py").strip())
    folder = bytes.fromhex(_forged(root, "tree", b"100644 x.py\0" + blob))
    for row in (b"100644 d\0" + blob + b"40000 d\0" + folder, b"100644 " + b"n" * 300 + b"\0" + blob):
        with pytest.raises(RequestError, match="cannot be written out"):
            evaluation.export_tree(root, _forged(root, "tree", row), tmp_path / "out")
    monkeypatch.setattr(evaluation, "_MOST_BYTES", len(CODE))
    with pytest.raises(RequestError, match="cannot be written out"):
        evaluation.export_tree(root, "HEAD", tmp_path / "out")
