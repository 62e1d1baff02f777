"""Checks the golden corpus: paths exist, lines lie in their files, and targets hold the definitions that they name.

Usage: python check.py; prints every problem and exits with 1 if there is one.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
CORPUS = HERE / "corpus"
CATEGORIES = frozenset(
    (
        "symbol",
        "path",
        "natural",
        "architecture",
        "relational",
        "tests",
        "documentation",
        "configuration",
        "archived",
        "long",
        "duplicates",
        "status",
        "freshness",
        "abbreviations",
        "cross-language",
    )
)
ARGUMENTS = frozenset({"excluded_files", "exclude_archived", "include_patterns", "categories", "languages"})
ENTRY_KEYS = frozenset({"id", "query", "category", "relevant", "targets", "arguments", "hard"})
TARGET_KEYS = frozenset({"paths", "start_line", "end_line", "symbol"})
LEAST_QUERIES, LEAST_HARD = 60, 8
# Folders that only a machine has; a shebang would be fine, but there is none.
ABSOLUTE = re.compile(r"(?<![\w.:/\\$}])/(?:home|Users|root|tmp|var|work|usr|opt|etc|mnt|srv)/|\b[A-Z]:\\\w")


def definition(symbol: str) -> re.Pattern[str]:
    """Return what the line of a definition looks like: of code in any of our languages, a table, or a heading."""
    name = re.escape(symbol)
    return re.compile(
        rf"\b(?:def|class|func|fn|function|struct|interface|const|type|CREATE TABLE) {name}\b"  # most languages
        rf"|^func \([^)]*\) {name}\("  # a Go method
        rf"|^{name}(?:: [^=]+)? = "  # a constant
        rf"|\bdescribe\(\"{name}\""
        rf"|^#+ {name}$"
    )


def check_queries(queries: list[dict[str, Any]]) -> Iterator[str]:
    """Yield what is wrong with the queries."""
    ids = [query["id"] for query in queries]
    yield from (f"{one}: the id is used twice" for one in sorted({one for one in ids if ids.count(one) > 1}))
    if len(queries) < LEAST_QUERIES:
        yield f"only {len(queries)} queries"
    if sum(bool(query.get("hard")) for query in queries) < LEAST_HARD:
        yield "too few hard queries"
    yield from (f"no query of category {name}" for name in sorted(CATEGORIES - {one["category"] for one in queries}))
    for query in queries:
        yield from (f"{query['id']}: {problem}" for problem in check_query(query))


def check_query(query: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with one query."""
    yield from (f"unknown key {key}" for key in sorted(query.keys() - ENTRY_KEYS))
    yield from (f"unknown argument {key}" for key in sorted(query.get("arguments", {}).keys() - ARGUMENTS))
    if query["category"] not in CATEGORIES:
        yield f"unknown category {query['category']}"
    if len(query["query"].strip()) < 3 or not query["relevant"] or not query["targets"]:
        yield "needs a query, relevant files and targets"
    yield from (f"{path} does not exist" for path in query["relevant"] if not (CORPUS / path).is_file())
    for target in query["targets"]:
        yield from (f"unknown key {key} of a target" for key in sorted(target.keys() - TARGET_KEYS))
        yield from (f"{path} is a target but not relevant" for path in set(target["paths"]) - set(query["relevant"]))
        for path in target["paths"]:
            yield from (f"{path}: {problem}" for problem in check_target(target, CORPUS / path))


def check_target(target: Mapping[str, Any], path: Path) -> Iterator[str]:
    """Yield what is wrong with a target in one of its files."""
    if not path.is_file():
        yield "does not exist"
        return
    lines = path.read_text(encoding="utf-8").splitlines()
    start, end = target["start_line"], target["end_line"]
    if not 1 <= start <= end <= len(lines):
        yield f"lines {start} to {end} are not in a file of {len(lines)} lines"
        return
    if not lines[start - 1].strip() or not lines[end - 1].strip():
        yield f"lines {start} to {end} begin or end with an empty line"
    if (symbol := target.get("symbol")) and not definition(symbol).search(lines[start - 1].strip()):
        yield f"line {start} does not define {symbol}: {lines[start - 1]!r}"


def check_ages(ages: Mapping[str, float]) -> Iterator[str]:
    """Yield the keys that match no file; a key that ends in a slash is a folder."""
    if "default" not in ages:
        yield "ages.json: no default"
    for key in ages.keys() - {"default"}:
        path = CORPUS / key
        if not (path.is_dir() if key.endswith("/") else path.is_file()):
            yield f"ages.json: {key} does not exist"


def check_files() -> Iterator[str]:
    """Yield the files that would upset the tools of the project around the corpus."""
    for path in sorted(path for path in CORPUS.rglob("*") if path.is_file()):
        name = path.relative_to(CORPUS).as_posix()
        text = path.read_text(encoding="utf-8")
        if path.name == ".gitignore":
            yield f"{name}: hides files from git"
        if re.search(r"[ \t]+$", text, re.MULTILINE) or not text.endswith("\n") or text.endswith("\n\n"):
            yield f"{name}: blanks at the end of a line or of the file"
        if match := ABSOLUTE.search(text):
            yield f"{name}: absolute path at {match.group(0)}"


def find_problems() -> list[str]:
    """Return everything that is wrong with the corpus, its queries and its ages."""
    queries = json.loads((HERE / "queries.json").read_text(encoding="utf-8"))
    ages = json.loads((HERE / "ages.json").read_text(encoding="utf-8"))
    return [*check_queries(queries), *check_ages(ages), *check_files()]


def main() -> int:
    """Print the problems and return the exit code."""
    problems = find_problems()
    sys.stdout.writelines(f"{problem}\n" for problem in problems)
    sys.stdout.write(f"{len(problems)} problems\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
