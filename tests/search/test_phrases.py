"""Which kind of file, and which relation, the grammar of a query asks for."""

import pytest

from graphrag_mcp.model.files import Category, RelationKind
from graphrag_mcp.search.query.understand import (
    LONG,
    asked_categories,
    asked_relations,
    asks_for_behaviour,
    asks_for_fact,
    stating_files,
    understand,
)


@pytest.mark.requirement("004-01", "B-28")
@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("tests for the session", Category.TESTS),
        ("is the retry covered by a test", Category.TESTS),
        ("which integration tests touch the outbox", Category.TESTS),
        ("specs around the parser", Category.TESTS),
        ("where is rounding tested", Category.TESTS),
        ("guide to writing plugins", Category.DOCUMENTATION),
        ("how to set up a machine, documentation", Category.DOCUMENTATION),
        ("what does the documentation say about tokens", Category.DOCUMENTATION),
        ("decision record on authentication", Category.DOCUMENTATION),
        ("changelog of the last version", Category.DOCUMENTATION),
        ("example of a custom handler", Category.EXAMPLES),
        ("show me a sample app with login", Category.EXAMPLES),
        ("benchmarks of the router", Category.EXAMPLES),
        ("linter rules", Category.CONFIG),
        ("release workflow", Category.CONFIG),
        ("which env vars are read", Category.CONFIG),
        ("where is the pool size configured", Category.CONFIG),
        ("which config file sets the port", Category.CONFIG),
        ("where is the settings file of the linter", Category.CONFIG),
        ("which port is set in the config file", Category.CONFIG),
        ("docker compose of the database", Category.CONFIG),
    ],
)
def test_what_a_query_is_about_is_asked_for(text: str, category: Category) -> None:
    """The noun at the head of the query, or a phrase that can mean nothing else."""
    assert category in asked_categories(text)


@pytest.mark.requirement("B-28")
@pytest.mark.parametrize(
    "text",
    [
        "test client",
        "document parser",
        "example validator",
        "how are documents stored",
        "config loader",
        "guide the user through checkout",
        "benchmark runner class",
        "session settings object",
        "sample rate of the audio stream",
        "function that tests for equality",
        "how do we test for an empty basket",
        "how is the config file found by walking up the folders",
        "where does the search for a settings file stop",
        "what is answered for bytes past the end of a document",
        "how does the documentation site pick its colours",
    ],
)
def test_a_word_inside_a_query_asks_for_nothing(text: str) -> None:
    """ "test client" asks for code."""
    assert asked_categories(text) == frozenset()


@pytest.mark.parametrize(
    "text",
    [
        "under which licence is this published?",
        "may I use it in a commercial product?",
        "which node versions do we support",
        "minimum supported Rust version?",
        "which Python do I need at least?",
        "the last release that runs on Java 8",
        "what browsers do I need",
        "how do I install it?",
        "how can I build the project on a Mac",
        "how do I compile it from source",
        "which extra packages do I have to install for templates",
        "how do I run a single test",
        "what does CI run",
        "how is a release made?",
        "in which release was the old client removed",
        "what changed between v4 and v5",
        "how can I contribute a patch?",
        "how do I report a security vulnerability?",
    ],
)
def test_a_question_about_the_project_asks_for_documents_and_configuration(text: str) -> None:
    """They state its licence, versions, installation, tests, releases and rules."""
    assert asked_categories(text) >= {Category.DOCUMENTATION, Category.CONFIG}


@pytest.mark.parametrize(
    ("text", "name", "is_stating"),
    [
        ("which Python do I need at least?", "pyproject.toml", True),
        ("which Python do I need at least?", "readme.md", True),
        ("which Python do I need at least?", "parser.py", False),
        ("under which licence is this published?", "copying", True),
        ("in which release was the old client removed", "changes", True),
        ("how are releases kept apart in the parser", "changes", False),
    ],
)
def test_what_is_asked_about_the_project_stands_in_files_of_certain_names(
    text: str, name: str, is_stating: bool
) -> None:
    """The words of such a question are rarely in them."""
    assert any(files.match(name) for files in stating_files(text)) == is_stating


@pytest.mark.parametrize(
    "text",
    [
        "license key validation",
        "which go routine does the pool start",
        "the last version of the file that was read",
        "which TLS versions are supported",
        "where is the protocol version negotiated",
        "install a signal handler",
        "how is the request built from its parts",
        "how do I build a query",
        "how are the tests run in parallel",
        "release the lock when the thread ends",
        "how is the counter changed to 0",
        "In our CI logs the progress bar prints only its label",
        "how does the content security policy get its header",
        "how is a pull request merged",
    ],
)
def test_the_same_words_about_the_code_ask_for_nothing(text: str) -> None:
    """What the code installs, builds, releases or runs is code."""
    assert asked_categories(text) == frozenset()


@pytest.mark.parametrize(
    ("text", "wants"),
    [
        ("default of the body limit", True),
        ("how many redirects are followed?", True),
        ("what can several threads share", True),
        ("may I call it twice", True),
        ("where is the body limit checked", False),
        ("how does the router match a path", False),
        ("retry with backoff", False),
    ],
)
def test_a_question_for_what_holds_is_told_from_one_for_where_it_is_done(text: str, *, wants: bool) -> None:
    """Documents state what holds; code does it."""
    assert asks_for_fact(text) is wants


@pytest.mark.requirement("K-11")
@pytest.mark.parametrize(
    ("text", "kind", "direction"),
    [
        ("who calls reserve", RelationKind.CALLS, "in"),
        ("callers of reserve", RelationKind.CALLS, "in"),
        ("callees of reserve", RelationKind.CALLS, "out"),
        ("what does reserve call", RelationKind.CALLS, "out"),
        ("which modules depend on billing", RelationKind.IMPORTS, "in"),
        ("what does billing import", RelationKind.IMPORTS, "out"),
        ("subclasses of Handler", RelationKind.INHERITS, "in"),
        ("what tests verify_token", RelationKind.TESTS, "in"),
    ],
)
def test_a_relation_has_a_direction(text: str, kind: RelationKind, direction: str) -> None:
    """What points at the thing, or what the thing points at."""
    assert (kind, direction) in asked_relations(text)


@pytest.mark.parametrize("text", ["implementation of parse_args", "what is called when a session ends"])
def test_a_definition_is_no_relation(text: str) -> None:
    """Who asks for the implementation of a thing asks for the thing."""
    assert asked_relations(text) == ()


def test_of_a_long_text_the_title_asks() -> None:
    """A whole issue: its first line says what it is about; "I followed the documentation" in its body asks nothing."""
    body = "I followed the documentation, see tests for it. " * 10
    query = understand(f"# Session is lost on refresh\n\n{body}\n`SessionStore.load` fails in src/session.py")
    assert len(query.text) > LONG
    assert query.title == "Session is lost on refresh"
    assert (query.categories, query.relations) == (frozenset(), ())
    assert set(query.terms) == {"session", "lost", "refresh"}
    assert {"document", "load"} <= set(query.expansion_terms)
    assert "src/session.py" in query.paths
    assert any(symbol.name == "load" for symbol in query.symbols)


def test_a_short_text_is_its_own_title() -> None:
    """Nothing of a question is minor but its synonyms."""
    assert understand("how are sessions kept").title == "how are sessions kept"
    assert understand("how are sessions kept").expansion_terms == ()


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("how is a session renewed", True),
        ("where are old sessions thrown away", True),
        ("which part writes the log", True),
        ("where is the class that keeps sessions", False),
        ("the interfaces of stores", False),
        ("a session of a user", False),
    ],
)
def test_a_question_for_behaviour_names_no_kind_of_type(text: str, asks: bool) -> None:
    """Types come after functions then."""
    assert asks_for_behaviour(text) is asks
