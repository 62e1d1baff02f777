"""`init --agents` tells agents which tool to use, and leaves the rest of their files alone."""

import re
from pathlib import Path

import pytest

from graphrag_mcp.cli import commands
from graphrag_mcp.cli.init import BEGIN, END, SECTION
from graphrag_mcp.cli.run import DONE, FAILED, run
from graphrag_mcp.tools.table import TOOLS

Lines = pytest.CaptureFixture[str]

TEXTS = [
    b"# Rules\n\nBe brief.\n",
    b"# Rules\r\n\r\nBe brief.\r\n",
    b"no line end",
    b"no line end\r\nat the end",
    b"\xef\xbb\xbfblank lines after it\n\n\n",
    b"mixed\r\nline\nends\n",
    "ünïcode\n".encode(),
    b"\n",
]


def init(root: Path, *arguments: str) -> int:
    return run(["init", "--root", str(root), "--agents", "--yes", *arguments])


def names(root: Path) -> list[str]:
    return sorted(file.name for file in root.iterdir())


@pytest.mark.parametrize("text", TEXTS)
def test_the_section_is_added_once_and_removed_without_a_trace(tmp_path: Path, text: bytes, capsys: Lines) -> None:
    """Every other byte stays, line ends too."""
    file = tmp_path / "AGENTS.md"
    file.write_bytes(text)
    assert init(tmp_path) == DONE
    written = file.read_bytes()
    assert written.startswith(text)
    assert (b"\r\n" in written) == (b"\r\n" in text)
    capsys.readouterr()
    assert init(tmp_path) == DONE
    assert "is already set up" in capsys.readouterr().out
    assert file.read_bytes() == written
    assert init(tmp_path, "--remove") == DONE
    assert file.read_bytes() == text


def test_an_older_section_is_replaced_where_it_stands(tmp_path: Path) -> None:
    """What was written around it stays."""
    file = tmp_path / "CLAUDE.md"
    file.write_bytes(f"before\r\n{BEGIN}\r\nold\r\n{END}\r\nafter\r\n".encode())
    assert init(tmp_path) == DONE
    text = file.read_bytes().decode()
    assert text.startswith(f"before\r\n{BEGIN}\r\n## Finding")
    assert text.endswith(f"{SECTION.splitlines()[-1]}\r\n{END}\r\nafter\r\n")
    assert init(tmp_path, "--remove") == DONE
    assert file.read_bytes() == b"before\r\nafter\r\n"


def test_both_files_get_the_section_and_a_new_one_is_made_only_where_there_is_none(tmp_path: Path) -> None:
    """AGENTS.md, which most agents read; it goes again with the section."""
    assert init(tmp_path) == DONE
    assert names(tmp_path) == ["AGENTS.md"]
    assert init(tmp_path, "--remove") == DONE
    assert names(tmp_path) == []
    (tmp_path / "CLAUDE.md").write_text("# Mine\n")
    assert init(tmp_path) == DONE
    assert names(tmp_path) == ["CLAUDE.md"]
    (tmp_path / "AGENTS.md").write_text("# Ours\n")
    assert init(tmp_path) == DONE
    assert BEGIN in (tmp_path / "AGENTS.md").read_text()


@pytest.mark.parametrize("how", ["a link", "an import"])
def test_no_agent_reads_the_section_twice(tmp_path: Path, how: str) -> None:
    """CLAUDE.md often is AGENTS.md under another name, or includes it."""
    (tmp_path / "AGENTS.md").write_text("# Ours\n")
    if how == "a link":
        (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")
    else:
        (tmp_path / "CLAUDE.md").write_text("See\n\n@AGENTS.md\n")
    assert init(tmp_path) == DONE
    assert (tmp_path / "AGENTS.md").read_text().count(BEGIN) == 1
    assert (tmp_path / "CLAUDE.md").is_symlink() or BEGIN not in (tmp_path / "CLAUDE.md").read_text()


def test_half_a_section_is_left_for_a_person(tmp_path: Path, capsys: Lines) -> None:
    """Nobody can know where it should end."""
    file = tmp_path / "AGENTS.md"
    file.write_text(f"# Ours\n{BEGIN}\nedited\n")
    assert init(tmp_path) == FAILED
    assert init(tmp_path, "--remove") == FAILED
    assert file.read_text() == f"# Ours\n{BEGIN}\nedited\n"
    assert f"remove {BEGIN} to {END}, then run again" in capsys.readouterr().err


def test_a_link_out_of_the_project_is_not_followed(tmp_path: Path) -> None:
    """A cloned repository may name any file of the user."""
    outside = tmp_path / "notes.md"
    outside.write_text("mine\n")
    project = tmp_path / "project"
    project.mkdir()
    (project / "AGENTS.md").symlink_to(outside)
    assert init(project) == FAILED
    assert outside.read_text() == "mine\n"


def test_only_the_section_is_written_unless_a_client_is_named(tmp_path: Path) -> None:
    """Whoever uses the plugin has the server already."""
    assert init(tmp_path) == DONE
    assert not (tmp_path / ".mcp.json").exists()
    assert init(tmp_path, "--client", "claude-code") == DONE
    assert (tmp_path / ".mcp.json").exists()


def test_remove_alone_is_refused(tmp_path: Path, capsys: Lines) -> None:
    """It takes nothing away but the section."""
    assert run(["init", "--root", str(tmp_path), "--remove", "--yes"]) == FAILED
    assert "give one of them" in capsys.readouterr().err


def test_the_section_is_short_and_names_every_tool() -> None:
    """An agent reads it in each session: at most twelve lines, and the shell first, which sub-agents have too."""
    assert len(SECTION.splitlines()) <= 12
    assert SECTION.index("graphrag-mcp search") < SECTION.index("graphrag_hybrid_search")
    assert set(re.findall(r"`([a-z]+_[a-z_]+|impact)`", SECTION)) == set(TOOLS)
    for command in re.findall(r"`(?:graphrag-mcp )?([a-z]+)[ `]", SECTION):
        assert command == "impact" or f"run_{command}" in dir(commands) or command == "batch"
