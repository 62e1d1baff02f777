"""`init` finds clients, keeps what is not its own, and is undone; `uninstall` removes the indexes too."""

import json
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from graphrag_mcp.cli import init as init_module
from graphrag_mcp.cli.clients import CLIENTS, Entries, JsonFormat
from graphrag_mcp.cli.init import NOTES_FILE
from graphrag_mcp.cli.options import CLIENT_NAMES
from graphrag_mcp.cli.run import DONE, FAILED, run
from graphrag_mcp.exclusion.manager import ExclusionManager
from tests.cli.test_init import Lines, init

COMMENTED = (
    '{\r\n\t// mine\r\n\t"theme": "dark", /* , */\r\n\t"SECTION": {\r\n\t\t"other": {"command": "x"},\r\n\t},\r\n}'
)
ALL = [word for name in CLIENTS for word in ("--client", name)]


def test_no_search_finds_what_init_wrote(project: Path) -> None:
    """Entries of a client in the project are not indexed: they answer no question, and may hold keys of others."""
    manager = ExclusionManager(project)
    files = {file for client in CLIENTS.values() for file in client.files if not file.startswith("~")}
    assert len(files) >= 8
    assert {file for file in files if not manager.should_exclude(Path(file))} == set()


def contents(*folders: Path) -> dict[str, bytes | None]:
    """Return the bytes of every file below folders, None for a folder."""
    paths = (path for folder in folders for path in folder.rglob("*"))
    return {str(path): path.read_bytes() if path.is_file() else None for path in paths}


def prepared(project: Path) -> None:
    """Give each client a file with comments, line ends and an indentation of its own, where its format allows."""
    for client in CLIENTS.values():
        file = client.settings(project)
        file.parent.mkdir(parents=True, exist_ok=True)
        section = client.format.section  # type: ignore[attr-defined]
        text = COMMENTED.replace("SECTION", section)
        toml = f'# mine\r\nmodel = "x"\r\n\r\n[{section}.other]\r\ncommand = "y" # why'
        file.write_bytes((toml if file.suffix == ".toml" else text).encode())


def test_the_names_of_the_command_line_are_those_of_the_table() -> None:
    """They stand there twice, since help must not wait for the table."""
    assert tuple(CLIENTS) == CLIENT_NAMES


def test_clients_are_found_by_program_home_and_project(project: Path, capsys: Lines) -> None:
    """Each has its file; the others are named, and no file is written for them."""
    (project.parent / "bin" / "codex").touch(mode=0o755)
    (Path.home() / ".codeium" / "windsurf").mkdir(parents=True)
    (project / ".zed").mkdir()
    assert init(project, "--yes") == DONE
    shown = capsys.readouterr().out
    for title, file in {
        "Codex": project / ".codex/config.toml",
        "Windsurf": Path.home() / ".codeium/windsurf/mcp_config.json",
        "Zed": project / ".zed/settings.json",
    }.items():
        assert re.search(rf"^{title}: {re.escape(str(file))}: .*entry.*, new$", shown, re.MULTILINE)
        assert file.exists()
    assert "Not found here: claude-code, claude-desktop, cursor, vscode, copilot-cli, gemini-cli, opencode, " in shown
    assert not (project / ".mcp.json").exists()
    assert init(project, "--yes") == DONE
    assert capsys.readouterr().out.count(", unchanged\n") == 3


def test_what_remove_takes_away_is_no_client(project: Path) -> None:
    """It is of --agents and --hooks; a client that is named beside them is connected."""
    assert init(project, "--agents", "--hooks", "--yes") == DONE
    assert init(project, "--client", "cursor", "--agents", "--hooks", "--remove", "--yes") == DONE
    assert sorted(path.name for path in project.iterdir()) == [".cursor", "code.py"]


def test_where_no_client_is_found_claude_code_is_set_up(project: Path, capsys: Lines) -> None:
    """Its file is read by other clients too."""
    assert init(project, "--yes") == DONE
    assert "No client was found here" in capsys.readouterr().out
    assert (project / ".mcp.json").exists()


def test_a_dry_run_shows_everything_and_writes_nothing(project: Path, capsys: Lines) -> None:
    """Neither files nor notes."""
    before = contents(project.parent)
    assert init(project, *ALL, "--agents", "--hooks", "--ignore-file", "--dry-run") == DONE
    shown = capsys.readouterr().out
    assert shown.count(", new\n") == len(CLIENTS) - 1 + 3  # Claude Code and Copilot CLI have one entry.
    assert f"Copilot CLI: {project}/.mcp.json: entry graphrag, the same one\n" in shown
    assert "+++ " in shown
    assert contents(project.parent) == before


@pytest.mark.parametrize("is_prepared", [False, True])
def test_what_was_not_edited_since_is_restored_byte_for_byte(project: Path, is_prepared: bool) -> None:
    """Files that were there, and those that were not, with the folders that were made for them."""
    if is_prepared:
        prepared(project)
        (project / "AGENTS.md").write_text("# Mine\r\nno line end")
    folders = (project, Path.home())
    before = {path: text for path, text in contents(*folders).items() if text is not None}
    for _ in range(2):
        assert init(project, *ALL, "--agents", "--hooks", "--ignore-file", "--yes") == DONE
        assert run(["index", "--root", str(project)]) == DONE
    assert contents(*folders) != before
    assert init(project, "--uninstall", "--yes") == DONE
    assert {path: text for path, text in contents(*folders).items() if text is not None} == before
    if not is_prepared:
        assert contents(project) == before
    assert json.loads((project.parent / "data" / NOTES_FILE).read_text()) == {}


def test_of_what_was_edited_since_only_the_entry_is_removed(project: Path, capsys: Lines) -> None:
    """The comments and the other servers stay."""
    prepared(project)
    assert init(project, *ALL, "--yes") == DONE
    edited = _edit(project)
    capsys.readouterr()
    assert init(project, "--uninstall", "--yes") == DONE
    for client in CLIENTS.values():
        text = client.settings(project).read_bytes().decode()
        assert "mine" in text
        assert "# later" in text or "// later" in text
        assert list(client.format.read(text)) == ["other"], client.name
    assert edited == len({client.settings(project) for client in CLIENTS.values()})
    assert init(project, "--uninstall", "--yes") == DONE
    assert "has nothing of graphrag-mcp" in capsys.readouterr().out


def _edit(project: Path) -> int:
    """Add a comment at the end of every file, and return their number."""
    files = {client.settings(project) for client in CLIENTS.values()}
    for file in files:
        comment = "# later" if file.suffix == ".toml" else "// later"
        file.write_bytes(file.read_bytes() + f"\r\n{comment}\r\n".encode())
    return len(files)


def test_in_toml_only_the_lines_of_the_entry_are_removed(project: Path) -> None:
    """With the tables that a user added to it; a comment behind it is of the next server."""
    file = project / ".codex/config.toml"
    assert init(project, "--client", "codex", "--yes") == DONE
    ours = file.read_text() + 'startup_timeout_sec = 20\n# ours\n\n[mcp_servers.graphrag.env]\nA = "b"\n'
    other = '\n# the other\n[mcp_servers.graphrag2]\ncommand = "y"\n'
    file.write_text(f'model = "x"\n\n{ours}{other}')
    assert init(project, "--uninstall", "--yes") == DONE
    assert file.read_text() == f'model = "x"\n\n{other}'
    inline = 'mcp_servers = { graphrag = { command = "x" } }\n'
    file.write_text(inline)
    assert init(project, "--uninstall", "--yes") == FAILED
    assert file.read_text() == inline


def test_an_entry_of_an_older_version_is_updated_and_leaves_with_the_rest(project: Path) -> None:
    """It has what makes clients load its tools at once, and what the user added."""
    file = project / ".mcp.json"
    old = {"command": "graphrag-mcp", "args": ["serve"], "env": {"GRAPHRAG_WATCH": "off"}}
    file.write_text(json.dumps({"mcpServers": {"graphrag": old, "b": {"command": "c"}}}))
    assert init(project, "--yes") == DONE
    entry = json.loads(file.read_text())["mcpServers"]["graphrag"]
    assert entry == {**old, "alwaysLoad": True, "deferTools": "never"}
    written = file.read_text()
    assert init(project, "--client", "copilot-cli", "--client", "claude-code", "--yes") == DONE
    assert file.read_text() == written
    assert init(project, "--uninstall", "--yes") == DONE
    assert json.loads(file.read_text()) == {"mcpServers": {"b": {"command": "c"}}}


@pytest.mark.parametrize("first", [0, 1])
def test_two_projects_leave_a_shared_file_in_any_order(project: Path, first: int) -> None:
    """One does not take the other's entry along."""
    other = project.parent / "other"
    other.mkdir()
    file = CLIENTS["windsurf"].settings(project)
    file.parent.mkdir(parents=True)
    file.write_text('{\n  // keep\n  "mcpServers": {"x": {"serverUrl": "https://x"}}\n}\n')
    before = file.read_bytes()
    roots = [project, other]
    for root in roots:
        assert init(root, "--client", "windsurf", "--yes") == DONE
    assert init(roots[first], "--uninstall", "--yes") == DONE
    kept = CLIENTS["windsurf"].format.read(file.read_text())
    assert list(kept) == ["x", f"graphrag-{roots[1 - first].name}"]
    assert init(roots[1 - first], "--uninstall", "--yes") == DONE
    assert file.read_bytes() == before


def test_one_bad_file_does_not_keep_the_others_from_being_written(project: Path, capsys: Lines) -> None:
    """It is left as it is, and said in one sentence."""
    bad = {
        CLIENTS["gemini-cli"].settings(project): '{"mcpServers": ',
        CLIENTS["codex"].settings(project): "mcp_servers = [",
        CLIENTS["zed"].settings(project): "[]",
        project / ".junie": "a file where a folder should be",
    }
    (project / ".vscode").symlink_to(".vscode")  # A circle.
    for file, text in bad.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    assert init(project, *ALL, "--yes") == FAILED
    shown = capsys.readouterr()
    assert shown.err.count("\n") == 1
    for file, text in bad.items():
        assert file.read_text() == text
        assert str(file) in shown.err
    assert str(project / ".vscode") in shown.err
    for name in ("claude-code", "cursor", "opencode", "windsurf", "cline", "claude-desktop"):
        assert CLIENTS[name].command(CLIENTS[name].settings(project).read_text(), project)


class _Careless(JsonFormat):
    """A format that loses what it does not write."""

    def with_entry(self, text: str, name: str, entry: Entries) -> str:
        return super().with_entry("", name, entry)


def test_a_text_without_the_other_servers_is_never_written(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library may lose them."""
    careless = replace(CLIENTS["cursor"], format=_Careless("mcpServers"))
    monkeypatch.setitem(CLIENTS, "cursor", careless)
    (project / ".cursor").mkdir()
    (project / ".cursor/mcp.json").write_text('{"mcpServers": {"other": {}}}')
    assert init(project, "--client", "cursor", "--yes") == FAILED
    assert (project / ".cursor/mcp.json").read_text() == '{"mcpServers": {"other": {}}}'


@pytest.mark.parametrize("option", ["--yes", "--uninstall"])
def test_a_clone_cannot_make_it_write_elsewhere(project: Path, option: str, capsys: Lines) -> None:
    """By links to files, to folders, and to what does not exist yet; nor does it show what lies there."""
    outside = project.parent / "outside"
    outside.mkdir()
    (outside / "config.toml").write_text('[mcp_servers.graphrag]\ncommand = "private"\n')
    (project / ".codex").symlink_to(outside)
    (project / ".cursor").symlink_to(outside / "new")
    (project / ".mcp.json").symlink_to("../outside/new.json")
    (project / "opencode.json").symlink_to(Path.home() / "opencode.json")
    before = contents(outside, Path.home())
    clients = ("codex", "cursor", "claude-code", "opencode")
    assert init(project, *(word for name in clients for word in ("--client", name)), option, "--yes") == FAILED
    shown = capsys.readouterr()
    assert shown.err.count("leads out of the project") == len(clients)
    assert "private" not in shown.out
    assert contents(outside, Path.home()) == before


def test_a_user_s_own_link_is_followed(project: Path) -> None:
    """Settings often lie in another repository; the link stays one, also when it is undone."""
    dotfiles = project.parent / "dotfiles"
    dotfiles.mkdir()
    (dotfiles / "mcp.json").write_text("{}")
    file = CLIENTS["windsurf"].settings(project)
    file.parent.mkdir(parents=True)
    file.symlink_to(dotfiles / "mcp.json")
    assert init(project, "--client", "windsurf", "--yes") == DONE
    assert "graphrag" in (dotfiles / "mcp.json").read_text()
    assert init(project, "--uninstall", "--yes") == DONE
    assert file.is_symlink()
    assert (dotfiles / "mcp.json").read_text() == "{}"


def test_what_changes_while_it_asks_is_not_overwritten(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: Lines
) -> None:
    """The client may have written it."""

    def agrees(_: str) -> bool:
        (project / ".mcp.json").write_text('{"mcpServers": {"new": {}}}')
        return True

    monkeypatch.setattr(init_module, "agrees", agrees)
    assert init(project, "--client", "claude-code", "--client", "cursor") == FAILED
    assert "was changed meanwhile" in capsys.readouterr().err
    assert (project / ".mcp.json").read_text() == '{"mcpServers": {"new": {}}}'
    assert (project / ".cursor/mcp.json").exists()


def test_a_client_with_several_files_has_the_one_that_exists_written(project: Path) -> None:
    """The others would be read as well, but a user looks into the one there is."""
    (project / "opencode.jsonc").write_text('{\n  // mine\n  "model": "x"\n}\n')
    assert init(project, "--yes") == DONE
    text = (project / "opencode.jsonc").read_text()
    assert text.startswith('{\n  // mine\n  "model": "x",\n  "mcp": {\n')
    assert not (project / "opencode.json").exists()


def test_the_notes_contain_no_text_of_the_files(project: Path) -> None:
    """A client's file may contain keys of others."""
    file = CLIENTS["windsurf"].settings(project)
    file.parent.mkdir(parents=True)
    file.write_text('{"mcpServers": {"x": {"env": {"KEY": "s3cret"}}}}')
    assert init(project, "--client", "windsurf", "--yes") == DONE
    notes = project.parent / "data" / NOTES_FILE
    assert "s3cret" not in notes.read_text()
    assert notes.stat().st_mode & 0o077 == 0
    notes.write_text('{"": 1}')  # Damaged notes only mean that the entry is removed by itself.
    assert init(project, "--uninstall", "--yes") == DONE
    assert json.loads(file.read_text()) == {"mcpServers": {"x": {"env": {"KEY": "s3cret"}}}}


def test_uninstall_undoes_init_and_asks_for_the_index_or_for_each(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: Lines
) -> None:
    """A dry run only lists them; without an answer they stay."""
    other = project.parent / "other"
    other.mkdir()
    for root in (project, other):
        assert run(["index", "--root", str(root)]) == DONE
    assert init(project, *ALL, "--hooks", "--yes") == DONE
    indexes = sorted((project.parent / "data").glob("*-*"))
    uninstall = ["uninstall", "--root", str(project)]
    capsys.readouterr()
    for more, count in (((), 1), (("--all",), 2)):
        assert run([*uninstall, "--dry-run", *more]) == DONE
        assert capsys.readouterr().out.count("would ask to remove ") == count
    assert run(uninstall) == FAILED
    assert (project / ".mcp.json").exists()
    asked: list[str] = []

    def agrees(question: str) -> bool:
        asked.append(question)
        return str(other) not in question

    monkeypatch.setattr("graphrag_mcp.cli.indexes.agrees", agrees)
    monkeypatch.setattr(init_module, "agrees", agrees)
    assert run([*uninstall, "--all"]) == DONE
    assert len(asked) == 1 + len(indexes)
    assert sorted(path.name for path in project.iterdir()) == ["code.py"]
    assert [index.name.partition("-")[0] for index in indexes if index.exists()] == ["other"]
    assert run([*uninstall, "--yes"]) == DONE  # That of another project stays.
    assert [index.exists() for index in indexes].count(True) == 1
    assert run([*uninstall, "--yes", "--all"]) == DONE
    assert not any(index.exists() for index in indexes)
