"""A real Neo4j Community server for the tests, from the jars that pom.xml names."""

import atexit
import contextlib
import fcntl
import functools
import hashlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

HOST = "127.0.0.1"
USER = "neo4j"
OLDEST_JAVA = 17
RESOLVE_SECONDS = 900
PASSWORD_SECONDS = 60
START_SECONDS = 120
STOP_SECONDS = 30

_POM = Path(__file__).with_name("pom.xml")
_TARGET = Path(__file__).with_name("target")
# Up in six seconds; for measuring, Java's own choices are the better ones.
QUICK_START = ("-Xms128m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
AS_IN_PRODUCTION = ("-Xms1g", "-Xmx1g")
_JVM_OPTIONS = (
    "-Dfile.encoding=UTF-8",
    "-Dlog4j2.disable.jmx=true",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--enable-native-access=ALL-UNNAMED",
)
_SETTINGS = """\
server.default_listen_address={host}
server.default_advertised_address={host}
server.bolt.listen_address={host}:{port}
server.bolt.advertised_address={host}:{port}
server.http.enabled=false
server.https.enabled=false
server.memory.pagecache.size=128m
db.tx_log.preallocate=false
dbms.security.auth_enabled=true
dbms.usage_report.enabled=false
client.allow_telemetry=false
internal.dbms.bolt.netty_server_shutdown_quiet_period=0
"""
# Becomes the server, after asking the kernel (Linux only) to kill it when the thread that started it ends.
_TIED_TO_PARENT = """\
import ctypes, os, signal, sys
prctl = getattr(ctypes.CDLL(None), "prctl", None)
if prctl is not None:
    prctl(1, signal.SIGKILL)
if os.getppid() == int(sys.argv[1]):
    os.execv(sys.argv[2], sys.argv[2:])
"""
# The magic number, then the versions asked for: 5.8 down to 5.0, 4.4, none, none.
_BOLT_HANDSHAKE = bytes.fromhex("6060b017 00080805 00000404 00000000 00000000")


def why_not_available() -> str:
    """Return "" if a server can be started here, else one sentence that says what is missing."""
    version = _java_version()
    if version < OLDEST_JAVA:
        found = f"only Java {version}" if version else "no Java"
        return f"Neo4j needs Java {OLDEST_JAVA} or later, and {found} was found."
    if not _libraries().is_dir() and shutil.which("mvn") is None:
        return "Maven (mvn), which downloads Neo4j's jars, is missing."
    return ""


def _java() -> str:
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java", path=str(Path(home, "bin")) if home else None) or ""


@functools.cache
def _java_version() -> int:
    java = _java()
    if not java:
        return 0
    result = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    found = re.search(r'version "(?:1\.)?(\d+)', result.stderr + result.stdout)
    return int(found[1]) if found else 0


def _libraries() -> Path:
    return _TARGET / f"neo4j-lib-{hashlib.sha256(_POM.read_bytes()).hexdigest()[:12]}"


def resolve_libraries() -> Path:
    """Return the folder of Neo4j's jars, downloaded with Maven the first time."""
    folder = _libraries()
    _TARGET.mkdir(exist_ok=True)
    with (_TARGET / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            with tempfile.TemporaryDirectory(dir=_TARGET) as scratch:
                complete = Path(scratch, "lib")
                command = ["mvn", "--batch-mode", "--no-transfer-progress", "--quiet", "-Dstyle.color=never"]
                command += ["--file", str(_POM), f"-Dneo4j.lib={complete}", "dependency:copy-dependencies"]
                _run(command, RESOLVE_SECONDS)
                complete.rename(folder)
    return folder


def _run(command: list[str], seconds: float, environment: dict[str, str] | None = None) -> None:
    result = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=seconds,
        check=False,
        env=environment,
    )
    if result.returncode != 0:
        raise RuntimeError(f"{Path(command[0]).name} exited with {result.returncode}:\n{_last_lines(result.stdout)}")


def _last_lines(text: str) -> str:
    return "\n".join(text.splitlines()[-40:])


def _free_port() -> int:
    with socket.create_server((HOST, 0)) as server:
        port: int = server.getsockname()[1]
        return port


class Neo4jServer:
    """A server of its own port, password and data, which ends with the thread that started it."""

    user = USER

    def __init__(self, home: Path, password: str, java_options: Sequence[str] = QUICK_START) -> None:
        self._java_options = java_options
        self.home = home.absolute()
        self.password = password
        self.port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def uri(self) -> str:
        """The address for a driver."""
        return f"bolt://{HOST}:{self.port}"

    @property
    def pid(self) -> int | None:
        """The process id of the server, None while there is none."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start the server on the data that is there, or on none, and wait until bolt answers."""
        if self._process is not None and self._process.poll() is None:
            raise RuntimeError("Neo4j is running already.")
        if missing := why_not_available():
            raise RuntimeError(missing)
        configuration = self.home / "conf"
        configuration.mkdir(parents=True, exist_ok=True)
        (configuration / "neo4j.conf").write_text(_SETTINGS.format(host=HOST, port=self.port), encoding="utf-8")
        class_path = f"{resolve_libraries()}/*"
        # The server takes the password from there only at its very first start.
        if not (self.home / "data" / "databases").exists():
            self._set_initial_password(class_path)
        command = [
            _java(),
            *self._java_options,
            *_JVM_OPTIONS,
            "-cp",
            class_path,
            "org.neo4j.server.CommunityEntryPoint",
        ]
        command += [f"--home-dir={self.home}", f"--config-dir={configuration}", "--console-mode"]
        atexit.register(self.kill)
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _TIED_TO_PARENT, str(os.getpid()), *command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        try:
            self._wait_until_ready(self._process)
        except BaseException:
            self.kill()
            raise

    def stop(self) -> None:
        """Let the server shut down, and kill it if it takes too long."""
        if self._process is not None:
            self.resume()
            self._process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(STOP_SECONDS)
            self.kill()

    def kill(self) -> None:
        """End the server at once, as a power cut would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
        atexit.unregister(self.kill)

    def suspend(self) -> None:
        """Make the server accept connections and never answer."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let a suspended server go on."""
        self._signal(signal.SIGCONT)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def _log(self) -> Path:
        return self.home / "console.log"

    def _set_initial_password(self, class_path: str) -> None:
        command = [_java(), "-Xmx128m", "-XX:TieredStopAtLevel=1", "-cp", class_path, "org.neo4j.cli.AdminTool"]
        command += ["dbms", "set-initial-password", "--", self.password]
        places = {"NEO4J_HOME": str(self.home), "NEO4J_CONF": str(self.home / "conf")}
        _run(command, PASSWORD_SECONDS, {**os.environ, **places})

    def _signal(self, number: signal.Signals) -> None:
        if self._process is None:
            raise RuntimeError("Neo4j is not running.")
        self._process.send_signal(number)

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + START_SECONDS
        while True:
            if process.poll() is not None:
                raise RuntimeError(f"Neo4j exited with {process.returncode}:\n{self._tail()}")
            if self._answers():
                return
            if time.monotonic() > deadline:
                raise TimeoutError(f"Neo4j did not answer within {START_SECONDS} seconds:\n{self._tail()}")
            time.sleep(0.1)

    def _answers(self) -> bool:
        try:
            with socket.create_connection((HOST, self.port), timeout=2) as connection:
                connection.sendall(_BOLT_HANDSHAKE)
                version = connection.recv(4)
                return len(version) == 4 and any(version)
        except OSError:
            return False

    def _tail(self) -> str:
        return _last_lines(self._log.read_text(encoding="utf-8", errors="replace"))
