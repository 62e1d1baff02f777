"""How the hits of one file, and of files that a project repeats, damp each other."""

import pytest

from graphrag_mcp.model.files import Category
from graphrag_mcp.model.search import StoredFile
from graphrag_mcp.search.query.understand import understand
from graphrag_mcp.search.ranking.fusion import Fused
from graphrag_mcp.search.ranking.ranker import score_candidates
from graphrag_mcp.search.ranking.scored import Candidates, explain
from graphrag_mcp.settings import RetrievalSettings
from tests.fakes import make_chunk

SETTINGS = RetrievalSettings()


@pytest.mark.parametrize(
    ("category", "paths", "damped"),
    [
        (Category.CONFIG, ["api/package.json", "web/package.json"], True),
        (Category.DOCUMENTATION, ["api/CHANGELOG.md", "web/CHANGELOG.md"], True),
        (Category.CONFIG, ["api/package.json", "web/settings.yaml"], False),
        (Category.IMPLEMENTATION, ["api/routes.py", "web/routes.py"], False),
    ],
)
def test_manifests_of_one_name_damp_each_other_as_hits_of_one_file_do(
    category: Category, paths: list[str], damped: bool
) -> None:
    """Every package of a project has one; more than the best of them is rarely asked for."""
    files = {number: StoredFile(number, path, category, None, None) for number, path in enumerate(paths, 1)}
    candidates = Candidates([Fused(number, 0.5, {}) for number in files], files)
    first, second = score_candidates(understand("the limit of uploads"), candidates, SETTINGS, now=0.0)
    assert (second.score < first.score) is damped
    notes = [factor.note for factor in explain(second, make_chunk()).factors if factor.name == "saturation"]
    assert notes == ([f"hit 2 of files named {paths[0].rpartition('/')[2]}"] if damped else [])


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("how are uploads limited", "docs/guide.md"),
        ("in which release were uploads limited", "CHANGELOG.md"),
    ],
)
def test_a_change_log_is_behind_other_documents_unless_the_query_asks_for_changes(query: str, first: str) -> None:
    """Some entry of it has any words."""
    files = {
        number: StoredFile(number, path, Category.DOCUMENTATION, None, None)
        for number, path in enumerate(("CHANGELOG.md", "docs/guide.md"), 1)
    }
    candidates = Candidates([Fused(1, 0.7, {}), Fused(2, 0.6, {})], files)
    order = score_candidates(understand(query), candidates, SETTINGS, now=0.0)
    assert order[0].file.path == first
