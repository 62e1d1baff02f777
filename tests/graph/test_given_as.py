"""Types of Go that may have methods from foreign types which they embed, and the interfaces as which they are given."""

from pathlib import Path

import pytest

from graphrag_mcp.model.graph import Certainty, Direction
from tests.graph.test_relations import ask

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


NOT_GIVEN = {
    "a method as a function has its instance first": (
        "type M struct{}\n\nfunc (m M) meth(x any, q Queryer) {}\n\nfunc use(db *DB, q Queryer) {\n"
        "\tM.meth(M{}, db, q)\n\tf := M.meth\n\tf(M{}, db, q)\n}\n"
    ),
    "an interface of any type": (
        "type Getter[T any] interface {\n\tQuery(query string) T\n\tCount(query string) int\n}\n\n"
        "func take(g Getter[int]) {}\n\nfunc use(db *DB) {\n\ttake(db)\n}\n"
    ),
}


@pytest.mark.parametrize("code", NOT_GIVEN.values(), ids=NOT_GIVEN.keys())
def test_what_is_not_given_as_the_interface_stays_open(tmp_path: Path, code: str) -> None:
    below = ask(tmp_path, {"store.go": STORE + code}, "Queryer", Direction.IMPLEMENTERS)
    assert "DB" not in {step.source.name for step in below.steps}
    assert below.doubt.embedding
