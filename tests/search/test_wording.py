"""What a chunk has of a question's own wording."""

import time
from collections.abc import Mapping
from pathlib import Path
from string import ascii_lowercase

import pytest

from graphrag_mcp.model.search import SearchRequest, StoredChunk
from graphrag_mcp.search import gather
from graphrag_mcp.search.ranking.bonuses import Wording, compare_wording
from graphrag_mcp.text.words import query_words
from tests.fakes import make_chunk
from tests.indexed import indexed


def compared(question: str, text: str, kind: str = "function", *, asks_for_behaviour: bool = True) -> Wording | None:
    """Return what a chunk with a text has of a question whose words are equally rare."""
    chunks: Mapping[int, StoredChunk] = {1: make_chunk(text=text, kind=kind, symbol="", signature="")}
    rarity = dict.fromkeys(query_words(question), 1.0)
    return compare_wording(question, rarity, chunks, asks_for_behaviour=asks_for_behaviour).get(1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("the port of a socket", 0.5),
        ("portOfSocket()", 0.5),
        ("socket_port = HTTPPort(Socket)", 0.5),
        ("SOCKETPort", 0.5),
        ("SOCKETPORT", 0.0),
        ("import sockets", 0.0),
        ("report, ports, SOCKETS", 0.0),
        ("", 0.0),
        ("\u0130 port socket", 0.5),  # A letter that is longer in lower case.
    ],
)
def test_words_are_those_of_identifiers_and_whole(text: str, words: float) -> None:
    """A part of another word is none, and no other form of it. Two words are half of what is enough."""
    wording = compared("port socket", text)
    assert wording and wording.words == pytest.approx(words)


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("a signed cookie is removed later", 1.0),
        ("cookie.signed: removed, later", 1.0),
        ("removed, as said above, signed_cookie", 1 / 3),
        ("signed by the server whose only cookie is later removed", 2 / 3),
        ("signed\n\n\n" + "x" * 40 + " cookie " + "x" * 40 + " removed", 0.0),
    ],
)
def test_neighbours_stay_neighbours_in_either_order(text: str, pairs: float) -> None:
    """Within a few characters: in a sentence, a name or a call."""
    wording = compared("signed cookie removed later", text)
    assert wording and wording.pairs == pytest.approx(pairs)


def test_what_is_done_is_done_by_functions() -> None:
    """Of other questions the neighbours count, in whatever a chunk is."""
    text, question = "the junk prefix", "how is the junk prefix of messages removed"
    assert compared(question, text) == Wording(pytest.approx(1 / 2), pytest.approx(1 / 3))
    assert compared(question, text, "type") is None
    assert compared(question, text, "type", asks_for_behaviour=False) == Wording(0.0, pytest.approx(1 / 3))


@pytest.mark.parametrize("question", ["socket", "the", "12 34", "", "socket " + "and then " * 50])
def test_one_word_is_no_wording(question: str) -> None:
    """It is a name, for which definitions are looked up."""
    assert compared(question, "socket then") is None


def test_no_text_takes_long() -> None:
    """Of a pasted question the first words are looked for, and each in a few places."""
    question = " ".join(f"{first}{second}q" for first in ascii_lowercase for second in ascii_lowercase)
    started = time.process_time()
    assert compared(question, "aaq abq " * 100_000) and compared(question, "aaqabq" * 100_000)
    assert time.process_time() - started < 5


def test_the_function_with_the_words_of_the_question_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before one that repeats its rarest word in other forms; the factor is explained, and can be left out."""
    files = {
        "lists.py": "def strip(text):\n    # prefixes, prefixed, prefixing\n    return prefixes(prefixed(text))\n",
        "other.py": "def clean(data):\n    # remove the junk prefix\n    return data[4:]\n",
    }
    question = SearchRequest("how is the junk prefix removed")
    with indexed(tmp_path, files) as app:
        best = app.search(question).primary[0]
        assert best.chunk.path == "other.py"
        assert [factor.value for factor in best.factors if factor.name == "wording"] > [0]
        with monkeypatch.context() as patch:
            patch.setattr(gather, "compare_wording", lambda *_, **__: {})
            without = app.search(question).primary
    assert not [factor for hit in without for factor in hit.factors if factor.name == "wording"]
    assert without[0].score < best.score
