"""Remembers on disk which file is being parsed: whoever finds it there knows what may have ended the last process."""

import json
import logging
from contextlib import suppress
from pathlib import Path

logger = logging.getLogger(__name__)


class Suspects:
    """The files that ended a process that parsed them, or were being parsed when it ended, for whatever reason."""

    def __init__(self, file: Path) -> None:
        """file: where they are kept; only one process at a time may write it."""
        self._file = file
        self._paths = _read(file)

    def __contains__(self, path: str) -> bool:
        """Tell whether a file should be parsed in a process of its own."""
        return path in self._paths

    def note(self, path: str) -> None:
        """Remember a file that is parsed next, in place of the one before."""
        self._write({*self._paths, path})

    def settle(self, path: str, *, is_deadly: bool) -> None:
        """Keep a file that ended its process, let one go that did not."""
        (self._paths.add if is_deadly else self._paths.discard)(path)

    def keep(self) -> None:
        """Remember the deadly files only: nothing is being parsed."""
        self._write(self._paths)

    def _write(self, paths: set[str]) -> None:
        try:
            if paths:
                self._file.touch(mode=0o600)
                self._file.write_text(json.dumps(sorted(paths)), encoding="ascii")
            else:
                self._file.unlink(missing_ok=True)
        except OSError as error:  # A full disk, say: the index will tell.
            logger.debug("%s cannot be written: %s", self._file, error)


def _read(file: Path) -> set[str]:
    with suppress(OSError, ValueError):
        paths = json.loads(file.read_bytes())
        if isinstance(paths, list):
            return {path for path in paths if isinstance(path, str)}
    return set()
