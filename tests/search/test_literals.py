"""What a question writes as it stands in the code is found there, where it is defined before where it is used."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.model.files import Category
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import Hit, LiteralPlace, SearchRequest
from graphrag_mcp.search.literals import find_places
from graphrag_mcp.search.query.literals import Literal, literals, message_runs
from graphrag_mcp.search.query.understand import clauses, understand, understand_apart
from graphrag_mcp.search.ranking.bonuses import literal_bonuses
from graphrag_mcp.search.ranking.weights import Weights
from graphrag_mcp.settings import RetrievalSettings
from graphrag_mcp.tools.excerpts import why
from tests.indexed import indexed

PROSE = "".join(
    f'def straw_{name}(limit):\n    """Return the {name} limit of a list with a default."""\n    return limit\n\n\n'
    for name in ("upper", "lower", "outer", "inner")
)
FILES = {
    "src/limit.py": PROSE,
    "src/list_limit.py": PROSE.replace("straw", "hay"),
    "src/config.py": 'SETTINGS = []\n\n\ndef declare(add):\n    add("list-max-pack-entries", 128)\n',
    "src/pack.py": 'def fits(settings, entries):\n    return entries <= settings.get("list-max-pack-entries")\n',
    "src/range.py": (
        "def check(value, low, high):\n    if not low <= value <= high:\n"
        '        raise ValueError(f"{value} does not lie between the bounds {low} and {high}")\n'
    ),
    "tests/test_range.py": (
        'def test_range(run):\n    assert run("--level", "11") == "11 does not lie between the bounds 0 and 10"\n'
    ),
    "src/options.py": 'def add(option):\n    option("--no-straw", help="leave it out")\n',
    "server.conf": "timeout 3\nlist-max-pack-entries 128\n",
    "docs/limits.md": "# Limits\n\nlist-max-pack-entries: the limit. 5 does not lie between the bounds 1 and 3.\n",
}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """An index of FILES."""
    with indexed(tmp_path_factory.mktemp("literals"), FILES) as app:
        yield app


def _ask(app: App, query: str) -> list[Hit]:
    return list(app.search(SearchRequest(query, limit=10)).primary)


def _with_literal(hits: list[Hit]) -> list[str]:
    return [hit.chunk.path for hit in hits if any(factor.name == "literal" for factor in hit.factors)]


@pytest.mark.parametrize("query", ["what is the default limit of list-max-pack-entries", "list-max-pack-entries"])
def test_a_key_is_found_where_it_gets_its_default(app: App, query: str) -> None:
    """The declaration and the configuration come first, then a use, and then a document."""
    hits = _ask(app, query)
    assert [hit.chunk.path for hit in hits[:2]] == ["src/config.py", "server.conf"]
    assert _with_literal(hits) == ["src/config.py", "server.conf", "src/pack.py", "docs/limits.md"]


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("src/table.c", '    { .name = "max-straw-rows", .type = NUMBER },'),
        ("src/table.ts", "  { key: 'max-straw-rows', kind: 'number' },"),
        ("src/Table.java", '  @JsonProperty("max-straw-rows") int rows;'),
        ("src/table.rs", '    #[arg(long = "max-straw-rows")]'),
        ("src/table.go", '	Rows int `json:"max-straw-rows,omitempty"`'),
    ],
)
def test_what_an_initialiser_an_annotation_or_a_tag_names_is_defined_there(
    tmp_path: Path, path: str, line: str
) -> None:
    """The other places read it."""
    uses = {f"src/use_{n}.py": f'def use_{n}(settings):\n    return settings.get("max-straw-rows")\n' for n in range(4)}
    with indexed(tmp_path, {path: f"{line}\n", **uses}) as app:
        hit = next(hit for hit in _ask(app, "where is max-straw-rows set") if hit.chunk.path == path)
        (factor,) = (factor for factor in hit.factors if factor.name == "literal")
        used = [hit for hit in _ask(app, "where is max-straw-rows set") if hit.chunk.path != path]
        others = [factor.value for hit in used for factor in hit.factors if factor.name == "literal"]
    assert factor.value > 3 * max(others, default=0.0)


def test_the_answer_says_what_a_result_contains(app: App) -> None:
    """A reader sees why a place comes first."""
    assert "contains `list-max-pack-entries`" in why(_ask(app, "list-max-pack-entries")[0])


@pytest.mark.parametrize(
    "message",
    [
        "Error: invalid value for '--level': 11 does not lie between the bounds 0 and 10.",
        "ValueError: 0x2f does not lie between the bounds 1.5 and 2.5",
        "what does `7 does not lie between the bounds 0 and 5` mean?",
    ],
)
def test_a_pasted_message_is_found_where_it_is_composed(app: App, message: str) -> None:
    """Its values are not those of the format string; the test that repeats the message comes after the code."""
    paths = [hit.chunk.path for hit in _ask(app, message)]
    assert paths[0] == "src/range.py"
    assert "tests/test_range.py" in paths


def test_a_flag_is_no_negative_word(app: App) -> None:
    """A flag of two common words is looked up with its hyphens."""
    assert _ask(app, "what happens with --no-straw")[0].chunk.path == "src/options.py"


def test_words_in_a_row_count_only_in_strings_of_code(app: App) -> None:
    """A question that repeats a docstring or a document gets no bonus for it."""
    assert _with_literal(_ask(app, "how is the upper limit of a list with a default returned")) == []


def test_a_literal_in_many_lines_identifies_none(tmp_path: Path) -> None:
    """With more than twenty lines, the order is that of the other signals."""
    lines = "".join(f'    get("straw-max-size", {line})\n' for line in range(7))
    files = {f"uses_{number}.py": f"def uses_{number}(get):\n{lines}" for number in range(3)}
    with indexed(tmp_path, files) as app:
        assert _with_literal(_ask(app, "straw-max-size")) == []


def test_a_secret_is_not_confirmed_by_its_text(tmp_path: Path) -> None:
    """A literal is compared with masked text: a search cannot tell whether a guessed secret is right."""
    secret = "AKIA" + "QWERTYUIOPASDFGH"
    with indexed(tmp_path, {"keys.py": f'ACCESS_KEY = "{secret}"\n'}) as app:
        assert _with_literal(_ask(app, f'where is "{secret}"')) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("default of max_width", Literal("max_width")),
        ("what sets server.port?", Literal("server.port")),
        ("HTTP_PROXY is ignored", Literal("HTTP_PROXY")),
        ("run with --no-cache", Literal("--no-cache")),
        ("hash-max-pack-entries", Literal("hash-max-pack-entries")),
        ("the real-time adapter", Literal("real-time", is_compound=True)),
        ("who raises `no such host`", Literal("no such host")),
        ('who raises "no such host"', Literal("no such host")),
    ],
)
def test_literals_are_recognised_by_their_form(text: str, found: Literal) -> None:
    """Keys, flags, variables and quoted text; two plain words with a hyphen may be English."""
    assert literals(text) == (found,)


@pytest.mark.parametrize(
    "text",
    ["how are routes registered", "since 1.2.3", "e.g. a list", "it's the user's", "src/a/b.c", 'where is "if it is"'],
)
def test_plain_words_versions_and_paths_are_no_literals(text: str) -> None:
    """They have look-ups of their own, or none."""
    assert literals(text) == ()


def test_a_message_is_cut_at_its_values() -> None:
    """Quoted text, numbers, paths and qualified names are values; question words alone are no message."""
    runs = message_runs("pkg.Error: no route exists for name 'x' at /a/b/c after 30s: the one of them")
    assert [run.text for run in runs if run.words == run.segment] == ["no route exists for name"]


def test_a_quoted_message_is_found_by_what_stands_between_two_values(tmp_path: Path) -> None:
    """Also where the values are plain words, and the test that repeats them has more of it."""
    files = {
        "src/limits.js": "export const tooLong = (stream, most) => `The ${stream} was larger than ${most} letters`;\n",
        "tests/limits.test.js": "test('it', () => expect(run()).toBe('The output was larger than many letters'));\n",
        "src/larger.js": "// which is larger than which\nexport const larger = (one, other) => one > other;\n",
    }
    with indexed(tmp_path, files) as app:
        hits = _ask(app, 'it says "The output was larger than ... letters" where does that come from')
    assert hits[0].chunk.path == "src/limits.js"
    assert [run.text for run in message_runs("'The output was larger than'") if len(run.words) == 3] == [
        "The output was", "output was larger", "was larger than",
    ]  # fmt: skip


def test_two_words_in_capitals_are_a_message() -> None:
    """A log shouts; two other words stand together by chance."""
    assert [run.text for run in message_runs("WORKER TIMEOUT (pid:4711)")] == ["WORKER TIMEOUT"]
    assert message_runs("worker timeout (pid:4711)") == ()


def test_a_rarer_literal_and_two_literals_count_more() -> None:
    """The fewer lines contain a literal, the more it says; a chunk with two comes before one with the better."""
    places = [LiteralPlace(1, "a", True, 1), LiteralPlace(2, "b", True, 20), LiteralPlace(3, "c", False, 1)]
    places += [LiteralPlace(4, "a", True, 1), LiteralPlace(4, "c", False, 1)]
    values = {
        chunk_id: bonus.value
        for chunk_id, bonus in literal_bonuses(understand("a, b or c"), places, (), Weights()).items()
    }
    assert sorted(values, key=values.__getitem__, reverse=True) == [4, 1, 2, 3]


def test_a_restricted_search_looks_literals_up_where_it_searches(app: App) -> None:
    """The places outside the scope are neither found nor counted."""
    request = SearchRequest("list-max-pack-entries", limit=10, scope=Scope(categories=frozenset({Category.CONFIG})))
    assert _with_literal(list(app.search(request).primary)) == ["server.conf"]


def test_a_question_is_no_message(app: App) -> None:
    """Of a question in plain words only runs of telling words are looked up, so that it takes no longer."""
    assert message_runs("where is the limit of a list set") == ()
    assert message_runs("in watch mode, how is a change noticed") == ()
    assert message_runs("failed to open: how is it handled") == ()
    assert [run.text for run in message_runs("failed to open: 'x'")] == ["failed to open"]
    assert [run.text for run in message_runs("where is no such host reported")] == ["no such host reported"]


def test_a_text_that_holds_the_question_does_not_answer_it(tmp_path: Path) -> None:
    """A test of this very search may ask it."""
    question = "how are heavy parcels weighed twice"
    files = {
        "tests/test_search.py": f'QUESTION = "{question}"\n',
        "src/scales.py": "def weigh_twice(parcel):\n    # Heavy parcels are weighed a second time.\n    return 2\n",
    }
    with indexed(tmp_path, files) as app:
        hits = app.search(SearchRequest(question)).primary
    assert hits[0].chunk.path == "src/scales.py"
    assert _with_literal(list(hits)) == []


def test_a_text_that_holds_one_of_two_questions_does_not_answer_it(tmp_path: Path) -> None:
    """Whatever else a clause is compared with."""
    parts = clauses("how are boxes glued, and where are heavy parcels weighed twice")
    with indexed(tmp_path, {"tests/test_search.py": f'QUESTION = "{", and ".join(parts)}"\n'}) as app:
        stores = app.stores()
        assert stores.phrases is not None
        for query in understand_apart(parts, RetrievalSettings()):
            assert find_places(query, Scope(), stores.phrases, stores.catalog) == []


def test_each_text_that_a_result_contains_is_named() -> None:
    """Two literals are two texts in the reason, the one that counts more first."""
    places = [LiteralPlace(1, "opal", False, 1), LiteralPlace(1, "garnet", True, 1)]
    found = literal_bonuses(understand("garnet or opal"), places, (), Weights())
    assert found[1].note == "`garnet`, `opal`"
