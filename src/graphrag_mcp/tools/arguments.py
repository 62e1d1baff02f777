"""The arguments that tools share, and their validation: one record per tool, which also makes the JSON schema.

The description of an argument is for people. A client's model, which reads the list of tools in every session, gets the
`hint` instead, where the name of the argument does not say it.
"""

import difflib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

from graphrag_mcp.errors import SHOWN_CHARACTERS, RequestError
from graphrag_mcp.exclusion.patterns import compile_globs
from graphrag_mcp.model.fields import (
    After,
    Before,
    FieldsError,
    Inside,
    Problem,
    TooLargeError,
    outer_fields,
    read_record,
    record_schema,
    schema_of,
)
from graphrag_mcp.model.files import Category
from graphrag_mcp.model.paths import normalise_paths
from graphrag_mcp.model.scope import Scope, normalise_excluded_files
from graphrag_mcp.model.search import SearchRequest

MINIMUM_QUERY = 2  # "io" and "ci" are names; a single character occurs everywhere.
MAXIMUM_QUERY = 8_000  # A long stack trace fits; a whole file does not.
MAXIMUM_PHRASINGS = 5  # Each is a search of its own; more add nothing.
MAXIMUM_RESULTS = 25  # More than a client shows in one answer.
MINIMUM_BUDGET, MAXIMUM_BUDGET = 200, 50_000
ROWS, MAXIMUM_ROWS = 40, 500  # Lines of an exact answer.
MAXIMUM_ENTRIES = 200  # A list has no more: each adds a condition, or a pattern that is matched against every path.
MAXIMUM_ENTRY = 4_096  # Characters: the longest path that Linux accepts.
MAXIMUM_LIST = 16_384  # Characters of all entries: a glob of 4,096 takes 0.1 s to compile, and each is compiled often.
MOST_HOPS = 4
MAXIMUM_CURSOR = 18  # Nine digits, a dash and eight more.
ResponseFormat = Literal["concise", "detailed", "json"]
SYMBOL = "A name (refresh), a qualified name (Session.refresh), path::name, path:line, or a file's path"
SHOWN_PROBLEMS = 5
_ASKED = ("query", "queries", "symbol", "from", "to", "question")  # One of them is required.
_Request = TypeVar("_Request", bound="Request")
_UNLISTED = frozenset({"anyOf", "description", "hint", "maxItems", "maximum", "maxLength", "minLength", "minimum"})


def hint(text: str) -> Meta:
    return Meta(extra_json_schema={"hint": text})


def stripped(value: object) -> object:
    return value.strip() if isinstance(value, str) else value


def _check_entry(entry: str) -> str:
    if len(entry) > MAXIMUM_ENTRY:
        raise ValueError(f"at most {MAXIMUM_ENTRY:,} characters")
    return entry


def _check_entries(entries: tuple[str, ...]) -> tuple[str, ...]:
    if (length := sum(map(len, entries))) > MAXIMUM_LIST:
        limit = f"at most {MAXIMUM_LIST:,} characters in all entries together"
        raise TooLargeError(f"{limit}, {length:,} were given; send fewer or shorter ones")
    return entries


Phrasing = Annotated[str, Before(stripped), Meta(min_length=MINIMUM_QUERY, max_length=MAXIMUM_QUERY)]
Entry = Annotated[str, Meta(pattern=r"\S", extra_json_schema={"minLength": 1}), After(_check_entry)]
Budget = Annotated[int, Meta(ge=MINIMUM_BUDGET, le=MAXIMUM_BUDGET)]
Hops = Annotated[int, Meta(ge=1, le=MOST_HOPS), "How far to follow."]
RowCount = Annotated[int, Meta(ge=1, le=MAXIMUM_ROWS), "Rows to return."]
Entries = Annotated[tuple[Entry, ...], Meta(max_length=MAXIMUM_ENTRIES), After(_check_entries)]
Categories = Annotated[tuple[Category, ...], Meta(max_length=MAXIMUM_ENTRIES)]
Paths = Annotated[
    Entries,
    "Only these folders, files or globs (src, **/*.go); !tests leaves out; empty: all.",
    hint("folders, files, globs; !x leaves out"),
]


class Request(Struct, frozen=True, kw_only=True):
    """Values that a client sent. given: the names of those that it did send."""

    given: Annotated[frozenset[str], Inside()] = frozenset()


class ToolArguments(Request, frozen=True, kw_only=True):
    """The arguments that all tools share."""

    default_tokens: ClassVar[int] = 0  # An answer has no more tokens; 0: as the settings say.

    response_format: Annotated[
        ResponseFormat, "concise: locations without code; detailed: with code; json: everything, as JSON."
    ] = "detailed"
    token_budget: Annotated[Budget | None, "Longest answer, in tokens; null: the default."] = None

    def scope(self, _root: Path) -> tuple[Scope, tuple[str, ...]]:
        """Return the files that the answer may show, and warnings about arguments without effect.

        Raises RequestError for an argument that no file can match.
        """
        return Scope(), ()


class PagedArguments(ToolArguments, frozen=True, kw_only=True):
    """The arguments of tools whose answers have pages."""

    cursor: Annotated[
        str,
        Meta(max_length=MAXIMUM_CURSOR),
        "From an answer that had more: continues it. The other arguments stay the same.",
    ] = ""


class SearchArguments(PagedArguments, frozen=True, kw_only=True):
    """The arguments that all search tools share. chunks_per_document: results per file, 0 for any number."""

    chunks_per_document: ClassVar[int] = 0

    query: Annotated[Phrasing, "What to find: a question, words, an identifier such as Session.open, or a path."] = ""
    queries: Annotated[
        tuple[Phrasing, ...],
        Meta(max_length=MAXIMUM_PHRASINGS),
        "The question in several phrasings: the symptom, its key words, guessed identifiers or file names.",
        hint("several phrasings"),
    ] = ()
    paths: Paths = ()
    excluded_files: Annotated[
        Entries,
        "Files to leave out in any case: a bare name (README.md: in any folder), or a path, relative to "
        "the root or absolute. No globs.",
        hint("names or paths, no globs"),
    ] = ()
    exclude_archived: Annotated[bool, "Hide archived, deprecated and backup files."] = True
    categories: Annotated[Categories, "Only files of these kinds; empty: all."] = ()

    def __post_init__(self) -> None:
        if not self.phrasings:
            raise RequestError(
                "query", f"query is required, or queries: give text of {MINIMUM_QUERY} to {MAXIMUM_QUERY:,} characters"
            )

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
        return self.response_format == "json" or "include_graph_context" in self.given

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
    Before(stripped),
    Meta(min_length=1, max_length=1_000),
    f"{SYMBOL}.",
    hint("name, Class.name, path::name, path:line or path"),
]


class CodeArguments(PagedArguments, frozen=True, kw_only=True):
    """The arguments of tools that answer from the code graph or the files."""

    limit: RowCount = ROWS
    exclude_archived: Annotated[bool, "Hide archived, deprecated and backup files."] = True

    def scope(self, _root: Path) -> tuple[Scope, tuple[str, ...]]:
        return Scope(exclude_archived=self.exclude_archived), ()


def languages_of(names: Sequence[str]) -> frozenset[str]:
    return frozenset(name.strip().lower() for name in names)


def globs_of(paths: Sequence[str], root: Path) -> tuple[str, ...]:
    globs = normalise_paths(paths, root)
    compile_globs([glob.removeprefix("!") for glob in globs], "paths")  # Only to refuse an invalid one.
    return globs


def parse_arguments(tool: str, kind: type[_Request], arguments: Mapping[str, object]) -> _Request:
    """Return the arguments as a record; nothing is clamped. tool: the name of the tool, or of the page's request.

    What a client sent as JSON text (`"[1]"`, `"5"`, `"true"`) is taken as what it means, unless the argument is a text.
    Raises RequestError with every problem: each names the argument, what was given and what is accepted.
    """
    known = outer_fields(kind)
    values = {name: _meant(known[name].type, value) if name in known else value for name, value in arguments.items()}
    values = {
        name: value for name, value in values.items() if value is not None or name not in known or known[name].required
    }
    for name, value in values.items():
        if any("\0" in text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str)):
            raise RequestError(name, f"{name} contains a NUL character; remove it")
    try:
        return read_record(kind, values, given=frozenset(values))
    except FieldsError as error:
        problems = error.problems
    texts = [_describe(tool, kind, problem) for problem in problems[:SHOWN_PROBLEMS]]
    if (hidden := len(problems) - SHOWN_PROBLEMS) > 0:
        texts.append(f"and {hidden:,} more; send only the arguments of the schema")
    lines = texts if len(problems) == 1 else [f"{len(problems)} problems:", *(f"- {text}" for text in texts)]
    raise RequestError(problems[0].name, "\n".join(lines))


def _meant(kind: object, value: object) -> object:
    """Return a value of JSON text or a whole number with a point as the type that an argument has, else unchanged."""
    if not isinstance(value, str | float):
        return value
    schema = schema_of(kind)
    types = {option.get("type") for option in schema.get("anyOf", [schema])}
    if isinstance(value, str) and types.isdisjoint(("string", None)):
        with suppress(msgspec.DecodeError, ValueError, RecursionError):  # It stays a text, which the error shows.
            parsed = msgspec.json.decode(value)
            value = value if isinstance(parsed, str) or isinstance(parsed, list) is not ("array" in types) else parsed
    return int(value) if isinstance(value, float) and value.is_integer() and "integer" in types else value


def arguments_schema(kind: type[Request]) -> dict[str, Any]:
    """Return the JSON schema of arguments; what to find and what is required come first."""
    schema = record_schema(kind)
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


def _describe(tool: str, kind: type[Request], problem: Problem) -> str:
    if not problem.expected:
        return _describe_unknown(tool, problem.name, list(arguments_schema(kind)["properties"]))
    if problem.value is msgspec.NODEFAULT:
        return f"{problem.name} is required: give {problem.expected}"
    place = "".join(f"[{part}]" for part in problem.within)
    shown = f" = {_shown(problem.value)}: expected" if problem.is_shown else ":"
    return f"{problem.name}{place}{shown} {problem.expected}"


def _describe_unknown(tool: str, name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean {near[0]}?" if near else "."
    return f"{_shown(name)} is not an argument of {tool}{hint} It accepts: {', '.join(known)}"


def _shown(value: object) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, default=repr)
    except RecursionError:
        return "a value that is nested too deeply"
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}... ({len(text):,} characters)"
