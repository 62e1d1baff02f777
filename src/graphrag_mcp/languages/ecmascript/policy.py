"""What the modules of JavaScript and TypeScript mean."""

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice

from graphrag_mcp.languages.policy import (
    CallRules,
    ForeignRules,
    Library,
    MemberRules,
    ModuleRules,
    NameRules,
    Policy,
    read_text,
)
from graphrag_mcp.languages.registry import builtins_of
from graphrag_mcp.model.facts import EXPECTED
from graphrag_mcp.model.files import MOST_PLACES, OUTPUT, Manifest
from graphrag_mcp.model.sources import ModuleSource, is_below
from graphrag_mcp.model.values import Module, Outside, Value

_SUFFIXES = (".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts")
_RUN = (".js", ".jsx", ".mjs", ".cjs", *_SUFFIXES)  # JavaScript means the code, TypeScript the types beside it.
_DECLARED = {".js": ".d.ts", ".jsx": ".d.ts", ".mjs": ".d.mts", ".cjs": ".d.cts"}
_COMPILED = {".js": (".ts", ".tsx", ".d.ts"), ".jsx": (".tsx",), ".mjs": (".mts", ".d.mts"), ".cjs": (".cts", ".d.cts")}
_NAMES = {name: frozenset(names) for name, *names in map(str.split, read_text(__package__, "names.txt").splitlines())}
_SCHEMES, _RUNTIME, _OF_LITERALS = (_NAMES[f"<{name}>"] for name in ("schemes", "runtime", "literals"))
_ECMASCRIPT = "<ecmascript>"
_FRAMEWORKS = {
    "react.d.ts": ("react", "preact", "preact/hooks", "preact/compat"),
    "solid.d.ts": ("solid-js", "solid-js/store"),
    "vue.d.ts": ("vue",),
    "events.d.ts": ("events",),
    "stream.d.ts": ("stream",),
    "angular.d.ts": ("@angular/core", "@angular/core/testing"),
}
_DECLARATIONS = {_ECMASCRIPT: ("typescript", read_text(__package__, "library.d.ts"))} | {
    f"<{name}>": ("typescript", read_text(__package__, file)) for file, names in _FRAMEWORKS.items() for name in names
}
# The same modules under their other names.
_DECLARATIONS |= {
    f"<node:{name}>": ("typescript", f'import all from "{name}"\nexport = all\nexport * from "{name}"\n')
    for name in ("events", "stream")
}
_MOST_OUTPUTS = 4  # If compilers write more folders, the innermost around a file are looked at.
_PLAIN = re.compile(r"[a-z0-9][a-z0-9._-]*")
_BUILT = re.compile(r"(^|/)(?:dist|lib|build|out|esm?|cjs)/(?:types/|esm/|cjs/)?")
# With the folders of platforms and module systems that a build adds.
_BUILT_FOR = re.compile(
    r"(^|/)(?:dist|lib|build|out)/(?:(?:types|typings|esm?|cjs|umd|module|commonjs|node|browser|web|neutral)/)+"
)


def _module(source: ModuleSource, path: str, module: str) -> Value | None:
    """Return the file that a module specifier stands for; None if it should be in the project, and is not.

    TypeScript means the declarations beside code, not the code.
    """
    found = _found(source, path, module)
    if isinstance(found, Module) and found.path != path and not path.endswith(_RUN[:4]):
        return Module(_beside(source, found.path) or found.path)
    return found


def _found(source: ModuleSource, path: str, module: str) -> Value | None:
    if not module:
        return Module(path)
    if module.startswith("."):
        suffixes = _RUN if path.endswith(_RUN[:4]) else _SUFFIXES
        place = posixpath.normpath(posixpath.join(posixpath.dirname(path), module))
        return _file(source, place, suffixes) or _compiled_from(source, place)
    known = source.manifests()
    manifests = [
        known[number] for number in _nearest(tuple(manifest.folder for manifest in known), posixpath.dirname(path))
    ]
    own = next(_packages_around(manifests, path), None)
    is_of_project = False
    for manifest in manifests:
        if manifest.kind == "package.json" and manifest.name and (module + "/").startswith(manifest.name + "/"):
            if own and not _satisfies(manifest.version, own.requires.get(manifest.name, "")):
                return None  # The published one, or the code here: a build may replace it.
            if source_path := _package(source, manifest, "." + module[len(manifest.name) :]):
                return source_path
            is_of_project = True
        elif manifest.kind.endswith((".json", "#")) and is_below(path, manifest.folder):
            for place in _targets(manifest, module):
                if source_path := _file(source, place):
                    return source_path
    if f"<{module}>" in _DECLARATIONS:
        return Module(f"<{module}>")
    return Outside(module) if not is_of_project and _is_foreign(path, module, manifests) else None


def _packages_around(manifests: Iterable[Manifest], path: str) -> Iterator[Manifest]:
    """Yield the manifests of the packages that a file is in, in their order."""
    return (manifest for manifest in manifests if manifest.kind == "package.json" and is_below(path, manifest.folder))


def _beside(source: ModuleSource, path: str) -> str:
    """Return the file that declares for TypeScript what a file of JavaScript has, "" for none."""
    stem, suffix = posixpath.splitext(path)
    declared = stem + _DECLARED[suffix] if suffix in _DECLARED else ""
    return declared if declared and source.has(declared) else ""


def _code(source: ModuleSource, path: str) -> str:
    """Return the file of JavaScript for which a file declares what that has, "" for none."""
    files = (path.removesuffix(end) + suffix for suffix, end in _DECLARED.items() if path.endswith(end))
    return next(filter(source.has, files), "")


@lru_cache(1 << 10)
def _nearest(folders: tuple[str, ...], folder: str) -> Sequence[int]:
    """Return the numbers of folders by how far they are: around one, else beside it, else less deep than others."""

    def distance(number: int) -> tuple[bool, int, int]:
        other = folders[number]
        if is_below(f"{folder}/", other):
            return False, -len(other), 0
        return True, -len(posixpath.commonpath((folder or ".", other or "."))), len(other)

    return sorted(range(len(folders)), key=distance)


def _is_foreign(path: str, module: str, manifests: Sequence[Manifest]) -> bool:
    """Return whether a module is one of the runtime, or of a package that the file's own package requires.

    What any other name means may be written in the configuration of a bundler. Where no manifest says what is required,
    a plain name is a package's.
    """
    scheme, colon, _ = module.partition(":")
    package = "/".join(module.split("/")[: 2 if module.startswith("@") else 1])
    names = {package, "@types/" + package.removeprefix("@").replace("/", "__")}
    needed = [manifest.requires for manifest in _packages_around(manifests, path)]
    if colon or path in _DECLARATIONS or package in _RUNTIME:
        return not colon or scheme in _SCHEMES
    return any(not names.isdisjoint(choice) for choice in needed) if needed else _PLAIN.fullmatch(module) is not None


def _satisfies(version: str, required: str) -> bool:
    """Return whether a version may be the one that is required: of a range, what must stay the same is compared."""
    available = re.match(r"(\d+)\.(\d+)\.(\d+)", version)
    wanted = re.fullmatch(r"([~^]?)v?(\d+)((?:\.\d+){0,2})", required)
    if available is None or wanted is None:
        return True
    numbers = [wanted[2], *wanted[3].split(".")[1:]]
    fixed = 1 if wanted[1] == "^" and wanted[2] != "0" else 2 if wanted[1] else 3
    return list(available.groups())[: len(numbers[:fixed])] == numbers[:fixed]


def _package(source: ModuleSource, package: Manifest, entry: str) -> Module | None:
    """Return the file of an entry of a package: as it is, or the source from which it is built."""
    own = posixpath.join(package.folder, entry)
    plain = (own, posixpath.join(package.folder, "src", entry))
    places = (*_targets(package, entry), *plain)
    return next((file for place in places if (file := _source_of(source, package, place, _file))), None)


def _source_of(
    source: ModuleSource, package: Manifest, place: str, find: Callable[[ModuleSource, str], Module | None]
) -> Module | None:
    """Return the file at a place of a package, or the source from which that is built."""
    built = place.removeprefix(package.folder)
    written = (_BUILT.sub(r"\1src/", built, count=1), _BUILT.sub(r"\1", built), _BUILT_FOR.sub(r"\1src/", built))
    paths = (place, *(package.folder + path for path in written))
    found = (find(source, path.replace(".d.ts", ".ts")) for path in paths)
    return next(filter(None, found), None) or _compiled_from(source, place, package.folder)


def _compiled_from(source: ModuleSource, place: str, folder: str | None = None) -> Module | None:
    """Return the source of a file that a compiler writes, as a configuration says, in one folder or in any."""
    configured = [
        manifest.targets[OUTPUT]
        for manifest in source.manifests()
        if OUTPUT in manifest.targets and folder in (None, manifest.folder)
    ]
    fitting = {(out, root) for out, root in configured if is_below(place, out)}
    for out, root in sorted(fitting, key=lambda output: (-len(output[0]), output))[:_MOST_OUTPUTS]:
        if compiled := _one_file(source, (root + place[len(out) :]).replace(".d.ts", ".ts")):
            return compiled
    return None


def _targets(manifest: Manifest, name: str) -> Iterator[str]:
    """Return the first places for which a name stands."""

    def all_targets() -> Iterator[str]:
        for pattern, places in manifest.targets.items():
            before, star, after = pattern.partition("*")
            if name == pattern or (star and name.startswith(before) and name.endswith(after)):
                for place in places:
                    yield place.replace("*", name[len(before) : len(name) - len(after)])

    return islice(all_targets(), MOST_PLACES)


def _file(source: ModuleSource, place: str, suffixes: Sequence[str] = _SUFFIXES) -> Module | None:
    """Return the file that a path means, which may be the folder of a package."""
    if file := _one_file(source, place, suffixes):
        return file
    place = posixpath.normpath(place)
    entries = (
        (manifest, entry)
        for manifest in source.manifests()
        if manifest.kind == "package.json" and manifest.folder == ("" if place == "." else place)
        for entry in _targets(manifest, ".")
    )
    return next((file for of, entry in entries if (file := _source_of(source, of, entry, _one_file))), None)


def _one_file(source: ModuleSource, place: str, suffixes: Sequence[str] = _SUFFIXES) -> Module | None:
    """Return the file that a path without a suffix, or with that of the compiled file, means."""
    place = posixpath.normpath(place)
    place = "" if place == "." else place
    stem, suffix = posixpath.splitext(place)
    places = [place, *(stem + end for end in _COMPILED.get(suffix, ())), *(place + ending for ending in suffixes)]
    places += [posixpath.join(place, "index" + ending) for ending in suffixes]
    return next((Module(path) for path in places if source.has(path)), None)


def _entries(source: ModuleSource, path: str) -> Iterator[str]:
    """Yield the files that the package of a file names in its manifest."""
    own = max(_packages_around(source.manifests(), path), key=lambda manifest: len(manifest.folder), default=None)
    for entry in own.targets if own and own.name else ():
        own_entry = _package(source, own, entry) if own and entry.startswith(".") else None
        if isinstance(own_entry, Module):
            yield own_entry.path


POLICY = Policy(
    ModuleRules(
        _module,
        entries=_entries,
        is_ambient=lambda path: path.endswith(tuple(_DECLARED.values())),
        beside=_beside,
        code=_code,
    ),
    names=NameRules(builtins=builtins_of("typescript"), is_dynamic=True, has_spaces=True),
    members=MemberRules(
        constructors=("constructor",),
        replaces_fields=True,
        of_literals=_OF_LITERALS,
        not_inherited=frozenset((EXPECTED, "implements")),
        prototype="prototype",
        # Operators, templates and `await` call these.
        is_implicit=frozenset(("toString", "valueOf", "toJSON", "then")).__contains__,
    ),
    calls=CallRules(
        passes={**dict.fromkeys(("Object.create", "Object.freeze", "Object.seal"), "value"), "Object.assign": "all"},
        invoking=frozenset(("call", "apply")),
        own=frozenset(("this", "=this!")),
    ),
    foreign=ForeignRules(
        called_back=lambda name: _NAMES.get(name.rpartition(".")[2]),
        is_registering=lambda _name: True,
        library=Library(_ECMASCRIPT, lists="Array", functions="Function", promise="Promise"),
        declarations=_DECLARATIONS,
    ),
)
