"""Measured figures: figures.toml, from which README.md, RESULTS.md and docs/ take theirs (`make tables`).

A benchmark that is started with `--figures TABLE` writes what it prints into that table. What another program printed
is written by

    python -m benchmarks.figures TABLE ROW COLUMN=VALUE ...
"""

import argparse
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent / "figures.toml"
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


@dataclass(frozen=True, slots=True)
class Table:
    """What one benchmark measured: the cells of each row, in the order of the columns, as a page shows them."""

    command: str
    commit: str
    what: str
    columns: tuple[str, ...]
    rows: Mapping[str, tuple[str, ...]]

    def cell(self, row: str, column: str) -> str:
        return self.rows[row][self.columns.index(column)]


def read_tables() -> dict[str, Table]:
    """Return every table of the file by its name."""
    entries: dict[str, Any] = tomllib.loads(FILE.read_text(encoding="utf-8"), parse_float=str)
    return {
        name: Table(
            entry["command"].strip(),
            entry["commit"],
            entry.get("what", "what"),
            tuple(entry["columns"]),
            {row: tuple(_shown(cell) for cell in cells) for row, cells in entry["rows"].items()},
        )
        for name, entry in entries.items()
    }


def add_option(parser: argparse.ArgumentParser) -> None:
    """Let the caller of a benchmark say where its figures belong."""
    parser.add_argument("--figures", metavar="TABLE", help="write the figures into this table of figures.toml")


def write_rows(table: str | None, rows: Mapping[str, Mapping[str, str]], file: Path = FILE) -> None:
    """Write cells by row and column, and the commit that was measured; without a table nothing is written.

    A new row is added; a new table is not, since somebody has to say its command.
    """
    if table is None:
        return
    import tomlkit  # A benchmark of another program runs in its environment, which may lack it.

    document: Any = tomlkit.parse(file.read_text(encoding="utf-8"))
    if table not in document:
        sys.exit(f"{file.name} has no table {table}; add it with its command and columns")
    entry = document[table]
    columns = [str(column) for column in entry["columns"]]
    for row, cells in rows.items():
        if unknown := cells.keys() - set(columns):
            sys.exit(f"{table} has no column {', '.join(sorted(unknown))}; it has {', '.join(columns)}")
        if row not in entry["rows"]:
            entry["rows"][row] = [""] * len(columns)
        for column, value in cells.items():
            value = value.replace(",", "") if _NUMBER.fullmatch(value.replace(",", "")) else value
            entry["rows"][row][columns.index(column)] = tomlkit.value(value) if _NUMBER.fullmatch(value) else value
    entry["commit"] = _commit()
    file.write_text(tomlkit.dumps(document), encoding="utf-8")


def _shown(cell: str | int) -> str:
    return f"{cell:,}" if isinstance(cell, int) else cell


def _commit() -> str:
    command = ["git", "rev-parse", "--short=7", "HEAD"]
    return subprocess.run(command, cwd=FILE.parent, capture_output=True, text=True, check=True).stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description="Write figures that another program printed.")
    parser.add_argument("table")
    parser.add_argument("row")
    parser.add_argument("cells", nargs="+", metavar="COLUMN=VALUE")
    options = parser.parse_args()
    cells = {column: value for column, _, value in (cell.partition("=") for cell in options.cells)}
    write_rows(options.table, {options.row: cells})


if __name__ == "__main__":
    main()
