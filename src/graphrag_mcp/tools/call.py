"""One validated call of a tool, and the cursors that continue its answer."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from graphrag_mcp.errors import RequestError
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.tools.arguments import PagedArguments, SearchArguments, ToolArguments

_NOT_ASKED = ("cursor", "limit", "top_n", "token_budget", "response_format")  # Size and form of an answer.
Arguments = TypeVar("Arguments", bound=ToolArguments, covariant=True)
Row = TypeVar("Row", covariant=True)


@dataclass(frozen=True, slots=True)
class Call(Generic[Arguments]):
    """One validated call of a tool.

    tokens: the longest answer. scope: the files that it may show. first: the number of its first row, from 0.
    warnings: about arguments without effect.
    """

    tool: str
    arguments: Arguments
    tokens: int
    scope: Scope
    first: int = 0
    warnings: tuple[str, ...] = ()

    def cursor_at(self, row: int, total: int) -> str:
        """Return the cursor that continues at a row, "" when there is none."""
        return f"{row}-{_mark(self.tool, self.arguments)}" if row < total else ""


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """Some rows of an answer. first: the number of the first, from 0. total: of all rows."""

    rows: Sequence[Row]
    first: int
    total: int


def page_of(rows: Sequence[Row], first: int, limit: int) -> Page[Row]:
    """Return at most `limit` rows, beginning with row number `first`."""
    return Page(rows[first : first + limit], first, len(rows))


def read_cursor(tool: str, arguments: ToolArguments) -> int:
    """Return the number of the first row. Raises RequestError for a cursor of another request."""
    if not isinstance(arguments, PagedArguments) or not arguments.cursor:
        return 0
    offset, _, mark = arguments.cursor.partition("-")
    if not offset.isdecimal() or mark != _mark(tool, arguments):
        raise RequestError("cursor", "cursor belongs to another question; send the same arguments with it, or none")
    return int(offset)


def _mark(tool: str, arguments: ToolArguments) -> str:
    """Return a digest of all arguments except the size and the form of the answer."""
    phrasings = arguments.phrasings if isinstance(arguments, SearchArguments) else ()
    question = arguments.model_dump_json(exclude={"query", "queries", *_NOT_ASKED})
    return hashlib.blake2b(f"{tool}{phrasings}{question}".encode(), digest_size=4).hexdigest()
