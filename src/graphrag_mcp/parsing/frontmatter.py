"""Reads the YAML front matter of a document without ever building what the YAML describes.

Only the parser's events are looked at, and only flat values are kept. So nothing is constructed, an alias is never
followed, and neither an alias bomb nor a thousand nested brackets cost more than the length of their text.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import yaml

_LIMIT = 16_384  # characters; front matter is written by hand and takes a few hundred.
_MAX_BRACKETS = 1_000  # A YAML scanner's time grows with the square of the nesting.
_MAX_ITEMS = 100  # of one list
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_OPENING = "---"
_CLOSINGS = ("---", "...")

Value = str | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The flat values by lower-case key, the first line after the block, and what was wrong with it."""

    values: Mapping[str, Value] = field(default_factory=dict)
    end: int = 0
    note: str = ""


def read_front_matter(rows: Sequence[str]) -> FrontMatter:
    """Return the front matter that the document begins with; empty when there is none."""
    if rows[0].rstrip() != _OPENING:
        return FrontMatter()
    size = 0
    for index in range(1, len(rows)):
        size += len(rows[index]) + 1
        if size > _LIMIT:
            return FrontMatter()
        if rows[index].rstrip() in _CLOSINGS:
            return _parse("\n".join(rows[1:index]), index + 1)
    return FrontMatter()


def _parse(text: str, end: int) -> FrontMatter:
    if text.count("[") + text.count("{") > _MAX_BRACKETS:
        return FrontMatter({}, end, "the front matter is nested too deeply to be read")
    values: dict[str, Value] = {}
    try:
        for key, value in _flat_values(yaml.parse(text, Loader=_LOADER)):
            values.setdefault(key.strip().lower(), value)
    except (yaml.YAMLError, ValueError) as error:  # ValueError: characters that YAML cannot encode.
        mark = getattr(error, "problem_mark", None)
        place = f" (line {mark.line + 2})" if mark is not None else ""
        return FrontMatter(values, end, f"the front matter is not valid YAML{place}")
    return FrontMatter(values, end)


def _flat_values(events: Iterator[yaml.Event]) -> Iterator[tuple[str, Value]]:
    """Yield the top-level keys whose value is a scalar or a list of scalars."""
    depth = 0
    key: str | None = None
    items: list[str] | None = None
    for event in events:
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            is_value = depth == 2 and key is not None
            items = [] if is_value and isinstance(event, yaml.SequenceStartEvent) else items
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
            if depth == 1:
                if key is not None and items is not None:
                    yield key, tuple(items)
                key = items = None
        elif isinstance(event, yaml.ScalarEvent):
            if depth == 2 and items is not None and len(items) < _MAX_ITEMS:
                items.append(event.value)
            elif depth == 1 and key is None:
                key = event.value
            elif depth == 1:
                yield key or "", event.value
                key = None
        elif isinstance(event, yaml.AliasEvent) and depth == 1:
            key = None if key is not None else ""
