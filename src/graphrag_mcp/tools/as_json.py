"""JSON of a frozen answer: the one writer of all tools, of the command line and of the page."""

import json
from collections.abc import Callable, Hashable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from operator import attrgetter
from typing import Any

from graphrag_mcp.tools.excerpts import cost_of
from graphrag_mcp.tools.printing import printable

FRAME = 2  # Characters around a value.
LISTED = 20  # Entries of a list beside the rows of an answer, or in one of them.


def as_json(value: Any) -> Any:
    """Return a value as JSON has it.

    A record is an object of its fields, or of what `@shown` names. A set, of texts or places, is a list of texts.
    """
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    if isinstance(value, Mapping):
        return {str(name): as_json(entry) for name, entry in value.items()}
    if isinstance(value, set | frozenset):
        return [entry if isinstance(entry, str) else "{}:{}".format(*entry) for entry in sorted(value)]
    if parts := _parts(value.__class__):
        return {name: as_json(read(value)) for name, read in parts.items()}
    return [as_json(entry) for entry in value] if isinstance(value, list | tuple) else value


@cache
def _parts(record: Hashable) -> Mapping[str, Callable[[Any], Any]]:
    """Return what JSON has of a class of records, by its name, and nothing for another class."""
    names = [field.name for field in fields(record)] if is_dataclass(record) else getattr(record, "_fields", ())
    parts: Mapping[str, str] = getattr(record, "in_json", {name: name for name in names})
    return {name: attrgetter(part) for name, part in parts.items()}


def shortened(value: Any) -> Any:
    """Return JSON with the first entries of each long list, and beside it their number as `NAME_total`."""
    if isinstance(value, list):
        return [shortened(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    short: dict[str, Any] = {}
    for name, entry in value.items():
        is_long = isinstance(entry, list) and len(entry) > LISTED
        short[name] = shortened(entry[:LISTED] if is_long else entry)
        if is_long:
            short[f"{name}_total"] = len(entry)
    return short


def json_text(value: Any, indent: int | None = None) -> str:
    """Return a value as the text of JSON."""
    return printable(json.dumps(as_json(value), ensure_ascii=False, indent=indent))


def json_cost(value: Any) -> int:
    """Return how much room a value of JSON takes."""
    return cost_of(json.dumps(value, ensure_ascii=False))
