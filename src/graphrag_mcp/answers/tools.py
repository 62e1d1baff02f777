"""The table of tools: for each its name, its arguments, its query of a backend, and how its answer is written."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

from graphrag_mcp.answers.arguments import (
    FindSymbolArguments,
    HistoryArguments,
    HybridSearchArguments,
    ImpactArguments,
    IndexStatusArguments,
    OccurrencesArguments,
    QueryDocumentsArguments,
    QueryUniqueDocumentsArguments,
    ToolArguments,
    TraceArguments,
)
from graphrag_mcp.answers.asking import (
    find_history,
    find_occurrences,
    find_symbol,
    impact,
    index_status,
    search,
    trace_relations,
)
from graphrag_mcp.answers.bodies import bodies_text
from graphrag_mcp.answers.code_json import history_json, impact_json, occurrences_json, symbols_json, trace_json
from graphrag_mcp.answers.code_text import impact_text, occurrences_text, symbols_text, trace_text
from graphrag_mcp.answers.excerpts import CONCISE_TOKENS
from graphrag_mcp.answers.flows import flow_json, flow_text
from graphrag_mcp.answers.history_text import history_text
from graphrag_mcp.answers.overview import status_text
from graphrag_mcp.answers.payload import search_json, status_payload
from graphrag_mcp.answers.render import printable, search_text
from graphrag_mcp.answers.requests import Call, read_cursor
from graphrag_mcp.answers.validation import parse_arguments, schema_of
from graphrag_mcp.app.protocol import Capability, SearchBackend
from graphrag_mcp.model.reports import Status
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
        tokens = (
            arguments.token_budget
            or arguments.default_tokens
            or (CONCISE_TOKENS if is_concise else settings.retrieval.response_tokens)
        )
        return Call(self.name, arguments, tokens, scope, read_cursor(self.name, arguments), warnings)

    def write(self, found: _Found, call: Call[_Arguments]) -> str:
        """Return the answer in the form that the call asks for."""
        if call.arguments.response_format == "json":
            return printable(json.dumps(self.json(found, call), ensure_ascii=False))
        return self.text(found, call)


SearchTool: TypeAlias = Tool[SearchBackend, Any, SearchResult]
_search_tool: Callable[..., SearchTool] = partial(
    Tool, needs=Capability.SEARCH, ask=search, text=search_text, json=search_json
)

HYBRID = _search_tool(
    name="graphrag_hybrid_search",
    title="Search code",
    description=(
        "For where, how and which questions about this repository, pasted errors, and names in any spelling. Returns "
        "path:start-end with symbol, reason and code, the best first and not all, then related code; `like NAME` or "
        "path:1-9 finds code that does the same. rg is as good for an exact string in files you know."
    ),
    arguments=HybridSearchArguments,
)
DOCUMENTS = _search_tool(
    name="query_documents",
    title="Search passages",
    description=(
        "For decisions, setup, conventions and concepts. Returns ranked passages, several of a file. rg is as good for "
        "an exact string."
    ),
    arguments=QueryDocumentsArguments,
)
UNIQUE_DOCUMENTS = _search_tool(
    name="query_unique_documents",
    title="Search files",
    description=(
        "For which files deal with a topic, before you read any. Returns one passage per file. rg --files is better "
        "for names of files alone."
    ),
    arguments=QueryUniqueDocumentsArguments,
)
FIND_SYMBOL = Tool(
    name="find_symbol",
    title="Find symbol",
    description=(
        "For a function, class, method or constant whose name you know. Returns each definition (path:start-end, "
        "signature) and what uses it; with body=true its code. rg is better for names in texts and comments."
    ),
    arguments=FindSymbolArguments,
    needs=Capability.CODE,
    ask=find_symbol,
    text=lambda answer, call: (bodies_text if call.arguments.body else symbols_text)(answer, call),
    json=symbols_json,
)
TRACE = Tool(
    name="trace_relations",
    title="Trace relations",
    description=(
        "For who calls, uses, imports, extends or tests a symbol, and (from, to, question) how one thing reaches or "
        "affects another. Returns edges or chains with line, code and certainty, and where the graph stops. rg adds "
        "calls by name at run time."
    ),
    arguments=TraceArguments,
    needs=Capability.CODE,
    ask=trace_relations,
    text=lambda found, call: (flow_text if call.arguments.is_flow else trace_text)(found, call),
    json=lambda found, call: (flow_json if call.arguments.is_flow else trace_json)(found, call),
)
IMPACT = Tool(
    name="impact",
    title="Impact",
    description=(
        "For what an edit of a symbol or file may break, before and after it; without a symbol, what your diff breaks. "
        "Returns the tests to run first, then all that depends on it. rg adds uses outside of code."
    ),
    arguments=ImpactArguments,
    needs=Capability.CODE,
    ask=impact,
    text=impact_text,
    json=impact_json,
)
OCCURRENCES = Tool(
    name="find_occurrences",
    title="Find occurrences",
    description=(
        "For every line with a text or pattern: renames, and when nothing may be missed. Returns the lines by file and "
        "definition, with totals. rg is better for files that are not indexed."
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
        "For a search that finds less than expected. Returns what is indexed, whether it is complete, and what was "
        "left out and why; with overview=true, where to start in this repository. rg finds text there."
    ),
    arguments=IndexStatusArguments,
    needs=Capability.STATUS,
    ask=index_status,
    text=status_text,
    json=lambda status, _call: status_payload(status) if isinstance(status, Status) else asdict(status),
)

HISTORY = Tool(
    name="find_history",
    title="Find history",
    description=(
        "For why code is as it is, when it changed, and whether something was tried before. Returns commits: by query "
        "those that match, by symbol or path those that changed it. rg finds no reasons."
    ),
    arguments=HistoryArguments,
    needs=Capability.CODE,
    ask=find_history,
    text=history_text,
    json=history_json,
)

SEARCH_TOOLS: Mapping[str, SearchTool] = {tool.name: tool for tool in (HYBRID, DOCUMENTS, UNIQUE_DOCUMENTS)}
TOOLS: Mapping[str, Tool[Any, Any, Any]] = {
    tool.name: tool
    for tool in (HYBRID, DOCUMENTS, UNIQUE_DOCUMENTS, FIND_SYMBOL, TRACE, IMPACT, OCCURRENCES, HISTORY, STATUS)
}
