"""The lock of the one process that writes an index."""

import pytest

from graphrag_mcp import __version__
from graphrag_mcp.index.write_lock import Holder


@pytest.mark.parametrize(
    ("holder", "advice"),
    [
        (Holder(), "it keeps the index up to date, so you can search now"),
        (Holder(__version__, 7), "it keeps the index up to date, so you can search now"),
        (Holder("0.0.1", 7), f"end that process, and graphrag-mcp {__version__} takes over"),
    ],
)
def test_only_a_holder_of_another_version_is_in_the_way(holder: Holder, advice: str) -> None:
    """One of this version does what this process would do."""
    assert holder.advice == advice
