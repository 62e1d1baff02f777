"""Tells a random value from a name, a path, a placeholder, a pattern or code."""

import math
import re
from collections import Counter
from itertools import pairwise

FEWEST_RANDOM_CHARACTERS = 16
MOST_RANDOM_CHARACTERS = 4096
LEAST_ENTROPY = 3.5  # Words of a language have about 3 bits per character.
LEAST_ENTROPY_OF_DIGITS = 2.8  # Random hexadecimal digits approach 4.
LEAST_SHARE_OF_ENTROPY = 0.76  # A short value has less entropy: log2 of its length at most.
FEWEST_WORD_PAIRS = 0.55  # In names, this share of the letters is followed by a letter as in words.
FEWEST_WORD_PAIRS_OF_LETTERS = 0.6  # Random values without separators come near the former share.

FEWEST_HUMPS = 0.33  # A random value has more parts such as `Ab` per letter; identifiers have longer ones.


def is_random(value: str) -> bool:
    """Return whether a value is random, rather than a name, a path, a placeholder or a pattern."""
    if not FEWEST_RANDOM_CHARACTERS <= len(value) <= MOST_RANDOM_CHARACTERS or _PLACEHOLDER.search(value):
        return False
    if not (_LETTER.search(value) if _DIGIT.search(value) else _BOTH_CASES.match(value)):
        return False
    if _HEXADECIMAL.fullmatch(value):
        return entropy(value) >= LEAST_ENTROPY_OF_DIGITS
    if entropy(value) < min(LEAST_ENTROPY, LEAST_SHARE_OF_ENTROPY * math.log2(len(value))):
        return False
    return not ((_NAME_LIKE.fullmatch(value) or not value.isalnum() or value.isalpha()) and is_wordy(value))


def is_random_literal(value: str) -> bool:
    """Return whether a value without quotes is random, rather than an expression, an address or a path."""
    if not _DIGIT.search(value) and len(_WORD.findall(value)) < FEWEST_HUMPS * len(value):
        return False
    return is_random(value) and not _is_code(value)


def is_wordy(value: str) -> bool:
    """Return whether the letters of a value follow one another as those of words do."""
    common = sum(a + b in _WORD_PAIRS for word in _WORD.findall(value) for a, b in pairwise(word.lower()))
    least = FEWEST_WORD_PAIRS_OF_LETTERS if value.isalnum() else FEWEST_WORD_PAIRS
    return common >= least * max(sum(map(str.isalpha, value)) - 1, 1)


def is_mixed(value: str) -> bool:
    """Return whether a value has digits and letters of both cases that form no words, as tokens have."""
    return bool(_MIXED.match(value)) and entropy(value) >= LEAST_ENTROPY and not is_wordy(value)


def entropy(value: str) -> float:
    """Return Shannon's entropy of the characters, in bits per character."""
    counts = Counter(value).values()
    return -sum(count / len(value) * math.log2(count / len(value)) for count in counts)


def is_password(value: str) -> bool:
    """Return whether a value in the position of a password is one, rather than a variable or an example."""
    return not (_PLACEHOLDER.search(value) or _VARIABLE.match(value)) and value.lower() not in _EXAMPLES


def _is_code(value: str) -> bool:
    if _BASE64_OR_NAME.fullmatch(value):
        return False
    if _EXPRESSION.match(value):
        return not any(is_random(part) for part in _MARKS.split(value))
    return "://" in value or is_wordy(value)


_DIGIT, _LETTER = re.compile("[0-9]"), re.compile("[A-Za-z]")
_BOTH_CASES = re.compile("[^A-Z]*+[A-Z][^a-z]*+[a-z][^A-Z]*+[A-Z][^a-z]*+[a-z]")
_MIXED = re.compile("(?=.*[0-9])(?=.*[a-z])(?=.*[A-Z])")
_HEXADECIMAL = re.compile("[0-9a-f]{16,}|[0-9A-F]{16,}|(?:[0-9a-fA-F]{4,8}-){4}[0-9a-fA-F]{12}")
# A name, a path or an address consists of words and numbers, separated or in camel case.
_NAME_LIKE = re.compile(  # A word ends in one place only: else a long row of capitals takes time without end.
    r"[/.~]*(?:(?:[A-Z]?[a-z]+\d{0,5}|[A-Z]+(?=[A-Z][a-z]|[^A-Za-z]|\Z)\d{0,5}|\d{1,5})(?:[-_./:]+|(?=[A-Z])|\Z))+"
)
_WORD = re.compile("[A-Z]?[a-z]+|[A-Z]+")
# Each letter is followed by those that follow it in words: .93 of the pairs in prose are in this list, .37 of random
# ones.
_FOLLOWERS = (
    "aabcdefgiklmnprstuvy babcdefilorsu cabcdefhiklorstu dabcdefilorsu eabcdefgilmnprstvwxy fabcdefiloru "
    "gaehinorsu haeiot iabcdefglmnoprstvz ja keis ladeilostuy mabeimopsu nacdefgiknostuv oabcdgilmnoprstuvw "
    "paehiloprstu qu racdegiklmnoprstuvy sacehilopstuy tacehilorstuy uabceilmnprst vaei waeio xpt yp ze "
)
_WORD_PAIRS = frozenset(word[0] + letter for word in _FOLLOWERS.split() for letter in word[1:])
_BASE64_OR_NAME = re.compile("[A-Za-z0-9+/_-]+={0,2}")
_EXPRESSION = re.compile(r"[!&*~(]*[\w$-]+(?:\??[.(\[{]|\**\)|::|->)[^#@%^~]*\Z|[\w.~@+-]*/[\w/~@+-]*\.")
_MARKS = re.compile("[^A-Za-z0-9_+=-]")
_PLACEHOLDER = re.compile(
    r"\0|[$#]\{|%[dqsv](?:[/_.-]|\Z)|\{\{|\{\w*\}|%\(\w+\)|<[\w -]+>|\$[A-Z_]{3,}|\*{3}|\[\^|\[[\w-]{0,9}[0aA]-[9fFzZ]"
    r"|\s|\.\.\.|\d{4}-\d\d-\d\d|0123456789|(?i:abcdefgh|example|placeholder|changeme|your[-_]|xxxx)"
)
# A URL may have these in the position of a password.
_VARIABLE = re.compile(r"[$(\[{<][\w(\[{.*]|%(?![0-9A-Fa-f]{2})|.*[\\{}<>]")
_EXAMPLES = frozenset(
    {"password", "passwd", "pass", "secret", "user", "username", "postgres", "root", "admin", "test", "bar"}
)
