"""The commands on a small repository, and how they end."""

import json
import re
import shlex
import signal
import subprocess
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

from graphrag_mcp.cli.options import create_parser
from graphrag_mcp.cli.run import run
from graphrag_mcp.tools.printing import SHELL
from graphrag_mcp.tools.table import TOOLS
from tests.repositories import SESSION, commit, git, write_files
from tests.waiting import kernel_watches, wait_until


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GRAPHRAG_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("GRAPHRAG_WORKERS", "1")
    folder = tmp_path / "repository"
    files = {
        "src/session.py": SESSION,
        ".archive/session.py": SESSION.replace("refresh_token", "renew_old_token"),
        "tests/test_session.py": "from src.session import Session\n\n\ndef test_it():\n    Session().refresh_token()\n",
        "README.md": "# Visits\n\nHow the token of a session is renewed.\n",
    }
    write_files(folder, files)
    return folder


def output_of(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    capsys.readouterr()
    assert run([str(argument) for argument in arguments]) == 0
    return capsys.readouterr().out


def found(capsys: pytest.CaptureFixture[str], root: Path, *options: object) -> list[str]:
    """Return the paths that a search for the token finds, best first."""
    text = output_of(capsys, "search", "renew the session token", "--root", root, "--json", *options)
    return [hit["path"] for hit in json.loads(text)["primary"]]


def complaint_of(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    capsys.readouterr()
    return run([str(argument) for argument in arguments]), capsys.readouterr().err


@pytest.mark.requirement("000-45")
def test_index_says_what_it_did(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It works with no configuration; the second run finds nothing to do."""
    assert output_of(capsys, "index", "--root", root).startswith("4 added, 0 changed, 0 removed, 0 unchanged")
    assert json.loads(output_of(capsys, "index", "--root", root, "--json"))["unchanged"] == 4
    assert json.loads(output_of(capsys, "index", "--root", root, "--json", "--rebuild"))["added"] == 4


@pytest.mark.requirement("P-1")
def test_search_builds_a_missing_index(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One command is enough."""
    text = output_of(capsys, "search", "Session.refresh_token", "--root", root, "--limit", 1)
    assert text.startswith("1. src/session.py:")
    assert "defines `Session.refresh_token`" in text
    assert "def refresh_token" in text


def test_impact_fails_on_what_a_diff_breaks(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only when asked, and only what is certain; a patch on standard input says the same."""
    git(root, "init", "--quiet")
    use = "from src.session import sign\n\n\ndef use():\n    return sign(1)\n"
    commit(root, {"src/use.py": use, "src/session.py": SESSION + "\n\ndef sign(one):\n    return one\n"})
    assert output_of(capsys, "impact", "--root", root, "--fail-on", "breaking") == "0 files differ from HEAD.\n"
    (root / "src/session.py").write_text(SESSION)
    patch = git(root, "diff")
    assert "  breaks src/use.py:5  use\n" in output_of(capsys, "impact", "--root", root)
    code, error = complaint_of(capsys, "impact", "--root", root, "--fail-on", "breaking")
    assert (code, error.splitlines()[-1]) == (1, "graphrag-mcp: certainly broken outside the change: 3 places")
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(patch.encode())))
    answer = json.loads(output_of(capsys, "impact", "--root", root, "--patch", "-", "--json"))
    assert (answer["base"], answer["broken"]) == ("the patch", 3)
    assert complaint_of(capsys, "impact", "Session", "--root", root, "--fail-on", "breaking")[0] == 2
    assert "Session" in output_of(capsys, "impact", "Session", "--root", root)


def test_read_prints_the_code_of_several_symbols(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With what calls them; what is not found is named beside what is."""
    text = output_of(capsys, "read", "Session.refresh_token", "Session.nothing", "--root", root)
    assert "def refresh_token" in text
    assert "callers: " in text
    assert "defines 'Session.nothing'" in text
    [row] = json.loads(output_of(capsys, "read", "Session.refresh_token", "--root", root, "--json"))["rows"]
    assert "def refresh_token" in row["body"]


def test_map_prints_where_to_start(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As text or JSON."""
    assert output_of(capsys, "map", "--root", root).startswith("Folders, with their files: src 1")
    assert "python" in json.loads(output_of(capsys, "map", "--root", root, "--json"))["languages"]


def test_grep_prints_every_line_with_its_role(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As the tool answers, for a text or a pattern, of some folders, as text or JSON."""
    text = output_of(capsys, "grep", "refresh_token", "--root", root, "-w")
    assert "  7 (definition): def refresh_token(self) -> str:\n" in text
    assert "  5 (call): Session().refresh_token()\n" in text
    text = output_of(capsys, "grep", "--regex", "--root", root, "-C", 1, r"def \w+_token", "src")
    assert text.splitlines()[-1] == '  8-         """Renew the token before it expires."""'
    rows = json.loads(output_of(capsys, "grep", "Token", "-i", "--language", "python", "--root", root, "--json"))[
        "rows"
    ]
    assert {row["role"] for row in rows} == {"definition", "call", "string"}
    code, complaint = complaint_of(capsys, "grep", "(", "--regex", "--root", root)
    assert code == 2
    assert "not a pattern of RE2" in complaint


@pytest.mark.requirement("K-16")
def test_search_sees_what_was_edited_since(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No stale answers; --no-update searches the index as it is."""
    assert "lib/vault.py" not in found(capsys, root)
    (root / "lib").mkdir()
    (root / "lib/vault.py").write_text("def renew_session_token():\n    return 1\n")
    assert "lib/vault.py" not in found(capsys, root, "--no-update")
    assert "lib/vault.py" in found(capsys, root)


@pytest.mark.requirement("000-40", "003-01", "K-12")
def test_search_options_narrow_what_is_searched(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Archived files on request, files left out, categories."""
    everything = found(capsys, root)
    assert "src/session.py" in everything
    assert ".archive/session.py" not in everything
    assert ".archive/session.py" in found(capsys, root, "--include-archived")
    assert ".archive/session.py" in found(capsys, root, "--include-pattern", ".archive/**")
    assert "src/session.py" not in found(capsys, root, "--excluded-file", "src/session.py")
    assert set(found(capsys, root, "--category", "documentation")) == {"README.md"}
    unique = found(capsys, root, "--unique")
    assert len(unique) == len(set(unique))


def test_an_option_that_is_given_too_often_is_refused(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The limit of a list is that of the tools."""
    patterns = [word for number in range(1_000) for word in ("--include-pattern", f"**/a{number}/**")]
    code, complaint = complaint_of(capsys, "search", "token", "--root", root, *patterns)
    assert (code, complaint) == (
        2,
        "graphrag-mcp: include_patterns: at most 200 entries, 1,000 were given; send fewer\n",
    )


@pytest.mark.requirement("001-17")
def test_search_explains_its_scores(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every factor of a score."""
    text = output_of(
        capsys, "search", "Session.refresh_token", "--root", root, "--explain", "--format", "concise", "--no-graph"
    )
    assert "score " in text
    assert "definition (Session.refresh_token)" in text
    assert "Related" not in text


@pytest.mark.requirement("000-44")
def test_status_shows_what_is_indexed_and_what_is_not(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Counts, and reasons for what was left out."""
    (root / "key.pem").write_text("-----BEGIN PRIVATE KEY-----\n")
    output_of(capsys, "index", "--root", root)
    text = output_of(capsys, "status", "--root", root)
    assert "Files: 4 (1 archived)" in text
    assert "key.pem" in text
    status = json.loads(output_of(capsys, "status", "--root", root, "--json"))
    assert status["state"]["state"] == "ready"
    assert status["languages"]["python"] == 3


@pytest.mark.requirement("000-44")
@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("src/session.py", "found by searches"),
        ("./src/../README.md", "found by searches"),
        ("logs/today.log", "not indexed: ignored: *.log (.graphragignore:2)"),
        ("key.pem", "not indexed: secret: *.pem (built-in)"),
        (".archive/session.py", "filtered: it is archived"),
        ("src/none.py", "not in the index"),
        ("../elsewhere.py", "not indexed: outside: ../elsewhere.py (not below the project root)"),
    ],
)
def test_status_says_why_a_file_is_not_found(
    root: Path, capsys: pytest.CaptureFixture[str], name: str, verdict: str
) -> None:
    """The rule, with its file and line."""
    (root / ".graphragignore").write_text("# Mine\n*.log\n")
    output_of(capsys, "index", "--root", root)
    asked = (name, root / name)
    lines = output_of(capsys, "status", "--root", root, "--file", asked[0], "--file", asked[1]).splitlines()
    for one, line in zip(asked, lines, strict=True):
        assert line.endswith(verdict.replace("../elsewhere.py", str(one)))


def test_status_says_how_a_file_was_read(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Found by searches, but without symbols, or with letters that were replaced."""
    (root / "large.py").write_text("".join(f"def made_{number}():\n    pass\n\n" for number in range(40_000)))
    (root / "old.txt").write_bytes(b"Le caf\xe9 est ferme.\n")
    output_of(capsys, "index", "--root", root)
    text = output_of(capsys, "status", "--root", root, "--file", "large.py", "--file", "old.txt", "--file", "README.md")
    assert text.splitlines() == [
        "large.py: found by searches (by lines: over 1 MB)",
        "old.txt: found by searches (1 invalid UTF-8 sequence replaced)",
        "README.md: found by searches",
    ]


def test_a_file_in_the_encoding_that_it_declares_is_found_by_its_names(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the exact tools and by searches, with the letters that an editor shows."""
    text = "# -*- coding: latin-1 -*-\ndef café_ouvert():\n    return 1\n\n\nx = café_ouvert()\n"
    (root / "src/latin.py").write_bytes(text.encode("latin-1"))
    assert "src/latin.py:2-3  café_ouvert (function)" in output_of(capsys, "read", "café_ouvert", "--root", root)
    assert "6 (call): x = café_ouvert()" in output_of(capsys, "grep", "café_ouvert", "--root", root)
    assert "src/latin.py" in output_of(capsys, "search", "café_ouvert", "--root", root, "--limit", "1")


@pytest.mark.requirement("001-17")
def test_eval_prints_scores_and_writes_the_run(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A report by category, and the places found."""
    queries = tmp_path / "queries.json"
    queries.write_text(json.dumps([query("one", "repository"), query("other", "elsewhere")]))
    run_file = tmp_path / "run.json"
    text = output_of(capsys, "eval", queries, "--root", root, "--index-root", "src", "--run-out", run_file)
    assert text.splitlines()[1].split()[:4] == ["all", "1", "1.000", "1.000"]
    written = json.loads(run_file.read_text())
    assert written["scope"] == "root"
    assert written["results"]["one"][0][0] == "src/session.py"
    scores = json.loads(output_of(capsys, "eval", queries, "--root", root, "--repo", "elsewhere", "--json"))
    assert scores["symbol"]["queries"] == 1


@pytest.mark.requirement("001-17", "001-18")
def test_eval_compares_runs_and_explains_misses(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With intervals, the parts of the ranking, the reason of each miss, and two runs side by side."""
    missed = query("missed", "") | {"relevant": ["src/nowhere.py"], "targets": [{"paths": ["src/nowhere.py"]}]}
    queries = tmp_path / "queries.json"
    queries.write_text(json.dumps([query("one", ""), missed]))
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    arguments = ("eval", queries, "--root", root, "--by", "language")
    text = output_of(capsys, *arguments, "--misses", "--components", "--run-out", first)
    assert "95 % intervals: chunk_ndcg 0.000 to 1.000" in text
    assert "src/nowhere.py: not in the index" in text
    assert "baseline + graph votes" in text
    assert text.splitlines()[2].split()[:2] == ["python", "2"]
    second.write_text(json.dumps({"results": {"one": [], "missed": [["src/nowhere.py", 1, 2]]}}))
    compared = output_of(capsys, "eval", queries, "--root", root, "--compare", first, second)
    assert "won: 1\n  0.000 -> 1.000  missed" in compared
    assert "lost: 1\n  1.000 -> 0.000  one" in compared
    code, complaint = complaint_of(capsys, "eval", queries, "--root", root, "--compare", queries, second)
    assert (code, "is not a run" in complaint) == (2, True)


@pytest.mark.requirement("001-17")
def test_eval_asks_the_history(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A user's own commits are the queries, and the tree before them is what is searched."""
    git(root, "init", "--quiet")
    for number in range(2):
        code = f"def refresh_token():\n    return {number}\n"
        commit(root, {"src/session.py": code}, message="Refresh the token of a session")
    scores = json.loads(output_of(capsys, "eval", "--from-history", "--root", root, "--json"))
    assert (scores["all"]["queries"], scores["all"]["hit1"]["mean"]) == (1, 1.0)
    code, complaint = complaint_of(capsys, "eval", "--root", root)
    assert (code, "--from-history" in complaint) == (2, True)


def query(name: str, repo: str) -> dict[str, Any]:
    target = {"paths": ["src/session.py"], "start_line": 7, "end_line": 9}
    words = {"query": "refresh_token", "category": "symbol", "relevant": ["src/session.py"]}
    return {"id": name, "repo": repo, **words, "targets": [target]}


@pytest.mark.requirement("001-20")
@pytest.mark.parametrize(
    ("text", "words"),
    [("[]]", "JSONDecodeError"), ('[{"id": 1}]', "expected a list of objects with id"), (None, "cannot be read")],
)
def test_eval_refuses_a_file_that_holds_no_queries(
    text: str | None, words: str, root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A sentence, no traceback."""
    queries = tmp_path / "queries.json"
    if text is not None:
        queries.write_text(text)
    code, complaint = complaint_of(capsys, "eval", queries, "--root", root)
    assert code == 2
    assert words in complaint


@pytest.mark.requirement("P-1")
@pytest.mark.parametrize("command", [["index"], ["search", "some words"], ["watch"], ["status"]])
def test_a_bad_root_is_a_sentence_and_an_error(
    command: list[str], tmp_path: Path, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is wrong and what to do."""
    assert complaint_of(capsys, *command, "--root", tmp_path / "nowhere") == (
        2,
        f"graphrag-mcp: {tmp_path}/nowhere does not exist; pass the folder of your repository as --root\n",
    )
    code, complaint = complaint_of(capsys, *command, "--root", root / "README.md")
    assert code == 2
    assert "is a file" in complaint


@pytest.mark.requirement("001-20")
def test_all_wrong_settings_are_named_at_once(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one message."""
    monkeypatch.setenv("GRAPHRAG_RRF_K", "none")
    monkeypatch.setenv("GRAPHRAG_LIMIT", "5")
    code, complaint = complaint_of(capsys, "index", "--root", root)
    assert code == 2
    assert "2 problems in the settings" in complaint


@pytest.mark.requirement("K-06")
@pytest.mark.parametrize("options", [["--limit", 26], ["--max-hops", 4], ["--limit", 0]])
def test_an_option_out_of_range_is_wrong_usage(
    options: list[object], root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is clamped on the command line either."""
    code, complaint = complaint_of(capsys, "search", "some words", "--root", root, *options)
    assert code == 2
    assert "expected a whole number from" in complaint


@pytest.mark.requirement("P-1")
@pytest.mark.parametrize("command", ["index", "watch", "ui"])
def test_a_command_that_needs_a_local_index_refuses_remote(
    command: str, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Instead of working on a local index all the same."""
    code, complaint = complaint_of(capsys, "--remote", command, "--root", root)
    assert code == 2
    assert f"{command} needs a local index" in complaint


@pytest.mark.requirement("P-1")
@pytest.mark.parametrize("arguments", [["find"], ["search"], ["search", "abc", "--limmit"], ["status", "--min-score"]])
def test_an_unknown_command_or_option_is_wrong_usage(arguments: list[str]) -> None:
    """Exit code 2, as for any command."""
    with pytest.raises(SystemExit) as ended:
        run(arguments)
    assert ended.value.code == 2


@pytest.mark.requirement("B-32")
def test_watch_indexes_an_edit_and_ends_quietly(root: Path) -> None:
    """A saved edit is reported within two seconds; an interrupt is the normal end."""
    command = [sys.executable, "-m", "graphrag_mcp", "watch", "--root", str(root)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("4 added")
        assert process.stdout.readline().startswith("watching ")
        wait_until(lambda: kernel_watches(process.pid), 10)
        (root / "src/vault.py").write_text("def close():\n    return 1\n")
        assert process.stdout.readline().startswith("1 added")
        process.send_signal(signal.SIGINT)
        try:
            printed, progress = process.communicate(timeout=10)
        finally:
            process.kill()
        assert (process.returncode, printed) == (0, "")
        assert all(line.startswith("indexing ") for line in progress.splitlines())  # Where it took a while.


def test_a_signal_may_interrupt_a_thread_that_holds_the_lock_of_the_event() -> None:
    """A signal handler runs between two steps of the main thread, so it must not wait for a lock of that thread."""
    script = """
import signal, threading
from graphrag_mcp.cli.commands import stop_on_signals
stop = threading.Event()
stop_on_signals(stop)
with stop._cond:
    signal.raise_signal(signal.SIGINT)
assert stop.wait(10)
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=30)


def command(root: Path, *arguments: str) -> "subprocess.Popen[str]":
    words = [sys.executable, "-m", "graphrag_mcp", "--root", str(root), *arguments]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_runs_of_index_at_the_same_time_all_succeed(root: Path) -> None:
    """One indexes; the others wait for it, and do what is left or say which process keeps the index."""
    for number in range(50):
        (root / f"many{number}.py").write_text(f"def many{number}(): ...\n" * 20)
    runs = [command(root, "index", *options) for options in ([], [], ["--json"], [])]
    ended = [(*run.communicate(timeout=300), run.returncode) for run in runs]
    assert [code for *_, code in ended] == [0, 0, 0, 0], ended
    texts = [text for text, *_ in ended]
    assert sum(re.search(r"^5\d added|\"added\": 5\d", text, re.MULTILINE) is not None for text in texts) == 1
    assert all(re.search(r"5\d unchanged|\"unchanged\": 5\d|5\d added|\"added\": 5\d", text) for text in texts)


@pytest.mark.parametrize("make", [["init", "--bare"], ["init"]])
def test_the_data_of_a_repository_is_no_root(
    make: list[str], tmp_path: Path, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither a bare repository nor the folder of one: its hooks are no code of a project."""
    git(root, *make, str(tmp_path / "kept"))
    folder = tmp_path / "kept" if "--bare" in make else tmp_path / "kept/.git"
    code, complaint = complaint_of(capsys, "index", "--root", folder)
    assert (code, complaint) == (
        2,
        f"graphrag-mcp: {folder} is a repository without files; pass the folder of a work tree as --root\n",
    )


def test_an_index_in_the_project_is_no_part_of_it(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The data folder may be relative, or below the root."""
    monkeypatch.chdir(root)
    monkeypatch.setenv("GRAPHRAG_DATA_DIR", "idx")
    for _ in range(2):
        output_of(capsys, "index", "--root", root)
    assert json.loads(output_of(capsys, "status", "--root", root, "--json"))["files"] == 4
    assert run(["grep", "no_such_text", "--root", str(root)]) == 1  # Not in the index file either.
    assert (root / "idx").is_dir()


def test_a_data_folder_that_cannot_be_made_is_named_with_its_setting(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """For each command that would write there."""
    monkeypatch.setenv("GRAPHRAG_DATA_DIR", "/proc/nowhere")
    for words in (["index"], ["search", "some words"], ["grep", "token"]):
        code, complaint = complaint_of(capsys, *words, "--root", root)
        assert code == 2
        assert "/proc/nowhere" in complaint
        assert "set GRAPHRAG_DATA_DIR" in complaint


def test_trace_answers_as_the_tool_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With all of its arguments: relations, and ways from one definition to another."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.py").write_text("def low(): pass\ndef middle(): low()\ndef high(): middle()\n")
    common = ("--root", str(root), "--no-update")
    output_of(capsys, "index", "--root", str(root))
    assert "def middle" in output_of(capsys, "trace", "low", *common)
    assert "def high" in output_of(capsys, "trace", "low", "--hops", "2", *common)
    assert "low" in output_of(capsys, "trace", "middle", "--direction", "callees", *common)
    assert "middle" in output_of(capsys, "trace", "--from", "high", "--to", "low", *common)
    answer = json.loads(output_of(capsys, "trace", "low", "--json", *common))
    assert not answer["doubt"]["is_cut"]
    assert complaint_of(capsys, "trace", *common)[0] == 2


def test_a_pattern_that_was_searched_as_text_is_said(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only where nothing was found."""
    hint = "with --regex it is a pattern"
    assert run(["grep", "^class .*ion", "--root", str(root)]) == 1
    assert hint in capsys.readouterr().out
    assert hint not in output_of(capsys, "grep", "sign(self)", "--root", root)
    assert run(["grep", "nothing of this", "--root", str(root)]) == 1
    assert hint not in capsys.readouterr().out


def test_what_an_answer_says_to_type_next_is_a_command(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In a shell it has the names of commands and options; each is one, and the cursor leads on."""
    first = output_of(capsys, "grep", "e", "--limit", "1", "--root", root)
    [option] = re.findall(r"more: (--cursor \S+)", first)
    second = output_of(capsys, "grep", "e", "--limit", "1", "--root", root, *shlex.split(option))
    assert second.splitlines()[1:-1] and second.splitlines()[1:-1] != first.splitlines()[1:-1]
    assert run(["grep", "token", "--path", ".archive", "--root", str(root)]) == 1
    assert "graphrag-mcp status says why" in capsys.readouterr().out
    needed = {"find_history": ["why"], "find_occurrences": ["text"], "find_symbol": ["name"]}
    needed |= {"graphrag_hybrid_search": ["words"], "trace_relations": ["name"], "index_status": []}
    arguments = {
        "trace_relations": ("unresolved=true", "direction=callees", "hops=4"),
        "find_occurrences": ("regex=true",),
    }
    for name in TOOLS.keys() & needed.keys():
        for argument in ("", *arguments.get(name, ())):
            program, *line = shlex.split(SHELL.tool(name, argument))
            assert program == "graphrag-mcp"
            assert create_parser().parse_args([*line, *needed[name]]).command == line[0]
    assert SHELL.argument("exclude_archived=false") == "--include-archived"


def test_a_folder_of_a_repository_is_searched_alone_and_that_is_said(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it was not given; the words of a question that no file has are named, too, however small the project."""
    git(root, "init", "--quiet")
    monkeypatch.chdir(root / "src")
    for name in ("GRAPHRAG_ROOT", "CLAUDE_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    assert run(["search", "kubernetes ingress of a session"]) == 0
    shown, note = capsys.readouterr()
    assert shown.startswith('Not indexed anywhere: "kubernetes", "ingress".')
    assert f"only src is searched; --root {root.resolve()} is its repository" in note
    assert run(["grep", "session", "--root", "."]) == 0
    assert "is searched" not in capsys.readouterr().err
    monkeypatch.chdir(root)
    assert run(["grep", "session"]) == 0
    assert "is searched" not in capsys.readouterr().err


def test_a_folder_with_a_hostile_name_is_quoted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is said to type next is one argument, whatever a clone is called."""
    folder = tmp_path / "a; touch owned" / "src"
    folder.mkdir(parents=True)
    (folder.parent / ".git").mkdir()
    (folder / "a.py").write_text("session = 1\n")
    monkeypatch.setenv("GRAPHRAG_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(folder)
    for name in ("GRAPHRAG_ROOT", "CLAUDE_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    assert run(["grep", "session"]) == 0
    words = shlex.split(capsys.readouterr().err)
    assert words[words.index("--root") + 1] == str(folder.parent.resolve())
