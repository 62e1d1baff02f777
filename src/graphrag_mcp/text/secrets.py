"""Masks keys, tokens and passwords in the text of indexed files, so that no store contains them.

A secret is recognised by the format of its issuer, or as a random value behind a name such as `password`. Names,
placeholders and variables are kept: a reader looks for where a password is set, not for its value. The rules are in
`secret_rules.toml`. One automaton finds what rules begin with, and a rule is tried only there.
"""

import base64
import binascii
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, pairwise
from typing import Any

import re2
from msgspec import Struct

from graphrag_mcp.text.expressions import expand, read_table

FEWEST_RANDOM_CHARACTERS = 16
MOST_RANDOM_CHARACTERS = 4096
LEAST_ENTROPY = 3.5  # Words of a language have about 3 bits per character.
LEAST_ENTROPY_OF_DIGITS = 2.8  # Random hexadecimal digits approach 4.
LEAST_SHARE_OF_ENTROPY = 0.76  # A short value has less entropy: log2 of its length at most.
FEWEST_WORD_PAIRS = 0.55  # In names, this share of the letters is followed by a letter as in words.
FEWEST_WORD_PAIRS_OF_LETTERS = 0.6  # Random values without separators come near the former share.
FEWEST_HUMPS = 0.33  # A random value has more parts such as `Ab` per letter; identifiers have longer ones.
MASK = "[secret: "  # The text that replaces a secret begins with this.
NAMED = "value of a secret's name"
_LONG = 64  # A longer value is judged once, whatever names are in it: otherwise time would grow with its square.


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


class SecretSpan(Struct, frozen=True):
    """Where a secret begins and ends in a text."""

    start: int
    end: int
    kind: str


class Rule(Struct, frozen=True, eq=False):
    """A kind of secret; the last group of its expression is masked."""

    kind: str
    expression: re.Pattern[str]
    is_secret: Callable[[str], bool]


class Rules(Struct, frozen=True):
    """The rules, and the automata that find where to try them.

    formats: rules that are tried where a hint begins, by hint. shapes: rules without hints; one automaton of all would
    have too many states. places: rules that are tried behind a name such as `password`.
    """

    formats: Mapping[str, Sequence[Rule]]
    shapes: Sequence[Rule]
    places: Sequence[Rule]
    find_hints: Any  # re2 has no types.
    find_shapes: Any
    find_names: Any


def mask_secrets(text: str) -> str:
    """Return the text with every secret replaced by its kind; lines stay where they are."""
    masked = [SecretSpan(*match.span(), "") for match in _MASKED.finditer(text)] if MASK in text else []
    shown = _without(text, masked)  # A mask is not a name, and nothing behind it is the value of one before it.
    known = _joined(_find_formats(shown))
    rest = _without(shown, known)
    found = _joined([*known, *_find_named(rest), *_find_in_manifests(rest)])
    return _replaced(text, found, lambda span, secret: f"{MASK}{span.kind}]" + "\n" * secret.count("\n"))


def _without(text: str, spans: Sequence[SecretSpan]) -> str:
    """Return the text with spans replaced by NUL, which no expression crosses."""
    return _replaced(text, spans, lambda _, secret: re.sub(r"[^\n]", "\0", secret))


def _replaced(text: str, spans: Sequence[SecretSpan], by: Callable[[SecretSpan, str], str]) -> str:
    """Return the text with each span replaced. by: returns what stands for a span and its text."""
    pieces, end = [], 0
    for span in spans:
        pieces += [text[end : span.start], by(span, text[span.start : span.end])]
        end = span.end
    return "".join([*pieces, text[end:]]) if pieces else text


@cache
def load_rules() -> Rules:
    """Read the rules of the package."""
    data = read_table("graphrag_mcp.text", "secret_rules.toml")
    formats: dict[str, list[Rule]] = {}
    shapes: list[Rule] = []
    for row in data["format"]:
        rule = _rule(row)
        if "hints" not in row:
            shapes.append(rule)
        for hint in row.get("hints", ()):
            formats.setdefault(hint, []).append(rule)
    return Rules(
        formats,
        shapes,
        [_rule(place | {"expression": expand(place["expression"], data["part"])}) for place in data["place"]],
        _automaton(map(re.escape, formats)),
        _automaton(rule.expression.pattern for rule in shapes),
        _automaton(data["names"]),
    )


def _rule(data: Mapping[str, Any]) -> Rule:
    return Rule(data.get("kind", NAMED), re.compile(data["expression"]), _CHECKS[data.get("check", "any")])


def _automaton(expressions: Iterable[str]) -> Any:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    return re2.compile("|".join(f"(?:{expression})" for expression in expressions).encode("latin-1"), options)


def _bytes(text: str) -> bytes:
    """Return one byte a character, so that offsets in the bytes are those in the text."""
    return text.encode("latin-1", "replace")


def _joined(spans: Iterable[SecretSpan]) -> list[SecretSpan]:
    """Return the spans in order, those that overlap as one of the first one's kind."""
    joined: list[SecretSpan] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if joined and span.start < joined[-1].end:
            joined[-1] = SecretSpan(joined[-1].start, max(span.end, joined[-1].end), joined[-1].kind)
        else:
            joined.append(span)
    return joined


def _find_formats(text: str) -> Iterator[SecretSpan]:
    rules, characters = load_rules(), _bytes(text)
    hints = (
        (match.start(), rules.formats[text[slice(*match.span())]]) for match in rules.find_hints.finditer(characters)
    )
    shapes = ((match.start(), rules.shapes) for match in rules.find_shapes.finditer(characters))
    return chain(_try(hints, text), _try(shapes, text))


def _try(starts: Iterable[tuple[int, Sequence[Rule]]], text: str) -> Iterator[SecretSpan]:
    """Yield the secrets that begin at these offsets, in order; each comes with the rules to try there."""
    done = 0
    for start, rules in starts:
        for rule in rules if start >= done else ():
            if not (match := rule.expression.match(text, start)):
                continue
            begin, end = match.span(match.lastindex or 0)
            if rule.is_secret(text[begin:end]):
                done = end
                yield SecretSpan(begin, end, rule.kind)
                break
            if end - begin > _LONG:
                done = max(done, end)


def _find_named(text: str) -> Iterator[SecretSpan]:
    """Yield random values behind names such as `password`, and below them in a table."""
    rules = load_rules()
    done = tables = 0
    for name in rules.find_names.finditer(_bytes(text)):
        start, at = name.span()
        if at < done or _CONTINUED.match(text, at):
            continue
        if start >= tables and _CELL_ENDS.match(text, at):
            cells, tables = _find_in_table(text, start)
            yield from cells
        for rule in rules.places:
            match = rule.expression.match(text, at)
            if match and rule.is_secret(_STRING_JOINT.sub("", match["value"])):
                for span in _find_items(match, text):
                    done = span.end
                    yield span
                break
            if match and len(match["value"]) > _LONG:
                done = max(done, match.end("value"))


def _find_items(first: re.Match[str], text: str) -> Iterator[SecretSpan]:
    """Yield the span of a value, and of the further random items of a list that begins with it."""
    match: re.Match[str] | None = first
    while match and (match is first or is_random(match["value"])):
        yield SecretSpan(*match.span("value"), NAMED)
        match = _ITEM.match(text, match.end("value"))


def _find_in_table(text: str, at: int) -> tuple[list[SecretSpan], int]:
    """Return the random cells below a cell of a heading, and where the table ends.

    at: the offset of a name such as `password`, whether or not its line is a heading.
    """
    start = text.rfind("\n", max(0, at - _LONGEST_ROW), at) + 1
    heading = text[start : start + _LONGEST_ROW].partition("\n")[0]
    end = start + len(heading)
    separator = next((mark for mark in "|\t,;" if mark in heading), "\n")
    cells = [cell.strip(_AROUND_CELLS) for cell in heading.split(separator)]
    if end < at or len(list(filter(None, cells))) < 2 or not all(map(_HEADING.fullmatch, cells)):
        return [], max(end, at)
    is_named = load_rules().find_names.search
    columns = [column for column, cell in enumerate(cells) if is_named(_bytes(cell))]
    spans: list[SecretSpan] = []
    while end < len(text):
        row = text[end + 1 : end + 1 + _LONGEST_ROW].partition("\n")[0]
        values = row.split(separator)
        if len(values) != len(cells):
            break
        for column in columns:
            value = values[column].strip(_AROUND_CELLS)
            if is_random_literal(value):
                begin = text.index(value, end + 1 + sum(len(other) + 1 for other in values[:column]))
                spans.append(SecretSpan(begin, begin + len(value), NAMED))
        end += 1 + len(row)
    return spans, end


def _find_in_manifests(text: str) -> Iterator[SecretSpan]:
    """Yield the values of the secrets in manifests of Kubernetes, whatever their names."""
    if "Secret" not in text or not _KIND_SECRET.search(text):
        return
    start = 0
    for document in re.split("(?m)^(?=---)", text):
        if _KIND_SECRET.search(document):
            for block in _DATA.finditer(document):
                for entry in _ENTRY.finditer(document, block.start("entries"), block.end("entries")):
                    value = entry["value"]
                    is_encoded = block["plain"] is None and len(value) % 4 == 0 and _BASE64.fullmatch(value)
                    if is_encoded or is_random_literal(value):
                        begin, end = entry.span("value")
                        yield SecretSpan(start + begin, start + end, "value of a Kubernetes secret")
        start += len(document)


def _encodes_private_key(value: str) -> bool:
    try:
        return b"PRIVATE KEY" in base64.b64decode(value[:80])
    except binascii.Error:
        return False


def _has_digit(value: str) -> bool:
    """Return whether a key is random, rather than a name in the same format such as a CSS class."""
    return any(map(str.isdigit, value)) and entropy(value) >= min(LEAST_ENTROPY, 3)


_BASE64, _LONG_BASE64 = re.compile("[A-Za-z0-9+/]{6,}={0,2}"), re.compile("[A-Za-z0-9+/=]{40}")
_CHECKS: Mapping[str, Callable[[str], bool]] = {
    "any": bool,
    "digit": _has_digit,
    "mixed": is_mixed,
    "random": is_random,
    "random literal": is_random_literal,
    "password": is_password,
    "base64": lambda body: bool(_LONG_BASE64.search(body)),
    "private key": _encodes_private_key,
}
_MASKED = re.compile(rf"{re.escape(MASK)}[\w '&.-]+\]")
_STRING_JOINT = re.compile(r"""\\?["'`]{1,3}[^"'`]{1,80}["'`]{1,3}""")
_ITEM = re.compile(
    r"""\\?["'`]{0,3}(?:,\s{0,40}|\n[ \t]{0,40}- )[A-Za-z]?\\?["'`]{0,3}(?P<value>[^\s"'`,;\\]{16,4096})"""
)
_LONGEST_ROW = 2000  # No table for readers has longer rows.
_CONTINUED = re.compile("(?i:i[sz])")  # A tokenizer is not a token.
_CELL_ENDS = re.compile(r"""[\w ()/-]{0,30}["'*_` ]{0,4}(?:[|,;\t]|$)""", re.MULTILINE)
_HEADING = re.compile(r"(?:\w[\w ()/-]{0,30})?")
_AROUND_CELLS = " \t\"'`*"
_KIND_SECRET = re.compile(r"""(?m)^[{ \t]*["']?kind["']?[ \t]*:[ \t]*["']?Secret["']?[ \t]*,?[ \t]*$""")
_DATA = re.compile(
    r"""(?m)^([ \t]*)["']?(?:data|(?P<plain>stringData))["']?[ \t]*:[ \t]*\{?[ \t]*\n"""
    r"""(?P<entries>(?:(?:\1[ \t]+\S.*|[ \t]*)(?:\n|\Z))+)"""
)
_ENTRY = re.compile(r"""(?m)^[ \t]+["']?[\w.-]+["']?[ \t]*:[ \t]*["']?(?P<value>[^\s"',{}]{8,})["']?,?[ \t]*$""")
