"""The stored links of a project after any edits and kills: those of a fresh index."""

import random
import shutil
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.ingest.linking import LinkStage
from graphrag_mcp.settings import load_settings
from graphrag_mcp.stores.sqlite.links import Row
from tests.index_contents import rows
from tests.resolution.test_increments import PROJECTS, edited


def _open(root: Path, data: Path) -> App:
    return App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(data), "GRAPHRAG_WORKERS": "1"}))


def _links(app: App) -> dict[str, list[Row]]:
    """Return the links of each file with facts; no change is left to be followed."""
    assert not rows(app, "SELECT * FROM superseded")
    files = rows(
        app, "SELECT f.path, l.id FROM facts x JOIN files f ON f.id = x.file_id LEFT JOIN linked l USING (file_id)"
    )
    select = "SELECT target, position, source, kind, use, how, given, receiver FROM links WHERE linked_id = "
    return {path: sorted(rows(app, f"{select}{number}")) for path, number in files}


def _write(root: Path, files: Mapping[str, str]) -> None:
    """Make a folder hold exactly these files."""
    for path in [one for one in root.rglob("*") if one.is_file()]:
        if path.relative_to(root).as_posix() not in files:
            path.unlink()
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


@pytest.mark.parametrize("language", PROJECTS)
@pytest.mark.parametrize("edits", [6, pytest.param(300, marks=pytest.mark.slow)])
def test_links_after_edits_are_those_of_a_fresh_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str, edits: int
) -> None:
    """Also where a run ends before its files are resolved."""
    chance = random.Random(f"{language} {edits}")
    root, files = tmp_path / "project", dict(PROJECTS[language])
    _write(root, files)
    with closing(_open(root, tmp_path / "data")) as app:
        app.index()
        for number in range(edits):
            for _ in range(chance.choice([1, 1, 1, 5])):
                files = edited(files, PROJECTS[language], chance)
            _write(root, files)
            if chance.random() < 0.2:
                with monkeypatch.context() as patch:
                    patch.setattr(LinkStage, "run", lambda *_: 0)
                    app.index()
                continue
            app.index()
            if number % 10 == 5 or number == edits - 1:
                shutil.rmtree(tmp_path / "fresh", ignore_errors=True)
                with closing(_open(root, tmp_path / "fresh")) as fresh:
                    fresh.index()
                    assert _links(app) == _links(fresh)
