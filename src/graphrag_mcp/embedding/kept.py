"""Keeps the model that made an index's vectors beside them, so that a newer package can still search with it."""

import os
import shutil
from collections.abc import Collection
from pathlib import Path

from graphrag_mcp.embedding.static import MODEL_FILES, StaticEmbedder
from graphrag_mcp.errors import ModelUnavailableError
from graphrag_mcp.ports import Embedder

_PARTIAL = ".partial"


def keep_model(embedder: Embedder, folder: Path, used: Collection[str]) -> None:
    """Keep a static model's files in a folder named by its fingerprint, and of those kept before what is still `used`.

    Models that were downloaded by name are a hundred times as large; they are not kept. Raises OSError.
    """
    if not isinstance(embedder, StaticEmbedder):
        return
    kept = folder / embedder.fingerprint
    if not kept.is_dir():
        partial = folder / f"{embedder.fingerprint}{_PARTIAL}-{os.getpid()}"
        partial.mkdir(parents=True, exist_ok=True, mode=0o700)
        for name in MODEL_FILES:
            if (embedder.folder / name).exists():
                shutil.copyfile(embedder.folder / name, partial / name)
        try:
            partial.rename(kept)
        except OSError:  # Another process was faster.
            shutil.rmtree(partial, ignore_errors=True)
    for other in folder.iterdir():
        if other != kept and other.name not in used and _PARTIAL not in other.name:
            shutil.rmtree(other, ignore_errors=True)


def load_kept(fingerprint: str, folder: Path) -> Embedder | None:
    """Return the model with this fingerprint, None when it was not kept or is not what it was."""
    try:
        embedder = StaticEmbedder(folder / fingerprint)
        return embedder if embedder.fingerprint == fingerprint else None
    except (ModelUnavailableError, OSError):
        return None
