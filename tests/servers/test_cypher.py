"""The queries of docs/cypher.md: each gives on a real Neo4j what the tools say."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from neo4j import Driver

from graphrag_mcp.app.local import App
from graphrag_mcp.graph.navigator import Navigator
from graphrag_mcp.graph.tracing import Step
from graphrag_mcp.model.files import RelationKind, SymbolKind
from graphrag_mcp.model.graph import Certainty, CodeNode, Direction
from graphrag_mcp.model.scope import Scope
from tests.servers.conftest import Place

pytestmark = pytest.mark.server
PAGE = Path(__file__).parents[2] / "docs" / "cypher.md"
CALLS = (RelationKind.CALLS,)
SHOP = {
    "go.mod": "module example.org/shop\n",
    "tax/tax.go": """package tax

type Rate interface {
	Of(amount int) int
}

type Flat struct{}

func (Flat) Of(amount int) int { return amount / 5 }

type Free struct{}

func (Free) Of(amount int) int { return zero() }

func zero() int { return 0 }

func Forgotten() int { return 1 }

func Total(rate Rate, amount int) int { return amount + rate.Of(amount) }
""",
    "tax/tax_test.go": """package tax

import "testing"

func TestTotal(t *testing.T) {
	if Total(Flat{}, 5) != helped() {
		t.Fail()
	}
}

func helped() int { return Total(Free{}, 6) }
""",
    "cmd/main.go": """package main

import "example.org/shop/tax"

func main() { run() }

func run() { tax.Total(tax.Flat{}, 1) }
""",
    "shop/basket.py": """class Basket:
    def total(self):
        return add(self.items)


def add(items):
    return items
""",
    "shop/sale.py": """import json

from shop.basket import Basket, add


class Sale(Basket):
    def total(self):
        return add(json.loads('[]'))


class Winter(Sale):
    pass


def sell(basket: Basket):
    return basket.total()
""",
    "shop/report.py": """import shop.sale


def report():
    return shop.sale.sell(shop.sale.Winter())


def unused(thing):
    return thing.undecided_name()


def undecided_name():
    return 1
""",
    "pyproject.toml": "[project]\nname = 'shop'\n",
}
CLIENT = {"client/main.go": 'package client\n\nimport "example.org/shop/tax"\n\nfunc Buy() { tax.Total(nil, 1) }\n',
          "buy.py": "from shop.sale import sell\n\n\ndef buy():\n    return sell(None)\n"}  # fmt: skip
Ask = Callable[..., list[dict[str, Any]]]


def _queries() -> dict[str, str]:
    """Return the queries of the page by the sentence before each."""
    found = re.findall(r"^([^\n`]+):\n\n```cypher\n(.*?)```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    return dict(found)


@pytest.fixture(scope="module")
def queries() -> dict[str, str]:
    """All twelve."""
    queries = _queries()
    assert len(queries) == 12
    return queries


@pytest.fixture
def shop(make_place: Callable[..., Place]) -> Iterator[App]:
    """A project on a Neo4j."""
    with closing(make_place("shop", SHOP).app(qdrant_url="")) as app:
        app.index()
        assert [report.problem for report in app.sync()] == [""]
        yield app


@pytest.fixture
def ask(neo4j_driver: Driver, queries: dict[str, str], shop: App) -> Ask:
    """Execute a query of the page, for the one project."""

    def execute(title: str, **parameters: object) -> list[dict[str, Any]]:
        query = re.sub(r"\{(qualified_name|path):", r"{project: $project, \1:", queries[title])
        for pattern in ("(called:Symbol)", "(unused:Function)"):
            query = query.replace(pattern, f"{pattern[:-1]} {{project: $project}})")
        records = neo4j_driver.execute_query(query, {**parameters, "project": _project(shop)}).records
        return [dict(record) for record in records]

    return execute


def _steps(navigator: Navigator, name: str, direction: Direction, hops: int = 1) -> list[Step]:
    return list(navigator.trace(name, direction, hops, Scope(exclude_archived=False)).steps)


def _callers(navigator: Navigator, node: CodeNode) -> list[Step]:
    name = f"{node.path}::{node.qualified_name}"
    return [step for step in _steps(navigator, name, Direction.CALLERS) if step.edge.relation in CALLS]


def _named(node: CodeNode) -> tuple[str, str | None]:
    return node.path, None if node.is_file else node.qualified_name


def _project(app: App) -> str:
    return app._parts.servers.project


def _definitions(app: App) -> list[CodeNode]:
    outlines = map(app.navigator().outline, app._parts.handle.searched().catalog.file_states())
    nodes = [node for outline in outlines for node in outline.nodes]
    return [node for node in nodes if not node.is_file and node.kind is not SymbolKind.KEY]


def test_callers(ask: Ask, shop: App) -> None:
    """Of every definition: direct calls, those of interfaces and bases, all lines."""
    navigator, some = shop.navigator(), 0
    for node in _definitions(shop):
        rows = ask("Callers of a function", name=node.qualified_name)
        said = {(*_named(step.source), line) for step in _callers(navigator, node) for line in step.lines}
        assert {(row["path"], row["caller"], row["line"]) for row in rows} == said, node
        some += len(said)
    assert some > 8


def test_callers_of_callers(ask: Ask, shop: App) -> None:
    """What the tool says when it is asked again for each caller."""
    navigator = shop.navigator()
    for node in _definitions(shop):
        level, said = [node], set[tuple[str, str | None]]()
        for _ in range(4):
            level = [step.source for one in level if not one.is_file for step in _callers(navigator, one)]
            said |= set(map(_named, level))
        rows = ask("Callers of its callers, four calls away at most", name=node.qualified_name)
        assert {(row["path"], row["caller"]) for row in rows} == said, node


@pytest.mark.parametrize("name", ["Rate", "Basket", "Sale", "Flat"])
def test_implementers(ask: Ask, shop: App, name: str) -> None:
    """Of an interface that no type names, and of classes."""
    rows = ask("What implements an interface or extends a class", name=name)
    said = {_named(step.source) for step in _steps(shop.navigator(), name, Direction.IMPLEMENTERS, 3)}
    assert {(row["path"], row["type"]) for row in rows} == said
    assert bool(said) == (name != "Flat")


@pytest.mark.parametrize("name", ["Total", "Flat.Of", "helped", "zero", "run"])
def test_tests(ask: Ask, shop: App, name: str) -> None:
    """Directly and through a helper."""
    rows = ask("Tests of a function, themselves or through one helper", name=name)
    assert {(row["path"], row["test"]) for row in rows} == {
        _named(step.source) for step in _steps(shop.navigator(), name, Direction.TESTS)
    }


def test_importers_and_needs(ask: Ask, shop: App) -> None:
    """Of and from every file; packages outside by their names."""
    navigator = shop.navigator()
    for path in SHOP:
        importers = {step.source.path for step in _steps(navigator, path, Direction.IMPORTERS)}
        assert {row["path"] for row in ask("Importers of a file", path=path)} == importers, path
        trace = navigator.trace(path, Direction.IMPORTS, 1)
        said = {step.target.path for step in trace.steps} | {stop.module or stop.name for stop in trace.stops}
        assert {row["needed"] for row in ask("What a file needs", path=path)} == said, path
    assert {row["needed"] for row in ask("What a file needs", path="shop/sale.py")} == {"shop/basket.py", "json"}


def test_the_most_called(ask: Ask, shop: App) -> None:
    """By certain calls."""
    navigator = shop.navigator()
    counts = Counter[tuple[str, str | None]]()
    for node in _definitions(shop):
        certain = [step for step in _callers(navigator, node) if step.edge.certainty is Certainty.CERTAIN]
        counts[_named(node)] = len({step.source.node_id for step in certain})
    said = sorted((-count, path, name or "") for (path, name), count in counts.items() if count)[:10]
    assert [(-row["callers"], row["path"], row["called"]) for row in ask("The most called")] == said


def test_a_path(ask: Ask, shop: App) -> None:
    """Each step is a callee of the one before, and no way is shorter."""
    (row,) = ask("How one function reaches another", **{"from": "main", "to": "zero"})
    assert row["steps"] == ["main", "run", "Total", "Free.Of", "zero"]
    navigator = shop.navigator()
    for before, after in zip(row["steps"], row["steps"][1:], strict=False):
        assert after in {step.target.qualified_name for step in _steps(navigator, before, Direction.CALLEES)}
    assert ask("How one function reaches another", **{"from": "zero", "to": "main"}) == []


def test_files_of_a_folder(ask: Ask) -> None:
    """Of the root too."""
    assert [row["path"] for row in ask("The files of a folder", folder="shop")] == sorted(
        path for path in SHOP if path.startswith("shop/")
    )


def test_unused_functions(ask: Ask, shop: App) -> None:
    """Those without users."""
    functions = [node for node in _definitions(shop) if node.kind is SymbolKind.FUNCTION]
    said = {
        _named(node)
        for node in functions
        if not _steps(shop.navigator(), f"{node.path}::{node.qualified_name}", Direction.USERS)
    }
    rows = ask("Functions that nothing uses, with the number of files in which something undecided has the name")
    assert {(row["path"], row["unused"]) for row in rows} == said
    undecided = {row["unused"]: row["undecided"] for row in rows}
    assert undecided.items() >= {"Forgotten": 0, "unused": 0, "main": 0, "undecided_name": 1}.items()


def test_files_with_a_part_in_an_interface(ask: Ask, shop: App) -> None:
    """Where the types are that implement it."""
    said = {step.source.path for step in _steps(shop.navigator(), "Rate", Direction.IMPLEMENTERS)}
    assert {row["path"] for row in ask("The files that have a part in an interface", name="Rate")} == said


def test_projects_that_import_each_other(
    make_place: Callable[..., Place], neo4j_driver: Driver, queries: dict[str, str], shop: App
) -> None:
    """Whichever is copied first; and not after either is removed, or no longer imports."""
    place = make_place("client", CLIENT)
    client, declarer = place.environ["GRAPHRAG_PROJECT_ID"], _project(shop)

    def imports() -> list[tuple[str, str, int]]:
        records = neo4j_driver.execute_query(queries["Projects that import packages of others"]).records
        return [tuple(record.values()) for record in records if {client, declarer} <= set(record.values())]

    with closing(place.app(qdrant_url="")) as app:
        app.index()
        app.sync()
        assert imports() == [(client, declarer, 2)]
        assert "shop.sale" in {stop.name for stop in app.navigator().trace("buy.py", Direction.IMPORTS, 1).stops}
        shop.sync(rebuild=True)
        assert imports() == [(client, declarer, 2)]
        (place.root / "buy.py").write_text("def buy():\n    return 1\n")
        app.index()
        app.sync()
        assert imports() == [(client, declarer, 1)]
        app.sync(rebuild=True, agree=lambda _: True)
        (place.root / "client/main.go").write_text("package client\n")
        app.index()
        app.sync()
        assert imports() == []
