"""Reads ignore files and the files that they include; a file or line that cannot be read is a warning."""

import errno
import os
from itertools import islice
from pathlib import Path

from graphrag_mcp.exclusion.patterns import Rule, parse_rule
from graphrag_mcp.system.safe_files import changed_ns, read_regular_file
from graphrag_mcp.text.counts import counted

_INCLUDE = b":include:"
_INCLUDE_DEPTH = 8  # No sensible nesting is deeper.
SHOWN_WARNINGS = 20
_SIZE_LIMIT = 4 * 1024 * 1024  # It holds about 100,000 rules; a larger file is not an ignore file.
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

Stamp = tuple[int, int, int] | None


def stamp_of(file: Path) -> Stamp:
    """Return the times, size and inode of a file, which change with its content or permissions; None without a file."""
    try:
        status = file.stat()
    except OSError:
        return None
    return changed_ns(status), status.st_size, status.st_ino


class RuleReader:
    """Reads the ignore files of one project, and collects the warnings and the stamps of the files."""

    def __init__(self, root: Path) -> None:
        """root: the project root, with its symlinks resolved."""
        self._root = root
        self._warnings: dict[str, None] = {}
        self.included: set[Path] = set()
        self.stamps: dict[Path, Stamp] = {}

    @property
    def warnings(self) -> tuple[str, ...]:
        """The problems with their files and lines, in the order in which they were found; at the end, how many more."""
        shown = tuple(islice(self._warnings, SHOWN_WARNINGS))
        more = len(self._warnings) - len(shown)
        return (*shown, f"{counted(more, 'more line')} of ignore files without effect") if more else shown

    def read(self, file: Path, *, includes: bool = False, follow_symlink: bool = False) -> list[Rule]:
        """Return the rules of an ignore file, none if it does not exist.

        includes: whether a line `:include:<path>` includes the rules of that file.
        follow_symlink: git does not follow a symlink in place of a project's ignore file.
        """
        try:
            content = read_regular_file(file, _SIZE_LIMIT, follow_symlink=follow_symlink)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            self._warn(f"{self._display(file)}: not read, {_explain(error)}")
            return []
        return self._parse(content, file, {file} if includes else None, 0)

    def note(self, file: Path) -> None:
        """Record the stamp of a file before it is read: its folder may not be watched."""
        self.stamps[file] = stamp_of(file)

    def parse(self, text: str, source: str) -> list[Rule]:
        """Return the rules of a built-in text; source: its name."""
        return [rule for line in text.splitlines() if (rule := parse_rule(line.encode(), source, 0))]

    def _parse(self, content: bytes, file: Path, seen: set[Path] | None, depth: int) -> list[Rule]:
        """seen: the files included so far; None where `:include:` is an ordinary pattern."""
        rules: list[Rule] = []
        source = self._display(file)
        for number, line in enumerate(content.removeprefix(_BYTE_ORDER_MARK).split(b"\n"), start=1):
            if seen is not None and line.startswith(_INCLUDE):
                target = os.fsdecode(line[len(_INCLUDE) :].strip())
                rules += self._include(target, f"{source}:{number}", seen, depth + 1)
                continue
            try:
                rule = parse_rule(line, source, number)
            except ValueError as error:
                # The target of a symlink may be any file, so its text is not shown.
                text = "" if file.is_symlink() else " " + repr(line.strip().decode(errors="replace"))
                self._warn(f"{source}:{number}: the pattern{text} can never match: {error}")
            else:
                rules += [rule] if rule else []
        return rules

    def _include(self, target: str, location: str, seen: set[Path], depth: int) -> list[Rule]:
        """Return the rules of an included file; their patterns apply as if written in the including file."""
        try:
            self.note(self._root / target)
            file = (self._root / target).resolve()
            if not target or not file.is_relative_to(self._root):
                raise PermissionError(errno.EACCES, "it is outside the project root")
            self.included |= {Path(os.path.normpath(self._root / target)), file}
            if file in seen:
                raise OSError(errno.ELOOP, "it is included already")
            if depth > _INCLUDE_DEPTH:
                raise OSError(errno.ELOOP, f"includes are nested more than {_INCLUDE_DEPTH} deep")
            seen.add(file)
            return self._parse(read_regular_file(file, _SIZE_LIMIT), file, seen, depth)
        except (OSError, ValueError, RuntimeError) as error:
            self._warn(f"{location}: {target!r} is not included, {_explain(error)}")
            return []

    def _warn(self, message: str) -> None:
        self._warnings[message] = None

    def _display(self, file: Path) -> str:
        shown = file.relative_to(self._root) if file.is_relative_to(self._root) else file
        return os.fsencode(shown).decode(errors="replace")


def _explain(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "no such file"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
