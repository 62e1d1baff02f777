"""Answers one call of a tool in a thread; waits a moment for an index that is being built."""

import logging
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, TypeVarTuple

import anyio
import anyio.to_thread
from anyio.lowlevel import RunVar
from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS

from graphrag_mcp.app.session import Capability, LazySession, View
from graphrag_mcp.errors import RequestError
from graphrag_mcp.index.failures import explain
from graphrag_mcp.model.reports import IndexState
from graphrag_mcp.model.search import SearchResult
from graphrag_mcp.tools.printing import describe_state, printable
from graphrag_mcp.tools.tool import Tool

FIRST_RESULT_SECONDS = 2.0  # A small repository is indexed by then; a large one answers from the part indexed so far.
NO_RESULT_SECONDS = 10.0  # While the index is being built, an empty answer would only be requested again.
PROGRESS_SECONDS = 0.25
CALLS_AT_ONCE = 4  # Half of thirty are answered in half the time that all take in parallel, and memory is bounded.

logger = logging.getLogger(__name__)
Context = ServerRequestContext[Any]
_Answer = TypeVar("_Answer")
_Arguments = TypeVarTuple("_Arguments")
_limiter: RunVar[anyio.CapacityLimiter] = RunVar("calls at once")


async def answer_call(
    project: LazySession[Any], context: Context, tool: Tool[Any, Any, Any], arguments: Mapping[str, object]
) -> str:
    """Return the answer to a call of a tool. Raises RequestError for wrong arguments.

    A client that asked for progress gets the state of the index meanwhile.
    """
    started = anyio.current_time()
    while isinstance(
        answer := await ask(project, answer_now, tool, arguments, anyio.current_time() - started), IndexState
    ):
        await _wait(project, answer, context)
    return answer


def answer_now(
    view: View, tool: Tool[Any, Any, Any], arguments: Mapping[str, object], waited_seconds: float
) -> str | IndexState:
    """Return the answer, or the state of an index that is being built where more would be found later."""
    call = tool.read(arguments, view.settings, view.root)
    if _is_worth_waiting(view.state, tool.needs, waited_seconds):
        return view.state
    answer = tool.ask(view, call)
    may_wait = waited_seconds < NO_RESULT_SECONDS
    if may_wait and isinstance(answer, SearchResult) and not answer.primary and not answer.meta.index.state.is_settled:
        return answer.meta.index
    return tool.write(answer, call)


async def wait_for_index(project: LazySession[Any], context: Context) -> None:
    """Wait for an index that is being built, as long as an exact question does."""
    started = anyio.current_time()
    state = await ask(project, lambda view: view.state)
    while _is_worth_waiting(state, Capability.CODE, anyio.current_time() - started):
        state = await _wait(project, state, context)


async def ask(
    project: LazySession[Any], question: Callable[[Any, *_Arguments], _Answer], *arguments: *_Arguments
) -> _Answer:
    """Ask the opened project in a thread; at most CALLS_AT_ONCE, since they share Python's lock and the cores.

    A call that the client cancels is left to finish.
    """
    try:
        limiter = _limiter.get()
    except LookupError:
        _limiter.set(limiter := anyio.CapacityLimiter(CALLS_AT_ONCE))
    return await anyio.to_thread.run_sync(
        lambda: project.open().ask(question, *arguments), abandon_on_cancel=True, limiter=limiter
    )


def describe_failure(what: str, error: Exception) -> str:
    """Return the message for an error; an unexpected error is logged with its traceback."""
    if known := explain(error):
        return printable(known)
    logger.error("%s failed", what, exc_info=error)
    return f"{what} failed unexpectedly; the server's error output has the details."


def refusal(method: str, error: Exception) -> MCPError:
    """Return an error as the protocol has it: a code for the cause, and the message of `describe_failure`."""
    code = INVALID_PARAMS if isinstance(error, RequestError) else INTERNAL_ERROR
    return MCPError(code=code, message=describe_failure(method, error))


async def _wait(project: LazySession[Any], state: IndexState, context: Context) -> IndexState:
    await context.session.report_progress(state.files_done, state.files_total or None, describe_state(state))
    # Outside of the limit of calls: it only waits.
    return await anyio.to_thread.run_sync(lambda: project.open().wait_ready(PROGRESS_SECONDS), abandon_on_cancel=True)


def _is_worth_waiting(state: IndexState, needs: Capability, waited_seconds: float) -> bool:
    if state.state.is_settled or needs is Capability.STATUS:
        return False
    if needs in (Capability.CODE, Capability.RELATIONS):
        return waited_seconds < NO_RESULT_SECONDS
    left = FIRST_RESULT_SECONDS - waited_seconds
    return left > 0 and (state.chunks == 0 or state.seconds_left is None or state.seconds_left <= left)
