"""Exact answers: definitions, relations hop by hop, what a change reaches, every occurrence."""

import re
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.errors import RequestError
from graphrag_mcp.graph.navigator import Navigator
from graphrag_mcp.model.files import RelationKind, SymbolKind
from graphrag_mcp.model.graph import Certainty, Direction
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import Case
from graphrag_mcp.settings import load_settings
from tests.golden.check import CORPUS
from tests.grep.finding import occurrences
from tests.index_contents import file_ids
from tests.indexed import indexed

FILES = {
    "shop/prices.py": """\
        from shop.taxes import tax_of


        class Price:
            def total(self, order):
                return self.net(order) + tax_of(order)

            def net(self, order):
                return sum(order)
        """,
    "shop/taxes.py": """\
        import decimal


        def tax_of(order):
            return decimal.Decimal(rate()) * len(order)


        def rate():
            return "0.2"
        """,
    "shop/sale.py": """\
        from shop.prices import Price


        class SalePrice(Price):
            def total(self, order):
                return self.net(order) / 2
        """,
    "shop/desk.py": """\
        from shop.taxes import tax_of


        def show(order):
            print(tax_of(order))


        def save():
            pass
        """,
    "shop/disk.py": """\
        def save():
            pass


        def flush():
            unknown_library_call()
        """,
    "tests/test_taxes.py": """\
        from shop.taxes import tax_of


        def test_tax_of():
            assert tax_of([1])
        """,
    "shop/user.py": """\
        def close(thing):
            thing.save()
            thing.total(1)
        """,
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("navigation") / "project"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(re.sub("^        ", "", text, flags=re.MULTILINE))
    return root


@pytest.fixture(scope="module")
def navigator(root: Path) -> Iterator[Navigator]:
    app = App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(root.parent / "data")}))
    app.index()
    yield app.navigator()
    app.close()


def names(navigator: Navigator, symbol: str, direction: Direction, hops: int = 1) -> list[tuple[int, str, str]]:
    """Return (hop, source, target) of every step."""
    steps = navigator.trace(symbol, direction, hops).steps
    return [(step.hop, step.source.qualified_name, step.target.qualified_name) for step in steps]


@pytest.mark.parametrize(
    "text",
    ["tax_of", "TAX_OF", "tax_of()", "shop/taxes.py::tax_of", "shop/taxes.py:5", "./shop/taxes.py#tax_of"],
)
def test_a_definition_is_found_by_its_name_and_by_its_place(navigator: Navigator, text: str) -> None:
    """However an agent writes it."""
    (found,) = navigator.symbols(text)
    assert (found.node.path, found.node.start_line, found.node.end_line) == ("shop/taxes.py", 4, 5)
    assert found.node.signature == "def tax_of(order)"


def test_a_type_in_a_package_is_no_field_of_the_package_s_name(tmp_path: Path) -> None:
    """As Go writes it: what has the name in other case comes after what has it as it is written."""
    code = "package queue\n\ntype Storage interface{ Add() }\ntype Queue struct{ storage Storage }\n"
    with indexed(tmp_path, {"go.mod": "module x\n", "queue/queue.go": code}) as app:
        found = {
            text: [row.node.qualified_name for row in app.navigator().symbols(text)]
            for text in ("queue.Storage", "Queue.storage", "queue.storage", "Queue.Storage")
        }
    assert found["queue.Storage"] == found["Queue.Storage"] == ["Storage"]
    assert found["Queue.storage"] == found["queue.storage"] == ["Queue.storage"]


def test_a_qualified_name_tells_methods_apart(navigator: Navigator) -> None:
    """A bare name has them all, code first."""
    assert [one.node.qualified_name for one in navigator.symbols("total")] == ["Price.total", "SalePrice.total"]
    assert [one.node.path for one in navigator.symbols("SalePrice.total")] == ["shop/sale.py"]


@pytest.mark.parametrize("text", ["(*SalePrice).total", "shop/sale.(*SalePrice).total", "shop.sale$SalePrice.total"])
def test_the_notation_of_a_stack_trace_is_understood(navigator: Navigator, text: str) -> None:
    """That of Go has the receiver in brackets, that of the JVM a dollar sign before an inner class."""
    assert [one.node.path for one in navigator.symbols(text)] == ["shop/sale.py"]


def test_a_definition_comes_with_its_uses(navigator: Navigator) -> None:
    """Calls and imports, of tests too, each with the line that says it."""
    (found,) = navigator.symbols("tax_of")
    uses = {(use.path, use.relation.value) for use in found.used}
    assert {("shop/prices.py", "calls"), ("shop/desk.py", "calls"), ("tests/test_taxes.py", "calls")} <= uses


def test_what_does_not_exist_is_said_with_what_is_similar(navigator: Navigator) -> None:
    """A typing error costs one call."""
    with pytest.raises(RequestError, match=r"nothing that is indexed defines 'tax_off'.*tax_of"):
        navigator.symbols("tax_off")
    with pytest.raises(RequestError, match="search for it in words"):
        navigator.symbols("zzzzzz")


def test_a_type_without_such_a_member_says_what_it_has(navigator: Navigator) -> None:
    """The nearest name first."""
    with pytest.raises(RequestError, match=r"'Price.nett'.*; Price \(shop/prices.py:4\) defines net, total"):
        navigator.symbols("Price.nett")


def test_callers_are_followed_hop_by_hop(navigator: Navigator) -> None:
    """rate <- tax_of <- those that call it."""
    found = names(navigator, "rate", Direction.CALLERS, 2)
    assert found[0] == (1, "tax_of", "rate")
    assert {source for hop, source, _ in found if hop == 2} >= {"Price.total", "show", "test_tax_of"}
    assert all(target == "tax_of" for hop, _, target in found if hop == 2)


def test_callees_say_where_the_graph_stops(navigator: Navigator) -> None:
    """At names that nothing in the project defines."""
    found = navigator.trace("flush", Direction.CALLEES, 2)
    assert found.steps == ()
    assert [one.name for one in found.stops] == ["unknown_library_call"]


@pytest.mark.parametrize(
    ("symbol", "direction", "expected"),
    [
        ("Price", Direction.SUBCLASSES, [(1, "SalePrice", "Price")]),
        ("SalePrice", Direction.SUPERCLASSES, [(1, "SalePrice", "Price")]),
        ("tax_of", Direction.TESTS, [(1, "test_tax_of", "tax_of")]),
        ("shop/sale.py", Direction.IMPORTS, [(1, "shop/sale.py", "Price")]),
    ],
)
def test_each_relation_has_its_direction(
    navigator: Navigator, symbol: str, direction: Direction, expected: list[tuple[int, str, str]]
) -> None:
    """Subclasses, superclasses, tests, imports."""
    assert sorted(set(names(navigator, symbol, direction))) == expected


def test_importers_of_a_file_import_it_or_what_it_defines(navigator: Navigator) -> None:
    """Asked of a definition, those that import it by name."""
    found = {source for _, source, _ in names(navigator, "tax_of", Direction.IMPORTERS)}
    assert found == {"shop/prices.py", "shop/desk.py", "tests/test_taxes.py"}


def test_a_guess_is_shown_and_not_followed(navigator: Navigator) -> None:
    """`thing.total()` may be either of two methods, and `thing.save()` is no function of a module."""
    assert navigator.trace("save", Direction.CALLERS, 3, unresolved=True).steps == ()
    assert navigator.trace("total", Direction.CALLERS, 3).steps == ()
    found = navigator.trace("total", Direction.CALLERS, 3, unresolved=True)
    assert {step.source.qualified_name for step in found.steps} == {"close"}
    assert all(step.is_guess and step.edge.certainty is Certainty.BY_NAME for step in found.steps)
    assert all(step.hop == 1 for step in found.steps)


def test_the_impact_of_a_change_has_its_tests_apart(navigator: Navigator) -> None:
    """What calls it, transitively, and the tests."""
    found = navigator.impact("rate", 3)
    assert {one.node.qualified_name for one in found.tests} >= {"test_tax_of"}
    reached = {one.node.qualified_name: one for one in found.reached}
    assert {"tax_of", "Price.total", "show"} <= reached.keys()
    assert reached["tax_of"].hops == 1
    assert reached["show"].hops == 2
    assert reached["show"].confidence == 1.0
    assert "flush" not in reached


def test_the_impact_of_a_file_is_that_of_all_it_defines(navigator: Navigator) -> None:
    """And of what imports it."""
    found = navigator.impact("shop/prices.py", 1)
    assert {one.node.path for one in found.reached} == {"shop/sale.py"}


def test_who_calls_what_a_field_holds_is_a_caller(tmp_path: Path) -> None:
    """A field with a function type is a method; one that holds a function is called, and else read."""
    text = """type Sink = { next: (text: string) => void; limit: number }
interface Held { run?: Later }
type Later = () => void
export const once = wrap(() => 1)
export function use(sink: Sink, held: Held) {
  sink.next("a")
  held.run()
  once()
  return sink.limit
}
"""
    (tmp_path / "sink.ts").write_text(text)
    app = App(tmp_path, load_settings(tmp_path, {"GRAPHRAG_DATA_DIR": str(tmp_path / "data")}))
    app.index()
    found = [
        (step.target.kind, step.target.qualified_name, step.edge.relation)
        for name in ("Sink.next", "Held.run", "once", "Sink.limit")
        for step in app.navigator().trace(name, Direction.CALLERS, 1).steps
    ]
    app.close()
    assert found == [
        (SymbolKind.METHOD, "Sink.next", RelationKind.CALLS),
        (SymbolKind.FIELD, "Held.run", RelationKind.CALLS),
        (SymbolKind.CONSTANT, "once", RelationKind.CALLS),
        (SymbolKind.FIELD, "Sink.limit", RelationKind.READS),
    ]


def test_every_occurrence_is_found_as_a_plain_scan_finds_it(tmp_path: Path) -> None:
    """Complete by construction: on real sources, for words, parts of words and literals."""
    root = tmp_path / "project"
    shutil.copytree(CORPUS / "stockroom", root)
    app = App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(tmp_path / "data")}))
    app.index()
    everything = Scope(exclude_archived=False)
    paths = [root / path for path in file_ids(app)]
    assert len(paths) == occurrences(app.navigator(), "import", everything).occurrences.files_searched > 35
    for text, whole_word, case in [
        ("Order", True, Case.SMART),
        ("order", False, Case.SMART),
        ('"order_id"', True, Case.SENSITIVE),
        ("-> None:", True, Case.SMART),
        ("()", False, Case.SENSITIVE),
        ("not there at all", True, Case.IGNORE),
    ]:
        before = r"(?<!\w)" if whole_word and text[0].isalnum() else ""
        after = r"(?!\w)" if whole_word and text[-1].isalnum() else ""
        ignores = case is Case.IGNORE or (case is Case.SMART and text.islower())
        pattern = re.compile(before + re.escape(text) + after, re.IGNORECASE if ignores else 0)
        expected = {
            (path.relative_to(root).as_posix(), number)
            for path in paths
            for number, line in enumerate(path.read_text().split("\n"), 1)
            if pattern.search(line)
        }
        found = occurrences(app.navigator(), text, everything, whole_word=whole_word, case=case).occurrences
        assert {(one.path, one.line) for one in found.lines} == expected
        assert found.total == len(expected)
        assert found.unread == ()
    app.close()


def test_a_name_in_other_case_is_answered_with_a_word_about_it(tmp_path: Path) -> None:
    """Else the answer is taken for one about what was asked."""
    (tmp_path / "a.go").write_text('package a\n\ntype E struct{}\n\nfunc (e E) Error() string { return "" }\n')
    with closing(App(tmp_path, load_settings(tmp_path, {"GRAPHRAG_DATA_DIR": str(tmp_path / "data")}))) as app:
        app.index()
        found = {name: [one.asked_as for one in app.navigator().code(name)] for name in ("error", "Error", "E.error")}
    assert found == {"error": ["error"], "Error": [""], "E.error": ["error"]}
