"""Writes the folder that the product, model2vec and fastembed read: weights, tokenizer, settings, and the card."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file
from tokenizers import Tokenizer

from training.contrastive import Schedule, Table
from training.quantise import Tensors, restore

CARD = """\
# Model card: the embedding model in this package

A static model: one vector per word piece, and a text's vector is Σ log(1 + count) · vector(piece), made unit. There is
no network to run, so one core of a laptop embeds thousands of chunks a second.

| | |
| --- | --- |
| made by | `python -m training` (see `training/README.md`), seed {seed} |
| starts from | {start}, one vector per piece, {dimensions} dimensions |
| trained on | {pairs:,} pairs of {repositories} repositories; those of the package are public, under permissive licences, and listed in `training/repositories.json` |
| kinds of pairs | {kinds} |
| method | InfoNCE in both directions, {schedule} |
| licence | that of the model it starts from. No code or text of the repositories is in these files |
| vocabulary | {rows:,} word pieces, lower-cased, camelCase split: words of code and comments, and pieces for all others |
| format | {format}; {bytes:,} bytes with the tokenizer |
| against float32 | cosine of the rows: mean {cosine_mean:.5f}, least {cosine_min:.5f} |

| file | sha256 |
| --- | --- |
{hashes}

{figures}
## Limits

Made for finding code, documentation and configuration of a repository from a question in English or from a name, beside
a keyword index. Not made for other natural languages, for comparing long texts, or for anything in which the order of
words matters: "a calls b" and "b calls a" are the same to it. It has seen public open-source code, most of it in
Python, TypeScript, JavaScript, Go, Rust, Java, C, C++ and C#; words of other worlds fall back to pieces.

Another run gives the same files on the same versions and processor; elsewhere single int8 values may differ by one.
"""


@dataclass(frozen=True, slots=True)
class Facts:
    """What the card says of the training; `start` is the model that it starts from, with its licence."""

    repositories: int
    pairs: Mapping[str, int]
    schedule: Schedule
    start: str
    figures: str = ""


def write_model(folder: Path, table: Table, tensors: Tensors, tokenizer: Tokenizer, facts: Facts) -> None:
    """Write the folder anew; `tensors` are the small form of `table`."""
    folder.mkdir(parents=True, exist_ok=True)
    weights, splitter = folder / "model.safetensors", folder / "tokenizer.json"
    save_file(dict(tensors), weights)
    weights.chmod(0o644)
    compact = json.dumps(json.loads(tokenizer.to_str()), ensure_ascii=False, separators=(",", ":"))
    splitter.write_text(compact, encoding="utf-8")
    config = {
        "model_type": "model2vec",
        "architectures": ["StaticModel"],
        "hidden_dim": table.shape[1],
        "seq_length": 1_000_000,
        "normalize": True,
        "pooling": "mean",
        "counts": "log",
        "max_length": 512,
        "embedding_dtype": tensors["embeddings"].dtype.name,
    }
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    form = ", ".join(f"`{name}` {tensor.dtype.name}" for name, tensor in tensors.items())
    write_card(folder, cosines(table, restore(tensors)), table.shape[1], form, facts)


def cosines(table: Table, other: Table) -> Table:
    """Return the cosine of each row of one table with that of the other."""
    lengths = np.linalg.norm(table, axis=1) * np.linalg.norm(other, axis=1)
    return np.asarray((table * other).sum(axis=1) / np.maximum(lengths, 1e-12))


def write_card(folder: Path, fidelity: Table, dimensions: int, form: str, facts: Facts) -> None:
    files = [folder / "model.safetensors", folder / "tokenizer.json"]
    hashes = [f"| `{file.name}` | `{hashlib.sha256(file.read_bytes()).hexdigest()}` |" for file in files]
    schedule = {name: value for name, value in asdict(facts.schedule).items() if name != "seed"}
    card = CARD.format(
        seed=facts.schedule.seed,
        start=facts.start,
        dimensions=dimensions,
        pairs=sum(facts.pairs.values()),
        repositories=facts.repositories,
        kinds=", ".join(f"{kind} {count:,}" for kind, count in facts.pairs.items()),
        schedule=", ".join(f"{name.replace('_', ' ')} {value}" for name, value in schedule.items()),
        rows=len(fidelity),
        format=form,
        cosine_mean=float(fidelity.mean()),
        cosine_min=float(fidelity.min()),
        bytes=sum(file.stat().st_size for file in files),
        hashes="\n".join(hashes),
        figures=f"## Figures\n\n{facts.figures.strip()}\n" if facts.figures else "",
    )
    (folder / "MODEL_CARD.md").write_text(card, encoding="utf-8")
