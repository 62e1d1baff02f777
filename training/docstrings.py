"""Reads the docstrings of a source file: where they stand, what they document, and what they say first."""

import ast
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from graphrag_mcp.model.files import ParsedFile, Symbol

SHORTEST, LONGEST = 40, 300  # Characters: a first sentence shorter than that is joined by the next ones.

_OPENINGS = {
    **dict.fromkeys(("javascript", "typescript", "tsx", "php", "java", "kotlin", "scala"), ("/**",)),
    **dict.fromkeys(("rust", "csharp", "swift", "zig"), ("///", "/**")),
    **dict.fromkeys(("go", "c", "cpp"), ("//", "/*")),
    **dict.fromkeys(("ruby", "bash"), ("#",)),
    "lua": ("--",),
    "haskell": ("-- |", "{-|"),
    "python": (),
}
_QUOTES = (b'"""', b"'''")
_MARKS = re.compile(
    r"""^\s*(?:/\*\*?|\{-\|?|///?!?|--\[\[|-- ?\||---?|#+!?|\*(?!/)|[rR]?["']{3})? ?|\s*(?:\*/|-\}|["']{3})?\s*$"""
)
_TAG = re.compile(  # Parameters, examples, lists and tables: there the sentences end.
    r"\s*(?:@\w+ |@\w+$|:(?:param|return|rtype|raises)|\.\. |>>>|>|\||```|~~~|#+ |={2}|\[\d+\]|\$\d|\w+ ::|[A-Z]\w+:$"
    r"|(?:Args|Arguments|Parameters|Returns?|Raises|Examples?|Usage):?$|- (?:Parameter|Return|Throws|Note|Important)"
    r"|<(?:param|return|remarks|typeparam|exception|example))"
)
_MARKUP = (  # The first group is left of it: HTML and C#, Sphinx, Markdown, Haddock.
    re.compile(r"</?(?:summary|para|c|b|br|code)\s*/?>()"),
    re.compile(r"<(?:see|paramref|typeparamref)\b[^>]*\"(?:[^\"(]*\.)?([^\".(]*)[^\"]*\"\s*/?>"),
    re.compile(r":(?:\w+:)?\w+:`~?(?:[^`<]*\.)?([^`<.]*?)\s*(?:<[^>]*>)?`"),
    re.compile(r"\[([^\]]+)\](?:\([^)]*\)|\[[^\]]*\])?"),
    re.compile(r"``?([^`]*)``?"),
    re.compile(r"(?<!\w)'([A-Za-z][\w.]*)'"),
)


class Docstring(NamedTuple):
    """A definition, the 0-based rows of its docstring, and the docstring's first sentences without marks and markup.

    is_inside: it stands in the body, as in Python, and not above.
    """

    symbol: Symbol
    rows: range
    said: str
    is_inside: bool


def read_docstrings(parsed: ParsedFile, data: bytes) -> Iterator[Docstring]:
    """Yield the docstrings of a file whose bytes are `data`; nothing where its language has no form for them."""
    lines = [line.strip() for line in data.replace(b"\r\n", b"\n").decode(errors="replace").split("\n")]
    has_same_rows = not any("\r" in line or "\0" in line for line in lines)  # As what was parsed: it is no UTF-16.
    if parsed.language not in _OPENINGS or not has_same_rows:
        return
    inside = python_docstrings(data) if parsed.language == "python" else {}
    for symbol in parsed.symbols:
        within = inside.get((symbol.name, symbol.end_line))
        if rows := within or comment_above(lines, symbol.start_line - 1, _OPENINGS[parsed.language]):
            said = first_sentences([lines[row] for row in rows], parsed.language)
            yield Docstring(symbol, rows, said, within is not None)


def python_docstrings(data: bytes) -> dict[tuple[str, int], range]:
    """Return the rows of the docstrings that share none with code, by the function's name and last line."""
    found, lines = {}, [line.strip() for line in data.split(b"\n")]
    with suppress(SyntaxError):
        for node in ast.walk(ast.parse(data)):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or len(node.body) < 2:
                continue
            if ast.get_docstring(node) and node.end_lineno and (end := node.body[0].end_lineno):
                rows = range(node.body[0].lineno - 1, end)
                if lines[rows[0]].lstrip(b"rR").startswith(_QUOTES) and lines[rows[-1]].endswith(_QUOTES):
                    found[node.name, node.end_lineno] = rows
    return found


def comment_above(lines: Sequence[str], row: int, openings: tuple[str, ...]) -> range:
    """Return the rows of the comment that documents what begins at `row`; below a `/**` may be a blank line."""
    is_apart = row > 1 and not lines[row - 1]
    first = last = row - 2 if is_apart else row - 1
    if last < 0 or not openings:
        return range(0)
    if lines[last].endswith(("*/", "-}")):
        while first and not lines[first].startswith(("/*", "{-")):
            first -= 1
    elif lines[last].startswith(mark := openings[0].removesuffix(" |")):
        while first and lines[first - 1].startswith(mark) and not lines[first].startswith("-- |"):
            first -= 1
    is_one = not any("*/" in line for line in lines[first:last])
    is_head_of_file = first < 2  # A licence, `#!`.
    is_doc = is_one and not is_head_of_file and lines[first].startswith("/**" if is_apart else openings)
    return range(first, last + 1) if is_doc else range(0)


def first_sentences(lines: Sequence[str], language: str) -> str:
    """Return the first paragraph without marks and markup, as many sentences of it as a query may have."""
    text: list[str] = []
    for line in (_MARKS.sub("", line) for line in lines):
        if _TAG.match(line) or (text and language == "ruby" and line.startswith("  ")):  # Of Ruby it is code.
            break
        if line.strip():
            text.append(line.strip())
        elif len(" ".join(text)) >= SHORTEST:
            break
    prose = " ".join(" ".join(text).split())
    for markup in _MARKUP:
        prose = markup.sub(r"\1", prose)
    kept = ""
    for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z(])", prose):
        if len(kept) + len(sentence) >= LONGEST:
            break
        kept = f"{kept} {sentence}".strip()
    return kept.rstrip(":\\ ")
