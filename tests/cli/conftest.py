"""A project for `init` and `doctor`."""

import shutil
import sys
from pathlib import Path

import pytest


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project, an empty home, and a PATH without clients."""
    for folder in ("home", "bin", "project"):
        (tmp_path / folder).mkdir()
    (tmp_path / "bin" / "graphrag-mcp").symlink_to(Path(sys.executable).with_name("graphrag-mcp"))
    (tmp_path / "bin" / "git").symlink_to(str(shutil.which("git")))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("GRAPHRAG_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("GRAPHRAG_WORKERS", "1")
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    (tmp_path / "project" / "code.py").write_text("def find_me():\n    pass\n")
    return tmp_path / "project"
