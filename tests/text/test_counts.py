"""A number agrees with its noun."""

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from graphrag_mcp.text.counts import counted

PACKAGE = Path(__file__).parents[2] / "src" / "graphrag_mcp"
# What follows a number with a comma for its thousands: a noun in the plural. No limit is 1 byte, character or the like.
PLURAL = re.compile(r" (?:[a-z]+ )?(?!bytes|characters|entries|tokens)[a-z]+[^s\W]s\b")


@pytest.mark.parametrize(
    ("number", "noun", "plural", "words"),
    [
        (0, "hop", "", "0 hops"),
        (1, "hop", "", "1 hop"),
        (1_000, "file", "", "1,000 files"),
        (1, "guess", "guesses", "1 guess"),
        (2, "guess", "guesses", "2 guesses"),
    ],
)
def test_only_one_is_singular(number: int, noun: str, plural: str, words: str) -> None:
    """In English, nothing is plural too."""
    assert counted(number, noun, plural) == words


def test_no_text_counts_by_itself() -> None:
    """`{count:,} files` would say "1 files": every such text goes through `counted`."""
    assert [text for path in sorted(PACKAGE.rglob("*.py")) for text in _counts_in(path)] == []


def _counts_in(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr):
            for number, words in pairwise(node.values):
                if _is_count(number) and isinstance(words, ast.Constant) and PLURAL.match(str(words.value)):
                    yield f"{path.name}: {ast.unparse(node)}"


def _is_count(node: ast.expr) -> bool:
    spec = node.format_spec if isinstance(node, ast.FormattedValue) else None
    return spec is not None and ast.unparse(spec).endswith(",'")
