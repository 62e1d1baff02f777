"""Writes tables that a spreadsheet opens without asking."""

import csv
import io
from collections.abc import Iterable, Sequence

_FORMULA_STARTS = ("=", "+", "-", "@", "\t")


def write_csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return the rows as CSV with a byte order mark; cells that a spreadsheet would run as formulas are quoted."""
    buffer = io.StringIO()
    buffer.write("\ufeff")
    writer = csv.writer(buffer, delimiter=";", lineterminator="\r\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow([_neutralise(cell) for cell in row])
    return buffer.getvalue()


def _neutralise(cell: object) -> object:
    if isinstance(cell, str) and cell.startswith(_FORMULA_STARTS):
        return "'" + cell
    return cell
