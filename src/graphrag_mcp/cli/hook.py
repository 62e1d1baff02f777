"""`hook`: what Claude Code shows beside an edit or a search, from an event on standard input; silent unless it pays.

It writes nothing in the repository, never fails, and never takes longer than SECONDS. It runs at every edit, so most is
imported only where there is something to look for.
"""

import argparse
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from itertools import islice
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Any

import msgspec

from graphrag_mcp.cli.options import project_root
from graphrag_mcp.model.files import CALLABLE, SymbolKind
from graphrag_mcp.model.graph import ACCESSING, CALLING
from graphrag_mcp.system.safe_files import hash_content, read_file_below
from graphrag_mcp.text.counts import counted, listed
from graphrag_mcp.text.names import as_name

if TYPE_CHECKING:
    from graphrag_mcp.cli.hook_notes import Said
    from graphrag_mcp.graph.unfitting import Unfitting
    from graphrag_mcp.model.sources import Named
    from graphrag_mcp.stores.sqlite.facts import SqliteFacts
    from graphrag_mcp.stores.sqlite.links import SqliteLinks

SECONDS = 1.0
MOST_INPUT, MOST_FILE = 20_000_000, 1_000_000  # Bytes.
MOST_NAME = 100  # Characters of an id.
MOST_CHARACTERS = {"edit": 1_000, "search": 300}
MOST_FUNCTIONS = 3  # Of an edit no more functions are looked at.
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
        if said := (_after_edit if event.hook_event_name == "PostToolUse" else _before_search)(event, root):
            from graphrag_mcp.cli.hook_notes import note

            if note(root, said):
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
    from graphrag_mcp.cli.transcripts import SEARCHING, look_up_in

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
    from graphrag_mcp.cli.hook_notes import Said

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
    from graphrag_mcp.cli.hook_notes import paths_of
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
