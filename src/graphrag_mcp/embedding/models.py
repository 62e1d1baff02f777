"""Finds the embedding model that a setting names: the one in the package, a folder, or one of fastembed's."""

from functools import cache
from pathlib import Path

from graphrag_mcp.embedding.onnx_models import list_onnx_files, open_named_model, open_onnx_folder
from graphrag_mcp.embedding.static import StaticEmbedder, is_static_model, open_package_model
from graphrag_mcp.ports import Embedder


def load_embedder(name: str = "") -> Embedder:
    """Return the model for a value of `embedding_model`. Raises ModelUnavailableError when it cannot be loaded."""
    if not name:
        return _package_model()
    folder = Path(name).expanduser()
    if not folder.is_dir():
        return open_named_model(name)
    if list_onnx_files(folder) and not is_static_model(folder):  # model2vec folders may carry an ONNX copy.
        return open_onnx_folder(folder)
    return StaticEmbedder(folder)


@cache
def _package_model() -> Embedder:
    """Return one model for all projects of this process: they share the words that it has learnt."""
    return open_package_model()
