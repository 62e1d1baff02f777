"""A search by example, over a real project."""

import json
from collections.abc import Iterator

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.cli.run import DONE, run
from graphrag_mcp.tools.search import HYBRID
from tests.indexed import indexed

FILES = {
    "shop/baskets.py": "def total_of_basket(basket):\n    total = 0\n    for item in basket.items:\n"
    "        total += item.price * item.count\n    return round(total, 2)\n",
    "shop/orders.py": "def sum_of_order(order):\n    amount = 0\n    for line in order.lines:\n"
    "        amount += line.price * line.quantity\n    return round(amount, 2)\n",
    "shop/mail.py": "def send(address, subject):\n    server = connect(address)\n    server.deliver(subject)\n",
    "tests/test_baskets.py": "from shop.baskets import total_of_basket\n\n\ndef test_it_is_summed(basket):\n"
    "    total = total_of_basket(basket)\n    assert total == 3\n",
}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """Two functions that do the same, and one that does not."""
    with indexed(tmp_path_factory.mktemp("examples"), FILES) as app:
        yield app


def paths(app: App, query: str) -> list[str]:
    """Return the paths that are found, the best first."""
    call = HYBRID.read({"query": query}, app.settings, app.root)
    return [hit.chunk.path for hit in app.ask(HYBRID.ask, call).primary]


@pytest.mark.parametrize("query", ["shop/baskets.py:1-5", "like total_of_basket", "Like: total_of_basket"])
def test_code_that_does_the_same_is_found_and_not_the_example(app: App, query: str) -> None:
    """By the place or by the name; tests use it and do not do the same."""
    assert paths(app, query) == ["shop/orders.py", "shop/mail.py"]


def test_the_command_finds_what_the_tool_finds(app: App, capsys: pytest.CaptureFixture[str]) -> None:
    """The command has arguments of its own, and no search of its own."""
    data = app.settings.indexing.data_dir
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRAPHRAG_DATA_DIR", data)
        assert run(["search", "like total_of_basket", "--root", str(app.root), "--no-update", "--json"]) == DONE
    found = json.loads(capsys.readouterr().out)["primary"]
    assert [row["path"] for row in found] == paths(app, "like total_of_basket")


def test_filters_are_for_what_is_found(app: App) -> None:
    """The example may lie outside of them."""
    call = HYBRID.read({"query": "like total_of_basket", "paths": ["shop/mail.py"]}, app.settings, app.root)
    assert [hit.chunk.path for hit in app.ask(HYBRID.ask, call).primary] == ["shop/mail.py"]


@pytest.mark.parametrize(
    "query",
    [
        f"shop/baskets.py:{'9' * 5000}-7",
        "like nothing_here",
        "shop/none.py:1-5",
        "shop/baskets.py:90-95",
        "total_of_basket",
    ],
)
def test_any_other_query_is_a_search(app: App, query: str) -> None:
    """Also where the place does not exist."""
    assert "shop/baskets.py" in paths(app, query)
