"""`excluded_files` as a client sends it over stdio: both query tools, every form of a path, and none at all."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

TOOLS = ("query_documents", "query_unique_documents")
FILES = ("README.md", "docs/README.md", "docs/api.md", "docs/api.py", "src/my api.v2.py")
TEXT = {"md": "# Shiny lantern\n\nHow to polish a lantern: {}.\n", "py": "def polish_lantern():\n    return {!r}\n"}

# What is sent, and what is left out.
CASES: dict[str, tuple[list[str] | None, set[str]]] = {
    "omitted": (None, set()),
    "empty": ([], set()),
    "bare name": (["README.md"], {"README.md", "docs/README.md"}),
    "bare name without extension": (["api"], {"docs/api.md", "docs/api.py"}),
    "relative": (["docs/api.md"], {"docs/api.md"}),
    "relative without extension": (["docs/api"], {"docs/api.md", "docs/api.py"}),
    "anchored in the root": (["./README.md"], {"README.md"}),
    "absolute": (["{root}/docs/api.md"], {"docs/api.md"}),
    "blanks and dots": (["src/my api.v2.py"], {"src/my api.v2.py"}),
    "several": (["docs/api.py", "README.md"], {"docs/api.py", "README.md", "docs/README.md"}),
    "another case": (["readme.md"], set()),
    "a pattern": (["*.md", "docs/**"], set()),
    "outside": (["/etc/hosts"], set()),
    "everything": (["README", "api", "src/my api.v2.py"], set(FILES)),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Five files that all answer the question."""
    folder = tmp_path / "project"
    for path in FILES:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(TEXT[path.rsplit(".", 1)[1]].format(path))
    return folder


@pytest.mark.requirement("003-01", "003-03", "003-04", "003-11", "003-20", "003-27", "K-19")
def test_both_query_tools_leave_out_the_same_files(root: Path, tmp_path: Path) -> None:
    """Over the wire, and counted as if they did not exist."""
    answers = anyio.run(_ask_everything, root, tmp_path / "data")
    for tool in TOOLS:
        for case, (_, excluded) in CASES.items():
            answer = answers[tool, case]
            assert _paths(answer) == set(FILES) - excluded, (tool, case)
            assert answer["meta"]["compression"]["original_count"] == len(FILES) - len(excluded), (tool, case)
            assert bool(answer["meta"]["warnings"]) is (case == "outside"), (tool, case)
        assert _scores(answers[tool, "omitted"]) == _scores(answers[tool, "empty"])
    assert all(_paths(answers[TOOLS[0], case]) == _paths(answers[TOOLS[1], case]) for case in CASES)


async def _ask_everything(root: Path, data: Path) -> dict[tuple[str, str], Any]:
    environment = {**os.environ, "GRAPHRAG_DATA_DIR": str(data), "GRAPHRAG_WORKERS": "1"}
    command = ["-m", "graphrag_mcp", "--root", str(root)]
    async with Client(StdioServerParameters(command=sys.executable, args=command, env=environment)) as client:
        return {
            (tool, case): await _ask(client, tool, _arguments(sent, root))
            for tool in TOOLS
            for case, (sent, _) in CASES.items()
        }


def _arguments(sent: list[str] | None, root: Path) -> dict[str, Any]:
    arguments = {"query": "polish a lantern", "top_n": 25, "response_format": "json"}
    return arguments if sent is None else {**arguments, "excluded_files": [one.format(root=root) for one in sent]}


async def _ask(client: Client, tool: str, arguments: dict[str, Any]) -> Any:
    result: Any = await client.call_tool(tool, arguments)
    assert not result.is_error
    return json.loads(result.content[0].text)


def _paths(answer: Any) -> set[str]:
    return {hit["path"] for hit in answer["primary"]}


def _scores(answer: Any) -> list[tuple[str, float]]:
    return [(hit["path"], round(hit["score"], 6)) for hit in answer["primary"]]
