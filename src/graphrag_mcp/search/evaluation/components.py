"""The components of the ranking as settings: each added to the baseline alone, and each removed from the default."""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from graphrag_mcp.settings import DOCUMENT_WEIGHTS, RankingPart, RetrievalSettings

# These settings switch each component off.
OFF: Mapping[str, Mapping[str, Any]] = {
    "relative fusion": {"fusion_algorithm": "weighted"},
    "query expansion": {"query_expansion": False},
    "definitions": {"switched_off": (RankingPart.DEFINITIONS,)},
    "relations": {"switched_off": (RankingPart.RELATIONS,)},
    "file names": {"switched_off": (RankingPart.FILE_NAMES,)},
    "coherence": {"switched_off": (RankingPart.COHERENCE,)},
    "graph votes": {"switched_off": (RankingPart.VOTES,)},
    "wording": {"switched_off": (RankingPart.WORDING,)},
    "kinds of file": {"switched_off": (RankingPart.KINDS_OF_FILE,)},
    "recency": {"recency_profile": "off"},
    "status": {"document_weights": dict.fromkeys(DOCUMENT_WEIGHTS, 0.0)},
    "saturation": {"switched_off": (RankingPart.SATURATION,)},
}


def baseline() -> RetrievalSettings:
    """Return the search with every component off: the weighted sum of both lists."""
    return _without(OFF)


def alone(part: str) -> RetrievalSettings:
    return _without(other for other in OFF if other != part)


def without(part: str) -> RetrievalSettings:
    return _without([part])


def _without(components: Iterable[str]) -> RetrievalSettings:
    changes: dict[str, Any] = {"switched_off": ()}
    for component in components:
        for name, value in OFF[component].items():
            changes[name] = (*changes[name], *value) if name == "switched_off" else value
    return replace(RetrievalSettings(), **changes)
