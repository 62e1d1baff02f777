"""The names under which other files import a file."""

from graphrag_mcp.text.words import FOLDER_STEMS


def module_keys(path: str) -> frozenset[str]:
    """Return the keys that a relation's `target_module` may match: "/src/pkg/mod" and "src/pkg/mod", "pkg/mod", "mod".

    A file that stands for its folder (`__init__`, `index`, `mod`) has the folder's keys as well, and a file of Rust the
    key by which other crates know it: "my_crate/mod" for my-crate/src/mod.rs.
    """
    folder, _, name = path.rpartition("/")
    stem = name.rpartition(".")[0] or name
    parts = [*folder.split("/"), stem] if folder else [stem]
    names = [parts, parts[:-1]] if stem in FOLDER_STEMS and len(parts) > 1 else [parts]
    keys = {key for one in names for key in _ends(one)}
    if name.endswith(".rs") and "src" in parts[1:]:
        source = parts.index("src", 1)
        crate = parts[source - 1].replace("-", "_")
        keys |= {"/".join([crate, *one[source + 1 :]]) for one in names}
    return frozenset(keys)


def _ends(parts: list[str]) -> set[str]:
    return {"/" + "/".join(parts)} | {"/".join(parts[-count:]) for count in range(1, len(parts) + 1)}
