"""Measure Neo4j: how fast an index is copied into it, and how fast neighbours are found in a large graph.

    python -m benchmarks.servers FOLDER [--data-dir DIR] [--symbols 100000] [--relations 500000]

FOLDER is a tree of code; its index is built first, or used again when it is in --data-dir. A Neo4j of the test suite's
own is started for the measurement (see tests/servers). The large graph is made up: files of twenty symbols, relations
from random chunks, most of them to a few much-used symbols, as in real code.
"""

import argparse
import os
import random
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from neo4j import Driver

from benchmarks.figures import add_option, write_rows
from graphrag_mcp.app.local import App
from graphrag_mcp.model.files import Category, RelationKind, Symbol, SymbolKind
from graphrag_mcp.model.scope import Scope, match_keys
from graphrag_mcp.model.search import Ranked, StoredChunk, StoredFile
from graphrag_mcp.settings import load_settings
from graphrag_mcp.stores.neo4j.connection import connect
from graphrag_mcp.stores.neo4j.graph import Neo4jGraphStore
from graphrag_mcp.stores.neo4j.replica import Neo4jReplica
from graphrag_mcp.stores.neo4j.schema import Neo4jProject
from graphrag_mcp.stores.replica import (
    Point,
    PointIds,
    RelatedFile,
    ReplicatedChunk,
    ReplicatedEdge,
    ReplicatedFile,
    ReplicatedSymbol,
    file_key,
    file_version,
    point_key,
)
from tests.servers.neo4j_server import AS_IN_PRODUCTION, Neo4jServer

PROJECT = "made-up"
SYMBOLS_PER_FILE = 20
SEEDS = 10
HOPS = 2
LIMITS = (20, 100)  # What a search asks for; and more than the first hop gives, so that the second is made too.
QUERIES = 200
WARM_UP = 50
SYNCS = 12  # Java compiles what is used much: it takes some copies until it has.
SHARES = (0, 10, 20, 50)  # Per cent of the files excluded.
FILES_PER_WRITE = 75


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure Neo4j.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--symbols", type=int, default=100_000)
    parser.add_argument("--relations", type=int, default=500_000)
    add_option(parser)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, neo4j_in(Path(scratch)) as server:
        measure_sync(options.folder, options.data_dir or Path(scratch) / "data", server, options.figures)
        with connect(server.uri, "neo4j", server.password, timeout_seconds=60, retry_seconds=30) as driver:
            measure_neighbours(driver, options.symbols, options.relations, options.figures)
        server.stop()  # Writes out what is only in the logs so far.
        store = server.home / "data" / "databases" / "neo4j"
        size = sum(part.stat().st_size for part in store.rglob("*") if part.is_file())
        print(f"store, without transaction logs: {size / 1e6:.0f} MB")
        write_rows(
            options.figures, {f"Neo4j with {options.relations:,} relations, MB": {"figure": f"{size / 1e6:.0f}"}}
        )


def neo4j_in(folder: Path) -> Neo4jServer:
    """Return a server with what a production server would have of Java: a gigabyte, and its best compiler."""
    return Neo4jServer(folder / "neo4j", "correct horse", AS_IN_PRODUCTION)


def measure_sync(folder: Path, data: Path, server: Neo4jServer, figures: str | None) -> None:
    """Copy an index into a server that has just begun, then again and again under other names."""
    environ = {
        **os.environ,
        "GRAPHRAG_DATA_DIR": str(data),
        "GRAPHRAG_NEO4J_URI": server.uri,
        "GRAPHRAG_NEO4J_PASSWORD": server.password,
    }
    rates = []
    for number in range(SYNCS):
        app = App(folder, load_settings(folder, {**environ, "GRAPHRAG_PROJECT_ID": f"copy {number}"}))
        app.index()
        (report,) = app.sync()
        assert not report.problem, report.problem
        rates.append(report.chunks / report.seconds)
        relations = app.status().relations
        app.close()
    print(f"{report.chunks:,} chunks of {report.written:,} files with {relations:,} relations")
    warm = rates[SYNCS // 2 :]
    print(f"sync into a server that has just begun: {rates[0]:,.0f} chunks/s")
    print(f"sync into a warm one: median {statistics.median(warm):,.0f}, best {max(warm):,.0f} chunks/s")
    for row, rate in (("just begun", rates[0]), ("warm", statistics.median(warm))):
        write_rows(figures, {f"copy into a Neo4j that is {row}, chunks/s": {"figure": f"{rate:.0f}"}})


def measure_neighbours(driver: Driver, symbols: int, relations: int, figures: str | None) -> None:
    """Ask for the two-hop neighbourhood of ten seeds, with growing shares of the files excluded."""
    project = Neo4jProject(driver, "", PROJECT)
    replica = Neo4jReplica(project, "benchmark")
    replica.prepare()
    files = [f"src/part_{number // 50}/file_{number}.py" for number in range(symbols // SYMBOLS_PER_FILE)]
    started = time.monotonic()
    made = list(made_up(files, relations))
    for first in range(0, len(made), FILES_PER_WRITE):
        replica.write([file for file, _ in made[first : first + FILES_PER_WRITE]])
    for first in range(0, len(made), FILES_PER_WRITE):  # A relation leads to a symbol that is there.
        replica.relate([related for _, related in made[first : first + FILES_PER_WRITE]])
    print(f"made up: {symbols:,} symbols, {relations:,} relations, written in {time.monotonic() - started:.0f} s")
    graph = Neo4jGraphStore(project, PointIds(), AnyChunk())  # type: ignore[arg-type]  # It only asks for chunks.
    ids = PointIds()
    choice = random.Random(1)
    seeds = []
    for _ in range(QUERIES):
        points = []
        for _ in range(SEEDS):
            path = choice.choice(files)
            version = file_version(path, b"", "")
            points.append(Point(point_key(PROJECT, version, choice.randrange(SYMBOLS_PER_FILE)), path, version, 0))
        seeds.append([one for one in ids.ids(points) if one is not None])
    scopes = {
        share: Scope(
            excluded_keys=frozenset(
                sorted(match_keys(path))[0] for path in random.Random(0).sample(files, len(files) * share // 100)
            )
        )
        for share in SHARES
    }
    for limit in LIMITS:
        times: dict[int, list[float]] = {share: [] for share in SHARES}
        counts = dict.fromkeys(SHARES, 0)
        for number, chosen in enumerate([*seeds[:WARM_UP], *seeds]):
            for share, scope in scopes.items():  # They take turns: a busy machine slows all of them alike.
                began = time.perf_counter()
                found = graph.neighbours(chosen, HOPS, limit, scope)
                if number >= WARM_UP:
                    times[share].append((time.perf_counter() - began) * 1000)
                    counts[share] += len(found)
        for share in SHARES:
            ordered = sorted(times[share])
            print(
                f"two hops of {SEEDS} seeds, at most {limit} neighbours, {share:2} % of the files excluded: "
                f"p50 {statistics.median(ordered):.1f} ms, p95 {ordered[int(len(ordered) * 0.95)]:.1f} ms, "
                f"{counts[share] / QUERIES:.1f} found"
            )
            row = f"two hops, {limit} neighbours, {share} % excluded, p50, ms"
            write_rows(figures, {row: {"figure": f"{statistics.median(ordered):.1f}"}})


def made_up(files: Sequence[str], relations: int) -> Iterator[tuple[ReplicatedFile, RelatedFile]]:
    """Yield files of twenty one-symbol chunks, and their random relations."""
    choice = random.Random(0)
    per_file = relations // len(files)
    for path in files:
        version = file_version(path, b"", "")
        chunks, symbols = [], []
        for ordinal in range(SYMBOLS_PER_FILE):
            line = 10 * ordinal + 1
            point = Point(point_key(PROJECT, version, ordinal), path, version, ordinal)
            chunk = StoredChunk(0, 0, path, "python", Category.IMPLEMENTATION, line, line + 9, "", "function")
            chunks.append(ReplicatedChunk(point, chunk, {}, None))
            name = f"name_{ordinal}"
            key = symbol_key(path, ordinal)
            symbols.append(ReplicatedSymbol(key, ordinal, Symbol(name, name, SymbolKind.FUNCTION, line, line + 9)))
        edges = tuple(
            ReplicatedEdge(
                kind=choice.choice((RelationKind.CALLS, RelationKind.IMPORTS, RelationKind.TESTS)).value,
                source=symbol_key(path, ordinal),
                # Squared: the first files are the ones that everybody uses.
                target=symbol_key(files[int(len(files) * choice.random() ** 2)], choice.randrange(SYMBOLS_PER_FILE)),
                of_file=False,
                to_file=False,
                line=10 * ordinal + 2,
                certainty="certain",
                chunk=chunks[ordinal].point.key,
            )
            for _ in range(per_file)
            for ordinal in [choice.randrange(SYMBOLS_PER_FILE)]
        )
        keys = tuple(sorted(match_keys(path)))
        file = ReplicatedFile(path, version, "", "implementation", "python", keys, {}, tuple(chunks), tuple(symbols))
        yield file, RelatedFile(path, edges, (), (), (), "")


def symbol_key(path: str, ordinal: int) -> str:
    """Return the key of a made-up symbol."""
    return f"{file_key(PROJECT, path)}#name_{ordinal}~0"


class NothingArchived:
    """No file of the made-up project is archived."""

    def lifted(self, patterns: tuple[str, ...]) -> Sequence[str]:
        """Return nothing."""
        del patterns
        return []


class AnyChunk:
    """A catalog that has every chunk, so that the graph alone is measured."""

    remote = False
    scope_paths = NothingArchived()

    def chunks(self, chunk_ids: Sequence[int]) -> Mapping[int, StoredChunk]:
        """Return an empty chunk for each id."""
        return {one: StoredChunk(one, 0, "", "", Category.IMPLEMENTATION, 1, 1, "", "") for one in chunk_ids}

    def files(self, chunk_ids: Sequence[int]) -> Mapping[int, StoredFile]:
        """Return nothing."""
        del chunk_ids
        return {}

    def find_paths(self, words: Sequence[str], limit: int, scope: Scope) -> list[Ranked]:
        """Return nothing."""
        del words, limit, scope
        return []


if __name__ == "__main__":
    main()
