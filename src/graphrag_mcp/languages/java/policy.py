"""What Java's packages and names mean."""

from graphrag_mcp.languages.policy import (
    CallRules,
    ForeignRules,
    Library,
    MemberRules,
    ModuleRules,
    NameRules,
    Policy,
    Primitive,
    read_text,
)
from graphrag_mcp.model.facts import USES_OF_FUNCTIONS, Declared, Mark, Use
from graphrag_mcp.model.files import CALLABLE, VARIABLE, SymbolKind
from graphrag_mcp.model.sources import ModuleSource
from graphrag_mcp.model.values import Outside, Package, Type, Value

_FUNCTIONS = frozenset(CALLABLE)
_TYPES = frozenset((SymbolKind.TYPE,))


def _module(source: ModuleSource, _path: str, module: str) -> Value:
    """Return the package or type that a qualified name stands for."""
    names = module.split(".")
    for length in range(len(names), 0, -1):
        unit = ".".join(names[:length])
        if source.has_unit(unit):
            symbols = source.find(unit, ".".join(names[length:])) if length < len(names) else ()
            return Type(tuple(symbols)) if symbols else Package(module, is_nested=True)
    return Outside(module)


_OF_ALL = frozenset(("Object", "Serializable", "Constable"))
_WIDER = ("byte", "short", "int", "long", "float", "double")
_NUMBERS = ("Byte", "Double", "Float", "Integer", "Long", "Short")

_IMPLICIT = """
    toString iterator close readObject readObjectNoData readResolve writeObject writeReplace
"""  # They are called by `+`, `for`, `try` and serialization.
_TESTS = """
    Test ParameterizedTest RepeatedTest TestFactory TestTemplate Before After BeforeClass AfterClass BeforeEach
    AfterEach BeforeAll AfterAll BeforeMethod AfterMethod BeforeSuite AfterSuite Benchmark RunWith
    Ignore Disabled Parameters
"""  # Annotations of what a test runner runs.
_INERT = """
    Override Deprecated SuppressWarnings SafeVarargs FunctionalInterface Retention Target Documented Inherited
    Repeatable Native Generated Nullable NonNull Nonnull NotNull NullMarked CheckForNull CheckReturnValue
    CanIgnoreReturnValue ReturnValuesAreNonnullByDefault ParametersAreNonnullByDefault VisibleForTesting Immutable
    ThreadSafe NotThreadSafe GuardedBy Contract Experimental Internal Beta
"""  # Annotations because of which nothing is called.
_TEST_BASES = ("TestCase",)  # They call no more than the methods that `_run_by` knows.
_BY_TESTS = frozenset(_TESTS.split())
_NOT_CALLING = _BY_TESTS.union(_INERT.split(), _TEST_BASES)


def _run_by(path: str, declaration: Declared) -> str:
    """Return what starts a method: a test runner by its annotation, or the virtual machine."""
    if marks := [mark for mark in declaration.marks if mark[1:] in _BY_TESTS]:
        return marks[0]
    if (
        "test" in path.lower()
        and not declaration.parameters
        and (declaration.name[:4] == "test" or declaration.name in ("setUp", "tearDown"))
    ):
        return "a test runner"
    return "the virtual machine" if declaration.name == "main" and Mark.STATIC in declaration.marks else ""


# A file for each package, since these have names of their own.
_PACKAGES = ["package " + text for text in read_text(__package__, "library.java").split("\npackage ")[1:]]

POLICY = Policy(
    ModuleRules(_module, whole_unit=True, nested=True),
    names=NameRules(
        spaces={
            **dict.fromkeys(USES_OF_FUNCTIONS, (_FUNCTIONS,)),
            **dict.fromkeys((Use.TYPE, Use.BASE, Use.CREATE), (_TYPES,)),
            Use.VALUE: (frozenset(VARIABLE), _TYPES),
            **dict.fromkeys((Use.WRITE, Use.FILL), (frozenset(VARIABLE),)),
        },
        bare_members=True,
    ),
    members=MemberRules(
        constructors=("",),
        common=frozenset(
            ("equals", "hashCode", "toString", "getClass", "notify", "notifyAll", "wait", "clone", "finalize")
        ),
        iterating=("iterator", "next"),
        is_implicit=frozenset(_IMPLICIT.split()).__contains__,
        by_text="valueOf",
    ),
    calls=CallRules(overloads=True, run_by=_run_by),
    foreign=ForeignRules(
        declarations={f"<{text.split(';')[0].removeprefix('package ')}>": ("java", text) for text in _PACKAGES},
        library=Library("<java.lang>"),
        reads_private=True,
        is_registering=lambda name: name not in _NOT_CALLING,
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
    ),
)
