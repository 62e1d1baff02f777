"""Values in languages that record no uses of them: the lines that have their names."""

import json
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.model.files import RelationKind
from graphrag_mcp.model.graph import Certainty, Direction
from graphrag_mcp.settings import load_settings
from graphrag_mcp.tools.trace_relations import TRACE
from tests.graph.test_relations import ask, rows

C = {
    "limits.h": "#define DEPTH 20\n#define TWICE (DEPTH * 2)\nextern int depth_of(int DEPTH_OF);\n",
    "stack.h": "/* The depth: entries. */\nstruct stack {\n  int entries;\n  int other;\n};\n",
    "stack.c": """#include "limits.h"
#include "stack.h"
#include "entries.h"
// DEPTH is the limit of entries.
int push(struct stack *s) {
  if (s->entries >= DEPTH)
    return fail("DEPTH of entries");
  s->entries++;
  s->table[s->entries] = s->other;
  return s->entries = s->entries + 1;
}
void clear(struct stack *s) {
  s->entries = 0;
  struct stack t = {.entries = 1, .other = DEPTH};
  reset(&s->entries);
  s->entries += 2;
}
#if DEPTH > 3
#endif
""",
    "use.py": "DEPTH = 3\nprint(DEPTH)\n",
}
CSHARP = {
    "Options.cs": """class Options {
    public Options Options { get; set; }
    public Func<int> Maker { get; set; }
    public string Title => inner.Title;
}
class Use {
    Options made = new Options { Maker = Make };
    int Run(Options o) { return o.Maker(); }
    string Name(Options o) { return nameof(o.Title) + $"{o.Title}" + "Title"; }
}
""",
}
RUST = {
    "lib.rs": "use crate::sizes::MOST;\npub struct Box { size: u8 }\n"
    "fn make(size: u8) -> Box {\n    Box { size }\n}\nfn full(b: &mut Box) -> bool {\n    b.size = MOST;\n"
    "    b.size == MOST\n}\n",
    "sizes.rs": "pub const MOST: u8 = 9;\n",
}
AREA = {
    "a.rs": "trait Area { fn area(&self); }\nstruct B;\nenum Kind { Area }\nimpl Area for B { fn area(&self) {} }\n"
    "fn kind() -> Kind {\n    Kind::Area\n}\n"
}

RUBY = {
    "store.rb": "class Store\n  MOST = 3\n  attr_accessor :most\n  class Shelf\n    def fill\n      put(MOST)\n"
    "      @most = 2\n    end\n  end\nend\n"
}


@pytest.mark.parametrize(
    ("files", "symbol", "direction", "lines"),
    [
        (C, "limits.h::DEPTH", Direction.USERS, ["limits.h:2", "stack.c:14", "stack.c:18", "stack.c:6"]),
        (C, "stack.entries", Direction.WRITERS, [f"stack.c:{line}" for line in (10, 13, 14, 16, 8)]),
        (C, "stack.entries", Direction.READERS, [f"stack.c:{line}" for line in (10, 15, 16, 6, 8, 9)]),
        (C, "stack.entries", Direction.CALLERS, [f"stack.c:{line}" for line in (10, 13, 14, 15, 16, 6, 8, 9)]),
        (C, "use.py::DEPTH", Direction.USERS, ["use.py:2"]),
        (CSHARP, "Options.Title", Direction.USERS, ["Options.cs:4", "Options.cs:9"]),
        (CSHARP, "Options.Maker", Direction.USERS, ["Options.cs:7", "Options.cs:8"]),
        (CSHARP, "Options.Maker", Direction.WRITERS, ["Options.cs:7"]),
        (RUST, "Box.size", Direction.WRITERS, ["lib.rs:4", "lib.rs:7"]),
        (RUST, "Box.size", Direction.READERS, ["lib.rs:3", "lib.rs:4", "lib.rs:8"]),
        (RUST, "MOST", Direction.USERS, ["lib.rs:1", "lib.rs:7", "lib.rs:8"]),
        (RUBY, "Store.MOST", Direction.USERS, ["store.rb:6"]),
        (RUBY, "Store.most", Direction.USERS, []),
        (AREA, "Kind.Area", Direction.USERS, ["a.rs:6"]),
    ],
)
def test_lines_with_the_name_of_a_value_are_listed(
    tmp_path: Path, files: Mapping[str, str], symbol: str, direction: Direction, lines: list[str]
) -> None:
    """In code only, without definitions; by their syntax it is told whether they set it."""
    assert sorted({row.split()[0] for row in rows(tmp_path, files, symbol, direction)}) == lines


def test_a_line_with_the_name_is_never_certain_and_stands_under_what_has_it(tmp_path: Path) -> None:
    """What is recorded stays, and is not listed twice."""
    found = ask(tmp_path, C, "stack.entries", Direction.USERS)
    assert {step.edge.certainty for step in found.steps} == {Certainty.BY_NAME}
    assert {(step.source.qualified_name, step.edge.relation) for step in found.steps} == {
        ("push", RelationKind.USES), ("push", RelationKind.WRITES),
        ("clear", RelationKind.USES), ("clear", RelationKind.WRITES),
    }  # fmt: skip
    assert rows(tmp_path, CSHARP, "Options.Maker", Direction.USERS) == ["Options.cs:8 certain", "Options.cs:7 by name"]
    found = ask(tmp_path, AREA, "Kind.Area", Direction.USERS)
    assert found.doubt.others == {("a.rs", 4)}
    assert found.naming is not None
    assert found.naming.other_definitions == 1


def answer(folder: Path, files: Mapping[str, str], **arguments: object) -> str:
    """Return what the tool answers of some files."""
    root = folder / "project"
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    with closing(App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(folder / "data")}))) as app:
        app.index()
        call = TRACE.read(arguments, app.settings, app.root)
        found = app.ask(TRACE.ask, call)
        assert TRACE.is_empty(found) is ("o line" in TRACE.text(found, call).partition("\n")[0])
        return TRACE.write(found, call)


def test_the_first_line_counts_the_lines(tmp_path: Path) -> None:
    """It does not say that there is none, unless no line has the name."""
    head, *shown, left_out, last = answer(tmp_path, C, symbol="stack.entries", direction="writers").splitlines()
    where = "stack.h:3-3  stack.entries"
    assert head == f"5 lines of code set what has the name of {where}, by name only."
    assert shown[:3] == ["stack.c", "  push (by name only)", "    8: s->entries++;"]
    assert left_out.startswith("3 more lines have the name and do not plainly set it;")
    assert last.startswith("Not all uses of values are recorded in this language: names were compared in its code,")
    assert answer(tmp_path, C, symbol="stack.entries", direction="readers").splitlines()[-2].startswith("2 more lines")
    said = answer(tmp_path, {**C, "b.h": "struct queue {\n  int entries;\n};\n"}, symbol="entries", direction="users")
    assert "the same for 2 definitions" in said
    assert "1 more definition has the name" in answer(tmp_path, {}, symbol="queue.entries", direction="users")
    none = answer(tmp_path, {"c.h": "#define UNUSED 1\n"}, symbol="UNUSED", direction="users")
    assert none.startswith("No line of code has the name of c.h:1-1  UNUSED.\n")
    found = json.loads(answer(tmp_path, {}, symbol="stack.other", direction="users", response_format="json"))
    assert found["naming"] == {"lines": 2, "left_out": 0, "other_definitions": 0}
    assert [row["lines"] for row in found["rows"]] == [[9], [14]]


def test_what_is_recorded_is_counted_first(tmp_path: Path) -> None:
    """A call of a property looks like any other call."""
    head = answer(tmp_path, CSHARP, symbol="Options.Maker", direction="users").partition("\n")[0]
    assert head.endswith("Options.Maker: 1 certain; 1 other line of code has the name, by name only.")


def test_many_lines_are_cut_and_hostile_ones_take_little_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Deep nesting, one long line, and many lines with the name."""
    deep = "int deep = " + "(" * 3_000 + "LIMIT" + ")" * 3_000 + ";\n"
    nested = "".join(f"int n{n} = {'(' * 900}LIMIT{')' * 900};\n" for n in range(50))
    lines = "".join(f"int v{n} = LIMIT;\n" for n in range(400))
    files = {"a.c": "#define LIMIT 1\n" + lines, "b.c": deep + nested, "c.c": f"int w = {'LIMIT + ' * 50_000}1;\n"}
    begun = time.monotonic()
    found = ask(tmp_path, files, "LIMIT", Direction.USERS)
    assert time.monotonic() - begun < 30
    assert found.naming is not None
    assert found.naming.lines == 452
    assert not found.doubt.is_cut
    monkeypatch.setattr("graphrag_mcp.graph.naming.MOST_LINES", 100)
    found = ask(tmp_path, files, "LIMIT", Direction.USERS)
    assert found.naming is not None
    assert found.naming.lines == 99
    assert found.doubt.is_cut


PARTS = {
    "a.c": "int n;\nint a[9];\nvoid f(void) {\n  (n) = 4;\n  a[n] = 3;\n}\n",
    "a.cs": "class A {\n  int n;\n  void F() {\n    (n, x) = (1, 2);\n    n[0] = 3;\n    y = n;\n  }\n}\n",
    "a.php": "<?php\nclass A {\n  private $n;\n  function f() {\n    [$this->n, $x] = [1, 2];\n"
    "    $y = \"{$this->n} $this->n\";\n    $this->n['a'] = 3;\n  }\n}\n",
    "a.rs": "struct A { n: u8 }\nimpl A { fn f(&mut self) {\n  (self.n, x) = (1, 2);\n  self.n[0] = 3;\n} }\n",
}


@pytest.mark.parametrize(
    ("file", "writers", "readers"),
    [("a.c", [4], [5]), ("a.cs", [4, 5], [5, 6]), ("a.php", [5, 7], [6, 7]), ("a.rs", [3, 4], [4])],
)
def test_a_target_may_be_a_part_of_another_one(
    tmp_path: Path, file: str, writers: list[int], readers: list[int]
) -> None:
    """One of several, in parentheses, or a collection of which an element is set; also in a string."""
    for direction, lines in ((Direction.WRITERS, writers), (Direction.READERS, readers)):
        found = rows(tmp_path, {file: PARTS[file]}, "n", direction)
        assert sorted({int(row.split()[0].rpartition(":")[2]) for row in found}) == lines


@pytest.mark.parametrize("direction", ["readers", "writers", "users"])
def test_a_line_behind_the_end_that_was_indexed_is_in_its_file(tmp_path: Path, direction: str) -> None:
    """A file may have grown since: none of the lines that are counted is left out."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.c").write_text("int limit;\nvoid set(void) { limit = limit + 1; }\n")
    with closing(App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(tmp_path / "data")}))) as app:
        app.index()
        with (root / "a.c").open("a") as file:
            file.write("\n\n\nvoid more(void) { limit += limit; }\n")
        call = TRACE.read({"symbol": "limit", "direction": direction}, app.settings, app.root)
        assert "    6: void more(void) { limit += limit; }" in TRACE.write(app.ask(TRACE.ask, call), call)
