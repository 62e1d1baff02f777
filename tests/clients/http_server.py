"""Serves over HTTP, for the conformance suite, exactly the server that `graphrag-mcp serve` serves."""

import os
import sys
from pathlib import Path

import uvicorn

from graphrag_mcp.app.session import WITH_INDEX, LazySession
from graphrag_mcp.cli.project import open_project
from graphrag_mcp.serving.protocol import create_server
from graphrag_mcp.settings import load_settings


def main(root: Path, port: int) -> None:
    """Serve until a signal comes."""
    server = create_server(LazySession(lambda: open_project(root), WITH_INDEX), load_settings(root, os.environ))
    uvicorn.run(server.streamable_http_app(), host="127.0.0.1", port=port, log_level="warning")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
