"""Types of Go that may have methods from foreign types which they embed, and the interfaces as which they are given."""

import subprocess
from difflib import unified_diff
from pathlib import Path

import pytest

from graphrag_mcp.model.graph import Certainty, Direction
from graphrag_mcp.model.scope import EVERYTHING
from tests.graph.test_relations import ask
from tests.indexed import indexed

STORE = """package store

import "database/sql"

type Queryer interface {
\tQuery(query string) (*sql.Rows, error)
\tCount(query string) int
}

type Ext interface {
\tQueryer
\tName() string
}

type DB struct {
\t*sql.DB
}

func (db *DB) Count(query string) int { return 1 }

func (db *DB) Name() string { return "" }

func run(q Queryer) int {
\treturn q.Count("a")
}
"""
GIVEN = {
    "a parameter": "func total(db *DB) int {\n\treturn run(db)\n}\n",
    "a variable": "var _ Queryer = &DB{}\n",
    "one of several variables": "var _, _ Queryer = other(), &DB{}\n\nfunc other() Queryer { return nil }\n",
    "an interface that embeds it": "var _ Ext = &DB{}\n",
    "a result": "func open() Queryer {\n\tdb := &DB{}\n\treturn db\n}\n",
    "a field": "type Holder struct{ q Queryer }\n\nfunc hold(db *DB) Holder { return Holder{q: db} }\n",
}


@pytest.mark.parametrize("given", GIVEN.values(), ids=GIVEN.keys())
def test_what_is_given_as_an_interface_has_its_methods(tmp_path: Path, given: str) -> None:
    """The foreign type is not indexed, but the program would not compile if it had not what the interface demands."""
    found = ask(tmp_path, {"store.go": STORE + given}, "DB.Count", Direction.CALLERS)
    assert [(step.source.name, step.edge.certainty) for step in found.steps] == [("run", Certainty.MAY_CALL)]
    assert found.doubt.is_complete
    below = ask(tmp_path, {"store.go": STORE + given}, "Queryer", Direction.IMPLEMENTERS)
    assert "DB" in {step.source.name for step in below.steps}
    assert not below.doubt.embedding


def test_without_that_it_is_said_through_which_interface_a_method_may_be_called(tmp_path: Path) -> None:
    """Nothing says whether the foreign type has `Query`: "no callers, complete" would be wrong."""
    found = ask(tmp_path, {"store.go": STORE}, "DB.Count", Direction.CALLERS)
    assert not found.steps
    assert found.doubt.callers_outside == {"Queryer", "Ext"}
    assert not found.doubt.is_complete
    named = ask(tmp_path, {"store.go": STORE}, "DB.Name", Direction.CALLERS)
    assert named.doubt.callers_outside == {"Ext"}


def test_another_type_that_is_given_says_nothing(tmp_path: Path) -> None:
    count = "func (f Fake) Count(query string) int { return 2 }"
    given = f"type Fake struct{{ *sql.Conn }}\n\n{count}\n\nvar _ Queryer = Fake{{}}\n"
    found = ask(tmp_path, {"store.go": STORE + given}, "DB.Count", Direction.CALLERS)
    assert not found.steps
    assert found.doubt.callers_outside == {"Queryer", "Ext"}


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


def breaking(folder: Path, old: str, new: str, *, is_applied: bool = False) -> set[str]:
    """Return what certainly breaks by a change of one file: of a patch, or of what is already written."""
    with indexed(folder, {"store.go": old}) as app:
        patch = "".join(unified_diff(old.splitlines(True), new.splitlines(True), "a/store.go", "b/store.go"))
        if is_applied:
            author = ("-c", "user.name=a", "-c", "user.email=a@example.org")
            for command in (["init", "-q"], ["add", "."], [*author, "commit", "-qm", "x"]):
                subprocess.run(["git", "-C", str(app.root), *command], check=True)
            (app.root / "store.go").write_text(new)
            app.index()
        affected = app.navigator().difference("HEAD", "" if is_applied else patch, 2, EVERYTHING).affected
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
