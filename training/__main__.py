"""From a folder of git checkouts to the model in the package. See training/README.md.

python -m training CHECKOUTS --work FOLDER [--out FOLDER] [--held-out FOLDER …]
"""

import argparse
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from graphrag_mcp.embedding.static import PACKAGE_MODEL, TOKENIZER_FILE, StaticEmbedder
from training import teacher
from training.cleaning import clean, labels
from training.contrastive import Examples, Schedule, train
from training.encoding import Encoder
from training.mining import mine_repository
from training.model_files import Facts, write_model
from training.pairs import Pair, read_pairs, write_pairs
from training.quantise import FORMS, small_form
from training.vocabulary import choose_pieces, count_words, make_tokenizer

SIZE = 16_000  # Pieces. 28,000 measured no better, and 16,000 rows of 256 bytes are what five megabytes hold.
DIMENSIONS = 256
MOST_HELD_OUT_BYTES = 300_000  # Of one file.


def main() -> None:
    options = read_arguments()
    started = time.monotonic()

    def say(text: str) -> None:
        print(f"{time.monotonic() - started:6.0f} s  {text}", flush=True)

    names = mine(options.checkouts, options.work / "pairs", options.seed, options.processes)
    mined = (pair for name in names for pair in read_pairs(pairs_file(options.work / "pairs", name)))
    pairs = list(clean(mined, held_out_texts(options.held_out)))
    kinds = Counter(pair.kind.value for pair in pairs)
    say(f"{len(pairs)} pairs of {len(names)} repositories: {dict(sorted(kinds.items()))}")

    base = read_tokenizer(options.start or options.teacher)
    known = base.get_vocab()
    base = make_tokenizer(base, sorted(known, key=known.__getitem__))
    total, repositories = count_words(pairs, base)
    pieces = choose_pieces(base, total, repositories, options.size)
    tokenizer = make_tokenizer(base, pieces)
    say(f"{len(pieces)} pieces, {sum(piece not in known for piece in pieces)} of them new words")

    if options.start:
        start = StaticEmbedder(options.start).embed_documents(pieces)
    else:
        start = teacher.reduce(teacher.piece_vectors(options.teacher, pieces), options.dimensions)
    start = start * teacher.weights(pieces, total)[:, None]
    start /= np.linalg.norm(start, axis=1).mean()
    say(f"start: {start.shape[1]} dimensions")

    examples = encode(pairs, Encoder(tokenizer))
    schedule = Schedule(epochs=options.epochs, seed=options.seed)
    table = train(start, examples, schedule, say)
    facts = Facts(
        repositories=len(names),
        pairs=dict(sorted(kinds.items())),
        schedule=schedule,
        start=options.started_from,
        figures=options.figures.read_text(encoding="utf-8") if options.figures else "",
    )
    counts = np.array([total.get(piece, 0) for piece in pieces], np.float64)
    write_model(options.out, table, small_form(table, options.form, counts), tokenizer, facts)
    say(f"written to {options.out}")


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m training", description="Train the embedding model.")
    parser.add_argument("checkouts", type=Path, help="folder with one git checkout per repository")
    parser.add_argument("--work", type=Path, required=True, help="folder for the mined pairs; what is there is kept")
    parser.add_argument("--out", type=Path, default=PACKAGE_MODEL, help="folder of the model and its card")
    parser.add_argument("--held-out", type=Path, nargs="*", default=[], help="folders whose texts nothing may copy")
    parser.add_argument("--start", type=Path, help="start from this static model instead of the teacher")
    parser.add_argument("--teacher", type=Path, help="folder of a BERT-like transformer; all-MiniLM-L6-v2 by default")
    parser.add_argument("--size", type=int, default=SIZE, help="pieces in the vocabulary")
    parser.add_argument("--dimensions", type=int, default=DIMENSIONS)
    parser.add_argument("--form", choices=FORMS, default="int8", help="how the table is written")
    parser.add_argument("--epochs", type=int, default=Schedule().epochs)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2, help="for mining")
    parser.add_argument("--figures", type=Path, help="Markdown with what was measured, for the card")
    options = parser.parse_args()
    given = options.start or options.teacher
    options.started_from = given.name if given else teacher.NAME
    if given is None:
        options.teacher = teacher.package_folder()
    return options


def mine(checkouts: Path, folder: Path, seed: int, processes: int) -> list[str]:
    """Mine what is not mined yet, and return the repositories' names in order."""
    names = sorted(one.name for one in checkouts.iterdir() if (one / ".git").exists())
    missing = [name for name in names if not pairs_file(folder, name).exists()]
    with ProcessPoolExecutor(processes) as pool:
        mined = pool.map(mine_repository, [checkouts / name for name in missing], missing, [seed] * len(missing))
        for name, pairs in zip(missing, mined, strict=True):
            write_pairs(pairs_file(folder, name), pairs)
    return names


def pairs_file(folder: Path, name: str) -> Path:
    return folder / f"{name}.jsonl.gz"


def held_out_texts(folders: Sequence[Path]) -> Iterator[str]:
    for folder in folders:
        for file in folder.rglob("*"):
            if ".git" not in file.parts and file.is_file() and file.stat().st_size <= MOST_HELD_OUT_BYTES:
                yield file.read_text(encoding="utf-8", errors="replace")


def read_tokenizer(folder: Path) -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER_FILE))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def encode(pairs: Sequence[Pair], encoder: Encoder) -> Examples:
    """Return the pairs as the training takes them."""

    def numbers(texts: Sequence[str]) -> NDArray[np.int64]:
        return np.array(labels(texts))

    queries, documents = [pair.query for pair in pairs], [pair.document for pair in pairs]
    return Examples(
        encoder.encode(queries),
        encoder.encode(documents),
        numbers([pair.repository for pair in pairs]),
        numbers(queries),
        numbers(documents),
    )


if __name__ == "__main__":
    main()
