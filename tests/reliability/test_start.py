"""`tools/list` within a second of the start, and a first search that says what is missing, whatever is the matter."""

import math
import os
import random
import socket
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple

import pytest

from graphrag_mcp.index.paths import IndexPaths
from tests.reliability.conftest import Report, Size
from tests.repositories import SESSION
from tests.stdio_client import Server
from tests.waiting import wait_until

pytestmark = pytest.mark.slow

HYBRID = "graphrag_hybrid_search"
LIST_SECONDS = 1.0
BARE_TIMES = 1.25  # Where the bare SDK alone misses the second: so many times as long, at the median.
BUSY = 60  # The short form shares its machine: it gets so many times as long, which only a hang takes.
SEARCH_SECONDS = 5.0
BUILD_SECONDS = 1_800.0
FILES, FUNCTIONS = 4_000, 50  # Two such functions are one chunk.
NOBODY = "http://127.0.0.1:9"

BARE_SERVER = """\
import anyio
from mcp import types
from mcp.server import Server
from mcp.server.stdio import stdio_server


async def list_tools(context, params):
    return types.ListToolsResult(tools=[types.Tool(name="nothing", input_schema={"type": "object"})])


async def serve():
    server = Server("bare", on_list_tools=list_tools)
    async with stdio_server() as (requests, answers):
        await server.run(requests, answers, server.create_initialization_options())


anyio.run(serve)
"""
NOUNS = [
    "account",
    "basket",
    "cache",
    "driver",
    "engine",
    "folder",
    "gateway",
    "header",
    "index",
    "journal",
    "kernel",
    "ledger",
    "matrix",
    "node",
    "order",
]
VERBS = [
    "append",
    "balance",
    "collect",
    "deliver",
    "encode",
    "filter",
    "gather",
    "hash",
    "invert",
    "join",
    "keep",
    "limit",
    "merge",
    "notify",
    "open",
]

Environment = dict[str, str]


class Project(NamedTuple):
    """A repository with a complete index."""

    root: Path
    environment: Environment
    chunks: int


class Start(NamedTuple):
    """How one server came up; `bare`: until one of the SDK alone, started just before it, lists its one tool."""

    bare: float
    listed: float
    searched: float
    answer: str
    failed: bool


@pytest.fixture(scope="module")
def large(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """100,000 chunks in the whole form, a few hundred in the short one."""
    whole = bool(request.config.getoption("--soak"))
    folder = tmp_path_factory.mktemp("large")
    root = write_repository(folder / "repository", FILES if whole else 10)
    environment = {**os.environ, "GRAPHRAG_DATA_DIR": str(folder / "data")}
    subprocess.run(command("index", root), env=environment, check=True, capture_output=True, timeout=BUILD_SECONDS)
    with closing(sqlite3.connect(IndexPaths(root, environment["GRAPHRAG_DATA_DIR"]).file)) as connection:
        ((chunks,),) = connection.execute("SELECT count(*) FROM chunks").fetchall()
    assert chunks >= (100_000 if whole else 200)
    return Project(root, environment, chunks)


@pytest.fixture(scope="module")
def unindexed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose index takes longer than all that is measured meanwhile."""
    whole = bool(request.config.getoption("--soak"))
    return write_repository(tmp_path_factory.mktemp("unindexed") / "repository", FILES if whole else 300)


def write_repository(root: Path, files: int) -> Path:
    """Write Python files of `FUNCTIONS` functions of 12 lines in varied words, and the session that is searched for."""
    choose = random.Random(files)
    for number in range(files):
        path = root / f"package{number % 40}" / f"module{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n\n".join(write_function(choose, number * FUNCTIONS + place) for place in range(FUNCTIONS)))
    (root / "session.py").write_text(SESSION)
    return root


def write_function(choose: random.Random, number: int) -> str:
    verb, noun, other = choose.choice(VERBS), choose.choice(NOUNS), choose.choice(NOUNS)
    steps = "\n".join(
        f"    {choose.choice(NOUNS)}_{step} = {choose.choice(VERBS)}({noun}, {choose.randrange(9_999)})"
        for step in range(8)
    )
    head = f"def {verb}_{noun}_{number}({noun}, {other}_of_it):"
    words = f"{verb} the {noun} of each {other}, as {choose.randrange(99_999)} asks."
    return f'{head}\n    """{words}"""\n{steps}\n    return {noun}\n'


# ---------------------------------------------------------------- the laws


def test_an_empty_index_keeps_nobody_waiting(tmp_path: Path, size: Size, report: Report) -> None:
    """tools/list within a second where nothing is indexed yet; the first search answers from what is there by then."""
    root = write_repository(tmp_path / "repository", 2)
    starts = []
    for number in range(size(1, 20)):
        data = {**os.environ, "GRAPHRAG_DATA_DIR": str(tmp_path / f"data{number}")}
        starts.append(start(root, data))
    judge("empty", starts, size, report)
    assert all("session.py" in found.answer for found in starts)


def test_a_large_index_keeps_nobody_waiting(large: Project, size: Size, report: Report) -> None:
    """tools/list within a second on an index of 100,000 chunks, whose first search finds what is asked for."""
    starts = [start(large.root, large.environment) for _ in range(size(1, 20))]
    judge("large", starts, size, report, chunks=large.chunks)
    assert all("session.py" in found.answer for found in starts)
    assert all("Index:" not in found.answer and "Not searched" not in found.answer for found in starts)


def test_an_index_in_the_making_keeps_nobody_waiting(
    unindexed: Path, tmp_path: Path, size: Size, report: Report
) -> None:
    """tools/list within a second while another process builds; the first search says that more is to come."""
    starts = []
    for number in range(size(1, 20)):
        data = {**os.environ, "GRAPHRAG_DATA_DIR": str(tmp_path / f"data{number}")}
        with building(unindexed, data):
            starts.append(start(unindexed, data))
    judge("building", starts, size, report)
    assert all("building" in found.answer for found in starts), [found.answer[:200] for found in starts]


def test_an_index_that_this_server_makes_keeps_nobody_waiting(
    unindexed: Path, tmp_path: Path, size: Size, report: Report
) -> None:
    """tools/list within a second where the server itself has much to index; the first search says so."""
    starts = []
    for number in range(size(1, 20)):
        data = {**os.environ, "GRAPHRAG_DATA_DIR": str(tmp_path / f"data{number}")}
        starts.append(start(unindexed, data))
    judge("making", starts, size, report)
    assert all("building" in found.answer for found in starts), [found.answer[:200] for found in starts]


def hold_write_lock(place: IndexPaths) -> str:
    return f"import filelock; lock = filelock.FileLock({str(place.write_lock)!r}); lock.acquire(timeout=10)"


def hold_transaction(place: IndexPaths) -> str:
    return f"import sqlite3; c = sqlite3.connect({str(place.file)!r}); c.execute('BEGIN EXCLUSIVE')"


def hold_file(place: IndexPaths) -> str:
    """No other process can read a file that is locked this way."""
    return (
        f"import sqlite3; c = sqlite3.connect({str(place.file)!r}, isolation_level=None);"
        "c.execute('PRAGMA locking_mode = EXCLUSIVE'); c.execute('BEGIN EXCLUSIVE'); c.execute('COMMIT')"
    )


@pytest.mark.parametrize(
    ("name", "hold", "missing"),
    [("write lock", hold_write_lock, ""), ("transaction", hold_transaction, ""), ("whole file", hold_file, "locked")],
)
def test_a_locked_index_keeps_nobody_waiting(
    name: str, hold: Callable[[IndexPaths], str], missing: str, large: Project, size: Size, report: Report
) -> None:
    """tools/list within a second while another process holds a lock; a search finds things or says what is locked."""
    with holding(hold(IndexPaths(large.root, large.environment["GRAPHRAG_DATA_DIR"]))):
        starts = [start(large.root, large.environment) for _ in range(size(1, 5) if missing else size(1, 20))]
    judge(f"locked: {name}", starts, size, report, may_fail=bool(missing))
    assert all((missing or "session.py") in found.answer for found in starts), [found.answer[:300] for found in starts]


@contextmanager
def silent_port() -> Iterator[tuple[str, str]]:
    """Listen and never answer."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        yield f"http://127.0.0.1:{port}", f"bolt://127.0.0.1:{port}"


@pytest.mark.parametrize(
    ("name", "servers"),
    [("refused", lambda: nullcontext((NOBODY, NOBODY.replace("http", "bolt")))), ("silent", silent_port)],
)
def test_servers_that_are_down_keep_nobody_waiting(
    name: str,
    servers: Callable[[], AbstractContextManager[tuple[str, str]]],
    large: Project,
    size: Size,
    report: Report,
) -> None:
    """tools/list within a second when Qdrant and Neo4j refuse or stay silent; a search names what it did without."""
    with servers() as (qdrant, neo4j):
        environment = {**large.environment, "GRAPHRAG_QDRANT_URL": qdrant, "GRAPHRAG_NEO4J_URI": neo4j}
        starts = [start(large.root, environment) for _ in range(size(1, 20))]
    judge(f"servers: {name}", starts, size, report)
    for found in starts:
        (missing,) = (line for line in found.answer.splitlines() if line.startswith("Not searched: "))
        assert "graph (" not in missing and all(f"{store} (" in missing for store in ("keyword", "vector")), missing


def judge(state: str, starts: list[Start], size: Size, report: Report, may_fail: bool = False, **facts: object) -> None:
    listed, bare = [found.listed for found in starts], [found.bare for found in starts]
    report(
        f"start, {state}",
        starts=len(starts),
        load=round(os.getloadavg()[0], 1),
        **facts,
        list_median_s=round(statistics.median(listed), 3),
        list_p95_s=round(p95(listed), 3),
        bare_median_s=round(statistics.median(bare), 3),
        bare_p95_s=round(p95(bare), 3),
        first_search_median_s=round(statistics.median(found.searched for found in starts), 3),
        first_search_slowest_s=round(max(found.searched for found in starts), 3),
    )
    is_as_fast_as_bare = statistics.median(listed) <= BARE_TIMES * statistics.median(bare)
    assert p95(listed) <= LIST_SECONDS * size(BUSY, 1) or is_as_fast_as_bare
    assert max(found.searched for found in starts) <= SEARCH_SECONDS * size(BUSY, 1), [
        found.answer[:300] for found in starts
    ]
    assert may_fail or not any(found.failed for found in starts), [found.answer[:300] for found in starts]


def p95(times: Sequence[float]) -> float:
    return sorted(times)[math.ceil(0.95 * len(times)) - 1]


# ---------------------------------------------------------------- what is started


def start(root: Path, environment: Environment) -> Start:
    """Start a server, list its tools and search; the process is gone at the end."""
    with listing(root, environment, ["-c", BARE_SERVER]) as (_, bare):
        pass
    with listing(root, environment) as (server, listed):
        asked = time.perf_counter()
        answer, failed = server.call(HYBRID, {"query": "where does Session.refresh_token renew the token"})
        return Start(bare, listed, time.perf_counter() - asked, answer, failed)


@contextmanager
def listing(root: Path, environment: Environment, arguments: Sequence[str] = ()) -> Iterator[tuple[Server, float]]:
    """Start a server, and give it with the seconds until it has listed its tools."""
    begun = time.perf_counter()
    server = Server(root, environment, arguments=arguments)
    try:
        assert server.ask("tools/list", {})["result"]["tools"]
        yield server, time.perf_counter() - begun
    finally:
        server.process.kill()
        server.close()


@contextmanager
def building(root: Path, environment: Environment) -> Iterator[None]:
    """Let another process index, from when its first rows are written until the block ends."""
    with subprocess.Popen(command("index", root), env=environment, stdout=subprocess.DEVNULL) as indexer:
        try:
            data = Path(environment["GRAPHRAG_DATA_DIR"])
            wait_until(lambda: any(data.glob("*/index-*.sqlite-wal")), 60)
            yield
            assert indexer.poll() is None, "the index was complete before the server answered: it takes more files"
        finally:
            indexer.kill()


@contextmanager
def holding(script: str) -> Iterator[None]:
    """Run a script in another process, which keeps what it holds until the block ends."""
    command = [sys.executable, "-c", f"{script}; print('held', flush=True); import time; time.sleep(600)"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == b"held\n"
            yield
        finally:
            holder.kill()


def command(name: str, root: Path) -> list[str]:
    return [sys.executable, "-m", "graphrag_mcp", name, "--root", str(root)]
