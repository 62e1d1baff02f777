"""Asks every store at once; one that fails or is slow is left out, and named."""

import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass, field
from typing import TypeVar

from graphrag_mcp.model import Ranked, Scope, SymbolMatch
from graphrag_mcp.ports import ChunkStore, Embedder, GraphStore, KeywordIndex, VectorIndex
from graphrag_mcp.search.query import Query

logger = logging.getLogger(__name__)

STORE_TIMEOUT_SECONDS = 5.0  # Ten times what the slowest store takes on a large index.
MAX_DEFINITIONS = 50  # Definitions of one name that are looked at.
MAX_PATHS = 20  # Files that are candidates for their name alone.

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Stores:
    """The ports that a search asks. Without a model, `embedder` and `vectors` are None and `no_vectors` says why."""

    catalog: ChunkStore
    keywords: KeywordIndex
    graph: GraphStore
    vectors: VectorIndex | None = None
    embedder: Embedder | None = None
    no_vectors: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """What the stores gave for one query; `unavailable` maps a store that gave nothing to the reason."""

    vector: Sequence[Ranked] = ()
    keyword: Sequence[Ranked] = ()
    definitions: Sequence[SymbolMatch] = ()
    paths: Sequence[Ranked] = ()
    unavailable: dict[str, str] = field(default_factory=dict)


class Retriever:
    """Runs the look-ups of a query side by side."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(4, thread_name_prefix="retrieve")

    def retrieve(self, query: Query, scope: Scope, pool: int, stores: Stores) -> Found:
        """Return at most `pool` candidates from each list."""
        unavailable: dict[str, str] = {}
        deadline = time.monotonic() + STORE_TIMEOUT_SECONDS

        def ask(look_up: Callable[[], Sequence[Answer]], beside: bool) -> Future[Sequence[Answer]]:
            return self._threads.submit(look_up) if beside else _done(look_up)

        def answer(store: str, future: Future[Sequence[Answer]]) -> Sequence[Answer]:
            try:
                return future.result(max(0.0, deadline - time.monotonic()))
            except FutureTimeoutError:
                unavailable[store] = f"no answer within {STORE_TIMEOUT_SECONDS:.0f} s"
            except Exception as error:
                # Whatever breaks one store must not lose the others' answers; the result names it.
                logger.warning("the %s look-up failed", store, exc_info=logger.isEnabledFor(logging.DEBUG))
                unavailable[store] = f"{type(error).__name__}: {error}"
            return ()

        names = [symbol.name for symbol in query.symbols]
        remote_vectors = stores.vectors is not None and stores.vectors.remote
        # Waiting for a thread costs more than a short look-up: on this machine only the full-text search, which runs
        # outside of Python, is worth one.
        keyword = ask(lambda: stores.keywords.search(query.terms, pool, scope), beside=True)
        vector = ask(lambda: _nearest(query, pool, scope, stores), remote_vectors)
        definitions = ask(
            lambda: stores.graph.find_symbols(names, scope, MAX_DEFINITIONS) if names else [], stores.graph.remote
        )
        # A file whose name is said in passing is in the other lists as well; measured, its look-up added nothing.
        paths = ask(
            lambda: stores.catalog.find_paths(query.terms, MAX_PATHS, scope) if query.paths else [],
            stores.catalog.remote,
        )
        if stores.vectors is None or stores.embedder is None:
            unavailable["vector"] = stores.no_vectors or "no embedding model"
        return Found(
            keyword=answer("keyword", keyword),
            vector=answer("vector", vector),
            definitions=answer("graph", definitions),
            paths=answer("catalog", paths),
            unavailable=unavailable,
        )

    def close(self) -> None:
        """Stop the threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _done(look_up: Callable[[], Sequence[Answer]]) -> Future[Sequence[Answer]]:
    """Return the answer, or what went wrong, as a thread would."""
    done: Future[Sequence[Answer]] = Future()
    try:
        done.set_result(look_up())
    except Exception as error:
        done.set_exception(error)
    return done


def _nearest(query: Query, pool: int, scope: Scope, stores: Stores) -> list[Ranked]:
    if stores.vectors is None or stores.embedder is None:
        return []
    vector = stores.embedder.embed_query(query.text)
    # A query of which the model knows no word is near to nothing, not to everything.
    return stores.vectors.search(vector, pool, scope) if vector.any() else []
