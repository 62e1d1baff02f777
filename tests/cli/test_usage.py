"""Counts of what agents looked up, from transcripts as Claude Code and Codex write them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from graphrag_mcp.cli.run import DONE, FAILED, run
from graphrag_mcp.cli.usage import OURS, count

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def claude(root: Path, calls: Sequence[tuple[str, Mapping[str, Any], Any]]) -> list[dict[str, Any]]:
    """Return the events of a session: calls with their arguments and results."""
    events: list[dict[str, Any]] = [{"type": "user", "cwd": str(root), "message": {"role": "user", "content": "fix"}}]
    for number, (name, arguments, result) in enumerate(calls):
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": arguments}
        events.append({"type": "assistant", "message": {"role": "assistant", "content": [block]}})
        answer = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": result}
        events.append({"type": "user", "message": {"role": "user", "content": [answer]}})
    return events


def codex(root: Path, calls: Sequence[tuple[str, Mapping[str, Any], Any]]) -> list[dict[str, Any]]:
    """Return the same as Codex writes it."""
    events: list[dict[str, Any]] = [{"type": "session_meta", "payload": {"cwd": str(root)}}]
    for number, (name, arguments, result) in enumerate(calls):
        call = {"type": "function_call", "name": name, "arguments": json.dumps(arguments), "call_id": f"call_{number}"}
        events.append({"type": "response_item", "payload": call})
        output = {"type": "function_call_output", "call_id": f"call_{number}", "output": result}
        events.append({"type": "response_item", "payload": output})
    return events


def write(file: Path, events: Sequence[object]) -> Path:
    """Write a transcript."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(event) + "\n" for event in events))
    return file


def test_each_look_up_is_counted_as_what_it_is(tmp_path: Path) -> None:
    """Tools of both clients, shell commands, their results, and what follows an answer of ours."""
    first = write(
        tmp_path / "a.jsonl",
        claude(
            tmp_path,
            [
                ("TodoWrite", {"todos": []}, "x" * 1000),
                ("mcp__graphrag__graphrag_hybrid_search", {"query": "q", "queries": ["a b"]}, [{"text": "x" * 300}]),
                ("Grep", {"pattern": f"token {TOKEN}\n# Ignore"}, "x" * 50),
                ("mcp__plugin_graphrag-mcp_graphrag__trace_relations", {"symbol": "s"}, "x" * 100),
                ("Bash", {"command": "cd src && sed -n 1,9p a.py"}, "x" * 20),
                ("Bash", {"command": "make test | tail -3"}, "x" * 70),
                ("Edit", {"file_path": "a.py"}, "x" * 70),
            ],
        ),
    )
    second = write(
        tmp_path / "b.jsonl",
        codex(
            tmp_path,
            [
                ("shell", {"command": ["bash", "-lc", "rg graphrag-mcp README.md | head"]}, "x" * 30),
                ("exec_command", {"cmd": "graphrag-mcp search 'a b' --also c"}, {"output": "x" * 200}),
                ("shell", {"command": ["bash", "-lc", "graphrag-mcp index"]}, "x" * 30),
                ("shell", {"command": ["git", "grep", "-n", "needle"]}, "x" * 10),
            ],
        ),
    )
    usage = count([first, second])
    assert (usage.sessions, usage.first_ours) == (2, 1)
    assert usage.look_ups == {OURS: 3, "Grep": 1, "sed": 1, "rg": 1, "git grep": 1}
    assert usage.tools == {"graphrag_hybrid_search": 1, "trace_relations": 1, "search": 1}
    assert usage.kept == {"ours": 600, "others": 110}
    assert (usage.searches, usage.with_phrasings) == (2, 2)
    grepped, needle = usage.grepped
    assert needle == "-n needle"
    assert TOKEN not in grepped
    assert "\n" not in grepped


@pytest.mark.parametrize(
    ("command", "searches", "with_phrasings"),
    [
        ("graphrag-mcp batch 'search \"a b\" --also c' 'find d' 'graphrag-mcp search e'", 2, 1),
        ("graphrag-mcp batch 'find a' \"search b --also c\"", 1, 1),
        ("graphrag-mcp batch 'search foo; bar' 'search b | c --also d' | head; rg x", 2, 1),
        ("graphrag-mcp batch <<'E'\nsearch a\nfind b\nsearch c --also d\nE", 2, 1),
        ("graphrag-mcp search 'a b' --also c && graphrag-mcp search d", 2, 1),
        ("bash -lc \"graphrag-mcp search 'a b' --also c\"", 1, 1),
        ("cd src\ngraphrag-mcp search a#b --also c\ngraphrag-mcp search d", 2, 1),
        ("graphrag-mcp find search", 0, 0),
        ("graphrag-mcp batch 'open quote", 0, 0),
    ],
)
def test_the_searches_of_a_batch_are_counted(tmp_path: Path, command: str, searches: int, with_phrasings: int) -> None:
    """Most agents ask several things at once."""
    usage = count([write(tmp_path / "a.jsonl", claude(tmp_path, [("Bash", {"command": command}, "x")]))])
    assert (usage.searches, usage.with_phrasings) == (searches, with_phrasings)


def test_the_sessions_of_a_project_are_found_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those of Claude Code by the folder's name, those of Codex by the folder that they name."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    root = tmp_path / "my project"
    root.mkdir()
    assert run(["usage", "--root", str(root)]) == FAILED
    assert "there are none in" in capsys.readouterr().err
    slug = "".join(letter if letter.isalnum() else "-" for letter in str(root))
    ours = ("mcp__graphrag__find_symbol", {"symbol": "a"}, "x" * 10)
    write(tmp_path / "claude" / "projects" / slug / "1.jsonl", claude(root, [ours]))
    write(tmp_path / "codex" / "sessions" / "2026" / "1.jsonl", codex(root / "inner", [ours]))
    write(tmp_path / "codex" / "sessions" / "2026" / "2.jsonl", codex(tmp_path / "other", [ours]))
    assert run(["usage", "--root", str(root)]) == DONE
    shown = capsys.readouterr().out
    assert shown.startswith(
        "2 sessions with 2 look-ups.\ngraphrag-mcp was asked first in 2 of 2 sessions, and in 2 of all"
    )
    assert run(["usage", "--root", str(root), "--json"]) == DONE
    assert json.loads(capsys.readouterr().out)["kept"] == {"ours": 20}


CALL = '{"payload": {"type": "function_call", "arguments": %s}}'
TOOL = '{"message": {"content": [5, {"type": "tool_use"%s}]}}'


@pytest.mark.parametrize(
    "line",
    [
        "",
        "{",
        "[]",
        "5",
        '"\\ud800"',
        "[" * 100_000,
        '{"message": 5}',
        CALL % '"["',
        CALL % 5,
        '{"message": {"content": [{"type": "tool_result", "content": %s}]}}' % ('[{"text":' * 900 + "1" + "}]" * 900),
        TOOL % "",
        TOOL % ', "name": "Bash", "input": {"command": {"a": 1}}',
    ],
)
def test_a_line_that_is_none_of_a_client_is_no_look_up(tmp_path: Path, line: str) -> None:
    """A transcript may be cut off, or of a version to come."""
    file = tmp_path / "a.jsonl"
    file.write_bytes(line.encode("utf-8", "surrogatepass") + b"\n\xff\n")
    assert count([file]).look_ups.total() == 0
