"""Turns import statements into names and module paths, with one rule per style of language, and paths into keys."""

import posixpath
import re
from collections.abc import Callable

from graphrag_mcp.languages.language import ImportStyle
from graphrag_mcp.languages.registry import describe, detect_language
from graphrag_mcp.parsing.outline import Import
from graphrag_mcp.text.words import FOLDER_STEMS

_EXTENSION = re.compile(r"\.(?:[cm]?[jt]sx?|d\.ts|json|vue|svelte|rb|(?:ba|z)?sh|zig|php|h|hh|hpp|hxx|inc|c|cc|cpp)$")
_SEPARATORS = re.compile(r"::|\\|\.")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_KEYWORDS = frozenset({"import", "use", "function", "const", "static"})
_OF_CRATES = frozenset({"benches", "bin", "examples", "tests"})  # Folders of Rust whose files are crates.
_BINARY = re.compile(r"bin/[^/]+")  # A folder of Rust that is a crate.
_HOST_PARTS = 3  # github.com/owner/repository


def expand_imports(
    style: ImportStyle, path: str, row: int, module: str, items: list[tuple[str, str]], alias: str, depth: int = 0
) -> list[Import]:
    """Return one Import per name that the statement binds.

    path: of the importing file. module: as written, quotes and all. items: names taken from the module, each with its
    alias. alias: that of the module. depth: how many modules of the file are around it.
    """
    module = _without_keywords(module.strip("\"'`<>;() \t\n"))
    if style is ImportStyle.RUST:
        module = _from_file(module, depth)
    if items:
        place = module_path(style, path, module)
        names = [
            Import(row, renamed or name, name, place, False) for name, renamed in items if name not in ("*", "_", "")
        ]
        return [*names, Import(row, alias, alias, place, True)] if alias else names
    imports: list[Import] = []
    for whole, renamed in _expand_braces(module) if style in _GROUPING_STYLES else [(module, "")]:
        parts = [part for part in _SEPARATORS.split(whole) if part]
        if not parts or parts[-1] in ("*", "_", "given"):
            continue
        if style in _BINDING_STYLES:
            imports.append(_bind_last(style, path, row, whole, renamed or alias))
        elif place := module_path(style, path, whole):
            target = _module_name(style, place, whole, alias)
            name = renamed or alias.strip("._") or ("" if style in _NAMELESS_STYLES else target)
            imports.append(
                Import(row, name.partition(".")[0] if style is ImportStyle.INCLUDE else name, target, place, True)
            )
    return imports


def module_path(style: ImportStyle, path: str, module: str) -> str:
    """Return a module in the form of `Relation.target_module`: "/from/the/root", or "the/end/of/a/path"."""
    return _PATHS.get(style, _dotted_path)(path, module)


def module_key(language: str, path: str, module: str, item: str) -> str:
    """Return a module from which a file imports an item, in the form of `Relation.target_module`."""
    style = describe(language).imports
    if style is ImportStyle.DOTTED and item[:1].isupper():  # Types have a file each.
        module = f"{module}.{item}"
    return module_path(style, path, module)


def package_of(language: str, module: str) -> str:
    """Return the package that a module is in, under the name by which other projects import it."""
    style = describe(language).imports
    if style is ImportStyle.PATH:
        return "/".join(module.split("/")[: 2 if module.startswith("@") else 1])
    return _SEPARATORS.split(module.replace("/", "."))[0] if style in _TOP_STYLES else module


_TOP_STYLES = (ImportStyle.PYTHON, ImportStyle.RUST)
_NAMELESS_STYLES = frozenset({ImportStyle.OPENED, ImportStyle.PATH})  # Without an alias, a module has no name here.
_BINDING_STYLES = frozenset({ImportStyle.DOTTED, ImportStyle.RUST, ImportStyle.NAMESPACE})
_GROUPING_STYLES = _BINDING_STYLES | {ImportStyle.SNAKE, ImportStyle.MODULE, ImportStyle.OPENED}


def _bind_last(style: ImportStyle, path: str, row: int, whole: str, alias: str) -> Import:
    """Read `a.b.C`, which binds C of the module a.b or, where types have a file each, of the module a.b.C."""
    parts = [part for part in _SEPARATORS.split(whole) if part]
    target = parts[-1]
    if style is ImportStyle.RUST:
        place = module_path(style, path, "::".join(parts[:-1]) or "self")
        is_module = target == "self"
        if is_module and len(parts) > 1:
            target = parts[-2]
        return Import(row, alias or target, target, place, is_module)
    outer = next((place for place, part in enumerate(parts[:-1], 1) if part[:1].isupper()), 0)
    if style is ImportStyle.DOTTED and outer:  # A member of a type, or below.
        parts = parts[:outer]
    elif len(parts) > 1 and not target[:1].isupper():
        parts.pop()
    return Import(row, alias or target, target, module_path(style, path, ".".join(parts)), False)


def _module_name(style: ImportStyle, place: str, whole: str, alias: str) -> str:
    """Return the usual name of a module, of a header its file's; a default export is mostly imported under it."""
    if style is ImportStyle.PATH and alias:
        return alias
    if style is ImportStyle.SNAKE:
        return _SEPARATORS.split(whole)[-1]
    if style is ImportStyle.INCLUDE:
        return whole.rpartition("/")[2]  # `<memory>` is not memory.h.
    names = place.split("/")
    is_version = len(names) > 1 and names[-1][:1] == "v" and names[-1][1:].isdigit()  # Go: shop/v2 is called shop.
    return names[-2] if is_version else names[-1]


def _without_keywords(module: str) -> str:
    """Read `use function a\\b` and `import a.b`, captured as whole statements, as a\\b and a.b."""
    first, _, rest = module.partition(" ")
    return _without_keywords(rest.strip()) if rest and first in _KEYWORDS else module


def _expand_braces(text: str) -> list[tuple[str, str]]:
    """Read `a::{b, c as d, e::{f}}` as [("a::b", ""), ("a::c", "d"), ("a::e::f", "")]."""
    items: list[tuple[str, str]] = []
    prefixes = [""]
    leaf = ""
    for part in re.findall(r"[{},]|[^{},]+", text):
        if part == "{":
            prefixes.append(prefixes[-1] + leaf.strip())
            leaf = ""
        elif part in ",}":
            items += _read_leaf(prefixes[-1], leaf)
            leaf = ""
            if part == "}" and len(prefixes) > 1:
                prefixes.pop()
        else:
            leaf += part
    return items + _read_leaf(prefixes[-1], leaf)


def _read_leaf(prefix: str, leaf: str) -> list[tuple[str, str]]:
    match leaf.replace("=>", " as ").split():
        case [name, "as", alias]:
            return [(prefix + name, alias)]
        case [name, *_]:
            return [(prefix + name, "")]
    return []


def _dotted_path(_path: str, module: str) -> str:
    return "/".join(filter(None, _SEPARATORS.split(module)))


def _snake_path(path: str, module: str) -> str:
    return "/".join(_CAMEL.sub("_", part).lower() for part in _dotted_path(path, module).split("/"))


def _go_path(_path: str, module: str) -> str:
    parts = module.split("/")
    return "/".join(parts[_HOST_PARTS:] or parts[-1:]) if "." in parts[0] else module


def _python_path(path: str, module: str) -> str:
    folder, name = posixpath.dirname(path), module.lstrip(".")
    dots = len(module) - len(name)
    tail = name.replace(".", "/")
    if not dots:
        return tail
    for _ in range(dots - 1):
        folder = posixpath.dirname(folder)
    return _from_root(folder, tail)


def _relative_path(path: str, module: str) -> str:
    """Read `./a.js`, `../a`, `@/a`, `a/b.h`, and the constant end of `$dir/a.sh`."""
    module = _EXTENSION.sub("", module)
    if module.startswith("."):
        return _from_root(posixpath.dirname(path), module)
    if "$" in module or "#{" in module:
        module = re.split(r"[$#]\{?\w*\}?\W*", module)[-1]
    return module.removeprefix("@/").removeprefix("~/").strip("/")


def _rust_path(path: str, module: str) -> str:
    """Read `crate::a`, `super::a` and `self::a` relative to the file's path below its crate's `src`."""
    parts = [part for part in module.split("::") if part]
    folder, _, file = path.rpartition("/")
    is_root = file in ("mod.rs", "lib.rs", "main.rs", "build.rs") or posixpath.basename(folder) in _OF_CRATES
    here = folder if is_root else posixpath.join(folder, file.removesuffix(".rs"))
    if parts[:1] == ["crate"]:
        before, separator, inside = f"/{folder}/".partition("/src/")
        binary = _BINARY.match(inside)
        root = f"{before}/src/{binary[0] if binary else ''}".strip("/") if separator else folder
        return _from_root(root, "/".join(parts[1:]))
    if parts[:1] not in (["super"], ["self"]):
        return "/".join(parts)
    while parts and parts[0] in ("super", "self"):
        here = posixpath.dirname(here) if parts.pop(0) == "super" else here
    return _from_root(here, "/".join(parts))


_PATHS: dict[ImportStyle, Callable[[str, str], str]] = {
    ImportStyle.PYTHON: _python_path,
    **dict.fromkeys((ImportStyle.PATH, ImportStyle.INCLUDE), _relative_path),
    ImportStyle.GO: _go_path,
    ImportStyle.RUST: _rust_path,
    ImportStyle.SNAKE: _snake_path,
}


def _from_file(module: str, depth: int) -> str:
    """Read `super` in a module inside of a file as what is meant from the file itself: `self` is the file."""
    while depth and module.startswith("super::"):
        module, depth = module.removeprefix("super::"), depth - 1
        if not depth and not module.startswith("super::"):
            module = f"self::{module}"
    return module


def module_of_path(path: str, words: str, depth: int) -> str:
    """Return the module that `crate::a`, `self` or `super::super::b` means in a file; one in the file is the file.

    depth: how many modules of the file are around it.
    """
    names = words.split("::")
    above = next((place for place, name in enumerate(names) if name != "super"), len(names))
    if above:
        names = [*(["super"] * (above - depth) or ["self"]), *names[above:]]
    return _rust_path(path, "::".join(names))


def _from_root(folder: str, tail: str) -> str:
    joined = posixpath.normpath(posixpath.join("/", folder, tail))
    return "/" + joined.lstrip("/")


def module_keys(path: str) -> frozenset[str]:
    """Return the keys that a relation's `target_module` may match: "/src/pkg/mod" and "src/pkg/mod", "pkg/mod", "mod".

    A file that represents its folder (`__init__`, `index`, `mod`) has the folder's keys as well, and where
    packages have a folder for their files the key that others use: "my_crate/mod" for my-crate/src/mod.rs.
    """
    folder, _, name = path.rpartition("/")
    stem = name.rpartition(".")[0] or name
    parts = [*folder.split("/"), stem] if folder else [stem]
    variants = [parts, parts[:-1]] if stem in FOLDER_STEMS and len(parts) > 1 else [parts]
    keys = {key for variant in variants for key in _ends(variant)}
    sources = describe(detect_language(path)).sources
    if sources in parts[1:]:
        source = parts.index(sources, 1)
        crate = parts[source - 1].replace("-", "_")
        keys |= {"/".join([crate, *variant[source + 1 :]]) for variant in variants}
    return frozenset(keys)


def is_library(module: str, library: frozenset[str]) -> bool:
    """Return whether a module (see `Relation.target_module`) is in the standard library."""
    return module.startswith("node:") or module.partition("/")[0] in library


def _ends(parts: list[str]) -> set[str]:
    return {"/" + "/".join(parts)} | {"/".join(parts[-count:]) for count in range(1, len(parts) + 1)}
