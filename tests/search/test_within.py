"""The order of the hits inside a file: by what its definitions say, without any change of the order of files."""

import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from graphrag_mcp.app.local import App
from graphrag_mcp.embedding.models import load_embedder
from graphrag_mcp.embedding.static import PACKAGE_MODEL
from graphrag_mcp.model.files import Category, Symbol, SymbolKind
from graphrag_mcp.model.search import FactorKind, Hit, SearchRequest, StoredFile
from graphrag_mcp.ports import Matrix
from graphrag_mcp.search.ranking.definitions import FILES, ReadSketches, order_within_files
from graphrag_mcp.search.ranking.fusion import Fused
from graphrag_mcp.search.ranking.scored import FileScore, PlaceInFile, Scored
from graphrag_mcp.search.ranking.sketches import CALLEES, FileSketches, SketchCache, sketch
from graphrag_mcp.settings import load_settings

QUERY = SearchRequest("where are expired sessions thrown away", limit=10, include_graph_context=False)
FIRST_AXIS: Matrix = np.array([1.0, 0.0], np.float32)


def _function(name: str, start: int, end: int, outer: str = "") -> Symbol:
    kind = SymbolKind.METHOD if outer else SymbolKind.FUNCTION
    return Symbol(name, f"{outer}.{name}" if outer else name, kind, start, end, f"def {name}(now)")


# ---------------------------------------------------------------- sketches


def test_a_sketch_says_where_a_function_is_its_name_its_signature_and_what_it_calls() -> None:
    """The name counts three times and the signature twice; calls on other lines are not its own."""
    made = sketch(
        [_function("sweep", 5, 9, "Store")], [(4, "before"), (6, "drop"), (8, "drop"), (9, "log"), (10, "after")]
    )
    assert [one.text for one in made] == ["Store sweep sweep sweep def sweep(now) def sweep(now) drop log"]


def test_a_sketch_of_a_type_ends_at_its_first_function() -> None:
    """It names the members; what a function contains has no sketch, since the function has one."""
    type_ = Symbol("Store", "Store", SymbolKind.TYPE, 1, 20, "class Store")
    inner = _function("key", 12, 14, "Store.sweep")
    made = sketch([type_, _function("sweep", 5, 15, "Store"), inner], [])
    assert [(one.symbol.name, one.start_line, one.end_line) for one in made] == [("Store", 1, 4), ("sweep", 5, 15)]
    assert made[0].text == "Store Store Store class Store class Store sweep key"


def test_a_function_that_calls_everything_is_sketched_by_some_of_it() -> None:
    """A long list of names would say nothing of each."""
    (made,) = sketch([_function("all", 1, 999)], [(line, f"call{line}") for line in range(1, 900)])
    assert made.text.split()[-1] == f"call{CALLEES}"


# ---------------------------------------------------------------- the order


def _scored(chunk_id: int, file_id: int, score: float, rank: int) -> Scored:
    file = StoredFile(file_id, f"{file_id}.py", Category.IMPLEMENTATION)
    return Scored(score, Fused(chunk_id, score, {}), FileScore(file), PlaceInFile(rank, 1.0, 1.0))


def _reader(made: Mapping[int, FileSketches]) -> ReadSketches:
    return lambda file_ids: {file_id: made[file_id] for file_id in file_ids}


def test_the_order_inside_files_leaves_the_order_of_files_and_all_scores_alone() -> None:
    """Whatever the sketches say: every place keeps its file and its score, and no hit is lost."""
    chance = random.Random(7)
    for _ in range(50):
        files = [chance.randrange(2 * FILES) for _ in range(60)]
        order = [
            _scored((file_id << 16) + place, file_id, 1 - place / 60, files[:place].count(file_id))
            for place, file_id in enumerate(files)
        ]
        ids = {file_id: [one.fused.chunk_id for one in order if one.file.file_id == file_id] for file_id in files}
        made = {file_id: _sketches(ids[file_id], chance) for file_id in files}
        anew = order_within_files(order, FIRST_AXIS, _reader(made))
        assert [(one.file.file_id, one.score, one.place.rank) for one in anew] == [
            (one.file.file_id, one.score, one.place.rank) for one in order
        ]
        assert sorted(one.fused.chunk_id for one in anew) == sorted(one.fused.chunk_id for one in order)
        assert anew != order


def _sketches(chunk_ids: Sequence[int], chance: random.Random) -> FileSketches:
    """Return a definition on ten lines for each chunk, as near to the first axis as chance has it."""
    symbols = [_function(f"f{chunk_id}", 10 * place + 1, 10 * place + 10) for place, chunk_id in enumerate(chunk_ids)]
    spans = {chunk_id: (10 * place + 1, 10 * place + 10) for place, chunk_id in enumerate(chunk_ids)}
    vectors: Matrix = np.array([[chance.random(), 0.0] for _ in chunk_ids], np.float32)
    return FileSketches.over(sketch(symbols, []), vectors.reshape(-1, 2), spans)


def test_the_hit_that_shows_the_nearest_definition_gets_the_best_place_of_its_file() -> None:
    """Of a definition in two chunks, the one with the better score shows it."""
    order = [_scored(1, 1, 0.50, 0), _scored(9, 2, 0.45, 0), _scored(2, 1, 0.41, 1), _scored(3, 1, 0.40, 2)]
    near, far = _function("near", 11, 30), _function("far", 1, 10)
    vectors: Matrix = np.array([[0.0, 1.0], [1.0, 0.0]], np.float32)
    made = FileSketches.over(sketch([far, near], []), vectors, {1: (1, 10), 2: (11, 20), 3: (21, 30)})
    anew = order_within_files(order, FIRST_AXIS, _reader({1: made}))
    assert [one.fused.chunk_id for one in anew] == [2, 9, 1, 3]
    assert [one.moved and one.moved.by for one in anew] == ["near", None, "far", None]


def test_a_question_for_what_is_done_means_functions_before_types() -> None:
    """The type's words are a little nearer."""
    order = [_scored(1, 1, 0.50, 0), _scored(2, 1, 0.41, 1)]
    kind = replace(_function("Cleaner", 1, 10), kind=SymbolKind.TYPE)
    vectors: Matrix = np.array([[0.5, 0.0], [0.4, 0.0]], np.float32)
    read = _reader(
        {1: FileSketches.over(sketch([kind, _function("clean", 11, 20)], []), vectors, {1: (1, 10), 2: (11, 20)})}
    )
    for asks, first in ((False, 1), (True, 2)):
        anew = order_within_files(order, FIRST_AXIS, read, asks_for_behaviour=asks)
        assert anew[0].fused.chunk_id == first


# ---------------------------------------------------------------- through the application

# The first function says the words of the query, the second one does what it asks for.
STORE = (
    '''def describe(report):
    """Say how many sessions there are."""
    report.line("expired sessions are thrown away elsewhere")
'''
    + "".join(f'    report.line("sessions of kind {number}, expired or not")\n' for number in range(40))
    + """

def discard_expired_sessions(store, now):
"""
    + "".join(f"    remove_if_expired(store, store.slot({number}), now)\n" for number in range(40))
)
FILES_OF_PROJECT = {"src/store.py": STORE, "src/wire.py": "def send(packet):\n    return packet\n"}


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    """A project whose best file has a function that repeats the words of QUERY and one that does what it asks for."""
    yield from _indexed(tmp_path)


def _indexed(folder: Path, files: Mapping[str, str] = FILES_OF_PROJECT, **environ: str) -> Iterator[App]:
    root = folder / "project"
    (root / "src").mkdir(parents=True)
    for path, text in files.items():
        (root / path).write_text(text)
    variables = {"GRAPHRAG_DATA_DIR": str(folder / "data"), "GRAPHRAG_WORKERS": "1", **environ}
    app = App(root, load_settings(root, variables))
    app.index()
    yield app
    app.close()


def _shown(app: App) -> list[Hit]:
    return [hit for hit in app.search(QUERY).primary if hit.chunk.path == "src/store.py"]


def test_the_function_that_does_it_comes_before_the_one_that_says_it(app: App) -> None:
    """Although the text of the other one agrees better with the query."""
    first, second = _shown(app)[:2]
    assert first.fused_score < second.fused_score
    assert (first.chunk.symbol, second.chunk.symbol) == ("discard_expired_sessions", "describe")


def test_the_terms_of_a_hit_that_moved_add_up_to_its_score(app: App) -> None:
    """The explanation names the definition that moved it up."""
    first, second = _shown(app)[:2]
    moved = [factor for hit in (first, second) for factor in hit.factors if factor.name == "order in file"]
    assert [factor.note for factor in moved] == ["discard_expired_sessions", "describe"]
    assert moved[0].value > 0 > moved[1].value
    for hit in (first, second):
        score = hit.fused_score + sum(factor.value for factor in hit.factors if factor.kind is FactorKind.BONUS)
        for factor in hit.factors:
            score *= factor.value if factor.kind is FactorKind.FACTOR else 1.0
        assert hit.score == pytest.approx(score)


def test_with_a_model_of_the_user_the_hits_keep_their_own_order(tmp_path: Path) -> None:
    """The weights were measured with the model in the package; another one may be slow, and its cosines differ."""
    for app in _indexed(tmp_path, GRAPHRAG_EMBEDDING_MODEL=str(PACKAGE_MODEL)):
        first, second = _shown(app)[:2]
        assert first.fused_score > second.fused_score


def test_a_file_points_at_the_definitions_that_do_what_the_query_asks_for(tmp_path: Path) -> None:
    """Although others are nearer, and although their names share no word with the query."""
    asked = "def announce(packet):\n    # delete the outdated records\n    return packet\n\n\n"
    others = "".join(f"def corner{number}(shape):\n    return shape.draw({number})\n\n\n" for number in range(9))
    doing = "def purge_stale_rows(table):\n    for row in table.stale():\n        table.erase_row(row)\n"
    for app in _indexed(tmp_path, {"src/table.py": asked + others + doing}):
        (first, *_) = app.search(SearchRequest("delete the outdated records")).primary
        assert first.focus is not None
        assert first.focus.also_here[0].name == "purge_stale_rows"


class CountingEmbedder:
    """The model in the package, with the number of texts that it was given."""

    def __init__(self) -> None:
        self._model = load_embedder()
        self.fingerprint, self.dimensions = self._model.fingerprint, self._model.dimensions
        self.texts = 0

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        self.texts += len(texts)
        return self._model.embed_documents(texts)

    def embed_query(self, text: str) -> Matrix:
        return self._model.embed_query(text)


def test_a_file_is_sketched_once_until_others_take_its_place(app: App) -> None:
    """Then it is sketched again, with the same result."""
    catalog, embedder = app.stores().catalog, CountingEmbedder()
    first, second = sorted({file.file_id for file in catalog.files([1 << 16, 2 << 16]).values()})
    roomy, narrow = SketchCache(catalog, embedder), SketchCache(catalog, embedder, most=3)
    before = roomy.of([first, second])
    assert embedder.texts == sum(len(one.sketches) for one in before.values()) == 3
    assert roomy.of([second, first]) == before
    assert embedder.texts == 3
    for file_id in (first, second, first, first):
        (again,) = narrow.of([file_id]).values()
        assert again.sketches == before[file_id].sketches
        assert np.allclose(again.vectors, before[file_id].vectors, atol=1e-6)
    assert embedder.texts == 3 + sum(len(before[file_id].sketches) for file_id in (first, second, first))


def test_a_generated_file_is_not_sketched(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """One with very many definitions would take the place of all others."""
    catalog, embedder = app.stores().catalog, CountingEmbedder()
    files = catalog.files([1 << 16, 2 << 16]).values()
    monkeypatch.setattr("graphrag_mcp.search.ranking.sketches.MOST_DEFINITIONS", 1)
    found = SketchCache(catalog, embedder).of([file.file_id for file in files])
    assert {file.path: file.file_id in found for file in files} == {"src/store.py": False, "src/wire.py": True}
    assert embedder.texts == 1
