"""A query that is a name finds its definitions in a lexicographic order, in whatever notation it is written."""

from collections.abc import Iterator

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.model.search import SearchRequest
from tests.indexed import indexed

FILES = {
    "src/net/session.py": """\
        class Session:
            def send(self, packet):
                return packet


        def session(timeout):
            return Session()
        """,
    "src/net/adapter.py": """\
        class Adapter:
            def send(self, packet):
                return packet


        def Session(adapter):
            return adapter
        """,
    "src/commands.ts": """\
        export function setCommand(name: string): void;
        export function setCommand(name: string, value?: number): void {
            table[name] = value;
            log(name, value);
        }
        """,
    "types/client.d.ts": "export declare class Client {\n    connect(host: string): void;\n}\n",
    "src/client.ts": "export class Client {\n    connect(host: string): void {\n        open(host);\n    }\n}\n",
    "tests/client.ts": "export class Client {\n    connect(host: string): void {\n        fake(host);\n    }\n}\n",
    "src/Folder.java": """\
        class Folder {
            File newFolder(String name) {
                return make(name);
            }

            File newFolder(String name, int mode, Owner owner) {
                return make(name, mode, owner);
            }
        }
        """,
}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """An index of FILES."""
    with indexed(tmp_path_factory.mktemp("exact"), FILES) as app:
        yield app


def _found(app: App, query: str) -> list[str]:
    return [hit.chunk.path for hit in app.search(SearchRequest(query, limit=10)).primary]


@pytest.mark.parametrize(
    "query",
    [
        "Session.send",
        "Session::send",
        "Session#send",
        "session.send()",
        "net.session.Session.send",
        "Session.send(packet)",
    ],
)
def test_a_method_is_found_in_every_notation(app: App, query: str) -> None:
    """The method of the class that is named, before that of another class."""
    found = _found(app, query)
    assert found.index("src/net/session.py") < found.index("src/net/adapter.py")
    nodes = [node.node.qualified_name for node in app.navigator().symbols(query)]
    assert nodes == ["Session.send"]


@pytest.mark.parametrize("query", ["setCommand", "SetCommand", "set_command", "set-command", "function setCommand"])
def test_a_name_is_found_in_every_style(app: App, query: str) -> None:
    """The same words in camel case, with underscores or with hyphens are the same name."""
    assert _found(app, query)[0] == "src/commands.ts"
    assert {found.node.name for found in app.navigator().symbols(query)} == {"setCommand"}


@pytest.mark.parametrize("query", ["Session", "class Session"])
def test_a_type_comes_before_a_function_of_its_name(app: App, query: str) -> None:
    """A capitalised name means a type."""
    found = _found(app, query)
    assert found.index("src/net/session.py") < found.index("src/net/adapter.py")


@pytest.mark.parametrize("query", ["Client", "Client.connect"])
def test_an_implementation_comes_before_its_test_and_its_declaration(app: App, query: str) -> None:
    """A definition before a declaration, and an implementation before a test."""
    assert _found(app, query)[:3] == ["src/client.ts", "tests/client.ts", "types/client.d.ts"]


def test_parameters_tell_overloads_apart(app: App) -> None:
    """The overload that has the parameters which the query writes is first."""
    hits = app.search(SearchRequest("Folder#newFolder(String, int, Owner)", limit=3)).primary
    assert "mode" in hits[0].chunk.text
    lines = [found.node.start_line for found in app.navigator().symbols("Folder.newFolder(String, int, Owner)")]
    assert lines == [6]


def test_a_module_may_stand_before_a_name(app: App) -> None:
    """`net.Session`: folders and modules qualify a definition as its class does."""
    found = app.navigator().symbols("adapter.Session")
    assert [(one.node.path, one.node.qualified_name) for one in found] == [("src/net/adapter.py", "Session")]
