"""The law of scope: every store filters inside its search, so a limit of n gives n whenever n exist."""

from pathlib import Path

import pytest

from graphrag_mcp.model.files import Category, Relation, RelationKind, Resolution, Symbol, SymbolKind
from graphrag_mcp.model.scope import Scope, normalise_excluded_files
from tests.contracts.conftest import Backend, Source, unit

LIMIT = 5


def _fill(backend: Backend) -> None:
    """Twenty archived files that rank first everywhere, and ten others behind them."""
    first = [
        Source(f"archive/old_{number}.py", ["needle needle needle"], [[1.0]], archived=True) for number in range(20)
    ]
    then = [Source(f"src/new_{number}.py", ["needle in a stack of other words"], [[1.0, 0.2]]) for number in range(8)]
    others = [
        Source("docs/needle.md", ["needle in words"], [[1.0, 0.3]], Category.DOCUMENTATION, "markdown"),
        Source("tests/test_needle.py", ["needle in words"], [[1.0, 0.4]], Category.TESTS),
    ]
    backend.write([*first, *then, *others])


def _paths(backend: Backend, store: str, scope: Scope, limit: int = LIMIT) -> list[str]:
    if store == "vectors":
        found = backend.vectors.search(unit(1.0), limit, scope)
    else:
        found = backend.keywords.search(["needle"], limit, scope)
    return [path for path, _ in backend.places([one.chunk_id for one in found])]


@pytest.mark.parametrize("store", ["vectors", "keywords"])
class TestEveryIndex:
    """Pushed down, never filtered afterwards."""

    @pytest.mark.requirement("000-04", "B-11")
    def test_archived_files_do_not_use_up_the_limit(self, backend: Backend, store: str) -> None:
        """Twenty archived files ahead of the others leave a full list."""
        _fill(backend)
        paths = _paths(backend, store, Scope())
        assert len(paths) == LIMIT
        assert not [path for path in paths if path.startswith("archive/")]

    @pytest.mark.requirement("000-40")
    def test_archived_files_are_found_on_request(self, backend: Backend, store: str) -> None:
        """Archives stay searchable with the flag."""
        _fill(backend)
        paths = _paths(backend, store, Scope(exclude_archived=False), limit=30)
        assert len([path for path in paths if path.startswith("archive/")]) == 20

    @pytest.mark.requirement("K-12")
    def test_include_patterns_lift_the_hiding_of_what_they_match(self, backend: Backend, store: str) -> None:
        """Include_patterns are globs that lift archive hiding only."""
        _fill(backend)
        paths = _paths(backend, store, Scope(include_patterns=("archive/old_1.py",)), limit=30)
        assert [path for path in paths if path.startswith("archive/")] == ["archive/old_1.py"]

    @pytest.mark.requirement("K-12")
    def test_excluded_files_win_over_include_patterns(self, backend: Backend, store: str) -> None:
        """Excluded_files always wins."""
        _fill(backend)
        scope = Scope(excluded_keys=frozenset({"old_1.py"}), include_patterns=("archive/",))
        assert "archive/old_1.py" not in _paths(backend, store, scope, limit=40)

    @pytest.mark.requirement("003-18")
    def test_excluded_files_do_not_use_up_the_limit(self, backend: Backend, store: str) -> None:
        """The list stays full while enough other files exist."""
        _fill(backend)
        keys, _ = normalise_excluded_files([f"src/new_{number}.py" for number in range(5)], Path("/project"))
        paths = _paths(backend, store, Scope(excluded_keys=keys))
        assert len(paths) == LIMIT
        assert not set(paths) & {f"src/new_{number}.py" for number in range(5)}

    @pytest.mark.requirement("003-27")
    def test_excluding_everything_gives_nothing_and_no_error(self, backend: Backend, store: str) -> None:
        """All excluded is an empty answer."""
        _fill(backend)
        keys = frozenset({f"new_{number}.py" for number in range(8)} | {"needle.md", "test_needle.py"})
        assert _paths(backend, store, Scope(excluded_keys=keys)) == []

    @pytest.mark.requirement("B-29")
    def test_categories_narrow_the_search(self, backend: Backend, store: str) -> None:
        """The categories argument is pushed down."""
        _fill(backend)
        scope = Scope(categories=frozenset({Category.DOCUMENTATION, Category.TESTS}))
        assert sorted(_paths(backend, store, scope)) == ["docs/needle.md", "tests/test_needle.py"]

    def test_languages_narrow_the_search(self, backend: Backend, store: str) -> None:
        """A language outside of the scope is never seen."""
        _fill(backend)
        assert _paths(backend, store, Scope(languages=frozenset({"markdown"}))) == ["docs/needle.md"]

    def test_path_prefixes_end_at_a_folder(self, backend: Backend, store: str) -> None:
        """A prefix `doc` is not the folder `docs`."""
        _fill(backend)
        assert _paths(backend, store, Scope(paths=("docs",))) == ["docs/needle.md"]
        assert _paths(backend, store, Scope(paths=("doc",))) == []

    def test_globs_of_paths_narrow_the_search(self, backend: Backend, store: str) -> None:
        """Whatever the store can match itself; what `!` names is left out, in any order."""
        _fill(backend)
        assert sorted(_paths(backend, store, Scope(paths=("*needle*", "new_[12].py")), limit=30)) == [
            "docs/needle.md",
            "src/new_1.py",
            "src/new_2.py",
            "tests/test_needle.py",
        ]
        assert _paths(backend, store, Scope(paths=("*needle*", "!tests")), limit=30) == ["docs/needle.md"]
        assert _paths(backend, store, Scope(paths=("/docs/", "!*.md")), limit=30) == []

    def test_paths_that_are_left_out_do_not_use_up_the_limit(self, backend: Backend, store: str) -> None:
        """A glob is applied before the limit, like every filter."""
        _fill(backend)
        assert len(_paths(backend, store, Scope(paths=("!new_[0-4].py",)))) == LIMIT

    def test_excluded_files_win_over_paths(self, backend: Backend, store: str) -> None:
        """Excluded_files always wins."""
        _fill(backend)
        scope = Scope(excluded_keys=frozenset({"needle.md"}), paths=("/docs/needle.md", "/tests"))
        assert _paths(backend, store, scope) == ["tests/test_needle.py"]

    def test_a_file_that_was_deleted_is_gone(self, backend: Backend, store: str) -> None:
        """A deletion is visible to the next search."""
        _fill(backend)
        assert "docs/needle.md" in _paths(backend, store, Scope(), limit=30)
        backend.delete(["docs/needle.md"])
        assert "docs/needle.md" not in _paths(backend, store, Scope(), limit=30)

    def test_a_file_that_was_replaced_is_found_once(self, backend: Backend, store: str) -> None:
        """Writing a file again replaces its rows."""
        _fill(backend)
        _paths(backend, store, Scope(), limit=30)
        backend.write([Source("docs/needle.md", ["needle again"], [[1.0]], Category.DOCUMENTATION, "markdown")])
        assert _paths(backend, store, Scope(), limit=30).count("docs/needle.md") == 1


@pytest.mark.requirement("003-26", "B-22")
def test_the_graph_never_leads_into_an_excluded_file(backend: Backend) -> None:
    """Exclusion covers the graph's neighbours, before their limit."""
    _fill_graph(backend, callers=30)
    seed = _chunk_of(backend, "src/target.py")
    excluded = frozenset(f"caller_{number}.py" for number in range(25))
    found = backend.graph.neighbours([seed], 1, 5, Scope(excluded_keys=excluded))
    assert [one.chunk.path for one in found] == [f"src/caller_{number}.py" for number in range(25, 30)]


@pytest.mark.requirement("000-04")
def test_the_graph_hides_archived_neighbours(backend: Backend) -> None:
    """Archived callers are hidden like archived results."""
    _fill_graph(backend, callers=2, archived=1)
    found = backend.graph.neighbours([_chunk_of(backend, "src/target.py")], 1, 5, Scope())
    assert [one.chunk.path for one in found] == ["src/caller_1.py"]


def test_the_graph_stays_in_the_paths_of_the_scope(backend: Backend) -> None:
    """Neighbours and definitions outside of them are not seen, before the limit."""
    _fill_graph(backend, callers=30)
    seed = _chunk_of(backend, "src/target.py")
    scope = Scope(paths=("/src", "!caller_?.py", "!caller_1?.py", "!*_2[01].py"))
    found = backend.graph.neighbours([seed], 1, 5, scope)
    assert [one.chunk.path for one in found] == [f"src/caller_{number}.py" for number in range(22, 27)]
    assert backend.graph.find_symbols(["target"], Scope(paths=("!/src/target.py",)), 5) == []
    assert len(backend.graph.find_symbols(["target"], Scope(paths=("/src",)), 5)) == 1


@pytest.mark.requirement("003-02")
def test_symbols_of_excluded_files_are_not_found(backend: Backend) -> None:
    """The symbol table obeys the scope too."""
    _fill_graph(backend, callers=1)
    assert [match.path for match in backend.graph.find_symbols(["TARGET"], Scope(), 5)] == ["src/target.py"]
    assert backend.graph.find_symbols(["target"], Scope(excluded_keys=frozenset({"target.py"})), 5) == []


def _fill_graph(backend: Backend, callers: int, archived: int = 0) -> None:
    call = Relation(RelationKind.CALLS, "run", "target", 2, 0.8, Resolution.UNRESOLVED)
    backend.write(
        [
            Source(
                "src/target.py",
                ["needle"],
                symbols=(Symbol("target", "target", SymbolKind.FUNCTION, 1, 5),),
            ),
            *(
                Source(f"src/caller_{number}.py", ["caller"], relations=(call,), archived=number < archived)
                for number in range(callers)
            ),
        ]
    )


def _chunk_of(backend: Backend, path: str) -> int:
    (match,) = backend.graph.find_symbols(["target"], Scope(), 5)
    assert match.path == path
    return match.chunk_id


def test_a_catalog_knows_what_filters_can_match(backend: Backend) -> None:
    """So a filter that matches nothing is told from one that leaves nothing."""
    _fill(backend)
    assert set(backend.catalog.languages()) == {"python", "markdown"}
    assert list(backend.catalog.scope_paths.lifted(("archive/old_1.py", "src/**"))) == ["archive/old_1.py"]
    assert not backend.catalog.scope_paths.lifted(("src/**",))


def test_a_catalog_knows_which_paths_match_nothing(backend: Backend) -> None:
    """So a mistyped path is told from a filter that leaves nothing."""
    _fill(backend)
    assert backend.catalog.scope_paths.chosen(("/src", "/scr", "!none")).unmatched == "/scr"
    assert backend.catalog.scope_paths.chosen(("/src", "!*.py")).is_empty
    backend.delete([f"src/new_{number}.py" for number in range(8)])
    assert ("docs/needle.md", Category.DOCUMENTATION) in backend.catalog.paths(Scope(paths=("*needle*",)))
