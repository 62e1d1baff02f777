"""A real `graphrag-mcp ui` in a process of its own, and a client that says exactly what it is told to."""

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.waiting import wait_until

READY_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer of the server."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.text)


@dataclass(slots=True)
class RunningPage:
    """The page of one project; `cookie` is what the browser would send."""

    url: str
    process: "subprocess.Popen[str]"
    cookie: str = field(default="")

    @property
    def port(self) -> int:
        """The port it listens on."""
        return urlsplit(self.url).port or 0

    @property
    def token(self) -> str:
        """The token of its address."""
        return parse_qs(urlsplit(self.url).query)["token"][0]

    def get(self, path: str, headers: Mapping[str, str] | None = None, method: str = "GET", body: str = "") -> Reply:
        """Send one request as it is given; the Host header is the right one unless it is given too."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in {"Host": f"127.0.0.1:{self.port}", **(headers or {})}.items():
            connection.putheader(name, value)
        if body:
            connection.putheader("Content-Length", str(len(body.encode())))
        connection.endheaders(body.encode() or None)
        answer = connection.getresponse()
        text = answer.read().decode("utf-8", "replace")
        connection.close()
        return Reply(answer.status, {name.lower(): value for name, value in answer.getheaders()}, text)

    def open(self) -> Reply:
        """Open the page with its token and keep the cookie."""
        reply = self.get(f"/?token={self.token}")
        self.cookie = reply.headers["set-cookie"].partition(";")[0]
        return reply

    def ask(self, name: str, values: object = None, **headers: str) -> Reply:
        """Send one of the page's requests."""
        body = json.dumps({} if values is None else values)
        return self.get(f"/api/{name}", {"Cookie": self.cookie, **headers}, "POST", body)

    def wait_ready(self) -> None:
        """Wait until the index is complete."""
        wait_until(lambda: self.ask("progress").json["state"] == "ready", READY_SECONDS)

    def stop(self) -> int:
        """Press Ctrl-C and return the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(15)


@contextmanager
def running_page(root: Path, data: Path, *options: str, browser: str = "") -> Iterator[RunningPage]:
    """Start the command on a project and stop it afterwards; `browser` is the command that it opens as one, if any."""
    environment = os.environ | {"GRAPHRAG_DATA_DIR": str(data), "GRAPHRAG_WORKERS": "1", "BROWSER": browser}
    shown = [] if browser else ["--no-browser"]
    command = [sys.executable, "-m", "graphrag_mcp", "ui", "--root", str(root), *shown, *options]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline().strip()
        if not line:
            process.wait(10)
            assert process.stderr is not None
            raise RuntimeError(process.stderr.read())
        try:
            page = RunningPage(line, process)
            page.open()
            yield page
        finally:
            if process.poll() is None:
                process.kill()
