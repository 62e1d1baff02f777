"""The entry point of `graphrag-mcp` and of `python -m graphrag_mcp`."""

import sys


def main() -> int:
    """Run the command line and return its exit code."""
    # Imported here: the processes that parse files import this module too, and need nothing of it.
    from graphrag_mcp.cli.run import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
