"""Brings the stored commits of a tree up to what is checked out."""

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from graphrag_mcp.history.log import is_ancestor, read_log
from graphrag_mcp.model.files import Category
from graphrag_mcp.model.history import Commit
from graphrag_mcp.parsing.categories import categorise
from graphrag_mcp.stores.sqlite.history import SqliteHistory, State
from graphrag_mcp.system.git import Git, GitError
from graphrag_mcp.system.git_files import paths_of

MOST_COMMITS = 10_000  # The newest 1,000 already give 90 % of the benefit.
SHALLOW = "the clone is shallow"
FEWEST_COMMITS = 100  # Fewer commits tell little, and only about the newest files.
MOST_FILES = 15  # A commit that changes more files tells little about each.

_LIST_SECONDS = 60.0
_CODE = frozenset({Category.IMPLEMENTATION, Category.TESTS, Category.EXAMPLES})
_LEFT_OUT = frozenset({Category.VENDORED})  # These files change by the hundred.


def update_history(history: SqliteHistory, repository: Path, tip: str, pause: Callable[[], bool]) -> None:
    """Read the commits that a tree lacks, or store why it has no history.

    repository: the root of the tree, or that of another tree with the same paths. tip: the commit whose ancestors are
    read; "" for what is checked out. pause: called after each commit, may wait; True ends it unstored.
    """
    before = history.state()
    try:
        git = Git(repository)
        if git.is_shallow:
            raise GitError(SHALLOW)
        tip = tip or git.head()
        if (before.tip, before.folder) == (tip, git.folder):
            return
        known = before.tip if not before.note and before.tip and is_ancestor(git, before.tip, tip) else ""
        commits = list(_usable(git, tip, known, pause))
    except GitError as error:
        if before.note != str(error):
            history.write(State(note=str(error)), ())
        return
    if pause():
        return
    is_enough = known or sum(files > 0 for _, files in commits) >= FEWEST_COMMITS
    note = "" if is_enough else f"fewer than {FEWEST_COMMITS} commits change a few files each"
    state = State(tip, note, git.folder, before.members if known else b"")
    history.write(state, commits[::-1] if is_enough else ())
    history.tidy()


def _usable(git: Git, tip: str, known: str, pause: Callable[[], bool]) -> Iterator[tuple[Commit, int]]:
    """Yield the commits to store, the newest first, each with its number of living files with code, 0 for too many.

    Of its changes, only those of living files are kept, and renames.
    """
    categories = ((path, categorise(path)) for path in paths_of(git, tip, time.monotonic() + _LIST_SECONDS))
    living = {path: category in _CODE for path, category in categories if category not in _LEFT_OUT}
    left = MOST_COMMITS
    with closing(read_log(git, tip, known)) as log:
        for commit in log:
            if pause():
                return
            living_changes = tuple(change for change in commit.changes if change.path in living)
            files = sum(living[change.path] for change in living_changes)
            renames = tuple(change for change in living_changes if change.before)
            living |= {change.before: living[change.path] for change in renames}
            if 0 < files <= MOST_FILES:
                left -= 1
                yield commit._replace(changes=living_changes), files
            elif renames:
                yield commit._replace(changes=renames), 0
            if not left:
                return
