"""Mines a checkout's history: what a commit says it does, and the functions that it changed, as they were then."""

import re
import secrets
import time
from collections.abc import Iterator
from pathlib import Path

from graphrag_mcp.languages.registry import detect_language
from graphrag_mcp.model.files import Category
from graphrag_mcp.parsing.categories import categorise
from graphrag_mcp.system.git import Git, GitError
from training.pairs import DOCUMENT_CHARACTERS

COMMITS = 1_200  # The newest ones.
MOST_FILES = 4  # A commit that changes more is about none of them.
FEWEST_CHARACTERS = 20
CHARACTERS_BEFORE = 500  # The change.
TIMEOUT_SECONDS = 90.0

_ROUTINE = re.compile(r"merge|revert|bump|release|version|changelog|typo|lint|format|\bci\b|deps|v?\d+\.\d+", re.I)
_LABEL = re.compile(r"^\w+(?:\([^)]*\))?!?:\s*|\s*\(?#\d+\)?")  # "fix(core): " and "(#123)".


def read_commits(checkout: Path) -> Iterator[tuple[str, str, str]]:
    """Yield (path, message's first line, changed function); nothing where git cannot tell."""
    mark = secrets.token_hex(16)  # Between commits: no message or file can hold it.
    try:
        git = Git(checkout)
        output = git.run(
            time.monotonic() + TIMEOUT_SECONDS,
            "log", f"-n{COMMITS}", "--no-merges", "--no-textconv", "--no-ext-diff", "--no-color", "--no-renames",
            "--diff-filter=M", "-p", "-U3", "--function-context", f"--format={mark}%s", "--end-of-options", git.head(),
        )  # fmt: skip
    except GitError:
        return
    for record in output.decode(errors="replace").split(mark)[1:]:
        subject, _, patch = record.partition("\n")
        files = patch.split("\ndiff --git ")[1:]
        said = _LABEL.sub("", subject).strip()
        if len(said) < FEWEST_CHARACTERS or _ROUTINE.search(subject) or not said.isascii() or len(files) > MOST_FILES:
            continue
        for file in files:
            header, *hunks = re.split(r"^@@ .* @@.*\n", file, flags=re.M)
            path = header.partition(" b/")[2].partition("\n")[0]
            if detect_language(path) and categorise(path) is Category.IMPLEMENTATION:
                yield from ((path, said, _after(hunk)) for hunk in hunks[:2])


def _after(hunk: str) -> str:
    """Return what the hunk's function became: all of a short one, of a long one what is around the change."""
    lines = [line for line in hunk.splitlines() if line[:1] in ("+", " ")]
    changed = next((row for row, line in enumerate(lines) if line[0] == "+"), 0)
    text = "\n".join(line[1:] for line in lines)
    start = len("\n".join(lines[:changed])) - changed - CHARACTERS_BEFORE
    return text[max(0, min(start, len(text) - DOCUMENT_CHARACTERS)) :][:DOCUMENT_CHARACTERS]
