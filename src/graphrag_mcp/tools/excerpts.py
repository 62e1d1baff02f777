"""Cuts texts to the room of an answer."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, takewhile
from typing import Any, TypeVar

from graphrag_mcp.text.counts import counted

CHARACTERS_PER_TOKEN = 3.2  # Code has many short tokens; prose would be about 4.

# Cost of other letters, in characters of code: Cyrillic, Greek, Arabic, … and Chinese, Japanese, Korean, emoji.
LETTER_COST, SIGN_COST = 1.6, 3.2
CONCISE_TOKENS = 1_000
SEARCH_TOKENS = 1_165  # A search without a budget has this one: on the average, answers have 3,200 characters.
RELATED_SHARE = 5  # At most a fifth of the room: related code supports the results and replaces none.
CUT_MARK = " …"
WORTH_HIDING = 3  # Lines are folded if they have more than three times the characters of the line that says so.
LITTLE_MORE = 1.5  # A text that needs up to so many times its share is shown whole.
_Value = TypeVar("_Value", bound=Any)
LEAST_OF_A_LINE = 60  # Characters: a shorter beginning of a line ("def _ …") is of no use.


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The part of a text that is shown, and how many whole lines of it are not."""

    text: str
    hidden_lines: int = 0


def room_of(tokens: int) -> int:
    """Return how many characters of code fit into that many tokens, by a low estimate."""
    return int(tokens * CHARACTERS_PER_TOKEN)


def cost_of(text: str) -> int:
    """Return the room that a text takes, in characters of code: its length, and more for letters outside ASCII."""
    return len(text) if text.isascii() else math.ceil(sum(map(_cost, text)))


def cost_of_lines(lines: Iterable[str]) -> int:
    """Return the room that lines take, each with its end."""
    return sum(cost_of(line) + 1 for line in lines)


def tokens_of(text: str) -> int:
    """Return about how many tokens a text takes, by a high estimate."""
    return math.ceil(cost_of(text) / CHARACTERS_PER_TOKEN)


def cut_texts(
    texts: Sequence[str],
    room: int,
    cut: Callable[[int, str, int], Excerpt] = lambda _place, text, room: cut_text(text, room),
) -> list[Excerpt]:
    """Cut texts, best first, at line boundaries so that together they take at most `room`.

    Shares fall linearly from the first to the last; what a text does not use goes to those after it. cut: returns the
    excerpt of the text at a place for its share; a text that is a little longer is shown whole.
    """
    excerpts = []
    for position, text in enumerate(texts):
        texts_left = len(texts) - position
        share = first_share(room, texts_left)
        excerpt = cut(position, text, min(room, cost_of(text)) if cost_of(text) <= share * LITTLE_MORE else share)
        room -= cost_of(excerpt.text)
        excerpts.append(excerpt)
    for position, text in enumerate(texts):  # What is left over goes to the best one that was cut.
        if excerpts[position].text != text.rstrip("\n") and room > LEAST_OF_A_LINE:
            more = cut(position, text, cost_of(excerpts[position].text) + room)
            room -= cost_of(more.text) - cost_of(excerpts[position].text)
            excerpts[position] = more
    return excerpts


def take_fitting(
    values: Sequence[_Value], room: int, frame: int, least: int = 1, cost: Callable[[_Value], int] = cost_of
) -> tuple[list[_Value], int]:
    """Return the first values that fit, each with a frame, and the room left; at least `least` of them."""
    fitting: list[_Value] = []
    for value in values:
        needed = cost(value) + frame
        if needed > room and len(fitting) >= least:
            break
        fitting.append(value)
        room -= needed
    return fitting, room


def first_share(room: int, count: int) -> int:
    """Return how much of the room the first of `count` texts may take."""
    return max(0, room) * 2 // (count + 1)


def cut_text(text: str, room: int) -> Excerpt:
    """Return the first whole lines that fit, or the beginning of a first line that is too long."""
    text = text.rstrip("\n")
    if cost_of(text) <= room:
        return Excerpt(text)
    lines = text.split("\n")
    ends = accumulate(cost_of(line) + 1 for line in lines)
    count = sum(1 for _ in takewhile(lambda end: end <= room + 1, ends))
    if count == 0 and room > LEAST_OF_A_LINE:
        return Excerpt(_beginning(lines[0], room - cost_of(CUT_MARK)) + CUT_MARK, len(lines) - 1)
    return Excerpt("\n".join(lines[:count]), len(lines) - count)


def fold(rows: Sequence[str], by_worth: Iterable[int], room: int, most: int) -> list[str]:
    """Return as many numbered rows as fit, those that matter most, and for each run of others how many they are."""
    kept_lines: set[int] = set()
    for number in by_worth:
        room -= cost_of(rows[number]) + 1
        if room < 0 or len(kept_lines) == most:
            break
        kept_lines.add(number)
    shown: list[str] = []
    for is_kept, run in groupby(range(len(rows)), kept_lines.__contains__):
        numbers = list(run)
        hidden = f"... {counted(len(numbers), 'line')}"
        is_shorter = is_kept or cost_of_lines(rows[number] for number in numbers) <= WORTH_HIDING * len(hidden)
        shown += [rows[number] for number in numbers] if is_shorter else [hidden]
    return shown


def _beginning(text: str, room: int) -> str:
    fitting = takewhile(lambda end: end <= room, accumulate(map(_cost, text)))
    return text[: sum(1 for _ in fitting)]


def _cost(character: str) -> float:
    if character < "\x80":
        return 1
    return LETTER_COST if character < "\u2e80" else SIGN_COST
