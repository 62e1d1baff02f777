"""The stored links of a project after any edits and kills: those of a fresh index."""

import random
import shutil
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.index.linking import LinkStage
from graphrag_mcp.resolution.linking import Linker
from graphrag_mcp.settings import load_settings
from graphrag_mcp.stores.sqlite.facts import SqliteFacts
from graphrag_mcp.stores.sqlite.links import Row
from tests.index_contents import rows
from tests.repositories import commit, git, write_files
from tests.resolution.test_increments import PROJECTS, edited

RUST = {
    "src/lib.rs": """mod shapes;
pub use shapes::round;
macro_rules! say { () => {} }
pub fn run() { round(1); say!(); }
""",
    "src/shapes.rs": "pub struct Crate;\npub fn round(x: u8) { helper(x); }\nfn helper(x: u8) {}\n",
    "src/sort.rs": """use crate::shapes::Crate;
pub trait Stack { fn top(&self); }
impl Stack for Crate { fn top(&self) { self.top() } }
""",
    "src/use.rs": "use crate::round;\nfn main() { round(2); let c = 1; c.top(); helper(3); }\n",
}
MIXED = {
    "inc/tools.h": "int help(int a);\n",
    "unix/tools.c": '#include "tools.h"\nint help(int a) { return a; }\n',
    "win/tools.c": '#include "tools.h"\nint help(int a) { return run(a); }\n',
    "main.c": '#include "inc/tools.h"\nint run(int a) { return help(a); }\n',
    "a/Box.java": "package a;\npublic class Box { public void open() {} }\n",
    "a/Use.kt": "package a\nimport a.Box\nfun use(b: Box) { b.open() }\n",
    "docs/guide.md": "# Guide\n\nSee [the box](../a/Box.java) and [more](more.md).\n",
    "docs/more.md": "# More\n\nBack to [[guide]].\n",
    "app.rb": "require_relative 'lib/help'\ndef go\n  help(1)\nend\n",
    "lib/help.rb": "def help(a)\n  go()\nend\n",
}
ALL = PROJECTS | {"rust": RUST, "mixed": MIXED}


def _open(root: Path, data: Path) -> App:
    return App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(data), "GRAPHRAG_WORKERS": "1"}))


def _links(app: App, tree: int = 1) -> dict[str, list[Row]]:
    """Return the links of each file of a tree that has any; no change is left to be followed."""
    assert not rows(app, "SELECT * FROM superseded")
    of_tree = f"FROM tree_files t LEFT JOIN linked l USING (tree_id, file_id) WHERE tree_id = {tree}"
    files = rows(app, f"SELECT t.path, l.id {of_tree} AND l.id IS NOT NULL")
    has_names = "file_id IN (SELECT file_id FROM facts UNION SELECT file_id FROM outlines)"
    assert not rows(app, f"SELECT t.path {of_tree} AND l.id IS NULL AND {has_names}")
    select = "SELECT target, position, source, kind, use, how, given, receiver FROM links WHERE id >> 20 = "
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


@pytest.mark.parametrize("language", ALL)
@pytest.mark.parametrize("edits", [6, pytest.param(30, marks=pytest.mark.slow)])
def test_links_after_edits_are_those_of_a_fresh_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str, edits: int
) -> None:
    """Also where a run ends before its files are resolved."""
    chance = random.Random(f"{language} {edits}")
    root, files = tmp_path / "project", dict(ALL[language])
    _write(root, files)
    with closing(_open(root, tmp_path / "data")) as app:
        app.index()
        for number in range(edits):
            for _ in range(chance.choice([1, 1, 1, 5])):
                files = edited(files, ALL[language], chance)
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


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            {"index.js": "const { One } = require('./two')\nnew One()\n", "two.js": "exports.One = require('./one')\n"},
            {"one.js": "module.exports = class One {}\n", "two.js": "\nexports.One = require('./one')\n"},
            id="what an import of a changed file means",
        ),
        pytest.param(
            {
                "use.rs": "fn main() { let c = 1; c.top(); }\n",
                "sort.rs": "trait A { fn top(&self); }\ntrait B { fn top(&self); }\n",
            },
            {"sort.rs": "trait B { fn top(&self); }\ntrait A { fn top(&self); }\n"},
            id="the order of definitions",
        ),
    ],
)
def test_links_after_one_edit_are_those_of_a_fresh_index(
    tmp_path: Path, before: Mapping[str, str], after: Mapping[str, str]
) -> None:
    root = tmp_path / "project"
    _write(root, before)
    with closing(_open(root, tmp_path / "data")) as app:
        app.index()
        _write(root, {**before, **after})
        app.index()
        with closing(_open(root, tmp_path / "fresh")) as fresh:
            fresh.index()
            assert _links(app) == _links(fresh)


JAVA_LIBRARY = {
    "p/Tree.java": """package p;
import java.util.AbstractMap;
import java.util.*;
public class Tree<K, V> extends AbstractMap<K, V> {
  public Set<Map.Entry<K, V>> entrySet() { return null; }
}
""",
    "p/Use.java": """package p;
public class Use {
  int all(Tree<String, String> tree) { return tree.entrySet().iterator().next().hashCode() + tree.keySet().size(); }
}
""",
}


@pytest.mark.parametrize("name", [*ALL, "java library"])
def test_the_links_of_a_file_do_not_depend_on_what_was_resolved_before(name: str, tmp_path: Path) -> None:
    """Worker processes share the files as they become free; the links are those of each file alone."""
    project = ALL.get(name, JAVA_LIBRARY)
    write_files(tmp_path / "project", project)
    with closing(_open(tmp_path / "project", tmp_path / "data")) as app:
        app.index()
        with app._parts.handle.snapshot() as snapshot:
            database = snapshot.database
            alone = {path: Linker(SqliteFacts(database)).link(path) for path in project}
            for order in (sorted(project), sorted(project, reverse=True)):
                linker = Linker(SqliteFacts(database))
                assert {path: linker.link(path) for path in order} == alone
