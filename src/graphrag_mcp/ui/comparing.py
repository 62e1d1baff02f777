"""Runs the same search with two sets of ranking settings, and reports what moved."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any

from graphrag_mcp.app.view import IndexView
from graphrag_mcp.errors import RequestError, SettingsError
from graphrag_mcp.model.search import SearchResult
from graphrag_mcp.search.orchestrator import SearchOrchestrator
from graphrag_mcp.settings import RetrievalSettings, change_retrieval
from graphrag_mcp.tools.search import SearchTool, search_request
from graphrag_mcp.tools.search_json import search_payload

# What a comparison may not change: the first names a model to load, the second only cuts texts.
FIXED = ("cross_encoder_model", "judge_confidence", "response_tokens")

_LOADING = "cross_encoder"  # A model that the project does not use is not loaded for a comparison.


def settings_form(current: RetrievalSettings) -> list[dict[str, Any]]:
    """Return every setting that a comparison may change, with the description of its field, in groups."""
    values = current.model_dump(mode="json")
    fields: Mapping[str, Mapping[str, Any]] = RetrievalSettings.model_json_schema()["properties"]
    groups = {name: group.__doc__ or "" for group in RetrievalSettings.__bases__ for name in group.__annotations__}
    return [
        {"name": name, "group": groups[name].removesuffix("."), "value": values[name], "default": schema.get("default")}
        | {"meaning": schema["description"], **_accepted(schema, values[name])}
        for name, schema in fields.items()
        if name not in FIXED
    ]


def compare(
    view: IndexView, tool: SearchTool, arguments: Mapping[str, object], changes: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the result of each set of changes, and how each hit of the second moved against the first.

    Raises RequestError for a wrong argument or setting.
    """
    results = [_search(view, tool, arguments, change) for change in changes]
    before, after = ([(hit.chunk.path, hit.chunk.start_line) for hit in result.primary] for result in results)
    places = {key: position for position, key in enumerate(before, 1)}
    return {
        "results": [search_payload(result) for result in results],
        "moves": [{"now": position, "before": places.get(key)} for position, key in enumerate(after, 1)],
        "gone": [position for position, key in enumerate(before, 1) if key not in after],
    }


def _search(
    view: IndexView, tool: SearchTool, arguments: Mapping[str, object], changes: Mapping[str, Any]
) -> SearchResult:
    fixed = [name for name in FIXED if name in changes]
    if fixed:
        raise RequestError(fixed[0], f"{fixed[0]} cannot be changed here; set it in the settings and start again")
    if changes.get("rerank") == _LOADING and view.settings.retrieval.rerank != _LOADING:
        raise RequestError("rerank", f"rerank = {_LOADING} loads a model; set it in the settings and start again")
    try:
        settings = change_retrieval(view.settings, changes)
    except SettingsError as error:
        raise RequestError("settings", "; ".join(error.problems)) from None
    request = search_request(tool.read(arguments, settings, view.root))
    timeout = settings.servers.server_timeout_seconds
    with closing(SearchOrchestrator(settings.retrieval, remote_timeout_seconds=timeout)) as orchestrator:
        return orchestrator.search(request, view.stores(), view.state)


def _accepted(schema: Mapping[str, Any], current: object) -> dict[str, Any]:
    """Return the kind of a field and its range or choices, from its JSON schema and its current value."""
    options = [option for option in schema.get("anyOf", [schema]) if option.get("type") != "null"]
    first = options[0]
    kind = "choice" if "enum" in first else str(first["type"])
    choices = [choice for choice in first.get("enum", []) if choice != _LOADING or current == _LOADING]
    limits = {name: first[name] for name in ("minimum", "maximum", "exclusiveMinimum") if name in first}
    return {"kind": kind, "optional": "anyOf" in schema, "choices": choices, **limits}
