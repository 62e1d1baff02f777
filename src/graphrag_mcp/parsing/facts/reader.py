"""Reads the facts of a file from its syntax tree.

The vocabulary of `languages/*/facts.scm`; names of captures that begin with "_" serve predicates:

    @unit        the package or namespace that the file declares
    @build       a comment that says which builds have the file
    @scope       a block: what is bound in it ends with it; the first part of it that is @outside is of what is around
    @shared      a block of which others see what is declared
    @hoisted     the name of a declaration that is one of the function around its block, @hoisted.also of both
    @function    a function, whether it has a name or not; @name is that of what it is given to, @of the value whose
                 member that is
    @indexed     an index signature of the type around it
    @returned @yielded   what the function around it gives, or gives one after the other
    @mark.*      a declaration with @name is so marked (`model.facts.Mark`)
    @listed      a function called @name, of whose parameters those in @words are given from a list
    @decorator   what is called with the declaration called @name, and gives what the name means
    @global @nonlocal   a name that is bound in the file, or in the function around
    @nameless    a type without a name, optionally with its base (@extends); @own is one that belongs to the declaration
                 called @name
    @open        the block in which the members of a @value, or of the type called @name, are known by their names alone
    @object      a literal with members; @handed is one that is an argument
    @member      a member of a nameless type or an object, with @name, @value or @type
    @interface   a type with abstract members, with @name
    @stands      a declaration with @name that stands for @type, optionally with @type_parameters; @renames one that is
                 the same type
    @type_parameters   of the declaration with @name; @generic a base that names them
    @marked      a declaration with @name, and words before it that may say what else it is (@words)
    @bind        names (@name) that hold a @type or @value, or what a loop over @loop gives; visible from its end to the
                 end of its scope, @bind.block in all of its scope, @bind.each of one with a part outside, @bind.outer
                 of the nearest without one; @bind.type names a type,
                 @bind.accessor a field that is also a function without parameters
                 @part: the name is part of a pattern; @enter: the value that a block enters;
                 @bind.member: the name is a field of the type whose function has it
    @aliased     a constant with @name may stand for a @type
    @within      the block in which @name holds @type or @value
    @narrows     the same, unless it is bound again there; of what is in it behind @after
    @embeds @extends @implements   a type on which the declaration around it is based
    @import      an import of @module, or of the `source` around it, with @item and @alias; @import.default of what it
                 exports by default
    @export      an export of @name, optionally as @alias or from @module; @export.default of a @value or name,
                 @export.all of all names of @module, @export.whole of the @value that the module is
    @into        a field that is @given a value; @into.type and @into.field likewise, @into.kind a variable of a type;
                 without any of them it is given to what its place expects
    @passed      the arguments of a call of @into.function
    @use.*       a mention, of the use after the dot (`model.facts.Use`), with @from (the value before the dot) or
                 @from.type (the type whose member it is), @use.called a call of @from itself, @use.super of the
                 constructor of what is inherited; of a call with its @arguments, or @unargued without any; @named has
                 its name, where it is another; the first pattern that fits a name decides
    @as.*        an expression whose last name is so used; another pattern says what is before it
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec.structs import astuple
from tree_sitter import Node

from graphrag_mcp.languages.grammars import Captures, Grammar, Match, Matches
from graphrag_mcp.languages.registry import load_part
from graphrag_mcp.languages.shapes import LITERAL, UNKNOWN, Shapes, arguments, instance, module
from graphrag_mcp.languages.syntax import SourceCode
from graphrag_mcp.model.facts import ASSIGNED, BUILD, TYPED, Declared, Exported, FileFacts, Flow, Imported
from graphrag_mcp.parsing.facts.declarations import MARKS, RESULTS, Declarations, Functions
from graphrag_mcp.parsing.facts.mentions import BINDERS, HOISTED, MENTIONS, OUTER, Bindings, Mentions, Used
from graphrag_mcp.parsing.facts.reading import Held, Reading, source_around, whole
from graphrag_mcp.parsing.outline import Definition

_BASES = ("embeds", "extends", "implements")
_NUMBERED = ("own", "function", "nameless", "object")
_TRAITS = ("interface", "aliased", "marked", "merges", "metaclass", "generic")  # What a pattern may say of a type.
_TYPES = ("stands", "renames", "type_parameters")
_IMPORTS = {"import": "", "import.default": "default"}  # What is imported where no item is named.
_EXPORTS = {"export": "", "export.default": "default", "export.all": "*", "export.whole": "="}


class FactReader:
    """Collects the facts of one file."""

    def __init__(self, code: SourceCode, shapes: Shapes, definitions: Sequence[Definition]) -> None:
        self._code, self._shapes = code, shapes
        self._reading = reading = Reading(code, shapes, definitions)
        self._writer = reading.writer
        held = Held(reading)
        self._declarations = declared = Declarations(reading, held)
        self._functions = Functions(reading, declared)
        self._bindings = Bindings(reading, declared, self._functions, held)
        self._mentions = Mentions(reading, self._bindings)
        self._unit = ""
        self._imports: list[Imported] = []
        self._exports: list[Exported] = []
        self._flows: list[Flow] = []

    def read(self, matches: Matches, path: str, language: str) -> FileFacts:
        """Return the facts of a file by what is found in its tree."""
        readers = self._readers()
        by_role, used = _sorted(matches.facts, (*_NUMBERED, *readers))
        for role in _NUMBERED:
            for captures in sorted(by_role.pop(role, ()), key=lambda captures: "name" not in captures):
                self._declarations.number(role, captures)
        for role, captured in by_role.items():
            for captures in captured:
                readers[role](role, captures)
        self._declarations.place_bases(matches.tree)
        self._functions.read(matches.tree)
        self._declarations.own_members()
        self._declarations.bind_own_instances()
        self._bindings.bind_all(matches.tree)
        self._reading.bound.sort(key=lambda bound: (bound.name, bound.start, -bound.stop))
        return FileFacts(
            language,
            self._shapes.unit(path, self._unit),
            matches.tree.root_node.has_error,
            [Declared(*astuple(draft)) for draft in self._reading.drafts],
            self._imports,
            self._exports,
            self._reading.bound,
            sorted([*self._mentions.read(used), *self._functions.gifts]),
            self._flows,
            whole(matches.tree)[1],
        )

    def _readers(self) -> Mapping[str, Callable[[str, Captures], None]]:
        """Return what reads the matches of a role; a match is of the first one that it has.

        It is not kept: a reader that holds its own methods is freed by the garbage collector only, with its tree.
        """
        return {
            "handed": self._declarations.add_handed,
            "member": self._declarations.add_member,
            "indexed": self._declarations.add_indexed,
            **dict.fromkeys(RESULTS, self._reading.add_nodes),
            **dict.fromkeys((*MARKS, "listed", "decorator"), self._declarations.add_mark),
            **dict.fromkeys((*OUTER, *HOISTED, "shared"), self._reading.add_nodes),
            **dict.fromkeys(BINDERS, self._bindings.add),
            **dict.fromkeys(_TYPES, self._declarations.add_type),
            **dict.fromkeys(_TRAITS, self._declarations.add_trait),
            "open": self._declarations.add_open,
            "unit": self._add_unit,
            "build": self._add_build,
            "scope": self._declarations.add_scope,
            **dict.fromkeys(_BASES, self._declarations.add_bases),
            **dict.fromkeys(_IMPORTS, self._add_import),
            **dict.fromkeys(_EXPORTS, self._add_export),
            "given": self._add_flow,
            "passed": self._add_passed,
        }

    def _add_unit(self, role: str, captures: Captures) -> None:
        self._unit = self._writer.text(captures[role][0])

    def _add_build(self, role: str, captures: Captures) -> None:
        self._bindings.add_import(captures[role][0], BUILD, self._writer.text(captures[role][0]))

    def _texts_of(self, role: str, captures: Captures) -> dict[str, str]:
        """Return the texts of the parts of an import or export, with the module of the statement around it."""
        texts = {kind: self._writer.text(nodes[0]) for kind, nodes in captures.items() if kind != role}
        if "module" not in texts and (source := source_around(captures[role])):
            texts["module"] = self._writer.text(source[0])
        return texts

    def _add_import(self, role: str, captures: Captures) -> None:
        texts = self._texts_of(role, captures)
        if "module" not in texts:  # A statement with errors.
            return
        item = texts.get("item", "").strip("'\"") or _IMPORTS[role]
        name = texts.get("alias") or texts.get("item", "")
        if name in (".", "*"):
            name, item = "", "*"
        self._imports.append(Imported(name, texts["module"].strip("\"'`"), item, 0, len(self._code.data) + 1))
        if name and self._shapes.binds_imports:
            value = f"{module(texts['module'])}.{item}" if item else module(texts["module"])
            self._bindings.add_import(captures[role][0], name, value)

    def _add_export(self, role: str, captures: Captures) -> None:
        texts = self._texts_of(role, captures)
        name = texts.get("alias") or texts.get("name", "")
        named = self._writer.name(captures["name"][0]) if "name" in captures else ""
        value = self._writer.value(captures["value"][0]) if "value" in captures else named
        module = texts.get("module", "").strip("\"'`")
        item = texts.get("name", "") if module else ""
        self._exports.append(
            Exported(_EXPORTS[role] or name, "" if module else value, module, item, captures[role][0].start_byte)
        )

    def _add_flow(self, role: str, captures: Captures) -> None:
        node = captures[role][0]
        value, argument = self._writer.value(node), ASSIGNED
        if value == LITERAL:
            return
        if kind := captures.get("into.type"):
            into = f"{instance(self._writer.type(kind[0]))}.{self._writer.name(captures['into.field'][0])}"
        elif kind := captures.get("into.kind"):
            into = self._writer.typed(kind[0])
        elif "into" in captures:
            into = self._writer.value(captures["into"][0])
        else:
            into, argument = self._place(node)
        self._flow(node, into, argument, value)

    def _add_passed(self, role: str, captures: Captures) -> None:
        for place, argument in enumerate(arguments(captures[role][0])):
            value = self._writer.value(argument) if self._is_passed(argument) else UNKNOWN
            if value not in (LITERAL, UNKNOWN):
                self._flow(argument, self._writer.value(captures["into.function"][0]), place, value)

    def _is_passed(self, argument: Node) -> bool:
        """Return whether an argument may be a function: a name of one, itself, or one that is bound to arguments."""
        if argument.type in self._shapes.passed:
            return True
        called = argument.child_by_field_name("function")
        return called is not None and self._writer.text([called, *called.named_children][-1]) == self._shapes.binding

    def _flow(self, node: Node, into: str, argument: int, value: str) -> None:
        if not into.startswith(UNKNOWN):
            self._flows.append(Flow(node.start_byte, into, argument, value))

    def _place(self, node: Node) -> tuple[str, int]:
        """Return what takes a value: a function and the number of the argument, or a value of the type of the place."""
        expected = self._writer.expected(node)
        function, _, number = expected.rpartition("@")
        return (function, int(number)) if function and number.isdecimal() else (expected, TYPED)


def _sorted(matches: Iterable[Match], roles: Sequence[str]) -> tuple[dict[str, list[Captures]], list[Used]]:
    """Return the matches by their role, and those that are mentions. roles: all others, in order."""
    into: dict[int, list[Captures]] = {}  # A pattern has one role.
    by_role: dict[str, list[Captures]] = {}
    used: list[Used] = []
    for pattern, captures in matches:
        if pattern not in into:
            role = _role(captures, roles)
            if role.startswith(MENTIONS):
                used.append((pattern, role, []))
                into[pattern] = used[-1][2]
            else:
                into[pattern] = by_role.setdefault(role, [])
        into[pattern].append(captures)
    return by_role, used


def _role(captures: Captures, roles: Sequence[str]) -> str:
    """Return the role of a match: the mention, or what is not only a part of another."""
    mention = next((name for name in captures if name.startswith(MENTIONS)), "")
    return mention or next(role for role in roles if role in captures)


def read_facts(
    matches: Matches, grammar: Grammar, path: str, code: SourceCode, definitions: Sequence[Definition]
) -> FileFacts | None:
    """Return the facts of a file; None where the language has none."""
    language = grammar.language
    if not language.has_facts:
        return None
    shapes: Shapes = load_part(language.name, "shapes").SHAPES
    return FactReader(code, shapes, definitions).read(matches, path, language.name)
