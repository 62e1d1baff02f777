"""What the resolver has to know of a language."""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import cache
from typing import NamedTuple

from msgspec import Struct, field

from graphrag_mcp.languages.registry import load_part
from graphrag_mcp.model.facts import Declared
from graphrag_mcp.model.sources import ModuleSource
from graphrag_mcp.model.values import Value
from graphrag_mcp.text.expressions import folder_of_package


class Primitive(NamedTuple):
    """A type of plain values. box: its type as an object. wider: the other plain types that may hold its values."""

    box: str
    wider: Sequence[str]


_TEST_RUNNER = "the test runner"  # It starts what has a title for a name.


class ModuleRules(Struct, frozen=True):
    """What an import means, and which declarations files share. A unit is a package or namespace."""

    module: Callable[[ModuleSource, str, str], Value | None]  # What an import in a file means.
    # The names that an import without one binds.
    names_of: Callable[[Value, str], Set[str]] = lambda _value, _module: frozenset()
    # What the first part of a module's name means.
    first: Callable[[ModuleSource, Value, str], Value] = lambda _source, module, _name: module
    # The module of a name in a package.
    inside: Callable[[ModuleSource, str, str], Value | None] = lambda _source, _path, _name: None
    whole_unit: bool = False  # Whether the files of a unit see each other's declarations.
    open_types: bool = False  # Whether any file of a unit may declare members of a type.
    nested: bool = False  # Whether packages are names.
    is_ambient: Callable[[str], bool] = lambda _path: False  # Whether a file only declares what there is elsewhere.
    # The file beside one of code that declares what that has, "" for none.
    beside: Callable[[ModuleSource, str], str] = lambda _source, _path: ""
    code: Callable[[ModuleSource, str], str] = lambda _source, _path: ""  # The other way round.
    needs: Callable[[str, Iterable[str]], Set[str]] | None = None
    """What a build has to have for a file to be in it, by its path and what it says; None where each is in all."""
    tests: str | tuple[str, ...] = ()  # How files of tests end.
    given: Set[str] = frozenset()  # Arguments that the program which runs tests gives itself.
    giving: str = ""  # The files whose functions give arguments to those in the folder and below.
    entries: Callable[[ModuleSource, str], Iterable[str]] = lambda _source, _path: ()
    """The files by which other projects import what is in the package of a file."""


class NameRules(Struct, frozen=True):
    """What a name may mean where it is written."""

    builtins: Set[str] = frozenset()
    rebinds: bool = False  # Whether a name at the top of a file may be bound several times, and is exported.
    has_spaces: bool = False  # Whether types and values have names of their own.
    spaces: Mapping[str, Sequence[Set[str]]] = field(default_factory=dict)  # What a name may mean by its use, in order.
    bare_members: bool = False  # Whether members are known by their names alone.
    is_dynamic: bool = False  # Whether assignments decide what a variable holds, and which members a value has.
    functions_are_members: bool = True  # Whether a function at the top of a file may be called on a value.


class MemberRules(Struct, frozen=True):
    """What is above a type, and which members a value has."""

    method_sets: bool = False  # Whether a type implements an interface by having its methods.
    is_linear: bool = False  # Whether the types above a type have one order (C3).
    not_inherited: Set[str] = frozenset()  # Bases from which nothing is inherited.
    constructors: Sequence[str] = ()  # Members that make instances; "" means the name of the type.
    common: Set[str] = frozenset()  # Members of every type.
    of_literals: Set[str] = frozenset()  # Members that a literal may have.
    replaces_fields: bool = False  # Whether a field of a type stands for one of that name above.
    is_implicit: Callable[[str], bool] = lambda _name: False  # Whether the language calls a method of a name by itself.
    hooks: Sequence[str] = ()  # Members that stand for any other.
    calling: str = ""  # The member that a call of a value calls.
    reading: str = ""  # The member that reading a field calls.
    iterating: Sequence[str] = ()  # The members that a loop calls, one after the other.
    loops_over_keys: bool = False
    prototype: str = ""  # The member of a function that is the instance which it makes.
    by_text: str = ""  # The member of an enumeration that gives a constant by its name.
    own_types: Set[str] = frozenset()  # Foreign names of the type around them.
    class_hooks: Sequence[str] = ()  # Members that are given the types below, and may read what these declare.
    type_variables: Set[str] = frozenset()  # What makes a type parameter.


class CallRules(Struct, frozen=True):
    """What a call gives to a function, and what it gives back."""

    overloads: bool = False  # Whether the arguments decide which function of a name is called.
    passes_self: bool = False  # Whether the own instance is the first parameter.
    own: Set[str] = frozenset()  # Results that mean the own instance.
    asynchronous: bool = False  # Whether the result of an asynchronous function is written as what awaiting it gives.
    invoking: Set[str] = frozenset()  # Members of functions that call them.
    emptying: Set[str] = frozenset()  # Functions that remove what is in their first argument.
    comparing: Set[str] = frozenset()  # Functions that compare the types which they are given, and make none.
    making: str = ""  # The member of all types that makes one of its first argument, where no type has its own.
    passes: Mapping[str, str] = field(default_factory=dict)
    """Foreign functions that give a part of their first argument: the "value", what is of the "type" that it is,
    "each" of its elements, one "element", or "later"; or "all" that they are given; or the "module" that it
    names; or "anything" of the project; types of which an instance is "itself", whatever it is given."""
    run_by: Callable[[str, Declared], str] = lambda _path, declared: _TEST_RUNNER if declared.name[:1] == '"' else ""
    """What starts a function of a file."""


class Library(Struct, frozen=True):
    """The language's own library where it is among the declarations, and which of its types values have by themselves.

    path: under which it is declared. lists, functions: the types of these. promise: of what an asynchronous function
    gives.
    """

    path: str = ""
    lists: str = ""
    functions: str = ""
    promise: str = ""


class ForeignRules(Struct, frozen=True):
    """What others declare. Names of foreign types and functions are qualified by their modules."""

    declarations: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Files of libraries by their paths, `<name>`, each with its language and text."""
    library: Library = Library()
    containers: Mapping[str, Callable[[Sequence[Value | None]], Value | None]] = field(default_factory=dict)
    """Types with arguments that are kinds of values known here, by their own names."""
    primitives: Mapping[str, Primitive] = field(default_factory=dict)
    final: Mapping[str, Set[str]] = field(default_factory=dict)
    """Types with no type below, by their own names, each with all types above."""
    enumerations: Set[str] = frozenset()  # Types whose fields are instances.
    is_open: bool = False  # Whether objects may hold anything, and not only what is plain.
    reads_private: bool = False  # Whether libraries read private fields of the objects that they are given.
    plain: Set[str] = frozenset()  # Functions and types that hold nothing of the project.
    anything: Set[str] = frozenset()  # Types that say nothing.
    is_generic: Callable[[str], bool] = lambda _name: True  # Whether a function may give what it is given.
    members: Callable[[str], Set[str] | None] = lambda _name: None
    """All that a type has, None: unknown."""
    called_back: Callable[[str], Set[str] | None] = lambda _name: frozenset()
    """The members that a type may call of types below it, None: unknown."""
    is_registering: Callable[[str], bool] = lambda _name: False  # Whether a decorator may hand a function over.
    interfaces: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The methods of interfaces, each with its type as an expression."""
    aliases: Mapping[str, str] = field(default_factory=dict)  # Types that are others, each with what it is.
    protocols: Set[str] = frozenset()  # Bases of types that stand for all types with their members.
    unchanging: Set[str] = frozenset()  # Types that no method of theirs changes.
    may_be_interface: Callable[[str], bool] = lambda _name: False
    """Whether a type may be an interface of which the methods are not known."""


class Policy(Struct, frozen=True):
    """What the resolver knows of one language."""

    modules: ModuleRules
    names: NameRules = NameRules()
    members: MemberRules = MemberRules()
    calls: CallRules = CallRules()
    foreign: ForeignRules = ForeignRules()


@cache
def policy_of(language: str) -> Policy:
    """Return the policy of a language with facts."""
    policy: Policy = load_part(language, "policy").POLICY
    return policy


def read_text(package: str, file: str) -> str:
    """Return a file of a language's folder."""
    return (folder_of_package(package) / file).read_text(encoding="utf-8")
