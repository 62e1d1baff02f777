"""The weights of the ranking, as they were measured; the setting `switched_off` leaves out parts of it."""

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from graphrag_mcp.settings import RankingPart, RetrievalSettings


class Weights(Struct, frozen=True):
    """What a signal adds to the fused score when it agrees in full.

    definition: the definition that a symbol query names; mention: that of an identifier in a prose query.
    stem: the share of a file's name that is in the query; stem_query, directory: the share of the query that is in the
    file's name, in its folders. stating: the file states, by its name, what is asked about the project.
    words, pairs: the share of a question's words, and of its neighbouring words, that a
    chunk has as they are written. file_decay: factor on what a file adds, for each further hit of it; saturation: on
    the score of such a hit. graph: the list of the graph, beside 0.8 for vectors and 1 for keywords. unasked: factor
    for all other kinds of file when the query asks for one kind.
    """

    definition: float = 1.5
    mention: float = 0.4
    literal: float = 2.5
    relation: float = 1.0
    stem: float = 0.3
    stem_query: float = 0.1
    directory: float = 0.3
    path: float = 0.5
    stating: float = 0.4
    coherence: float = 0.2
    votes: float = 0.2
    history: float = 0.45
    words: float = 0.7
    pairs: float = 0.4
    graph: float = 0.5
    unasked: float = 0.6
    file_decay: float = 0.3
    saturation: float = 0.9


_WITHOUT: Mapping[RankingPart, Mapping[str, float]] = {
    RankingPart.DEFINITIONS: {"definition": 0.0, "mention": 0.0},
    RankingPart.LITERALS: {"literal": 0.0},
    RankingPart.RELATIONS: {"relation": 0.0, "graph": 0.0},
    RankingPart.FILE_NAMES: {"stem": 0.0, "stem_query": 0.0, "directory": 0.0, "path": 0.0, "stating": 0.0},
    RankingPart.COHERENCE: {"coherence": 0.0},
    RankingPart.VOTES: {"votes": 0.0},
    RankingPart.HISTORY: {"history": 0.0},
    RankingPart.WORDING: {"words": 0.0, "pairs": 0.0},
    RankingPart.KINDS_OF_FILE: {"unasked": 1.0},
    RankingPart.SATURATION: {"file_decay": 1.0, "saturation": 1.0},
}
_ALL = Weights()


def weights_of(settings: RetrievalSettings) -> Weights:
    """Return the weights without those of the parts that are switched off."""
    if not settings.switched_off:
        return _ALL
    changes = {name: value for part in settings.switched_off for name, value in _WITHOUT.get(part, {}).items()}
    return replace(_ALL, **changes)
