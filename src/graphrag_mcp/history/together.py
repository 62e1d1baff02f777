"""Finds the files that usually change together with a file."""

from collections import Counter

from graphrag_mcp.model.history import Companion
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.stores.sqlite.history import SqliteHistory
from graphrag_mcp.stores.sqlite.schema import ORDINAL_BITS

FEWEST = 4  # Commits of the file: fewer say nothing of what is usual.
FEWEST_TOGETHER = 2
LEAST_LIFT = 1.5  # How much more often than if both changed independently.
NEWEST = 50  # Commits of the file that are compared.


def companions(history: SqliteHistory, path: str, scope: Scope, limit: int) -> list[Companion]:
    """Return the files inside a scope that usually change together with a file, the closest first.

    Only files with a lift, P(both) / (P(one) · P(other)), of at least LEAST_LIFT. Commits that change many files do not
    count.
    """
    commits = history.changed_by(path)[:NEWEST]
    if len(commits) < FEWEST:
        return []
    touched = {(one.commit_id, one.chunk_id >> ORDINAL_BITS) for one in history.files(commits, scope)}
    counts = Counter(file_id for _, file_id in touched)
    often = {file_id: count for file_id, count in counts.items() if count >= FEWEST_TOGETHER}
    total = history.count()
    found = [
        Companion(other, often[file_id], len(commits), path)
        for file_id, (other, times) in history.times_changed(often).items()
        if other != path and often[file_id] * total >= LEAST_LIFT * len(commits) * times
    ]
    return sorted(found, key=lambda one: (-one.together, one.path))[:limit]
