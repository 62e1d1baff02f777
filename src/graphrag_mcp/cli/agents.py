"""The section for coding agents in AGENTS.md and CLAUDE.md: which question goes to which tool."""

import re
from importlib import resources
from pathlib import Path

from graphrag_mcp.errors import GraphragError

BEGIN = "<!-- graphrag-mcp: begin (written by `graphrag-mcp init --agents`) -->"
END = "<!-- graphrag-mcp: end -->"
SECTION = (resources.files(__package__) / "agents.md").read_text("utf-8")

_FILES = ("AGENTS.md", "CLAUDE.md")
_IMPORT = re.compile(r"^\s*@(?:\./)?AGENTS\.md\s*$", re.MULTILINE)  # How CLAUDE.md includes another file.
_BLOCK = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)


def agent_files(root: Path) -> list[Path]:
    """Return the files that get the section: those that exist, else AGENTS.md; no text twice."""
    files = [root / name for name in _FILES if (root / name).is_file()] or [root / _FILES[0]]
    if len(files) == 2 and (files[0].samefile(files[1]) or _IMPORT.search(files[1].read_text(errors="replace"))):
        return files[:1]
    return files


def with_section(text: str, file: Path) -> str:
    """Return the text with the section as it is now, the rest byte for byte. Raises GraphragError."""
    line_end = "\r\n" if "\r\n" in text else "\n"
    block = f"{BEGIN}\n{SECTION}{END}".replace("\n", line_end)
    if _find(text, file):
        return _BLOCK.sub(lambda _: block, text, count=1)
    if not text:
        return block + line_end
    # The end of the text stays its end, so that `without_section` can restore it.
    return f"{text}{line_end}{block}{line_end}" if text.endswith("\n") else f"{text}{line_end * 2}{block}"


def without_section(text: str, file: Path) -> str:
    """Return the text as it was before `with_section`. Raises GraphragError."""
    block = _find(text, file)
    if block is None:
        return text
    before, after = text[: block.start()], text[block.end() :]
    line_end = "\r\n" if before.endswith("\r\n") else "\n"
    above = before.removesuffix(line_end)
    if not after:
        return above.removesuffix(line_end)
    return (above if above.endswith("\n") else before) + after.removeprefix(line_end)


def _find(text: str, file: Path) -> re.Match[str] | None:
    block = _BLOCK.search(text)
    if text.count(BEGIN) > 1 or (block is None and (BEGIN in text or END in text)):
        raise GraphragError(
            f"{file} has a part of the section of graphrag-mcp; remove {BEGIN} to {END}, then run again"
        )
    return block
