"""Measure how early the tests that a change concerns come, in the order of `impact` for a diff.

    python -m benchmarks.impact --checkouts DIR --python PYTHON --repos flask click [--commits 10] [--misses]

DIR has a clone of each repository, with its history; it is checked out at other commits. PYTHON has pytest and what the
tests import. Of each of the newest commits that change code and tests, the code alone is applied to the parent, so the
tests that changed are not given away. Concerned are the test files that the commit changed, and those that fail when
its tests run on the code before. Recall: the share of them among the first 10, 30 and 50 % of the test files. Beside
it: the test files in the folder of a changed file or with its name, then all others, by path.

    python -m benchmarks.impact --time ROOT [--commits 40]

prints how long the answer about each of the newest commits of an indexed repository takes.
"""

import argparse
import math
import os
import re
import statistics
import subprocess
import time
from collections.abc import Iterator, Sequence, Set
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from benchmarks.figures import add_option, write_rows
from graphrag_mcp.app.local import App
from graphrag_mcp.settings import load_settings
from graphrag_mcp.tools.impact import IMPACT, impact_of_diff

SHARES = (0.1, 0.3, 0.5)
COMMITS_READ = 600
TEST_SECONDS = 180


@dataclass(frozen=True, slots=True)
class Case:
    """A commit with the code and the test files that it changed."""

    name: str
    code: Sequence[str]
    tests: Sequence[str]


def cases(root: Path, tip: str) -> Iterator[Case]:
    """Yield the commits that change code and tests, the newest first."""
    for name in _git(root, "rev-list", "--no-merges", f"--max-count={COMMITS_READ}", tip).split():
        paths = _git(root, "diff-tree", "-r", "--no-commit-id", "--name-only", "--diff-filter=AMD", name).split("\n")
        tests = [path for path in paths if is_test(path)]
        code = [path for path in paths if path.startswith("src/") and path.endswith(".py")]
        if tests and code:
            yield Case(name, code, tests)


def is_test(path: str) -> bool:
    """Return whether a path is a file of tests."""
    return path.startswith("tests/") and re.match(r"test_.*\.py", path.rpartition("/")[2]) is not None


def concerned(root: Path, python: Path, case: Case) -> set[str]:
    """Return the test files that changed, or fail on the code before; leaves the code of the commit on the parent."""
    _git(root, "checkout", "--quiet", "--force", case.name)
    right = _failing(root, python)
    _restore(root, f"{case.name}^", case.code)
    failing = _failing(root, python) - right
    _git(root, "checkout", "--quiet", "--force", f"{case.name}^")
    suite = set(suite_of(root))
    _restore(root, case.name, case.code)
    return (failing | set(case.tests)) & suite


def _restore(root: Path, commit: str, paths: Sequence[str]) -> None:
    known = set(_git(root, "ls-tree", "-r", "--name-only", commit).split("\n"))
    for path in paths:
        if path in known:
            _git(root, "checkout", "--quiet", commit, "--", path)
        else:
            (root / path).unlink(missing_ok=True)


def _failing(root: Path, python: Path) -> set[str]:
    command = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=no", "-rfE", "tests"]
    done = subprocess.run(
        command, cwd=root, env={**os.environ, "PYTHONPATH": "src", "PYTHONDONTWRITEBYTECODE": "1"}, text=True,
        capture_output=True, timeout=TEST_SECONDS, check=False,
    )  # fmt: skip
    return set(re.findall(r"^(?:FAILED|ERROR) ([^:\s]+)", done.stdout, re.MULTILINE))


def suite_of(root: Path) -> list[str]:
    """Return the test files, by path."""
    return sorted(path for path in _git(root, "ls-files", "tests").split("\n") if is_test(path))


def by_impact(app: App, suite: Sequence[str]) -> list[str]:
    """Return the test files in the order of the answer, then the others by path."""
    call = IMPACT.read({}, app.settings, app.root)
    found = app.ask(impact_of_diff, call).result
    return list(dict.fromkeys([*(path for test in found.tests if (path := test.node.path) in set(suite)), *suite]))


def beside(code: Sequence[str], suite: Sequence[str]) -> list[str]:
    """Return the test files in the folder of a changed file or with its name, then the others by path."""
    folders, stems = ({part(PurePosixPath(path)) for path in code} for part in (lambda one: one.parent, _stem))
    near = [path for path in suite if PurePosixPath(path).parent in folders or _stem(PurePosixPath(path)) in stems]
    return [*near, *(path for path in suite if path not in near)]


def _stem(path: PurePosixPath) -> str:
    return path.stem.removeprefix("test_").removesuffix("_test").strip("_")


def recalls(order: Sequence[str], wanted: Set[str]) -> list[float]:
    """Return the share of the wanted files among the first of the order, for each of SHARES."""
    return [len(wanted & set(order[: math.ceil(share * len(order))])) / len(wanted) for share in SHARES]


def measure(root: Path, python: Path, data: Path, count: int, *, misses: bool) -> list[tuple[list[float], list[float]]]:
    """Print and return the recalls for the newest commits of a repository: those of `impact`, and those beside."""
    tip = _git(root, "rev-parse", "HEAD")
    rows: list[tuple[list[float], list[float]]] = []
    with closing(App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(data)}))) as app:
        for case in cases(root, tip):
            if len(rows) == count:
                break
            wanted = concerned(root, python, case)
            if not wanted:
                continue
            app.index()
            suite = suite_of(root)
            order, other = by_impact(app, suite), beside(case.code, suite)
            rows.append((recalls(order, wanted), recalls(other, wanted)))
            print(case.name[:8], f"{len(wanted)}/{len(suite)}", *(f"{one:.2f}" for row in rows[-1] for one in row))
            if misses:
                print("   ", {path: order.index(path) + 1 for path in wanted}, case.code)
    _git(root, "checkout", "--quiet", "--force", tip)
    return rows


def time_answers(root: Path, count: int) -> None:
    """Print the median and the 95th percentile of the answers about the newest commits of an indexed repository."""
    seconds = []
    with closing(App(root, load_settings(root, os.environ))) as app:
        listed = ("rev-list", "--no-merges", "--min-parents=1", f"--max-count={count}", "HEAD")
        for base in ["", *(f"{name}^..{name}" for name in _git(root, *listed).split())]:
            call = IMPACT.read({"base": base}, app.settings, app.root)
            started = time.perf_counter()
            text = IMPACT.write(app.ask(IMPACT.ask, call), call)
            seconds.append(time.perf_counter() - started)
            print(f"{seconds[-1]:.3f} s, {len(text):,} characters, {base[-8:]} {text.partition(chr(10))[0]}")
    last = statistics.quantiles(seconds, n=20)[-1] if len(seconds) > 1 else seconds[0]
    print(f"median {statistics.median(seconds):.3f} s, p95 {last:.3f} s")


def main() -> None:
    """Read the command line and print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--checkouts", type=Path)
    parser.add_argument("--python", type=Path)
    parser.add_argument("--data", type=Path, default=Path("/tmp/impact-data"))
    parser.add_argument("--repos", nargs="+", default=["flask", "click"])
    parser.add_argument("--commits", type=int, default=10)
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--time", type=Path)
    add_option(parser)
    options = parser.parse_args()
    if options.time:
        time_answers(options.time, options.commits)
        return
    rows = []
    for repo in options.repos:
        root = options.checkouts / repo
        rows += measure(root, options.python.absolute(), options.data, options.commits, misses=options.misses)
    for name, column in (("impact", 0), ("beside", 1)):
        means = [statistics.mean(row[column][at] for row in rows) for at in range(len(SHARES))]
        print(f"{name}: " + " / ".join(f"{one:.2f}" for one in means), f"of {len(rows)} commits")
        cells = {f"{share:.0%}": f"{mean:.2f}" for share, mean in zip(SHARES, means, strict=True)}
        write_rows(options.figures, {name: cells})


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True).stdout.rstrip("\n")


if __name__ == "__main__":
    main()
