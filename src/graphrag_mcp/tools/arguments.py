"""The arguments that tools share: one model per tool, used for both the JSON schema and the validation.

The description of an argument is for people. A client's model, which reads the list of tools in every session, gets the
`hint` instead, where the name of the argument does not say it.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    Strict,
    StringConstraints,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)

from graphrag_mcp.errors import RequestError
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
