"""Checks arguments against the model of a tool, and says in a sentence what is wrong with them."""

import difflib
import json
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import CoreSchema, from_json

from graphrag_mcp.errors import SHOWN_CHARACTERS, RequestError

SHOWN_PROBLEMS = 5
_ASKED = ("query", "queries", "symbol", "from", "to", "question")  # One of them is required.
_Model = TypeVar("_Model", bound=BaseModel)
_UNLISTED = frozenset({"anyOf", "description", "hint", "maxItems", "maximum", "maxLength", "minLength", "minimum"})


def parse_arguments(kind: str, model: type[_Model], arguments: Mapping[str, object]) -> _Model:
    """Return the arguments as a model; nothing is clamped. kind: the name of the tool, or of the page's request.

    What a client sent as JSON text (`"[1]"`, `"5"`, `"true"`) is taken as what it means, unless the argument is a text.
    Raises RequestError with every problem: each names the argument, what was given and what is accepted.
    """
    schema = _schema(model)
    properties = schema["properties"]
    values = {name: _meant(properties.get(name, {}), value) for name, value in arguments.items()}
    optional = properties.keys() - schema.get("required", ())
    values = {name: value for name, value in values.items() if value is not None or name not in optional}
    for name, value in values.items():
        if any("\0" in text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str)):
            raise RequestError(name, f"{name} contains a NUL character; remove it")
    try:
        return model.model_validate(values)
    except ValidationError as error:
        details = error.errors(include_url=False)
    problems = [_describe(kind, properties, detail) for detail in details]
    lines = problems if len(problems) == 1 else [f"{len(problems)} problems:", *(f"- {text}" for text in problems)]
    if len(problems) > SHOWN_PROBLEMS:
        hidden = len(problems) - SHOWN_PROBLEMS
        lines[1 + SHOWN_PROBLEMS :] = [f"- and {hidden:,} more; send only the arguments of the schema"]
    raise RequestError(str(details[0]["loc"][0]), "\n".join(lines))


@cache
def _schema(model: type[BaseModel]) -> Mapping[str, Any]:
    return schema_of(model)


def _meant(schema: Mapping[str, Any], value: object) -> object:
    """Return a value of JSON text or a whole number with a point as the type that a schema has, else unchanged."""
    types = {option.get("type") for option in schema.get("anyOf", [schema])}
    if isinstance(value, str) and types.isdisjoint(("string", None)):
        with suppress(ValueError, TypeError):  # It stays a text, which the error shows; half a character is not text.
            parsed = from_json(value, allow_inf_nan=False)
            value = value if isinstance(parsed, str) or isinstance(parsed, list) is not ("array" in types) else parsed
    return int(value) if isinstance(value, float) and value.is_integer() and "integer" in types else value


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of a model; what to find and what is required come first."""
    schema = model.model_json_schema(schema_generator=_CompactSchema)
    properties = schema["properties"]
    leading = (*schema.get("required", []), *_ASKED)
    schema["properties"] = {name: properties[name] for name in sorted(properties, key=lambda name: name not in leading)}
    return schema


def listed_schema(schema: Mapping[str, Any], told: set[str] | None = None) -> dict[str, Any]:
    """Return a schema as a client's model reads it, in every session: with the hints in place of the descriptions.

    It lacks what is not needed to choose a value: limits, defaults that mean "none" or "no", and null beside the type
    of an argument that may be left out. The server checks all of them in any case. told: the arguments of the tools
    that were listed before, whose hints, choices and `true` are not repeated; those of this one are added.
    """
    told = set() if told is None else told
    properties = {name: _listed(value, is_told=name in told) for name, value in schema["properties"].items()}
    told.update(properties)
    properties["response_format"].pop("default")
    return {"type": "object", "properties": properties} | {key: schema[key] for key in ("required",) if key in schema}


def _listed(schema: Mapping[str, Any], *, is_told: bool) -> dict[str, Any]:
    first = schema["anyOf"][0] if "anyOf" in schema else {}
    listed = {key: value for key, value in {**schema, **first}.items() if key not in _UNLISTED}
    if not listed.get("default", True):
        del listed["default"]
    if "items" in listed:
        items = listed["items"]
        listed["items"] = {
            key: items[key] for key in ("enum", "type") if key in items and not (is_told and key == "enum")
        }
    if is_told:
        listed = {key: value for key, value in listed.items() if key != "enum" and value is not True}
    return listed | ({"description": schema["hint"]} if "hint" in schema and not is_told else {})


class _CompactSchema(GenerateJsonSchema):
    """Leaves out titles and class descriptions, which repeat the names and cost every session tokens."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - the base class's signature
        return False

    def generate(self, schema: CoreSchema, mode: Any = "validation") -> JsonSchemaValue:
        generated = super().generate(schema, mode)
        return {key: value for key, value in generated.items() if key not in ("title", "description")}


def _describe(tool: str, properties: Mapping[str, Any], detail: Any) -> str:
    name, *inside = detail["loc"]
    if detail["type"] == "extra_forbidden":
        return _describe_unknown(tool, str(name), list(properties))
    accepted = properties[name]
    if detail["type"] == "missing":
        return f"{name} is required: give {_accepted(accepted)}"
    argument = f"{name}[{inside[0]}]" if inside else str(name)
    if detail["type"] == "too_long":
        limits = detail["ctx"]
        return f"{name}: at most {limits['max_length']:,} entries, {limits['actual_length']:,} were given; send fewer"
    if inside and detail["type"] == "string_too_long":
        return f"{argument} = {_shown(detail['input'])}: expected at most {detail['ctx']['max_length']:,} characters"
    if inside:
        accepted = accepted["items"]
    return f"{argument} = {_shown(detail['input'])}: expected {_accepted(accepted)}"


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
            return f"text of {schema.get('minLength', 0)} to {schema['maxLength']:,} characters"
        case "string":
            return "text that is not blank"
        case other:
            return str(other)
