"""What the page asks: the answers of the tools, with everything that explains them."""

import shutil
from pathlib import Path

import pytest

from graphrag_mcp.cli.project import open_project
from graphrag_mcp.tools.table import SEARCH_TOOLS, TOOLS
from tests.serving.conftest import FILES, HOSTILE_NAME, HOSTILE_TEXT, OLD_FILES
from tests.serving.running import RunningPage, running_page

QUERY = {"query": "refresh the session token"}


def test_a_search_explains_each_result(page: RunningPage) -> None:
    """Its lists and ranks, the terms of its score, and the score that they come to."""
    result = page.ask("search", {"arguments": {"query": "Session.refresh"}}).json
    best = result["primary"][0]
    assert (best["path"], best["symbol"]) == ("src/session.py", "Session.refresh")
    assert set(best["ranks"]) <= {"vector", "keyword", "graph"} and best["ranks"]
    value = best["fused_score"]
    for factor in best["factors"]:
        value = value + factor["value"] if factor["kind"] == "bonus" else value * factor["value"]
    assert value == pytest.approx(best["score"], rel=1e-6)
    assert {"expanded", "runner_up", "rejected", "meta"} <= result.keys() and result["total_ms"] > 0


def test_the_agents_text_is_what_the_tool_returns(page: RunningPage, project: Path, tmp_path: Path) -> None:
    """Word for word, for each of the search tools and formats."""
    for tool in ("graphrag_hybrid_search", "query_documents", "query_unique_documents"):
        for response_format in ("concise", "detailed"):
            arguments = QUERY | {"response_format": response_format}
            answer = page.ask("call", {"tool": tool, "arguments": arguments}).json
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("GRAPHRAG_DATA_DIR", str(tmp_path))
                app = open_project(project)
            app.index()
            call = TOOLS[tool].read(arguments, app.settings, app.root)
            assert answer["text"] == TOOLS[tool].write(app.ask(TOOLS[tool].ask, call), call)
            assert 0 < answer["tokens"] < answer["characters"]
            app.close()


@pytest.mark.parametrize(
    ("request_name", "values", "sentence"),
    [
        ("search", {"arguments": {"query": "x"}}, 'query = "x": expected text of 2 to 8,000 characters'),
        ("search", {"arguments": QUERY | {"limit": 99}}, "limit = 99: expected a whole number from 1 to 25"),
        ("search", {"arguments": QUERY | {"limt": 3}}, "did you mean limit?"),
        (
            "search",
            {"arguments": QUERY | {"include_patterns": ["**/a*/**"] * 9_000}},
            "include_patterns: at most 200 entries, 9,000 were given",
        ),
        ("search", {"tool": "index_status", "arguments": QUERY}, "is not a search tool"),
        ("search", {}, "arguments is required"),
        ("call", {"arguments": QUERY | {"response_format": "xml"}}, "expected one of concise, detailed, json"),
        ("graph", {"symbol": "renew", "hops": 9}, "hops = 9: expected a whole number from 1 to 3"),
        ("graph", {"symbol": "nothing_of_that_name"}, "nothing that is indexed defines"),
        ("graph", {}, "give the name of a symbol"),
        ("files", {"order": "content"}, 'order = "content": expected one of path'),
        ("files", {"page": 0}, "page = 0: expected a whole number from 1"),
        ("call", {"tool": "no_tool", "arguments": {}}, "is not a tool; there are: graphrag_hybrid_search"),
        ("call", {"tool": "find_symbol", "arguments": {}}, "symbol is required"),
        ("file", {"path": "nowhere.py"}, "is not an indexed file"),
        ("file", {"path": "../../etc/passwd"}, "is not an indexed file"),
        ("file", {"path": "picture.bin"}, "is not an indexed file"),
        ("nothing", {}, "is not a request of this page"),
        ("status", [], "the request is not an object"),
    ],
)
def test_a_wrong_request_is_refused_with_the_sentence(
    page: RunningPage, request_name: str, values: object, sentence: str
) -> None:
    """The same checks and words as an agent gets."""
    reply = page.ask(request_name, values)
    assert reply.status == 400
    assert sentence in reply.json["error"]


def test_what_is_no_json_or_too_long_is_refused(page: RunningPage) -> None:
    """Also what no browser would send."""
    headers = {"Cookie": page.cookie}
    assert page.get("/api/status", headers, "POST", "{nonsense").status == 400
    assert page.get("/api/status", headers, "POST", "[" * 100_000).status == 400
    long = page.get("/api/search", headers, "POST", " " * 300_000)
    assert (long.status, "longer than" in long.text) == (400, True)
    assert page.get("/api/status", headers).status == 405


def test_the_graph_has_edges_with_their_certainty(page: RunningPage) -> None:
    """In every direction, from a name or from the place of a result."""
    graph = page.ask("graph", {"symbol": "renew"}).json
    names = {node["id"]: node["symbol"] or node["path"] for node in graph["nodes"]}
    assert names[graph["start"]] == "renew"
    edges = {(names[edge["source"]], edge["relation"], names[edge["target"]]) for edge in graph["edges"]}
    assert {
        ("sign_in", "calls", "renew"),
        ("Session.refresh", "calls", "renew"),
        ("test_renew", "calls", "renew"),
    } <= edges
    assert all(0 < edge["confidence"] <= 1 and edge["certainty"] and edge["line"] > 0 for edge in graph["edges"])
    by_place = page.ask("graph", {"path": "src/session.py", "line": 12, "symbol": "renew"}).json
    assert by_place["nodes"][0] == graph["nodes"][0]
    heading = page.ask("graph", {"path": "docs/sessions.md", "line": 1, "symbol": "no such heading"}).json
    assert heading["nodes"][0]["path"] == "docs/sessions.md"


def test_the_graph_says_what_it_leaves_out(page: RunningPage) -> None:
    """A cap keeps the surest neighbours and counts the others; more hops reach farther."""
    all_of_them = page.ask("graph", {"symbol": "renew"}).json
    capped = page.ask("graph", {"symbol": "renew", "limit": 3}).json
    assert len(capped["nodes"]) == 3
    assert capped["hidden"] == len(all_of_them["nodes"]) - 3
    ids = {node["id"] for node in capped["nodes"]}
    assert {end for edge in capped["edges"] for end in (edge["source"], edge["target"])} <= ids
    farther = page.ask("graph", {"symbol": "test_renew", "hops": 2}).json
    assert {node["hop"] for node in farther["nodes"]} == {0, 1, 2}


def test_files_are_listed_by_page_and_filter(page: RunningPage) -> None:
    """Every indexed file once, with what is known of it."""
    paths = []
    for number in (1, 2, 3, 4):
        answer = page.ask("files", {"size": 3, "page": number}).json
        paths += [row["path"] for row in answer["rows"]]
    assert paths == sorted({*FILES, *OLD_FILES}) and answer["total"] == len(paths)
    archived = page.ask("files", {"archived": "archived"}).json["rows"]
    assert [(row["path"], bool(row["archived"])) for row in archived] == [("legacy/archive/old_session.py", True)]
    assert page.ask("files", {"archived": "active"}).json["total"] == len(paths) - 1
    python = page.ask("files", {"language": "python", "text": "SRC/", "order": "chunks", "descending": True}).json
    assert {row["path"] for row in python["rows"]} == {"src/session.py", "src/login.py"}
    assert [row["chunks"] for row in python["rows"]] == sorted((row["chunks"] for row in python["rows"]), reverse=True)
    tests = page.ask("files", {"category": "tests"}).json["rows"]
    assert (
        [row["path"] for row in tests] == ["tests/test_session.py"] and tests[0]["size"] > 0 and tests[0]["modified_at"]
    )


def test_what_was_left_out_is_listed_with_its_reason(page: RunningPage) -> None:
    """By page, by part of the path and by reason."""
    rows = {row["path"]: row["reason"] for row in page.ask("skipped").json["rows"]}
    assert {"node_modules/", "picture.bin"} <= rows.keys() and all(rows.values())
    one = page.ask("skipped", {"text": "PICTURE"}).json
    assert (one["total"], one["rows"][0]["path"]) == (1, "picture.bin")
    same = page.ask("skipped", {"reason": rows["picture.bin"]}).json
    assert {row["path"] for row in same["rows"]} == {path for path, why in rows.items() if why == rows["picture.bin"]}


@pytest.mark.parametrize("tool", TOOLS)
def test_every_tool_can_be_called(page: RunningPage, tool: str) -> None:
    """With its values and its text."""
    required = {"symbol": "renew", "text": "renew", "query": "renew"}
    schema = TOOLS[tool].schema()["properties"]
    given = {name: value for name, value in required.items() if name in schema}
    answer = page.ask(
        "call", {"tool": tool, "arguments": given if tool != "find_history" else {"path": "src/login.py"}}
    ).json
    assert answer["text"] and answer["tokens"] > 0
    assert (answer["values"] is None) is (tool in SEARCH_TOOLS)


def test_a_file_has_its_text_masked_and_its_definitions(page: RunningPage, project: Path) -> None:
    """As it is on disk."""
    file = page.ask("file", {"path": "src/session.py"}).json
    assert (file["text"], file["language"]) == ((project / "src/session.py").read_text(), "python")
    assert [one["symbol"] for one in file["definitions"]] == ["Session", "Session.refresh", "renew"]
    assert page.ask("file", {"path": "docs/sessions.md"}).json["definitions"][0]["symbol"] == "Sessions"


def test_the_lines_that_differ_are_shown_with_secrets_masked(project: Path, tmp_path: Path) -> None:
    """Of changed, new and removed files, those of the commit too."""
    root = tmp_path / "clone"
    shutil.copytree(project, root)
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    session = root / "src/session.py"
    session.write_text(session.read_text().replace("return token[::-1]", f'key = "{secret}"\n    return token'))
    (root / "src/new.py").write_text("NEW = 1\n")
    (root / "config/settings.yaml").unlink()
    with running_page(root, tmp_path / "data") as running:
        running.wait_ready()
        answer = running.ask("diff")
        assert running.ask("diff", {"base": "no-such-branch"}).status == 400
        files = {file["path"]: file["hunks"] for file in answer.json["files"]}
    assert files.keys() == {"src/session.py", "src/new.py", "config/settings.yaml"}
    assert files["config/settings.yaml"] is None  # Whether rules would hide it is not known any more.
    [hunk] = files["src/session.py"]
    marks = [mark for mark, _ in hunk["lines"] if mark != " "]
    assert (hunk["start"], marks) == (11, ["-", "+", "+"]) and ["-", "    return token[::-1]"] in hunk["lines"]
    assert secret not in answer.text and files["src/new.py"] == [{"start": 1, "lines": [["+", "NEW = 1"]]}]


def test_hostile_names_and_texts_come_as_they_are(page: RunningPage) -> None:
    """The page gets text; that it stays text is for the browser tests."""
    hits = page.ask("search", {"arguments": {"query": "gatecrash"}}).json["primary"]
    assert hits[0]["path"] == HOSTILE_NAME and "</script>" in HOSTILE_TEXT
    listed = page.ask("files", {"text": "<img"}).json["rows"]
    assert [row["path"] for row in listed] == [HOSTILE_NAME]
    reply = page.ask("search", {"arguments": {"query": "gatecrash"}})
    assert reply.headers["content-type"] == "application/json"


def test_the_page_answers_while_the_index_is_built(tmp_path: Path) -> None:
    """From the first moment, and says how far it is."""
    root = tmp_path / "project"
    root.mkdir()
    for number in range(300):
        (root / f"module_{number}.py").write_text(f"def function_{number}():\n    return {number}\n" * 20)
    with running_page(root, tmp_path / "data") as running:
        states = [running.ask("progress").json["state"]]
        assert running.ask("search", {"arguments": {"query": "function_7"}}).status == 200
        running.wait_ready()
        assert states[0] in ("building", "empty")
        assert running.ask("status").json["files"] == 300


def test_the_page_changes_nothing_in_the_project(page: RunningPage, project: Path) -> None:
    """What is there afterwards is what was there before."""

    def times() -> dict[Path, int]:
        files = (path for path in project.rglob("*") if path.is_file() and ".git" not in path.parts)
        return {path: path.stat().st_mtime_ns for path in files}

    before = times()
    for name in ("project", "status", "skipped", "files"):
        page.ask(name)
    page.ask("search", {"arguments": QUERY})
    page.ask("file", {"path": "src/session.py"})
    assert times() == before
