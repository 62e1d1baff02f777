"""What the resolver has to know of a language."""

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import resources

from graphrag_mcp.model.facts import USES_OF_FUNCTIONS, FileFacts, Thing, Use
from graphrag_mcp.model.files import SymbolKind
from graphrag_mcp.model.manifests import Manifest
from graphrag_mcp.parsing.code.builtins import builtins_of
from graphrag_mcp.parsing.code.symbols import read_outline
from graphrag_mcp.parsing.code.syntax import SourceCode, parse_tree
from graphrag_mcp.parsing.facts import read_facts
from graphrag_mcp.parsing.languages import load_grammar
from graphrag_mcp.resolution import python
from graphrag_mcp.resolution.sources import FactSource
from graphrag_mcp.resolution.values import Module, Outside, Package, Type, Value


def is_below(path: str, folder: str) -> bool:
    """Return whether a file is in a folder or below it."""
    return not folder or path.startswith(folder + "/")


@dataclass(frozen=True, slots=True)
class Policy:
    """One language.

    module: what an import means. names_of: the names under which a file knows an import without a name of its own.
    method_sets: whether a type implements an interface by having its methods. foreign_methods: of interfaces of the
    standard library, each with its number of parameters. may_be_interface: whether a foreign type may be an interface
    with a method of so many parameters. whole_unit: whether all files of a package see each other's
    declarations, and may declare members of its types. constructors: names of members that make instances, "" for the
    name of the type. overloads: whether functions of one name are told apart by their arguments. functions_are_members:
    whether a function at the top of a file may be called on a value. passes: builtins that give their first argument, a
    value of the type that it is, its elements, or one of them. is_generic: whether a foreign function may give what it
    is given. is_dynamic: whether assignments decide what a variable holds, and which members a value has. has_spaces:
    whether types and values have names of their own. own: results that mean the own instance. not_inherited: bases from
    which nothing is inherited. library: the path under which the language's own library is declared. lists, functions:
    its types of lists and functions. promise: its type of what an asynchronous function gives. prototype: the member of
    a function that is the instance which it makes. rebinds: whether every name at the top of a file may be bound
    several times, and is exported. is_open: whether foreign objects may hold anything, and not only what is plain.
    is_linear: whether the types above a type stand in one order (C3). passes_self: whether the own instance is the
    first parameter. asynchronous: whether the result of an asynchronous function is written as what awaiting it gives.
    first: what the first part of the name of a module means. inside: the module of a name in a package. containers:
    foreign types with arguments that are kinds of values known here, by their own names. type_variables: what makes a
    type parameter; own_types: foreign names of the type around them; anything: those that say nothing. foreign_members:
    all names that a foreign type has, None if unknown. hooks: members that can stand for any other. iterating: the
    members that a loop calls, one after the other. calling: the member that a call of a value calls; reading: that
    which reading a field calls. enumerations: foreign types whose fields are instances. spaces: the kinds of
    declarations that a name may mean by its use, the first that exist; all where it is not said. open_types: whether
    any file of a unit may declare members of a type. bare_members: whether members are known by their names alone.
    common: the members of every type. nested: whether packages are names. giving: the files whose
    functions give arguments to those in the folder and below.
    """

    module: Callable[[FactSource, str, str], Value | None]
    names_of: Callable[[Value, str], Set[str]] = lambda _value, _module: frozenset()
    whole_unit: bool = False
    method_sets: bool = False
    foreign_methods: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    may_be_interface: Callable[[str, str, int], bool] = lambda _name, _method, _count: False
    builtins: Set[str] = frozenset()
    constructors: Set[str] = frozenset()
    functions_are_members: bool = True
    overloads: bool = False
    passes: Mapping[str, str] = field(default_factory=dict)
    is_generic: Callable[[str], bool] = lambda _name: True
    is_dynamic: bool = False
    has_spaces: bool = False
    own: Set[str] = frozenset()
    not_inherited: Set[str] = frozenset()
    library: str = ""
    lists: str = ""
    functions: str = ""
    promise: str = ""
    prototype: str = ""
    rebinds: bool = False
    is_open: bool = False
    is_linear: bool = False
    passes_self: bool = False
    asynchronous: bool = False
    loops_over_keys: bool = False
    first: Callable[[FactSource, Value, str], Value] | None = None
    inside: Callable[[FactSource, str, str], Value | None] | None = None
    containers: Mapping[str, Callable[[Sequence[Value | None]], Value | None]] = field(default_factory=dict)
    type_variables: Set[str] = frozenset()
    own_types: Set[str] = frozenset()
    anything: Set[str] = frozenset()
    plain: Set[str] = frozenset()
    foreign_members: Callable[[str], Set[str] | None] = lambda _name: None
    hooks: Set[str] = frozenset()
    iterating: Sequence[str] = ()
    calling: str = ""
    reading: str = ""
    enumerations: Set[str] = frozenset()
    spaces: Mapping[str, Sequence[Set[str]]] = field(default_factory=dict)
    open_types: bool = False
    bare_members: bool = False
    common: Set[str] = frozenset()
    nested: bool = False
    giving: str = ""


def _go_module(source: FactSource, path: str, module: str) -> Value:
    """Return the package that an import path stands for.

    A module of the project is meant by itself, by the modules of its workspace, and by those that replace it by its
    folder; any other imports a released version of it.
    """
    modules = sorted(
        (one for one in source.manifests() if one.kind == "go.mod"), key=lambda one: len(one.folder), reverse=True
    )
    own = next((one for one in modules if is_below(path, one.folder)), None)
    spaces = [one.targets["use"] for one in source.manifests() if one.kind == "go.work"]
    for one in modules:
        if one.name and (module == one.name or module.startswith(one.name + "/")):
            is_meant = (
                own in (one, None)
                or one.folder in own.targets.get(one.name, ())
                or any({one.folder, own.folder} <= set(used) for used in spaces)
            )
            place = "/".join(part for part in (one.folder, module[len(one.name) + 1 :]) if part)
            unit = source.unit_of_folder(place) if is_meant else ""
            return Package(unit) if unit else Outside(module)
    return Outside(module)


def _go_names(value: Value, module: str) -> Set[str]:
    """Return the name in the package's clause; of a foreign package, what it is likely to be."""
    if isinstance(value, Package):
        return {value.unit.rpartition(":")[2]}
    *before, last = module.split("/")
    if before and re.fullmatch(r"v\d+", last):
        last = before[-1]
    last = re.sub(r"\.v\d+$", "", last)
    return {
        last,
        last.replace("-", "_"),
        last.replace("-", ""),
        last.removeprefix("go-"),
        last.removesuffix("-go"),
        last.removesuffix(".go"),
        last.rpartition("-")[2],
    }


_GENERIC_GO = frozenset(("slices", "maps", "cmp", "iter", "sync", "sync/atomic", "unique", "weak", "reflect"))


def _is_generic_go(name: str) -> bool:
    """Only some packages of the standard library have generic functions."""
    module = name.rpartition(".")[0]
    return "." in module.partition("/")[0] or module in _GENERIC_GO


def _library(name: str) -> str:
    return resources.files(__package__).joinpath("libraries", name).read_text(encoding="utf-8")


_GO_INTERFACES: dict[str, dict[str, int]] = {"any": {}, "error": {"Error": 0}}  # And all of the standard library.
for _name, *_methods in map(str.split, _library("go.txt").splitlines()):
    _GO_INTERFACES[_name] = {method: int(count) for method, _, count in (one.partition("/") for one in _methods)}


def _may_be_go_interface(name: str, method: str, count: int) -> bool:
    """Return whether a foreign type may be an interface with a method: those of the standard library are known."""
    if name in _GO_INTERFACES:
        return _GO_INTERFACES[name].get(method) == count
    return "." in name.rpartition(".")[0].partition("/")[0]


_SUFFIXES = (".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts")
_RUN = (".js", ".jsx", ".mjs", ".cjs", *_SUFFIXES)  # JavaScript means the code, TypeScript the types beside it.
_COMPILED = {".js": (".ts", ".tsx", ".d.ts"), ".jsx": (".tsx",), ".mjs": (".mts", ".d.mts"), ".cjs": (".cts", ".d.cts")}
_BUILT = re.compile(r"(^|/)(?:dist|lib|build|out|esm?|cjs)/(?:types/|esm/|cjs/)?")


def _ecma_module(source: FactSource, path: str, module: str) -> Value | None:
    """Return the file that a module specifier stands for; None if it should be in the project, and is not."""
    if not module:
        return Module(path)
    if module.startswith("."):
        suffixes = _RUN if path.endswith(_RUN[:4]) else _SUFFIXES
        return _ecma_file(source, posixpath.join(posixpath.dirname(path), module), suffixes)
    manifests = sorted(source.manifests(), key=lambda one: len(one.folder), reverse=True)
    own = next((one for one in manifests if one.kind == "package.json" and is_below(path, one.folder)), None)
    for one in manifests:
        if one.kind == "package.json" and one.name and (module + "/").startswith(one.name + "/"):
            if own and not _satisfies(one.version, own.requires.get(one.name, "")):
                return Outside(module)
            if found := _ecma_package(source, one, "." + module[len(one.name) :]):
                return found
        elif one.kind.endswith((".json", "#")) and is_below(path, one.folder):
            for place in _targets(one, module):
                if found := _ecma_file(source, place):
                    return found
    if f"<{module}>" in LIBRARIES:
        return Module(f"<{module}>")
    return None if module.startswith("#") else Outside(module)


def _satisfies(version: str, required: str) -> bool:
    """Return whether a version may be the one that is required: of a range, what must stay the same is compared."""
    found, wanted = re.match(r"(\d+)\.(\d+)\.(\d+)", version), re.fullmatch(r"([~^]?)v?(\d+)((?:\.\d+){0,2})", required)
    if found is None or wanted is None:
        return True
    numbers = [wanted[2], *wanted[3].split(".")[1:]]
    fixed = 1 if wanted[1] == "^" and wanted[2] != "0" else 2 if wanted[1] else 3
    return list(found.groups())[: len(numbers[:fixed])] == numbers[:fixed]


def _ecma_package(source: FactSource, package: Manifest, entry: str) -> Value | None:
    """Return the file of an entry of a package: as it is, or the source from which it is built."""
    own = posixpath.join(package.folder, entry)
    plain = (own, posixpath.join(package.folder, "src", entry))
    for place in (*_targets(package, entry), *plain):
        built = place.removeprefix(package.folder)
        for one in (
            place,
            package.folder + _BUILT.sub(r"\1src/", built, count=1),
            package.folder + _BUILT.sub(r"\1", built),
        ):
            if found := _ecma_file(source, one.replace(".d.ts", ".ts")):
                return found
    return None


def _targets(manifest: Manifest, name: str) -> Iterator[str]:
    """Return the places for which a name stands."""
    for pattern, places in manifest.targets.items():
        before, star, after = pattern.partition("*")
        if name == pattern or (star and name.startswith(before) and name.endswith(after)):
            for place in places:
                yield place.replace("*", name[len(before) : len(name) - len(after)])


def _ecma_file(source: FactSource, place: str, suffixes: Sequence[str] = _SUFFIXES) -> Value | None:
    """Return the file that a path without a suffix, or with that of the compiled file, means."""
    place = posixpath.normpath(place)
    place = "" if place == "." else place
    stem, suffix = posixpath.splitext(place)
    places = [place, *(stem + one for one in _COMPILED.get(suffix, ())), *(place + one for one in suffixes)]
    places += [posixpath.join(place, "index" + one) for one in suffixes]
    file = next((one for one in places if source.has(one)), None)
    if file is not None:
        return Module(file)
    packages = (one for one in source.manifests() if one.kind == "package.json" and one.folder == place)
    entries = [_ecma_file(source, entry) for one in packages for entry in _targets(one, ".") if entry != place]
    return next((entry for entry in entries if entry), None)


_LIBRARY = "<ecmascript>"
_ECMA = Policy(
    _ecma_module,
    builtins=builtins_of("typescript"),
    constructors=frozenset(("constructor",)),
    passes=dict.fromkeys(("Object.create", "Object.assign", "Object.freeze", "Object.seal"), "value"),
    is_dynamic=True,
    has_spaces=True,
    own=frozenset(("this", "=this!")),
    not_inherited=frozenset(("implements",)),
    library=_LIBRARY,
    lists="Array",
    functions="Function",
    promise="Promise",
    prototype="prototype",
)


def _read_library(path: str, language: str, text: str) -> FileFacts | None:
    grammar, code = load_grammar(language), SourceCode(text)
    if grammar is None:
        return None
    matches = grammar.find(parse_tree(grammar.language, code))
    return read_facts(matches, grammar, path, code, read_outline(matches, grammar, path, code).definitions)


_JAVA_PACKAGES = ["package " + text for text in _library("java.java").split("\npackage ")[1:]]
_ECMA_MODULES = {
    "react.d.ts": ("react", "preact", "preact/hooks", "preact/compat"),
    "solid.d.ts": ("solid-js", "solid-js/store"),
    "vue.d.ts": ("vue",),
    "angular.d.ts": ("@angular/core", "@angular/core/testing"),
}
_LIBRARY_TEXTS = {
    _LIBRARY: ("typescript", _library("ecmascript.d.ts")),
    **{f"<{name}>": ("typescript", _library(file)) for file, names in _ECMA_MODULES.items() for name in names},
    **{f"<{text.split(';')[0].removeprefix('package ')}>": ("java", text) for text in _JAVA_PACKAGES},
}
LIBRARIES: Mapping[str, Callable[[], FileFacts | None]] = {
    path: cache(partial(_read_library, path, language, text)) for path, (language, text) in _LIBRARY_TEXTS.items()
}


def find_declared(source: FactSource, unit: str, qualified_name: str) -> Sequence[Thing]:
    """Return the declarations of a name in a unit of the project, else in one of the language's own library."""
    path = f"<{unit}>"
    return source.find(unit, qualified_name) or (_named(path).get(qualified_name, ()) if path in LIBRARIES else ())


@cache
def _named(path: str) -> Mapping[str, Sequence[Thing]]:
    """Return the declarations of a file of a library by their qualified names."""
    found: dict[str, list[Thing]] = {}
    facts = LIBRARIES[path]()
    for number, one in enumerate(facts.declared if facts else ()):
        found.setdefault(one.qualified, []).append(Thing(path, number))
    return found


_FUNCTIONS = frozenset((SymbolKind.FUNCTION, SymbolKind.METHOD))
_VARIABLES = frozenset((SymbolKind.FIELD, SymbolKind.CONSTANT))
_TYPES = frozenset((SymbolKind.TYPE,))


def _java_module(source: FactSource, _path: str, module: str) -> Value:
    """Return the package or type that a qualified name stands for."""
    names = module.split(".")
    for length in range(len(names), 0, -1):
        unit = ".".join(names[:length])
        if source.has_unit(unit) or f"<{unit}>" in LIBRARIES:
            things = find_declared(source, unit, ".".join(names[length:])) if length < len(names) else ()
            return Type(tuple(things)) if things else Package(module, is_nested=True)
    return Outside(module)


POLICIES: Mapping[str, Policy] = {
    "python": Policy(
        python.module_of,
        constructors=frozenset(("__init__", "__new__")),
        functions_are_members=False,
        builtins=builtins_of("python") | {"__name__", "__file__", "__doc__"},
        passes=python.PASSES,
        own=python.OWN,
        rebinds=True,
        is_open=True,
        is_linear=True,
        passes_self=True,
        asynchronous=True,
        loops_over_keys=True,
        first=python.first_of,
        inside=python.inside,
        containers=python.CONTAINERS,
        type_variables=python.TYPE_VARIABLES,
        own_types=python.OWN_TYPES,
        anything=python.ANYTHING,
        plain=python.PLAIN,
        foreign_members=python.foreign_members,
        hooks=frozenset(("__getattr__", "__getattribute__")),
        iterating=("__iter__", "__next__"),
        calling="__call__",
        reading="__get__",
        enumerations=python.ENUMERATIONS,
        giving="conftest.py",
    ),
    "go": Policy(
        _go_module,
        _go_names,
        whole_unit=True,
        open_types=True,
        functions_are_members=False,
        method_sets=True,
        foreign_methods=_GO_INTERFACES,
        may_be_interface=_may_be_go_interface,
        builtins=builtins_of("go"),
        passes={
            "new": "type",
            "make": "type",
            **dict.fromkeys(("append", "min", "max", "sync.OnceValue", "sync.OnceValues", "sync.OnceFunc"), "value"),
        },
        is_generic=_is_generic_go,
    ),
    "java": Policy(
        _java_module,
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
        nested=True,
    ),
    **dict.fromkeys(("javascript", "typescript", "tsx"), _ECMA),
}
