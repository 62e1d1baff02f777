"""Reads what a file declares, and what its functions take and give."""

from collections.abc import Iterable

from tree_sitter import Node, Tree

from graphrag_mcp.languages.grammars import Captures, first_of
from graphrag_mcp.languages.shapes import UNKNOWN, arguments, leaf, module, type_of
from graphrag_mcp.languages.syntax import node_around
from graphrag_mcp.model.facts import (
    EXPECTED,
    GIVEN,
    MERGES,
    METACLASS,
    NO_OWNER,
    BaseType,
    Bound,
    Mark,
    Mention,
    Parameter,
    Use,
)
from graphrag_mcp.model.files import CALLABLE, SymbolKind
from graphrag_mcp.parsing.facts.reading import NAMES, Draft, Held, ReaderPart, Reading, by_place, innermost, whole

_KINDS = {"function": SymbolKind.FUNCTION, "field": SymbolKind.FIELD}
_AROUND = (*CALLABLE, SymbolKind.MODULE, SymbolKind.TYPE)
_ANNOTATIONS = ("annotation", "marker_annotation")
MARKS = {f"mark.{mark}": mark for mark in Mark}
RESULTS = ("yielded", "returned")


class Declarations(ReaderPart):
    """Completes the definitions of the outline, and adds those without a name."""

    def __init__(self, reading: Reading, held: Held) -> None:
        super().__init__(reading)
        self._held = held
        self.functions: list[tuple[Node, int]] = []
        self.handed: set[int] = set()  # Objects of which others decide what their functions see as the own instance.
        self.selves: dict[int, Node] = {}  # The key is the function whose own instance it is.
        self.listed_names: set[tuple[int, str]] = set()  # Parameters of a function that are given from a list.
        self.types: dict[tuple[int, int], int] = {}  # Scopes whose names are members.
        self._index_of: dict[int, int] = {}  # The key is the id of the node.
        self._opened: dict[int, tuple[int, int]] = {}  # Types whose members are known by their names alone.
        self._bases: list[tuple[Node, str]] = []
        self._objects: set[int] = set()  # Declarations of literals, which are instances.

    def number(self, role: str, captures: Captures) -> None:
        """Find the declaration of a function, type or object; a nameless one gets a place of its own."""
        node = captures[role][0]
        if node.id in self._index_of:
            return
        own = first_of(captures, "name") or node.child_by_field_name("name")
        index = self._by_name.get(own.start_byte, -1) if own else -1
        if index < 0:
            index = len(self._drafts)
            self._drafts.append(self._nameless(node, role, own if role == "function" else None))
            if own and "name" not in captures:
                self._bound.append(Bound(self._writer.text(own), *node.byte_range, f"#{index}", index, "declared"))
        self._index_of[node.id] = index
        self._numbers[node.id] = f"#{index}!" if role == "object" else f"#{index}"
        if role == "object":
            self._objects.add(index)
            if (expected := self._writer.expected(node)) != UNKNOWN:
                kind = expected[:-1] if expected.endswith("!") else type_of(expected)
                self._drafts[index].bases += (BaseType(kind, EXPECTED),)
        if bases := captures.get("extends"):
            draft = self._drafts[index]
            draft.bases += (BaseType(self._writer.type(bases[0]), "extends"),)
            draft.start, draft.at = node_around(node).start_byte, bases[0].start_byte
            draft.line = self._code.row(draft.start) + 1
            self._opened[index] = node.byte_range
        if "of" in captures:
            self._drafts[index].owner = NO_OWNER
            self.selves[index] = captures["of"][0]
        if role == "function":
            self.functions.append((node, index))

    def _nameless(self, node: Node, role: str, own: Node | None) -> Draft:
        kind = _KINDS.get(role, SymbolKind.TYPE)
        start = node.start_byte
        name = self._writer.text(own) if own else self._shapes.signatures.get(node.type, "")
        line = self._code.row(own.start_byte if own else start) + 1
        marks: tuple[str, ...] = (Mark.INTERFACE,) if node.type == "interface_type" else ()
        name = name.strip("'\"")
        return Draft(name, "", kind.value, NO_OWNER, line, start, node.end_byte, start, marks=marks)

    def add_scope(self, role: str, captures: Captures) -> None:
        """Open a scope; in a type its names are members."""
        for node in captures[role]:
            self._scopes.add(node.byte_range)
            for part in captures.get("outside", ()):
                self._outside.setdefault(node.byte_range, part.byte_range)
            name = node.child_by_field_name("name") if self._shapes.passes_self else None
            if name and name.start_byte in self._by_name:
                self.types[node.byte_range] = self._by_name[name.start_byte]

    def add_handed(self, role: str, captures: Captures) -> None:
        """Mark an object that is handed to a function."""
        self.handed.add(self._index_of[captures[role][0].id])

    def add_indexed(self, role: str, captures: Captures) -> None:
        """Say what a type holds that has an index signature."""
        node = captures[role][0]
        if (index := self._index_of.get(node_around(node).id)) is not None:
            self._drafts[index].value = self._writer.type(node)

    def add_trait(self, role: str, captures: Captures) -> None:
        """Say what else a type is: one of the roles that add to its marks, bases or parameters."""
        index = self._by_name.get(captures["name"][0].start_byte, -1)
        if index < 0:
            return
        draft = self._drafts[index]
        match role:
            case "interface":
                draft.marks += (Mark.INTERFACE,)
            case "aliased":
                draft.bases += (BaseType(self._writer.type(captures["type"][0]), role),)
            case "marked":
                draft.marks += self.marks([word for node in captures["words"] for word in node.children])
            case "merges":
                module = self._writer.text(captures[role][0]).strip("'\"")
                draft.marks += (f"{MERGES}{module}",)
            case "metaclass":
                draft.marks += (f"{METACLASS}{self._writer.value(captures[role][0])}",)
            case "generic":
                draft.type_parameters = tuple(map(self._writer.text, arguments(captures[role][0])[1:]))

    def add_type(self, role: str, captures: Captures) -> None:
        """Say what a type stands for, and its parameters."""
        index = self._by_name.get(captures["name"][0].start_byte, -1)
        if index < 0:
            return
        draft = self._drafts[index]
        is_own = "type" in captures and self._index_of.get(captures["type"][0].id) == index
        if "type" in captures and not is_own:
            draft.value = self._writer.type(captures["type"][0])
        if role == "renames":
            draft.marks += (Mark.INTERFACE if is_own else Mark.ALIAS,)
        if parameters := captures.get("type_parameters"):
            draft.type_parameters = self.type_parameters(parameters[0], draft.start, draft.stop)

    def add_mark(self, role: str, captures: Captures) -> None:
        """Mark a declaration, or say what decorates it."""
        index = self._by_name.get(captures["name"][0].start_byte, -1)
        if index < 0:  # A variable of a function.
            return
        draft = self._drafts[index]
        if role == "listed":
            texts = map(self._writer.text, captures["words"])
            self.listed_names |= {(index, name.strip()) for text in texts for name in text.split(",")}
        elif role in MARKS:
            draft.marks += tuple(mark for role, mark in MARKS.items() if role in captures)
        else:
            draft.decorators += (self._writer.value(captures[role][0]),)

    def marks(self, words: Iterable[Node]) -> tuple[str, ...]:
        """Return the marks that words before a declaration mean."""
        marks = self._shapes.marks
        return tuple(
            f"@{self._writer.text(name).rpartition('.')[2]}"
            if word.type in _ANNOTATIONS and (name := word.child_by_field_name("name"))
            else marks[word.type]
            for word in words
            if word.type in marks or word.type in _ANNOTATIONS
        )

    def type_parameters(self, node: Node, start: int, stop: int) -> tuple[str, ...]:
        """Bind the type parameters of a declaration, and return their names."""
        names: list[str] = []
        for child in arguments(node):
            above = self._least(child)
            for name in child.children_by_field_name("name") or [leaf(child)]:
                self._named.add(name.start_byte)
                names.append(self._writer.text(name))
                self._bound.append(Bound(names[-1], start, stop, above, start, "type"))
        return tuple(names)

    def _least(self, node: Node) -> str:
        """Return what a type parameter is at least."""
        rule = self._shapes.bound
        if not isinstance(rule, str):
            return rule(self._writer, node)
        bound = node.child_by_field_name(rule) if rule else None
        return self._writer.type(bound) if bound else ""

    def add_open(self, role: str, captures: Captures) -> None:
        """Open a block in which members are known by their names alone."""
        body = captures[role][0].byte_range
        if values := captures.get("value"):
            self._bound.append(Bound("", *body, self._writer.value(values[0]), values[0].start_byte, "open"))
        else:
            self._opened[self._by_name[captures["name"][0].start_byte]] = body

    def add_bases(self, role: str, captures: Captures) -> None:
        """Keep base types for the declarations around them."""
        self._bases += [(node, role) for node in captures[role]]

    def place_bases(self, tree: Tree) -> None:
        """Add each base type to the smallest declaration around it."""
        spans = {(draft.start, draft.stop): index for index, draft in reversed([*enumerate(self._drafts)])}
        bases = sorted(self._bases, key=lambda base: base[0].start_byte)
        around = innermost(by_place({*spans, whole(tree)}), [(node.start_byte, node.start_byte) for node, _ in bases])
        for (node, role), span in zip(bases, around, strict=True):
            if span in spans:
                self._drafts[spans[span]].bases += (BaseType(self._writer.type(node), role),)

    def add_member(self, role: str, captures: Captures) -> None:
        """Give a member of a nameless type or an object its owner; it may be declared by nothing else."""
        node, name = captures[role][0], captures["name"][0]
        owner = self._index_of.get(node_around(node).id, NO_OWNER)
        value = captures.get("value", [name])[0]
        index = self._index_of.get(value.id, self._by_name.get(name.start_byte, self._index_of.get(node.id, -1)))
        if index < 0 or index in self._objects:
            index = len(self._drafts)
            self._drafts.append(self._nameless(node, "field", name))
            if name not in captures.get("value", ()):
                self._named.add(name.start_byte)
            self._add_held(index, node, captures)
        self._drafts[index].owner = owner

    def _add_held(self, index: int, node: Node, captures: Captures) -> None:
        """Say what a field holds; one that holds what a name means is another name for it."""
        draft = self._drafts[index]
        draft.value = self._held.values(node, captures, 1)[0]
        if "value" in captures and captures["value"][0].type.endswith("identifier"):
            draft.marks += (Mark.ALIAS,)

    def bind_own_instances(self) -> None:
        """Bind the names of the own instance inside of types."""
        for index, draft in enumerate(self._drafts):
            if draft.kind == SymbolKind.TYPE and index not in self._objects:
                start, stop = self._opened.get(index, (draft.start, draft.stop))
                for name, value in ((self._shapes.this, f"#{index}!"), (self._shapes.above, f"%{index}")):
                    if name:
                        self._bound.append(Bound(name, start, stop, value, draft.start))
                if index in self._opened:
                    self._bound.append(Bound("", start, stop, f"#{index}!", draft.start, "open"))

    def own_members(self) -> None:
        """Give what is declared inside nameless functions and types its owner."""
        inside: list[int] = []
        spans = [(draft.start, -draft.stop, index) for index, draft in enumerate(self._drafts)]
        for _, _, index in sorted(spans):
            draft = self._drafts[index]
            while inside and self._drafts[inside[-1]].stop < draft.stop:
                inside.pop()
            is_named = index < len(self._definitions) and draft.owner != NO_OWNER
            if is_named and inside and inside[-1] >= len(self._definitions) and inside[-1] not in self._objects:
                draft.owner = inside[-1]
            if draft.kind in _AROUND:
                inside.append(index)


class Functions(ReaderPart):
    """Reads the functions that are declared, and binds the names of what they are given."""

    def __init__(self, reading: Reading, declarations: Declarations) -> None:
        super().__init__(reading)
        self._declarations = declarations
        self.bodies: dict[tuple[int, int], int] = {}  # What is inside of functions.
        self.gifts: list[Mention] = []

    def read(self, tree: Tree) -> None:
        """Read the functions that are declared."""
        for node, index in self._declarations.functions:
            self._read_one(node, index)
        self._add_results(tree)

    def _read_one(self, node: Node, index: int) -> None:
        draft = self._drafts[index]
        result = self._shapes.other_results.get(node.type, self._shapes.result)
        kinds = ("receiver", "parameter", "parameters", result)
        fields = [(kind, node.child_by_field_name(kind)) for kind in kinds]
        start = max((child.end_byte for _, child in fields if child), default=node.start_byte)
        draft.value = self._shapes.results(self._writer, fields[-1][1])
        draft.at = node.start_byte
        draft.parameters = ()
        draft.marks += self._declarations.marks(node.children)
        for kind, child in fields:
            has_names = child is not None and (kind != result or child.type == "parameter_list")
            rows = self._writer.parameters(child) if has_names else []
            if kind == "receiver" and rows:  # Its type arguments are names for those of the type.
                named = rows[0][0].value.partition("<")[2].rstrip("!>")
                draft.type_parameters = tuple(filter(None, named.split(",")))
                span = node.byte_range
                self._bound += [
                    Bound(type_parameter, *span, "", span[0], "type") for type_parameter in draft.type_parameters
                ]
            if child and kind.startswith("parameter"):
                draft.parameters = tuple(parameter for parameter, _ in rows)
            for place, (parameter, name) in enumerate(rows):
                if name is not None and name.type in NAMES:
                    self._named.add(name.start_byte)
                    value = (place == 0 and self.self_of(draft)) or self._given(index, parameter, name)
                    self._bound.append(Bound(parameter.name, start, node.end_byte, value, node.start_byte, "parameter"))
        if parameters := node.child_by_field_name("type_parameters"):
            draft.type_parameters = self._declarations.type_parameters(parameters, node.start_byte, node.end_byte)
        body = (start, node.end_byte) if self._shapes.passes_self else node.byte_range
        self._scopes.add(body)
        self.bodies[body] = index
        if node.type in self._shapes.selves:
            self._bind_self(node, index)

    def _given(self, index: int, parameter: Parameter, name: Node) -> str:
        """Return what a parameter holds: in a test of pytest, what the fixture of its name gives, which it mentions."""
        is_listed = parameter.optional or parameter.rest or (index, parameter.name) in self._declarations.listed_names
        if is_listed or Mark.GIVEN not in self._drafts[index].marks:
            return parameter.value
        at = name.start_byte
        self.gifts.append(Mention(at, self._code.row(at) + 1, parameter.name, Use.CALL, module(GIVEN)))
        return f"{module(GIVEN)}.{parameter.name}()" if parameter.value == UNKNOWN else parameter.value

    def self_of(self, draft: Draft) -> str:
        """Return what the first parameter of a method is, where the language passes the own instance so."""
        is_method = draft.kind == SymbolKind.METHOD and draft.owner >= 0 and self._shapes.passes_self
        if not is_method or Mark.STATIC in draft.marks:
            return ""
        return f"^#{draft.owner}" if Mark.CLASS in draft.marks else f"#{draft.owner}!"

    def _bind_self(self, node: Node, index: int) -> None:
        """Bind the name of the own instance in a function: the object or type whose member it is, or its own."""
        owner = self._drafts[index].owner
        if index in self._declarations.selves:
            value = self._writer.value(self._declarations.selves[index])
        elif owner in self._declarations.handed:
            value = UNKNOWN
        elif owner >= 0 and self._drafts[owner].kind == SymbolKind.TYPE:
            value = f"#{owner}" if Mark.STATIC in self._drafts[index].marks else f"#{owner}!"
        else:
            value = f"#{index}+()"
        self._bound.append(Bound(self._shapes.this, *node.byte_range, value, node.start_byte))

    def _add_results(self, tree: Tree) -> None:
        """Give functions without a declared result what they return."""
        spans = {node.byte_range: index for node, index in self._declarations.functions}
        for role in RESULTS:
            nodes = sorted(self._nodes.get(role, ()), key=lambda node: node.start_byte)
            around = innermost(by_place({*spans, whole(tree)}), [node.byte_range for node in nodes])
            for node, span in zip(nodes, around, strict=True):
                if span not in spans:
                    continue
                draft = self._drafts[spans[span]]
                is_generator = Mark.GENERATOR in draft.marks
                if role == "yielded" and not is_generator:
                    draft.marks += (Mark.GENERATOR,)
                if not draft.value and (role == "yielded" or "yielded" not in self._nodes or not is_generator):
                    draft.returns += ((node.start_byte, self._writer.value(node)),)
