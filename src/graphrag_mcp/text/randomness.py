"""Tells a random value from a name, a path, a placeholder, a pattern or code."""

import math
import re
from collections import Counter
from itertools import pairwise

FEWEST_RANDOM_CHARACTERS = 16
MOST_RANDOM_CHARACTERS = 4096
LEAST_ENTROPY = 3.5  # Bits per character: words of a language have about 3.
LEAST_ENTROPY_OF_DIGITS = 2.8  # Of hexadecimal digits; random ones approach 4.
LEAST_SHARE_OF_ENTROPY = 0.76  # Of the most that so many characters can have.
FEWEST_WORD_PAIRS = 0.5  # Of the letters of a name, so many are followed by a letter as in words.
FEWEST_WORD_PAIRS_OF_LETTERS = 0.6  # Without separators, since random ones come near the former.

FEWEST_HUMPS = 0.33  # Parts such as `Ab` in a letter of a random value; identifiers have longer ones.


def is_random(value: str) -> bool:
    """Return whether a value is random, rather than a name, a path, a placeholder or a pattern."""
    if not FEWEST_RANDOM_CHARACTERS <= len(value) <= MOST_RANDOM_CHARACTERS or _PLACEHOLDER.search(value):
        return False
    if not (_DIGIT_AND_LETTER if _DIGIT.search(value) else _BOTH_CASES).search(value):
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
    """Return whether what stands at a password's place is one, rather than a variable or an example."""
    return not (_PLACEHOLDER.search(value) or _VARIABLE.match(value)) and value.lower() not in _EXAMPLES


def _is_code(value: str) -> bool:
    if _BASE64_OR_NAME.fullmatch(value):
        return False
    if _EXPRESSION.match(value):
        return not any(is_random(part) for part in _MARKS.split(value))
    return "://" in value or is_wordy(value)


_DIGIT, _DIGIT_AND_LETTER = re.compile("[0-9]"), re.compile("[A-Za-z]")
_BOTH_CASES = re.compile("[A-Z].*[a-z].*[A-Z].*[a-z]")
_MIXED = re.compile("(?=.*[0-9])(?=.*[a-z])(?=.*[A-Z])")
_HEXADECIMAL = re.compile("[0-9a-f]{16,}|[0-9A-F]{16,}|(?:[0-9a-fA-F]{4,8}-){4}[0-9a-fA-F]{12}")
# Words and numbers, separated or in camel case: a name, a path or an address.
_NAME_LIKE = re.compile(
    r"[/.~]*(?:(?:[A-Z]?[a-z]+\d{0,5}|[A-Z]+(?![a-z])\d{0,5}|\d{1,5})(?:[-_./:]+|(?=[A-Z])|\Z))+"
)
_WORD = re.compile("[A-Z]?[a-z]+|[A-Z]+")
_WORD_PAIRS = frozenset(  # The pairs of letters that make up .93 of the words in names and prose; .37 of random letters.
    ["aa", "ab", "ac", "ad", "ae", "af", "ag", "ai", "ak", "al", "am", "an", "ap", "ar", "as", "at", "au", "av", "ay", "ba", "bb", "bc", "bd", "be", "bf", "bi", "bl", "bo", "br", "bs", "bu", "ca", "cb", "cc", "cd", "ce", "cf", "ch", "ci", "ck", "cl", "co", "cr", "cs", "ct", "cu", "da", "db", "dc", "dd", "de", "df", "di", "dl", "do", "dr", "ds", "du", "ea", "eb", "ec", "ed", "ee", "ef", "eg", "ei", "el", "em", "en", "ep", "er", "es", "et", "ev", "ew", "ex", "ey", "fa", "fb", "fc", "fd", "fe", "ff", "fi", "fl", "fo", "fr", "fu", "ga", "ge", "gh", "gi", "gn", "go", "gr", "gs", "gu", "ha", "he", "hi", "ho", "ht", "ia", "ib", "ic", "id", "ie", "if", "ig", "il", "im", "in", "io", "ip", "ir", "is", "it", "iv", "iz", "ja", "ke", "ki", "ks", "la", "ld", "le", "li", "ll", "lo", "ls", "lt", "lu", "ly", "ma", "mb", "me", "mi", "mm", "mo", "mp", "ms", "mu", "na", "nc", "nd", "ne", "nf", "ng", "ni", "nk", "nn", "no", "ns", "nt", "nu", "nv", "oa", "ob", "oc", "od", "og", "oi", "ol", "om", "on", "oo", "op", "or", "os", "ot", "ou", "ov", "ow", "pa", "pe", "ph", "pi", "pl", "po", "pp", "pr", "ps", "pt", "pu", "qu", "ra", "rc", "rd", "re", "rg", "ri", "rk", "rl", "rm", "rn", "ro", "rp", "rr", "rs", "rt", "ru", "rv", "ry", "sa", "sc", "se", "sh", "si", "sl", "so", "sp", "ss", "st", "su", "sy", "ta", "tc", "te", "th", "ti", "tl", "to", "tr", "ts", "tt", "tu", "ty", "ua", "ub", "uc", "ue", "ui", "ul", "um", "un", "up", "ur", "us", "ut", "va", "ve", "vi", "wa", "we", "wi", "wo", "xp", "xt", "yp", "ze"]
)
_BASE64_OR_NAME = re.compile("[A-Za-z0-9+/_-]+={0,2}")
_EXPRESSION = re.compile(r"[!&*~(]*[\w$-]+(?:\??[.(\[{]|\**\)|::|->)[^#@%^~]*\Z|[\w.~@+-]*/[\w/~@+-]*\.")
_MARKS = re.compile("[^A-Za-z0-9_+=-]")
_PLACEHOLDER = re.compile(
    r"[$#]\{|%[dqsv](?![0-9A-Za-z])|\{\{|\{\w*\}|%\(\w+\)|<[\w -]+>|\$[A-Z_]{3,}|\*{3}|\[\^|\[[\w-]{0,9}[0aA]-[9fFzZ]|\s|\.\.\."
    r"|\d{4}-\d\d-\d\d|0123456789|(?i:abcdefgh|example|placeholder|changeme|your[-_]|xxxx)"
)
_VARIABLE = re.compile(r"[$(\[{<][\w(\[{.*]|%(?![0-9A-Fa-f]{2})|.*[\\{}<>]")  # In the place of a password in a URL.
_EXAMPLES = frozenset(
    {"password", "passwd", "pass", "secret", "user", "username", "postgres", "root", "admin", "test", "bar"}
)
