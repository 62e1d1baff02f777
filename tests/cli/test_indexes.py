"""`indexes`: each index with its project, and those of vanished projects go when they are asked to."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from graphrag_mcp.cli.run import run
from graphrag_mcp.stores.sqlite.schema import SCHEMA_VERSION


@pytest.fixture
def projects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Two indexed projects, and beside their indexes what is none."""
    monkeypatch.setenv("GRAPHRAG_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("GRAPHRAG_WORKERS", "1")
    roots = [tmp_path / "code" / name for name in ("kept", "lost")]
    for root in roots:
        root.mkdir(parents=True)
        (root / "a.py").write_text("def run(): pass\n")
        assert run(["--root", str(root), "index"]) == 0
    (tmp_path / "data" / "notes-0123456789ab").mkdir()
    return roots


def listed(root: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, bool]:
    """Return whether the projects of the indexes are gone, by their folders."""
    capsys.readouterr()
    assert run(["--root", str(root), "indexes", "--json"]) == 0
    return {Path(row["projects"][0]).name: row["is_orphan"] for row in json.loads(capsys.readouterr().out)}


def test_only_the_index_of_a_project_that_is_gone_is_removed(
    projects: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Not that of one which is there, and nothing else that lies in the folder."""
    kept, lost = projects
    assert listed(kept, capsys) == {"kept": False, "lost": False}
    shutil.rmtree(lost)
    assert listed(kept, capsys) == {"kept": False, "lost": True}
    assert run(["--root", str(kept), "indexes", "prune", "--yes"]) == 0
    assert capsys.readouterr().out.startswith("removed ")
    assert listed(kept, capsys) == {"kept": False}
    assert (kept.parents[1] / "data" / "notes-0123456789ab").is_dir()
    assert run(["--root", str(kept), "indexes", "prune"]) == 0
    assert capsys.readouterr().out == "No index is of a project that is gone.\n"


def test_an_index_is_kept_where_nobody_agrees_or_a_process_has_it_open(
    projects: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """And where the disk of its project is only not mounted."""
    kept, lost = projects
    shutil.rmtree(lost)
    assert run(["--root", str(kept), "indexes", "prune"]) == 0  # There is no terminal that could be asked.
    assert "kept " in capsys.readouterr().out
    (folder,) = (kept.parents[1] / "data").glob("lost-*")
    with closing(sqlite3.connect(folder / f"index-{SCHEMA_VERSION}.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert run(["--root", str(kept), "indexes", "prune", "--yes"]) == 0
        assert "which a process has open" in capsys.readouterr().out
    shutil.move(kept.parent, kept.parents[1] / "elsewhere")
    moved = kept.parents[1] / "elsewhere" / "kept"
    assert listed(moved, capsys) == {"kept": False, "lost": False}
