"""What an index run has to do, decided without a disk."""

import pytest

from graphrag_mcp.exclusion.walker import WalkedFile
from graphrag_mcp.index.indexer import Changes, compare
from graphrag_mcp.stores.sqlite.catalog import FileState


def _known(size: int, changed_ns: int, recipe: str = "now") -> FileState:
    return FileState(size, changed_ns, b"", recipe)


def _found(size: int, changed_ns: int) -> WalkedFile:
    return WalkedFile("a.py", size, changed_ns, changed_ns)


def _compare(known: dict[str, FileState], found: dict[str, WalkedFile]) -> Changes:
    return compare(known, found, lambda _path, recipe: recipe == "now")


def test_a_file_nobody_knows_is_added() -> None:
    """A new file has to be read."""
    assert _compare({}, {"a.py": _found(1, 1)}).added == ("a.py",)


@pytest.mark.requirement("K-16")
def test_a_file_that_is_gone_is_removed() -> None:
    """What the tree no longer has, or what is ignored now, leaves the index."""
    assert _compare({"a.py": _known(1, 1)}, {}).removed == ("a.py",)


def test_the_same_size_and_time_mean_the_same_content() -> None:
    """Most files are settled without reading them."""
    changes = _compare({"a.py": _known(1, 1)}, {"a.py": _found(1, 1)})
    assert (changes.possibly_changed, changes.unchanged) == ((), 1)


def test_another_time_is_settled_by_the_content() -> None:
    """Size and time first, then the content: a touched file keeps its rows."""
    assert _compare({"a.py": _known(1, 1)}, {"a.py": _found(1, 2)}).possibly_changed == ("a.py",)


@pytest.mark.requirement("004-15", "K-16")
def test_another_recipe_makes_the_same_content_stale() -> None:
    """Another context version or model redoes a file though its content is the same."""
    assert _compare({"a.py": _known(1, 1, recipe="before")}, {"a.py": _found(1, 1)}).possibly_changed == ("a.py",)


@pytest.mark.requirement("B-32")
def test_a_rename_is_a_removal_and_an_addition() -> None:
    """A move is a deletion and a creation."""
    changes = _compare({"a.py": _known(1, 1)}, {"b.py": _found(1, 1)})
    assert (changes.added, changes.removed) == (("b.py",), ("a.py",))
