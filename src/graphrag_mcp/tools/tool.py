"""What a tool is: its name, its arguments, what it finds in a project, and how its answer is written."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import asdict, replace

from graphrag_mcp.app.session import Capability, View
from graphrag_mcp.errors import RequestError
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.settings import Settings
from graphrag_mcp.tools.arguments import (
    PagedArguments,
    SearchArguments,
    ToolArguments,
    arguments_schema,
    parse_arguments,
)
from graphrag_mcp.tools.excerpts import CONCISE_TOKENS
from graphrag_mcp.tools.printing import MCP, Asking, describe_incomplete, json_text

_NOT_ASKED = (
    "given",
    "query",
    "queries",
    "cursor",
    "limit",
    "top_n",
    "token_budget",
    "response_format",
)  # Size and form of an answer.
Arguments = TypeVar("Arguments", bound=ToolArguments, covariant=True)
Row = TypeVar("Row", covariant=True)
_View = TypeVar("_View", bound=View)
_Arguments = TypeVar("_Arguments", bound=ToolArguments)
_Found = TypeVar("_Found")


class Call(Struct, Generic[Arguments], frozen=True):
    """One validated call of a tool.

    tokens: the longest answer. scope: the files that it may show. first: the number of its first row, from 0.
    warnings: about arguments without effect. asking: the words in which the answer says what to ask next.
    """

    tool: str
    arguments: Arguments
    tokens: int
    scope: Scope
    first: int = 0
    warnings: tuple[str, ...] = ()
    asking: Asking = MCP

    def cursor_at(self, row: int, total: int) -> str:
        """Return the cursor that continues at a row, "" when there is none."""
        return f"{row}-{_mark(self.tool, self.arguments)}" if row < total else ""

    def next_at(self, row: int, total: int) -> str:
        """Return the argument that continues at a row, "" when there is none."""
        cursor = self.cursor_at(row, total)
        return self.asking.argument(f'cursor="{cursor}"') if cursor else ""


class Page(Struct, Generic[Row], frozen=True):
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
    question = {name: value for name, value in asdict(arguments).items() if name not in _NOT_ASKED}
    return hashlib.blake2b(f"{tool}{phrasings}{question}".encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()


class Tool(Struct, Generic[_View, _Arguments, _Found], frozen=True):
    """One tool.

    title: what it is called, where the name does not say it. needs: the capability that a project must have. find:
    returns what was found. text, json: write it within the budget of the call, the latter as the values of JSON.
    of_index: the arguments that need a local index. is_empty: returns whether nothing was found.
    """

    name: str
    description: str
    arguments: type[_Arguments]
    needs: Capability
    find: Callable[[_View, Call[_Arguments]], _Found]
    text: Callable[[_Found, Call[_Arguments]], str]
    json: Callable[[_Found, Call[_Arguments]], object]
    title: str | None = None
    of_index: tuple[str, ...] = ()
    is_empty: Callable[[_Found], bool] = lambda _: False

    def schema(self, settings: Settings | None = None) -> dict[str, Any]:
        """Return the JSON schema of the arguments, with the project's own defaults where there are settings."""
        schema = arguments_schema(self.arguments)
        properties = schema["properties"]
        if settings is not None and "exclude_archived" in properties:
            properties["exclude_archived"]["default"] = settings.retrieval.exclude_archived
        return schema

    def read(
        self, values: Mapping[str, object], settings: Settings, root: Path, asking: Asking = MCP
    ) -> Call[_Arguments]:
        """Return the call with these arguments; nothing is clamped. Raises RequestError, which names every problem."""
        arguments = parse_arguments(self.name, self.arguments, values)
        scope, warnings = arguments.scope(root)
        if "exclude_archived" not in arguments.given:
            scope = replace(scope, exclude_archived=settings.retrieval.exclude_archived)
        is_concise = arguments.response_format == "concise"
        tokens = (
            arguments.token_budget
            or arguments.default_tokens
            or (CONCISE_TOKENS if is_concise else settings.retrieval.response_tokens)
        )
        return Call(self.name, arguments, tokens, scope, read_cursor(self.name, arguments), warnings, asking)

    def ask(self, view: _View, call: Call[_Arguments]) -> _Found:
        """Return what is found. Raises RequestError, with the note of an incomplete index, which may be the reason."""
        try:
            return self.find(view, call)
        except RequestError as error:
            note = describe_incomplete(view.state)
            raise type(error)(error.argument, f"{error}. {note}" if note else str(error)) from error

    def write(self, answer: _Found, call: Call[_Arguments]) -> str:
        """Return the answer in the form that the call asks for."""
        if call.arguments.response_format == "json":
            return json_text(self.json(answer, call))
        return self.text(answer, call)
