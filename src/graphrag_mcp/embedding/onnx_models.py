"""Transformer models that fastembed runs on onnxruntime: one of its own by name, or an ONNX file in a folder."""

import hashlib
import json
import math
import re
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from graphrag_mcp.embedding.static import TOKENIZER_FILE, unavailable
from graphrag_mcp.embedding.token_sums import normalise
from graphrag_mcp.errors import ModelUnavailableError, how_to_install
from graphrag_mcp.ports import Embedder, Matrix
from graphrag_mcp.system.safe_files import read_regular_file

THREADS = 1  # The model works beside searches and edits, for which the other cores are.
MAX_TOKENS = 256  # A longer text is cut; most chunks have fewer, and the cost grows faster than the length.
_BATCH_TEXTS = 32  # A transformer's memory grows with the batch, and with the square of its longest text.
_HUB_TIMEOUT_SECONDS = 5.0
_SETTING = "embedding_model"
_PROBE = "parse the configuration file"
_PROMPTS_FILE, _MOST_PROMPT = "config_sentence_transformers.json", 300  # Characters; a text is MAX_TOKENS with it.
_SURROGATE = re.compile("[\ud800-\udfff]")
_MOST_CONFIG = 1_000_000  # Bytes.
# The names of the prompts of questions and of texts, as sentence-transformers looks them up.
_QUERY_PROMPTS, _TEXT_PROMPTS = ("query",), ("document", "passage", "corpus")
# These are sentence-transformers' keys in 1_Pooling/config.json with fastembed's names; the default is the mean.
_POOLINGS = {
    "pooling_mode_cls_token": "CLS",
    "pooling_mode_lasttoken": "LAST_TOKEN",
    "pooling_mode_mean_tokens": "MEAN",
}


class FastembedEmbedder:
    """A fastembed model as an `Embedder`: its vectors are converted to float32 of length 1."""

    def __init__(self, model: Any, fingerprint: str) -> None:
        self._model = model
        self.dimensions = len(next(iter(model.embed([_PROBE]))))
        self.fingerprint = f"{fingerprint}/{self.dimensions}"

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        result = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for row, vector in enumerate(self._model.passage_embed(list(texts), batch_size=_BATCH_TEXTS)):
            result[row] = vector
        return normalise(result)

    def embed_query(self, text: str) -> Matrix:
        unit: Matrix = normalise(np.stack(list(self._model.query_embed([text]))))[0]
        return unit


class OnnxEmbedder:
    """A sentence transformer in one ONNX file, as an `Embedder`."""

    def __init__(self, file: Path, pooling: str, prompts: tuple[str, str]) -> None:
        """Open the file and the tokenizer beside it. Raises what onnxruntime and tokenizers raise.

        prompts: what stands before each question, and before each text.
        """
        from onnxruntime import InferenceSession, SessionOptions
        from tokenizers import Tokenizer

        options, tokenizer_file = SessionOptions(), _find_tokenizer(file)
        options.intra_op_num_threads = options.inter_op_num_threads = THREADS
        self._session = InferenceSession(file, options, providers=["CPUExecutionProvider"])
        self._inputs = {given.name for given in self._session.get_inputs()}
        self._tokenizer = Tokenizer.from_file(str(tokenizer_file))
        self._tokenizer.no_padding()  # Texts are embedded one by one.
        stated = (self._tokenizer.truncation or {}).get("max_length", MAX_TOKENS)
        self._tokenizer.enable_truncation(min(stated, MAX_TOKENS))
        self._pooling = pooling
        self._query_prompt, self._text_prompt = prompts
        told = (pooling, str(MAX_TOKENS), *filter(None, [self._text_prompt]))
        digest = hashlib.blake2b(" ".join(told).encode(), digest_size=16)
        for part in (file, tokenizer_file):
            digest.update(part.read_bytes())
        self.fingerprint = f"folder/{digest.hexdigest()}"
        self.dimensions = len(self._embed(_PROBE))

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        return normalise(np.stack([self._embed(self._text_prompt + text) for text in texts]))

    def embed_query(self, text: str) -> Matrix:
        unit: Matrix = normalise(self._embed(self._query_prompt + text)[np.newaxis])[0]
        return unit

    def _embed(self, text: str) -> Matrix:
        """Return the vector of a text, not yet of length 1; zeros for one without a token."""
        ids = np.array([self._tokenizer.encode(text).ids], dtype=np.int64)
        if not ids.size:
            return np.zeros(self.dimensions, dtype=np.float32)
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        output = self._session.run(None, {name: given[name] for name in self._inputs})[0][0]
        if output.ndim == 1:  # The model pools itself.
            return np.asarray(output)
        return np.asarray({"CLS": output[0], "LAST_TOKEN": output[-1], "MEAN": output.mean(axis=0)}[self._pooling])


def require_fastembed(setting: str, model: str) -> None:
    """Raise ModelUnavailableError when fastembed, which runs the model of this setting, is not installed."""
    if find_spec("fastembed") is None:
        raise ModelUnavailableError(
            f"{setting} = {model!r} needs fastembed, which is not installed: {how_to_install('fastembed')}"
        )


def open_named_model(name: str) -> Embedder:
    """Return fastembed's model of that name, from its cache or downloaded once.

    Raises ModelUnavailableError without fastembed, for an unknown name, and when the model cannot be downloaded.
    """
    require_fastembed(_SETTING, name)
    from fastembed import TextEmbedding

    known = {str(model["model"]).lower(): model for model in TextEmbedding.list_supported_models()}
    if name.lower() not in known:
        raise unavailable(name, "it is neither an existing folder nor the name of a fastembed model")
    try:
        model = _open_cached(name) or _download(name, known[name.lower()]["sources"].get("hf"))
        return FastembedEmbedder(model, f"{name.lower()}/fastembed-{version('fastembed')}")
    except Exception as error:
        raise unavailable(name, f"it is not in fastembed's cache and cannot be downloaded ({error})") from error


def open_onnx_folder(folder: Path) -> Embedder:
    """Return the model of a folder with one ONNX file and its tokenizer.

    Its pooling and its prompts are read where sentence-transformers has them.

    Raises ModelUnavailableError without fastembed, and when a file is missing or onnxruntime cannot run it.
    """
    require_fastembed(_SETTING, str(folder))
    file, pooling, prompts = _choose_file(folder), _read_pooling(folder), _read_prompts(folder)
    try:
        return OnnxEmbedder(file, pooling, prompts)
    except ModelUnavailableError:
        raise
    except Exception as error:  # onnxruntime and tokenizers raise whatever they meet.
        raise unavailable(str(folder), f"onnxruntime cannot run {file.name}: {error}") from error


def _open_cached(name: str) -> Any:
    """Return the model if it is in fastembed's cache, without the network."""
    from fastembed import TextEmbedding

    try:
        return TextEmbedding(name, local_files_only=True, threads=THREADS)
    except ValueError:
        return None


def _download(name: str, repository: str | None) -> Any:
    from fastembed import TextEmbedding
    from huggingface_hub import model_info

    if repository:  # This is checked first: without a network, fastembed tries three times, 40 seconds in all.
        model_info(repository, timeout=_HUB_TIMEOUT_SECONDS)
    return TextEmbedding(name, threads=THREADS)


def _choose_file(folder: Path) -> Path:
    """Return the folder's ONNX file, or the one in its subfolder onnx, where exporters put it.

    If there are several (smaller variants), it is the one called model.onnx.
    """
    files = sorted([*folder.glob("*.onnx"), *folder.glob("onnx/*.onnx")])
    plain = [file for file in files if file.stem == "model"]
    if len(plain or files) == 1:
        return (plain or files)[0]
    names = ", ".join(file.relative_to(folder).as_posix() for file in files) or "none"
    raise unavailable(str(folder), f"it must contain one ONNX file, or one called model.onnx, and contains: {names}")


def _find_tokenizer(file: Path) -> Path:
    """Return tokenizer.json of the folder of an ONNX file or of the folder above, else the only file ending in it."""
    for folder in (file.parent, file.parent.parent):
        found = [folder / TOKENIZER_FILE] if (folder / TOKENIZER_FILE).is_file() else [*folder.glob("*tokenizer.json")]
        if len(found) == 1:
            return found[0]
    raise unavailable(str(file.parent), f"it has no {TOKENIZER_FILE}")


def _read_pooling(folder: Path) -> str:
    modes = _read_config(folder, "1_Pooling/config.json")
    return next((pooling for mode, pooling in _POOLINGS.items() if modes.get(mode)), "MEAN")


def _read_prompts(folder: Path) -> tuple[str, str]:
    """Return what stands before a question, and before a text; "" where the folder does not say."""
    prompts = _read_config(folder, _PROMPTS_FILE).get("prompts")
    known = {name: text for name, text in prompts.items() if isinstance(text, str)} if isinstance(prompts, dict) else {}
    query, text = (
        next((known[name] for name in names if name in known), "") for names in (_QUERY_PROMPTS, _TEXT_PROMPTS)
    )
    if max(len(query), len(text)) > _MOST_PROMPT or _SURROGATE.search(query + text):
        raise unavailable(
            str(folder), f"a prompt in {_PROMPTS_FILE} has more than {_MOST_PROMPT} characters, or a broken one"
        )
    return query, text


def _read_config(folder: Path, name: str) -> dict[str, Any]:
    """Return what a file of sentence-transformers says, {} where there is none."""
    try:
        config = json.loads(read_regular_file(folder / name, _MOST_CONFIG))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise unavailable(str(folder), f"{name} cannot be read ({error})") from error
    return config if isinstance(config, dict) else {}


_OWN_NAME = "graphrag-mcp/cross-encoder"  # A folder's model is registered with fastembed under this name.


class FastembedCrossEncoder:
    """A cross-encoder, which scores query and text together: more precise and slower than comparing vectors.

    fastembed runs it: one of its models by name, or a folder with ONNX files.
    """

    def __init__(self, name: str) -> None:
        """Load the model. Raises ModelUnavailableError when it cannot be loaded."""
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
