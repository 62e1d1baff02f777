"""The tools as a client sees them: what they are called, and what they say about themselves."""

from collections.abc import Mapping
from typing import NamedTuple

from mcp.types import Tool, ToolAnnotations

from graphrag_mcp.answers.arguments import TOOLS, input_schema
from graphrag_mcp.settings import Settings


class _Words(NamedTuple):
    title: str
    description: str


TOOL_WORDS: Mapping[str, _Words] = {
    "graphrag_hybrid_search": _Words(
        "Search code (hybrid, with code graph)",
        "Search this repository's code by meaning, identifier or path: semantic (vector) and keyword search are fused "
        "with the code graph. Use it to find where something is implemented, how a feature works, what calls a "
        "function, which tests cover it, or a symbol's definition - before grep, glob or reading files. Returns the "
        "best matching functions, classes and sections as path:start-end with symbol, reason and code, followed by "
        "related code (callers, callees, tests, imports). Recently changed files rank a little higher; archived and "
        "deprecated ones are hidden by default. Results are ranked, not exhaustive.",
    ),
    "query_documents": _Words(
        "Search passages in code and documents",
        "Find the best passages in this repository's documentation, configuration and code: README, ADRs, guides, "
        "docstrings, functions. Use it for questions about decisions, setup, conventions or concepts, or when several "
        'passages of one file may matter. categories=["documentation"] narrows it to documents; excluded_files leaves '
        "out files you already know; min_score (0 to 1) drops weak matches.",
    ),
    "query_unique_documents": _Words(
        "Search files, one passage each",
        "As query_documents, with one passage per file: use it to learn which files, modules or documents of this "
        "repository deal with a topic, for an overview before reading.",
    ),
    "find_symbol": _Words(
        "Find a symbol's definition and uses",
        "Return where a function, class, method or constant is defined (path:start-end, signature) and what uses it. "
        "Exact by name, unlike the search. Give a name, Class.method, path::name, path:line, or a file's path.",
    ),
    "trace_relations": _Words(
        "Trace callers, callees, imports, subclasses, tests",
        "Follow the code graph from a symbol: its callers (and what uses a type), callees, importers, imports, "
        "subclasses, superclasses or tests, several hops far. Each edge has its line, its confidence and how it was "
        "resolved; the answer says where the graph stops. Use it before changing a function's behaviour or signature.",
    ),
    "impact": _Words(
        "What a change reaches",
        "Return what a change to a symbol or a file may reach (callers, users of a type, subclasses, importers, "
        "transitively), and the tests to run first. Use it before and after editing.",
    ),
    "find_occurrences": _Words(
        "Every occurrence of a text",
        "Return every line of the indexed files that holds a literal text or identifier, grouped by file, with totals. "
        "Complete, where the search is ranked: use it for renames, and to be sure that nothing is missed.",
    ),
    "index_status": _Words(
        "Index status",
        "Says whether the search index of this repository is complete, what it holds (files, chunks, symbols, "
        "languages, model), and which files were left out and why. Use it when a search finds less than expected.",
    ),
}


def describe_tools(settings: Settings) -> list[Tool]:
    """Return all tools; their schemas show the settings' defaults."""
    return [_describe_tool(name, settings) for name in TOOLS]


def _describe_tool(name: str, settings: Settings) -> Tool:
    words = TOOL_WORDS[name]
    return Tool(
        name=name,
        title=words.title,
        description=words.description,
        input_schema=input_schema(name, settings),
        annotations=ToolAnnotations(
            title=words.title, read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
    )
