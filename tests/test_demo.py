"""The first thing that a newcomer sees: `make demo` asks a question whose first answer is right."""

import os
import re
import shlex
import subprocess
import sys
from contextlib import closing
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


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of this repository, as the first command of the demo makes it."""
    folder = tmp_path_factory.mktemp("demo")
    with closing(_open(folder)) as app:
        app.index()
    return folder


def _open(data: Path) -> App:
    return App(REPOSITORY, load_settings(REPOSITORY, {"GRAPHRAG_DATA_DIR": str(data)}))


def test_the_first_answer_of_the_demo_is_the_function_that_does_it(data: Path) -> None:
    """The question in the Makefile, and the one that the README gives as an example."""
    asked = re.findall(r"^QUERY \?= (.+)$", (REPOSITORY / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    asked += re.findall(r'make demo QUERY="(.+)"', (REPOSITORY / "README.md").read_text(encoding="utf-8"))
    assert asked == list(ANSWERS)
    with closing(_open(data)) as app:
        for question in asked:
            first = app.search(SearchRequest(question)).primary[0].chunk
            assert first.symbol == ANSWERS[question]
            assert first.text.startswith(f"def {first.symbol}(")


def test_the_demo_shows_a_search_a_relation_and_a_flow_on_one_screen(data: Path) -> None:
    """Each is right, as a reader of this code can see; the commands are those of the Makefile."""
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    recipe = makefile.partition("\ndemo:")[2].partition("\n\n")[0]
    commands = re.findall(r"^\t@?\$\(BIN\)/graphrag-mcp (.+)$", recipe, re.MULTILINE)
    environment = os.environ | {"GRAPHRAG_DATA_DIR": str(data)}
    printed = []
    for command in commands:
        words = shlex.split(command.replace("$(QUERY)", next(iter(ANSWERS))))
        run = [sys.executable, "-m", "graphrag_mcp", "--root", str(REPOSITORY), *words]
        done = subprocess.run(run, env=environment, capture_output=True, text=True, check=True)
        printed += done.stdout.splitlines()
    echoed = [line for line in recipe.splitlines() if line.startswith("\t") and line[1] != "@"]
    assert len(printed) + len(echoed) <= 40
    text = "\n".join(printed)
    assert "write_atomically  (function)" in text
    assert "2 callers of src/graphrag_mcp/search/ranking/scored.py" in text
    assert "Complete." in printed
    assert "run_search reaches bring_up_to_date: 1 certain" in text
