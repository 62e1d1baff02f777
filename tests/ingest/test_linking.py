"""The stored links of a project after any edits and kills: those of a fresh index."""

import random
import shutil
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.ingest.linking import LinkStage
from graphrag_mcp.resolution.linking import Linker
from graphrag_mcp.settings import load_settings
from graphrag_mcp.stores.sqlite.links import Row
from tests.index_contents import rows
from tests.repositories import commit, git
from tests.resolution.test_increments import PROJECTS, edited


def _open(root: Path, data: Path) -> App:
    return App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(data), "GRAPHRAG_WORKERS": "1"}))


def _links(app: App, tree: int = 1) -> dict[str, list[Row]]:
    """Return the links of each file with facts of a tree; no change is left to be followed."""
    assert not rows(app, "SELECT * FROM superseded")
    of_tree = (
        "FROM tree_files t JOIN facts x USING (file_id) LEFT JOIN linked l USING (tree_id, file_id) WHERE tree_id = "
    )
    files = rows(app, f"SELECT t.path, l.id {of_tree}{tree}")
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


def test_a_second_work_tree_takes_over_what_is_the_same_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What reads what differs is resolved again, and each tree has its own links."""
    root, second = tmp_path / "project", tmp_path / "second"
    _write(root, PROJECTS["python"])
    git(root, "init", "-q")
    commit(root, {})
    git(root, "worktree", "add", "-q", "-b", "topic", str(second))
    _write(
        second,
        PROJECTS["python"] | {"pkg/util.py": "def load(n, m): return n\n", ".git": (second / ".git").read_text()},
    )
    resolved: list[str] = []
    link = Linker.link
    monkeypatch.setattr(Linker, "link", lambda self, path: (resolved.append(path), link(self, path))[1])
    with closing(_open(root, tmp_path / "data")) as app, closing(_open(second, tmp_path / "data")) as other:
        app.index()
        resolved.clear()
        other.index()
        assert sorted(resolved) == ["app.py", "pkg/store.py", "pkg/util.py"]
        with closing(_open(second, tmp_path / "fresh")) as fresh:
            fresh.index()
            tree = rows(other, "SELECT max(id) FROM trees")[0][0]
            assert _links(fresh) == _links(other, tree)
