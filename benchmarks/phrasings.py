"""Ask for the places that commits changed: by the description alone, and by several phrasings together.

    python -m benchmarks.phrasings OUT --repos-dir CHECKOUTS [--commits N] [--data-dir DIR] [--setting name=value ...]

CHECKOUTS holds one repository with its history per folder. A question is made of a commit's message: the description
is the first paragraph of its body, the subject its first line, the key words are the names that either writes as code
and its rarest words. Right are the files of the implementation that the commit changed, and the definitions around the
changed lines. One tree is searched for all commits of a repository: the parent of the oldest. So a definition is looked
up there by file and qualified name, and what is not there yet is left out. An author knows the solution; the users of a
search do not. OUT gets the trees and the indexes.
"""

import argparse
import json
import math
import os
import re
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.figures import add_option, write_rows
from graphrag_mcp.app.local import App
from graphrag_mcp.embedding.models import load_embedder
from graphrag_mcp.model.files import Category, Symbol, SymbolKind
from graphrag_mcp.model.search import SearchRequest
from graphrag_mcp.parsing.categories import categorise
from graphrag_mcp.parsing.parser import parse_file
from graphrag_mcp.search.evaluation.history import export_tree
from graphrag_mcp.search.evaluation.scores import JudgedQuery, Target, score
from graphrag_mcp.settings import load_settings
from graphrag_mcp.text.words import query_words

COMMITS = 25  # Of each repository.
MOST_FILES = 8  # A commit that changes more does not answer one question.
MOST_DEFINITIONS = 3
FEWEST_WORDS = 10  # Of a description.
LETTERS = 0.8  # The share of a description; below it is a list, code or a trace.
KEY_WORDS = 8
LIMIT = 10
COMMITS_READ = 4_000
TIMEOUT_SECONDS = 120.0
RESAMPLES = 2_000
VARIANTS = {
    "description": ("description",),
    "subject": ("subject",),
    "key words": ("keys",),
    "subject, key words": ("subject", "keys"),
    "description, key words": ("description", "keys"),
    "all three": ("description", "subject", "keys"),
}
MEASURES = {"file": "file NDCG", "function": "function in ten"}

_ROUTINE = re.compile(
    r"(merge|revert|bump|release|version|prepare|update (dependenc|changelog|readme)|changelog|typo|v?\d+\.\d+)\b", re.I
)
_TRAILER = re.compile(r"^[\w-]+: \S|^(fix(es)?|close[sd]?|resolve[sd]?|refs?|see) (\S+ )?#\d+", re.I)
_REFERENCE = re.compile(r"\s*\(?#\d+\)?")
_CODE_WORD = re.compile(r"`([^`\n]{2,60})`|\b(\w+(?:(?:\.|::|->)\w+)+|\w*[a-z][A-Z]\w*|\w+_\w+)\b")
_RECORD = "\x01"


@dataclass(frozen=True, slots=True)
class Change:
    """A commit with a description. ranges: the changed lines of each file before it, 1-based and inclusive."""

    hash: str
    subject: str
    description: str
    ranges: Mapping[str, Sequence[tuple[int, int]]]


@dataclass(frozen=True, slots=True)
class Question:
    """One commit as a question: its phrasings by name, the right files, and the right definitions (path, span)."""

    repo: str
    id: str
    phrasings: Mapping[str, str]
    files: Sequence[str]
    definitions: Sequence[tuple[str, int, int]]


def main() -> None:
    """Print both measures for each way to ask, and the difference to the description alone."""
    parser = argparse.ArgumentParser(description="Ask commits by one phrasing and by several.")
    parser.add_argument("out", type=Path, help="folder of the trees and indexes; kept and used again")
    parser.add_argument("--repos-dir", type=Path, required=True)
    parser.add_argument("--commits", type=int, default=COMMITS)
    parser.add_argument("--setting", action="append", default=[], help="name=value, as GRAPHRAG_NAME would set it")
    add_option(parser)
    options = parser.parse_args()
    os.environ["GRAPHRAG_DATA_DIR"] = str(options.out / "data")
    environment = dict(os.environ)
    environment |= {f"GRAPHRAG_{name.upper()}": value for name, _, value in (s.partition("=") for s in options.setting)}
    load_embedder().embed_query("loaded once and kept, as in a server")
    rows: list[dict[str, Any]] = []
    for root in sorted(path for path in options.repos_dir.iterdir() if (path / ".git").exists()):
        questions = make_questions(root, options.out / "trees" / root.name, options.commits)
        if questions:
            rows += ask_all(options.out / "trees" / root.name, questions, environment)
        sys.stdout.write(f"{root.name:16} {len(questions):4} questions\n")
    (options.out / "rows.json").write_text(json.dumps(rows))
    report(rows, options.figures)


# ---------------------------------------------------------------- questions


def make_questions(root: Path, tree: Path, most: int) -> list[Question]:
    """Return the questions of a repository, and write the tree that is searched for them."""
    changes = list(read_changes(root, most))
    if not changes:
        return []
    commit = git(root, "rev-parse", "--verify", f"{changes[-1].hash}^").strip()
    if not tree.exists():
        export_tree(root, commit, tree)
    frequencies = count_words(tree)
    questions = (as_question(root, tree, change, frequencies) for change in changes)
    return [question for question in questions if question.files]


def read_changes(root: Path, most: int) -> Iterator[Change]:
    """Yield the newest commits with a description that change some implementation."""
    log = git(
        root, "log", "--no-merges", "--min-parents=1", f"--max-count={COMMITS_READ}", "--name-only", "-z",
        "--no-renames", "--diff-filter=M", "--no-ext-diff", "--no-color", f"--format={_RECORD}%H%x00%s%x00%b%x00",
    )  # fmt: skip
    found = 0
    for record in log.split(_RECORD)[1:]:
        name, subject, body, *rest = record.split("\0")
        paths = [path.lstrip("\n") for path in rest if path.strip("\n")]
        code = [path for path in paths if categorise(path) is Category.IMPLEMENTATION]
        description = describe(body)
        if not description or not code or len(paths) > MOST_FILES or _ROUTINE.match(subject):
            continue
        ranges = {path: changed_lines(root, name, path) for path in code}
        yield Change(name, _REFERENCE.sub("", subject).strip(), description, ranges)
        found += 1
        if found == most:
            return


def describe(body: str) -> str:
    """Return the first paragraph of a body that is prose; "" without one."""
    for paragraph in re.split(r"\n\s*\n", body.strip()):
        lines = [line.strip() for line in paragraph.splitlines() if not _TRAILER.match(line.strip())]
        text = _REFERENCE.sub("", " ".join(lines)).strip()
        letters = len(re.findall(r"[^\W\d_]|[ ,.'-]", text))
        if len(text.split()) >= FEWEST_WORDS and letters >= LETTERS * len(text) and not text.startswith(("*", "- ")):
            return text
    return ""


def changed_lines(root: Path, commit: str, path: str) -> list[tuple[int, int]]:
    """Return the lines of a file that a commit changed, as they were before; an insertion lies at the line before."""
    diff = git(root, "diff", "-U0", "--no-ext-diff", "--no-textconv", "--no-color", f"{commit}^", commit, "--", path)
    hunks = re.findall(r"^@@ -(\d+)(?:,(\d+))? ", diff, re.MULTILINE)
    return [(int(start), int(start) + max(1, int(count or 1)) - 1) for start, count in hunks]


def as_question(root: Path, tree: Path, change: Change, frequencies: Mapping[str, int]) -> Question:
    """Return the commit as a question to the tree."""
    files = [path for path in change.ranges if (tree / path).is_file()]
    names = {(path, name) for path in files for name in changed_names(root, change, path)}
    definitions = []
    for path in files:
        found = functions_of(path, (tree / path).read_bytes())
        definitions += [(path, one.start_line, one.end_line) for one in found if (path, one.qualified_name) in names]
    both = f"{change.subject}\n{change.description}"
    phrasings = {"description": change.description, "subject": change.subject, "keys": key_words(both, frequencies)}
    return Question(
        root.name,
        change.hash[:10],
        phrasings,
        files,
        definitions if 1 <= len(definitions) <= MOST_DEFINITIONS else [],
    )


def changed_names(root: Path, change: Change, path: str) -> set[str]:
    """Return the qualified names of the innermost functions around the changed lines of a file."""
    before = git_bytes(root, "cat-file", "blob", f"{change.hash}^:{path}")
    found = functions_of(path, before)
    names = set()
    for start, end in change.ranges[path]:
        around = [one for one in found if one.start_line <= end and start <= one.end_line]
        if around:
            names.add(min(around, key=lambda one: one.end_line - one.start_line).qualified_name)
    return names


def functions_of(path: str, data: bytes) -> list[Symbol]:
    """Return the functions and methods of a file."""
    kinds = (SymbolKind.FUNCTION, SymbolKind.METHOD)
    return [symbol for symbol in parse_file(path, data).symbols if symbol.kind in kinds]


def key_words(text: str, frequencies: Mapping[str, int]) -> str:
    """Return the names that a text writes as code, and its words that are rarest in the repository."""
    names = [first or second for first, second in _CODE_WORD.findall(text)]
    words = {query_words(word)[-1]: word for word in re.findall(r"\w{3,}", text) if query_words(word)}
    rarest = sorted(words, key=lambda term: (frequencies.get(term, 0) == 0, frequencies.get(term, 0), term))
    chosen = dict.fromkeys([*names, *(words[term] for term in rarest)])
    return " ".join(list(chosen)[: max(KEY_WORDS, len(names))])


def count_words(tree: Path) -> Counter[str]:
    """Return in how many files of a tree each term stands."""
    counts: Counter[str] = Counter()
    for file in tree.rglob("*"):
        if file.is_file() and file.stat().st_size < 500_000:
            counts.update(set(query_words(file.read_text(encoding="utf-8", errors="replace"))))
    return counts


def git(root: Path, *arguments: str) -> str:
    """Return what git prints."""
    return git_bytes(root, *arguments).decode("utf-8", "replace")


def git_bytes(root: Path, *arguments: str) -> bytes:
    """Return the bytes that git prints."""
    command = ["git", *arguments]
    return subprocess.run(command, cwd=root, check=True, capture_output=True, timeout=TIMEOUT_SECONDS).stdout


# ---------------------------------------------------------------- asking


def ask_all(tree: Path, questions: Sequence[Question], environment: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return each question with both measures of each way to ask."""
    rows = []
    app = App(tree, load_settings(tree, environment))
    app.index()
    app.search(SearchRequest("warm up"))
    for question in questions:
        measures = {}
        for variant, names in VARIANTS.items():
            texts = [question.phrasings[name] for name in names]
            started = time.perf_counter()
            answer = app.search(SearchRequest(texts[0], also=tuple(texts[1:]), limit=LIMIT))
            elapsed_ms = (time.perf_counter() - started) * 1000
            found = [(hit.chunk.path, hit.chunk.start_line, hit.chunk.end_line) for hit in answer.primary]
            measures[variant] = {**measure(question, found), "ms": elapsed_ms, "confidence": answer.meta.confidence}
        rows.append({**asdict(question), "measures": measures})
    app.close()
    return rows


def measure(question: Question, found: Sequence[tuple[str, int, int]]) -> dict[str, float]:
    """Return the NDCG of the files, and whether a right definition is among the results."""
    targets = tuple(Target((path,), start, end) for path, start, end in question.definitions)
    judged = JudgedQuery(question.id, "", "", frozenset(question.files), targets, "")
    scores = score(judged, found)
    return {"file": scores.file_ndcg, "function": scores.span10 if targets else math.nan}


def report(rows: Sequence[Mapping[str, Any]], figures: str | None) -> None:
    """Print the means, the paired differences with 95 % intervals, and the time."""
    with_function = sum(1 for row in rows if row["definitions"])
    sys.stdout.write(f"{len(rows)} questions, {with_function} with functions\n")
    sys.stdout.write(f"{'':24}   file NDCG                     function in ten               p50 ms\n")
    for variant in VARIANTS:
        cells = []
        row: dict[str, str] = {}
        for name in MEASURES:
            values = np.array([row["measures"][variant][name] for row in rows])
            base = np.array([row["measures"]["description"][name] for row in rows])
            known = ~np.isnan(values)
            low, high = interval(values[known] - base[known])
            gain = f"{(values - base)[known].mean():+.3f} [{low:+.3f}, {high:+.3f}]"
            cells.append(f"{values[known].mean():.3f} {gain}")
            row |= {MEASURES[name]: f"{values[known].mean():.3f}", f"{MEASURES[name]}, gain": gain}
        ms = statistics.median(row["measures"][variant]["ms"] for row in rows)
        sys.stdout.write(f"{variant:24}   {'   '.join(cells)}   {ms:6.1f}\n")
        write_rows(figures, {variant: row})


def interval(differences: "np.ndarray[Any, np.dtype[np.float64]]") -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the mean."""
    drawn = np.random.default_rng(0).integers(0, len(differences), (RESAMPLES, len(differences)))
    low, high = np.quantile(differences[drawn].mean(axis=1), (0.025, 0.975))
    return float(low), float(high)


if __name__ == "__main__":
    main()
