"""Which changes of a signature break a call that was right before."""

import pytest

from graphrag_mcp.graph.definitions import Change, compare
from graphrag_mcp.history.differing import Differing

PYTHON = [
    ("a, b", "a, b, c", True),
    ("a, b", "a, b, c=1", False),
    ("a, b", "a", True),
    ("a, b", "b, a", True),
    ("a, b", "a, c", True),
    ("a, b=1", "a, b", True),
    ("a, b", "a, *, b", True),
    ("a, b=1", "a, *, b=1", True),
    ("a, *, b", "a, b", False),
    ("*, a, b", "*, b, a", False),
    ("*, a, b", "*, a", True),
    ("a, *, b", "a, *, b, c", True),
    ("a, *, b", "a, *, b, c: int = 1", False),
    ("a, *args, b", "a, *args, b", False),
    ("a, *args", "a", True),
    ("a", "a, *args, **options", False),
    ("a", "a, *rest, b", True),
]


def is_breaking(path: str, before: str, after: str) -> bool:
    """Return what is said of the one definition that differs."""
    [found] = compare(Differing(path, path, before.encode(), after.encode()))
    assert found.change in (Change.SIGNATURE, Change.BODY)
    return found.is_breaking


@pytest.mark.parametrize(("before", "after", "expected"), PYTHON)
@pytest.mark.parametrize("head", ["def light", "async def light", "@wick(lambda x, *, y: x)\ndef light"])
def test_parameters_of_python(head: str, before: str, after: str, expected: bool) -> None:
    """By place and by name."""
    texts = [f"{head}({one}):\n    return {value}\n" for value, one in enumerate((before, after))]
    assert is_breaking("lamp.py", *texts) is expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [("a, b", "b, a", True), ("a, b", "first, second", False), ("a", "a, b = 1", False)],
)
def test_parameters_of_javascript(before: str, after: str, expected: bool) -> None:
    """Another name breaks nothing, another order does."""
    texts = [f"function light({one}) {{\n  return {value}\n}}\n" for value, one in enumerate((before, after))]
    assert is_breaking("lamp.js", *texts) is expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [("a int", "b int", False), ("a int", "a string", True), ("a int", "a int, more ...int", False)],
)
def test_parameters_of_go(before: str, after: str, expected: bool) -> None:
    """A caller relies on types, not on names."""
    texts = [
        f"package lamp\n\nfunc light({one}) int {{\n\treturn {value}\n}}\n" for value, one in enumerate((before, after))
    ]
    assert is_breaking("lamp.go", *texts) is expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("a", "a, b", True),
        ("a, b", "a", True),
        ("a, b=1", "a, b", False),
        ("a, b", "b, a", False),
        ("a, *b", "a", False),
    ],
)
def test_all_calls_are_broken_if_no_number_of_arguments_is_right_twice(before: str, after: str, expected: bool) -> None:
    """Otherwise it depends on the call."""
    texts = [f"def light({one}):\n    return {value}\n".encode() for value, one in enumerate((before, after))]
    [found] = compare(Differing("lamp.py", "lamp.py", *texts))
    assert found.is_breaking
    assert found.breaks_all is expected


@pytest.mark.parametrize(
    ("path", "rest", "is_public"),
    [
        ("a.ts", "export const other = 1\n", False),
        ("a.ts", "export { light }\n", True),
        ("a.ts", "export default light\n", True),
        ("a.ts", "export default { light }\n", True),
        ("a.ts", "export * from './b'\n", True),
        ("a.js", "module.exports = { light }\n", True),
        ("a.js", "", True),
    ],
)
def test_what_its_file_does_not_export_is_not_public(path: str, rest: str, is_public: bool) -> None:
    """Unless what is exported is a value without a name, which may hold it."""
    before, after = (f"function light() {{ return {n} }}\n{rest}".encode() for n in (1, 2))
    [found] = compare(Differing(path, path, before, after))
    assert found.is_public is is_public


def test_a_line_on_which_another_definition_begins_is_compared() -> None:
    """It is the last line of the one before."""
    before = "class K {\n  foo() {\n    return 1; } bar() {\n    return 2;\n  }\n}\n"
    after = before.replace("return 1", "return 5")
    changed = compare(Differing("k.ts", "k.ts", before.encode(), after.encode()))
    assert "K.foo" in {each.symbol for each in changed}
