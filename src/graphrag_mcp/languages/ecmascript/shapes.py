"""How JavaScript and TypeScript write values and types."""

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
    function_type,
    instance,
    is_name,
    item,
    module,
    name,
    of_type,
    operands,
    part,
    step,
    type_of,
    type_part,
    union,
    with_types,
)
from graphrag_mcp.model.facts import Mark

_LITERALS = "string template_string number regex true false update_expression unary_expression"
_JSX = "jsx_element jsx_self_closing_element"
_AROUND_TYPES = """
    type_annotation opting_type_annotation omitting_type_annotation parenthesized_type readonly_type optional_type
    default_type constraint
"""
_AROUND_VALUES = "satisfies_expression non_null_expression parenthesized_expression instantiation_expression"
_NO_TYPES = frozenset(("any", "unknown", "object"))
_NOTHING_TYPES = frozenset(("void", "undefined", "null", "never"))


_FUNCTIONS = frozenset(
    ("arrow_function", "function_declaration", "function_expression", "generator_function",
     "generator_function_declaration", "method_definition")
)  # fmt: skip


# ---------------------------------------------------------------- values


def _call(writer: Writer, node: Node) -> str:
    """A call; `require` and `import` with a text give a module."""
    function, values = node.child_by_field_name("function"), arguments(node.child_by_field_name("arguments"))
    if function and values and values[0].type == "string" and writer.text(function) in ("require", "import"):
        return module(writer.text(values[0]))
    if function and function.type == "await_expression":  # So the grammar reads `await f<T>()`.
        return item(_AWAITED(writer, node), "~")
    return _CALL(writer, node)


_CALL = call("function", "arguments", "type_arguments")
_AWAITED = call(lambda writer, node: writer.value(arguments(node.named_children[0])[0]), "arguments", "type_arguments")


def _member(writer: Writer, node: Node) -> str:
    """A member; `module.exports` is the module itself."""
    of = node.child_by_field_name("object")
    if of is not None and of.type in ("as_expression", "satisfies_expression"):  # `x as a.b.C`, read as `(x as a.b).C`.
        value, kind = arguments(of)[0], dotted(writer.type(arguments(of)[-1]), writer.name(node.named_children[-1]))
        return instance(kind) if of.type == "as_expression" else writer.value(value)
    is_short = node.end_byte - node.start_byte == len(_EXPORTS)
    if is_short and writer.text(node) == _EXPORTS:
        return module("")
    return dotted(writer.value(of), writer.name(node.named_children[-1]))  # In `typeof a.b.c`, two have its field.


_EXPORTS = "module.exports"


def _name(writer: Writer, node: Node) -> str:
    text = writer.name(node)
    return {"exports": module(""), "undefined": NOTHING}.get(text, text)


def _element(writer: Writer, node: Node) -> str:
    """`a["b"]` is `a.b`."""
    index = node.child_by_field_name("index")
    if index and index.type == "string" and (text := writer.text(index)[1:-1]).isidentifier():
        return item(writer.value(node.child_by_field_name("object")), f".{text}")
    return _ELEMENT(writer, node)


_ELEMENT = step("object", "[]")


def _cast(writer: Writer, node: Node) -> str:
    """`x as T`; `x as const` is x."""
    value, *kind = arguments(node)
    return writer.typed(kind[0]) if kind else writer.value(value)


def _asserted(writer: Writer, node: Node) -> str:
    """`<T>x`; `<const>x` is x."""
    kinds, value = arguments(node)[0], arguments(node)[-1]
    kind = arguments(kinds)
    return writer.typed(kind[0]) if kind else writer.value(value)


def _binary(writer: Writer, node: Node) -> str:
    operator = node.child_by_field_name("operator")
    match operator.type if operator else "":
        case "??" | "||":
            return _EITHER(writer, node)
        case "&&":
            return writer.value(node.child_by_field_name("right"))
    return LITERAL


_EITHER = choice("left", "right")


def _array(writer: Writer, node: Node) -> str:
    """A list, whose elements may be told apart: `const [a, b] = [f, g]`."""
    values = [UNKNOWN if part.type == "spread_element" else writer.value(part) for part in arguments(node)]
    return f"[{'|'.join(dict.fromkeys(values)) or UNKNOWN}]"


# ---------------------------------------------------------------- patterns


def _taken(writer: Writer, node: Node) -> str:
    """Return what a name or a pattern gets from what is taken apart."""
    around = node.parent
    if around is None:
        return UNKNOWN
    match around.type:
        case "formal_parameters":
            return _given(writer, node, around)
        case "object_pattern":
            of = writer.result_of(_taken, around)
            name = node.child_by_field_name("left") or node
            return of if node.type == "rest_pattern" else _named_item(writer, of, name)
        case "array_pattern":
            place = writer.place(node, around)
            return UNKNOWN if node.type == "rest_pattern" else item(writer.result_of(_taken, around), f"[{place}]")
        case "pair_pattern":
            of = writer.result_of(_taken, around.parent) if around.parent else UNKNOWN
            return _named_item(writer, of, around.child_by_field_name("key"))
        case "object_assignment_pattern" | "assignment_pattern" if around.child(0) == node:
            return writer.result_of(_taken, around)
        case "for_in_statement":
            of = writer.value(around.child_by_field_name("right"))
            is_of = any(child.type == "of" for child in around.children)
            return item(of, "[*]") if is_of else LITERAL
        case "variable_declarator":
            kind = around.child_by_field_name("type")
            return writer.typed(kind) if kind else writer.value(around.child_by_field_name("value"))
        case "rest_pattern":
            return writer.result_of(_taken, around)
        case "required_parameter" | "optional_parameter":
            return _given(writer, around, around.parent)
        case "arrow_function":
            return item(writer.expected(around), "@0")
    return UNKNOWN


def _named_item(writer: Writer, of: str, name: Node | None) -> str:
    text = writer.text(name).strip("'\"") if name else ""
    return item(of, f".{text}") if text.replace("$", "_").isidentifier() else UNKNOWN


def _given(writer: Writer, node: Node, parameters: Node | None) -> str:
    """Return what a parameter is given: what its type says, or what the function is handed to, or its default."""
    if kind := node.child_by_field_name("type"):
        return writer.typed(kind)
    of = writer.expected(parameters.parent) if parameters else UNKNOWN
    if of == UNKNOWN:
        return writer.value(node.child_by_field_name("value") or node.child_by_field_name("right"))
    return item(of, f"@{writer.place(node, parameters)}") if parameters else UNKNOWN


def _expected(writer: Writer, node: Node) -> str:
    """Return what the place of a function or object expects: as an argument, a member, a variable with a type."""
    around = node.parent
    if node.type in ("jsx_opening_element", "jsx_self_closing_element"):
        component = writer.value(node.child_by_field_name("name"))
        return UNKNOWN if component[:1].islower() else item(component, "@0")
    if around is None:
        return UNKNOWN
    match around.type:
        case "arguments" if around.parent and around.parent.type in ("call_expression", "new_expression"):
            call = around.parent
            called = call.child_by_field_name("function") or call.child_by_field_name("constructor")
            return item(writer.value(called), f"@{writer.place(node, around)}") if called else UNKNOWN
        case "array":
            return item(writer.expected(around), "[]")
        case "assignment_expression" | "augmented_assignment_expression" if around.child_by_field_name("right") == node:
            return writer.value(around.child_by_field_name("left"))
        case "pair" if around.parent:
            return _named_item(writer, writer.expected(around.parent), around.child_by_field_name("key"))
        case "object":
            return _named_item(writer, writer.expected(around), node.child_by_field_name("name"))
        case "required_parameter" | "optional_parameter" | "variable_declarator" | "public_field_definition" if (
            around.child_by_field_name("type")
        ):
            return writer.typed(around.child_by_field_name("type"))
        case "satisfies_expression" | "as_expression":
            kind = arguments(around)[1:]  # None in `as const`.
            is_passed_on = around.parent is not None and around.parent.type == "as_expression"  # `as unknown as T`
            return writer.typed(kind[0]) if kind and not is_passed_on else writer.expected(around)
        case "parenthesized_expression" | "ternary_expression" if around.child_by_field_name("condition") != node:
            return writer.expected(around)
        case "return_statement" | "arrow_function":
            return _returned(writer, around)
    return UNKNOWN


def _returned(writer: Writer, node: Node) -> str:
    """Return what the function around a node is to give."""
    function: Node | None = node
    while function is not None and function.type not in _FUNCTIONS:
        function = function.parent
    if function is None:
        return UNKNOWN
    kind = function.child_by_field_name("return_type")
    return _results(writer, kind) if kind else item(writer.expected(function), "()")


# ---------------------------------------------------------------- types


def _predefined(writer: Writer, node: Node) -> str:
    text = writer.text(node)
    return UNKNOWN if text in _NO_TYPES else NOTHING if text in _NOTHING_TYPES else LITERAL


def _conditional(writer: Writer, node: Node) -> str:
    """Either of two types; which of them is not decided."""
    kinds = [writer.type(node.child_by_field_name(branch)) for branch in ("consequence", "alternative")]
    return UNKNOWN if UNKNOWN in kinds else f"({'|'.join(kinds)})"


def _tuple(writer: Writer, node: Node) -> str:
    fields = (part.child_by_field_name("type") or part for part in arguments(node))
    kinds = [UNKNOWN if part.type in ("rest_type", "rest_pattern") else writer.type(part) for part in fields]
    return f"({';'.join(kinds)})" if len(kinds) > 1 else f"[{kinds[0] if kinds else UNKNOWN}]"


def _type_of(writer: Writer, node: Node) -> str:
    return type_of(writer.value(arguments(node)[0]))


def _extended(writer: Writer, node: Node) -> str:
    """A class may extend any value."""
    kind, kinds = _type_of(writer, node), arguments(node.child_by_field_name("type_arguments"))
    return with_types(writer, f"({kind})", kinds) if kinds and kind != UNKNOWN else kind


def _indexed(writer: Writer, node: Node) -> str:
    """An index signature: what has one is a list, or a map from texts; a mapped type has the members of another."""
    key, kind = node.child_by_field_name("index_type"), node.child_by_field_name("type")
    if key:
        held = writer.type(kind)
        return f"[{held}]" if writer.text(key) == "number" else f"{{{LITERAL}:{held}}}"
    name, keys, *renamed = arguments(arguments(node)[0])
    if keys.type != "index_type_query" or renamed or kind is None:
        return f"{{{UNKNOWN}:{writer.type(kind)}}}"
    of = arguments(keys)[0]
    is_same = writer.text(kind).lstrip("-+?: ") == f"{writer.text(of)}[{writer.text(name)}]"
    return writer.type(of) if is_same else f"{{{writer.type(of)}:{writer.type(kind)}}}"


def _lookup(writer: Writer, node: Node) -> str:
    """`T["a"]` is the type of that member; `T[number]` of an element."""
    kind, key = arguments(node)[:2]
    of, text = writer.type(kind), writer.text(key).strip("'\"")
    if of == UNKNOWN or not (key.type == "predefined_type" or (text.isidentifier() and key.type == "literal_type")):
        return UNKNOWN
    return f"=({instance(of)})" + ("[]" if key.type == "predefined_type" else f".{text}")


def _qualified(writer: Writer, node: Node) -> str:
    text = "".join(writer.text(node).split()).replace("?", "")
    return text if all(map(is_name, text.split("."))) else UNKNOWN


def _results(writer: Writer, node: Node | None) -> str:
    """Return what a call gives; "" where it is not declared."""
    if node is None:
        return ""
    return LITERAL if node.type.startswith(("type_predicate", "asserts")) else writer.typed(node)


_TYPES: dict[str, Rule] = {
    "type_identifier": name,
    "identifier": name,
    **dict.fromkeys(("nested_type_identifier", "nested_identifier", "member_expression"), _qualified),
    **dict.fromkeys(_AROUND_TYPES.split(), type_part()),
    **dict.fromkeys(("predefined_type", "literal_type"), _predefined),
    # The first is what `typeof` gives.
    **dict.fromkeys(("string", "template_literal_type", "index_type_query"), fixed(LITERAL)),
    "this_type": fixed("=this"),
    "generic_type": applied("name", "type_arguments"),
    "extends_clause": _extended,
    "class_heritage": _type_of,
    "spread_element": _type_of,
    "index_signature": _indexed,
    "array_type": lambda writer, node: f"[{writer.type(arguments(node)[0])}]",
    "tuple_type": _tuple,
    "union_type": lambda writer, node: union(map(writer.type, operands(node))),
    "intersection_type": lambda writer, node: f"&({','.join(map(writer.type, operands(node)))})",
    "function_type": function_type(type_part("return_type")),
    "constructor_type": function_type(type_part("type")),  # What makes the instances is called.
    "type_query": _type_of,
    "lookup_type": _lookup,
    "conditional_type": _conditional,
    "call_expression": lambda writer, node: type_of(_call(writer, node)),
}

SHAPES = Shapes(
    values={
        **dict.fromkeys(_TYPES, as_value),
        **dict.fromkeys((*_LITERALS.split(), *_JSX.split()), fixed(LITERAL)),
        "null": fixed(NOTHING),
        "undefined": fixed(NOTHING),
        "identifier": _name,
        "shorthand_property_identifier": name,
        "this": fixed("this"),
        "super": fixed("super"),
        "member_expression": _member,
        "nested_identifier": _qualified,
        "subscript_expression": _element,
        "call_expression": _call,
        "new_expression": call("constructor", "arguments", "type_arguments", created=True),
        "await_expression": step("", "~"),
        "as_expression": _cast,
        **dict.fromkeys(_AROUND_VALUES.split(), part()),
        "type_assertion": _asserted,
        "type_arguments": of_type(""),
        "ternary_expression": choice("consequence", "alternative"),
        "binary_expression": _binary,
        "assignment_expression": part("right"),
        "sequence_expression": lambda writer, node: writer.value(arguments(node)[-1]),
        "array": _array,
        "object_pattern": _taken,
        "array_pattern": _taken,
    },
    types=_TYPES,
    parameters={
        "required_parameter": ParameterRule("pattern", default="value"),
        "optional_parameter": ParameterRule("pattern", default="value", optional=True),
        "identifier": ParameterRule("", ""),
        "object_pattern": ParameterRule("", ""),
        "array_pattern": ParameterRule("", ""),
        "assignment_pattern": ParameterRule("left", "", "right"),
        "rest_pattern": ParameterRule("", "", rest=True),
    },
    results=_results,
    unit=lambda path, _package: path,
    result="return_type",
    this="this",
    above="super",
    constructor="constructor",
    taken=_taken,
    assigning="assignment_expression",
    updates=frozenset(("update_expression", "augmented_assignment_expression")),
    expected=_expected,
    signatures={"call_signature": "()", "construct_signature": "new"},
    other_results={"construct_signature": "type"},
    selves=_FUNCTIONS - {"arrow_function"},
    marks={"static": Mark.STATIC, "get": Mark.PROPERTY, "async": Mark.ASYNC, "*": Mark.GENERATOR, "?": Mark.OPTIONAL},
    unset=NOTHING,
    bound="constraint",
    passed=frozenset(("identifier", "member_expression", "arrow_function", "function_expression")),
    binding="bind",
    around_keys=frozenset(("pair", "string", "method_definition", "jsx_attribute")),
    unmentioned={"module": {""}, "exports": {"", "module"}},
)
