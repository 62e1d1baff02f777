"""What Go's imports mean, and which interfaces its library has."""

import re
from collections.abc import Iterable, Mapping, Set
from functools import cache

from graphrag_mcp.languages.go.testing import is_case
from graphrag_mcp.languages.policy import (
    CallRules,
    ForeignRules,
    MemberRules,
    ModuleRules,
    NameRules,
    Policy,
    read_text,
)
from graphrag_mcp.languages.registry import builtins_of
from graphrag_mcp.model.facts import Declared
from graphrag_mcp.model.files import SymbolKind
from graphrag_mcp.model.sources import ModuleSource, is_below
from graphrag_mcp.model.values import Outside, Package, Value


def _module(source: ModuleSource, path: str, module: str) -> Value:
    """Return the package that an import path stands for.

    A module of the project is meant by itself, by the modules of its workspace, and by those that replace it by its
    folder; any other imports a released version of it.
    """
    modules = sorted(
        (manifest for manifest in source.manifests() if manifest.kind == "go.mod"),
        key=lambda other: len(other.folder),
        reverse=True,
    )
    own = next((manifest for manifest in modules if is_below(path, manifest.folder)), None)
    spaces = [manifest.targets["use"] for manifest in source.manifests() if manifest.kind == "go.work"]
    for manifest in modules:
        if manifest.name and (module == manifest.name or module.startswith(manifest.name + "/")):
            is_meant = (
                own in (manifest, None)
                or manifest.folder in own.targets.get(manifest.name, ())
                or any({manifest.folder, own.folder} <= set(used) for used in spaces)
            )
            place = "/".join(part for part in (manifest.folder, module[len(manifest.name) + 1 :]) if part)
            unit = source.unit_of_folder(place) if is_meant else ""
            return Package(unit) if unit else Outside(module)
    return Outside(module)


def _names(value: Value, module: str) -> Set[str]:
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


_UNCHANGING = """
    encoding/json.Number io/fs.FileMode log/slog.Attr log/slog.Level log/slog.Value net.IP net.IPMask
    net/netip.Addr net/netip.AddrPort net/netip.Prefix os.FileMode reflect.Kind reflect.Value
    time.Duration time.Month time.Time time.Weekday
"""
_GENERIC = frozenset(("slices", "maps", "cmp", "iter", "sync", "sync/atomic", "unique", "weak", "reflect"))


def _is_generic(name: str) -> bool:
    """Only some packages of the standard library have generic functions."""
    module = name.rpartition(".")[0]
    return "." in module.partition("/")[0] or module in _GENERIC


_INTERFACES: dict[str, dict[str, str]] = {
    "any": {},
    "error": {"Error": "\\(:'string)!"},
}  # The file adds all of the standard library: what benchmarks/graph/checkers/go/interfaces prints.
for _name, *_methods in map(str.split, read_text(__package__, "interfaces.txt").splitlines()):
    _INTERFACES[_name] = {name: f"\\{rest}!" for name, _, rest in (entry.partition("\\") for entry in _methods)}
_ALIASES = {
    "byte": "uint8",
    "rune": "int32",
    "os.DirEntry": "io/fs.DirEntry",
    "os.FileInfo": "io/fs.FileInfo",
    "os.FileMode": "io/fs.FileMode",
}


@cache
def _library_types() -> Mapping[str, Set[str]]:
    lines = map(str.split, read_text(__package__, "members.txt").splitlines())
    return {name: frozenset(members) for name, *members in lines}


def _members(name: str) -> Set[str] | None:
    return _library_types().get(name.removesuffix("()"))


def _may_be_interface(name: str) -> bool:
    """Return whether a foreign type may be an interface of which the methods are not known: not of Go itself."""
    return "." in name.rpartition(".")[0].partition("/")[0]


_BUILD = re.compile(
    r"(?:_(aix|android|darwin|dragonfly|freebsd|illumos|ios|js|linux|netbsd|openbsd|plan9|solaris|wasip1|windows))?"
    r"(?:_(386|amd64|arm|arm64|loong64|mips|mipsle|mips64|mips64le|ppc64|ppc64le|riscv64|s390x|wasm))?(?:_test)?$"
)


def _needs(path: str, said: Iterable[str]) -> Set[str]:
    """Return what a build has to have, by the end of the file's name and its `//go:build`; a choice is one part."""
    named = _BUILD.search(path.rpartition("/")[2].partition(".")[0])
    needs = set(filter(None, named.groups() if named else ()))
    for text in said:
        parts = text.removeprefix("//go:build").partition("//")[0]
        needs.update(map(str.strip, [parts] if re.search(r"[|(]", parts) else parts.split("&&")))
    return needs


def _run_by(path: str, declaration: Declared) -> str:
    """Return what starts a function of a file."""
    if is_case(path, declaration.name):
        return "go test"
    is_function = declaration.owner < 0 and declaration.kind == SymbolKind.FUNCTION
    return "the Go runtime" if is_function and declaration.name in ("init", "main") else ""


POLICY = Policy(
    ModuleRules(_module, _names, whole_unit=True, open_types=True, needs=_needs, tests="_test.go"),
    names=NameRules(functions_are_members=False, builtins=builtins_of("go")),
    members=MemberRules(method_sets=True),
    calls=CallRules(
        emptying=frozenset(("clear", "delete")),
        passes={
            "new": "type",
            "make": "type",
            **dict.fromkeys(("append", "min", "max", "sync.OnceValue", "sync.OnceValues", "sync.OnceFunc"), "value"),
        },
        run_by=_run_by,
    ),
    foreign=ForeignRules(
        interfaces=_INTERFACES,
        aliases=_ALIASES,
        members=_members,
        unchanging=frozenset(_UNCHANGING.split()),
        may_be_interface=_may_be_interface,
        is_generic=_is_generic,
    ),
)
