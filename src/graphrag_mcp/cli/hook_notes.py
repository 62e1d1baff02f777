"""What the hooks said in each session, and how often that was used; kept beside the index."""

import json
import os
import stat
import time
from contextlib import suppress
from itertools import islice
from pathlib import Path

import msgspec
from filelock import FileLock
from msgspec import Struct, field

from graphrag_mcp.cli.transcripts import blocks_of, events_of
from graphrag_mcp.index.paths import IndexPaths
from graphrag_mcp.setting_names import TRUST_VARIABLE

MOST_SEARCHES = 5  # Texts before searches in a session.
MOST_UNUSED = 10  # A hook of which as many texts in a row were not used says nothing more.
PATIENCE = 10  # A text is used if one of so many later calls uses it.
_OVER_SECONDS = 3_600.0  # Without a call, after which another session is over.
_MOST_KEPT, _MOST_KEYS = 30, 100  # Sessions and texts that may still be used; keys of a session.
_MOST_BYTES = 1_000_000  # Longer notes are not read.
_LOCK_SECONDS = 0.1


class Said(Struct):
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


class Tally(Struct):
    """The texts of one hook. unused: how many of the last ones were not used, in a row."""

    shown: int = 0
    characters: int = 0
    used: int = 0
    unused: int = 0

    @property
    def is_muted(self) -> bool:
        """Whether the hook says nothing more."""
        return self.unused >= MOST_UNUSED


class Notes(Struct):
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
