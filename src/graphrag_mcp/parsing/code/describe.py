"""Adds to each chunk of a parsed file what the outline has about its rows."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from graphrag_mcp.model.files import DECLARATIONS, IMPORTS, Chunk, SymbolKind
from graphrag_mcp.parsing.code.chunker import ChunkRows
from graphrag_mcp.parsing.outline import Definition, Outline, around

_KIND_NAMES = {SymbolKind.FUNCTION: "function", SymbolKind.METHOD: "method", SymbolKind.FIELD: "members"}


def describe_chunks(lines: Sequence[str], outline: Outline, spans: Sequence[ChunkRows]) -> list[Chunk]:
    if not spans:
        return []
    gathered = [_Gathered() for _ in spans]
    of_row: list[_Gathered] = []
    for span, into in zip(spans, gathered, strict=True):
        of_row += [into] * (span.last + 1 - len(of_row))
    for index, definition in enumerate(outline.definitions):
        of_row[definition.first_row].beginning.append(index)
    for comment in outline.comments:
        of_row[comment.row].comments.append(comment.text)
    for imported in outline.imports:
        of_row[imported.row].has_imports = True
    for reference in outline.references:
        if not reference.is_builtin and len(reference.name) > 1:  # Others are too common to mean anything.
            of_row[reference.row].has_references = True
    return [_describe(lines, outline.definitions, span, into) for span, into in zip(spans, gathered, strict=True)]


@dataclass(slots=True)
class _Gathered:
    """What is in the rows of one span."""

    beginning: list[int] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    has_imports: bool = False
    has_references: bool = False


def _describe(lines: Sequence[str], definitions: Sequence[Definition], span: ChunkRows, gathered: _Gathered) -> Chunk:
    main = _main(definitions, span, gathered)
    begins = main is not None and span.first <= main.first_row <= span.last
    outer = span.container if main is None or not begins else main.parent
    beginning = [definitions[index] for index in gathered.beginning]
    return Chunk(
        start_line=span.first + 1,
        end_line=span.last + 1,
        text="\n".join(lines[span.first : span.last + 1]),
        kind=_passive_kind(beginning, gathered) or _kind(main, span, begins),
        symbol=main.qualified_name if main else "",
        names=tuple(dict.fromkeys(definition.name for definition in beginning if definition.kind is not None)),
        enclosing=tuple(definition.name for _, definition in around(definitions, outer))[::-1],
        signature=main.signature if main else "",
        comments="\n".join(gathered.comments),
    )


def _main(definitions: Sequence[Definition], span: ChunkRows, gathered: _Gathered) -> Definition | None:
    """Return the main definition of a chunk: the longest that it was cut for; else its container, or a constant."""
    candidates = span.shown or ((span.container,) if span.container >= 0 else tuple(gathered.beginning))
    chosen = [definitions[index] for index in candidates]
    return max(chosen, key=lambda definition: definition.end - definition.start, default=None)


def _kind(main: Definition | None, span: ChunkRows, begins: bool) -> str:
    if main is not None and main.is_container:
        return "type" if begins and span.shown else "members"
    return _KIND_NAMES[main.kind] if main and main.kind in _KIND_NAMES else "block"


def _passive_kind(beginning: Sequence[Definition], kinds: _Gathered) -> str:
    """Return what a chunk is that only names what is defined elsewhere; "" for any other."""
    if not beginning:
        return IMPORTS if kinds.has_imports and not kinds.has_references else ""
    is_declared = all(definition.is_declared for definition in beginning if definition.kind is not SymbolKind.CONSTANT)
    return DECLARATIONS if is_declared and any(definition.is_declared for definition in beginning) else ""
