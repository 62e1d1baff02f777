"""Measure what past commits add to the ranking: on later commits, on symptoms, on shuffled history, and on guards.

    python -m benchmarks.history CHECKOUT … [--commits 40]          # each a clone with its history
    python -m benchmarks.history CHECKOUT … --queries QUERIES.json  # a guard: questions with known answers
    python -m benchmarks.history CHECKOUT … --functions 15          # find_history beside git log -L

The first form exports the tree before the newest suitable commits of a repository, indexes it with the history of its
ancestors, and asks the subjects of those commits and the first sentences of their bodies. Each search is run with the
history, without, and with the commits' messages exchanged at random; the differences are those of file NDCG@10 with
intervals of 95 %. The second form asks questions about the checked-out tree.
"""

import argparse
import json
import random
import re
import subprocess
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import msgspec
from msgspec.structs import replace

from benchmarks.context import ask
from benchmarks.figures import add_option, write_rows
from graphrag_mcp.app.local import App
from graphrag_mcp.history.find import Past
from graphrag_mcp.history.log import read_log
from graphrag_mcp.history.update import MOST_FILES
from graphrag_mcp.model.files import Category, SymbolKind
from graphrag_mcp.model.history import Recalled
from graphrag_mcp.model.reports import IndexPhase, IndexState
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import Frequencies, SearchRequest
from graphrag_mcp.search.evaluation.comparison import bootstrap
from graphrag_mcp.search.evaluation.history import FEWEST_CHARACTERS, export_tree, read_history
from graphrag_mcp.search.evaluation.scores import JudgedQuery, read_queries, score
from graphrag_mcp.search.orchestrator import SearchOrchestrator
from graphrag_mcp.search.retrieval import Stores
from graphrag_mcp.settings import RetrievalSettings, load_settings
from graphrag_mcp.stores.sqlite.history import SqliteHistory
from graphrag_mcp.system.git import Git

FEWEST_LINES = 5  # Of a function whose history is asked for.
_SENTENCE = re.compile(r"(?<=[.!?])\s|\n\n")
Scores = dict[str, float]


class Shuffled(SqliteHistory):
    """A history in which every message belongs to another commit."""

    def __init__(self, history: SqliteHistory, commits: Sequence[int]) -> None:
        vars(self).update(vars(history))
        others = list(commits)
        random.Random(0).shuffle(others)
        self._other = dict(zip(commits, others, strict=True))

    def recall(self, frequencies: Frequencies, limit: int) -> list[Recalled]:
        found = super().recall(frequencies, limit)
        return [one._replace(commit_id=self._other.get(one.commit_id, one.commit_id)) for one in found]


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what past commits add to the ranking.")
    parser.add_argument("checkouts", nargs="+", type=Path)
    parser.add_argument("--commits", type=int, default=40, help="newest suitable commits of each repository")
    parser.add_argument("--queries", type=Path, help="questions about the checked-out trees instead")
    parser.add_argument("--setting", action="append", default=[], help="name=value")
    parser.add_argument("--together", action="store_true", help="measure which files are said to change together")
    parser.add_argument("--functions", type=int, default=0, help="how many of each checkout are asked for")
    parser.add_argument("--worst", type=int, default=0, help="list the questions that lose most")
    add_option(parser)
    options = parser.parse_args()
    changes = {name: float(value) for name, _, value in (one.partition("=") for one in options.setting)}
    settings = msgspec.structs.replace(RetrievalSettings(), **changes)
    if options.functions:
        _measure_functions(options.checkouts, options.functions, options.figures)
        return
    if options.together:
        _measure_together(options.checkouts, options.commits)
        return
    gains: dict[str, dict[str, list[tuple[float, float, str]]]] = {}
    for checkout in options.checkouts:
        with tempfile.TemporaryDirectory() as folder:
            for name, runs in _measure(checkout.resolve(), Path(folder), options, settings).items():
                for run, scores in runs.items():
                    rows = [(scores[query], runs["without"][query], query) for query in scores]
                    gains.setdefault(name, {}).setdefault(run, []).extend(rows)
    for name, by_run in gains.items():
        for run, rows in by_run.items():
            mean, low, high = bootstrap([after - before for after, before, _ in rows])
            base = sum(after for after, _, _ in rows) / len(rows)
            print(f"{name:12} {len(rows):5} {run:10} {base:.3f}  {mean:+.3f} [{low:+.3f}, {high:+.3f}]")
            gain = "" if run == "without" else f", {mean:+.3f} [{low:+.3f}, {high:+.3f}]"
            row = options.queries.stem if options.queries else name
            write_rows(options.figures, {row: {"questions": str(len(rows)), run: f"{base:.3f}{gain}"}})
        losses = sorted(by_run["with"], key=lambda row: row[0] - row[1])[: options.worst]
        print("".join(f"  {before:.2f} -> {after:.2f}  {query}\n" for after, before, query in losses), end="")


def _measure(
    root: Path, folder: Path, options: argparse.Namespace, settings: RetrievalSettings
) -> Mapping[str, Mapping[str, Scores]]:
    """Return by set and run the file NDCG of each question of one repository."""
    if options.queries:
        asked = [query for query in read_queries(options.queries) if query.repo == root.name]
        sets, tree, past = {"questions": asked}, root, None
    else:
        history = read_history(root, options.commits)
        tree = folder / root.name
        tree.mkdir()
        export_tree(root, history.tree, tree)
        sets, past = (
            {"subjects": _subjects(history.queries), "symptoms": _symptoms(history.queries)},
            (root, history.tree),
        )
    with closing(App(tree, load_settings(tree, {"GRAPHRAG_DATA_DIR": str(folder / "data")}), past=past)) as app:
        began = time.perf_counter()
        app.index()
        status = app.status()
        known = f"{status.commits} commits" if not status.no_history else status.no_history
        print(f"# {root.name}: {status.files} files, {known}, {time.perf_counter() - began:.1f} s", flush=True)
        stores = app.stores()
        runs = {"without": replace(stores, history=None), "with": stores, "shuffled": _shuffled(stores)}
        return {
            name: {run: _ask(queries, one, settings) for run, one in runs.items()} for name, queries in sets.items()
        }


def _measure_together(checkouts: Sequence[Path], commits: int) -> None:
    """Print how often the second file of a later commit is among the first five that are named for the first."""
    asked = named = popular = 0
    for checkout in checkouts:
        root = checkout.resolve()
        history = read_history(root, commits)
        with tempfile.TemporaryDirectory() as folder:
            tree = Path(folder) / root.name
            tree.mkdir()
            export_tree(root, history.tree, tree)
            settings = load_settings(tree, {"GRAPHRAG_DATA_DIR": f"{folder}/data"})
            with closing(App(tree, settings, past=(root, history.tree))) as app:
                app.index()
                stored = app.stores().history
                assert isinstance(stored, SqliteHistory)
                past = Past(tree, stored)
                most = _most_changed(stored, {file.path for file in app.navigator().files.listed(Scope())})
                for commit in read_log(Git(root), "HEAD", history.tree):
                    files = [change.path for change in commit.changes if change.path in most]
                    if 2 <= len(files) <= MOST_FILES:
                        first, second, *_ = files
                        asked += 1
                        named += second in [one.path for one in past.together(first, Scope())]
                        popular += second in [path for path in most if path != first][:5]
    print(f"{asked} commits: named {named / asked:.3f}, most often changed files {popular / asked:.3f}")


def _measure_functions(checkouts: Sequence[Path], count: int, figures: str | None) -> None:
    """Print which commits of functions `find_history` has, beside `git log -L`, and those to judge by reading."""
    right = wanted = found = 0
    seconds: list[float] = []
    for checkout in checkouts:
        root = checkout.resolve()
        with (
            tempfile.TemporaryDirectory() as folder,
            closing(App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": folder}))) as app,
        ):
            app.index()
            for path, start, end, name in random.Random(1).sample(_functions(app), count):
                place = f"-L{start},{end}:{path}"
                command = ["git", "-C", str(root), "log", "--no-merges", "-s", "--format=%H", place]
                gold = set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
                began = time.perf_counter()
                names = set(_commits_of(app, f"{path}:{start}"))
                seconds.append(time.perf_counter() - began)
                right, wanted, found = right + len(gold & names), wanted + len(gold), found + len(names)
                if gold != names:
                    differing = [" ".join(sorted(one[:7] for one in side)) for side in (gold - names, names - gold)]
                    print(f"{root.name} {path}:{start} {name}: lacks [{differing[0]}], also has [{differing[1]}]")
    late = sorted(seconds)[int(0.95 * len(seconds))]
    cells = {"recall": f"{right / wanted:.3f}", "precision": f"{right / found:.3f}", "p95, s": f"{late:.1f}"}
    print(", ".join(f"{name} {value}" for name, value in cells.items()), f"of {wanted} commits")
    write_rows(figures, {row: {"figure": value} for row, value in cells.items()})


def _functions(app: App) -> list[tuple[str, int, int, str]]:
    navigator = app.navigator()
    files = [file.path for file in navigator.files.listed(Scope()) if file.category is Category.IMPLEMENTATION]
    nodes = (node for path in sorted(files) for node in navigator.outline(path).definitions)
    return [
        (one.path, one.start_line, one.end_line, one.qualified_name)
        for one in nodes
        if one.kind in (SymbolKind.FUNCTION, SymbolKind.METHOD) and one.end_line - one.start_line >= FEWEST_LINES
    ]


def _commits_of(app: App, symbol: str) -> Iterator[str]:
    cursor, is_first = "", True
    while cursor or is_first:
        asked = {"symbol": symbol, "limit": 25, "token_budget": 8_000, "response_format": "json", "cursor": cursor}
        answer = json.loads(ask(app, "find_history", asked))
        yield from (row["commit"] for row in answer["rows"])
        cursor, is_first = answer.get("cursor") or "", False


def _most_changed(past: SqliteHistory, paths: Collection[str]) -> list[str]:
    return sorted(paths, key=lambda path: -len(past.changed_by(path)))


def _shuffled(stores: Stores) -> Stores:
    if not isinstance(stores.history, SqliteHistory):
        return stores
    commits = [commit_id for commit_id, is_member in enumerate(stores.history.state().members) if is_member]
    return replace(stores, history=Shuffled(stores.history, commits))


def _subjects(queries: Iterable[JudgedQuery]) -> list[JudgedQuery]:
    return [replace(query, query=query.query.partition("\n")[0]) for query in queries]


def _symptoms(queries: Iterable[JudgedQuery]) -> list[JudgedQuery]:
    """Return the first sentence of each body that has one."""
    bodies = ((query, query.query.partition("\n")[2].strip()) for query in queries)
    told = ((query, " ".join(_SENTENCE.split(body)[0].split())) for query, body in bodies)
    return [replace(query, query=text) for query, text in told if len(text) >= FEWEST_CHARACTERS]


def _ask(queries: Sequence[JudgedQuery], stores: Stores, settings: RetrievalSettings) -> Scores:
    state = IndexState(IndexPhase.READY)
    found: Scores = {}
    with closing(SearchOrchestrator(settings)) as orchestrator:
        for query in queries:
            hits = orchestrator.search(SearchRequest(query.query, limit=10), stores, state).primary
            places = [(hit.chunk.path, hit.chunk.start_line, hit.chunk.end_line) for hit in hits]
            found[query.id] = score(query, places).file_ndcg
    return found


if __name__ == "__main__":
    main()
