"""Several questions in one call."""

import io
import subprocess
import sys
from pathlib import Path

import pytest

from graphrag_mcp.cli.batch import LONGEST, MOST
from graphrag_mcp.cli.options import QUESTIONS
from graphrag_mcp.cli.run import DONE, FAILED, run

LINES = """# who uses it
trace Session.renew
graphrag-mcp find renew

search "renew a session"
read Session.renew
grep renew --limit 3
impact Session.renew
map
status
history renew
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project."""
    monkeypatch.setenv("GRAPHRAG_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("GRAPHRAG_WORKERS", "1")
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.py").write_text("class Session:\n    def renew(self):\n        pass\n\n\nSession().renew()\n")
    return root


def batch(root: Path, lines: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """Answer lines and return the exit code."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines.encode("utf-8", "surrogateescape"))))
    return run(["batch", "--root", str(root)])


def test_each_line_has_its_answer(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the order of the lines, each under its question, and the same as of the command alone."""
    assert batch(root, LINES, monkeypatch) == FAILED  # There is no history.
    answers = dict(part.partition("\n")[::2] for part in ("\n" + capsys.readouterr().out).split("\n$ ")[1:])
    asked = [line for line in LINES.splitlines() if line and line[0] != "#"]
    assert list(answers) == asked
    assert {line.removeprefix("graphrag-mcp ").split()[0] for line in asked} == set(QUESTIONS)
    assert "a.py:2-3" in answers["graphrag-mcp find renew"]
    assert run(["trace", "Session.renew", "--root", str(root)]) == DONE
    assert capsys.readouterr().out.strip() == answers["trace Session.renew"].strip()


def test_arguments_are_questions_and_then_standard_input_is_not_read(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As an agent types them, with or without the program's name."""
    monkeypatch.setattr(sys, "stdin", None)
    assert run(["batch", "find renew", "graphrag-mcp trace Session.renew", "--root", str(root)]) == DONE
    said = capsys.readouterr().out
    assert said.startswith("$ find renew\na.py:2-3") and "\n$ graphrag-mcp trace Session.renew\n1 caller of" in said
    assert run(["batch", *["status"] * (MOST + 1), "--root", str(root)]) == FAILED


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("index --rebuild", "begins with one of"),
        ("trace 'open", "cannot be read"),
        ("trace --hops many x", "--hops"),
        ("trace x --direction calers", "did you mean callers?"),
        ("grep x --root /", "of the whole call"),
        ("impact --patch -", "standard input"),
        ("search", "QUERY"),
        ("grep -h TODO", "of the command alone"),
        ("--version", "begins with one of"),
        ('impact --patch "a\0b"', "cannot be read"),
        ("\x1b[31m", "begins with one of"),
    ],
)
def test_a_wrong_line_is_told_and_the_others_are_answered(
    root: Path, line: str, problem: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing but questions is run, and no line ends the program."""
    assert batch(root, f"{line}\nfind renew\n", monkeypatch) == FAILED
    shown = capsys.readouterr()
    first, _, second = shown.out.partition("$ find renew")
    assert problem in first
    assert "a.py:2-3" in second
    assert "1 of 2 questions failed" in shown.err
    assert "\x1b" not in shown.out


@pytest.mark.parametrize("lines", ["", "# nothing\n", "status\n" * (MOST + 1), "find " + "x" * LONGEST])
def test_nothing_to_answer_is_wrong_usage(root: Path, lines: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And so is more than one call should take."""
    assert batch(root, lines, monkeypatch) == FAILED


def test_a_shell_can_pipe_into_it(root: Path) -> None:
    """With a real process and standard input."""
    done = subprocess.run(
        [sys.executable, "-m", "graphrag_mcp", "batch", "--root", str(root)],
        input="find renew\ntrace renew\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.count("$ ") == 2
    assert "a.py:6" in done.stdout
