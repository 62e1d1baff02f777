"""Runs a command beside a real Qdrant, over REST and then over gRPC: `make test-qdrant QDRANT_SOURCE=PATH`.

    python -m tests.servers.qdrant_server BINARY COMMAND...

BINARY is a Qdrant. Each run has a server of its own, in a new folder, with a key; the command finds it by the variables
that `tests/servers/connections.py` reads. Tested with v1.18.2; two of its dependencies are no crates, and where GitHub
cannot be reached, Cargo's `[patch]` takes folders.
"""

import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Self

HOST = "127.0.0.1"
START_SECONDS = 60
STOP_SECONDS = 30


class QdrantServer:
    """A server with a key, which keeps its data in a folder; it can be killed and started again."""

    def __init__(self, binary: Path, folder: Path) -> None:
        self._binary, self._folder = binary, folder
        self._port, self.grpc_port = _free_port(), _free_port()
        self.url, self.key = f"http://{HOST}:{self._port}", secrets.token_hex(16)
        self.key_to_read = secrets.token_hex(16)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Return when it answers."""
        settings = {
            "SERVICE__HOST": HOST,
            "SERVICE__HTTP_PORT": str(self._port),
            "SERVICE__GRPC_PORT": str(self.grpc_port),
            "SERVICE__API_KEY": self.key,
            "SERVICE__READ_ONLY_API_KEY": self.key_to_read,
            "STORAGE__STORAGE_PATH": str(self._folder / "storage"),
            "STORAGE__SNAPSHOTS_PATH": str(self._folder / "snapshots"),
            "LOG_LEVEL": "WARN",
            "TELEMETRY_DISABLED": "true",
        }
        environ = {**os.environ, **{f"QDRANT__{name}": value for name, value in settings.items()}}
        with (self._folder / "log").open("a") as log:
            self._process = subprocess.Popen(
                [self._binary], cwd=self._folder, env=environ, stdout=log, stderr=subprocess.STDOUT
            )
        deadline = time.monotonic() + START_SECONDS
        while self._process.poll() is None and time.monotonic() < deadline:
            try:
                urllib.request.urlopen(f"{self.url}/readyz", timeout=1).close()  # noqa: S310 - its own server
            except OSError:
                time.sleep(0.1)
            else:
                return
        raise RuntimeError(f"Qdrant did not start: {(self._folder / 'log').read_text()[-2000:]}")

    def kill(self) -> None:
        """End it at once, whatever it does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(STOP_SECONDS)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()


def _free_port() -> int:
    with socket.socket() as free:
        free.bind((HOST, 0))
        port: int = free.getsockname()[1]
        return port


def main() -> int:
    binary, *command = sys.argv[1:]
    for protocol in ("REST", "gRPC"):
        with tempfile.TemporaryDirectory() as folder, QdrantServer(Path(binary).resolve(), Path(folder)) as server:
            sys.stdout.write(f"Qdrant over {protocol}\n")
            sys.stdout.flush()
            found = {
                "URL": server.url,
                "API_KEY": server.key,
                "KEY_TO_READ": server.key_to_read,
                "GRPC_PORT": str(server.grpc_port if protocol == "gRPC" else 0),
                "BINARY": str(Path(binary).resolve()),
            }
            named = {f"GRAPHRAG_TEST_QDRANT_{name}": value for name, value in found.items()}
            if code := subprocess.run(command, env={**os.environ, **named}, check=False).returncode:
                return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
