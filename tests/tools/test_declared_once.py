"""A function that a header declares and a source defines is one: in diffs, chains and traces; what a chain quotes."""

from collections.abc import Iterator, Mapping
from difflib import unified_diff
from typing import Any

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.tools.impact import IMPACT, impact_of_diff
from graphrag_mcp.tools.trace_relations import TRACE
from tests.indexed import indexed

FILES = {
    "buf.h": "int put(char *to, int size);\nint drop(char *to);\nint both(int a);\nint lonely(int a);\n"
    "#define PUT_ALL(to) put(to, 1)\n",
    "buf.c": '#include "buf.h"\n\nint put(char *to, int size) {\n  return to[size];\n}\n\nint drop(char *to) {\n'
    "  return to[0];\n}\n",
    "main.c": '#include "buf.h"\n\nint start(char *to) {\n  return put(to, 2);\n}\n\nint stop(char *to) {\n'
    "  return drop(to) + both(1);\n}\n",
    "unix/both.c": '#include "buf.h"\n\n\nint both(int a) {\n  return a;\n}\n',
    "win/both.c": '#include "buf.h"\nint both(int a) {\n  return -a;\n}\n',
    "tool.c": "static int lonely(int a) {\n  return a;\n}\nint run(void) {\n  return lonely(1);\n}\n",
    "far.c": '#include "buf.h"\nint far(void) {\n  return lonely(2);\n}\n',
    "Shapes.cs": """class Base {
  [Inline]
  [Fast(
    true)]
  public virtual int Draw() {
    return 1;
  }
}
class Round : Base {
  public override int Draw() {
    return Page.Third();
  }
}
class Page {
  public static int Show(Base one) {
    one.Draw();
    return First();
  }
  public static int First() { return Second(); }
  public static int Second() { return Next(); }
  public static int Next() { return Third(); }
  public static int Third() { return 3; }
}
""",
}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """A small program in C with a header, and one in a language with attributes."""
    with indexed(tmp_path_factory.mktemp("declared"), FILES) as app:
        yield app


def trace(app: App, **arguments: Any) -> str:
    """Return the answer to a trace or flow."""
    call = TRACE.read({key.rstrip("_"): value for key, value in arguments.items()}, app.settings, app.root)
    return TRACE.write(app.ask(TRACE.ask, call), call)


def impact(app: App, changes: Mapping[str, tuple[str, str]]) -> str:
    """Return the answer to a patch that replaces a text in each of some files."""
    patch = ""
    for path, (old, new) in changes.items():
        before, after = (text.splitlines(keepends=True) for text in (FILES[path], FILES[path].replace(old, new)))
        patch += "".join(unified_diff(before, after, f"a/{path}", f"b/{path}"))
    call = IMPACT.read({}, app.settings, app.root)
    return IMPACT.write(app.ask(impact_of_diff, call, patch), call)


def test_a_diff_of_a_header_and_its_source_is_counted_once(app: App) -> None:
    """The definition stands for both, and a place breaks once."""
    put, drop = ("int size)", "int size, int more)"), "int drop(char *to) {\n  return to[0];\n}\n"
    patched = FILES["buf.c"].replace(*put).replace(drop, "")
    declared = FILES["buf.h"].replace(*put).replace("int drop(char *to);\n", "")
    text = impact(app, {"buf.h": (FILES["buf.h"], declared), "buf.c": (FILES["buf.c"], patched)})
    assert ": 1 removed, 1 with another signature. Certainly broken outside the change: 3 places." in text
    assert "removed, public  buf.c:7  drop\n  breaks main.c:8  stop" in text
    assert "signature, public  buf.c:3  put" in text
    assert (text.count("breaks main.c:4"), text.count("breaks main.c:8"), text.count("buf.h")) == (1, 1, 1)
    assert "breaks buf.h:5  PUT_ALL" in text


def test_what_two_builds_define_breaks_each_place_once(app: App) -> None:
    """Both definitions are listed, the places are counted once."""
    paths = ("buf.h", "unix/both.c", "win/both.c")
    text = impact(app, dict.fromkeys(paths, ("both(int a)", "both(int a, int b)")))
    assert ": 2 with another signature. Certainly broken outside the change: 1 place." in text


def test_what_is_not_seen_outside_of_its_file_is_not_what_a_header_declares(app: App) -> None:
    """Both are listed, each with its own caller."""
    change = ("lonely(int a)", "lonely(int a, int b)")
    text = impact(app, {"buf.h": change, "tool.c": change})
    assert ": 2 with another signature." in text
    assert "breaks far.c:3" in text
    assert "lonely (means" not in trace(app, symbol="lonely")
    assert "buf.h:4-4  lonely, tool.c:1-3  lonely" in trace(app, symbol="lonely")


def test_a_declaration_alone_is_listed(app: App) -> None:
    """Of which nothing else changes."""
    assert ": 1 removed." in (text := impact(app, {"buf.h": ("int drop(char *to);\n", "")}))
    assert "buf.h:2  drop" in text


@pytest.mark.parametrize(("start", "line"), [("start", "buf.c:3"), ("PUT_ALL", "buf.c:3")])
def test_a_chain_ends_at_the_definition(app: App, start: str, line: str) -> None:
    """There is one chain, and no other end; also from a macro beside the declaration."""
    text = trace(app, from_=start, to="put")
    assert f"2 {line}  put" in text
    assert "also reaches" not in text
    assert "Other definitions" not in text
    assert "buf.h:1" not in text


def test_callers_mean_the_definition(app: App) -> None:
    """Without a word on which of the two is meant; a declaration stands for what several files define."""
    text = trace(app, symbol="put")
    assert text.startswith("2 callers of buf.c:3-5  put: 2 certain.")
    assert "means" not in text
    assert "put  buf.c:3-5" in trace(app, symbol="start", direction="callees")
    assert "stop (means buf.h:3-3)" in trace(app, symbol="both")
    assert "to both, both" not in trace(app, to="put")


def test_a_certain_chain_comes_before_a_shorter_doubtful_one(app: App) -> None:
    """All its calls are certain."""
    text = trace(app, from_="Page.Show", to="Page.Third")
    assert text.startswith("Page.Show reaches Page.Third: 4 certain.")
    assert "1 certain, 1 may call." in text


def test_what_has_no_line_of_its_own_quotes_the_name_and_no_attribute(app: App) -> None:
    """A call of a method may run that of a type below."""
    text = trace(app, from_="Base.Draw", to="Page.Third")
    assert "5 (may call): public virtual int Draw() {" in text.replace("  ", "")
    assert "(may call): [Inline]" not in text
