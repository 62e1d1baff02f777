"""The model of the second look: loaded in the background, it embeds chunks while nothing else runs."""

import logging
import sqlite3
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING

from graphrag_mcp.errors import GraphragError, ModelUnavailableError
from graphrag_mcp.index.handle import Handle
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import Ranked
from graphrag_mcp.system.threads import DaemonThreads

if TYPE_CHECKING:  # Who has no second model imports nothing of it.
    from graphrag_mcp.index.stores import IndexStores
    from graphrag_mcp.ports import Embedder, Matrix
    from graphrag_mcp.stores.sqlite.vectors import SqliteSecondVectors

WAIT_SECONDS = 0.03  # A search waits no longer for the vector of its question; small models take 5 to 10 ms.
PAUSE_SECONDS = 1.0  # After a search or an edit, or where nothing is missing.
CLOSE_SECONDS = 0.5  # A text takes 20 ms.
BATCH_TEXTS = 32  # They take about a second, and are stored together.
KEPT_QUESTIONS = 64
KEPT_WANTED = 512

logger = logging.getLogger(__name__)


class SecondModel:
    """Embeds what the index lacks while no search and no index run is busy: what searches found first, then the rest.

    Safe to use from any thread.
    """

    def __init__(
        self, name: str, handle: Handle, stop: threading.Event, idle: threading.Event, is_busy: Callable[[], bool]
    ) -> None:
        """name: the setting `embedding_model`. stop: ends it. idle: set while no search runs.

        is_busy: whether an index run is in progress.
        """
        self._name = name
        self._handle = handle
        self._stop = stop
        self._idle = idle
        self._is_busy = is_busy
        self._embedder: Embedder | None = None
        self._background: threading.Thread | None = None
        self._threads = DaemonThreads(2, "second-look")
        self._questions: OrderedDict[str, Future[Matrix]] = OrderedDict()
        self._guard = threading.Lock()
        self._wanted: deque[int] = deque(maxlen=KEPT_WANTED)
        self.problem = ""

    def start(self) -> None:
        """Load the model and embed, in a thread; returns at once."""
        if self._name:
            self._background = threading.Thread(target=self._run, name="second-look", daemon=True)
            self._background.start()

    def close(self) -> None:
        """Wait until the last text is embedded; `stop` is set. A model that still loads is left to itself."""
        if self._background is not None:
            self._background.join(CLOSE_SECONDS)

    def over(self, index: "IndexStores") -> "LookAgain | None":
        """Return what compares the chunks of an index with a question; None until the model is loaded."""
        return None if self._embedder is None else LookAgain(self, index.second_vectors(self._embedder))

    def want(self, chunk_ids: Sequence[int]) -> None:
        """Have these chunks embedded before all others."""
        self._wanted.extendleft(reversed(chunk_ids))

    def question(self, text: str) -> "Future[Matrix]":
        """Return the vector of a question once it is there; the last ones are kept."""
        with self._guard:
            if text not in self._questions and self._embedder is not None:
                embedder = self._embedder
                self._questions[text] = self._threads.submit(lambda: embedder.embed_query(text))
                if len(self._questions) > KEPT_QUESTIONS:
                    self._questions.popitem(last=False)
            return self._questions[text]

    def _run(self) -> None:
        from graphrag_mcp.embedding.models import is_static, open_second_model

        if is_static(self._name):
            return
        try:
            self._embedder = open_second_model(self._name)
        except ModelUnavailableError as error:
            self.problem = f"searching without a second look: {error}"
            logger.warning("%s", self.problem)
            return
        while not self._stop.is_set():
            try:
                is_done = self._embed_some(self._embedder)
            except (sqlite3.Error, OSError, GraphragError) as error:  # The writer of the index deals with it.
                logger.debug("the second look was interrupted: %s", error)
                is_done = False
            if not is_done:
                self._stop.wait(PAUSE_SECONDS)
        self._threads.close()

    def _must_wait(self) -> bool:
        return self._stop.is_set() or not self._idle.is_set() or self._is_busy()

    def _embed_some(self, embedder: "Embedder") -> bool:
        """Embed a few chunks of a complete index; return whether there may be more to do at once."""
        if self._must_wait() or not (self._handle.is_writer or self._handle.holder() is None):
            return False
        index = self._handle.searched()
        vectors = index.second_vectors(embedder)
        if vectors.is_complete() or not index.catalog.meta("indexed_at"):
            return False
        commit = index.database.commit_number()
        wanted = [self._wanted.popleft() for _ in range(min(BATCH_TEXTS, len(self._wanted)))]
        missing = (vectors.missing(BATCH_TEXTS, wanted) if wanted else {}) or vectors.missing(BATCH_TEXTS)
        made = self._embed(missing, index, embedder)
        with self._handle.writing_briefly() as may_write:
            if may_write and made:
                vectors.add(made)
            elif may_write and not missing:
                vectors.complete(commit)
            return may_write and len(made) == len(missing) > 0

    def _embed(self, missing: Mapping[bytes, int], index: "IndexStores", embedder: "Embedder") -> "dict[bytes, Matrix]":
        """Return the vectors of texts by their hash, as many as there is time for."""
        chunks = index.catalog.chunks(list(missing.values()))
        made: dict[bytes, Matrix] = {}
        for text_hash, chunk_id in missing.items():
            if self._must_wait():
                break
            if chunk_id in chunks:
                chunk = chunks[chunk_id]
                made[text_hash] = embedder.embed_documents([f"{chunk.path} {chunk.symbol}\n{chunk.text}"])[0]
        return made


class LookAgain:
    """The second look of one search. It waits for the vectors of its questions for 30 ms in all."""

    def __init__(self, model: SecondModel, vectors: "SqliteSecondVectors") -> None:
        self._model = model
        self._vectors = vectors
        self._left = WAIT_SECONDS
        self._known: dict[str, Matrix | None] = {}

    def expect(self, text: str) -> None:
        self._model.question(text)

    def similarities(self, text: str, chunk_ids: Sequence[int]) -> Mapping[int, float]:
        """Return the cosines of chunks that have a vector; the others are embedded next."""
        vector = self._vector(text)
        if vector is None:
            return {}
        found = self._vectors.similarities(vector, chunk_ids)
        self._model.want([chunk_id for chunk_id in chunk_ids if chunk_id not in found])
        return found

    def nearest(self, text: str, limit: int, scope: Scope) -> list[Ranked]:
        vector = self._vector(text)
        return [] if vector is None else self._vectors.nearest(vector, limit, scope)

    def _vector(self, text: str) -> "Matrix | None":
        if text not in self._known:
            started = time.monotonic()
            try:
                self._known[text] = self._model.question(text).result(max(0.0, self._left))
            except Exception:  # It is late, or the model failed: the answer goes without.
                self._known[text] = None
            self._left -= time.monotonic() - started
        return self._known[text]
