"""How Python writes values and types."""

import posixpath
import re
from collections.abc import Mapping

from tree_sitter import Node

from graphrag_mcp.languages.grammars import load_grammar
from graphrag_mcp.languages.shapes import (
    LITERAL,
    NOTHING,
    UNKNOWN,
    ParameterRule,
    Rule,
    Shapes,
    Writer,
    arguments,
    call,
    dotted,
    either,
    fixed,
    is_name,
    item,
    member,
    name,
    operands,
    part,
    step,
    type_part,
    with_types,
)
from graphrag_mcp.languages.syntax import SourceCode, SyntaxTimeoutError
from graphrag_mcp.model.facts import MAX_EXPRESSION, Mark

_EMPTY = ("list", "tuple", "dictionary")
_MANY = 8  # Elements of a list that is read.
_LITERALS = """
    integer float string concatenated_string true false not_operator
"""
# Of operators, the methods that they call; the others give a truth value.
_TRUTHS = ("comparison_operator", "not_operator", "unary_operator")
_OF_ONE = {"-": "neg", "+": "pos", "~": "invert"}
_OF_TWO = {
    "+": "add", "-": "sub", "*": "mul", "@": "matmul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow",
    "<<": "lshift", ">>": "rshift", "&": "and", "^": "xor", "|": "or",
    "==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge",
}  # fmt: skip


def _operands(writer: Writer, node: Node) -> str:
    """`a or b`, `a if c else b`: either of the operands that can be the result; an empty list holds nothing."""
    parts = [part for part in (arguments(node)[0], arguments(node)[-1]) if part.type not in _EMPTY or arguments(part)]
    return either([LITERAL if part.type in _TRUTHS else writer.value(part) for part in parts])


def _named_argument(writer: Writer, node: Node) -> str:
    """An argument that may be of any parameter."""
    return LITERAL if writer.value(node.child_by_field_name("value")) == LITERAL else UNKNOWN


def _operated(operator: str, methods: Mapping[str, str]) -> Rule:
    """What an operator, which is in a field, gives: of a literal one, else what a method of the first operand does.

    If the second operand is not a literal, a method of that may run instead.
    """

    def write(writer: Writer, node: Node) -> str:
        first, *others = map(writer.value, arguments(node))
        called = [methods[sign.type] for sign in node.children_by_field_name(operator) if sign.type in methods]
        if first == LITERAL or not called:
            return LITERAL
        is_known = len(called) == 1 and set(others) <= {LITERAL}
        return f"{dotted(first, f'__{called[0]}__')}()" if is_known and first != UNKNOWN else UNKNOWN

    return write


def _elements(writer: Writer, node: Node) -> str:
    parts = arguments(node)
    return f"[{either([writer.value(part) for part in parts]) if len(parts) <= _MANY else UNKNOWN}]"


_call = call("function", "arguments")
_MODULE = re.compile(r"""(["'])([^\W\d][\w.]*)\1""")


def _called(writer: Writer, node: Node) -> str:
    """A call; `cast` is given a type, also in a string, and `import_module` a module."""
    function, given = node.child_by_field_name("function"), arguments(node.child_by_field_name("arguments"))
    called = writer.text(function).rpartition(".")[2] if function else ""
    if function and called == "cast" and len(given) == 2:
        return f"{writer.value(function)}({writer.type(given[0])},{','.join(writer.values(given[1:]))})"
    if (
        function
        and called == "import_module"
        and len(given) == 1
        and (module := _MODULE.fullmatch(writer.text(given[0])))
    ):
        return f'{writer.value(function)}("{module[2]}")'
    return _call(writer, node)


def _comprehension(writer: Writer, node: Node) -> str:
    return f"[{_each(writer, node, node.child_by_field_name('body'))}]"


def _each(writer: Writer, node: Node, body: Node | None) -> str:
    """What a comprehension gives: its body, in which the variables are what they are taken from."""
    text = writer.value(body)
    for clause in reversed([child for child in arguments(node) if child.type == "for_in_clause"]):
        left = clause.child_by_field_name("left")
        element = item(writer.value(clause.child_by_field_name("right")), "[*]")
        names = arguments(left) if left and left.type in SHAPES.patterns else [left] if left else []
        for place, variable in enumerate(map(writer.text, names)):
            named = re.compile(rf"(?<![\w.\"'#]){re.escape(variable)}(?!\w)")
            value = element if len(names) == 1 else item(element, f"[{place}]")
            if value in (UNKNOWN, LITERAL) and text != variable and named.search(text):
                return UNKNOWN
            text = value.join(named.split(text))
            if len(text) > MAX_EXPRESSION:  # Each variable may make it longer.
                return UNKNOWN
    return text


def _entries(writer: Writer, node: Node) -> str:
    pairs = [child for child in arguments(node) if child.type == "pair"]
    keys, values = ([writer.value(child.child_by_field_name(part)) for child in pairs] for part in ("key", "value"))
    if len(pairs) < len(arguments(node)):
        return f"{{{UNKNOWN}:{UNKNOWN}}}"
    return f"{{{either(keys)}:{either(values)}}}"


def _entry_comprehension(writer: Writer, node: Node) -> str:
    body = node.child_by_field_name("body")
    key, value = (_each(writer, node, body.child_by_field_name(part) if body else None) for part in ("key", "value"))
    return f"{{{key}:{value}}}"


def _tuple(writer: Writer, node: Node) -> str:
    parts = arguments(node)
    if len(parts) < 2 or any(part.type == "list_splat" for part in parts):
        return _elements(writer, node)
    return f"({';'.join(map(writer.value, parts))})"


def _item(writer: Writer, node: Node) -> str:
    """An element, of a tuple that at a written place; a slice is like the whole."""
    value, place = writer.value(node.child_by_field_name("value")), node.child_by_field_name("subscript")
    if value in (UNKNOWN, LITERAL) or place is None or place.type == "slice":
        return value
    return f"{value}[{text}]" if (text := writer.text(place)).isdecimal() else f"{value}[]"


def _type_member(writer: Writer, node: Node) -> str:
    return dotted(writer.type(node.child_by_field_name("object")), writer.name(node.child_by_field_name("attribute")))


def _generic(writer: Writer, node: Node) -> str:
    of, *type_arguments = arguments(node)
    if type_arguments and type_arguments[0].type == "type_parameter":
        type_arguments = arguments(type_arguments[0])
    return with_types(writer, writer.type(of), type_arguments)


def _type_list(writer: Writer, node: Node) -> str:
    return f"({';'.join(map(writer.type, arguments(node)))})" if arguments(node) else NOTHING


def _union(writer: Writer, node: Node) -> str:
    """`A | B`, or a tuple of exceptions; another operator says nothing of types."""
    operator = node.child_by_field_name("operator")
    return UNKNOWN if operator and operator.type != "|" else either([writer.type(part) for part in operands(node)])


def _quoted(writer: Writer, node: Node) -> str:
    """A type in a string."""
    text = "".join(writer.text(part) for part in arguments(node) if part.type == "string_content")
    if all(map(is_name, text.split("."))):
        return text
    grammar, code = load_grammar("python"), SourceCode(text)
    try:
        root = grammar.parse(code).root_node if grammar else None
    except SyntaxTimeoutError:
        return UNKNOWN
    if root is None or root.has_error or not arguments(root):
        return UNKNOWN
    inner = Writer(SHAPES, code, {})
    inner.depth = writer.depth
    return inner.type(next(iter(arguments(arguments(root)[0])), None))


def unit(path: str, _package: str) -> str:
    """Return the name of a module without its package."""
    folder, file = posixpath.split(path)
    stem = file.partition(".")[0]
    return posixpath.basename(folder) if stem == "__init__" else stem


SHAPES = Shapes(
    values={
        **dict.fromkeys(_LITERALS.split(), fixed(LITERAL)),
        "none": fixed(NOTHING),
        "identifier": name,
        "attribute": member("object", "attribute"),
        "call": _called,
        "subscript": _item,
        "await": step("", "~"),
        "parenthesized_expression": part(),
        "named_expression": part("value"),
        "assignment": part("right"),
        "keyword_argument": lambda writer, node: (
            LITERAL if writer.value(node.child_by_field_name("value")) == LITERAL else UNKNOWN
        ),
        "conditional_expression": _operands,
        "boolean_operator": _operands,
        "unary_operator": _operated("operator", _OF_ONE),
        "binary_operator": _operated("operator", _OF_TWO),
        "comparison_operator": _operated("operators", _OF_TWO),
        "list": _elements,
        "set": _elements,
        "tuple": _tuple,
        "expression_list": _tuple,
        "list_comprehension": _comprehension,
        "set_comprehension": _comprehension,
        "generator_expression": _comprehension,
        "dictionary": _entries,
        "dictionary_comprehension": _entry_comprehension,
    },
    types={
        "type": type_part(),
        "identifier": name,
        "attribute": _type_member,
        "dotted_name": lambda writer, node: writer.text(node),  # In a pattern.
        "none": fixed(NOTHING),
        "ellipsis": fixed(NOTHING),
        "string": _quoted,
        "generic_type": _generic,
        "subscript": _generic,
        "binary_operator": _union,
        "union_type": _union,
        "tuple": _union,  # A tuple of exceptions.
        "list": _type_list,
        "parenthesized_expression": type_part(),
    },
    parameters={
        "identifier": ParameterRule("", ""),
        "default_parameter": ParameterRule(type="", optional=True),
        "typed_parameter": ParameterRule(""),
        "typed_default_parameter": ParameterRule(optional=True),
        "list_splat_pattern": ParameterRule("", "", rest=True),
        "dictionary_splat_pattern": ParameterRule("", "", rest=True),
    },
    result="return_type",
    unit=unit,
    above="super",
    passed=frozenset(("identifier", "attribute", "lambda")),
    binding="partial",
    passes_self=True,
    binds_imports=True,
    marks={"async": Mark.ASYNC},
    loops=("[*]",),
    patterns=frozenset(("pattern_list", "tuple_pattern", "list_pattern")),
    members={"attribute": ("object", "attribute")},
    spreads={"list_splat_pattern": "[{}]", "dictionary_splat_pattern": "{{':{}}}"},
    enter={"with": ".__enter__()", "async": ".__aenter__()~"},
)
