"""The words of messages of commits: which share those of a question, and what is shown of a long one."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate, chain, takewhile

from graphrag_mcp.history.log import MESSAGE_CHARACTERS
from graphrag_mcp.text.words import query_words

_PART = re.compile(r"\n[ \t]*\n|\n(?=[ \t]*[-*+] )")  # Between paragraphs, and before each entry of a list.
_TRAILER = re.compile(r"[\w-]{1,40}-by: |-{3,}", re.IGNORECASE)  # "Co-authored-by: ..."
_SHORTEST = 40  # Characters; less of a part says nothing.
_TITLE = re.compile(r"\* .{1,100}")  # The title of a commit in the message of several that were made one.
CUT = "…"
SHORTEST_BEGINNING = 3  # Letters of a word.


def shortened_message(message: str, words: str) -> str:
    """Return as much of a message as is kept of one: its first line, and of the rest what shares words."""
    subject, _, body = message.partition("\n")
    rest = told_parts(body, words, max(0, MESSAGE_CHARACTERS - len(subject)))
    return "\n\n".join([subject[:MESSAGE_CHARACTERS], *rest])


def told_parts(body: str, words: str, most: int, *, is_brief: bool = False) -> list[str]:
    """Return the parts of a message that fit into a number of characters, with CUT where others are left out.

    Those that share the rarest words are chosen first. is_brief: whether no others are taken beside them; where no part
    shares a word, that is the first paragraph.
    """
    paragraphs = [part for part in body.replace("\r\n", "\n").split("\n\n") if not _TRAILER.match(part.strip())]
    parts = _parts("\n\n".join(paragraphs))
    shares = shares_of(parts, words)
    places = list(range(len(parts)))
    if is_brief:
        sharing = [place for place in places if shares[place]]
        places = sharing or places[: len(_parts("".join(paragraphs[:1])))]
    chosen: dict[int, str] = {}
    titles = list(accumulate((place if _TITLE.fullmatch(part) else -1 for place, part in enumerate(parts)), max))
    room = most
    for best in sorted(places, key=lambda place: -shares[place]):
        for place in (titles[best], best) if titles[best] >= 0 else (best,):
            if room >= _SHORTEST and place not in chosen:
                chosen[place] = _cut(parts[place], room)
                room -= len(chosen[place]) + 2
    return _with_gaps(chosen, 0 if is_brief and not any(shares) else len(parts))


def _parts(text: str) -> list[str]:
    return [part.strip() for part in _PART.split(text) if part.strip()]


def shares_of(texts: Sequence[str], words: str) -> list[float]:
    """Return for each of several texts the sum of the rarities, among them, of the words that it shares."""
    wanted = set(query_words(words))
    shared = [wanted.intersection(query_words(text)) for text in texts]
    count = Counter(chain.from_iterable(shared))
    return [sum(math.log(1 + len(texts) / count[word]) for word in of_text) for of_text in shared]


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most].rsplit(None, 1)[0]} {CUT}"


def _with_gaps(chosen: Mapping[int, str], count: int) -> list[str]:
    """Return the chosen parts in their order, with CUT where others are left out."""
    rows: list[str] = []
    for place in sorted(chosen):
        is_behind_gap = place > 0 and place - 1 not in chosen and not (rows and rows[-1].endswith(CUT))
        rows.append(f"{CUT} {chosen[place].removeprefix(CUT).lstrip()}" if is_behind_gap else chosen[place])
    if rows and max(chosen) + 1 < count and not rows[-1].endswith(CUT):
        rows[-1] += f" {CUT}"
    return rows


def beginnings(words: str) -> dict[str, str]:
    """Return by the stems of words what each has in common with its word: for `sentry` and "sentri" "sentr"."""
    return {stem: _beginning(word.lower(), stem) for word in words.split() for stem in query_words(word)}


def _beginning(word: str, stem: str) -> str:
    """Return what a word and its stem have in common; the stem if that is little."""
    common = "".join(letter for letter, _ in takewhile(lambda pair: pair[0] == pair[1], zip(word, stem, strict=False)))
    return common if len(common) >= SHORTEST_BEGINNING else stem
