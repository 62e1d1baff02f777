"""Writes nodes of a syntax tree as expressions (`model/expressions.py`), by a table of rules for each language.

A rule is a function of the writer and a node; the functions here make the rules that the tables consist of.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from itertools import accumulate

from msgspec import Struct, field
from tree_sitter import Node

from graphrag_mcp.languages.syntax import SourceCode
from graphrag_mcp.model.facts import MAX_EXPRESSION, Mark, Parameter

UNKNOWN, LITERAL, NOTHING = "?", "'", "-"
MAX_ARGUMENT = 80  # Characters of an argument that are kept.
MAX_RULES = 80  # Rules within each other, each in up to nine frames of the stack; hand-written code has 61.

Rule = Callable[["Writer", Node], str]


class ParameterRule(Struct, frozen=True):
    """Where the names, the type and the default of a parameter stand: fields of its node, "" for the node itself.

    The names may be in a child of a type instead; "<" is the part before the last.
    """

    names: str = "name"
    type: str = "type"
    default: str = ""
    rest: bool = False
    optional: bool = False


class Shapes(Struct, frozen=True):
    """How the nodes of a language are written. Sets have the types of nodes."""

    values: Mapping[str, Rule]
    types: Mapping[str, Rule]
    parameters: Mapping[str, ParameterRule]  # Other nodes in a list of parameters are skipped.
    unit: Callable[[str, str], str]  # The unit of a file, from its path and its package clause.

    # Functions.
    results: Callable[["Writer", Node | None], str] = lambda writer, node: writer.typed(node) if node else ""
    """What a call gives, from the node of the result; "" where it is not declared."""
    result: str = "result"  # The field that says what a function gives.
    expected: Rule | None = None  # What the place of a function expects there.
    passed: Set[str] = frozenset()  # Arguments that a function may be given as.
    binding: str = ""  # The function that gives another one with some of its arguments.
    marks: Mapping[str, Mark] = field(default_factory=dict)  # What words before a function say.
    spreads: Mapping[str, str] = field(default_factory=dict)  # What a parameter of all further arguments holds.
    overloads: bool = False  # Whether the arguments decide which function of a name is called.

    # The own instance.
    this: str = ""  # Its name inside a type,
    above: str = ""  # and that of what it inherits.
    constructor: str = ""  # The member of that which a call of it means.
    selves: Set[str] = frozenset()  # Functions in which the name means their own.
    passes_self: bool = False  # Whether it is the first parameter.

    # Types.
    bound: "str | Rule" = ""  # The field of a type parameter with what it is at least, or what writes that.
    inferred: Set[str] = frozenset()  # Words instead of a type, where the value says it.
    signatures: Mapping[str, str] = field(default_factory=dict)  # The names of members that have none in the syntax.
    other_results: Mapping[str, str] = field(default_factory=dict)  # Fields of results, by kinds of nodes.

    # What names hold.
    lists: Set[str] = frozenset()  # Nodes with several names or values.
    alone: Set[str] = frozenset()  # Values that give one thing, and a truth value besides.
    repeated: Set[str] = frozenset()  # Declarations that repeat the one before where they say nothing.
    unset: str = UNKNOWN  # What a variable holds that is given nothing.
    loops: Sequence[str] = ("[@]", "[*]")  # What a loop gives.
    enter: Mapping[str, str] = field(default_factory=dict)  # What a block binds of what it enters, by its first word.
    patterns: Set[str] = frozenset()  # Nodes that take a value apart.
    taken: Rule | None = None  # What a name gets from such a pattern.
    assigning: str = ""  # The node whose patterns bind nothing, but write to what is bound.
    updates: Set[str] = frozenset()  # Nodes that write to a place, and give what it holds; not with the operator "=".
    members: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """The fields of a member that is bound: its owner and its name."""

    # Names.
    around_keys: Set[str] = frozenset()  # Nodes between the name of a member and the literal that sets it.
    binds_imports: bool = False  # Whether an import binds names where it stands, as an assignment does.
    unmentioned: Mapping[str, Set[str]] = field(default_factory=dict)  # No mentions behind these receivers.


class Writer:
    """Writes the expressions of one file. numbers: the declarations of nameless nodes, by the id of the node."""

    def __init__(self, shapes: Shapes, code: SourceCode, numbers: Mapping[int, str]) -> None:
        self._shapes, self._code, self._numbers = shapes, code, numbers
        self._places: dict[int, dict[int, int]] = {}
        self._known: dict[tuple[Rule, int], str] = {}
        self.depth = 0  # Rules that are being followed, each for a part of the one before.
        self._is_cut = False

    def text(self, node: Node) -> str:
        """Return the text of a node."""
        return self._code.node_text(node)

    def name(self, node: Node | None) -> str:
        """Return the name that a node is, unknown if it is none: the grammar adds empty ones where one is missing."""
        text = self.text(node) if node else ""
        return text if is_name(text) else UNKNOWN

    def place(self, node: Node, around: Node) -> int:
        """Return how many commas of a list are before a part of it."""
        if (known := self._places.get(around.id)) is None:
            commas = accumulate((child.type == "," for child in around.children), initial=0)
            known = self._places[around.id] = dict(zip((part.id for part in around.children), commas, strict=False))
        return known.get(node.id, 0)

    def value(self, node: Node | None) -> str:
        """Return the value that a node stands for."""
        return UNKNOWN if node is None else self.result_of(Writer.write_value, node)

    def expected(self, node: Node | None) -> str:
        """Return what the place of a node expects there."""
        return UNKNOWN if node is None or self._shapes.expected is None else self.result_of(self._shapes.expected, node)

    def result_of(self, rule: Rule, node: Node) -> str:
        """Return what a rule gives for a node, from once; unknown where rules follow each other too deeply.

        What was cut is not kept, since it depends on where it was asked from.
        """
        if (text := self._known.get((rule, node.id))) is not None:
            return text
        if self.depth == MAX_RULES:
            self._is_cut = True
            return UNKNOWN
        self.depth += 1
        text = rule(self, node)
        self.depth -= 1
        self._is_cut = self._is_cut and self.depth > 0
        if not self._is_cut and rule is not Writer.write_type:  # Types are written while declarations are numbered.
            self._known[rule, node.id] = text
        return text

    def values(self, nodes: Iterable[Node]) -> list[str]:
        """Return the values of arguments; one that is long is unknown."""
        values = map(self.value, nodes)
        return [value if len(value) <= MAX_ARGUMENT else UNKNOWN for value in values]

    def type(self, node: Node | None) -> str:
        """Return the type that a node names."""
        return UNKNOWN if node is None else self.result_of(Writer.write_type, node)

    def typed(self, node: Node | None) -> str:
        """Return a value of the type that a node names."""
        return instance(self.type(node))

    def parameters(self, node: Node | None) -> list[tuple[Parameter, Node | None]]:
        """Return the parameters of a list of them, each with the node of its name."""
        parameters: list[tuple[Parameter, Node | None]] = []
        for child in [node] if node and node.type in self._shapes.parameters else arguments(node):
            rule = self._shapes.parameters.get(child.type)
            if rule is None:
                continue
            names: Sequence[Node | None] = _named(child, rule.names)
            before = child.named_children[-2] if rule.type == "<" else None
            kind = before or (child.child_by_field_name(rule.type) if rule.type else None)
            default = child.child_by_field_name(rule.default) if rule.default else None
            stated = self.type(kind)  # Asked once, since function types nest.
            value = instance(f"[{stated}]" if rule.rest else stated) if kind else self.value(default)
            parts = (child, *arguments(child)[:1]) if self._shapes.spreads else ()
            if spread := next((part.type for part in parts if part.type in self._shapes.spreads), ""):
                value = instance(self._shapes.spreads[spread].format(stated))
            if value == UNKNOWN and self._shapes.taken:
                value = self._shapes.taken(self, child)
            is_rest = rule.rest or bool(spread) or any(name and name.type == "rest_pattern" for name in names)
            is_optional = rule.optional or default is not None
            texts = [(self.text(name) if name else "", name) for name in names or [None]]
            parameters += [(Parameter(text, value, is_optional, is_rest), name) for text, name in texts]
        return parameters

    def write_value(self, node: Node) -> str:
        return self._write(self._shapes.values, node)

    def write_type(self, node: Node) -> str:
        return self._write(self._shapes.types, node)

    def _write(self, rules: Mapping[str, Rule], node: Node) -> str:
        if node.id in self._numbers:
            return self._numbers[node.id]
        rule = rules.get(node.type)
        text = rule(self, node) if rule else UNKNOWN
        return text if len(text) <= MAX_EXPRESSION else UNKNOWN


def instance(kind: str) -> str:
    """Return a value of a type."""
    return kind if kind in (UNKNOWN, NOTHING, LITERAL) else f"{kind}!"


def either(values: list[str]) -> str:
    """Return one of several values; unknown if one of them is."""
    return UNKNOWN if UNKNOWN in values or not values else union(values)


def union(kinds: Iterable[str]) -> str:
    """Return one of several values or types; what is nothing does not count."""
    distinct = [kind for kind in dict.fromkeys(kinds) if kind != NOTHING]
    return distinct[0] if len(distinct) == 1 else f"({'|'.join(distinct)})" if distinct else NOTHING


def is_name(text: str) -> bool:
    """Return whether expressions can have a text as a name; JavaScript's private ones begin with a mark."""
    return text.removeprefix("#").replace("$", "_").isidentifier()


def dotted(owner: str, name: str) -> str:
    """Return the member of a value or a type."""
    return UNKNOWN if UNKNOWN in (owner, name) else f"{_closed(owner)}.{name}"


def item(value: str, mark: str) -> str:
    """Return a step from a value."""
    return value if value in (UNKNOWN, LITERAL) else f"{_closed(value)}{mark}"


def type_of(value: str) -> str:
    """Return the type of a value."""
    return UNKNOWN if value == UNKNOWN else f"=({value})" if "!" in value else f"={value}"


def module(path: str) -> str:
    """Return a module, as it is written in an import; "" is the file itself."""
    return '"' + path.strip("\"'`") + '"'


def arguments(node: Node | None) -> list[Node]:
    """Return the parts of a list, without comments."""
    return [child for child in node.named_children if not child.is_extra] if node else []


def operands(node: Node) -> list[Node]:
    """Return the parts of `a | b | c`, which nests to the left as often as the operator is repeated."""
    nodes: list[Node] = []
    pending = [node]
    while pending:
        part = pending.pop()
        if part.type == node.type:
            pending += arguments(part)
        else:
            nodes.append(part)
    return nodes[::-1]


# ---------------------------------------------------------------- rules


def name(writer: Writer, node: Node) -> str:
    """A name."""
    return writer.name(node)


def fixed(text: str) -> Rule:
    """The same for all such nodes."""
    return lambda _writer, _node: text


def part(field_name: str = "") -> Rule:
    """What a part of the node is: of a field, or the first."""
    return lambda writer, node: writer.value(_part(node, field_name))


def type_part(field_name: str = "") -> Rule:
    """What a part of a type is: of a field, or the first."""
    return lambda writer, node: writer.type(_part(node, field_name))


def of_type(field_name: str) -> Rule:
    """A value of the type in a field."""
    return lambda writer, node: writer.typed(node.child_by_field_name(field_name))


def as_value(writer: Writer, node: Node) -> str:
    """A type, where a value is expected."""
    kind = writer.type(node)
    return kind if kind == UNKNOWN else f"^{kind}"


def member(of: str, named: str) -> Rule:
    """A member of what is in a field."""

    def write(writer: Writer, node: Node) -> str:
        return dotted(writer.value(node.child_by_field_name(of)), writer.name(node.child_by_field_name(named)))

    return write


def type_member(of: str, named: str) -> Rule:
    """A type that is a member of what is in a field."""

    def write(writer: Writer, node: Node) -> str:
        return dotted(writer.name(node.child_by_field_name(of)), writer.name(node.child_by_field_name(named)))

    return write


def call(function: str | Rule, arguments_field: str, types: str = "", *, created: bool = False) -> Rule:
    """A call with its arguments, or what creates an instance; an argument that is long is unknown.

    function: the field of what is called, or what writes it.
    """
    callee = part(function) if isinstance(function, str) else function

    def write(writer: Writer, node: Node) -> str:
        called = callee(writer, node)
        if called == UNKNOWN:
            return UNKNOWN
        values = writer.values(arguments(node.child_by_field_name(arguments_field)))
        kinds = arguments(node.child_by_field_name(types)) if types else []
        return f"{with_types(writer, _closed(called), kinds)}{'+' if created else ''}({','.join(values)})"

    return write


def step(of: str, mark: str) -> Rule:
    """A step from what is in a field: `[]`, `~`."""

    return lambda writer, node: item(writer.value(_part(node, of)), mark)


def applied(of: str, arguments_field: str) -> Rule:
    """A type with type arguments."""

    def write(writer: Writer, node: Node) -> str:
        kind = writer.type(node.child_by_field_name(of) if of else node.named_children[0])
        listed = node.child_by_field_name(arguments_field) if arguments_field else node.named_children[-1]
        return with_types(writer, kind, arguments(listed))

    return write


def with_types(writer: Writer, kind: str, nodes: Sequence[Node]) -> str:
    """Return a type or function with type arguments, if it has some."""
    return f"{kind}<{','.join(map(writer.type, nodes))}>" if nodes and kind != UNKNOWN else kind


def function_type(result: Rule) -> Rule:
    """A function type; the rule says what it returns, as a type."""

    def write(writer: Writer, node: Node) -> str:
        parameters = writer.parameters(node.child_by_field_name("parameters"))
        kinds = (parameter.value.removesuffix("!") for parameter, _ in parameters)
        return f"\\({','.join(kinds)}:{result(writer, node)})"

    return write


def choice(*fields: str) -> Rule:
    """Either of the values in some fields."""
    return lambda writer, node: either([writer.value(node.child_by_field_name(field)) for field in fields])


def leaf(node: Node) -> Node:
    """Return the first name or word in a node."""
    while node.named_children:
        node = node.named_children[0]
    return node


def _part(node: Node, field_name: str) -> Node | None:
    if field_name:
        return node.child_by_field_name(field_name)
    return next(iter(arguments(node)), None)


def _named(node: Node, names: str) -> list[Node]:
    if not names:
        return [leaf(node)]
    return node.children_by_field_name(names) or [leaf(child) for child in node.named_children if child.type == names]


def _closed(value: str) -> str:
    """Return an expression to which a step can be added."""
    return f"({value})" if value[:1] in "^=" else value
