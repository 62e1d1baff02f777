"""The server as a client of either protocol era sees it, in one process."""

import json
import logging
import sqlite3
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Literal, cast

import anyio
import pytest
from mcp import Client
from mcp.types import CallToolResult, TextContent

from graphrag_mcp.app.session import WITH_INDEX, LazySession
from graphrag_mcp.errors import RootError, SettingsError
from graphrag_mcp.model.reports import IndexPhase, IndexState
from graphrag_mcp.model.search import SearchRequest, SearchResult
from graphrag_mcp.serving.calls import CALLS_AT_ONCE
from graphrag_mcp.serving.protocol import create_server, describe_server
from graphrag_mcp.settings import RetrievalSettings, Settings
from graphrag_mcp.tools.table import TOOLS
from tests.fakes import READY, FakeApp, make_result

Era = Literal["auto", "legacy"]
ERAS: tuple[Era, ...] = ("auto", "legacy")
HYBRID = "graphrag_hybrid_search"
QUERY = {"query": "open a session"}


def talk(app: Any, conversation: Callable[[Client], Coroutine[Any, Any, Any]], era: Era = "auto") -> Any:
    """Return what a conversation with a server over `app` returns; `app` may also be the error of opening it."""

    def open_app() -> Any:
        if isinstance(app, Exception):
            raise app
        return app

    async def run() -> Any:
        async with Client(create_server(LazySession(cast("Any", open_app), WITH_INDEX)), mode=era) as client:
            return await conversation(client)

    return anyio.run(run)


def call(app: Any, tool: str = HYBRID, arguments: dict[str, Any] | None = None, era: Era = "auto") -> tuple[str, bool]:
    """Return the text of one call and whether it is an error."""

    async def conversation(client: Client) -> CallToolResult:
        return await client.call_tool(tool, QUERY if arguments is None else arguments)

    result = talk(app, conversation, era)
    assert result.structured_content is None
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text, bool(result.is_error)


@pytest.mark.requirement("P-1")
@pytest.mark.parametrize("era", ERAS)
def test_both_eras_list_the_tools_and_get_answers(era: Era, tmp_path: Path) -> None:
    """Three search tools and the status, as text."""

    async def conversation(client: Client) -> list[str]:
        return [tool.name for tool in (await client.list_tools()).tools]

    app = FakeApp(tmp_path)
    assert talk(app, conversation, era) == list(TOOLS)
    text, failed = call(app, era=era)
    assert not failed
    assert text.startswith("1. src/session.py:10-12  Session.open")


@pytest.mark.requirement("P-1")
def test_tools_are_read_only_and_their_words_fit_the_clients(tmp_path: Path) -> None:
    """Descriptions of at most 1,000 characters, instructions of at most 1,500; nothing is changed by a call."""

    async def conversation(client: Client) -> Any:
        return (await client.list_tools()).tools

    for tool in talk(FakeApp(tmp_path), conversation):
        assert 0 < len(tool.description) <= 1000
        assert tool.annotations.read_only_hint
        assert tool.output_schema is None
    instructions = describe_server(WITH_INDEX)
    assert len(instructions) <= 1500
    assert "locally" not in instructions  # Not so for whom the settings name servers.


@pytest.mark.requirement("P-1")
def test_listing_the_tools_opens_nothing() -> None:
    """Neither the index nor a wrong root can delay or break the list."""

    async def conversation(client: Client) -> int:
        return len((await client.list_tools()).tools)

    assert talk(AssertionError("opened"), conversation) == len(TOOLS)


@pytest.mark.requirement("P-1")
def test_listing_the_tools_opens_the_index_soon_after(tmp_path: Path) -> None:
    """The first search finds an index that is already being built."""
    app = FakeApp(tmp_path)

    async def conversation(client: Client) -> bool:
        await client.list_tools()
        return await anyio.to_thread.run_sync(app.started.wait, 5)

    assert talk(app, conversation)


@pytest.mark.requirement("K-06")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "query is required"),
        ({**QUERY, "limit": 26}, "limit = 26: expected a whole number from 1 to 25"),
        ({**QUERY, "limit": 0}, "limit = 0"),
        ({**QUERY, "max_hops": 4}, "max_hops = 4"),
        ({"query": "a"}, 'query = "a"'),
        ({**QUERY, "excluded_files": [" "]}, "excluded_files[0]"),
        ({**QUERY, "k": 5}, '"k" is not an argument of graphrag_hybrid_search'),
    ],
)
@pytest.mark.parametrize("era", ERAS)
def test_bad_input_is_an_error_that_names_it(era: Era, arguments: dict[str, Any], words: str, tmp_path: Path) -> None:
    """Also what the SDK would drop or clamp."""
    app = FakeApp(tmp_path)
    text, failed = call(app, arguments=arguments, era=era)
    assert failed
    assert words in text
    assert app.requests == []


@pytest.mark.requirement("K-06")
def test_an_unknown_tool_is_an_error_that_names_the_known_ones(tmp_path: Path) -> None:
    """A mistyped name is no crash."""
    text, failed = call(FakeApp(tmp_path), "hybrid_search")
    assert failed
    assert all(name in text for name in TOOLS)


@pytest.mark.requirement("B-26")
def test_a_path_outside_the_root_is_a_warning_with_results(tmp_path: Path) -> None:
    """Results, with a warning."""
    text, failed = call(FakeApp(tmp_path), "query_documents", {**QUERY, "excluded_files": ["../x.md"]})
    assert not failed
    assert "Warning:" in text
    assert "src/session.py:10-12" in text


@pytest.mark.requirement("P-1")
@pytest.mark.parametrize(
    "error", [RootError("/nowhere does not exist; pass --root"), SettingsError(["limit = 0: too small", "x: unknown"])]
)
def test_a_project_that_cannot_be_opened_says_why_in_each_call(error: Exception) -> None:
    """The server starts all the same."""
    for tool in TOOLS:
        assert call(error, tool, {}) == (str(error), True)


@pytest.mark.requirement("P-1")
def test_a_project_that_can_be_opened_later_is(tmp_path: Path) -> None:
    """The next call tries again."""
    answers: list[Any] = [RootError("not yet"), FakeApp(tmp_path)]

    def open_app() -> Any:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    backend = LazySession(open_app, WITH_INDEX)
    with pytest.raises(RootError):
        backend.open()
    assert backend.open() is backend.open()


@pytest.mark.requirement("P-1")
def test_an_unexpected_error_is_one_sentence_for_the_client_and_a_trace_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """No traceback reaches a model."""
    with caplog.at_level(logging.ERROR, logger="graphrag_mcp"):
        text, failed = call(FakeApp(tmp_path, failure=ZeroDivisionError("secret")))
    assert failed
    assert "secret" not in text
    assert "failed unexpectedly" in text
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.requirement("P-1")
@pytest.mark.parametrize("error", [sqlite3.DatabaseError("file is not a database"), sqlite3.OperationalError("gone")])
def test_an_index_that_cannot_be_read_is_an_error_and_is_examined(tmp_path: Path, error: sqlite3.Error) -> None:
    """Nothing is answered from a part of it."""
    app = FakeApp(tmp_path, failure=error)
    assert call(app) == ("the index file is examined; ask again in a moment", True)
    assert (app.doubted, len(app.requests)) == ([error], 1)


@pytest.mark.requirement("P-1")
def test_a_search_whose_index_file_was_closed_meanwhile_is_done_again(tmp_path: Path) -> None:
    """As when another call has it examined."""
    closed = sqlite3.ProgrammingError("Cannot operate on a closed database.")
    app = FakeApp(tmp_path, failure=closed)
    call(app)
    assert (app.doubted, len(app.requests)) == ([closed], 2)


@pytest.mark.requirement("P-1")
def test_a_search_waits_a_moment_for_an_index_that_is_nearly_ready(tmp_path: Path) -> None:
    """A small repository is complete in the first answer, and progress is reported meanwhile."""
    app = FakeApp(tmp_path, IndexState(IndexPhase.EMPTY), IndexState(IndexPhase.BUILDING, 1, 3, 4, 0.5), READY)
    seen: list[tuple[float, float | None, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, total, message))

    async def conversation(client: Client) -> CallToolResult:
        return await client.call_tool(HYBRID, QUERY, progress_callback=note)

    result = talk(app, conversation)
    assert "Index building" not in result.content[0].text
    assert seen[-1] == (1, 3, "building, 1 of 3 files, about 1 s left")


@pytest.mark.requirement("P-1")
def test_a_search_does_not_wait_for_an_index_that_takes_long(tmp_path: Path) -> None:
    """It answers from what is there and says so."""
    app = FakeApp(tmp_path, IndexState(IndexPhase.BUILDING, 100, 8400, 900, 60.0))
    started = time.monotonic()
    text, _ = call(app)
    assert time.monotonic() - started < 30  # The index takes 60
    assert text.startswith("Index building, 100 of 8,400 files, about 60 s left.")


@pytest.mark.requirement("P-1")
def test_a_search_without_results_waits_for_more_of_the_index(tmp_path: Path) -> None:
    """An empty answer from an index that is being built would only be asked for again."""
    unfinished = IndexState(IndexPhase.BUILDING, 1, 900, 4, 60.0)

    class Growing(FakeApp):
        def search(self, request: SearchRequest) -> SearchResult:
            found = super().search(request)
            return found if len(self.requests) > 2 else make_result(index=unfinished)

    app = Growing(tmp_path, unfinished)
    text, failed = call(app)
    assert not failed
    assert len(app.requests) == 3
    assert "1. src/session.py" in text


@pytest.mark.requirement("P-1")
def test_a_few_searches_of_one_client_run_side_by_side(tmp_path: Path) -> None:
    """A slow call does not block the next one, and no number of them fills the memory."""
    running: list[int] = []
    together: list[int] = []

    class Counting(FakeApp):
        def search(self, request: SearchRequest) -> SearchResult:
            running.append(1)
            together.append(len(running))
            try:
                return super().search(request)
            finally:
                running.pop()

    async def conversation(client: Client) -> None:
        async with anyio.create_task_group() as group:
            for _ in range(3 * CALLS_AT_ONCE):
                group.start_soon(client.call_tool, HYBRID, QUERY)

    talk(Counting(tmp_path, delay_seconds=0.1), conversation)
    assert len(together) == 3 * CALLS_AT_ONCE
    assert max(together) == CALLS_AT_ONCE


@pytest.mark.requirement("P-1")
def test_an_answer_keeps_to_the_projects_length(tmp_path: Path) -> None:
    """The setting response_tokens holds."""
    app = FakeApp(tmp_path, settings=Settings(retrieval=RetrievalSettings(response_tokens=200)))
    text, _ = call(app)
    assert len(text) < 640


@pytest.mark.requirement("000-44")
@pytest.mark.parametrize("form", ["concise", "detailed"])
def test_the_status_is_text(form: str, tmp_path: Path) -> None:
    """What is indexed, and how much was left out."""
    text, failed = call(FakeApp(tmp_path), "index_status", {"response_format": form})
    assert not failed
    assert text.startswith("Index: ready\n")
    assert "Left out: 0.0% of all paths" in text
    assert ("Last indexed" in text) == (form == "detailed")


@pytest.mark.requirement("000-44")
def test_the_status_is_json_on_request(tmp_path: Path) -> None:
    """The same for programs."""
    text, _ = call(FakeApp(tmp_path), "index_status", {"response_format": "json"})
    assert json.loads(text)["chunks"] == 12
