"""Parses files without a grammar: Markdown and similar formats by heading, other text by paragraph."""

from graphrag_mcp.model.files import Category, Chunk, ParsedFile, ParseMode
from graphrag_mcp.parsing.documents.facts import document_facts
from graphrag_mcp.parsing.documents.frontmatter import read_front_matter
from graphrag_mcp.parsing.documents.links import find_links, superseded
from graphrag_mcp.parsing.documents.markdown import scan_blocks
from graphrag_mcp.parsing.documents.plaintext import headings
from graphrag_mcp.parsing.documents.sections import outline, section_chunks, section_symbols
from graphrag_mcp.parsing.passages import Lines, cut


def parse_markdown(path: str, text: str, category: Category = Category.DOCUMENTATION) -> ParsedFile:
    """Return a Markdown file as sections, with its links to other files and its front matter."""
    lines = Lines(text)
    front = read_front_matter(lines.rows)
    blocks = scan_blocks(lines.rows, front.end)
    sections = outline(blocks.headings, len(lines))
    unbreakable = [(0, front.end), *blocks.fences] if front.end else blocks.fences
    facts = document_facts(front.values, lines.rows[front.end :], sections)
    return ParsedFile(
        path,
        "markdown",
        category,
        ParseMode.MARKDOWN,
        chunks=section_chunks(lines, sections, unbreakable),
        symbols=section_symbols(lines, sections),
        relations=(*superseded(path, facts.supersedes, 0), *find_links(path, lines, blocks.prose, sections)),
        facts=facts,
        note=front.note,
    )


def parse_text(path: str, text: str, category: Category, language: str = "", note: str = "") -> ParsedFile:
    """Return any text as passages: by heading where its format has headings, else by blank lines and indentation."""
    lines = Lines(text)
    found = headings(path.rpartition(".")[2].lower(), lines.rows)
    if not found:
        return parse_passages(path, text, category, language, note)
    sections = outline(found, len(lines))
    return ParsedFile(
        path,
        language,
        category,
        ParseMode.TEXT,
        chunks=section_chunks(lines, sections),
        symbols=section_symbols(lines, sections),
        facts=document_facts({}, lines.rows, sections),
        note=note,
    )


def parse_passages(path: str, text: str, category: Category, language: str = "", note: str = "") -> ParsedFile:
    """Return any text as passages of similar size, whatever its structure."""
    lines = Lines(text)
    spans = cut(lines, lines.paragraphs((0, len(lines))))
    chunks = tuple(Chunk(start + 1, end, lines.text((start, end)), kind="text") for start, end in spans)
    return ParsedFile(path, language, category, ParseMode.TEXT, chunks, note=note)
