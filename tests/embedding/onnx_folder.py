"""Writes the smallest model folder that onnxruntime can run: a table look-up, encoded by hand."""

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

VOCABULARY = {"[PAD]": 0, "[UNK]": 1, "alpha": 2, "beta": 3}
TABLE = np.array([[0, 0, 0], [0, 0, 1], [3, 0, 0], [0, 4, 0]], dtype=np.float32)
_FLOAT, _INT64 = 1, 7  # ONNX's numbers for the types.


def write_onnx_folder(folder: Path, pooling: dict[str, bool] | None = None) -> Path:
    """Write model, tokenizer and, if given, pooling; the hidden state of a token is its row of TABLE."""
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(_model())
    tokenizer = Tokenizer(WordLevel(VOCABULARY, unk_token="[UNK]"))  # noqa: S106
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {"model_max_length": 8, "pad_token": "[PAD]"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    if pooling is not None:
        (folder / "1_Pooling").mkdir()
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    return folder


def write_cross_encoder_folder(folder: Path) -> Path:
    """Write a model whose score of two texts is the mean of their tokens' rows, 4 for beta and 0 for alpha."""
    write_onnx_folder(folder)
    table = np.array([[0], [0], [0], [4]], dtype=np.float32)
    axes = _field(1, b"axes") + _number(8, 1) + _number(20, 7)
    keep = _field(1, b"keepdims") + _number(3, 0) + _number(20, 2)
    mean = _field(1, b"hidden") + _field(2, b"score") + _field(4, b"ReduceMean") + _field(5, axes) + _field(5, keep)
    (folder / "model.onnx").write_bytes(_model(table, mean, _value(b"score", _FLOAT, [b"batch", 1])))
    return folder


def _model(table_rows: NDArray[np.float32] = TABLE, more: bytes = b"", output: bytes = b"") -> bytes:
    """Encode a model that looks up rows, and then runs one more node, if there is one, whose output is the model's."""
    rows, width = table_rows.shape
    table = (
        _number(1, rows)
        + _number(1, width)
        + _number(2, _FLOAT)
        + _field(8, b"table")
        + _field(9, table_rows.tobytes())
    )
    look_up = _field(1, b"table") + _field(1, b"input_ids") + _field(2, b"hidden") + _field(4, b"Gather")
    graph = (
        _field(1, look_up)
        + (_field(1, more) if more else b"")
        + _field(2, b"tiny")
        + _field(5, table)
        + _field(11, _value(b"input_ids", _INT64, [b"batch", b"tokens"]))
        + _field(12, output or _value(b"hidden", _FLOAT, [b"batch", b"tokens", width]))
    )
    return _number(1, 8) + _field(7, graph) + _field(8, _number(2, 13))


def _value(name: bytes, type_number: int, shape: list[bytes | int]) -> bytes:
    sizes = [_number(1, size) if isinstance(size, int) else _field(2, size) for size in shape]
    dimensions = b"".join(_field(1, size) for size in sizes)
    return _field(1, name) + _field(2, _field(1, _number(1, type_number) + _field(2, dimensions)))


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _number(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])
