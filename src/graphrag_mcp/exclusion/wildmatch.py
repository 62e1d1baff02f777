"""Translates a git wildcard pattern to a regular expression over bytes.

git compares bytes, not characters: `?` is one byte, so it does not match "é". A class is therefore a plain set of byte
values. Stars never backtrack into an earlier star's match, since the first match of every part but the last is
as good as any other: a hostile pattern such as `*a*a*a*a*b` takes linear time.
"""

import re
from enum import Enum

from graphrag_mcp.text.names import as_name


def translate(pattern: bytes, *, pathname: bool) -> bytes:
    """Return a regular expression for `fullmatch` with DOTALL.

    pathname: whether the pattern matches paths, where `**` between slashes crosses folders, instead of names.
    Raises ValueError with the reason for a pattern that git accepts but that can never match.
    """
    return _write(_split(pattern, pathname))


class _Depth(Enum):
    """What a `**` between two slashes matches."""

    ANY = "**/"
    SOME = "**\\/"  # With an escaped slash, git requires at least one folder.
    REST = "**"


_LAZY = {_Depth.ANY: b"(?:.*?/)??", _Depth.SOME: b".*?/"}
_GREEDY = {_Depth.ANY: b"(?:.*/)?", _Depth.SOME: b".*/", _Depth.REST: b".*"}

# A component is a list of the parts between its stars, as regular expressions.
_Component = list[bytes]

_LONE_DOUBLE_STAR = re.compile(rb"\*{2,}(?=(\\?/)|\Z)")
_STARS = re.compile(rb"\*+")


def _split(pattern: bytes, pathname: bool) -> list[_Component | _Depth]:
    components: list[_Component | _Depth] = []
    parts: _Component = [b""]
    position, at_start = 0, True
    while position < len(pattern):
        if pathname and at_start and (stars := _LONE_DOUBLE_STAR.match(pattern, position)):
            if stars[1] is None:
                return [*components, _Depth.REST]
            components.append(_Depth.ANY if stars[1] == b"/" else _Depth.SOME)
            position = stars.end(1)
            continue
        if stars := _STARS.match(pattern, position):
            parts.append(b"")
            position, at_start = stars.end(), False
            continue
        source, position = _read_byte(pattern, position)
        at_start = source == b"/"
        if at_start:
            components.append(parts)
            parts = [b""]
        else:
            parts[-1] += source
    return [*components, parts]


def _read_byte(pattern: bytes, position: int) -> tuple[bytes, int]:
    """Return the regular expression of what matches one byte at `position`, and the position after it."""
    char = pattern[position : position + 1]
    if char == b"[":
        members, end = _read_class(pattern, position + 1)
        return _write_class(members), end
    if char == b"?":
        return b"[^/]", position + 1
    if char == b"\\":
        position += 1
        char = pattern[position : position + 1]
        if not char:
            raise ValueError("it ends in a backslash")
    return re.escape(char), position + 1


_CLASSES = {
    b"alnum": rb"[0-9A-Za-z]",
    b"alpha": rb"[A-Za-z]",
    b"blank": rb"[ \t]",
    b"cntrl": rb"[\x00-\x1f\x7f]",
    b"digit": rb"[0-9]",
    b"graph": rb"[!-~]",
    b"lower": rb"[a-z]",
    b"print": rb"[ -~]",
    b"punct": rb"[!-/:-@\[-`{-~]",
    b"space": rb"[ \t\n\r]",
    b"upper": rb"[A-Z]",
    b"xdigit": rb"[0-9A-Fa-f]",
}
_CLASS_MEMBERS = {
    name: frozenset(byte for byte in range(256) if re.fullmatch(source, bytes([byte])))
    for name, source in _CLASSES.items()
}
_RANGE = re.compile(rb"-[^\]]", re.DOTALL)  # A final "-" is literal.
_NAMED_CLASS = re.compile(rb"\[:([^\]]*):\]")
_SLASH = ord("/")


def _read_class(pattern: bytes, position: int) -> tuple[set[int], int]:
    """Return the members of the class whose content begins at `position`, and the position after its `]`."""
    negated = pattern[position : position + 1] in (b"!", b"^")
    position += negated
    members: set[int] = set()
    previous: int | None = None
    first = True
    while first or pattern[position : position + 1] != b"]":
        first = False
        if named := _NAMED_CLASS.match(pattern, position):
            if named[1] not in _CLASS_MEMBERS:
                raise ValueError(f"{as_name(named[0].decode(errors='replace'))} is not a character class")
            members |= _CLASS_MEMBERS[named[1]]
            previous, position = None, named.end()
            continue
        if previous is not None and _RANGE.match(pattern, position):
            last, position = _read_member(pattern, position + 1)
            members.update(range(previous, last + 1))
            previous = None
        else:
            previous, position = _read_member(pattern, position)
            members.add(previous)
    if negated:
        members = set(range(256)) - members
    return members - {_SLASH}, position + 1


def _read_member(pattern: bytes, position: int) -> tuple[int, int]:
    position += pattern[position : position + 1] == b"\\"
    if position >= len(pattern):
        raise ValueError("a [ has no matching ]")
    return pattern[position], position + 1


def _write_class(members: set[int]) -> bytes:
    if not members:
        return b"(?!)"
    others = set(range(256)) - members
    negated, listed = (b"^", others) if len(others) < len(members) else (b"", members)
    return b"[" + negated + b"".join(b"\\x%02x" % byte for byte in sorted(listed)) + b"]"


def _write(components: list[_Component | _Depth]) -> bytes:
    """Join the components; each run of them between two `**` matches at its first possible position."""
    runs: list[tuple[_Depth | None, list[bytes]]] = [(None, [])]
    for component in components:
        if isinstance(component, _Depth):
            runs.append((component, []))
        else:
            runs[-1][1].append(_write_component(component))
    *firsts, (depth, run) = runs
    source = b""
    for earlier_depth, earlier_run in firsts:
        body = b"".join(part + b"/" for part in earlier_run)
        source += body if earlier_depth is None else b"(?>" + _LAZY[earlier_depth] + body + b")"
    return source + (b"" if depth is None else _GREEDY[depth]) + b"/".join(run)


def _write_component(parts: _Component) -> bytes:
    if len(parts) == 1:
        return parts[0]
    head, *middle, tail = parts
    return head + b"".join(b"(?>[^/]*?" + part + b")" for part in middle) + b"[^/]*" + tail
