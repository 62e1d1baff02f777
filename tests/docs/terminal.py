"""Draws the terminal that README.md shows: commands in the sample project, with what they print.

python -m tests.docs.terminal
"""

import subprocess
import tempfile
from html import escape
from pathlib import Path
from xml.etree import ElementTree

from tests.docs.runner import Reader

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "pictures" / "answers.svg"
# Each with how many lines of its answer are shown; "..." is in the place of the others.
COMMANDS = (
    ('graphrag-mcp search "where are sessions refreshed"', 10),
    ("graphrag-mcp trace Session.refresh", 10),
    ('graphrag-mcp trace --from place_order --to "Session.is_expired"', 12),
)
BLANK = "\N{NO-BREAK SPACE}"  # Others are shown as one.
WIDTH, LINE, LEFT, TOP = 900, 19, 18, 30
PLAIN, PROMPT, CERTAIN, FAINT = "#d7dae0", "#7fd4a5", "#e6c07b", "#8a919e"
_STYLE = "font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-variant-ligatures: none"


def printed() -> list[str]:
    """Return the lines of the picture, as the commands print them now."""
    with tempfile.TemporaryDirectory() as folder:
        reader = Reader(ROOT / "README.md", Path(folder), "")
        _run(reader, "graphrag-mcp index")
        lines: list[str] = []
        for command, most in COMMANDS:
            answer = _run(reader, command)
            lines += [f"$ {command}", *answer[:most], *(["..."] if len(answer) > most else []), ""]
        return lines[:-1]


def drawn() -> list[str]:
    """Return the lines of the picture as it is."""
    root = ElementTree.parse(PICTURE).getroot()  # noqa: S314 - this module wrote it.
    return [(text.text or "").replace(BLANK, " ") for text in root.iter("{http://www.w3.org/2000/svg}text")]


def main() -> None:
    lines = printed()
    height = TOP + LINE * len(lines)
    rows = (
        f'<text x="{LEFT}" y="{TOP + LINE * row}" fill="{_colour(line)}">{escape(line.replace(" ", BLANK))}</text>'
        for row, line in enumerate(lines)
    )
    box = f'<rect width="{WIDTH}" height="{height}" rx="8" fill="#1d2027"/>'
    size = f'width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" style="{_STYLE}">'
    PICTURE.write_text("\n".join([head, "<title>A terminal</title>", box, *rows, "</svg>", ""]), encoding="utf-8")


def _run(reader: Reader, command: str) -> list[str]:
    done = subprocess.run(
        ["sh", "-c", command], cwd=reader.root, env=reader.environment, capture_output=True, text=True, check=True
    )
    return done.stdout.rstrip("\n").split("\n")


def _colour(line: str) -> str:
    if line.startswith("$ "):
        return PROMPT
    if line.startswith("Complete") or " certain" in line or line[:1].isdigit():
        return CERTAIN
    return FAINT if line == "..." else PLAIN


if __name__ == "__main__":
    main()
