"""The stages that thin out a list."""

from collections.abc import Collection

import numpy as np
import pytest

from graphrag_mcp.model.files import Category
from graphrag_mcp.model.search import CompressionStats, Hit, StoredChunk
from graphrag_mcp.ports import Matrix
from graphrag_mcp.search.select import Pipeline
from graphrag_mcp.settings import RankingPart
from tests.search.stores import DUPLICATES

WORDS = [f"word{number}" for number in range(40)]


def _hit(number: int, text: str = "", path: str = "") -> Hit:
    chunk = StoredChunk(
        chunk_id=number,
        file_id=number,
        path=path or f"file{number}.py",
        language="python",
        category=Category.IMPLEMENTATION,
        start_line=1,
        end_line=2,
        text=text or f"text number {number}",
        kind="function",
    )
    return Hit(chunk, score=1.0 - number / 100, fused_score=0.5)


def _run(
    hits: list[Hit],
    *,
    limit: int = 10,
    per_document: int = 0,
    vectors: dict[int, Matrix] | None = None,
    switched_off: Collection[RankingPart] = (),
) -> tuple[list[int], CompressionStats]:
    known = vectors or {}
    pipeline = Pipeline(switched_off, limit, per_document)
    stats = pipeline.run([(hit, known.get(hit.chunk.chunk_id)) for hit in hits], len(hits), len(hits))
    return [hit.chunk.chunk_id for hit in pipeline.kept], stats


@pytest.mark.requirement("003-07")
def test_the_same_text_is_shown_once() -> None:
    """Content dedup, white space aside, keeps the better hit."""
    kept, stats = _run([_hit(1, "def f():\n    pass"), _hit(2, "def f():\n        pass"), _hit(3)])
    assert (kept, stats.after_content_dedup) == ([1, 3], 2)


@pytest.mark.requirement("003-07")
def test_a_near_copy_is_shown_once() -> None:
    """N-gram dedup drops a copy with a word changed."""
    copy = [*WORDS[:-1], "other"]
    kept, stats = _run([_hit(1, " ".join(WORDS)), _hit(2, " ".join(copy))])
    assert (kept, stats.after_ngram_dedup) == ([1], 1)


def test_texts_that_share_little_both_stay() -> None:
    """Half the words in common is no copy."""
    kept, _ = _run([_hit(1, " ".join(WORDS)), _hit(2, " ".join(WORDS[:20] + [f"x{n}" for n in range(20)]))])
    assert kept == [1, 2]


@pytest.mark.requirement("003-07")
def test_equal_vectors_are_shown_once() -> None:
    """Semantic dedup drops what means the same."""
    axis = np.array([1.0, 0.0], np.float32)
    other = np.array([0.0, 1.0], np.float32)
    kept, stats = _run([_hit(1), _hit(2), _hit(3)], vectors={1: axis, 2: axis, 3: other})
    assert (kept, stats.after_semantic_dedup) == ([1, 3], 2)


@pytest.mark.requirement("002-08", "K-15")
def test_a_document_gets_no_more_than_its_share() -> None:
    """Max chunks per document, after the dedup."""
    hits = [_hit(number, path="one.py") for number in range(4)] + [_hit(9, path="two.py")]
    kept, stats = _run(hits, per_document=3)
    assert (kept, stats.after_doc_limit) == ([0, 1, 2, 9], 4)


@pytest.mark.requirement("K-15")
def test_no_cap_means_no_cap() -> None:
    """0 is unlimited."""
    assert len(_run([_hit(number, path="one.py") for number in range(9)])[0]) == 9


@pytest.mark.requirement("K-08")
def test_a_dropped_duplicate_makes_room_for_the_next() -> None:
    """The cut comes last, so the limit is filled while hits are left."""
    hits = [_hit(1, "same"), _hit(2, "same"), _hit(3, "same"), _hit(4)]
    kept, stats = _run(hits, limit=2)
    assert (kept, stats.final_count) == ([1, 4], 2)


@pytest.mark.requirement("001-04")
def test_each_stage_can_be_switched_off() -> None:
    """Every stage on its own."""
    axis = np.array([1.0, 0.0], np.float32)
    text = " ".join(WORDS)
    kept, _ = _run([_hit(1, text), _hit(2, text)], vectors={1: axis, 2: axis}, switched_off=DUPLICATES)
    assert kept == [1, 2]


@pytest.mark.requirement("003-27")
def test_nothing_in_nothing_out() -> None:
    """An empty list is an empty answer."""
    assert _run([]) == ([], CompressionStats())
