"""Masks keys, tokens and passwords in the text of indexed files, so that no store contains them.

A secret is recognised by the format of its issuer, or as a random value after a name such as `password`. Names,
placeholders and variables are kept: a reader looks for where a password is set, not for its value. Each pattern is
tried only if the text contains one of its literals, since most files contain none.
"""

import math
import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

MASK = "[secret: "  # The beginning of the text that replaces a secret.
FEWEST_RANDOM_CHARACTERS = 16
MOST_RANDOM_CHARACTERS = 4096
LEAST_ENTROPY = 3.5  # Bits per character: words of a language have about 3.
LEAST_ENTROPY_OF_DIGITS = 3.0  # Of at least 32 hexadecimal digits; random ones approach 4.
LEAST_HUMP = 3.5  # Mean length of the words in a camel-case name; random letters give about 3.
MOST_WORDS = 0.6  # The largest fraction of a random value's characters that are in words.


class _Pattern(NamedTuple):
    """A kind of secret. hints: every text with such a secret contains one of them. The last group is masked."""

    kind: str
    hints: tuple[str, ...]
    regex: re.Pattern[str]
    is_secret: Callable[[str], bool] = bool


def mask_secrets(text: str) -> str:
    """Return the text with every secret replaced by its kind; lines stay where they are."""
    for pattern in _PATTERNS:
        if any(map(text.__contains__, pattern.hints)):
            text = pattern.regex.sub(partial(_mask, pattern), text)
    return _BARE.sub(_mask_bare, _QUOTED.sub(_mask_value, text))


def _mask(pattern: _Pattern, found: re.Match[str]) -> str:
    group = found.re.groups
    secret = found[group]
    if not pattern.is_secret(secret):
        return found[0]
    start, end = found.start(group) - found.start(), found.end(group) - found.start()
    return f"{found[0][:start]}{MASK}{pattern.kind}]{_line_ends(secret)}{found[0][end:]}"


def _mask_value(found: re.Match[str]) -> str:
    before = found.string[max(0, found.start() - _NAME_CHARACTERS) : found.start()]
    if _is_random(found["value"]) and _NAMED.search(_MASKED.sub("*", before)):  # A mask is not a name.
        return f"{found['quote']}{MASK}value of a secret's name]{found['escape']}{found['quote']}"
    return found[0]


def _mask_bare(found: re.Match[str]) -> str:
    value = found["value"]
    if _is_random(value) and not _is_code(value):
        return f"{found[0][: -len(value)]}{MASK}value of a secret's name]"
    return found[0]


def _line_ends(secret: str) -> str:
    return "\n" * secret.count("\n")


def _is_random(value: str) -> bool:
    """Return whether a value is random, rather than a name, a path, a placeholder or a pattern."""
    if not FEWEST_RANDOM_CHARACTERS <= len(value) <= MOST_RANDOM_CHARACTERS or _PLACEHOLDER.search(value):
        return False
    if _is_name(value) or (_BRACKET.search(value) and _is_wordy(value)):
        return False
    least = LEAST_ENTROPY_OF_DIGITS if _LONG_HEXADECIMAL.fullmatch(value) else LEAST_ENTROPY
    return bool(_DIGIT.search(value) and _LETTER.search(value)) and _entropy(value) >= least


def _is_name(value: str) -> bool:
    """Return whether a value consists of words and numbers; random letters form only short words."""
    if not _NAME_LIKE.fullmatch(value):
        return False
    return not value.isalnum() or len(value) >= LEAST_HUMP * len(_HUMP.findall(value))


def _is_code(value: str) -> bool:
    """Return whether an unquoted value is an expression, an address or a path."""
    if _BASE64_OR_NAME.fullmatch(value):
        return False
    if _EXPRESSION.match(value):
        return not any(_is_random(part) for part in _MARKS.split(value))
    return "://" in value or _is_wordy(value)


def _is_wordy(value: str) -> bool:
    return sum(map(len, _WORD.findall(value))) >= len(value) * MOST_WORDS


def _entropy(value: str) -> float:
    """Return Shannon's entropy of the characters, in bits per character."""
    counts = Counter(value).values()
    return -sum(count / len(value) * math.log2(count / len(value)) for count in counts)


def _is_mixed(key: str) -> bool:
    """Return whether a key is random, rather than a name in the same format such as a CSS class."""
    return bool(_DIGIT.search(key)) and _entropy(key) >= LEAST_ENTROPY


def _is_password(value: str) -> bool:
    return not (_PLACEHOLDER.search(value) or _VARIABLE.match(value)) and value.lower() not in _EXAMPLES


_BASE64 = re.compile("[A-Za-z0-9+/=]{40}")
_LETTER, _DIGIT = re.compile("[A-Za-z]"), re.compile("[0-9]")
# Words and numbers, separated or in camel case: a name, a path or an address.
_NAME_LIKE = re.compile(
    r"[/.~]*(?:(?:[A-Z]?[a-z]+\d{0,5}|[A-Z]+(?![A-Za-z])\d{0,5}|\d{1,5})(?:[-_./:]+|(?=[A-Z])|\Z))+"
)
_HUMP = re.compile("[A-Z]+[a-z]*[0-9]*|[a-z]+[0-9]*|[0-9]+")
_LONG_HEXADECIMAL = re.compile("[0-9a-fA-F]{32,}")
_BASE64_OR_NAME = re.compile("[A-Za-z0-9+/_-]+={0,2}")
_BRACKET = re.compile(r"[<>{}()\[\]$*%]")
_WORD = re.compile("[A-Z][a-z]{3,}|[a-z]{4,}|[A-Z]{4,}")
_EXPRESSION = re.compile(r"[!&*~(]*[\w$-]+(?:\??[.(\[{]|\**\)|::|->)[^#@%^~]*\Z|[\w.~@+-]*/[\w/~@+-]*\.")
_MARKS = re.compile("[^A-Za-z0-9_+=-]")
_PLACEHOLDER = re.compile(
    r"[$#]\{|\{\{|\{\w*\}|%\(\w+\)|<[\w -]+>|\$[A-Z_]{3,}|\*{3}|\[\^|\[[\w-]{0,9}[0aA]-[9fFzZ]|\s|\.\.\."
    r"|(?i:example|placeholder|changeme|your[-_]|xxxx)"
)
_VARIABLE = re.compile(r"[$(\[{<][\w(\[{.*]|%(?![0-9A-Fa-f]{2})|.*[\\{}<>]")  # In the place of a password in a URL.
_EXAMPLES = frozenset(
    {"password", "passwd", "pass", "secret", "user", "username", "postgres", "root", "admin", "test", "bar"}
)

_PATTERNS = (
    _Pattern(
        "private key",
        ("PRIVATE KEY",),
        re.compile(
            r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
            r"((?:[^-]|-(?!----)){1,20000}+(?=-----END)|(?:(?:\\[nr]|[^A-Za-z0-9+/=\\]){0,16}[A-Za-z0-9+/=]{32,})+)"
        ),
        lambda body: bool(_BASE64.search(body)),
    ),
    _Pattern("AWS access key", ("AKIA", "ASIA"), re.compile(r"\b((?:AKIA|ASIA)[A-Z2-7]{16})\b")),
    _Pattern(
        "AWS secret key",
        ("aws", "AWS"),
        re.compile(
            r"(?<!\[secret: )(?i:aws.{0,24}(?:secret|key).{0,12}[=:]\s*[\"']?)([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"
        ),
        lambda value: _entropy(value) >= LEAST_ENTROPY,
    ),
    _Pattern(
        "GitHub token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        re.compile(r"\b(gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})\b"),
    ),
    _Pattern("GitLab token", ("glpat-", "glrt-", "gldt-"), re.compile(r"\b(gl(?:pat|rt|dt)-[\w-]{20,})")),
    _Pattern("Slack token", ("xox",), re.compile(r"\b(xox[abeoprs]-[A-Za-z0-9-]{10,})")),
    _Pattern(
        "Slack webhook",
        ("hooks.slack.com",),
        re.compile(r"hooks\.slack\.com/[a-z]{8,9}/([A-Za-z0-9/]{20,})"),
    ),
    _Pattern("Stripe key", ("k_live_", "k_test_"), re.compile(r"\b([sr]k_(?:live|test)_[A-Za-z0-9]{16,})\b")),
    _Pattern("API key", ("sk-",), re.compile(r"\b(sk-(?:ant-|proj-|or-)?[A-Za-z0-9_-]{20,})"), _is_mixed),
    _Pattern("Google API key", ("AIza",), re.compile(r"\b(AIza[\w-]{35})(?![\w-])")),
    _Pattern("Google secret", ("GOCSPX-", "ya29."), re.compile(r"\b(GOCSPX-[\w-]{20,}|ya29\.[\w-]{20,})")),
    _Pattern("npm token", ("npm_",), re.compile(r"\b(npm_[A-Za-z0-9]{36})\b")),
    _Pattern("PyPI token", ("pypi-Ag",), re.compile(r"\b(pypi-Ag[\w-]{40,})")),
    _Pattern("SendGrid key", ("SG.",), re.compile(r"\b(SG\.[\w-]{16,32}\.[\w-]{16,64})")),
    _Pattern("Hugging Face token", ("hf_",), re.compile(r"\b(hf_[A-Za-z0-9]{30,})\b")),
    _Pattern("DigitalOcean token", ("_v1_",), re.compile(r"\b(do[opr]_v1_[0-9a-f]{64})\b")),
    _Pattern("Shopify token", ("shp",), re.compile(r"\b(shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32})\b")),
    _Pattern("Telegram token", (":AA",), re.compile(r"\b(\d{8,10}:AA[\w-]{33})(?![\w-])")),
    _Pattern("Azure key", ("AccountKey=", "SharedAccessKey="), re.compile(r"Key=([A-Za-z0-9+/]{40,}={0,2})")),
    _Pattern("JSON web token", ("eyJ",), re.compile(r"(?<![\w-])(eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,})")),
    _Pattern(
        "bearer token",
        ("earer ", "EARER "),
        re.compile(r"\b(?i:bearer) {1,4}([A-Za-z0-9._~+/-]{16,2000}={0,2})(?![\w-])"),
        _is_random,
    ),
    _Pattern(
        "password in a URL",
        ("://",),
        re.compile(r"://[^\s:/@\"'<>]{0,100}:([^\s/@\"'<>]{3,200})@(?=[\w.\[-])"),
        _is_password,
    ),
)


_NAME_OF_VALUE = (  # A search for one of a few letters takes a quarter of the time of a search for words in any case.
    r"[acpstACPST](?i:(?<=p)(?:assw|rivate_?-?key)|(?<=s)ecret|(?<=t)oken(?!iz)|(?<=c)redential"
    r"|(?<=a)(?:pi|ccess|uth)_?-?key)"
)
_QUOTED = re.compile(r"""(?P<quote>["'`])(?P<value>[^"'`\s\\]{16,}+)(?P<escape>\\?)(?P=quote)""")
_TYPE = r"[&\w<>\[\]'?|. ]{1,30}"
_NAMED = re.compile(  # `name = `, `name: type = `, `"name", ` and `name="…" value=`.
    rf"""{_NAME_OF_VALUE}[\w-]{{0,30}}(?:\\?["'`]?\]?\s{{0,4}}(?::=|=>|[:=]|:\s{{0,4}}{_TYPE}=)"""
    r"""|\\?["'`]\s{0,4}(?:,|(?!href|src)\w{1,10}\s?=))\s{0,4}\\?\Z"""
)
_NAME_CHARACTERS = 120
_MASKED = re.compile(rf"{re.escape(MASK)}[\w ']+\]")
_BARE = re.compile(  # Up to the end of the enclosing tag, string or parameter.
    rf"""{_NAME_OF_VALUE}[\w-]{{0,30}}\s{{0,4}}[=:>][ \t]{{0,4}}(?![=:>])"""
    r"""(?P<value>(?:[^\s"'`,;<&\\]++|<(?!/)|&(?!\w{1,40}=)|\\(?![\w"'`]))++)"""
)
