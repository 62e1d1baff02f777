"""Parses ignore files and the globs of a search, finds the last rule that matches as git does, and what it excludes.

Paths are bytes with `/` between folders. That nothing below an excluded folder can be included again is the caller's
task: it asks for every folder from the top down.

git compares bytes, not characters: `?` is one byte, so it does not match "é". A class is therefore a plain set of byte
values. Stars never backtrack into an earlier star's match, since the first match of every part but the last is
as good as any other: a hostile pattern such as `*a*a*a*a*b` takes linear time.
"""

import re
from collections.abc import Callable, Sequence
from enum import Enum, StrEnum

from msgspec import Struct

from graphrag_mcp.errors import RequestError, quoted
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


class ExclusionKind(StrEnum):
    """What excludes a path."""

    IGNORED = "ignored"  # A rule in one of the user's ignore files matches.
    DEFAULT = "default"  # A built-in rule matches, and the root has no ignore file of its own.
    VCS = "vcs"
    SECRET = "secret"  # noqa: S105 - a kind of file, not a password.
    BINARY = "binary"
    WORKTREE = "worktree"  # Another checkout of a repository is a project of its own.
    OUTSIDE = "outside"  # It is not below the project root.


class Exclusion(Struct, frozen=True):
    """Why a path is excluded: the pattern, and its file and line (line 0: built in)."""

    kind: ExclusionKind
    pattern: str
    source: str = "built-in"
    line: int = 0

    @property
    def detail(self) -> str:
        """The pattern with its file and line, as in `*.log (.gitignore:3)`."""
        return f"{self.pattern} ({self.source}:{self.line})" if self.line else f"{self.pattern} ({self.source})"

    def __str__(self) -> str:
        return f"{self.kind}: {self.detail}"


class Rule(Struct, frozen=True):
    """One pattern with its file and line.

    glob: the pattern without `!`, the leading and the trailing slash.
    regex: how the glob matches, None where it is a plain name or path.
    anchored: the pattern contains a slash, so it is compared with paths instead of names.
    """

    text: str
    source: str
    line: int
    glob: bytes
    regex: bytes | None
    negated: bool
    folders_only: bool
    anchored: bool


def parse_rule(line: bytes, source: str, number: int) -> Rule | None:
    """Return the rule in one line of an ignore file (without its line feed), None for a comment or an empty line.

    Raises ValueError with the reason for a pattern that can never match.
    """
    if line.startswith(b"#"):
        return None
    pattern = _trim(line.removesuffix(b"\r").partition(b"\0")[0])  # git's lines end at a NUL.
    negated = pattern.startswith(b"!")
    glob = pattern[negated:]
    folders_only = glob.endswith(b"/")
    glob = glob.removesuffix(b"/")
    anchored = b"/" in glob
    glob = glob.removeprefix(b"/")
    if not glob:
        return None
    regex = translate(glob, pathname=anchored) if _WILDCARD.search(glob) else None
    return Rule(pattern.decode(errors="replace"), source, number, glob, regex, negated, folders_only, anchored)


_WILDCARD = re.compile(rb"[*?\[\\]")


def _trim(pattern: bytes) -> bytes:
    """Remove trailing blanks, except one after a backslash."""
    trimmed = pattern.rstrip(b" ")
    backslashes = len(trimmed) - len(trimmed.rstrip(b"\\"))
    return pattern[: len(trimmed) + 1] if backslashes % 2 else trimmed


class RuleList:
    """The rules of one ignore file, for the paths below its folder."""

    def __init__(self, rules: Sequence[Rule], base: bytes = b"") -> None:
        """base: the folder of the file, "" or ending in a slash, relative to the top of the matched paths."""
        self._rules = tuple(rules)
        self._base_length = len(base)
        self._for_folders = _Table(list(enumerate(self._rules)))
        self._for_files = _Table([(index, rule) for index, rule in enumerate(self._rules) if not rule.folders_only])

    def match(self, path: bytes, *, is_folder: bool) -> Rule | None:
        """Return the last rule that matches the path itself, negated or not."""
        table = self._for_folders if is_folder else self._for_files
        index = table.last_match(path[self._base_length :], path[path.rfind(b"/") + 1 :])
        return None if index < 0 else self._rules[index]

    def choose(self, path: bytes, *, is_folder: bool) -> Rule | None:
        """Return the last rule that matches the path itself, None if that is negated."""
        rule = self.match(path, is_folder=is_folder)
        return None if rule is None or rule.negated else rule


_ENDING = re.compile(rb"\*(\.[^.*?\[\\/]+)")


class _Table:
    """Rules grouped by kind of look-up: most are plain names or `*.ext`, which need no regular expression."""

    __slots__ = ("_endings", "_name_globs", "_names", "_path_globs", "_paths")

    def __init__(self, rules: Sequence[tuple[int, Rule]]) -> None:
        self._names: dict[bytes, int] = {}
        self._paths: dict[bytes, int] = {}
        self._endings: dict[bytes, int] = {}
        name_globs: list[tuple[int, bytes]] = []
        path_globs: list[tuple[int, bytes]] = []
        for index, rule in rules:
            if rule.regex is None:
                (self._paths if rule.anchored else self._names)[rule.glob] = index
            elif not rule.anchored and (ending := _ENDING.fullmatch(rule.glob)):
                self._endings[ending[1]] = index
            else:
                (path_globs if rule.anchored else name_globs).append((index, rule.regex))
        self._name_globs = _Globs(name_globs)
        self._path_globs = _Globs(path_globs)

    def last_match(self, path: bytes, name: bytes) -> int:
        """Return the largest index of a rule that matches, or -1."""
        return max(
            self._names.get(name, -1),
            self._paths.get(path, -1),
            self._endings.get(name[name.rfind(b".") :], -1),
            self._name_globs.last_match(name),
            self._path_globs.last_match(path),
        )


class _Globs:
    """Globs joined into one regular expression, last first: the first alternative that matches decides."""

    __slots__ = ("_indices", "_regex")

    def __init__(self, globs: Sequence[tuple[int, bytes]]) -> None:
        self._indices = [index for index, _ in reversed(globs)]
        source = b"|".join(b"(" + regex + b")" for _, regex in reversed(globs))
        self._regex = re.compile(source, re.DOTALL) if globs else None

    def last_match(self, text: bytes) -> int:
        """Return the largest index of a glob that matches, or -1."""
        match = self._regex.fullmatch(text) if self._regex else None
        return -1 if match is None or match.lastindex is None else self._indices[match.lastindex - 1]


_ARGUMENT = "include_patterns"
_ADVICE = "give a glob such as 'docs/archive/'"


def compile_globs(patterns: Sequence[str], argument: str = _ARGUMENT) -> Callable[[str], bool]:
    """Return a predicate for paths relative to the root: true for what git would ignore under these patterns.

    So `docs/archive/` matches everything below that folder, and `!*.txt` negates an earlier match.
    Raises RequestError, which names the argument, for a pattern that is blank or can never match.
    """
    rules = RuleList([_parse(pattern, argument) for pattern in patterns])
    folders: dict[bytes, bool] = {b"": False}  # Most files share their folder with others.

    def is_below_match(folder: bytes) -> bool:
        pending = []
        while folder not in folders:
            pending.append(folder)
            folder = folder.rpartition(b"/")[0]
        is_matched = folders[folder]
        for below in reversed(pending):
            is_matched = folders[below] = is_matched or rules.choose(below, is_folder=True) is not None
        return is_matched

    def matches(path: str) -> bool:
        key = path.encode(errors="surrogateescape")
        return is_below_match(key.rpartition(b"/")[0]) or rules.choose(key, is_folder=False) is not None

    return matches


def _parse(pattern: str, argument: str) -> Rule:
    try:
        rule = parse_rule(pattern.encode(errors="surrogateescape"), argument, 0)
    except ValueError as error:
        raise RequestError(argument, f"{argument}: {quoted(pattern)} can never match: {error}; {_ADVICE}") from error
    if rule is None:
        raise RequestError(argument, f"{argument}: {quoted(pattern)} names no file; {_ADVICE}")
    return rule
