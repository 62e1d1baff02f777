"""The model in the package: what it answers, what it is made of, and that it needs nothing else."""

import hashlib
import re
import shutil
import socket
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
from fastembed.text.static_embedding import StaticTextEmbedding
from safetensors.numpy import load_file

from graphrag_mcp.embedding.static import PACKAGE_MODEL, StaticEmbedder
from graphrag_mcp.embedding.token_sums import MAX_CHARACTERS, split_words
from graphrag_mcp.errors import ModelUnavailableError
from graphrag_mcp.ports import Embedder

TEXTS = [
    "def parseHTTPRequest(self, raw: bytes) -> Request:",
    "how are routes registered",
    "routes = {}  # how are routes registered, how",
    "naïve façade größe — 日本語 🙂",
    "x" * 101,
    "",
    "{[()]};",
]


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return StaticEmbedder(PACKAGE_MODEL)


@pytest.fixture(scope="module")
def by_fastembed() -> Any:
    return StaticTextEmbedding("minishlab/potion-base-8M", specific_model_path=str(PACKAGE_MODEL))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> StaticEmbedder:
    """The same model, of which nothing says that counts are damped, as of any other model2vec folder."""
    folder = tmp_path_factory.mktemp("plain") / "model"
    shutil.copytree(PACKAGE_MODEL, folder)
    (folder / "config.json").write_text("{}")
    return StaticEmbedder(folder)


@pytest.mark.requirement("K-25")
def test_documents_get_fastembeds_own_vectors_of_their_words(plain: StaticEmbedder, by_fastembed: Any) -> None:
    """Counting words instead of tokenising every text changes nothing but the speed."""
    texts = [text for text in TEXTS if text.isascii()]
    expected = by_fastembed.raw_embed([" ".join(split_words(text)) for text in texts])
    np.testing.assert_allclose(plain.embed_documents(texts), expected, atol=1e-6)


@pytest.mark.requirement("K-25")
def test_a_word_said_often_counts_by_its_logarithm(embedder: Embedder, by_fastembed: Any) -> None:
    """What the model was trained with; said three times, a word counts log 4 and not 3."""
    tables = load_file(PACKAGE_MODEL / "model.safetensors")
    pieces = [by_fastembed.tokenizer.token_to_id(word) for word in ("session", "store")]
    session, store = (tables["embeddings"][piece] * tables["weights"][piece] for piece in pieces)
    expected = np.log(4) * session + np.log(2) * store
    vector = embedder.embed_query("session session store session")
    np.testing.assert_allclose(vector, expected / np.linalg.norm(expected), atol=1e-6)


@pytest.mark.requirement("004-15")
def test_a_model_that_counts_otherwise_is_another_model(plain: StaticEmbedder, embedder: Embedder) -> None:
    """The way of counting makes other vectors, so it is part of the fingerprint."""
    assert plain.fingerprint != embedder.fingerprint


@pytest.mark.requirement("K-25")
def test_a_word_with_a_strange_character_is_read_without_it(embedder: Embedder) -> None:
    """What no piece holds is skipped, and the rest of the word still counts."""
    np.testing.assert_allclose(embedder.embed_query("session🙂"), embedder.embed_query("session"), atol=1e-6)
    np.testing.assert_allclose(embedder.embed_query("caché🙂"), embedder.embed_query("cache"), atol=1e-6)
    assert not embedder.embed_query("🙂").any()


@pytest.mark.requirement("K-25")
def test_a_query_and_a_document_with_the_same_text_have_the_same_vector(embedder: Embedder) -> None:
    """Questions and chunks live in one space."""
    for text, document in zip(TEXTS, embedder.embed_documents(TEXTS), strict=True):
        np.testing.assert_allclose(embedder.embed_query(text), document, atol=1e-6)


@pytest.mark.requirement("K-25")
def test_vectors_are_contiguous_float32_of_unit_length(embedder: Embedder) -> None:
    """What the vector index relies on, so that a product is a cosine."""
    vectors = embedder.embed_documents(TEXTS[:4])
    assert vectors.dtype == np.float32
    assert vectors.flags.c_contiguous
    assert vectors.shape == (4, embedder.dimensions)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert embedder.embed_query(TEXTS[0]).shape == (embedder.dimensions,)


@pytest.mark.requirement("004-11")
def test_a_text_without_a_known_word_has_a_zero_vector(embedder: Embedder) -> None:
    """Nothing to embed is not an error, and is near to nothing."""
    assert not embedder.embed_documents(["", "{[()]};", " \t\n", "x" * 101]).any()
    assert not embedder.embed_query("?!").any()


@pytest.mark.requirement("004-08")
def test_no_text_gives_no_vector(embedder: Embedder) -> None:
    """An empty batch keeps its shape."""
    assert embedder.embed_documents([]).shape == (0, embedder.dimensions)


@pytest.mark.requirement("004-01")
def test_camel_case_is_read_as_words(embedder: Embedder) -> None:
    """`parseHTTPRequest` is about parsing an HTTP request."""
    np.testing.assert_allclose(
        embedder.embed_query("parseHTTPRequest"), embedder.embed_query("parse http request"), atol=1e-6
    )


@pytest.mark.requirement("K-16")
def test_a_vector_does_not_depend_on_what_was_embedded_before() -> None:
    """Unchanged text keeps its vector through every run."""
    fresh, used = StaticEmbedder(PACKAGE_MODEL), StaticEmbedder(PACKAGE_MODEL)
    used.embed_documents([f"word{number} {number}" for number in range(3000)])
    np.testing.assert_array_equal(fresh.embed_documents(TEXTS[:1]), used.embed_documents(TEXTS[:1]))


@pytest.mark.requirement("K-25")
def test_more_words_than_are_kept_give_the_same_vectors(embedder: Embedder) -> None:
    """The words kept are bounded, and forgetting them is invisible."""
    texts = [" ".join(f"q{number * 100 + i}" for i in range(100)) for number in range(800)]
    vectors = embedder.embed_documents(texts)
    alone = [StaticEmbedder(PACKAGE_MODEL).embed_query(texts[0]), StaticEmbedder(PACKAGE_MODEL).embed_query(texts[-1])]
    np.testing.assert_allclose(vectors[[0, -1]], alone, atol=1e-6)


@pytest.mark.requirement("004-12")
def test_a_huge_text_is_read_to_a_bound(embedder: Embedder) -> None:
    """One line of megabytes costs no more than the bound."""
    start = "alpha " * (MAX_CHARACTERS // 6)
    np.testing.assert_array_equal(
        embedder.embed_documents([start + " " * 10 + "beta " * 100_000]), embedder.embed_documents([start])
    )


@pytest.mark.requirement("004-01")
def test_a_question_is_nearer_to_its_answer_than_to_other_code(embedder: Embedder) -> None:
    """The vectors carry meaning."""
    question = embedder.embed_query("where is the password checked")
    near, far = embedder.embed_documents(["def verify_credentials(user, secret)", "def draw_circle(canvas, radius)"])
    assert question @ near > question @ far + 0.1


@pytest.mark.requirement("K-25")
def test_it_works_without_network_and_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No socket is opened and no cache folder is made."""

    def refuse(*_: object) -> NoReturn:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    before = sorted(PACKAGE_MODEL.iterdir())
    assert StaticEmbedder(PACKAGE_MODEL).embed_query("where is the password checked").any()
    assert sorted(PACKAGE_MODEL.iterdir()) == before
    assert not list(tmp_path.iterdir())


@pytest.mark.requirement("004-15")
def test_the_fingerprint_follows_the_weights_and_the_tokenizer(tmp_path: Path) -> None:
    """Another model means other vectors, however little it differs."""
    fingerprints = {StaticEmbedder(PACKAGE_MODEL).fingerprint}
    for changed in ("model.safetensors", "tokenizer.json"):
        folder = tmp_path / changed
        shutil.copytree(PACKAGE_MODEL, folder)
        content = bytearray((folder / changed).read_bytes())
        content[-1] ^= 1
        (folder / changed).write_bytes(content)
        fingerprints.add(StaticEmbedder(folder).fingerprint)
    assert len(fingerprints) == 3


@pytest.mark.requirement("004-15")
def test_the_fingerprint_does_not_depend_on_the_place(tmp_path: Path) -> None:
    """An upgrade or a move of the environment re-embeds nothing."""
    shutil.copytree(PACKAGE_MODEL, tmp_path / "elsewhere")
    assert StaticEmbedder(tmp_path / "elsewhere").fingerprint == StaticEmbedder(PACKAGE_MODEL).fingerprint


@pytest.mark.requirement("K-25")
def test_the_model_card_names_the_files_as_they_are() -> None:
    """The card's hashes are those of the weights and the tokenizer beside it."""
    card = (PACKAGE_MODEL / "MODEL_CARD.md").read_text()
    named = dict(re.findall(r"\| `([\w.]+)` \| `([0-9a-f]{64})` \|", card))
    assert named.keys() == {"model.safetensors", "tokenizer.json"}
    assert named == {name: hashlib.sha256((PACKAGE_MODEL / name).read_bytes()).hexdigest() for name in named}


@pytest.mark.requirement("K-25")
def test_the_model_fits_into_a_wheel_of_ten_megabytes() -> None:
    """Weights and tokenizer have five megabytes."""
    assert sum(file.stat().st_size for file in PACKAGE_MODEL.iterdir()) <= 5_000_000


@pytest.mark.requirement("004-11")
@pytest.mark.parametrize("content", [b"", b'\x08\0\0\0\0\0\0\0{"a": 1}', b"\xff" * 64, b"\x04\0\0\0\0\0\0\0null"])
def test_a_damaged_model_is_named_with_a_next_step(tmp_path: Path, content: bytes) -> None:
    """A model that cannot be read is a sentence, not a traceback."""
    (tmp_path / "tokenizer.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(content)
    with pytest.raises(ModelUnavailableError, match=f"{tmp_path}.*model.safetensors.*GRAPHRAG_EMBEDDING_MODEL"):
        StaticEmbedder(tmp_path)


@pytest.mark.requirement("004-11")
def test_weights_that_only_fastembed_can_reject_are_named_at_the_first_text(tmp_path: Path) -> None:
    """A broken tokenizer surfaces as the same error, one step later."""
    shutil.copy(PACKAGE_MODEL / "model.safetensors", tmp_path)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelUnavailableError, match=str(tmp_path)):
        StaticEmbedder(tmp_path).embed_query("anything")


def test_texts_that_share_their_beginning_get_the_vectors_they_get_alone() -> None:
    """What two texts share is split once, and changes neither vector."""
    embedder = StaticEmbedder(PACKAGE_MODEL)
    assert isinstance(embedder, StaticEmbedder)
    pairs = [
        ("session store", "session store\n\ndef save(self): pass"),
        ("", "\n\nx = 1"),
        ("only a topic", "only a topic"),
    ]
    topics, fulls = embedder.embed_extended(pairs)
    np.testing.assert_allclose(topics, embedder.embed_documents([topic for topic, _ in pairs]), atol=1e-6)
    np.testing.assert_allclose(fulls, embedder.embed_documents([full for _, full in pairs]), atol=1e-6)
