"""The names of the designs that settings have besides their own."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

TRUST_VARIABLE = "GRAPHRAG_TRUST_PROJECT"
COMPATIBLE_PREFIX = "KB_"  # Names of the design with the weighted sum begin with it. GRAPHRAG_RRF_K wins over KB_RRF_K.

# Names that are an entry of a table: `rerank_vector_weight` is `rerank_weights.vector`.
_RERANKING = {
    f"rerank_{signal}_weight": ("rerank_weights", signal)
    for signal in ("vector", "keyword", "heading", "tag_overlap", "preamble", "recency", "status", "mention_boost")
}
_ENTRIES: Mapping[str, tuple[str, str]] = {
    **_RERANKING,
    "priority_weight": ("document_weights", "priority"),
    **{
        f"{status}_penalty": ("document_weights", status)
        for status in ("superseded", "deprecated", "rejected", "archived", "auto_tier")
    },
    **{f"recency_{tier}_factor": ("recency_factors", tier) for tier in ("fresh", "recent", "standard", "old")},
}
# Switches: when one is off, a setting has this value.
_SWITCHES: Mapping[str, tuple[str, str]] = {
    "hybrid_search_enabled": ("fusion_algorithm", "semantic_only"),
    "recency_boost_enabled": ("recency_profile", "off"),
}
_ON, _OFF = ("1", "true", "yes", "on"), ("0", "false", "no", "off")
OTHER_NAMES = frozenset((*_ENTRIES, *_SWITCHES))
COMPATIBLE_NAMES = frozenset(_RERANKING) | {
    "graph_expansion_edge_types",
    "graph_expansion_max_nodes",
    "hybrid_search_enabled",
    "rejected_injection_max_docs",
    "rejected_min_similarity",
    "rerank_normalize_scores",
    "rrf_k",
}


def read_compatible_names(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the settings that variables of the compatible prefix set, by name."""
    named = {name: environ.get(f"{COMPATIBLE_PREFIX}{name.upper()}") for name in sorted(COMPATIBLE_NAMES)}
    return {name: text for name, text in named.items() if text is not None}


def by_own_names(values: Mapping[str, Any], read_table: Callable[[object], object]) -> dict[str, Any]:
    """Return the values of a section with those of other names under the names of the settings.

    read_table: returns the table that a text of the environment stands for, or raises ValueError.
    """
    own = {name: value for name, value in values.items() if name not in OTHER_NAMES}
    for name in sorted(_ENTRIES.keys() & values):
        setting, key = _ENTRIES[name]
        table = own.get(setting, {})
        with suppress(ValueError):  # A wrong table is reported as the value of its setting.
            table = read_table(table)
        if isinstance(table, dict):
            own[setting] = {**table, key: values[name]}
    for name in sorted(_SWITCHES.keys() & values):
        setting, off = _SWITCHES[name]
        given = str(values[name]).lower()
        if given not in _ON:
            own[setting] = off if given in _OFF else values[name]
    return own
