"""The vector index: exact, and in step with every commit."""

import numpy as np

from graphrag_mcp.model.scope import Scope
from tests.contracts.conftest import DIMENSIONS, Backend, Source, unit


def test_the_nearest_come_first_as_exact_search_has_them(backend: Backend) -> None:
    """The order is that of the cosines, all of them compared."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(300, DIMENSIONS))
    backend.write([Source(f"f{n}.py", ["x"], [row.tolist()]) for n, row in enumerate(rows)])
    query = unit(*rng.normal(size=DIMENSIONS))
    exact = np.argsort(-(rows / np.linalg.norm(rows, axis=1, keepdims=True)) @ query)[:20]
    found = backend.vectors.search(query, 20, Scope())
    assert [path for path, _ in backend.places([one.chunk_id for one in found])] == [f"f{n}.py" for n in exact]
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


def test_more_than_there_are_gives_all_there_are(backend: Backend) -> None:
    """A limit above the size of the index is no error."""
    backend.write([Source("a.py", ["x", "y"], [[1.0], [0.0, 1.0]])])
    assert len(backend.vectors.search(unit(1.0), 50, Scope())) == 2
    assert backend.vectors.search(unit(1.0), 1, Scope())[0].score > 0.99


def test_an_empty_index_has_no_neighbours(backend: Backend) -> None:
    """A search before the first commit finds nothing."""
    assert backend.vectors.search(unit(1.0), 5, Scope()) == []


def test_a_file_that_shrinks_leaves_no_vector_behind(backend: Backend) -> None:
    """A file written again with fewer chunks has just those."""
    backend.write([Source("a.py", ["x", "y", "z"], [[1.0], [1.0, 0.1], [1.0, 0.2]])])
    assert len(backend.vectors.search(unit(1.0), 5, Scope())) == 3
    backend.write([Source("a.py", ["x"], [[0.0, 1.0]])])
    (found,) = backend.vectors.search(unit(0.0, 1.0), 5, Scope())
    assert found.score > 0.99


def test_vectors_are_handed_out_by_chunk(backend: Backend) -> None:
    """The semantic dedup asks for the vectors of hits; a chunk without one is left out."""
    backend.write([Source("a.py", ["x"], [[0.6, 0.8]])])
    (found,) = backend.vectors.search(unit(1.0), 1, Scope())
    vectors = backend.vectors.vectors([found.chunk_id, 123456789])
    assert list(vectors) == [found.chunk_id]
    assert np.allclose(vectors[found.chunk_id], unit(0.6, 0.8), atol=1e-3)


def test_the_similarity_of_any_chunk_can_be_asked_for(backend: Backend) -> None:
    """What another list found is compared with the query too, without its vector travelling."""
    backend.write([Source("a.py", ["x", "y"], [[1.0], [0.6, 0.8]]), Source("b.py", ["z"])])
    wanted = next(one.chunk_id for one in backend.vectors.search(unit(1.0), 5, Scope()) if 0.5 < one.score < 0.7)
    similar = backend.vectors.similarities(unit(1.0), [wanted, 123456789])
    assert list(similar) == [wanted]
    assert abs(similar[wanted] - 0.6) < 2e-3
    assert backend.vectors.similarities(unit(1.0), []) == {}
