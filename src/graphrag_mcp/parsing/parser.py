"""Parses the bytes of any file to a `ParsedFile`; the entry point of this package."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from graphrag_mcp.languages.grammars import Grammar, load_grammar
from graphrag_mcp.languages.manifests import read_manifest
from graphrag_mcp.languages.registry import FACT_LANGUAGES, language_of
from graphrag_mcp.languages.syntax import SourceCode, is_partly_read, statement_rows
from graphrag_mcp.model.facts import pack
from graphrag_mcp.model.files import (
    UNPARSED,
    Category,
    Chunk,
    Failure,
    PackedFacts,
    ParsedFile,
    ParseMode,
    Relation,
    Symbol,
)
from graphrag_mcp.model.links import identities
from graphrag_mcp.model.manifests import write_manifest
from graphrag_mcp.parsing import SYNTAX_LIMIT_BYTES
from graphrag_mcp.parsing.cards import GENERATED, card, needs_card
from graphrag_mcp.parsing.categories import categorise
from graphrag_mcp.parsing.code.chunker import MAX_CHARS, cut_spans
from graphrag_mcp.parsing.code.describe import describe_chunks
from graphrag_mcp.parsing.code.relations import build_relations
from graphrag_mcp.parsing.code.symbols import read_outline
from graphrag_mcp.parsing.configuration import configuration_keys
from graphrag_mcp.parsing.documents import documents
from graphrag_mcp.parsing.facts import read_facts
from graphrag_mcp.parsing.outline import Outline
from graphrag_mcp.parsing.stages import Stages
from graphrag_mcp.text import source
from graphrag_mcp.text.counts import counted

_ONLY_USING = frozenset({Category.TESTS, Category.VENDORED})  # Settings of others, or for one test.
_MARKDOWN = (".md", ".markdown", ".mdx", ".mdc")


def parse_file(
    path: str, data: bytes, max_chunks: int = sys.maxsize, stated: Category | None = None, without_syntax: bool = False
) -> ParsedFile:
    """Return what the index stores of a file; never raises, whatever the bytes are.

    path: POSIX, relative to the project root. max_chunks: a file whose structure gives more is cut into passages.
    stated: the category that the project states of it. without_syntax: a grammar crashed on it, so none is used.
    The `note` of the result says why a file was not parsed by syntax.
    """
    stages = Stages()
    decoded = stages.run("masking", lambda: source.read_text(data), lambda: source.Text(""))
    if isinstance(decoded, source.NotText):
        return ParsedFile(path, "", stated or categorise(path), ParseMode.NONE, (), note=decoded.reason)
    text = decoded.text
    category = stages.run("category", lambda: stated or categorise(path, text), lambda: Category.OTHER)
    language = stages.run("language", lambda: language_of(path, text), str)
    reason = stages.run("card", lambda: needs_card(path, text, category), str)
    if reason:
        has_code = reason == GENERATED and language in FACT_LANGUAGES and not without_syntax
        parsed = replace(card(path, text, category, reason), language=language)
        if has_code:  # What is generated calls, extends and implements what is written.
            written = _parse_code(path, text, category, language, stages)
            parsed = replace(parsed, code=written.code, symbols=written.symbols)
    elif without_syntax:
        stages.failures.append(Failure("syntax", "the parser crashed"))
        parsed = documents.parse_passages(path, text, category, language, "by lines: the parser crashed")
    elif path.lower().endswith(_MARKDOWN):
        parsed = stages.run(
            "documents",
            lambda: documents.parse_markdown(path, text, category),
            lambda: documents.parse_passages(path, text, category, "markdown"),
        )
    else:
        parsed = _parse_code(path, text, category, language, stages)
    if not (reason or without_syntax or parsed.symbols):
        parsed = replace(parsed, symbols=stages.run("keys", lambda: configuration_keys(path, text, category), tuple))
    if manifest := stages.run("manifest", lambda: read_manifest(path, text), lambda: None):
        parsed = replace(parsed, manifest=write_manifest(manifest))
    if (count := len(parsed.chunks)) > max_chunks:
        parsed = documents.parse_passages(path, text, category, language, note=f"by lines: {counted(count, 'section')}")
    note = "; ".join(filter(None, (parsed.note, decoded.note)))
    return replace(parsed, note=note, failures=tuple(stages.failures))


def symbols_above(path: str, data: bytes, line: int) -> Sequence[Symbol]:
    """Return the symbols of code that begin at a line or above it, as `parse_file` finds them, in half of its time."""

    def symbols() -> Sequence[Symbol]:
        decoded = source.read_text(data)
        if isinstance(decoded, source.NotText) or needs_card(path, decoded.text, categorise(path, decoded.text)):
            return ()
        grammar, code = load_grammar(language_of(path, decoded.text)), SourceCode(decoded.text)
        if grammar is None or len(code.data) > SYNTAX_LIMIT_BYTES:
            return ()
        return _symbols(read_outline(grammar.find(grammar.parse(code), code, line), grammar, path, code))

    return Stages().run("outline", symbols, tuple)


def _parse_code(path: str, text: str, category: Category, language: str, stages: Stages) -> ParsedFile:
    """Parse by syntax where there is a grammar, else by lines; the note says why a grammar could not be used."""

    def by_syntax() -> ParsedFile:
        grammar = load_grammar(language)
        if grammar is None:
            return by_lines("")
        code = SourceCode(text)
        if len(code.data) > SYNTAX_LIMIT_BYTES:
            return by_lines("by lines: over 1 MB")
        return _parse_syntax(path, text, code, category, grammar, stages)

    def by_lines(note: str) -> ParsedFile:
        return stages.run(
            "documents",
            lambda: documents.parse_text(path, text, category, language, note),
            lambda: replace(card(path, text, category, note or "by lines"), language=language),
        )

    return stages.run("syntax", by_syntax, lambda: by_lines(f"by lines: {stages.failures[-1].reason}"))


def _parse_syntax(
    path: str, text: str, code: SourceCode, category: Category, grammar: Grammar, stages: Stages
) -> ParsedFile:
    language = grammar.language.name
    tree = grammar.parse(code)
    matches = grammar.find(tree, code)
    outline = stages.run("outline", lambda: read_outline(matches, grammar, path, code), Outline)
    if tree.root_node.type == "ERROR" and not outline.definitions:
        return documents.parse_text(path, text, category, language, note=f"by lines: does not parse as {language}")

    def chunks() -> tuple[Chunk, ...]:
        lines = text.split("\n")
        spans = cut_spans(lines, outline.definitions, partial(statement_rows, tree, code, MAX_CHARS))
        return tuple(describe_chunks(lines, outline, spans))

    def facts() -> PackedFacts | None:
        file_facts = read_facts(matches, grammar, path, code, outline.definitions)
        return pack(file_facts) if file_facts else None

    def relations() -> tuple[Relation, ...]:
        return tuple(build_relations(path, language, category, outline))

    packed = stages.run("facts", facts, lambda: None)
    return ParsedFile(
        path,
        language,
        category,
        ParseMode.SYNTAX,
        chunks=stages.run("chunks", chunks, lambda: documents.parse_passages(path, text, category).chunks),
        symbols=(*_symbols(outline), *(outline.keys if category not in _ONLY_USING else ())),
        relations=() if packed else stages.run("relations", relations, tuple),
        code=packed,
        note=UNPARSED if grammar.query and not packed and is_partly_read(tree) else "",
    )


def _symbols(outline: Outline) -> list[Symbol]:
    distinct = identities(definition.qualified_name for definition in outline.definitions)
    return [
        Symbol(
            definition.name,
            definition.qualified_name,
            definition.kind,
            definition.first_row + 1,
            definition.last_row + 1,
            definition.signature,
            identity,
            definition.takes,
        )
        for definition, identity in zip(outline.definitions, distinct, strict=True)
        if definition.kind is not None
    ]
