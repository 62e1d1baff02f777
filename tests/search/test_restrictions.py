"""Words of a question that say where its answer has to be are a filter, where they can mean nothing else."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphrag_mcp.exclusion.patterns import compile_globs
from graphrag_mcp.model.files import Category
from graphrag_mcp.model.paths import ChosenPaths
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import SearchRequest
from graphrag_mcp.search.query.restrictions import Restriction, find_restriction
from graphrag_mcp.tools.search_answer import render
from tests.contracts.conftest import Source
from tests.indexed import indexed
from tests.search.stores import Bench, paths
from tests.waiting import HANG_SECONDS

FILES = (
    "core/session.py",
    "docs/guide.md",
    "lib/parser/tokens.py",
    "docs/README.md",
    "man/tool.1",
    "README.md",
    "src/changes/log.py",
    "src/app/[id]/page.tsx",
    "src/http/client.py",
    "test/mocks/clock.py",
    "test/test_session.py",
)
TESTS, DOCUMENTATION = Category.TESTS, Category.DOCUMENTATION


def exists(glob: str) -> bool:
    return not ChosenPaths((glob,), FILES, compile_globs).is_empty


def read(text: str) -> tuple[str, object] | None:
    """Return the question without its restriction, and the restriction."""
    found = find_restriction(text, exists)
    return found and (found.question, next(iter(found.categories or found.paths)))


@pytest.mark.parametrize(
    ("text", "question", "where"),
    [
        ("in the tests: how is the clock faked?", "how is the clock faked?", TESTS),
        ("In the unit tests, where is the clock faked", "where is the clock faked", TESTS),
        ("Only in the docs please: how do I add a worker", "how do I add a worker", DOCUMENTATION),
        ("in the docs, not the code: how to shorten names", "how to shorten names", DOCUMENTATION),
        ("in the user guide, not the API reference: a queue", "a queue", DOCUMENTATION),
        ("among the examples: one that logs", "one that logs", Category.EXAMPLES),
        ("only the documentation: how do I send a form", "how do I send a form", DOCUMENTATION),
        ("where in the tests is the fake server", "where is the fake server", TESTS),
        ("where is a link checked, in the docs", "where is a link checked", DOCUMENTATION),
        ("is there a fake clock (only in the tests)?", "is there a fake clock", TESTS),
        ("how is streaming used only in the examples?", "how is streaming used", Category.EXAMPLES),
        ("which limits are documented in the manual", "which limits are documented", DOCUMENTATION),
        ("the default port, only in config files", "the default port", Category.CONFIG),
        ("under tests/: HTTP/2 server", "HTTP/2 server", TESTS),
        ("only in src/http: retries", "retries", "/src/http"),
        ("only in src/http where are timeouts set", "where are timeouts set", "/src/http"),
        ("where are timeouts set in src/http?", "where are timeouts set", "/src/http/"),
        ("where are timeouts set, only in `src/http/client.py`.", "where are timeouts set", "/src/http/client.py"),
        ("only under test/: the echo server", "the echo server", "/test"),
        ("in core: session cookies", "session cookies", "/core"),
        ("where are cookies signed, only in core", "where are cookies signed", "/core"),
        ("where are tokens read in the parser package", "where are tokens read", "**/parser/"),
        ("in the lib.parser package: the first token", "the first token", "**/lib/parser"),
        ("in the core folder: where are cookies signed", "where are cookies signed", "/core"),
        ("only in src/app/[id]: loading", "loading", "/src/app/\\[id\\]"),
        ("only in *.md: session cookies", "session cookies", "**/*.md"),
    ],
)
def test_a_stated_place_is_read(text: str, question: str, where: object) -> None:
    """The rest is what is searched for."""
    assert read(text) == (question, where)


@pytest.mark.parametrize(
    ("text", "place", "paths"),
    [
        ("in the man page: exit codes", "the man page", ("**/*.[1-9]*", "**/[mM][aA][nN]/")),
        ("exit codes, in the readme", "the readme", ("/[rR][eE][aA][dD][mM][eE]*",)),  # That of the root.
        ("in the licence: exit codes", "documentation", ()),  # There is none.
    ],
)
def test_a_document_is_called_by_what_it_is(text: str, place: str, paths: tuple[str, ...]) -> None:
    """It is never code: a module may be called history."""
    assert find_restriction(text, exists) == Restriction("exit codes", place, frozenset({DOCUMENTATION}), paths)


def test_a_folder_of_a_kind_of_file_is_both() -> None:
    """The mocks of the tests are in a folder, and among the tests."""
    for text in ("only in the mocks of the tests: a slow clock", "a slow clock, only in the mocks of the tests"):
        found = find_restriction(text, exists)
        assert found == Restriction("a slow clock", "mocks of the tests", frozenset({TESTS}), ("**/mocks/",))
    for text in (
        "only in the fakes of the tests: a slow clock",
        "how are clocks mocked in the mocks of the tests",
        "in the parser of the docs: how are links read",
        "in the readme of the examples: how is it installed",
    ):
        assert find_restriction(text, exists) is None


@pytest.mark.parametrize(
    "text",
    [
        "how are errors handled in the parser",
        "why does the login hang only in the tests",
        "it fails in the tests",
        "in the docs, `limit` is 5 by default, but I get 10",
        "how do we check links in the docs",
        "how are entries written in the changelog",
        "tests: add a fake clock",
        "in general, how are sessions kept",
        "in safari: the page stays blank",
        "only in production: the worker stops",
        "where is the exporter in src/none",
        "crash in src/http/client.py",
        "In src/http/client.py:120: warning: unused variable",
        "in the test helper server: which URL empties it",
        "in the tests:",
        "core",
        "src/http/client.py",
    ],
)
def test_what_may_mean_something_else_restricts_nothing(text: str) -> None:
    """A symptom, a place that does not exist, a word that is also a folder."""
    assert find_restriction(text, exists) is None


def test_a_long_text_cannot_take_long() -> None:
    """A query has at most 8,000 characters."""
    started = time.process_time()
    for text in ("in " + "a/" * 4_000, "in the tests" + ", " * 4_000, "only in " + "." * 8_000, "in " * 2_600):
        assert find_restriction(text, exists) is None
    assert time.process_time() - started < HANG_SECONDS


def test_an_argument_of_the_call_decides_before_the_words() -> None:
    """Whoever sends `paths` knows better; another filter still counts."""
    tests, http = Restriction("", "tests", frozenset({TESTS})), Restriction("", "src/http", paths=("/src/http",))
    assert tests.narrow(Scope(categories=frozenset({DOCUMENTATION}))) is None
    assert http.narrow(Scope(paths=("/src",))) is None
    both = tests.narrow(Scope(paths=("/src",)))
    assert both == Scope(paths=("/src",), categories=frozenset({TESTS}))


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """One word in code, in a test and in a document."""
    bench = Bench(
        tmp_path,
        [
            Source("src/stone.py", ["garnet garnet"]),
            Source("tests/test_stone.py", ["garnet in a test"], category=TESTS),
            Source("docs/stone.md", ["garnet in words"], category=DOCUMENTATION, language="markdown"),
        ],
    )
    yield bench
    bench.close()


@pytest.mark.parametrize("where", ["in the [a of the tests", "only in [a*", "in the ../../a of the tests", "in !a"])
def test_words_that_are_no_glob_are_words(bench: Bench, where: str) -> None:
    """A question is never refused for what it would mean as a path."""
    assert bench.search(SearchRequest(f"{where}: garnet")).primary


def test_a_restriction_filters_and_is_reported(bench: Bench) -> None:
    """In one line before the results; the words themselves are not searched for."""
    result = bench.search(SearchRequest("in the tests: garnet"))
    assert paths(result) == ["tests/test_stone.py"]
    assert result.query == "in the tests: garnet"
    first = render(result, 1_000).splitlines()[0]
    assert first == "Restricted to tests, as the question says; leave that out to search everywhere."
    assert paths(bench.search(SearchRequest("garnet, only in docs/"))) == ["docs/stone.md"]


def test_a_question_without_a_restriction_is_searched_everywhere(bench: Bench) -> None:
    """And nothing is reported."""
    result = bench.search(SearchRequest("garnet in words"))
    assert len(result.primary) == 3
    assert result.meta.restriction == ""


def test_where_a_restriction_leaves_nothing_everything_is_shown(bench: Bench) -> None:
    """With the reason, so that nobody takes the results for examples."""
    result = bench.search(SearchRequest("in the examples: garnet"))
    assert len(result.primary) == 3
    assert render(result, 1_000).startswith("Nothing matches in examples, as the question restricts it; this is from")


STONES = [
    "amber",
    "basalt",
    "cobalt",
    "dolomite",
    "emerald",
    "feldspar",
    "gypsum",
    "halite",
    "iolite",
    "jasper",
    "kyanite",
    "lapis",
    "marble",
    "opal",
]
VERBS = ["fold", "stack", "press", "wrap", "drain", "mix", "bend", "cast", "melt", "spin"]


def test_a_test_file_that_is_named_after_the_subject_is_a_match_in_the_tests(tmp_path: Path) -> None:
    """Though its words are others; where no test scores more than for a question about something else, none is."""
    code = "def {part}_{stone}(value):\n    if value > {n}:\n        raise ValueError(value)\n    return value - {n}\n"
    test = "def test_{verb}():\n    left, right = {verb}(1), {verb}(2)\n    assert left.{verb}_with(right)\n"
    files = {
        f"src/{stone}_{part}.py": code.format(part=part, stone=stone, n=10 * n + len(part))
        for n, stone in enumerate(STONES)
        for part in ("trim", "limit", "weigh", "clean")
    }
    pairs = zip(STONES, VERBS, strict=False)
    files |= {f"tests/test_{stone}.py": test.format(verb=verb) for stone, verb in pairs}
    with indexed(tmp_path, files) as app:
        named, unnamed = (
            app.search(SearchRequest(f"in the tests: how are {stone}s compared with each other", limit=3))
            for stone in ("basalt", "marble")
        )
    assert named.primary[0].chunk.path == "tests/test_basalt.py"
    assert named.meta.restriction.startswith("Restricted to tests")
    assert not named.meta.nothing_matches
    assert unnamed.primary[0].chunk.path.startswith("src/marble")
    assert unnamed.meta.restriction.startswith("Nothing matches well in tests")
