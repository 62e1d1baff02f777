"""Nesting and chains of any depth: the file is read in time, and no stage fails but by a limit that is checked."""

import multiprocessing
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

from graphrag_mcp.index.prepare import Job, Prepared, prepare
from graphrag_mcp.model.expressions import MAX_DEPTH, UNKNOWN, parse, parse_strictly
from graphrag_mcp.model.facts import FileFacts, unpack
from graphrag_mcp.parsing.parser import parse_file

Form = Callable[[int], str]
Said = list[tuple[str, str, float]]  # The name of a form, what is said of its file, and the seconds it took.


def _nested(before: str, opening: str, core: str, closing: str, after: str = "") -> Form:
    return lambda n: f"{before}{opening * n}{core}{closing * n}{after}\n"


def _chain(before: str, member: str, after: str = "") -> Form:
    return _nested(before, member, "", "", after)


ECMA = {
    "or": _chain("const x = a", " || b", ";"),
    "ternaries": _chain("const x = ", "a ? b : ", "c;"),
    "calls": _chain("const x = a", ".f()", ";"),
    "calls in lines": _chain("const x = a", "\n  .f(1)", ";"),
    "optional members": _chain("const x = a", "?.b", ";"),
    "subscripts": _chain("const x = a", "[0]", ";"),
    "arguments": _nested("const x = ", "f(", "", ")"),
    "creations": _nested("const x = ", "new A(", "", ")"),
    "arrays": _nested("const x = ", "[", "", "]"),
    "objects with functions": _nested("const x: A = ", "{a: ", "() => b", "}"),
    "patterns": _nested("const ", "{a: ", "b", "}", " = c;"),
    "closures": _chain("const x = ", "() => ", "1;"),
    "classes": _nested("", "class A { m() {", "", "}}"),
    "mixins": _nested("class A extends ", "M(", "B", ")", " {}"),
    "alternatives": _chain("if (a) {}", " else if (b) {}"),
}
TYPES = {
    "union": _chain("export type U = A", ' | "b"', ";"),
    "union in lines": _chain("export type U =\n  A", '\n  | "b"', ";"),
    "intersection": _chain("export type U = A", " & B", ";"),
    "generics": _nested("let x: ", "A<", "B", " >", ";"),
    "function types": _nested("type U = ", "(...a: ", "B", ") => A", ";"),
    "look-ups": _chain("type U = A", '["a"]', ";"),
}
FORMS: dict[str, dict[str, Form]] = {
    "js": ECMA,
    "ts": ECMA | TYPES,
    "tsx": {"elements": _nested("const x = ", "<a>", "", "</a>"), "union": TYPES["union"]},
    "py": {
        "and": _chain("x = (a", " and b", ")"),
        "sum in lines": _chain("x = (a", "\n  + 'b'", ")"),
        "calls": _chain("x = a", ".f()"),
        "dictionaries": _nested("x = ", "{1: ", "1", "}"),
        "subscripts": _nested("x = ", "a[", "0", "]"),
        "quoted union": _chain("x: 'A", " | B", "' = 1"),
        "annotation": _nested("def f(a: ", "List[", "int", "]", "): pass"),
        "targets": _nested("", "(", "a", ",)", " = b"),
        "branches": _chain("if a:\n    pass\n", "elif b:\n    pass\n"),
        "handlers": _chain("try:\n    pass\n", "except A as e:\n    pass\n"),
    },
    "go": {
        "calls": _chain("package a\nvar x = a", ".F()"),
        "function types": _chain("package a\nvar x ", "func() ", "int"),
        "variadic functions": _nested("package a\nfunc f(", "x ...func(", "x int", ")", ") {}"),
        "maps": _chain("package a\nvar x ", "map[string]", "int"),
        "literals": _nested("package a\nvar x = ", "[]T{", "1", "}"),
        "templates": _nested("package a\nvar x = `", "{{ .Name }}", "", "", "`"),
    },
    "java": {
        "ternaries": _chain("class A { int x = ", "a ? b : ", "c; }"),
        "fields": _chain("class A { int x = a", ".b", "; }"),
        "arguments": _nested("class A { int x = ", "f(", "", ")", "; }"),
        "wildcards": _nested("class A { ", "A<? extends ", "B", "> ", " x; }"),
    },
    "rs": {"calls": _chain("fn f() { a", ".f()", "; }"), "blocks": _nested("fn f() ", "{", "", "}")},
    "c": {"initializers": _nested("int x = ", "{", "1", "}", ";"), "conditions": _chain("", "#ifdef A\n"),
          "constants in conditions": _chain("", "#ifdef A\nconst int a = 1;\n")},
    "cpp": {"namespaces": _nested("", "namespace a {", "", "}"), "templates": _nested("", "A<", "B", "> ", " x;")},
    "cs": {"types": _nested("", "class A {", "", "}"), "calls": _chain("class A { int x = a", ".F()", "; }")},
    "rb": {"blocks": _nested("", "f do\n", "", "end\n"), "heredocs": _chain("x = <<A", "\nb", "\nA")},
    "php": {"calls": _chain("<?php $a", "->f()", ";"), "arrays": _nested("<?php $x = ", "[", "", "]", ";")},
    "kt": {"lambdas": _nested("val x = ", "f {", "", "}"), "members": _chain("val x = a", ".b")},
    "swift": {"closures": _nested("let x = ", "f {", "", "}"), "optionals": _chain("let x: A", "?")},
    "scala": {"functions": _chain("val x = ", "a => ", "a"), "types": _nested("val x: ", "A[", "B", "]", " = 1")},
    "sql": {
        "parentheses": _nested("SELECT ", "(", "1", ")", ";"),
        "queries": _nested("SELECT * FROM ", "(SELECT * FROM ", "a", ") x", ";"),
        "cases": _nested("SELECT ", "CASE WHEN a THEN ", "1", " END", ";"),
        "unions": _chain("SELECT 1", " UNION SELECT 1", ";"),
        "joins": _chain("SELECT * FROM a", " JOIN b ON true", ";"),
        "quotes": _chain("SELECT $a$", " $b$", ";"),
    },
    "sh": {"substitutions": _nested("x=", "$(", "a", ")"), "pipes": _chain("a", " | b")},
    "lua": {"tables": _nested("x = ", "{", "", "}"), "strings": _chain("x = a", " .. 'b'")},
    "ex": {"modules": _nested("", "defmodule A do\n", "", "end\n"), "pipes": _chain("x", " |> f()")},
    "hs": {"parentheses": _nested("x = ", "(", "a", ")"), "arrows": _chain("f :: A", " -> A")},
    "zig": {
        "calls": _chain("const x = a", ".f()", ";"),
        "structures": _nested("const A = ", "struct { const A = ", "1", "; }", ";"),
    },
    "json": {"lists": _nested("", "[", "", "]"), "objects": _nested("", '{"a":', "1", "}")},
    "yaml": {"blocks": _chain("", "- ", "a"), "flows": _nested("a: ", "[", "", "]")},
    "toml": {"keys": _chain("a", ".b", " = 1"), "lists": _nested("a = ", "[", "", "]")},
    "md": {"quotes": _chain("", "> ", "a"), "links": _nested("", "[", "a", "](b)"), "headings": _chain("", "# a\n")},
}  # fmt: skip
CASES = [(ending, name) for ending, forms in FORMS.items() for name in forms]


def _facts(path: str, text: str) -> FileFacts:
    code = parse_file(path, text.encode()).code
    assert code is not None
    return unpack(code.data)


def _prepare(folder: Path, ending: str, members: int) -> Said:
    """Return what is said of a file of each form of a language."""
    found = []
    for name, form in FORMS[ending].items():
        path = folder / f"deep.{ending}"
        path.write_text("\n" + form(members))
        started = time.thread_time()
        outcome = prepare(Job(folder, path.name, 1, 1, 1, "recipe", None, None, 20_000_000))
        said = (
            str(outcome.rows.columns[3]) if isinstance(outcome, Prepared) and outcome.rows.chunks else "it is not found"
        )
        found.append((name, said, time.thread_time() - started))
    return found


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Callable[[Path, str, int], Said]]:
    """Prepare files in another process; one that has ended is followed by a new one."""

    def start() -> ProcessPoolExecutor:
        return ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))

    def prepare_there(folder: Path, ending: str, members: int) -> Said:
        try:
            return pools[-1].submit(_prepare, folder, ending, members).result()
        except BrokenProcessPool:
            pools.append(start())
            raise

    pools = [start()]
    yield prepare_there
    for pool in pools:
        pool.shutdown()


@pytest.mark.slow
@pytest.mark.parametrize("members", [150, 400, 3_000, 100_000])
@pytest.mark.parametrize("ending", FORMS)
def test_no_depth_ends_a_process_or_a_stage(
    elsewhere: Callable[[Path, str, int], Said], ending: str, members: int, tmp_path: Path
) -> None:
    """A file is found; it lacks its syntax or keys only where a limit says so."""
    for name, said, seconds in elsewhere(tmp_path, ending, members):
        failed = said.partition("failed: ")[2]
        assert "Error at" not in failed, (name, failed)
        assert "not found" not in said, name
        assert seconds < 20, name


@pytest.mark.parametrize(("ending", "name"), [case for case in CASES if case[0] in ("ts", "js", "py", "go", "java")])
def test_what_is_too_deep_is_unknown(ending: str, name: str) -> None:
    """The facts of the rest of the file are read, and each expression can be."""
    parsed = parse_file(f"deep.{ending}", (FORMS[ending][name](250) + "\n" * 100).encode())
    assert not parsed.failures
    assert parsed.code is not None
    facts = unpack(parsed.code.data)
    texts = {one.value for one in (*facts.bound, *facts.declared, *facts.flows)}
    for text in (texts | {one.receiver for one in facts.mentions}) - {""}:
        assert parse(text) == UNKNOWN or parse(text) == parse_strictly(text)
        assert len(text) > MAX_DEPTH or parse_strictly(text)


def test_a_union_of_hundreds_of_types_is_read() -> None:
    """Such as the names of icons: it nests to the left in the syntax only."""
    facts = _facts("a.ts", "export type U = A0" + "".join(f" | A{n}" for n in range(1, 300)) + ";\n")
    assert facts.declared[0].value.count("|") == 299


@pytest.mark.parametrize(
    "line",
    ["const x = %s;", "f(%s);", "class A { a = %s }", "function f(a = %s) {}", "const o = { a: %s };", "%s.a();"],
)
def test_a_const_assertion_is_the_value_itself(line: str) -> None:
    """The old spelling of `as const`, wherever a value may be."""
    assert not parse_file("a.ts", (line % "(<const>{ a: 1 })").encode()).failures
    assert not parse_file("a.ts", (line % "<const>[b]").encode()).failures


def test_a_value_of_a_const_assertion_is_known() -> None:
    """What is asserted to be constant is what it is."""
    assert [one.value for one in _facts("a.ts", "const x = <const>a;\n").declared] == ["a"]
