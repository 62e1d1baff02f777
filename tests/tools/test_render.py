"""How a search result reads."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from graphrag_mcp.model.files import (
    RELATED_KINDS,
    ArchiveClass,
    DocumentFacts,
    DocumentStatus,
    RelationKind,
    Symbol,
    SymbolKind,
)
from graphrag_mcp.model.graph import Certainty
from graphrag_mcp.model.reports import IndexPhase, IndexState
from graphrag_mcp.model.search import CompressionStats, EdgeDirection, Factor, FactorKind, Focus, Hit, SearchResult
from graphrag_mcp.settings import Settings
from graphrag_mcp.tools.arguments import ResponseFormat
from graphrag_mcp.tools.excerpts import Excerpt, cut_text, cut_texts, room_of, tokens_of
from graphrag_mcp.tools.printing import numbered, one_line, printable
from graphrag_mcp.tools.search import HYBRID, search_request
from graphrag_mcp.tools.search_answer import render
from tests.fakes import make_chunk, make_hit, make_neighbour, make_result

PLENTY = 6000


def hits(count: int, lines: int, line: str = "") -> list[Hit]:
    """Return so many hits of so many lines: of this one, or else numbered."""
    text = {"text": line * lines} if line else {}
    return [make_hit(make_chunk(f"src/file{number}.py", 1, lines, **text)) for number in range(count)]


def detailed(result: SearchResult, tokens: int = PLENTY) -> str:
    return render(result, tokens)


def written(result: SearchResult, form: ResponseFormat, tokens: int = PLENTY) -> str:
    """Return what the tool answers."""
    arguments = {"query": "open a session", "response_format": form, "token_budget": tokens}
    return HYBRID.write(result, HYBRID.read(arguments, Settings(), Path("/project")))


@pytest.mark.requirement("P-1")
def test_a_result_says_where_what_why_and_shows_the_code() -> None:
    """Path:start-end, symbol, kind, the reason, and the code in a fence."""
    assert detailed(make_result(make_hit())) == (
        "1. src/session.py:10-12  Session.open  (method)  defines `Session.open`  #wsbr\n"
        "```\n"
        "10: line 10 of the chunk\n"
        "11: line 11 of the chunk\n"
        "12: line 12 of the chunk\n"
        "```"
    )


def test_code_that_the_caller_has_is_named_and_not_repeated() -> None:
    """Its room goes to the others; an id is of the lines, so that a changed one is shown."""
    first, second = hits(2, 30)
    plain = detailed(make_result(first, second), 400)
    ids = re.findall(r"  #([a-z2-7]{4})$", plain, re.MULTILINE)
    assert len(ids) == 2
    arguments = {"query": "open a session", "token_budget": 400, "have": [f"#{ids[0]}", "else"]}
    text = HYBRID.write(make_result(first, second), HYBRID.read(arguments, Settings(), Path("/project")))
    (_, name, *_), code = text.splitlines(), "\n".join(numbered(second.chunk.text.rstrip().split("\n"), 1))
    assert name == f"   you have its code: #{ids[0]}"
    assert code in text
    assert plain.count(code) == 1  # That of the first, whose text is the same.
    changed = replace(first, chunk=replace(first.chunk, text=first.chunk.text.replace("line 1 ", "line one ")))
    assert "you have" not in render(make_result(changed), 300, have=ids)


@pytest.mark.requirement("P-1")
def test_the_concise_form_has_signatures_and_no_code() -> None:
    """Locations first, when an agent only wants to know where."""
    text = render(make_result(make_hit()), PLENTY, with_code=False)
    assert text.splitlines()[1] == "   > def open(self) -> None"
    assert "line 10" not in text


@pytest.mark.requirement("001-17")
def test_an_explained_result_shows_every_factor() -> None:
    """Every score can be followed by hand."""
    text = render(make_result(make_hit()), PLENTY, with_code=False, explained=True)
    assert "score 0.9000, fused 0.8000" in text
    assert "+ 1.500  definition (Session.open)" in text
    assert "× 1.200  recency (3 days)" in text


@pytest.mark.requirement("002-02")
def test_the_terms_of_a_sum_are_not_shown_as_factors() -> None:
    """The linear reranker adds its terms, penalties with a minus."""
    terms = (Factor("keyword", 0.25, FactorKind.TERM), Factor("status", -0.4, FactorKind.TERM))
    text = render(make_result(replace(make_hit(), factors=terms)), PLENTY, with_code=False, explained=True)
    assert "   + 0.250  keyword\n   - 0.400  status\n" in text


@pytest.mark.requirement("P-1")
@pytest.mark.parametrize("tokens", [200, 600, 2000, 6000, 20_000])
@pytest.mark.parametrize("form", ["concise", "detailed"])
def test_an_answer_stays_within_its_tokens(form: Any, tokens: int) -> None:
    """A client cuts a longer answer wherever it likes."""
    result = make_result(*hits(25, 60), expanded=(make_neighbour(),) * 20)
    assert len(written(result, form, tokens)) <= room_of(tokens) + 200


@pytest.mark.requirement("P-1")
def test_the_best_result_gets_the_most_room_and_every_cut_is_counted() -> None:
    """Nothing is dropped without saying so."""
    result = make_result(*hits(3, 200))
    blocks = detailed(result, 1200).split("\n\n")[:2]
    shown = [block.count("of the chunk") for block in blocks]
    assert shown == sorted(shown, reverse=True)
    for block, lines in zip(blocks, shown, strict=True):
        assert block.endswith(f"... {200 - lines} more lines ({lines + 1}-200)")


def test_one_more_line_is_a_line() -> None:
    """What is cut is counted in words that are right for one as well."""
    endings = {
        line.partition(" more ")[2]
        for tokens in range(200, 900, 4)
        for line in render(make_result(*hits(1, 40), expanded=(make_neighbour(),) * 9), tokens).splitlines()
        if line.startswith("... 1 more")
    }
    assert endings
    assert all(ending.startswith("line ") for ending in endings)


@pytest.mark.requirement("P-1")
def test_results_that_do_not_fit_at_all_are_counted() -> None:
    """Even a tiny budget never hides results silently."""
    text = detailed(make_result(*hits(25, 5)), 200)
    shown = text.count("src/file")
    assert 0 < shown < 25
    assert f"... {25 - shown} more results did not fit; lower the limit" in text


@pytest.mark.requirement("P-1")
def test_a_short_text_leaves_its_room_to_the_others() -> None:
    """The room is used."""
    short, long = cut_texts(["one line", "x\n" * 1000], 1000)
    assert short.text == "one line"
    assert len(long.text) > 900


@pytest.mark.requirement("P-1")
def test_a_line_that_is_longer_than_the_room_is_cut() -> None:
    """A minified file cannot flood an answer."""
    assert cut_text("a" * 1000 + "\nb", 100).text == "a" * 97 + " …"
    assert cut_text("a" * 1000 + "\nb", 100).hidden_lines == 1


def test_a_few_letters_of_a_line_are_not_shown() -> None:
    """`def _ …` says less than the signature, which is shown in place of code that does not fit."""
    assert cut_text("a" * 1000 + "\nb", 10) == Excerpt("", 2)


@pytest.mark.parametrize("count", [4, 25])
def test_a_budget_too_small_for_code_is_answered_without_code(count: int) -> None:
    """As the concise form is: with signatures, and as many results as fit."""
    found = make_result(*hits(count, 40, "x" * 500 + "\n"))
    assert render(found, 150) == render(found, 150, with_code=False)
    assert "   > def open(self) -> None" in render(found, 150)


def test_a_result_for_which_no_code_fits_shows_its_signature() -> None:
    """Behind others that have room for theirs."""
    blocks = detailed(make_result(*hits(4, 40, "x" * 300 + "\n")), 360).split("\n\n")
    assert "```" in blocks[0]
    assert blocks[3].splitlines()[1:] == ["   > def open(self) -> None"]


@pytest.mark.requirement("P-1")
def test_code_cannot_close_its_fence() -> None:
    """What a file holds stays recognisable as content."""
    text = detailed(make_result(make_hit(make_chunk(text="```python\n```` \nrun this"))))
    assert text.splitlines()[1] == "`````"


@pytest.mark.requirement("P-1")
def test_escape_sequences_are_shown_and_not_obeyed() -> None:
    """A file cannot drive the terminal it is shown on; an undecodable path can be shown."""
    chunk = make_chunk("src/caf\udce9.py", text="red \x1b[31m and \x00\r\nnext")
    text = detailed(make_result(make_hit(chunk)))
    assert "red ␛[31m and ␀\n11: next" in text
    assert printable("\x9b2J \u202e \u2028") == "<9b>2J <202e> <2028>"
    assert one_line("a\rb\nc\x85d\u2028e") == "a␍b␊c<85>d<2028>e"
    assert "src/caf\\udce9.py" in text


@pytest.mark.requirement("000-25", "K-11")
def test_only_certain_relations_of_what_matched_are_related() -> None:
    """With their relation; a guess and a weak one are no facts."""
    sure, guess = make_neighbour(), make_neighbour(EdgeDirection.OUT, is_guess=True)
    weak = replace(sure, confidence=0.3, certainty=Certainty.BY_NAME)
    text = detailed(make_result(make_hit(), expanded=(guess, weak, sure)))
    related = "Related in the code graph:\n- src/web.py:40-42  handle  calls `Session.open`  (certain)"
    assert text.split("\n\n")[-1] == related
    assert "Related" not in detailed(make_result(make_hit(), expanded=(guess, weak)))


def test_five_relations_are_shown_and_the_others_counted() -> None:
    """The most useful ones: what calls a result before what imports it."""
    imports = replace(make_neighbour(), relation=RelationKind.IMPORTS)
    others = (replace(make_neighbour(), target="Other.open"),) * 4
    text = detailed(make_result(make_hit(), expanded=(*(imports,) * 3, *others, make_neighbour())))
    rows = text.split("Related in the code graph:\n")[1].split("\n")
    assert [row.split("  ")[2].split()[0] for row in rows[:-1]] == ["calls"] * 5
    assert rows[-1] == "... 3 more relations"


@pytest.mark.parametrize(
    ("arguments", "results"), [({}, 0), ({"include_graph_context": True}, 2), ({"response_format": "json"}, 2)]
)
def test_related_code_is_looked_for_on_request(arguments: dict[str, Any], results: int) -> None:
    """An answer in words has its room for the code of the results."""
    call = HYBRID.read({"query": "open a session", **arguments}, Settings(), Path("/project"))
    assert search_request(call).related_results == results


@pytest.mark.requirement("000-01", "002-20")
def test_archived_and_superseded_results_say_so() -> None:
    """Active and old code can be told apart."""
    facts = DocumentFacts(status=DocumentStatus.SUPERSEDED)
    hit = make_hit(make_chunk(archive=ArchiveClass(".archive/", 0.5), facts=facts))
    assert "archived: .archive/, status: superseded" in detailed(make_result(hit))


@pytest.mark.requirement("002-18", "B-26")
def test_an_incomplete_index_a_missing_store_and_warnings_come_first() -> None:
    """A search that is not complete or not hybrid says so."""
    building = IndexState(IndexPhase.BUILDING, 3120, 8400, 9, 40.2)
    result = make_result(
        make_hit(), index=building, unavailable={"vector": "no model"}, warnings=("'/x' is outside the root",)
    )
    lines = detailed(result).splitlines()
    assert lines[0].startswith("Index building, 3,120 of 8,400 files, about 40 s left.")
    assert lines[1] == "Not searched: vector (no model)"
    assert lines[2] == "Warning: '/x' is outside the root"


@pytest.mark.parametrize("form", ["concise", "detailed"])
def test_a_weak_answer_says_so_and_is_whole(form: Any) -> None:
    """It may be right all the same."""
    text = written(make_result(*hits(2, 3), confidence=0.3, missing_words=("etcd",)), form)
    weak = "Weak match: these chunks are the nearest, and may not answer.\n"
    assert text.startswith(f'{weak}Not indexed anywhere: "etcd".\n')
    assert "2. src/file1.py" in text
    sure = written(make_result(*hits(2, 3), confidence=0.6), form)
    assert "Weak match" not in sure


@pytest.mark.parametrize("form", ["concise", "detailed"])
def test_an_answer_to_which_nothing_matches_says_so_first(form: Any) -> None:
    """An agent reads why, what to do, and the five nearest chunks without their code."""
    result = make_result(*hits(7, 60), expanded=(make_neighbour(),), confidence=0.001, missing_words=("etcd", "raft"))
    text = written(result, form)
    lines = text.splitlines()
    assert lines[0].startswith('Nothing matches well (not indexed anywhere: "etcd", "raft"); rephrase it')
    nearest = ["Nearest chunks", *(f"{number}. src/file{number - 1}.py" for number in range(1, 6))]
    assert [line.split(":")[0] for line in lines[2:8]] == nearest
    assert re.fullmatch(r'\.\.\. more results: cursor="5-[0-9a-f]{8}"', lines[-1])
    assert "line 1 of" not in text
    assert "Related" not in text


def test_the_rest_of_an_answer_to_which_nothing_matches_is_shown_on_request() -> None:
    """Nothing is hidden from whoever insists: the next page is written as ever."""
    weak = make_result(*hits(5, 2), confidence=0.001)
    plain = make_result(*hits(5, 2), confidence=0.9)
    assert render(weak, PLENTY, first=3) == render(plain, PLENTY, first=3)


def test_a_judgement_changes_nothing_where_something_matches() -> None:
    """An ordinary answer reads as one that was not judged."""
    assert detailed(make_result(make_hit(), confidence=0.9)) == detailed(make_result(make_hit()))


def test_an_answer_with_results_names_what_the_index_does_not_have() -> None:
    """Results about something like it would be taken for it."""
    lines = written(make_result(make_hit(), confidence=0.9, missing_words=("RedisBackend",)), "detailed").splitlines()
    assert lines[0] == 'Not indexed anywhere: "RedisBackend".'


def test_words_that_all_occur_are_not_blamed() -> None:
    """The reason is the true one; filters are named, and a name cannot break its line."""
    assert "(no chunk contains these words together)" in detailed(make_result(make_hit(), confidence=0.001))
    filtered = make_result(make_hit(), confidence=0.001, filters=("exclude_archived", "languages"))
    assert "(no chunk contains these words together within the active filters (languages))" in detailed(filtered)
    many = make_result(make_hit(), confidence=0.001, missing_words=tuple("abcdefgh"))
    assert '"e", "f", 2 more)' in detailed(many)


def test_the_json_form_says_how_sure_it_is() -> None:
    """A program gets the number, the flag and the reason, and all results."""
    payload = json.loads(written(make_result(*hits(5, 2), confidence=0.001, missing_words=("raft",)), "json"))
    judged = {name: payload["meta"][name] for name in ("confidence", "nothing_matches", "missing_words")}
    assert judged == {"confidence": 0.001, "nothing_matches": True, "missing_words": ["raft"]}
    assert len(payload["primary"]) == 5


@pytest.mark.requirement("003-27")
def test_no_results_says_what_to_do_next() -> None:
    """An empty result is not an error."""
    building = IndexState(IndexPhase.BUILDING, 1, 2, 9)
    text = detailed(make_result(index=building, filters=("exclude_archived", "excluded_files")))
    assert 'No results for "open a session".' in text
    assert "Retry when the index is complete." in text
    assert "exclude_archived, excluded_files" in text


@pytest.mark.requirement("000-21", "000-31", "000-33", "003-08", "K-19")
def test_json_has_everything() -> None:
    """Metadata, weights and counts under stable names."""
    chunk = make_chunk(archive=ArchiveClass(".archive/", 0.5), modified_at=0.0, enclosing=("Session",))
    opened = Symbol("open", "Session.open", SymbolKind.METHOD, 1, 40, "def open(self) -> None")
    closed = Symbol("close", "Session.close", SymbolKind.METHOD, 30, 33)
    hit = replace(make_hit(chunk), focus=Focus(opened, 10, 12, (11,), (closed,)))
    result = make_result(hit, expanded=(make_neighbour(is_guess=True),))
    payload = json.loads(written(result, "json"))
    assert list(payload) == [
        "query",
        "primary",
        "rejected",
        "runner_up",
        "expanded",
        "meta",
        "first",
        "total",
        "cursor",
    ]
    assert payload["primary"][0] | {"text": "", "factors": []} == {
        "path": "src/session.py",
        "start_line": 10,
        "end_line": 12,
        "symbol": "Session.open",
        "kind": "method",
        "signature": "def open(self) -> None",
        "part_of": [1, 40],
        "chunk": [10, 12],
        "lines": [{"line": 11, "text": "line 11 of the chunk"}],
        "also_here": [{"symbol": "Session.close", "line": 30}],
        "header_path": "Session",
        "language": "python",
        "category": "implementation",
        "score": 0.9,
        "fused_score": 0.8,
        "why": "keyword #1, vector #3, defines `Session.open`, archived: .archive/",
        "ranks": {"vector": 3, "keyword": 1},
        "phrasings": [],
        "factors": [],
        "origin": "search",
        "is_archived": True,
        "archive_reason": ".archive/",
        "twins": [],
        "twins_total": 0,
        "archived_copies": [],
        "archived_copies_total": 0,
        "archive_penalty": 1.0,
        "recency_weight": 1.2,
        "modified_at": "1970-01-01T00:00:00+00:00",
        "status": None,
        "stale": "",
        "text": "",
        "hidden_lines": 0,
    }
    assert payload["expanded"][0]["confirmed"] is False
    assert {
        "retrieval_ms",
        "search_strategy",
        "retrieval_stats",
        "phases_ms",
        "compression",
        "index",
        "unavailable",
        "warnings",
        "confidence",
        "nothing_matches",
        "is_weak",
        "missing_words",
        "restriction",
        "clauses",
        "near_names",
    } == set(payload["meta"])


def matched(path: str = "src/session.py", lines: tuple[int, ...] = (14, 27)) -> Hit:
    """Return a hit in whose class of lines 10 to 39 the method of lines 12 to 29 matched."""
    method = Symbol("renew", "Session.renew", SymbolKind.METHOD, 12, 29, "def renew(self, now)")
    other = Symbol("close", "Session.close", SymbolKind.METHOD, 31, 39)
    chunk = make_chunk(path, 10, 30, symbol="Session", kind="type", signature="class Session")
    return replace(make_hit(chunk), focus=Focus(method, 12, 29, lines, (other,)))


def test_a_result_is_headed_by_what_matched_and_its_code_begins_there() -> None:
    """With the lines of the member and not those of its class; the class's other members are a line of pointers."""
    lines = detailed(make_result(matched())).splitlines()
    assert lines[0].startswith("1. src/session.py:12-29  Session.renew  (method)  defines ")
    assert (lines[2], lines[-3], lines[-2:]) == (
        "12: line 12 of the chunk",
        "29: line 29 of the chunk",
        ["```", "   also here: Session.close:31"],
    )


def test_a_heading_is_pointed_at_by_its_own_words() -> None:
    """The headings above it are the same for most of a document."""
    hit = matched("docs/guide.md")
    assert hit.focus is not None
    heading = Symbol("Renewal", "Guide > Sessions > Renewal", SymbolKind.SECTION, 41, 50)
    hit = replace(hit, focus=replace(hit.focus, also_here=(heading,)))
    assert detailed(make_result(hit)).endswith("   also here: Renewal:41")


def test_a_part_of_a_definition_says_so() -> None:
    """A long function is cut into several chunks: its heading has the lines shown, and its own."""
    hit = matched()
    assert hit.focus is not None
    assert hit.focus.symbol is not None
    whole = replace(hit.focus.symbol, start_line=3, end_line=90)
    hit = replace(hit, focus=replace(hit.focus, symbol=whole, start_line=10, end_line=39))
    assert detailed(make_result(hit)).startswith("1. src/session.py:10-39  Session.renew  (method, part of 3-90)")


def test_of_long_code_the_lines_around_the_best_ones_are_shown() -> None:
    """Below the first line of the definition, with how many are folded; with little room, around the best one."""
    text = detailed(make_result(matched(lines=(27, 14))), 150)
    assert text.splitlines()[2] == "12: line 12 of the chunk"
    assert text.splitlines()[3].startswith("... ")
    assert all(f"line {number} of the chunk" in text for number in (26, 27, 28, 29))
    assert "line 14 " not in text and text.endswith("```\n   also here: Session.close:31")
    long = make_chunk(start=1, lines=400)
    whole = Symbol("open", "Session.open", SymbolKind.METHOD, 1, 400, "def open(self) -> None")
    text = detailed(make_result(replace(make_hit(long), focus=Focus(whole, 1, 400, (300, 100)))), 400)
    shown = [int(line.partition(": ")[0]) for line in text.splitlines() if ": line " in line]
    assert shown[0] == 1 and {98, 99, 100, 101, 102, 103, 298, 299, 300, 301, 302, 303} <= set(shown)
    folded = [int(number) for number in re.findall(r"^\.\.\. (\d+) lines$", text, re.MULTILINE)]
    assert len(shown) + sum(folded) == 400 and len(folded) == 3


def test_imports_and_comments_above_a_definition_are_folded() -> None:
    """Although they hold words of the question; a decorator has the line below it."""
    text = "import retrying\n" * 30 + "@defined\nclass Settings:\n    retry = 3\n" + "    more = 4\n" * 30
    symbol = Symbol("Settings", "Settings", SymbolKind.TYPE, 31, 63, "class Settings")
    chunk = make_chunk(start=1, text=text, end_line=63, symbol="Settings", kind="type")
    shown = detailed(make_result(replace(make_hit(chunk), focus=Focus(symbol, 1, 63, (2, 1, 33)))), 150)
    assert "import" not in shown and "31: @defined\n32: class Settings:\n33:     retry = 3\n" in shown


def test_two_results_have_code_three_have_their_signatures_and_the_others_are_places() -> None:
    """The shape of an answer: what is likely read, what helps to choose, and where else to look."""
    found = make_result(*(matched(f"src/file{number}.py") for number in range(1, 6)))
    found = replace(found, runner_up=tuple(matched(f"src/file{number}.py") for number in range(6, 11)))
    blocks = detailed(found).split("\n\n")
    assert ["```\n" in block for block in blocks] == [True, True, False, False, False, False]
    assert blocks[4].splitlines()[1:] == ["   > def renew(self, now)"]
    places = [f"{number}. src/file{number}.py:12-29  Session.renew" for number in range(6, 11)]
    assert blocks[5].splitlines() == ["Further places:", *places]


def test_a_quoted_line_is_one_short_line() -> None:
    """A minified file, or one with control characters in it, cannot flood or break an answer."""
    chunk = make_chunk(text="def open():\n  red \x1b[31m\u2028" + "x" * 4000 + "\n")
    hit = replace(make_hit(replace(chunk, signature="")), focus=Focus(None, 10, 11, (11,)))
    (line,) = [line for line in render(make_result(*[hit] * 5), PLENTY).splitlines() if line.startswith("   11 | ")][:1]
    assert line.startswith("   11 | red ␛[31m<2028>xxx")
    assert len(line) < 200


@pytest.mark.requirement("P-1")
def test_json_stays_within_its_tokens_too() -> None:
    """Texts are cut, and what is cut is counted."""
    text = written(make_result(*hits(5, 500)), "json", 2500)
    assert len(text) <= room_of(2500) * 1.1
    assert json.loads(text)["primary"][4]["hidden_lines"] > 400


@pytest.mark.requirement("P-1")
@pytest.mark.parametrize("tokens", [200, 800, 1100, 2500, 6000])
def test_what_stands_beside_the_results_takes_no_room_from_the_first(tokens: int) -> None:
    """The best evidence first: of 200 tokens there is one result left, without its code."""
    found = make_result(*hits(5, 40), expanded=(make_neighbour(),) * 20)
    found = replace(found, rejected=tuple(hits(3, 4)), runner_up=tuple(hits(3, 4)))
    text = written(found, "json", tokens)
    shown = json.loads(text)
    assert tokens_of(text) <= max(tokens, 650)
    assert len(shown["primary"]) >= min(5, tokens // 600)
    beside = [len(shown[name]) for name in ("rejected", "runner_up", "expanded")]
    assert beside == [0, 0, 0] if tokens == 200 else beside[0] > 0
    assert beside[:2] == [3, 3] if tokens >= 2500 else beside[2] == 0
    assert bool(shown["primary"][0]["text"]) == (tokens > 200)


@pytest.mark.requirement("P-1")
@pytest.mark.parametrize("tokens", [1000, 2500])
def test_json_leaves_out_results_that_do_not_fit(tokens: int) -> None:
    """The cursor continues behind those that are there."""
    found = make_result(*hits(25, 40, '\t"quoted"\n'))
    shown = json.loads(written(found, "json", tokens))
    size = len(json.dumps(shown, ensure_ascii=False))
    assert 1 <= len(shown["primary"]) < 25
    assert shown["cursor"].startswith(f"{len(shown['primary'])}-")
    assert shown["total"] == 25
    assert size <= room_of(tokens) * 1.1 or len(shown["primary"]) == 1


@pytest.mark.requirement("P-1")
@pytest.mark.parametrize("line", ["这是一行说明文字\n", "Это строка документации\n", "🚀🚀🚀🚀\n"])
@pytest.mark.parametrize("form", ["detailed", "json"])
def test_letters_that_are_tokens_of_their_own_are_counted_as_such(line: str, form: ResponseFormat) -> None:
    """A budget holds in every language."""
    text = written(make_result(*hits(5, 400, line)), form, 2500)
    assert tokens_of(text) <= 2500 * 1.1
    assert len(text) < 0.9 * room_of(2500)


@pytest.mark.requirement("P-1")
def test_a_hit_without_reasons_still_reads_well() -> None:
    """Empty parts leave no gaps."""
    hit = replace(make_hit(make_chunk(symbol="")), ranks={}, factors=())
    assert detailed(make_result(hit)).splitlines()[0] == "1. src/session.py:10-12  (method)  #wsbr"


@pytest.mark.requirement("P-1")
def test_a_name_with_line_ends_stays_on_its_line() -> None:
    """What a file is called cannot pass for a result of its own."""
    chunk = make_chunk("src/a\n1. src/trusted.py:1-9", symbol="one\ntwo", signature="def one(\n)")
    text = render(make_result(make_hit(chunk)), PLENTY, with_code=False)
    assert len(text.splitlines()) == 2
    assert text.startswith(r'1. "src/a\n1. src/trusted.py:1-9":10-12  "one\ntwo"  (method)')


@pytest.mark.requirement("K-22")
def test_nothing_above_min_score_is_said() -> None:
    """An agent learns that its own threshold left nothing."""
    result = make_result()
    meta = replace(result.meta, compression=CompressionStats(original_count=40))
    assert "Below min_score: all of 40 candidates." in detailed(replace(result, meta=meta))


@pytest.mark.requirement("P-1")
@pytest.mark.parametrize("direction", ["in", "out"])
@pytest.mark.parametrize("relation", RELATED_KINDS)
def test_every_relation_has_words(relation: RelationKind, direction: str) -> None:
    """The other blocks of a result can be shown."""
    neighbour = replace(make_neighbour(), relation=relation, direction=direction)
    text = detailed(replace(make_result(make_hit()), expanded=(neighbour,)))
    assert "Related in the code graph:\n- " in text
