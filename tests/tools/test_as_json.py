"""JSON is made from the frozen answer itself."""

from datetime import UTC, datetime
from enum import StrEnum
from typing import NamedTuple

from graphrag_mcp.model.files import Category, RelationKind, SymbolKind
from graphrag_mcp.model.graph import Certainty, CodeEdge, CodeNode, Doubt
from graphrag_mcp.tools.printing import LISTED, as_json, shortened


class Colour(StrEnum):
    """A closed choice."""

    RED = "red"


class Record(NamedTuple):
    """A record without names of its own."""

    colours: dict[Colour, int]
    at: datetime
    places: frozenset[tuple[str, int]]


def test_a_record_is_an_object_of_its_fields() -> None:
    """Enums are their values, times are ISO 8601, and sets of places are locations in order."""
    record = Record({Colour.RED: 1}, datetime(2026, 1, 31, tzinfo=UTC), frozenset((("b.py", 2), ("a.py", 1))))
    assert as_json([record]) == [
        {"colours": {"red": 1}, "at": "2026-01-31T00:00:00+00:00", "places": ["a.py:1", "b.py:2"]}
    ]


def test_numbers_of_the_index_are_not_shown_and_what_follows_from_a_record_is() -> None:
    """A row's number means nothing outside of the index; a reader need not compute whether an answer is complete."""
    node = CodeNode(7, 3, "src/a.py", Category.TESTS, "run", "Job.run", SymbolKind.METHOD, 1, 9, place=5)
    shown = as_json(node)
    assert (shown["symbol"], shown["kind"], shown["category"]) == ("Job.run", "method", "tests")
    assert not {"node_id", "file_id", "place"} & shown.keys()
    edge = as_json(CodeEdge(7, 8, RelationKind.CALLS, "src/a.py", 4, Certainty.MAY_CALL))
    assert (edge["relation"], edge["certainty"], edge["confidence"]) == ("calls", "may call", 0.7)
    assert as_json(Doubt(unread=frozenset((("a.py", 1),))))["is_complete"] is False


def test_a_long_list_is_cut_and_its_length_is_beside_it() -> None:
    """At any depth; the rows of an answer have a cursor instead."""
    rows = [{"lines": list(range(LISTED + 5)), "few": [1, 2]}] * (LISTED + 1)
    short = shortened(rows)
    assert len(short) == LISTED + 1
    assert short[0] == {"lines": list(range(LISTED)), "lines_total": LISTED + 5, "few": [1, 2]}
