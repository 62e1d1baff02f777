"""What a search of a real folder promises, through the whole application."""

import json
import os
import shutil
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from graphrag_mcp.app.local import App
from graphrag_mcp.model.graph import Certainty
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import Hit, SearchRequest
from graphrag_mcp.settings import load_settings
from graphrag_mcp.tools.excerpts import why
from graphrag_mcp.tools.search import HYBRID
from graphrag_mcp.tools.search_answer import render, search_payload
from tests.indexed import indexed

DAY = 86_400
CORPUS = Path(__file__).parents[1] / "golden" / "corpus"
QUERY = SearchRequest("parse invoice totals", limit=10, include_graph_context=False)

Build = Callable[..., App]


@pytest.fixture
def build(tmp_path: Path) -> Iterator[Build]:
    """Write files, index them, and return the application: `build({path: text}, VARIABLE=value)`."""
    apps: list[App] = []

    def write_and_index(files: dict[str, str], **environ: str) -> App:
        root = tmp_path / "project"
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        variables = {"DATA_DIR": str(tmp_path / "data"), "WORKERS": "1", **environ}
        app = App(root, load_settings(root, {f"GRAPHRAG_{name}": value for name, value in variables.items()}))
        apps.append(app)
        app.index()
        return app

    yield write_and_index
    for app in apps:
        app.close()


def _invoice(extra: str) -> str:
    return f'def parse_invoice_totals(lines):\n    """Add up {extra}."""\n    return sum(lines), "{extra}"\n'


def _paths(app: App, request: SearchRequest = QUERY) -> list[str]:
    """Return the paths found, without those of the ignore files, which are searched like any other text."""
    found = [hit.chunk.path for hit in app.search(request).primary]
    return [path for path in found if not path.endswith("ignore")]


def _factor(hit: Hit, name: str) -> float:
    return next((factor.value for factor in hit.factors if factor.name == name), 1.0)


def _counting(hit: Hit) -> set[str]:
    """Return the names of the terms that change the score."""
    return {factor.name for factor in hit.factors if factor.value != (0.0 if factor.kind == "bonus" else 1.0)}


ALL = replace(QUERY, scope=Scope(exclude_archived=False))
LIVE, OLD, OLDER = "src/invoices.py", ".archive/2020/invoices.py", ".archive/2019/invoices.py"


@pytest.mark.parametrize("with_code", [False, True])
def test_a_result_names_the_archived_files_with_the_same_content(build: Build, with_code: bool) -> None:
    """They are no results of their own, and who asks for archived files must not think that there are none."""
    app = build({LIVE: _invoice("vat"), OLD: _invoice("vat"), OLDER: _invoice("vat"), "src/other.py": _invoice("tips")})
    result = app.search(ALL)
    assert sorted(_paths(app, ALL)) == [LIVE, "src/other.py"]
    text = render(result, 4_000, with_code=with_code)
    (line,) = [line for line in text.splitlines() if "same content" in line]
    beginning, _, places = line.strip().partition(" also in ")
    assert beginning == "same content"
    assert sorted(places.split(", ")) == [f"{OLDER}:1-3 (archived)", f"{OLD}:1-3 (archived)"]
    (hit,) = [hit for hit in search_payload(result)["primary"] if hit["path"] == LIVE]
    assert sorted(copy["path"] for copy in hit["archived_copies"]) == [OLDER, OLD]
    assert hit["archived_copies_total"] == 2
    assert "same content" not in render(app.search(QUERY), 4_000, with_code=with_code)


def test_of_the_same_content_the_living_file_is_shown(build: Build) -> None:
    """Also where the query names the archived one, which ranks it higher."""
    app = build({LIVE: _invoice("vat"), OLD: _invoice("vat"), "src/other.py": _invoice("tips")})
    found = app.search(replace(ALL, query=f"parse invoice totals in {OLD}")).primary
    (hit,) = [hit for hit in found if hit.chunk.path in (LIVE, OLD)]
    assert hit.chunk.path == LIVE
    assert [copy.path for copy in hit.archived_copies] == [OLD]


def test_of_archived_files_with_the_same_content_one_is_shown(build: Build) -> None:
    """It names the others."""
    app = build({OLD: _invoice("vat"), OLDER: _invoice("vat")})
    (hit,) = app.search(ALL).primary
    assert {hit.chunk.path, *(copy.path for copy in hit.archived_copies)} == {OLD, OLDER}


def test_a_copy_that_was_removed_or_edited_is_not_named(build: Build, tmp_path: Path) -> None:
    """What is named is looked at first, as what is shown is."""
    app = build({LIVE: _invoice("vat"), OLD: _invoice("vat"), OLDER: _invoice("vat")})
    (tmp_path / "project" / OLD).write_text("# Another line.\n" + _invoice("vat"))
    (tmp_path / "project" / OLDER).write_text(_invoice("gone"))
    (hit,) = app.search(ALL).primary
    assert [(copy.path, copy.start_line) for copy in hit.archived_copies] == [(OLD, 2)]


@pytest.mark.requirement("P-4", "000-01", "000-07", "001-10", "001-19")
def test_younger_and_active_files_come_first(build: Build, tmp_path: Path) -> None:
    """Of files alike, by age; the archived one last, and it says so."""
    files = {f"lib/{name}.py": _invoice(name) for name in ("amber", "coral", "ivory")}
    app = build({**files, ".archive/olive.py": _invoice("olive")})
    for name, days in (("amber", 400), ("coral", 1), ("ivory", 30)):
        moment = time.time() - days * DAY
        os.utime(tmp_path / "project/lib" / f"{name}.py", (moment, moment))
    shutil.rmtree(tmp_path / "data")
    app.close()
    app = build({})
    hits = app.search(replace(QUERY, scope=Scope(exclude_archived=False))).primary
    ages = {hit.chunk.path: _factor(hit, "recency") for hit in hits}
    assert (ages["lib/coral.py"], ages["lib/ivory.py"], ages["lib/amber.py"]) == (1.2, 1.1, 0.95)
    scores = {hit.chunk.path: hit.score for hit in hits}
    assert scores["lib/coral.py"] > scores["lib/amber.py"]
    assert hits[-1].chunk.path == ".archive/olive.py"
    assert hits[-1].chunk.archive is not None


@pytest.mark.requirement("001-12", "K-02")
def test_the_age_is_the_stored_one(build: Build, tmp_path: Path) -> None:
    """Not the file's own, which says nothing after it was touched."""
    app = build({"lib/amber.py": _invoice("amber")})
    (before,) = app.search(QUERY).primary
    os.utime(tmp_path / "project/lib/amber.py", (1, 1))
    (after,) = app.search(QUERY).primary
    assert (after.chunk, after.factors) == (before.chunk, before.factors)
    assert _factor(after, "recency") == 1.2


@pytest.mark.requirement("000-23", "001-11")
def test_recency_can_be_left_out_of_one_search(build: Build) -> None:
    """The argument and the setting, each on its own."""
    files = {"lib/amber.py": _invoice("amber")}
    (hit,) = build(files).search(replace(QUERY, rerank_with_recency=False)).primary
    assert _factor(hit, "recency") == 1.0
    (hit,) = build(files, RECENCY_BOOST_ENABLED="false").search(QUERY).primary
    assert _factor(hit, "recency") == 1.0


_BOOSTS = {
    "definitions": {"definition"},
    "file_names": {"stem", "stem covers query", "directory"},
    "coherence": {"coherence"},
    "recency": {"recency"},
}


@pytest.mark.requirement("001-04")
@pytest.mark.parametrize("part", _BOOSTS)
def test_each_boost_can_be_switched_off_alone(build: Build, part: str) -> None:
    """By its setting, while the others go on counting."""
    request = replace(QUERY, query="parse_invoice_totals of an invoice in ledger")
    files = {"ledger/invoice.py": _invoice("amber")}
    off = {"RECENCY_BOOST_ENABLED": "false"} if part == "recency" else {"SWITCHED_OFF": part}
    (with_all,) = build(files).search(request).primary
    (without_one,) = build(files, **off).search(request).primary
    assert _counting(with_all) >= set().union(*_BOOSTS.values())
    assert _counting(with_all) - _counting(without_one) == _BOOSTS[part]


@pytest.mark.parametrize(
    ("path", "question", "is_said"),
    [
        ("lib/tariff.py", "where is the tariff of an invoice", True),
        ("lib/invoice.py", "where is the tariff of an invoice", False),
        ("lib/project.py", "where does the project begin", False),
    ],
    ids=["rare", "a word of most files", "the project's own name"],
)
def test_a_file_name_is_a_reason_only_where_it_tells_files_apart(
    build: Build, path: str, question: str, is_said: bool
) -> None:
    """Who asks for something of the project by its name does not look for a file of that name."""
    files = {f"lib/part{number}.py": _invoice(f"sum {number}") for number in range(20)}
    app = build({**files, path: f"def begin():\n    return '{question}'\n"})
    hit = next(hit for hit in app.search(SearchRequest(question, limit=10)).primary if hit.chunk.path == path)
    assert ("file name matches" in why(hit)) == is_said
    assert (_factor(hit, "stem") == 1.0) == (path == "lib/project.py")  # No bonus for the project's own name.


@pytest.mark.requirement("P-6", "000-02", "000-08")
def test_the_ignore_file_decides_what_is_searched(build: Build) -> None:
    """Comment, negation, anchor, folder and `**`, from the file to the answer."""
    rules = "# generated\n/out/\n**/dumps/\n*.gen.py\n!keep.gen.py\n"
    kept = ["lib/amber.py", "lib/keep.gen.py", "lib/out/coral.py"]
    lost = ["out/ivory.py", "a/b/dumps/olive.py", "lib/other.gen.py"]
    files = {path: _invoice(path.replace("/", " ")) for path in [*kept, *lost]}
    app = build({**files, ".graphragignore": rules})
    assert set(_paths(app)) == set(kept)
    assert {path for path, _ in app.status().skipped_examples} >= {"out/", "a/b/dumps/", "lib/other.gen.py"}


@pytest.mark.requirement("000-05", "000-40", "000-46")
def test_no_exclusion_is_hard_coded_and_archives_share_the_index(build: Build, tmp_path: Path) -> None:
    """A project's own rules replace the defaults; ignored files are stored nowhere."""
    files = {"build/amber.py": _invoice("amber"), ".archive/coral.py": _invoice("coral"), "x/ivory.py": _invoice("iv")}
    app = build({**files, ".graphragignore": "x/\n"})
    assert "build/amber.py" in _paths(app)
    assert set(_paths(app, replace(QUERY, scope=Scope(exclude_archived=False)))) == {
        "build/amber.py",
        ".archive/coral.py",
    }
    assert len(list((tmp_path / "data").rglob("*.sqlite"))) == 1
    assert b"ivory" not in Path(app.status().index_file).read_bytes()


@pytest.mark.requirement("003-09", "K-21")
def test_a_document_is_a_path_with_its_extension(build: Build) -> None:
    """`invoice.md` and `invoice.py` are two documents, so a result per document shows both."""
    text = "# Parse invoice totals\n\nHow to parse the totals of an invoice.\n"
    app = build({"lib/invoice.py": _invoice("amber"), "lib/invoice.md": text})
    assert set(_paths(app, replace(QUERY, chunks_per_document=1))) == {"lib/invoice.py", "lib/invoice.md"}


@pytest.mark.requirement("000-25", "K-11", "B-23")
def test_the_graph_is_asked_about_what_the_others_found(build: Build) -> None:
    """A question about callers gets a third list, whose seeds come from the first two."""
    caller = "from lib.amber import parse_invoice_totals\n\n\ndef close_month(lines):\n    {}\n"
    files = {
        "lib/amber.py": _invoice("amber"),
        "jobs/month.py": caller.format("return parse_invoice_totals(lines)"),
    }
    app = build(files)
    asked = replace(QUERY, query="what calls parse_invoice_totals", include_graph_context=True)
    found = {hit.chunk.path: hit.ranks for hit in app.search(asked).primary}
    assert found["jobs/month.py"]["graph"] == 1
    without = app.search(replace(asked, include_graph_context=False))
    assert all("graph" not in hit.ranks for hit in without.primary)
    assert without.expanded == ()


def test_what_is_related_is_decided_by_type(build: Build) -> None:
    """A method of another type is nothing related, and nobody who calls that one is."""
    files = {
        "order.py": "class Order:\n    def submit(self): ...\n",
        "form.py": "class Form:\n    def submit(self): ...\n",
        "use.py": (
            "from form import Form\nfrom order import Order\n\n\n"
            "def buy(order: Order):\n    order.submit()\n\n\ndef post(form: Form):\n    form.submit()\n"
        ),
    }
    app = build(files)
    found = app.search(SearchRequest("order.py Order.submit", limit=1))
    assert [hit.chunk.path for hit in found.primary] == ["order.py"]
    related = {(one.source, one.target): one.certainty for one in found.expanded if one.chunk.path == "use.py"}
    assert related == {("buy", "Order.submit"): Certainty.CERTAIN}


@pytest.mark.requirement("000-23", "K-11")
def test_hops_are_honoured(build: Build) -> None:
    """None, direct callers, callers of callers; direct ones unless more are asked for."""
    files = {
        "a.py": "def parse_invoice_totals(lines):\n    return lines\n",
        "b.py": "from a import parse_invoice_totals\n\n\ndef middle():\n    return parse_invoice_totals([])\n",
        "c.py": "from b import middle\n\n\ndef outer():\n    return middle()\n",
    }
    app = build(files)
    request = SearchRequest("parse_invoice_totals", limit=1)
    reached = {
        hops: {one.chunk.path for one in app.search(replace(request, related_hops=hops)).expanded} for hops in (0, 1, 2)
    }
    assert {one.chunk.path for one in app.search(request).expanded} == reached[1]
    assert reached == {0: set(), 1: {"b.py"}, 2: {"b.py", "c.py"}}


QUESTIONS = [
    "how is an order placed",
    "retry",
    "where are tokens refreshed",
    "Reservation",
    "stock levels of a warehouse",
]


def test_a_place_is_the_same_for_every_limit_and_on_every_page(build: Build, tmp_path: Path) -> None:
    """On a real project: results and further places of four limits, and the pages of the cursors, are one list."""
    shutil.copytree(CORPUS, tmp_path / "project")
    app = build({})
    for question in QUESTIONS:
        shown = {limit: app.search(SearchRequest(question, limit)) for limit in (1, 5, 10, 25)}
        places = {
            limit: [(hit.chunk.path, hit.focus) for hit in (*result.primary, *result.runner_up)]
            for limit, result in shown.items()
        }
        assert len(places[25]) > 10
        assert all(places[limit] == places[25][: max(10, limit)] for limit in shown)
        paged, cursor = [], ""
        while len(paged) < 25 and (cursor or not paged):
            call = HYBRID.read({"query": question, "cursor": cursor, "response_format": "json"}, app.settings, app.root)
            answer = json.loads(HYBRID.write(app.ask(HYBRID.ask, call), call))
            paged += [(hit["path"], *hit["chunk"]) for hit in answer["primary"]]
            cursor = answer["cursor"]
        whole = [(hit.chunk.path, hit.chunk.start_line, hit.chunk.end_line) for hit in shown[25].primary]
        assert paged[:25] == whole[: len(paged)]
        assert len(paged) >= len(whole)


@pytest.mark.requirement("004-10")
@pytest.mark.parametrize(
    "query",
    [
        'parse "invoice',
        "parse* invoice^2 -totals",
        "NEAR(parse invoice) AND OR NOT",
        "body : invoice",
        "names:parse {invoice}",
        "'; DROP TABLE files; --",
        "parse\\ invoice % _ ?",
        "((((invoice))))",
        "\x00 invoice \x1f",
        "📄 invoice 发票",
    ],
)
def test_no_character_of_a_query_is_syntax(build: Build, query: str) -> None:
    """Quotes, operators, wildcards and column names of the keyword index are words like others."""
    app = build({"lib/amber.py": _invoice("amber")})
    result = app.search(replace(QUERY, query=query))
    assert result.meta.unavailable == {}
    assert [hit.chunk.path for hit in result.primary] == ["lib/amber.py"]


@pytest.mark.requirement("004-16")
def test_an_answer_and_a_file_take_less_than_they_may(build: Build) -> None:
    """A search within 95 ms and a file within 350 ms, as medians of a small project; ten times that is a guard."""
    app = build({f"lib/file{number}.py": _invoice(f"amber {number}") for number in range(40)})
    took = statistics.median(app.search(QUERY).meta.retrieval_ms for _ in range(9))
    assert took < 950
    report = app.index(rebuild=True)
    assert report.seconds / report.added < 3.50


def test_tests_beside_the_code_that_they_test_are_tests(build: Build) -> None:
    """In Rust they are in the same file, and describe in words what the code does."""
    code = "".join(f"pub fn other_{n}(x: u8) -> u8 {{\n    x + {n}\n}}\n\n" for n in range(40))
    tests = "".join(
        f"    #[test]\n    fn adds_{n}() {{\n        assert_eq!(parse_invoice_totals(&[{n}]), {n});\n    }}\n\n"
        for n in range(12)
    )
    text = f"pub fn parse_invoice_totals(lines: &[u8]) -> u8 {{\n    lines.iter().sum()\n}}\n\n{code}"
    app = build({"src/lib.rs": f"{text}#[cfg(test)]\nmod tests {{\n    use super::*;\n\n{tests}}}\n"})
    hits = app.search(replace(QUERY, query="where are the totals of an invoice parsed")).primary
    of_tests = [hit for hit in hits if hit.chunk.symbol.startswith("tests")]
    assert hits[0].chunk.symbol == "parse_invoice_totals"
    assert of_tests
    assert all("category tests" in _counting(hit) for hit in of_tests)
    assert all("category tests" not in _counting(hit) for hit in hits if hit not in of_tests)


def test_a_search_in_one_file_gives_as_many_of_its_places_as_are_asked_for(tmp_path: Path) -> None:
    """The room for other files is needed by none."""
    code = "".join(
        f"def renew_{number}(token):\n    return token + {number}\n\n\n" + "# filler\n" * 30 for number in range(8)
    )
    with indexed(tmp_path, {"src/tokens.py": code, "src/other.py": code.replace("renew", "review")}) as app:
        request = SearchRequest("renew a token", limit=6)
        everywhere = app.search(request)
        inside = app.search(replace(request, scope=Scope(paths=("/src/tokens.py",))))
    assert sum(hit.chunk.path == "src/tokens.py" for hit in everywhere.primary) == 3
    assert len(inside.primary) > 3
