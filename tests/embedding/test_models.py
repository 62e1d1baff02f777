"""Which model a setting means, and what a person reads when it cannot be had."""

import json
import shutil
import socket
import sys
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

from graphrag_mcp.embedding.models import load_embedder, open_second_model
from graphrag_mcp.embedding.static import PACKAGE_MODEL
from graphrag_mcp.errors import ModelUnavailableError
from tests.embedding.onnx_folder import write_onnx_folder

BETA, UNKNOWN = [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]


@pytest.fixture
def no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every connection fails as on a machine that is offline, and fastembed's cache is empty."""

    def refuse(*_: object, **__: object) -> NoReturn:
        raise OSError("Network is unreachable")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path / "cache"))


@pytest.mark.requirement("K-25")
def test_no_name_means_the_model_in_the_package() -> None:
    """Nothing has to be configured."""
    assert load_embedder("").dimensions == 256


@pytest.mark.requirement("K-25")
def test_a_static_folder_is_loaded_from_its_path(tmp_path: Path) -> None:
    """The embedder is pluggable by folder."""
    shutil.copytree(PACKAGE_MODEL, tmp_path / "mine")
    assert load_embedder(str(tmp_path / "mine")).embed_query("anything").shape == (256,)


@pytest.mark.requirement("K-25")
def test_a_static_folder_with_an_onnx_copy_stays_static(tmp_path: Path) -> None:
    """Model2vec's own folders carry both, and the static file is the model."""
    folder = write_onnx_folder(tmp_path / "mine")
    for name in ("model.safetensors", "tokenizer.json"):
        shutil.copy(PACKAGE_MODEL / name, folder)
    assert load_embedder(str(folder)).dimensions == 256


@pytest.mark.parametrize("is_folder", [False, True])
def test_without_the_extra_a_model_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_folder: bool
) -> None:
    """In one sentence, with the command; the package's own model needs no extra."""
    name = str(write_onnx_folder(tmp_path / "tiny")) if is_folder else "BAAI/bge-small-en-v1.5"
    monkeypatch.setitem(sys.modules, "fastembed", None)
    with pytest.raises(ModelUnavailableError) as error:
        open_second_model(name)
    assert str(error.value).startswith(f"embedding_model = {name!r} needs fastembed, which is not installed: run ")
    assert "`uv tool install 'graphrag-mcp[fastembed]'`" in str(error.value)
    assert load_embedder("").dimensions == 256


@pytest.mark.requirement("K-25")
def test_an_onnx_folder_gives_the_mean_of_its_tokens(tmp_path: Path) -> None:
    """A transformer's folder works as it is, pooled by its mean and brought to unit length."""
    embedder = open_second_model(str(write_onnx_folder(tmp_path / "tiny")))
    vectors = embedder.embed_documents(["alpha beta", "beta", "alpha beta beta"])
    expected = np.array([[0.6, 0.8, 0], BETA, np.array([3, 8, 0]) / np.sqrt(73)])
    np.testing.assert_allclose(vectors, expected, atol=1e-6)
    assert vectors.dtype == np.float32
    assert embedder.dimensions == 3


@pytest.mark.requirement("K-25")
def test_an_onnx_folder_is_pooled_as_it_says(tmp_path: Path) -> None:
    """Sentence-transformers' 1_Pooling decides."""
    folder = write_onnx_folder(tmp_path / "tiny", {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False})
    np.testing.assert_allclose(open_second_model(str(folder)).embed_query("beta alpha"), BETA, atol=1e-6)


@pytest.mark.requirement("K-25")
def test_an_onnx_folder_says_what_stands_before_a_question_and_a_text(tmp_path: Path) -> None:
    """Models are trained with prompts; sentence-transformers keeps them beside its other settings."""
    folder = write_onnx_folder(tmp_path / "tiny")
    plain = open_second_model(str(folder))
    (folder / "config_sentence_transformers.json").write_text(
        json.dumps({"prompts": {"query": "beta ", "passage": "alpha ", "document": 1}})
    )
    prompted = open_second_model(str(folder))
    np.testing.assert_allclose(prompted.embed_query("beta"), BETA, atol=1e-6)
    np.testing.assert_allclose(prompted.embed_query("alpha"), plain.embed_query("beta alpha"), atol=1e-6)
    np.testing.assert_allclose(prompted.embed_documents(["beta"]), plain.embed_documents(["alpha beta"]), atol=1e-6)
    assert prompted.fingerprint != plain.fingerprint


@pytest.mark.requirement("K-25")
@pytest.mark.parametrize("said", ["[]", "{}", '{"prompts": null}', '{"prompts": ["query"]}'])
def test_a_folder_without_prompts_has_none(said: str, tmp_path: Path) -> None:
    """So has one that says nothing of use."""
    folder = write_onnx_folder(tmp_path / "tiny")
    plain = open_second_model(str(folder))
    (folder / "config_sentence_transformers.json").write_text(said)
    assert open_second_model(str(folder)).fingerprint == plain.fingerprint


@pytest.mark.requirement("K-25")
@pytest.mark.parametrize("prompt", ["alpha " * 60, "\ud800"])
def test_a_prompt_that_leaves_no_room_or_is_no_text_is_refused(prompt: str, tmp_path: Path) -> None:
    """Before anything is embedded."""
    folder = write_onnx_folder(tmp_path / "tiny")
    (folder / "config_sentence_transformers.json").write_text(json.dumps({"prompts": {"document": prompt}}))
    with pytest.raises(ModelUnavailableError, match="a prompt in config_sentence_transformers"):
        open_second_model(str(folder))


@pytest.mark.requirement("K-25")
def test_a_blank_behind_a_prompt_is_a_part_of_it(tmp_path: Path) -> None:
    """Two words are other vectors than one."""
    folder = write_onnx_folder(tmp_path / "tiny")
    prints = set()
    for prompt in ("", "alpha", "alpha ", "alpha\n"):
        (folder / "config_sentence_transformers.json").write_text(json.dumps({"prompts": {"document": prompt}}))
        prints.add(open_second_model(str(folder)).fingerprint)
    assert len(prints) == 4


@pytest.mark.requirement("K-25")
def test_an_onnx_folder_can_be_loaded_twice(tmp_path: Path) -> None:
    """Fastembed's registry refuses a second registration; we do not pass that on."""
    folder = str(write_onnx_folder(tmp_path / "tiny"))
    first, second = open_second_model(folder), open_second_model(folder)
    assert first.fingerprint == second.fingerprint
    np.testing.assert_allclose(second.embed_query("gamma"), UNKNOWN, atol=1e-6)


@pytest.mark.requirement("004-15")
def test_another_pooling_is_another_fingerprint(tmp_path: Path) -> None:
    """The same weights pooled otherwise make other vectors."""
    mean = open_second_model(str(write_onnx_folder(tmp_path / "mean")))
    first = open_second_model(str(write_onnx_folder(tmp_path / "first", {"pooling_mode_cls_token": True})))
    assert mean.fingerprint != first.fingerprint


@pytest.mark.requirement("004-11")
@pytest.mark.usefixtures("no_network")
def test_a_name_that_nobody_knows_is_reported(tmp_path: Path) -> None:
    """A misspelt name says what is accepted."""
    with pytest.raises(ModelUnavailableError, match=r"'bge-tiny'.*neither an existing folder nor.*a model folder"):
        open_second_model("bge-tiny")


@pytest.mark.requirement("004-11")
@pytest.mark.usefixtures("no_network")
def test_a_known_model_without_network_or_cache_is_reported_at_once() -> None:
    """Offline is an answer within a second, not a hang."""
    with pytest.raises(ModelUnavailableError, match=r"BAAI/bge-small-en-v1\.5.*cache.*cannot be downloaded"):
        open_second_model("BAAI/bge-small-en-v1.5")


@pytest.mark.requirement("004-11")
def test_a_folder_without_a_model_is_reported(tmp_path: Path) -> None:
    """An empty folder says what is missing, and so does one with half of a model."""
    with pytest.raises(ModelUnavailableError, match=r"must contain one ONNX file.*contains: none"):
        open_second_model(str(tmp_path))
    folder = write_onnx_folder(tmp_path / "tiny")
    (folder / "tokenizer.json").unlink()
    with pytest.raises(ModelUnavailableError, match=r"has no tokenizer\.json"):
        open_second_model(str(folder))


@pytest.mark.requirement("004-11")
def test_a_folder_with_two_onnx_files_is_reported(tmp_path: Path) -> None:
    """We do not guess between models."""
    folder = write_onnx_folder(tmp_path / "tiny")
    (folder / "model.onnx").rename(folder / "a.onnx")
    shutil.copy(folder / "a.onnx", folder / "b.onnx")
    with pytest.raises(ModelUnavailableError, match=r"one ONNX file.*a\.onnx, b\.onnx"):
        open_second_model(str(folder))


@pytest.mark.requirement("004-11")
def test_an_onnx_file_that_cannot_run_is_reported(tmp_path: Path) -> None:
    """Onnxruntime's own words are passed on with the folder's name."""
    folder = write_onnx_folder(tmp_path / "tiny")
    (folder / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(ModelUnavailableError, match=r"cannot run model\.onnx"):
        open_second_model(str(folder))
