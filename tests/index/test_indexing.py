"""Indexing a real folder through the real application: only what differs is done again."""

import os
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.errors import IndexLockedError
from graphrag_mcp.model.graph import Certainty, Direction
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import SearchRequest
from graphrag_mcp.settings import Settings, load_settings
from graphrag_mcp.system.safe_files import changed_ns
from tests.repositories import NEW, commit, git


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small project."""
    root = tmp_path / "project"
    for path, text in {
        "src/session.py": '"""Sessions."""\n\n\nclass Session:\n    def open_cookie_jar(self) -> None:\n        pass\n',
        "src/router.py": "def dispatch_route(path: str) -> str:\n    return path\n",
        "docs/guide.md": "# Guide\n\nHow cookies are kept in the session.\n",
        ".archive/router.py": "def dispatch_route_before(path):\n    return path\n",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


@pytest.fixture
def settings(tmp_path: Path, project: Path) -> Settings:
    """Settings with the index in a folder of the test."""
    return load_settings(project, {"GRAPHRAG_DATA_DIR": str(tmp_path / "data")})


@pytest.fixture
def app(project: Path, settings: Settings) -> Iterator[App]:
    """The application over the project."""
    application = App(project, settings)
    yield application
    application.close()


def _found(app: App, query: str, **scope: object) -> list[str]:
    request = SearchRequest(query, scope=Scope(**scope))  # type: ignore[arg-type]
    return [hit.chunk.path for hit in app.search(request).primary]


@pytest.mark.requirement("P-1", "P-2")
def test_a_project_is_indexed_and_found(app: App) -> None:
    """Every file becomes chunks that a search finds."""
    report = app.index()
    assert (report.added, report.skipped) == (4, 0)
    assert report.embedded == report.chunks > 0
    assert _found(app, "open cookie jar")[0] == "src/session.py"


def test_an_unchanged_project_costs_nothing(app: App) -> None:
    """Only changed files are redone."""
    app.index()
    report = app.index()
    assert (report.added, report.changed, report.removed, report.unchanged) == (0, 0, 0, 4)
    assert report.embedded == 0


def test_a_changed_file_is_redone_and_its_unchanged_chunks_keep_their_vectors(app: App, project: Path) -> None:
    """Only changed chunks are embedded again."""
    functions = [f"def function_{n}():\n    return '{'x' * 900}'\n" for n in range(5)]
    (project / "src/long.py").write_text("\n\n".join(functions))
    app.index()
    functions[2] = functions[2].replace("return", "yield")
    (project / "src/long.py").write_text("\n\n".join(functions))
    report = app.index()
    assert (report.changed, report.embedded) == (1, 1)
    assert report.reused >= 3


def test_a_touched_file_is_not_redone(app: App, project: Path) -> None:
    """Size and time first, then the hash."""
    app.index()
    os.utime(project / "src/router.py", (time.time() + 5, time.time() + 5))
    report = app.index()
    assert (report.changed, report.unchanged) == (0, 4)
    assert app.index().unchanged == 4


@pytest.mark.requirement("K-16")
def test_a_deleted_and_a_renamed_file_leave_the_index(app: App, project: Path) -> None:
    """What is gone is gone from the answers."""
    app.index()
    (project / "src/router.py").rename(project / "src/paths.py")
    (project / "docs/guide.md").unlink()
    report = app.index()
    assert (report.added, report.removed) == (1, 2)
    assert "src/paths.py" in _found(app, "dispatch route")
    assert "src/router.py" not in _found(app, "dispatch route")


@pytest.mark.requirement("000-03", "000-04", "000-21", "K-04")
def test_archived_files_are_tagged_and_hidden_until_asked_for(app: App) -> None:
    """Indexed with the tag, hidden by default."""
    app.index()
    assert ".archive/router.py" not in _found(app, "dispatch route before")
    result = app.search(SearchRequest("dispatch route before", scope=Scope(exclude_archived=False)))
    archived = next(hit for hit in result.primary if hit.chunk.path == ".archive/router.py")
    assert archived.chunk.archive is not None
    assert any(factor.name == "archive" and factor.value == 0.5 for factor in archived.factors)


@pytest.mark.requirement("000-05", "000-45")
def test_an_ignored_file_is_never_indexed_and_leaves_when_it_becomes_ignored(app: App, project: Path) -> None:
    """The ignore file decides, and re-indexing cleans the stores."""
    app.index()
    (project / ".graphragignore").write_text("docs/\n")
    report = app.index()
    assert report.removed == 1
    assert "docs/guide.md" not in _found(app, "how cookies are kept")


def test_two_writers_exclude_each_other(app: App, project: Path, settings: Settings) -> None:
    """One process writes; another is told so, and reads."""
    app.index()
    other = App(project, settings)
    try:
        with app._parts.handle.writing(), pytest.raises(IndexLockedError):
            other.index()
        assert _found(other, "dispatch route")
    finally:
        other.close()


@pytest.mark.requirement("004-15")
def test_a_second_model_leaves_the_vectors_alone(app: App, project: Path, tmp_path: Path) -> None:
    """The index is as it was, and is searched as it was, whether the model can be loaded or not."""
    app.index()
    without = load_settings(
        project,
        {"GRAPHRAG_DATA_DIR": str(tmp_path / "data"), "GRAPHRAG_EMBEDDING_MODEL": str(tmp_path / "no-such-model")},
    )
    other = App(project, without)
    try:
        assert other.index().changed == 0
        result = other.search(SearchRequest("dispatch route"))
        assert "vector" not in result.meta.unavailable
        assert result.primary[0].chunk.path == "src/router.py"
        assert result.meta.search_strategy.semantic_enabled
    finally:
        other.close()
    assert app.index().embedded == 0


@pytest.mark.parametrize("damage", ["garbage", "truncated", "version"])
def test_a_damaged_index_is_moved_aside_and_rebuilt(app: App, project: Path, settings: Settings, damage: str) -> None:
    """Bad input: a damaged or foreign index file is replaced, said once, and never a traceback."""
    app.index()
    file = Path(app.status().index_file)
    app.close()
    if damage == "garbage":
        file.write_bytes(b"not a database" * 1000)
    elif damage == "truncated":
        file.write_bytes(file.read_bytes()[: 3 * 4096])
    else:
        import sqlite3

        connection = sqlite3.connect(file)
        connection.execute("PRAGMA user_version = 99")
        connection.close()
    again = App(project, settings)
    try:
        assert again.index().added == 4
        assert _found(again, "dispatch route")[0] == "src/router.py"
        assert any("moved to" in warning for warning in again.status().warnings)
        assert list(file.parent.glob("*.unusable-*"))
    finally:
        again.close()


def test_a_file_that_cannot_be_indexed_is_told(app: App, project: Path) -> None:
    """Skipped files have a reason that `status` shows."""
    (project / "src/picture.py").write_bytes(b"\x00\x01\x02" * 100)
    (project / "src/.env").write_text("TOKEN=1")
    app.index()
    status = app.status()
    assert status.files == 4
    assert {path for path, _ in status.skipped_examples} >= {"src/picture.py", "src/.env"}
    assert 0 < status.exclusion_rate < 1


def test_a_subfolder_can_be_indexed_alone(project: Path, settings: Settings) -> None:
    """`eval --index-root`: paths stay relative to the repository."""
    app = App(project, settings, index_root="src")
    try:
        assert app.index().added == 2
        assert set(_found(app, "route session")) == {"src/router.py", "src/session.py"}
    finally:
        app.close()


@pytest.mark.requirement("K-02")
def test_a_run_says_why_git_could_not_date_files(project: Path, tmp_path: Path) -> None:
    """In a shallow clone most files have no commit time, and a ranking by recency has to be doubted."""
    author = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Begin"]):
        subprocess.run(["git", "-C", project, *author, *command], check=True)
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", "--depth", "1", project.as_uri(), clone], check=True)
    app = App(clone, load_settings(clone, {"GRAPHRAG_DATA_DIR": str(tmp_path / "data")}))
    assert any("the clone is shallow" in warning for warning in app.index().warnings)
    app.close()


def _update(app: App, path: str) -> None:
    with app._parts.handle.writing():
        app._parts.supervisor._indexer().update([path])


def _ages(app: App) -> dict[str, float | None]:
    files, _ = app.ask(
        lambda view: view.index.inventory.files("", {}, None, "path", descending=False, first=0, limit=500)
    )
    return {file.path: file.modified_at for file in files}


def test_ages_in_an_index_made_before_are_renewed(app: App, project: Path) -> None:
    """An earlier version stored the time of the checkout for what a merge brought in."""
    git(project, "init", "-q")
    commit(project, {"new.py": "new = 1\n"}, NEW)
    app.index()
    dated = _ages(app)
    assert set(dated.values()) == {float(NEW)}
    with closing(sqlite3.connect(app.status().index_file)) as connection, connection:
        for path in dated:  # As old files, which no run has to look at.
            changed = changed_ns((project / path).stat())
            values = (time.time(), changed, path)
            connection.execute("UPDATE tree_files SET modified_at = ?, changed_ns = ? WHERE path = ?", values)
        connection.execute("DELETE FROM meta WHERE key = 'ages'")
        connection.execute(
            "INSERT OR REPLACE INTO meta SELECT DISTINCT tree_id, 'head', ? FROM meta",
            (git(project, "rev-parse", "HEAD").strip(),),
        )
    assert app.index().changed == 0
    assert _ages(app) == dated


def test_what_git_cannot_date_has_no_age(project: Path, tmp_path: Path) -> None:
    """The time of the checkout says nothing; a file that is edited has the time of the edit."""
    git(project, "init", "-q")
    commit(project, {}, NEW)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth", "1", project.as_uri(), str(clone))
    (clone / "mine.py").write_text("mine = 1\n")
    with closing(App(clone, load_settings(clone, {"GRAPHRAG_DATA_DIR": str(tmp_path / "data")}))) as app:
        app.index()
        ages = _ages(app)
        assert ages.pop("mine.py") == pytest.approx(time.time(), abs=60)
        assert set(ages.values()) == {None}
        assert _found(app, "open cookie jar")[0] == "src/session.py"


def test_an_edit_that_is_taken_back_leaves_the_age_of_the_commit(app: App, project: Path) -> None:
    """`git checkout FILE` writes the file now, and changes nothing."""
    git(project, "init", "-q")
    commit(project, {}, NEW)
    app.index()
    path = "src/session.py"
    (project / path).write_text("edited = 1\n")
    _update(app, path)
    assert _ages(app)[path] == pytest.approx(time.time(), abs=60)
    git(project, "checkout", path)
    _update(app, path)
    assert _ages(app)[path] == NEW


@pytest.mark.requirement("004-14")
def test_a_run_that_is_cut_short_does_not_pass_for_complete(app: App, project: Path, settings: Settings) -> None:
    """What is left is done by the next run, and until then the index does not call itself ready."""
    app._stop.set()
    app.index()
    assert app.index_state().state != "ready"
    again = App(project, settings)
    try:
        again.index()
        assert (again.index_state().state, again.status().files) == ("ready", 4)
    finally:
        again.close()


def test_an_import_of_a_long_path_leads_to_its_file(app: App, project: Path) -> None:
    """However many parts it has: another type of the name is no candidate."""
    for package in ("com.acme.shop.billing.service", "com.acme.shop.orders.service"):
        folder = project / "src/main/java" / package.replace(".", "/")
        folder.mkdir(parents=True)
        (folder / "InvoiceService.java").write_text(f"package {package};\nclass InvoiceService {{ }}\n")
    (project / "src/main/java/Desk.java").write_text(
        "import com.acme.shop.billing.service.InvoiceService;\n"
        "class Desk { void openDesk() { new InvoiceService(); } }\n"
    )
    app.index()
    (step,) = app.navigator().trace("openDesk", Direction.CALLEES, 1).steps
    assert step.edge.certainty is Certainty.CERTAIN
    assert "billing" in step.target.path


@pytest.mark.requirement("K-16")
def test_who_only_reads_the_index_knows_what_is_wrong_with_the_rules(
    project: Path, settings: Settings, app: App
) -> None:
    """A second session has not read them."""
    app.index()
    with closing(App(project, settings)) as reader:
        assert reader.status().warnings == ()
        (project / "src/.gitignore").write_text("router[\n" * 3)
        app.index()
        assert reader.status().warnings[0].startswith("src/.gitignore:1: the pattern 'router[' can never match")
        (project / "src/.gitignore").write_text("router.py\n")
        app.index()
        assert reader.status().warnings == ()
        assert reader.why_absent("src/router.py") == "not indexed: ignored: router.py (src/.gitignore:1)"
