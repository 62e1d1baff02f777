"""Gone when the client is, with the parsing processes; a cancelled call stops; nothing else is ever on the wire."""

import fcntl
import json
import os
import select
import signal
import statistics
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.reliability.conftest import Report, Size
from tests.stdio_client import Server
from tests.waiting import HANG_SECONDS, wait_until

pytestmark = pytest.mark.slow

HYBRID = "graphrag_hybrid_search"
EXIT_SECONDS = 0.1
BUSY_EXIT_SECONDS = 30.0  # The short form shares its machine with all other tests; what lingers does not end.
CHILDREN_SECONDS = 5.0
ORPHAN_SECONDS = 5.0
CANCEL_SECONDS = 0.2
STARTED_SECONDS = 60.0
MODELS = ("", "BAAI/bge-small-en-v1.5", "no/such-model")
TOO_EARLY = "pydantic_core typing_extensions"  # Left to the last test of this file.

SESSION = '''\
class Session:
    """One visit."""

    def refresh_token(self) -> str:
        """Renew the token before it expires."""
        return sign(self)
'''

# Imported by every Python process that finds it: as loud as a dependency can be. Before our code has taken the wire
# nothing can keep a print off it, so this one speaks when a dependency is imported, while calls run, and at the end.
LOUD = '''\
import atexit, os, sys, threading, time
from importlib.machinery import PathFinder

QUIET = {"graphrag_mcp", "usercustomize", *os.environ.get("QUIET", "").split()}

def shout(where):
    print("noise: printed", where)
    sys.__stdout__.write("noise: written " + where + chr(10))
    sys.__stdout__.flush()
    os.write(1, ("noise: from C " + where + chr(10)).encode())

def go_on():
    while True:
        shout("in a thread")
        time.sleep(0.02)

class Loud:
    """Makes every dependency print when it is imported."""

    talks = False

    def find_spec(self, name, path=None, target=None):
        package = name.partition(".")[0]
        if package in sys.stdlib_module_names or package in QUIET:
            return
        if PathFinder.find_spec(name, path) is not None:
            shout("by an import of " + name)
            if not self.talks and package == "mcp":
                Loud.talks = True
                threading.Thread(target=go_on, daemon=True).start()

atexit.register(shout, "at exit")
sys.meta_path.insert(0, Loud())
if "--multiprocessing-fork" in sys.orig_argv:
    shout("by a parsing process")
'''


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Enough files that parsing processes are started, and that all is not over before something has happened."""
    root = tmp_path_factory.mktemp("exits") / "repository"
    root.mkdir()
    for number in range(400):
        (root / f"module_{number}.py").write_text(f"# {number}\n" + SESSION.replace("Session", f"Session{number}") * 25)
    return root


def environment_of(data: Path, **more: str) -> dict[str, str]:
    return {**os.environ, "GRAPHRAG_DATA_DIR": str(data), "GRAPHRAG_WORKERS": "2", **more}


# ---------------------------------------------------------------- the laws


def end_input(server: Server) -> None:
    assert server.process.stdin is not None
    server.process.stdin.close()


def interrupt(server: Server) -> None:
    server.process.send_signal(signal.SIGINT)


def terminate(server: Server) -> None:
    server.process.send_signal(signal.SIGTERM)


@pytest.mark.parametrize("leave", [end_input, interrupt, terminate])
def test_a_server_that_indexes_is_gone_at_once(
    leave: Callable[[Server], None], repository: Path, tmp_path: Path, size: Size, report: Report
) -> None:
    """End of input, SIGINT and SIGTERM: gone in 100 ms, its parsing processes in 5 s, quietly and with a clean wire."""
    exits, ends = [], []
    for number in range(size(2, 10)):
        errors = tmp_path / f"errors{number}"
        with errors.open("wb") as stderr:
            server = Server(repository, environment_of(tmp_path / f"data{number}"), stderr)
        pid = server.process.pid
        server.start_asking("tools/call", {"name": HYBRID, "arguments": {"query": "renew the token"}})
        wait_until(partial(parses, pid), STARTED_SECONDS)
        family = descendants(pid)
        ending = os.pidfd_open(pid)
        started = time.perf_counter()
        leave(server)
        assert select.select([ending], [], [], BUSY_EXIT_SECONDS)[0], "the server stays"
        exits.append(time.perf_counter() - started)
        os.close(ending)
        wait_until(partial(are_gone, family), CHILDREN_SECONDS)
        ends.append(time.perf_counter() - started)
        assert server.process.wait(10) == 0
        judge_wire(rest_of(server))
        assert errors.read_text() == ""
    report(
        f"exit, {leave.__name__}",
        runs=len(exits),
        median_ms=round(1000 * statistics.median(exits), 1),
        slowest_ms=round(1000 * max(exits), 1),
        children_slowest_ms=round(1000 * max(ends), 1),
    )
    assert max(exits) < (EXIT_SECONDS if size(0, 1) else BUSY_EXIT_SECONDS)


CALLS: dict[str, bytes] = {
    method: json.dumps({"jsonrpc": "2.0", "id": 5, "method": method, "params": params}).encode()
    for method, params in {
        "ping": {},
        "tools/list": {},
        "tools/call": {"name": HYBRID, "arguments": {"query": "renew the token"}},
        "prompts/list": {},
        "prompts/get": {"name": "tour"},
        "resources/list": {},
        "resources/templates/list": {},
        "resources/read": {"uri": "graphrag://overview"},
        "completion/complete": {"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "path", "value": "s"}},
        "no/such/method": {},
    }.items()
} | {"a wrong argument": b'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"x"}}', "no JSON": b"{x"}


@pytest.mark.parametrize("call", CALLS)
def test_a_client_that_reads_no_more_ends_the_server_quietly(call: str, tmp_path: Path) -> None:
    """Whatever it asked for: nobody is left to answer, though the input is still open."""
    root = tmp_path / "repository"
    root.mkdir()
    (root / "session.py").write_text(SESSION)
    errors = tmp_path / "errors"
    with errors.open("wb") as stderr:
        server = Server(root, environment_of(tmp_path / "data"), stderr)
    assert server.process.stdout is not None
    server.process.stdout.close()
    server.send_line(CALLS[call])
    assert server.process.wait(STARTED_SECONDS) == 0
    assert errors.read_text() == ""
    end_input(server)


FULL = 30_000  # Bytes of a full pipe: of its 16 pages, each is at least half full.


def test_a_client_that_never_reads_keeps_no_server_when_it_ends_the_input(tmp_path: Path) -> None:
    """Three hundred answers do not fit into the pipe; the end of the input ends the server all the same."""
    root = tmp_path / "repository"
    root.mkdir()
    (root / "session.py").write_text(SESSION * 50)
    server = Server(root, environment_of(tmp_path / "data"))
    server.call(HYBRID, {"query": "renew the token"})
    for _ in range(300):
        server.start_asking("tools/call", {"name": HYBRID, "arguments": {"query": "renew the token"}})
    assert server.process.stdout is not None
    pipe = server.process.stdout.fileno()
    wait_until(lambda: unread_bytes(pipe) > FULL, STARTED_SECONDS)
    end_input(server)
    assert server.process.wait(STARTED_SECONDS) == 0
    server.process.stdout.close()


def unread_bytes(pipe: int) -> int:
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"    "))[0]  # type: ignore[no-any-return]


def test_a_server_whose_client_was_killed_is_gone(repository: Path, tmp_path: Path, size: Size, report: Report) -> None:
    """SIGKILL for the client, while another process holds the pipe open: gone in 5 s, and its parsing processes too."""
    seconds = []
    for number in range(size(1, 10)):
        environment = environment_of(tmp_path / f"data{number}")
        command = [sys.executable, "-m", "graphrag_mcp", "--root", str(repository)]
        script = f"import subprocess, time; print(subprocess.Popen({command!r}).pid, flush=True); time.sleep(600)"
        read_end, write_end = os.pipe()
        with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], stdin=read_end) as bystander:
            client = subprocess.Popen(
                [sys.executable, "-c", script], stdin=read_end, stdout=subprocess.PIPE, env=environment
            )
            os.close(read_end)
            assert client.stdout is not None
            pid = int(client.stdout.readline())
            call = {"name": HYBRID, "arguments": {"query": "renew the token"}}
            os.write(write_end, message_line("initialize", 1, OPENING) + message_line("tools/call", 2, call))
            wait_until(partial(parses, pid), STARTED_SECONDS)
            family = [identity(pid), *descendants(pid)]
            client.kill()
            client.wait()
            started = time.perf_counter()
            wait_until(partial(are_gone, family), 2 * ORPHAN_SECONDS)
            seconds.append(time.perf_counter() - started)
            judge_wire(client.stdout.read())
            client.stdout.close()
            os.close(write_end)
            bystander.kill()
    report(
        "exit, a killed client",
        runs=len(seconds),
        median_s=round(statistics.median(seconds), 2),
        slowest_s=round(max(seconds), 2),
    )
    assert max(seconds) < ORPHAN_SECONDS * size(10, 1)


def test_a_cancelled_call_stops(repository: Path, tmp_path: Path, size: Size, report: Report) -> None:
    """A call that waits for the first index is cancelled: no answer, and no progress after 200 ms; the next is fast."""
    latest, nexts = [], []
    for number in range(size(2, 10)):
        server = Server(repository, environment_of(tmp_path / f"data{number}"))
        call = {"name": HYBRID, "arguments": {"query": "renew the token"}, "_meta": {"progressToken": "mine"}}
        cancelled = server.start_asking("tools/call", call)
        while server.receive(STARTED_SECONDS).get("method") != "notifications/progress":
            pass
        params = {"requestId": cancelled, "reason": "no longer wanted"}
        server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
        started = time.perf_counter()
        following = server.start_asking("ping", {})
        arrived = listen(server, 1.5)
        for seconds, message in arrived:
            if message.get("id") == following:
                nexts.append(seconds - started)
            elif message.get("id") == cancelled:
                assert "error" in message, f"a cancelled call was answered: {message}"
            else:
                assert message["params"]["progressToken"] == "mine"
                latest.append(seconds - started)
        assert len(nexts) == number + 1, "the call behind the cancelled one has no answer"
        status = time.perf_counter()
        text, failed = server.call("index_status", {})
        assert not failed
        assert "Index: " in text
        assert time.perf_counter() - status < HANG_SECONDS
        terminate(server)
        judge_wire(rest_of(server))
    report(
        "a cancelled call",
        runs=len(nexts),
        next_answer_slowest_ms=round(1000 * max(nexts), 1),
        last_progress_ms=round(1000 * max(latest, default=0), 1),
    )
    assert max(latest, default=0) <= (CANCEL_SECONDS if size(0, 1) else BUSY_EXIT_SECONDS)
    assert max(nexts) <= (CANCEL_SECONDS if size(0, 1) else BUSY_EXIT_SECONDS)


def test_nothing_but_json_rpc_is_on_the_wire(repository: Path, tmp_path: Path, size: Size, report: Report) -> None:
    """Dependencies print at import, in threads, from C, at exit and in parsing processes: none of it is on the wire."""
    ways = [(model, leave) for model in MODELS for leave in (end_input, interrupt, terminate)]
    noise = []
    for number in range(size(2, len(ways))):
        model, leave = ways[number * 4 % len(ways)]  # Each model and each way to leave comes early.
        folder = tmp_path / str(number)
        environment = loud_environment(folder, GRAPHRAG_EMBEDDING_MODEL=model, HF_HUB_OFFLINE="1", QUIET=TOO_EARLY)
        errors = folder / "errors"
        with errors.open("wb") as stderr:
            server = Server(repository, environment, stderr)
            assert server.ask("tools/list", {})["result"]["tools"]
            answers = [server.call(HYBRID, {"query": "renew the token"}) for _ in range(2)]
            wait_until(partial(says, errors, "noise: from C by a parsing process"), STARTED_SECONDS)
            leave(server)
            judge_wire(rest_of(server))
        assert not any(failed for _, failed in answers)
        said = read(errors)
        kinds = ("by an import of mcp", "in a thread", "by a parsing process")
        assert all(f"noise: {way} {kind}" in said for way in ("printed", "from C") for kind in kinds)
        noise.append(said.count("noise: "))
    report("wire", runs=len(noise), noise_lines=sum(noise), on_the_wire=0)


def test_the_wire_is_taken_before_any_dependency_is_imported(
    repository: Path, tmp_path: Path, size: Size, report: Report
) -> None:
    """What every dependency prints at its import misses the wire, that of the first one too."""
    server = Server(repository, loud_environment(tmp_path))
    assert server.ask("tools/list", {})["result"]["tools"]
    terminate(server)
    judge_wire(rest_of(server))


def test_a_command_ends_with_its_code_whatever_its_threads_do() -> None:
    """The interpreter's own end aborts the process when a thread is inside RE2."""
    code = """
import sys, threading, time
import re2
import graphrag_mcp.cli.run as cli
from graphrag_mcp.__main__ import main

def search():
    expression = re2.compile(b"(?:ab){3}")
    while True:
        expression.search(b"a" * 1_000_000)

def run(arguments):
    threading.Thread(target=search, daemon=True).start()
    time.sleep(0.2)
    sys.stdout.write("the answer")
    return 3

cli.run = run
sys.exit(main())
"""
    for _ in range(3):
        ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert (ended.returncode, ended.stdout, ended.stderr) == (3, "the answer", "")


# ---------------------------------------------------------------- the wire


def loud_environment(folder: Path, **more: str) -> dict[str, str]:
    (folder / "loud").mkdir(parents=True)
    (folder / "loud" / "sitecustomize.py").write_text(LOUD)
    return environment_of(folder / "data", PYTHONPATH=str(folder / "loud"), **more)


OPENING = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


def message_line(method: str, request_id: int, params: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}).encode() + b"\n"


def judge_wire(said: bytes) -> None:
    """What a server has said last: whole lines, each a JSON-RPC message."""
    assert not said or said.endswith(b"\n"), f"half a message: {said[-200:]!r}"
    for line in said.splitlines():
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0"


def rest_of(server: Server) -> bytes:
    if server.process.stdin is not None and server.process.stdin.closed:
        server.process.stdin = None  # Or `communicate` would close it again.
    return server.close()


def listen(server: Server, seconds: float) -> list[tuple[float, dict[str, Any]]]:
    """Return what comes within so many seconds, each with the time at which it came."""
    arrived = []
    deadline = time.perf_counter() + seconds
    while (left := deadline - time.perf_counter()) > 0:
        try:
            message = server.receive(left)
        except TimeoutError:
            break
        arrived.append((time.perf_counter(), message))
    return arrived


def says(path: Path, text: str) -> bool:
    return text in read(path)


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


# ---------------------------------------------------------------- processes

Identity = tuple[int, int]  # The process id and the time of its start: ids are given again.


def identity(pid: int) -> Identity:
    return pid, int(fields_of(pid)[19])


def is_alive(process: Identity) -> bool:
    try:
        fields = fields_of(process[0])
    except OSError:
        return False
    return fields[0] != "Z" and int(fields[19]) == process[1]  # Some containers have nobody who collects the dead.


def fields_of(pid: int) -> list[str]:
    """Return what /proc tells of a process after its name: the state, the parent and so on."""
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()


def descendants(pid: int) -> list[Identity]:
    """Return the children of a process, and theirs."""
    parents: dict[int, list[Identity]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = fields_of(int(folder.name))
            except OSError:
                continue
            parents.setdefault(int(fields[1]), []).append((int(folder.name), int(fields[19])))
    found, open_ends = [], [pid]
    while open_ends:
        children = parents.get(open_ends.pop(), [])
        found += children
        open_ends += [child for child, _ in children]
    return found


def are_gone(processes: Sequence[Identity]) -> bool:
    return not any(map(is_alive, processes))


def parses(pid: int) -> bool:
    """Tell whether the parsing processes of a server are there."""
    return len(parsers(pid)) >= 2


def parsers(pid: int) -> list[Identity]:
    """Return the parsing processes of a server."""
    return [found for found in descendants(pid) if "--multiprocessing-fork" in command_of(found[0])]


def command_of(pid: int) -> str:
    try:
        return read(Path(f"/proc/{pid}/cmdline"))
    except OSError:
        return ""
