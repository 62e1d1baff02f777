"""Parses the bytes of any file to a `ParsedFile`; the entry point of this package."""

import sys
from dataclasses import replace
from functools import partial

from tree_sitter import QueryError

from graphrag_mcp.model.facts import pack
from graphrag_mcp.model.files import Category, ParsedFile, ParseMode, Symbol
from graphrag_mcp.model.manifests import write_manifest
from graphrag_mcp.parsing.cards import card, needs_card
from graphrag_mcp.parsing.categories import categorise
from graphrag_mcp.parsing.code.chunker import MAX_CHARS, cut_spans
from graphrag_mcp.parsing.code.describe import describe_chunks
from graphrag_mcp.parsing.code.relations import build_relations
from graphrag_mcp.parsing.code.symbols import read_outline
from graphrag_mcp.parsing.code.syntax import SourceCode, SyntaxTimeoutError, parse_tree, statement_rows
from graphrag_mcp.parsing.configuration import configuration_keys
from graphrag_mcp.parsing.documents import documents
from graphrag_mcp.parsing.facts import read_facts
from graphrag_mcp.parsing.languages import Grammar, detect_language, is_cpp_header, load_grammar
from graphrag_mcp.parsing.manifests import read_manifest
from graphrag_mcp.parsing.outline import Outline
from graphrag_mcp.text import source
from graphrag_mcp.text.counts import counted

PARSER_VERSION = 21  # Increase it when a file is parsed differently, so that files are indexed again.
SYNTAX_LIMIT_BYTES = 1_000_000  # Larger code files are data in the form of code.
_ONLY_USING = frozenset({Category.TESTS, Category.VENDORED})  # Settings of others, or for one test.
_MARKDOWN = (".md", ".markdown", ".mdx", ".mdc")


def parse_file(path: str, data: bytes, max_chunks: int = sys.maxsize, stated: Category | None = None) -> ParsedFile:
    """Return what the index stores of a file; never raises, whatever the bytes are.

    path: POSIX, relative to the project root. max_chunks: a file whose structure gives more is cut into passages.
    stated: the category that the project states of it.
    The `note` of the result says why a file was not parsed by syntax.
    """
    decoded = source.read_text(data)
    if isinstance(decoded, source.NotText):
        return ParsedFile(path, "", stated or categorise(path), ParseMode.TEXT, (), note=decoded.reason)
    text = decoded.text
    category = stated or categorise(path, text)
    language = _language(path, text)
    if reason := needs_card(path, text, category):
        parsed = replace(card(path, text, category, reason), language=language)
    elif path.lower().endswith(_MARKDOWN):
        parsed = documents.parse_markdown(path, text, category)
    else:
        parsed = _parse_code(path, text, category, language)
    if keys := configuration_keys(path, text, category) if not reason and not parsed.symbols else ():
        parsed = replace(parsed, symbols=keys)
    if manifest := read_manifest(path, text):
        parsed = replace(parsed, manifest=write_manifest(manifest))
    if (count := len(parsed.chunks)) > max_chunks:
        parsed = documents.parse_passages(path, text, category, language, note=f"by lines: {counted(count, 'section')}")
    return _with_note(parsed, decoded.note)


def _language(path: str, text: str) -> str:
    language = detect_language(path, text.partition("\n")[0] if text.startswith("#!") else "")
    return "cpp" if language == "c" and path.endswith(".h") and is_cpp_header(text) else language


def _parse_code(path: str, text: str, category: Category, language: str) -> ParsedFile:
    """Parse by syntax where there is a grammar, else by lines; the note says why a grammar could not be used."""
    try:
        grammar = load_grammar(language)
        if grammar is None:
            return documents.parse_text(path, text, category, language)
        code = SourceCode(text)
        if len(code.data) > SYNTAX_LIMIT_BYTES:
            return documents.parse_text(path, text, category, language, note="by lines: over 1 MB")
        return _parse_syntax(path, text, code, category, grammar)
    except (SyntaxTimeoutError, QueryError) as error:
        return documents.parse_text(path, text, category, language, note=f"by lines: {error}")


def _parse_syntax(path: str, text: str, code: SourceCode, category: Category, grammar: Grammar) -> ParsedFile:
    language = grammar.row.name
    tree = parse_tree(grammar.language, code, ascii_only=grammar.row.ascii_only, unended=grammar.row.unended)
    matches = grammar.find(tree)
    outline = read_outline(matches, grammar, path, code)
    if tree.root_node.type == "ERROR" and not outline.definitions:
        return documents.parse_text(path, text, category, language, note=f"by lines: does not parse as {language}")
    lines = text.split("\n")
    spans = cut_spans(lines, outline.definitions, partial(statement_rows, tree, code, MAX_CHARS))
    return ParsedFile(
        path,
        language,
        category,
        ParseMode.SYNTAX,
        chunks=tuple(describe_chunks(lines, outline, spans)),
        symbols=(*_symbols(outline), *(outline.keys if category not in _ONLY_USING else ())),
        relations=tuple(build_relations(path, language, category, outline)),
        code=pack(facts) if (facts := read_facts(matches, grammar, path, code, outline.definitions)) else None,
    )


def _symbols(outline: Outline) -> list[Symbol]:
    return [
        Symbol(
            name=definition.name,
            qualified_name=definition.qualified_name,
            kind=definition.kind,
            start_line=definition.first_row + 1,
            end_line=definition.last_row + 1,
            signature=definition.signature,
        )
        for definition in outline.definitions
        if definition.kind is not None
    ]


def _with_note(parsed: ParsedFile, note: str) -> ParsedFile:
    if not note:
        return parsed
    return replace(parsed, note=f"{parsed.note}; {note}" if parsed.note else note)
