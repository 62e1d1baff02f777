"""What Java's packages and names mean."""

from graphrag_mcp.model.facts import USES_OF_FUNCTIONS, Use
from graphrag_mcp.model.files import CALLABLE, SymbolKind
from graphrag_mcp.resolution.libraries import LIBRARIES, find_declared
from graphrag_mcp.resolution.policy import Policy, Primitive
from graphrag_mcp.resolution.sources import FactSource
from graphrag_mcp.resolution.values import Outside, Package, Type, Value

_FUNCTIONS = frozenset(CALLABLE)
_VARIABLES = frozenset((SymbolKind.FIELD, SymbolKind.CONSTANT))
_TYPES = frozenset((SymbolKind.TYPE,))


def _module(source: FactSource, _path: str, module: str) -> Value:
    """Return the package or type that a qualified name stands for."""
    names = module.split(".")
    for length in range(len(names), 0, -1):
        unit = ".".join(names[:length])
        if source.has_unit(unit) or f"<{unit}>" in LIBRARIES:
            things = find_declared(source, unit, ".".join(names[length:])) if length < len(names) else ()
            return Type(tuple(things)) if things else Package(module, is_nested=True)
    return Outside(module)


_OF_ALL = frozenset(("Object", "Serializable", "Constable"))
_WIDER = ("byte", "short", "int", "long", "float", "double")
_NUMBERS = ("Byte", "Double", "Float", "Integer", "Long", "Short")

POLICY = Policy(
    _module,
    whole_unit=True,
    spaces={
        **dict.fromkeys(USES_OF_FUNCTIONS, (_FUNCTIONS,)),
        **dict.fromkeys((Use.TYPE, Use.BASE, Use.CREATE), (_TYPES,)),
        Use.VALUE: (_VARIABLES, _TYPES),
        **dict.fromkeys((Use.WRITE, Use.FILL), (_VARIABLES,)),
    },
    overloads=True,
    constructors=frozenset(("",)),
    bare_members=True,
    common=frozenset(
        ("equals", "hashCode", "toString", "getClass", "notify", "notifyAll", "wait", "clone", "finalize")
    ),
    library="<java.lang>",
    iterating=("iterator", "next"),
    is_implicit=frozenset(("toString", "iterator", "close")).__contains__,  # By `+`, `for` and `try`.
    nested=True,
    platform=frozenset(("groovy", "kotlin", "scala")),
    final={
        "String": _OF_ALL | {"CharSequence", "Comparable", "ConstantDesc"},
        "Class": _OF_ALL | {"AnnotatedElement", "GenericDeclaration", "OfField", "Type", "TypeDescriptor"},
        **dict.fromkeys(_NUMBERS, _OF_ALL | {"Comparable", "ConstantDesc", "Number"}),
        **dict.fromkeys(("Boolean", "Character"), _OF_ALL | {"Comparable"}),
    },
    primitives={
        **{name: Primitive(name.capitalize(), _WIDER[place + 1 :]) for place, name in enumerate(_WIDER)},
        "int": Primitive("Integer", _WIDER[3:]),
        "char": Primitive("Character", _WIDER[2:]),
        "boolean": Primitive("Boolean", ()),
    },
)
