"""Servers that are of no use, each in another way."""

import http.server
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

FAULTS = ("refuses", "silent", "500", "401", "nonsense")


@contextmanager
def faulty(fault: str) -> Iterator[str]:
    """Listen on a free port, and be of no use."""
    if fault in ("500", "401", "nonsense"):
        status, body = (200, b"<html>") if fault == "nonsense" else (int(fault), b"")

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.send_response(status)
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_PUT = do_POST  # noqa: N815

            def log_message(self, *_: object) -> None:
                """Keep quiet."""

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
            yield f"http://127.0.0.1:{server.server_port}"
            server.shutdown()
        return
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        if fault == "refuses":
            listener.close()
        yield url
