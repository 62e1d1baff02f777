"""The globs that lift archive hiding."""

import pytest

from graphrag_mcp.errors import RequestError
from graphrag_mcp.exclusion.patterns import compile_globs


@pytest.mark.requirement("K-12")
def test_a_folder_includes_all_that_is_below_it() -> None:
    """`docs/archive/` lifts the hiding of every file below."""
    is_included = compile_globs(["docs/archive/"])
    assert is_included("docs/archive/2023/adr.md")
    assert not is_included("src/archive/a.py")


@pytest.mark.requirement("000-34", "K-12")
def test_globs_match_as_in_gitignore() -> None:
    """Names match anywhere, stars stay in a folder, `!` takes back."""
    is_included = compile_globs(["*.old", "/legacy/*.py", "!b.old"])
    assert [is_included(path) for path in ("x/a.old", "legacy/a.py", "legacy/x/a.py", "b.old")] == [
        True,
        True,
        False,
        False,
    ]


@pytest.mark.requirement("K-12")
def test_no_pattern_includes_nothing() -> None:
    """Without patterns nothing is lifted."""
    assert not compile_globs([])("archive/a.py")


@pytest.mark.requirement("K-06", "K-12")
@pytest.mark.parametrize("pattern", ["", "  ", "[", "# x", "/"])
def test_a_pattern_that_names_nothing_is_an_error(pattern: str) -> None:
    """The error names the argument and what was given."""
    with pytest.raises(RequestError) as caught:
        compile_globs(["ok", pattern])
    assert caught.value.argument == "include_patterns"
    assert repr(pattern) in str(caught.value)
