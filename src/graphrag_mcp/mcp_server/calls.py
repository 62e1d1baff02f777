"""Answers one call of a tool: reads its arguments, gives an index that is nearly complete a moment, and writes."""

import json
import logging
import sqlite3
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import anyio.to_thread
from anyio.lowlevel import RunVar
from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS

from graphrag_mcp.answers.arguments import CODE_TOOLS, STATUS_TOOL, TOOLS
from graphrag_mcp.answers.code_text import answer_code, write
from graphrag_mcp.answers.excerpts import cut_text, room_of
from graphrag_mcp.answers.overview import render_status
from graphrag_mcp.answers.payload import status_payload
from graphrag_mcp.answers.render import describe_state, printable, render_answer
from graphrag_mcp.answers.requests import read_code_question, read_question, read_status_question
from graphrag_mcp.app.lazy import AnyBackend
from graphrag_mcp.errors import RequestError, quoted
from graphrag_mcp.index.failures import explain
from graphrag_mcp.model.reports import IndexState
from graphrag_mcp.model.search import SearchRequest, SearchResult

if TYPE_CHECKING:
    from graphrag_mcp.app.local import App
    from graphrag_mcp.app.remote import RemoteApp

FIRST_RESULT_SECONDS = 2.0  # A small repository is indexed by then; a large one answers from what is there.
NO_RESULT_SECONDS = 10.0  # While the index is being built, an empty answer would only be asked for again.
PROGRESS_SECONDS = 0.25
CALLS_AT_ONCE = 4  # Of thirty, half are answered in half the time that they take side by side, and memory is bounded.
UNFINISHED = ("empty", "building")

logger = logging.getLogger(__name__)
_Value = TypeVar("_Value")
_limiter: RunVar[anyio.CapacityLimiter] = RunVar("calls at once")


async def ask(backend: AnyBackend, work: Callable[["App | RemoteApp"], Awaitable[_Value]]) -> _Value:
    """Work on the open application. Raises IndexStoreError when its index file cannot be read; it is examined then."""
    app = await in_thread(backend.app)
    try:
        try:
            return await work(app)
        except sqlite3.ProgrammingError:  # The file was closed meanwhile, to be examined.
            return await work(app)
    except sqlite3.Error as error:
        logger.warning("The index file cannot be read: %s", error)
        raise app.doubt(error) from error


def describe_failure(what: str, error: Exception) -> str:
    """Return what a caller is told of an error; what nobody expected is logged with its traceback."""
    if known := explain(error):
        return printable(known)
    logger.error("%s failed", what, exc_info=error)
    return f"{what} failed unexpectedly; the server's error output has the details."


def refusal(method: str, error: Exception) -> MCPError:
    """Return the protocol's form of an error: whose fault it is, and what `describe_failure` says."""
    code = INVALID_PARAMS if isinstance(error, RequestError) else INTERNAL_ERROR
    return MCPError(code=code, message=describe_failure(method, error))


async def answer_call(
    backend: AnyBackend, context: ServerRequestContext[Any], tool: str, arguments: Mapping[str, object]
) -> str:
    """Return the answer to a call of a tool. Raises RequestError for what is no tool, or none of its arguments."""
    if tool not in TOOLS:
        raise RequestError("name", f"{quoted(tool)} is not a tool; there are: {', '.join(TOOLS)}")
    return await ask(backend, partial(_answer, context=context, tool=tool, arguments=arguments))


async def _answer(
    app: "App | RemoteApp", context: ServerRequestContext[Any], tool: str, arguments: Mapping[str, object]
) -> str:
    if tool == STATUS_TOOL:
        asked = read_status_question(arguments)
        status = await in_thread(app.status)
        if asked.response_format == "json":
            return json.dumps(status_payload(status))
        text = render_status(status, asked.response_format == "detailed")
        return cut_text(text, room_of(asked.token_budget)).text if asked.token_budget else text
    tokens = app.settings.retrieval.response_tokens
    if tool in CODE_TOOLS:
        return await _answer_code(app, context, tool, arguments)
    question = read_question(tool, arguments, app.settings, app.root)
    result = await _search(app, question.request, context)
    return render_answer(tool, question, result, tokens)


async def _answer_code(
    app: "App | RemoteApp", context: ServerRequestContext[Any], tool: str, arguments: Mapping[str, object]
) -> str:
    """Answer exactly: so an incomplete index is waited for, longer than for a search, and said to be one."""
    parsed, first, scope = read_code_question(tool, arguments, app.settings, app.root)
    unfinished = await wait_until_complete(app, context)
    question = partial(answer_code, tool=tool, arguments=parsed, first=first, scope=scope)
    try:
        answer, stale = await in_thread(partial(app.navigate, question))
    except RequestError as error:
        raise RequestError(error.argument, f"{error}. {unfinished}" if unfinished else str(error)) from error
    notes = [unfinished] if unfinished else []
    return write(answer, tool, parsed, app.settings.retrieval.response_tokens, notes, stale)


async def wait_until_complete(app: "App | RemoteApp", context: ServerRequestContext[Any]) -> str:
    """Give the index a moment, and return what a reader of an exact answer must know when it needs longer."""
    state = await in_thread(app.index_state)
    deadline = anyio.current_time() + NO_RESULT_SECONDS
    while state.state in UNFINISHED and anyio.current_time() < deadline:
        state = await _wait(app, state, context)
    return "" if state.state == "ready" else f"The index is not complete: {describe_state(state)}."


async def _search(app: "App | RemoteApp", request: SearchRequest, context: ServerRequestContext[Any]) -> SearchResult:
    """Give an index that is nearly complete a moment, and one that has no answer yet somewhat more.

    A client that wants progress hears how far the index is meanwhile.
    """
    started = anyio.current_time()
    await _wait_for_index(app, context)
    result = await in_thread(partial(app.search, request))
    while _is_too_early(result) and anyio.current_time() < started + NO_RESULT_SECONDS:
        await _wait(app, result.meta.index, context)
        result = await in_thread(partial(app.search, request))
    return result


async def _wait_for_index(app: "App | RemoteApp", context: ServerRequestContext[Any]) -> None:
    started = anyio.current_time()
    state = await in_thread(app.index_state)
    while _is_worth_waiting(state, started + FIRST_RESULT_SECONDS - anyio.current_time()):
        state = await _wait(app, state, context)


async def _wait(app: "App | RemoteApp", state: IndexState, context: ServerRequestContext[Any]) -> IndexState:
    await context.session.report_progress(state.files_done, state.files_total or None, describe_state(state))
    return await anyio.to_thread.run_sync(app.wait_ready, PROGRESS_SECONDS, abandon_on_cancel=True)


def _is_worth_waiting(state: IndexState, seconds: float) -> bool:
    if state.state not in UNFINISHED or seconds <= 0:
        return False
    return state.chunks == 0 or state.seconds_left is None or state.seconds_left <= seconds


def _is_too_early(result: SearchResult) -> bool:
    return not result.primary and result.meta.index.state in UNFINISHED


async def in_thread(work: Callable[[], _Value]) -> _Value:
    """Run blocking work beside the event loop, not too much at once, since it shares Python's lock and the cores.

    A call that the client gives up is left to finish on its own.
    """
    try:
        limiter = _limiter.get()
    except LookupError:
        _limiter.set(limiter := anyio.CapacityLimiter(CALLS_AT_ONCE))
    return await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=limiter)
