"""Holds the rules that apply in each folder of the project; a folder's rules are read on the first question."""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from graphrag_mcp.exclusion.defaults import DEFAULT_PATTERNS, DEFAULT_SOURCE, MAY_BE_SOURCES
from graphrag_mcp.exclusion.never_indexed import find_barrier
from graphrag_mcp.exclusion.patterns import Exclusion, ExclusionKind, Rule, RuleList
from graphrag_mcp.exclusion.rule_files import RuleReader
from graphrag_mcp.system.git import Git, GitError
from graphrag_mcp.system.git_dirs import (
    find_global_excludes,
    find_global_settings,
    find_info_exclude,
    find_work_tree,
    is_linked_worktree,
)
from graphrag_mcp.system.git_files import tracked_files

GIT_IGNORE_FILE = ".gitignore"
_GIT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Folder:
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
        rule_sets = []
        for file in filter(None, reversed(files)):
            self.reader.note(file)
            rule_sets.append(self.reader.read(file, follow_symlink=True))
        # An empty ignore file replaces the defaults too; one that is never read does not.
        own = self._root / self._ignore_file
        if default_exclusions and (own.is_symlink() or not own.is_file()):
            rule_sets.append(self.reader.parse(DEFAULT_PATTERNS, DEFAULT_SOURCE))
        return tuple(RuleList(rules) for rules in rule_sets if rules)

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
