"""What a name means where several could be meant, and what follows from it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from textwrap import dedent

import pytest

from graphrag_mcp.app import App
from graphrag_mcp.model import Resolution
from graphrag_mcp.navigation.navigator import Navigator
from graphrag_mcp.results import Scope
from graphrag_mcp.settings import load_settings

Open = Callable[[dict[str, str]], Navigator]


@pytest.fixture
def navigate(tmp_path: Path) -> Iterator[Open]:
    """Index a project of these files; returns what answers questions about it."""
    with ExitStack() as opened:

        def open_project(files: dict[str, str]) -> Navigator:
            root = tmp_path / f"project{len(list(tmp_path.iterdir()))}"
            for path, text in files.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(dedent(text), encoding="utf-8")
            settings = load_settings(root, {"GRAPHRAG_DATA_DIR": str(tmp_path / f"data-{root.name}")})
            app = opened.enter_context(closing(App(root, settings)))
            app.index()
            return app.navigator()

        yield open_project


def reached(navigator: Navigator, symbol: str, hops: int = 3) -> dict[str, Resolution]:
    """Return what a change reaches, and how the last step to it was settled."""
    found = navigator.impact(symbol, hops, Scope())
    return {one.node.qualified_name: one.edge.resolution for one in (*found.reached, *found.tests)}


@pytest.mark.parametrize("copies", [0, 1, 5, 9])
def test_archived_copies_are_no_rivals_of_what_is_in_use(navigate: Open, copies: int) -> None:
    """From either side of the call, however many there are."""
    files = {
        "app/work.py": "def lonely():\n    return 1\n",
        "app/uses.py": "def uses():\n    return lonely()\n",
        "app/top.py": "def top():\n    return uses()\n",
    }
    files |= {f".archive/old{number}.py": "def lonely():\n    return 0\n" for number in range(copies)}
    navigator = navigate(files)
    assert reached(navigator, "app/work.py::lonely") == {"uses": Resolution.NAME, "top": Resolution.NAME}


def test_a_module_that_two_files_may_be_is_no_certain_import(navigate: Open) -> None:
    """Also where the name has so many definitions that only imports can tell them apart."""
    files = {f"more/other{number}.py": "def run():\n    return 1\n" for number in range(5)}
    files |= {"a/utils.py": "def run():\n    return 1\n", "b/utils.py": "def run():\n    return 2\n"}
    navigator = navigate(files | {"app.py": "from utils import run\n\n\ndef caller():\n    return run()\n"})
    for path in ("a/utils.py", "b/utils.py"):
        assert reached(navigator, f"{path}::run", 1).get("caller") is Resolution.CANDIDATES


def test_a_sure_way_replaces_a_guess_that_was_shorter(navigate: Open) -> None:
    """And what lies behind it is reached as well."""
    navigator = navigate(
        {
            "pk/a.py": "def save():\n    return 1\n",
            "pk/z.py": "def save():\n    return 2\n",
            "pk/b.py": "from pk.a import save\n\n\ndef middle():\n    return save()\n",
            "pk/c.py": "from pk.b import middle\n\n\ndef user(obj):\n    middle()\n    obj.save()\n",
            "pk/d.py": "from pk.c import user\n\n\ndef main():\n    user(None)\n",
        }
    )
    found = navigator.impact("pk/a.py::save", 3)
    ways = {one.node.qualified_name: (one.via.qualified_name, one.hops, one.is_guess) for one in found.reached}
    assert ways["user"] == ("middle", 2, False)
    assert ways["main"] == ("user", 3, False)


@pytest.mark.parametrize("hops", [1, 2])
def test_only_hops_that_were_not_taken_are_more(navigate: Open, hops: int) -> None:
    """All callers of a function that hundreds call are there, and nobody is asked for fewer hops than one."""
    callers = "".join(f"def caller_{number}():\n    return base()\n\n\n" for number in range(450))
    navigator = navigate(
        {"base.py": "def base():\n    return 1\n", "callers.py": f"from base import base\n\n\n{callers}"}
    )
    found = navigator.impact("base", hops)
    assert len(found.reached) >= 450
    assert found.is_cut == (hops > 1)


@pytest.mark.parametrize("name", ["Version 1.2.3", "C# bindings", "Input/Output", "docs/notes.md#Input/Output"])
def test_a_heading_is_found_by_what_it_says(navigate: Open, name: str) -> None:
    """Whatever separates the names of code may stand in it."""
    text = "# Notes\n\n## Version 1.2.3\n\nA fix.\n\n## C# bindings\n\nNew.\n\n## Input/Output\n\nFiles.\n"
    (found,) = navigate({"docs/notes.md": text}).symbols(name)
    assert found.node.name == name.rpartition("md#")[2]
