"""Reads the manifests of Rust: what a crate is called, and where its modules are."""

import posixpath

from graphrag_mcp.languages.manifests import joined, read_toml, table
from graphrag_mcp.model.files import Manifest


def read(folder: str, name: str, text: str) -> Manifest:
    """Return what a `Cargo.toml` says."""
    tables = read_toml(text)
    package, library = (table(tables, key) for key in ("package", "lib"))
    crate, root = library.get("name", package.get("name")), library.get("path", "src/lib.rs")
    if not (isinstance(crate, str) and crate and isinstance(root, str)):
        return Manifest(folder, name)
    crate, file = crate.replace("-", "_"), joined(folder, root)
    return Manifest(folder, name, crate, {crate: (file.removesuffix(".rs"), posixpath.dirname(file))})
