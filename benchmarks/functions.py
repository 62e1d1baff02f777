"""Ask for single functions and types, and print whether the right one is first, among ten, or named.

    python -m benchmarks.functions make OUT --repos-dir CHECKOUTS --benchmark BENCHMARK
    python -m benchmarks.functions ask OUT RUN.json --repos-dir CHECKOUTS [--data-dir DIR] [--setting name=value …]
    python -m benchmarks.functions compare OUT RUN.json OTHER.json

CHECKOUTS holds one clone with its history per repository of BENCHMARK/repos.json. `make` writes three sets of
questions:

* docstrings: what the docstring of a function says first, asked of OUT/trees, where every docstring is blank;
* types: the same of types, as a guard;
* commits: the subject of a commit whose changes of the implementation lie in one or two functions. The tree that is
  asked is that of the checkout, which contains the change; a commit counts where its functions still exist under
  their names, and their present lines are the answer.
"""

import argparse
import ast
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.docstrings import Documented, blank, choose, is_fit, read_file, sample, without_name
from benchmarks.figures import add_option, write_rows
from graphrag_mcp.app.local import App
from graphrag_mcp.exclusion.manager import ExclusionManager
from graphrag_mcp.exclusion.walker import WalkedFile, walk
from graphrag_mcp.model.files import Category, ParsedFile, Symbol, SymbolKind
from graphrag_mcp.model.search import SearchRequest, SearchResult
from graphrag_mcp.parsing.parser import parse_file
from graphrag_mcp.settings import load_settings
from training.docstrings import first_sentences, read_docstrings

SETS = {
    "docstrings": "docstring → function",
    "types": "docstring → type",
    "commits": "commit subject → function",
}
LIMIT = 10  # Results that are scored.
TYPES_PER_REPOSITORY, COMMITS_PER_REPOSITORY = 12, 35
COMMITS_READ, MOST_FILES, MOST_FUNCTIONS = 2_500, 8, 2
FUNCTIONS = (SymbolKind.FUNCTION, SymbolKind.METHOD)
RESAMPLES = 2_000
GIT_SECONDS = 60.0

_ROUTINE = re.compile(
    r"(merge|revert|bump|release|version|prepare|changelog|typo|update dep|v?\d+\.\d+)\b", re.IGNORECASE
)
_REFERENCE = re.compile(r"\s*\(?#\d+\)?")
_FEWEST_CHARACTERS = 25  # "fix tests" asks for nothing.
_HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", re.MULTILINE)

Span = tuple[str, int, int]


def main() -> None:
    """Make the sets, ask them, or compare two runs."""
    parser = argparse.ArgumentParser(description="Ask for single functions and types.")
    steps = parser.add_subparsers(dest="step", required=True)
    making = steps.add_parser("make", help="write the questions and the trees without docstrings")
    asking = steps.add_parser("ask", help="index, ask and score")
    comparing = steps.add_parser("compare", help="print what a run gains over another one")
    for step in (making, asking, comparing):
        step.add_argument("out", type=Path, help="folder of the questions")
    making.add_argument("--benchmark", type=Path, required=True, help="folder of repos.json")
    for step in (asking, comparing):
        step.add_argument("run", type=Path, help="file of a run")
    for step in (making, asking):
        step.add_argument("--repos-dir", type=Path, required=True, help="folder of the checkouts")
    asking.add_argument("--data-dir", type=Path, help="keep the indexes here and use them again")
    asking.add_argument("--setting", action="append", default=[], help="name=value, as GRAPHRAG_NAME would set it")
    asking.add_argument("--sets", nargs="*", choices=list(SETS), default=list(SETS))
    add_option(asking)
    comparing.add_argument("other", type=Path, help="file of the run to compare with")
    options = parser.parse_args()
    {"make": make, "ask": ask, "compare": compare}[options.step](options)


# ---------------------------------------------------------------- making


def make(options: argparse.Namespace) -> None:
    """Write the trees and the questions."""
    questions: list[dict[str, Any]] = []
    shutil.rmtree(options.out / "trees", ignore_errors=True)
    for repository in json.loads((options.benchmark / "repos.json").read_text()):
        name = repository["name"]
        checkout, tree = options.repos_dir / name, options.out / "trees" / name
        shutil.copytree(checkout, tree, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        paths = sorted(one.path for one in walk(ExclusionManager(tree)) if isinstance(one, WalkedFile))
        texts = {path: (tree / path).read_bytes() for path in paths}
        functions = choose([one for path in paths for one in read_file(path, texts[path])])
        read = [one for path in paths for one in read_types(path, texts[path]) if one.query]
        types = sample(read, TYPES_PER_REPOSITORY)
        blank(tree, [one for path in paths for one in everything_documented(path, texts[path])])
        questions += [as_question("docstrings", name, one) for one in functions]
        questions += [as_question("types", name, one) for one in types]
        questions += commit_questions(checkout, name, texts)
    (options.out / "questions.json").write_text(json.dumps(questions, indent=1))
    for one_set, count in Counter(question["set"] for question in questions).items():
        print(f"{one_set:12}{count:>5} questions")


def as_question(of_set: str, repo: str, one: Documented) -> dict[str, Any]:
    """Return a question whose answer is one definition."""
    gold = [[one.path, one.symbol.start_line, one.symbol.end_line, one.symbol.name]]
    return {"set": of_set, "repo": repo, "query": one.query, "gold": gold}


def read_types(path: str, data: bytes) -> Iterator[Documented]:
    """Yield the documented types of a file of the implementation."""
    parsed = parse_file(path, data)
    if parsed.category is not Category.IMPLEMENTATION:
        return
    for symbol, rows, said in documented_types(parsed, data):
        query = without_name(said, symbol.name)
        words = frozenset(re.findall("[a-z]+", (query or said).lower()))
        yield Documented(path, symbol, rows, query if is_fit(query) else "", words)


def documented_types(parsed: ParsedFile, data: bytes) -> Iterator[tuple[Symbol, range, str]]:
    """Yield the types of a file with the rows of their docstrings and what those say first."""
    if parsed.language == "python":
        types = {(one.name, one.end_line): one for one in parsed.symbols if one.kind is SymbolKind.TYPE}
        lines = [line.strip() for line in data.decode(errors="replace").split("\n")]
        for key, rows in python_class_docstrings(data).items():
            if key in types:
                yield types[key], rows, first_sentences([lines[row] for row in rows], "python")
        return
    for symbol, rows, said, _ in read_docstrings(parsed, data):
        if symbol.kind is SymbolKind.TYPE:
            yield symbol, rows, said


def python_class_docstrings(data: bytes) -> dict[tuple[str, int], range]:
    """Return the rows of the docstrings of classes that have a body besides, by the class's name and last line."""
    found = {}
    with suppress(SyntaxError):
        for node in ast.walk(ast.parse(data)):
            if isinstance(node, ast.ClassDef) and len(node.body) > 1 and ast.get_docstring(node):
                first, last = node.body[0].lineno, node.body[0].end_lineno
                if last is not None and node.end_lineno is not None:
                    found[node.name, node.end_lineno] = range(first - 1, last)
    return found


def everything_documented(path: str, data: bytes) -> Iterator[Documented]:
    """Yield every definition of a file with a docstring, of whatever kind and category."""
    parsed = parse_file(path, data)
    for symbol, rows, said, _ in read_docstrings(parsed, data):
        yield Documented(path, symbol, rows, said, frozenset())
    for symbol, rows, said in documented_types(parsed, data):
        yield Documented(path, symbol, rows, said, frozenset())


def commit_questions(checkout: Path, repo: str, texts: Mapping[str, bytes]) -> list[dict[str, Any]]:
    """Return the newest commits whose changes of the implementation lie in one or two functions that still exist."""
    present = {}
    chosen: list[dict[str, Any]] = []
    for commit, subject, paths in read_commits(checkout):
        question = _REFERENCE.sub("", subject).strip()
        if len(question) < _FEWEST_CHARACTERS or _ROUTINE.match(question) or len(paths) > MOST_FILES:
            continue
        touched = touched_functions(checkout, commit, paths)
        if touched is None or not 1 <= len(touched) <= MOST_FUNCTIONS or any(path not in texts for path, _ in touched):
            continue
        gold = []
        for path, name in sorted(touched):
            if path not in present:
                present[path] = functions_of(parse_file(path, texts[path]))
            gold += [
                [path, one.start_line, one.end_line, one.name] for one in present[path] if one.qualified_name == name
            ]
        if len(gold) == len(touched):
            chosen.append({"set": "commits", "repo": repo, "query": question, "gold": gold})
        if len(chosen) == COMMITS_PER_REPOSITORY:
            break
    return chosen


def read_commits(checkout: Path) -> Iterator[tuple[str, str, list[str]]]:
    """Yield hash, subject and changed paths of the newest commits."""
    log = git(
        checkout,
        "log",
        "--no-merges",
        f"--max-count={COMMITS_READ}",
        "--name-only",
        "--no-renames",
        "--format=%x01%H%x00%s",
    )
    for record in log.split("\x01")[1:]:
        head, *paths = filter(None, record.split("\n"))
        commit, _, subject = head.partition("\0")
        yield commit, subject, paths


def touched_functions(checkout: Path, commit: str, paths: Sequence[str]) -> set[tuple[str, str]] | None:
    """Return path and qualified name of the functions that a commit changes; None if it changes other code too."""
    touched: set[tuple[str, str]] = set()
    for path in paths:
        with suppress(subprocess.CalledProcessError):  # Git has no such file: the commit deletes it.
            data = git(checkout, "show", f"{commit}:{path}").encode("utf-8", "surrogateescape")
            parsed = parse_file(path, data)
            if parsed.category is not Category.IMPLEMENTATION or not parsed.symbols:
                continue
            lines = [line.strip() for line in data.split(b"\n")]
            functions = functions_of(parsed)
            diff = git(checkout, "diff", "-U0", "--no-color", "--no-ext-diff", f"{commit}^", commit, "--", path)
            for first, count in _HUNK.findall(diff):
                changed = range(int(first), int(first) + max(1, int(count or 1)))
                for row in changed:
                    around = [one for one in functions if one.start_line <= row <= one.end_line]
                    if around:
                        touched.add((path, min(around, key=lambda one: one.end_line - one.start_line).qualified_name))
                    elif row <= len(lines) and lines[row - 1]:
                        return None
    return touched


def functions_of(parsed: ParsedFile) -> list[Symbol]:
    return [one for one in parsed.symbols if one.kind in FUNCTIONS]


def git(checkout: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=checkout, check=True, capture_output=True, timeout=GIT_SECONDS)
    return done.stdout.decode("utf-8", "surrogateescape")


# ---------------------------------------------------------------- asking


class Found(NamedTuple):
    """What an answer shows of a question's definitions: as the first result, among ten, there or as a pointer."""

    first: bool
    in_ten: bool
    named: bool


def ask(options: argparse.Namespace) -> None:
    """Index the trees, ask the questions and print the scores."""
    groups: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    questions = json.loads((options.out / "questions.json").read_text())
    for number, question in enumerate(questions):
        if question["set"] in options.sets:
            groups["checkouts" if question["set"] == "commits" else "trees", question["repo"]].append(number)
    answers: dict[int, Found] = {}
    with tempfile.TemporaryDirectory() as temporary:
        environment = dict(os.environ) | {"GRAPHRAG_DATA_DIR": str(options.data_dir or temporary)}
        environment |= {
            f"GRAPHRAG_{name.upper()}": value for name, _, value in (one.partition("=") for one in options.setting)
        }
        for (kind, repo), numbers in sorted(groups.items()):
            root = options.repos_dir / repo if kind == "checkouts" else options.out / "trees" / repo
            app = App(root, load_settings(root, environment))
            app.index()
            for number in numbers:
                result = app.search(SearchRequest(questions[number]["query"], limit=LIMIT))
                answers[number] = judge(questions[number]["gold"], result)
            app.close()
    options.run.write_text(json.dumps(answers))
    report(questions, answers, options.figures)


def judge(gold: Sequence[Sequence[Any]], result: SearchResult) -> Found:
    """Tell where a result has one of the definitions asked for; a pointer names it with its file."""
    shown = [
        any(
            hit.chunk.path == path and hit.chunk.start_line <= end and hit.chunk.end_line >= start
            for path, start, end, _ in gold
        )
        for hit in result.primary[:LIMIT]
    ]
    pointed = [(hit.chunk.path, one) for hit in result.primary[:LIMIT] if hit.focus for one in hit.focus.also_here]
    is_named = any(
        where == path and one.name == name and start <= one.start_line <= end
        for where, one in pointed
        for path, start, end, name in gold
    )
    return Found(any(shown[:1]), any(shown), any(shown) or is_named)


def report(questions: Sequence[Mapping[str, Any]], answers: Mapping[int, Sequence[bool]], figures: str | None) -> None:
    print(f"{'':12}{'n':>5}" + "".join(f"{name:>8}" for name in Found._fields))
    for one_set in SETS:
        rows = [answers[number] for number, one in enumerate(questions) if number in answers and one["set"] == one_set]
        if rows:
            means = [f"{mean:.3f}" for mean in np.mean(rows, axis=0)]
            print(f"{one_set:12}{len(rows):>5}" + "".join(f"{mean:>8}" for mean in means))
            cells = dict(zip(("first", "among ten", "named"), means, strict=True))
            write_rows(figures, {SETS[one_set]: {"questions": str(len(rows)), **cells}})


# ---------------------------------------------------------------- comparing


def compare(options: argparse.Namespace) -> None:
    """Print the means of both runs, and the difference with its 95 % interval (paired bootstrap)."""
    questions = json.loads((options.out / "questions.json").read_text())
    run, other = (json.loads(path.read_text()) for path in (options.run, options.other))
    resampled = np.random.default_rng(0)
    for one_set in SETS:
        numbers = [n for n, one in enumerate(questions) if one["set"] == one_set and str(n) in run and str(n) in other]
        if not numbers:
            continue
        now, then = (np.array([one[str(n)] for n in numbers], dtype=float) for one in (run, other))
        drawn = resampled.integers(len(numbers), size=(RESAMPLES, len(numbers)))
        low, high = np.percentile((now - then)[drawn].mean(axis=1), [2.5, 97.5], axis=0)
        for column, name in enumerate(Found._fields):
            before, after = then[:, column].mean(), now[:, column].mean()
            change = f"{after - before:+.3f} [{low[column]:+.3f}, {high[column]:+.3f}]"
            print(f"{one_set:12}{len(numbers):>5}  {name:8}{before:.3f} -> {after:.3f}  {change}")


if __name__ == "__main__":
    main()
