"""Cursors: where an answer goes on, and of which question."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from graphrag_mcp.answers.arguments import PagedArguments
from graphrag_mcp.errors import RequestError

LONGEST_OFFSET = 9  # Digits.

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """Some rows of an answer. first: the number of the first, from 0. total: of all rows."""

    rows: Sequence[Row]
    first: int
    total: int


def read_cursor(tool: str, arguments: PagedArguments) -> int:
    """Return the number of the first row. Raises RequestError for a cursor of another question."""
    if not arguments.cursor:
        return 0
    offset, _, mark = arguments.cursor.partition("-")
    if not offset.isdecimal() or len(offset) > LONGEST_OFFSET or mark != _mark(tool, arguments):
        raise RequestError("cursor", "cursor belongs to another question; send the same arguments with it, or none")
    return int(offset)


def page_of(rows: Sequence[Row], first: int, limit: int) -> Page[Row]:
    """Return at most `limit` rows from a number on."""
    return Page(rows[first : first + limit], first, len(rows))


def cursor_at(row: int, total: int, tool: str, arguments: PagedArguments) -> str:
    """Return the cursor that continues at a row, "" when there is none."""
    return f"{row}-{_mark(tool, arguments)}" if row < total else ""


def _mark(tool: str, arguments: PagedArguments) -> str:
    """Return a mark of the question: everything but how much of the answer is wanted, and in which form."""
    question = arguments.model_dump_json(exclude={"cursor", "limit", "top_n", "token_budget", "response_format"})
    return hashlib.blake2b(f"{tool}{question}".encode(), digest_size=4).hexdigest()
