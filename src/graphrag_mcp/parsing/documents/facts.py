"""Reads what a document declares about itself: status (MADR and Nygard forms), priority, type and tags."""

import re
from collections.abc import Mapping, Sequence

from graphrag_mcp.model.files import DocumentFacts, DocumentStatus
from graphrag_mcp.parsing.documents.frontmatter import Value
from graphrag_mcp.parsing.documents.markdown import plain_title
from graphrag_mcp.parsing.documents.sections import Section

# Strongest first: where a text names several, the first one counts.
_STATUS_WORDS: dict[DocumentStatus, frozenset[str]] = {
    DocumentStatus.SUPERSEDED: frozenset({"superseded", "superceded", "replaced"}),
    DocumentStatus.DEPRECATED: frozenset({"deprecated", "obsolete", "obsoleted"}),
    DocumentStatus.REJECTED: frozenset({"rejected", "declined", "withdrawn", "abandoned"}),
    DocumentStatus.ARCHIVED: frozenset({"archived", "retired", "historical"}),
    DocumentStatus.ACTIVE: frozenset(
        {"accepted", "active", "approved", "adopted", "implemented", "current", "final", "published", "stable", "done"}
    ),
    DocumentStatus.PROPOSED: frozenset({"proposed", "draft", "wip", "pending", "rfc", "review", "open", "planned"}),
}
_STATUS_OF_WORD = {word: status for status, words in _STATUS_WORDS.items() for word in words}
_PRECEDENCE = list(_STATUS_WORDS)

_WORDS = re.compile(r"[A-Za-z]+")
_REPLACED_BY = re.compile(r"\b(?:superseded|superceded|replaced)\s+by\b", re.IGNORECASE)
_STATUS_LINE = re.compile(r"[\s>*+-]*+status\**+\s*+:\s*\**\s*(.*)", re.IGNORECASE)
_SUPERSEDES_LINE = re.compile(r"[\s>*+-]*+supersedes\**+\s*+:?\s*(.+)", re.IGNORECASE)
_SHORT_LINE = 6  # words; "This decision is accepted" states a status, a longer sentence may not.
_HEAD_ROWS = 15  # A `Status:` line further down is not the document's.
_SECTION_ROWS = 12
_MAX_PRIORITY = 100
_VALUE_LIMIT = 200  # characters of one value or line


def document_facts(values: Mapping[str, Value], rows: Sequence[str], sections: Sequence[Section]) -> DocumentFacts:
    """Return the facts; front matter wins over the text."""
    section_rows = _status_rows(rows, sections)
    supersedes = _list(values.get("supersedes", ())) or tuple(
        plain_title(match[1]) for row in section_rows if (match := _SUPERSEDES_LINE.match(row))
    )
    return DocumentFacts(
        title=_first(values.get("title", "")) or next((s.path[-1] for s in sections if s.path), ""),
        status=_status([_first(values.get("status", ""))]) or _status(section_rows),
        priority=_priority(_first(values.get("retrieval_priority", values.get("priority", "")))),
        type=_first(values.get("type", "")),
        tags=_list(values.get("tags", ())),
        supersedes=supersedes,
    )


def _status_rows(rows: Sequence[str], sections: Sequence[Section]) -> list[str]:
    """Return the lines of the `Status` section, or the one `Status:` line at the head of the document."""
    for section in sections:
        if section.path and section.path[-1].lower() == "status":
            body = rows[section.body : section.span[1]]
            return [row[:_VALUE_LIMIT] for row in body[:_SECTION_ROWS] if row.strip()]
    head = (row[:_VALUE_LIMIT] for row in rows[:_HEAD_ROWS])
    return [match[1] for row in head if (match := _STATUS_LINE.match(row))][:1]


def _status(rows: Sequence[str]) -> DocumentStatus | None:
    """Return the strongest status that a line begins with, or that a short first line names."""
    stated: set[DocumentStatus] = set()
    for place, row in enumerate(rows):
        words = [word.lower() for word in _WORDS.findall(plain_title(row))]
        if "|" in row or not words:  # "proposed | accepted | rejected" is an unused template.
            continue
        if _REPLACED_BY.search(row):
            stated.add(DocumentStatus.SUPERSEDED)
        named = words[:1] if place or len(words) > _SHORT_LINE else words
        first = next((_STATUS_OF_WORD[word] for word in named if word in _STATUS_OF_WORD), None)
        stated |= {first} if first is not None else set()
    return min(stated, key=_PRECEDENCE.index, default=None)


def _priority(text: str) -> int | None:
    try:
        priority = round(float(text))
    except (ValueError, OverflowError):
        return None
    return priority if 0 <= priority <= _MAX_PRIORITY else None


def _first(value: Value) -> str:
    text = value if isinstance(value, str) else next(iter(value), "")
    return " ".join(text.split())[:_VALUE_LIMIT]


def _list(value: Value) -> tuple[str, ...]:
    parts = value.split(",") if isinstance(value, str) else value
    return tuple(dict.fromkeys(part.strip()[:_VALUE_LIMIT] for part in parts if part.strip()))
