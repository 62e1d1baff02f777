"""The entry point of `graphrag-mcp` and of `python -m graphrag_mcp`."""

import os
import sys
from contextlib import suppress

from graphrag_mcp import __version__

# Said by the process that removes what a killed run leaves in the system, which is as it should be.
_NO_NEWS = "ignore:resource_tracker"


def main() -> int:
    """Run the command line and return its exit code."""
    if sys.argv[1:] == ["--version"] and sys.stdout is not None:  # Scripts ask for it, and it needs no command.
        with suppress(OSError):  # The reader may have gone.
            sys.stdout.write(f"graphrag-mcp {__version__}\n")
        return 0
    # Its own warnings cannot be filtered from here: it is another process, which reads this variable.
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, (os.environ.get("PYTHONWARNINGS"), _NO_NEWS)))
    # Imported here: the processes that parse files import this module too, and need nothing of it.
    from graphrag_mcp.cli.run import run
    from graphrag_mcp.system.process import end, has_daemon_threads

    code = run(sys.argv[1:])
    if has_daemon_threads():
        with suppress(OSError, AttributeError):  # The reader has gone, or there is no standard output.
            sys.stdout.flush()
        end(code)
    return code


if __name__ == "__main__":
    sys.exit(main())
