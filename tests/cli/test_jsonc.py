"""JSON with comments is edited in place: the value is right, and what is not edited stays byte for byte."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphrag_mcp.cli import jsonc

PATH = ("servers", "graphrag")
ENTRY = {"command": "graphrag-mcp", "args": ["serve"]}
ADDED = [
    ("", '{\n  "servers": {\n    "graphrag": {\n      "a": 1\n    }\n  }\n}\n'),
    ("// mine\n", '// mine\n\n{\n  "servers": {\n    "graphrag": {\n      "a": 1\n    }\n  }\n}\n'),
    ('{"servers": {"b": 2}}', '{"servers": {"b": 2, "graphrag": {"a": 1}}}'),
    ('{"servers": {"b": 2,},}', '{"servers": {"b": 2, "graphrag": {"a": 1},},}'),
    (
        '{\n\t"servers": {\n\t\t"b": 2 // two\n\t}\n}',
        '{\n\t"servers": {\n\t\t"b": 2, // two\n\t\t"graphrag": {\n\t\t\t"a": 1\n\t\t}\n\t}\n}',
    ),
    (
        '{\r\n  "servers": {\r\n    "b": 2, /* , } */\r\n  }\r\n}\r\n',
        '{\r\n  "servers": {\r\n    "b": 2, /* , } */\r\n    "graphrag": {\r\n      "a": 1\r\n    },\r\n  }\r\n}\r\n',
    ),
    ('{ // none\n  "servers": {}\n}', '{ // none\n  "servers": {\n    "graphrag": {\n      "a": 1\n    }\n  }\n}'),
    ('\ufeff{"a//b": "/* { \\" */", "servers": {}}', None),
]

_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=8)
    | st.sampled_from(["//", "/*", "*/", '",', "{", "}"]),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(st.text(max_size=4), values, max_size=3),
    max_leaves=8,
)
_GAPS = st.sampled_from(["", " ", "\n", "\t", "\r\n", " // a, } \n", "/* {\n */", "\n  "])


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, dict[str, object]]:
    """Return a text with comments and trailing commas, and its value."""
    value = draw(st.dictionaries(st.text(max_size=4) | st.just("servers"), _VALUES, max_size=3))
    if not isinstance(value.get("servers", {}), dict):
        value["servers"] = {}

    def written(value: object) -> str:
        gap = draw(_GAPS)
        if isinstance(value, dict):
            parts = [f"{draw(_GAPS)}{json.dumps(key)}{gap}:{written(inner)}" for key, inner in value.items()]
        elif isinstance(value, list):
            parts = [written(inner) for inner in value]
        else:
            return f"{gap}{json.dumps(value, ensure_ascii=draw(st.booleans()))}{draw(_GAPS)}"
        comma = f",{draw(_GAPS)}" if parts and draw(st.booleans()) else ""
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        return f"{draw(_GAPS)}{opening}{gap}{','.join(parts)}{comma}{closing}{draw(_GAPS)}"

    return written(value), value


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # A busy machine makes no document wrong.
@given(documents())
def test_an_entry_is_added_and_taken_away_in_any_document(document: tuple[str, dict[str, object]]) -> None:
    """And each character that was there is there after it was added, in its order."""
    text, value = document
    assert jsonc.read(text) == value
    section = dict(value.get("servers", {}))  # type: ignore[call-overload]
    added = jsonc.with_value(text, PATH, ENTRY)
    assert jsonc.read(added) == {**value, "servers": {**section, "graphrag": ENTRY}}
    if "graphrag" not in section:
        rest = iter(added)
        assert all(character in rest for character in text if not character.isspace())
    changed = jsonc.with_value(added, (*PATH, "args"), ["serve", "--root", "x"])
    assert jsonc.read(changed)["servers"]["graphrag"] == {**ENTRY, "args": ["serve", "--root", "x"]}
    section.pop("graphrag", None)
    without = {key: inner for key, inner in value.items() if key != "servers"} | (
        {"servers": section} if section else {}
    )
    left = jsonc.read(jsonc.without(changed, PATH))
    assert {key: inner for key, inner in left.items() if key != "servers" or inner} == without


@pytest.mark.parametrize(("text", "expected"), ADDED)
def test_an_entry_is_written_as_its_neighbours_are(text: str, expected: str | None) -> None:
    """Indentation, line ends, comments and trailing commas; taken away again, the text is what it was."""
    added = jsonc.with_value(text, PATH, {"a": 1})
    assert expected is None or added == expected
    assert jsonc.read(added)["servers"]["graphrag"] == {"a": 1}
    if '"b"' in text:
        assert jsonc.without(added, PATH) == text


def test_of_a_key_that_is_there_twice_the_last_counts() -> None:
    """As for every parser."""
    text = '{"servers": {"graphrag": 1}, "servers": {"graphrag": 2, "b": 3}}'
    assert jsonc.read(jsonc.with_value(text, PATH, 4))["servers"] == {"graphrag": 4, "b": 3}
    assert jsonc.read(jsonc.without(text, PATH))["servers"] == {"b": 3}


@pytest.mark.parametrize("text", ["{", "/* {}", '{"a": 1 "b": 2}', '{"a": }', "{} {}", "{a: 1}", "[" * 100_000])
def test_what_is_no_json_is_refused(text: str) -> None:
    """With a reason, and never by another error."""
    with pytest.raises(ValueError, match=r"\w"):
        jsonc.read(text)


def test_a_member_leaves_with_its_own_comma_only() -> None:
    """First, in the middle, last, and the only one."""
    path = ("a", "x")
    assert jsonc.without('{"a": {"x": 1, "y": 2}}', path) == '{"a": { "y": 2}}'
    assert jsonc.without('{"a": {"y": 2, "x": 1, "z": 3}}', path) == '{"a": {"y": 2, "z": 3}}'
    assert jsonc.without('{"a": {"y": 2 /* , */, "x": 1}}', path) == '{"a": {"y": 2 /* , */}}'
    assert jsonc.without('{"a": {"x": 1}, "b": 2}', path) == '{ "b": 2}'
    assert jsonc.without('{"a": {"x": 1}}\n', path) == ""
    assert jsonc.without('{"a": {"x": 1 /* why */}}', path) == '{"a": { /* why */}}'
    assert jsonc.without('{"b": 1}', path) == '{"b": 1}'
