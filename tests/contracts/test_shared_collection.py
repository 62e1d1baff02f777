"""Projects that share a collection: each ranks as it does alone."""

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from graphrag_mcp.model.scope import Scope
from tests.contracts.conftest import Backend, Source, _Local, _on_servers
from tests.golden.check import CORPUS
from tests.servers.connections import open_qdrant

CHUNK_WORDS = 160
TIMES = 10
QUERIES = 20


def _cut(words: Sequence[str]) -> list[str]:
    return [" ".join(words[start : start + CHUNK_WORDS]) for start in range(0, len(words), CHUNK_WORDS)]


def _sources() -> dict[str, list[str]]:
    """Return the words of each file of a program."""
    files = sorted((CORPUS / "stockroom").rglob("*.py"))
    return {str(file.relative_to(CORPUS)): re.findall(r"[a-z]+", file.read_text().lower()) for file in files}


def _other_project(words_of: Mapping[str, Sequence[str]]) -> list[Source]:
    """Return ten times as many chunks, in which the words that are rare here are common, and the other way round."""
    ranked = [word for word, _ in Counter(word for words in words_of.values() for word in words).most_common()]
    swapped = dict(zip(ranked, reversed(ranked), strict=True))
    choice = random.Random(1)
    texts = [[swapped[word] for word in words] for words in words_of.values()]
    found = []
    for number in range(TIMES):
        for place, words in enumerate(texts):
            mixed = choice.sample(words, len(words))
            found.append(Source(f"other_{number}_{place}.py", _cut(mixed)))
    return found


def _overlap(one: Backend, other: Backend, queries: Sequence[Sequence[str]]) -> float:
    """Return the mean share of the ten best that both lists have."""
    shares = []
    for terms in queries:
        lists = []
        for backend in (one, other):
            found = backend.keywords.search(terms, 10, Scope())
            lists.append(set(backend.places([hit.chunk_id for hit in found])))
        shares.append(len(lists[0] & lists[1]) / max(len(lists[0]), 1))
    return sum(shares) / len(shares)


@pytest.mark.parametrize("alone", [False, True], ids=["beside an index", "servers alone"])
def test_a_project_ten_times_as_large_does_not_change_the_keyword_list(tmp_path: Path, alone: bool) -> None:
    """The ten best by keywords are at least .93 those of the embedded index."""
    qdrant, words_of = open_qdrant(), _sources()
    (tmp_path / "large").mkdir()
    small, large = _Local(tmp_path), _Local(tmp_path / "large")
    with closing(small.database), closing(large.database):
        _on_servers(large, qdrant, None, alone=False).write(_other_project(words_of))
        copied = _on_servers(small, qdrant, None, alone=alone)
        copied.write([Source(path, _cut(words)) for path, words in words_of.items()])
        choice = random.Random(2)
        chunks = [text.split() for words in words_of.values() for text in _cut(words)]
        queries = [sorted(set(choice.sample(words, 5))) for words in chunks if len(words) >= 20]
        queries = choice.sample(queries, QUERIES)
        assert _overlap(small.backend(), copied, queries) >= 0.93
