"""The arguments that tools share, and their validation: one model per tool, which also makes the JSON schema.

The description of an argument is for people. A client's model, which reads the list of tools in every session, gets the
`hint` instead, where the name of the argument does not say it.
"""

import difflib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    Strict,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import CoreSchema, from_json

from graphrag_mcp.errors import SHOWN_CHARACTERS, RequestError
from graphrag_mcp.exclusion.patterns import compile_globs
from graphrag_mcp.model.files import Category
from graphrag_mcp.model.paths import normalise_paths
from graphrag_mcp.model.scope import Scope, normalise_excluded_files
from graphrag_mcp.model.search import SearchRequest

MINIMUM_QUERY = 2  # "io" and "ci" are names; a single character occurs everywhere.
MAXIMUM_QUERY = 8_000  # A long stack trace fits; a whole file does not.
MAXIMUM_PHRASINGS = 5  # Each is a search of its own; more add nothing.
MAXIMUM_RESULTS = 25  # More than a client shows in one answer.
MINIMUM_BUDGET, MAXIMUM_BUDGET = 200, 50_000
MAXIMUM_ROWS = 500  # Lines of an exact answer.
MAXIMUM_ENTRIES = 200  # A list has no more: each adds a condition, or a pattern that is matched against every path.
MAXIMUM_ENTRY = 4_096  # Characters: the longest path that Linux accepts.
MAXIMUM_LIST = 16_384  # Characters of all entries: a glob of 4,096 takes 0.1 s to compile, and each is compiled often.
MAXIMUM_CURSOR = 18  # Nine digits, a dash and eight more.
ResponseFormat = Literal["concise", "detailed", "json"]
SYMBOL = "A name (refresh), a qualified name (Session.refresh), path::name, path:line, or a file's path"
SHOWN_PROBLEMS = 5
_ASKED = ("query", "queries", "symbol", "from", "to", "question")  # One of them is required.
_Model = TypeVar("_Model", bound=BaseModel)
_UNLISTED = frozenset({"anyOf", "description", "hint", "maxItems", "maximum", "maxLength", "minLength", "minimum"})


def hint(text: str) -> dict[str, JsonValue]:
    return {"hint": text}


Phrasing = Annotated[str, StringConstraints(strip_whitespace=True, min_length=MINIMUM_QUERY, max_length=MAXIMUM_QUERY)]
Entry = Annotated[
    str,
    StringConstraints(pattern=r"\S", max_length=MAXIMUM_ENTRY),
    WithJsonSchema({"type": "string", "minLength": 1}),
]
CategoryName = Annotated[
    Category,
    Strict(False),  # A JSON client can only send the name of an enum's member.
    WithJsonSchema({"type": "string", "enum": [category.value for category in Category]}),
]
MOST_HOPS = 4
Hops = Annotated[int, Field(ge=1, le=MOST_HOPS, description="How far to follow.")]
RowCount = Annotated[int, Field(ge=1, le=MAXIMUM_ROWS, description="Rows to return.")]


def _bounded(entries: list[str], info: ValidationInfo) -> list[str]:
    """Return the entries of a list. Raises RequestError when they are too long together."""
    name, length = info.field_name or "", sum(map(len, entries))
    if length > MAXIMUM_LIST:
        limit = f"at most {MAXIMUM_LIST:,} characters in all entries together, {length:,} were given"
        raise RequestError(name, f"{name}: {limit}; send fewer or shorter ones")
    return entries


Entries = Annotated[list[Entry], Field(max_length=MAXIMUM_ENTRIES), AfterValidator(_bounded)]
Paths = Annotated[
    Entries,
    Field(
        description="Only these folders, files or globs (src, **/*.go); !tests leaves out; empty: all.",
        json_schema_extra=hint("folders, files, globs; !x leaves out"),
    ),
]


class ToolArguments(BaseModel):
    """The arguments that all tools share."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    default_tokens: ClassVar[int] = 0  # An answer has no more tokens; 0: as the settings say.

    response_format: ResponseFormat = Field(
        "detailed",
        description="concise: locations without code; detailed: with code; json: everything, as JSON.",
    )
    token_budget: int | None = Field(
        None, ge=MINIMUM_BUDGET, le=MAXIMUM_BUDGET, description="Longest answer, in tokens; null: the default."
    )

    def scope(self, _root: Path) -> tuple[Scope, tuple[str, ...]]:
        """Return the files that the answer may show, and warnings about arguments without effect.

        Raises RequestError for an argument that no file can match.
        """
        return Scope(), ()


class PagedArguments(ToolArguments):
    """The arguments of tools whose answers have pages."""

    cursor: str = Field(
        "",
        max_length=MAXIMUM_CURSOR,
        description="From an answer that had more: continues it. The other arguments stay the same.",
    )


class SearchArguments(PagedArguments):
    """The arguments that all search tools share. chunks_per_document: results per file, 0 for any number."""

    chunks_per_document: ClassVar[int] = 0

    query: Phrasing = Field(
        "", description="What to find: a question, words, an identifier such as Session.open, or a path."
    )
    queries: list[Phrasing] = Field(
        [],
        max_length=MAXIMUM_PHRASINGS,
        description="The question in several phrasings: the symptom, its key words, guessed identifiers or file names.",
        json_schema_extra=hint("several phrasings"),
    )
    paths: Paths = []
    excluded_files: Entries = Field(
        [],
        description="Files to leave out in any case: a bare name (README.md: in any folder), or a path, relative to "
        "the root or absolute. No globs.",
        json_schema_extra=hint("names or paths, no globs"),
    )
    exclude_archived: bool = Field(True, description="Hide archived, deprecated and backup files.")
    categories: list[CategoryName] = Field(
        [], max_length=MAXIMUM_ENTRIES, description="Only files of these kinds; empty: all."
    )

    @model_validator(mode="after")
    def _asks(self) -> Self:
        if not self.phrasings:
            raise RequestError(
                "query", f"query is required, or queries: give text of {MINIMUM_QUERY} to {MAXIMUM_QUERY:,} characters"
            )
        return self

    @property
    def phrasings(self) -> tuple[str, ...]:
        """The different phrasings of the question, `query` first."""
        return tuple(dict.fromkeys(filter(None, (self.query, *self.queries))))

    @property
    def held(self) -> Sequence[str]:
        """The ids of code that the caller has."""
        return ()

    @property
    def asks_for_related(self) -> bool:
        """Whether related code is looked for: an answer in words has room for more of the results without it."""
        return self.response_format == "json" or "include_graph_context" in self.model_fields_set

    def scope(self, root: Path) -> tuple[Scope, tuple[str, ...]]:
        """Return the files that may be found; an excluded file outside the root is a warning."""
        excluded_keys, warnings = normalise_excluded_files(self.excluded_files, root)
        scope = Scope(
            excluded_keys,
            exclude_archived=self.exclude_archived,
            categories=frozenset(self.categories),
            paths=globs_of(self.paths, root),
        )
        return scope, warnings

    def refine(self, request: SearchRequest) -> SearchRequest:
        return request


SymbolText = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=1_000),
    Field(description=f"{SYMBOL}.", json_schema_extra=hint("name, Class.name, path::name, path:line or path")),
]


class CodeArguments(PagedArguments):
    """The arguments of tools that answer from the code graph or the files."""

    limit: RowCount = 40
    exclude_archived: bool = Field(True, description="Hide archived, deprecated and backup files.")

    def scope(self, _root: Path) -> tuple[Scope, tuple[str, ...]]:
        return Scope(exclude_archived=self.exclude_archived), ()


def languages_of(names: list[str]) -> frozenset[str]:
    return frozenset(name.strip().lower() for name in names)


def globs_of(paths: list[str], root: Path) -> tuple[str, ...]:
    globs = normalise_paths(paths, root)
    compile_globs([glob.removeprefix("!") for glob in globs], "paths")  # Only to refuse an invalid one.
    return globs


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
