"""Chunks that only name what is defined elsewhere are known as such."""

import pytest

from graphrag_mcp.model.files import DECLARATIONS, IMPORTS
from graphrag_mcp.parsing.parser import parse_file

BODY = "".join(f"  total = total + value_{number} * {number};\n" for number in range(90))


def _kinds(path: str, text: str) -> list[str]:
    return [chunk.kind for chunk in parse_file(path, text.encode()).chunks]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("session.h", "int open_session(int id);\nint close_session(int id);\n"),
        ("session.ts", "export function open(id: string): void;\nexport function open(id: number): void;\n"),
        ("session.py", "from typing import overload\n\n@overload\ndef open(id: int) -> int: ...\n"),
        ("session.go", "package session\n\nfunc open(id int) int\n"),
    ],
)
def test_functions_without_a_body_are_declarations(path: str, text: str) -> None:
    """Prototypes, overloads, stubs."""
    assert _kinds(path, text) == [DECLARATIONS]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("session.h", "static int open_session(int id) { return id; }\nint close_session(int id);\n"),
        ("session.ts", "export function open(id: string): void;\nexport function open(id: any) { return id }\n"),
        ("session.go", "package session\n\ntype Session interface {\n\tOpen() int\n}\n"),
        ("session.lua", "function open(id) return id end\n"),
    ],
)
def test_a_chunk_with_a_body_or_a_type_defines(path: str, text: str) -> None:
    """An interface is itself what is looked for."""
    assert DECLARATIONS not in _kinds(path, text)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("shop.py", "import os\nfrom shop import cart\n"),
        ("shop.js", "export * from './cart'\nexport { pay } from './pay'\n"),
    ],
)
def test_imports_and_re_exports_are_imports(path: str, text: str) -> None:
    """They name what is defined in other files."""
    assert _kinds(path, text) == [IMPORTS]


def test_the_end_of_a_guard_is_no_chunk() -> None:
    """A result of the one line `#endif` says nothing."""
    chunks = parse_file(
        "list.c", f"#ifdef LIST\n\nint f(int total) {{\n{BODY}}}\n\n#endif /* LIST */\n".encode()
    ).chunks
    assert chunks[-1].text.endswith("}\n\n#endif /* LIST */")
