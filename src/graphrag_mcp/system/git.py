"""Asks git about the objects of a repository, without ever running it there.

A repository is untrusted input: its configuration, attributes and hooks name programs that git starts. So git runs in
an empty repository of our own, a part of this package, and the objects of the other one are lent to it by the
environment. What a name means there, and which commit is checked out, is read without git (`system/git_dirs.py`).
"""

import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from stat import S_ISREG
from urllib.parse import urlsplit

from graphrag_mcp.system.git_dirs import find_common_folder, find_work_tree, git_folder, read_head_commit, read_ref
from graphrag_mcp.system.safe_files import list_folder, read_regular_file

NO_REPOSITORY = "not a Git repository"
OLDEST_GIT = "2.31"
MOST_BYTES = 1 << 27  # A listing of a million files, which is kept in memory, has about 100 MB.
MOST_STREAMED = 1 << 32  # Commits are read one by one and not kept, so git may print more.
_MEMORY_BYTES = 600_000_000  # Git itself took a third of this for the largest histories.
_READ_BYTES = 1 << 16
_SETTINGS_BYTES = 1 << 20
_ORIGIN_SECONDS = 10.0
_USAGE_ERROR = 129
_EMPTY = Path(__file__).parent / "empty_repository"
_NAME = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
_SHA256_DIGITS = 64
_OF_OBJECTS = re.compile("[0-9a-f]{2}|info|pack")
_MOST_LENDERS = 10  # Git itself follows five folders of objects in a chain.
_REVISION = re.compile(r"(?P<name>[^~^]*)(?P<steps>(?:~[0-9]{0,6}|\^[0-9]{0,2}|\^\{(?:commit)?\})*)")
_ABBREVIATED = re.compile(r"(?:.*-g)?(?P<name>[0-9a-fA-F]{4,64})")  # `git describe` writes text before the name.


class GitError(Exception):
    """Git is missing, the folder is not a repository, or git failed, took too long or printed too much."""


class GitTimeoutError(GitError):
    """Git was stopped at the deadline; what it printed before is known."""


class UnknownRevisionError(GitError):
    """Nothing in the repository has this name."""


class Git:
    """The objects of the repository around a folder.

    top: of the work tree. folder: the given one in it, "" or with "/" at its end. is_shallow, is_partial: whether the
    clone lacks old commits, or contents that it would have to fetch.
    """

    def __init__(self, root: Path) -> None:
        """Raises GitError when the folder is in no repository, or in one that git would wait for."""
        top = find_work_tree(root)
        common = find_common_folder(top) if top is not None else None
        if top is None or common is None:
            raise GitError(NO_REPOSITORY)
        self.top = top
        below = root.relative_to(top).as_posix()
        self.folder = "" if below == "." else f"{below}/"
        self._own = git_folder(top)
        self._common = common
        self._objects = (common / "objects").absolute()
        self._format = "sha256" if len(read_head_commit(self._own, common)) == _SHA256_DIGITS else "sha1"
        self.is_shallow = _is_regular(common / "shallow")
        self.is_partial = _has_promises(self._objects)

    def head(self) -> str:
        """Return the commit that is checked out. Raises GitError when there is none."""
        if head := read_head_commit(self._own, self._common):
            return head
        if (self._common / "reftable").is_dir():
            raise UnknownRevisionError("the refs of this repository are kept as a reftable, which is not read")
        raise UnknownRevisionError("this project has no commit in Git")

    def resolve(self, revision: str, deadline: float) -> str:
        """Return the commit that a branch, a tag, a commit or `NAME~2` means. Raises GitError.

        Git is given nothing but hexadecimal digits and the steps after them.
        """
        parts = _REVISION.fullmatch(revision)
        name = parts["name"] if parts else ""
        commit = self.head() if name in ("HEAD", "@") else read_ref(self._own, self._common, name)
        if not commit and (short := _ABBREVIATED.fullmatch(name)):
            commit = short["name"].lower()
        if parts is None or not commit:
            raise UnknownRevisionError(f"{revision} is not known")
        wanted = f"{commit}{parts['steps']}^{{commit}}"
        try:
            answer = self.run(deadline, "rev-parse", "--verify", "--quiet", "--end-of-options", wanted)
        except GitTimeoutError:
            raise
        except GitError as error:
            raise UnknownRevisionError(f"{revision} is not known") from error
        return answer.decode("ascii", "replace").strip()

    def setting(self, key: str, deadline: float) -> str:
        """Return one value of the repository's configuration, which git gets as text alone.

        Raises GitError, also where the value is not there.
        """
        try:
            text = read_regular_file(self._common / "config", _SETTINGS_BYTES, follow_symlink=False)
        except OSError as error:
            raise GitError("the repository's configuration cannot be read") from error
        value = self.run(deadline, "config", "--file", "-", "--no-includes", "--get", key, stdin=text)
        return value.decode("utf-8", "replace").strip()

    def run(
        self, deadline: float, *arguments: str, stdin: bytes | None = None, index: bool = False, into: str = ""
    ) -> bytes:
        """Return what git prints, MOST_BYTES at most. Raises GitError.

        deadline: on the monotonic clock. stdin: its standard input. index: whether it reads the work tree's index.
        into: a folder for new objects. The repository's objects are lent only to a call without an input:
        git would renew the time of an object that is there already.
        """
        with closing(self.blocks(deadline, *arguments, stdin=stdin, index=index, into=into)) as blocks:
            return b"".join(blocks)

    def blocks(
        self, deadline: float, *arguments: str, stdin: bytes | None = None, index: bool = False, into: str = "",
        most: int = MOST_BYTES,
    ) -> Generator[bytes]:  # fmt: skip
        """Yield what git prints as it comes, `most` bytes at most; git ends with the generator. Raises GitError."""
        with ExitStack() as opened:
            source = subprocess.DEVNULL
            if stdin is not None:
                file = opened.enter_context(tempfile.TemporaryFile())
                file.write(stdin)
                file.seek(0)
                source = file.fileno()
            is_lent = not (into and stdin is not None)
            environment = self._environment(index, into, is_lent)
            process, late = opened.enter_context(self._started(deadline, arguments, source, environment))
            read = 0
            while block := _read(process):
                read += len(block)
                if read > most:
                    raise GitError(f"git printed more than {most >> 20} MB")
                yield block
            self._check(process, arguments[0], late)

    @contextmanager
    def dialog(self, deadline: float, *arguments: str) -> Iterator[Callable[[bytes], bytes]]:
        """Yield a function that gives git one line and returns its answer; git echoes a line that names no commit."""
        end = f"end {secrets.token_hex(16)}\n".encode()  # Nothing in the repository can hold it.
        with self._started(deadline, arguments, subprocess.PIPE, self._environment()) as (process, late):

            def ask(line: bytes) -> bytes:
                answer = bytearray()
                try:
                    if process.stdin is not None:
                        os.write(process.stdin.fileno(), line + b"\n" + end)
                    while not answer.endswith(end):
                        block = _read(process)
                        if not block or len(answer) > MOST_BYTES:
                            _kill(process)
                            self._check(process, arguments[0], late)
                        answer += block
                except OSError as error:
                    raise GitError(self._failure()) from error
                return bytes(answer.removesuffix(end))

            yield ask

    @contextmanager
    def _started(
        self, deadline: float, arguments: tuple[str, ...], standard_input: int, environment: dict[str, str]
    ) -> Iterator[tuple["subprocess.Popen[bytes]", threading.Event]]:
        """Run git during the block, until the deadline at the longest, which sets the event."""
        late = threading.Event()
        try:
            process = subprocess.Popen(
                ["git", "--no-pager", "--literal-pathspecs", "--no-replace-objects", *arguments],
                cwd=_EMPTY,
                env=environment,
                stdin=standard_input,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # A git that is a script has children, which would keep the output open.
            )
        except (OSError, ValueError) as error:  # A NUL in an argument is a ValueError.
            raise GitError(f"git cannot be started ({getattr(error, 'strerror', None) or error})") from error

        def stop() -> None:
            late.set()
            _kill(process)

        timer = threading.Timer(max(deadline - time.monotonic(), 0), stop)
        timer.daemon = True
        timer.start()
        try:
            with process:
                _limit_memory(process.pid)
                try:
                    yield process, late
                finally:
                    _kill(process)
        finally:
            timer.cancel()

    def _check(self, process: "subprocess.Popen[bytes]", command: str, late: threading.Event) -> None:
        """Raise what went wrong, if anything did."""
        code = process.wait()
        if late.is_set():
            raise GitTimeoutError(f"git {command} took too long")
        if code == _USAGE_ERROR:
            raise GitError(f"this git is too old; {OLDEST_GIT} or later is needed")
        if code:
            raise GitError(self._failure())

    def _failure(self) -> str:
        if self.is_partial:
            return "this partial clone lacks the contents; fetch them with git"
        return "git could not read the commits: they are damaged, incomplete or too large; check with `git fsck`"

    def _environment(self, index: bool = False, into: str = "", is_lent: bool = True) -> dict[str, str]:
        """Return an environment that lends git the objects, and no settings of the repository or the user."""
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name == "GIT_EXEC_PATH"
        }
        environment |= {
            "GIT_DIR": os.fspath(_EMPTY / self._format),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": _quoted(self._objects) if is_lent else "",
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
            "LC_ALL": "C",
        }
        if self.is_shallow:
            environment["GIT_SHALLOW_FILE"] = os.fspath(self._common.absolute() / "shallow")
        if into:
            environment["GIT_OBJECT_DIRECTORY"] = into
        if index:
            file = self._own.absolute() / "index"
            if os.path.lexists(file) and not _is_regular(file):
                raise GitError("the index of the work tree is not a regular file")
            environment["GIT_INDEX_FILE"] = os.fspath(file)
        return environment


def head_commit(root: Path) -> str:
    """Return the commit that is checked out; "" when there is none that can be read."""
    try:
        return Git(root).head()
    except GitError:
        return ""


def origin(root: Path) -> str:
    """Return the URL of the remote "origin" as "host/path", whatever its form; "" without one."""
    try:
        url = Git(root).setting("remote.origin.url", time.monotonic() + _ORIGIN_SECONDS)
    except GitError:
        return ""
    return _host_and_path(url)


def _host_and_path(url: str) -> str:
    """Return "example.org/team/tool" for a URL or an scp-like address: no user, password, port or suffix."""
    if "://" in url:
        try:
            parts = urlsplit(url)
            host, path = parts.hostname or "", parts.path
        except ValueError:  # Its brackets or letters are those of no host.
            return ""
    else:
        user_and_host, _, path = url.partition(":")
        host = user_and_host.rpartition("@")[2] if "@" in user_and_host and "/" not in user_and_host else ""
    path = path.strip("/").removesuffix(".git")
    return f"{host.lower()}/{path}" if host and path else ""


def is_name(text: str) -> bool:
    """Return whether a text is the full name of an object."""
    return _NAME.fullmatch(text) is not None


def _read(process: "subprocess.Popen[bytes]") -> bytes:
    return os.read(process.stdout.fileno(), _READ_BYTES) if process.stdout is not None else b""


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """End git and what it started, unless it has been waited for."""
    if process.returncode is not None:
        return
    if sys.platform == "win32":
        process.kill()
    else:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)


def _is_regular(file: Path) -> bool:
    try:
        return S_ISREG(os.lstat(file).st_mode)
    except OSError:
        return False


def _has_promises(objects: Path) -> bool:
    """Return whether objects are those of a partial clone. Raises GitError if git would wait for one that is a pipe."""
    is_partial = False
    waiting, seen = [objects], set[str]()
    while waiting and len(seen) < _MOST_LENDERS:
        objects = waiting.pop()
        if (path := os.path.realpath(objects)) in seen:
            continue
        seen.add(path)
        inner = [entry.name for entry in list_folder(objects) if _OF_OBJECTS.fullmatch(entry.name)]
        for folder in (*inner, "info/commit-graphs"):
            for entry in list_folder(objects / folder):
                if not entry.is_file() and not entry.is_dir():
                    raise GitError(f"{folder}/{entry.name} in the repository's objects is not a file")
                is_partial |= entry.name.endswith(".promisor")
        with suppress(OSError, ValueError):
            lenders = read_regular_file(objects / "info/alternates", _SETTINGS_BYTES).splitlines()
            waiting += [objects / os.fsdecode(lender) for lender in lenders[:_MOST_LENDERS]]
    return is_partial


def _quoted(path: Path) -> str:
    """Return a path as git reads it in a list of folders, whatever bytes it has."""
    return '"' + os.fspath(path).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _limit_memory(process_id: int) -> None:
    """Limit what git may allocate, where the system can limit a process that runs."""
    if sys.platform == "linux":
        import resource  # Windows has none.

        with suppress(ProcessLookupError, PermissionError, ValueError):  # The user's own limit may be lower.
            resource.prlimit(process_id, resource.RLIMIT_DATA, (_MEMORY_BYTES, _MEMORY_BYTES))
