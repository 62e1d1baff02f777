"""Reads the ignore files of each folder of the project when it is first asked about, and holds their rules."""

import errno
import os
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache, cached_property
from itertools import islice
from pathlib import Path, PurePosixPath

from msgspec import Struct

from graphrag_mcp.exclusion.defaults import DEFAULT_PATTERNS, DEFAULT_SOURCE, MAY_BE_SOURCES
from graphrag_mcp.exclusion.never_indexed import find_barrier
from graphrag_mcp.exclusion.patterns import Exclusion, ExclusionKind, Rule, RuleList, parse_rule
from graphrag_mcp.system.git import Git, GitError
from graphrag_mcp.system.git_dirs import (
    find_global_excludes,
    find_global_settings,
    find_info_exclude,
    find_work_tree,
    is_linked_worktree,
)
from graphrag_mcp.system.git_files import tracked_files
from graphrag_mcp.system.safe_files import changed_ns, read_regular_file
from graphrag_mcp.text.counts import counted

_INCLUDE = b":include:"
_INCLUDE_DEPTH = 8  # No sensible nesting is deeper.
SHOWN_WARNINGS = 20
_SIZE_LIMIT = 4 * 1024 * 1024  # It holds about 100,000 rules; a larger file is not an ignore file.
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

Stamp = tuple[int, int, int] | None
GIT_IGNORE_FILE = ".gitignore"
_GIT_SECONDS = 10.0


def stamp_of(file: Path) -> Stamp:
    """Return the times, size and inode of a file, which change with its content or permissions; None without a file."""
    try:
        status = file.stat()
    except OSError:
        return None
    return changed_ns(status), status.st_size, status.st_ino


@cache
def _default_rules() -> RuleList:
    """Return the built-in rules, which take longer to parse than those of most projects."""
    rules = (parse_rule(line.encode(), DEFAULT_SOURCE, 0) for line in DEFAULT_PATTERNS.splitlines())
    return RuleList([rule for rule in rules if rule])


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


class Folder(Struct, frozen=True):
    """One folder of the project: the reason why it is excluded, or the rules for its content.

    path: relative to the root, "" or ending in a slash. key: the same, relative to the top of the work tree.
    git_lists, own_lists: the rules of `.gitignore` and of our own ignore files, nearest first.
    lists: all rules, the strongest first. ignored: why git ignores the folder, in which it tracks files all the same.
    is_tracked: whether git tracks a path below the root, or a file below that path.
    """

    path: str
    key: bytes
    exclusion: Exclusion | None
    git_lists: tuple[RuleList, ...] = ()
    own_lists: tuple[RuleList, ...] = ()
    lists: tuple[RuleList, ...] = ()
    ignored: Exclusion | None = None
    is_tracked: Callable[[str], bool] = bool

    def explain(self, name: str, *, is_folder: bool) -> Exclusion | None:
        """Return why something in this folder is excluded, None if it is not."""
        excluded, ignored = self.decide(name, is_folder=is_folder)
        return excluded or (None if ignored is None or self.is_tracked(self.path + name) else ignored)

    def decide(self, name: str, *, is_folder: bool) -> tuple[Exclusion | None, Exclusion | None]:
        """Return why something is excluded in any case, and else why git ignores it unless it tracks it."""
        if self.exclusion is not None:
            return self.exclusion, None
        parent = self.path[self.path.rfind("/", 0, -1) + 1 : -1]
        if barrier := find_barrier(name, parent, is_folder=is_folder):
            return barrier, None
        path = self.key + name.encode(errors="surrogateescape")
        ignored = self.ignored
        for rules in self.lists:
            rule = rules.match(path, is_folder=is_folder)
            if rule is None:
                continue
            if rule.negated:
                break
            # Our files may include those of git.
            is_own = rules in self.own_lists and not rule.source.endswith(GIT_IGNORE_FILE)
            if is_own or (rule.source == DEFAULT_SOURCE and rule.text not in MAY_BE_SOURCES):
                return ignored or _as_exclusion(rule), None
            ignored = ignored or _as_exclusion(rule)
        return None, ignored


class Rulebook:
    """All rules of one project, as they were when they were read."""

    def __init__(self, root: Path, ignore_file: str, *, default_exclusions: bool) -> None:
        """root: the project root, with its symlinks resolved."""
        self._root = root
        self._ignore_file = ignore_file
        self.reader = RuleReader(root)
        top = find_work_tree(root) or root
        for file in find_global_settings():
            self.reader.note(file)
        outer_files = [find_global_excludes(top), find_info_exclude(top)]
        self.outer_files = frozenset(file for file in outer_files if file)
        self._outer_lists = self._read_outer_lists(outer_files, default_exclusions)
        self._folders = {"": self._open_root(top)}

    def folder(self, path: str) -> Folder:
        """Return the folder at a path relative to the root, or the first excluded one on the way to it."""
        missing: list[str] = []
        while (nearest := self._folders.get(path)) is None:
            path, _, name = path.rpartition("/")
            missing.append(name)
        while missing and nearest.exclusion is None:
            nearest = self._open(nearest, missing.pop())
        return nearest

    def _read_outer_lists(self, files: list[Path | None], default_exclusions: bool) -> tuple[RuleList, ...]:
        lists = []
        for file in filter(None, reversed(files)):
            self.reader.note(file)
            if rules := self.reader.read(file, follow_symlink=True):
                lists.append(RuleList(rules))
        # An empty ignore file replaces the defaults too; one that is never read does not.
        own = self._root / self._ignore_file
        if default_exclusions and (own.is_symlink() or not own.is_file()):
            lists.append(_default_rules())
        return tuple(lists)

    def _open_root(self, top: Path) -> Folder:
        """Open the root: rules of the folders above apply inside it, but cannot exclude it."""
        git_lists: tuple[RuleList, ...] = ()
        own_lists: tuple[RuleList, ...] = ()
        parts = self._root.relative_to(top).parts
        key = b""
        for depth in range(len(parts) + 1):
            key = b"".join(os.fsencode(part) + b"/" for part in parts[:depth])
            folder = top.joinpath(*parts[:depth])
            for name in (GIT_IGNORE_FILE, self._ignore_file):
                self.reader.note(folder / name)
            git_lists, own_lists = self._add_lists(folder, key, git_lists, own_lists)
        lists = own_lists + git_lists + self._outer_lists
        return Folder("", key, None, git_lists, own_lists, lists, is_tracked=self._is_tracked)

    def _open(self, parent: Folder, name: str) -> Folder:
        path = f"{parent.path}{name}"
        key = parent.key + name.encode(errors="surrogateescape") + b"/"
        disk_path = self._root / path
        exclusion, ignored = parent.decide(name, is_folder=True)
        if ignored is not None and not self._is_tracked(path):
            exclusion = ignored
        if exclusion is None and is_linked_worktree(disk_path):
            exclusion = Exclusion(ExclusionKind.WORKTREE, f"{name}/.git", path)
        if exclusion is not None:
            folder = Folder(f"{path}/", key, exclusion)
        else:
            git_lists, own_lists = self._add_lists(disk_path, key, parent.git_lists, parent.own_lists)
            unchanged = git_lists is parent.git_lists and own_lists is parent.own_lists
            lists = parent.lists if unchanged else own_lists + git_lists + self._outer_lists
            folder = Folder(f"{path}/", key, None, git_lists, own_lists, lists, ignored, self._is_tracked)
        self._folders[path] = folder
        return folder

    def _is_tracked(self, path: str) -> bool:
        return path in self._tracked

    @cached_property
    def _tracked(self) -> frozenset[str]:
        """What git tracks below the root, and the folders around it."""
        tracked: set[str] = set()
        with suppress(GitError):
            files = tracked_files(Git(self._root), time.monotonic() + _GIT_SECONDS)
            folders = {os.path.dirname(path) for path in files}  # noqa: PTH120 - a Path takes ten times as long.
            tracked = files.union(folders, *(map(str, PurePosixPath(folder).parents) for folder in folders))
        return frozenset(tracked)

    def _add_lists(
        self, folder: Path, key: bytes, git_lists: tuple[RuleList, ...], own_lists: tuple[RuleList, ...]
    ) -> tuple[tuple[RuleList, ...], tuple[RuleList, ...]]:
        """Put the ignore files of the folder itself before those of the folders above."""
        if rules := self.reader.read(folder / GIT_IGNORE_FILE):
            git_lists = (RuleList(rules, key), *git_lists)
        if rules := self.reader.read(folder / self._ignore_file, includes=True):
            own_lists = (RuleList(rules, key), *own_lists)
        return git_lists, own_lists


def _as_exclusion(rule: Rule) -> Exclusion:
    kind = ExclusionKind.DEFAULT if rule.source == DEFAULT_SOURCE else ExclusionKind.IGNORED
    return Exclusion(kind, rule.text, rule.source, rule.line)
