"""The names under which other files import a file."""

from graphrag_mcp.words import FOLDER_STEMS


def module_keys(path: str) -> frozenset[str]:
    """Return the keys that a relation's `target_module` may match: "/src/pkg/mod" and "src/pkg/mod", "pkg/mod", "mod".

    A file that stands for its folder (`__init__`, `index`, `mod`) has the folder's keys as well.
    """
    folder, _, name = path.rpartition("/")
    stem = name.rpartition(".")[0] or name
    parts = [*folder.split("/"), stem] if folder else [stem]
    keys = _ends(parts)
    if stem in FOLDER_STEMS and len(parts) > 1:
        keys |= _ends(parts[:-1])
    return frozenset(keys)


def _ends(parts: list[str]) -> set[str]:
    return {"/" + "/".join(parts)} | {"/".join(parts[-count:]) for count in range(1, len(parts) + 1)}
