"""Changes what the grammar of Kotlin cannot read; every line stays as long as it was."""

import re

from tree_sitter import Node

from graphrag_mcp.languages.repairs import Repair

# Behind the name of a class on a line before.
_CONSTRUCTOR = re.compile(
    rb"(?<=[\w>])(?:[ \t]{0,200}\n){1,3}[ \t]{0,200}"
    rb"(?=(?:(?:private|internal|protected|public|@\w{1,100})[ \t]{1,20}){0,4}constructor[ \t]{0,20}\()"
)
_LINE_BREAK = re.compile(rb"\n")


def _end_members(data: bytes, root: Node) -> bytes:
    """Return the code with a line break for the blank before a `}` on the line of its `{`: only that ends a member."""
    return b"\n".join(map(_end_member, data.split(b"\n"))) if root.has_error else data


def _end_member(line: bytes) -> bytes:
    if b"{" not in line or b"//" in line or line.lstrip().startswith((b"*", b"/*")):
        return line
    before, quote, rest = line.rpartition(b'"')
    return before + quote + rest.replace(b" }", b"\n}")


def _join_constructors(data: bytes, root: Node) -> bytes:
    return _CONSTRUCTOR.sub(lambda match: _LINE_BREAK.sub(b" ", match[0]), data) if root.has_error else data


KOTLIN = (Repair(_join_constructors), Repair(_end_members))
