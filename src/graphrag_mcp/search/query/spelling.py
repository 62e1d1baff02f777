"""Finds words of a question that are written as in another country: "licence" where the repository has "license"."""

import re
from collections.abc import Callable, Iterator

from graphrag_mcp.text.words import query_words

_FORMS = "(?:e[ds]?|ers?|ing|able|ations?)"
# Letters as in British and in American words, and what follows them.
_SPELLINGS = (
    ("is", "iz", _FORMS),
    ("ys", "yz", _FORMS),
    ("our", "or", "(?:|s|ed|ing|ful|able|al|ites?|hood)"),
    ("enc", "ens", "(?:e[ds]?|ing)"),
    ("tre", "ter", "s?"),
    ("ogue", "og", "s?"),
    ("grey", "gray", "s?"),
    ("artefact", "artifact", "s?"),
)
_RULES = tuple(
    (re.compile(rf"(\w*){left}({after})"), rf"\1{right}\2")
    for british, american, after in _SPELLINGS
    for left, right in ((british, american), (american, british))
)
_WORD = re.compile(r"\b[A-Z]?[a-z]{3,}\b")


def respell(text: str, is_known: Callable[[str], bool]) -> str:
    """Return the text with the words that the repository has in the other spelling only written like that.

    is_known: whether a stemmed word is indexed.
    """

    def spelled(word: re.Match[str]) -> str:
        others = [other for other in _others(word[0]) if _is_known(other, is_known)]
        return others[0] if others and not _is_known(word[0], is_known) else word[0]

    return _WORD.sub(spelled, text)


def _others(word: str) -> Iterator[str]:
    for pattern, replacement in _RULES:
        if match := pattern.fullmatch(word):
            yield match.expand(replacement)


def _is_known(word: str, is_known: Callable[[str], bool]) -> bool:
    return any(map(is_known, query_words(word)))
