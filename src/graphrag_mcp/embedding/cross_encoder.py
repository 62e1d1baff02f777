"""The optional cross-encoder: a model that scores query and text together, more slowly and more precisely."""

import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from graphrag_mcp.embedding.onnx_models import require_fastembed
from graphrag_mcp.errors import ModelUnavailableError

_OWN_NAME = "graphrag-mcp/cross-encoder"  # The name under which a folder's model is registered with fastembed.


class FastembedCrossEncoder:
    """A cross-encoder that fastembed runs: one of its models by name, or a folder with ONNX files."""

    def __init__(self, name: str) -> None:
        """Load the model. Raises ModelUnavailableError when it cannot be loaded."""
        self.name = name
        require_fastembed("cross_encoder_model", name)
        try:
            self._model = _open(name)
        except Exception as error:  # fastembed raises whatever its downloads and onnxruntime raise.
            reason = " ".join(str(error).split())[:200] or type(error).__name__
            raise ModelUnavailableError(f"the cross-encoder {name} cannot be loaded: {reason}") from error

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return how well each text answers the query, 0 to 1: the logistic function of the model's score."""
        return [1 / (1 + math.exp(-min(50.0, max(-50.0, score)))) for score in self._model.rerank(query, list(texts))]


def load_cross_encoder(name: str) -> FastembedCrossEncoder:
    """Return the model of that name or folder, loaded once; a failure is not retried by this process.

    Raises ModelUnavailableError.
    """
    loaded = _load(name)
    if isinstance(loaded, str):
        raise ModelUnavailableError(loaded)
    return loaded


@cache
def _load(name: str) -> FastembedCrossEncoder | str:
    """Return the model, or why it cannot be loaded: a search must not wait for the network each time."""
    try:
        return FastembedCrossEncoder(name)
    except ModelUnavailableError as error:
        return str(error)


def _open(name: str) -> Any:
    from fastembed.common.model_description import ModelSource
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    folder = Path(name).expanduser()
    if not folder.is_dir():
        return TextCrossEncoder(name)
    if _OWN_NAME not in {model["model"] for model in TextCrossEncoder.list_supported_models()}:
        TextCrossEncoder.add_custom_model(_OWN_NAME, sources=ModelSource(hf=_OWN_NAME), model_file="model.onnx")
    return TextCrossEncoder(_OWN_NAME, specific_model_path=str(folder))
