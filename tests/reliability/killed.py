"""The process that is killed: indexes a project in small batches, and ends itself where it is told to.

`python -m tests.reliability.killed ROOT [COMMIT before|after]`: with a number, it is killed at that commit.
"""

import math
import os
import signal
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from graphrag_mcp.cli.run import run
from graphrag_mcp.index import indexer
from graphrag_mcp.stores.sqlite.database import Database

BATCH_CHUNKS = 20


def run_index(root: str) -> int:
    """Index a project in small batches, and return the exit code."""
    indexer.BATCH_CHUNKS = BATCH_CHUNKS
    indexer.BATCH_SECONDS = math.inf  # However busy the machine is, a batch is the same.
    return run(["index", "--root", root])


def main() -> None:
    if len(sys.argv) > 2:
        _die_at(int(sys.argv[2]), sys.argv[3])
    sys.exit(run_index(sys.argv[1]))


def _die_at(number: int, when: str) -> None:
    """End the process right before or after its so-many-th commit."""
    transaction = Database.transaction
    left = number

    @contextmanager
    def deadly(database: Database) -> Iterator[sqlite3.Connection]:
        nonlocal left
        with transaction(database) as connection:
            yield connection
            left -= 1
            if left == 0 and when == "before":
                os.kill(os.getpid(), signal.SIGKILL)
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    Database.transaction = deadly  # type: ignore[method-assign]


if __name__ == "__main__":
    main()
