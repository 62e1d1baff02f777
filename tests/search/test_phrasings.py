"""Several phrasings of one question."""

import json
import math
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.model.files import Category
from graphrag_mcp.model.search import FactorKind, ListSource, SearchRequest, StoredFile
from graphrag_mcp.search.enrich import NAMES
from graphrag_mcp.search.ranking.fusion import Fused
from graphrag_mcp.search.ranking.scored import FileScore, Scored, fuse_phrasings
from graphrag_mcp.settings import load_settings
from graphrag_mcp.tools.search_answer import search_text
from graphrag_mcp.tools.table import SEARCH_TOOLS, TOOLS

SOURCES = {
    "shop/stock.py": 'def reserve(article):\n    """Keep an article for a visitor."""\n    return article.count - 1\n',
    "shop/stamp.py": 'def seal(letter):\n    """Close a letter with wax."""\n    return letter.closed()\n',
    "shop/tax.py": 'def vat(price):\n    """Return the value added tax of a price."""\n    return price * 0.2\n',
}
ABOUT_STOCK, ABOUT_WAX = "keep an article for a visitor", "close a letter with wax"
_TIMES = ("retrieval_ms", "phases_ms")


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """Three files about different things."""
    root, data = tmp_path_factory.mktemp("project"), tmp_path_factory.mktemp("data")
    for path, text in SOURCES.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text)
    with closing(App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(data)}))) as opened:
        opened.index()
        yield opened


def _answer(app: App, tool: str, **arguments: Any) -> str:
    call = TOOLS[tool].read(arguments, app.settings, app.root)
    text = TOOLS[tool].write(app.ask(TOOLS[tool].ask, call), call)
    if arguments.get("response_format") != "json":
        return text
    answer = json.loads(text)
    answer["meta"] = {name: value for name, value in answer["meta"].items() if name not in _TIMES}
    return json.dumps(answer)


@pytest.mark.parametrize("tool", SEARCH_TOOLS)
@pytest.mark.parametrize("form", ["concise", "detailed", "json"])
def test_one_phrasing_is_answered_as_a_query(app: App, tool: str, form: str) -> None:
    """It is the same question, wherever it stands, and however often."""
    asked = [{"query": ABOUT_WAX}, {"queries": [ABOUT_WAX]}, {"query": ABOUT_WAX, "queries": [ABOUT_WAX, ABOUT_WAX]}]
    first, *others = (_answer(app, tool, response_format=form, **arguments) for arguments in asked)
    assert others == [first, first]


@pytest.mark.parametrize("tool", SEARCH_TOOLS)
def test_a_result_says_which_phrasings_found_it(app: App, tool: str) -> None:
    """The first place of each is among the results, and an agent sees which words were right."""
    answer = json.loads(_answer(app, tool, query=ABOUT_STOCK, queries=[ABOUT_WAX], response_format="json"))
    found = {hit["path"]: hit for hit in answer["primary"]}
    assert 1 in found["shop/stock.py"]["phrasings"]
    assert 2 in found["shop/stamp.py"]["phrasings"]
    assert "phrasing" in found["shop/stamp.py"]["why"]


def test_the_order_of_the_phrasings_does_not_matter(app: App) -> None:
    """None counts more than another."""

    def ask(first: str, second: str) -> list[tuple[str, float]]:
        hits = app.search(SearchRequest(first, also=(second,))).primary
        return [(hit.chunk.path, hit.score) for hit in hits]

    assert ask(ABOUT_STOCK, ABOUT_WAX) == ask(ABOUT_WAX, ABOUT_STOCK)


def test_another_phrasing_makes_the_answer_certain(app: App, tmp_path: Path) -> None:
    """Nothing matches well only where no phrasing does."""
    for number in range(60):
        (tmp_path / f"part{number}.py").write_text(
            f'def part{number}():\n    """Return part {number} of the wheel."""\n'
        )
    (tmp_path / "wax.py").write_text(SOURCES["shop/stamp.py"])
    settings = load_settings(tmp_path, {"GRAPHRAG_DATA_DIR": str(tmp_path / "data")})
    with closing(App(tmp_path, settings)) as opened:
        opened.index()
        unknown = "how are espresso beans roasted"
        assert opened.search(SearchRequest(unknown)).meta.nothing_matches
        assert not opened.search(SearchRequest(unknown, also=(ABOUT_WAX,))).meta.nothing_matches


def _scored(chunk_id: int, file_id: int, score: float) -> Scored:
    file = StoredFile(file_id, f"file{file_id}.py", Category.IMPLEMENTATION)
    return Scored(score, Fused(chunk_id, 0.5, {ListSource.KEYWORD: chunk_id}), FileScore(file))


def test_a_file_that_two_phrasings_find_is_before_the_best_of_one() -> None:
    """Each phrasing counts by shares of its best score: .8 of both is more than the whole of one."""
    orders = [
        [_scored(1, 1, 10.0), _scored(3, 3, 8.0)],
        [_scored(2, 2, 0.5), _scored(3, 3, 0.4)],
    ]
    assert [one.fused.chunk_id for one in fuse_phrasings(orders)] == [3, 1, 2]


def test_many_weak_hits_of_a_file_are_no_reason() -> None:
    """A file counts by its best hit in each phrasing, or large files would win."""
    weak = [_scored(10 + number, 10, 0.3) for number in range(8)]
    orders = [[_scored(1, 1, 1.0), *weak], [_scored(1, 1, 1.0), *weak]]
    assert fuse_phrasings(orders)[0].fused.chunk_id == 1


def test_the_terms_of_a_fused_score_make_up_the_score() -> None:
    """The shares of the file in each phrasing are added, and multiplied with the place of the chunk in the file."""
    orders = [[_scored(1, 1, 2.0), _scored(2, 1, 1.0)], [_scored(3, 3, 1.0), _scored(2, 1, 0.9)], []]
    for scored in fuse_phrasings(orders):
        added = sum(term.value for term in scored.terms or () if term.kind is FactorKind.TERM)
        factors = math.prod(term.value for term in scored.terms or () if term.kind is FactorKind.FACTOR)
        assert math.isclose(scored.score, added * factors)


def test_an_unsure_answer_ends_with_names_for_the_next_phrasing(tmp_path: Path) -> None:
    """They are written as in the code, say more than the question, and are of no place that is shown."""
    words = ("amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath", "inlet", "jetty")
    for number, word in enumerate(words * 6):
        name = f"Turn{word.title()}{number}"
        (tmp_path / f"{word}{number}.py").write_text(f'def {name}():\n    """Turn the wheel of the {word}."""\n')
    settings = load_settings(tmp_path, {"GRAPHRAG_DATA_DIR": str(tmp_path / "data")})
    with closing(App(tmp_path, settings)) as opened:
        opened.index()
        call = TOOLS["graphrag_hybrid_search"].read({"query": "why does the wheel squeak loudly"}, settings, tmp_path)
        result = TOOLS["graphrag_hybrid_search"].ask(opened, call)
        (line,) = [
            line for line in search_text(result, call).splitlines() if line.startswith("Names in this repository")
        ]
        named = [pair.split(" ") for pair in line.partition(": ")[2].split(", ")]
        assert all(place == f"{name[4:].lower()}.py:1" for name, place in named)
        names = [name for name, _ in named]
        assert search_text(result, call).endswith(line)
        assert len(names) == NAMES
        assert not set(names) & {hit.chunk.symbol for hit in (*result.primary, *result.runner_up)}
        certain = opened.search(SearchRequest("TurnAmber0"))
        assert certain.meta.near_names == {}
