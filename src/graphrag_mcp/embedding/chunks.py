"""The vector of a chunk: the mean of what its two texts say (see `context`)."""

from collections.abc import Sequence

import numpy as np

from graphrag_mcp.embedding.static import StaticEmbedder
from graphrag_mcp.ports import Embedder, Matrix


def embed_chunks(embedder: Embedder, texts: Sequence[tuple[str, str]]) -> Matrix:
    """Return one unit vector per pair of `embedding_texts`, shape (len(texts), dimensions): the mean of the two."""
    if isinstance(embedder, StaticEmbedder):
        topics, fulls = embedder.embed_extended(texts)
    else:
        topics = embedder.embed_documents([topic for topic, _ in texts])
        fulls = embedder.embed_documents([full for _, full in texts])
    total = topics + fulls
    lengths = np.linalg.norm(total, axis=1, keepdims=True)
    return np.asarray(np.divide(total, lengths, out=np.zeros_like(total), where=lengths > 0))
