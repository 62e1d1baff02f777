"""Writes measured figures into the pages that state them, from benchmarks/figures.toml.

    python -m tests.docs.figures

A page marks a whole table by `<!-- figures: TABLE -->` and `<!-- end -->`, and a number in a sentence by
`<!-- TABLE; ROW; COLUMN -->` before it. RESULTS.md also gets the commit and the command of each table.
"""

import re
from pathlib import Path

from benchmarks.figures import Table, read_tables
from tests.docs import PAGES, ROOT

RESULTS_PAGE = ROOT / "benchmarks" / "RESULTS.md"
FIGURE_PAGES = (*PAGES, RESULTS_PAGE, *sorted((ROOT / "docs" / "internals").glob("*.md")))
BLOCK = re.compile(r"<!-- figures: ([\w-]+) -->\n.*?<!-- end -->", re.DOTALL)
NUMBER = re.compile(r"<!-- ([\w-]+); (.+?); (.+?) -->((?:\d[\d,.]*\d|\d)?)")


def fill(page: Path) -> str:
    """Return the text of a page with its figures as the file has them now."""
    tables = read_tables()

    def block(found: re.Match[str]) -> str:
        table = tables[found[1]]
        made_by = f"\nCommit {table.commit}:\n\n```sh\n{table.command}\n```\n" if page == RESULTS_PAGE else ""
        return f"<!-- figures: {found[1]} -->\n{_markdown(table)}{made_by}<!-- end -->"

    def number(found: re.Match[str]) -> str:
        table, row, column, _ = found.groups()
        figure = re.match(r"[\d.,]*\d", tables[table].cell(row, column))
        assert figure, found[0]
        return f"<!-- {table}; {row}; {column} -->{figure[0]}"

    return NUMBER.sub(number, BLOCK.sub(block, page.read_text(encoding="utf-8")))


def write_figures() -> None:
    """Write the figures of every page."""
    for page in FIGURE_PAGES:
        page.write_text(fill(page), encoding="utf-8")


def _markdown(table: Table) -> str:
    head = (table.what, *table.columns)
    lines = [head, ("---",) * len(head), *((row, *cells) for row, cells in table.rows.items())]
    return "".join(f"|{'|'.join(cells)}|\n" for cells in lines)


if __name__ == "__main__":
    write_figures()
