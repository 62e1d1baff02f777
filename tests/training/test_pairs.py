"""What is mined out of a checkout, and what is left out of it."""

from pathlib import Path

import pytest

from tests.training.project import make_project
from training.cleaning import clean
from training.mining import mine_repository
from training.pairs import Kind, Pair, read_pairs, write_pairs


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> list[Pair]:
    return mine_repository(make_project(tmp_path_factory.mktemp("mining") / "project"), "project")


def of(pairs: list[Pair], kind: Kind) -> list[Pair]:
    return [pair for pair in pairs if pair.kind is kind]


def test_a_docstring_means_its_function_without_it(pairs: list[Pair]) -> None:
    python, go = sorted(of(pairs, Kind.DOCSTRING), key=lambda pair: pair.path, reverse=True)
    assert python.query.startswith("Keeps the session for so many seconds")
    assert "Keeps the session" not in python.document
    assert "oldest = min(self.entries, key=self.age)" in python.document
    assert go.query.startswith("Match finds the handler")
    assert "longest prefix" not in go.document


def test_a_name_means_a_body_that_does_not_say_it(pairs: list[Pair]) -> None:
    named = {pair.query: pair.document for pair in of(pairs, Kind.NAME)}
    assert "raise KeyError(key)" in named["session store load session"]
    assert "load_session" not in named["session store load session"]


def test_a_comment_means_the_code_below_it(pairs: list[Pair]) -> None:
    (comment,) = of(pairs, Kind.COMMENT)
    assert comment.query == "the oldest entry goes first when there is no room"
    assert [line.strip() for line in comment.document.splitlines()] == [
        "while len(self.entries) > self.capacity:",
        "oldest = min(self.entries, key=self.age)",
        "del self.entries[oldest]",
        "return session.key",
    ]


def test_a_commit_means_what_it_changed_and_loses_its_label(pairs: list[Pair]) -> None:
    (commit,) = of(pairs, Kind.COMMIT)
    assert commit.query == "Ask the clock whether a session has expired"
    assert "session.is_expired(self.clock)" in commit.document
    assert "session.expired:" not in commit.document


def test_a_test_means_the_function_that_it_calls_and_is_named_after(pairs: list[Pair]) -> None:
    (test,) = of(pairs, Kind.TEST)
    assert test.query == "save session forgets the oldest"
    assert "def save_session" in test.document


def test_a_heading_means_its_section(pairs: list[Pair]) -> None:
    (heading,) = of(pairs, Kind.HEADING)
    assert heading.query == "Sessions Expiry of sessions"
    assert heading.document.strip().startswith("A session that was not used")


def test_a_signature_means_its_body(pairs: list[Pair]) -> None:
    bodies = {pair.query: pair.document for pair in of(pairs, Kind.SIGNATURE)}
    assert bodies["def load_session(self, key):"].strip().startswith("session = self.entries.get(key)")


def test_mining_again_gives_the_same_pairs(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    for name in ("one", "two"):
        write_pairs(tmp_path / name, mine_repository(project, "project"))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert list(read_pairs(tmp_path / "one")) == mine_repository(project, "project")


def test_a_file_under_another_licence_is_left_out(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    store = project / "store.py"
    store.write_text("# Under the GNU General Public License, version 2.\n" + store.read_text())
    assert {pair.path for pair in mine_repository(project, "project")} == {"routes.go", "README.md"}


def test_a_copy_in_another_repository_is_left_out() -> None:
    original = "first_line_of_the_code = compute(1)\nsecond_line_of_the_code = compute(2)"
    pairs = [
        Pair(Kind.NAME, "author", "a.py", "compute twice", original),
        Pair(Kind.NAME, "copier", "vendor/a.py", "compute twice", original),
        Pair(Kind.NAME, "copier", "own.py", "draw a circle", "circle = draw_a_circle(canvas, radius)"),
    ]
    assert [pair.query for pair in clean(pairs)] == ["draw a circle"]


def test_a_held_out_text_is_left_out() -> None:
    pairs = [
        Pair(Kind.NAME, "r", "a.py", "one", "this_line_stands_in_the_benchmark = 1"),
        Pair(Kind.NAME, "r", "b.py", "two", "this_line_stands_nowhere_else_at_all = 2"),
    ]
    assert [pair.query for pair in clean(pairs, ["x\n  this_line_stands_in_the_benchmark = 1\n"])] == ["two"]


def test_what_one_repository_says_everywhere_is_kept_a_few_times() -> None:
    pairs = [Pair(Kind.COMMENT, "r", "a.py", "Fall through", f"unlike_all_the_others_{n} = {n}") for n in range(9)]
    assert len(list(clean(pairs))) == 3
