"""Reads what functions take and give."""

from tree_sitter import Node, Tree

from graphrag_mcp.languages.shapes import UNKNOWN, module
from graphrag_mcp.model.facts import GIVEN, Bound, Mark, Mention, Parameter, Use
from graphrag_mcp.model.files import SymbolKind
from graphrag_mcp.parsing.facts.declarations import Declarations
from graphrag_mcp.parsing.facts.reading import NAMES, Draft, ReaderPart, Reading, by_place, innermost, whole

RESULTS = ("yielded", "returned")


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
                draft.type_parameters = tuple(named.split(",")) if named else ()
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
                draft = self._drafts[spans[span]] if span in spans else None
                if draft and role == "yielded" and Mark.GENERATOR not in draft.marks:
                    draft.marks += (Mark.GENERATOR,)
                if draft is None or draft.value:
                    continue
                if role == "yielded" or "yielded" not in self._nodes or Mark.GENERATOR not in draft.marks:
                    draft.returns += ((node.start_byte, self._writer.value(node)),)
