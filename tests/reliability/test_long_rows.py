"""Rows of one character, or of a few that take turns, are read in the time that their length takes."""

import time
from collections.abc import Callable
from functools import partial
from itertools import product

import pytest

from graphrag_mcp.exclusion.never_indexed import find_barrier
from graphrag_mcp.languages.manifests import read_manifest
from graphrag_mcp.parsing.parser import parse_file
from graphrag_mcp.search.query.understand import understand
from graphrag_mcp.text.secrets import mask_secrets

LENGTHS = (
    60,
    30_000,
)  # An expression that tries all ways takes hours for the first, one of squares seconds for the second.
SECONDS = 1.0  # It is twenty times what the slowest row takes.
UNITS = ("a", "A", "1", "_", " ", "\t", "\n", "Ab", "AB1", "a_", "QXWZKVJPHG7BTMNRD", "a.", "a/", "a-", "A1", "-", "*",
         "* ", "> ", "#",
         '"', '\\"', "'", "\\", "(", "{", "[", "<", "=", "a=", "key: A1", "/*", "//", "--", "`", "~", "$", "${", "é",
         "@")  # fmt: skip
MANIFESTS = ("go.mod", "go.work", "package.json", "tsconfig.json", "pyproject.toml", "setup.py", "setup.cfg", "pom.xml",
             "settings.gradle")  # fmt: skip
CODE = {
    "a.py": 'x: "ROW" = 1\ny = cast("ROWé", x)\n',
    "A.java": 'class A { @M("ROW") void a() {} @M("ROW#a()") void b() {} }\n',
    "a.go": 'package a\n\nconst a = "{{ROW}}"\n',
    "a.ts": 'const a: { [k in "ROW"]: 1 } = b["ROW"]\n',
}
TEXTS = ("README.md", "guide.rst", "notes.adoc", "settings.ini", "values.yaml", "log.txt")


def _manifest(name: str, row: str) -> object:
    return read_manifest(name, f"module a\n{row}é\n")


def _quoted(name: str, code: str, row: str) -> object:
    return parse_file(name, code.replace("ROW", row.replace('"', "'")).encode())


def _text(name: str, row: str) -> object:
    return parse_file(name, f"{row}é\n".encode())


READERS: dict[str, Callable[[str], object]] = {
    "secrets": lambda row: mask_secrets(f"token = {row[:4_000]}é\n"),
    "question": lambda row: understand(f"where is {row[:4_000]}/ used?"),
    "name": lambda row: find_barrier(f"{row[:255]}é".replace("/", ""), "", is_folder=False),
    **{name: partial(_manifest, name) for name in MANIFESTS},
    **{name: partial(_text, name) for name in TEXTS},
    **{name: partial(_quoted, name, code) for name, code in CODE.items()},
}


@pytest.mark.parametrize("reader", READERS)
def test_a_row_takes_the_time_of_its_length(reader: str) -> None:
    """Whatever it repeats, and whatever follows."""
    for unit, length in product(UNITS, LENGTHS):
        started = time.process_time()
        READERS[reader](unit * (length // len(unit)))
        assert time.process_time() - started < SECONDS, (unit, length)
