"""The optional second model: a real one, as small as onnxruntime can run, and one that cannot be had."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from graphrag_mcp.embedding import onnx_models as cross_encoder
from graphrag_mcp.embedding.onnx_models import FastembedCrossEncoder, load_cross_encoder
from graphrag_mcp.errors import ModelUnavailableError
from tests.embedding.onnx_folder import write_cross_encoder_folder


@pytest.mark.requirement("001-03", "K-26")
def test_each_text_gets_a_score_from_0_to_1(tmp_path: Path) -> None:
    """The logistic function of what the model says; here, of how much beta there is."""
    model = FastembedCrossEncoder(str(write_cross_encoder_folder(tmp_path / "model")))
    little, much = model.scores("alpha", ["alpha alpha alpha", "beta beta beta"])
    assert 0.0 < little < much < 1.0
    assert model.scores("alpha", []) == []


def test_the_library_that_runs_models_tells_nobody(tmp_path: Path) -> None:
    """SECURITY.md: nothing leaves the machine. It would write what names the machine before it sends that."""
    command = [sys.executable, "-c", "import graphrag_mcp, onnxruntime; print(onnxruntime.__version__)"]
    home = {name: str(tmp_path) for name in ("HOME", "XDG_CACHE_HOME", "USERPROFILE", "LOCALAPPDATA")}
    assert subprocess.run(command, env={**os.environ, **home}, check=True, capture_output=True).stdout
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.requirement("K-26")
def test_a_model_that_cannot_be_had_is_a_sentence(tmp_path: Path) -> None:
    """Neither a wrong name nor an empty folder is a traceback."""
    with pytest.raises(ModelUnavailableError, match="the cross-encoder no/such-model cannot be loaded"):
        FastembedCrossEncoder("no/such-model")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelUnavailableError, match="empty cannot be loaded"):
        FastembedCrossEncoder(str(tmp_path / "empty"))


def test_without_the_extra_the_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same sentence as for an embedding model."""
    monkeypatch.setitem(sys.modules, "fastembed", None)
    with pytest.raises(ModelUnavailableError, match=r"^cross_encoder_model = 'a/b' needs .*graphrag-mcp\[fastembed\]"):
        FastembedCrossEncoder("a/b")


@pytest.mark.requirement("K-26")
def test_what_cannot_be_had_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second search does not wait for the network again."""
    tried: list[str] = []

    def refuse(name: str) -> None:
        tried.append(name)
        raise OSError("offline")

    monkeypatch.setattr(cross_encoder, "_open", refuse)
    for _ in range(2):
        with pytest.raises(ModelUnavailableError, match="offline"):
            load_cross_encoder("some/absent-model")
    assert tried == ["some/absent-model"]
