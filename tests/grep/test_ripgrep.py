"""Every occurrence, beside ripgrep: the same lines for random texts and patterns."""

import random
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from benchmarks.occurrences import Chooser, compare
from graphrag_mcp.app.local import App
from graphrag_mcp.settings import load_settings
from tests.golden.check import CORPUS

PATTERNS = 1_000


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("rg") is None, reason="ripgrep is not installed")
def test_random_patterns_find_the_lines_that_ripgrep_finds(tmp_path: Path) -> None:
    """Texts cut from the files, and patterns made of them, in the syntax that both have in common."""
    root = tmp_path / "project"
    shutil.copytree(CORPUS / "stockroom", root)
    with closing(App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(tmp_path / "data")}))) as app:
        app.index()
        chooser = Chooser(app.root, random.Random(7))
        found = compare(app, [chooser.any() for _ in range(PATTERNS)])
    assert found.different == []
    assert found.equal > PATTERNS * 0.9
    assert found.lines > PATTERNS
