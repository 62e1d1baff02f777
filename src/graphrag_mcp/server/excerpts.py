"""Shares the room of an answer among its results: the best get the most, and what is cut is counted."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

CHARACTERS_PER_TOKEN = 3.2  # Code has many short tokens; prose would be about 4.
CONCISE_TOKENS = 1_000
CUT_MARK = " …"


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The part of a text that is shown, and how many whole lines of it are not."""

    text: str
    hidden_lines: int = 0


def room_of(tokens: int) -> int:
    """Return how many characters surely fit into that many tokens."""
    return int(tokens * CHARACTERS_PER_TOKEN)


def tokens_of(text: str) -> int:
    """Return about how many tokens a text takes, rather too many than too few."""
    return math.ceil(len(text) / CHARACTERS_PER_TOKEN)


def cut_texts(texts: Sequence[str], room: int) -> list[Excerpt]:
    """Cut texts, best first, at line boundaries so that together they take at most `room` characters.

    Shares fall linearly from the first to the last; what a text leaves of its share goes to those after it.
    """
    excerpts = []
    for position, text in enumerate(texts):
        texts_left = len(texts) - position
        excerpt = cut_text(text, max(0, room) * 2 // (texts_left + 1))
        room -= len(excerpt.text)
        excerpts.append(excerpt)
    return excerpts


def cut_text(text: str, room: int) -> Excerpt:
    """Return the first whole lines that fit; of a first line that is too long, as much as fits."""
    text = text.rstrip("\n")
    if len(text) <= room:
        return Excerpt(text)
    lines = text.split("\n")
    kept = text[: room + 1].count("\n")
    if kept == 0 and room > len(CUT_MARK):
        return Excerpt(lines[0][: room - len(CUT_MARK)] + CUT_MARK, len(lines) - 1)
    return Excerpt("\n".join(lines[:kept]), len(lines) - kept)
