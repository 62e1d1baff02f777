"""The arguments of each tool: one model per tool, used for both the JSON schema and the validation.

The description of an argument is for people. A client's model, which reads the list of tools in every session, gets the
`hint` instead, where the name of the argument does not say it.
"""

import re
from dataclasses import replace
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
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
from graphrag_mcp.exclusion.globs import compile_globs
from graphrag_mcp.model.files import Category
from graphrag_mcp.model.graph import Direction
from graphrag_mcp.model.paths import normalise_paths
from graphrag_mcp.model.scope import Scope, normalise_excluded_files
from graphrag_mcp.model.search import Case, SearchRequest

MINIMUM_QUERY = 2  # "io" and "ci" are names; a single character occurs everywhere.
MAXIMUM_QUERY = 8_000  # A long stack trace fits; a whole file does not.
MAXIMUM_PHRASINGS = 5  # Each is a search of its own; more add nothing.
MAXIMUM_ENDS = 10  # On each side of a flow.
MAXIMUM_RESULTS = 25  # More than a client shows in one answer.
MINIMUM_BUDGET, MAXIMUM_BUDGET = 200, 50_000
MAXIMUM_READ = 10  # Symbols whose code one answer has.
MAXIMUM_ROWS = 500  # Lines of an exact answer.
MAXIMUM_CONTEXT = 20
MAXIMUM_ENTRIES = 200  # Of a list: each adds a condition, or a pattern that is matched against every path.
MAXIMUM_ENTRY = 4_096  # Characters: the longest path that Linux accepts.
MAXIMUM_LIST = 16_384  # Characters of all entries: a glob of 4,096 takes 0.1 s to compile, and each is compiled often.
MAXIMUM_CURSOR = 18  # Nine digits, a dash and eight more.
MAXIMUM_LINE = 100_000_000
HISTORY_TOKENS = 625  # 2,000 characters.
DOCUMENT_HOPS = 1  # The query tools rank with direct neighbours only; the graph is the hybrid tool's subject.

_COMMA = re.compile(r",(?![^(]*\))")  # Not between parameters.

ResponseFormat = Literal["concise", "detailed", "json"]


def _hint(text: str) -> dict[str, JsonValue]:
    return {"hint": text}


Phrasing = Annotated[str, StringConstraints(strip_whitespace=True, min_length=MINIMUM_QUERY, max_length=MAXIMUM_QUERY)]
ResultCount = Annotated[int, Field(ge=1, le=MAXIMUM_RESULTS, description="Results to return.")]
Entry = Annotated[
    str,
    StringConstraints(pattern=r"\S", max_length=MAXIMUM_ENTRY),
    WithJsonSchema({"type": "string", "minLength": 1}),
]


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
        json_schema_extra=_hint("folders, files, globs; !x leaves out"),
    ),
]
CategoryName = Annotated[
    Category,
    Strict(False),  # A JSON client can only send the name of an enum's member.
    WithJsonSchema({"type": "string", "enum": [category.value for category in Category]}),
]


class ToolArguments(BaseModel):
    """The arguments that all tools share."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    default_tokens: ClassVar[int] = 0  # Of an answer; 0: as the settings say.

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
        json_schema_extra=_hint("several phrasings: symptom, key words, guessed names"),
    )
    paths: Paths = []
    excluded_files: Entries = Field(
        [],
        description="Files to leave out in any case: a bare name (README.md: in any folder), or a path, relative to "
        "the root or absolute. No globs.",
        json_schema_extra=_hint("names or paths, no globs"),
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

    def scope(self, root: Path) -> tuple[Scope, tuple[str, ...]]:
        """Return the files that may be found; an excluded file outside the root is a warning."""
        excluded_keys, warnings = normalise_excluded_files(self.excluded_files, root)
        scope = Scope(
            excluded_keys,
            exclude_archived=self.exclude_archived,
            categories=frozenset(self.categories),
            paths=_globs(self.paths, root),
        )
        return scope, warnings

    def refine(self, request: SearchRequest) -> SearchRequest:
        return request


class HybridSearchArguments(SearchArguments):
    """`graphrag_hybrid_search`: one long file must not fill its answer."""

    chunks_per_document: ClassVar[int] = 3

    limit: ResultCount = 5
    include_graph_context: bool = Field(True, description="Add callers, callees, tests and other related code.")
    max_hops: int = Field(2, ge=0, le=3, description="How far to follow relations.")
    include_patterns: Entries = Field(
        [],
        description="gitignore globs of archived files to include, e.g. .archive/**; not a path filter.",
        json_schema_extra=_hint("globs of archived files to show"),
    )
    languages: Entries = Field([], description="Only these languages, for example python; empty: all.")
    use_rrf: bool = Field(
        True,
        description="Fuse vector, keyword and graph lists; false: vector search alone.",
        json_schema_extra=_hint("false: vectors alone"),
    )
    rerank_with_recency: bool = Field(True, description="Rank recently changed files higher.")

    def scope(self, root: Path) -> tuple[Scope, tuple[str, ...]]:
        scope, warnings = super().scope(root)
        compile_globs(self.include_patterns)  # Only to refuse an invalid one before the stores use it.
        patterns = tuple(self.include_patterns)
        return replace(scope, include_patterns=patterns, languages=_languages(self.languages)), warnings

    def refine(self, request: SearchRequest) -> SearchRequest:
        return replace(
            request,
            limit=self.limit,
            include_graph_context=self.include_graph_context,
            max_hops=self.max_hops,
            related_hops=self.max_hops if "max_hops" in self.model_fields_set else request.related_hops,
            use_rrf=self.use_rrf,
            rerank_with_recency=self.rerank_with_recency,
        )


class QueryDocumentsArguments(SearchArguments):
    """`query_documents`: any number of passages per file."""

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
    """`index_status`."""

    overview: bool = Field(
        False,
        description="What a newcomer needs first instead: languages, entry points, modules, tests, settings.",
        json_schema_extra=_hint("languages, entry points, hubs, tests instead"),
    )


SymbolText = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=1_000),
    Field(
        description="A name (refresh), a qualified name (Session.refresh), path::name, path:line, or a file's path.",
        json_schema_extra=_hint("name, Class.name, path::name, path:line or path"),
    ),
]
Hops = Annotated[int, Field(ge=1, le=4, description="How far to follow.")]
RowCount = Annotated[int, Field(ge=1, le=MAXIMUM_ROWS, description="Rows to return.")]
DirectionName = Annotated[
    Direction,
    Strict(False),
    WithJsonSchema({"type": "string", "enum": [direction.value for direction in Direction]}),
]
CaseName = Annotated[Case, Strict(False), WithJsonSchema({"type": "string", "enum": [case.value for case in Case]})]


class CodeArguments(PagedArguments):
    """The arguments of tools that answer from the code graph or the files."""

    limit: RowCount = 40
    exclude_archived: bool = Field(True, description="Hide archived, deprecated and backup files.")

    def scope(self, _root: Path) -> tuple[Scope, tuple[str, ...]]:
        return Scope(exclude_archived=self.exclude_archived), ()


class FindSymbolArguments(CodeArguments):
    """`find_symbol`."""

    symbol: SymbolText
    body: bool = Field(
        False,
        description="With code, callers, callees, tests and last change; up to ten symbols, separated by commas.",
        json_schema_extra=_hint("with code, callers, tests; symbols by commas"),
    )
    focus: str = Field("", max_length=1_000, description="With body: words whose lines a long one is folded around.")
    limit: RowCount = 10

    @property
    def symbols(self) -> list[str]:
        """The symbols to read. Raises RequestError for more than MAXIMUM_READ."""
        names = [name for name in map(str.strip, _COMMA.split(self.symbol)) if name] if self.body else [self.symbol]
        if not 0 < len(names) <= MAXIMUM_READ:
            raise RequestError("symbol", f"symbol: {len(names)} symbols were given; give 1 to {MAXIMUM_READ}")
        return names


QuestionText = Annotated[str, StringConstraints(strip_whitespace=True, max_length=MAXIMUM_QUERY)]
Ends = Annotated[
    list[SymbolText],
    Field(max_length=MAXIMUM_ENDS),
    BeforeValidator(lambda ends: [ends] if isinstance(ends, str) else ends),
]


class TraceArguments(CodeArguments):
    """`trace_relations`: the relations of a symbol, or how code reaches other code."""

    symbol: str = Field(
        "",
        max_length=1_000,
        description="A name (refresh), a qualified name (Session.refresh), path::name, path:line, or a file's path.",
    )
    from_: Ends = Field(
        [],
        alias="from",
        description="Symbols, or one: how they reach `to`; without `to`, what they lead to.",
        json_schema_extra=_hint("symbols: how they reach `to`"),
    )
    to: Ends = Field([], description="Symbols, or one: what reaches them.")
    question: QuestionText = Field(
        "",
        description="How something reaches, becomes or affects something else; finds `from` and `to` if they are not "
        "given.",
        json_schema_extra=_hint("how X reaches Y; finds from and to"),
    )
    direction: DirectionName = Field(Direction.CALLERS, description="Which relation to follow.")
    hops: Hops = 1
    unresolved: bool = Field(False, description="Also list places whose receiver is not known.")

    @property
    def is_flow(self) -> bool:
        """Whether it asks how code reaches other code."""
        return bool(self.from_ or self.to or self.question)

    @property
    def starts(self) -> list[str]:
        """The symbols at which a flow starts."""
        return self.from_ or list(filter(None, [self.symbol.strip()]))

    @model_validator(mode="after")
    def _asks(self) -> Self:
        if not self.symbol.strip() and not self.is_flow:
            raise RequestError("symbol", "symbol is required, or from, to or question")
        if self.symbol.strip() and self.from_:
            raise RequestError("symbol", "symbol and from both say where to start; give one of them")
        return self


class ImpactArguments(CodeArguments):
    """`impact`: of a symbol; without one, of what differs from `base`."""

    symbol: str = Field(
        "",
        max_length=1_000,
        description="A name (refresh), a qualified name (Session.refresh), path::name, path:line, or a file's path; "
        "without one: what differs from base.",
        json_schema_extra=_hint("none: of the diff"),
    )
    base: str = Field(
        "",
        max_length=1_000,
        description="A branch or commit (main: since this branch left it), or a range (a..b); without one: HEAD.",
        json_schema_extra=_hint("main, a..b"),
    )
    hops: Hops = 3

    @model_validator(mode="after")
    def _asks(self) -> Self:
        if self.symbol.strip() and self.base:
            raise RequestError("base", "base: give a symbol, or the base of a diff, not both")
        return self


class HistoryArguments(PagedArguments):
    """`find_history`."""

    default_tokens: ClassVar[int] = HISTORY_TOKENS

    query: str = Field("", max_length=MAXIMUM_QUERY, description="Words of commit messages.")
    symbol: str = Field("", max_length=1_000, description="How its lines came to be.")
    path: str = Field("", max_length=MAXIMUM_ENTRY, description="How this file came to be.")
    line: int | None = Field(None, ge=1, le=MAXIMUM_LINE, description="Of path: the commit that explains it.")
    since: str = Field("", max_length=100, description="Only commits after this day (2026-01-31, 2 weeks ago).")
    until: str = Field("", max_length=100, description="Only commits before this day.")
    author: str = Field("", max_length=200, description="A part of name or address.")
    limit: ResultCount = 10

    @model_validator(mode="after")
    def _asks(self) -> Self:
        if not any((self.query.strip(), self.symbol, self.path, self.since, self.until, self.author)):
            raise RequestError("query", "query is required, or symbol, path, since, until or author")
        if self.line and not self.path:
            raise RequestError("line", "line needs the path that it is in")
        return self


class OccurrencesArguments(CodeArguments):
    """`find_occurrences`."""

    text: Annotated[
        str, StringConstraints(min_length=1, max_length=1_000), Field(description="A literal text, or a pattern.")
    ]
    regex: bool = Field(False, description="The text is a pattern of RE2.")
    whole_word: bool = Field(False, description="Match whole words only.")
    case: CaseName = Field(Case.SMART, description="smart: ignored without capitals.")
    context: int = Field(0, ge=0, le=MAXIMUM_CONTEXT, description="Lines around each.")
    paths: Paths = []
    languages: Entries = Field([], description="Only these; empty: all.")
    categories: list[CategoryName] = Field([], max_length=MAXIMUM_ENTRIES, description="Only these; empty: all.")
    limit: RowCount = 50

    def scope(self, root: Path) -> tuple[Scope, tuple[str, ...]]:
        scope, warnings = super().scope(root)
        return replace(
            scope,
            paths=_globs(self.paths, root),
            languages=_languages(self.languages),
            categories=frozenset(self.categories),
        ), warnings


def _languages(names: list[str]) -> frozenset[str]:
    return frozenset(name.strip().lower() for name in names)


def _globs(paths: list[str], root: Path) -> tuple[str, ...]:
    globs = normalise_paths(paths, root)
    compile_globs([glob.removeprefix("!") for glob in globs], "paths")  # Only to refuse an invalid one.
    return globs
