"""Ask for the callers in the programs of PyCG's micro-benchmark, and compare them with its call graphs.

    python -m benchmarks.graph.pycg --suite CHECKOUT_OF_PYCG [--why]

A program is sound when every expected call of its own functions has a row. A row is wrong when PyCG expects no such
call; calls of a class count as calls of its `__init__`, and not at all where it has none.
"""

import argparse
import ast
import json
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.figures import add_option, write_rows
from benchmarks.graph.product import Certainty, Product, Says, open_product
from benchmarks.graph.records import Place, Symbol

COUNTED = frozenset({"classes", "mro", "imports", "functions", "direct_calls", "returns"})
CONSTRUCTOR = "__init__"

Edge = tuple[str, str]  # The dotted names of a caller and of what it calls.


@dataclass(frozen=True, slots=True)
class Program:
    """One program: its declarations by dotted name, and the calls that PyCG expects between them."""

    folder: Path
    symbols: Mapping[str, Symbol]
    expected: frozenset[Edge]

    @property
    def name(self) -> str:
        """Its category and its own name."""
        return f"{self.folder.parent.name}/{self.folder.name}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare callers with PyCG's micro-benchmark.")
    parser.add_argument("--suite", type=Path, required=True, help="a checkout of vitsalis/PyCG")
    parser.add_argument("--why", action="store_true", help="print missing calls and wrong certain rows")
    add_option(parser)
    options = parser.parse_args()
    graphs = sorted(options.suite.glob("micro-benchmark/snippets/**/callgraph.json"))
    counts: dict[str, Counter[str]] = {}
    for graph in graphs:
        program = read_program(graph)
        found = calls_in(program)
        missing = program.expected - found.keys()
        undecided = {edge for edge in program.expected & found.keys() if found[edge] is Certainty.BY_NAME}
        certain = {edge for edge, certainty in found.items() if certainty is Certainty.CERTAIN}
        wrong = certain - program.expected
        category = graph.relative_to(options.suite / "micro-benchmark" / "snippets").parts[0]
        counts.setdefault(category, Counter()).update(
            programs=1,
            sound=not missing,
            decided=not missing and not undecided,
            calls=len(program.expected),
            found=len(program.expected & found.keys()),
            certain=len(certain),
            wrong=len(wrong),
        )
        if options.why and (missing or wrong):
            sys.stdout.write(f"{program.name}: missing {sorted(missing)}, wrong {sorted(wrong)}\n")
    report(counts, options.figures)


def read_program(graph: Path) -> Program:
    """Read a program and its call graph; a caller inside a lambda is what encloses it, and lambdas are never called."""
    folder = graph.parent
    symbols = {
        dotted: symbol
        for file in sorted(folder.rglob("*.py"))
        for dotted, symbol in declared_in(file.relative_to(folder), file.read_text(encoding="utf-8"))
    }
    written: dict[str, list[str]] = json.loads(graph.read_text(encoding="utf-8"))
    edges = ((source.partition(".<")[0], target) for source, targets in written.items() for target in targets)
    return Program(folder, symbols, frozenset((source, target) for source, target in edges if target in symbols))


def declared_in(path: Path, text: str) -> Iterator[tuple[str, Symbol]]:
    """Return the functions and classes of a file, nested ones too, by dotted name."""
    module = path.parent if path.name == "__init__.py" else path.with_suffix("")
    return _declared(ast.parse(text), ".".join(module.parts), path.as_posix())


def _declared(node: ast.AST, outer: str, path: str) -> Iterator[tuple[str, Symbol]]:
    for child in ast.iter_child_nodes(node):
        name = outer
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{outer}.{child.name}"
            kind = "class" if isinstance(child, ast.ClassDef) else "function"
            place = Place(path, child.lineno, child.name)
            yield name, Symbol(place, child.lineno, child.end_lineno or child.lineno, name, kind, local=False)
        yield from _declared(child, name, path)


def calls_in(program: Program) -> dict[Edge, Certainty]:
    """Return the calls that the product says, with the best certainty of each."""
    found: dict[Edge, Certainty] = {}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "program"
        shutil.copytree(program.folder, root, ignore=shutil.ignore_patterns("callgraph.json"))
        with open_product(root, Path(folder) / "data") as product:
            for dotted, symbol in program.symbols.items():
                target = f"{dotted}.{CONSTRUCTOR}" if symbol.kind == "class" else dotted
                if target in program.symbols:
                    for edge, certainty in _calls_of(product, program, symbol, target):
                        found[edge] = min(found.get(edge, certainty), certainty)
    return found


def _calls_of(product: Product, program: Program, symbol: Symbol, target: str) -> Iterator[tuple[Edge, Certainty]]:
    for row in product.ask(symbol) or ():
        if row.says is Says.CALLS:
            yield (_enclosing(program, row.path, row.line), target), row.certainty


def _enclosing(program: Program, path: str, line: int) -> str:
    """Return the innermost definition around a line, or its module."""
    around = [
        (symbol.end - symbol.start, dotted)
        for dotted, symbol in program.symbols.items()
        if symbol.place.path == path and symbol.kind == "function" and symbol.start <= line <= symbol.end
    ]
    file = Path(path)
    module = file.parent if file.name == "__init__.py" else file.with_suffix("")
    return min(around)[1] if around else ".".join(module.parts)


def report(counts: Mapping[str, Counter[str]], figures: str | None) -> None:
    """Print the programs and the rows of each category, and of those that are a target."""
    columns = ("programs", "sound", "decided", "calls", "found", "certain", "wrong")
    sys.stdout.write(f"{'':24s}" + "".join(f"{column:>10s}" for column in columns) + "\n")
    rows = {
        **counts,
        "target categories": sum((counts[name] for name in COUNTED), Counter()),
        "all": sum(counts.values(), Counter()),
    }
    for name, row in rows.items():
        sys.stdout.write(f"{name:24s}" + "".join(f"{row[column]:10,d}" for column in columns) + "\n")
    for name in ("target categories", "all"):
        write_rows(figures, {name: {column: str(rows[name][column]) for column in columns}})


if __name__ == "__main__":
    main()
