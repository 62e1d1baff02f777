"""What the supervisor decides, by what they know alone."""

import pytest

from graphrag_mcp.index.supervisor import (
    REFRESHED_BYTES,
    REFRESHED_FILES,
    RETRY_SECONDS,
    SOUND_SECONDS,
    UNFINISHED,
    as_reader,
    may_refresh,
    pause_after_damage,
    state_of,
)
from graphrag_mcp.index.write_lock import Holder
from graphrag_mcp.model.reports import IndexPhase
from graphrag_mcp.stores.sqlite.catalog import Counts

COUNTS = Counts(files=3, chunks=12, symbols=9, relations=5, embedded_chunks=12, archived_files=0)
NOTHING = Counts(0, 0, 0, 0, 0, 0)
HOLDER = Holder("1.2.3", 42)


@pytest.mark.parametrize(
    ("sizes", "in_background", "is_settled", "expected"),
    [
        ([10, 20], True, True, True),
        ([10] * REFRESHED_FILES, True, True, True),
        ([10] * (REFRESHED_FILES + 1), True, True, False),
        ([REFRESHED_BYTES], True, True, True),
        ([10, REFRESHED_BYTES + 1], True, True, False),
        ([10], False, True, False),  # A command: the next run of `index` does it.
        ([10], True, False, False),  # The first run is still going on, and reads the file anyway.
    ],
)
def test_a_search_waits_for_few_small_files_of_a_server(
    sizes: list[int], in_background: bool, is_settled: bool, expected: bool
) -> None:
    """Anything longer is shown at its current lines instead."""
    assert may_refresh(sizes, in_background, is_settled) is expected


def test_damage_that_returns_at_once_is_repaired_later() -> None:
    """A failing disk must not be written without end."""
    assert pause_after_damage(1000.0, -1.0) == 0.0
    assert pause_after_damage(1000.0, 1000.0 - SOUND_SECONDS - 1) == 0.0
    assert pause_after_damage(1000.0, 1000.0 - SOUND_SECONDS + 1) == RETRY_SECONDS


def test_the_state_of_an_index_is_what_its_file_and_its_lock_tell() -> None:
    """Complete; built by another process; left unfinished by one that ended; or empty."""
    assert state_of(COUNTS, True, None).state is IndexPhase.READY
    assert state_of(COUNTS, True, HOLDER).files_done == COUNTS.files
    building = state_of(COUNTS, False, HOLDER)
    assert (building.state, building.files_done, building.chunks) == (IndexPhase.BUILDING, 3, 12)
    assert "42" in building.message
    unfinished = state_of(COUNTS, False, None)
    assert (unfinished.state, unfinished.message) == (IndexPhase.FAILED, UNFINISHED)
    assert state_of(NOTHING, False, None).state is IndexPhase.EMPTY


@pytest.mark.parametrize(("holder", "frozen"), [(Holder("1.2.3", 42, is_silent=True), ""), (None, "it is read only")])
def test_an_index_that_is_not_kept_up_to_date_says_so(holder: Holder | None, frozen: str) -> None:
    """A complete one answers with the reason; an incomplete one is not being built, so nobody waits for it."""
    complete, partial = (state_of(COUNTS, is_complete, holder, frozen) for is_complete in (True, False))
    assert (complete.state, partial.state) == (IndexPhase.READY, IndexPhase.FAILED)
    assert complete.message == partial.message == (frozen or partial.message)
    assert ("42" in partial.message) is (holder is not None)
    assert as_reader(partial, holder) == partial
    assert as_reader(complete, holder) == complete


def test_a_reader_reports_that_the_writer_builds_what_is_not_complete() -> None:
    """Even when the writer has committed nothing yet, or is not known."""
    ready = state_of(COUNTS, True, None)
    assert as_reader(ready, HOLDER) is ready
    for state in (state_of(COUNTS, False, None), state_of(NOTHING, False, None)):
        shown = as_reader(state, HOLDER)
        assert (shown.state, shown.chunks) == (IndexPhase.BUILDING, state.chunks)
        assert "42" in shown.message
        assert as_reader(state, None).message == "another process is building the index"
