"""Cuts a page into its fenced blocks, with the notes that stand above each."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.docs import ROOT

NOTES = ("not run", "file", "exit code", "fresh project")

_FENCE = re.compile(r"(`{3,})(\S*)$")
_NOTE = re.compile(r"<!-- (.+?)(?:: (.+))? -->$")


class PageError(AssertionError):
    """A page is written wrongly, or says what does not happen."""


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block. line: that of its fence, from 1. notes: what the HTML comments directly above it say."""

    page: Path
    line: int
    language: str
    text: str
    notes: Mapping[str, str]

    @property
    def place(self) -> str:
        """The page and the line, for a message."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def is_run(self) -> bool:
        """Whether nothing says that it cannot be run."""
        return "not run" not in self.notes


def read_blocks(page: Path, text: str | None = None) -> list[Block]:
    """Return the blocks of a page, or of another text in its place.

    Raises PageError for a fence that is not closed or indented, and for a note that stands alone.
    """
    return list(_read(page, (page.read_text(encoding="utf-8") if text is None else text).splitlines()))


def _read(page: Path, lines: list[str]) -> Iterator[Block]:
    number, notes = 0, dict[str, str]()
    while number < len(lines):
        line, here = lines[number], f"{page.relative_to(ROOT)}:{number + 1}"
        number += 1
        if line.lstrip().startswith("```") and not line.startswith("`"):
            raise PageError(f"{here}: a fence has to begin its line")
        if fence := _FENCE.match(line):
            end = next((end for end in range(number, len(lines)) if lines[end] == fence[1]), None)
            if end is None:
                raise PageError(f"{here}: the fence is not closed")
            text = "".join(f"{one}\n" for one in lines[number:end])
            yield Block(page, number, fence[2], text, notes)
            number, notes = end + 1, {}
        elif (note := _NOTE.match(line)) and note[1] in NOTES:
            notes = notes | {note[1]: note[2] or ""}
        elif notes:
            raise PageError(f"{here}: a note has to stand directly above a block")


def replace_blocks(page: Path, texts: Mapping[int, str]) -> None:
    """Write a page anew with other texts for the blocks at some lines, in fences longer than any in the text."""
    lines = page.read_text(encoding="utf-8").splitlines()
    for block in reversed(read_blocks(page)):
        if block.line in texts:
            text = texts[block.line]
            fence = max(["``", *re.findall(r"^`{3,}", text, re.MULTILINE)], key=len) + "`"
            end = block.line + block.text.count("\n")
            lines[block.line - 1 : end + 1] = [fence + block.language, *text.splitlines(), fence]
    page.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
