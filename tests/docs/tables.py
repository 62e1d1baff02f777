"""Writes the parts of the pages that repeat the code: settings, tool arguments, languages.

    python -m tests.docs.tables

A table stands between `<!-- NAME -->` and `<!-- end of NAME -->`.
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from graphrag_mcp.languages.language import Language
from graphrag_mcp.languages.registry import LANGUAGES
from graphrag_mcp.model.fields import outer_fields, record_schema
from graphrag_mcp.settings import IndexingSettings, RetrievalSettings, ServerSettings
from graphrag_mcp.tools.arguments import MAXIMUM_ENTRIES, CodeArguments, SearchArguments
from graphrag_mcp.tools.search import DOCUMENTS, HYBRID
from graphrag_mcp.tools.table import SEARCH_TOOLS, TOOLS
from graphrag_mcp.tools.tool import Tool
from tests.docs import ROOT

SETTINGS_PAGE = ROOT / "docs" / "settings.md"
TOOLS_PAGE = ROOT / "docs" / "tools.md"
LANGUAGES_PAGE = ROOT / "docs" / "languages.md"
PAGES = {SETTINGS_PAGE: "settings", TOOLS_PAGE: "arguments", LANGUAGES_PAGE: "languages"}

_TYPES = {"string": "text", "integer": "whole number", "number": "number", "array": "list", "boolean": "true or false"}
MOST_LISTED = 8  # Names that an entry of a list may be: more are not listed.


def render_tables() -> dict[str, str]:
    """Return every table by its name."""
    searched, common = set(outer_fields(SearchArguments)), set(outer_fields(CodeArguments)) - {"limit"}
    others = [tool for tool in TOOLS.values() if tool.name not in SEARCH_TOOLS]
    return {
        "settings: indexing": _settings_table(IndexingSettings),
        "settings: retrieval": _retrieval_tables(),
        "settings: servers": _settings_table(ServerSettings),
        "arguments: common": _arguments(HYBRID, common),
        "arguments: all search tools": _arguments(HYBRID, searched - common),
        **{f"arguments: {tool.name}": _arguments(tool, _names(tool) - searched) for tool in (HYBRID, DOCUMENTS)},
        **{f"arguments: {tool.name}": _arguments(tool, _own(tool) - common) for tool in others},
        "languages": _languages(),
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


def _retrieval_tables() -> str:
    """Return a heading and a table for each group of settings in `[retrieval]`."""
    groups = [group for group in reversed(RetrievalSettings.__mro__) if "__annotations__" in vars(group)]
    tables = [(str(group.__doc__), _settings_table(group, group.__annotations__)) for group in groups]
    return "\n".join(f"### {title.removesuffix('.')}\n\n{table}" for title, table in tables)


def _languages() -> str:
    kinds = {"by type": True, "by names and imports": False}
    named = {kind: [one for one in LANGUAGES.values() if one.has_facts is facts] for kind, facts in kinds.items()}
    return "".join(f"* Relations {kind}: {', '.join(map(_with_files, found))}.\n" for kind, found in named.items())


def _with_files(language: Language) -> str:
    return f"{language.title} ({' '.join(f'`{file}`' for file in language.files.split())})"


def _settings_table(section: type[Struct], names: Collection[str] = ()) -> str:
    """Return the table of some settings of a section, or of all."""
    properties = record_schema(section)["properties"]
    rows = ((f"`{name}`", *_describe(schema)) for name, schema in properties.items() if name in (names or properties))
    return _table(("name", "default", "accepted", "meaning"), rows)


def _names(tool: Tool[Any, Any, Any]) -> set[str]:
    return set(tool.schema()["properties"])


def _own(tool: Tool[Any, Any, Any]) -> set[str]:
    """Return the arguments that a search does not take, or takes with other values."""
    own, searched = tool.schema()["properties"], HYBRID.schema()["properties"]
    return {name for name in own if name not in searched or _value(own[name]) != _value(searched[name])}


def _arguments(tool: Tool[Any, Any, Any], names: set[str]) -> str:
    schema = tool.schema()
    required = schema.get("required", ())
    return "".join(
        f"* `{name}` ({_value(one, required=name in required)}): {one['description']}\n"
        for name, one in schema["properties"].items()
        if name in names
    )


def _value(schema: Mapping[str, Any], *, required: bool = False) -> str:
    """Return the default of an argument, unless it is empty, and what else is accepted."""
    default = "required" if required else schema["default"]
    if isinstance(default, bool):
        return json.dumps(default)
    if "enum" in schema:
        return f"`{default}`; {', '.join(f'`{value}`' for value in schema['enum'] if value != default)}"
    (kind,) = (one for one in schema.get("anyOf", [schema]) if one["type"] != "null")
    accepted = _accepted(kind).removeprefix("whole number, ").removeprefix("number, ").removeprefix("text, ")
    accepted = accepted.removesuffix(f", at most {MAXIMUM_ENTRIES} entries")
    return accepted if default in ("", None, ()) else f"{default}; {accepted}"


def _describe(schema: Mapping[str, Any]) -> tuple[str, str, str]:
    return f"`{json.dumps(schema['default'])}`", _accepted(schema), str(schema["description"]).replace("|", "\\|")


def _accepted(schema: Mapping[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(_accepted(one) for one in schema["anyOf"])
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if schema["type"] == "null":
        return "nothing"
    if len(schema.get("items", {}).get("enum", ())) in range(1, MOST_LISTED + 1):
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
