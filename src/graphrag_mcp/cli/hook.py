"""`hook`: what Claude Code shows beside an edit or a search, from an event on standard input; silent unless it pays.

It writes nothing in the repository, never fails, and never takes longer than SECONDS. It runs at every edit, so most is
imported only where there is something to look for.
"""

import argparse
import json
import os
import re
import shlex
import stat
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Any

import msgspec
from filelock import FileLock

from graphrag_mcp.cli.options import ANSWERING, project_root
from graphrag_mcp.index.paths import IndexPaths
from graphrag_mcp.model.files import CALLABLE, SymbolKind
from graphrag_mcp.model.graph import ACCESSING, CALLING
from graphrag_mcp.settings import TRUST_VARIABLE
from graphrag_mcp.system.safe_files import hash_content, read_file_below
from graphrag_mcp.text.counts import counted, listed
from graphrag_mcp.text.names import as_name

if TYPE_CHECKING:
    from graphrag_mcp.graph.unfitting import Unfitting
    from graphrag_mcp.model.sources import Named
    from graphrag_mcp.stores.sqlite.facts import SqliteFacts
    from graphrag_mcp.stores.sqlite.links import SqliteLinks


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


MOST_SEARCHES = 5  # Texts before searches in a session.
MOST_UNUSED = 10  # A hook of which as many texts in a row were not used says nothing more.
PATIENCE = 10  # A text is used if one of so many later calls uses it.
_OVER_SECONDS = 3_600.0  # Without a call, after which another session is over.
_MOST_KEPT, _MOST_KEYS = 30, 100  # Sessions and texts that may still be used; keys of a session.
_MOST_BYTES = 1_000_000  # Of the notes.
_LOCK_SECONDS = 0.1


@dataclass(slots=True)
class Said:
    """A text of a hook. key: what is said once in a session. uses: paths; a later call that has one of them uses it.

    call: the one before or after which it is said. start: the bytes of the transcript before it.
    """

    hook: str
    key: str
    uses: list[str]
    text: str
    session: str
    call: str
    transcript: str
    start: int


@dataclass(slots=True)
class Tally:
    """The texts of one hook. unused: how many of the last ones were not used, in a row."""

    shown: int = 0
    characters: int = 0
    used: int = 0
    unused: int = 0

    @property
    def is_muted(self) -> bool:
        """Whether the hook says nothing more."""
        return self.unused >= MOST_UNUSED


@dataclass(slots=True)
class Notes:
    """The notes of a tree. keys: by session and hook."""

    tallies: dict[str, Tally] = field(default_factory=dict)
    keys: dict[str, list[str]] = field(default_factory=dict)
    waiting: list[Said] = field(default_factory=list)


def paths_of(root: Path) -> IndexPaths:
    """Return where the index is; without the settings, which take long, unless the project may choose the folder."""
    if os.environ.get(TRUST_VARIABLE):
        from graphrag_mcp.settings import load_settings

        return IndexPaths(root, load_settings(root, os.environ).indexing.data_dir)
    return IndexPaths(root, os.environ.get("GRAPHRAG_DATA_DIR", ""))


def read_notes(file: Path, session: str = "") -> Notes:
    """Return the notes, with what is known by now; new ones where there are none, or where they are damaged."""
    notes = Notes()
    with suppress(OSError, ValueError, RecursionError), file.open("rb") as data:
        notes = msgspec.json.decode(data.read(_MOST_BYTES), type=Notes)
    notes.waiting = [said for said in notes.waiting if not _is_settled(said, session, notes)]
    return notes


def note(root: Path, said: Said) -> bool:
    """Note a text; return False if it must not be said: its hook is muted, or said it, or said too much already."""
    file, session = paths_of(root).hooks, f"{said.session} {said.hook}"
    with FileLock(file.with_suffix(".lock"), _LOCK_SECONDS, mode=0o600):
        notes = read_notes(file, said.session)
        tally, keys = notes.tallies.setdefault(said.hook, Tally()), notes.keys.pop(session, [])
        most = MOST_SEARCHES if said.hook == "search" else _MOST_KEYS
        is_said = not tally.is_muted and said.key not in keys and len(keys) < most
        if is_said:
            tally.shown, tally.characters = tally.shown + 1, tally.characters + len(said.text)
            keys, notes.waiting = [*keys, said.key], [*notes.waiting, said][-_MOST_KEPT:]
        notes.keys = dict([*notes.keys.items(), (session, keys)][-_MOST_KEPT:])
        new = file.with_suffix(".new")
        new.write_bytes(msgspec.json.encode(notes))
        new.replace(file)
    return is_said


def _is_settled(said: Said, session: str, notes: Notes) -> bool:
    """Count a text if one of the next calls used it, or none will."""
    tally, calls, is_over = notes.tallies.setdefault(said.hook, Tally()), 0, False
    with suppress(OSError, ValueError):
        status = Path(said.transcript).stat()
        is_known = stat.S_ISREG(status.st_mode)
        is_over = is_known and said.session != session and time.time() - status.st_mtime > _OVER_SECONDS
        events = events_of(Path(said.transcript), said.start) if is_known else iter(())
        later = (block for event in events for block in blocks_of(event, "tool_use") if block.get("id") != said.call)
        for block in islice(later, PATIENCE):
            given = json.dumps(block.get("input"), ensure_ascii=False)
            is_ours = "graphrag" in str(block.get("name")) or "graphrag-mcp " in given
            calls += 1
            if (is_ours and said.key in given) or any(before + use in given for use in said.uses for before in '"/ '):
                tally.used, tally.unused = tally.used + 1, 0
                return True
    is_over = is_over or calls == PATIENCE
    tally.unused += is_over
    return is_over


SECONDS = 1.0
MOST_INPUT, MOST_FILE = 20_000_000, 1_000_000  # Bytes.
MOST_NAME = 100  # Characters of an id.
MOST_CHARACTERS = {"edit": 1_000, "search": 300}
MOST_FUNCTIONS = 3  # Of an edit.
MOST_DEFINITIONS = 3  # A name with more says too little.
_PLACES_SHOWN = 5
_NAME = re.compile(r"(?:\\b|\\<)?(?:(?:class|def|func|function) )?([^\W\d]\w{2,99})(?:\\b|\\>)?(?:\\?\()?")
_VALUED = "-A -B -C -D -T -d -f -g -m -t --exclude --exclude-dir --glob --include --type --type-not".split()  # noqa: SIM905


class Event(msgspec.Struct):
    """What Claude Code sends."""

    hook_event_name: str
    session_id: str
    tool_name: str
    tool_input: dict[str, Any]
    cwd: str = ""
    tool_use_id: str = ""
    transcript_path: str = ""
    tool_response: Any = None


def run_hook(options: argparse.Namespace) -> None:
    """Print what is worth saying of an event."""
    guard = Timer(SECONDS, os._exit, (0,))
    guard.daemon = True
    guard.start()
    with suppress(Exception):
        event = msgspec.json.decode(sys.stdin.buffer.read(MOST_INPUT), type=Event)
        root = project_root(options.root, os.environ).resolve()
        said = (_after_edit if event.hook_event_name == "PostToolUse" else _before_search)(event, root)
        if said and note(root, said):
            answer = {"hookEventName": event.hook_event_name, "additionalContext": said.text}
            sys.stdout.write(msgspec.json.encode({"hookSpecificOutput": answer}).decode())
    guard.cancel()


def _after_edit(event: Event, root: Path) -> "Said | None":
    """Return which calls the edited functions cannot take any more."""
    from graphrag_mcp.graph.unfitting import Edit

    path = _inside(root, event, event.tool_input["file_path"])
    before = event.tool_response["originalFile"]
    edit = Edit(path, before, read_file_below(root, path, MOST_FILE).decode())
    if not edit.functions:
        return None
    with _opened(root, {path: before.encode()}) as index:
        found = list(islice(edit.unfitting(*index), MOST_FUNCTIONS))
    text = " ".join(map(_sentence, found))
    return _said(event, "edit", text, [path for function in found for path, _, _ in function.calls], text)


def _sentence(function: "Unfitting") -> str:
    all_passed = dict.fromkeys(passed for _, _, passed in function.calls)
    names = [passed for passed in all_passed if passed.startswith("`")]
    takes = f"{function.takes}" if len(names) < len(all_passed) else f"no {', '.join(names)}"
    parts = [f"`{function.name}` takes {takes} now"]
    for given in all_passed:
        places = [f"{as_name(path)}:{line}" for path, line, passed in function.calls if passed == given]
        number = f"{'' if function.is_all else 'at least '}{counted(len(places), 'certain call')}"
        verb = "passes" if len(places) == 1 else "pass"
        parts.append(f"{number} {verb} {given}: {listed(places, _PLACES_SHOWN)}")
    return f"{'; '.join(parts)}."


def _before_search(event: Event, root: Path) -> "Said | None":
    """Return where the name that is searched for is defined, and how much certainly uses it."""
    pattern, *folders = _searched(event)
    named = _NAME.fullmatch(pattern)
    if named is None or not all(_inside(root, event, folder) for folder in folders):
        return None
    with _opened(root, {}) as (facts, links, read):
        called = facts.called(named[1])
        rows = [row for row in called if row.kind != SymbolKind.SECTION and not row.file.is_archived]
        is_clear = len(rows) <= MOST_DEFINITIONS and all(read(row.file.path) is not None for row in rows)
        places = [_place(row, facts, links) for row in rows] if is_clear else []
    for most in range(len(places), 0, -1):
        text = f"`{named[1]}` is defined at {listed(places, most)}; trace_relations lists them."
        if said := _said(event, "search", text, [row.file.path for row in rows], named[1]):
            return said
    return None


def _place(row: "Named", facts: "SqliteFacts", links: "SqliteLinks") -> str:
    """Return where something is defined, and how much certainly calls it, or uses it."""
    from graphrag_mcp.model.links import How

    calls = [link for link in links.to((row.place,), (How.CERTAIN, How.SAID)) if link.kind in (*CALLING, *ACCESSING)]
    callers = {(link.path, link.source) for link in calls}
    tests = facts.tests_among(path for path, _ in callers)
    in_tests = sum(path in tests for path, _ in callers)
    number = counted(len(callers), f"certain {'caller' if row.kind in CALLABLE else 'user'}")
    return f"{as_name(row.file.path)}:{row.start_line} ({number}, {in_tests} in tests)"


def _searched(event: Event) -> list[str]:
    """Return the pattern of a search, and the files and folders in which it is looked for."""
    if event.tool_name != "Bash":
        return [event.tool_input["pattern"], event.tool_input.get("path") or ""]

    program, rest = look_up_in(event.tool_input["command"]) or ("", "")
    words, plain = iter(shlex.split(rest) if program in SEARCHING else ()), list[str]()
    for word in words:
        if word in ("-e", "--regexp"):
            plain.insert(0, next(words, ""))
        elif word in _VALUED:
            next(words, "")
        elif not word.startswith("-"):
            plain.append(word)
    return plain or [""]


def _said(event: Event, hook: str, text: str, uses: list[str], key: str) -> "Said | None":
    """Return a text to say, None for an empty or long one; the names and paths in it are from the index, masked."""

    text, transcript = f"graphrag-mcp: {text}" if text else "", Path(event.transcript_path)
    if not 0 < len(text) <= MOST_CHARACTERS[hook]:
        return None
    start = transcript.stat().st_size if transcript.is_file() else 0
    uses, session = list(dict.fromkeys(uses)), event.session_id[:MOST_NAME]
    return Said(hook, key, uses, text, session, event.tool_use_id[:MOST_NAME], str(transcript), start)


def _inside(root: Path, event: Event, path: str) -> str:
    """Return a path as it is below the root. Raises ValueError for another one."""
    return Path(event.cwd, path).resolve().relative_to(root).as_posix()


@contextmanager
def _opened(
    root: Path, earlier: Mapping[str, bytes]
) -> "Iterator[tuple[SqliteFacts, SqliteLinks, Callable[[str], str | None]]]":
    """Open the index at one commit, with what reads a file, or returns None if it is not as it was indexed.

    earlier: files as they were a moment ago, which the index may still have. Raises an error where there is no index.
    """
    from graphrag_mcp.stores.sqlite.database import Database, connect
    from graphrag_mcp.stores.sqlite.facts import SqliteFacts
    from graphrag_mcp.stores.sqlite.links import SqliteLinks
    from graphrag_mcp.stores.sqlite.trees import find_tree

    def read(path: str) -> str | None:
        data = read_file_below(root, path, MOST_FILE)
        is_known = facts.content_hash(path) in map(hash_content, (data, earlier.get(path, data)))
        return data.decode(errors="replace") if is_known else None

    paths = paths_of(root)
    with closing(connect(paths.file.resolve(strict=True))) as connection:  # Neither a file nor a tree is made.
        if find_tree(connection, paths.tree, None) is None:
            raise LookupError(paths.tree)
    with closing(Database(paths.file, paths.tree)) as database, database.snapshot():
        facts = SqliteFacts(database)
        yield facts, SqliteLinks(database), read
