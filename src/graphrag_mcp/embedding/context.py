"""The texts that stand for a chunk when it is embedded: what it is called and where it lies, with and without its code.

Without the code a chunk is found by its topic, with the code by its details; the mean of the two vectors finds both.
The words are those that measured best with the model in the package: names count twice, since a static model takes the
mean of all words, and imports, symbols and the labels of the header only dilute it.
"""

from collections.abc import Sequence
from pathlib import PurePosixPath

import numpy as np

from graphrag_mcp.embedding.local import StaticEmbedder
from graphrag_mcp.model import Chunk
from graphrag_mcp.ports import Embedder, Matrix

CONTEXT_VERSION = 1  # Other texts make other vectors: increase it with every change below, and all are embedded again.

_FOLDERS = 3  # The nearest ones; those above them are the same for most files.
_COMMENT_CHARACTERS = 200  # A comment says first what it is about.
_LISTED = 24  # Imports and symbols shown: a chunk that names hundreds is not about any of them.
_CALLABLE_KINDS = frozenset({"function", "method"})


def context_header(path: str, language: str, chunk: Chunk) -> str:
    """Return the chunk's context for a reader, one `# Key: value` line for each fact that is known."""
    function, container = _definitions(chunk)
    return _header_lines(
        ("File", path),
        ("Language", language),
        ("Location", f"lines {chunk.start_line}-{chunk.end_line}"),
        ("Function", function),
        ("Class", container),
        ("Imports", ", ".join(chunk.imports[:_LISTED])),
        ("Symbols", ", ".join(chunk.references[:_LISTED])),
    )


def embedding_texts(path: str, language: str, chunk: Chunk) -> tuple[str, str]:
    """Return the text without the chunk's code and the text with it.

    Neither says the chunk's line numbers: they mean nothing, and would change with every line inserted above.
    """
    place = PurePosixPath(path)
    folders = place.parent.parts[-_FOLDERS:]
    words = [place.stem, *folders, place.stem, language, *chunk.enclosing, *chunk.names, *chunk.names]
    topic = " ".join([*words, chunk.comments[:_COMMENT_CHARACTERS]])
    return topic, f"{topic}\n\n{chunk.text}"


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


def _definitions(chunk: Chunk) -> tuple[str, str]:
    """Return the function that the chunk shows or lies in, and the types around it, outermost first."""
    if chunk.kind in _CALLABLE_KINDS:
        return ", ".join(chunk.names), ".".join(chunk.enclosing)
    return "", ".".join([*chunk.enclosing, *(chunk.names if chunk.kind == "type" else ())])


def _header_lines(*fields: tuple[str, str]) -> str:
    return "\n".join(f"# {key}: {value}" for key, value in fields if value)
