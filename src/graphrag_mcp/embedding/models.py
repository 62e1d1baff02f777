"""The embedding models: finds the one that a setting names, embeds chunks with it, keeps a copy beside the index."""

import os
import shutil
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path

from graphrag_mcp.embedding.static import MODEL_FILES, PACKAGE_MODEL, StaticEmbedder, is_static_model
from graphrag_mcp.errors import ModelUnavailableError
from graphrag_mcp.ports import Embedder, Matrix

_PARTIAL = ".partial"


def load_embedder(name: str = "") -> Embedder:
    """Return the model of the index: the package's own, or the static one whose folder `embedding_model` names."""
    return StaticEmbedder(Path(name).expanduser()) if is_static(name) else _package_model()


def is_static(name: str) -> bool:
    """Return whether a value of `embedding_model` is the folder of a static model, which takes the package's place."""
    return bool(name) and is_static_model(Path(name).expanduser())


def open_second_model(name: str) -> Embedder:
    """Return the model of the second look that `embedding_model` names.

    Raises ModelUnavailableError when it cannot be loaded.
    """
    from graphrag_mcp.embedding.onnx_models import open_named_model, open_onnx_folder

    folder = Path(name).expanduser()
    return open_onnx_folder(folder) if folder.is_dir() else open_named_model(name)


@cache
def _package_model() -> Embedder:
    """Return one model for all projects of this process, which share its cache of words."""
    return StaticEmbedder(PACKAGE_MODEL)


def embed_chunks(embedder: Embedder, texts: Sequence[tuple[str, str]]) -> Matrix:
    """Return one unit vector per pair of `embedding_texts`, shape (len(texts), dimensions): the mean of the two."""
    from graphrag_mcp.embedding.token_sums import normalise  # It imports numpy, which `status` does not need.

    if isinstance(embedder, StaticEmbedder):
        topics, fulls = embedder.embed_extended(texts)
    else:
        topics = embedder.embed_documents([topic for topic, _ in texts])
        fulls = embedder.embed_documents([full for _, full in texts])
    return normalise(topics + fulls)


def keep_model(embedder: Embedder, folder: Path, used: Collection[str]) -> None:
    """Copy a static model's files to a folder named by its fingerprint; remove copies that are not in `used`.

    Models that are loaded by name are a hundred times as large and are not copied. Raises OSError.
    """
    if not isinstance(embedder, StaticEmbedder):
        return
    target = folder / embedder.fingerprint
    if not target.is_dir():
        partial = folder / f"{embedder.fingerprint}{_PARTIAL}-{os.getpid()}"
        partial.mkdir(parents=True, exist_ok=True, mode=0o700)
        for name in MODEL_FILES:
            if (embedder.folder / name).exists():
                shutil.copyfile(embedder.folder / name, partial / name)
        try:
            partial.rename(target)
        except OSError:  # Another process was faster.
            shutil.rmtree(partial, ignore_errors=True)
    for other in folder.iterdir():
        if other != target and other.name not in used and _PARTIAL not in other.name:
            shutil.rmtree(other, ignore_errors=True)


def load_kept(fingerprint: str, folder: Path) -> Embedder | None:
    """Return the kept model with this fingerprint; None when there is none or its files changed."""
    try:
        embedder = StaticEmbedder(folder / fingerprint)
        return embedder if embedder.fingerprint == fingerprint else None
    except (ModelUnavailableError, OSError):
        return None
