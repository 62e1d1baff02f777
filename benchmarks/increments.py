"""Follows the commits of a repository one by one, and compares the links with those of a fresh index.

    python -m benchmarks.increments REPOSITORY [--commits 40] [--every 10]

REPOSITORY is cloned; what is checked out in it stays as it is. Printed are, for the commits that touch code: the files
that changed, the files that were resolved again, and the seconds of the run. Ends with 1 where rows differ.
"""

import argparse
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from benchmarks.figures import add_option, write_rows
from graphrag_mcp.app.local import App
from graphrag_mcp.settings import load_settings

_LINKS = """SELECT t.path, v.target, v.position, v.source, v.kind, v.use, v.how, v.given, v.receiver
    FROM tree_files t JOIN linked l ON l.tree_id = t.tree_id AND l.file_id = t.file_id
    JOIN links v ON v.id >> 20 = l.id"""
_RESOLVED = "SELECT t.path, l.id FROM tree_files t JOIN linked l ON l.tree_id = t.tree_id AND l.file_id = t.file_id"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--commits", type=int, default=40)
    parser.add_argument("--every", type=int, default=10, help="commits between two comparisons")
    add_option(parser)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / options.repository.name
        subprocess.run(["git", "clone", "-q", options.repository, root], check=True)
        names = _git(root, "rev-list", "--first-parent", "-n", str(options.commits + 1), "HEAD").split()[::-1]
        return _follow(root, Path(folder), names, options.every, options.figures)


def _follow(root: Path, folder: Path, names: Sequence[str], every: int, figures: str | None) -> int:
    changed, again, seconds, differing = list[int](), list[int](), list[float](), 0
    with closing(_open(root, folder / "data")) as app:
        for number, name in enumerate(names):
            _git(root, "checkout", "-q", "--detach", name)
            before = _resolved(app) if number else {}
            began = time.monotonic()
            app.index()
            if number:
                after = _resolved(app)
                files = len(_git(root, "diff", "--name-only", names[number - 1], name).splitlines())
                resolved = sum(before.get(path) != one for path, one in after.items())
                if resolved:
                    changed.append(files)
                    again.append(resolved)
                    seconds.append(time.monotonic() - began)
            if number and (number % every == 0 or number == len(names) - 1):
                with tempfile.TemporaryDirectory() as data, closing(_open(root, Path(data))) as fresh:
                    fresh.index()
                    differing += len(set(_rows(app, _LINKS)) ^ set(_rows(fresh, _LINKS)))
    print(
        f"{root.name}: {len(names) - 1} commits, {len(changed)} with code; {differing} rows differ from fresh indexes"
    )
    for what, values in (("files changed", changed), ("files resolved", again), ("seconds", seconds)):
        print(f"{what}: median {statistics.median(values):.3g}, max {max(values):.3g}, sum {sum(values):.4g}")
    cells = {"median": f"{statistics.median(again):.0f}", "most": f"{max(again)}"}
    cells |= {"median of a run, s": f"{statistics.median(seconds):.2f}", "rows that differ": str(differing)}
    write_rows(figures, {root.name: cells})
    return int(differing > 0)


def _open(root: Path, data: Path) -> App:
    return App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(data)}))


def _resolved(app: App) -> dict[object, object]:
    return {path: link for path, link in _rows(app, _RESOLVED)}  # noqa: C416


def _rows(app: App, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(app.status().index_file)) as connection:
        return connection.execute(sql).fetchall()


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", root, *arguments], check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.exit(main())
