"""Another model: the old vectors answer until the new ones are all there."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.embedding import static as local
from graphrag_mcp.embedding.models import load_embedder
from graphrag_mcp.embedding.static import PACKAGE_MODEL
from graphrag_mcp.index import indexer
from graphrag_mcp.model.reports import Progress
from graphrag_mcp.model.search import SearchRequest, SearchResult
from graphrag_mcp.settings import load_settings
from tests.golden.check import CORPUS
from tests.index_contents import assert_same_contents, rows

QUERY = SearchRequest("how is stock allocated to an order")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A fixed corpus, so that no change of the package changes what is found."""
    root = tmp_path / "project"
    shutil.copytree(CORPUS / "stockroom", root / "stockroom")
    return root


@pytest.fixture
def other_model(tmp_path: Path) -> Iterator[Path]:
    """The package's model read in another way, which makes other vectors."""
    folder = tmp_path / "model"
    shutil.copytree(PACKAGE_MODEL, folder)
    (folder / "config.json").write_text("{}")
    yield folder
    load_embedder.__globals__["_package_model"].cache_clear()


def opened(root: Path, model: Path | None = None, data: str = "data") -> App:
    environment = {"GRAPHRAG_DATA_DIR": str(root.parent / data), "GRAPHRAG_WORKERS": "1"}
    return App(root, load_settings(root, environment | ({"GRAPHRAG_EMBEDDING_MODEL": str(model)} if model else {})))


def order(result: SearchResult) -> list[tuple[str, int]]:
    assert result.meta.search_strategy.semantic_enabled
    return [(hit.chunk.path, hit.chunk.start_line) for hit in result.primary]


@pytest.mark.slow
def test_searches_are_answered_with_the_old_vectors_until_the_new_ones_are_there(
    root: Path, other_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files that were found before are found while everything is embedded again."""
    app = opened(root)
    app.index()
    before = order(app.search(QUERY))
    app.close()

    monkeypatch.setattr(indexer, "BATCH_CHUNKS", 5)
    app = opened(root, other_model)
    during: list[list[tuple[str, int]]] = []

    def search(_step: Progress) -> None:
        during.append(order(app.search(QUERY)))

    report = app.index(progress=search)
    assert report.embedded == report.chunks > 0
    assert len(during) > 3
    # How rare a word is counts the old and the new rows, so a place or two may change meanwhile.
    # The order inside a file needs the package's own model, so files are compared.
    files = {path for path, _ in before}
    assert all(len({path for path, _ in found} & files) >= len(files) - 1 for found in during)
    assert rows(app, "SELECT count(*) FROM trees") == [(1,)]

    clean = opened(root, other_model, "clean")
    clean.index()
    assert_same_contents(app, clean)
    assert order(app.search(QUERY)) == order(clean.search(QUERY))
    app.close()
    clean.close()


def test_without_the_old_model_words_and_the_graph_answer(
    root: Path, other_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model that was downloaded is not kept; the search says that its vectors are being made."""
    app = opened(root)
    app.index()
    app.close()
    shutil.rmtree(next((root.parent / "data").glob("*/models")))

    monkeypatch.setattr(indexer, "BATCH_CHUNKS", 5)
    app = opened(root, other_model)
    reasons: set[str] = set()

    def search(step: Progress) -> None:
        if step.files_done < step.files_total:
            found = app.search(QUERY)
            assert found.primary
            reasons.add(found.meta.unavailable["vector"])

    app.index(progress=search)
    assert reasons == {"the vectors are being rebuilt with another model"}
    assert "vector" not in app.search(QUERY).meta.unavailable
    app.close()


def test_a_new_package_keeps_the_old_model_for_a_while(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The index has a copy of the model that made its vectors, and only of that one."""
    app = opened(root)
    app.index()
    (kept,) = (root.parent / "data").glob("*/models/*")
    assert (kept / "model.safetensors").read_bytes() == (PACKAGE_MODEL / "model.safetensors").read_bytes()
    app.close()
    monkeypatch.setattr(local, "_POOLING", b"another way to pool")
    load_embedder.__globals__["_package_model"].cache_clear()
    app = opened(root)
    app.index()
    (now,) = (root.parent / "data").glob("*/models/*")
    assert now.name != kept.name
    app.close()
    load_embedder.__globals__["_package_model"].cache_clear()
