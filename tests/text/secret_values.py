"""Fills the examples of rules with random values."""

import base64
import random
import re
import string
from dataclasses import dataclass

_WORD = string.ascii_letters + string.digits
_ALPHABETS = {
    "w": _WORD,
    "x": _WORD + "-_",
    "b": _WORD + "+/",
    "s": _WORD + "!@#%^*-_=+",
    "h": "0123456789abcdef",
    "H": "0123456789ABCDEF",
    "l": string.ascii_lowercase + string.digits,
    "u": string.ascii_uppercase + string.digits,
    "t": string.ascii_uppercase + "234567",
    "d": string.digits,
    "age": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
}
_WORDS = "able acid army baby ball bird camp cash deer east fish gate hand iron jazz kite lamp moon nest oven".split()
_SLOT = re.compile(r"<(age|words|uuid|pem|[wxbshHlutd](?=\d))(\d*)>")


@dataclass(frozen=True, slots=True)
class Filled:
    """A text with random values in it."""

    text: str
    values: tuple[str, ...]

    def is_shown(self, masked: str) -> bool:
        """Return whether a piece of a value that cannot be a word stands in a text."""
        pieces = [value[start : start + 12] for value in self.values for start in range(max(1, len(value) - 11))]
        return any(piece in masked for piece in pieces)


def fill(template: str, rng: random.Random) -> Filled:
    """Return a template with a random value for each slot such as `<w20>`."""
    values: list[str] = []

    def replace(slot: re.Match[str]) -> str:
        value = _value(slot[1], int(slot[2] or 0), rng)
        if slot[1] != "d":  # Numbers of accounts are no secrets.
            values.append(value)
        return value

    text = _SLOT.sub(replace, template)
    # Of a value that is cut into parts, each part counts; short parts only together.
    return Filled(text, tuple(value for value in values if len(value) >= 10) or ("".join(values),))


def _value(kind: str, count: int, rng: random.Random) -> str:
    if kind == "uuid":
        return "-".join(_value("h", part, rng) for part in (8, 4, 4, 4, 12))
    if kind == "pem":
        key = f"-----BEGIN PRIVATE KEY-----\n{_value('b', 640, rng)}\n-----END PRIVATE KEY-----\n"
        return base64.b64encode(key.encode()).decode()
    if kind == "words":
        return " ".join(rng.choices(_WORDS, k=count))
    return "".join(rng.choices(_ALPHABETS[kind], k=count))
