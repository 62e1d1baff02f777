"""Mines the pairs of one checkout out of its files: docstrings, names, signatures, comments, tests, headings, paths."""

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from graphrag_mcp.embedding.chunk_texts import embedding_texts
from graphrag_mcp.exclusion.manager import ExclusionManager
from graphrag_mcp.exclusion.walker import WalkedFile, walk
from graphrag_mcp.model.facts import FileFacts, Use, unpack
from graphrag_mcp.model.files import CALLABLE, Category, Chunk, ParsedFile, ParseMode, RelationKind, Symbol, SymbolKind
from graphrag_mcp.parsing.parser import parse_file
from graphrag_mcp.text.words import identifier_parts
from training.docstrings import Docstring, read_docstrings
from training.history import read_commits
from training.pairs import DOCUMENT_CHARACTERS, Kind, Pair

MOST_FILES = 2_500  # Of one repository, drawn by chance: variety of repositories is worth more than their size.
MOST_BYTES = 300_000  # Of one file; larger ones are tables and generated code.
MOST_PAIRS = {  # Of one repository and kind.
    Kind.DOCSTRING: 2_500,
    Kind.NAME: 1_500,
    Kind.SIGNATURE: 500,
    Kind.COMMENT: 1_000,
    Kind.COMMIT: 800,
    Kind.TEST: 500,
    Kind.HEADING: 400,
    Kind.PATH: 800,
}
LICENCE_BYTES = 4_000  # The beginning of a file, in which a licence of its own stands.
FEWEST_LINES = 3  # Of a body: one line is no more than its name.
FEWEST_WORDS = 4  # Of a docstring or a comment.
BLOCK_LINES = 12  # Below a comment: what it is about ends somewhere.
MASKED = 0.5  # The share of documents in which the name is left out, so that the body has to be understood too.

_FUNCTIONS = (SymbolKind.FUNCTION, SymbolKind.METHOD)
_COMMENT = re.compile(r"^\s*(?://+|#+|--+|;+)!?\s?(.*)$")
_NO_PROSE = re.compile(
    r"copyright|licen[cs]e|todo|fixme|noqa|eslint|prettier|pylint|nolint|type:|region|-{4}|={4}|[{};]\s*$|://", re.I
)
_COPYLEFT = re.compile(rb"GNU (?:Lesser |Affero |Library )?General Public|Mozilla Public|\b[AL]?GPL-?[23v]")
_LICENCE = re.compile(r"copyright|\blicen[cs]ed? ", re.I)
_WORD = re.compile(r"[A-Za-z][A-Za-z'-]+")
_SIGNATURE_END = re.compile(r"[{:=]\s*$")


class _File(NamedTuple):
    parsed: ParsedFile
    data: bytes
    lines: Sequence[str]


def mine_repository(checkout: Path, name: str, seed: int = 0) -> list[Pair]:
    """Return the pairs of a checkout: at most so many of each kind, the same for the same seed."""
    chance = random.Random(f"{seed} {name}")
    files = list(_read(checkout, chance))
    found: dict[Kind, list[tuple[str, str, str]]] = {kind: [] for kind in Kind}
    for file in files:
        for kind, query, document in _of_file(file, chance):
            found[kind].append((file.parsed.path, query, document))
    found[Kind.TEST] += _tests(files)
    found[Kind.COMMIT] += (one for one in read_commits(checkout) if not _is_copyleft(checkout / one[0]))
    pairs: list[Pair] = []
    for kind, some in found.items():
        chosen = chance.sample(some, min(len(some), MOST_PAIRS[kind]))
        pairs += [Pair(kind, name, path, query, document) for path, query, document in chosen]
    return pairs


def _read(checkout: Path, chance: random.Random) -> Iterator[_File]:
    """Yield the files that a search of this checkout would know, but no vendored, generated, data or copyleft ones."""
    paths = sorted(one.path for one in walk(ExclusionManager(checkout)) if isinstance(one, WalkedFile))
    for path in chance.sample(paths, min(len(paths), MOST_FILES)):
        if (checkout / path).stat().st_size > MOST_BYTES:
            continue
        data = (checkout / path).read_bytes()
        if _COPYLEFT.search(data[:LICENCE_BYTES]):
            continue
        parsed = parse_file(path, data)
        if parsed.category not in (Category.VENDORED, Category.DATA) and parsed.mode is not ParseMode.CARD:
            yield _File(parsed, data, data.replace(b"\r\n", b"\n").decode(errors="replace").split("\n"))


def _is_copyleft(file: Path) -> bool:
    """Tell whether a file says so of itself; of one that is gone only its repository's licence is known."""
    try:
        return bool(_COPYLEFT.search(file.read_bytes()[:LICENCE_BYTES]))
    except OSError:
        return False


def _of_file(file: _File, chance: random.Random) -> Iterator[tuple[Kind, str, str]]:
    """Yield (kind, query, document)."""
    parsed = file.parsed
    if parsed.mode is ParseMode.MARKDOWN:
        yield from _sections(parsed)
    if parsed.mode is not ParseMode.SYNTAX:
        return
    docstrings = {(one.symbol.start_line, one.symbol.name): one for one in read_docstrings(parsed, file.data)}
    for symbol in parsed.symbols:
        docstring = docstrings.get((symbol.start_line, symbol.name))
        body = _body(file.lines, symbol, docstring)
        if len(body) >= FEWEST_LINES and symbol.kind in (*_FUNCTIONS, SymbolKind.TYPE):
            yield from _definition(parsed, symbol, docstring, body, chance)
    yield from _comments(parsed, file.lines)
    for chunk in parsed.chunks:
        if parsed.category is Category.IMPLEMENTATION and not _LICENCE.search(chunk.text):
            words = " ".join(_words_of(part) for part in PurePosixPath(parsed.path).parts[-3:])
            yield Kind.PATH, words, chunk.text[:DOCUMENT_CHARACTERS]


def _definition(
    parsed: ParsedFile, symbol: Symbol, docstring: Docstring | None, body: Sequence[str], chance: random.Random
) -> Iterator[tuple[Kind, str, str]]:
    is_masked = chance.random() < MASKED
    if docstring and _is_prose(docstring.said):
        yield Kind.DOCSTRING, docstring.said, _document(parsed, symbol, body, masked=is_masked)
    if symbol.kind not in _FUNCTIONS or parsed.category is Category.TESTS:
        return
    outer = symbol.qualified_name.split(".")[:-1]
    name = " ".join(map(_words_of, [*outer[-1:], symbol.name]))
    yield Kind.NAME, name, _document(parsed, symbol, body, masked=True)
    end = next((row for row, line in enumerate(body[:4]) if _SIGNATURE_END.search(line)), None)
    if end is not None and len(body) > end + FEWEST_LINES:
        signature = " ".join(line.strip() for line in body[: end + 1])
        yield Kind.SIGNATURE, signature, "\n".join(body[end + 1 :])[:DOCUMENT_CHARACTERS]


def _document(parsed: ParsedFile, symbol: Symbol, body: Sequence[str], *, masked: bool) -> str:
    """Return the definition as it is embedded; masked, without its name wherever that stands."""
    text = "\n".join(body)[:DOCUMENT_CHARACTERS]
    names: tuple[str, ...] = (symbol.name,)
    if masked:
        text, names = re.sub(rf"\b{re.escape(symbol.name)}\b", " ", text), ()
    enclosing = tuple(symbol.qualified_name.split(".")[:-1])
    chunk = Chunk(symbol.start_line, symbol.end_line, text, symbol.kind.value, names=names, enclosing=enclosing)
    return embedding_texts(parsed.path, parsed.language, chunk)[1]


def _body(lines: Sequence[str], symbol: Symbol, docstring: Docstring | None) -> list[str]:
    without = docstring.rows if docstring else range(0)
    rows = range(symbol.start_line - 1, min(symbol.end_line, len(lines)))
    return [lines[row] for row in rows if row not in without and lines[row].strip()]


def _comments(parsed: ParsedFile, lines: Sequence[str]) -> Iterator[tuple[Kind, str, str]]:
    """Yield the comments inside of functions with the lines below, up to a blank one, the next comment or a dedent."""
    inside = {row for one in parsed.symbols if one.kind in _FUNCTIONS for row in range(one.start_line, one.end_line)}
    row = 0
    while row < len(lines):
        said: list[str] = []
        first = row
        while row < len(lines) and row in inside and (comment := _COMMENT.match(lines[row])):
            said.append(comment[1].strip())
            row += 1
        if not said:
            row += 1
            continue
        indent = _indent(lines[first])
        below: list[str] = []
        for line in lines[row : row + BLOCK_LINES]:
            if not line.strip() or _indent(line) < indent or _COMMENT.match(line):
                break
            below.append(line)
        text = " ".join(said)
        if len(below) > 1 and _is_prose(text):
            yield Kind.COMMENT, text, "\n".join(below)[:DOCUMENT_CHARACTERS]


def _sections(parsed: ParsedFile) -> Iterator[tuple[Kind, str, str]]:
    for chunk in parsed.chunks:
        heading = " ".join([*chunk.enclosing, *chunk.names][-2:])
        text = "\n".join(line for line in chunk.text.splitlines() if not line.startswith("#"))[:DOCUMENT_CHARACTERS]
        if 1 <= len(chunk.names) <= 2 and len(_WORD.findall(heading)) > 1 and len(text) > 100:
            yield Kind.HEADING, heading, text


def _tests(files: Iterable[_File]) -> Iterator[tuple[str, str, str]]:
    """Yield (path, test's name, function) for what a test calls and shares a word of its name with."""
    defined: dict[str, list[tuple[_File, Symbol]]] = {}
    tests: list[_File] = []
    for file in files:
        if file.parsed.category is Category.TESTS:
            tests.append(file)
        elif file.parsed.category is Category.IMPLEMENTATION:
            for symbol in file.parsed.symbols:
                if symbol.kind in _FUNCTIONS:
                    defined.setdefault(symbol.name, []).append((file, symbol))
    for file in tests:
        for source, target in _calls(file.parsed, defined):
            ((tested, symbol),) = defined[target]
            words = _words_of(source.rpartition(".")[2]).removeprefix("test ")
            if len(words.split()) > 1 and set(words.split()) & set(identifier_parts(target)):
                yield (
                    tested.parsed.path,
                    words,
                    _document(tested.parsed, symbol, _body(tested.lines, symbol, None), masked=False),
                )


def _calls(parsed: ParsedFile, defined: Mapping[str, Sequence[object]]) -> Iterator[tuple[str, str]]:
    pairs = {(one.source, one.target) for one in parsed.relations if one.kind is RelationKind.CALLS and one.source}
    facts = unpack(parsed.code.data) if parsed.code else FileFacts("")
    functions = [one for one in facts.declared if one.kind in CALLABLE]
    for call in (one for one in facts.mentions if one.use == Use.CALL):
        around = [one for one in functions if one.start <= call.at < one.stop]
        pairs |= {(one.qualified, call.name) for one in sorted(around, key=lambda one: one.start)[-1:]}
    return (pair for pair in sorted(pairs) if len(defined.get(pair[1], ())) == 1)


def _words_of(name: str) -> str:
    return " ".join(identifier_parts(name))


def _is_prose(text: str) -> bool:
    letters = sum(one.isalpha() or one in " ,.'-" for one in text)
    is_words = len(_WORD.findall(text)) >= FEWEST_WORDS and letters >= 0.8 * len(text)
    return is_words and not _NO_PROSE.search(text) and text.isascii()


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
