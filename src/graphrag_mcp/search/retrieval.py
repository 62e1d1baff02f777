"""Runs the look-ups of a search; those of servers and the full-text search run in threads.

A server that fails or a store that is slow is left out, and the result names it. A look-up in the index file that
fails is an error: the answer would be incomplete without notice.
"""

import logging
import sqlite3
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from functools import partial
from typing import Generic, TypeAlias, TypeVar

from msgspec import Struct, field

from graphrag_mcp.errors import GraphragError, ModelUnavailableError, ServerError
from graphrag_mcp.history.recall import Memory, recall
from graphrag_mcp.model.files import DocumentStatus, SymbolKind
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import Frequencies, LiteralPlace, Ranked, StoredChunk, SymbolMatch
from graphrag_mcp.ports import (
    ChunkStore,
    CommitStore,
    CrossEncoder,
    Embedder,
    GraphStore,
    KeywordIndex,
    Matrix,
    SecondLook,
    VectorIndex,
)
from graphrag_mcp.search.literals import find_places
from graphrag_mcp.search.query.understand import Query
from graphrag_mcp.search.ranking.sketches import SketchCache
from graphrag_mcp.stores.breaker import CircuitBreaker
from graphrag_mcp.stores.sqlite.keyword import SqliteKeywordIndex
from graphrag_mcp.system.threads import DaemonThreads, complete
from graphrag_mcp.text.names import key_names, sets_key
from graphrag_mcp.text.words import query_words

logger = logging.getLogger(__name__)

STORE_TIMEOUT_SECONDS = 5.0  # Ten times what the slowest store takes on a large index.
REMOTE_TIMEOUT_SECONDS = 1.2  # It is part of the two seconds in which a search answers even when a server hangs.
LEAST_SHARE = 0.25  # With a smaller share of that time left, a server is not asked.
_THREADS_PER_SERVER = 4  # Look-ups that wait at the same time; a server that never answers blocks no more.
MAX_DEFINITIONS = 200  # Definitions of one name that are considered.
MAX_OTHER_STYLE = 8  # Definitions in another style than the query's name; more of them are a common method.
KEYWORD_DEPTH = 3  # The keyword list is read this many times deeper than it proposes: scores are cheap.
EXPANSION_WEIGHT = 0.5  # A synonym has this weight, and a long query after its first line; a term has 1.
MAX_PATHS = 20  # Files that are candidates by their path alone.

Answer = TypeVar("Answer")
ChunkAndVector: TypeAlias = "tuple[StoredChunk, Matrix | None]"  # A chunk and its vector.


def _no_cross_encoder() -> CrossEncoder:
    raise ModelUnavailableError("no cross-encoder was given to this search")


class Stores(Struct, frozen=True):
    """The ports that a search reads.

    Without a model, `embedder` and `vectors` are None and `no_vectors` is the reason; without a graph, `no_graph` is.
    has_calibrated_cosines: whether the vectors are of the model in this package, for which `confidence` was fitted.
    sketches: of the definitions of files, by the same model; None where the catalog has no definitions.
    phrases, history: None where there is no index file.
    project: the name of its folder, "" where that is not known.
    cross_encoder: loads the model that reranks, when a search first needs it; raises ModelUnavailableError.
    second: compares by a second model; None without one, and until it is loaded.
    """

    catalog: ChunkStore
    keywords: KeywordIndex
    graph: GraphStore | None
    vectors: VectorIndex | None = None
    embedder: Embedder | None = None
    no_vectors: str = ""
    no_graph: str = ""
    has_calibrated_cosines: bool = False
    sketches: SketchCache | None = None
    cross_encoder: Callable[[], CrossEncoder] = _no_cross_encoder
    phrases: SqliteKeywordIndex | None = None
    history: CommitStore | None = None
    project: str = ""
    second: SecondLook | None = None

    @property
    def measured_sketches(self) -> SketchCache | None:
        """The sketches, if they are of the model with which their weights were measured."""
        return self.sketches if self.has_calibrated_cosines else None


class Retrieved(Struct, frozen=True):
    """What the stores returned for one query.

    keyword_beyond: scores of chunks below the proposed part of the keyword list, for those that another list proposes.
    query_vector: None where no vector can be near to the query.
    """

    vector: Sequence[Ranked] = ()
    keyword: Sequence[Ranked] = ()
    keyword_beyond: Mapping[int, float] = field(default_factory=dict)
    query_vector: "Matrix | None" = None
    definitions: Sequence[SymbolMatch] = ()
    literals: Sequence[LiteralPlace] = ()
    paths: Sequence[Ranked] = ()


class _NoTimeError(ServerError):
    """A server was not asked, since another one took too long."""


class Retriever:
    """Keeps the threads and the circuit breakers that the look-ups of all searches share.

    remote_timeout_seconds: how long a search waits for a server. A server that failed is not queried during a
    cooldown, so that it slows one search and not every one.
    """

    def __init__(self, remote_timeout_seconds: float = REMOTE_TIMEOUT_SECONDS) -> None:
        self._remote_timeout = remote_timeout_seconds
        self._full_text = DaemonThreads(4, "full-text")
        self._servers: dict[str, DaemonThreads] = {}
        self._breakers: defaultdict[str, CircuitBreaker] = defaultdict(CircuitBreaker)  # By store.

    def close(self) -> None:
        """Let the threads end."""
        for threads in (self._full_text, *self._servers.values()):
            threads.close()

    def server_failed(self, store: str, since: float) -> bool:
        """Return whether a store is on a server that failed since then, on the monotonic clock."""
        return store in self._breakers and bool(self._breakers[store].problem_since(since))

    def start(
        self,
        store: str,
        remote: bool,
        look_up: Callable[[], Sequence[Answer]],
        *,
        in_thread: bool = False,
        since: float | None = None,
    ) -> "Pending[Answer]":
        """Begin a look-up: of a server or with `in_thread` in a thread; else it is done on return.

        since: when the search began to wait for servers, on the monotonic clock; now by default.
        """
        now = time.monotonic()
        started = now if since is None or not remote else since
        future: Future[Sequence[Answer]] = Future()
        if remote:
            if problem := self._breakers[store].problem:
                future.set_exception(ServerError(problem))
            elif started + self._remote_timeout - now < LEAST_SHARE * self._remote_timeout:
                future.set_exception(_NoTimeError("another server took the time of this search"))
            else:
                threads = self._servers.setdefault(store, DaemonThreads(_THREADS_PER_SERVER, store))
                future = threads.submit(look_up)
        elif in_thread:
            future = self._full_text.submit(look_up)
        else:
            complete(future, look_up)
        return Pending(store, remote, future, started + (self._remote_timeout if remote else STORE_TIMEOUT_SECONDS))

    def finish(self, pending: "Pending[Answer]", unavailable: dict[str, str]) -> Sequence[Answer]:
        """Wait for a look-up; when the store fails, return nothing and note the reason in `unavailable`."""
        try:
            return pending.future.result(max(0.0, pending.deadline - time.monotonic()))
        except FutureTimeoutError:
            pending.future.cancel()
            reason = f"no answer within {self._remote_timeout if pending.remote else STORE_TIMEOUT_SECONDS:g} s"
        except _NoTimeError as error:
            unavailable[pending.store] = str(error)
            return ()
        except (MemoryError, sqlite3.Error):
            raise
        except Exception as error:
            if not pending.remote and not isinstance(error, ServerError | ModelUnavailableError):
                raise
            # A failure of one server must not lose the others' answers; the result names it.
            expected = isinstance(error, GraphragError)
            show_where = not expected or logger.isEnabledFor(logging.DEBUG)
            logger.warning("the %s look-up failed", pending.store, exc_info=show_where)
            reason = str(error) if expected else f"it failed unexpectedly ({error}); the error output has the details"
        if pending.remote:
            self._breakers[pending.store].record_failure(reason)
        unavailable[pending.store] = reason
        return ()


class Lookups:
    """The look-ups of one search.

    A store that fails is named in `unavailable` with the reason, and is not queried again. Servers share one deadline.
    """

    def __init__(self, retriever: Retriever, stores: Stores) -> None:
        self.stores = stores
        self.unavailable: dict[str, str] = {}
        self._retriever = retriever
        self._query_vector: Matrix | None = None
        self._compares_vectors = False
        self._started = time.monotonic()

    def retrieve(self, query: Query, scope: Scope, pool: int) -> Retrieved:
        """Return at most `pool` candidates from each list."""
        stores = self.stores
        names = [name for symbol in query.symbols for name in (*symbol.spellings, *key_names(symbol.name))]
        keywords, vectors, graph, catalog = stores.keywords, stores.vectors, stores.graph, stores.catalog
        # Handing a short look-up to a thread costs more than the look-up: of the embedded stores, only the full-text
        # search, which runs outside of Python, gets one.
        depth = KEYWORD_DEPTH * pool
        start = self._retriever.start
        keyword = [
            start("keyword", keywords.remote, partial(keywords.search, terms, depth, scope), in_thread=True)
            for terms in (query.terms, query.expansion_terms)
            if terms
        ]
        embedded = start("vector", False, partial(_embed, query, stores))
        wanted = self._query_vector = next(iter(self._answer(embedded)), None)
        vector = start(
            "vector",
            vectors is not None and vectors.remote,
            lambda: vectors.search(wanted, pool, scope) if vectors is not None and wanted is not None else [],
        )
        definitions = start(
            "graph",
            graph is not None and graph.remote,
            lambda: graph.find_symbols(names, scope, MAX_DEFINITIONS) if names and graph is not None else [],
        )
        # Only for queries with a path: a file named in passing is in the other lists too; measured, no gain.
        paths = start(
            "catalog",
            catalog.remote,
            lambda: catalog.find_paths(_words_of_paths(query), MAX_PATHS, scope) if query.paths else [],
        )
        literals = find_places(query, scope, stores.phrases, catalog) if stores.phrases is not None else ()
        if vectors is None or stores.embedder is None:
            self.unavailable["vector"] = stores.no_vectors or "no embedding model"
        by_words = _sum([self._answer(pending) for pending in keyword])[:depth]
        by_meaning = self._answer(vector)
        self._compares_vectors = bool(by_meaning)
        if graph is None:
            self.unavailable["graph"] = stores.no_graph
        return Retrieved(
            vector=by_meaning,
            keyword=by_words[:pool],
            keyword_beyond={item.chunk_id: item.score for item in by_words[pool:]},
            query_vector=wanted,
            definitions=_as_written(query, self._answer(definitions)),
            literals=literals,
            paths=self._answer(paths),
        )

    @property
    def has_query_vector(self) -> bool:
        """Whether any vector can be near to the query."""
        return self._query_vector is not None

    def in_graph(self, look_up: Callable[[GraphStore], Sequence[Answer]]) -> Sequence[Answer]:
        """Return the graph's answer; nothing when it is unavailable."""
        graph = self.stores.graph
        return self._ask("graph", graph.remote, lambda: look_up(graph)) if graph is not None else ()

    def similarities(self, chunk_ids: Sequence[int]) -> Mapping[int, float]:
        """Return the cosine between the query and each of the chunks that has a vector."""
        vectors, vector = self.stores.vectors, self._query_vector
        if vectors is None or vector is None or not chunk_ids:
            return {}
        return dict(self._ask("vector", vectors.remote, lambda: list(vectors.similarities(vector, chunk_ids).items())))

    def documents(self, status: DocumentStatus, limit: int, scope: Scope) -> Sequence[int]:
        """Return the first chunk of each document of a status."""
        catalog = self.stores.catalog
        return self._ask("catalog", catalog.remote, partial(catalog.documents, status, limit, scope))

    def recall(self, terms: Sequence[str], scope: Scope) -> Sequence[Memory]:
        """Return the files that past commits with such messages changed."""
        history = self.stores.history
        if history is None or not terms:
            return ()
        return self._ask("history", history.remote, partial(recall, terms, history, scope))

    def frequencies(self, terms: Sequence[str]) -> Frequencies | None:
        """Return the number of chunks with each term; None where the keyword index is unavailable or does not know."""
        return None if "keyword" in self.unavailable else self.stores.keywords.frequencies(terms)

    def contents(self, chunk_ids: Sequence[int]) -> Mapping[int, ChunkAndVector]:
        """Return those of the chunks that still exist, each with its vector where vectors took part in the search."""
        chunks = self.stores.catalog.chunks(chunk_ids)
        index = self.stores.vectors if self._compares_vectors else None
        vectors = index.vectors(chunk_ids) if index is not None else {}
        return {chunk_id: (chunk, vectors.get(chunk_id)) for chunk_id, chunk in chunks.items()}

    def _ask(self, store: str, remote: bool, look_up: Callable[[], Sequence[Answer]]) -> Sequence[Answer]:
        """Return the answer of a store; nothing of one that failed before."""
        if store in self.unavailable:
            return ()
        return self._answer(self._retriever.start(store, remote, look_up, since=self._started))

    def _answer(self, pending: "Pending[Answer]") -> Sequence[Answer]:
        return self._retriever.finish(pending, self.unavailable)


class Pending(Struct, Generic[Answer], frozen=True):
    """A look-up in progress."""

    store: str
    remote: bool
    future: "Future[Sequence[Answer]]"
    deadline: float


def _as_written(query: Query, matches: Sequence[SymbolMatch]) -> Sequence[SymbolMatch]:
    """Return the definitions of the names as the query writes them, ignoring case.

    Those of a name that has none are the few whose name has the same words in another style, or the keys that an
    environment variable of that name sets. A flag (`--port`) means keys only.
    """
    by_name: dict[str, list[SymbolMatch]] = {}
    for match in matches:
        by_name.setdefault(match.symbol.name.lower(), []).append(match)
    exact: list[SymbolMatch] = []
    for symbol in query.symbols:
        written, *styles = (
            [match for match in by_name.get(spelling, []) if match.symbol.kind is SymbolKind.KEY or not symbol.is_flag]
            for spelling in symbol.spellings
        )
        others = [match for style in styles for match in style]
        set_keys = [
            match
            for match in matches
            if match.symbol.kind is SymbolKind.KEY and sets_key(symbol.name, match.symbol.qualified_name)
        ]
        exact += written or (others if len(others) <= MAX_OTHER_STYLE else []) or set_keys
    return exact


def _words_of_paths(query: Query) -> list[str]:
    """Return the words of the files to find; the title of a long text lacks those of a trace."""
    located = query_words(" ".join(location.path for location in query.locations))
    return list(dict.fromkeys((*located, *query.terms)))


def _sum(lists: Sequence[Sequence[Ranked]]) -> Sequence[Ranked]:
    """Add the BM25 scores of the terms and of the expansion: BM25 is itself a sum over terms."""
    if len(lists) < 2:
        return lists[0] if lists else ()
    scores: dict[int, float] = {}
    for items, weight in zip(lists, (1.0, EXPANSION_WEIGHT), strict=True):
        for chunk_id, score in items:
            scores[chunk_id] = scores.get(chunk_id, 0.0) + weight * score
    return sorted(map(Ranked._make, scores.items()), key=lambda item: (-item.score, item.chunk_id))


def _embed(query: Query, stores: Stores) -> list[Matrix]:
    """Return the query's vector; none where nothing can be near it.

    A query without a word of the model's vocabulary is near nothing, not near everything.
    """
    if stores.vectors is None or stores.embedder is None:
        return []
    try:
        vector = stores.embedder.embed_query(query.text)
    except (GraphragError, MemoryError):
        raise
    except Exception as error:  # A model that a user configured runs third-party code.
        raise ModelUnavailableError(f"the embedding model failed ({error})") from error
    return [vector] if vector.any() else []
