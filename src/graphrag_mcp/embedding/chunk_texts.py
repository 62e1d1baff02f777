"""The two texts from which a chunk is embedded: its names and path, without and with its code.

The first matches queries about the topic, the second queries about details; the mean of the two vectors matches both.
The choice of words was measured with the model in the package: names count twice, and imports, symbols and labels
(`# File:`) are left out, since a static model takes the mean of all words.
"""

from pathlib import PurePosixPath

from graphrag_mcp.model.files import Chunk

CONTEXT_VERSION = 1  # Increase it with every change of the texts, so that all chunks are embedded again.

_FOLDERS = 3  # Outer folders are the same for most files.
_COMMENT_CHARACTERS = 200  # The beginning of a comment describes its subject.


def embedding_texts(path: str, language: str, chunk: Chunk) -> tuple[str, str]:
    """Return the text without the chunk's code and the text with it.

    Neither contains line numbers, which would change with every line inserted above.
    """
    file = PurePosixPath(path)
    folders = file.parent.parts[-_FOLDERS:]
    words = [file.stem, *folders, file.stem, language, *chunk.enclosing, *chunk.names, *chunk.names]
    topic = " ".join([*words, chunk.comments[:_COMMENT_CHARACTERS]])
    return topic, f"{topic}\n\n{chunk.text}"
