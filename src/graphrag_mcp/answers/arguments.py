"""What each tool accepts: one model per tool, from which both its JSON schema and its validation come."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, Strict, StringConstraints, WithJsonSchema
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import CoreSchema

from graphrag_mcp.model.files import Category
from graphrag_mcp.model.graph import Direction
from graphrag_mcp.model.search import SearchRequest
from graphrag_mcp.settings import Settings

MINIMUM_QUERY = 2  # "io" and "ci" are names; one character is everywhere.
MAXIMUM_QUERY = 8_000  # A long stack trace fits; a whole file is no question.
MAXIMUM_RESULTS = 25  # More than a client shows in one answer.
MINIMUM_BUDGET, MAXIMUM_BUDGET = 200, 50_000
MAXIMUM_ROWS = 500  # Lines of an exact answer.
MAXIMUM_ENTRIES = 200  # Of a list: each costs a condition, or a pattern that is tried on every path.
MAXIMUM_ENTRY = 4_096  # Characters: the longest path that Linux accepts.
DOCUMENT_HOPS = 1  # The query tools rank with direct neighbours only; the graph is the hybrid tool's subject.

ResponseFormat = Literal["concise", "detailed", "json"]

Query = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=MINIMUM_QUERY, max_length=MAXIMUM_QUERY),
    Field(description="What to find: a question, words, an identifier such as Session.open, or a path."),
]
ResultCount = Annotated[int, Field(ge=1, le=MAXIMUM_RESULTS, description="Results to return.")]
Entry = Annotated[
    str,
    StringConstraints(pattern=r"\S", max_length=MAXIMUM_ENTRY),
    WithJsonSchema({"type": "string", "minLength": 1}),
]
Entries = Annotated[list[Entry], Field(max_length=MAXIMUM_ENTRIES)]
CategoryName = Annotated[
    Category,
    Strict(False),  # A JSON client can only send the name of an enum's member.
    WithJsonSchema({"type": "string", "enum": [category.value for category in Category]}),
]


class ToolArguments(BaseModel):
    """What all tools share."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    response_format: ResponseFormat = Field(
        "detailed", description="concise: locations without code; detailed: with code; json: everything, as JSON."
    )
    token_budget: int | None = Field(
        None, ge=MINIMUM_BUDGET, le=MAXIMUM_BUDGET, description="Longest answer, in tokens; null: the default."
    )


class PagedArguments(ToolArguments):
    """What all tools share whose answers go on."""

    cursor: str = Field(
        "", description="From an answer that had more: continues it. The other arguments stay the same."
    )


class SearchArguments(PagedArguments):
    """What all search tools share. `chunks_per_document`: results per file, 0 for any number."""

    chunks_per_document: ClassVar[int] = 0

    query: Query
    excluded_files: Entries = Field(
        [],
        description="Files to leave out in any case: a bare name (README.md: in any folder), or a path, relative to "
        "the root or absolute. No globs.",
    )
    exclude_archived: bool = Field(True, description="Hide archived, deprecated and backup files.")
    categories: list[CategoryName] = Field(
        [], max_length=MAXIMUM_ENTRIES, description="Only files of these kinds; empty: all."
    )

    def refine(self, request: SearchRequest) -> SearchRequest:
        """Return the request with what only this tool's arguments say."""
        return request


class HybridSearchArguments(SearchArguments):
    """`graphrag_hybrid_search`: one long file must not fill its answer."""

    chunks_per_document: ClassVar[int] = 3

    limit: ResultCount = 5
    include_graph_context: bool = Field(True, description="Add callers, callees, tests and other related code.")
    max_hops: int = Field(2, ge=0, le=3, description="How far to follow relations.")
    include_patterns: Entries = Field(
        [], description="gitignore globs of archived files to add, e.g. .archive/**; not a path filter."
    )
    languages: Entries = Field([], description="Only these languages, for example python; empty: all.")
    use_rrf: bool = Field(True, description="Fuse vector, keyword and graph lists; false: vector search alone.")
    rerank_with_recency: bool = Field(True, description="Let recently changed files rank higher.")

    def refine(self, request: SearchRequest) -> SearchRequest:
        languages = frozenset(language.strip().lower() for language in self.languages)
        return replace(
            request,
            limit=self.limit,
            scope=replace(request.scope, include_patterns=tuple(self.include_patterns), languages=languages),
            include_graph_context=self.include_graph_context,
            max_hops=self.max_hops,
            use_rrf=self.use_rrf,
            rerank_with_recency=self.rerank_with_recency,
        )


class QueryDocumentsArguments(SearchArguments):
    """`query_documents`: every passage that matters, of one file or of many."""

    top_n: ResultCount = 5
    min_score: float | None = Field(
        None, ge=0, le=1, allow_inf_nan=False, description="Drop results whose fused_score is lower; null: keep all."
    )

    def refine(self, request: SearchRequest) -> SearchRequest:
        return replace(request, limit=self.top_n, max_hops=DOCUMENT_HOPS, min_score=self.min_score)


class QueryUniqueDocumentsArguments(QueryDocumentsArguments):
    """`query_unique_documents`: one passage per file."""

    chunks_per_document: ClassVar[int] = 1


class IndexStatusArguments(ToolArguments):
    """`index_status`: nothing but the form of the answer."""


SymbolText = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=1_000),
    Field(description="A name (refresh), a qualified name (Session.refresh), path::name, path:line, or a file's path."),
]
Hops = Annotated[int, Field(ge=1, le=4, description="How far to follow.")]
RowCount = Annotated[int, Field(ge=1, le=MAXIMUM_ROWS, description="Rows to return.")]
DirectionName = Annotated[
    Direction,
    Strict(False),
    WithJsonSchema({"type": "string", "enum": [direction.value for direction in Direction]}),
]


class CodeArguments(PagedArguments):
    """What all tools share that answer from the code graph or the files."""

    limit: RowCount = 40
    exclude_archived: bool = Field(True, description="Hide archived, deprecated and backup files.")


class FindSymbolArguments(CodeArguments):
    """`find_symbol`."""

    symbol: SymbolText
    limit: RowCount = 10


class TraceArguments(CodeArguments):
    """`trace_relations`."""

    symbol: SymbolText
    direction: DirectionName = Field(Direction.CALLERS, description="Which relation to follow.")
    hops: Hops = 2


class ImpactArguments(CodeArguments):
    """`impact`."""

    symbol: SymbolText
    hops: Hops = 3


class OccurrencesArguments(CodeArguments):
    """`find_occurrences`."""

    text: Annotated[
        str, StringConstraints(min_length=1, max_length=1_000), Field(description="The literal text, not a pattern.")
    ]
    whole_word: bool = Field(True, description="Only where no letter, digit or underscore stands beside it.")
    ignore_case: bool = Field(False, description="Find it in any case.")
    paths: Entries = Field([], description="Only files in these folders, or these files; empty: all.")
    limit: RowCount = 100


STATUS_TOOL = "index_status"
CODE_TOOLS: Mapping[str, type[CodeArguments]] = {
    "find_symbol": FindSymbolArguments,
    "trace_relations": TraceArguments,
    "impact": ImpactArguments,
    "find_occurrences": OccurrencesArguments,
}
SEARCH_TOOLS: Mapping[str, type[SearchArguments]] = {
    "graphrag_hybrid_search": HybridSearchArguments,
    "query_documents": QueryDocumentsArguments,
    "query_unique_documents": QueryUniqueDocumentsArguments,
}
TOOLS: Mapping[str, type[ToolArguments]] = {**SEARCH_TOOLS, **CODE_TOOLS, STATUS_TOOL: IndexStatusArguments}


def input_schema(tool: str, settings: Settings | None = None) -> dict[str, Any]:
    """Return the JSON schema of a tool's arguments, with the project's own defaults where there are settings."""
    schema = schema_of(TOOLS[tool])
    properties = schema["properties"]
    if settings is not None and "exclude_archived" in properties:
        properties["exclude_archived"]["default"] = settings.retrieval.exclude_archived
    return schema


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of a model; what must be given comes first: models and people read it from the top."""
    schema = model.model_json_schema(schema_generator=_CompactSchema)
    properties = schema["properties"]
    required = schema.get("required", [])
    schema["properties"] = {
        name: properties[name] for name in sorted(properties, key=lambda name: name not in required)
    }
    return schema


class _CompactSchema(GenerateJsonSchema):
    """Leaves out titles and class descriptions, which repeat the names and cost every session tokens."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - the base class's signature
        return False

    def generate(self, schema: CoreSchema, mode: Any = "validation") -> JsonSchemaValue:
        generated = super().generate(schema, mode)
        return {key: value for key, value in generated.items() if key not in ("title", "description")}
