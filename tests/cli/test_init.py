"""`init` connects clients and keeps what is there; `doctor` says what is wrong."""

import json
import re
import shutil
import stat
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphrag_mcp.cli.clients import CLIENTS
from graphrag_mcp.cli.run import DONE, FAILED, NOTHING, run

GONE = '{"mcpServers": {"graphrag": {"command": "/no/such"}}}'
Harm = Callable[[Path], object]
Lines = pytest.CaptureFixture[str]


def init(project: Path, *arguments: str) -> int:
    return run(["init", "--root", str(project), *arguments])


def served(client: str, root: Path) -> list[str]:
    """Return the command line that a client starts for a project."""
    known = CLIENTS[client]
    entries = known.format.read(known.settings(root).read_text())
    entry = entries[known.entry_name(entries, root)]
    command = entry["command"]
    return list(command) if isinstance(command, list) else [command, *entry["args"]]


def desktop_entries() -> dict[str, Any]:
    """Return the servers of Claude Desktop."""
    file = CLIENTS["claude-desktop"].settings(Path())
    entries: dict[str, Any] = json.loads(file.read_text())["mcpServers"]
    return entries


@pytest.mark.parametrize("name", CLIENTS)
def test_a_client_is_connected_and_then_there_is_nothing_left_to_do(project: Path, name: str, capsys: Lines) -> None:
    """Shown as a difference, written, and recognised when it is asked again."""
    assert init(project, "--client", name, "--yes") == DONE
    shown = capsys.readouterr().out
    file = CLIENTS[name].settings(project)
    assert f"+++ {file}" in shown
    assert CLIENTS[name].command(file.read_text(), project).endswith(("graphrag-mcp", "python"))
    assert init(project, "--client", name, "--yes") == DONE
    assert "is already set up" in capsys.readouterr().out


@pytest.mark.parametrize("name", CLIENTS)
def test_two_projects_keep_an_entry_each(project: Path, tmp_path: Path, name: str) -> None:
    """What a client of the first project starts is the same after `init` was run in the second."""
    other = tmp_path / "other"
    other.mkdir()
    init(project, "--client", name, "--yes")
    before = served(name, project)
    init(other, "--client", name, "--yes")
    init(project, "--client", name, "--yes")
    assert served(name, project) == before
    assert served(name, other) != before or CLIENTS[name].root != "."


def test_projects_whose_folders_have_the_same_name_are_told_apart(tmp_path: Path, project: Path) -> None:
    """By the folder above, and when that is the same too by a number; what is no letter is left out."""
    roots = [tmp_path / "one/web app", tmp_path / "two/web app", tmp_path / "three/two/web app", tmp_path / "x/店"]
    for root in roots * 2:
        root.mkdir(parents=True, exist_ok=True)
        assert init(root, "--client", "claude-desktop", "--yes") == DONE
    entries = desktop_entries()
    assert list(entries)[:3] == ["graphrag-web-app", "graphrag-two-web-app", "graphrag-web-app-2"]
    assert [Path(entry["args"][-1]) for entry in entries.values()] == roots
    assert all(name.isascii() for name in entries)


def test_an_older_entry_of_this_project_is_kept_under_its_name(project: Path) -> None:
    """And what the user added to it; one of another project stays what it is."""
    file = CLIENTS["claude-desktop"].settings(project)
    file.parent.mkdir(parents=True)
    ours = {"command": "old", "args": ["serve", "--root", str(project)], "env": {"GRAPHRAG_WATCH": "off"}}
    file.write_text(json.dumps({"mcpServers": {"graphrag": ours}}))
    assert init(project, "--client", "claude-desktop", "--yes") == DONE
    (name,) = desktop_entries()
    assert name == "graphrag"
    assert desktop_entries()[name]["env"] == {"GRAPHRAG_WATCH": "off"}
    assert desktop_entries()[name]["command"] != "old"
    foreign = {"command": "old", "args": ["serve", "--root", "/elsewhere"]}
    file.write_text(json.dumps({"mcpServers": {"graphrag": foreign}}))
    assert init(project, "--client", "claude-desktop", "--yes") == DONE
    assert desktop_entries()["graphrag"] == foreign
    assert list(desktop_entries()) == ["graphrag", "graphrag-project"]


def test_what_a_user_has_to_do_once_is_said(project: Path, capsys: Lines) -> None:
    """Claude Code wants an approval, others a trusted project; for the rest there is nothing."""
    said = {}
    for name in CLIENTS:
        init(project, "--client", name, "--yes")
        said[name] = capsys.readouterr().out
        init(project, "--client", name, "--uninstall", "--yes")
        capsys.readouterr()
    assert '"Pending approval"' in said["claude-code"]
    trusting = {name for name, text in said.items() if "project that you trust" in text}
    assert trusting == {"codex", "copilot-cli", "gemini-cli", "zed"}
    assert {name for name, text in said.items() if "approv" in text} == {"claude-code"}


@pytest.mark.parametrize("is_installed", [True, False])
def test_no_file_of_the_project_names_a_folder_of_this_machine(
    project: Path, capsys: Lines, monkeypatch: pytest.MonkeyPatch, is_installed: bool
) -> None:
    """Such a file is committed and shared; where the program is not on PATH, that is said instead."""
    if not is_installed:
        monkeypatch.setenv("PATH", "")
    init(project, "--yes", "--agents", "--ignore-file", *(word for name in CLIENTS for word in ("--client", name)))
    written = [path for path in project.rglob("*") if path.is_file() and path.name != "code.py"]
    assert {path.name for path in written} == {
        ".graphragignore",
        ".mcp.json",
        "AGENTS.md",
        "config.toml",
        "mcp.json",
        "opencode.json",
        "settings.json",
    }
    for path in written:
        if path.name != ".graphragignore":  # Its patterns may begin with a slash.
            assert not re.search(r'["\s]/\w', path.read_text()), path
        assert not {str(project), str(Path.home()), sys.prefix} & set(re.findall(r"/[\w./-]+", path.read_text()))
    assert ("is not on PATH" in capsys.readouterr().out) is not is_installed


@pytest.mark.parametrize(
    ("user", "shared", "local", "starts_twice"),
    [
        (None, None, None, False),
        (True, None, None, True),
        (False, True, None, True),
        (True, None, False, False),
        (False, None, None, False),
    ],
)
def test_a_server_that_the_plugin_starts_too_is_a_warning(
    project: Path, capsys: Lines, user: bool | None, shared: bool | None, local: bool | None, starts_twice: bool
) -> None:
    """`init` says so before it asks, and the doctor afterwards; of Claude Code's settings the later ones decide."""
    folders = (Path.home() / ".claude/settings.json", project / ".claude/settings.json")
    for file, is_on in zip((*folders, project / ".claude/settings.local.json"), (user, shared, local), strict=True):
        file.parent.mkdir(parents=True, exist_ok=True)
        if is_on is not None:
            file.write_text(json.dumps({"enabledPlugins": {"other@x": True, "graphrag-mcp@graphrag-mcp": is_on}}))
    init(project, "--client", "cursor", "--yes")
    assert "starts the server too" not in capsys.readouterr().out
    init(project, "--yes")
    assert ("the plugin graphrag-mcp@graphrag-mcp starts the server too" in capsys.readouterr().out) is starts_twice
    _, found = findings(project, capsys)
    assert (found["Claude Code"]["verdict"] == "warning") is starts_twice
    assert found["Cursor"]["verdict"] == "ok"


def test_a_program_that_is_not_on_path_is_not_repaired_by_init(
    project: Path, capsys: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next step is to install it, since `init` would write the same again."""
    init(project, "--yes")
    monkeypatch.setenv("PATH", "")
    capsys.readouterr()
    _, found = findings(project, capsys)
    assert "install it" in found["Claude Code"]["next_step"]


def test_without_an_answer_nothing_is_written(project: Path, capsys: Lines) -> None:
    """Asked in a pipe, nobody said yes."""
    assert init(project) == FAILED
    assert "nothing was written" in capsys.readouterr().err
    assert sorted(path.name for path in project.iterdir()) == ["code.py"]


def test_what_stands_in_a_file_is_kept(project: Path) -> None:
    """Other servers, other settings, what a user added to ours, the order and the file's mode."""
    file = project / ".mcp.json"
    ours = {"command": "old", "args": ["x"], "env": {"GRAPHRAG_WATCH": "off"}}
    file.write_text(json.dumps({"other": 1, "mcpServers": {"a": {"command": "b"}, "graphrag": ours}}, indent=4))
    file.chmod(0o600)
    assert init(project, "--yes") == DONE
    written = json.loads(file.read_text())
    assert list(written) == ["other", "mcpServers"]
    assert written["mcpServers"]["a"] == {"command": "b"}
    assert written["mcpServers"]["graphrag"]["env"] == {"GRAPHRAG_WATCH": "off"}
    assert written["mcpServers"]["graphrag"]["args"] == ["serve"]
    assert file.read_text().startswith('{\n    "other"')
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_comments_in_toml_are_kept(project: Path) -> None:
    """Codex has other settings in the same file."""
    file = project / ".codex/config.toml"
    file.parent.mkdir(parents=True)
    file.write_text('# mine\nmodel = "x"  # this one\n\n[mcp_servers.other]\ncommand = "y"\n')
    assert init(project, "--client", "codex", "--yes") == DONE
    text = file.read_text()
    assert text.startswith('# mine\nmodel = "x"  # this one\n')
    assert tomllib.loads(text)["mcp_servers"]["other"] == {"command": "y"}
    assert tomllib.loads(text)["mcp_servers"]["graphrag"]["args"] == ["serve"]


def test_tabs_stay_tabs(project: Path) -> None:
    """A file is indented as it was."""
    file = project / ".mcp.json"
    file.write_text('{\n\t"other": {\n\t\t"a": 1\n\t}\n}\n')
    assert init(project, "--yes") == DONE
    assert file.read_text().startswith('{\n\t"other": {\n\t\t"a": 1\n\t},\n\t"mcpServers": {\n\t\t"graphrag"')


def test_what_cannot_be_written_leaves_nothing_behind(
    project: Path, capsys: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full at the second of three files: it stays what it was, and the third is written."""
    (project / ".cursor").mkdir()
    (project / ".cursor/mcp.json").write_text('{"other": 1}')
    monkeypatch.setattr(shutil, "copymode", _fail)  # Only a file that exists has a mode.
    clients = ("--client", "claude-code", "--client", "cursor", "--client", "vscode")
    assert init(project, *clients, "--yes") == FAILED
    assert (project / ".cursor/mcp.json").read_text() == '{"other": 1}'
    assert capsys.readouterr().err.count("cannot be written") == 1
    written = sorted(path.name for path in project.rglob("*") if path.is_file())
    assert written == [".mcp.json", "code.py", "mcp.json", "mcp.json"]


def _fail(*_: object) -> None:
    raise OSError("No space left on device")


def test_a_link_inside_the_project_stays_one(project: Path) -> None:
    """What it leads to is written."""
    (project / "shared.json").write_text("{}")
    (project / ".mcp.json").symlink_to("shared.json")
    assert init(project, "--yes") == DONE
    assert (project / ".mcp.json").is_symlink()
    assert "graphrag" in (project / "shared.json").read_text()


@pytest.mark.parametrize(
    ("client", "text"),
    [
        *(("claude-code", text) for text in ("[]", '{"mcpServers": 1}', "{", "/* {}")),
        *(("codex", text) for text in ("mcp_servers = {}\n", "mcp_servers = 1\n", "mcp_servers =")),
    ],
)
def test_a_file_that_cannot_be_merged_is_left_as_it_is(project: Path, client: str, text: str, capsys: Lines) -> None:
    """The message says how to repair the file."""
    file = CLIENTS[client].settings(project)
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    assert init(project, "--client", client, "--yes") == FAILED
    assert file.read_text() == text
    message = capsys.readouterr().err
    assert f"{file} was left as it is" in message
    assert "correct it, then run again" in message


def test_no_ignore_file_is_written_unless_it_is_asked_for(project: Path) -> None:
    """It would replace the built-in rules by a copy that no later version improves."""
    assert init(project, "--yes") == DONE
    assert not (project / ".graphragignore").exists()


def test_an_ignore_file_is_given_once_and_never_touched(project: Path, capsys: Lines) -> None:
    """The first one indexes what was indexed without it."""
    assert run(["index", "--root", str(project)]) == DONE
    before = capsys.readouterr().out
    assert before.startswith("1 added")
    assert init(project, "--yes", "--ignore-file") == DONE
    assert "node_modules/" in (project / ".graphragignore").read_text()
    (project / ".graphragignore").write_text("mine\n")
    assert init(project, "--yes", "--ignore-file") == DONE
    assert (project / ".graphragignore").read_text() == "mine\n"


def findings(project: Path, capsys: Lines) -> tuple[int, dict[str, dict[str, str]]]:
    """Return the exit code of the doctor, and what it says of each part."""
    code = run(["doctor", "--root", str(project), "--json"])
    return code, {one["part"]: one for one in json.loads(capsys.readouterr().out)}


def test_a_sound_project_gets_no_advice(project: Path, capsys: Lines) -> None:
    """Once it is indexed and connected."""
    init(project, "--yes")
    run(["index", "--root", str(project)])
    capsys.readouterr()
    code, found = findings(project, capsys)
    assert code == DONE
    assert {part for part, one in found.items() if one["next_step"]} <= {"watching"}
    assert found["index"]["text"].startswith("ready, ")


@pytest.mark.parametrize(
    ("part", "harm"),
    [
        ("settings", lambda project: (project / ".graphrag.toml").write_text("nonsense = 1")),
        ("index", lambda project: next(project.parent.glob("data/*/index-*.sqlite")).write_bytes(b"x" * 9000)),
        ("Claude Code", lambda project: (project / ".mcp.json").write_text(GONE)),
    ],
)
def test_what_is_wrong_is_named_with_the_next_step(project: Path, part: str, harm: Harm, capsys: Lines) -> None:
    """And nothing else is said to be wrong with it."""
    run(["index", "--root", str(project)])
    harm(project)
    capsys.readouterr()
    code, found = findings(project, capsys)
    assert code == NOTHING
    assert found[part]["verdict"] == "failed"
    assert found[part]["next_step"]
    assert [one for one, what in found.items() if what["verdict"] == "failed"] == [part]


@pytest.mark.parametrize(
    ("part", "file", "text"),
    [
        ("VS Code", ".vscode/mcp.json", '{ // mine\n  "servers": []\n}'),
        ("Claude Code", ".mcp.json", '{"mcpServers": {"graphrag": "x"}}'),
        ("Claude Code", ".mcp.json", '{"mcpServers": []}'),
        ("Cursor", ".cursor/mcp.json", '{"graphrag'),
        ("Codex", ".codex/config.toml", "mcp_servers = graphrag"),
        ("Codex", ".codex/config.toml", "mcp_servers.graphrag = 1"),
    ],
)
def test_a_client_that_cannot_be_checked_is_a_warning(
    project: Path, part: str, file: str, text: str, capsys: Lines
) -> None:
    """The client may well read what the doctor cannot."""
    (project / file).parent.mkdir(parents=True, exist_ok=True)
    (project / file).write_text(text)
    code, found = findings(project, capsys)
    assert code == DONE
    assert found[part]["verdict"] == "warning"
    assert "cannot be checked" in found[part]["text"]
    assert "`graphrag-mcp init --client" in found[part]["next_step"]


def test_another_server_is_not_taken_for_ours(project: Path, capsys: Lines) -> None:
    """Whatever it is told to read."""
    other = {"command": "npx", "args": ["filesystem", "/srv/graphrag-mcp", "graphrag"]}
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": {"files": other}}))
    _, found = findings(project, capsys)
    assert found["Claude Code"]["text"].endswith("has no server 'graphrag'")


def test_the_entry_of_another_project_is_not_taken_for_ours(project: Path, tmp_path: Path, capsys: Lines) -> None:
    """Claude Desktop has one file for all."""
    other = tmp_path / "other"
    other.mkdir()
    init(other, "--client", "claude-desktop", "--yes")
    capsys.readouterr()
    assert findings(project, capsys)[1]["Claude Desktop"]["text"].endswith("has no server for this project")
    init(project, "--client", "claude-desktop", "--yes")
    capsys.readouterr()
    assert " starts " in findings(project, capsys)[1]["Claude Desktop"]["text"]


def test_a_damaged_index_is_told_from_a_broken_disk(project: Path, capsys: Lines) -> None:
    """Doctor and status name the command that mends it, and that says what it did with the old file."""
    run(["index", "--root", str(project)])
    next(project.parent.glob("data/*/index-*.sqlite")).write_bytes(b"x" * 9000)
    capsys.readouterr()
    _, found = findings(project, capsys)
    assert found["index"]["text"] == "it is damaged (file is not a database)"
    assert "`graphrag-mcp index`" in found["index"]["next_step"]
    assert run(["status", "--root", str(project)]) == FAILED
    assert "run `graphrag-mcp index`" in capsys.readouterr().err
    assert run(["index", "--root", str(project)]) == DONE
    assert "it was moved to index-" in capsys.readouterr().out
    assert findings(project, capsys)[1]["index"]["verdict"] == "ok"


def test_doctor_says_that_a_second_model_is_missing(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: Lines
) -> None:
    """A misspelt name should not stay unnoticed; the index needs no such model."""
    monkeypatch.setenv("GRAPHRAG_EMBEDDING_MODEL", "no/such-model")
    assert run(["index", "--root", str(project)]) == DONE
    capsys.readouterr()
    code, checks = findings(project, capsys)
    assert code != DONE
    assert "'no/such-model' is not available" in str(checks["model"])
