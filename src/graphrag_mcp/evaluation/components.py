"""The parts of the ranking as changes of settings: alone on top of the baseline, and each taken out of the whole."""

from collections.abc import Mapping
from typing import Any

from graphrag_mcp.settings import RetrievalSettings

_PRIORS = tuple(name for name in RetrievalSettings.model_fields if name.startswith("prior_"))
_PENALTIES = ("superseded_penalty", "deprecated_penalty", "rejected_penalty", "archived_penalty", "auto_tier_penalty")

# What takes each part out.
OFF: Mapping[str, Mapping[str, Any]] = {
    "relative fusion": {"fusion_algorithm": "weighted"},
    "query expansion": {"query_expansion": False},
    "definitions": {"definition_bonus": 0.0, "mention_bonus": 0.0},
    "relations": {"relation_bonus": 0.0, "graph_weight": 0.0},
    "file names": {"stem_bonus": 0.0, "stem_query_bonus": 0.0, "directory_bonus": 0.0, "path_bonus": 0.0},
    "coherence": {"coherence_bonus": 0.0},
    "graph votes": {"vote_bonus": 0.0},
    "kinds of file": dict.fromkeys(_PRIORS, 1.0),
    "recency": {"recency_boost_enabled": False},
    "status": dict.fromkeys(_PENALTIES, 0.0) | {"priority_weight": 0.0},
    "saturation": {"saturation": 1.0, "file_bonus_decay": 1.0},
}


def baseline() -> RetrievalSettings:
    """Return the search without any part: the legacy weighted sum of both lists."""
    return RetrievalSettings().model_copy(update={name: value for part in OFF.values() for name, value in part.items()})


def alone(part: str) -> RetrievalSettings:
    """Return the baseline with one part."""
    whole = RetrievalSettings()
    return baseline().model_copy(update={name: getattr(whole, name) for name in OFF[part]})


def without(part: str) -> RetrievalSettings:
    """Return the whole without one part."""
    return RetrievalSettings().model_copy(update=dict(OFF[part]))
