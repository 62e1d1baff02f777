"""A member that a type inherits, asked for as one of its own."""

from pathlib import Path

import pytest

from graphrag_mcp.errors import RequestError
from graphrag_mcp.tools.find_symbol import FIND_SYMBOL
from graphrag_mcp.tools.impact import IMPACT
from graphrag_mcp.tools.trace_relations import TRACE
from tests.indexed import indexed

PYTHON = {
    "base.py": "class Root:\n    def run(self):\n        return 1\n\n\nclass Base(Root):\n    pass\n",
    "child.py": "from base import Base\n\n\nclass Child(Base):\n    def own(self):\n        return self.run()\n",
}
TS = {"a.ts": "class Root { run() { return 1 } }\nclass Child extends Root {}\n"}
JAVA = {"a/Root.java": "package a;\nclass Root { int run() { return 1; } }\nclass Child extends Root {}\n"}
GO = {"a.go": "package a\n\ntype Root struct{}\n\nfunc (r Root) Run() {}\n\ntype Child struct{ Root }\n"}
RUBY = {"a.rb": "class Root\n  def run\n    1\n  end\nend\n\nclass Base < Root\nend\n\nclass Child < Base\nend\n"}
CPP = {"a.cpp": "class Root { public: int run() { return 1; } };\nclass Child : public Root {};\n"}


@pytest.mark.parametrize(
    ("files", "asked", "place"),
    [
        (PYTHON, "Child.run", "base.py:2-3  Root.run (inherited by Child)"),
        (TS, "Child#run", "a.ts:1-1  Root.run (inherited by Child)"),
        (JAVA, "Child.run()", "a/Root.java:2-2  Root.run (inherited by Child)"),
        (GO, "Child.Run", "a.go:5-5  Root.Run (inherited by Child)"),
        (RUBY, "Child.run", "a.rb:2-4  Root.run (inherited by Child)"),
        (CPP, "Child::run", "a.cpp:1-1  Root.run (inherited by Child)"),
    ],
)
def test_a_member_of_a_type_above_is_found_and_the_type_is_named(
    tmp_path: Path, files: dict[str, str], asked: str, place: str
) -> None:
    """In every tool, in a language with types and in one where names are compared."""
    with indexed(tmp_path, files) as app:
        for tool in (TRACE, FIND_SYMBOL, IMPACT):
            call = tool.read({"symbol": asked}, app.settings, app.root)
            assert place in tool.write(app.ask(tool.ask, call), call)


def test_what_no_type_above_has_is_not_found(tmp_path: Path) -> None:
    """Nor is a member of something that is no type."""
    with indexed(tmp_path, PYTHON) as app:
        for asked in ("Child.walk", "own.run", "Nothing.run"):
            with pytest.raises(RequestError, match="defines"):
                app.navigator().starts(asked)
