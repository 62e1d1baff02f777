"""Blanks the macros of C and C++ that hide a declaration from the grammar: `class API_EXPORT Name : public Base {`."""

import re
import sys
from collections.abc import Iterator, Sequence
from itertools import islice

from tree_sitter import Node

from graphrag_mcp.languages.repairs import Repair, blanked, errors

_MOST_WORDS = 8  # Between a keyword and its body.
# Every run is bounded, so that what never ends costs no more than its length.
_ARGUMENTS = rb"\((?:[^()\"]|\"[^\"\n]{0,500}\"|\((?:[^()\"]|\"[^\"\n]{0,500}\"|\([^()]{0,500}\)){0,500}\)){0,1000}\)"
# A keyword with two words behind it, or one with arguments, as it is rarely otherwise.
_KEYWORD = re.compile(
    rb"\b(?:class|struct|union|enum(?:\s+(?:class|struct))?|namespace)"
    rb"(?=\s+\w+(?:\s*\(|(?:\s+\w+){1,%d}\s*[{:/<(]))" % _MOST_WORDS
)
_TOKEN = re.compile(
    rb"(?P<comment>//[^\n]*|/\*(?:[^*]|\*(?!/)){0,2000}\*/)"
    rb"|(?P<word>\w+(?:::~?\w+)*(?:<[^;{}()]{0,500}>(?:::\w+)*)?)(?P<arguments>\s*%s)?|\S" % _ARGUMENTS
)
_BASES = re.compile(rb":(?!:)(?:[^;{}()]|%s){0,1000}\{" % _ARGUMENTS)
_READ = (b"alignas", b"__declspec", b"__attribute__", b"final")  # The grammar has these beside the name.
_OF_FUNCTIONS = (b"const", b"noexcept", b"override", b"volatile", b"operator", b"requires", b"throw", b"try")
_DECLARING = (
    rb"(?:class|struct|union|enum|namespace|template|using|typedef|friend|extern|static|inline|explicit|virtual|"
    rb"constexpr|void|bool|char|short|int|long|float|double|signed|unsigned|auto|public|private|protected)\b"
)
_LEADING = re.compile(rb"\b([A-Za-z_]\w*+)(?:[ \t]*+%s)?+\s++(?=(?:const\s+)?%s)" % (_ARGUMENTS, _DECLARING))
_BEFORE_TYPE = re.compile(
    rb"\b([A-Z][A-Z\d]*_\w*+)\s++(?=(?:const\s+)?[A-Za-z_]\w*+(?:<[^;{}()]{0,500}>)?(?:::|[\s*&]+[A-Za-z_]))"
)
_TRAILING = re.compile(rb"(?<=\))\s*(?:const\s+)?(([A-Za-z_]\w*+)(?:\s*%s)?)(?=\s*;)" % _ARGUMENTS)
_BEFORE_BODY = re.compile(
    rb"(?<=\))\s{0,100}(?:const\s{1,100})?(([A-Z][A-Z\d_]{2,})\s{0,100}%s)(?=\s{0,100}(?:\{|:(?!:)|[A-Z][A-Z\d_]{2,}\s{0,100}\())"
    % _ARGUMENTS
)
_BEFORE_OVERRIDE = re.compile(rb"(?<=\))\s{0,100}(?:const\s{1,100})?([A-Za-z_]\w*+)\s{1,100}(?=(?:override|final)\b)")
_ALONE = re.compile(
    rb"(?m)(?<!\\\n)^[ \t]*+(([A-Z][A-Z\d_]{2,})\s*%s)(?=[ \t]*(?://[^\n]*)?\n\s{0,1000}[}A-Za-z_~#/])" % _ARGUMENTS
)
_ACCESS = re.compile(rb"\b(?:public|private|protected)(?=\s*:(?!:))")
_BEHIND_ACCESS = re.compile(rb"\b(?:public|private|protected)\s+(\w+)\s*:(?!:)")
_KEYWORDS = frozenset(  # After which a type may follow, or that follow one.
    b"auto bool case char class const constexpr default delete do double else enum explicit extern float friend goto "
    b"inline int long mutable namespace new noexcept operator override private protected public register return short "
    b"signed sizeof static struct template this throw typedef typename union unsigned using virtual void "
    b"volatile".split()
)
_REACH = 300  # Bytes behind an error in which its cause may stand, and before a name where a directive may begin.
_MOST_LEVELS = 30
_MOST_LOOKS = 2_000  # Each look goes down from the root, so the time in a deep error is quadratic.
_NAMES = ("identifier", "type_identifier", "field_identifier", "namespace_identifier")
_STATEMENTS = ("declaration", "expression_statement", "field_declaration", "function_definition", "ERROR")


def _without_macros(data: bytes, root: Node) -> bytes:
    """Return the code without macros beside the name of a type or namespace, and, in errors, beside a declaration."""
    spans = [span for keyword in _KEYWORD.finditer(data) for span in _in_head(keyword, data, root)]
    overriding = (match for match in _BEFORE_OVERRIDE.finditer(data) if match[1] not in (*_OF_FUNCTIONS, b"override"))
    spans += (match.span(1) for match in overriding)
    before_bodies = islice(_BEFORE_BODY.finditer(data), _MOST_LOOKS)
    spans += (match.span(1) for match in before_bodies if _is_outside_bodies(match, root))
    for access in _ACCESS.finditer(data):
        name = root.descendant_for_byte_range(*access.span())
        if name is not None and name.type == "field_identifier" and name.parent is not None:  # The type is a macro.
            spans.append((name.parent.start_byte, name.start_byte))
    reaches = list(_around_errors(root))
    leading = islice((match for reach in reaches for match in _leading(data, *reach)), _MOST_LOOKS)
    trailing = islice((match for reach in reaches for match in _TRAILING.finditer(data, *reach)), _MOST_LOOKS)
    misread = [match for match in leading if _is_misread(match, root)]
    spans += (match.span() for match in misread)
    spans += (match.span(1) for match in trailing if _is_outside_bodies(match, root))
    spans += (match.span(1) for reach in reaches for match in _BEHIND_ACCESS.finditer(data, *reach))
    alone = islice((match for reach in reaches for match in _ALONE.finditer(data, *reach)), _MOST_LOOKS)
    if members := {match[2] for match in alone if _is_outside_bodies(match, root)}:
        every = (match for match in islice(_ALONE.finditer(data), _MOST_LOOKS) if match[2] in members)
        spans += (match.span(1) for match in every if _is_outside_bodies(match, root))
    if loud := {match[1] for match in misread if match[1].isupper()}:  # An error may hide the next one.
        spans += (match.span() for match in _leading(data) if match[1] in loud)
    return blanked(data, spans) if spans else data


def _leading(data: bytes, start: int = 0, end: int = sys.maxsize) -> Iterator[re.Match[bytes]]:
    """Yield the names before a declaration that may be macros, outside of directives."""
    for leading in (_LEADING, _BEFORE_TYPE):
        for match in leading.finditer(data, start, end):
            line = data[max(0, match.start() - _REACH) : match.start()].rpartition(b"\n")[2]
            if match[1] not in _KEYWORDS and line.lstrip()[:1] != b"#":
                yield match


def _around_errors(root: Node) -> Iterator[tuple[int, int]]:
    """Yield where the causes of errors may stand: from the beginning of their statements, each byte once."""
    done = 0
    spans = [(around.start_byte, error.end_byte + _REACH) for error, around in errors(root, _STATEMENTS)]
    for start, end in sorted(spans):
        if end > done:
            yield max(done, start), (done := end)


def _in_head(keyword: re.Match[bytes], data: bytes, root: Node) -> Iterator[tuple[int, int]]:
    """Yield what stands beside the name of a type or namespace and is not part of the language."""
    node = root.descendant_for_byte_range(*keyword.span())
    if node is None or node.type == "comment":  # `}  // namespace a`, and the next one.
        return
    words, brace = _words(data, keyword.end())
    names = [word for word in words if not word["arguments"] and word["word"] not in _READ]
    if len(words) < 2 or not names or any(word["word"] in _OF_FUNCTIONS for word in words):
        return
    is_namespace = keyword[0] == b"namespace"
    if not is_namespace and _is_function(words[words.index(names[0]) :]):
        return
    name = next((word for word in reversed(names) if not word["word"].isupper()), names[-1])
    others = [word for word in words if word is not name and word["word"] not in _READ]
    if others and (is_namespace or _is_body(keyword, brace, others, root)):
        yield from (word.span() for word in others)


def _is_function(words: Sequence[re.Match[bytes]]) -> bool:
    """Return whether words behind `struct` are a function that returns one, and no name behind macros."""
    has_arguments = any(word["arguments"] for word in words)
    return has_arguments and (bool(words[-1]["arguments"]) or not all(word["word"].isupper() for word in words[:-1]))


def _words(data: bytes, start: int) -> tuple[list[re.Match[bytes]], int]:
    """Return the words up to a body or a list of bases, and where that begins; none where something else follows."""
    words: list[re.Match[bytes]] = []
    for token in _TOKEN.finditer(data, start):
        if token["word"] and len(words) <= _MOST_WORDS:
            words.append(token)
        elif token[0] == b"{" or _BASES.match(data, token.start()):
            return words, token.start()
        elif not token["comment"]:
            break
    return [], 0


def _is_body(keyword: re.Match[bytes], brace: int, macros: list[re.Match[bytes]], root: Node) -> bool:
    """Return whether the body of a type begins, and no variable with its values: `struct Point p {1, 2};`."""
    start = root.descendant_for_byte_range(keyword.start(), keyword.start() + 1)
    opening = root.descendant_for_byte_range(brace, brace + 1)
    if start is None or opening is None or not keyword[0].startswith(start.type.encode()) or opening.parent is None:
        return False
    values, statement = opening.parent, start.parent.parent if start.parent else None
    if opening.type != "{" or values.type != "initializer_list" or statement is None or statement.has_error:
        return opening.type in "{:" and values.type not in ("field_declaration_list", "enumerator_list")
    if b" " in keyword[0] or statement.parent is None or statement.parent.type == "compound_statement":
        return b" " in keyword[0]
    count = values.named_child_count
    is_enum = keyword[0] == b"enum"  # A variable of one takes one value.
    return (is_enum and count > 1) or (count <= is_enum and all(macro["word"].isupper() for macro in macros))


def _is_outside_bodies(match: re.Match[bytes], root: Node) -> bool:
    """Return whether a macro is outside of the statements of a function."""
    return match[2] not in _KEYWORDS and _around(match.start(1), ("compound_statement",), root) is None


def _is_misread(match: re.Match[bytes], root: Node) -> bool:
    """Return whether a name before a declaration is in an error."""
    start = match.start()
    name, statement = root.descendant_for_byte_range(start, start + 1), _around(start, _STATEMENTS, root)
    return name is not None and name.type in _NAMES and statement is not None and statement.has_error


def _around(start: int, kinds: Sequence[str], root: Node) -> Node | None:
    """Return the innermost node of some kinds around a byte."""
    node = root.descendant_for_byte_range(start, start + 1)
    for _ in range(_MOST_LEVELS):  # Each step down from the root: the time grows with the square.
        if node is None or node.type in kinds:
            break
        node = node.parent
    return node


MACROS = (Repair(_without_macros, is_sure=True),)
