"""Compare searches that ask a Qdrant with those of the local index: the share of the first ten that is the same.

    python -m benchmarks.parity FOLDER... --url http://127.0.0.1:6333 [--queries 100] [--behind N] [--figures NAME]

Each FOLDER is a git repository; its questions are the subjects of its last commits. All are copied to one server, in
this order, so that each is measured beside those before it. --behind: the server holds an older commit, so the files
that changed in the last N commits are searched in the local index. "alone": a search without a local index.
"""

import argparse
import os
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from benchmarks.figures import add_option, write_rows
from graphrag_mcp.app.local import App
from graphrag_mcp.app.remote import RemoteApp
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import SearchRequest, SearchResult
from graphrag_mcp.search.query.understand import understand
from graphrag_mcp.settings import load_settings

TOP = 10


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare searches with and without a server.")
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--url", required=True)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--behind", type=int, default=0)
    add_option(parser)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        for folder in options.folders:
            row = measure(folder, Path(scratch), options.url, options.queries, options.behind)
            print(f"{folder.name}: " + ", ".join(f"{name} {figure:.3f}" for name, figure in row.items()), flush=True)
            name = folder.name + (f", {options.behind} commits behind" if options.behind else "")
            write_rows(options.figures, {name: {column: f"{figure:.3f}" for column, figure in row.items()}})


def measure(folder: Path, scratch: Path, url: str, count: int, behind: int) -> dict[str, float]:
    """Return the mean share of the first ten that is the same, by list."""
    clone = scratch / folder.name
    subprocess.run(["git", "clone", "-q", folder, clone], check=True)
    subjects = git(clone, "log", "--no-merges", "--format=%s", f"-{count}").splitlines()
    local = {**os.environ, "GRAPHRAG_DATA_DIR": str(scratch / "data"), "GRAPHRAG_PROJECT_ID": f"parity {folder.name}"}
    environ = {**local, "GRAPHRAG_QDRANT_URL": url, "GRAPHRAG_SERVER_TIMEOUT_SECONDS": "60"}
    git(clone, "checkout", "-q", f"HEAD~{behind}")
    with closing(App(clone, load_settings(clone, environ))) as app:
        app.index()
        (report,) = app.sync(rebuild=True, agree=lambda _: True)
        assert not report.problem, report.problem
        git(clone, "checkout", "-q", "-")
        app.index()
        embedded, remote = App(clone, load_settings(clone, local)), RemoteApp(clone, load_settings(clone, environ))
        with closing(embedded), closing(remote):
            rows = [compare(embedded, app, remote, query) for query in subjects if query.strip()]
    print(f"{report.chunks:,} chunks in {report.seconds:.0f} s, {len(rows)} questions")
    return {name: sum(row[name] for row in rows) / len(rows) for name in rows[0]}


def compare(embedded: App, beside: App, remote: RemoteApp, query: str) -> dict[str, float]:
    request = SearchRequest(query, limit=TOP)
    here, there, alone = embedded.search(request), beside.search(request), remote.search(request)
    for result in (here, there, alone):
        assert not {"vector", "keyword"} & result.meta.unavailable.keys(), result.meta.unavailable
    row = {"whole": same(chunks(here), chunks(there)), "first": float(chunks(here)[:1] == chunks(there)[:1])}
    row["alone"] = same(chunks(here), chunks(alone))
    terms = understand(query).terms
    lists: dict[str, list[list[int]]] = {"vector": [], "keyword": []}
    for stores in (embedded.stores(), beside.stores()):
        assert stores.vectors is not None and stores.embedder is not None
        vectors = stores.vectors.search(stores.embedder.embed_query(query), TOP, Scope())
        lists["vector"].append([hit.chunk_id for hit in vectors])
        lists["keyword"].append([hit.chunk_id for hit in stores.keywords.search(terms, TOP, Scope())])
    return {name: same(*both) for name, both in lists.items()} | row


def chunks(result: SearchResult) -> list[tuple[str, int]]:
    return [(hit.chunk.path, hit.chunk.start_line) for hit in result.primary]


def same(one: Sequence[object], other: Sequence[object]) -> float:
    return len(set(one) & set(other)) / max(len(set(one)), len(set(other)), 1)


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", folder, *arguments], check=True, capture_output=True, text=True)
    return done.stdout


if __name__ == "__main__":
    main()
