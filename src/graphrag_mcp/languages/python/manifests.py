"""Reads the manifests of Python: where the packages of a project are, and which projects it needs. Nothing is run."""

import ast
import configparser
import posixpath
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from graphrag_mcp.languages.manifests import joined, read_toml, table
from graphrag_mcp.model.files import Manifest

_REQUIRED = re.compile(r"[A-Za-z0-9][\w.-]*")
_FINDERS = ("find_packages", "find_namespace_packages")


def read(folder: str, name: str, text: str) -> Manifest | None:
    """Return what a manifest says."""
    match name:
        case "pyproject.toml":
            return _read_pyproject(folder, text)
        case "setup.cfg":
            return _read_setup_cfg(folder, text)
    return _read_setup_script(folder, text)


def _read_pyproject(folder: str, text: str) -> Manifest:
    """Return what a `pyproject.toml` says, in the tables of the standard and of the usual build backends."""
    read = read_toml(text)
    project, tool = table(read, "project"), table(read, "tool")
    poetry, setuptools = table(tool, "poetry"), table(tool, "setuptools")
    included = poetry.get("packages")
    needed = [*_texts(project.get("dependencies")), *table(poetry, "dependencies")]
    for groups in (table(project, "optional-dependencies"), table(read, "dependency-groups")):
        needed += [text for group in groups.values() for text in _texts(group)]
    for group in table(poetry, "group").values():
        needed += table(group, "dependencies")
    roots: list[tuple[object, object]] = [
        *table(setuptools, "package-dir").items(),
        *(("", place) for place in _texts(table(setuptools, "packages", "find").get("where"))),
        *(("", table(entry).get("from")) for entry in (included if isinstance(included, list) else ())),
        *(("", place) for place in _hatch_roots(table(tool, "hatch", "build"))),
        ("", table(tool, "pdm", "build").get("package-dir")),
        ("", table(tool, "uv", "build-backend").get("module-root")),
        ("", table(tool, "maturin").get("python-source")),
        *(("", place) for place in _texts(table(tool, "pytest", "ini_options").get("pythonpath"))),
    ]
    return _manifest(folder, "pyproject.toml", project.get("name") or poetry.get("name"), roots, needed)


def _read_setup_cfg(folder: str, text: str) -> Manifest:
    """Return what a `setup.cfg` says."""
    read = configparser.RawConfigParser(strict=False)
    try:
        read.read_string(text)
    except configparser.Error:
        return Manifest(folder, "setup.cfg")
    options = [line.partition("=") for line in _lines(read, "options", "package_dir")]
    roots: list[tuple[object, object]] = [(name.strip(), place.strip()) for name, _, place in options]
    roots += [("", place.strip()) for place in _lines(read, "options.packages.find", "where")]
    needed = _lines(read, "options", "install_requires")
    if read.has_section("options.extras_require"):
        needed += [line for _, value in read.items("options.extras_require") for line in value.splitlines()]
    return _manifest(folder, "setup.cfg", read.get("metadata", "name", fallback=""), roots, needed)


def _read_setup_script(folder: str, text: str) -> Manifest:
    """Return what the call of `setup` in a `setup.py` says with literals."""
    try:
        with warnings.catch_warnings():  # They would quote the script on the error output.
            warnings.simplefilter("ignore")
            calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Manifest(folder, "setup.py")
    keywords = {
        keyword.arg: keyword.value
        for call in calls
        if _called(call) == "setup"
        for keyword in call.keywords
        if keyword.arg is not None
    }
    places = _literal(keywords.get("package_dir"))
    roots: list[tuple[object, object]] = list(places.items()) if isinstance(places, dict) else []
    packages = keywords.get("packages")
    if isinstance(packages, ast.Call) and _called(packages) in _FINDERS:
        where = [*packages.args[:1], *(keyword.value for keyword in packages.keywords if keyword.arg == "where")]
        roots += [("", _literal(folder)) for folder in where]
    extras = _literal(keywords.get("extras_require"))
    needed = [*_texts(_literal(keywords.get("install_requires")))]
    needed += [text for group in extras.values() for text in _texts(group)] if isinstance(extras, dict) else []
    return _manifest(folder, "setup.py", _literal(keywords.get("name")), roots, needed)


def normal_name(project: str) -> str:
    """Return the name of a project as indexes of packages compare it, with "_": see PEP 503."""
    return re.sub(r"[-_.]+", "_", project).lower()


def _manifest(
    folder: str, kind: str, name: object, roots: Iterable[tuple[object, object]], needed: Iterable[str]
) -> Manifest:
    """roots: "" with a folder that holds packages, or a package with its own folder."""
    targets: dict[str, list[str]] = {}
    for package, place in roots:
        if isinstance(package, str) and isinstance(place, str) and not posixpath.isabs(place):
            root = joined(folder, place)
            if root.split("/")[0] != "..":
                targets.setdefault(package, []).append(root)
    requires = {normal_name(match[0]): "" for requirement in needed if (match := _REQUIRED.match(requirement.strip()))}
    return Manifest(folder, kind, normal_name(name) if isinstance(name, str) else "", targets, "", requires)


def _hatch_roots(build: Mapping[str, Any]) -> Iterator[str]:
    for target in (build, *map(table, table(build, "targets").values())):
        yield from (posixpath.dirname(package) for package in _texts(target.get("packages")))
        sources = target.get("sources")
        yield from _texts(list(sources) if isinstance(sources, dict) else sources)


def _called(call: ast.Call) -> str:
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


def _literal(node: ast.expr | None) -> Any:
    try:
        return ast.literal_eval(node) if node is not None else None
    except (ValueError, TypeError, RecursionError, MemoryError):
        return None


def _lines(read: configparser.RawConfigParser, section: str, option: str) -> list[str]:
    return [line for line in read.get(section, option, fallback="").splitlines() if line.strip()]


def _texts(value: object) -> list[str]:
    listed = [value] if isinstance(value, str) else value if isinstance(value, list | tuple) else ()
    return [item for item in listed if isinstance(item, str)]
