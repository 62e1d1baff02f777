"""The benchmark of tests for a diff: its order beside the files, and what it counts."""

from benchmarks.impact import beside, recalls

SUITE = ["tests/test_a.py", "tests/test_b.py", "src/c_test.py", "tests/test_d.py"]


def test_files_beside_a_change_come_first() -> None:
    """Those in its folder, or called like it; then all others."""
    assert beside(["src/b.py"], SUITE) == ["tests/test_b.py", "src/c_test.py", "tests/test_a.py", "tests/test_d.py"]


def test_the_share_of_the_wanted_among_the_first_is_counted() -> None:
    """Of four files the first, the first two and the first two: a part of a file counts as one."""
    assert recalls(SUITE, {"tests/test_b.py", "tests/test_d.py"}) == [0.0, 0.5, 0.5]
