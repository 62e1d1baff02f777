"""The table of tools: for each its name, its arguments, its query of a backend, and how its answer is written."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

from graphrag_mcp.answers.arguments import (
    FindSymbolArguments,
    HybridSearchArguments,
    ImpactArguments,
    IndexStatusArguments,
    OccurrencesArguments,
    QueryDocumentsArguments,
    QueryUniqueDocumentsArguments,
    ToolArguments,
    TraceArguments,
)
from graphrag_mcp.answers.asking import find_occurrences, find_symbol, impact, index_status, search, trace_relations
from graphrag_mcp.answers.code_json import impact_json, occurrences_json, symbols_json, trace_json
from graphrag_mcp.answers.code_text import impact_text, occurrences_text, symbols_text, trace_text
from graphrag_mcp.answers.excerpts import CONCISE_TOKENS
from graphrag_mcp.answers.overview import status_text
from graphrag_mcp.answers.payload import search_json, status_payload
from graphrag_mcp.answers.render import printable, search_text
from graphrag_mcp.answers.requests import Call, read_cursor
from graphrag_mcp.answers.validation import parse_arguments, schema_of
from graphrag_mcp.app.protocol import Capability, SearchBackend
from graphrag_mcp.model.search import SearchResult
from graphrag_mcp.settings import Settings

_Backend = TypeVar("_Backend", bound=SearchBackend)
_Arguments = TypeVar("_Arguments", bound=ToolArguments)
_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True)
class Tool(Generic[_Backend, _Arguments, _Found]):
    """One tool.

    needs: the capability that a backend must have. ask: returns what was found. text, json: write it within the
    budget of the call.
    """

    name: str
    title: str
    description: str
    arguments: type[_Arguments]
    needs: Capability
    ask: Callable[[_Backend, Call[_Arguments]], _Found]
    text: Callable[[_Found, Call[_Arguments]], str]
    json: Callable[[_Found, Call[_Arguments]], dict[str, Any]]

    def schema(self, settings: Settings | None = None) -> dict[str, Any]:
        """Return the JSON schema of the arguments, with the project's own defaults where there are settings."""
        schema = schema_of(self.arguments)
        properties = schema["properties"]
        if settings is not None and "exclude_archived" in properties:
            properties["exclude_archived"]["default"] = settings.retrieval.exclude_archived
        return schema

    def read(self, given: Mapping[str, object], settings: Settings, root: Path) -> Call[_Arguments]:
        """Return the call with these arguments; nothing is clamped. Raises RequestError, which names every problem."""
        arguments = parse_arguments(self.name, self.arguments, given)
        scope, warnings = arguments.scope(root)
        if "exclude_archived" not in arguments.model_fields_set:
            scope = replace(scope, exclude_archived=settings.retrieval.exclude_archived)
        is_concise = arguments.response_format == "concise"
        tokens = arguments.token_budget or (CONCISE_TOKENS if is_concise else settings.retrieval.response_tokens)
        return Call(self.name, arguments, tokens, scope, read_cursor(self.name, arguments), warnings)

    def write(self, found: _Found, call: Call[_Arguments]) -> str:
        """Return the answer in the form that the call asks for."""
        if call.arguments.response_format == "json":
            return printable(json.dumps(self.json(found, call), ensure_ascii=False))
        return self.text(found, call)


HYBRID = Tool(
    name="graphrag_hybrid_search",
    title="Search code (hybrid, with code graph)",
    description=(
        "Search this repository's code by meaning, identifier or path: semantic (vector) and keyword search are fused "
        "with the code graph. Use it to find where something is implemented, how a feature works, what calls a "
        "function, which tests cover it, or a symbol's definition - before grep, glob or reading files. Returns the "
        "best matching functions, classes and sections as path:start-end with symbol, reason and code, followed by "
        "related code (callers, callees, tests, imports). Recently changed files rank a little higher; archived and "
        "deprecated ones are hidden by default. Results are ranked, not exhaustive."
    ),
    arguments=HybridSearchArguments,
    needs=Capability.SEARCH,
    ask=search,
    text=search_text,
    json=search_json,
)
DOCUMENTS = Tool(
    name="query_documents",
    title="Search passages in code and documents",
    description=(
        "Find the best passages in this repository's documentation, configuration and code: README, ADRs, guides, "
        "docstrings, functions. Use it for questions about decisions, setup, conventions or concepts, or when several "
        'passages of one file may matter. categories=["documentation"] narrows it to documents; excluded_files leaves '
        "out files you already know; min_score (0 to 1) drops weak matches."
    ),
    arguments=QueryDocumentsArguments,
    needs=Capability.SEARCH,
    ask=search,
    text=search_text,
    json=search_json,
)
UNIQUE_DOCUMENTS = Tool(
    name="query_unique_documents",
    title="Search files, one passage each",
    description=(
        "Like query_documents, with one passage per file: use it to find which files, modules or documents of this "
        "repository deal with a topic, for an overview before reading."
    ),
    arguments=QueryUniqueDocumentsArguments,
    needs=Capability.SEARCH,
    ask=search,
    text=search_text,
    json=search_json,
)
FIND_SYMBOL = Tool(
    name="find_symbol",
    title="Find a symbol's definition and uses",
    description=(
        "Return where a function, class, method or constant is defined (path:start-end, signature) and what uses it. "
        "Exact by name, unlike the search. Give a name, Class.method, path::name, path:line, or a file's path."
    ),
    arguments=FindSymbolArguments,
    needs=Capability.CODE,
    ask=find_symbol,
    text=symbols_text,
    json=symbols_json,
)
TRACE = Tool(
    name="trace_relations",
    title="Trace callers, callees, imports, subclasses, tests",
    description=(
        "Follow the code graph from a symbol: its callers (and what uses a type), callees, importers, imports, "
        "subclasses, superclasses or tests, several hops far. Each edge has its line, its confidence and how it was "
        "resolved; the answer says where the graph stops. Use it before changing a function's behaviour or signature."
    ),
    arguments=TraceArguments,
    needs=Capability.CODE,
    ask=trace_relations,
    text=trace_text,
    json=trace_json,
)
IMPACT = Tool(
    name="impact",
    title="What a change reaches",
    description=(
        "Return what a change to a symbol or file may affect (callers, users of a type, subclasses, importers, "
        "transitively), and the tests to run first. Use it before and after editing."
    ),
    arguments=ImpactArguments,
    needs=Capability.CODE,
    ask=impact,
    text=impact_text,
    json=impact_json,
)
OCCURRENCES = Tool(
    name="find_occurrences",
    title="Every occurrence of a text",
    description=(
        "Return every line of the indexed files with a literal text or identifier, grouped by file, with totals. "
        "Complete, where the search is ranked: use it for renames, and when nothing may be missed."
    ),
    arguments=OccurrencesArguments,
    needs=Capability.CODE,
    ask=find_occurrences,
    text=occurrences_text,
    json=occurrences_json,
)
STATUS = Tool(
    name="index_status",
    title="Index status",
    description=(
        "Return whether the index of this repository is complete, what it contains (files, chunks, symbols, "
        "languages, model), and which files were left out and why. Use it when a search finds less than expected."
    ),
    arguments=IndexStatusArguments,
    needs=Capability.STATUS,
    ask=index_status,
    text=status_text,
    json=lambda status, _call: status_payload(status),
)

SearchTool: TypeAlias = Tool[SearchBackend, Any, SearchResult]
SEARCH_TOOLS: Mapping[str, SearchTool] = {tool.name: tool for tool in (HYBRID, DOCUMENTS, UNIQUE_DOCUMENTS)}
TOOLS: Mapping[str, Tool[Any, Any, Any]] = {
    tool.name: tool for tool in (HYBRID, DOCUMENTS, UNIQUE_DOCUMENTS, FIND_SYMBOL, TRACE, IMPACT, OCCURRENCES, STATUS)
}
