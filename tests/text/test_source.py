"""From the bytes of a file to its text."""

import codecs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrag_mcp.text.source import NotText, Text, decode


@pytest.mark.parametrize("data", [b"a\r\nb\rc\n", b"a\nb\nc\n", b"a\rb\r\nc\r"])
def test_every_line_end_becomes_a_newline(data: bytes) -> None:
    """Line numbers agree with an editor's, whichever system wrote the file."""
    assert decode(data) == Text("a\nb\nc\n")


@pytest.mark.requirement("004-13")
@pytest.mark.parametrize(
    "data",
    [
        "née\n".encode(),
        codecs.BOM_UTF8 + "née\n".encode(),
        "née\n".encode("utf-16"),
        codecs.BOM_UTF16_BE + "née\n".encode("utf-16-be"),
        "née\n".encode("utf-32"),
    ],
)
def test_unicode_with_and_without_a_byte_order_mark_is_read_without_it(data: bytes) -> None:
    """UTF-16 is text although it is full of NUL bytes."""
    assert decode(data) == Text("née\n")


def test_a_few_invalid_bytes_are_replaced_and_reported() -> None:
    """A Latin-1 comment does not cost the file."""
    decoded = decode(b"# caf\xe9\nprint('hello, world, this is fine')\n")
    assert isinstance(decoded, Text)
    assert decoded.text.startswith("# caf\ufffd\n")
    assert decoded.note == "1 invalid UTF-8 sequence replaced"


@pytest.mark.requirement("004-13")
@pytest.mark.parametrize(
    "data", [b"\x7fELF\x02\x00\x00", bytes(range(128, 256)) * 10, codecs.BOM_UTF16_LE + b"a\0\0\0"]
)
def test_binary_content_is_not_text_and_says_why(data: bytes) -> None:
    """NUL bytes, or too many bytes that no UTF-8 text has."""
    decoded = decode(data)
    assert isinstance(decoded, NotText)
    assert decoded.reason.startswith("binary")


@pytest.mark.parametrize(
    ("line", "encoding"),
    [
        ("# -*- coding: latin-1 -*-", "latin-1"),
        ("#!/usr/bin/python\n# vim: set fileencoding=cp1252 :", "cp1252"),
        ("# coding=shift_jis", "shift_jis"),
        ("# encoding: euc-jp", "euc_jp"),
        (";; -*- coding: iso-8859-15 -*-", "iso8859-15"),
        ("/* -*- coding: windows-1251 -*- */", "cp1251"),
        ('<?xml version="1.0" encoding="GBK"?>', "gbk"),
    ],
)
def test_a_file_is_read_in_the_encoding_that_it_declares(line: str, encoding: str) -> None:
    """In one of the first two lines, as the language or an editor reads it; nothing is replaced."""
    word = {"shift_jis": "日本", "euc_jp": "日本", "gbk": "中文", "cp1251": "слово"}.get(encoding, "café")
    text = f"{line}\n{word} = 1\n"
    assert decode(text.encode(encoding)) == Text(text)


@pytest.mark.parametrize(
    "line",
    [
        "x = 'coding: latin-1'",
        "\n\n# coding: latin-1",
        "# coding: no-such",
        "# coding: unicode_escape",
        "# coding: idna",
        "# coding: rot13",
        "# coding: hex",
        "# coding: utf-8",
        "# coding: shift_jis",
    ],
)
def test_what_declares_no_encoding_of_texts_is_read_as_utf8(line: str) -> None:
    """Neither a string, nor a later line, nor a codec that does more than decode, nor one that the bytes are not in."""
    decoded = decode(f"{line}\ncaf".encode() + b"\xe9\xff\n")
    assert isinstance(decoded, Text)
    assert decoded.note.endswith("replaced")


def test_a_declared_encoding_changes_no_file_that_is_utf8() -> None:
    """Editors save such files as UTF-8 and leave the line."""
    text = "# -*- coding: latin-1 -*-\ncafé = 1\n"
    assert decode(text.encode()) == Text(text)


def test_a_replacement_character_that_stands_in_the_file_is_not_an_error() -> None:
    """Valid UTF-8 is never reported as damaged."""
    assert decode(("\ufffd" * 50).encode()) == Text("\ufffd" * 50)


@pytest.mark.requirement("004-13")
@given(st.binary(max_size=200))
@settings(derandomize=True, max_examples=300)
def test_any_bytes_are_either_text_without_nul_and_carriage_return_or_not_text(data: bytes) -> None:
    """No input raises."""
    decoded = decode(data)
    assert isinstance(decoded, NotText) or not {"\0", "\r"} & set(decoded.text)
