"""Roots, progress, and what the command line imports."""

import argparse
import io
import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from graphrag_mcp.cli.options import CATEGORY_NAMES, DIRECTION_NAMES, create_parser, project_root
from graphrag_mcp.cli.run import _command, run
from graphrag_mcp.cli.terminal import ProgressLine, describe
from graphrag_mcp.errors import RequestError
from graphrag_mcp.model.files import Category
from graphrag_mcp.model.graph import Direction
from graphrag_mcp.model.reports import Progress

HALF = Progress(3120, 8400, 21_004, 40.4)
HEAVY = ("numpy", "fastembed", "tree_sitter", "graphrag_mcp.app.local")


def parsers() -> dict[str, argparse.ArgumentParser]:
    """Return the parser of each command."""
    (found,) = (action for action in create_parser()._actions if isinstance(action, argparse._SubParsersAction))
    return dict(found.choices)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def imported(code: str, *names: str) -> list[str]:
    """Return which of the modules a fresh process has imported after `code`."""
    code += f"\nimport sys; print(*(name for name in {names!r} if name in sys.modules))"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.requirement("P-1")
def test_the_root_is_given_or_comes_from_the_environment_or_is_here() -> None:
    """--root, GRAPHRAG_ROOT, CLAUDE_PROJECT_DIR, the current folder."""
    both = {"GRAPHRAG_ROOT": "/a", "CLAUDE_PROJECT_DIR": "/b"}
    assert project_root("/given", both) == Path("/given")
    assert project_root(None, both) == Path("/a")
    assert project_root(None, {"GRAPHRAG_ROOT": "", "CLAUDE_PROJECT_DIR": "/b"}) == Path("/b")
    assert project_root(None, {}) == Path()


@pytest.mark.parametrize("given", ["", " ", "\t\n"])
def test_an_empty_root_is_refused(given: str) -> None:
    """It is what a variable that is not set leaves of a client's configuration."""
    with pytest.raises(RequestError, match="--root: it is empty"):
        project_root(given, {"GRAPHRAG_ROOT": "/a"})


@pytest.mark.requirement("P-1")
@pytest.mark.parametrize("arguments", [["--root", "/a", "status"], ["status", "--root", "/a"]])
def test_the_root_may_stand_before_or_after_the_command(arguments: list[str]) -> None:
    """Both orders are natural."""
    assert create_parser().parse_args(arguments).root == "/a"


@pytest.mark.requirement("P-1")
def test_no_command_means_serve() -> None:
    """`graphrag-mcp` alone is the server."""
    options = create_parser().parse_args([])
    assert (options.command, options.root) == (None, None)


def test_every_command_that_help_lists_can_be_run() -> None:
    """A command has its options in one module and its function in another."""
    assert {"grep", "search", "serve"} <= set(parsers())
    assert all(callable(_command(name)) for name in parsers())


@pytest.mark.requirement("P-1")
def test_help_imports_nothing_heavy() -> None:
    """The command line answers at once."""
    code = "from graphrag_mcp.cli.run import run\nfrom graphrag_mcp.cli.options import create_parser\ncreate_parser()"
    assert imported(code, "pydantic", "mcp", *HEAVY) == []


@pytest.mark.requirement("P-1")
def test_the_server_lists_its_tools_without_anything_heavy() -> None:
    """Neither model nor parsers nor stores nor the page delay the first answer."""
    code = """
from graphrag_mcp.app.session import LazySession
from graphrag_mcp.app.session import WITH_INDEX
from graphrag_mcp.serving import stdio
from graphrag_mcp.serving.protocol import create_server
create_server(LazySession(None, WITH_INDEX))
"""
    assert imported(code, "graphrag_mcp.serving.page", "graphrag_mcp.cli.ui", *HEAVY) == []


@pytest.mark.requirement("P-1")
def test_progress_is_one_changing_line_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files, chunks and the time left, and a clean line at the end."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    with ProgressLine() as progress:
        progress(HALF)
        progress(HALF)
    assert stream.getvalue() == f"\r\x1b[K{describe(HALF)}\r\x1b[K"
    assert describe(HALF) == "indexing 3,120 of 8,400 files, 21,004 chunks, about 40 s left"


@pytest.mark.requirement("P-1")
def test_progress_of_a_short_run_is_silent_in_a_log(capsys: pytest.CaptureFixture[str]) -> None:
    """A line now and then, not one for each file."""
    with ProgressLine() as progress:
        progress(HALF)
    assert capsys.readouterr().err == ""


def test_a_direction_has_the_names_that_others_give_it() -> None:
    """`implementations` are the implementers."""
    parsed = create_parser().parse_args(["trace", "x", "--direction", "implementations"])
    assert parsed.direction == Direction("implementations") == Direction.IMPLEMENTERS


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        (["serch", "x"], "COMMAND: 'serch' is none; did you mean search?"),
        (["trace", "x", "--direction", "calers"], "--direction: 'calers' is none; did you mean callers?"),
        (["completion", "9"], "shell: '9' is none; choose from bash, zsh, fish"),
    ],
)
def test_what_is_mistyped_is_named_with_what_may_be_meant(
    arguments: list[str], advice: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Twenty commands are too many to look through."""
    with pytest.raises(SystemExit) as left:
        create_parser().parse_args(arguments)
    assert left.value.code == 2
    assert capsys.readouterr().err.splitlines()[-1].endswith(f"error: {advice}")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands_and_options(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    """By a script that the shell reads."""
    assert run(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(word in script for word in ("impact", "direction", "implementers"))
    if program := shutil.which(shell):
        subprocess.run([program, "-n"], input=script, text=True, check=True)


def test_alone_in_a_terminal_it_says_how_to_begin(tmp_path: Path) -> None:
    """A client talks to the server over pipes; a person would wait for nothing."""
    terminal, side = pty.openpty()
    try:
        command = [sys.executable, "-m", "graphrag_mcp"]
        subprocess.run(command, cwd=tmp_path, stdin=side, stdout=side, stderr=side, check=True, timeout=60)
        text = os.read(terminal, 4_000).decode()
    finally:
        os.close(terminal)
        os.close(side)
    assert "graphrag-mcp search" in text
    assert len(text.splitlines()) <= 10


def test_options_may_stand_anywhere() -> None:
    """Before, between and behind the other arguments of a command: all mean the same."""
    whole = create_parser()
    read = whole.parse_args(["grep", "-w", "--", "-x", "-y"])
    assert (read.text, read.paths, read.whole_word) == ("-x", ["-y"], True)
    tried = set()
    for command, parser in parsers().items():
        values: list[str] = []
        for action in parser._actions:
            if not action.option_strings:
                value = str(next(iter(action.choices))) if action.choices else "word"
                values += [value] * (2 if action.nargs in ("*", "+") else 1)
        for option in parser._actions:
            if not option.option_strings or option.dest == "help" or option.nargs not in (None, 0):
                continue
            given = [option.option_strings[-1]]
            if option.nargs is None:
                given.append(str(next(iter(option.choices))) if option.choices else "1")
            orders = [[*values[:place], *given, *values[place:]] for place in range(len(values) + 1)]
            read = [vars(whole.parse_args([command, *order])) for order in orders]
            assert read == [read[0]] * len(read), (command, given)
            tried.add(command)
    assert {"grep", "search", "read", "history", "batch", "indexes"} <= tried


def test_the_names_of_kinds_and_directions_are_those_of_the_model() -> None:
    """They are written twice, since nothing that is installed may be imported before a server has taken its streams."""
    assert tuple(Category) == CATEGORY_NAMES
    assert tuple(Direction) == DIRECTION_NAMES
    code = "import graphrag_mcp.cli.run; from graphrag_mcp.cli.options import create_parser; create_parser()"
    assert imported(code, "msgspec", "typing_extensions") == []
