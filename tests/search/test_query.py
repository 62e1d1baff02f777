"""What a query asks for."""

import pytest

from graphrag_mcp.model.files import Category, RelationKind
from graphrag_mcp.search.query.understand import Intent, understand
from graphrag_mcp.text.names import NamedSymbol


@pytest.mark.parametrize(
    ("text", "symbol"),
    [
        ("Session", NamedSymbol("Session")),
        ("get_session", NamedSymbol("get_session")),
        ("Foo::bar", NamedSymbol("bar", ("Foo",))),
        ("foo.bar.baz()", NamedSymbol("baz", ("foo", "bar"))),
        ("Foo#bar", NamedSymbol("bar", ("Foo",))),
        ("ptr->field", NamedSymbol("field", ("ptr",))),
        ("useState", NamedSymbol("useState")),
        ("empty?", NamedSymbol("empty?")),
        ("save!", NamedSymbol("save!")),
        ("$scope", NamedSymbol("$scope")),
    ],
)
def test_one_name_is_a_symbol_query(text: str, symbol: NamedSymbol) -> None:
    """A single word is a name of the code, with its qualifiers in any language's notation."""
    query = understand(text)
    assert (query.intent, query.symbols) == (Intent.SYMBOL, (symbol,))


@pytest.mark.parametrize(
    ("text", "path"),
    [("src/a/b.py", "src/a/b.py"), ("main.go", "main.go"), ("./lib/x", "lib/x"), ("README.md", "README.md")],
)
def test_one_path_is_a_path_query(text: str, path: str) -> None:
    """A name with folders or a known extension is a file."""
    query = understand(text)
    assert (query.intent, query.paths) == (Intent.PATH, (path,))


def test_prose_with_names_keeps_the_names_apart() -> None:
    """Identifiers, paths and words of a sentence are told apart."""
    query = understand("why does HTTPAdapter.send fail in src/adapters.py when max_retries is zero?")
    assert query.intent is Intent.NATURAL
    assert query.symbols == (NamedSymbol("send", ("HTTPAdapter",)), NamedSymbol("max_retries"))
    assert query.paths == ("src/adapters.py",)


def test_plain_words_are_no_symbols() -> None:
    """Words of prose name nothing, at the end of a sentence neither."""
    assert understand("how are routes registered.").symbols == ()
    assert understand("How are Routes registered?").symbols == ()


def test_a_query_of_stop_words_still_has_terms() -> None:
    """A question that leaves nothing is searched as it is."""
    assert understand("what is this").terms


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("who calls parse_args", RelationKind.CALLS),
        ("usages of Session", RelationKind.CALLS),
        ("subclasses of BaseAdapter", RelationKind.INHERITS),
        ("tests for the router", RelationKind.TESTS),
        ("what imports the json module", RelationKind.IMPORTS),
    ],
)
def test_a_relation_is_recognised(text: str, relation: RelationKind) -> None:
    """The graph's list is fused when the query asks for a relation."""
    assert (relation, "in") in understand(text).relations


def test_a_query_without_a_relation_asks_for_none() -> None:
    """An ordinary question leaves the graph to the context block."""
    assert understand("how are calls dispatched").relations == ()
    assert understand("how are calls dispatched").categories == frozenset[Category]()
