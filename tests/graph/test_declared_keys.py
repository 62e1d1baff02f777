"""Options that code declares, in the exact answers and in the search."""

from collections.abc import Iterator

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.model.files import SymbolKind
from graphrag_mcp.model.graph import Direction
from graphrag_mcp.model.search import SearchRequest
from tests.indexed import indexed

FILES = {
    "shop/cli.py": "def options(parser):\n    parser.add_argument('--max-size', default=8)\n"
    "    parser.add_argument('--name', default='shop')\n",
    "shop/desk.py": "from shop.limits import size\n\n\ndef name():\n    return size()\n",
    "shop/limits.py": "def size():\n    return 1\n",
    "server/main.go": 'package main\n\nfunc port() *int {\n\treturn flag.Int("port", limit(), "")\n}\n'
    "\nfunc limit() int {\n\treturn 80\n}\n",
}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    with indexed(tmp_path_factory.mktemp("declared"), FILES) as app:
        yield app


@pytest.mark.parametrize("asked", ["--max-size", "max-size", "max_size", "maxSize", "MAX_SIZE", "SHOP_MAX_SIZE"])
def test_an_option_is_found_in_any_usual_spelling(app: App, asked: str) -> None:
    """With its default."""
    (found,) = app.navigator().symbols(asked)
    assert (found.node.path, found.node.start_line) == ("shop/cli.py", 2)
    assert found.node.signature == "parser.add_argument('--max-size', default=8)"


def test_a_flag_means_an_option_and_the_bare_name_code_first(app: App) -> None:
    """`name` is also a function."""
    assert [found.node.qualified_name for found in app.navigator().symbols("--name")] == ["--name"]
    assert [found.node.kind for found in app.navigator().symbols("name")][:1] == [SymbolKind.FUNCTION]


def test_a_search_for_a_flag_finds_where_it_is_declared(app: App) -> None:
    """By the bonus of a definition, which the function of that name does not get."""
    best, *others = app.search(SearchRequest("--name")).primary
    assert best.chunk.path == "shop/cli.py"
    assert "definition" in [factor.name for factor in best.factors]
    assert "definition" not in [factor.name for other in others for factor in other.factors]


def test_a_location_on_the_line_of_an_option_means_its_function(app: App) -> None:
    """The option is no place to trace calls from."""
    assert app.navigator().symbols("shop/cli.py:2")[0].node.qualified_name == "options"


def test_a_call_on_the_line_of_an_option_is_made_by_its_function(app: App) -> None:
    """Although the option has the name of the function."""
    (step,) = app.navigator().trace("limit", Direction.CALLERS, 1).steps
    assert (step.source.kind, step.source.qualified_name) == (SymbolKind.FUNCTION, "port")
