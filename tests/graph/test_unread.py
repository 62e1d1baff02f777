"""What may mean a definition in files whose code is not read for relations."""

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from graphrag_mcp.model.graph import Direction
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.tools.find_symbol import FIND_SYMBOL
from graphrag_mcp.tools.impact import IMPACT
from graphrag_mcp.tools.tool import Tool
from graphrag_mcp.tools.trace_relations import TRACE
from tests.indexed import indexed


def unread(folder: Path, files: Mapping[str, str], symbol: str, scope: Scope | None = None) -> list[str]:
    """Return the lines that are not read as code, which the callers of a definition may lack."""
    with indexed(folder, files) as app:
        found = app.navigator().trace(symbol, Direction.CALLERS, 1, scope or Scope())
        assert found.doubt.is_complete == (not found.doubt.unread)
        return [f"{path}:{line}" for path, line in sorted(found.doubt.unread)]


JAVA = "package app;\npublic class Money {\n  public static Money zero() { return null; }\n}\n"
TS = "export function show(m: string) { return m }\nfunction own() {}\nexport class Box { open() { own() } }\n"
PYTHON = "def build(x):\n    return x\n\nclass Shop:\n    def total(self):\n        return self.total()\n"
GO = "package shop\n\nfunc Total(n int) int { return n }\nfunc total(n int) int { return n }\n"


@pytest.mark.parametrize(
    ("files", "symbol", "found"),
    [
        ({"src/Money.java": JAVA, "src/A.kt": "fun a() = Money.zero()\n"}, "zero", ["src/A.kt:1"]),
        ({"src/Money.java": JAVA, "src/A.scala": "object A {\n  Money.zero() }\n"}, "zero", ["src/A.scala:2"]),
        ({"src/Money.java": JAVA, "b.gradle": "Money.zero()\n"}, "zero", ["b.gradle:1"]),
        ({"src/Money.java": JAVA, "src/a.clj": "(Money/zero)\n"}, "Money", ["src/a.clj:1"]),
        ({"src/Money.java": JAVA, "web/a.jsp": "<p>\n${Money.zero()}</p>\n"}, "zero", ["web/a.jsp:2"]),
        ({"src/app/Money.java": JAVA, "m.xml": '<bean class="app.Money"/>\n'}, "Money", ["m.xml:1"]),
        ({"a.ts": TS, "A.vue": "<script>\nimport { show } from './a'\n</script>\n"}, "show", ["A.vue:2"]),
        ({"a.ts": TS, "A.svelte": "<p>{show('x')}</p>\n"}, "show", ["A.svelte:1"]),
        ({"a.ts": TS, "A.astro": "---\nimport { show } from './a'\n---\n"}, "show", ["A.astro:2"]),
        ({"a.ts": TS, "a.component.html": '<b (click)="open()">x</b>\n'}, "open", ["a.component.html:1"]),
        ({"a.ts": TS, "serverless.yml": "f:\n  handler: src/a.show\n"}, "show", ["serverless.yml:2"]),
        ({"a.py": PYTHON, "n.ipynb": '{"source": [\n"build(1)\\n"\n]}\n'}, "build", ["n.ipynb:2"]),
        ({"a.py": PYTHON, "t/a.html": "<p>{{ shop.total() }}</p>\n"}, "total", ["t/a.html:1"]),
        ({"a.py": PYTHON, "t/a.txt.j2": "{% if total %}x{% endif %}\n"}, "total", ["t/a.txt.j2:1"]),
        ({"a.py": PYTHON, "pyproject.toml": '[project.scripts]\nb = "a:build"\n'}, "build", ["pyproject.toml:2"]),
        ({"a.py": PYTHON, "Procfile": "web: gunicorn a:build\n"}, "build", ["Procfile:1"]),
        ({"a.py": PYTHON, "b.py": "import a\ngetattr(a, 'build')(1)\n"}, "build", ["b.py:2"]),
        ({"a.py": PYTHON, "b.py": "def f(m):\n    m.setattr(\n        'a.Shop.total', 1)\n"}, "total", ["b.py:3"]),
        (
            {"src/Money.java": JAVA, "src/B.java": 'class B { Object a = f(Class.forName("app.Money")); }\n'},
            "Money",
            ["src/B.java:1"],
        ),
        ({"shop/a.go": GO, "b/b.go": 'package b\nfunc f() { v.MethodByName("Total") }\n'}, "Total", ["b/b.go:2"]),
        ({"a.ts": TS, "a.test.ts": "import { Box } from './a'\nvi.spyOn(box, 'open')\n"}, "open", ["a.test.ts:2"]),
        ({"shop/a.go": GO, "shop/b.s": "CALL Total(SB)\n"}, "Total", ["shop/b.s:1"]),
        ({"shop/a.go": GO, "p.tmpl": "{{ .Total }}\n"}, "Total", ["p.tmpl:1"]),
    ],
)
def test_a_line_that_may_mean_a_definition_is_counted(
    tmp_path: Path, files: Mapping[str, str], symbol: str, found: list[str]
) -> None:
    """In code of the same platform, templates, notebooks, entry points, and texts that a look-up is given."""
    assert unread(tmp_path, files, symbol) == found


@pytest.mark.parametrize(
    ("files", "symbol"),
    [
        ({"a.py": PYTHON, "README.md": "Call build(1), or `build`.\n", "docs/a.rst": "build(2)\n"}, "build"),
        ({"a.py": PYTHON, "c.yml": "build: yes\nname: build\nrun: make build\n"}, "a.py:1"),
        ({"a.py": PYTHON, "a.css": ".total { color: red }\n", "b.html": "<h1>The total</h1>\n"}, "total"),
        ({"a.py": PYTHON, "b.kt": "fun b() = build(1)\n", "c.vue": "<script>\nbuild(1)\n</script>\n"}, "build"),
        ({"a.py": PYTHON, "b.py": "x = {'build': 1}\nprint('build')\n"}, "build"),
        ({"src/Money.java": JAVA, "a.vue": "<script>\nzero()\n</script>\n", "a.kt": "// zero\n"}, "zero"),
        ({"src/Money.java": JAVA, "a.kt": 'val a = "zero"\nval b = "x/zero"\n'}, "zero"),
        ({"a.ts": TS, "A.vue": "<script>\nown()\n</script>\n"}, "own"),
        ({"shop/a.go": GO, "c/b.c": "int Total(int n);\n", "v.yaml": "- shop.Total\n"}, "Total"),
        ({"shop/a.go": GO, "p.tmpl": "{{ .total }}\n"}, "shop/a.go:4"),
    ],
)
def test_prose_keys_other_platforms_and_names_of_one_file_leave_an_answer_complete(
    tmp_path: Path, files: Mapping[str, str], symbol: str
) -> None:
    """They cannot call it."""
    assert unread(tmp_path, files, symbol) == []


def test_what_a_scope_hides_is_not_counted(tmp_path: Path) -> None:
    """Neither by its language nor by its path; without a scope it is."""
    files = {"a.ts": TS, "x/A.vue": "<script>\nshow()\n</script>\n"}
    assert unread(tmp_path / "a", files, "show", Scope(languages=frozenset(("typescript",)))) == []
    assert unread(tmp_path / "b", files, "show", Scope(paths=("/a.ts",))) == []
    assert unread(tmp_path / "c", files, "show") == ["x/A.vue:2"]


@pytest.mark.parametrize(
    ("tool", "arguments"), [(TRACE, {}), (IMPACT, {}), (FIND_SYMBOL, {}), (FIND_SYMBOL, {"body": True})]
)
def test_no_tool_says_complete_or_none_over_a_line_that_is_not_read(
    tmp_path: Path, tool: Tool, arguments: Mapping[str, object]
) -> None:
    """It names the lines in text, and counts them in JSON."""
    with indexed(tmp_path, {"a.ts": TS, "A.vue": "<script>\nshow()\n</script>\n"}) as app:
        call = tool.read({"symbol": "show", **arguments}, app.settings, app.root)
        found = app.ask(tool.ask, call)
        text = tool.write(found, call)
        assert "1 line in 1 file has the name in a text or in code without relations: A.vue:2" in text
        assert "Complete" not in text
        assert "no references" not in text
        assert "callers: none;" not in text
        if not arguments:
            assert '"unread": ["A.vue:2"]' in str(tool.json(found, call)).replace("'", '"')


def test_what_may_use_a_definition_that_is_removed_is_counted(tmp_path: Path) -> None:
    """In components as well, so that the answer about a change is not complete."""
    files = {"a.ts": TS, "A.vue": "<script>\nshow()\n</script>\n"}
    with indexed(tmp_path, files) as app:
        git = ("git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(app.root))
        for command in (("init", "-q"), ("add", "."), ("commit", "-qm", "x")):
            subprocess.run((*git, *command), check=True)
        (app.root / "a.ts").write_text("export class Box { open() {} }\n")
        app.index()
        call = IMPACT.read({}, app.settings, app.root)
        text = IMPACT.write(app.ask(IMPACT.ask, call), call)
    assert "removed" in text
    assert "1 line in 1 file has the name in a text or in code without relations: A.vue:2" in text
    assert "Complete" not in text


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.py", ("class Lamp:\n    def burn(self): ...\nclass Wick:\n    def burn(self): ...\n"
         "def one(wick: Wick, lamp: Lamp):\n    lamp.burn()\n    wick.burn()\n"), 7),
        ("a.go", ("package a\ntype Lamp int\nfunc (l Lamp) burn() {}\ntype Wick int\nfunc (w Wick) burn() {}\n"
         "func one(w Wick, l Lamp) {\n\tl.burn()\n\tw.burn()\n}\n"), 8),
        ("a.rb", ("class Lamp\n  def burn\n  end\nend\nclass Wick\n  def burn()\n  end\nend\n"
         "def one(wick)\n  wick.burn\nend\n"), 10),
    ],
)  # fmt: skip
def test_what_may_use_a_removed_method_is_found_though_another_one_has_its_name(
    tmp_path: Path, name: str, text: str, line: int
) -> None:
    """Where a call means the other one, it does not count; where the type is known, it is certain."""
    with indexed(tmp_path, {name: text}) as app:
        git = ("git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(app.root))
        for command in (("init", "-q"), ("add", "."), ("commit", "-qm", "x")):
            subprocess.run((*git, *command), check=True)
        removed = "burn()" if name != "a.py" else "burn(self)"
        (app.root / name).write_text(removed.replace("burn", "glow").join(_cut(text, removed)))
        app.index()
        call = IMPACT.read({}, app.settings, app.root)
        answer = IMPACT.write(app.ask(IMPACT.ask, call), call)
    word = "may break" if name == "a.rb" else "breaks"
    assert re.findall(rf"{word} \S+:(\d+)", answer) == [str(line)]
    assert "may break" in answer or name != "a.rb"


def _cut(text: str, removed: str) -> tuple[str, str]:
    """Return what is before and after the last definition of a method."""
    kept = text.rindex(removed, 0, text.index("one("))
    return text[:kept], text[kept + len(removed) :]


def test_a_call_in_a_line_that_does_not_parse_keeps_an_answer_from_being_complete(tmp_path: Path) -> None:
    """Also where the file mentions the name nowhere else."""
    with indexed(tmp_path, {"a.py": PYTHON, "b.py": "from a import *\ndef f(:\n    build(1\n"}) as app:
        doubt = app.navigator().trace("build", Direction.CALLERS, 1).doubt
        assert doubt.unparsed == {"b.py"}


@pytest.mark.parametrize(
    ("module", "manifest", "is_decided"),
    [
        ("@/adapter.js", "", False),
        ("~/lib/adapter", "", False),
        ("app/adapter", "", False),
        ("@acme/adapter", '{"peerDependencies": {"@acme/adapter": "1"}}', True),
        ("@acme/other", "", False),
        ("@acme/other", '{"dependencies": {"@acme/other": "1"}}', True),
    ],
)
def test_an_import_by_an_alias_that_no_file_explains_is_not_decided(
    tmp_path: Path, module: str, manifest: str, is_decided: bool
) -> None:
    """It may be the file that is called so; what a manifest requires is foreign."""
    files = {
        "lib/adapter.js": "export function adapt(x) { return x }\n",
        "page.js": f"import {{ adapt }} from '{module}'\nadapt(1)\n",
        "package.json": manifest or "{}",
    }
    with indexed(tmp_path, files) as app:
        assert app.navigator().trace("adapt", Direction.CALLERS, 1).doubt.is_complete == is_decided


@pytest.mark.parametrize(
    ("files", "symbol", "broken"),
    [
        (
            {"a.py": "import os\ndef build(): os.x()\n", "b.py": "from a import *\ndef f(:\n    build(1\n"},
            "build",
            "b.py",
        ),
        (
            {
                "a/a.go": 'package a\nimport "os"\nfunc Total() { os.Exit(1) }\n',
                "a/b.go": "package a\nfunc f( {\n Total(\n",
            },
            "Total",
            "a/b.go",
        ),
        (
            {
                "a/A.java": "package a;\nimport java.util.List;\nclass Money { List<String> all; }\n",
                "a/B.java": "package a;\nclass B { Money m( { new Money(\n",
            },
            "Money",
            "a/B.java",
        ),
    ],
)
def test_what_needs_no_export_is_named_by_other_files_whatever_its_own_imports(
    tmp_path: Path, files: Mapping[str, str], symbol: str, broken: str
) -> None:
    """So one of them that does not parse may call it."""
    with indexed(tmp_path, files) as app:
        assert app.navigator().trace(symbol, Direction.USERS, 1).doubt.unparsed == {broken}


ATTRIBUTES = """class A:
    __attrs__ = ['block', 'size']
    block: int = 1
    other: int = 2
    def state(self):
        return {one: getattr(self, one) for one in self.__attrs__}
"""


def test_a_name_in_quotes_may_be_looked_up_in_a_file_that_computes_names(tmp_path: Path) -> None:
    """A list of attributes, which `getattr` walks; a name in quotes elsewhere says nothing."""
    with indexed(tmp_path, {"a.py": ATTRIBUTES, "b.py": "print('block', 'other')\n"}) as app:
        found = {name: app.navigator().trace(f"A.{name}", Direction.READERS, 1).doubt for name in ("block", "other")}
    assert found["block"].unread == {("a.py", 2)}
    assert not found["other"].unread


@pytest.mark.parametrize(
    ("line", "is_counted"),
    [
        ('load("pkg.tasks", "run_later")', True),
        ("load('tasks',\n     'run_later')", True),
        ('JOBS = ["pkg.tasks.run_later"]', True),
        ('ENTRY = "pkg.tasks:run_later"', True),
        ('load("run_later")', False),
        ('load("pkg.others", "run_later")', False),
        ('print("tasks: run_later is slow")', False),
    ],
)
def test_a_function_that_a_text_names_with_its_module_may_be_called(
    tmp_path: Path, line: str, is_counted: bool
) -> None:
    """A name alone may be anything; with the module that defines it, it is looked up."""
    files = {"pkg/tasks.py": "def run_later(): ...\n", "app.py": f"def load(*names): ...\n{line}\n"}
    with indexed(tmp_path, files) as app:
        doubt = app.navigator().trace("run_later", Direction.CALLERS, 1).doubt
    assert (bool(doubt.unread), doubt.is_complete) == (is_counted, not is_counted)


@pytest.mark.parametrize(
    ("lookup", "symbol", "found"),
    [
        ('getattr(self, f"_show_{kind}", None)', "_show_time", ["a.py:3"]),
        ('getattr(self, "_show_" + kind)', "_show_time", ["a.py:3"]),
        ('getattr(self, "_show_%s" % kind)', "_show_time", ["a.py:3"]),
        ('getattr(self, f"_hide_{kind}")', "_show_time", []),
        ('text(self, f"_show_{kind}")', "_show_time", []),
    ],
)
def test_a_member_whose_name_code_composes_may_be_used(
    tmp_path: Path, lookup: str, symbol: str, found: list[str]
) -> None:
    """By the beginning of the name; where no function looks members up, a text is a text."""
    code = f"class Bar:\n    def show(self, kind):\n        return {lookup}\n\n    def _show_time(self): ...\n"
    assert unread(tmp_path, {"a.py": code}, symbol) == found
