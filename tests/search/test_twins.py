"""The same code in several places is one result that names the others."""

from collections.abc import Iterable

import pytest

from graphrag_mcp.model.files import ArchiveClass, Category
from graphrag_mcp.model.search import Hit, StoredChunk
from graphrag_mcp.search.select import Pipeline
from graphrag_mcp.settings import RankingPart
from graphrag_mcp.tools.search_answer import render
from tests.fakes import make_result

LINES = [f"    step_{number}(request, {number})" for number in range(20)]
SEND = "\n".join(["def send(request):", *LINES])
ASYNC_SEND = "\n".join(["async def send(request):", *(f"    await {line.strip()}" for line in LINES)])
CHANGED_SEND = SEND.replace("step_7(", "step_seven(")
OTHER_SEND = SEND.replace("step_", "stage_")


def _hit(number: int, path: str, text: str = SEND, symbol: str = "Client.send", **facts: object) -> Hit:
    chunk = StoredChunk(
        chunk_id=number,
        file_id=number,
        path=path,
        language="python",
        category=facts.get("category", Category.IMPLEMENTATION),  # type: ignore[arg-type]
        start_line=1,
        end_line=21,
        text=text,
        kind="method",
        symbol=symbol,
        archive=facts.get("archive"),  # type: ignore[arg-type]
    )
    return Hit(chunk, score=1 - number / 100, fused_score=0.5)


def _shown(hits: Iterable[Hit], per_document: int = 0) -> list[Hit]:
    pipeline = Pipeline((RankingPart.NEAR_COPIES,), 10, per_document)
    hits = list(hits)
    pipeline.run([(hit, None) for hit in hits], len(hits), len(hits))
    return pipeline.kept


@pytest.mark.parametrize("text", [SEND, ASYNC_SEND, CHANGED_SEND], ids=["the same", "asynchronous", "a line changed"])
def test_a_twin_is_named_with_the_one_that_is_shown(text: str) -> None:
    """An agent that edits one of them knows where the others are."""
    (kept,) = _shown([_hit(1, "a/client.py"), _hit(2, "b/v2/client.py", text, "AsyncClient.send")])
    assert [(twin.path, twin.start_line) for twin in kept.twins] == [("b/v2/client.py", 1)]


def test_the_places_of_twins_stand_below_the_heading() -> None:
    """An archived one is marked as such."""
    old = ArchiveClass(".archive/", 0.5)
    hits = _shown(
        [_hit(1, "client.py"), _hit(2, "b/client.py"), _hit(3, ".archive/client.py", CHANGED_SEND, archive=old)]
    )
    assert "   also in b/client.py:1-21, .archive/client.py:1-21 (archived)\n" in render(make_result(*hits), 2_000)


@pytest.mark.parametrize(
    "other", [_hit(2, "b.py", OTHER_SEND), _hit(2, "b.py", CHANGED_SEND, "Client.receive")], ids=["lines", "name"]
)
def test_code_that_differs_in_lines_or_in_name_is_no_twin(other: Hit) -> None:
    """Two implementations of one name are two answers."""
    assert [hit.twins for hit in _shown([_hit(1, "a.py"), other])] == [(), ()]


@pytest.mark.parametrize(
    ("worse", "better"),
    [
        (_hit(1, "lib/client.py", category=Category.VENDORED), _hit(2, "src/shop/client.py")),
        (_hit(1, "a.py", archive=ArchiveClass("old", 0.5)), _hit(2, "src/shop/client.py", CHANGED_SEND)),
        (_hit(1, "src/v1/client.py"), _hit(2, "src/client.py")),
    ],
    ids=["vendored", "archived", "longer path"],
)
def test_the_one_that_people_edit_is_shown(worse: Hit, better: Hit) -> None:
    """It takes the place of the other, even if that has a better score."""
    (kept,) = _shown([worse, better])
    assert (kept.chunk, kept.twins) == (better.chunk, (worse.chunk,))


def test_a_test_with_a_shorter_path_does_not_replace_the_code() -> None:
    """Between kinds of files the ranking decides: it knows which kind the question asks for."""
    (kept,) = _shown([_hit(1, "src/shop/client.py"), _hit(2, "t.py", category=Category.TESTS)])
    assert kept.chunk.path == "src/shop/client.py"


def test_one_result_per_file_stays_one() -> None:
    """A twin takes no place in a file that has a result already."""
    hits = [_hit(1, "b.py", OTHER_SEND), _hit(2, "src/c.py"), _hit(3, "b.py")]
    assert [hit.chunk.path for hit in _shown(hits, per_document=1)] == ["b.py", "src/c.py"]
