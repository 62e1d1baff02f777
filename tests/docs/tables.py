"""Writes the tables of the pages that say what the code says: settings, tool arguments, languages.

    python -m tests.docs.tables

A table stands between `<!-- NAME -->` and `<!-- end of NAME -->`.
"""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from graphrag_mcp.app.protocol import Capability
from graphrag_mcp.languages.registry import LANGUAGES
from graphrag_mcp.settings import ENVIRONMENT_PREFIX, IndexingSettings, RetrievalSettings, ServerSettings, Settings
from graphrag_mcp.tools.arguments import CodeArguments, SearchArguments
from graphrag_mcp.tools.find_symbol import FIND_SYMBOL
from graphrag_mcp.tools.index_status import STATUS
from graphrag_mcp.tools.search import DOCUMENTS, HYBRID
from graphrag_mcp.tools.table import TOOLS
from graphrag_mcp.tools.tool import Tool
from tests.docs import ROOT

SETTINGS_PAGE = ROOT / "docs" / "settings.md"
TOOLS_PAGE = ROOT / "docs" / "tools.md"
LANGUAGES_PAGE = ROOT / "docs" / "languages.md"
PAGES = {SETTINGS_PAGE: "settings", TOOLS_PAGE: "arguments", LANGUAGES_PAGE: "languages"}

# The settings that most users who change any change first: the page opens with them.
COMMON_SETTINGS = {
    "indexing": (
        "default_exclusions", "archive_patterns", "max_file_bytes", "workers", "watch", "data_dir", "embedding_model",
    ),
    "retrieval": (
        "exclude_archived", "response_tokens", "min_score", "judge_confidence", "expansions", "vector_weight",
        "keyword_weight", "prior_tests", "prior_documentation", "recency_profile", "rerank", "cross_encoder_model",
    ),
    "servers": (
        "qdrant_url", "qdrant_api_key", "neo4j_uri", "neo4j_user", "neo4j_password", "project_id", "sync_servers",
    ),
}  # fmt: skip

_TYPES = {"string": "text", "integer": "whole number", "number": "number", "array": "list", "boolean": "true or false"}


def render_tables() -> dict[str, str]:
    """Return every table by its name."""
    shared, of_code = set(SearchArguments.model_fields), set(CodeArguments.model_fields) - {"limit"}
    code_tools = [tool for tool in TOOLS.values() if tool.needs is Capability.CODE]
    return {
        "settings: common": _common_table(),
        "settings: indexing": _settings_table(IndexingSettings),
        "settings: retrieval": _retrieval_tables(),
        "settings: servers": _settings_table(ServerSettings),
        "arguments: all search tools": _arguments_table(HYBRID, shared),
        **{f"arguments: {tool.name}": _arguments_table(tool, _names(tool) - shared) for tool in (HYBRID, DOCUMENTS)},
        **{f"arguments: {tool.name}": _arguments_table(tool, _names(tool) - of_code) for tool in code_tools},
        "arguments: all code tools": _arguments_table(FIND_SYMBOL, of_code),
        f"arguments: {STATUS.name}": _arguments_table(STATUS, _names(STATUS)),
        "languages": _languages_table(),
    }


def replace_tables(page: Path) -> str:
    """Return the text of a page with its tables as the code has them now."""
    text = page.read_text(encoding="utf-8")
    for name, table in render_tables().items():
        if not name.startswith(PAGES[page]):
            continue
        start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        found = re.search(f"{re.escape(start)}.*?{re.escape(end)}", text, re.DOTALL)
        assert found, f"{page.name} has no table {name!r}"
        text = text[: found.start()] + start + table + end + text[found.end() :]
    return text


def write_tables() -> None:
    """Write the tables of all pages."""
    for page in PAGES:
        page.write_text(replace_tables(page), encoding="utf-8")


def _common_table() -> str:
    rows = []
    for section, names in COMMON_SETTINGS.items():
        model = Settings.model_fields[section].annotation
        assert model is not None
        properties = model.model_json_schema()["properties"]
        rows += [(f"`{section}`", f"`{name}`", *_describe(properties[name])) for name in names]
    return _table(("section", "name", "default", "accepted", "meaning"), rows)


def _retrieval_tables() -> str:
    """Return a heading and a table for each group of settings in `[retrieval]`."""
    groups = [(str(group.__doc__), _settings_table(group)) for group in RetrievalSettings.__bases__]
    return "\n".join(f"### {title.removesuffix('.')}\n\n{table}" for title, table in groups)


def _languages_table() -> str:
    rows = (
        (one.title, " ".join(f"`{file}`" for file in one.files.split()), "by type" if one.has_facts else "by name")
        for one in LANGUAGES.values()
    )
    return _table(("language", "files", "relations"), rows)


def _settings_table(section: type[BaseModel]) -> str:
    properties = section.model_json_schema()["properties"]
    rows = (
        (f"`{name}`", f"`{ENVIRONMENT_PREFIX}{name.upper()}`", *_describe(schema))
        for name, schema in properties.items()
    )
    return _table(("name", "environment variable", "default", "accepted", "meaning"), rows)


def _names(tool: Tool[Any, Any, Any]) -> set[str]:
    return set(tool.schema()["properties"])


def _arguments_table(tool: Tool[Any, Any, Any], names: set[str]) -> str:
    schema = tool.schema()
    rows = (
        (f"`{name}`", *(_describe(one, required=name in schema.get("required", ()))))
        for name, one in schema["properties"].items()
        if name in names
    )
    return _table(("argument", "default", "accepted", "meaning"), rows)


def _describe(schema: Mapping[str, Any], *, required: bool = False) -> tuple[str, str, str]:
    default = "required" if required else f"`{json.dumps(schema['default'])}`"
    return default, _accepted(schema), str(schema["description"]).replace("|", "\\|")


def _accepted(schema: Mapping[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(_accepted(one) for one in schema["anyOf"])
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if schema["type"] == "null":
        return "nothing"
    if "enum" in schema.get("items", ()):
        return f"list of {_accepted(schema['items'])}{_range(schema)}"
    if schema["type"] == "object":
        return f"table of {'lists' if schema['additionalProperties'].get('type') == 'array' else 'numbers'}"
    return _TYPES[schema["type"]] + _range(schema)


def _range(schema: Mapping[str, Any]) -> str:
    if "maxItems" in schema:
        return f", at most {schema['maxItems']:,} entries"
    unit = " characters" if schema["type"] == "string" else ""
    least = schema.get("minimum", schema.get("minLength"))
    most = schema.get("maximum", schema.get("maxLength"))
    if "exclusiveMinimum" in schema:
        return f", more than {schema['exclusiveMinimum']}" + (f", at most {most}" if most is not None else "")
    if least is not None and most is not None:
        return f", {least:,} to {most:,}{unit}"
    return f", {least:,} or more{unit}" if least is not None else ""


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


if __name__ == "__main__":
    write_tables()
