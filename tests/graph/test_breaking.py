"""What a difference certainly breaks where a type stands for another: interfaces of Go, families of methods."""

import subprocess
from difflib import unified_diff
from pathlib import Path

import pytest

from graphrag_mcp.model.scope import EVERYTHING
from tests.indexed import indexed

PLAIN = """package store

type Counter interface{ Count(query string) int }

type Base struct{}

func (b *Base) Count(query string) int { return 0 }

type DB struct{ name string }

func (db *DB) Count(query string) int { return 1 }

type Below struct{ *Base }

func (b *Below) Count(query string) int { return 2 }

func run(c Counter) int {
\treturn c.Count("a")
}

func total(db *DB) int {
\tif db == nil {
\t\treturn 0
\t}
\treturn run(db)
}

var _, _ Counter = &Below{}, &DB{}
"""


def patch_of(path: str, old: str, new: str) -> str:
    """Return a patch of one file."""
    return "".join(unified_diff(old.splitlines(True), new.splitlines(True), f"a/{path}", f"b/{path}"))


def breaking(folder: Path, old: str, new: str, *, is_applied: bool = False, path: str = "store.go") -> set[str]:
    """Return what certainly breaks by a change of one file: of a patch, or of what is already written."""
    with indexed(folder, {path: old}) as app:
        if is_applied:
            author = ("-c", "user.name=a", "-c", "user.email=a@example.org")
            for command in (["init", "-q"], ["add", "."], [*author, "commit", "-qm", "x"]):
                subprocess.run(["git", "-C", str(app.root), *command], check=True)
            (app.root / path).write_text(new)
            app.index()
        affected = (
            app.navigator().difference("HEAD", "" if is_applied else patch_of(path, old, new), 2, EVERYTHING).affected
        )
        return {place.node.name for row in affected for place in row.breaks}


@pytest.mark.parametrize("change", ["", "func (db *DB) Count(query string, most int) int { return 1 }"])
@pytest.mark.parametrize("is_applied", [False, True])
def test_a_type_that_is_given_as_an_interface_breaks_without_its_method(
    tmp_path: Path, change: str, is_applied: bool
) -> None:
    """The compiler reports each place where the type is given; another type of the same method is none."""
    old, new = PLAIN, PLAIN.replace("func (db *DB) Count(query string) int { return 1 }", change)
    assert breaking(tmp_path, old, new, is_applied=is_applied) == {"total", "store.go"}


def test_what_an_embedded_type_has_takes_the_place_of_a_method(tmp_path: Path) -> None:
    new = PLAIN.replace("func (b *Below) Count(query string) int { return 2 }", "")
    assert breaking(tmp_path, PLAIN, new) == set()


def test_a_method_that_changes_together_with_the_interface_breaks_nothing(tmp_path: Path) -> None:
    new = PLAIN.replace("Count(query string) int", "Count(query string, most int) int")
    assert breaking(tmp_path, PLAIN, new) == {"run"}


FAMILY = """from abc import ABC, abstractmethod


class Backend(ABC):
    @abstractmethod
    def listed(self, *, deep: bool = False) -> set[str]: ...


class Pip(Backend):
    def listed(self, *, deep: bool = False) -> set[str]:
        return set()


class Uv(Backend):
    def listed(self, *, deep: bool = False) -> set[str]:
        return set()


def names(backend: Backend) -> set[str]:
    return backend.listed(deep=True)


def plain(backend: Backend) -> set[str]:
    return backend.listed()
"""


@pytest.mark.parametrize(("count", "broken"), [(3, {"names"}), (2, set()), (1, set())])
def test_a_call_breaks_if_nothing_that_it_may_run_takes_it(tmp_path: Path, count: int, broken: set[str]) -> None:
    """As long as one of the methods takes what is given, it may be that one."""
    assert breaking(tmp_path, FAMILY, FAMILY.replace("deep: bool", "whole: bool", count), path="names.py") == broken


def test_what_certainly_breaks_is_not_said_to_may_break_again(tmp_path: Path) -> None:
    new = FAMILY.replace("deep: bool", "whole: bool")
    with indexed(tmp_path, {"names.py": FAMILY}) as app:
        affected = app.navigator().difference("HEAD", patch_of("names.py", FAMILY, new), 2, EVERYTHING).affected
    assert len(affected) == 3
    assert {place.node.name for row in affected for place in row.may_break} == {"plain"}


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.go", 'package a\n\nimport (\n\t"bytes"\n\t"mime/multipart"\n)\n\nfunc A() {}\n'),
        ("a.go", 'package a\n\nimport "mime/multipart"\n\nfunc A() {}\n'),
        ("a.ts", 'import { A } from "mime/multipart"\n'),
        ("a.c", '#include "mime/multipart"\n'),
    ],
)
def test_another_file_may_go_on_importing_what_one_does_not_any_more(tmp_path: Path, path: str, code: str) -> None:
    with indexed(tmp_path, {path: code, "b.go": code, "c.go": 'package a\n\nvar Kind = "mime/multipart"\n'}) as app:
        new = code.replace('"mime/multipart"', '"mime"')
        difference = app.navigator().difference("HEAD", patch_of(path, code, new), 2, EVERYTHING)
    assert not difference.texts_left


MAKE = """def make(*backends, envdir, root=None):
    return backends


def one(name):
    return make(name, envdir="a")


def all_of(names, more):
    return (
        make(*names, envdir="a"),
        make("b", **more),
    )
"""


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        ("envdir, project, root=None", {"one"}),
        ("folder, root=None", {"one", "all_of"}),
        ("envdir, root=None, **more", set()),
        ("folder, root=None, **more", {"one"}),
        ("envdir, root", {"one"}),
    ],
)
def test_what_is_given_by_name_has_to_be_taken_and_given(tmp_path: Path, change: str, broken: set[str]) -> None:
    """Any number of arguments before does not take names, nor stand for those that must be given."""
    new = MAKE.replace("envdir, root=None", change)
    assert breaking(tmp_path, MAKE, new, path="make.py") == broken


BELOW = """class Base:
    def run(self, a):
        return a


class Low(Base):
    def run(self, a, b=0):
        return a


def main(base: Base):
    return base.run(1)
"""


@pytest.mark.parametrize("change", ["(self, a, c)", "(self)"])
def test_what_may_run_another_method_does_not_certainly_break(tmp_path: Path, change: str) -> None:
    """One below takes what is given, and a method of Python need not take what one above it takes."""
    new = BELOW.replace("(self, a)", change, 1)
    assert breaking(tmp_path, BELOW, new, path="base.py") == set()


GO_CHANGED = {
    "the method is declared elsewhere": (
        "func (db *DB) Count(query string) int { return 1 }\n\nfunc other() {}\n",
        "func other() {}\n\nfunc (db *DB) Count(query string) int { return 1 }\n",
    ),
    "the type has another one": ("type DB struct{ name string }", "type DB struct{ *Base }"),
    "what takes it changed": ("func run(c Counter) int {\n\treturn c.Count", "func run(c any) int {\n\treturn of"),
}


@pytest.mark.parametrize("change", GO_CHANGED.values(), ids=GO_CHANGED.keys())
def test_a_change_of_what_it_is_given_to_or_of_the_type_makes_it_unsure(
    tmp_path: Path, change: tuple[str, str]
) -> None:
    code = PLAIN.replace("int { return 1 }\n", "int { return 1 }\n\nfunc other() {}\n", 1)
    new = code.replace(*change)
    if "Count" not in change[1]:
        new = new.replace("func (db *DB) Count(query string) int { return 1 }\n", "")
    assert "total" not in breaking(tmp_path, code, new)


def test_a_result_of_another_name_may_be_the_same_type(tmp_path: Path) -> None:
    new = PLAIN.replace(
        "func (db *DB) Count(query string) int", "type Int = int\n\nfunc (db *DB) Count(query string) Int"
    )
    assert breaking(tmp_path, PLAIN, new) == set()


OVERRIDING = {
    "another one above": (
        (
            'class Base { public override string ToString() { return ""; } }\n'
            'class Low : Base { public override string ToString() { return ""; } }\n'
        ),
        "Base { public override string ToString()",
        "Base { public string ToString(int x)",
    ),
    "an explicit one": (
        (
            "interface IRun { void Walk(int a); }\n"
            "class A : IRun { void IRun.Walk(int a) {}\n  public void Walk(int a) {} }\n"
        ),
        "IRun { void Walk(int a)",
        "IRun { void Walk(int a, int b)",
    ),
    "a member of an interface": (
        "interface IRun { void Run(int a); }\ninterface IMore : IRun { new void Run(int a); }\n",
        "IRun { void Run(int a)",
        "IRun { void Run(int a, int b)",
    ),
}


@pytest.mark.parametrize(("code", "old", "new"), OVERRIDING.values(), ids=OVERRIDING.keys())
def test_only_what_must_override_the_changed_method_breaks(tmp_path: Path, code: str, old: str, new: str) -> None:
    with indexed(tmp_path, {"a.cs": code}) as app:
        patch = patch_of("a.cs", code, code.replace(old, new, 1))
        affected = app.navigator().difference("HEAD", patch, 2, EVERYTHING).affected
    broken = [place.node.signature for row in affected for place in row.breaks]
    assert all("IRun.Walk" in signature for signature in broken)


def test_of_a_trait_that_is_written_twice_it_is_not_certain_which_is_meant(tmp_path: Path) -> None:
    code = """#[cfg(feature = "a")]
pub trait T { fn run(&self, a: i32); }
#[cfg(not(feature = "a"))]
pub trait T { fn run(&self, a: i32); fn more(&self) {} }
struct A;
impl T for A { fn run(&self, a: i32) {} }
"""
    assert breaking(tmp_path, code, code.replace("a: i32", "a: i32, b: i32", 1), path="a.rs") == set()
