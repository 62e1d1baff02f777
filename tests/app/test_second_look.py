"""The second look: computed in the background, used as far as it is there, and never waited for."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.embedding import models
from graphrag_mcp.index import second_look
from graphrag_mcp.model.search import Hit, ListSource, SearchRequest, SearchResult
from graphrag_mcp.ports import Matrix
from graphrag_mcp.settings import load_settings
from tests.embedding.real_model import real_model
from tests.waiting import wait_until

QUESTION = "make a photograph smaller"
FILES = {
    "pictures.py": "def shrink(image, factor):\n    return image.resize(image.width // factor, image.height // factor)",
    "mail.py": "def deliver(message, smtp):\n    smtp.sendmail(message.sender, message.recipients, str(message))",
    "money.py": "def total(invoice):\n    return sum(line.price * line.count for line in invoice.lines)",
    "clock.py": "def tomorrow(now):\n    return now + timedelta(days=1)",
    "tree.py": "def depth(node):\n    return 1 + max((depth(child) for child in node.children), default=0)",
    "queue.py": "def drain(queue):\n    while queue:\n        yield queue.popleft()",
}
SECONDS = 4.0


class Recorder:
    """A model that remembers what it embedded, and can be made to hang."""

    fingerprint, dimensions = "recorder", 2

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.may_answer = threading.Event()
        self.may_answer.set()

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        self.texts += texts
        return np.array([[1.0, 0.0]] * len(texts), dtype=np.float32)

    def embed_query(self, text: str) -> Matrix:
        self.may_answer.wait(SECONDS)
        return np.array([1.0, 0.0], dtype=np.float32)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Six files of one function each."""
    root = tmp_path / "project"
    root.mkdir()
    for name, text in FILES.items():
        (root / name).write_text(text + "\n")
    return root


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorder]:
    """Every second model is this one."""
    model = Recorder()
    monkeypatch.setattr(models, "open_second_model", lambda _: model)
    monkeypatch.setattr(second_look, "PAUSE_SECONDS", 0.05)
    yield model
    model.may_answer.set()


def _app(root: Path, model: str) -> App:
    environment = {"GRAPHRAG_DATA_DIR": str(root.parent / "data"), "GRAPHRAG_EMBEDDING_MODEL": model}
    return App(root, load_settings(root, environment))


def _share(app: App) -> tuple[int, int]:
    with app.view() as view:
        status = view.status()
    return status.second_chunks, status.chunks


def _has_all(app: App) -> bool:
    computed, chunks = _share(app)
    return computed == chunks > 0


def _looked(result: SearchResult) -> dict[str, str]:
    """Return the files that were judged again, with what was found."""
    return {
        hit.chunk.path: factor.note for hit in result.primary for factor in hit.factors if factor.name == "second look"
    }


def test_a_real_model_finds_what_shares_no_word(project: Path) -> None:
    """Synonyms are what it is for: a photograph is an image, and to make smaller is to shrink."""
    with closing(_app(project, "")) as app:
        app.index()
        without = app.search(SearchRequest(QUESTION))
        assert without.primary[0].chunk.path == "tree.py"
        assert _looked(without) == {}
    with closing(_app(project, str(real_model()))) as app:
        app.start()
        app.wait_ready(SECONDS)
        wait_until(lambda: _has_all(app), SECONDS)
        found: list[Hit] = []

        def finds() -> bool:
            """A busy machine may answer one search without the further list."""
            found[:] = app.search(SearchRequest(QUESTION)).primary[:1]
            return found[0].chunk.path == "pictures.py" and found[0].ranks.get(ListSource.SECOND) == 1

        wait_until(finds, SECONDS)
        assert "second look" in [factor.name for factor in found[0].factors]
        assert _looked(app.search(SearchRequest("shrink"))) == {}  # A name is found as before.


def test_an_index_run_computes_nothing(project: Path, recorder: Recorder) -> None:
    """Its time does not change; the share is that of the server which ran."""
    with closing(_app(project, "any")) as app:
        app.index()
        assert (_share(app), recorder.texts) == ((0, len(FILES)), [])


def test_each_content_is_embedded_once(project: Path, recorder: Recorder) -> None:
    """Also in the next process; an edit embeds what it changed."""
    with closing(_app(project, "any")) as app:
        app.start()
        wait_until(lambda: _has_all(app), SECONDS)
        assert len(recorder.texts) == len(FILES)
    (project / "clock.py").write_text("def yesterday(now):\n    return now - timedelta(days=1)\n")
    with closing(_app(project, "any")) as app:
        app.start()
        wait_until(lambda: len(recorder.texts) > len(FILES) and _has_all(app), SECONDS)
        assert [text.split("\n")[0] for text in recorder.texts[len(FILES) :]] == ["clock.py yesterday"]


def test_searches_go_first_and_their_hits_come_next(
    project: Path, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is computed while one runs; then what it found is computed before the rest."""
    monkeypatch.setattr(second_look, "BATCH_TEXTS", 1)
    with closing(_app(project, "any")) as app:
        supervisor = app._parts.supervisor
        with supervisor.search_priority.first():
            app.start()
            app.wait_ready(SECONDS)
            index = app._parts.handle.searched()
            wait_until(lambda: supervisor.second.over(index) is not None, SECONDS)
            app.search(SearchRequest("how is the total of an invoice added up", limit=1))
            time.sleep(0.3)
            assert recorder.texts == []
            before_others = supervisor.second._wanted[0]
            (path,) = {file.path for file in index.catalog.files([before_others]).values()}
        wait_until(lambda: bool(recorder.texts), SECONDS)
        assert path == "money.py"
        assert recorder.texts[0].startswith("money.py total\n")


def test_an_answer_waits_for_no_model(project: Path, recorder: Recorder) -> None:
    """It goes without, says nothing, and the vector that came late serves the next search."""
    with closing(_app(project, "any")) as app:
        app.start()
        app.wait_ready(SECONDS)
        wait_until(lambda: _has_all(app), SECONDS)
        recorder.may_answer.clear()
        started = time.monotonic()
        result = app.search(SearchRequest(QUESTION))
        assert time.monotonic() - started < SECONDS / 2
        assert result.primary
        assert _looked(result) == {}
        assert (result.meta.warnings, dict(result.meta.unavailable)) == ((), {})
        recorder.may_answer.set()
        wait_until(lambda: _looked(app.search(SearchRequest(QUESTION))) != {}, SECONDS)


def test_a_model_that_cannot_be_had_is_named(project: Path) -> None:
    """The search is what it was without it."""
    with closing(_app(project, "no/such-model")) as app:
        app.start()
        app.wait_ready(SECONDS)
        wait_until(lambda: bool(app._parts.supervisor.warnings), SECONDS)
        with app.view() as view:
            assert "'no/such-model' is not available" in view.status().warnings[0]
        result = app.search(SearchRequest("total of an invoice"))
        assert (result.primary[0].chunk.path, dict(result.meta.unavailable)) == ("money.py", {})
