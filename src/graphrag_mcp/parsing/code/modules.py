"""Module names: the keys under which a file is imported, and the modules of each language's standard library."""

from graphrag_mcp.parsing.code import python_names
from graphrag_mcp.text.words import FOLDER_STEMS

_JAVASCRIPT = """
    assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain events
    fs http http2 https inspector module net os path perf_hooks process punycode querystring readline repl stream
    string_decoder sys timers tls trace_events tty url util v8 vm wasi worker_threads zlib
"""
_JVM = "java javax jdk kotlin kotlinx scala"
# By the first segment of a module's path.
_NAMES = {
    "javascript": _JAVASCRIPT,
    "typescript": _JAVASCRIPT,
    "tsx": _JAVASCRIPT,
    "go": """
        archive arena bufio bytes cmp compress container context crypto database debug embed encoding errors expvar flag
        fmt go hash html image index io iter log maps math mime net os path plugin reflect regexp runtime slices sort
        strconv strings structs sync syscall testing text time unicode unique unsafe weak
    """,
    "rust": "std core alloc",
    "java": _JVM,
    "kotlin": _JVM,
    "scala": _JVM,
}
_LIBRARIES = {language: frozenset(names.split()) for language, names in _NAMES.items()}
_LIBRARIES["python"] = python_names.MODULES
_NONE: frozenset[str] = frozenset()


def module_keys(path: str) -> frozenset[str]:
    """Return the keys that a relation's `target_module` may match: "/src/pkg/mod" and "src/pkg/mod", "pkg/mod", "mod".

    A file that represents its folder (`__init__`, `index`, `mod`) has the folder's keys as well, and a Rust file the
    key that other crates use: "my_crate/mod" for my-crate/src/mod.rs.
    """
    folder, _, name = path.rpartition("/")
    stem = name.rpartition(".")[0] or name
    parts = [*folder.split("/"), stem] if folder else [stem]
    variants = [parts, parts[:-1]] if stem in FOLDER_STEMS and len(parts) > 1 else [parts]
    keys = {key for variant in variants for key in _ends(variant)}
    if name.endswith(".rs") and "src" in parts[1:]:
        source = parts.index("src", 1)
        crate = parts[source - 1].replace("-", "_")
        keys |= {"/".join([crate, *variant[source + 1 :]]) for variant in variants}
    return frozenset(keys)


def library_of(language: str) -> frozenset[str]:
    """Return the first path segments of a language's standard library."""
    return _LIBRARIES.get(language, _NONE)


def is_library(module: str, library: frozenset[str]) -> bool:
    """Return whether a module (see `Relation.target_module`) is in the standard library."""
    return module.startswith("node:") or module.partition("/")[0] in library


def _ends(parts: list[str]) -> set[str]:
    return {"/" + "/".join(parts)} | {"/".join(parts[-count:]) for count in range(1, len(parts) + 1)}
