"""`graphrag-mcp serve`: starts the MCP server without waiting for the index."""

import argparse
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphrag_mcp.cli.options import project_root
from graphrag_mcp.system.process import collect_rarely

if TYPE_CHECKING:
    from graphrag_mcp.settings import Settings


def run_serve(options: argparse.Namespace) -> None:
    """Serve until the client is gone, then end the process."""
    client = os.getppid()  # First of all: it may be gone before the server runs.
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # An interrupt during the imports shows no traceback.
    from graphrag_mcp.serving.stdio import claim_stdio, serve

    requests, answers = claim_stdio()
    # Only now: output of an import must not reach the client.
    from graphrag_mcp.app.session import WITH_GRAPH, WITH_INDEX, WITHOUT_INDEX, LazySession
    from graphrag_mcp.cli.project import open_project, open_remote
    from graphrag_mcp.serving.protocol import create_server

    root = project_root(options.root, os.environ)
    settings = _settings_for_schemas(root)
    on_servers = WITH_GRAPH if settings.servers.neo4j_uri else WITHOUT_INDEX
    project: LazySession[Any] = LazySession(
        lambda: open_remote(root) if options.remote else open_project(root),
        on_servers if options.remote else WITH_INDEX,
    )
    collect_rarely()
    serve(create_server(project, settings), requests, answers, client)


def _settings_for_schemas(root: Path) -> "Settings":
    """Return the project's settings, or the defaults when they are wrong: the first call reports the error."""
    from graphrag_mcp.errors import SettingsError
    from graphrag_mcp.settings import Settings, load_settings

    try:
        return load_settings(root, os.environ)
    except SettingsError:
        return Settings()
