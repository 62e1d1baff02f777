"""Adds synonyms that developers use to a query: "auth" also looks for authentication, login and token.

Only the keyword index needs it: the vectors of synonyms are near each other, and an added word would move the query's.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import chain, islice

from graphrag_mcp.text.expressions import read_table
from graphrag_mcp.text.words import query_words

MAX_ADDED = 12
MAX_CHARACTERS = 512
_NUMBERED = re.compile(
    r"\b([A-Za-z]{2,})[-/](\d{1,4})\b"
)  # "HTTP/2", "UTF-8", "SHA-256": names write them as one word.

SYNONYMS: Mapping[str, tuple[str, ...]] = {
    word: tuple(synonyms.split()) for word, synonyms in read_table("graphrag_mcp.search.query", "synonyms.toml").items()
}


def expand(text: str, terms: Sequence[str], more: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return at most MAX_ADDED stemmed terms to add to those of a query; none for more than MAX_CHARACTERS.

    more: synonyms by word, which replace those of SYNONYMS.
    """
    if len(text) > MAX_CHARACTERS:
        return ()
    known = dict(SYNONYMS) | {word.lower(): tuple(synonyms) for word, synonyms in more.items()}
    words = dict.fromkeys(word.strip(".,:;!?()'\"`").lower() for word in text.split())
    numbered = ["".join(parts).lower() for parts in _NUMBERED.findall(text)]
    synonyms = chain(numbered, chain.from_iterable(known.get(word, ()) for word in words))
    added = dict.fromkeys(term for synonym in synonyms for term in query_words(synonym))
    return tuple(islice((term for term in added if term not in terms), MAX_ADDED))
