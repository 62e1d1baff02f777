"""What the resolver has to know of a language."""

import re
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field

from graphrag_mcp.parsing.code.builtins import builtins_of
from graphrag_mcp.resolution.sources import FactSource
from graphrag_mcp.resolution.values import Outside, Package, Value


def is_below(path: str, folder: str) -> bool:
    """Return whether a file is in a folder or below it."""
    return not folder or path.startswith(folder + "/")


@dataclass(frozen=True, slots=True)
class Policy:
    """One language.

    module: what an import means. names_of: the names under which a file knows an import without a name of its own.
    method_sets: whether a type implements an interface by having its methods. foreign_methods: of interfaces of the
    standard library, each with its number of parameters. whole_unit: whether all files of a package see each other's
    declarations, and may declare members of its types. constructors: names of members that make instances, "" for the
    name of the type. functions_are_members: whether a function at the top of a file may be called on a value. passes:
    builtins that give their first argument, or a value of the type that it is. is_generic: whether a foreign function
    may give what it is given.
    """

    module: Callable[[FactSource, str, str], Value]
    names_of: Callable[[Value, str], Set[str]]
    whole_unit: bool = False
    method_sets: bool = False
    foreign_methods: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    builtins: Set[str] = frozenset()
    constructors: Set[str] = frozenset()
    functions_are_members: bool = True
    passes: Mapping[str, str] = field(default_factory=dict)
    is_generic: Callable[[str], bool] = lambda _name: True


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


_READ, _WRITE, _CLOSE = {"Read": 1}, {"Write": 1}, {"Close": 0}
_GO_INTERFACES = {
    "any": {},
    "error": {"Error": 0},
    "fmt.Stringer": {"String": 0},
    "io.Reader": _READ,
    "io.Writer": _WRITE,
    "io.Closer": _CLOSE,
    "io.ReadCloser": _READ | _CLOSE,
    "io.WriteCloser": _WRITE | _CLOSE,
    "io.ReadWriter": _READ | _WRITE,
    "io.ReadWriteCloser": _READ | _WRITE | _CLOSE,
    "io.ReaderFrom": {"ReadFrom": 1},
    "io.WriterTo": {"WriteTo": 1},
    "io.StringWriter": {"WriteString": 1},
    "net/http.Handler": {"ServeHTTP": 2},
    "net/http.ResponseWriter": {"Header": 0, "Write": 1, "WriteHeader": 1},
    "net/http.Flusher": {"Flush": 0},
    "net/http.Hijacker": {"Hijack": 0},
    "net/http.Pusher": {"Push": 2},
    "net/http.CloseNotifier": {"CloseNotify": 0},
    "net/http.RoundTripper": {"RoundTrip": 1},
    "sort.Interface": {"Len": 0, "Less": 2, "Swap": 2},
    "context.Context": {"Deadline": 0, "Done": 0, "Err": 0, "Value": 1},
}

POLICIES: Mapping[str, Policy] = {
    "go": Policy(
        _go_module,
        _go_names,
        whole_unit=True,
        functions_are_members=False,
        method_sets=True,
        foreign_methods=_GO_INTERFACES,
        builtins=builtins_of("go"),
        passes={
            "new": "type",
            "make": "type",
            **dict.fromkeys(("append", "min", "max", "sync.OnceValue", "sync.OnceValues", "sync.OnceFunc"), "value"),
        },
        is_generic=_is_generic_go,
    ),
}
