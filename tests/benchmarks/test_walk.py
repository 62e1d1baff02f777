"""The way of a call through the packages stays as short as it is."""

from contextlib import closing
from pathlib import Path

import pytest

from benchmarks.walk import walk
from graphrag_mcp.app.local import App
from graphrag_mcp.settings import load_settings

CODE = "class App:\n    def search(self):\n        return 1\n\n\ndef write(app: App):\n    return app.search()\n"
MOST = {"search": (36, 13), "trace": (29, 10)}


@pytest.mark.parametrize("call", MOST)
def test_a_call_comes_back_to_few_packages(tmp_path: Path, call: str) -> None:
    """Each new way back is one more file to read before a change."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "app.py").write_text(CODE)
    with closing(App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(tmp_path / "data")}))) as app:
        app.index()
        walked = walk(app, call)
    doors, returns = MOST[call]
    assert len(walked.doors) <= doors, list(walked.doors)
    assert walked.returns <= returns, walked.rooms
