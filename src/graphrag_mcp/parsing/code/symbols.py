"""Builds the outline of a file: definitions with position, qualified name, signature and docstring."""

import re
from collections.abc import Sequence

from graphrag_mcp.languages.grammars import Grammar, Matches
from graphrag_mcp.languages.language import ImportStyle
from graphrag_mcp.languages.registry import is_inline_test
from graphrag_mcp.languages.syntax import SourceCode
from graphrag_mcp.languages.testing import MARKED_TEST
from graphrag_mcp.model.files import CALLABLE, HEADER_SUFFIXES, Category, SymbolKind
from graphrag_mcp.parsing.categories import categorise
from graphrag_mcp.parsing.code.captures import DEFINITION_ROLES, Comments, Findings, FoundDefinition
from graphrag_mcp.parsing.code.declared import declared_keys
from graphrag_mcp.parsing.code.imports import expand_imports, module_path
from graphrag_mcp.parsing.code.names import OwnNamespace, as_title, last_name, without_marks
from graphrag_mcp.parsing.code.uses import name_described
from graphrag_mcp.parsing.outline import Definition, Import, Outline, enclosing_indexes, modules_around
from graphrag_mcp.text.names import operator_name

SIGNATURE_CHARS = 200
DOCSTRING_CHARS = 500  # The first paragraphs state the purpose; the rest is in the chunk's text.

_MEMBER_KINDS: dict[SymbolKind | None, SymbolKind] = {
    SymbolKind.FUNCTION: SymbolKind.METHOD,
    SymbolKind.CONSTANT: SymbolKind.FIELD,
}
_ANNOTATION_MARKS = (b"@", b"[", b"#")
_SIGNATURE_ENDS = ("{", "=>", "=", " do", ":", ";", ",")
_TYPE_ARGUMENTS = re.compile(r"<(?:[^<>]++|<(?:[^<>]++|<[^<>]*+>)*+>)*+>(?=::)")
_UNNAMED = re.compile(r"[\[(].*[\])]")  # A type that is written and has no name: `[u8; 3]`.
_SHORT_TYPE = re.compile(r"[\w ,;:&<>'()\[\]]{1,60}")
_NOT_IN_NAMES = str.maketrans({"&": None, "*": None, "#": None, " ": None, "\n": None})


def read_outline(matches: Matches, grammar: Grammar, path: str, code: SourceCode) -> Outline:
    """Return the outline; empty where there is no query for the language."""
    findings = Findings(code, grammar.language)
    findings.collect(matches.outline)
    own = {
        match.name_start + len(match.name.encode()) - len(last_name(match.name).encode())
        for match in findings.definitions.values()
        if match.role != "scope"  # It uses the type that has its name.
    }  # `B` of `class A::B`, too.
    uses = findings.uses
    references = sorted(reference for reference in uses.references.values() if reference.start not in own)
    definitions = _build_definitions(findings, code, path, grammar.language.clauses)
    variables = sorted(uses.variables)
    if uses.described:
        references, variables = name_described(grammar.language.described, uses.described, references, variables)
    return Outline(
        definitions=definitions,
        references=references,
        bases=sorted(uses.bases),
        imports=_build_imports(findings, code, path, grammar.language.imports, definitions),
        comments=sorted(findings.comments.all),
        keys=declared_keys(uses.declaring, code),
        variables=variables,
        bindings=uses.bindings,
        implied=_implied(uses.namespace, path, grammar.language.imports),
    )


def _implied(own: OwnNamespace, path: str, style: ImportStyle) -> list[Import]:
    """Return the types of the file's own namespace that it names."""
    return [
        Import(row, name, name, module_path(style, path, f"{own.names[0]}.{name}"), False)
        for name, row in own.types.items()
    ]


def _build_definitions(findings: Findings, code: SourceCode, path: str, joins_clauses: bool) -> list[Definition]:
    built: list[Definition] = []
    stack: list[tuple[int, int, int]] = []  # index, start and end of the definitions around
    wrapped = _WrapperStarts(findings.wrappers)
    wanted = _wanted(findings, path)
    findings.comments.leave_out({code.row(match.start) for match in wanted})
    for match in wanted:
        end = code.trimmed_end(match.start, -match.negative_end)
        while stack and (stack[-1][2] <= match.start or stack[-1][1:] == (match.start, end)):
            stack.pop()
        start = wrapped.start_of(match.start, end)
        definition = _build(match, (start, end), stack[-1][0] if stack else -1, built, findings, code, path)
        if joins_clauses and built and _is_next_clause(built[-1], definition):
            docstring = built[-1].docstring or definition.docstring
            built[-1] = built[-1]._replace(end=definition.end, last_row=definition.last_row, docstring=docstring)
        else:
            stack.append((len(built), match.start, end))
            built.append(definition)
    return _with_docstrings(built, findings.comments.docs)


def _wanted(findings: Findings, path: str) -> list[FoundDefinition]:
    """Return the matches that are definitions, in the order of the file, outer ones first."""
    is_header = path.endswith(HEADER_SUFFIXES)
    imported = {statement.span for statement in findings.imports.values()}
    wanted: list[FoundDefinition] = []
    for match in sorted(findings.definitions.values()):
        is_import = match.role == "constant" and (match.start, -match.negative_end) in imported  # `x = require(…)`
        is_second_name = match.role == "scope" and bool(wanted) and wanted[-1].start == match.start
        if not is_import and not is_second_name and (is_header or match.role != "prototype"):
            wanted.append(match)
    return wanted


class _WrapperStarts:
    """Finds the start of the node around a definition; called in the order of the file."""

    def __init__(self, wrappers: Sequence[tuple[int, int]]) -> None:
        self._wrappers = sorted(wrappers, reverse=True)

    def start_of(self, start: int, end: int) -> int:
        """Return the start of the outermost wrapper around the first definition in it, else the given start."""
        first = start
        while self._wrappers and self._wrappers[-1][0] <= start:
            wrapper_start, wrapper_end = self._wrappers.pop()
            if wrapper_end >= end:
                first = min(first, wrapper_start)
        return first


def _build(
    match: FoundDefinition,
    span: tuple[int, int],
    parent: int,
    built: Sequence[Definition],
    findings: Findings,
    code: SourceCode,
    file: str,
) -> Definition:
    kind = DEFINITION_ROLES[match.role]
    start, end = span
    lead_row, first_row, is_test, docstring = findings.comments.read_above(code.row(start))
    above = start if first_row == code.row(start) else code.starts[first_row]
    mark = findings.comments.mark_between(above, match.name_start) if kind in CALLABLE else ""
    is_beside = is_test and kind is SymbolKind.FUNCTION and not _is_told(file, parent, built)
    is_titled = match.role == "test" or is_beside
    match = match._replace(name=as_title((match.name,))) if is_beside else match
    path, name = (match.name, match.name) if is_titled else _read_name(match.name)
    if match.role == "parameter":  # A member of the type; what else is there is of its constructor.
        parent = built[parent].parent
        start, end = match.name_start, match.name_start + len(match.name.encode())
    outer = built[parent] if parent >= 0 else None
    if outer is not None and outer.kind in (SymbolKind.TYPE, None):
        kind = _MEMBER_KINDS.get(kind, kind)
    qualifiers = (outer.qualified_name if outer is not None else "", _read_name(match.owner)[0])
    return Definition(
        kind=kind,
        name=name,
        qualified_name=".".join(filter(None, (*qualifiers, path))),
        start=start,
        end=end,
        lead_row=lead_row,
        first_row=first_row,
        last_row=code.row(span[1] - 1),
        parent=parent,
        signature=_with_mark(_read_signature(match, span[1], code, findings.comments), mark),
        docstring=docstring[:DOCSTRING_CHARS],
        is_declared=match.is_declared,
        name_start=match.name_start,
        takes=match.takes,
    )


def _is_told(path: str, parent: int, built: Sequence[Definition]) -> bool:
    """Return whether the file or the module around a function says that it is a test."""
    around = built[parent].qualified_name if parent >= 0 else ""
    return categorise(path) is Category.TESTS or is_inline_test(path, around)


def _read_name(text: str) -> tuple[str, str]:
    """Return a name with its qualifiers and without: `A.b` and `b` for `A::b`, `A\\b`, `*A.b` and `A<T>::b`.

    JavaScript's private `#b` is found as `b`; it keeps the mark where it is qualified, since a class may have both.
    """
    plain = without_marks(text)
    if plain.isidentifier():
        return text if text.startswith("#") else plain, plain
    if operator := operator_name(plain):
        return operator, operator
    plain = " ".join(plain.split())
    if _UNNAMED.fullmatch(plain) and not _SHORT_TYPE.fullmatch(plain):  # A long one, or one with an expression.
        plain = plain[0] + plain[-1]
    text = _TYPE_ARGUMENTS.sub("", plain)
    plain = text.partition("<")[0].translate(_NOT_IN_NAMES)
    parts = [part for part in plain.replace("::", ".").replace("\\", ".").replace(":", ".").split(".") if part]
    return (".".join(parts), parts[-1]) if parts and " " not in text else (text, text)  # An operator, or a sentence.


def _read_signature(match: FoundDefinition, end: int, code: SourceCode, comments: Comments) -> str:
    """Return the definition up to its body on one line, without annotations and comments, with `const` or `export`."""
    start, body_start = match.start, match.body_start
    line = code.starts[code.row(match.name_start)]
    if code.data.startswith(_ANNOTATION_MARKS, start) or b"".join(code.data[line:start].split()).isalpha():
        start = line
    if body_start <= start:
        line_end = code.data.find(b"\n", match.name_start, end)
        body_start = line_end if line_end >= 0 else end
    text = " ".join(comments.text_without(start, min(body_start, start + 4 * SIGNATURE_CHARS)).split())
    for mark in _SIGNATURE_ENDS:
        text = text.removesuffix(mark).rstrip()
    return text[:SIGNATURE_CHARS]


def _with_mark(signature: str, mark: str) -> str:
    """Return a signature that begins with what makes the function a test."""
    return f"{mark} {signature}"[:SIGNATURE_CHARS] if mark and not MARKED_TEST.match(signature) else signature


def _is_next_clause(before: Definition, after: Definition) -> bool:
    return before.qualified_name == after.qualified_name and after.is_callable


def _with_docstrings(definitions: list[Definition], docs: list[tuple[int, str]]) -> list[Definition]:
    around = enclosing_indexes(definitions, [start for start, _ in docs])
    for index, (_, words) in zip(around, docs, strict=True):
        if index >= 0:
            definitions[index] = definitions[index]._replace(docstring=words[:DOCSTRING_CHARS])
    return definitions


def _build_imports(
    findings: Findings, code: SourceCode, path: str, style: ImportStyle, definitions: Sequence[Definition]
) -> list[Import]:
    built: list[Import] = []
    around = enclosing_indexes(definitions, sorted(findings.imports))
    for index, (start, statement) in zip(around, sorted(findings.imports.items()), strict=True):
        depth = modules_around(definitions, index)
        source, used_style = statement.source, style
        if statement.is_file:
            used_style, source = ImportStyle.PATH, f"./{source.lstrip('/')}"
        found = expand_imports(used_style, path, code.row(start), source, statement.items, statement.alias, depth)
        is_inside = index >= 0 and definitions[index].is_callable
        built += [each._replace(inside=index) for each in found] if is_inside else found
    return built
