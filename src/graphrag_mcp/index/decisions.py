"""The decisions of the supervisor as pure functions: nothing here reads or waits."""

from collections.abc import Sequence
from dataclasses import replace

from graphrag_mcp.index.write_lock import Holder
from graphrag_mcp.model.reports import IndexPhase, IndexState
from graphrag_mcp.stores.sqlite.catalog import Counts

REFRESHED_FILES = 5  # A search waits for at most this many changed files,
REFRESHED_BYTES = 300_000  # and for none that takes longer to parse.
REFRESH_WAIT_SECONDS = 0.1
RETRY_SECONDS = 2.0  # How often a reader checks whether the writer has ended.
SOUND_SECONDS = 60.0  # Damage that recurs sooner is not repaired at once: the disk may be failing.
UNFINISHED = "its last run did not finish, and no process continues it; run `graphrag-mcp index`"


def may_refresh(sizes: Sequence[int], in_background: bool, is_settled: bool) -> bool:
    """Return whether files of these sizes in bytes may be indexed while a search waits: by a server, few and small."""
    return in_background and is_settled and len(sizes) <= REFRESHED_FILES and max(sizes, default=0) <= REFRESHED_BYTES


def pause_after_damage(now: float, damaged_at: float) -> float:
    """Return the seconds to wait before an index is built again; damaged_at: the previous time."""
    return 0.0 if now - damaged_at > SOUND_SECONDS else RETRY_SECONDS


def state_of(counts: Counts, is_complete: bool, holder: Holder | None, frozen: str = "") -> IndexState:
    """Return the state of an index file. holder: its writer, None when there is none. frozen: why there can be none."""
    if holder is not None:
        frozen = f"{holder} keeps it up to date; {holder.advice}" if holder.is_silent else ""
    if is_complete:
        return IndexState(IndexPhase.READY, counts.files, counts.files, counts.chunks, message=frozen)
    if frozen:
        return IndexState(IndexPhase.FAILED, counts.files, 0, counts.chunks, message=frozen)
    if holder is not None:
        return IndexState(
            IndexPhase.BUILDING, counts.files, 0, counts.chunks, message=f"{holder} is building the index"
        )
    if counts.files:
        return IndexState(IndexPhase.FAILED, counts.files, 0, counts.chunks, message=UNFINISHED)
    return IndexState(IndexPhase.EMPTY)


def as_reader(state: IndexState, holder: Holder | None) -> IndexState:
    """Return the state of an index file as a reader reports it: what is not complete, the writer is building.

    holder: the writer, None when it is not known. Nothing is built while the state says why not.
    """
    if state.state is IndexPhase.READY or (state.state is IndexPhase.FAILED and state.message != UNFINISHED):
        return state
    return replace(state, state=IndexPhase.BUILDING, message=f"{holder or Holder()} is building the index")
