"""Compare what a Neo4j answers with what the tools answer, and how fast relations are copied to it.

    python -m benchmarks.graph_parity FOLDER... [--definitions 60] [--figures NAME]

Each FOLDER is a project. For random definitions, a trace without an index is compared with one of the index, in each
direction. The Neo4j is the tests' own, with a gigabyte; each project is copied three times, and the best rate counts.
"""

import argparse
import os
import random
import tempfile
import time
from contextlib import closing
from pathlib import Path

from benchmarks.figures import add_option, write_rows
from benchmarks.servers import neo4j_in
from graphrag_mcp.app.local import App
from graphrag_mcp.app.remote import RemoteApp
from graphrag_mcp.graph.navigator import Navigator
from graphrag_mcp.model.files import CALLABLE, SymbolKind
from graphrag_mcp.model.graph import CodeNode, Direction
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.settings import load_settings
from graphrag_mcp.stores.neo4j.connection import connect

COPIES = 3
DIRECTIONS = (Direction.CALLERS, Direction.USERS, Direction.CALLEES, Direction.SUBCLASSES, Direction.TESTS)
COUNT = "MATCH ({project: $project})-[r]->() WHERE r.line IS NOT NULL RETURN count(r) AS relations"


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare Neo4j with the tools.")
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--definitions", type=int, default=60)
    add_option(parser)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, neo4j_in(Path(scratch)) as server:
        for folder in options.folders:
            environ = {
                **os.environ,
                "GRAPHRAG_DATA_DIR": f"{scratch}/data",
                "GRAPHRAG_NEO4J_URI": server.uri,
                "GRAPHRAG_NEO4J_PASSWORD": server.password,
                "GRAPHRAG_PROJECT_ID": folder.name,
            }
            with closing(App(folder, load_settings(folder, environ))) as app:
                app.index()
                seconds = [_copy(app) for _ in range(COPIES)]
                began = time.monotonic()
                app.sync(verify=True)
                verify = time.monotonic() - began
                with connect(server.uri, "neo4j", server.password, 60, 30) as driver:
                    relations = driver.execute_query(COUNT, {"project": folder.name}).records[0]["relations"]
                # Only texts would be read from Qdrant.
                alone = load_settings(folder, {**environ, "GRAPHRAG_QDRANT_URL": "http://127.0.0.1:9"})
                with closing(RemoteApp(folder, alone)) as remote:
                    same = compare(app, remote, options.definitions)
            row = {
                "relations": f"{relations}",
                "a second": f"{relations / min(seconds):.0f}",
                "verify, s": f"{verify:.1f}",
                **{direction.value: f"{share:.3f}" for direction, share in same.items()},
            }
            print(f"{folder.name}: " + ", ".join(f"{name} {figure}" for name, figure in row.items()), flush=True)
            write_rows(options.figures, {folder.name: {name: row[name] for name in ("callers", "callees")}})


def _copy(app: App) -> float:
    (report,) = app.sync(rebuild=True, agree=lambda _: True)
    assert not report.problem, report.problem
    return report.seconds


def compare(app: App, remote: RemoteApp, count: int) -> dict[Direction, float]:
    """Return by direction the share of definitions of which the same is said."""
    local = app.navigator()
    paths = app._parts.handle.searched().catalog.file_states()
    nodes = [node for path in sorted(paths) for node in local.outline(path).nodes]
    code = [node for node in nodes if node.kind in (*CALLABLE, SymbolKind.TYPE) and not node.is_archived]
    chosen = random.Random(11).sample(code, min(count, len(code)))
    with remote.view() as view:
        return {
            direction: sum(_said(local, node, direction) == _said(view.navigator, node, direction) for node in chosen)
            / len(chosen)
            for direction in DIRECTIONS
        }


def _said(navigator: Navigator, node: CodeNode, direction: Direction) -> set[tuple[object, ...]]:
    steps = navigator.trace(f"{node.path}::{node.qualified_name}", direction, 1, Scope()).steps
    return {
        (step.hop, step.edge.path, step.source.symbol, step.target.path, step.target.symbol, step.edge.relation,
         step.edge.certainty, step.lines)
        for step in steps
    }  # fmt: skip


if __name__ == "__main__":
    main()
