"""Keys of configuration in the exact answers and in the search."""

from collections.abc import Iterator

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.model.graph import Direction
from graphrag_mcp.model.search import SearchRequest
from tests.indexed import indexed

FILES = {
    "shop.yaml": "# All settings of the shop.\nserver:\n  http:\n    port: 8080\n    retries: 3\nname: shop\n",
    "shop/desk.py": "from outside import retries\n\n\ndef serve():\n    return retries()\n"
    "\n\ndef name():\n    return 1\n",
    "shop/run.py": "def run(port):\n    print('SERVER HTTP PORT', port)\n    return port\n",
}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    with indexed(tmp_path_factory.mktemp("keys"), FILES) as app:
        yield app


@pytest.mark.parametrize("asked", ["server.http.port", "port", "SERVER_HTTP_PORT", "SHOP_SERVER_HTTP_PORT"])
def test_a_key_is_found_by_its_path_its_last_name_and_its_variable(app: App, asked: str) -> None:
    """With the line of its value."""
    (found,) = app.navigator().symbols(asked)
    assert (found.node.path, found.node.start_line, found.node.signature) == ("shop.yaml", 4, "port: 8080")


def test_code_of_the_same_name_comes_first(app: App) -> None:
    """`name` is a function here, and a key of every other file of configuration."""
    assert [found.node.path for found in app.navigator().symbols("name")] == ["shop/desk.py", "shop.yaml"]


def test_a_call_never_means_a_key(app: App) -> None:
    """Not even the only definition of the name: the call is of a function from outside."""
    assert app.navigator().trace("serve", Direction.CALLEES, 1).steps == ()


@pytest.mark.parametrize("query", ["server.http.port", "SERVER_HTTP_PORT"])
def test_a_search_for_a_key_finds_where_it_is_set(app: App, query: str) -> None:
    """By the bonus of a definition."""
    best = app.search(SearchRequest(query)).primary[0]
    assert best.chunk.path == "shop.yaml"
    assert "definition" in [factor.name for factor in best.factors]
