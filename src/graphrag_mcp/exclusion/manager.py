"""Decides whether a path of the project is excluded or archived, and why; used by walker, watcher and search."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from graphrag_mcp.errors import SettingsError
from graphrag_mcp.exclusion.patterns import Exclusion, ExclusionKind, Rule, RuleList, parse_rule
from graphrag_mcp.exclusion.rulebook import GIT_IGNORE_FILE, Folder, Rulebook, Stamp
from graphrag_mcp.model.files import ArchiveClass, Category
from graphrag_mcp.settings import IndexingSettings
from graphrag_mcp.system.safe_files import is_real_folder, list_folder, read_file_below
from graphrag_mcp.text.names import as_name

# An archive folder is a surer sign than a file name: its files keep half of their score.
FOLDER_PENALTY = 0.5
FILE_PENALTY = 0.7

# `x.old.py` is an old copy, but `compose.backup.yml` is usually the configuration of a backup service.
_DEFAULT_PATTERNS = """
    .archive/ .deprecated/ _backup/ archive/ archived/ deprecated/ backup/
    *.old *.backup *.bak *.deprecated *.old.* *.bak.* *.deprecated.*
"""
ATTRIBUTES_FILE = ".gitattributes"
MAX_ATTRIBUTES_BYTES = 1_000_000
# The first attribute that is set for a file counts.
_CATEGORIES = {
    "linguist-vendored": Category.VENDORED,
    "linguist-generated": Category.DATA,
    "linguist-documentation": Category.DOCUMENTATION,
}
_UNSET = ("false", "no", "0")
Result = TypeVar("Result", bound=Mapping[str, object])
_DEFAULT_SETTINGS = IndexingSettings()
_LONGEST_PATH = 4_096
# Python represents undecodable bytes by low surrogates, never by high ones.
_SURROGATE = re.compile(r"[\ud800-\udbff]")


class ArchiveClassifier:
    """Classifies paths by gitignore patterns, ignoring case, folder by folder; a part of a name never matches.

    `_backup/` matches every folder whose name ends in `_backup`. `!` before a pattern negates it.
    """

    def __init__(self, patterns: Sequence[str] = ()) -> None:
        """patterns: replace the built-in ones; a pattern that begins with `+` is added to them.

        Raises SettingsError, naming every pattern that can never match.
        """
        own = [pattern for pattern in patterns if not pattern.startswith("+")]
        added = [pattern[1:] for pattern in patterns if pattern.startswith("+")]
        self._rules = RuleList(_parse([*(own or _DEFAULT_PATTERNS.split()), *added]))

    def classify(self, path: str) -> ArchiveClass | None:
        """Return why a file (relative to the root, with forward slashes) is archived, None if it is not.

        The outermost archived folder decides; the file's own name counts only outside of such folders.
        """
        end = path.find("/")
        while end >= 0:
            if rule := self._find(path[:end], is_folder=True):
                return ArchiveClass(f"folder {as_name(path[: end + 1])} matches {rule.text}", FOLDER_PENALTY)
            end = path.find("/", end + 1)
        rule = self._find(path, is_folder=False)
        return ArchiveClass(f"name matches {rule.text}", FILE_PENALTY) if rule else None

    def _find(self, path: str, *, is_folder: bool) -> Rule | None:
        return self._rules.choose(path.encode(errors="surrogateescape").lower(), is_folder=is_folder)


def _parse(patterns: Sequence[str]) -> list[Rule]:
    rules: list[Rule] = []
    problems: list[str] = []
    for pattern in patterns:
        glob = f"*{pattern}" if pattern.startswith("_") else pattern
        try:
            rule = parse_rule(glob.lower().encode(errors="surrogateescape"), "archive_patterns", 0)
        except ValueError as error:
            problems.append(f"archive_patterns: {pattern!r} can never match: {error}; give gitignore patterns")
        else:
            rules += [rule] if rule else []
    if problems:
        raise SettingsError(problems)
    return rules


class StatedCategories:
    """The categories that the root's `.gitattributes` states; none where it cannot be read."""

    def __init__(self, root: Path) -> None:
        try:
            lines = read_file_below(root, ATTRIBUTES_FILE, MAX_ATTRIBUTES_BYTES).split(b"\n")
        except OSError:
            lines = []
        rules_of = {category: _rules(lines, name) for name, category in _CATEGORIES.items()}
        self._rules = {category: RuleList(rules) for category, rules in rules_of.items() if rules}

    def of(self, path: str) -> Category | None:
        """Return the category that the attributes give a file; path: relative to the root, with forward slashes."""
        name = path.encode(errors="surrogateescape")
        return next((category for category, rules in self._rules.items() if rules.choose(name, is_folder=False)), None)


def _rules(lines: list[bytes], attribute: str) -> list[Rule]:
    """Return the patterns of the lines that set an attribute, and, negated, of those that unset it."""
    rules = []
    for number, line in enumerate(lines, 1):
        pattern, attributes = _split(line)
        settings = dict(map(_setting, attributes))  # The last one of a name counts.
        try:
            rule = parse_rule(pattern, ATTRIBUTES_FILE, number) if attribute in settings else None
        except ValueError:  # The pattern can never match.
            rule = None
        if rule is not None and not rule.negated:  # Git takes no pattern with `!` here.
            rules.append(replace(rule, negated=not settings[attribute]))
    return rules


def _split(line: bytes) -> tuple[bytes, list[bytes]]:
    """Return the pattern of a line, which may be in quotes, and the attributes."""
    line = line.strip()
    if line.startswith(b'"'):
        pattern, _, rest = line[1:].partition(b'"')
    else:
        pattern, _, rest = line.replace(b"\t", b" ").partition(b" ")
    return pattern, rest.split()


def _setting(attribute: bytes) -> tuple[str, bool]:
    """Return the name of an attribute, and whether it is set."""
    name, _, value = attribute.decode(errors="replace").partition("=")
    return name.lstrip("-!"), name[:1] not in "-!" and value.lower() not in _UNSET


class ExclusionManager:
    """Matches the paths of a project against its rules.

    Rules, from weak to strong: the built-in defaults (only while the root has no ignore file of its own), git's global
    excludes file, `.git/info/exclude`, every `.gitignore` from the top of the work tree down, every `.graphragignore`
    from there down. The last rule that matches decides, but nothing below an excluded folder can be included again.
    Rules above the root apply to its files but cannot exclude the root. Files of version control, secrets and binaries
    are always excluded.

    Rules are read on the first question about a folder and then cached: call `reload` when a rule file has changed.
    """

    def __init__(self, root: Path, settings: IndexingSettings = _DEFAULT_SETTINGS) -> None:
        self._settings = settings
        self.root = root.resolve()
        # A path may be absolute with the root's symlinks or without them.
        self._prefixes = tuple(
            os.path.normpath(folder).rstrip(os.sep) + os.sep for folder in (self.root, root.absolute())
        )
        self.reload()

    def reload(self) -> None:
        """Empty the cache of rules."""
        self._rulebook = Rulebook(
            self.root, self._settings.ignore_file, default_exclusions=self._settings.default_exclusions
        )

    @property
    def max_file_bytes(self) -> int:
        """The size above which a file is not indexed."""
        return self._settings.max_file_bytes

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is wrong with the rule files read so far, each with its file and line."""
        return self._rulebook.reader.warnings

    def should_exclude(self, path: Path | str, is_dir: bool = False) -> bool:
        """Return whether a path, relative to the root or absolute, is excluded; a path outside the root always is.

        The path is not read: a deleted file gets the same answer as before.
        """
        return self.explain(path, is_dir) is not None

    def explain(self, path: Path | str, is_dir: bool = False) -> Exclusion | None:
        """Return why a path is excluded, None if it is not."""
        relative = self._relative(path)
        if relative is None:
            return Exclusion(ExclusionKind.OUTSIDE, os.fspath(path), "not below the project root")
        if not relative:
            return None
        parent, _, name = relative.rpartition("/")
        return self._rulebook.folder(parent).explain(name, is_folder=is_dir)

    def folder(self, path: str) -> Folder:
        """Return the rules in force in a folder (relative to the root, no slash at its end), for many questions."""
        return self._rulebook.folder(path)

    def get_excluded_paths(self, base: Path | str = "") -> set[Path]:
        """Return what is excluded at or below a folder, as paths that begin like `base`.

        An excluded folder is listed without its content.
        """
        start = self._relative(base)
        if start is None or self.explain(base, is_dir=True):
            return {Path(base)}
        excluded: set[Path] = set()
        pending = [(start, Path(base))]
        while pending:
            path, shown = pending.pop()
            folder = self._rulebook.folder(path)
            if folder.exclusion is not None:
                excluded.add(shown)
                continue
            for entry in list_folder(self.root / path):
                is_folder = is_real_folder(entry)
                if folder.explain(entry.name, is_folder=is_folder):
                    excluded.add(shown / entry.name)
                elif is_folder:
                    pending.append((f"{folder.path}{entry.name}", shown / entry.name))
        return excluded

    def filter_search_results(self, results: Sequence[Result]) -> list[Result]:
        """Return the results whose `file_path` is not excluded; those without one are kept."""
        return [result for result in results if not self._is_excluded_result(result.get("file_path"))]

    def is_rule_file(self, path: Path | str) -> bool:
        """Return whether a change of this file can change what is excluded, or what is stated of other files."""
        relative = self._relative(path)
        if relative == ATTRIBUTES_FILE:
            return True
        absolute = Path(path) if relative is None else self.root / relative
        if absolute in self._rulebook.outer_files or absolute in self._rulebook.reader.included:
            return True
        if relative is None:
            return absolute.name in self._rule_names and absolute.parent in self.root.parents
        parent, _, name = relative.rpartition("/")
        exclusion = self._rulebook.folder(parent).exclusion
        if name == ".git":  # It turns a folder into a work tree: the project itself, or one that is excluded.
            return exclusion is None or exclusion.kind is ExclusionKind.WORKTREE
        return name in self._rule_names and exclusion is None

    @property
    def stamps(self) -> dict[Path, Stamp]:
        """The stamps of rule files when they were read: git's own, the root's, those above it, and included ones.

        They may be in folders that are not watched; they are few, so the watcher polls them.
        """
        return self._rulebook.reader.stamps.copy()

    @property
    def _rule_names(self) -> tuple[str, str]:
        return GIT_IGNORE_FILE, self._settings.ignore_file

    def _is_excluded_result(self, file_path: object) -> bool:
        return isinstance(file_path, str | Path) and bool(str(file_path)) and self.should_exclude(file_path)

    def _relative(self, path: Path | str) -> str | None:
        """Return the path relative to the root with forward slashes, "" for the root, None for one outside."""
        text = os.fspath(path)
        if len(text) > _LONGEST_PATH or _SURROGATE.search(text):
            return None  # The path is not valid.
        if os.path.isabs(text):  # noqa: PTH117 - asked for every file and hit; a Path takes ten times as long.
            text = os.path.normpath(text) + os.sep
            prefix = next((prefix for prefix in self._prefixes if text.startswith(prefix)), None)
            if prefix is None:
                return None
            text = text.removeprefix(prefix)
        if "." in text or "//" in text or text.endswith(os.sep):
            text = os.path.normpath(text)
        text = text.replace(os.sep, "/")
        if text == ".." or text.startswith("../") or "\0" in text:
            return None
        return "" if text == "." else text
