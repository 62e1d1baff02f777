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
