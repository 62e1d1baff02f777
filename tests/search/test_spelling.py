"""Words of a question in the spelling of another country."""

import pytest

from graphrag_mcp.search.query.understand import respell
from graphrag_mcp.text.words import query_words


def _respelled(text: str, indexed: str) -> str:
    known = set(query_words(indexed))
    return respell(text, known.__contains__)


@pytest.mark.parametrize(
    ("text", "indexed", "expected"),
    [
        ("under which licence is this", "license", "under which license is this"),
        ("Colour of the border", "color border", "Color of the border"),
        ("color of the border", "colour border", "colour of the border"),
        ("how are options serialised", "serialized options", "how are options serialized"),
        ("where is it normalized", "normalise", "where is it normalised"),
        ("the centre of the catalogue", "center catalog", "the center of the catalog"),
        ("a grey artefact", "gray artifact", "a gray artifact"),
    ],
)
def test_a_word_is_spelled_as_the_repository_does(text: str, indexed: str, expected: str) -> None:
    """In either direction."""
    assert _respelled(text, indexed) == expected


@pytest.mark.parametrize(
    ("text", "indexed"),
    [
        ("the licence", "licence license"),  # It has both.
        ("promise rise four", "size"),
        ("the licence", "permission"),
        ("four in our tour", "for or tor"),
        ("`colour` 'colour' \"colour\" src/colour.py --colour=always", "color"),
        ("serialise_all LICENCE colourOf", "serialize_all license color"),  # Names are exact.
    ],
)
def test_other_words_stay(text: str, indexed: str) -> None:
    """A word that is known, and one that is known in no spelling."""
    assert _respelled(text, indexed) == text
