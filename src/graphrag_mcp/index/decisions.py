"""The decisions of the supervisor and the handle as pure functions: nothing here reads or waits."""

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum, auto

from graphrag_mcp.index.write_lock import Holder
from graphrag_mcp.model.reports import IndexPhase, IndexState
from graphrag_mcp.stores.sqlite.catalog import Counts

REFRESHED_FILES = 5  # A search waits for at most this many changed files,
REFRESHED_BYTES = 300_000  # and for none that takes longer to parse.
REFRESH_WAIT_SECONDS = 0.1
RETRY_SECONDS = 2.0  # How often a reader checks whether the writer has ended.
SOUND_SECONDS = 60.0  # Damage that recurs sooner is not repaired at once: the disk may be failing.
UNFINISHED = "its last run did not finish, and no process continues it; run `graphrag-mcp index`"

# ---------------------------------------------------------------- of the handle


class Vectors(Enum):
    """Which model a search embeds its query with."""

    CURRENT = auto()  # The one that the settings name.
    KEPT = auto()  # The older one that made the tree's vectors, kept next to the index.


def vectors_of(tree_model: str, current_model: str | None) -> Vectors:
    """Decide by the fingerprints; "" is a tree without vectors, None a model that is not loaded."""
    if current_model is None or tree_model in ("", current_model):
        return Vectors.CURRENT
    return Vectors.KEPT


# ---------------------------------------------------------------- of the supervisor


def may_refresh(sizes: Sequence[int], in_background: bool, is_settled: bool) -> bool:
    """Return whether files of these sizes in bytes may be indexed while a search waits: by a server, few and small."""
    return in_background and is_settled and len(sizes) <= REFRESHED_FILES and max(sizes, default=0) <= REFRESHED_BYTES


def refresh_wait(in_long_run: bool) -> float:
    """Return for how many seconds a search waits for a run of this process to end."""
    return 0.0 if in_long_run else REFRESH_WAIT_SECONDS


def must_compare(batch_is_everything: bool, is_complete: bool) -> bool:
    """Return whether the whole tree is compared, and not only the files of a batch."""
    return batch_is_everything or not is_complete


def is_long_run(compares: bool, paths: int) -> bool:
    """Return whether a run takes longer than a search should wait for."""
    return compares or paths > REFRESHED_FILES


def pause_after_damage(now: float, damaged_at: float) -> float:
    """Return the seconds to wait before an index is built again; damaged_at: the previous time."""
    return 0.0 if now - damaged_at > SOUND_SECONDS else RETRY_SECONDS


def state_of(counts: Counts, is_complete: bool, holder: Holder | None) -> IndexState:
    """Return the state of an index file. holder: its writer, None when there is none."""
    if is_complete:
        return IndexState(IndexPhase.READY, counts.files, counts.files, counts.chunks)
    if holder is not None:
        return IndexState(
            IndexPhase.BUILDING, counts.files, 0, counts.chunks, message=f"{holder} is building the index"
        )
    if counts.files:
        return IndexState(IndexPhase.FAILED, counts.files, 0, counts.chunks, message=UNFINISHED)
    return IndexState(IndexPhase.EMPTY)


def as_reader(state: IndexState, holder: Holder | None) -> IndexState:
    """Return the state of an index file as a reader reports it: what is not complete, the writer is building.

    holder: the writer, None when it is not known.
    """
    if state.state is IndexPhase.READY:
        return state
    return replace(state, state=IndexPhase.BUILDING, message=_builds(holder or Holder()))


def _builds(holder: Holder) -> str:
    return f"{holder} is building the index"
