"""Decodes the bytes of a file into text whose line numbers agree with an editor's, or says why it is not text."""

import codecs
import re
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

from graphrag_mcp.text.counts import counted
from graphrag_mcp.text.secrets import mask_secrets

# The longest mark comes first: the UTF-32 mark of a little-endian file begins with the UTF-16 one.
_WIDE_ENCODINGS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_TOLERATED_SHARE = 0.1  # Accented Latin-1 text is far below; compressed data and other alphabets are far above.
_TOLERATED_COUNT = 3  # In a file of a few words, one accented letter is already a tenth.
# A file declares its encoding in a comment of the first two lines, as Python (PEP 263), Ruby and editors read it, or in
# an XML declaration.
_DECLARED = re.compile(
    rb"""\A(?:.*\n)?[ \t\f]*(?:(?:\#|//|/\*|;|--|%|<!--).*?coding[:=]|<\?xml.*?encoding=)[ \t]*["']?([-\w.]+)"""
)
_DECLARED_WITHIN = 1024  # A declaration lies within the first bytes.
_ENCODINGS = re.compile(r"iso8859-\d+|cp\d+|koi8-\w+|mac-\w+|shift_jis\w*|euc_\w+|gb\w+|big5\w*")
MASKED = "secrets masked"
_REPLACEMENT = "\ufffd"


class Text(Struct, frozen=True):
    """The text of a file with "\\n" as its only line end; note: what was replaced in decoding."""

    text: str
    note: str = ""


class NotText(Struct, frozen=True):
    """A file that cannot be read as text, and why."""

    reason: str


def read_text(data: bytes) -> Text | NotText:
    """Return the text of a file as it may be stored and shown: decoded, without the secrets in it."""
    decoded = decode(data)
    if isinstance(decoded, NotText):
        return decoded
    masked = mask_secrets(decoded.text)
    if masked == decoded.text:
        return decoded
    return replace(decoded, text=masked, note=f"{decoded.note}; {MASKED}" if decoded.note else MASKED)


def decode(data: bytes) -> Text | NotText:
    """Return the text of a file: UTF-8, UTF-16 or UTF-32 with a byte order mark, or the encoding that it declares.

    A few bytes that are not UTF-8 are replaced.
    """
    for mark, encoding in _WIDE_ENCODINGS:
        if data.startswith(mark):
            return _check(data.decode(encoding, errors="replace"), known_replacements=0, encoding=encoding.upper())
    if (offset := data.find(b"\0")) >= 0:
        return NotText(f"binary: NUL byte at offset {offset:,}")
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        return Text(_normalise_newlines(data.decode("utf-8")))
    except UnicodeDecodeError:
        with suppress(LookupError, UnicodeDecodeError):
            return Text(_normalise_newlines(data.decode(_declared(data))))
        known = data.count(_REPLACEMENT.encode())
        return _check(data.decode("utf-8", errors="replace"), known_replacements=known, encoding="UTF-8")


def _declared(data: bytes) -> str:
    """Return the encoding that a file declares; raises LookupError where there is none that is known to be harmless."""
    match = _DECLARED.match(data[:_DECLARED_WITHIN])
    name = codecs.lookup(match[1].decode("ascii", "replace")).name if match else ""
    if not _ENCODINGS.fullmatch(name):
        raise LookupError(name)
    return name


def is_utf8(name: str) -> bool:
    """Return whether a file name is UTF-8; Python holds other bytes as surrogates, which cannot be encoded."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _check(text: str, known_replacements: int, encoding: str) -> Text | NotText:
    if "\0" in text:
        return NotText(f"binary: NUL character in {encoding}")
    bad = text.count(_REPLACEMENT) - known_replacements
    if bad > max(_TOLERATED_COUNT, len(text) * _TOLERATED_SHARE):
        return NotText(f"binary or in an unknown encoding: {bad:,} of {len(text):,} characters are not {encoding}")
    note = f"{counted(bad, f'invalid {encoding} sequence')} replaced" if bad else ""
    return Text(_normalise_newlines(text), note)


def _normalise_newlines(text: str) -> str:
    if "\r" not in text:  # A search for one character is ten times as fast as one for two.
        return text
    return text.replace("\r\n", "\n").replace("\r", "\n")
