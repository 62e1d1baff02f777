"""The texts that stand for a chunk when it is embedded: what it is called and where it lies, with and without its code.

Without the code a chunk is found by its topic, with the code by its details; the mean of the two vectors finds both.
The words are those that measured best with the model in the package: names count twice, since a static model takes the
mean of all words, and imports, symbols and labels (`# File:`) only dilute it.
"""

from pathlib import PurePosixPath

from graphrag_mcp.model.files import Chunk

CONTEXT_VERSION = 1  # Other texts make other vectors: increase it with every change below, and all are embedded again.

_FOLDERS = 3  # The nearest ones; those above them are the same for most files.
_COMMENT_CHARACTERS = 200  # A comment says first what it is about.


def embedding_texts(path: str, language: str, chunk: Chunk) -> tuple[str, str]:
    """Return the text without the chunk's code and the text with it.

    Neither says the chunk's line numbers: they mean nothing, and would change with every line inserted above.
    """
    place = PurePosixPath(path)
    folders = place.parent.parts[-_FOLDERS:]
    words = [place.stem, *folders, place.stem, language, *chunk.enclosing, *chunk.names, *chunk.names]
    topic = " ".join([*words, chunk.comments[:_COMMENT_CHARACTERS]])
    return topic, f"{topic}\n\n{chunk.text}"
