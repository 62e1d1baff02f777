"""Which tests a change reaches, and how they are run."""

from pathlib import Path

from graphrag_mcp.app.local import App
from graphrag_mcp.tools.impact import IMPACT
from tests.graph.test_unread import indexed

FILES = {
    "shop/price.py": "def price():\n    return 1\n",
    "tests/helpers.py": """from shop.price import price


def make():
    return price()


def build():
    return make()
""",
    "tests/test_price.py": "from tests.helpers import build\n\n\ndef test_price():\n    assert build() == 1\n",
}
DEEP = {
    "shop/price.py": """def price():
    return 1


def total():
    return price()


def bill():
    return total()
""",
    "tests/test_near.py": "from shop.price import price\n\n\ndef test_near():\n    assert price() == 1\n",
    "tests/test_far.py": "from shop.price import bill\n\n\ndef test_far():\n    assert bill() == 1\n",
}


def _impact(app: App, hops: int) -> str:
    call = IMPACT.read({"symbol": "price", "hops": hops}, app.settings, app.root)
    return IMPACT.write(IMPACT.ask(app, call), call)


def test_what_helps_tests_costs_no_hop(tmp_path: Path) -> None:
    """However many helpers stand between a test and the code, it is as near as they are."""
    with indexed(tmp_path, FILES) as app:
        assert "pytest tests/test_price.py::test_price" in _impact(app, 1)


def test_where_the_walk_ends_whole_files_are_run(tmp_path: Path) -> None:
    """A test further away may be in the same file as one that is near."""
    with indexed(tmp_path, DEEP) as app:
        assert "pytest tests/test_near.py\n" in _impact(app, 1)
        assert "tests/test_near.py::test_near" in _impact(app, 3)
