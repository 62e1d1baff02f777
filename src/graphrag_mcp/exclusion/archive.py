"""Decides which files are archived: indexed and marked, but hidden unless a search includes them."""

from collections.abc import Sequence

from graphrag_mcp.errors import SettingsError
from graphrag_mcp.exclusion.patterns import Rule, RuleList, parse_rule
from graphrag_mcp.model.files import ArchiveClass
from graphrag_mcp.text.names import as_name

# An archive folder is a surer sign than a file name: its files keep half of their score.
FOLDER_PENALTY = 0.5
FILE_PENALTY = 0.7

# `x.old.py` is an old copy, but `compose.backup.yml` is usually the configuration of a backup service.
_DEFAULT_PATTERNS = """
    .archive/ .deprecated/ _backup/ archive/ archived/ deprecated/ backup/
    *.old *.backup *.bak *.deprecated *.old.* *.bak.* *.deprecated.*
"""


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
