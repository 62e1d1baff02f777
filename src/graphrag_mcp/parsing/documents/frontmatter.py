"""Reads the YAML front matter of a document from the events of the parser.

Only flat values are used: no object is constructed and no alias is followed, so neither an alias bomb nor a thousand
nested brackets cost more than the length of their text.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import yaml

_LIMIT = 16_384  # characters; hand-written front matter has a few hundred.
_MAX_BRACKETS = 1_000  # A YAML scanner's time grows with the square of the nesting.
_MAX_ITEMS = 100  # of one list
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_OPENING = "---"
_CLOSINGS = ("---", "...")

Value = str | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The flat values by lower-case key, the first line after the block, and the problem with it."""

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
    """Yield the keys of the top-level mapping whose value is a scalar or a list of scalars."""
    depth = 0
    key: str | None = None  # "" if it is not a scalar
    items: list[str] = []
    for event in events:
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth == 1 and not isinstance(event, yaml.MappingStartEvent):
                return
            if depth == 2:
                items = []
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
            if depth == 1:
                if key and isinstance(event, yaml.SequenceEndEvent):
                    yield key, tuple(items[:_MAX_ITEMS])
                key = "" if key is None else None
        elif depth == 2 and isinstance(event, yaml.ScalarEvent):
            items.append(event.value)
        elif depth == 1 and isinstance(event, yaml.ScalarEvent | yaml.AliasEvent):
            value = event.value if isinstance(event, yaml.ScalarEvent) else ""
            if key and value:
                yield key, value
            key = value if key is None else None
