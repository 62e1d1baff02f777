"""Starts the server from a bundle; the folder to search comes from the environment."""

import sys

from graphrag_mcp.__main__ import main

if __name__ == "__main__":  # The processes that parse files import this module too.
    sys.exit(main())
