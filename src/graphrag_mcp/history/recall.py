"""Finds files by the messages of the commits that changed them."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from graphrag_mcp.model.history import Recalled, described
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.ports import CommitStore

MOST_COMMITS = 60  # From 30 to 100 the ranking is nearly the same.
MOST_FILES = 10  # No more become candidates.

_ENOUGH = 0.45  # A message about the same subject covers this share of a question.
_ENOUGH_TERMS = 4.5  # A message need not cover more words of a question of more than ten.


class Memory(NamedTuple):
    """A file that matching commits changed. score: 0 to 1. chunk_id: its first. commit: the best of them."""

    chunk_id: int
    score: float
    commit: Recalled

    @property
    def note(self) -> str:
        """The commit, for example "changed by 1a2b3c4 2026-05-03: Fix the timeout"."""
        return f"changed by {described(self.commit)}"


def recall(terms: Sequence[str], history: CommitStore, scope: Scope) -> list[Memory]:
    """Return the files that commits whose messages match a question changed, the best first.

    A file's score is the largest of its commits: BM25 / that of the best commit / √(files of the commit), times how
    much of the question the best commit covers. terms: of the question.
    """
    frequencies = history.frequencies(terms)
    commits = history.recall(frequencies, MOST_COMMITS) if terms else []
    if not commits:
        return []
    best = commits[0].score
    covered = best / sum(map(frequencies.idf, terms))
    weight = min(1.0, covered / min(_ENOUGH, _ENOUGH_TERMS / len(terms)))
    by_id = {commit.commit_id: commit for commit in commits}
    memories = [
        Memory(chunk_id, weight * by_id[commit_id].score / best / math.sqrt(files), by_id[commit_id])
        for commit_id, chunk_id, files in history.files(by_id, scope)
    ]
    best_of: dict[int, Memory] = {}
    for memory in sorted(memories, key=lambda memory: (-memory.score, memory.chunk_id)):
        best_of.setdefault(memory.chunk_id, memory)
    return list(best_of.values())
