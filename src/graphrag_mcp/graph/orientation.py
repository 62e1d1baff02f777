"""What a newcomer to a repository needs first, and the definitions that most of its code depends on."""

import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from graphrag_mcp.grep.hits import find_hits
from graphrag_mcp.grep.needles import create_needle
from graphrag_mcp.grep.occurrences import Files, read_texts
from graphrag_mcp.model.files import ASIDE, Category, ListedFile, SymbolKind
from graphrag_mcp.model.graph import CodeNode
from graphrag_mcp.model.grouping import grouped
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.ports import SymbolGraph
from graphrag_mcp.text.names import as_name

BY_NAME_ALONE = 0.1  # `start`, `any`: a name with one definition is often a library's or the language's too.
DAMPING = 0.85  # The usual value of PageRank.
ROUNDS = 30  # 0.85 ** 30 is 0.008: the order no longer changes.
NODES_READ = 2_000  # Definitions of a map: more than any budget shows.
OWNERS_READ = 500  # Types of methods, each looked up by its name.
CODE = Scope(categories=frozenset({Category.IMPLEMENTATION}))
_COLUMNS = np.dtype([("file", "i8"), ("node", "i8"), ("node_file", "i8"), ("mentions", "f8"), ("is_named", "?")])
_Floats = NDArray[np.float64]
MODULES = 10
PLACES = 5  # Files with routes, or that read the environment.
FOLDER_PARTS = 4
LEAST_ABOUT, MOST_ABOUT = 40, 240  # Characters of a paragraph.
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)")
_PROSE = re.compile(r"[\w*`](?!.*(?:[=~^*-]{4}| [-*] .* [-*] ))")
MANIFESTS = 20  # A monorepo has more; the nearest to the root are shown.
_ROUTES = (
    r"^\s*@\w+(?:\.\w+)*\.(?:route|get|post|put|delete|patch|websocket)\(\s*[\"'/]"
    r"|^\s*@(?:Get|Post|Put|Delete|Patch|Request)Mapping\b"
    r"|^\s*\w+(?:\.\w+)*\.(?:get|post|put|delete|patch|Get|Post|Put|Delete|Patch|GET|POST|PUT|DELETE|PATCH|HandleFunc)"
    r"\(\s*[\"'`]/"
)
_ENVIRONMENT = r"\b(?:os\.environ|os\.getenv|os\.Getenv|os\.LookupEnv|process\.env|System\.getenv|env::var|ENV\[)"
_USUAL_TESTS = {
    "go.mod": "go test ./...",
    "Cargo.toml": "cargo test",
    "pom.xml": "mvn test",
    "build.gradle": "gradle test",
    "build.gradle.kts": "gradle test",
    "tox.ini": "tox",
    "noxfile.py": "nox",
    "pytest.ini": "pytest",
}


class RepositoryMap(Struct, frozen=True):
    """Definitions, the most depended upon first, and the number of all candidates."""

    nodes: tuple[CodeNode, ...]
    total: int


def map_repository(graph: SymbolGraph) -> RepositoryMap:
    """Rank the definitions of code that is not archived; tests, examples and the like neither count nor appear."""
    edges = np.fromiter(graph.dependencies(CODE), _COLUMNS)
    if not len(edges):
        return RepositoryMap((), 0)
    ids, position = np.unique(edges["node"], return_inverse=True)
    totals = np.bincount(position, weights=_score(edges))
    best = np.argsort(-totals, kind="stable")[:NODES_READ]
    nodes = graph.nodes(ids[best].tolist())
    ranked = zip(ids[best].tolist(), totals[best], strict=True)
    worth = {nodes[node_id]: total for node_id, total in ranked if node_id in nodes}
    shown = _credit_types(graph, worth)
    return RepositoryMap(tuple(sorted(shown, key=lambda node: -shown[node])), len(ids))


def _credit_types(graph: SymbolGraph, worth: Mapping[CodeNode, float]) -> dict[CodeNode, float]:
    """Add a method's score to its type: a reader looks for the type, and an outline lists its methods."""
    methods = {node: value for node, value in worth.items() if node.kind is SymbolKind.METHOD}
    credited = {node: value for node, value in worth.items() if node not in methods}
    of_owners = grouped((node.qualified_name.rpartition(".")[0], node) for node in methods)
    for owner, members in islice(of_owners.items(), OWNERS_READ):
        types = [node for node in graph.definitions(owner, CODE) if node.kind is SymbolKind.TYPE]
        for method in members:
            meant = [node for node in types if node.path == method.path] or types
            if len(meant) == 1:
                credited[meant[0]] = credited.get(meant[0], 0.0) + methods[method]
    return credited


def _score(edges: NDArray[np.void]) -> _Floats:
    """Return the score of each dependency: its share of the PageRank of the file that it comes from.

    PageRank (Brin and Page 1998) over the files; a file's rank goes to the definitions that it references, in
    proportion to the square root of the number of references, and reduced to BY_NAME_ALONE where only names were
    compared.
    """
    files, ends = np.unique(np.concatenate([edges["file"], edges["node_file"]]), return_inverse=True)
    source, target = ends[: len(edges)], ends[len(edges) :]
    weights = np.sqrt(edges["mentions"])
    shares = weights / np.bincount(source, weights, minlength=len(files))[source]
    shares = shares * np.where(edges["is_named"], BY_NAME_ALONE, 1)
    rank = np.full(len(files), 1 / len(files))
    for _ in range(ROUNDS):
        passed = np.bincount(target, rank[source] * shares, minlength=len(files))
        lost = 1 - passed.sum()  # Files without references pass nothing on.
        rank = (1 - DAMPING) / len(files) + DAMPING * (passed + lost / len(files))
    scores: _Floats = rank[source] * shares
    return scores


class Orientation(Struct, frozen=True):
    """The first things to know.

    about: the first paragraph of the README, cut. folders: those at the top, each with how many files are in it and in
    its largest parts. languages: files of code by language. packages, entries: what manifests export and let run, and
    functions called main. routes, environment: lines by file that look like HTTP routes, or that read the environment.
    modules: files that most of the code depends on, each with its best definitions. tests: commands that the
    configuration names, or that its kind stands for.
    """

    about: str
    folders: tuple[str, ...]
    languages: Mapping[str, int]
    packages: tuple[str, ...]
    entries: tuple[str, ...]
    routes: Mapping[str, int]
    modules: Mapping[str, tuple[str, ...]]
    tests: tuple[str, ...]
    environment: Mapping[str, int]


def find_orientation(graph: SymbolGraph, files: Files) -> Orientation:
    """Return what manifests, definitions and lines say; tests, examples and foreign code are left out."""
    whole = files.listed(Scope())
    listed = [file for file in whole if file.category not in ASIDE]
    code = [file for file in listed if file.category is Category.IMPLEMENTATION]
    languages = Counter(file.language for file in code if file.language)
    manifests = _read_manifests(files, listed)
    names = {file.path for file in listed}
    mains = [f"{node.path}:{node.start_line} {node.name}" for node in graph.definitions("main", CODE)]
    started = [file.path for file in listed if file.path.endswith("__main__.py")]
    usual_tests = [command for name, command in _USUAL_TESTS.items() if name in names]
    entries = [entry for path, read in manifests for entry in _entries(path, read)]
    return Orientation(
        _about(files, names),
        _folders([file.path for file in whole]),
        dict(languages.most_common()),
        tuple(dict.fromkeys(name for path, read in manifests for name in _packages(path, read))),
        tuple(dict.fromkeys([*entries, *started, *mains])),
        _lines_by_file(_ROUTES, files),
        _modules(graph),
        tuple(dict.fromkeys([*_configured_tests(manifests, names, files), *usual_tests])),
        _lines_by_file(_ENVIRONMENT, files),
    )


def _about(files: Files, names: Collection[str]) -> str:
    """Return the first paragraph of a README at the root, without titles, badges and lists."""
    readmes = sorted(name for name in names if "/" not in name and name.lower().partition(".")[0] == "readme")
    for _, text in read_texts(files, readmes[:1]):
        for block in re.split(r"\n\s*\n", text):
            words = " ".join(_LINK.sub(r"\1", block).split())
            if len(words) >= LEAST_ABOUT and _PROSE.match(words):
                return words if len(words) <= MOST_ABOUT else f"{words[:MOST_ABOUT]} …"
    return ""


def _folders(paths: Sequence[str]) -> tuple[str, ...]:
    """Return the folders at the top with their numbers of files, the largest first: `src/shop 45 (api 9, cart 4)`."""
    sizes = Counter(parent for path in paths for parent in map(str, list(PurePosixPath(path).parents)[:-1]))
    parts = grouped((folder.rpartition("/")[0], folder) for folder, _ in sizes.most_common())
    shown = []
    for top in parts[""]:
        folder = top
        while len(parts[folder]) == 1 and sizes[parts[folder][0]] == sizes[folder]:
            folder = parts[folder][0]
        inner = ", ".join(
            f"{as_name(part.rpartition('/')[2])} {sizes[part]:,}" for part in parts[folder][:FOLDER_PARTS]
        )
        shown.append(f"{as_name(folder)} {sizes[folder]:,}{f' ({inner})' if inner else ''}")
    return tuple(shown)


def _read_manifests(files: Files, listed: Iterable[ListedFile]) -> list[tuple[str, dict[str, Any]]]:
    """Return the manifests that parse, those nearest to the root first."""
    known = (file.path for file in listed if PurePosixPath(file.path).name in _READERS)
    paths = sorted(known, key=lambda path: (path.count("/"), path))[:MANIFESTS]
    manifests: list[tuple[str, dict[str, Any]]] = []
    for path, text in read_texts(files, paths):
        try:
            read = _READERS[PurePosixPath(path).name](text)
        except ValueError:
            continue
        if isinstance(read, dict):
            manifests.append((path, read))
    return manifests


def _read_go_module(text: str) -> dict[str, Any]:
    named = re.search(r"^module (.*)", text, re.MULTILINE)
    return {"name": named[1].strip()} if named else {}


_READERS: Mapping[str, Callable[[str], Any]] = {
    "go.mod": _read_go_module,
    "pyproject.toml": tomllib.loads,
    "Cargo.toml": tomllib.loads,
    "package.json": json.loads,
}


def _part(read: Mapping[str, Any], *keys: str) -> Any:
    """Return a value inside nested objects, {} if one is missing."""
    value: Any = read
    for key in keys:
        value = value.get(key, {}) if isinstance(value, Mapping) else {}
    return value


def _packages(path: str, read: Mapping[str, Any]) -> Iterator[str]:
    name = _part(read, "name") or _part(read, "project", "name") or _part(read, "package", "name")
    if isinstance(name, str) and not _part(read, "private"):
        yield f"{name} ({path})"


def _entries(path: str, read: Mapping[str, Any]) -> Iterator[str]:
    """Yield the commands of a manifest, and the module that importers get."""
    commands = _part(read, "project", "scripts") or _part(read, "tool", "poetry", "scripts") or _part(read, "bin")
    if isinstance(commands, Mapping):
        yield from (f"{name} = {target}" for name, target in commands.items())
    elif isinstance(commands, str):
        yield f"{_part(read, 'name') or path} = {commands}"
    elif isinstance(commands, list):
        yield from (f"{_part(command, 'name')} = {_part(command, 'path')}" for command in commands)
    if isinstance(main := _part(read, "main"), str):
        yield f"{main} ({path})"


def _configured_tests(manifests: Iterable[tuple[str, dict[str, Any]]], names: set[str], files: Files) -> Iterator[str]:
    for path, read in manifests:
        if "/" in path:
            continue
        if isinstance(script := _part(read, "scripts", "test"), str):
            yield f"npm test ({script})"
        if _part(read, "tool", "pytest"):
            yield "pytest"
    makefiles = [name for name in ("Makefile", "makefile", "GNUmakefile") if name in names]
    yield from ("make test" for _, text in read_texts(files, makefiles) if re.search(r"(?m)^test:", text))


def _modules(graph: SymbolGraph) -> dict[str, tuple[str, ...]]:
    modules = grouped((node.path, node.name) for node in map_repository(graph).nodes)
    return {path: tuple(names) for path, names in islice(modules.items(), MODULES)}


def _lines_by_file(pattern: str, files: Files) -> dict[str, int]:
    hits = find_hits(create_needle(pattern, regex=True), CODE, files, 0)
    return dict(Counter(line.path for line in hits.occurrences.lines).most_common())
