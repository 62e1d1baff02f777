"""The first thing that a newcomer sees: `make demo` asks a question whose first answer is right."""

import re
from pathlib import Path

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.model.search import SearchRequest
from graphrag_mcp.settings import load_settings

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).parents[1]
ANSWERS = {
    "how is a file written atomically": "write_atomically",
    "how are relative scores fused": "fuse_relative",
}


def test_the_first_answer_of_the_demo_is_the_function_that_does_it(tmp_path: Path) -> None:
    """The question in the Makefile, and the one that the README gives as an example."""
    asked = re.findall(r"^QUERY \?= (.+)$", (REPOSITORY / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    asked += re.findall(r'make demo QUERY="(.+)"', (REPOSITORY / "README.md").read_text(encoding="utf-8"))
    assert asked == list(ANSWERS)
    app = App(REPOSITORY, load_settings(REPOSITORY, {"GRAPHRAG_DATA_DIR": str(tmp_path)}))
    try:
        app.index()
        for question in asked:
            first = app.search(SearchRequest(question)).primary[0].chunk
            assert first.symbol == ANSWERS[question]
            assert first.text.startswith(f"def {first.symbol}(")
    finally:
        app.close()
