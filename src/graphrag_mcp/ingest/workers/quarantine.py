"""Keeps on disk which file is being parsed, so that the next process knows which file may have ended the last one."""

import json
import logging
from contextlib import suppress
from pathlib import Path

logger = logging.getLogger(__name__)


class Quarantine:
    """The files that ended a parsing process, or were being parsed when it ended for another reason."""

    def __init__(self, file: Path) -> None:
        """file: where the list is kept; only the holder of the write lock writes it."""
        self._file = file
        self._paths = _read(file)

    def __contains__(self, path: str) -> bool:
        """Whether a file must be parsed in a process of its own."""
        return path in self._paths

    def begin(self, path: str) -> None:
        """Write down the file that is parsed next, in place of the one before."""
        self._write({*self._paths, path})

    def record(self, path: str, *, ended_process: bool) -> None:
        """Keep a file that ended its own process, release one that did not."""
        (self._paths.add if ended_process else self._paths.discard)(path)

    def end(self) -> None:
        """Write down that no file is being parsed."""
        self._write(self._paths)

    def _write(self, paths: set[str]) -> None:
        try:
            if paths:
                self._file.touch(mode=0o600)
                self._file.write_text(json.dumps(sorted(paths)), encoding="ascii")
            else:
                self._file.unlink(missing_ok=True)
        except OSError as error:  # For example a full disk: writing the index reports it.
            logger.debug("%s cannot be written: %s", self._file, error)


def _read(file: Path) -> set[str]:
    with suppress(OSError, ValueError):
        paths = json.loads(file.read_bytes())
        if isinstance(paths, list):
            return {path for path in paths if isinstance(path, str)}
    return set()
