"""What a score is multiplied by."""

import math

import pytest
from msgspec.structs import replace

from graphrag_mcp.model.files import ArchiveClass, Category, DocumentFacts, DocumentStatus
from graphrag_mcp.model.search import StoredFile
from graphrag_mcp.search.query.understand import understand
from graphrag_mcp.search.ranking import ranker
from graphrag_mcp.settings import RetrievalSettings

SETTINGS = RetrievalSettings()
NOW = 2_000_000_000.0
DAY = 86_400.0


def _file(
    path: str = "src/a.py",
    category: Category = Category.IMPLEMENTATION,
    archive: ArchiveClass | None = None,
    modified_at: float | None = None,
) -> StoredFile:
    return StoredFile(1, path, category, archive, modified_at)


@pytest.mark.requirement("001-10", "001-19")
@pytest.mark.parametrize(
    ("days", "factor"),
    [(0, 1.2), (13.9, 1.2), (14, 1.1), (59.9, 1.1), (60, 1.0), (179.9, 1.0), (180, 0.95), (4000, 0.95)],
)
def test_recency_has_tiers(days: float, factor: float) -> None:
    """Fresh, recent, standard, old, with exact boundaries."""
    assert ranker.recency(days, SETTINGS) == factor


@pytest.mark.requirement("000-30", "B-12")
@pytest.mark.parametrize(
    ("days", "factor"),
    [(0.5, 1.5), (3, 1.2), (29, 1.0), (30, 1.0), (130, math.exp(-100 / 365)), (5000, 0.5)],
)
def test_recency_can_decay_instead(days: float, factor: float) -> None:
    """The decay starts at day 30 without a jump and ends at one half."""
    settings = RetrievalSettings(recency_profile="decay")
    assert ranker.recency(days, settings) == pytest.approx(factor)


@pytest.mark.requirement("K-02")
def test_an_unknown_age_changes_nothing() -> None:
    """Missing means 1.0."""
    assert ranker.recency(None, SETTINGS) == 1.0


@pytest.mark.requirement("K-02")
def test_a_time_in_the_future_is_age_zero() -> None:
    """A clock that goes wrong does not make a file fresher than fresh."""
    assert ranker.age_days(NOW + 900 * DAY, NOW) == 0


@pytest.mark.requirement("001-11", "001-16")
def test_recency_can_be_switched_off() -> None:
    """Recency can be off for a project."""
    assert ranker.recency(0.0, RetrievalSettings(recency_profile="off")) == 1.0


@pytest.mark.requirement("K-03", "B-10")
def test_an_archived_file_is_penalised_once() -> None:
    """One penalty, the one its classification gave."""
    archived = _file(archive=ArchiveClass("in .archive/", 0.5))
    assert ranker.retirement(archived, SETTINGS) == 0.5


@pytest.mark.requirement("K-14", "B-13")
def test_boosts_together_are_clamped() -> None:
    """The product of all boosts has an upper bound."""
    assert ranker.clamped_product([2.0, 1.2]) == ranker.BOOST_MAX


@pytest.mark.requirement("K-14")
def test_penalties_together_have_a_floor() -> None:
    """The product of all penalties has a lower bound."""
    assert ranker.clamped_product([0.3, 0.3]) == ranker.PENALTY_FLOOR


@pytest.mark.requirement("000-35", "B-13")
def test_source_confidence_is_the_largest_not_the_product() -> None:
    """Vector similarity over graph over keyword, one of them at a time."""
    settings = RetrievalSettings(confidence_vector=1.5)
    lists = ({"vector": 1, "graph": 3}, {"vector": 50, "graph": 3}, {"keyword": 1})
    assert [ranker.source_confidence(ranks, settings) for ranks in lists] == [1.5, 1.2, 1.0]


@pytest.mark.requirement("B-28")
@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("tests for the cookie jar", Category.TESTS),
        ("how is the router tested", Category.TESTS),
        ("documentation about deployment", Category.DOCUMENTATION),
        ("where is the docker file", Category.CONFIG),
    ],
)
def test_the_prior_yields_to_a_query_that_asks(text: str, category: Category) -> None:
    """The prior is off when the query asks for tests, documents or configuration."""
    assert ranker.priors(understand(text), SETTINGS)[category] == 1.0


@pytest.mark.requirement("B-28")
@pytest.mark.parametrize("text", ["test client", "document parser", "config loader", "example validator"])
def test_the_prior_stays_for_a_query_that_only_has_the_word(text: str) -> None:
    """`test client` asks for code."""
    query = understand(text)
    for category in (Category.TESTS, Category.DOCUMENTATION, Category.CONFIG, Category.EXAMPLES):
        assert ranker.priors(query, SETTINGS)[category] < 1.0


def _stating(status: DocumentStatus | None = None, priority: int | None = None, kind: str = "") -> StoredFile:
    return StoredFile(
        1, "docs/a.md", Category.DOCUMENTATION, facts=DocumentFacts(status=status, priority=priority, type=kind)
    )


@pytest.mark.requirement("002-06", "002-20", "K-03")
@pytest.mark.parametrize(
    ("status", "factor"),
    [
        (DocumentStatus.ACTIVE, 1.0),
        (DocumentStatus.PROPOSED, 1.0),
        (DocumentStatus.SUPERSEDED, 0.6),
        (DocumentStatus.DEPRECATED, 0.6),
        (DocumentStatus.REJECTED, 0.6),
        (DocumentStatus.ARCHIVED, 0.4),
        (None, 1.0),
    ],
)
def test_a_status_is_a_penalty_and_no_filter(status: DocumentStatus | None, factor: float) -> None:
    """What is superseded stays retrievable, below what supersedes it."""
    assert ranker.retirement(_stating(status), SETTINGS) == pytest.approx(factor)


@pytest.mark.requirement("K-03", "B-10")
def test_a_file_that_is_archived_twice_is_penalised_once() -> None:
    """By its place and by its own word; the stronger of the two counts."""
    both = replace(_stating(DocumentStatus.ARCHIVED), archive=ArchiveClass("docs/archive/", 0.5))
    assert ranker.retirement(both, SETTINGS) == pytest.approx(0.4)


@pytest.mark.requirement("002-04", "002-06")
def test_a_stated_priority_lifts_a_little_and_no_author_lowers_a_little() -> None:
    """A thousandth a point, two hundredths for a generated page."""
    assert ranker.standing(_stating(priority=100), SETTINGS) == pytest.approx(1.1)
    assert ranker.standing(_stating(kind="Auto"), SETTINGS) == pytest.approx(0.98)
    assert ranker.standing(_stating(), SETTINGS) == 1.0


@pytest.mark.requirement("002-23")
@pytest.mark.parametrize("priority", [0, 50, 100])
def test_no_priority_outweighs_a_status(priority: int) -> None:
    """The penalty of 0.40 against at most 0.10."""
    stated = _stating(DocumentStatus.SUPERSEDED, priority)
    assert ranker.retirement(stated, SETTINGS) * ranker.standing(stated, SETTINGS) < 1.0


@pytest.mark.requirement("001-08", "K-14")
@pytest.mark.parametrize(("count", "factor"), [(0, 1.0), (1, 1.1), (5, 1.5), (10, 2.0), (400, 2.0)])
def test_backlinks_boost_by_the_formula(count: int, factor: float) -> None:
    """1 + 0.1 · min(count, 10), under the weight of the seed."""
    assert ranker.backlinks(count, RetrievalSettings(backlink_boost_weight=0.1)) == pytest.approx(factor)


@pytest.mark.requirement("001-15")
def test_backlinks_are_off_because_they_measured_nothing() -> None:
    """A weight of 0 disables them, and is the default; weight and cap are settings."""
    assert ranker.backlinks(400, SETTINGS) == 1.0
    capped = RetrievalSettings(backlink_boost_weight=0.2, backlink_boost_cap=2)
    assert ranker.backlinks(400, capped) == pytest.approx(1.4)


def _kinds(*categories: Category) -> dict[int, StoredFile]:
    return {number: StoredFile(number, f"{number}", category) for number, category in enumerate(categories)}


@pytest.mark.requirement("B-28")
def test_the_prior_yields_where_the_code_does_not_say_the_words() -> None:
    """A document with ten times the code's BM25 is no longer held back; one with as much is."""
    files = _kinds(Category.IMPLEMENTATION, Category.DOCUMENTATION)
    priors = ranker.priors(understand("how are letters sent"), SETTINGS)
    alone = ranker.lifted(priors, {0: 1.0, 1: 10.0}, files)
    equal = ranker.lifted(priors, {0: 9.0, 1: 10.0}, files)
    none = ranker.lifted(priors, {1: 10.0}, files)
    assert priors[Category.DOCUMENTATION] == equal[Category.DOCUMENTATION] < alone[Category.DOCUMENTATION] < 1.0
    assert none[Category.DOCUMENTATION] == 1.0
    assert alone[Category.IMPLEMENTATION] == 1.0
    assert ranker.lifted(priors, {}, files) == priors


@pytest.mark.requirement("004-01", "B-28")
def test_who_asks_for_one_kind_gets_it_before_the_code() -> None:
    """Tests that are asked for keep their score, and the code they test is held back."""
    priors = ranker.priors(understand("tests for the session"), SETTINGS)
    assert priors[Category.TESTS] == 1.0 > priors[Category.IMPLEMENTATION] > priors[Category.DOCUMENTATION]


@pytest.mark.parametrize(
    ("path", "category", "is_one"),
    [
        ("CHANGES.rst", Category.DOCUMENTATION, True),
        ("doc/ReleaseNotes4.13.md", Category.DOCUMENTATION, True),
        ("NEWS", Category.DOCUMENTATION, True),
        ("newsletter.md", Category.DOCUMENTATION, False),
        ("src/history.c", Category.IMPLEMENTATION, False),
        ("UPGRADING.md", Category.DOCUMENTATION, False),
    ],
)
def test_a_change_log_is_known_by_its_name(path: str, category: Category, is_one: bool) -> None:
    """It is a document."""
    assert ranker.is_change_log(_file(path, category)) is is_one
