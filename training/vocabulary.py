"""The vocabulary: the words that code and its comments are made of, and pieces for all that is not among them."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tokenizers import Tokenizer

from graphrag_mcp.embedding.token_sums import split_words
from training.pairs import Pair

CONTINUED = "##"
FEWEST_REPOSITORIES = 3  # That say a new word: a name that one project made up helps no other.
FEWEST_CHARACTERS = 3
LONGEST_WORD = 24
_BATCH = 50_000

# `parseHTTPRequest` is to be read as `parse HTTP Request`. It stands before the normaliser that lower-cases.
CAMEL_CASE_SPLIT = {
    "type": "Replace",
    "pattern": {"Regex": "(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"},
    "content": " ",
}


def count_words(pairs: Iterable[Pair], tokenizer: Tokenizer) -> tuple[Counter[str], Counter[str]]:
    """Return how often each word is said, as the tokenizer normalises it, and in how many repositories."""
    written: dict[str, Counter[str]] = {}
    for pair in pairs:
        said = written.setdefault(pair.repository, Counter())
        said.update(split_words(pair.query))
        said.update(split_words(pair.document))
    total: Counter[str] = Counter()
    repositories: Counter[str] = Counter()
    for said in written.values():
        distinct: set[str] = set()
        for word, count in said.items():
            for part in tokenizer.normalizer.normalize_str(word).split():
                total[part] += count
                distinct.add(part)
        repositories.update(distinct)
    return total, repositories


def choose_pieces(
    teacher: Tokenizer, total: Mapping[str, int], repositories: Mapping[str, int], size: int
) -> list[str]:
    """Return the pieces of the new vocabulary, at most `size` of them, in a fixed order.

    First all single characters, so that no word of known characters is left without a piece; then the whole words and
    the teacher's continuations by the number of repositories that say them.
    """
    known = teacher.get_vocab()
    unknown = teacher.model.unk_token
    characters = sorted(piece for piece in known if len(piece.removeprefix(CONTINUED)) == 1 and piece.isascii())
    words = {
        word: count
        for word, count in repositories.items()
        if word in known or (count >= FEWEST_REPOSITORIES and is_word(word))
    }
    used: Counter[str] = Counter()
    rest = [word for word in total if word not in words]
    for start in range(0, len(rest), _BATCH):
        for word, encoding in zip(
            rest[start : start + _BATCH],
            teacher.encode_batch_fast(rest[start : start + _BATCH], add_special_tokens=False),
            strict=True,
        ):
            for piece in set(encoding.tokens):
                used[piece] += repositories[word]
    candidates = Counter(words) + Counter({piece: count for piece, count in used.items() if piece in known})
    ranked = sorted(candidates, key=lambda piece: (-candidates[piece], -total.get(piece, 0), piece))
    return list(dict.fromkeys([unknown, *characters, *ranked]))[:size]


def is_word(text: str) -> bool:
    """Tell whether this can be a word of its own: letters, perhaps with digits at the end (utf8, sha256)."""
    letters = text.rstrip("0123456789")
    return FEWEST_CHARACTERS <= len(text) <= LONGEST_WORD and letters.isalpha() and text.isascii()


def make_tokenizer(teacher: Tokenizer, pieces: Sequence[str]) -> Tokenizer:
    """Return a tokenizer like the teacher's with these pieces, in their order, and camelCase split."""
    form: dict[str, Any] = json.loads(teacher.to_str())
    form["model"]["vocab"] = {piece: row for row, piece in enumerate(pieces)}
    form["added_tokens"] = []
    form["post_processor"] = form["truncation"] = form["padding"] = None
    normalizer = form["normalizer"]
    if CAMEL_CASE_SPLIT not in normalizer.get("normalizers", []):
        form["normalizer"] = {"type": "Sequence", "normalizers": [CAMEL_CASE_SPLIT, normalizer]}
    return Tokenizer.from_str(json.dumps(form))
