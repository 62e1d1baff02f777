"""What a person sees in a terminal: statuses, colours, the pager, and the examples of --help."""

import io
import os
import pty
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphrag_mcp.cli.options import QUESTIONS, create_parser
from graphrag_mcp.cli.run import DONE, FAILED, NOTHING, run
from graphrag_mcp.cli.terminal import coloured, has_colours, page
from graphrag_mcp.tools.table import TOOLS
from tests.cli.test_options import Terminal, parsers
from tests.docs.sample import create_sample
from tests.repositories import commit, git
from tests.waiting import wait_until

COMMANDS_OF = {
    "graphrag_hybrid_search": ("search",),
    "query_documents": ("search",),
    "query_unique_documents": ("search",),
    "find_symbol": ("find", "read"),
    "trace_relations": ("trace",),
    "impact": ("impact",),
    "find_occurrences": ("grep",),
    "find_history": ("history",),
    "index_status": ("status", "map"),
}
OPTION_OF = {  # Of the arguments whose option is written otherwise, as the shell has it.
    "queries": "also",
    "top_n": "limit",
    "paths": "path",
    "excluded_files": "excluded_file",
    "categories": "category",
    "languages": "language",
    "include_patterns": "include_pattern",
    "exclude_archived": "include_archived",
    "include_graph_context": "no_graph",
    "use_rrf": "no_rrf",
    "rerank_with_recency": "no_recency",
    "response_format": "json",
}
BY_COMMAND = {("find_symbol", "body"): "read", ("index_status", "overview"): "map"}
# Their examples need something else.
EXAMPLES = {"serve", "watch", "ui", "sync", "servers", "hook", "usage", "batch", "init", "uninstall", "eval"}
EVIL = "\x1b]0;owned\x07\x1b[2J"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One for all, since no test changes it; the current folder."""
    folder = tmp_path_factory.mktemp("shop")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRAPHRAG_DATA_DIR", str(folder / "data"))
        patch.setenv("GRAPHRAG_WORKERS", "1")
        root = create_sample(folder)
        patch.chdir(root)
        yield root


@pytest.mark.parametrize("name", TOOLS)
def test_every_argument_of_a_tool_is_an_option_of_its_command(name: str) -> None:
    """By its own name, but where the shell has another custom; taken from the schema."""
    options = {action.dest for command in COMMANDS_OF[name] for action in parsers()[command]._actions}
    missing = [
        argument
        for argument in TOOLS[name].schema()["properties"]
        if (name, argument) not in BY_COMMAND and OPTION_OF.get(argument, argument) not in options
    ]
    assert missing == []


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("search 'renew the token'", DONE),
        ("search session --language go", NOTHING),
        ("find Session.refresh", DONE),
        ("find no_such_name", NOTHING),
        ("read charge", DONE),
        ("read no_such_name", NOTHING),
        ("trace charge", DONE),
        ("trace test_refresh_renews_the_token", NOTHING),
        ("trace no_such_name", NOTHING),
        ("trace --from place_order --to charge", DONE),
        ("trace --from charge --to place_order", NOTHING),
        ("impact charge", DONE),
        ("impact", NOTHING),
        ("impact --fail-on breaking", DONE),
        ("grep expires_at", DONE),
        ("grep zyxwvut", NOTHING),
        ("grep '(' --regex", FAILED),
        ("history session", DONE),
        ("history zyxwvut", NOTHING),
        ("history --line 3", FAILED),
        ("map", DONE),
        ("status", DONE),
        ("search x --limit 0", FAILED),
        ("find charge --root /nowhere", FAILED),
    ],
)
def test_the_status_says_whether_something_was_found(shop: Path, words: str, status: int) -> None:
    """As grep's: found, nothing, an error; as text and as JSON."""
    assert [run([*shlex.split(words), *form]) for form in ([], ["--json"])] == [status] * 2


@pytest.mark.parametrize(
    ("lines", "status"),
    [("grep zyxwvut\nfind charge\n", DONE), ("grep zyxwvut\nfind zyxwvut\n", NOTHING), ("find charge\nfind\n", FAILED)],
)
def test_the_status_of_a_batch_is_that_of_its_best_line_unless_one_is_wrong(
    shop: Path, lines: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What nothing was found for is no error."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(lines.encode())))
    assert run(["batch"]) == status


@pytest.mark.parametrize("name", sorted(set(parsers()) - EXAMPLES))
def test_the_examples_of_help_run(shop: Path, name: str) -> None:
    """Two of each command."""
    epilog = parsers()[name].epilog or ""
    examples = re.findall(r"^  graphrag-mcp (.*)$", epilog, re.MULTILINE)
    assert len(examples) == 2
    assert [run(shlex.split(example)) in (DONE, NOTHING) for example in examples] == [True, True]


def test_help_has_two_examples_of_each_command_and_each_is_one_of_it() -> None:
    """They are read by the parser that they are about."""
    for name, command in parsers().items():
        examples = re.findall(r"^  graphrag-mcp (.*?)(?: < .*)?$", command.epilog or "", re.MULTILINE)
        assert len(examples) == 2, name
        assert create_parser().parse_args(shlex.split(examples[0])).command == name
        create_parser().parse_args(shlex.split(examples[1]))


def test_colours_are_for_terminals_and_as_the_user_says() -> None:
    """--color first, then NO_COLOR and TERM, as git and ripgrep."""
    terminal, pipe = Terminal(), io.StringIO()
    plain = {"TERM": "xterm"}
    assert has_colours("auto", terminal, plain)
    assert not has_colours("auto", pipe, plain)
    assert not has_colours("auto", terminal, plain | {"NO_COLOR": "1"})
    assert not has_colours("auto", terminal, {"TERM": "dumb"})
    assert has_colours("always", pipe, {"NO_COLOR": "1"})
    assert not has_colours("never", terminal, plain)


def test_colours_change_no_text() -> None:
    """Code in a fence has none; a fence in the code does not end it; what was found is marked."""
    code = "````python\n```\n2. x.py:1\n````\n"
    text = f"1. a/b.py:3-4  f  (function)\n{code}   also here: g:9\na/b.py\n  3: def f(f)\nComplete."
    shown = coloured(text, lambda line: [match.span() for match in re.finditer(r"\bf\b", line)])
    assert re.sub(r"\x1b\[[\d;]*m", "", shown) == text
    lines = shown.split("\n")
    assert lines[0] == "1. \x1b[35ma/b.py\x1b[32m:3-4\x1b[m  f  (function)"
    assert lines[2:4] == ["```", "2. x.py:1"]
    assert lines[7] == "  \x1b[32m3\x1b[m: def \x1b[1;31mf\x1b[m(\x1b[1;31mf\x1b[m)"


@pytest.mark.parametrize("part", ["/", ".", "a:1", ":1", "1", " 1", "- ", "`", "a/b.py:1 "])
def test_no_line_takes_long_to_colour(part: str) -> None:
    """Whatever a file or a message repeats."""
    started = time.process_time()
    coloured(f"{part * 100_000} x\n1. {part * 100_000}\n- {part * 100_000}")
    assert time.process_time() - started < 2


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose names, code and messages have sequences that a terminal obeys."""
    root = tmp_path_factory.mktemp("evil")
    git(root, "init", "--quiet")
    code = f'def find_me():\n    """x{EVIL}"""\n'
    commit(root, {"a.py": code, f"e{EVIL}.py": code}, message=f"find_me {EVIL}")
    return root


@pytest.mark.parametrize("command", sorted(QUESTIONS))
def test_no_text_of_a_repository_controls_the_terminal(
    evil: Path, command: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In names of files, code and messages of commits, with colours and without."""
    monkeypatch.setenv("GRAPHRAG_DATA_DIR", f"{evil}-data")
    monkeypatch.setenv("GRAPHRAG_WORKERS", "1")
    monkeypatch.chdir(evil)
    words = {
        "search": ["find_me"], "find": ["find_me"], "read": ["find_me"], "trace": ["find_me"], "impact": ["find_me"],
        "grep": ["x"], "history": ["--path", "a.py"], "map": [], "status": [],
    }  # fmt: skip
    for when in ("never", "always"):
        assert run([command, *words[command], "--color", when]) in (DONE, NOTHING)
        shown, complaints = capfd.readouterr()
        assert shown
        text = re.sub(r"\x1b\[[\d;]*m" if when == "always" else "$^", "", shown + complaints)
        assert not re.search(r"[\x07\x1b]", text)


def test_a_terminal_has_the_users_pager_with_colours(shop: Path, tmp_path: Path) -> None:
    """It gets the whole answer; less is told to end where one screen is enough."""
    shown = tmp_path / "shown"
    env = {**os.environ, "TERM": "xterm", "PAGER": f"sh -c 'echo $LESS > {shown}; cat >> {shown}'"}
    env.pop("LESS", None)
    _in_terminal(["grep", "expires_at"], env)
    text = shown.read_text()
    assert text.startswith("FRX\n6 lines of 2 files")
    assert "\x1b[1;31mexpires_at\x1b[m" in text


@pytest.mark.parametrize("pager", ["", "cat", "no-such-pager", "'"])
def test_without_a_pager_nothing_is_handed_on(pager: str) -> None:
    """`cat` is none, as for git."""
    assert not page("text", {"PAGER": pager})


def test_without_a_pager_the_answer_is_printed(shop: Path) -> None:
    """Also where one is named that is not there."""
    assert b"6 lines of 2 files" in _in_terminal(["grep", "expires_at"], {**os.environ, "PAGER": "no-such-pager"})


def test_no_pager_means_none(shop: Path) -> None:
    """Nor one that would keep everything."""
    env = {**os.environ, "PAGER": "sh -c 'cat > /dev/null'"}
    assert b"6 lines of 2 files" in _in_terminal(["grep", "expires_at", "--no-pager"], env)
    assert b"6 lines of 2 files" not in _in_terminal(["grep", "expires_at"], env)


def _in_terminal(words: list[str], env: dict[str, str]) -> bytes:
    """Return what a command writes to a terminal."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "graphrag_mcp", *words]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdin=quiet, stdout=theirs, stderr=quiet, env=env) as process:
        os.close(theirs)
        chunks: list[bytes] = []
        try:
            while chunk := os.read(ours, 65_536):
                chunks.append(chunk)
        except OSError:  # Linux ends a terminal so.
            pass
        wait_until(lambda: process.poll() is not None, 10)
    os.close(ours)
    return b"".join(chunks)
