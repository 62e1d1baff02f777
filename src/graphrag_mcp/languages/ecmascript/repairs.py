"""Changes what the grammars of JavaScript and TypeScript cannot read."""

import re
from functools import partial

from tree_sitter import Node

from graphrag_mcp.languages.repairs import Repair, blanked

# A member of a type that begins with `<` or `(` ends the one before without a semicolon; found is the blank before it.
_BEFORE_MEMBER = (
    rb"(?<=[\w>\]})'\"])([ \t]*\n(?:[ \t]*(?://[^\n]*|/\*(?:[^*]|\*(?!/))*\*/[ \t]*)?\n){0,100}+)[ \t](?=[ \t]*%s)"
)
_MODIFIERS = re.compile(
    rb"(?<=[<,])(?:\s|//[^\n]*\n|/\*(?:[^*]|\*(?!/))*+\*/)*+"
    rb"((?:(?:in|out|const)[ \t]+)+)(?=[A-Za-z_$][\w$]*\s*(?:[,>=]|extends\b))"  # of type parameters
    rb"|(?<![\w$.])accessor(?=[ \t]+[#\[\w$])"
)
_USING = re.compile(rb"(?<![\w$.])(await[ \t]+)?using(?=[ \t]+[A-Za-z_$][\w$]*\s*(?:=[^=>]|of\b))")
_TYPE_EXPORT = re.compile(rb"(?<![\w$.])export[ \t]+(type)(?=[ \t]*\*)")


def _end_members(before: re.Pattern[bytes], data: bytes, root: Node) -> bytes:
    return before.sub(rb"\1;", data) if root.has_error else data


def _without_modifiers(data: bytes, root: Node) -> bytes:
    spans = (match.span(match.lastindex or 0) for match in _MODIFIERS.finditer(data))
    return blanked(data, spans) if root.has_error else data


def _using_as_const(data: bytes, _root: Node) -> bytes:
    """Return `const x = ...` for `using x = ...`, which the grammar reads as an expression or not at all."""
    return _USING.sub(lambda match: b" " * len(match[1] or b"") + b"const", data) if b"using" in data else data


def _export_all(data: bytes, root: Node) -> bytes:
    """Return `export * from` for `export type * from`."""
    return blanked(data, (match.span(1) for match in _TYPE_EXPORT.finditer(data))) if root.has_error else data


JAVASCRIPT = (Repair(_without_modifiers), Repair(_using_as_const, is_sure=True))
TYPESCRIPT = (
    *(Repair(partial(_end_members, re.compile(_BEFORE_MEMBER % begin))) for begin in (rb"<", rb"[<(]")),
    Repair(_export_all, is_sure=True),
    *JAVASCRIPT,
)
