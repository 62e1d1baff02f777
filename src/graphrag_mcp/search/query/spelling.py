"""Finds words of a question that are written as in another country: "licence" where the repository has "license"."""

import re
from collections.abc import Callable, Iterator

from graphrag_mcp.text.words import is_telling, query_words

_FORMS = "(?:e[ds]?|ers?|ing|able|ations?)"
# Letters as in British and in American words, and what follows them.
_SPELLINGS = (
    ("is", "iz", _FORMS),
    ("lys", "lyz", "(?:ed?|ers?|ing)"),
    ("our", "or", "(?:|s|ed|ing|ful|able|al|ites?|hood)"),
    ("enc", "ens", "(?:e[ds]?|ing)"),
    ("tre", "ter", "s?"),
    ("ogue", "og", "s?"),
    ("rey", "ray", "s?"),
    ("rtefact", "rtifact", "s?"),
)
_SHORTEST = {"rey": "", "ray": "", "rtefact": "", "rtifact": ""}  # Else at least two letters are before them.
_RULES = tuple(
    (re.compile(rf"(\w{_SHORTEST.get(left, '{2,}')}){left}({after})"), rf"\g<1>{right}\g<2>")
    for british, american, after in _SPELLINGS
    for left, right in ((british, american), (american, british))
)
# A word of prose: none in quotes, in a path, in a name or in an option.
_WORD = re.compile(r"""(?:^|(?<=[\s(]))[A-Z]?[a-z]{3,}(?=[\s),;:?!]|[.](?:\s|$)|$)""")
_QUOTED = re.compile(r"""`[^`]*`|"[^"]*"|(?<!\w)'[^']*'(?!\w)""")


def respell(text: str, is_known: Callable[[str], bool]) -> str:
    """Return the text with the words that the repository has in the other spelling only written like that.

    is_known: whether a stemmed word is indexed.
    """
    quoted = [match.span() for match in _QUOTED.finditer(text)]

    def spelled(word: re.Match[str]) -> str:
        is_quoted = any(start <= word.start() < end for start, end in quoted)
        others = [] if is_quoted or not is_telling(word[0]) else [*_others(word[0], is_known)]
        return others[0] if others and not _is_known(word[0], is_known) else word[0]

    return _WORD.sub(spelled, text)


def _others(word: str, is_known: Callable[[str], bool]) -> Iterator[str]:
    for pattern, replacement in _RULES:
        if match := pattern.fullmatch(word):
            other = match.expand(replacement)
            if is_telling(other) and _is_known(other, is_known):
                yield other


def _is_known(word: str, is_known: Callable[[str], bool]) -> bool:
    return any(map(is_known, query_words(word)))
