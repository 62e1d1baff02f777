"""Reads the transcripts of coding agents: their events, and the first look-up of a command of a shell."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from graphrag_mcp.cli.options import ANSWERING

MOST_LINE = 20_000_000  # Characters of a line that is read; no answer is as long.
SEARCHING = {"rg", "grep", "ag", "ack", "git grep", "Grep"}
READING = {"Read", "Glob", "LS", "cat", "sed", "head", "tail", "find", "fd", "ls", "awk", "nl"}
_COMMANDS = re.compile(r"&&|\|\||[;\n]")
_SHELL = re.compile(r"^\S*\b(?:ba|z)?sh -l?c ")


def events_of(file: Path, start: int = 0) -> Iterator[Mapping[str, Any]]:
    """Yield the lines of a transcript that are JSON objects. start: the bytes before the first of them."""
    with file.open(encoding="utf-8", errors="replace") as lines:
        lines.seek(start)
        while line := lines.readline(MOST_LINE):
            try:
                event = json.loads(line)
            except (ValueError, RecursionError):
                continue  # A session that goes on ends in half a line.
            if isinstance(event, dict):
                yield event


def blocks_of(event: Mapping[str, Any], kind: str) -> Iterator[Mapping[str, Any]]:
    message = event.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == kind:
            yield block


def inner_command(command: object) -> str:
    """Return a command of a shell as a text, without a shell that it starts for it."""
    text = " ".join(map(str, command)) if isinstance(command, list) else str(command or "")
    inner = _SHELL.sub("", text)
    return inner if inner == text else inner.strip("'\" ")


def look_up_in(command: object) -> tuple[str, str] | None:
    """Return the program of the first look-up of a command of a shell, and what follows it.

    What filters the output of another program is none.
    """
    for part in _COMMANDS.split(inner_command(command)):
        segment = part.partition("|")[0].strip()
        words = segment.split(maxsplit=2)
        program = " ".join(words[:2]) if words[:2] == ["git", "grep"] else words[0].rpartition("/")[2] if words else ""
        is_own = program == "graphrag-mcp" and words[1:] and words[1] in ANSWERING
        if is_own or program in SEARCHING | READING:
            return program, segment.partition(program)[2]
    return None
