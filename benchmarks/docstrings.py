"""Make a benchmark of checkouts in which a docstring has to find its function, or score a run of it.

    python -m benchmarks.docstrings OUT --repos-dir CHECKOUTS --benchmark BENCHMARK
    python -m benchmarks.quality RUN.json --repos-dir OUT/trees --benchmark OUT --scope full
    python -m benchmarks.docstrings OUT --score RUN.json

CHECKOUTS holds one folder per repository of BENCHMARK/repos.json. A query is what a docstring says first; in OUT/trees
the docstrings that became queries are blanked, so that only the code can be found, on the lines where it was.
"""

import argparse
import json
import random
import re
import shutil
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.figures import add_option, write_rows
from graphrag_mcp.exclusion.manager import ExclusionManager
from graphrag_mcp.exclusion.walker import WalkedFile, walk
from graphrag_mcp.model.files import Category, Symbol, SymbolKind
from graphrag_mcp.parsing.parser import parse_file
from training.docstrings import LONGEST, SHORTEST, read_docstrings

WORDS = 6  # The fewest of a query.
LETTERS = 0.85  # The share of a query; below it is a formula, a table or code.
ALIKE = 0.75  # The share of words; two docstrings that have more in common do not tell which function they mean.
FUNCTION_LINES, PER_REPOSITORY, PER_FILE = 4, 25, 5
LIMIT = 10  # Results that are scored.

_UNFIT = re.compile(
    r"\b(?:eslint|prettier|istanbul|copyright|license|noqa|clang-format|todo|fixme|deprecated|inheritdoc)\b"
    r"|^[*=]|^n\.b\.|-{4}|[{};]|://",
    re.IGNORECASE,
)


class Documented(NamedTuple):
    """A definition and the 0-based rows of its docstring; `query` is "" where it is not to be asked for."""

    path: str
    symbol: Symbol
    rows: range
    query: str
    words: frozenset[str]


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the benchmark of docstrings, or score a run of it.")
    parser.add_argument("out", type=Path, help="folder of the benchmark")
    parser.add_argument("--repos-dir", type=Path, help="folder of the checkouts")
    parser.add_argument("--benchmark", type=Path, help="folder of repos.json")
    parser.add_argument("--score", type=Path, metavar="RUN.json", help="make nothing, score this run of quality.py")
    add_option(parser)
    options = parser.parse_args()
    if options.score:
        score(options.out, options.score, options.figures)
    elif options.repos_dir and options.benchmark:
        make(options.out, options.repos_dir, options.benchmark)
    else:
        parser.error("either --repos-dir and --benchmark, or --score is needed")


def make(out: Path, repos_dir: Path, benchmark: Path) -> None:
    """Write the trees and both lists; a repository without a query is in neither."""
    repositories, queries = [], []
    shutil.rmtree(out / "trees", ignore_errors=True)
    for repository in json.loads((benchmark / "repos.json").read_text()):
        name, tree = repository["name"], out / "trees" / repository["name"]
        shutil.copytree(repos_dir / name, tree, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        files = sorted(one.path for one in walk(ExclusionManager(tree)) if isinstance(one, WalkedFile))
        chosen = choose([one for path in files for one in read_file(path, (tree / path).read_bytes())])
        blank(tree, chosen)
        queries += [as_query(repository, f"docstring-{name}-{number:02}", one) for number, one in enumerate(chosen)]
        repositories += [repository] if chosen else []
    (out / "repos.json").write_text(json.dumps(repositories, indent=1))
    (out / "queries.json").write_text(json.dumps(queries, indent=1))
    for name, count in Counter(query["repo"] for query in queries).items():
        print(f"{name:<16}{count:>4} queries")
    print(f"total {len(queries)} queries of {len(repositories)} repositories")


def read_file(path: str, data: bytes) -> Iterator[Documented]:
    """Yield the documented definitions of a file of the implementation."""
    parsed = parse_file(path, data)
    if parsed.category is not Category.IMPLEMENTATION:
        return
    lines = [line.strip() for line in data.decode(errors="replace").split("\n")]
    for symbol, rows, said, is_inside in read_docstrings(parsed, data):
        code = [lines[row] for row in range(symbol.start_line - 1, symbol.end_line) if row not in rows]
        has_body = is_inside or code[-1].endswith("end") or any("{" in line or "=" in line for line in code)
        is_function = symbol.kind in (SymbolKind.FUNCTION, SymbolKind.METHOD) and has_body
        query = without_name(said, symbol.name)
        words = frozenset(re.findall("[a-z]+", (query or said).lower()))
        is_query = is_function and len(code) >= FUNCTION_LINES and is_fit(query)
        yield Documented(path, symbol, rows, query if is_query else "", words)


def without_name(said: str, name: str) -> str:
    """Return "Attaches it" for what Use's "Use attaches it" says, and "" where the name is given away elsewhere."""
    if leading := re.match(rf"{re.escape(name)}\s*(?:\(\))?\s*(?:is|-|–|:)?\s+(?=[a-z])", said):
        said = said[leading.end()].upper() + said[leading.end() + 1 :]
    bare = re.escape(name.rstrip("?!="))
    is_word = name.isalpha() and name[1:] == name[1:].lower()  # "get" may be just the word.
    return "" if re.search(rf"\b{bare}\(" if is_word else rf"(?<!\w){bare}(?!\w)", said) else said


def is_fit(query: str) -> bool:
    words, letters = re.findall(r"[A-Za-z][A-Za-z'-]+", query), re.findall(r"[^\W\d_]|[ ,.'-]", query)
    is_prose = len(words) >= WORDS and len(letters) >= LETTERS * len(query)
    return SHORTEST <= len(query) <= LONGEST and is_prose and not _UNFIT.search(query)


def choose(documented: Sequence[Documented]) -> list[Documented]:
    """Return some of those whose docstring is like no other's in the repository, the same on every run."""

    def is_twin(one: Documented, other: Documented) -> bool:
        return one is not other and len(one.words & other.words) > ALIKE * len(one.words | other.words)

    usable = [one for one in documented if one.query and not any(is_twin(one, other) for other in documented)]
    return sample(usable, PER_REPOSITORY)


def sample(documented: Sequence[Documented], most: int) -> list[Documented]:
    """Return some, at most PER_FILE of a file, the same on every run."""
    of_file: Counter[str] = Counter()
    chosen = []
    for one in random.Random(0).sample(documented, len(documented)):
        of_file[one.path] += 1
        if of_file[one.path] <= PER_FILE:
            chosen.append(one)
    return sorted(chosen[:most], key=lambda one: (one.path, one.rows.start))


def blank(tree: Path, chosen: Sequence[Documented]) -> None:
    """Empty the rows of the docstrings and keep their line ends."""
    for one in chosen:
        lines = (tree / one.path).read_bytes().split(b"\n")
        for row in one.rows:
            lines[row] = b"\r" if lines[row].endswith(b"\r") else b""
        (tree / one.path).write_bytes(b"\n".join(lines))


def as_query(repository: Mapping[str, Any], query_id: str, one: Documented) -> dict[str, Any]:
    """Return the query as a benchmark's queries.json has it."""
    span = {"start_line": one.symbol.start_line, "end_line": one.symbol.end_line}
    query = {"id": query_id, "repo": repository["name"], "language": repository["language"], "query": one.query}
    target = {"raw": one.path, "paths": [one.path], **span, "grade": "primary"}
    return {**query, "category": "docstring", "relevant": [one.path], "targets": [target]}


def score(out: Path, run: Path, figures: str | None) -> None:
    """Print whether the functions are found, how much is shown, and whether the first result is the right one."""
    results = json.loads(run.read_text())["results"]
    scores: dict[str, list[tuple[float, ...]]] = {}
    for query in json.loads((out / "queries.json").read_text()):
        if query["id"] not in results:  # The run may be of some repositories only.
            continue
        shown, target = results[query["id"]][:LIMIT], query["targets"][0]
        span = (target["start_line"], target["end_line"])
        hits = [path in target["paths"] and start <= span[1] and end >= span[0] for path, start, end in shown]
        lines = sum(end - start + 1 for _, start, end in shown)
        scores.setdefault(query["repo"], []).append((any(hits), lines, any(hits[:1])))
    means = [[statistics.mean(column) for column in zip(*rows, strict=True)] for rows in scores.values()]
    found, lines, first = (statistics.mean(column) for column in zip(*means, strict=True))
    print(f"{sum(map(len, scores.values()))} queries, mean over {len(scores)} repositories:")
    print(f"target among the {LIMIT} results {found:.3f}, lines shown {lines:.1f}, right chunk first {first:.3f}")
    rows = {"docstring, span among ten": found, "docstring, right chunk first": first}
    write_rows(figures, {row: {"graphrag-mcp": f"{value:.3f}"} for row, value in rows.items()})


if __name__ == "__main__":
    main()
