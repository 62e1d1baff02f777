"""What is outside the root is never read, however a path leads there, and nothing is ever written inside it."""

import json
import os
import pickletools
import signal
import socket
import sqlite3
import stat
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from types import FrameType

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.errors import RequestError
from graphrag_mcp.index.ages import commit_times
from graphrag_mcp.model.search import SearchRequest
from graphrag_mcp.settings import load_settings
from graphrag_mcp.system.safe_files import FilesBelow, read_file_below
from graphrag_mcp.tools.index_status import render_status
from graphrag_mcp.tools.printing import json_text
from graphrag_mcp.tools.search_answer import render, search_payload
from graphrag_mcp.tools.table import SEARCH_TOOLS
from tests.reliability.conftest import Report, Size
from tests.repositories import commit, git
from tests.waiting import kernel_watches, wait_until

CANARY = "kanarienvogelqzvx"  # One lower-case word, so that every store would hold it as it is.
CODE = "def open_cookie_jar(path):\n    return Jar(path)\n"
OUTSIDE = f"def {CANARY}(path):\n    return '{CANARY}'\n"
LIMIT = 1_000_000
SECONDS = 60  # For what takes a second: whatever needs longer hangs.


@pytest.fixture(autouse=True)
def no_rules_of_the_machine(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give git and the package an empty home folder."""
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder beside the project with the same names as in it, whose every file holds the canary."""
    folder = tmp_path / "outside"
    for name in ("jar.py", "secret.txt", "rules", "pkg/jar.py", "pkg/deep/jar.py", ".gitignore", "notes.md"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(OUTSIDE)
    # A rule that matches nothing is told with its text.
    (folder / "rules").write_text(f"[{CANARY}\n{CANARY}\\\n")
    (folder / "head").write_text(f"{CANARY}\n")
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """A project of a few honest files."""
    root = tmp_path / "project"
    for name in ("jar.py", "pkg/jar.py", "pkg/deep/jar.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(CODE)
    yield root
    subprocess.run(["rm", "-rf", root], check=True)  # Python's own gives up in folders as deep as these.


# ---------------------------------------------------------------- escapes


def test_no_escape_leads_outside_the_root(root: Path, outside: Path, tmp_path: Path, report: Report) -> None:
    """200 symlinks, pipes, sockets, odd names, deep folders and rule files: no byte from outside, and no waiting."""
    git(root, "init", "-q")
    with closing(_Traps(root, outside)) as traps:
        traps.set()
        with _time_limit(SECONDS), closing(_open(root, tmp_path)) as app:
            indexed = app.index()
            again = app.index(rebuild=True)
            answers = _ask_everything(app)
        leaked = _files_with(tmp_path / "data", (CANARY, _first_line("/etc/passwd"), _first_line("/etc/os-release")))
    report(
        "escapes and special files",
        escapes=traps.count,
        indexed=indexed.added,
        left_out=indexed.skipped,
        leaked_files=len(leaked),
        leaked_answers=sum(CANARY in answer for answer in answers),
    )
    assert traps.count >= 200
    assert leaked == []
    assert not [answer for answer in answers if CANARY in answer]
    assert any("open_cookie_jar" in answer for answer in answers), "the honest files are found"
    assert indexed.added == again.added >= len(traps.honest), "odd but honest names are indexed"


def test_no_rule_or_git_file_shows_what_is_outside(root: Path, outside: Path, tmp_path: Path) -> None:
    """A rule that cannot be read is told with its text, and the branch with its name: neither may come from outside."""
    git(root, "init", "-q")
    (root / "pkg/.gitignore").symlink_to(outside / "rules")
    (root / ".gitignore").symlink_to("../outside/rules")
    included = ("../outside/rules", f"{outside}/rules", "linked", "/dev/zero", "pipe")
    (root / ".graphragignore").write_text("".join(f":include: {file}\n" for file in included))
    (root / "linked").symlink_to(outside / "rules")
    os.mkfifo(root / "pipe")
    (root / ".git/info").mkdir(exist_ok=True)
    (root / ".git/info/exclude").unlink(missing_ok=True)
    (root / ".git/info/exclude").symlink_to(outside / "rules")
    (root / ".git/HEAD").unlink()
    (root / ".git/HEAD").symlink_to(outside / "head")
    with _time_limit(SECONDS), closing(_open(root, tmp_path)) as app:
        app.index()
        answers = _ask_everything(app)
    shown = [line for answer in answers for line in answer.splitlines() if CANARY[:12] in line]
    assert shown == []
    assert _files_with(tmp_path / "data", (CANARY,)) == []


@pytest.mark.parametrize("special", ["pipe", "socket", "/dev/zero", "/dev/tty", "/dev/stdin", "/proc/self/mem"])
def test_what_is_no_regular_file_is_never_waited_for(root: Path, tmp_path: Path, special: str) -> None:
    """Not even when it takes the place of a file, or of a rule file, that was regular a moment ago."""
    git(root, "init", "-q")
    with _time_limit(SECONDS), closing(_open(root, tmp_path)) as app, _bound_sockets() as bind:
        for name in ("jar.py", ".gitignore", ".graphragignore", "pkg/jar.py"):
            (root / name).write_text(CODE)
        app.index()
        for name in ("jar.py", ".gitignore", ".graphragignore"):
            (root / name).unlink()
            if special == "pipe":
                os.mkfifo(root / name)
            elif special == "socket":
                bind(root / name)
            else:
                (root / name).symlink_to(special)
        with pytest.raises(OSError):
            read_file_below(root, "jar.py", LIMIT)
        assert "open_cookie_jar" in json.dumps(search_payload(app.search(SearchRequest("open_cookie_jar"))))
        app.index()
        assert "pkg/jar.py" in json.dumps(search_payload(app.search(SearchRequest("open_cookie_jar"))))


def test_dating_a_file_that_became_a_pipe_waits_for_nothing(root: Path) -> None:
    """Between the walk and the look at the history, a file may turn into anything."""
    git(root, "init", "-q")
    commit(root, {"jar.py": CODE})
    (root / "jar.py").unlink()
    os.mkfifo(root / "jar.py")
    with _time_limit(10):
        assert "jar.py" not in commit_times(root, {"jar.py": 1}, 5.0)


# ---------------------------------------------------------------- between the walk and the read


def test_a_path_with_a_symlink_in_any_part_is_not_read(root: Path, outside: Path) -> None:
    """Whichever part of the path was swapped after the walk, the read refuses it."""
    assert read_file_below(root, "pkg/deep/jar.py", LIMIT).decode() == CODE
    for part in ("pkg", "pkg/deep", "pkg/deep/jar.py"):
        for target in (outside / part, Path(os.path.relpath(outside / part, (root / part).parent))):
            kept = root.parent / "kept"
            (root / part).rename(kept)
            (root / part).symlink_to(target)
            with pytest.raises(OSError):
                read_file_below(root, "pkg/deep/jar.py", LIMIT)
            (root / part).unlink()
            kept.rename(root / part)
    assert read_file_below(root, "pkg/deep/jar.py", LIMIT).decode() == CODE


def test_a_path_that_names_what_is_outside_is_not_read(root: Path, outside: Path) -> None:
    """Absolute ones, those through "..", and what is no file at all."""
    (root / "door").symlink_to(outside)
    paths = [
        "..",
        "../outside/jar.py",
        "pkg/../../outside/jar.py",
        "pkg/..",
        f"{outside}/jar.py",
        "/etc/passwd",
        "/",
        "",
    ]
    paths += ["door/jar.py", "door/pkg/jar.py", "pkg/../door/jar.py", "./../outside/jar.py", "pkg", "pkg/", "jar.py/"]
    paths += ["door/../jar.py", "//etc/passwd", "jar.py/x", "a" * 5_000, "x/" * 3_000]
    for path in paths:
        with pytest.raises(OSError):
            read_file_below(root, path, LIMIT)
    (root / "large").write_bytes(b"x" * (LIMIT + 1))
    with pytest.raises(OSError):
        read_file_below(root, "large", LIMIT)


def test_a_folder_that_becomes_a_symlink_between_two_reads_leads_nowhere(root: Path, outside: Path) -> None:
    """Folders stay open from one file to the next: what is read is what the folder held, or nothing."""
    for part in ("pkg", "pkg/deep"):
        for target in (outside / part, Path(os.path.relpath(outside / part, (root / part).parent))):
            kept = root.parent / "kept"
            with FilesBelow(root) as files:
                assert files.read("pkg/deep/jar.py", LIMIT)[0].decode() == CODE
                (root / part).rename(kept)
                (root / part).symlink_to(target)
                for path in ("pkg/deep/jar.py", "pkg/jar.py", "jar.py", "pkg/deep/jar.py"):
                    with suppress(OSError):
                        assert files.read(path, LIMIT)[0].decode() == CODE
            (root / part).unlink()
            kept.rename(root / part)


def test_files_are_read_in_any_order_at_any_depth(tmp_path: Path) -> None:
    """Of the folders on the way, only so many stay open."""
    root = tmp_path / "deep"
    paths = []
    for depth in (0, 1, 2, 14, 15, 16, 17, 30, 60):
        for branch in ("a", "b"):
            folders = ["d"] * (depth // 2) + [branch] * (depth - depth // 2)
            paths.append("/".join([*folders, f"{branch}.txt"]))
            (root / paths[-1]).parent.mkdir(parents=True, exist_ok=True)
            (root / paths[-1]).write_text(paths[-1])
    order = [one for path in paths for other in paths for one in (path, other)]
    before = len(list(Path("/proc/self/fd").iterdir()))
    with FilesBelow(root) as files:
        for path in order:
            assert files.read(path, LIMIT)[0].decode() == path
            assert len(list(Path("/proc/self/fd").iterdir())) <= before + 16
            with pytest.raises(OSError):
                files.read(f"{path.rpartition('/')[0]}/d/missing/x", LIMIT)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@pytest.mark.slow
def test_a_folder_that_becomes_a_symlink_during_the_run_leads_nowhere(
    root: Path, outside: Path, tmp_path: Path, size: Size, report: Report
) -> None:
    """A thread swaps folders and files with links outside, as fast as it can, while the index is built anew."""
    for folder in (root, outside):
        for number in range(40):
            (folder / f"pkg/deep/m{number}.py").write_text((folder / "pkg/jar.py").read_text())
    end = threading.Event()
    swaps = _Swaps(root, outside, end)
    thread = threading.Thread(target=swaps.run)
    runs, errors, seconds = 0, 0, size(3, 90)
    with _time_limit(seconds + SECONDS), closing(_open(root, tmp_path)) as app:
        app.index()
        thread.start()
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            with suppress(OSError):  # A folder that vanishes in the middle of the walk may end it.
                errors += 1
                app.index(rebuild=runs % 3 == 0)
                errors -= 1
            runs += 1
            answers = [json.dumps(search_payload(app.search(SearchRequest(query)))) for query in (CANARY, "jar path")]
            assert not [answer for answer in answers if f"'{CANARY}'" in answer]
            assert _files_with(tmp_path / "data", (CANARY,)) == []
        end.set()
        thread.join()
        last = app.index()
    report("folders swapped while indexing", seconds=seconds, runs=runs, swaps=swaps.count, failed_runs=errors, leaks=0)
    assert swaps.problem is None
    assert swaps.count > 20
    assert errors == 0, "a swap must not end a run"
    assert last.added + last.changed + last.unchanged == 43, "all are there in the end"


# ---------------------------------------------------------------- arguments


_HOSTILE = (
    *("..", "../", "../..", "../outside/jar.py", "../../../../etc/passwd", "pkg/../../outside/jar.py", "/", "//", "."),
    *(
        "/etc/passwd",
        "/etc",
        "/dev/zero",
        "/dev/tty",
        "/dev/stdin",
        "/proc/self/mem",
        "/proc/self/fd/0",
        "/proc/1/root",
    ),
    *(
        "~",
        "~/.ssh/id_rsa",
        "~root",
        "file:///etc/passwd",
        "\\\\server\\share",
        "C:\\Windows",
        "..\\..\\x",
        "pkg\\jar.py",
    ),
    *(
        "jar.py\0.md",
        "\0",
        "\n",
        " ",
        "",
        "\u202e",
        "\ud800",
        "caf\udce9",
        "a" * 100_000,
        "../" * 10_000,
        "x/" * 10_000,
    ),
    *(
        "*",
        "**",
        "[",
        "[!",
        "\\",
        "!",
        "#",
        "[[:x:]]",
        "*a" * 2_000 + "b",
        "**/" * 2_000,
        "{a,b}",
        "$(id)",
        "`id`",
        "; id",
    ),
    *("door", "door/jar.py", "door/../jar.py", "loop", "loop/loop/x", "pipe", "self/self/self", "zero", "%2e%2e/x"),
)


@pytest.mark.slow
def test_no_argument_reads_what_is_outside(
    root: Path, outside: Path, tmp_path: Path, size: Size, report: Report
) -> None:
    """Whatever path an agent sends, it gets an answer without the canary, or a refusal, and soon."""
    for name, target in (("door", outside), ("loop", Path("loop")), ("self", Path()), ("zero", Path("/dev/zero"))):
        (root / name).symlink_to(target)
    os.mkfifo(root / "pipe")
    answered = refused = 0
    with closing(_open(root, tmp_path)) as app:
        app.index()
        hostile = (*_HOSTILE, f"{outside}/jar.py", f"{outside}", f"{root}/../outside/jar.py", f"{root}/door/jar.py")
        for value in hostile:
            for tool, name in (
                (tool, name)
                for tool in list(SEARCH_TOOLS.values())[: size(1, 3)]
                for name in ("query", "excluded_files", "include_patterns")
            ):
                arguments: dict[str, object] = {"query": "open_cookie_jar"}
                arguments[name] = value if name == "query" else [value]
                with _time_limit(10):
                    try:
                        call = tool.read(arguments, app.settings, app.root)
                        answer = json.dumps(search_payload(app.ask(tool.ask, call)))
                        answered += 1
                    except RequestError as error:
                        answer = str(error)
                        refused += 1
                assert OUTSIDE.splitlines()[0] not in answer, (tool, name, value)
                assert _first_line("/etc/passwd") not in answer
                assert len(answer) < 400_000, (tool, name, len(value))
            if len(value) < os.pathconf(root, "PC_PATH_MAX"):
                with _time_limit(10), suppress(UnicodeEncodeError):  # Half of a surrogate pair names no file.
                    assert CANARY not in app.why_absent(value)
    assert _files_with(tmp_path / "data", (CANARY,)) == []
    report("hostile arguments", calls=answered + refused, answered=answered, refused=refused, leaks=0)
    assert answered > 50
    assert refused > 10


def test_an_index_root_cannot_lead_out(root: Path, outside: Path, tmp_path: Path) -> None:
    """`--index-root` limits the index to a folder of the project; through ".." or a link it holds nothing."""
    (root / "door").symlink_to(outside)
    for start in ("../outside", "pkg/../../outside", "door", "door/pkg", str(outside), "/etc"):
        settings = load_settings(root, {"GRAPHRAG_DATA_DIR": str(tmp_path / "data")})
        with (
            _time_limit(SECONDS),
            suppress(RequestError, OSError, ValueError),
            closing(App(root, settings, start)) as app,
        ):
            app.index()
            assert CANARY not in json.dumps(search_payload(app.search(SearchRequest("cookie jar path"))))
        assert _files_with(tmp_path / "data", (CANARY,)) == [], start


# ---------------------------------------------------------------- what is written


def test_nothing_is_ever_written_below_the_root(root: Path, tmp_path: Path) -> None:
    """Indexing, searching, asking for the status and watching leave no trace, not even a newer time in `.git`."""
    git(root, "init", "-q")
    commit(root, {"late.py": CODE, "docs/readme.md": "# Jars\n"})
    os.utime(root / "late.py")  # Git would write what it found out about this file.
    before = _listing(root)
    with closing(_open(root, tmp_path)) as app:
        app.index()
        _ask_everything(app)
        stop = threading.Event()
        watching = threading.Thread(target=app.watch, args=(stop, list[object]().append))
        watching.start()
        wait_until(kernel_watches, SECONDS)
        stop.set()
        watching.join(SECONDS)
        assert not watching.is_alive()
        app.index(rebuild=True)
    with closing(_open(root, tmp_path)) as app:
        app.start()
        assert app.wait_ready(SECONDS).state == "ready"
        _ask_everything(app)
    assert _listing(root) == before


def test_only_its_owner_can_read_the_index(root: Path, tmp_path: Path) -> None:
    """The folder has the mode 0700 and its files 0600, the log and the shared memory of SQLite too."""
    old = os.umask(0o022)
    try:
        with closing(_open(root, tmp_path)) as app:
            app.index()
            app.search(SearchRequest("open_cookie_jar"))
            (folder,) = (tmp_path / "data").iterdir()
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir() if path.is_file()}
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
            databases = {name: mode for name, mode in modes.items() if ".sqlite" in name}
            assert any(name.endswith("-wal") for name in databases)
            assert any(name.endswith("-shm") for name in databases)
            assert {name: oct(mode) for name, mode in modes.items() if mode != 0o600} == {}
    finally:
        os.umask(old)


def test_no_pickle_is_stored(root: Path, tmp_path: Path) -> None:
    """Reading a pickle runs what it says, so neither a file nor a value in the index may be one."""
    with closing(_open(root, tmp_path)) as app:
        app.index()
        app.search(SearchRequest("open_cookie_jar"))
    files = [path for path in (tmp_path / "data").rglob("*") if path.is_file()]
    assert [path for path in files if _is_pickle(path.read_bytes())] == []
    values = 0
    for file in files:
        if file.suffix != ".sqlite":
            continue
        with closing(sqlite3.connect(file)) as connection:
            tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            for table in tables:
                for row in connection.execute(f'SELECT * FROM "{table}"'):  # noqa: S608 - the schema's own names
                    blobs = [value for value in row if isinstance(value, bytes)]
                    values += len(blobs)
                    assert not [blob for blob in blobs if _is_pickle(blob)], table
    assert values > 0


# ---------------------------------------------------------------- helpers


def _open(root: Path, tmp_path: Path) -> App:
    return App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(tmp_path / "data"), "GRAPHRAG_WATCH": "off"}))


def _ask_everything(app: App) -> list[str]:
    """Return every answer that the application gives about what it holds, in every form."""
    answers = [render_status(app.status()), json_text(app.status())]
    # A name from outside, the canary in parts: the query itself must not put it into the answer.
    for query in ("open_cookie_jar", "return jar path", "root daemon nologin", "jar.py", "kanarien vogel", CANARY[:8]):
        result = app.search(SearchRequest(query, limit=25))
        answers += [json.dumps(search_payload(result)), render(result, 100_000, explained=True)]
    return answers


def _files_with(folder: Path, texts: tuple[str, ...]) -> list[str]:
    """Return the files below a folder whose bytes hold one of the texts, in whatever case."""
    found = []
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        try:
            content = path.read_bytes().lower()
        except FileNotFoundError:  # The log of a database that was closed meanwhile.
            continue
        found += [f"{path.name}: {text}" for text in texts if text and text.lower().encode() in content]
    return found


def _first_line(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8").splitlines()[0]
    except (OSError, IndexError):
        return ""


def _listing(root: Path) -> dict[str, tuple[int, ...]]:
    """Return all that the disk knows of every path below the root, but for when it was read."""
    paths = [root, *root.rglob("*")]
    facts = {str(path): path.lstat() for path in paths}
    return {
        name: (one.st_ino, one.st_mode, one.st_size, one.st_mtime_ns, one.st_ctime_ns, one.st_nlink)
        for name, one in facts.items()
    }


def _is_pickle(content: bytes) -> bool:
    if content[:1] != b"\x80" or content[1:2] not in (b"\x02", b"\x03", b"\x04", b"\x05"):
        return False
    try:
        return any(code.name == "STOP" for code, _, _ in pickletools.genops(content))
    except ValueError:
        return False


class _HangsError(BaseException):
    """Nothing between here and the test may take it for an error of its own."""


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Fail the test after so long: a read that waits is interrupted."""

    def late(_: int, __: FrameType | None) -> None:
        raise _HangsError(f"still not done after {seconds} s")

    old = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


class _Binder:
    """Binds Unix sockets; their path may be longer than the system takes, so it is done in their folder."""

    def __init__(self) -> None:
        self.open: list[socket.socket] = []

    def __call__(self, path: Path) -> None:
        one = socket.socket(socket.AF_UNIX)
        here = Path.cwd()
        os.chdir(path.parent)
        try:
            one.bind(path.name)
        finally:
            os.chdir(here)
        one.listen()
        self.open.append(one)


@contextmanager
def _bound_sockets() -> Iterator[_Binder]:
    binder = _Binder()
    try:
        yield binder
    finally:
        for one in binder.open:
            one.close()


class _Swaps:
    """Replaces folders and files of the project by links to their namesakes outside, and puts them back."""

    def __init__(self, root: Path, outside: Path, end: threading.Event) -> None:
        self._root, self._outside, self._end = root, outside, end
        self._kept = root.parent / "kept"
        self.count = 0
        self.problem: BaseException | None = None

    def run(self) -> None:
        """Swap until the end, and leave everything as it was."""
        try:
            while not self._end.is_set():
                for part in ("pkg", "pkg/deep", "pkg/deep/jar.py", "jar.py", "pkg/deep/m7.py"):
                    self._swap(part)
        except BaseException as error:
            self.problem = error

    def _swap(self, part: str) -> None:
        place = self._root / part
        place.rename(self._kept)
        place.symlink_to(self._outside / part)
        time.sleep(0.0005)
        place.unlink()
        self._kept.rename(place)
        self.count += 1
        time.sleep(0.0005)


_SYSTEM = (
    *("/", "/etc", "/etc/passwd", "/etc/os-release", "/sys", "/tmp", "/nowhere", "~", "..", "../..", ".", "../project"),
    *("/proc", "/proc/self/environ", "/proc/self/mem", "/proc/self/root", "/proc/self/cwd", "/proc/self/fd/0"),
    *(
        "/dev",
        "/dev/zero",
        "/dev/random",
        "/dev/full",
        "/dev/tty",
        "/dev/stdin",
        "/dev/null",
        "",
        "a" * 255,
        "../" * 500,
    ),
)


class _Traps:
    """Everything in a folder that is no honest file, and honest files with odd names."""

    def __init__(self, root: Path, outside: Path) -> None:
        self._root, self._outside = root, outside
        self._sockets = _Binder()
        self.count = 0
        self.honest: list[Path] = []

    def set(self) -> None:
        """Set all of them."""
        self._set_links()
        self._set_special_files()
        self._set_odd_names()
        self._set_deep_folders()

    def close(self) -> None:
        """Free the sockets."""
        for one in self._sockets.open:
            one.close()

    def _link(self, name: str, target: Path | str) -> None:
        place = self._root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(target)
        self.count += 1

    def _set_links(self) -> None:
        places = ("", "links/", "links/a/b/c/", "pkg/")
        for number, (base, name) in enumerate(
            (base, name) for base in places for name in ("jar.py", "pkg", ".", "notes.md")
        ):
            target = self._outside / name
            here = self._root / base
            suffix = Path(name).suffix
            self._link(f"{base}absolute{number}{suffix}", target)
            self._link(f"{base}relative{number}{suffix}", os.path.relpath(target, here))
            up = os.path.relpath(self._root, here)
            self._link(f"{base}around{number}{suffix}", f"{up}/pkg/../../outside/{name}")
            self._link(f"{base}slash{number}{suffix}", f"{target}/")
            self._link(f"{base}chain{number}_0{suffix}", target)
            for step in range(1, 5):
                self._link(f"{base}chain{number}_{step}{suffix}", f"chain{number}_{step - 1}{suffix}")
        for number, system in enumerate(_SYSTEM):
            with suppress(FileNotFoundError):  # An empty target is not allowed.
                self._link(f"system/target{number}.py", system)
                self._link(f"system/folder{number}", system)
        for name, inner in (
            ("loop", "loop"),
            ("ping", "pong"),
            ("pong", "ping"),
            ("up", ".."),
            ("self", "."),
            ("down", "self/up"),
        ):
            self._link(f"loops/{name}", inner)
            self._link(f"loops/{name}.py", f"{inner}.py")
        for name in (".gitattributes", ".gitmodules", ".graphragignore", "links/.gitignore", "links/a/.graphragignore"):
            self._link(name, self._outside / "rules")
        self._link("package.json", self._outside / "secret.txt")
        os.link(self._root / "jar.py", self._root / "hard.py")  # A hard link inside is an honest file.
        self.honest.append(self._root / "hard.py")

    def _set_special_files(self) -> None:
        folder = self._root / "special"
        folder.mkdir()
        for number in range(6):
            os.mkfifo(folder / f"pipe{number}.py")
            self._sockets(folder / f"socket{number}.py")
            self.count += 2
        with suppress(PermissionError):
            for number, (major, minor) in enumerate(((1, 5), (1, 8), (1, 3), (5, 0))):  # zero, random, null, tty
                os.mknod(folder / f"device{number}.py", stat.S_IFCHR | 0o666, os.makedev(major, minor))
                self.count += 1
        os.mkfifo(self._root / "pkg/.gitignore")
        os.mkfifo(self._root / "special/.graphragignore")
        self.count += 2

    def _set_odd_names(self) -> None:
        folder = self._root / "odd"
        folder.mkdir()
        for number in range(8):
            Path(os.fsdecode(os.fsencode(folder) + b"/bytes\xff\xe9%d.py" % number)).write_text(
                OUTSIDE.replace(CANARY, "x")
            )
            self.count += 1
        names = [
            "new\nline.py",
            "tab\t.py",
            "bell\x07.py",
            "escape\x1b[31m.py",
            "return\r.py",
            "delete\x7f.py",
            " .py",
            "\n.py",
        ]
        names += [
            "-rf.py",
            "--help.py",
            "$(id).py",
            "`id`.py",
            "%s%n.py",
            "a'b\".py",
            "\u202egnp.py",
            "*.py",
            "[.py",
            "\\.py",
        ]
        for name in names:
            (folder / name).write_text(CODE)
            self.honest.append(folder / name)
            self.count += 1

    def _set_deep_folders(self) -> None:
        """One that a path can name, with an honest file, and one that is deeper, with a link outside at its end."""
        deep = self._root / "/".join(["deep"] * 300)
        deep.mkdir(parents=True)
        (deep / "honest.py").write_text(CODE)
        self.honest.append(deep / "honest.py")
        folder = os.open(self._root, os.O_RDONLY)
        for _ in range(60):
            os.mkdir("d" * 200, dir_fd=folder)
            inner = os.open("d" * 200, os.O_RDONLY, dir_fd=folder)
            os.close(folder)
            folder = inner
        os.symlink(self._outside, "door", dir_fd=folder)
        os.close(folder)
        self.count += 3
