"""Runs a language's query on a syntax tree and sorts the matches by their role.

The vocabulary of `languages/*/outline.scm`; each pattern has exactly one of the roles:

    @type @function @method @constant @field @module   a definition, the whole node, with
        @name, and optionally @body (where its signature ends), or @value (what has that body), @owner (the type it is a
        member of);
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
                 that is never a module or a type
    @set         the name of a call to which a value is assigned, so that it calls its setter; @set.read: itself, too
    @bare        a name that is called unless it is a local variable
    @handed      a name that may be that of a function, as a value, likewise; both optionally with @receiver
    @bound       a name that is a local variable of the block around it from here on
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
    @described   a block of tests, with the type that they describe, @kind
    @namespace   that of the file, in which are the types that are written without another one and are not imported
    @code        a text that is code of the language, with the names of its @parameters; only what it calls or hands on
                 counts
    @setting     a string that names a setting, outside of the arguments of a call

Names of captures that begin with "_" serve predicates. Where several patterns name one definition, the first wins.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from tree_sitter import Node

from graphrag_mcp.languages.grammars import Captures, Match
from graphrag_mcp.languages.language import Language
from graphrag_mcp.languages.registry import builtins_of
from graphrag_mcp.languages.syntax import SourceCode
from graphrag_mcp.languages.testing import TEST_MARK
from graphrag_mcp.model.files import ANY_COUNT, OF_FIELD, Count, SymbolKind
from graphrag_mcp.parsing.code.counting import NO_ARGUMENTS, Counting
from graphrag_mcp.parsing.code.declared import REGISTRATIONS, SETTING, Registration
from graphrag_mcp.parsing.code.described import Describing
from graphrag_mcp.parsing.code.locals import NAMING_ROLES, Bindings, Naming, not_local
from graphrag_mcp.parsing.code.names import (
    OwnNamespace,
    as_title,
    called_name,
    fields_of,
    is_macro,
    last_name,
    type_name,
    without_marks,
)
from graphrag_mcp.parsing.outline import (
    MACRO_RECEIVER,
    SUPER_RECEIVER,
    UNKNOWN_RECEIVER,
    Base,
    Comment,
    Reference,
    Variable,
    as_parameter,
)

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
_HOLDING = ("typed", "made.own", "made.new", "made", "held", "bounded")
_ROLES = (
    *DEFINITION_ROLES,
    "call",
    *NAMING_ROLES,
    *("reference", "base", "import", "import.file", "item", "setting", "comment", "decorator.test", "decorator"),
    *("doc", "namespace", "wrapper", "described", "mark", "set.read", "set"),
    *_HOLDING,
)
_COMMENT_MARKS = " \t/*#;!-{}|\"'<>=`"
_DOC_MARKS = ("@doc", "@typedoc", "@shortdoc")  # Elixir's docstrings are attributes above the definition.
_QUALIFYING = frozenset({".", "::", "\\"})
_MARKS = tuple(mark.encode() for mark in _QUALIFYING)
_BLANKS = 64  # Between a mark and a name, mostly none.
_IMPORTING = ("require(", "import(", "@import(")  # Their value is a module.
_TYPE_ARGUMENTS = re.compile(r"(::)?<[^()]*>\Z")
_SUPER = re.compile(r"super\s*(\(.*\)|<.*>)\Z", re.DOTALL)  # Python's `super()`, Kotlin's `super<Base>`.
_STUB = b"..."
# Functions in the grammars that have no body where they are only declared.
_ONLY_DECLARED = """
    abstract_method_signature declaration function_declaration function_signature function_signature_item
    method_declaration method_elem method_signature protocol_function_declaration
"""
_CAN_LACK_BODY = frozenset(_ONLY_DECLARED.split())
_MOST_GUARDS = 30  # Around a declaration; nested more deeply it is none of the file.
_HERE = ("crate", "self", "super", "Self")
_MODULE_ABOVE = re.compile(r"super(?:::super)+")
_OWN_MEMBER = ("this->", "this.", "self.", "this?.")
_PATH = re.compile(rb"(?:\w++::)*+\w*+\Z", re.ASCII)  # Up to the end of a receiver: among tokens that is its last name.
_RECEIVER_BYTES = 60  # Longer ones are chains of calls.


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


class Above(NamedTuple):
    """A comment or decorator on rows of its own, known by its last row."""

    first_row: int
    is_decorator: bool
    is_doc: bool  # Describes the next definition, even after a blank line.
    is_test: bool  # Makes the next definition a test.
    words: str


@dataclass(slots=True)
class FoundImport:
    """The matches of one import statement; items are pairs of a name and its alias."""

    span: tuple[int, int]
    source: str
    is_file: bool
    alias: str = ""
    items: list[tuple[str, str]] = field(default_factory=list)


class Findings:
    """Everything that one query found in one file."""

    def __init__(self, code: SourceCode, language: Language) -> None:
        self._code, self._builtins = code, builtins_of(language.name)
        self._word_for_described, self._has_capitals = language.described, language.capitals
        self._attribute_ending = language.attribute_ending
        self._counting = Counting(language.arguments, code.data)
        self.definitions: dict[int, FoundDefinition] = {}  # by the start of the name
        self.wrappers: list[tuple[int, int]] = []
        self.above: dict[int, Above] = {}  # by the last row
        self.marks: list[tuple[int, str]] = []  # start and text of what makes a test: `@Test`
        self.comments: list[Comment] = []
        self._spans: list[tuple[int, int]] = []  # of comments
        self.docs: list[tuple[int, str]] = []
        self.references: dict[tuple[int, bool], Reference] = {}  # by start, and whether it is a call
        self.bases: set[Base] = set()
        self.imports: dict[int, FoundImport] = {}  # by the start of the source
        self.items: list[tuple[int, str, str]] = []  # start, name and alias, before the imports are known
        self.declaring: list[tuple[Node, Registration]] = []
        self.variables: list[Variable] = []
        self.described: list[Describing] = []
        self.namespace = OwnNamespace()
        self._namings: list[Naming] = []
        self._set: dict[int, bool] = {}  # Names to which values are assigned, by start, and whether they are read, too.

    def collect(self, matches: Iterable[Match]) -> None:
        """Collect all matches of the query."""
        roles: dict[int, str] = {}
        for pattern, captures in matches:
            role = roles.get(pattern)
            if role is None:
                role = roles[pattern] = next(role for role in _ROLES if role in captures)
            if role in DEFINITION_ROLES:
                self._add_definition(captures[role][0], pattern, role, captures)
            elif role == "namespace":
                self.namespace.names.append(self._code.node_text(captures[role][0]))
            elif role in ("set", "set.read"):
                self._set[captures[role][0].start_byte] = role == "set.read"
            elif role == "described":
                kind = self._code.node_text(captures["kind"][0]).removeprefix("::")
                self.described.append(Describing(*captures[role][0].byte_range, kind))
            elif role == "mark":
                self._add_mark(captures[role][0], last_name(self._code.node_text(captures["name"][0])))
            else:
                self._add_other(captures[role][0], role, captures)
        self.marks.sort()
        self._spans.sort()
        self._add_items()
        self._add_bare_names()
        for start, is_read in self._set.items():  # Within a name, no other one begins.
            if call := self.references.get((start, True)):
                setter = call._replace(start=start + is_read, name=f"{call.name}=", given=Count(1, 1))
                self.references[setter.start, True] = setter

    def _add_other(self, node: Node, role: str, captures: Captures) -> None:
        match role:
            case "call":
                if (named := called_name(node, self._code)) is not None:
                    self._add_reference(named, captures, is_call=True)
            case "reference":
                self._add_reference(node, captures, is_call=False)
            case "comment" | "decorator" | "decorator.test":
                self._add_above(node, role)
            case "wrapper":
                self.wrappers.append(node.byte_range)
            case "base":
                self._add_base(node, captures)
            case "doc":
                self._add_doc(node)
            case "setting":
                self.declaring.append((node, SETTING))
            case "item":
                self.items.append((node.start_byte, self._code.node_text(node), self._alias(captures)))
            case _ if role in _HOLDING:
                self._add_variable(captures["variable"][0], role, captures["kind"][0])
            case _ if role in NAMING_ROLES:
                self._namings.append(Naming(node.start_byte, role, node, captures))
            case _:
                self._add_import(node, captures, role == "import.file")

    def _add_variable(self, variable: Node, role: str, kind: Node) -> None:
        if role == "held":
            is_short = kind.end_byte - kind.start_byte <= _RECEIVER_BYTES
            fields = fields_of(self._code.node_text(kind)) if is_short else ""
            held = OF_FIELD + fields if fields else ""
        else:
            held = type_name(self._code.node_text(kind))
        name = self._code.node_text(variable).lstrip("$@:")
        name = as_parameter(name) if role == "bounded" else name
        said = (role in ("typed", "bounded", "held"), role == "made.own", role in ("made.new", "held"))
        if held:
            self.variables.append(Variable(variable.start_byte, name, held, *said))

    def _add_reference(self, node: Node, captures: Captures, *, is_call: bool) -> None:
        name = without_marks(self._code.node_text(node))
        start = node.start_byte
        receivers = captures.get("receiver") or captures.get("value")
        if self.namespace.names and "value" not in captures:
            self.namespace.note(receivers[0] if receivers else node, self._code)
        before = receivers[0] if receivers else self._qualifier(node)
        receiver = self._read_receiver(before) if before else ""
        if receiver == UNKNOWN_RECEIVER and (start, is_call) in self.references:
            return  # Another pattern knows it.
        if is_call and self._code.data.startswith(b"!", node.end_byte) and is_macro(node):
            receiver = MACRO_RECEIVER
        is_builtin = name in self._builtins
        said = (start, self._code.row(start), name, receiver, is_call, is_builtin)
        of_value = "value" in captures
        is_path = before is not None and not of_value and self._code.data.startswith(b"::", before.end_byte)
        is_plain = before is not None and self._is_plain(before, receiver)
        has_path = is_path or (self._has_capitals and receiver[:1].isupper())
        path = self._path_before(before) if has_path and before is not None else ""
        is_far = bool(path) and path.partition("::")[0] not in _HERE
        is_field = is_call and before is not None and before.end_byte - before.start_byte <= _RECEIVER_BYTES
        fields = fields_of(self._code.node_text(before)) if is_field and before is not None else ""
        given = self._counting.given(node, is_of_value=of_value) if is_call else ANY_COUNT
        self.references[start, is_call] = Reference(
            *said,
            is_of_value=of_value,
            is_path=is_path,
            is_plain=is_plain,
            is_far=is_far,
            path=path,
            fields=fields,
            given=given,
        )
        if "attribute" in captures:  # Within a name, no other one begins.
            whole = self.references[start, is_call]._replace(start=start + 1, name=name + self._attribute_ending)
            self.references[whole.start, is_call] = whole
        registration = REGISTRATIONS.get(name)
        if registration and registration.fits(node, receiver, is_call):
            self.declaring.append((node, registration))

    def _path_before(self, receiver: Node) -> str:
        """Return `a::b` of the receiver `a::b::C`."""
        start, end = receiver.byte_range
        text = self._code.data[max(0, start - _RECEIVER_BYTES) : min(end, start + _RECEIVER_BYTES)]
        path = _PATH.search(text)
        return path[0].decode().rpartition("::")[0] if path else ""

    def _is_plain(self, node: Node, name: str) -> bool:
        """Return whether a receiver is a variable, or a field of the own instance."""
        if node.end_byte - node.start_byte > _RECEIVER_BYTES:
            return False
        text = self._code.node_text(node).lstrip("$@")
        return text == name or (text.removesuffix(name) in _OWN_MEMBER and text.endswith(name))

    @property
    def bindings(self) -> Bindings:
        """Where the variables of known types are bound, and others with their names."""
        return Bindings(self._namings, self._code, {variable.name for variable in self.variables})

    def _add_bare_names(self) -> None:
        """Add the names that may be local variables as well and are not; a value in capitals is a constant."""
        known = self.references
        namings = [naming for naming in self._namings if (naming.start, True) not in known]
        for start, role, node, captures in not_local(namings, self._code):
            name = without_marks(self._code.node_text(node))
            is_call = role == "bare" and name != self._word_for_described
            if name not in self._builtins and (is_call or not name.isupper()):
                before = captures["receiver"][0] if "receiver" in captures else None
                receiver = self._read_receiver(before) if before else ""
                is_path = before is not None and self._code.data.startswith(b"::", before.end_byte)
                said = (start, self._code.row(start), name, receiver, is_call)
                is_plain = before is not None and self._is_plain(before, receiver)
                given = NO_ARGUMENTS if is_call else ANY_COUNT
                known[start, is_call] = Reference(
                    *said, is_handed=role == "handed", is_path=is_path, is_plain=is_plain, given=given
                )

    def _add_base(self, node: Node, captures: Captures) -> None:
        start = node.start_byte
        receiver = self._read_receiver(captures["receiver"][0]) if "receiver" in captures else ""
        below = self._code.node_text(captures["below"][0]) if "below" in captures else ""
        if self.namespace.names:
            self.namespace.note(node, self._code)
        name, is_above = last_name(self._code.node_text(node)), "above" in captures
        self.bases.add(Base(start, self._code.row(start), name, receiver, below, is_above))

    def _read_receiver(self, node: Node) -> str:
        """Return `c` of the receiver `a.b.c`, and UNKNOWN_RECEIVER for other expressions."""
        end = node.end_byte
        text = self._code.text(max(node.start_byte, end - _RECEIVER_BYTES), end)
        if text.isidentifier() or _MODULE_ABOVE.fullmatch(text):
            return text
        if _SUPER.match(text):
            return SUPER_RECEIVER
        if text.startswith(_IMPORTING):
            return text.partition("(")[0]
        word = last_name(_TYPE_ARGUMENTS.sub("", text).replace("->", ".")).strip("@$&*!?")
        return word if word.isidentifier() else UNKNOWN_RECEIVER

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
                self._code.node_text(captures["owner"][0]) if "owner" in captures else "",
                body.start_byte if body else 0,
                self._is_declared(node, body),
                self._counting.taken(node),
            )

    def _is_declared(self, node: Node, body: Node | None) -> bool:
        """Return whether a function has no body, or Python's `...` as its body."""
        body = body or node.child_by_field_name("body")
        if body is None:
            return node.type in _CAN_LACK_BODY
        return body.end_byte - body.start_byte == len(_STUB) and self._code.data.startswith(_STUB, body.start_byte)

    def _add_above(self, node: Node, role: str) -> None:
        is_decorator = role != "comment"
        start, end = node.start_byte, trimmed_end(self._code, node.start_byte, node.end_byte)
        first, last = self._code.row(start), self._code.row(end - 1)
        words = "" if is_decorator else _words(self._code.text(start, end))
        if words:
            self.comments.append(Comment(first, words))
        if not is_decorator:
            self._spans.append((start, end))
        if not self._code.data[self._code.starts[first] : start].strip():
            is_doc = self._code.data.startswith(b"/**", start)
            known = self.above.get(last)
            is_test = role == "decorator.test" or (known is not None and known.is_test)
            self.above[last] = Above(first, is_decorator, is_doc, is_test, words)

    def _add_mark(self, node: Node, name: str) -> None:
        if TEST_MARK.fullmatch(name):
            opening = self._code.text(node.start_byte, node.start_byte + 1)
            mark = f"@{name}" if opening == "@" else f"{'#' * (opening == '#')}[{name}]"
            self.marks.append((node.start_byte, mark))

    def mark_between(self, start: int, end: int) -> str:
        """Return what makes a definition a test, "" for nothing. start, end: where it begins, and its name."""
        index = bisect_left(self.marks, (start, ""))
        return self.marks[index][1] if index < len(self.marks) and self.marks[index][0] < end else ""

    def without_comments(self, start: int, end: int) -> str:
        """Return the text between two offsets without the comments that begin there."""
        parts, first = [], bisect_left(self._spans, (start, 0))
        for begin, stop in islice(self._spans, first, None):
            if begin >= end:
                break
            parts.append(self._code.text(start, begin))
            start = max(start, stop)
        return " ".join((*parts, self._code.text(start, max(start, end))))

    def _add_doc(self, node: Node) -> None:
        start = node.start_byte
        words = _words(self._code.node_text(node))
        self.docs.append((start, words))
        self.comments.append(Comment(self._code.row(start), words))

    def _add_import(self, node: Node, captures: Captures, is_file: bool) -> None:
        source = captures["source"][0]
        alias = self._alias(captures)
        known = self.imports.get(source.start_byte)
        if known is None:
            known = FoundImport(node.byte_range, self._code.node_text(source), is_file)
            self.imports[source.start_byte] = known
        if "item" in captures:
            known.items.append((self._code.node_text(captures["item"][0]), alias))
        elif alias:
            known.alias = alias

    def _add_items(self) -> None:
        """Add each item to the innermost import around it, if there is one."""
        imports = sorted(self.imports.values(), key=lambda item: item.span)
        starts = [item.span[0] for item in imports]
        for start, name, alias in self.items:
            place = bisect_right(starts, start) - 1
            if place >= 0 and start < imports[place].span[1]:
                imports[place].items.append((name, alias))

    def _qualifier(self, node: Node) -> Node | None:
        """Return `a` of the name `b` in `a.b`, `a::b` and `a\\b`."""
        before = self._code.data[max(0, node.start_byte - _BLANKS) : node.start_byte]
        if before.strip() and not before.rstrip().endswith(_MARKS):
            return None  # The way to a sibling begins at the root.
        mark = node.prev_sibling
        return mark.prev_sibling if mark is not None and mark.type in _QUALIFYING else None

    def _alias(self, captures: Captures) -> str:
        return self._code.node_text(captures["alias"][0]) if "alias" in captures else ""


def _is_of_file(node: Node) -> bool:
    """Return whether a declaration of C is one of a file or namespace, maybe in a guard, and not of a function."""
    around = node.parent
    for _ in range(_MOST_GUARDS):
        if around is None or not around.type.startswith("preproc_"):
            break
        around = around.parent
    return around is not None and around.type in ("translation_unit", "declaration_list", "linkage_specification")


def trimmed_end(code: SourceCode, start: int, end: int) -> int:
    """Return the end of a node's text, without the line break or blank lines that some grammars include."""
    data = code.data
    while end > start + 1 and data[end - 1] in b" \t\n":
        end -= 1
    return end


def _words(comment: str) -> str:
    """Return a comment without its delimiters."""
    for mark in _DOC_MARKS:
        comment = comment.removeprefix(mark)
    lines = (line.strip(_COMMENT_MARKS) for line in comment.split("\n"))
    return "\n".join(line for line in lines if line)
