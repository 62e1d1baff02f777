"""A filter that cannot be meant is refused, and one without effect is named."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from graphrag_mcp.errors import RequestError
from graphrag_mcp.model.files import Category
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import SearchRequest
from tests.contracts.conftest import Source
from tests.search.stores import Bench

SOURCES = [
    Source("src/new.py", ["garnet"]),
    Source("docs/notes.md", ["garnet"], category=Category.DOCUMENTATION, language="markdown"),
    Source("archive/old.py", ["garnet"], archived=True),
]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """Two languages, and one archived file."""
    bench = Bench(tmp_path, SOURCES)
    yield bench
    bench.close()


def warnings(bench: Bench, scope: Scope) -> tuple[str, ...]:
    return bench.search(SearchRequest("garnet", scope=scope)).meta.warnings


@pytest.mark.parametrize(("given", "hint"), [("py", "; did you mean python?"), ("klingon", "")])
def test_a_language_that_there_is_not_is_refused(bench: Bench, given: str, hint: str) -> None:
    """With those that the index has, also beside one of them."""
    with pytest.raises(RequestError) as error:
        warnings(bench, Scope(languages=frozenset({"python", given})))
    assert error.value.argument == "languages"
    assert str(error.value) == f"languages = '{given}': expected any of markdown, python{hint}"


def test_a_language_without_files_is_named(bench: Bench) -> None:
    """An empty answer has its reason."""
    result = bench.search(SearchRequest("garnet", scope=Scope(languages=frozenset({"rust", "go"}))))
    assert result.primary == ()
    assert result.meta.warnings == ("languages: no indexed file is in go or rust, only in markdown, python",)


def test_a_path_that_there_is_not_is_refused(bench: Bench) -> None:
    """With the nearest ones and the folders at the top, also beside a path that there is."""
    with pytest.raises(RequestError) as error:
        warnings(bench, Scope(paths=("/src", "/doc/notes.md")))
    assert error.value.argument == "paths"
    hint = "did you mean docs/notes.md? The folders at the top are: archive/, docs/, src/"
    assert str(error.value) == f"paths: 'doc/notes.md' matches no indexed file; {hint}"


def test_paths_that_leave_no_file_are_refused(bench: Bench) -> None:
    """An empty answer would say that nothing matches the query."""
    with pytest.raises(RequestError, match="no indexed file is left; leave out an entry that begins with !"):
        warnings(bench, Scope(paths=("/src", "!*.py")))


def test_patterns_that_add_no_file_are_named(bench: Bench) -> None:
    """Who takes them for a filter of paths learns otherwise."""
    (told,) = warnings(bench, Scope(include_patterns=("src/**",)))
    assert told.startswith("include_patterns changed nothing: they only add archived files")


def test_patterns_beside_all_archived_files_are_named(bench: Bench) -> None:
    """Nothing is left for them to add."""
    (told,) = warnings(bench, Scope(exclude_archived=False, include_patterns=("archive/**",)))
    assert told.startswith("include_patterns changed nothing: exclude_archived is false")


@pytest.mark.parametrize(
    "scope",
    [Scope(), Scope(languages=frozenset({"python"})), Scope(include_patterns=("archive/**",))],
    ids=["none", "a language", "patterns"],
)
def test_filters_that_do_what_they_say_are_not_mentioned(bench: Bench, scope: Scope) -> None:
    """A warning is for what may be a mistake."""
    assert warnings(bench, scope) == ()
