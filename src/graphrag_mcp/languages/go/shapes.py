"""How Go writes values and types."""

import posixpath

from tree_sitter import Node

from graphrag_mcp.languages.shapes import (
    LITERAL,
    UNKNOWN,
    ParameterRule,
    Shapes,
    Writer,
    applied,
    arguments,
    as_value,
    call,
    fixed,
    function_type,
    member,
    name,
    of_type,
    part,
    step,
    type_member,
    type_part,
)

_LITERALS = """
    int_literal float_literal imaginary_literal rune_literal interpreted_string_literal raw_string_literal
    true false iota
"""
_PASSED = "identifier selector_expression func_literal unary_expression composite_literal type_conversion_expression"
_AROUND_TYPES = "pointer_type parenthesized_type unary_expression parenthesized_expression negated_type"
_LISTS = "slice_type array_type implicit_length_array_type"
_COMPARISONS = frozenset(("==", "!=", "<", ">", "<=", ">=", "&&", "||"))


def _unary(writer: Writer, node: Node) -> str:
    """Pointers are what they point to; `<-c` receives; anything else gives a number or a truth value."""
    operator, operand = node.child_by_field_name("operator"), writer.value(node.child_by_field_name("operand"))
    match operator.type if operator else "":
        case "<-":
            return f"{operand}[]" if operand != UNKNOWN else UNKNOWN
        case "&" | "*":
            return operand
    return LITERAL


def _binary(writer: Writer, node: Node) -> str:
    operator = node.child_by_field_name("operator")
    if operator and operator.type in _COMPARISONS:
        return LITERAL
    left = writer.value(node.child_by_field_name("left"))
    return writer.value(node.child_by_field_name("right")) if left == LITERAL else left


def _map(writer: Writer, node: Node) -> str:
    key, value = (writer.type(node.child_by_field_name(field)) for field in ("key", "value"))
    return f"{{{key}:{value}}}"


def _channel(writer: Writer, node: Node) -> str:
    carried = writer.type(node.child_by_field_name("value"))
    return f"{{{carried}:{carried}}}"


def _results(writer: Writer, node: Node) -> str:
    return results(writer, node.child_by_field_name("result")).replace("!", "")


def _union(writer: Writer, node: Node) -> str:
    """A constraint of one type is that type; unions have no members of their own, in an interface they say more."""
    parts = arguments(node)
    return writer.type(parts[0]) if len(parts) == 1 else f"{LITERAL}union" if node.type == "type_elem" else UNKNOWN


def results(writer: Writer, node: Node | None) -> str:
    """Return what a call gives, from the node of the result."""
    if node is None:
        return "-"
    if node.type != "parameter_list":
        return writer.typed(node)
    values = [parameter.value for parameter, _ in writer.parameters(node)]
    return values[0] if len(values) == 1 else f"({';'.join(values)})" if values else "-"


def _expected(writer: Writer, node: Node) -> str:
    """Return what the one value of a `return` has to be."""
    around = node.parent.parent if node.parent and node.parent.type == "expression_list" else None
    if around is None or around.type != "return_statement":
        return UNKNOWN
    while around and around.type not in ("function_declaration", "method_declaration", "func_literal"):
        around = around.parent
    result = around.child_by_field_name("result") if around else None
    return writer.typed(result) if result and result.type != "parameter_list" else UNKNOWN


_TYPES = {
    "type_identifier": name,
    "identifier": name,
    "qualified_type": type_member("package", "name"),
    "selector_expression": type_member("operand", "field"),
    **dict.fromkeys(_AROUND_TYPES.split(), type_part()),
    "type_elem": _union,
    "type_constraint": _union,
    **dict.fromkeys(_LISTS.split(), lambda writer, node: f"[{writer.type(node.child_by_field_name('element'))}]"),
    "map_type": _map,
    "channel_type": _channel,
    "function_type": function_type(_results),
    "interface_type": fixed("any"),
    "struct_type": fixed(f"{LITERAL}struct"),
    "generic_type": applied("type", "type_arguments"),
}

SHAPES = Shapes(
    expected=_expected,
    values={
        **dict.fromkeys(_LITERALS.split(), fixed(LITERAL)),
        **dict.fromkeys(_TYPES, as_value),
        "nil": fixed("-"),
        "identifier": name,
        "package_identifier": name,
        "selector_expression": member("operand", "field"),
        "call_expression": call("function", "arguments", "type_arguments"),
        "index_expression": step("operand", "[]"),
        "slice_expression": part("operand"),
        "type_assertion_expression": of_type("type"),
        "type_conversion_expression": of_type("type"),
        "composite_literal": of_type("type"),
        "parenthesized_expression": part(),
        "literal_element": part(),
        "unary_expression": _unary,
        "binary_expression": _binary,
        "type_instantiation_expression": part(),
    },
    types=_TYPES,
    parameters={"parameter_declaration": ParameterRule(), "variadic_parameter_declaration": ParameterRule(rest=True)},
    results=results,
    unit=lambda path, package: f"{posixpath.dirname(path)}:{package}",
    lists=frozenset({"expression_list"}),
    alone=frozenset({"type_assertion_expression", "index_expression", "unary_expression"}),
    repeated=frozenset({"const_spec"}),
    passed=frozenset(_PASSED.split()),
)
