"""Splits a question that asks for two things: "where is X read, and where is Y written"."""

import re
from dataclasses import replace

from graphrag_mcp.search.query.understand import Query, understand
from graphrag_mcp.settings import RetrievalSettings
from graphrag_mcp.text.words import is_telling

MAX_LENGTH = 300  # Characters: a longer text is prose.

_JOINED = re.compile(r",?\s+and\s+(?=(?:where|how|what(?! if\b))\b)", re.IGNORECASE)
_ASKS = re.compile(r"(?:where|how|what|which|who|when|why|(?:from|in|on) (?:where|which))\b", re.IGNORECASE)
_REFERS_BACK = re.compile(
    r"what (?:is|are|was|does|do|did|can|will|has|have) (?:it|its|they|their|this|that)\b", re.IGNORECASE
)
_WORD = re.compile(r"\w+")


def clauses(text: str) -> tuple[str, ...]:
    """Return the two clauses of a question that asks for two things, else nothing.

    Each must be a question with a term of its own. "And what if", "and what is its default" ask about the same.
    """
    parts = tuple(part.strip() for part in _JOINED.split(text)) if len(text) <= MAX_LENGTH else ()
    if len(parts) != 2 or _REFERS_BACK.match(parts[1]):
        return ()
    asks = all(_ASKS.match(part) and any(map(is_telling, _WORD.findall(part))) for part in parts)
    return parts if asks else ()


def understand_apart(parts: tuple[str, ...], settings: RetrievalSettings) -> list[Query]:
    """Return what each clause asks for; the second refers back, so it also has the terms of the first, as synonyms."""
    first, second = (understand(part, settings) for part in parts)
    context = tuple(term for term in first.terms if term not in second.terms)
    return [first, replace(second, expansion_terms=context, text=f"{parts[1]} {parts[0]}")]
