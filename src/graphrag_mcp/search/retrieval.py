"""Asks every store at once; a server that fails, and a store that is slow, is left out and named.

A look-up in the index file that fails is an error: the answer would lack what it had.
"""

import logging
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeVar

from graphrag_mcp.errors import GraphragError, ModelUnavailableError, ServerError
from graphrag_mcp.model.files import DocumentStatus
from graphrag_mcp.model.search import Ranked, Scope, SymbolMatch
from graphrag_mcp.ports import ChunkStore, CrossEncoder, Embedder, GraphStore, KeywordIndex, Matrix, VectorIndex
from graphrag_mcp.search.query.understand import Query
from graphrag_mcp.search.threads import DaemonThreads, settle

logger = logging.getLogger(__name__)

STORE_TIMEOUT_SECONDS = 5.0  # Ten times what the slowest store takes on a large index.
REMOTE_TIMEOUT_SECONDS = 1.2  # Of the two seconds in which a search answers whatever a server does.
REST_SECONDS = 3.0
_THREADS_PER_SERVER = 4  # Look-ups that wait at the same time; a server that never answers holds no more.
MAX_DEFINITIONS = 50  # Definitions of one name that are looked at.
KEYWORD_DEPTH = 3  # The embedded keyword list is read so many times deeper than it proposes: a score is cheap there.
MAX_PATHS = 20  # Files that are candidates for their name alone.

Answer = TypeVar("Answer")


def _no_cross_encoder() -> CrossEncoder:
    raise ModelUnavailableError("no cross-encoder was given to this search")


@dataclass(frozen=True, slots=True)
class Stores:
    """The ports that a search asks.

    Without a model, `embedder` and `vectors` are None and `no_vectors` says why; without a graph, `no_graph` does.
    knows_cosines: whether the vectors are of the model in this package, whose cosines can be judged.
    cross_encoder: loads the model that reranks, when a search first needs it; raises ModelUnavailableError.
    """

    catalog: ChunkStore
    keywords: KeywordIndex
    graph: GraphStore | None
    vectors: VectorIndex | None = None
    embedder: Embedder | None = None
    no_vectors: str = ""
    no_graph: str = ""
    knows_cosines: bool = False
    cross_encoder: Callable[[], CrossEncoder] = _no_cross_encoder


@dataclass(frozen=True, slots=True)
class Found:
    """What the stores gave for one query; `unavailable` maps a store that gave nothing to the reason.

    keyword_beyond: scores of chunks that the keyword list does not propose, for those that another list does.
    vector_of_query: None where no vector can be near to it.
    started: when the servers were first asked, on the monotonic clock; what is asked later shares their time.
    """

    vector: Sequence[Ranked] = ()
    keyword: Sequence[Ranked] = ()
    keyword_beyond: Mapping[int, float] = field(default_factory=dict)
    vector_of_query: Matrix | None = None
    definitions: Sequence[SymbolMatch] = ()
    paths: Sequence[Ranked] = ()
    unavailable: dict[str, str] = field(default_factory=dict)
    started: float = field(default_factory=time.monotonic)


class Retriever:
    """Runs the look-ups of a query, those that wait for a server or for SQLite beside the others.

    remote_timeout_seconds: how long a server is waited for. One that failed is left alone for a while after that, so
    that a server which is down slows one search and not each of them.
    """

    def __init__(self, remote_timeout_seconds: float = REMOTE_TIMEOUT_SECONDS, minor_weight: float = 0.5) -> None:
        self._minor_weight = minor_weight
        self._remote_timeout = remote_timeout_seconds
        self._full_text = DaemonThreads(4, "full-text")
        self._servers: dict[str, DaemonThreads] = {}
        self._resting: dict[str, tuple[float, str]] = {}

    def retrieve(self, query: Query, scope: Scope, pool: int, stores: Stores) -> Found:
        """Return at most `pool` candidates from each list."""
        unavailable: dict[str, str] = {}
        started = time.monotonic()
        names = [symbol.name for symbol in query.symbols]
        keywords, vectors, graph, catalog = stores.keywords, stores.vectors, stores.graph, stores.catalog
        # Waiting for a thread costs more than a short look-up: on this machine only the full-text search, which runs
        # outside of Python, is worth one.
        depth = pool if keywords.remote else KEYWORD_DEPTH * pool
        keyword = [
            self._ask("keyword", keywords.remote, partial(keywords.search, terms, depth, scope), beside=True)
            for terms in (query.terms, query.minor_terms)
            if terms
        ]
        embedded = self._ask("vector", False, partial(_embed, query, stores))
        wanted = next(iter(self._answer(embedded, unavailable)), None)
        vector = self._ask(
            "vector",
            vectors is not None and vectors.remote,
            lambda: vectors.search(wanted, pool, scope) if vectors is not None and wanted is not None else [],
        )
        definitions = self._ask(
            "graph",
            graph is not None and graph.remote,
            lambda: graph.find_symbols(names, scope, MAX_DEFINITIONS) if names and graph is not None else [],
        )
        # A file whose name is said in passing is in the other lists as well; measured, its look-up added nothing.
        paths = self._ask(
            "catalog", catalog.remote, lambda: catalog.find_paths(query.terms, MAX_PATHS, scope) if query.paths else []
        )
        if vectors is None or stores.embedder is None:
            unavailable["vector"] = stores.no_vectors or "no embedding model"
        by_words = _sum([self._answer(one, unavailable) for one in keyword], (1.0, self._minor_weight))[:depth]
        by_meaning = self._answer(vector, unavailable)
        if graph is None:
            unavailable["graph"] = stores.no_graph
        return Found(
            keyword=by_words[:pool],
            keyword_beyond={one.chunk_id: one.score for one in by_words[pool:]},
            vector=by_meaning,
            vector_of_query=wanted,
            definitions=self._answer(definitions, unavailable),
            paths=self._answer(paths, unavailable),
            unavailable=unavailable,
            started=started,
        )

    def ask_graph(
        self, graph: GraphStore | None, look_up: Callable[[GraphStore], Sequence[Answer]], found: Found
    ) -> Sequence[Answer]:
        """Return what the graph answers; nothing, with the reason in `found.unavailable`, when it cannot."""
        if graph is None or "graph" in found.unavailable:  # What failed once would only make the search wait again.
            return ()
        asked = self._ask("graph", graph.remote, lambda: look_up(graph), since=found.started)
        return self._answer(asked, found.unavailable)

    def similarities(self, chunk_ids: Sequence[int], stores: Stores, found: Found) -> Mapping[int, float]:
        """Return how near chunks are to the query that no list of nearest ones proposed."""
        vectors, vector = stores.vectors, found.vector_of_query
        if vectors is None or vector is None or not chunk_ids or "vector" in found.unavailable:
            return {}

        def look_up() -> Sequence[tuple[int, float]]:
            return list(vectors.similarities(vector, chunk_ids).items())

        return dict(self._answer(self._ask("vector", vectors.remote, look_up, since=found.started), found.unavailable))

    def backlinks(self, chunk_ids: Sequence[int], stores: Stores, found: Found) -> Mapping[int, int]:
        """Return how many other files lead to those of the chunks."""
        return dict(self.ask_graph(stores.graph, lambda graph: list(graph.backlinks(chunk_ids).items()), found))

    def documents(
        self, status: DocumentStatus, limit: int, scope: Scope, stores: Stores, found: Found
    ) -> Sequence[int]:
        """Return the first chunks of the documents of a status."""
        catalog = stores.catalog
        if "catalog" in found.unavailable:
            return ()
        look_up = self._ask(
            "catalog", catalog.remote, lambda: catalog.documents(status, limit, scope), since=found.started
        )
        return self._answer(look_up, found.unavailable)

    def close(self) -> None:
        """Let the threads end."""
        for threads in (self._full_text, *self._servers.values()):
            threads.close()

    def _ask(
        self,
        store: str,
        remote: bool,
        look_up: Callable[[], Sequence[Answer]],
        *,
        beside: bool = False,
        since: float | None = None,
    ) -> "_Asked[Answer]":
        now = time.monotonic()
        started = now if since is None or not remote else since
        future: Future[Sequence[Answer]] = Future()
        if remote:
            until, reason = self._resting.get(store, (0.0, ""))
            if now < until:
                future.set_exception(ServerError(reason))
            else:
                threads = self._servers.setdefault(store, DaemonThreads(_THREADS_PER_SERVER, store))
                future = threads.submit(look_up)
        elif beside:
            future = self._full_text.submit(look_up)
        else:
            settle(future, look_up)
        return _Asked(store, remote, future, started + (self._remote_timeout if remote else STORE_TIMEOUT_SECONDS))

    def _answer(self, asked: "_Asked[Answer]", unavailable: dict[str, str]) -> Sequence[Answer]:
        try:
            return asked.future.result(max(0.0, asked.deadline - time.monotonic()))
        except FutureTimeoutError:
            asked.future.cancel()
            reason = f"no answer within {self._remote_timeout if asked.remote else STORE_TIMEOUT_SECONDS:g} s"
        except (MemoryError, sqlite3.Error):
            raise
        except Exception as error:
            if not asked.remote and not isinstance(error, ServerError | ModelUnavailableError):
                raise
            # Whatever breaks one server must not lose the others' answers; the result names it.
            expected = isinstance(error, GraphragError)
            show_where = not expected or logger.isEnabledFor(logging.DEBUG)
            logger.warning("the %s look-up failed", asked.store, exc_info=show_where)
            reason = str(error) if expected else f"it failed unexpectedly ({error}); the error output has the details"
        if asked.remote:
            now = time.monotonic()
            until, _ = self._resting.get(asked.store, (0.0, ""))
            if now >= until:  # A refusal while it rests must not prolong the rest.
                self._resting[asked.store] = (now + REST_SECONDS, reason)
        unavailable[asked.store] = reason
        return ()


@dataclass(frozen=True, slots=True)
class _Asked(Generic[Answer]):
    """A look-up under way."""

    store: str
    remote: bool
    future: "Future[Sequence[Answer]]"
    deadline: float


def _sum(lists: Sequence[Sequence[Ranked]], weights: Sequence[float]) -> Sequence[Ranked]:
    """Add up lists of BM25, which is a sum over terms: so each list's part is added by its weight."""
    if len(lists) < 2:
        return lists[0] if lists else ()
    scores: dict[int, float] = {}
    for items, weight in zip(lists, weights, strict=True):
        for chunk_id, score in items:
            scores[chunk_id] = scores.get(chunk_id, 0.0) + weight * score
    return sorted(map(Ranked._make, scores.items()), key=lambda one: (-one.score, one.chunk_id))


def _embed(query: Query, stores: Stores) -> list[Matrix]:
    """Return the query's vector; none where nothing can be near to it.

    A query of which the model knows no word is near to nothing, not to everything.
    """
    if stores.vectors is None or stores.embedder is None:
        return []
    try:
        vector = stores.embedder.embed_query(query.text)
    except (GraphragError, MemoryError):
        raise
    except Exception as error:  # A model that users chose runs code of others.
        raise ModelUnavailableError(f"the embedding model failed ({error})") from error
    return [vector] if vector.any() else []
