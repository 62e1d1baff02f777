"""Make a benchmark of checkouts, in which a docstring has to find its function, and score a run of it.

    python benchmarks/docstrings.py OUT --repos-dir CHECKOUTS --benchmark BENCHMARK
    python benchmarks/quality.py RUN.json --repos-dir OUT/trees --benchmark OUT --scope full
    python benchmarks/docstrings.py OUT --score RUN.json

CHECKOUTS holds one folder per repository of BENCHMARK/repos.json. A query is what a docstring says first; in OUT/trees
the docstrings that became queries are blanked, line by line, so that only the code can be found.
"""

import argparse
import ast
import json
import random
import re
import shutil
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from graphrag_mcp.exclusion.manager import ExclusionManager
from graphrag_mcp.exclusion.walker import WalkedFile, walk
from graphrag_mcp.model import Category, Symbol, SymbolKind
from graphrag_mcp.parsing.parser import parse_file

SHORTEST, LONGEST = 40, 300  # Characters of a query.
WORDS = 6
LETTERS = 0.85  # Less is a formula, a table or code.
FUNCTION_LINES = 4
ALIKE = 0.75  # Of the words of two docstrings; more, and neither tells which function it means.
PER_REPOSITORY, PER_FILE = 25, 5
LIMIT = 10  # Results that are scored.

# What a docstring begins with. A run of line comments begins with the first of its kind, and in Haskell with "-- |".
_JAVADOC, _TRIPLE = ("/**",), ("///", "/**")
_OPENINGS = {
    **dict.fromkeys(("javascript", "typescript", "tsx", "php", "java", "kotlin", "scala"), _JAVADOC),
    **dict.fromkeys(("rust", "csharp", "swift", "zig"), _TRIPLE),
    **dict.fromkeys(("go", "c", "cpp"), ("//", "/*")),
    **dict.fromkeys(("ruby", "bash"), ("#",)),
    "lua": ("--",),
    "haskell": ("-- |", "{-|"),
}
_QUOTES = ('"""', "'''")
_MARKS = re.compile(
    r"^\s*(?:/\*\*?|\{-\|?|///?!?|--\[\[|-- ?\||---?|#+!?|\*(?!/)|[rR]?(?:\"{3}|'{3}))? ?|\s*(?:\*/|-\}|\"{3}|'{3})?\s*$"
)

# Where the sentences end: tags and headings of parameters, lists of them, examples, tables.
_TAG = re.compile(
    r"\s*(?:@\w|:(?:param|return|rtype|raises)|\.\. |>>>|>|\||```|~~~|#+ |={2}|\[\d+\]|\w+ ::|[A-Z]\w+:$"
    r"|(?:Args|Arguments|Parameters|Returns?|Raises|Examples?|Usage):?$|- (?:Parameters?|Returns?|Throws|Note|Important|"
    r"Warning)\b|<(?:param|returns?|remarks|typeparam|exception|example))"
)
_SUMMARY = re.compile(r"</?(?:summary|para|c|b|code|remarks)\s*/?>")
_MARKUP = (
    (re.compile(r"<(?:see|paramref|typeparamref)\b[^>]*\"(?:[^\"(]*\.)?([^\".(]*)[^\"]*\"\s*/?>"), r"\1"),
    (re.compile(r":(?:\w+:)?\w+:`~?(?:[^`<]*\.)?([^`<.]*?)\s*(?:<[^>]*>)?`"), r"\1"),  # Sphinx: :class:`~a.B`
    (re.compile(r"\[([^\]]+)\](?:\([^)]*\)|\[[^\]]*\])?"), r"\1"),
    (re.compile(r"``?([^`]*)``?"), r"\1"),
    (re.compile(r"'([A-Za-z][\w.]*)'"), r"\1"),
    (re.compile(r"\b[Ss]ee (?:also )?https?://\S+"), ""),
)
_UNFIT = re.compile(
    r"\b(?:eslint|prettier|istanbul|copyright|license|noqa|clang-format|TODO|FIXME|DEPRECATED|inheritdoc|internal use)\b"
    r"|^[*=]|^N\.B\.|-{4}|[{};]",
    re.IGNORECASE,
)


class Documented(NamedTuple):
    """A function with its docstring: the 0-based rows of it, and what it says first, "" where that is no query."""

    path: str
    symbol: Symbol
    rows: range
    query: str
    words: frozenset[str]


def main() -> None:
    parser = argparse.ArgumentParser(description="Make or score the benchmark of docstrings.")
    parser.add_argument("out", type=Path, help="folder of the benchmark that is made or scored")
    parser.add_argument("--repos-dir", type=Path, help="folder of the checkouts")
    parser.add_argument("--benchmark", type=Path, help="folder of repos.json")
    parser.add_argument("--score", type=Path, metavar="RUN.json", help="score this run of quality.py, make nothing")
    options = parser.parse_args()
    if options.score:
        score(options.out, options.score)
    elif options.repos_dir and options.benchmark:
        make(options.out, options.repos_dir, options.benchmark)
    else:
        parser.error("give --repos-dir and --benchmark to make the benchmark, or --score to score a run of it")


# ---------------------------------------------------------------- making


def make(out: Path, repos_dir: Path, benchmark: Path) -> None:
    """Write trees, queries.json and repos.json; a repository without any query is left out of both lists."""
    repositories, queries = [], []
    shutil.rmtree(out / "trees", ignore_errors=True)
    for repository in json.loads((benchmark / "repos.json").read_text()):
        name = repository["name"]
        tree = out / "trees" / name
        shutil.copytree(repos_dir / name, tree, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        chosen = choose(read_tree(tree))
        blank(tree, chosen)
        queries += [as_query(repository, number, one) for number, one in enumerate(chosen)]
        repositories += [repository] if chosen else []
        print(f"{name:<16}{len(chosen):>4} queries", flush=True)
    (out / "repos.json").write_text(json.dumps(repositories, indent=1))
    (out / "queries.json").write_text(json.dumps(queries, indent=1))
    print(f"total {len(queries)} queries of {len(repositories)} repositories")


def read_tree(tree: Path) -> list[Documented]:
    """Return every documented function of the implementation, in the order of files and lines."""
    files = [one.path for one in walk(ExclusionManager(tree)) if isinstance(one, WalkedFile)]
    return [one for path in sorted(files) for one in read_file(path, (tree / path).read_bytes())]


def read_file(path: str, data: bytes) -> Iterator[Documented]:
    """Yield the documented functions of a file, none of a file that is not of the implementation."""
    parsed = parse_file(path, data)
    if parsed.category is not Category.IMPLEMENTATION:
        return
    lines = data.decode(errors="replace").replace("\r\n", "\n").split("\n")
    inside = python_docstrings(lines) if parsed.language == "python" else {}
    openings = _OPENINGS.get(parsed.language, ())
    for symbol in sorted(parsed.symbols, key=lambda one: (one.start_line, one.end_line)):
        if symbol.kind not in (SymbolKind.FUNCTION, SymbolKind.METHOD):
            continue
        rows = inside.get((symbol.name, symbol.end_line)) or comment_above(lines, symbol.start_line - 1, openings)
        code = [lines[row] for row in range(symbol.start_line - 1, symbol.end_line) if row not in rows]
        if rows and len(code) >= FUNCTION_LINES and (inside or has_body(" ".join(code))):
            said = first_sentences([lines[row] for row in rows], parsed.language)
            query = without_name(said, symbol.name)
            words = frozenset(re.findall("[a-z]+", (query or said).lower()))
            yield Documented(path, symbol, rows, query if is_fit(query) else "", words)


def python_docstrings(lines: Sequence[str]) -> dict[tuple[str, int], range]:
    """Return the rows of the docstrings that share none with code, by the function's name and last line."""
    try:
        tree = ast.parse("\n".join(lines))
    except SyntaxError:
        return {}
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and len(node.body) > 1 and ast.get_docstring(node):
            rows = range(node.body[0].lineno - 1, node.body[0].end_lineno or 0)
            opening, closing = lines[rows[0]].lstrip().lstrip("rR"), lines[rows[-1]].rstrip()
            is_alone = opening.startswith(_QUOTES) and closing.endswith(_QUOTES)
            if is_alone and not any(ast.unparse(one).endswith("overload") for one in node.decorator_list):
                found[node.name, node.end_lineno or 0] = rows
    return found


def comment_above(lines: Sequence[str], row: int, openings: tuple[str, ...]) -> range:
    """Return the rows of the documenting comment directly above a row, be it with a blank line between after a `/**`."""
    is_apart = row > 1 and not lines[row - 1].strip()
    first = last = row - 2 if is_apart else row - 1
    if not openings or last < 0:
        return range(0)
    if lines[last].rstrip().endswith(("*/", "-}")):
        while first and not lines[first].lstrip().startswith(("/*", "{-")):
            first -= 1
    else:
        line_mark = openings[0].split()[0]
        while (
            first and lines[first - 1].lstrip().startswith(line_mark) and not lines[first].lstrip().startswith("-- |")
        ):
            first -= 1
    is_head = first < 2  # Of the file: a licence, `#!`.
    is_one = not any("*/" in line for line in lines[first:last])
    is_documenting = lines[first].lstrip().startswith("/**" if is_apart else openings)
    return range(first, last + 1) if is_documenting and is_one and not is_head else range(0)


def has_body(code: str) -> bool:
    """Return whether a function does anything: the methods of interfaces only say their types."""
    return "{" in code or "=" in code or code.rstrip().endswith("end")


# ---------------------------------------------------------------- from a docstring to a query


def first_sentences(lines: Sequence[str], language: str) -> str:
    """Return the first paragraph without marks and markup, as many sentences of it as a query may have."""
    text: list[str] = []
    for line in lines:
        line = _SUMMARY.sub("", _MARKS.sub("", line))
        if _TAG.match(line) or (text and language == "ruby" and line.startswith("  ")):
            break
        if line.strip():
            text.append(line.strip())
        elif len(" ".join(text)) >= SHORTEST:
            break
    prose = " ".join(text)
    for markup, plain in _MARKUP:
        prose = markup.sub(plain, prose)
    kept = ""
    for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z(])", " ".join(prose.split())):
        if len(kept) + len(sentence) >= LONGEST:
            break
        kept = f"{kept} {sentence}".strip()
    return kept.rstrip(":\\ ")


def without_name(said: str, name: str) -> str:
    """Return "Attaches it" for the "Use attaches it" of Use, and "" for what gives the name away elsewhere."""
    if leading := re.match(rf"{re.escape(name)}\s*(?:\(\))?\s*(?:is|-|–|:)?\s+(?=[a-z])", said):
        said = said[leading.end() :]
        said = said[:1].upper() + said[1:]
    bare = re.escape(name.rstrip("?!="))
    is_plain_word = name.isalpha() and name[1:] == name[1:].lower()  # "get" may be just the word.
    given_away = re.search(rf"\b{bare}\(" if is_plain_word else rf"(?<!\w){bare}(?!\w)", said)
    return "" if given_away else said


def is_fit(query: str) -> bool:
    """Return whether a person could have asked it."""
    return (
        SHORTEST <= len(query) <= LONGEST
        and len(re.findall(r"[A-Za-z][A-Za-z'-]+", query)) >= WORDS
        and sum(one.isalpha() or one in " ,.'-" for one in query) >= LETTERS * len(query)
        and not _UNFIT.search(query)
    )


def choose(documented: Sequence[Documented]) -> list[Documented]:
    """Return those whose docstring is like no other's in the repository, at random, not too many of one file."""
    usable = [one for one in documented if one.query and not any(is_twin(one, other) for other in documented)]
    random.Random(0).shuffle(usable)
    of_file: Counter[str] = Counter()
    chosen: list[Documented] = []
    for one in usable:
        of_file[one.path] += 1
        if of_file[one.path] <= PER_FILE:
            chosen.append(one)
    return sorted(chosen[:PER_REPOSITORY], key=lambda one: (one.path, one.rows.start))


def is_twin(one: Documented, other: Documented) -> bool:
    return one is not other and len(one.words & other.words) > ALIKE * len(one.words | other.words)


# ---------------------------------------------------------------- writing


def blank(tree: Path, chosen: Sequence[Documented]) -> None:
    """Empty the rows of the docstrings in their files, so that every line keeps its number."""
    for one in chosen:
        file = tree / one.path
        lines = file.read_bytes().split(b"\n")
        for row in one.rows:
            lines[row] = b"\r" if lines[row].endswith(b"\r") else b""
        file.write_bytes(b"\n".join(lines))


def as_query(repository: Mapping[str, Any], number: int, one: Documented) -> dict[str, Any]:
    """Return the query as the benchmark's queries.json has them."""
    target = {
        "raw": one.path,
        "paths": [one.path],
        "start_line": one.symbol.start_line,
        "end_line": one.symbol.end_line,
        "grade": "primary",
    }
    return {
        "id": f"docstring-{repository['name']}-{number:02}",
        "repo": repository["name"],
        "language": repository["language"],
        "query": one.query,
        "category": "docstring",
        "relevant": [one.path],
        "targets": [target],
    }


# ---------------------------------------------------------------- scoring


def score(out: Path, run: Path) -> None:
    """Print how often the function is found and shown first, and how much has to be read."""
    results = json.loads(run.read_text())["results"]
    scores: dict[str, list[tuple[float, float, float]]] = {}
    for query in json.loads((out / "queries.json").read_text()):
        if query["id"] in results:  # The run may be of some repositories only.
            scores.setdefault(query["repo"], []).append(score_one(query["targets"][0], results[query["id"]][:LIMIT]))
    means = [[statistics.mean(column) for column in zip(*rows, strict=True)] for rows in scores.values()]
    found, lines, first = (statistics.mean(column) for column in zip(*means, strict=True))
    print(f"{sum(map(len, scores.values()))} queries, mean over {len(scores)} repositories")
    print(f"target among the first {LIMIT}  {found:.3f}")
    print(f"lines shown              {lines:.1f}")
    print(f"right chunk first        {first:.3f}")


def score_one(target: Mapping[str, Any], results: Sequence[tuple[str, int, int]]) -> tuple[float, float, float]:
    """Return whether a result overlaps the target, the lines of all results, and whether the first overlaps it."""
    hits = [
        path in target["paths"] and start <= target["end_line"] and end >= target["start_line"]
        for path, start, end in results
    ]
    return float(any(hits)), float(sum(end - start + 1 for _, start, end in results)), float(any(hits[:1]))


if __name__ == "__main__":
    main()
