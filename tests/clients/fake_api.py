"""A model for Claude Code that calls the tools it is told to, one after the other, over the API's own protocol."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, NamedTuple


class Api(NamedTuple):
    """Where it listens, and the requests that had tools, in their order."""

    url: str
    requests: list[dict[str, Any]]


@contextmanager
def api_that_calls(calls: Sequence[tuple[str, Mapping[str, Any]]]) -> Iterator[Api]:
    """Serve a model that makes some calls of tools, and then says that it is done."""
    requests: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def do_POST(self) -> None:
            """Answer a request."""
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            block: dict[str, Any] = {"type": "text", "text": "done"}
            if request.get("tools") and self.path.startswith("/v1/messages?"):
                requests.append(request)
                if len(requests) <= len(calls):
                    name, given = calls[len(requests) - 1]
                    block = {"type": "tool_use", "id": f"toolu_{len(requests)}", "name": name, "input": given}
            self._send(_events(block))

        def do_HEAD(self) -> None:
            """Say that the server is there."""
            self._send([])

        def _send(self, events: Sequence[Mapping[str, Any]]) -> None:
            data = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield Api(f"http://127.0.0.1:{server.server_port}", requests)
        server.shutdown()


def _events(block: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a message with one block as the API streams it."""
    is_call = block["type"] == "tool_use"
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "model", "content": [], "usage": usage}
    begun = {**block, "input": {}} if is_call else {**block, "text": ""}
    part = {"partial_json": json.dumps(block["input"])} if is_call else {"text": block["text"]}
    delta = {"type": "input_json_delta" if is_call else "text_delta", **part}
    stop = {"stop_reason": "tool_use" if is_call else "end_turn", "stop_sequence": None}
    return [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": begun},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
