"""Turns the raw arguments of a tool call into one validated `SearchRequest`."""

import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from graphrag_mcp.answers.arguments import (
    CODE_TOOLS,
    SEARCH_TOOLS,
    STATUS_TOOL,
    TOOLS,
    CodeArguments,
    OccurrencesArguments,
    ResponseFormat,
    SearchArguments,
    ToolArguments,
    schema_of,
)
from graphrag_mcp.answers.paging import read_cursor
from graphrag_mcp.errors import SHOWN_CHARACTERS, RequestError
from graphrag_mcp.exclusion.include_globs import compile_globs
from graphrag_mcp.model.scope import normalise_entry, normalise_excluded_files
from graphrag_mcp.model.search import Scope, SearchRequest
from graphrag_mcp.settings import Settings

SHOWN_PROBLEMS = 5

_Model = TypeVar("_Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Question:
    """One validated call: what to search for, where the answer begins, and its form.

    first: the number of the first result to show, from 0; the request asks for those before it too. tokens: 0 for the
    default.
    """

    request: SearchRequest
    response_format: ResponseFormat
    arguments: SearchArguments
    first: int = 0
    tokens: int = 0


def read_question(tool: str, arguments: Mapping[str, object], settings: Settings, root: Path) -> Question:
    """Return the question that a call of a search tool asks; nothing is clamped.

    Raises RequestError with every problem of the call: each names the argument, what was given and what is accepted.
    """
    parsed = parse_arguments(tool, SEARCH_TOOLS[tool], arguments)
    request = _build_request(parsed, settings, root)
    first = read_cursor(tool, parsed)
    request = replace(request, limit=first + request.limit)
    return Question(request, parsed.response_format, parsed, first, parsed.token_budget or 0)


def read_code_question(
    tool: str, arguments: Mapping[str, object], settings: Settings, root: Path
) -> tuple[CodeArguments, int, Scope]:
    """Return the arguments of a call of a code tool, its first row and its scope; raises as `read_question` does."""
    parsed = parse_arguments(tool, CODE_TOOLS[tool], arguments)
    given = "exclude_archived" in parsed.model_fields_set
    paths = parsed.paths if isinstance(parsed, OccurrencesArguments) else ()
    scope = Scope(
        exclude_archived=parsed.exclude_archived if given else settings.retrieval.exclude_archived,
        paths=_prefixes(paths, root),
    )
    return parsed, read_cursor(tool, parsed), scope


def read_status_question(arguments: Mapping[str, object]) -> ToolArguments:
    """Return how `index_status` is to answer; raises RequestError as `read_question` does."""
    return parse_arguments(STATUS_TOOL, TOOLS[STATUS_TOOL], arguments)


def parse_arguments(asked: str, model: type[_Model], arguments: Mapping[str, object]) -> _Model:
    """Return what a model accepts; `asked` names the tool or the page's request in the words of a problem.

    Raises RequestError as `read_question` does.
    """
    try:
        return model.model_validate(dict(arguments))
    except ValidationError as error:
        details = error.errors(include_url=False)
    properties = schema_of(model)["properties"]
    problems = [_describe(asked, properties, detail) for detail in details]
    lines = problems if len(problems) == 1 else [f"{len(problems)} problems:", *(f"- {text}" for text in problems)]
    if len(problems) > SHOWN_PROBLEMS:
        hidden = len(problems) - SHOWN_PROBLEMS
        lines[1 + SHOWN_PROBLEMS :] = [f"- and {hidden:,} more; send only the arguments of the schema"]
    raise RequestError(str(details[0]["loc"][0]), "\n".join(lines))


def _build_request(arguments: SearchArguments, settings: Settings, root: Path) -> SearchRequest:
    excluded_keys, warnings = normalise_excluded_files(arguments.excluded_files, root)
    given = "exclude_archived" in arguments.model_fields_set
    request = SearchRequest(
        query=arguments.query,
        scope=Scope(
            excluded_keys=excluded_keys,
            exclude_archived=arguments.exclude_archived if given else settings.retrieval.exclude_archived,
            categories=frozenset(arguments.categories),
        ),
        chunks_per_document=arguments.chunks_per_document,
        warnings=tuple(warnings),
    )
    request = arguments.refine(request)
    compile_globs(request.scope.include_patterns)  # Only to refuse a bad one, before the stores meet it.
    return request


def _prefixes(paths: Sequence[str], root: Path) -> tuple[str, ...]:
    """Return paths as the index writes them; none when one of them is the root, which holds everything."""
    found: list[str] = []
    for path in paths:
        entry = normalise_entry(path, root)
        if entry is None:
            raise RequestError("paths", f"paths: {_shown(path)} is outside the project root; give a path below it")
        found.append(entry.removeprefix("./").rstrip("/"))
    return () if "" in found else tuple(found)


# ---------------------------------------------------------------- problems, in words


def _describe(tool: str, properties: Mapping[str, Any], detail: Any) -> str:
    name, *inside = detail["loc"]
    if detail["type"] == "extra_forbidden":
        return _describe_unknown(tool, str(name), list(properties))
    accepted = properties[name]
    if detail["type"] == "missing":
        return f"{name} is required: give {_accepted(accepted)}"
    place = f"{name}[{inside[0]}]" if inside else str(name)
    if detail["type"] == "too_long":
        limits = detail["ctx"]
        return f"{name}: at most {limits['max_length']:,} entries, {limits['actual_length']:,} were given; send fewer"
    if inside and detail["type"] == "string_too_long":
        return f"{place} = {_shown(detail['input'])}: expected at most {detail['ctx']['max_length']:,} characters"
    if inside:
        accepted = accepted["items"]
    return f"{place} = {_shown(detail['input'])}: expected {_accepted(accepted)}"


def _describe_unknown(tool: str, name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean {near[0]}?" if near else "."
    return f"{_shown(name)} is not an argument of {tool}{hint} It accepts: {', '.join(known)}"


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}... ({len(text):,} characters)"


def _accepted(schema: Mapping[str, Any]) -> str:
    """Return in words what a JSON schema accepts."""
    if "anyOf" in schema:
        return " or ".join(_accepted(option) for option in schema["anyOf"])
    if "enum" in schema:
        return "one of " + ", ".join(schema["enum"])
    match schema["type"]:
        case "integer":
            return f"a whole number from {schema['minimum']} to {schema['maximum']}"
        case "number":
            return f"a number from {schema['minimum']:g} to {schema['maximum']:g}"
        case "boolean":
            return "true or false"
        case "array":
            return f"a list, each entry {_accepted(schema['items'])}"
        case "string" if "maxLength" in schema:
            return f"text of {schema['minLength']} to {schema['maxLength']:,} characters"
        case "string":
            return "text that is not blank"
        case other:
            return str(other)
