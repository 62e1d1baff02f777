"""Finds in a question what the code may contain letter for letter: quoted text, keys, flags, and messages.

A message is pasted with its values filled in. The text between the values is that of the code's format string,
so a question is cut into segments at everything that may be such a value.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct

from graphrag_mcp.text.words import is_telling

MAX_LITERALS = 8  # A question has one or two; more is a pasted log.
MAX_LENGTH = 200  # Characters of a literal; longer quoted text is code, which is found by its words.
MIN_RUN = 3  # Words of a message that are evidence: two stand together by chance.
RUN = 4  # Words that are looked up together, since a value without a mark of its own may be in a segment.
MAX_RUN = 12  # Words of a segment that is looked up as a whole.
MIN_TELLING = 2  # Words of a run that are not question words.
MAX_LOCATIONS = 30  # The frames of a trace; the innermost come first or last.
_LOCATION = re.compile(r"(?<![\w./\\-])(?P<path>[\w./\\-]+\.[A-Za-z]\w{0,7})(?::|\"?, line )(?P<line>\d{1,7})\b")


class Literal(Struct, frozen=True):
    """A text that the question writes as it may be in a file: in quotes, or a key such as `max_width` or `--no-cache`.

    is_compound: whether it is two plain words with a hyphen, which may be a key or English.
    """

    text: str
    is_compound: bool = False


class Run(NamedTuple):
    """Some words of a segment: `segment[start:stop]`."""

    segment: tuple[str, ...]
    start: int
    stop: int

    @property
    def words(self) -> tuple[str, ...]:
        return self.segment[self.start : self.stop]

    @property
    def text(self) -> str:
        """The words with blanks between them."""
        return " ".join(self.words)


_QUOTED = re.compile(r"`([^`]+)`|\"([^\"\n]+)\"|“([^”\n]+)”|(?<!\w)'([^'\n]+)'(?!\w)")
_FLAG = r"(?<![\w-])--?[A-Za-z][\w-]+"
_KEY = re.compile(rf"{_FLAG}|(?<![\w./\\-])(?>\w+(?:[._-]+\w+)+)(?![\w/\\])")
_COMPOUND = re.compile(r"[A-Za-z]+-[a-z]+")
_NO_KEY = re.compile(r"[\d._-]+|\w\.\w")  # A version; "e.g".
# What a message holds in place of a value, and where one message or sentence ends.
_VALUE = re.compile(
    r"`[^`]*`|\"[^\"\n]*\"|“[^”\n]*”|(?<!\w)'[^'\n]*'(?!\w)"  # Quoted text.
    r"|\S*[\w.)]/\S*|\S*\\\S+|/\S+"  # Paths and addresses of the web.
    r"|\S*\d\S*"  # Numbers, hex values, durations, addresses.
    r"|\S*[\w)][.:]{1,2}\w\S*|\S*[_@=<>{}$%]\S*|(?<!\S)-\S+|\w+-\w+-[\w-]+"  # Names, keys and other code.
    r"|[:;,?!()\[\]\n]|\.(?=\s|$)"
)
_WORD = re.compile(r"[^\W_]+")
ASKING = frozenset({"how", "what", "when", "where", "which", "who", "why"})  # A message begins with none of them.


def words(text: str) -> list[str]:
    return _WORD.findall(text)


def literals(text: str) -> tuple[Literal, ...]:
    """Return the literals of a question, at most MAX_LITERALS, in their order."""
    quoted = [next(filter(None, match.groups())).strip() for match in _QUOTED.finditer(text)]
    fitting = (part for part in quoted if 1 < len(part) <= MAX_LENGTH and _telling(_WORD.findall(part)))
    written = dict.fromkeys(fitting, False)
    for match in _KEY.finditer(text):
        key = match.group(0).rstrip("-_.")
        if key not in written and not _NO_KEY.fullmatch(key):
            written[key] = _COMPOUND.fullmatch(key) is not None
    return tuple(Literal(part, is_compound) for part, is_compound in written.items())[:MAX_LITERALS]


def message_runs(text: str) -> tuple[Run, ...]:
    """Return the runs of words of a text that may be parts of a message without its values.

    A segment is a run as a whole; so are RUN words of it, which tell more, since a value may look like a word. What is
    quoted is a message: of it, MIN_RUN words are a run, between two values that look like words. Of a question, "in
    watch mode, how ...", so few words must all be telling.
    """
    inner = [part for match in _QUOTED.finditer(text) for part in match.groups() if part and " " in part]
    own, quoted = (
        [tuple(_WORD.findall(part)) for source in sources for part in _VALUE.split(source)]
        for sources in ((text,), inner)
    )
    asks = any(word.lower() in ASKING for segment in own for word in segment)
    segments = dict.fromkeys(own, asks) | dict.fromkeys(quoted, False)
    short = [run for part in dict.fromkeys(inner) for run in _short_runs(part)]
    return (*(run for segment, is_asked in segments.items() for run in _runs(segment, is_asked)), *short)


def _runs(segment: tuple[str, ...], is_asked: bool) -> Iterator[Run]:
    is_shouted = len(segment) == MIN_TELLING and all(map(str.isupper, segment))  # WORKER TIMEOUT
    is_message = (MIN_RUN <= len(segment) <= MAX_RUN or is_shouted) and segment[0].lower() not in ASKING
    least = MIN_RUN if is_asked and len(segment) == MIN_RUN else MIN_TELLING
    if is_message and _telling(segment) >= least:
        yield Run(segment, 0, len(segment))
    for start in range(len(segment) - RUN + 1 if len(segment) > RUN else 0):
        if _telling(segment[start : start + RUN]) >= RUN - 1:
            yield Run(segment, start, start + RUN)


def _short_runs(quoted: str) -> Iterator[Run]:
    for segment in (tuple(_WORD.findall(part)) for part in _VALUE.split(quoted)):
        for start in range(len(segment) - MIN_RUN + 1 if len(segment) > MIN_RUN else 0):
            if _telling(segment[start : start + MIN_RUN]):
                yield Run(segment, start, start + MIN_RUN)


def _telling(words: Sequence[str]) -> int:
    return sum(map(is_telling, words))


class Location(NamedTuple):
    """A line of a file as a question writes it; the path may be that of another machine."""

    path: str
    line: int


def read_locations(text: str) -> tuple[Location, ...]:
    """Return the locations in a text, in their order."""
    locations = (Location(match["path"].replace("\\", "/"), int(match["line"])) for match in _LOCATION.finditer(text))
    return tuple(dict.fromkeys(locations))[:MAX_LOCATIONS]


def lines_in(locations: Sequence[Location], path: str) -> list[int]:
    """Return the lines of a file that are named."""
    return [location.line for location in locations if names_path(location.path.lstrip("./"), path)]


def names_path(name: str, path: str) -> bool:
    """Return whether a path in the query means this file; a path in another machine's stack trace ends with it."""
    if path == name or path.endswith("/" + name) or ("/" in path and name.endswith("/" + path)):
        return True
    return path.startswith(name + "/") or f"/{name}/" in path
