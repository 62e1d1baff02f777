"""What is looked for: a literal text, or a regular expression of RE2, which takes linear time on any input.

A needle is looked for in the UTF-8 of a text with "\\n" as its only line end.
"""

import re
import warnings
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from itertools import accumulate
from operator import methodcaller
from typing import Any, TypeAlias

import re2
from msgspec import Struct

from graphrag_mcp.errors import RequestError, quoted
from graphrag_mcp.model.search import Case
from graphrag_mcp.text.counts import counted

# Each set has alternatives, in lower case and ASCII: a text with the needle contains one of each set, in any case.
Required: TypeAlias = Sequence[frozenset[str]]

_SHORTEST = 3  # Shorter parts rule nothing out.
_ASCII_PARTS = re.compile("[\x00-\x09\x0b-\x7f]+")
_LONGEST_CHARACTER = 4  # UTF-8 has at most four bytes for a character.
# An empty match is possible at these kinds of places: the ends, and beside letters and other characters.
_EMPTY_PLACES = ("", "a", " ", "aa", "a a", "  ")
_FOLDED = {"k": "\N{KELVIN SIGN}".encode(), "s": "\N{LATIN SMALL LETTER LONG S}".encode()}
_LAST_CASED = 0x20000  # No letter above has another case.
_REST = b"[^\n]*"
MOST_STEPS = 3_000  # RE2 may take every step of a program at each byte; a dot has eight.
_BRACKETS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*+\]|([()])", re.DOTALL)
MOST_NESTED = 100  # Brackets may not be nested deeper.
_START = methodcaller("start")  # It returns where a match begins.


class Needle(Struct, frozen=True):
    """A text or a pattern to look for. required: what each text with it contains, if known.

    pattern: finds it. by_line: finds it with the rest of its line; None where that could hide another occurrence.
    lowered: finds it in a text in lower case, unless that has letters of `folded`, which stand for some of its own.
    """

    required: Required
    pattern: Any
    by_line: Any = None
    lowered: Any = None
    folded: Sequence[bytes] = ()
    whole_word: bool = False

    def find(self, data: bytes, start: int) -> tuple[int, int] | None:
        """Return where the first occurrence at or after an offset begins and ends; None if there is none."""
        match = self.pattern.search(data, start)
        while match is not None and self.whole_word and not _is_whole(data, *match.span()):
            match = self.pattern.search(data, match.start() + 1)
        return match.span() if match is not None else None

    def lines(self, data: bytes) -> list[int]:
        """Return the offset of the first occurrence on each line that has one."""
        if self.lowered is not None and not has_folded(data, self.folded):
            return list(map(_START, self.lowered.finditer(data.lower())))
        return list(self._one_by_one(data) if self.by_line is None else map(_START, self.by_line.finditer(data)))

    def spans(self, line: str) -> list[tuple[int, int]]:
        """Return where each occurrence on a line begins and ends, in characters."""
        data = line.encode("utf-8", "surrogatepass")
        spans: list[tuple[int, int]] = []
        offset = 0
        while offset <= len(data) and (span := self.find(data, offset)) is not None:
            spans.append((_characters(data[: span[0]]), _characters(data[: span[1]])))
            offset = max(span[1], offset + 1)
        return spans

    def _one_by_one(self, data: bytes) -> Iterator[int]:
        offset = 0
        while (span := self.find(data, offset)) is not None:
            yield span[0]
            offset = data.find(b"\n", span[0]) + 1
            if not offset:
                return


def create_needle(text: str, *, regex: bool = False, whole_word: bool = False, case: Case = Case.SMART) -> Needle:
    """Return the needle of a question.

    whole_word: no letter, digit or underscore is adjacent to an end that is one; of a regular expression, both ends are
    at a boundary of a word. Raises RequestError for a pattern that RE2 cannot compile, or that matches nothing.
    """
    if regex:
        if (depth := _nesting(text)) > MOST_NESTED:
            raise RequestError("text", f"text: brackets are nested {depth:,} deep; use at most {MOST_NESTED}")
        parsed = _parse(text)
        ignores = case is Case.IGNORE or (case is Case.SMART and not _has_upper(text, parsed))
        return _regex(text, _required_of(parsed), whole_word=whole_word, ignore_case=ignores)
    ignores = case is Case.IGNORE or (case is Case.SMART and text.islower())
    return _literal(text, whole_word=whole_word, ignore_case=ignores)


def last_word(text: str, start: int, end: int) -> int:
    """Return the offset of the last letter, digit or underscore of a span; its start when it has none."""
    return next((offset for offset in range(end - 1, start, -1) if _is_word(text[offset])), start)


def has_folded(data: bytes, letters: Sequence[bytes] = tuple(_FOLDED.values())) -> bool:
    """Return whether a text has a letter that stands for one of ASCII when case is ignored: a long s, a Kelvin sign."""
    return bool(letters) and not data.isascii() and any(letter in data for letter in letters)


# ---------------------------------------------------------------- a literal text


def _literal(text: str, *, whole_word: bool, ignore_case: bool) -> Needle:
    """Return the needle of a literal text. Any part of it that is ASCII is required, whatever the case."""
    parts = _ASCII_PARTS.findall(text)  # The text in lower case may have more ASCII, which is not in the text.
    required = tuple(frozenset((part.lower(),)) for part in parts if len(part) >= _SHORTEST)
    exact = _escaped(text)
    pattern = b"".join(map(_any_case, text)) if ignore_case else exact
    if whole_word or "\n" in text:
        return Needle(required, re.compile(pattern), whole_word=whole_word)
    lowered = re.compile(exact.lower() + _REST) if ignore_case and text.isascii() else None
    folded = [other for letter, other in _FOLDED.items() if letter in text.lower()]
    return Needle(required, re.compile(pattern), re.compile(pattern + _REST), lowered, folded)


def _any_case(letter: str) -> bytes:
    """Return a pattern of the UTF-8 of all letters that are one when case is ignored."""
    same = {letter, *_same_letters().get(letter.casefold(), ())}
    return b"(?:%s)" % b"|".join(map(_escaped, same))


@cache
def _same_letters() -> Mapping[str, Collection[str]]:
    """Return the letters that are one when case is ignored, by what stands for them."""
    same: defaultdict[str, set[str]] = defaultdict(set)
    for letter in map(chr, range(_LAST_CASED)):
        folded = letter.casefold()
        if folded != letter:
            same[folded] |= {letter, folded} if len(folded) == 1 else {letter}
    return same


def _escaped(text: str) -> bytes:
    return re.escape(text.encode("utf-8", "surrogatepass"))


def _is_whole(data: bytes, start: int, end: int) -> bool:
    """Return whether no word goes on beyond an end of a span of UTF-8."""
    before = data[max(0, start - _LONGEST_CHARACTER) : start].decode("utf-8", "ignore")[-1:]
    after = data[end : end + _LONGEST_CHARACTER].decode("utf-8", "ignore")[:1]
    inside = data[start:end].decode("utf-8", "replace")
    return not ((_is_word(before) and _is_word(inside[:1])) or (_is_word(after) and _is_word(inside[-1:])))


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _characters(data: bytes) -> int:
    return len(data.decode("utf-8", "replace"))


# ---------------------------------------------------------------- a regular expression


def _regex(text: str, required: Required, *, whole_word: bool, ignore_case: bool) -> Needle:
    """Return the needle of a regular expression in the syntax of RE2; a match lies within one line."""
    options = re2.Options()
    options.case_sensitive = not ignore_case
    options.never_capture = True
    options.never_nl = True  # A class such as [^x] does not match a line end.
    options.log_errors = False
    pattern = rf"(?m)\b(?:{text})\b" if whole_word else f"(?m)(?:{text})"
    try:
        re2.compile(text, options)  # The text must compile alone: what is put around it could close its brackets.
        needle = Needle(required, re2.compile(pattern, options), re2.compile(f"{pattern}.*", options))
    except re2.error as error:
        raise RequestError("text", _refusal(text, error)) from None
    if (steps := needle.pattern.programsize) > MOST_STEPS:
        much = f"takes {counted(steps, 'step')} of {MOST_STEPS:,}"
        raise RequestError("text", f"text: {quoted(text)} {much}; repeat fewer times")
    if any(start == end for sample in _EMPTY_PLACES for start, end in needle.spans(sample)):
        raise RequestError(
            "text", f"text: {quoted(text)} matches the empty string, so every line; add what must be on the line"
        )
    return needle


def _nesting(pattern: str) -> int:
    """Return how deep brackets are nested, at most."""
    steps = (1 if bracket == "(" else -1 for bracket in _BRACKETS.findall(pattern) if bracket)
    return max(accumulate(steps), default=0)


def _refusal(pattern: str, error: Exception) -> str:
    why = error.args[0].decode("utf-8", "replace") if error.args and isinstance(error.args[0], bytes) else str(error)
    unsupported = "invalid perl operator" in why or "invalid escape sequence" in why
    step = "it has no look-around and no back-references" if unsupported else "correct it, or leave out regex"
    return f"text: {quoted(pattern)} is not a pattern of RE2 ({why}); {step}"


# ---------------------------------------------------------------- what a pattern requires


def _parse(pattern: str) -> Any:
    """Return the parts of a pattern by Python's own parser; None where its syntax may differ from that of RE2.

    The module has no public name. Without it, every file is read for a pattern.
    """
    if "[:" in pattern:  # Python has no classes such as [[:alpha:]].
        return None
    try:
        with warnings.catch_warnings(action="ignore"):
            return import_module("re._parser").parse(pattern)
    except (ImportError, re.error, OverflowError, RecursionError):
        return None


def _required_of(parts: Any) -> Required:
    """Return what every match contains."""
    required: list[frozenset[str]] = []
    run = ""
    for kind, value in parts or ():
        name = str(kind)
        if name == "LITERAL" and _ASCII_PARTS.fullmatch(chr(value)):
            run += chr(value).lower()
            continue
        required.append(frozenset((run,)))
        run = ""
        if name == "SUBPATTERN":
            required += _required_of(value[-1])
        elif name in ("MAX_REPEAT", "MIN_REPEAT") and value[0] > 0:
            required += _required_of(value[2])
        elif name == "BRANCH" and all(branches := [_required_of(branch) for branch in value[1]]):
            required.append(frozenset().union(*(max(branch, key=_telling) for branch in branches)))
    required.append(frozenset((run,)))
    return [alternatives for alternatives in required if _telling(alternatives) >= _SHORTEST]


def _telling(alternatives: Iterable[str]) -> int:
    return min(map(len, alternatives))


def _has_upper(pattern: str, parts: Any) -> bool:
    """Return whether a pattern has an upper-case letter that stands for itself."""
    if parts is None:
        return bool(re.search(r"(?<!\\)[A-Z]", pattern))
    return any(map(str.isupper, _characters_in(parts)))


def _characters_in(parts: Any) -> Iterator[str]:
    """Yield the characters that stand for themselves in parts, and the ends of ranges."""
    for part in parts if not isinstance(parts, int | None) else ():
        if isinstance(part, tuple) and str(part[0]) in ("LITERAL", "NOT_LITERAL"):
            yield chr(part[1])
        elif isinstance(part, tuple) and str(part[0]) == "RANGE":
            yield from map(chr, part[1])
        else:
            yield from _characters_in(part)
