"""Runs a command beside a real Qdrant, over REST and then over gRPC: `make test-qdrant QDRANT_SOURCE=PATH`.

    python -m tests.servers.qdrant_server BINARY COMMAND...

BINARY is a Qdrant. Each run has a server of its own, in a new folder, with a key; the command finds it by the variables
that `tests/servers/connections.py` reads.
"""

import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

HOST = "127.0.0.1"
START_SECONDS = 60
STOP_SECONDS = 30


@contextmanager
def qdrant_server(binary: Path, folder: Path) -> Iterator[Mapping[str, str]]:
    """Run a server that keeps its data in a folder, and return the variables by which tests find it."""
    ports, key = [_free_port() for _ in range(2)], secrets.token_hex(16)
    settings = {
        "SERVICE__HOST": HOST,
        "SERVICE__HTTP_PORT": str(ports[0]),
        "SERVICE__GRPC_PORT": str(ports[1]),
        "SERVICE__API_KEY": key,
        "STORAGE__STORAGE_PATH": str(folder / "storage"),
        "STORAGE__SNAPSHOTS_PATH": str(folder / "snapshots"),
        "LOG_LEVEL": "WARN",
        "TELEMETRY_DISABLED": "true",
    }
    environ = {**os.environ, **{f"QDRANT__{name}": value for name, value in settings.items()}}
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen([binary], cwd=folder, env=environ, stdout=log, stderr=subprocess.STDOUT) as process,
    ):
        url = f"http://{HOST}:{ports[0]}"
        try:
            _wait(process, f"{url}/readyz", folder / "log")
            yield {
                "GRAPHRAG_TEST_QDRANT_URL": url,
                "GRAPHRAG_TEST_QDRANT_API_KEY": key,
                "GRAPHRAG_TEST_QDRANT_GRPC_PORT": str(ports[1]),
            }
        finally:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


def _wait(process: "subprocess.Popen[bytes]", url: str, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            urllib.request.urlopen(url, timeout=1).close()  # noqa: S310 - its own server
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"Qdrant did not start: {log.read_text()[-2000:]}")


def _free_port() -> int:
    with socket.socket() as free:
        free.bind((HOST, 0))
        port: int = free.getsockname()[1]
        return port


def main() -> int:
    binary, *command = sys.argv[1:]
    for protocol in ("REST", "gRPC"):
        with tempfile.TemporaryDirectory() as folder, qdrant_server(Path(binary).resolve(), Path(folder)) as found:
            sys.stdout.write(f"Qdrant over {protocol}\n")
            sys.stdout.flush()
            named = {**found, "GRAPHRAG_TEST_QDRANT_GRPC_PORT": "0"} if protocol == "REST" else found
            if code := subprocess.run(command, env={**os.environ, **named}, check=False).returncode:
                return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
