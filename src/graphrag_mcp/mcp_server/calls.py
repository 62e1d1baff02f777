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

from graphrag_mcp.app.lazy import LazyBackend
from graphrag_mcp.app.protocol import Capability, SearchBackend
from graphrag_mcp.errors import RequestError
from graphrag_mcp.index.failures import explain
from graphrag_mcp.model.reports import IndexState
from graphrag_mcp.model.search import SearchResult
from graphrag_mcp.tools.call import Call
from graphrag_mcp.tools.printing import describe_state, printable
from graphrag_mcp.tools.tool import Tool

FIRST_RESULT_SECONDS = 2.0  # A small repository is indexed by then; a large one answers from the part indexed so far.
NO_RESULT_SECONDS = 10.0  # While the index is being built, an empty answer would only be requested again.
PROGRESS_SECONDS = 0.25
CALLS_AT_ONCE = 4  # Of thirty, half are answered in half the time that all take in parallel, and memory is bounded.

logger = logging.getLogger(__name__)
Context = ServerRequestContext[Any]
_Backend = TypeVar("_Backend", bound=SearchBackend)
_Answer = TypeVar("_Answer")
_Arguments = TypeVarTuple("_Arguments")
_limiter: RunVar[anyio.CapacityLimiter] = RunVar("calls at once")


async def answer_call(
    backend: LazyBackend[SearchBackend], context: Context, tool: Tool[Any, Any, Any], given: Mapping[str, object]
) -> str:
    """Return the answer to a call of a tool. Raises RequestError for wrong arguments.

    A client that asked for progress gets the state of the index meanwhile.
    """
    call, answer = await ask(backend, _answer_at_once, tool, given)
    if answer:
        return answer
    started = anyio.current_time()
    await wait_for_index(backend, context, tool.needs)
    found = await ask(backend, tool.ask, call)
    while _is_too_early(found) and anyio.current_time() < started + NO_RESULT_SECONDS:
        await _wait(backend, found.meta.index, context)
        found = await ask(backend, tool.ask, call)
    return tool.write(found, call)


async def wait_for_index(backend: LazyBackend[SearchBackend], context: Context, needs: Capability) -> None:
    """Wait for an index that is being built: a search until it can find something, an exact request longer."""
    started = anyio.current_time()
    state = await ask(backend, lambda one: one.index_state())
    while _is_worth_waiting(state, needs, anyio.current_time() - started):
        state = await _wait(backend, state, context)


async def ask(
    backend: LazyBackend[_Backend], question: Callable[[_Backend, *_Arguments], _Answer], *arguments: *_Arguments
) -> _Answer:
    """Ask the opened backend in a thread; at most CALLS_AT_ONCE, since they share Python's lock and the cores.

    A call that the client cancels is left to finish.
    """
    try:
        limiter = _limiter.get()
    except LookupError:
        _limiter.set(limiter := anyio.CapacityLimiter(CALLS_AT_ONCE))
    return await anyio.to_thread.run_sync(backend.ask, question, *arguments, abandon_on_cancel=True, limiter=limiter)


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


def _answer_at_once(
    backend: SearchBackend, tool: Tool[Any, Any, Any], given: Mapping[str, object]
) -> tuple[Call[Any], str]:
    """Return the call and its answer, "" when the index is still being built and more would be found later."""
    call = tool.read(given, backend.settings, backend.root)
    if _is_worth_waiting(backend.index_state(), tool.needs, 0.0):
        return call, ""
    found = tool.ask(backend, call)
    return call, "" if _is_too_early(found) else tool.write(found, call)


async def _wait(backend: LazyBackend[SearchBackend], state: IndexState, context: Context) -> IndexState:
    await context.session.report_progress(state.files_done, state.files_total or None, describe_state(state))
    # Outside of the limit of calls: it only waits.
    return await anyio.to_thread.run_sync(
        backend.ask, lambda one: one.wait_ready(PROGRESS_SECONDS), abandon_on_cancel=True
    )


def _is_worth_waiting(state: IndexState, needs: Capability, waited_seconds: float) -> bool:
    if state.state.is_settled or needs is Capability.STATUS:
        return False
    if needs is Capability.CODE:
        return waited_seconds < NO_RESULT_SECONDS
    left = FIRST_RESULT_SECONDS - waited_seconds
    return left > 0 and (state.chunks == 0 or state.seconds_left is None or state.seconds_left <= left)


def _is_too_early(found: object) -> bool:
    return isinstance(found, SearchResult) and not found.primary and not found.meta.index.state.is_settled
