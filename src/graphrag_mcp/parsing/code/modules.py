"""Module names: the keys under which a file is imported."""

from graphrag_mcp.languages.registry import describe, detect_language
from graphrag_mcp.text.words import FOLDER_STEMS


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
    if sources and sources in parts[1:]:
        source = parts.index(sources, 1)
        crate = parts[source - 1].replace("-", "_")
        keys |= {"/".join([crate, *variant[source + 1 :]]) for variant in variants}
    return frozenset(keys)


def is_library(module: str, library: frozenset[str]) -> bool:
    """Return whether a module (see `Relation.target_module`) is in the standard library."""
    return module.startswith("node:") or module.partition("/")[0] in library


def _ends(parts: list[str]) -> set[str]:
    return {"/" + "/".join(parts)} | {"/".join(parts[-count:]) for count in range(1, len(parts) + 1)}
