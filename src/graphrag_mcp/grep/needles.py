"""What is looked for: a literal text, or a regular expression of RE2, which takes linear time on any input.

A needle is looked for in the UTF-8 of a text with "\\n" as its only line end.
"""

import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any, TypeAlias

import re2

from graphrag_mcp.errors import RequestError, quoted
from graphrag_mcp.model.search import Case

# Each set has alternatives, in lower case and ASCII: a text with the needle contains one of each set, in any case.
Required: TypeAlias = Sequence[frozenset[str]]

_SHORTEST = 3  # Shorter parts rule nothing out.
_ASCII_PARTS = re.compile("[\x00-\x09\x0b-\x7f]+")
_LONGEST_CHARACTER = 4  # Bytes.
# Every kind of place at which an empty match is possible: the ends, and beside letters and other characters.
_EMPTY_PLACES = ("", "a", " ", "aa", "a a", "  ")


class Needle(ABC):
    """Something to look for. required: what each text with it contains, as far as that is known."""

    required: Required = ()

    @abstractmethod
    def find(self, data: bytes, start: int) -> tuple[int, int] | None:
        """Return where the first occurrence at or after an offset begins and ends; None if there is none."""

    def lines(self, data: bytes) -> Iterator[int]:
        """Yield the offset of the first occurrence on each line that has one."""
        place = 0
        while (found := self.find(data, place)) is not None:
            yield found[0]
            place = data.find(b"\n", found[0]) + 1
            if not place:
                return

    def spans(self, line: str) -> list[tuple[int, int]]:
        """Return where each occurrence on a line begins and ends, in characters."""
        data = line.encode("utf-8", "surrogatepass")
        spans: list[tuple[int, int]] = []
        place = 0
        while place <= len(data) and (found := self.find(data, place)) is not None:
            spans.append((_characters(data[: found[0]]), _characters(data[: found[1]])))
            place = max(found[1], place + 1)
        return spans


def create_needle(text: str, *, regex: bool = False, whole_word: bool = False, case: Case = Case.SMART) -> Needle:
    """Return the needle of a question.

    whole_word: no letter, digit or underscore is adjacent to an end that is one; of a regular expression, both ends are
    at a boundary of a word. Raises RequestError for a pattern that RE2 cannot compile, or that matches nothing.
    """
    if regex:
        parsed = _parse(text)
        ignores = case is Case.IGNORE or (case is Case.SMART and not _has_upper(text, parsed))
        return _Regex(text, _required_of(parsed), whole_word=whole_word, ignore_case=ignores)
    ignores = case is Case.IGNORE or (case is Case.SMART and text == text.lower())
    return _AnyCase(text, whole_word=whole_word) if ignores else _Literal(text, whole_word=whole_word)


def last_word(text: str, start: int, end: int) -> int:
    """Return the offset of the last letter, digit or underscore of a span; its start when it has none."""
    return next((place for place in range(end - 1, start, -1) if _is_word(text[place])), start)


def has_folded(data: bytes) -> bool:
    """Return whether a text has a letter that stands for one of ASCII when case is ignored: a long s, a Kelvin sign."""
    return not data.isascii() and _FOLDED.search(data) is not None


class _Literal(Needle):
    """A literal text in this case. Any part of it that is ASCII is required, whatever the case of the letters."""

    def __init__(self, text: str, *, whole_word: bool) -> None:
        self._text = text.encode("utf-8", "surrogatepass")
        self._whole_word = whole_word
        self._pattern = _literal(self._text, ignore_case=False)
        parts = _ASCII_PARTS.findall(text)  # Before its lower case, which turns some letters into ASCII.
        self.required = tuple(frozenset((part.lower(),)) for part in parts if len(part) >= _SHORTEST)

    def lines(self, data: bytes) -> Iterator[int]:
        if self._pattern.search(data) is None:  # Sooner than `bytes.find`, and most files end here.
            return iter(())
        return self.present(data)

    def present(self, data: bytes) -> Iterator[int]:
        """Yield the same as `lines`, without the look whether there are any."""
        return super().lines(data) if self._whole_word else self._unchecked(data)

    def _unchecked(self, data: bytes) -> Iterator[int]:
        text, place = self._text, 0
        while (found := data.find(text, place)) >= 0:
            yield found
            place = data.find(b"\n", found) + 1
            if not place:
                return

    def find(self, data: bytes, start: int) -> tuple[int, int] | None:
        found = data.find(self._text, start)
        while found >= 0 and self._whole_word and not _is_whole(data, found, found + len(self._text)):
            found = data.find(self._text, found + 1)
        return (found, found + len(self._text)) if found >= 0 else None


class _AnyCase(_Literal):
    """A literal text in any case."""

    def __init__(self, text: str, *, whole_word: bool) -> None:
        super().__init__(text, whole_word=whole_word)
        self._pattern = _literal(self._text, ignore_case=True)
        self._lower = _Literal(text.lower(), whole_word=whole_word) if text.isascii() else None

    def lines(self, data: bytes) -> Iterator[int]:
        if self._pattern.search(data) is None:
            return iter(())
        if self._lower is not None and not has_folded(data):  # Fewer calls of the engine.
            return self._lower.present(data.lower())
        return Needle.lines(self, data)

    def find(self, data: bytes, start: int) -> tuple[int, int] | None:
        found = self._pattern.search(data, start)
        while found is not None and self._whole_word and not _is_whole(data, *found.span()):
            found = self._pattern.search(data, found.start() + 1)
        return found.span() if found is not None else None


class _Regex(Needle):
    """A regular expression in the syntax of RE2; a match lies within one line."""

    def __init__(self, pattern: str, required: Required, *, whole_word: bool, ignore_case: bool) -> None:
        self.required = required
        options = _options(ignore_case=ignore_case)
        options.never_nl = True  # A class such as [^x] does not match a line end.
        try:
            re2.compile(pattern, options)  # As it was given, since the words around it could close its brackets.
            self._pattern = re2.compile(rf"(?m)\b(?:{pattern})\b" if whole_word else f"(?m){pattern}", options)
        except re2.error as error:
            raise RequestError("text", _refusal(pattern, error)) from None
        if any(start == end for text in _EMPTY_PLACES for start, end in self.spans(text)):
            raise RequestError(
                "text", f"text: {quoted(pattern)} matches the empty string, so every line; add what must be on the line"
            )

    def find(self, data: bytes, start: int) -> tuple[int, int] | None:
        found = self._pattern.search(data, start)
        return found.span() if found is not None else None


def _options(*, ignore_case: bool) -> Any:
    options = re2.Options()
    options.case_sensitive = not ignore_case
    options.never_capture = True
    options.log_errors = False
    return options


def _literal(text: bytes, *, ignore_case: bool) -> Any:
    options = _options(ignore_case=ignore_case)
    options.literal = True
    return re2.compile(text, options)


_FOLDED = re2.compile("[\u212a\u017f]")


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
    if "[:" in pattern:  # A class such as [[:alpha:]], which Python does not know.
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
    return any(_is_upper(part) for part in parts)


def _is_upper(part: Any) -> bool:
    kind, value = str(part[0]), part[1]
    if kind in ("LITERAL", "NOT_LITERAL"):
        return chr(value).isupper()
    if kind == "RANGE":
        return any(chr(code).isupper() for code in value)
    if kind == "IN":
        return any(map(_is_upper, value))
    if kind == "BRANCH":
        return any(_is_upper(inner) for branch in value[1] for inner in branch)
    if kind in ("SUBPATTERN", "MAX_REPEAT", "MIN_REPEAT"):
        return any(map(_is_upper, value[-1]))
    return False
