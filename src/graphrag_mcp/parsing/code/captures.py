"""Sorts what a language's query finds in a syntax tree by role: definitions and imports here, others beside.

The vocabulary of `languages/*/outline.scm`; each pattern has exactly one of the roles:

    @type @function @method @constant @field @module   a definition, the whole node, with
        @name, and optionally @body (where its signature ends), or @value (what has that body), @owner (the type it is a
        member of), @among (the nameless type whose member it is, which must be all of one with a name, or one of
        several that are);
        a pattern without @name takes both from the node's fields (faster to compile for large grammars)
    @test        a test that its framework knows by a title, with @name, and @title where the title is elsewhere
    @prototype   a function that is defined elsewhere; counts in headers only
    @parameter   a parameter of a constructor that is a field of the type, likewise with @name
    @setter      what sets a field, likewise with @name: it has this and "=" as its name, as in Ruby
    @scope       a block that qualifies its members and defines nothing, with @name
    @wrapper     a node around a definition that belongs to it: decorators, `export`, `template`
    @decorator   a node directly above a definition that belongs to it: attributes, annotations; @decorator.test: one
                 that makes it a test, which has a title where its place does not tell that it is one
    @mark        an annotation above a definition, or inside of it before its name, with @name, its own
    @comment     a comment
    @doc         a docstring inside the definition that it describes
    @call        the name of what is called, optionally with @receiver (what stands before the dot), or @value where
                 that is never a module or a type; and @arguments, where these are not below the call; @call.base: a
                 word for the type around it or for one above that, or the name of one, whose constructor is called
    @called      likewise, unless it is a local variable
    @set         the name of a call to which a value is assigned, so that it calls its setter; @set.read: itself, too
    @bare        a name that is called unless it is a local variable
    @handed      a name that may be that of a function, as a value, likewise; both optionally with @receiver
    @bound       a name that is a local variable of the block around it from here on
    @receiving   a block in which a bare call may be one of a member of a value that the block is given
    @block       a block with variables of its own; @block.own: one that sees none of those around it
    @reference   the name of a type that is used
                 with @attribute around it where the ending of the type's name may be left out
    @base        the name of a type that the definition around it extends, implements or embeds; optionally with
                 @receiver, or with @below: another type that does so; with @above: an attribute of that type
    @import      an import statement, with @source, and optionally @item (a name taken from it) and @alias;
                 @import.file where the source is a file relative to this one
    @item        a name taken by the import around it, with @alias likewise, where the source comes after the names:
                 a pattern of the whole statement would take quadratic time
    @typed       a declaration of a @variable with its type, @kind; @made: one whose value is an instance of @kind;
                 @made.own: a field of the own instance that is given such a value; @made.new: a variable that begins
                 here, whatever has its name before; @held: a new variable whose value is that of @kind, a field
    @bounded     a parameter for types, @variable, and what each of them extends or implements, @kind
    @generic     the name of a parameter for types, three nodes below what declares it
    @described   a block of tests, with the type that they describe, @kind
    @namespace   that of the file, in which are the types that are written without another one and are not imported
    @code        a text that is code of the language, with the names of its @parameters; only what it calls or hands on
                 counts
    @setting     a string that names a setting, outside of the arguments of a call

Names of captures that begin with "_" serve predicates. Where several patterns name one definition, the first wins.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from itertools import islice
from typing import NamedTuple

from msgspec import Struct, field
from tree_sitter import Node

from graphrag_mcp.languages.grammars import Captures, Match
from graphrag_mcp.languages.language import Language
from graphrag_mcp.languages.syntax import SourceCode, outwards
from graphrag_mcp.languages.testing import TEST_MARK
from graphrag_mcp.model.files import Count, SymbolKind
from graphrag_mcp.parsing.code.names import NAMING_ROLES, as_title, last_name, without_marks
from graphrag_mcp.parsing.code.uses import HOLDING_ROLES, Counting, Uses
from graphrag_mcp.parsing.outline import Comment

_COMMENT_MARKS = " \t/*#;!-{}|\"'<>=`"
_DOC_MARKS = ("@doc", "@typedoc", "@shortdoc")  # Elixir's docstrings are attributes above the definition.
DEFINITION_ROLES: dict[str, SymbolKind | None] = {
    "type": SymbolKind.TYPE,
    "function": SymbolKind.FUNCTION,
    "method": SymbolKind.METHOD,
    "constant": SymbolKind.CONSTANT,
    "field": SymbolKind.FIELD,
    "setter": SymbolKind.FIELD,
    "module": SymbolKind.MODULE,
    "test": SymbolKind.FUNCTION,
    "prototype": SymbolKind.FUNCTION,
    "parameter": SymbolKind.FIELD,
    "scope": None,
}
_STUB = b"..."
# Functions in the grammars that have no body where they are only declared.
_ONLY_DECLARED = """
    abstract_method_signature declaration function_declaration function_signature function_signature_item
    method_declaration method_elem method_signature protocol_function_declaration
"""
_CAN_LACK_BODY = frozenset(_ONLY_DECLARED.split())
_MOST_BEFORE = 8  # Nodes of a declaration of which one may be such a list.
_MOST_GUARDS = 30  # Around a declaration; nested more deeply it is none of the file.

_BESIDE = frozenset(("union_type", "intersection_type", "parenthesized_type"))


class _Above(NamedTuple):
    """A comment or decorator on rows of its own, known by its last row."""

    first_row: int
    is_decorator: bool
    is_doc: bool  # Describes the next definition, even after a blank line.
    is_test: bool  # Makes the next definition a test.
    words: str


class Comments:
    """What a query found of the roles of comments, decorators, docstrings and marks."""

    def __init__(self, code: SourceCode) -> None:
        self._code = code
        self.all: list[Comment] = []
        self.docs: list[tuple[int, str]] = []  # start and words of a docstring
        self._above: dict[int, _Above] = {}  # by the last row
        self._marks: list[tuple[int, str]] = []  # start and text of what makes a test: `@Test`
        self._spans: list[tuple[int, int]] = []

    def add(self, role: str, captures: Captures) -> None:
        """Add a comment or a decorator."""
        node = captures[role][0]
        is_decorator = role != "comment"
        start, end = node.start_byte, self._code.trimmed_end(*node.byte_range)
        first, last = self._code.row(start), self._code.row(end - 1)
        words = "" if is_decorator else _words(self._code.text(start, end))
        if words:
            self.all.append(Comment(first, words))
        if not is_decorator:
            self._spans.append((start, end))
        if not self._code.data[self._code.starts[first] : start].strip():
            is_doc = self._code.data.startswith(b"/**", start)
            self._above[last] = _Above(first, is_decorator, is_doc, role == "decorator.test", words)

    def add_doc(self, role: str, captures: Captures) -> None:
        """Add a docstring."""
        start, words = captures[role][0].start_byte, _words(self._code.node_text(captures[role][0]))
        self.docs.append((start, words))
        self.all.append(Comment(self._code.row(start), words))

    def add_mark(self, role: str, captures: Captures) -> None:
        """Add an annotation if it makes a function a test."""
        start, name = captures[role][0].start_byte, last_name(self._code.node_text(captures["name"][0]))
        if TEST_MARK.fullmatch(name):
            opening = self._code.text(start, start + 1)
            mark = f"@{name}" if opening == "@" else f"{'#' * (opening == '#')}[{name}]"
            self._marks.append((start, mark))

    def finish(self) -> None:
        """Put what was added in the order of the file."""
        self.docs.sort()
        self._marks.sort()
        self._spans.sort()

    def leave_out(self, rows: Iterable[int]) -> None:
        """Leave out what ends in rows in which a definition begins: it is of the definition beside it."""
        for row in rows:
            self._above.pop(row, None)

    def read_above(self, row: int) -> tuple[int, int, bool, str]:
        """Return the first row of the comments directly above a row, that of the decorators, and what they say.

        That is whether the decorators make a test of what is in the row, and the words of the comments.
        """
        first, is_test, words = row, False, []
        while above := self._above.get(row - 1) or self._doc_above_blank(row - 2):
            row, is_test = above.first_row, is_test or above.is_test
            if above.is_decorator:
                first = row
            elif above.words:
                words.append(above.words)
        return row, first, is_test, "\n".join(reversed(words))

    def _doc_above_blank(self, row: int) -> _Above | None:
        above, starts = self._above.get(row), self._code.starts
        if above is None or not above.is_doc or self._code.data[starts[row + 1] : starts[row + 2]].strip():
            return None
        return above

    def mark_between(self, start: int, end: int) -> str:
        """Return what makes a definition a test, "" for nothing. start, end: where it begins, and its name."""
        index = bisect_left(self._marks, (start, ""))
        return self._marks[index][1] if index < len(self._marks) and self._marks[index][0] < end else ""

    def text_without(self, start: int, end: int) -> str:
        """Return the text between two offsets without the comments that begin there."""
        parts, first = [], bisect_left(self._spans, (start, 0))
        for begin, stop in islice(self._spans, first, None):
            if begin >= end:
                break
            parts.append(self._code.text(start, begin))
            start = max(start, stop)
        return " ".join((*parts, self._code.text(start, max(start, end))))


def _words(comment: str) -> str:
    """Return a comment without its delimiters."""
    for mark in _DOC_MARKS:
        comment = comment.removeprefix(mark)
    lines = (line.strip(_COMMENT_MARKS) for line in comment.split("\n"))
    return "\n".join(line for line in lines if line)


class FoundDefinition(NamedTuple):
    """One match of a definition, in byte offsets; `body_start` is 0 where the query names no body."""

    start: int
    negative_end: int  # An outer node sorts before the nodes that it contains.
    pattern: int
    name_start: int
    role: str
    name: str
    owner: str
    body_start: int
    is_declared: bool  # Only: the body is elsewhere, or nowhere.
    takes: Count


class FoundImport(Struct):
    """The matches of one import statement; items are pairs of a name and its alias."""

    span: tuple[int, int]
    source: str
    is_file: bool
    alias: str = ""
    items: list[tuple[str, str]] = field(default_factory=list)


class Findings:
    """Everything that one query found in one file."""

    def __init__(self, code: SourceCode, language: Language) -> None:
        self._code = code
        self._counting = Counting(language.arguments, code.data)
        self.comments = Comments(code)
        self.uses = Uses(code, language, self._counting)
        self.definitions: dict[int, FoundDefinition] = {}  # by the start of the name
        self.wrappers: list[tuple[int, int]] = []
        self.imports: dict[int, FoundImport] = {}  # by the start of the source
        self._of_alias: dict[int, bool] = {}  # Nodes of types and around them: whether they are all of an alias.
        self._items: list[tuple[int, str, str]] = []  # start, name and alias, before the imports are known

    def collect(self, matches: Iterable[Match]) -> None:
        """Collect all matches of the query."""
        readers = self._readers()
        roles: dict[int, str] = {}
        for pattern, captures in matches:
            role = roles.get(pattern)
            if role is None:
                role = roles[pattern] = next(role for role in (*DEFINITION_ROLES, *readers) if role in captures)
            if role in DEFINITION_ROLES:
                self._add_definition(captures[role][0], pattern, role, captures)
            else:
                readers[role](role, captures)
        self._add_items()
        self.comments.finish()
        self.uses.finish()

    def _readers(self) -> dict[str, Callable[[str, Captures], None]]:
        """Return what reads the matches of each other role; a match has the first of them that is among its captures.

        It is not kept: an object that holds its own methods is freed by the garbage collector only, with its tree.
        """
        comments, uses = self.comments, self.uses
        return {
            "call": uses.add_call,
            "call.base": uses.add_base_call,
            **dict.fromkeys(NAMING_ROLES, uses.add_naming),
            "called": uses.add_called,
            "generic": uses.add_generic,
            "reference": uses.add_type,
            "base": uses.add_base,
            **dict.fromkeys(("import", "import.file"), self._add_import),
            "item": self._add_item,
            "setting": uses.add_setting,
            "receiving": uses.add_receiving,
            **dict.fromkeys(("comment", "decorator.test", "decorator"), comments.add),
            "doc": comments.add_doc,
            "namespace": uses.add_namespace,
            "wrapper": self._add_wrapper,
            "described": uses.add_described,
            "mark": comments.add_mark,
            **dict.fromkeys(("set.read", "set"), uses.add_set),
            **dict.fromkeys(HOLDING_ROLES, uses.add_variable),
        }

    def _add_definition(self, node: Node, pattern: int, role: str, captures: Captures) -> None:
        if "name" in captures:
            name: Node | None = captures["name"][0]
            body = captures["body"][0] if "body" in captures else None
            if "value" in captures:
                body = captures["value"][0].child_by_field_name("body")
        else:
            name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None or (node.type == "declaration" and role == "constant" and not _is_of_file(node)):
            return
        if "among" in captures and not self._is_of_alias(captures["among"][0]):
            return
        if role == "method" and node.type == "field_declaration" and _is_initialised(node, name):
            return
        name_start, text = name.start_byte, self._code.node_text(name)
        if not text.strip():
            return  # The parser put a name where the grammar wants one.
        if role == "test":
            text = as_title(map(self._code.node_text, captures.get("title", captures["name"])))
        if role == "setter":
            name_start, text = name_start + 1, f"{without_marks(text)}="  # The field has the same name.
        known = self.definitions.get(name_start)
        if known is None or pattern < known.pattern:
            self.definitions[name_start] = FoundDefinition(
                node.start_byte,
                -max(node.end_byte, body.end_byte if body else 0),
                pattern,
                name_start,
                role,
                text,
                self._text("owner", captures),
                body.start_byte if body else 0,
                self._is_declared(node, body),
                self._counting.taken(node),
            )

    def _is_of_alias(self, node: Node) -> bool:
        """Return whether a nameless type is what one with a name stands for, or one of several that are."""
        around: list[int] = []
        is_so: bool | None = None
        for outer in outwards(node.parent):
            is_so = self._of_alias.get(outer.id)
            if is_so is None and outer.type not in _BESIDE:
                is_so = outer.type == "type_alias_declaration"
            around.append(outer.id)
            if is_so is not None:
                break
        self._of_alias |= dict.fromkeys(around, bool(is_so))
        return bool(is_so)

    def _is_declared(self, node: Node, body: Node | None) -> bool:
        """Return whether a function has no body, or Python's `...` as its body."""
        body = body or node.child_by_field_name("body")
        if body is None:
            return node.type in _CAN_LACK_BODY
        return body.end_byte - body.start_byte == len(_STUB) and self._code.data.startswith(_STUB, body.start_byte)

    def _add_wrapper(self, role: str, captures: Captures) -> None:
        self.wrappers.append(captures[role][0].byte_range)

    def _add_import(self, role: str, captures: Captures) -> None:
        source, alias = captures["source"][0], self._text("alias", captures)
        known = self.imports.get(source.start_byte)
        if known is None:
            span = captures[role][0].byte_range
            known = FoundImport(span, self._code.node_text(source), role == "import.file")
            self.imports[source.start_byte] = known
        if "item" in captures:
            known.items.append((self._code.node_text(captures["item"][0]), alias))
        elif alias:
            known.alias = alias

    def _add_item(self, role: str, captures: Captures) -> None:
        node = captures[role][0]
        self._items.append((node.start_byte, self._code.node_text(node), self._text("alias", captures)))

    def _add_items(self) -> None:
        """Add each item to the innermost import around it, if there is one."""
        imports = sorted(self.imports.values(), key=lambda item: item.span)
        starts = [item.span[0] for item in imports]
        for start, name, alias in self._items:
            place = bisect_right(starts, start) - 1
            if place >= 0 and start < imports[place].span[1]:
                imports[place].items.append((name, alias))

    def _text(self, role: str, captures: Captures) -> str:
        return self._code.node_text(captures[role][0]) if role in captures else ""


def _is_initialised(node: Node, name: Node) -> bool:
    """Return whether a name is in the list of a constructor of C++ that is read as members, behind a macro."""
    first = islice((node.child(place) for place in range(node.child_count)), _MOST_BEFORE)
    lists = (child for child in first if child is not None and child.type == "bitfield_clause")
    return any(child.end_byte <= name.start_byte for child in lists)


def _is_of_file(node: Node) -> bool:
    """Return whether a declaration of C is one of a file or namespace, maybe in a guard, and not of a function."""
    kinds = (outer.type for outer in islice(outwards(node.parent), _MOST_GUARDS + 1))
    outside = next((kind for kind in kinds if not kind.startswith("preproc_")), "")
    return outside in ("translation_unit", "declaration_list", "linkage_specification")
