"""What Python's imports, containers and builtins mean."""

import json
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cache

from graphrag_mcp.languages.policy import (
    CallRules,
    ForeignRules,
    MemberRules,
    ModuleRules,
    NameRules,
    Policy,
    read_text,
)
from graphrag_mcp.languages.python.manifests import normal_name
from graphrag_mcp.languages.registry import builtins_of, library_of
from graphrag_mcp.model.facts import Declared
from graphrag_mcp.model.files import MOST_PLACES, Manifest
from graphrag_mcp.model.sources import ModuleSource, is_below
from graphrag_mcp.model.values import (
    NOTHING,
    OUTSIDE,
    Folder,
    Instance,
    Later,
    Many,
    Module,
    Outside,
    Several,
    Signature,
    Table,
    Type,
    Value,
    either,
)

_MANIFESTS = ("pyproject.toml", "setup.cfg", "setup.py")
_SOURCES = ("src", "lib", "python")


def _members(types: Mapping[str, Sequence[str]]) -> dict[str, frozenset[str]]:
    """Return the members of each builtin type: as data, so that what is stored does not depend on the Python that runs.

    types: those of every version from 3.11 on; a type's row begins with the type that it extends.
    """
    members = {"": frozenset[str]()}
    for name, (above, *lines) in types.items():
        members[name] = members[above].union(" ".join(lines).split())
    del members[""]
    return members


# Each builtin type has those that it inherits, too.
MEMBERS = _members(json.loads(read_text(__package__, "types.json")))


def _module_of(source: ModuleSource, path: str, module: str) -> Value | None:
    """Return the module that an import means; None if it may be one of several, or one that is generated."""
    name = module.lstrip(".")
    parts = name.split(".") if name else []
    if above := len(module) - len(name):
        folder = posixpath.dirname(path)
        for _ in range(above - 1):
            folder = posixpath.dirname(folder)
        return _place(source, posixpath.join(folder, *parts)) if parts else _folder(source, folder)
    if not parts:  # It does not parse.
        return None
    near, far = _projects(source, path)
    folder, is_standard = posixpath.dirname(path), parts[0] in library_of("python")
    roots = [root for root in (*_around(path), *_roots(near)) if _place(source, posixpath.join(root, *parts))]
    root = next((root for root in roots if not source.has(posixpath.join(root, "__init__.py"))), None)
    if root is not None and (len(parts) > 1 or not is_standard):
        return _place(source, posixpath.join(root, *parts))
    if len(parts) > 1 and folder in roots:  # A script in a package.
        return _place(source, posixpath.join(folder, *parts))
    if module_path := _placed(source, near, parts):
        return module_path
    if not (is_standard or folder in roots):
        needed = {name for manifest in near for name in manifest.requires}
        others = [
            (manifest.name in needed, module_path)
            for manifest in far
            if (module_path := _of_project(source, manifest, parts))
        ]
        wanted = {module_path for is_needed, module_path in others if is_needed}
        if wanted or (others and not needed):
            module_path, *more = wanted or {module_path for _, module_path in others}
            return None if more else module_path
        if others:  # What is required under that name is published.
            return Outside(module) if normal_name(parts[0]) in needed else None
    is_outside = root is None and (is_standard or (folder not in roots and not source.has_unit(parts[-1])))
    return Outside(module) if is_outside else None


def _projects(source: ModuleSource, path: str) -> tuple[list[Manifest], list[Manifest]]:
    """Return the manifests of the projects that a file is in, the nearest first, and all others."""
    manifests = [manifest for manifest in source.manifests() if manifest.kind in _MANIFESTS]
    near = sorted(
        (manifest for manifest in manifests if is_below(path, manifest.folder)),
        key=lambda manifest: -len(manifest.folder),
    )
    return near, [manifest for manifest in manifests if manifest not in near]


def _around(path: str) -> Iterator[str]:
    """Yield the folders around a file, in which its imports may be looked for, the nearest first."""
    while path:
        path = posixpath.dirname(path)
        yield from (posixpath.join(path, folder).rstrip("/") for folder in ("", *_SOURCES))


def _roots(projects: Iterable[Manifest]) -> Iterator[str]:
    """Yield the folders that hold the packages of some projects: what their manifests name, and the usual ones."""
    for manifest in projects:
        yield from manifest.targets.get("", ())[:MOST_PLACES]
        yield from (posixpath.join(manifest.folder, usual).rstrip("/") for usual in ("", *_SOURCES))


def _placed(source: ModuleSource, projects: Iterable[Manifest], parts: Sequence[str]) -> Value | None:
    """Return a module of a package for which a manifest names a folder."""
    for manifest in projects:
        for count in range(len(parts), 0, -1):
            for place in manifest.targets.get(".".join(parts[:count]), ())[:MOST_PLACES]:
                if place_of := _place(source, posixpath.join(place, *parts[count:])):
                    return place_of
    return None


def _of_project(source: ModuleSource, project: Manifest, parts: Sequence[str]) -> Value | None:
    roots = (root for root in _roots((project,)) if not source.has(posixpath.join(root, "__init__.py")))
    module = next((module for root in roots if (module := _place(source, posixpath.join(root, *parts)))), None)
    return module or _placed(source, (project,), parts)


def _place(source: ModuleSource, place: str) -> Value | None:
    """Return the module at a place without its suffix."""
    return next((Module(file) for file in (f"{place}.py", f"{place}/__init__.py") if source.has(file)), None)


def _folder(source: ModuleSource, folder: str) -> Value:
    file = posixpath.join(folder, "__init__.py")
    return Module(file) if source.has(file) else Folder(folder, "python")


def _inside(source: ModuleSource, place: str, name: str) -> Value | None:
    """Return a module of a package; place: the folder, or the file of the package. A folder may hold others."""
    folder, _, file = place.rpartition("/")
    if file == "__init__.py":
        return _place(source, posixpath.join(folder, name))
    inner = posixpath.join(place, name)
    return None if file.endswith(".py") else _place(source, inner) or Folder(inner, "python")


def _first_of(source: ModuleSource, value: Value, module: str) -> Value:
    """Return the first package of a dotted name."""
    first, *others = module.split(".")
    if not isinstance(value, Module):
        return Outside(first)
    folder = value.path.removesuffix(".py").removesuffix("/__init__")
    for _ in others:
        folder = posixpath.dirname(folder)
    return _folder(source, folder) if others else value


def _tuple(types: Sequence[Value | None]) -> Value | None:
    return Many(types[0]) if types[-1] == NOTHING else Several(tuple(types))


def _function(types: Sequence[Value | None]) -> Value | None:
    parameters, result = types[0], types[-1]
    known = parameters.items if isinstance(parameters, Several) else () if parameters == NOTHING else (parameters,)
    return Signature(tuple(known), result)


def _type(types: Sequence[Value | None]) -> Value | None:
    kind = types[0]
    return Type(kind.symbols, kind.arguments) if isinstance(kind, Instance) else None


_Make = Callable[[Sequence[Value | None]], Value | None]


def _by_name(names: str, make: _Make) -> dict[str, _Make]:
    return dict.fromkeys(names.split(), make)


_CONTAINERS = {
    **_by_name(
        """List Sequence MutableSequence Iterable Iterator Collection Set FrozenSet AbstractSet MutableSet Deque
        Generator AsyncIterator AsyncIterable AsyncGenerator list set frozenset deque Reversible""",
        lambda types: Many(types[0]),
    ),
    **_by_name(
        "Dict Mapping MutableMapping DefaultDict OrderedDict dict defaultdict ContextVar",
        lambda types: Table(types[0], types[-1]),
    ),
    **_by_name("Optional ClassVar Final Annotated Required NotRequired ReadOnly InitVar", lambda types: types[0]),
    **_by_name("Union", either),
    **_by_name("Tuple tuple", _tuple),
    **_by_name("Type type", _type),
    **_by_name("Callable", _function),
    **_by_name("Awaitable Coroutine Future Task", lambda types: Later(types[-1])),
    **_by_name(
        "ContextManager AsyncContextManager AbstractContextManager AbstractAsyncContextManager",
        lambda types: Later(types[0]),
    ),
    **_by_name("Literal", lambda _types: OUTSIDE),
}
_PLAIN = """
    str int float bool bytes bytearray complex range memoryview len repr format ord chr hash id round hex oct bin ascii
    isinstance issubclass hasattr callable print input abs any all sum divmod pow open
    re.compile re.match re.search re.fullmatch re.findall re.finditer re.split re.sub re.escape
    subprocess.run subprocess.check_output os.listdir os.scandir os.walk os.stat os.getcwd os.path.join
    os.path.basename os.path.dirname os.path.abspath os.path.realpath tempfile.mkdtemp tempfile.mkstemp shutil.which
    hashlib.md5 hashlib.sha1 hashlib.sha256 hashlib.sha512 hashlib.blake2b hashlib.new hmac.new time.time time.monotonic
    pathlib.Path pathlib.PurePath datetime.datetime datetime.date datetime.timedelta decimal.Decimal uuid.UUID
    typing.LiteralString typing.AnyStr types.TracebackType
"""
_SELF = ("self", "cls()", "Self!", "t.Self!", "te.Self!", "typing.Self!", "typing_extensions.Self!")
_SAME = """
    copy.copy copy.deepcopy staticmethod classmethod abc.abstractmethod typing.overload typing.final typing.override
    functools.cache functools.lru_cache functools.lru_cache() functools.wraps() typing.no_type_check
"""
_LOADING = """
    importlib.util.module_from_spec pkgutil.resolve_name runpy.run_module runpy.run_path pickle.load pickle.loads
    marshal.load marshal.loads shelve.open inspect.getmodule gc.get_objects globals locals vars eval __import__
"""
_MADE = """
    threading.Thread threading.Timer multiprocessing.Process subprocess.Popen argparse.ArgumentParser
    concurrent.futures.ThreadPoolExecutor concurrent.futures.ProcessPoolExecutor io.BytesIO io.StringIO io.TextIOWrapper
    logging.StreamHandler logging.FileHandler logging.Formatter zipfile.ZipFile tempfile.TemporaryDirectory
"""
_PASSES = {
    **dict.fromkeys(_MADE.split(), "itself"),
    **dict.fromkeys(("importlib.import_module", "importlib.reload"), "module"),
    **dict.fromkeys(_LOADING.split(), "anything"),
    "typing.cast": "type",
    **dict.fromkeys(("list", "set", "frozenset", "tuple", "sorted", "reversed", "iter", "collections.deque"), "each"),
    **dict.fromkeys(("next", "min", "max", "random.choice"), "element"),
    **dict.fromkeys((*_SAME.split(), "functools.partial"), "value"),
    **dict.fromkeys(("contextlib.contextmanager", "contextlib.asynccontextmanager"), "later"),
}
_FIXTURES = """
    capfd capfdbinary caplog capsys capsysbinary doctest_namespace monkeypatch pytestconfig record_property
    record_testsuite_property recwarn tmp_path tmp_path_factory tmpdir tmpdir_factory
"""  # Those of pytest itself.
_CONSTRUCTORS = ("__init__", "__new__")
_PROTOCOLS, _GENERICS = (
    frozenset(f"{module}.{name}" for module in ("typing", "typing_extensions")) for name in ("Protocol", "Generic")
)
_EMPTY = _PROTOCOLS | _GENERICS | {"abc.ABC"}


def _foreign_members(name: str) -> Set[str] | None:
    """Return the names of a builtin type, or of a foreign one that has none."""
    name = name.removesuffix("()")
    if name in _EMPTY:
        return frozenset()
    return MEMBERS.get(name)


@cache
def _library() -> Mapping[str, Sequence[str]]:
    """Return of each class of the standard library its bases and its own members."""
    rows = (line.split() for line in read_text(__package__, "library.txt").splitlines())
    return {name: listed for name, *listed in rows}


def _called_back(name: str) -> Set[str] | None:
    """Return the members of a class of the standard library, None for any other class."""
    listed = _library().get(name if "." in name else f"builtins.{name}")
    if listed is None:
        return frozenset() if name in _EMPTY else None
    return frozenset(listed).union(*(_called_back(name) or () for name in listed if "." in name))


def _entries(source: ModuleSource, path: str) -> Sequence[str]:
    """Return the packages around a module."""
    entries: list[str] = []
    while path and source.has(file := posixpath.join(path := posixpath.dirname(path), "__init__.py")):
        entries.append(file)
    return entries


_LOADED = {"conf.py": "Sphinx", "gunicorn.conf.py": "gunicorn", "noxfile.py": "nox", "dodo.py": "doit"}


def _run_by(path: str, declaration: Declared) -> str:
    """Return what starts a function of a module by its name, or reads a name of a module that it loads."""
    if declaration.owner < 0 and (program := _LOADED.get(posixpath.basename(path))):
        return program
    if declaration.owner < 0 and declaration.name in ("__getattr__", "__dir__"):
        return "the import system"
    is_hook = declaration.owner < 0 and re.match(r"pytest_|(setup|teardown)_(module|function)$", declaration.name)
    is_test = declaration.name[:4] == "test" and "test" in path.lower() and declaration.parameters is not None
    return "pytest" if is_hook or is_test else ""


def _is_registering(name: str) -> bool:
    """Return whether a decorator may hand on what it decorates: none of the standard library does but one."""
    module = name.partition(".")[0]
    is_known = "." not in name or module in library_of("python") or name.startswith("pytest.mark")
    return name == "atexit.register" or not (is_known or module in ("attr", "attrs", "typing_extensions"))


POLICY = Policy(
    ModuleRules(
        _module_of,
        first=_first_of,
        inside=_inside,
        entries=_entries,
        giving="conftest.py",
        given=frozenset(_FIXTURES.split()),
    ),
    names=NameRules(
        functions_are_members=False,
        builtins=builtins_of("python") | {"__name__", "__file__", "__doc__"},
        rebinds=True,
    ),
    members=MemberRules(
        constructors=_CONSTRUCTORS,
        is_linear=True,
        replaces_fields=True,
        # Operators, `with` and loops call these; those that make instances are followed.
        is_implicit=lambda name: name.startswith("__") and name.endswith("__") and name not in _CONSTRUCTORS,
        loops_over_keys=True,
        type_variables=frozenset(("typing.TypeVar()", "typing_extensions.TypeVar()")),
        own_types=frozenset(("typing.Self", "typing_extensions.Self", "_typeshed.Self")),
        hooks=("__getattr__", "__getattribute__"),
        class_hooks=("__init_subclass__",),
        iterating=("__iter__", "__next__"),
        calling="__call__",
        reading="__get__",
    ),
    calls=CallRules(
        comparing=frozenset(("isinstance", "issubclass", "cast", "TypeVar", "raises")),
        making="__new__",
        passes=_PASSES,
        own=frozenset(_SELF),
        passes_self=True,
        asynchronous=True,
        run_by=_run_by,
    ),
    foreign=ForeignRules(
        protocols=_PROTOCOLS,
        is_open=True,
        containers=_CONTAINERS,
        anything=frozenset(("typing.Any", "object", "typing.ParamSpec()", "typing.NewType()")),
        plain=frozenset(_PLAIN.split()),
        members=_foreign_members,
        called_back=_called_back,
        is_registering=_is_registering,
        enumerations=frozenset(f"enum.{name}" for name in ("Enum", "IntEnum", "StrEnum", "Flag", "IntFlag")),
    ),
)
