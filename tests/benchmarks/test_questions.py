"""The benchmark of questions: its sets are well formed, and two runs are compared question by question."""

import json
from collections import Counter
from typing import Any

import pytest

from benchmarks.questions import CATEGORIES, QUESTIONS, compared, described, has_files, is_answered

FOLDER = QUESTIONS.parent
GOLD = [
    [{"path": "a.py", "start": 3, "end": 5}, {"path": "b.py", "start": 1, "end": 9}],
    [{"path": "c.py", "start": 2, "end": 2}],
]


@pytest.mark.parametrize("name", ["open.json", "daily.json"])
def test_each_question_has_places_and_a_command(name: str) -> None:
    """Its repository stands at one commit in the whole set."""
    questions = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    assert len({question["id"] for question in questions}) == len(questions)
    assert len({(question["repo"], question["commit"]) for question in questions}) == len(
        {q["repo"] for q in questions}
    )
    for question in questions:
        assert question["category"] in CATEGORIES
        assert question["query"]
        assert question["rg"].startswith("rg ")
        assert question["gold"]
        assert all(0 < place["start"] <= place["end"] for group in question["gold"] for place in group)


def test_the_daily_questions_are_ten_of_each_category_in_six_repositories() -> None:
    """Fifteen of each repository."""
    questions = json.loads((FOLDER / "daily.json").read_text(encoding="utf-8"))
    assert Counter(question["category"] for question in questions) == dict.fromkeys(CATEGORIES, 10)
    assert sorted(Counter(question["repo"] for question in questions).values()) == [15] * 6


def test_each_group_needs_a_place_and_for_the_files_a_path() -> None:
    """Both ends of a span belong to it."""
    assert is_answered(GOLD, [("b.py", 9, 12), ("c.py", 1, 2)])
    assert not is_answered(GOLD, [("b.py", 10, 12), ("c.py", 1, 2)])
    assert has_files(GOLD, [("b.py", 10, 12), ("c.py", 9, 9)])
    assert not has_files(GOLD, [("a.py", 3, 5), ("b.py", 1, 2)])


def row(question: str, first: bool, file: bool) -> dict[str, Any]:
    within = {1: first, 3: first, 5: file, 10: True}
    return {"id": question, "within": within, "file": file, "rg": False, "query": "q", "gold": GOLD, "found": []}


def test_what_was_won_and_lost_is_named() -> None:
    """At each depth, and for the files."""
    text = compared([row("x", False, True), row("y", True, True)], [row("x", True, True), row("y", True, False)])
    lines = text.splitlines()
    assert lines[0].startswith("in 1   +0.500 [")
    assert lines[1:3] == ["  1 won: x", "  0 lost: "]
    assert lines[6:9] == ["in 5   -0.500 [-1.000, +0.000]", "  0 won: ", "  1 lost: y"]
    assert lines[-1] == "  1 lost: y"


def test_a_miss_is_told_with_what_stood_first_and_what_was_wanted() -> None:
    """Alternatives and groups are told apart."""
    assert described(row("x", False, False)).splitlines()[1:] == [
        "    first nothing",
        "    gold  a.py:3-5 or b.py:1-9 and c.py:2-2",
    ]
    assert "    first d.py:1-2\n" in described({**row("x", False, False), "found": [("d.py", 1, 2)]})
