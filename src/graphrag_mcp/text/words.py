"""Splits identifiers, text and paths into the words that the keyword index and the queries share.

An identifier is indexed whole and in parts, the parts stemmed: `HTTPServers` gives "httpservers", "http", "server".
Chinese, Japanese, Korean, Thai and their like are indexed by pairs of characters, since nothing divides their words.
Identifiers repeat massively, so each distinct one is split and stemmed once per process.
"""

import re
import threading
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain, pairwise

import Stemmer

# These files represent their folder: the folder's name describes them.
FOLDER_STEMS = frozenset({"__init__", "index", "lib", "main", "mod"})

_CACHE_SIZE = 100_000  # About 30 MB hold as many identifiers; seventeen repositories together have 63,000.
_LONGEST = 128  # Longer identifiers are encoded data.

_IDENTIFIER = re.compile(r"\w+")
_BLANKED = "".join(chr(code) if _IDENTIFIER.match(chr(code)) else " " for code in range(128))
_BLANKED_IN_LINES = f"{_BLANKED[:10]}\n{_BLANKED[11:]}"
# The shape of an identifier has A for upper case, a for lower case, s for the plural's letter and 0 for a digit. Its
# parts are an acronym with its plural ("URLs"), an acronym before a word ("HTTP" of "HTTPServer"), a word, a number.
_PART = re.compile(r"A{2,}s(?![as])|A+(?![as])|A?[as]+|0+")

# In scripts without blanks between words, and in Korean, where particles are part of words, any two neighbours count as
# a word.
_UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f"
    r"\U00020000-\U0003ffff"
)
_RUN = re.compile(f"([{_UNSPACED}]+)|[^{_UNSPACED}]+")

# These words make a sentence a question and do not describe code.
_QUESTION_WORDS = (
    "a about all also am an and any anywhere are as at be been being but by can could do does doing done each "
    "every for from had has have having how i if in inside into is it its me my of on or our out over please "
    "should so some such than that the their them then there these they this those through to under up us was "
    "we were what when where whether which while who whom whose why will with within would you your"
)
_STOP_WORDS = frozenset(_QUESTION_WORDS.split())


def identifier_parts(identifier: str) -> tuple[str, ...]:
    """Return the lower-case parts of a name in any case style: "HTTPServerError2" gives http, server, error, 2."""
    shape = identifier.translate(_SHAPES)
    return tuple(identifier[match.start() : match.end()].lower() for match in _PART.finditer(shape))


def index_text(text: str) -> str:
    """Return the words of a text, separated by blanks: each identifier in lower case, then its stemmed parts."""
    return " ".join(filter(None, map(_WORDS.__getitem__, _identifiers(text))))


def index_words(text: str) -> list[str]:
    """Return the words of `index_text` one by one."""
    return index_text(text).split()


def words_of(identifier: str) -> list[str]:
    """Return one identifier in lower case, then its stemmed parts."""
    return _WORDS[identifier].split()


def query_words(text: str) -> list[str]:
    """Return the distinct words of a query in order, without question words unless there are no others."""
    identifiers = _IDENTIFIER.findall(text)
    telling = list(filter(is_telling, identifiers))
    return list(_distinct(chain.from_iterable(map(_words_in_query, telling or identifiers))))


def is_telling(word: str) -> bool:
    """Return whether a word of a question describes code, and is not a question word."""
    return word.lower() not in _STOP_WORDS


def _words_in_query(identifier: str) -> list[str]:
    """Return an identifier's words; of a plain word only the stem, which matches the word too."""
    words = words_of(identifier)
    is_plain = identifier_parts(identifier) == (identifier.lower(),) and not _is_unspaced(identifier)
    return words[-1:] if is_plain else words


CALLED = {"copying": "license"}  # What a file is, where its name does not say it.


def stem_words(path: str) -> tuple[str, ...]:
    """Return the stemmed words of a file's name without its extension; of its folder, if the file represents it."""
    folder, _, name = path.rpartition("/")
    if folder and name.partition(".")[0].lower() in FOLDER_STEMS:
        name = folder.rpartition("/")[2]
    else:
        name = name.rpartition(".")[0] or name
    return _distinct(_stems(CALLED.get(name.lower(), name)))


def directory_words(path: str) -> tuple[str, ...]:
    """Return the stemmed words of a file's folders."""
    return _folder_words(path.rpartition("/")[0])


@lru_cache(maxsize=10_000)
def _folder_words(folder: str) -> tuple[str, ...]:
    return _distinct(_stems(folder))


def _identifiers(text: str) -> list[str]:
    """Return what `\\w+` matches; for ASCII, translating the rest to blanks takes half the time."""
    return text.translate(_BLANKED).split() if text.isascii() else _IDENTIFIER.findall(text)


def identifiers_by_line(text: str) -> list[list[str]]:
    """Return the identifiers of each line of a text; "\\n" alone ends a line."""
    if not text.isascii():
        return [_IDENTIFIER.findall(line) for line in text.split("\n")]
    return [line.split() for line in text.translate(_BLANKED_IN_LINES).split("\n")]


def _stems(name: str) -> Iterable[str]:
    return chain.from_iterable(map(_identifier_stems, _identifiers(name)))


@lru_cache(maxsize=_CACHE_SIZE)
def _identifier_stems(identifier: str) -> tuple[str, ...]:
    return tuple(map(_stem, _discriminative_parts(identifier)))


def _discriminative_parts(identifier: str) -> tuple[str, ...]:
    """Return the parts without single characters, which are in most chunks; all parts, if there are no others."""
    parts = identifier_parts(identifier)
    if _is_unspaced(identifier):
        parts = tuple(chain.from_iterable(map(_pairs, parts)))
    return tuple(part for part in parts if len(part) > 1) or parts


def _is_unspaced(identifier: str) -> bool:
    return not identifier.isascii() and any(run[1] for run in _RUN.finditer(identifier))


def _pairs(part: str) -> Iterator[str]:
    """Yield any two neighbours of each run in a script without blanks, and the rest as it is."""
    for run in _RUN.finditer(part):
        if run[1] and len(run[0]) > 1:
            yield from map("".join, pairwise(run[0]))
        else:
            yield run[0]


def _distinct(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))


class _Shapes(dict[int, str]):
    """The class of each character in the shape of an identifier, for `str.translate`."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if character == "s":
            shape = "s"
        elif character.isdigit():
            shape = "0"
        elif character.isalpha():
            shape = "A" if character.isupper() else "a"
        else:
            shape = "_"
        self[code] = shape
        return shape


@lru_cache(maxsize=_CACHE_SIZE)
def _stem(part: str) -> str:
    with _STEMMING:
        stem: str = _STEMMER.stemWord(part)
    return stem


class _Words(dict[str, str]):
    """The words of each identifier seen so far; the cache is emptied when it is full."""

    def __missing__(self, identifier: str) -> str:
        is_unspaced = _is_unspaced(identifier)  # Without blanks, a whole sentence looks like one identifier.
        if len(identifier) > _LONGEST and not is_unspaced:
            return ""
        stems = map(_stem, _discriminative_parts(identifier))
        words = " ".join(_distinct(stems if is_unspaced else (identifier.lower(), *stems)))
        if len(self) >= _CACHE_SIZE:
            self.clear()
        self[identifier] = words
        return words


_SHAPES = _Shapes()
_STEMMER, _STEMMING = Stemmer.Stemmer("english"), threading.Lock()  # A stemmer is not thread-safe.
_WORDS = _Words()
