"""A warm process that indexes in children of its own: starting Python anew for each of 2,000 runs would take an hour.

`python -m tests.reliability.forked` reads a JSON line a run, {"root", "environment", "errors"}, and prints exit codes.
"""

import json
import os
import sys

from graphrag_mcp.cli import commands  # Imported before the first child needs it.
from graphrag_mcp.embedding.models import load_embedder
from tests.reliability import killed


def main() -> None:
    load_embedder("").embed_query("warm")
    assert commands
    for line in sys.stdin:
        task = json.loads(line)
        child = os.fork()
        if not child:
            _run(**task)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def _run(root: str, environment: dict[str, str], errors: str) -> None:
    os.environ.update(environment)
    stream = os.open(errors, os.O_WRONLY | os.O_CREAT, 0o600)
    os.dup2(stream, 1)
    os.dup2(stream, 2)
    code = killed.run_index(root)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
