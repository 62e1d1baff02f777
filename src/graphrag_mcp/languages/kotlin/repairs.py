"""Changes what the grammar of Kotlin cannot read; every line stays as long as it was."""

import re

from tree_sitter import Node

from graphrag_mcp.languages.repairs import Repair

# On a line behind the name of its class.
_CONSTRUCTOR = re.compile(
    rb"(\bclass[ \t]{1,20}\w{1,200}(?:<[^<>{}()]{0,200}>)?)((?:[ \t]{0,200}\n){1,3})"
    rb"(?=[ \t]{0,200}(?:(?:private|internal|protected|public|@\w{1,100})[ \t]{1,20}){0,4}constructor[ \t]{0,20}\()"
)


def _end_members(data: bytes, root: Node) -> bytes:
    """Return the code with a line break for the blank before a `}` on the line of its `{`: only that ends a member."""
    return b"\n".join(map(_end_member, data.split(b"\n"))) if root.has_error else data


def _end_member(line: bytes) -> bytes:
    if b"{" not in line or b"//" in line or line.lstrip().startswith((b"*", b"/*")):
        return line
    before, quote, rest = line.rpartition(b'"')
    return before + quote + rest.replace(b" }", b"\n}")


def _join_constructors(data: bytes, root: Node) -> bytes:
    return _CONSTRUCTOR.sub(lambda match: match[1] + match[2].replace(b"\n", b" "), data) if root.has_error else data


KOTLIN = (Repair(_join_constructors), Repair(_end_members))
