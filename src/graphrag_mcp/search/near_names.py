"""Names of this repository near an unsure question, to read or to ask with: what a question lacks is the code's words.

They are the definitions of the next candidates, those that the answer does not show. Measured on the descriptions of
157 commits whose answer was unsure: fifteen names hold a word of the right file's name that the question lacks for .41
of them; with the names that the model's table puts nearest to the question it was at most .30.
"""

from collections.abc import Collection, Iterable, Sequence

from graphrag_mcp.model.files import Symbol
from graphrag_mcp.model.search import StoredChunk
from graphrag_mcp.ports import ChunkStore
from graphrag_mcp.search.query.understand import Query
from graphrag_mcp.search.ranking.scored import Scored
from graphrag_mcp.text.words import words_of

NAMES = 6  # Of 118 questions missed in ten, 12 had the wanted name among ten, 8 among these.
FEWEST = 5  # Fewer give nothing to choose from.
_CANDIDATES = 40  # Some have no name, and some have the same.


def near_names(query: Query, order: Sequence[Scored], shown: Collection[int], catalog: ChunkStore) -> dict[str, str]:
    """Return 5 or 6 names of the best candidates that are not shown, with their places, or none.

    Each says more than the question.
    """
    wanted = [scored.fused.chunk_id for scored in order if scored.fused.chunk_id not in shown][:_CANDIDATES]
    chunks = catalog.chunks(wanted)
    terms = frozenset(query.terms)
    named: dict[str, StoredChunk] = {}
    for chunk in (chunks[chunk_id] for chunk_id in wanted if chunk_id in chunks):
        if (name := _name(chunk, terms)) and len(named) < NAMES:
            named.setdefault(name, chunk)
    if len(named) < FEWEST:
        return {}
    definitions = catalog.definitions({chunk.file_id for chunk in named.values()})
    return {name: f"{chunk.path}:{_line(chunk, definitions.get(chunk.file_id, ()))}" for name, chunk in named.items()}


def _line(chunk: StoredChunk, definitions: Iterable[Symbol]) -> int:
    """Return the line of the definition that a chunk is a part of."""
    lines = (symbol.start_line for symbol in definitions if symbol.qualified_name == chunk.symbol)
    return max((line for line in lines if line <= chunk.end_line), default=chunk.start_line)


def _name(chunk: StoredChunk, terms: frozenset[str]) -> str:
    name = chunk.symbol.rpartition(".")[2]
    words = words_of(name)
    return name if name.isidentifier() and not terms.issuperset(words[1:] or words) else ""
