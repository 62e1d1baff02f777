"""Runs the programs of others that `make test-clients` has installed."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent
REPOSITORY = FOLDER.parents[1]
REGISTRY_VALIDATOR = FOLDER / "target" / "validate-server-json"
SECONDS = 120
_BINARIES = FOLDER / "node_modules" / ".bin"
_OPENCODE = FOLDER / "node_modules" / "opencode-linux-x64" / "bin"  # Its package has a program for each system.
_OURS = Path(sys.executable).parent  # Where graphrag-mcp and uv are.
_PRIVATE = ("ANTHROPIC_", "CLAUDE", "GRAPHRAG_")  # What a user or a session that runs the tests may have set.


class Done(NamedTuple):
    """A program that ended."""

    code: int
    output: str
    errors: str

    def json(self) -> Any:
        """Return its output, which has to be JSON."""
        return json.loads(self.output)


def environment(home: Path, **more: str) -> dict[str, str]:
    """Return an environment in which nothing of the user's is read or written."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_PRIVATE)}
    search = os.pathsep.join([str(_OURS), str(_BINARIES), str(_OPENCODE), kept["PATH"]])
    return kept | {
        "HOME": str(home),
        "PATH": search,
        "GRAPHRAG_DATA_DIR": str(home / "data"),
        "GRAPHRAG_WORKERS": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        **more,
    }


def run(*command: str | Path, environ: Mapping[str, str], folder: Path = REPOSITORY) -> Done:
    """Run a program to its end."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)
