"""What every argument of every tool takes, by its schema: as JSON or as JSON text; and what it refuses, by its name."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from itertools import product
from typing import Any

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.errors import GraphragError, RequestError
from graphrag_mcp.settings import IndexingSettings, Settings
from graphrag_mcp.tools.arguments import MAXIMUM_LIST, parse_arguments
from graphrag_mcp.tools.table import TOOLS

NEEDED: dict[str, dict[str, Any]] = {
    "find_symbol": {"symbol": "charge"},
    "trace_relations": {"symbol": "charge"},
    "find_occurrences": {"text": "charge"},
    "find_history": {"path": "pay.py"},
    "impact": {},
    "index_status": {},
}


@cache
def properties_of(tool: str) -> dict[str, Any]:
    properties: dict[str, Any] = TOOLS[tool].schema()["properties"]
    return properties


ARGUMENTS = [(tool, name) for tool in TOOLS for name in properties_of(tool)]


def schema_of(tool: str, name: str) -> dict[str, Any]:
    """Return the schema of an argument without the null beside it."""
    schema: dict[str, Any] = properties_of(tool)[name]
    return schema | schema["anyOf"][0] if "anyOf" in schema else schema


def needed(tool: str) -> dict[str, Any]:
    return NEEDED.get(tool, {"query": "charge the card"})


def read(tool: str, name: str, value: object) -> object:
    """Return an argument as a tool takes it. Raises RequestError."""
    given = {"question": "how"} if name == "from" else needed(tool)
    taken = parse_arguments(tool, TOOLS[tool].arguments, {**given, name: value})
    return getattr(taken, "from_" if name == "from" else name)


def values_of(schema: dict[str, Any]) -> list[Any]:
    """Return values that an argument accepts."""
    match schema["type"]:
        case "integer":
            return [schema["minimum"], schema["maximum"]]
        case "number":
            return [schema["minimum"], schema["maximum"]]
        case "boolean":
            return [True, False]
        case "array":
            return [[], schema["items"].get("enum", ["pay.py", "[5]"])[:2]]
    return []


@pytest.mark.parametrize(("tool", "name"), ARGUMENTS)
def test_what_is_sent_as_json_text_is_what_it_means(tool: str, name: str) -> None:
    """A list, a number or a boolean in a text, as some clients send them; a number may have a point and a zero."""
    schema = schema_of(tool, name)
    for value in values_of(schema):
        taken = read(tool, name, value)
        forms: list[object] = [json.dumps(value), f" {json.dumps(value)} "]
        if schema["type"] == "integer":
            forms += [float(value), f"{value}.0"]
        for form in forms:
            assert read(tool, name, form) == taken
            assert type(read(tool, name, form)) is type(taken)


@pytest.mark.parametrize(("tool", "name"), ARGUMENTS)
def test_a_text_stays_a_text(tool: str, name: str) -> None:
    """It may look like JSON: a symbol may be called 5, and a query may be a list."""
    schema = schema_of(tool, name)
    if schema["type"] != "string" or "enum" in schema or name == "cursor":
        return
    for text in ('["pay.py"]', "55", "true", "null", '"quoted"', '{"a": 1}'):
        assert read(tool, name, text) == text


@pytest.mark.parametrize(("tool", "name"), ARGUMENTS)
def test_null_is_an_argument_that_is_left_out(tool: str, name: str) -> None:
    """Only what is required is refused."""
    if name in TOOLS[tool].schema().get("required", ()):
        with pytest.raises(RequestError, match=f"^{name} = null: expected"):
            read(tool, name, None)
        return
    others = {"query": {"queries": ["charge"]}, "symbol": {"question": "how"}, "path": {"query": "charge"}}
    given = {**(others.get(name, {}) if name in needed(tool) else needed(tool)), name: None}
    taken = parse_arguments(tool, TOOLS[tool].arguments, given)
    assert name not in taken.given


WRONG: dict[str, list[object]] = {
    "integer": ["x", "[5]", 1.5, "1.5", True, "true", [5], {}, "1e999", "9" * 5_000, 10**30, -(10**30), "NaN", ""],
    "number": ["x", "[1]", True, "true", [1], {}, "NaN", "Infinity", "", 2, -1],
    "boolean": ["yes", 1, 0, "1", 0.0, [True], {}, "", "True "],
    "array": ['"a"', "5", {}, '{"a": 1}', 5, True, [5], "[5]", '["a", 5]', [["a"]], [None], "[null]"],
    "string": [5, True, [], {}, 1.5, ["a"]],
}


@pytest.mark.parametrize(("tool", "name"), ARGUMENTS)
def test_anything_else_is_an_error_that_names_the_argument(tool: str, name: str) -> None:
    """Also what is nearly right, such as a boolean for a number."""
    for value in WRONG[schema_of(tool, name)["type"]]:
        if name in ("from", "to") and isinstance(value, str):
            continue  # One symbol stands for a list of it.
        with pytest.raises(RequestError) as caught:
            read(tool, name, value)
        assert caught.value.argument == name, value
        assert name in str(caught.value), value


@pytest.mark.parametrize(("tool", "name"), ARGUMENTS)
def test_a_nul_character_is_an_error_that_names_the_argument(tool: str, name: str) -> None:
    """Neither git nor a path can hold one."""
    schema = schema_of(tool, name)
    values: list[object] = {"string": ["pay\0.py"], "array": [["pay\0.py"], json.dumps(["a", "\0"])]}.get(
        schema["type"], []
    )
    for value in values:
        with pytest.raises(RequestError, match=f"^{name} contains a NUL character"):
            read(tool, name, value)


@pytest.mark.parametrize(("tool", "name"), ARGUMENTS)
def test_every_argument_has_its_limits_in_the_schema(tool: str, name: str) -> None:
    """A number has both, a text and a list their greatest length."""
    schema = schema_of(tool, name)
    limits = {"integer": {"minimum", "maximum"}, "number": {"minimum", "maximum"}, "array": {"maxItems"}}
    text = set() if "enum" in schema else {"maxLength"}
    assert schema.keys() >= limits.get(schema["type"], text if schema["type"] == "string" else set())


@pytest.mark.parametrize(("tool", "name"), ARGUMENTS)
def test_the_entries_of_a_list_are_limited_together(tool: str, name: str) -> None:
    """Two hundred entries of the greatest length would take a minute to compile."""
    items = schema_of(tool, name).get("items", {"enum": []})
    if "enum" in items or "maxLength" in items:
        return  # Few and short.
    assert read(tool, name, ["a*b/" * 500] * 8)
    given = ["a*b/" * 500] * 9
    with pytest.raises(RequestError, match=f"^{name}: at most 16,384 characters in all entries together"):
        read(tool, name, given)
    assert len(given) * 2_000 > MAXIMUM_LIST


VARIANTS: dict[str, dict[str, Any]] = {
    "find_occurrences": {"regex": True, "context": 2},
    "find_symbol": {"body": True},
    "find_history": {"line": 1},
}
SOME = 5  # With a variant, one in so many of all values of all arguments is tried: each value with some arguments.
HOSTILE: list[object] = [
    *("", " ", "\t\n", "a", "5", "0", "-1", "null", "[]", "{}", "[" * 500, "(" * 500, "a" * 200, "a" * 9_000, "%s%n"),
    *("../../etc/passwd", "/etc/passwd", "/dev/zero", "pay.py:1", "pay.py:999999999999999999999", "::", ".", "#", "-"),
    *("--output=x", "*", "**/" * 300, "!", "[", "[!a", "\\", "a\\", "(?i)", "(", "a{9}{9}{9}", "[[:alpha:]]", "\\pL"),
    *("\x01\x02", "\x1b[31m", "\u202e", "\ud800", "\udcff", "\N{GRINNING FACE}" * 50, "é", "9" * 30, "HEAD", "@{-1}"),
    *(":/x", "a..b", "2020-13-45", "yesterday", 0, -1, 1, 1.5, 10**20, True, None, [], ["a"], ["\udcff"], {}, [[]]),
]  # fmt: skip


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    root = tmp_path_factory.mktemp("project")
    (root / "pay.py").write_text(
        'def charge(card):\n    """Charge a card."""\n    return settle(card)\n\n\ndef settle(card): ...\n'
    )
    (root / "notes.md").write_text("# Charging\n\nHow a card is charged.\n")
    identity = ("-c", "user.name=A", "-c", "user.email=a@b.c")
    for command in (("init", "-q"), ("add", "-A"), (*identity, "commit", "-q", "-m", "charge")):
        subprocess.run(["git", *command], cwd=root, check=True)
    settings = Settings(indexing=IndexingSettings(data_dir=str(tmp_path_factory.mktemp("data")), workers=1))
    with closing(App(root, settings)) as app:
        app.index()
        yield app


@pytest.mark.parametrize("tool", TOOLS)
def test_no_value_of_an_argument_fails_unexpectedly(project: App, tool: str) -> None:
    """Every argument with every hostile value is answered, or refused by an error that is meant."""
    chosen = TOOLS[tool]
    values = list(product(properties_of(tool), HOSTILE))
    given_to = [(needed(tool), values), (needed(tool) | VARIANTS.get(tool, {}), values[::SOME])]
    asked = []
    for base, (name, value) in ((base, one) for base, some in given_to for one in some):
        given = base | {name: value}
        try:
            call = chosen.read(given, project.settings, project.root)
            if call not in asked:  # Many values mean what is asked without them.
                asked.append(call)
                chosen.write(project.ask(chosen.ask, call), call)
        except GraphragError as error:
            assert str(error), (name, value)
