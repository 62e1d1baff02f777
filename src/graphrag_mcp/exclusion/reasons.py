"""Why a path is not in the index."""

from dataclasses import dataclass
from enum import StrEnum


class ExclusionKind(StrEnum):
    """What excludes a path."""

    IGNORED = "ignored"  # A rule in one of the user's ignore files.
    DEFAULT = "default"  # A built-in rule, in force while the root has no ignore file of its own.
    VCS = "vcs"
    SECRET = "secret"  # noqa: S105 - a kind of file, not a password.
    BINARY = "binary"
    WORKTREE = "worktree"  # Another checkout of a repository: its own project.
    OUTSIDE = "outside"  # Not below the project root.


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Why a path is excluded: the pattern, and its file and line (line 0: built in)."""

    kind: ExclusionKind
    pattern: str
    source: str = "built-in"
    line: int = 0

    @property
    def detail(self) -> str:
        """The pattern with its file and line, as in `*.log (.gitignore:3)`."""
        return f"{self.pattern} ({self.source}:{self.line})" if self.line else f"{self.pattern} ({self.source})"

    def __str__(self) -> str:
        return f"{self.kind}: {self.detail}"
