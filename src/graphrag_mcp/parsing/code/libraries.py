"""Tells which modules are a language's own library: what a file imports from there, no definition of the project is."""

import sys

_JAVASCRIPT = """
    assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain events
    fs http http2 https inspector module net os path perf_hooks process punycode querystring readline repl stream
    string_decoder sys timers tls trace_events tty url util v8 vm wasi worker_threads zlib
"""
_JVM = "java javax jdk kotlin kotlinx scala"
# By the first segment of a module's path.
_NAMES = {
    "python": " ".join(sys.stdlib_module_names),
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
_NONE: frozenset[str] = frozenset()


def library_of(language: str) -> frozenset[str]:
    """Return the names with which the paths of a language's own modules begin."""
    return _LIBRARIES.get(language, _NONE)


def is_library(module: str, library: frozenset[str]) -> bool:
    """Return whether a module (see `Relation.target_module`) is one of the language's own."""
    return module.startswith("node:") or module.partition("/")[0] in library
