"""The stores and models that a search uses: one Protocol per role, named after the role."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

from graphrag_mcp.model.files import Category, DocumentStatus, RelationKind, Symbol
from graphrag_mcp.model.graph import CodeEdge, CodeNode, Dependency, Doubt, Mentioned
from graphrag_mcp.model.history import Recalled, Touched
from graphrag_mcp.model.paths import ChosenPaths
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import (
    ChunkMention,
    Frequencies,
    GraphNeighbour,
    Ranked,
    StoredChunk,
    StoredFile,
    SymbolMatch,
)

if TYPE_CHECKING:  # What does not search imports no numpy.
    import numpy as np
    from numpy.typing import NDArray

Matrix: TypeAlias = "NDArray[np.float32]"


class Embedder(Protocol):
    """Turns texts into unit vectors of float32; the fingerprint identifies the model and its method."""

    @property
    def fingerprint(self) -> str: ...
    @property
    def dimensions(self) -> int: ...
    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """Return one row per text, shape (len(texts), dimensions)."""

    def embed_query(self, text: str) -> Matrix:
        """Return one vector, shape (dimensions,)."""


class SecondLook(Protocol):
    """Compares chunks with a question by a second model, as far as their vectors are computed by now."""

    def expect(self, text: str) -> None:
        """Begin to embed a question that will be asked about; returns at once."""

    def similarities(self, text: str, chunk_ids: Sequence[int]) -> Mapping[int, float]:
        """Return the cosine of each chunk that has a vector; {} where the text's own was not there in time."""

    def nearest(self, text: str, limit: int, scope: Scope) -> list[Ranked]:
        """Return the best chunks of all; [] until all have a vector."""


class CrossEncoder(Protocol):
    """Scores how well a text answers a query, reading both together."""

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return one score per text, 0 to 1."""


class Store(Protocol):
    """What a search reads. remote: whether its answers come over a network; the search asks such stores in parallel."""

    @property
    def remote(self) -> bool: ...


class VectorIndex(Store, Protocol):
    """Nearest chunks by cosine similarity."""

    def search(self, vector: Matrix, limit: int, scope: Scope) -> list[Ranked]:
        """Return the `limit` nearest chunks inside the scope, nearest first; scores are cosines."""

    def similarities(self, vector: Matrix, chunk_ids: Sequence[int]) -> Mapping[int, float]:
        """Return the cosine of each of those chunks that have a vector."""

    def vectors(self, chunk_ids: Sequence[int]) -> Mapping[int, Matrix]:
        """Return the vectors of those chunks that have one."""


class KeywordIndex(Store, Protocol):
    """Best chunks by BM25 over fields."""

    def search(self, terms: Sequence[str], limit: int, scope: Scope) -> list[Ranked]:
        """Return the `limit` best chunks inside the scope for any of the terms, best first; higher is better."""

    def frequencies(self, terms: Sequence[str]) -> Frequencies | None:
        """Return the number of chunks with each term, of any scope; None where it would take another request."""


class CommitStore(Store, Protocol):
    """Past commits, by the words of their messages."""

    def frequencies(self, terms: Sequence[str]) -> Frequencies:
        """Return how many messages contain each term."""

    def recall(self, frequencies: Frequencies, limit: int) -> list[Recalled]:
        """Return the commits whose messages have any of the terms that were counted, the best first."""

    def files(self, commit_ids: Collection[int], scope: Scope) -> list[Touched]:
        """Return the files inside a scope that commits of the last `recall` changed."""


class GraphStore(Store, Protocol):
    """Definitions and the relations between them."""

    def find_symbols(self, names: Sequence[str], scope: Scope, limit: int) -> list[SymbolMatch]:
        """Return definitions whose unqualified name equals one of `names`, ignoring case."""

    def mentions(self, chunk_ids: Sequence[int], scope: Scope) -> list[ChunkMention]:
        """Return the definitions in other files that the chunks reference, as far as one is known to be meant."""

    def backlinks(self, chunk_ids: Sequence[int]) -> Mapping[int, int]:
        """Return for each of those chunks how many other files, not archived, call, import or link to its file."""

    def neighbours(
        self,
        chunk_ids: Sequence[int],
        hops: int,
        limit: int,
        scope: Scope,
        kinds: Sequence[RelationKind] = (),
        symbols: Collection[str] = (),
    ) -> list[GraphNeighbour]:
        """Return chunks related to the seeds, ordered by (hops, confidence, seed's rank, path).

        kinds: the relations that are followed; none: RELATED_KINDS. symbols: the qualified names of the definitions
        whose relations count in the seeds, with those of their members; none: all.
        """


class SymbolGraph(Protocol):
    """The nodes and edges of the code graph; see `CodeNode`."""

    def definitions(self, name: str, scope: Scope) -> list[CodeNode]:
        """Return the definitions whose qualified name is or ends with a name, ignoring case; in the order of paths."""

    def similar_names(self, name: str, limit: int, scope: Scope) -> list[str]:
        """Return names that contain a name, ignoring case, shortest first."""

    def names(self, *, qualified: bool = False) -> list[str]:
        """Return all names that are defined, on request with their qualifiers (`Session.send`)."""

    def file(self, path: str) -> CodeNode | None:
        """Return a file as a node."""

    def in_file(self, path: str, line: int | None = None) -> list[CodeNode]:
        """Return the definitions of a file in the order of their lines; those around a line, innermost first."""

    def lines(self, wanted: Collection[tuple[str, int]]) -> Mapping[tuple[str, int], str]:
        """Return the text of lines by path and line, as far as they are indexed."""

    def texts(self, names: Collection[str], scope: Scope) -> list[tuple[str, Category, int, str]]:
        """Return the chunks with one of some names: the path, the category of the file, the first line and the text."""

    def visible(self, paths: Collection[str], scope: Scope) -> set[str]:
        """Return those of the paths that a scope shows."""

    def at_places(self, places: Collection[int]) -> Mapping[int, int]:
        """Return the ids of the nodes at places (`place_id`): definitions, files, and of packages their first file."""

    def nodes(self, ids: Iterable[int]) -> Mapping[int, CodeNode]:
        """Return nodes by their ids; those that are gone are left out."""

    def dependencies(self, scope: Scope) -> Iterator[Dependency]:
        """Yield the references from files to definitions in other files."""


class CodeRelations(Protocol):
    """The relations between the nodes of the code graph."""

    def decides(self, path: str) -> bool:
        """Return whether the relations of a file are decided from facts, not by names."""

    def unresolved(self, path: str) -> bool:
        """Return whether relations of a file may be missing."""

    def incoming(self, node: CodeNode, kinds: Sequence[RelationKind], scope: Scope) -> tuple[list[CodeEdge], Doubt]:
        """Return the relations to a node, undecided ones too, and what is not known of them."""

    def settled(self, edges: Sequence[CodeEdge], nodes: Collection[CodeNode]) -> list[CodeEdge]:
        """Return relations to nodes, certain where each overload that one may mean is among these."""

    def outgoing(self, node: CodeNode, kinds: Sequence[RelationKind]) -> tuple[list[CodeEdge], list[Mentioned]]:
        """Return the relations from a node, and its mentions that are not decided."""

    def inherited(self, child: CodeNode, name: str, scope: Scope) -> list[int]:
        """Return the nodes of a member that a type has from those above it."""

    def assigned(self, kind: CodeNode, name: str) -> list[str]:
        """Return the places where methods of a type, or of one above it, assign an attribute."""

    def exported(self, name: str, scope: Scope) -> list[int]:
        """Return the nodes that files export under a name."""


class ScopePaths(Protocol):
    """Finds the files that the globs of a scope mean, which no server can match."""

    def lifted(self, patterns: tuple[str, ...]) -> Sequence[str]:
        """Return the paths of archived files that gitignore globs match."""

    def chosen(self, globs: tuple[str, ...]) -> ChosenPaths:
        """Return the indexed files that the `paths` of a scope choose."""


class ChunkStore(Store, Protocol):
    """The catalog of chunks and files."""

    @property
    def scope_paths(self) -> ScopePaths: ...

    def chunks(self, chunk_ids: Sequence[int]) -> Mapping[int, StoredChunk]:
        """Return those of the chunks that still exist."""

    def files(self, chunk_ids: Sequence[int]) -> Mapping[int, StoredFile]:
        """Return the file of each chunk, by the chunk's id; chunks of files that are gone are left out."""

    def definitions(self, file_ids: Collection[int]) -> Mapping[int, Sequence[Symbol]]:
        """Return the definitions of files by file id, in the order of their lines; {} where the store has none."""

    def spans(self, file_ids: Collection[int]) -> Mapping[int, Mapping[int, tuple[int, int]]]:
        """Return first and last line of the chunks of files in their order, by file and chunk id; {} where unknown."""

    def calls(self, file_ids: Collection[int]) -> Mapping[int, Sequence[tuple[int, str]]]:
        """Return the names that files call, each with its line, in the order of the lines; {} where unknown."""

    def documents(self, status: DocumentStatus, limit: int, scope: Scope) -> list[int]:
        """Return the first chunks of documents that state this status, in the order of their paths."""

    def languages(self) -> Collection[str]:
        """Return the languages of the indexed files."""

    def paths(self, scope: Scope) -> list[tuple[str, Category]]:
        """Return the files of a scope with their categories, in the order of their paths."""

    def find_paths(self, words: Sequence[str], limit: int, scope: Scope) -> list[Ranked]:
        """Return the first chunks of files whose stem has one of the words; the score is its fraction of the stem."""
