"""Each requirement is a sentence on docs/internals/requirements.md, and a marker at each test that holds it."""

import re

import pytest

from tests.docs import ROOT
from tests.docs.requirements import REQUIREMENTS_PAGE, files_by_requirement, read_requirements, render_page

REQUIREMENTS = read_requirements()
NUMBER = re.compile(r"\b(?:00[0-4]-\d{2}b?|[PKB]-\d{2})\b")


def _numbers(prefix: str, last: int, width: int = 2) -> set[str]:
    return {f"{prefix}-{number:0{width}}" for number in range(1, last + 1)}


IN_SCOPE = (
    _numbers("P", 6, width=1)
    | _numbers("000", 47)
    | _numbers("001", 21)
    | _numbers("002", 25)
    | _numbers("003", 29)
    | _numbers("004", 18)  # The nineteenth names a stack of services, which K-25 replaces.
    | _numbers("K", 26)
    | _numbers("B", 30)
)


def test_every_requirement_in_scope_has_a_row() -> None:
    """A row may be added; none is lost."""
    assert sorted(IN_SCOPE - set(REQUIREMENTS)) == []


@pytest.mark.parametrize("number", REQUIREMENTS)
def test_a_row_is_one_sentence(number: str) -> None:
    """It ends with a full stop and has no other."""
    assert re.fullmatch(r"\S.*[^.]\.", REQUIREMENTS[number])
    assert ". " not in REQUIREMENTS[number]


def test_every_requirement_has_a_test_and_every_marker_a_requirement() -> None:
    """A test that is removed is missed here, and so is a marker with a number that is not on the page."""
    assert sorted(set(REQUIREMENTS) ^ set(files_by_requirement())) == []


def test_the_page_names_the_files_of_the_tests() -> None:
    """A reader gets from a number to the tests."""
    assert render_page() == REQUIREMENTS_PAGE.read_text(encoding="utf-8"), "run: make tables"


def test_a_number_in_code_or_on_a_page_can_be_looked_up() -> None:
    """Whoever reads "002-16" finds its sentence."""
    files = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/**/*.md")]
    files += [*ROOT.glob("src/**/*.py"), *ROOT.glob("tests/*.py"), *ROOT.glob("tests/*/test_*.py")]
    found = {number for file in files for number in NUMBER.findall(file.read_text(encoding="utf-8"))}
    assert sorted(found - set(REQUIREMENTS)) == []
