"""The ranking knows no benchmark: neither a project, nor a file, nor a query of one stands in the code."""

import re
from pathlib import Path

import pytest

import graphrag_mcp
from graphrag_mcp.search.query.understand import SYNONYMS

PACKAGE = Path(graphrag_mcp.__file__).parent
# Projects that published benchmarks of code search are made of.
_PROJECTS = """
    aeson alamofire axios axum bats chi circe click cobra dapper exposed express flask fmt gin gson guzzle httpx libuv
    model2vec monolog nvm plug rack redux requests serde sinatra sphinx starlette telescope trpc xmonad zls zod
"""


def test_no_project_is_named_where_results_are_ranked() -> None:
    """How a query is understood, expanded and ranked holds for any repository."""
    named = {
        (file.name, project)
        for file in (PACKAGE / "search").rglob("*.py")
        for project in _PROJECTS.split()
        if re.search(rf"\b{project}\b", _strings_and_names(file), re.IGNORECASE)
    }
    assert not named - {("expansion.py", "requests")}


def test_no_path_of_a_project_decides_anything() -> None:
    """No rule of the ranking compares with a file's own name."""
    for file in (PACKAGE / "search").rglob("*.py"):
        assert not re.findall(r"\"[\w-]+/[\w-]+\.(?:py|ts|js|go|rs|c|h|rb|php|cs|swift|hs|lua)\"", file.read_text())


@pytest.mark.requirement("004-03")
def test_the_synonyms_are_words_of_the_trade() -> None:
    """Each is a plain word, and none is a name."""
    assert all(word.isalnum() and word.islower() for word in SYNONYMS)
    assert all(re.fullmatch(r"[a-z0-9]+", other) for others in SYNONYMS.values() for other in others)


def _strings_and_names(file: Path) -> str:
    return file.read_text(encoding="utf-8").replace("fmt: skip", "")
