"""Static models, read from a folder: the one in this package and others that model2vec wrote."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphrag_mcp.errors import ModelUnavailableError
from graphrag_mcp.ports import Matrix

if TYPE_CHECKING:
    from graphrag_mcp.embedding.token_sums import StaticModel, TokenSums

_WEIGHTS_FILE = "model.safetensors"
TOKENIZER_FILE = "tokenizer.json"
_CONFIG_FILE = "config.json"
MODEL_FILES = (_WEIGHTS_FILE, TOKENIZER_FILE, _CONFIG_FILE)
# It is part of the fingerprint: change it with the method.
_POOLING = b"sum of words without punctuation, unit length, 1"
_LOG_TF = b"log(1 + count)"
_MAX_HEADER_BYTES = 1_000_000  # Three tensors take a few hundred bytes; a larger header is another format.
PACKAGE_MODEL = Path(__file__).parent / "model"


def is_static_model(folder: Path) -> bool:
    """Return whether the folder can be opened as a StaticEmbedder."""
    try:
        return _read_dimensions(folder) > 0
    except ModelUnavailableError:
        return False


class StaticEmbedder:
    """A model2vec folder. With `"counts": "log"` in its config.json, a token counts by the logarithm of its frequency.

    The constructor and, for a file that cannot be used, the first embedding raise ModelUnavailableError.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.dimensions = _read_dimensions(folder)
        self._uses_log_tf = _read_config(folder).get("counts") == "log"

    @cached_property
    def fingerprint(self) -> str:
        digest = hashlib.blake2b(_POOLING + _LOG_TF * self._uses_log_tf, digest_size=16)
        for name in (_WEIGHTS_FILE, TOKENIZER_FILE):
            digest.update((self.folder / name).read_bytes())
        return digest.hexdigest()

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        return self._sums.of(texts)

    def embed_extended(self, texts: Sequence[tuple[str, str]]) -> tuple[Matrix, Matrix]:
        """Return the vectors of the first and of the second text of each pair; the second begins with the first."""
        starts = [start for start, _ in texts]
        ends = [full[len(start) :] for start, full in texts]
        return self._sums.of_extended(starts, ends)

    def embed_query(self, text: str) -> Matrix:
        unit: Matrix = self._sums.of([text])[0]
        return unit

    @cached_property
    def _sums(self) -> "TokenSums":
        from graphrag_mcp.embedding.token_sums import TokenSums  # It imports numpy.

        try:
            return TokenSums(self._load())
        except Exception as error:  # tokenizers raises Exception itself.
            raise unavailable(str(self.folder), f"its files cannot be read ({error})") from error

    def _load(self) -> "StaticModel":
        from safetensors.numpy import load_file  # It is imported late, since `status` does not need it.
        from tokenizers import Tokenizer

        from graphrag_mcp.embedding.token_sums import StaticModel

        tokenizer = Tokenizer.from_file(str(self.folder / TOKENIZER_FILE))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        tensors = load_file(self.folder / _WEIGHTS_FILE)
        weights, mapping = tensors.get("weights"), tensors.get("mapping")
        return StaticModel(tokenizer, tensors["embeddings"], weights, mapping, self._uses_log_tf)


def unavailable(model: str, reason: str) -> ModelUnavailableError:
    return ModelUnavailableError(
        f"The embedding model {model!r} is not available: {reason}. Unset GRAPHRAG_EMBEDDING_MODEL, or set it to "
        "a fastembed model name or a model folder."
    )


def _read_config(folder: Path) -> Mapping[str, Any]:
    """Return the content of config.json; empty when there is none that can be read."""
    try:
        config = json.loads((folder / _CONFIG_FILE).read_bytes())
    except (OSError, ValueError):
        return {}
    return config if isinstance(config, dict) else {}


def _read_dimensions(folder: Path) -> int:
    """Return the width of the embedding table, from the header of the weights."""
    if not (folder / TOKENIZER_FILE).is_file():
        raise unavailable(str(folder), f"the folder has no {TOKENIZER_FILE}")
    try:
        with (folder / _WEIGHTS_FILE).open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(min(size, _MAX_HEADER_BYTES)))
        _, width = header["embeddings"]["shape"]
        return int(width)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise unavailable(str(folder), f"{_WEIGHTS_FILE} does not contain a static model ({error})") from error
