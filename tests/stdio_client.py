"""A client that speaks over the pipes of a server process, and sees every byte."""

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO


class Server:
    """A server process and the client's end of its wire."""

    def __init__(
        self,
        root: Path,
        environment: dict[str, str],
        stderr: int | BinaryIO = subprocess.DEVNULL,
        arguments: Sequence[str] = (),
        command: Sequence[str] = (),
    ) -> None:
        """Start a command, or Python with these arguments, or else the server of `root`, and open a session."""
        self.process = subprocess.Popen(
            command or [sys.executable, *(arguments or ("-m", "graphrag_mcp", "serve", "--root", str(root)))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=environment,
        )
        self._last_id = 0
        self._unread = b""
        self.last_line = b""
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        try:
            self.introduction: dict[str, Any] = self.ask("initialize", params)["result"]
        except BaseException:
            self.process.kill()
            self.process.communicate()
            raise
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message: dict[str, Any]) -> None:
        self.send_line(json.dumps(message).encode())

    def send_line(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def receive(self, seconds: float | None = None) -> dict[str, Any]:
        """Return the next line, which has to be a JSON-RPC message. Raises TimeoutError when none comes in time."""
        deadline = None if seconds is None else time.monotonic() + seconds
        while b"\n" not in self._unread:
            self._unread += self._read(deadline)
        line, self._unread = self._unread.split(b"\n", 1)
        self.last_line = line
        message: dict[str, Any] = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message

    def _read(self, deadline: float | None) -> bytes:
        assert self.process.stdout is not None
        left = None if deadline is None else max(0.0, deadline - time.monotonic())
        if not select.select([self.process.stdout], [], [], left)[0]:
            raise TimeoutError("the server says nothing")
        if not (read := os.read(self.process.stdout.fileno(), 65536)):
            raise EOFError("the server has closed its end")
        return read

    def start_asking(self, method: str, params: dict[str, Any]) -> int:
        self._last_id += 1
        self.send({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params})
        return self._last_id

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        return self.await_answer(self.start_asking(method, params))

    def await_answer(self, request_id: int) -> dict[str, Any]:
        """Return the answer to a request; what else comes meanwhile is dropped."""
        while (message := self.receive()).get("id") != request_id:
            pass
        return message

    def call(self, tool: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        return result["content"][0]["text"], result.get("isError", False)

    def close(self) -> bytes:
        """Close the client's end and return what was still on the wire."""
        return self._unread + self.process.communicate(timeout=10)[0]
