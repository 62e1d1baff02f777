"""Completes what a person types into a prompt or a resource: paths and names that are indexed."""

from functools import partial
from typing import TYPE_CHECKING, Any

from mcp.server import ServerRequestContext
from mcp.types import CompleteRequestParams, CompleteResult, Completion

from graphrag_mcp.app.lazy import AnyBackend
from graphrag_mcp.mcp_server.calls import ask, in_thread, refusal

if TYPE_CHECKING:
    from graphrag_mcp.app.local import App
    from graphrag_mcp.app.remote import RemoteApp

MOST_VALUES = 100  # The protocol's limit.


class Completer:
    """Completes arguments by their names: `path` and `symbol`; nothing is known of others."""

    def __init__(self, backend: AnyBackend) -> None:
        self._backend = backend

    async def complete(self, _context: ServerRequestContext[Any], asked: CompleteRequestParams) -> CompleteResult:
        """Return what begins with the text first, then what holds it."""
        try:
            find = partial(_find, name=asked.argument.name, beginning=asked.argument.value)
            values = await ask(self._backend, find)
        except Exception as error:
            raise refusal("completion/complete", error) from error
        shown = values[:MOST_VALUES]
        completion = Completion(values=shown, total=len(values), has_more=len(values) > len(shown))
        return CompleteResult(completion=completion)


async def _find(app: "App | RemoteApp", name: str, beginning: str) -> list[str]:
    if name not in ("path", "symbol"):
        return []
    navigator = await in_thread(app.navigator)
    complete = navigator.complete_path if name == "path" else navigator.complete_symbol
    return await in_thread(partial(complete, beginning))
