"""Edits JSON that may have comments and trailing commas; what is not edited stays byte for byte."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

_STRING = r'"(?:\\.|[^"\\])*"'
_COMMENT = re.compile(rf"{_STRING}|(\ufeff|//[^\r\n]*|/\*.*?\*/)", re.DOTALL)
_LAST_COMMA = re.compile(rf"{_STRING}|(,)(?=\s*[}}\]])", re.DOTALL)
_SPACE = re.compile(r"\s*")
_DECODER = json.JSONDecoder()


class _Member(NamedTuple):
    """A member of an object. start: of its key. value, stop: where its value begins and ends."""

    key: str
    start: int
    value: int
    stop: int


def read(text: str) -> Any:
    """Return the value of a text, an empty object for an empty text. Raises ValueError."""
    plain = _plain(text)
    try:
        return json.loads(plain) if plain.strip() else {}
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def with_value(text: str, path: Sequence[str], value: Any) -> str:
    """Return a text with a value at a path of keys; objects on the way that are missing are added.

    The text is one that `read` takes, and what it has on the way are objects.
    """
    if not _plain(text).strip():
        text = f"{text}\n{{}}\n" if text.strip() else "{}\n"
    plain = _plain(text)
    start = plain.index("{")
    for depth, key in enumerate(path):
        members = list(_members(plain, start))
        if (number := _last(members, key)) < 0:
            for inner in reversed(path[depth + 1 :]):
                value = {inner: value}
            return _with_member(text, start, members, depth + 1, f"{json.dumps(key)}: ", value)
        start, stop = members[number].value, members[number].stop
    return text[:start] + json.dumps(value, ensure_ascii=False) + text[stop:]


def without(text: str, path: Sequence[str]) -> str:
    """Return a text without the member at a path, and without the objects on the way that are empty then."""
    for length in range(len(path), 0, -1):
        plain = _plain(text)
        value = plain.find("{")
        if value < 0:
            return text
        for key in path[:length]:
            start, members = value, list(_members(plain, value))
            if (number := _last(members, key)) < 0:
                return text
            value = members[number].value
        text = _without_member(text, members, number)
        if not re.match(r"\{\s*\}", text[start:]):
            return text
    return text if text.replace("{", "").replace("}", "").strip() else ""


def indent_of(text: str) -> str:
    """Return the indentation of a file, two spaces for a new one."""
    found = re.search(r"\{[^\n]*\n([ \t]+)", text)
    return found[1] if found else "  "


def _last(members: Sequence[_Member], key: str) -> int:
    """Return the number of the member that counts where a key is there twice, -1 without the key."""
    return next((number for number in reversed(range(len(members))) if members[number].key == key), -1)


def _with_member(text: str, start: int, members: list[_Member], depth: int, key: str, value: Any) -> str:
    """Return a text with one more member in the object at `start`, written as its other members are."""
    stop = members[-1].stop if members else start + 1
    if members and "\n" not in text[start : members[0].start]:
        return f"{text[:stop]}, {key}{json.dumps(value, ensure_ascii=False)}{text[stop:]}"
    line_end = "\r\n" if "\r\n" in text else "\n"
    unit = indent_of(text)
    line = text[text.rfind("\n", 0, members[0].start) + 1 : members[0].start] if members else unit * depth
    indent = line[: len(line) - len(line.lstrip())]
    written = f"{key}{json.dumps(value, indent=unit, ensure_ascii=False)}".replace("\n", line_end + indent)
    close = _plain(text).index("}", stop)
    comma = "," in _without_comments(text)[stop:close]
    last = len(text[:close].rstrip())
    end = text[last:close] if "\n" in text[last:close] else line_end + unit * (depth - 1)
    separator = "," if members and not comma else ""
    new = f"{line_end}{indent}{written}{',' if comma else ''}"
    return f"{text[:stop]}{separator}{text[stop:last]}{new}{end}{text[close:]}"


def _without_member(text: str, members: list[_Member], number: int) -> str:
    member = members[number]
    start = len(text[: member.start].rstrip())
    commas = _without_comments(text)
    stop = _skip(commas, member.stop)
    is_last = commas[stop] != ","
    stop = member.stop if is_last else stop + 1
    if "\n" in text[start : member.start] and not re.match(r"[ \t]*\r?\n", text[stop:]):
        # What follows must not become a part of a comment before.
        start = member.start
    if is_last and number:
        comma = commas.index(",", members[number - 1].stop)
        return text[:comma] + text[comma + 1 : start] + text[stop:]
    return text[:start] + text[stop:]


def _members(plain: str, start: int) -> Iterator[_Member]:
    """Yield the members of the object at `start`."""
    at = _skip(plain, start + 1)
    while plain[at] != "}":
        key, stop = _DECODER.raw_decode(plain, at)
        value = _skip(plain, plain.index(":", stop) + 1)
        _, stop = _DECODER.raw_decode(plain, value)
        yield _Member(key, at, value, stop)
        at = _skip(plain, stop)
        at = _skip(plain, at + 1) if plain[at] == "," else at


def _skip(text: str, at: int) -> int:
    return at + len(_SPACE.match(text, at)[0])  # type: ignore[index]


def _plain(text: str) -> str:
    """Return the text as plain JSON, every character at its place."""
    return _blanked(_LAST_COMMA, _without_comments(text))


def _without_comments(text: str) -> str:
    return _blanked(_COMMENT, text)


def _blanked(pattern: re.Pattern[str], text: str) -> str:
    return pattern.sub(lambda found: re.sub(r"[^\r\n]", " ", found[0]) if found[1] else found[0], text)
