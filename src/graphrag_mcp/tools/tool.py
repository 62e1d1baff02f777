"""What a tool is: its name, its arguments, what it finds in a project, and how its answer is written."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from graphrag_mcp.app.session import Capability, View
from graphrag_mcp.errors import RequestError
from graphrag_mcp.settings import Settings
from graphrag_mcp.tools.arguments import ToolArguments
from graphrag_mcp.tools.as_json import json_text
from graphrag_mcp.tools.call import Call, read_cursor
from graphrag_mcp.tools.excerpts import CONCISE_TOKENS
from graphrag_mcp.tools.printing import describe_incomplete
from graphrag_mcp.tools.validation import parse_arguments, schema_of

_View = TypeVar("_View", bound=View)
_Arguments = TypeVar("_Arguments", bound=ToolArguments)
_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True)
class Tool(Generic[_View, _Arguments, _Found]):
    """One tool.

    needs: the capability that a project must have. find: returns what was found. text, json: write it within the
    budget of the call, the latter as the values of JSON. of_index: the arguments that need a local index. is_empty:
    returns whether nothing was found.
    """

    name: str
    title: str
    description: str
    arguments: type[_Arguments]
    needs: Capability
    find: Callable[[_View, Call[_Arguments]], _Found]
    text: Callable[[_Found, Call[_Arguments]], str]
    json: Callable[[_Found, Call[_Arguments]], object]
    of_index: tuple[str, ...] = ()
    is_empty: Callable[[_Found], bool] = lambda _: False

    def schema(self, settings: Settings | None = None) -> dict[str, Any]:
        """Return the JSON schema of the arguments, with the project's own defaults where there are settings."""
        schema = schema_of(self.arguments)
        properties = schema["properties"]
        if settings is not None and "exclude_archived" in properties:
            properties["exclude_archived"]["default"] = settings.retrieval.exclude_archived
        return schema

    def read(self, values: Mapping[str, object], settings: Settings, root: Path) -> Call[_Arguments]:
        """Return the call with these arguments; nothing is clamped. Raises RequestError, which names every problem."""
        arguments = parse_arguments(self.name, self.arguments, values)
        scope, warnings = arguments.scope(root)
        if "exclude_archived" not in arguments.model_fields_set:
            scope = replace(scope, exclude_archived=settings.retrieval.exclude_archived)
        is_concise = arguments.response_format == "concise"
        tokens = (
            arguments.token_budget
            or arguments.default_tokens
            or (CONCISE_TOKENS if is_concise else settings.retrieval.response_tokens)
        )
        return Call(self.name, arguments, tokens, scope, read_cursor(self.name, arguments), warnings)

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
