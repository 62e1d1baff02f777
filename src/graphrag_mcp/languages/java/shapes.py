"""How Java writes values and types."""

import posixpath

from tree_sitter import Node

from graphrag_mcp.languages.shapes import (
    LITERAL,
    NOTHING,
    UNKNOWN,
    ParameterRule,
    Rule,
    Shapes,
    Writer,
    applied,
    arguments,
    as_value,
    call,
    choice,
    dotted,
    fixed,
    instance,
    is_name,
    item,
    member,
    name,
    of_type,
    part,
    step,
    union,
)
from graphrag_mcp.languages.syntax import outwards
from graphrag_mcp.model.facts import Mark

_INTEGERS = "decimal_integer_literal hex_integer_literal octal_integer_literal binary_integer_literal"
_FLOATS = "decimal_floating_point_literal hex_floating_point_literal"
_COMPARISONS = frozenset(("==", "!=", "<", ">", "<=", ">=", "&&", "||"))
_DECLARING = ("class_declaration", "enum_declaration", "record_declaration")
_TEXT, _BOOLEAN, _CHARACTER = "String!", "'boolean!", "'char!"
_NUMBERS = ("'double!", "'float!", "'long!", "'int!")  # The sum of two numbers has the type that is first here.


# ---------------------------------------------------------------- values


def _callee(writer: Writer, node: Node) -> str:
    """Return the function that a call or a creation calls."""
    if node.type == "method_invocation":
        named = writer.name(node.child_by_field_name("name"))
        return _METHOD(writer, node) if node.child_by_field_name("object") else named
    kind = node.child_by_field_name("type") if node.type == "object_creation_expression" else _constructed(node)
    return as_value(writer, kind) if kind else UNKNOWN


def _constructed(node: Node) -> Node | None:
    """Return the type whose constructor an enumeration constant, `this(..)` or `super(..)` calls."""
    around = next((outer for outer in outwards(node.parent) if outer.type in _DECLARING), None)
    word = node.child_by_field_name("constructor")
    if around is None or node.type not in ("enum_constant", "explicit_constructor_invocation"):
        return None
    if word is None or word.type == "this":
        return around.child_by_field_name("name")
    above = around.child_by_field_name("superclass")
    return above.named_children[0] if above else None


def _text(writer: Writer, node: Node, field_name: str) -> str:
    part = node.child_by_field_name(field_name)
    return writer.text(part) if part else UNKNOWN


_METHOD = member("object", "name")
_FIELD = member("object", "field")


def _field(writer: Writer, node: Node) -> str:
    """A field; `Outer.this` is an instance of Outer."""
    if _text(writer, node, "field") == "this":
        return writer.typed(node.child_by_field_name("object"))
    return _FIELD(writer, node)


def _created(writer: Writer, node: Node) -> str:
    """A new instance, of a type of its own where it has a body; `outer.new Inner()` is of a member of outer."""
    parts = arguments(node)
    if parts[-1].type == "class_body":
        return instance(writer.type(parts[-1]))
    kind = node.child_by_field_name("type")
    return writer.typed(kind) if parts[0] == kind or parts[0].type == "type_arguments" else UNKNOWN


def _number(suffix: str, kind: str, plain: str) -> Rule:
    """A number, of a kind that a letter behind it names."""
    return lambda writer, node: kind if writer.text(node)[-1].lower() == suffix else plain


def _unary(writer: Writer, node: Node) -> str:
    """`!a` is a truth value; `-a` and `~a` are numbers, of which smaller ones become `int`."""
    operator = node.child_by_field_name("operator")
    of = writer.value(node.child_by_field_name("operand"))
    return _BOOLEAN if operator and operator.type == "!" else of if of in _NUMBERS else LITERAL


def _binary(writer: Writer, node: Node) -> str:
    """A comparison is a truth value, a sum with a text is a text, and literals give a number."""
    operator = node.child_by_field_name("operator")
    if operator and operator.type in _COMPARISONS:
        return _BOOLEAN
    sides = [writer.value(node.child_by_field_name(side)) for side in ("left", "right")]
    if operator and operator.type == "+" and _TEXT in sides:
        return _TEXT
    kinds = ["'int!" if side == _CHARACTER else side for side in sides]
    return min(kinds, key=_NUMBERS.index) if set(kinds) <= set(_NUMBERS) else LITERAL


def _reference(writer: Writer, node: Node) -> str:
    """A method reference; `A::new` is the type, which gives an instance when it is called."""
    of, *_, last = node.children
    if last.type == "new":
        return as_value(writer, of)
    return item(writer.value(of), f"#{writer.text(last)}") if is_name(writer.text(last)) else UNKNOWN


def _name(writer: Writer, node: Node) -> str:
    """A name with its qualifiers, without annotations."""
    names = [part for part in arguments(node) if not part.type.endswith("annotation")]
    return dotted(writer.type(names[0]), writer.name(names[-1]))


# ---------------------------------------------------------------- what a function is expected to be


def _expected(writer: Writer, node: Node) -> str:
    """Return what the place of a value expects: as an argument, for a variable, as a result."""
    around = node.parent
    match around.type if around else "":
        case "argument_list" if around and around.parent:
            return item(_callee(writer, around.parent), f"@{writer.place(node, around)}")
        case "variable_declarator" if around and around.parent:
            return writer.typed(around.parent.child_by_field_name("type"))
        case "assignment_expression" if around:
            return writer.value(around.child_by_field_name("left"))
        case "cast_expression" if around:
            return writer.typed(around.child_by_field_name("type"))
        case "parenthesized_expression" | "ternary_expression" if around:
            return writer.expected(around)
        case "return_statement" if around:
            return _result_around(writer, around)
    return UNKNOWN


def _result_around(writer: Writer, node: Node) -> str:
    around = node.parent
    while around and around.type not in ("method_declaration", "lambda_expression", "class_body"):
        around = around.parent
    return writer.typed(around.child_by_field_name("type")) if around else UNKNOWN


def _taken(writer: Writer, node: Node) -> str:
    """Return what a parameter of a lambda without a type is given."""
    around = node.parent
    function = around if around and around.type == "lambda_expression" else around.parent if around else None
    if function is None or function.type != "lambda_expression" or around is None:
        return UNKNOWN
    place = 0 if around is function else writer.place(node, around)
    return item(writer.expected(function), f"@{place}")


# ---------------------------------------------------------------- types


def _wildcard(writer: Writer, node: Node) -> str:
    """`? extends T` and `? super T` are T; `?` may be anything, of which nothing is known."""
    bounds = [part for part in arguments(node) if not part.type.endswith("annotation") and part.type != "super"]
    return writer.type(bounds[-1]) if bounds else LITERAL


def _generic(writer: Writer, node: Node) -> str:
    """A type with its arguments; those of `A<>` are not written."""
    written = _GENERIC(writer, node)
    return written if written.endswith(">") or written == UNKNOWN else f"{written}<?>"


_GENERIC = applied("", "")


def _array_type(writer: Writer, node: Node) -> str:
    depth = _text(writer, node, "dimensions").count("[")
    return "[" * depth + writer.type(node.child_by_field_name("element")) + "]" * depth


def _limit(writer: Writer, node: Node) -> str:
    """The types that the arguments of a type parameter have; any object without one."""
    bound = next((part for part in arguments(node) if part.type == "type_bound"), None)
    kinds = [writer.type(part) for part in arguments(bound)]
    return f"&({','.join(kinds)})" if len(kinds) > 1 else kinds[0] if kinds else LITERAL


def _enum(writer: Writer, node: Node) -> str:
    """What every enumeration extends."""
    return f"Enum<{writer.name(node.parent.child_by_field_name('name'))}>" if node.parent else UNKNOWN


_TYPES: dict[str, Rule] = {
    "type_identifier": name,
    "identifier": name,
    "scoped_type_identifier": _name,
    "scoped_identifier": _name,
    "generic_type": _generic,
    "annotated_type": lambda writer, node: writer.type(arguments(node)[-1]),
    "array_type": _array_type,
    "wildcard": _wildcard,
    "catch_type": lambda writer, node: union(map(writer.type, arguments(node))),
    **dict.fromkeys(
        ("integral_type", "floating_point_type", "boolean_type"), lambda writer, node: f"'{writer.text(node)}"
    ),
    "void_type": fixed(NOTHING),
    "enum": _enum,
    "record": fixed("Record"),
    "@interface": fixed("Annotation"),
}

SHAPES = Shapes(
    values={
        **dict.fromkeys(_INTEGERS.split(), _number("l", "'long!", "'int!")),
        **dict.fromkeys(_FLOATS.split(), _number("f", "'float!", "'double!")),
        **dict.fromkeys(("true", "false", "instanceof_expression"), fixed(_BOOLEAN)),
        "character_literal": fixed(_CHARACTER),
        "unary_expression": _unary,
        "update_expression": part(),
        "binary_expression": _binary,
        **dict.fromkeys(_TYPES, as_value),
        "null_literal": fixed(NOTHING),
        "string_literal": fixed(_TEXT),
        "class_literal": lambda writer, node: f"Class<{writer.type(arguments(node)[0])}>!",
        "identifier": name,
        "type_identifier": name,
        **dict.fromkeys(("scoped_identifier", "scoped_type_identifier"), _name),
        "this": name,
        "super": name,
        "field_access": _field,
        "method_invocation": call(_callee, "arguments", "type_arguments"),
        "object_creation_expression": _created,
        "array_creation_expression": lambda writer, node: f"[{writer.type(node.child_by_field_name('type'))}]!",
        "array_access": step("array", "[]"),
        "cast_expression": of_type("type"),
        "parenthesized_expression": part(),
        "ternary_expression": choice("consequence", "alternative"),
        "assignment_expression": part("left"),
        "method_reference": _reference,
    },
    types=_TYPES,
    parameters={
        "formal_parameter": ParameterRule(),
        "spread_parameter": ParameterRule("variable_declarator", "<", rest=True),
        "identifier": ParameterRule("", ""),
    },
    unit=lambda path, package: package or f"{posixpath.dirname(path)}:",
    result="type",
    this="this",
    overloads=True,
    above="super",
    loops=("[*]",),
    inferred=frozenset({"var", "val"}),
    bound=_limit,
    taken=_taken,
    expected=_expected,
    updates=frozenset(("update_expression", "assignment_expression")),
    marks={"static": Mark.STATIC, "private": Mark.PRIVATE, "default": Mark.DEFAULT},
)
