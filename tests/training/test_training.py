"""From pairs to the files of a model."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from fastembed.text.static_embedding import StaticTextEmbedding
from scipy.sparse import csr_matrix
from tokenizers import Tokenizer

from graphrag_mcp.embedding.static import PACKAGE_MODEL, StaticEmbedder
from tests.training.project import make_project
from training import __main__ as pipeline
from training import contrastive
from training.contrastive import Examples, Schedule, train
from training.pairs import Kind, read_pairs
from training.quantise import FORMS, restore, small_form
from training.vocabulary import choose_pieces, make_tokenizer

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
BENCHMARKED = (
    "flask starlette express redux gin chi guzzle rack trpc alamofire click axum dapper libuv bats-core aeson "
    "telescope.nvim httpx model2vec requests axios cobra gson monolog sinatra serde zod exposed circe plug fmt nvm "
    "xmonad zls pytest sphinx"
)


def random_examples(count: int, pieces: int, seed: int = 0) -> Examples:
    """Return pairs that say the same random pieces, and some others besides."""
    chance = np.random.default_rng(seed)
    shared = chance.random((count, pieces)) < 0.05
    queries, documents = (
        csr_matrix((shared | (chance.random((count, pieces)) < 0.05)).astype(np.float32)) for _ in range(2)
    )
    numbers = np.arange(count)
    return Examples(queries, documents, numbers % 4, numbers, numbers)


def test_the_slope_is_that_of_the_loss() -> None:
    """A step downhill: the numeric slope of the loss is the one that the optimiser gets."""
    examples = random_examples(12, 30)
    table = np.random.default_rng(1).normal(size=(30, 8)).astype(np.float32)
    got: dict[int, np.ndarray] = {}

    class Recorder:
        def __init__(self, table: np.ndarray) -> None:
            self.table = table

        def update(self, rows: np.ndarray, gradient: np.ndarray, rate: float) -> None:
            got.update(zip(rows.tolist(), gradient, strict=True))

    def loss(table: np.ndarray) -> float:
        return contrastive._step(Recorder(table), examples, np.arange(12), 0.5, 0.0)

    loss(table)
    expected = {row: slope.copy() for row, slope in got.items()}
    for row, column in zip(sorted(expected)[::5], range(8), strict=False):
        nudged = [table.copy(), table.copy()]
        nudged[0][row, column] += 1e-2
        nudged[1][row, column] -= 1e-2
        assert expected[row][column] == pytest.approx((loss(nudged[0]) - loss(nudged[1])) / 2e-2, abs=2e-3)


def test_training_brings_pairs_together_and_is_repeatable() -> None:
    examples = random_examples(400, 200)
    start = np.random.default_rng(2).normal(size=(200, 16)).astype(np.float32)
    schedule = Schedule(epochs=4, batch=64)
    losses: list[str] = []
    trained = train(start, examples, schedule, losses.append)
    assert float(losses[-1].split()[-1]) < float(losses[0].split()[-1])
    np.testing.assert_array_equal(trained, train(start, examples, schedule, lambda _: None))
    assert not np.array_equal(trained, train(start, examples, Schedule(epochs=4, batch=64, seed=1), lambda _: None))


def test_twins_are_no_negatives() -> None:
    """Two pairs with the same document: neither's loss may count the other."""
    queries = csr_matrix(np.eye(2, 4, dtype=np.float32))
    documents = csr_matrix(np.array([[0, 0, 1, 0], [0, 0, 1, 0]], np.float32))
    examples = Examples(queries, documents, np.zeros(2, np.int64), np.arange(2), np.zeros(2, np.int64))
    table = np.random.default_rng(3).normal(size=(4, 4)).astype(np.float32)
    loss = contrastive._step(contrastive._RowAdam(table), examples, np.arange(2), 0.1, 0.0)
    assert loss == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_the_small_forms_stand_for_the_table(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.quantise.SHARED_ROWS", 400)
    table = np.random.default_rng(4).normal(size=(500, 32)).astype(np.float32)
    table *= np.linspace(0.1, 5, 500, dtype=np.float32)[:, None]
    counts = np.linspace(1000, 1, 500)
    restored = restore(small_form(table, form, counts))
    lengths = np.linalg.norm(table, axis=1) * np.linalg.norm(restored, axis=1)
    cosines = (table * restored).sum(axis=1) / lengths
    assert cosines.mean() > (0.9 if form == "shared" else 0.9999)


def test_words_of_several_repositories_become_pieces_and_characters_always_are() -> None:
    teacher = Tokenizer.from_file(str(PACKAGE_MODEL / "tokenizer.json"))
    total = {"zorglub": 50, "onlyhere": 900, "session": 10}
    repositories = {"zorglub": 3, "onlyhere": 1, "session": 9}
    pieces = choose_pieces(teacher, total, repositories, 10_000)
    assert {"session", "zorglub", "q", "##q", teacher.model.unk_token} <= set(pieces)
    assert "onlyhere" not in pieces
    assert make_tokenizer(teacher, pieces).encode("parseZorglub", add_special_tokens=False).tokens[-1] == "zorglub"


def test_a_small_training_writes_a_model_that_the_product_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The whole pipeline, from a checkout to a model, which knows the project better than the one it started from."""
    make_project(tmp_path / "checkouts" / "sessions")
    own = make_project(tmp_path / "checkouts" / "code")
    for file in (ROOT / "src" / "graphrag_mcp").rglob("*.py"):
        copy = own / file.relative_to(ROOT / "src")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(file.read_bytes())

    arguments = [str(tmp_path / "checkouts"), "--work", str(tmp_path / "work"), "--out", str(tmp_path / "model")]
    options = ["--start", str(PACKAGE_MODEL), "--size", "6000", "--epochs", "6"]
    monkeypatch.setattr(sys, "argv", ["training", *arguments, *options])
    pipeline.main()

    assert "written to" in capsys.readouterr().out
    trained, start = StaticEmbedder(tmp_path / "model"), StaticEmbedder(PACKAGE_MODEL)
    pairs = [one for one in read_pairs(tmp_path / "work/pairs/code.jsonl.gz") if one.kind is Kind.DOCSTRING]

    def found_first(model: StaticEmbedder) -> float:
        queries = model.embed_documents([pair.query for pair in pairs])
        documents = model.embed_documents([pair.document for pair in pairs])
        return float(((queries @ documents.T).argmax(axis=1) == np.arange(len(pairs))).mean())

    assert len(pairs) > 200
    assert found_first(trained) > found_first(start)
    card = (tmp_path / "model" / "MODEL_CARD.md").read_text()
    assert "| starts from | model, one vector per piece, 256 dimensions |" in card
    assert "all-MiniLM" not in card
    by_fastembed = StaticTextEmbedding("minishlab/potion-base-8M", specific_model_path=str(tmp_path / "model"))
    word = next(iter(by_fastembed.raw_embed(["session"])))
    np.testing.assert_allclose(word, trained.embed_query("session"), atol=1e-6)


def test_no_benchmark_was_trained_on() -> None:
    listed = json.loads((ROOT / "training" / "repositories.json").read_text())
    names = {one["repository"].partition("/")[2].lower() for one in listed}
    assert not names & set(BENCHMARKED.split())
    assert len(names) >= 100
    assert len({one["language"] for one in listed}) >= 15
    assert all(len(one["revision"]) == 40 and one["licence"] for one in listed)
