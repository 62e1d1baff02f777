"""Whatever happens to the index file while it is served: an error or a right answer, and a whole index soon after."""

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import cycle
from pathlib import Path

import pytest

from tests.reliability.conftest import Report
from tests.reliability.projects import Project
from tests.stdio_client import Server
from tests.waiting import wait_until

pytestmark = pytest.mark.slow

HYBRID = "graphrag_hybrid_search"
NEEDLE = "find_the_needle"
MENDED_SECONDS = 20.0  # Of a busy machine; an idle one takes one.
PAGE = 4096
QUERIES = ("merge a session token", "load a cookie", "split a vector", "rank the results", "parse a page")


def cut_in_half(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def cut_to_nothing(file: Path) -> None:
    os.truncate(file, 0)


def overwrite_pages(file: Path) -> None:
    """Overwrite twenty pages, evenly."""
    pages = file.stat().st_size // PAGE
    with file.open("r+b") as stream:
        for number in range(20):
            stream.seek(PAGE * (1 + number * (pages - 2) // 20))
            stream.write(b"\xff" * PAGE)


def remove_logs(file: Path) -> None:
    for suffix in ("-wal", "-shm"):
        file.with_name(file.name + suffix).unlink()


def write_garbage(file: Path) -> None:
    file.write_bytes(b"\x55" * file.stat().st_size)


def move_garbage_there(file: Path) -> None:
    other = file.with_name("garbage")
    other.write_bytes(b"\x55" * 50_000)
    other.rename(file)


def remove(file: Path) -> None:
    file.unlink()


def move_folder_away(file: Path) -> None:
    file.parent.rename(file.parent.with_name("elsewhere"))


def drop_a_table(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("DROP TABLE chunks")


DAMAGE = [drop_a_table, cut_in_half, cut_to_nothing, overwrite_pages, remove_logs, write_garbage, move_garbage_there]
LOSS = [remove, move_folder_away]


class Served:
    """A project that servers answer from, and the file of its index."""

    def __init__(self, folder: Path, servers: int, **environment: str) -> None:
        self.project = Project(folder / "project", 40)
        (self.project.root / "needle.py").write_text(f"def {NEEDLE}():\n    return 'haystack'\n")
        data = {"GRAPHRAG_DATA_DIR": str(folder / "data"), "GRAPHRAG_WORKERS": "1"}
        self.servers = []
        for _ in range(servers):
            server = Server(self.project.root, {**os.environ, **data, **environment})
            self.servers.append(server)
            wait_until(lambda server=server: server.call("index_status", {})[0].startswith("Index: ready"), 30)
            assert found(server)
        (self.file,) = folder.glob("data/*/index-*.sqlite")

    def close(self) -> None:
        for server in self.servers:
            server.close()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    opened: list[Served] = []

    def start(servers: int = 1, **environment: str) -> Served:
        opened.append(Served(tmp_path, servers, **environment))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


def ask(server: Server, query: str = NEEDLE) -> tuple[str, bool]:
    return server.call(HYBRID, {"query": query, "response_format": "concise"})


def found(server: Server) -> bool:
    """Tell whether the needle is found; whatever else is answered has to say why it is not."""
    text, failed = ask(server)
    assert_honest(text, failed)
    assert failed or "needle.py" in text or "building" in text, text
    return "needle.py" in text


def assert_honest(text: str, failed: bool) -> None:
    """Fail where an answer lacks something and does not say so, or shows what only a developer knows."""
    assert not any(word in text for word in ("Error", "Not searched", "--rebuild", "Traceback")), text
    if failed:
        assert text.startswith("the index file ") and "retry in a moment" in text and "\n" not in text, text
    else:
        assert text.startswith("1. ") or "building" in text, text


def is_replaced(file: Path, damaged_bytes: int) -> bool:
    """Tell whether the damaged file was moved aside, or filled again where nothing was left of it."""
    was_moved = any(file.parent.glob(f"{file.name}*.unusable-*"))
    return was_moved or (not damaged_bytes and file.exists() and file.stat().st_size > 0)


def wait_until_mended(server: Server) -> float:
    """Return the seconds until the index is whole, and is said to be."""
    began = time.monotonic()
    wait_until(lambda: found(server), MENDED_SECONDS)
    wait_until(lambda: server.call("index_status", {})[0].startswith("Index: ready"), MENDED_SECONDS)
    return time.monotonic() - began


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_an_error_at_the_next_call_and_the_index_is_mended(
    damage: Callable[[Path], None], serve: Callable[..., Served], report: Report
) -> None:
    """One sentence from the search and from the status; then the whole index, without a restart."""
    served = serve()
    (server,) = served.servers
    damage(served.file)
    try:
        damaged_bytes = served.file.stat().st_size
    except FileNotFoundError:  # The server was faster, and has moved it aside.
        damaged_bytes = 1
    queries = cycle(QUERIES)

    def is_noticed() -> bool:
        """Tell whether an answer is an error; the server may notice by itself, and be faster."""
        text, failed = ask(server, next(queries))
        assert_honest(text, failed)
        return failed or is_replaced(served.file, damaged_bytes)

    wait_until(is_noticed, MENDED_SECONDS)  # What is in memory is right, so the first ones may be answered.
    text, failed = server.call("index_status", {})
    assert failed or text.startswith("Index: building") or is_replaced(served.file, damaged_bytes)
    report("damage while serving", kind=damage.__name__, seconds=round(wait_until_mended(server), 2))


@pytest.mark.parametrize("loss", LOSS)
def test_an_index_that_is_removed_is_built_again(loss: Callable[[Path], None], serve: Callable[..., Served]) -> None:
    """Until it is there, an answer says that it is being built."""
    served = serve()
    (server,) = served.servers
    loss(served.file)
    text, failed = server.call("index_status", {})
    assert not failed
    assert text.startswith("Index: building")
    wait_until_mended(server)


@pytest.mark.parametrize("damage", [cut_in_half, move_garbage_there, remove_logs, remove])
def test_damage_that_a_reader_meets_is_mended(damage: Callable[[Path], None], serve: Callable[..., Served]) -> None:
    """Whoever meets it moves the file aside, and the process that writes builds it again, though nobody asks it."""
    served = serve(2)
    writer, reader = served.servers
    damage(served.file)
    wait_until_mended(reader)
    wait_until_mended(writer)


@pytest.mark.parametrize("damage", [write_garbage, remove])
def test_damage_is_mended_where_edits_are_not_followed(
    damage: Callable[[Path], None], serve: Callable[..., Served]
) -> None:
    """The server's thread waits for it."""
    served = serve(GRAPHRAG_WATCH="off")
    damage(served.file)
    wait_until_mended(served.servers[0])
