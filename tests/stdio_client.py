"""A client that speaks over the pipes of a server process, and sees every byte."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, BinaryIO


class Server:
    """A server process and the client's end of its wire."""

    def __init__(self, root: Path, environment: dict[str, str], stderr: int | BinaryIO = subprocess.DEVNULL) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "graphrag_mcp", "serve", "--root", str(root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=environment,
        )
        self._last_id = 0
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        self.ask("initialize", params)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message: dict[str, Any]) -> None:
        self.send_line(json.dumps(message).encode())

    def send_line(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        """Return the next line, which has to be a JSON-RPC message."""
        assert self.process.stdout is not None
        message: dict[str, Any] = json.loads(self.process.stdout.readline())
        assert message["jsonrpc"] == "2.0"
        return message

    def start_asking(self, method: str, params: dict[str, Any]) -> int:
        self._last_id += 1
        self.send({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params})
        return self._last_id

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        request_id = self.start_asking(method, params)
        while (message := self.receive()).get("id") != request_id:
            pass
        return message

    def call(self, tool: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        return result["content"][0]["text"], result.get("isError", False)

    def close(self) -> bytes:
        """Close the client's end and return what was still on the wire."""
        return self.process.communicate(timeout=10)[0]
