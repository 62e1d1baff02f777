"""`usage`: what coding agents looked up with this program, by the transcripts that Claude Code and Codex keep.

Transcripts are read line by line; nothing is written, and nothing leaves the machine. A look-up is a call that searches
or reads code: one of our tools or commands, Grep, Glob, Read, or a shell command such as `rg` or `sed`.
"""

import argparse
import json
import math
import os
import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from graphrag_mcp.cli.hook_notes import Tally, paths_of, read_notes
from graphrag_mcp.cli.options import project_root
from graphrag_mcp.cli.terminal import show
from graphrag_mcp.cli.transcripts import READING, SEARCHING, blocks_of, events_of, inner_command, look_up_in
from graphrag_mcp.errors import RequestError
from graphrag_mcp.text.counts import counted
from graphrag_mcp.text.secrets import mask_secrets
from graphrag_mcp.tools.excerpts import CHARACTERS_PER_TOKEN
from graphrag_mcp.tools.printing import json_text, one_line, printable

MOST_NAME = 200
MOST_COMMAND = 20_000  # Characters of a command in which searches are counted.
MOST_NESTED = 20  # Levels of an answer in which text is counted.
GREPPED_SHOWN = 10
OURS = "ours"
_MCP_NAME = re.compile(r"(?:^|_)graphrag\w*?__(\w+)$")
_SEARCH = re.compile(r"\s*(?:graphrag-mcp\s+)?search\s")
_SEARCHES = {"graphrag_hybrid_search", "query_documents", "query_unique_documents"}
_WHEN = {"edit": "after an edit", "search": "before a search"}
_SHELLS = ("Bash", "shell", "exec_command", "local_shell", "shell_command")


class LookUp(Struct, frozen=True):
    """A call of an agent. kind: OURS, or the program or tool. what: of ours the tool, else what was looked for.

    searches: for each search in it, whether it has several phrasings.
    """

    kind: str
    what: str
    searches: tuple[bool, ...] = ()


class Usage(Struct):
    """Counts over sessions. kept: characters of results, by whether they are ours; grepped: right after one of ours."""

    sessions: int = 0
    first_ours: int = 0
    look_ups: Counter[str] = field(default_factory=Counter)
    tools: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)
    searches: int = 0
    with_phrasings: int = 0
    grepped: Counter[str] = field(default_factory=Counter)
    hooks: Mapping[str, Tally] = field(default_factory=dict)


def run_usage(options: argparse.Namespace) -> None:
    """Print the counts. Raises RequestError if there is no transcript."""
    root = project_root(options.root, os.environ).resolve()
    folders = [Path(name) for name in options.transcripts] or default_folders(root)
    found = (file for folder in folders for file in ([folder] if folder.is_file() else folder.rglob("*.jsonl")))
    files = sorted(file for file in found if file.is_file())
    if not files:
        named = ", ".join(printable(str(folder)) for folder in folders)
        raise RequestError("TRANSCRIPTS", f"TRANSCRIPTS: there are none in {named}; give a file or folder of them")
    usage = count(files, "" if options.transcripts else str(root))
    usage.hooks = read_notes(paths_of(root).hooks).tallies
    show(json_text(usage, 2) if options.json else printable(describe(usage)))


def default_folders(root: Path) -> list[Path]:
    """Return where Claude Code keeps the sessions of a project, and Codex all sessions."""
    claude = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")
    codex = Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex")
    return [claude / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(root)), codex / "sessions"]


def count(files: Sequence[Path], root: str = "") -> Usage:
    """Return the counts of the sessions in files. root: count only sessions in this folder, where they name one."""
    usage = Usage()
    for file in files:
        _add(usage, list(events_of(file)), root)
    return usage


def _add(usage: Usage, events: Sequence[Mapping[str, Any]], root: str) -> None:
    folders = {str(folder) for event in events if (folder := event.get("cwd") or _payload(event).get("cwd"))}
    if root and folders and not any(folder == root or folder.startswith(root + os.sep) for folder in folders):
        return
    calls: dict[str, LookUp] = {}
    last: LookUp | None = None
    for event in events:
        for call_id, look_up in _calls(event):
            if last is None:
                usage.sessions += 1
                usage.first_ours += look_up.kind == OURS
            elif last.kind == OURS and look_up.kind in SEARCHING and look_up.what:
                usage.grepped[look_up.what] += 1
            usage.look_ups[look_up.kind] += 1
            if look_up.kind == OURS:
                usage.tools[look_up.what] += 1
                usage.searches += len(look_up.searches)
                usage.with_phrasings += sum(look_up.searches)
            calls[call_id] = last = look_up
        for call_id, length in _results(event):
            if call_id in calls:
                usage.kept["ours" if calls[call_id].kind == OURS else "others"] += length


def describe(usage: Usage) -> str:
    """Return the counts as text."""
    total, ours = usage.look_ups.total(), usage.look_ups[OURS]
    lines = [f"{counted(usage.sessions, 'session')} with {counted(total, 'look-up')}."]
    if not total:
        return lines[0]
    first = f"first in {usage.first_ours} of {counted(usage.sessions, 'session')}"
    lines.append(f"graphrag-mcp was asked {first}, and in {ours} of all look-ups.")
    for name, kept, number in (("graphrag-mcp", "ours", ours), ("other tools", "others", total - ours)):
        mean = usage.kept[kept] // number if number else 0
        lines.append(f"Characters of answers of {name}: {usage.kept[kept]:,}, {mean:,} a look-up.")
    if usage.searches:
        lines.append(f"Searches with several phrasings: {usage.with_phrasings} of {usage.searches}.")
    for title, counts in (("graphrag-mcp", usage.tools), ("Other tools", usage.look_ups)):
        named = [f"{name} {number}" for name, number in counts.most_common() if name != OURS]
        if named:
            lines.append(f"{title}: {', '.join(named)}.")
    for name, tally in usage.hooks.items():
        tokens = math.ceil(tally.characters / max(1, tally.shown) / CHARACTERS_PER_TOKEN)
        when, muted = _WHEN.get(name, name), "; it says nothing more" if tally.is_muted else ""
        lines.append(f"Hook {when}: {tally.used} of {counted(tally.shown, 'text')} used, {tokens} tokens each{muted}.")
    if usage.grepped:
        lines.append("Searched for as text right after an answer of graphrag-mcp:")
        lines += [f"  {number} x {what}" for what, number in usage.grepped.most_common(GREPPED_SHOWN)]
    return "\n".join(lines)


def _payload(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what an event of Codex contains."""
    payload = event.get("payload")
    return payload if isinstance(payload, dict) else {}


def _calls(event: Mapping[str, Any]) -> Iterator[tuple[str, LookUp]]:
    """Yield the look-ups of an event of Claude Code or Codex, each with the id of its call."""
    called = [(block.get("id"), block.get("name"), block.get("input")) for block in blocks_of(event, "tool_use")]
    payload = _payload(event)
    if payload.get("type") == "function_call":
        with suppress(ValueError, RecursionError):
            arguments = json.loads(str(payload.get("arguments") or "{}"))
            called.append((payload.get("call_id"), payload.get("name"), arguments))
    for call_id, name, arguments in called:
        if look_up := _look_up(str(name), arguments if isinstance(arguments, dict) else {}):
            yield str(call_id), look_up


def _results(event: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Yield the id of each call that an event answers, and how many characters the answer has."""
    for block in blocks_of(event, "tool_result"):
        yield str(block.get("tool_use_id")), _length(block.get("content"))
    payload = _payload(event)
    if payload.get("type") == "function_call_output":
        yield str(payload.get("call_id")), _length(payload.get("output"))


def _length(content: object, levels: int = MOST_NESTED) -> int:
    if isinstance(content, str) or not levels:
        return len(content) if isinstance(content, str) else 0
    if isinstance(content, list):
        return sum(_length(part.get("text") if isinstance(part, dict) else part, levels - 1) for part in content)
    return _length(content.get("content") or content.get("output"), levels - 1) if isinstance(content, dict) else 0


def _look_up(name: str, arguments: Mapping[str, Any]) -> LookUp | None:
    """Return the look-up that a call is, None for another call."""
    if own := _MCP_NAME.search(name[:MOST_NAME]):
        return LookUp(OURS, _shown(own[1]), (bool(arguments.get("queries")),) if own[1] in _SEARCHES else ())
    if name in _SHELLS:
        return _of_shell(arguments.get("command") or arguments.get("cmd"))
    if name in SEARCHING | READING:
        return LookUp(name, _shown(str(arguments.get("pattern") or "")) if name in SEARCHING else "")
    return None


def _of_shell(command: object) -> LookUp | None:
    program, rest = look_up_in(command) or ("", "")
    if program == "graphrag-mcp":
        return LookUp(OURS, rest.split()[0], tuple(_searches_in(inner_command(command))))
    return LookUp(program, _shown(rest) if program in SEARCHING else "") if program else None


def _searches_in(text: str) -> Iterator[bool]:
    """Yield for each search of this program's commands, or lines for `batch`, whether it has several phrasings."""
    for name, *given in _commands_in(text[:MOST_COMMAND]):
        if name == "search":
            yield "--also" in given
        elif name == "batch":
            yield from ("--also" in line for line in (*given, *text.splitlines()[1:]) if _SEARCH.match(line))


def _commands_in(text: str) -> Iterator[list[str]]:
    """Yield the words of each command of this program, as a shell reads them, without its name."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars="();<>|&\n")
    lexer.whitespace, lexer.commenters, lexer.whitespace_split = " \t\r", "", True
    words: list[str] = []
    with suppress(ValueError):  # A quote that is not closed.
        for word in chain(lexer, (";",)):
            if not set(word) <= set("();<>|&\n"):
                words.append(word)
                continue
            names = [word.rpartition("/")[2] for word in words[:-1]]
            if "graphrag-mcp" in names:  # Behind settings of variables, or a program such as env.
                yield words[names.index("graphrag-mcp") + 1 :]
            words = []


def _shown(text: str) -> str:
    return one_line(mask_secrets(text.strip()))[:80]
