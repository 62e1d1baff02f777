"""The training data: a text that a person would search with, and the code, or section, that it means."""

import gzip
import json
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

DOCUMENT_CHARACTERS = 1_500  # As long as a chunk.


class Kind(StrEnum):
    """Where the two texts of a pair come from."""

    DOCSTRING = "docstring"  # → the definition without it
    NAME = "name"  # the words of a definition's name and what encloses it → its body without the name
    SIGNATURE = "signature"  # → the body without it
    COMMENT = "comment"  # inside a body → the code below it
    COMMIT = "commit"  # what a commit says → the functions that it changed
    TEST = "test"  # a test's name → the function that it calls
    HEADING = "heading"  # → the section below it
    PATH = "path"  # the words of a file's path → a chunk of it


class Pair(NamedTuple):
    """query → document. `document` has the form in which the product embeds a chunk (`embedding/chunk_texts.py`)."""

    kind: Kind
    repository: str
    path: str
    query: str
    document: str


def write_pairs(file: Path, pairs: Iterable[Pair]) -> None:
    """Write one JSON list a line, compressed; the same pairs make the same bytes."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as raw, gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as packed:
        for pair in pairs:
            packed.write(json.dumps(pair, ensure_ascii=False).encode("utf-8", "replace") + b"\n")


def read_pairs(file: Path) -> Iterator[Pair]:
    """Yield what `write_pairs` wrote."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            kind, *texts = json.loads(line)
            yield Pair(Kind(kind), *texts)
