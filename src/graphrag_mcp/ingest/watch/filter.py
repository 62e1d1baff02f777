"""Says what of a tree is followed, by the rules that say what of it is indexed."""

from pathlib import Path

from graphrag_mcp.exclusion.manager import ExclusionManager
from graphrag_mcp.exclusion.rule_files import Stamp


class Followed:
    """What of a tree may be indexed, and the rules that say so."""

    def __init__(self, exclusion: ExclusionManager, start: str = "") -> None:
        """start: the only folder that is indexed, relative to the root; "" for all."""
        self.root = exclusion.root
        self._exclusion = exclusion
        self._start = f"{start}/" if start else ""

    def is_rule(self, path: str) -> bool:
        """Tell whether a change of this file changes what is indexed."""
        return self._exclusion.is_rule_file(path)

    def is_wanted(self, path: str, is_dir: bool) -> bool:
        """Tell whether a file or folder may be indexed."""
        return f"{path}/".startswith(self._start) and not self._exclusion.should_exclude(path, is_dir)

    def may_hold(self, folder: str) -> bool:
        """Tell whether anything in a folder, however deep, may be indexed, or be a rule for what is."""
        on_the_way = f"{folder}/".startswith(self._start) or self._start.startswith(f"{folder}/")
        return on_the_way and not self._exclusion.should_exclude(folder, is_dir=True)

    def stamps(self) -> dict[Path, Stamp]:
        """Return how the rule files were, as they were read, that may lie in folders which are not followed."""
        return self._exclusion.stamps
