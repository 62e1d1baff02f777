"""What a chunk's text for the embedder says, and what it must not say."""

from collections.abc import Sequence

import numpy as np
import pytest
from msgspec.structs import replace

from graphrag_mcp.embedding.chunk_texts import embedding_texts
from graphrag_mcp.embedding.models import embed_chunks
from graphrag_mcp.embedding.static import PACKAGE_MODEL, StaticEmbedder
from graphrag_mcp.model.files import Chunk
from graphrag_mcp.ports import Matrix

CHUNK = Chunk(
    start_line=41,
    end_line=57,
    text="    def save(self, session):\n        self.store.write(session)",
    kind="method",
    symbol="SessionStore.save",
    names=("save",),
    enclosing=("SessionStore",),
    comments="Keep the session until it expires.",
)
PATH = "src/web/backend/storage/sessions.py"


class Recorder:
    """An embedder with two dimensions: how often a text says "a" and "b"."""

    fingerprint = "recorder"
    dimensions = 2

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        vectors = np.array([[text.count("a"), text.count("b")] for text in texts], dtype=np.float32).reshape(-1, 2)
        return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1))

    def embed_query(self, text: str) -> Matrix:
        vector: Matrix = self.embed_documents([text])[0]
        return vector


@pytest.mark.requirement("004-06")
def test_the_embedded_text_says_where_the_code_lies_and_what_it_is() -> None:
    """Path, class, function and comments stand before the code."""
    topic, full = embedding_texts(PATH, "python", CHUNK)
    for word in ("sessions", "python", "storage", "backend", "SessionStore", "save", "until it expires"):
        assert word in topic
    assert "store.write" not in topic
    assert full == f"{topic}\n\n{CHUNK.text}"


@pytest.mark.requirement("004-15")
def test_moving_a_chunk_changes_nothing_that_is_embedded() -> None:
    """A line inserted above re-embeds nothing."""
    moved = replace(CHUNK, start_line=142, end_line=158)
    assert embedding_texts(PATH, "python", moved) == embedding_texts(PATH, "python", CHUNK)


@pytest.mark.requirement("004-17")
def test_a_long_comment_is_cut() -> None:
    """The context stays small beside the code."""
    topic, _ = embedding_texts(PATH, "python", replace(CHUNK, comments="word " * 1000))
    assert len(topic) < 400


@pytest.mark.requirement("004-06")
def test_a_chunks_vector_is_the_mean_of_its_two_texts() -> None:
    """The unit vector half-way between the topic's and the full text's."""
    vectors = embed_chunks(Recorder(), [("a", "b"), ("a", "a"), ("", "")])
    np.testing.assert_allclose(vectors, [[0.5**0.5, 0.5**0.5], [1, 0], [0, 0]], atol=1e-6)
    assert vectors.dtype == np.float32


@pytest.mark.requirement("004-08")
def test_no_chunks_give_no_vectors() -> None:
    """An empty batch keeps its shape."""
    assert embed_chunks(Recorder(), []).shape == (0, 2)


@pytest.mark.requirement("004-01")
def test_the_context_brings_a_question_nearer() -> None:
    """Code that does not say what it is about is found by where it lies."""
    embedder = StaticEmbedder(PACKAGE_MODEL)
    bare = embedder.embed_documents([CHUNK.text])[0]
    placed = embed_chunks(embedder, [embedding_texts(PATH, "python", CHUNK)])[0]
    question = embedder.embed_query("session storage backend")
    assert question @ placed > question @ bare + 0.1
