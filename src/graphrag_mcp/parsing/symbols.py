"""Reads definitions, references, imports and comments out of a syntax tree with one query per language.

The vocabulary of `queries/*.scm`; each pattern has exactly one of the roles:

    @type @function @method @constant @field @module   a definition, the whole node, with
        @name, and optionally @body (where its signature ends), @owner (the type it is a member of)
    @scope       a block that qualifies its members and defines nothing, with @name
    @wrapper     a node around a definition that belongs to it: decorators, `export`, `template`
    @decorator   a node directly above a definition that belongs to it: attributes, annotations
    @comment     a comment
    @doc         a docstring inside the definition that it describes
    @call        the name of what is called, optionally with @receiver (what stands before the dot)
    @reference   the name of a type that is used
    @base        the name of a type that the definition around it extends, implements or embeds
    @import      an import statement, with @source, and optionally @item (a name taken from it) and @alias;
                 @import.file where the source is a file relative to this one
    @prototype   a @function that is defined elsewhere; counts in headers only

Names of captures that begin with "_" serve predicates. Where several patterns name one definition the first wins.
"""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from tree_sitter import Node, QueryCursor, Tree

from graphrag_mcp.model import SymbolKind
from graphrag_mcp.parsing.imports import expand_imports
from graphrag_mcp.parsing.languages import Grammar, ImportStyle
from graphrag_mcp.parsing.outline import Base, Comment, Definition, Import, Outline, Reference, enclosing_indexes

SIGNATURE_CHARS = 200
DOCSTRING_CHARS = 500  # The first paragraphs say what a thing is for; the rest is found as the chunk's text.

_KINDS: dict[str, SymbolKind | None] = {
    "type": SymbolKind.TYPE,
    "function": SymbolKind.FUNCTION,
    "method": SymbolKind.METHOD,
    "constant": SymbolKind.CONSTANT,
    "field": SymbolKind.FIELD,
    "module": SymbolKind.MODULE,
    "prototype": SymbolKind.FUNCTION,
    "scope": None,
}
_ROLES = (*_KINDS, "call", "reference", "base", "import", "import.file", "comment", "decorator", "doc", "wrapper")
_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".h++", ".inl")
_MEMBER_KINDS = {SymbolKind.FUNCTION: SymbolKind.METHOD, SymbolKind.CONSTANT: SymbolKind.FIELD}
_COMMENT_MARKS = " \t/*#;!-{}|\"'<>=`"
_DOC_MARKS = ("@doc", "@typedoc", "@shortdoc")
_ANNOTATION_MARKS = (b"@", b"[", b"#")
_SIGNATURE_ENDS = ("{", "=>", "=", " do", ":", ";", ",")
_NO_DOTS = str.maketrans({"\\": ".", "&": None, "*": None, " ": None, "\n": None})

Captures = dict[str, list[Node]]


def read_outline(tree: Tree, grammar: Grammar, path: str, source: bytes, starts: list[int]) -> Outline:
    """Return what the tree of `source` says; `starts` are the byte offsets of its lines."""
    if grammar.query is None:
        return Outline()
    return _Reader(grammar, path, source, starts).read(tree)


@dataclass(slots=True)
class _Import:
    """What several matches say of one import statement."""

    span: tuple[int, int]
    source: str
    is_file: bool
    alias: str = ""
    items: list[tuple[str, str]] = field(default_factory=list)


class _Reader:
    """Collects the query's matches of one file by role, then puts them together."""

    def __init__(self, grammar: Grammar, path: str, source: bytes, starts: list[int]) -> None:
        self._grammar, self._path, self._source, self._starts = grammar, path, source, starts
        self._found: dict[int, tuple[int, int, int, str, Captures]] = {}  # by the start of the name
        self._wrappers: list[tuple[int, int]] = []
        self._above: dict[int, tuple[int, bool, str]] = {}  # last row: first row, is a decorator, words
        self._comments: list[Comment] = []
        self._docs: list[tuple[int, str]] = []
        self._references: set[Reference] = set()
        self._bases: set[Base] = set()
        self._imports: dict[int, _Import] = {}  # by the start of the module's name

    def read(self, tree: Tree) -> Outline:
        assert self._grammar.query is not None  # noqa: S101 (read_outline has checked)
        roles: dict[int, str] = {}
        for pattern, captures in QueryCursor(self._grammar.query).matches(tree.root_node):
            role = roles.get(pattern)
            if role is None:
                role = roles[pattern] = next(role for role in _ROLES if role in captures)
            if role in ("call", "reference"):
                self._add_reference(captures[role][0], captures.get("receiver"), role == "call")
            elif role in _KINDS:
                self._add_definition(captures[role][0], pattern, role, captures)
            else:
                self._add_other(role, captures[role][0], captures)
        definitions = self._build_definitions()
        return Outline(
            definitions=definitions,
            references=sorted(reference for reference in self._references if reference.start not in self._found),
            bases=sorted(self._bases),
            imports=self._expand_imports(),
            comments=sorted(self._comments),
        )

    # ------------------------------------------------------------ one match each

    def _add_other(self, role: str, node: Node, captures: Captures) -> None:
        if role in ("comment", "decorator"):
            self._add_above(node, is_decorator=role == "decorator")
        elif role == "base":
            self._add_base(node)
        elif role == "doc":
            self._add_doc(node)
        elif role == "wrapper":
            self._wrappers.append((node.start_byte, node.end_byte))
        else:
            self._add_import(node, captures, role == "import.file")

    def _add_reference(self, node: Node, receivers: list[Node] | None, is_call: bool) -> None:
        start = node.start_byte
        receiver = self._last_word(receivers[0]) if receivers else ""
        self._references.add(Reference(start, self._row(start), self._text(start, node.end_byte), receiver, is_call))

    def _add_base(self, node: Node) -> None:
        start = node.start_byte
        self._bases.add(Base(start, self._row(start), _dotted(self._text(start, node.end_byte)).rpartition(".")[2]))

    def _add_definition(self, node: Node, pattern: int, role: str, captures: Captures) -> None:
        if role == "prototype" and not self._path.endswith(_HEADERS):
            return
        key = captures["name"][0].start_byte
        known = self._found.get(key)
        if known is None or pattern < known[2]:
            self._found[key] = (node.start_byte, -node.end_byte, pattern, role, captures)

    def _add_doc(self, node: Node) -> None:
        words = _words(self._node_text(node))
        self._docs.append((node.start_byte, words))
        self._comments.append(Comment(self._row(node.start_byte), words))

    def _add_import(self, node: Node, captures: Captures, is_file: bool) -> None:
        source = captures["source"][0]
        alias = self._node_text(captures["alias"][0]) if "alias" in captures else ""
        known = self._imports.setdefault(source.start_byte, _Import(node.byte_range, self._node_text(source), is_file))
        if "item" in captures:
            known.items.append((self._node_text(captures["item"][0]), alias))
        elif alias:
            known.alias = alias

    def _add_above(self, node: Node, is_decorator: bool) -> None:
        start, end = node.start_byte, self._trimmed_end(node.start_byte, node.end_byte)
        first, last = self._row(start), self._row(end - 1)
        words = "" if is_decorator else _words(self._text(start, end))
        if words:
            self._comments.append(Comment(first, words))
        if not self._source[self._starts[first] : start].strip():
            self._above[last] = (first, is_decorator, words)

    # ------------------------------------------------------------ putting together

    def _build_definitions(self) -> list[Definition]:
        built: list[Definition] = []
        stack: list[int] = []
        wrappers = iter(sorted(self._wrappers))
        wrapper = next(wrappers, None)
        imported = {found.span for found in self._imports.values()}
        for start, negative_end, _, role, captures in sorted(self._found.values(), key=lambda found: found[:3]):
            if role == "constant" and (start, -negative_end) in imported:
                continue  # `x = require(…)` defines nothing.
            if role == "scope" and built and built[-1].start == start:
                continue  # A second name for the same block.
            end = self._trimmed_end(start, -negative_end)
            first = start
            while wrapper is not None and wrapper[0] <= start:
                if wrapper[1] >= end:
                    first = min(first, wrapper[0])
                wrapper = next(wrappers, None)
            while stack and (
                built[stack[-1]].end <= start or (built[stack[-1]].start, built[stack[-1]].end) == (start, end)
            ):
                stack.pop()
            parent = stack[-1] if stack else -1
            definition = self._build(role, captures, (start, end), self._row(first), parent, built)
            if self._grammar.row.clauses and built and _is_next_clause(built[-1], definition):
                built[-1] = _join_clauses(built[-1], definition)
            else:
                stack.append(len(built))
                built.append(definition)
        self._docs.sort()
        for index, (_, words) in zip(
            enclosing_indexes(built, [start for start, _ in self._docs]), self._docs, strict=True
        ):
            if index >= 0:
                built[index] = replace(built[index], docstring=words[:DOCSTRING_CHARS])
        return built

    def _build(
        self, role: str, captures: Captures, span: tuple[int, int], first_row: int, parent: int, built: list[Definition]
    ) -> Definition:
        kind = _KINDS[role]
        name = self._node_text(captures["name"][0])
        qualifier = built[parent].qualified_name if parent >= 0 else ""
        if "owner" in captures:
            owner = _dotted(self._node_text(captures["owner"][0]))
            qualifier = f"{qualifier}.{owner}" if qualifier else owner
        name = _dotted(name) if "." in name or ":" in name or "\\" in name else name
        if kind is not None and parent >= 0 and built[parent].kind in (SymbolKind.TYPE, None):
            kind = _MEMBER_KINDS.get(kind, kind)
        lead_row, first_row, docstring = self._read_above(first_row)
        body = captures.get("body")
        return Definition(
            kind=kind,
            name=name.rpartition(".")[2],
            qualified_name=f"{qualifier}.{name}" if qualifier else name,
            start=span[0],
            end=span[1],
            lead_row=lead_row,
            first_row=first_row,
            last_row=self._row(span[1] - 1),
            parent=parent,
            signature=self._signature(span, captures["name"][0].start_byte, body[0].start_byte if body else 0),
            docstring=docstring[:DOCSTRING_CHARS],
        )

    def _read_above(self, row: int) -> tuple[int, int, str]:
        """Return the first row of the comments directly above, of the decorators among them, and the comments' words."""
        first, words = row, []
        while found := self._above.get(row - 1):
            row, is_decorator, text = found
            if is_decorator:
                first = row
            elif text:
                words.append(text)
        return row, first, "\n".join(reversed(words))

    def _signature(self, span: tuple[int, int], name_start: int, body_start: int) -> str:
        start, end = span
        line = self._starts[self._row(name_start)]
        before = self._source[line:start].split() if line <= start else []
        if self._source.startswith(_ANNOTATION_MARKS, start) or (before and b"".join(before).isalpha()):
            start = line  # Past the annotations; or with `const`, `export`, `type`, which stand before the node.
        if body_start <= start:
            line_end = self._source.find(b"\n", name_start, end)
            body_start = line_end if line_end >= 0 else end
        text = " ".join(self._text(start, min(body_start, start + 4 * SIGNATURE_CHARS)).split())
        for mark in _SIGNATURE_ENDS:
            text = text.removesuffix(mark).rstrip()
        return text[:SIGNATURE_CHARS]

    def _expand_imports(self) -> list[Import]:
        found: list[Import] = []
        for start, statement in sorted(self._imports.items()):
            style, source = self._grammar.row.imports, statement.source
            if statement.is_file:
                style, source = ImportStyle.PATH, source if source.startswith(".") else f"./{source.lstrip('/')}"
            found += expand_imports(style, self._path, self._row(start), source, statement.items, statement.alias)
        return found

    # ------------------------------------------------------------ bytes

    def _row(self, offset: int) -> int:
        return bisect_right(self._starts, offset) - 1

    def _text(self, start: int, end: int) -> str:
        return self._source[start:end].decode("utf-8", errors="replace")

    def _node_text(self, node: Node) -> str:
        return self._text(node.start_byte, node.end_byte)

    def _last_word(self, node: Node) -> str:
        """Return `c` of the receiver `a.b.c`; of a longer expression, such as a chain of calls, nothing."""
        end = node.end_byte
        text = self._text(max(node.start_byte, end - 60), end)
        word = text.replace("::", ".").replace("->", ".").rpartition(".")[2].lstrip("@$&*")
        return word if word.isidentifier() else ""

    def _trimmed_end(self, start: int, end: int) -> int:
        """Some grammars end a node after the line break, some after the blank lines that follow."""
        source = self._source
        while end > start + 1 and source[end - 1] in b" \t\n":
            end -= 1
        return end


def _is_next_clause(before: Definition, after: Definition) -> bool:
    return before.qualified_name == after.qualified_name and before.parent == after.parent and after.is_callable


def _join_clauses(before: Definition, after: Definition) -> Definition:
    return replace(before, end=after.end, last_row=after.last_row, docstring=before.docstring or after.docstring)


def _words(comment: str) -> str:
    """Return a comment without the marks that make it one."""
    for mark in _DOC_MARKS:
        comment = comment.removeprefix(mark)
    lines: Iterator[str] = (line.strip(_COMMENT_MARKS) for line in comment.split("\n"))
    return "\n".join(line for line in lines if line)


def _dotted(name: str) -> str:
    """Return `A.B` for `A::B<T>`, `A\\B` and `*A`."""
    return name.partition("<")[0].replace("::", ".").translate(_NO_DOTS).replace(":", ".").strip(".")
