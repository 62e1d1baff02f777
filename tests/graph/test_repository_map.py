"""The repository map: what most of the code depends on comes first."""

from pathlib import Path
from textwrap import dedent

from graphrag_mcp.app.local import App
from graphrag_mcp.settings import load_settings

CORE = """\
    class Store:
        def put_record(self, key):
            return key

        def get_record(self, key):
            return key


    def open_store(path):
        return Store()
    """


def ranked(tmp_path: Path, files: dict[str, str]) -> list[str]:
    """Return the qualified names of the map of a project with these files."""
    root = tmp_path / "project"
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(dedent(text), encoding="utf-8")
    app = App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(tmp_path / "data")}))
    app.index()
    found = app.navigator().repository_map()
    app.close()
    return [node.qualified_name for node in found.nodes]


def users(count: int, line: str, imports: str = "from core import open_store") -> dict[str, str]:
    """Return modules that say a line each."""
    return {f"user_{number}.py": f"{imports}\n\n\ndef use_{number}():\n    {line}\n" for number in range(count)}


def test_the_most_used_definition_is_first(tmp_path: Path) -> None:
    """Whoever uses it: three files count more than one."""
    files = {"core.py": CORE, **users(3, "open_store('x')")}
    files["other.py"] = "def rare():\n    return 1\n"
    files["single.py"] = "from other import rare\n\n\ndef once():\n    return rare()\n"
    assert ranked(tmp_path, files)[:2] == ["open_store", "rare"]


def test_use_by_what_is_used_counts_more(tmp_path: Path) -> None:
    """PageRank: one mention by the file that everybody needs outweighs one by a file that nobody does."""
    files = {
        "core.py": "from deep import needed\n\n\ndef open_store(path):\n    return needed(path)\n",
        "deep.py": "def needed(path):\n    return path\n",
        **users(4, "open_store('x')"),
        "shallow.py": "def unneeded(path):\n    return path\n",
        "edge.py": "from shallow import unneeded\n\n\ndef corner():\n    return unneeded('x')\n",
    }
    names = ranked(tmp_path, files)
    assert names.index("needed") < names.index("unneeded")


def test_a_name_that_nobody_imports_counts_nothing(tmp_path: Path) -> None:
    """`start` may be anybody's: three calls by name alone are less than one import."""
    files = {
        "engine.py": "def start():\n    return 1\n",
        **users(3, "thread.start()", "import threading"),
        "core.py": CORE,
        "one.py": "from core import open_store\n\n\ndef one():\n    return open_store('x')\n",
    }
    assert ranked(tmp_path, files)[0] == "open_store"


def test_a_methods_worth_goes_to_its_type(tmp_path: Path) -> None:
    """A reader looks for the class; its outline has the methods."""
    line = "store: Store = make()\n    store.put_record(store.get_record('x'))"
    files = {"core.py": CORE, **users(3, line, "from core import Store")}
    names = ranked(tmp_path, files)
    assert names == ["Store"]


def test_tests_and_examples_have_no_say(tmp_path: Path) -> None:
    """They use everything; and are nothing that others depend on."""
    files = {"core.py": CORE, "tests/helpers.py": "def helper():\n    return 1\n"}
    for number in range(3):
        files[f"tests/test_{number}.py"] = "from tests.helpers import helper\n\n\ndef test():\n    assert helper()\n"
    assert ranked(tmp_path, files) == []
