"""The notes of what `init` wrote in the files of a project and of the user, by which it is undone byte for byte."""

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

FILE = "written.json"


class WrittenFiles:
    """What was written for one project. A note has no text of a file but what was replaced."""

    def __init__(self, data: Path, root: Path) -> None:
        """data: the folder of all indexes, where the notes are."""
        self.file = data / FILE
        self._projects: dict[str, dict[str, Any]] = {}
        with suppress(OSError, ValueError, AttributeError, TypeError):
            self._projects = {
                str(project): dict(notes) for project, notes in json.loads(self.file.read_bytes()).items()
            }
        self._notes = self._projects.setdefault(os.fspath(root), {})

    def before(self, file: Path, text: str | None) -> tuple[bool, str | None]:
        """Return whether a file was not edited since `init` wrote it, and its text before; None if there was none."""
        with suppress(KeyError, TypeError):
            note = self._notes[os.fspath(file)]
            if text is not None and note["digest"] == _digest(text):
                return True, None if note["is_new"] else text[: note["start"]] + note["text"] + text[note["stop"] :]
        return False, None

    def note(self, file: Path, before: str | None, after: str | None) -> None:
        """Remember what was written; None stands for a file that does not exist."""
        if after is None or after == before:
            self._notes.pop(os.fspath(file), None)
            return
        old = before or ""
        start = _common(old, after)
        end = _common(old[start:][::-1], after[start:][::-1])
        self._notes[os.fspath(file)] = {
            "digest": _digest(after),
            "is_new": before is None,
            "start": start,
            "stop": len(after) - end,
            "text": old[start : len(old) - end],
        }

    def noted(self) -> list[Path]:
        return [Path(file) for file in self._notes]

    def as_text(self) -> str:
        """Return the notes of all projects."""
        return json.dumps({project: notes for project, notes in self._projects.items() if notes}, indent=1)


def _common(one: str, other: str) -> int:
    """Return the number of characters with which both texts begin."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (left, right) in enumerate(pairs) if left != right), min(len(one), len(other)))


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).hexdigest()
