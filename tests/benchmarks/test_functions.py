"""The benchmark that asks for single functions and types: its questions are made of docstrings and of commits."""

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.functions import ask, make
from tests.repositories import commit, git

SAID = "Remove every session whose owner has not been seen for a while."
HOLDS = "Keep what is known about the people who are signed in at present."
CODE = f'''import time


class Ledger:
    """{HOLDS}"""

    limit = 30

    def sweep(self, now):
        """{SAID}"""
        for one in self.rows:
            if one.seen < now - self.limit:
                self.rows.remove(one)

    def count(self):
        return len(self.rows)


def noon():
    return time.time()
'''


@pytest.fixture
def folders(tmp_path: Path) -> argparse.Namespace:
    """A repository with a documented type and function, and commits that change one function, all or none."""
    root = tmp_path / "checkouts" / "app"
    root.mkdir(parents=True)
    git(root, "init", "-q")
    commit(root, {"src/ledger.py": CODE})
    last = CODE.replace("len(self.rows)", "len(list(self.rows))")
    for message, text in (
        ("Count the rows of a ledger one by one", last),
        ("Import the clock under its own name", last.replace("import time\n", "import time as clock\n")),
    ):
        (root / "src" / "ledger.py").write_text(text)
        git(root, "commit", "-q", "-a", "-m", message)
    benchmark = tmp_path / "benchmark"
    benchmark.mkdir()
    (benchmark / "repos.json").write_text(json.dumps([{"name": "app", "language": "python"}]))
    return argparse.Namespace(
        out=tmp_path / "out", repos_dir=root.parent, benchmark=benchmark, run=tmp_path / "run.json"
    )


def _questions(folders: argparse.Namespace) -> list[dict[str, Any]]:
    make(folders)
    questions: list[dict[str, Any]] = json.loads((folders.out / "questions.json").read_text())
    return questions


def test_questions_are_what_docstrings_and_subjects_say(folders: argparse.Namespace) -> None:
    """A commit counts where all it changes is in functions; every answer is a definition as it is now."""
    assert _questions(folders) == [
        {"set": "docstrings", "repo": "app", "query": SAID, "gold": [["src/ledger.py", 9, 13, "sweep"]]},
        {"set": "types", "repo": "app", "query": HOLDS, "gold": [["src/ledger.py", 4, 16, "Ledger"]]},
        {
            "set": "commits",
            "repo": "app",
            "query": "Count the rows of a ledger one by one",
            "gold": [["src/ledger.py", 15, 16, "count"]],
        },
    ]


def test_what_is_asked_for_is_not_in_the_tree(folders: argparse.Namespace) -> None:
    """Its docstrings are blank, and all else is on its lines."""
    _questions(folders)
    before = (folders.repos_dir / "app" / "src" / "ledger.py").read_text().split("\n")
    after = (folders.out / "trees" / "app" / "src" / "ledger.py").read_text().split("\n")
    assert after == ["" if line.strip().startswith('"""') else line for line in before]


def test_a_run_says_what_was_found(
    folders: argparse.Namespace, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """In a project of one file, all of it is among the first ten."""
    _questions(folders)
    folders.data_dir, folders.setting, folders.sets, folders.figures = (
        tmp_path / "data",
        [],
        ["docstrings", "commits"],
        None,
    )
    capsys.readouterr()
    ask(folders)
    assert [line.split()[::3] for line in capsys.readouterr().out.splitlines()[1:]] == [
        ["docstrings", "1.000"],
        ["commits", "1.000"],
    ]
    answers = json.loads(folders.run.read_text())
    assert {number: found[1:] for number, found in answers.items()} == {"0": [True, True], "2": [True, True]}
