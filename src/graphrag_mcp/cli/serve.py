"""`serve` and `ui`: start the MCP server, or the page for a browser of this machine, without waiting for the index."""

import argparse
import os
import signal
import threading
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphrag_mcp.app.session import WITH_INDEX, LazySession
from graphrag_mcp.cli.options import project_root
from graphrag_mcp.cli.project import open_project
from graphrag_mcp.cli.terminal import show
from graphrag_mcp.system.process import collect_rarely
from graphrag_mcp.ui.page import serve_page

if TYPE_CHECKING:
    from graphrag_mcp.settings import Settings


def run_serve(options: argparse.Namespace) -> None:
    """Serve until the client is gone, then end the process."""
    client = os.getppid()  # First of all: it may be gone before the server runs.
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # An interrupt during the imports shows no traceback.
    from graphrag_mcp.mcp_server.stdio import claim_stdio, serve

    requests, answers = claim_stdio()
    # Only now: output of an import must not reach the client.
    from graphrag_mcp.app.session import WITH_GRAPH, WITH_INDEX, WITHOUT_INDEX, LazySession
    from graphrag_mcp.cli.project import open_project, open_remote
    from graphrag_mcp.mcp_server.protocol import create_server

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


# They would occupy the terminal, and do not run scripts.
_TEXT_BROWSERS = {"www-browser", "links", "elinks", "lynx", "w3m"}


def run_ui(options: argparse.Namespace) -> None:
    """Serve the page until interrupted; the index is built meanwhile."""
    root = project_root(options.root, os.environ)
    project = LazySession(lambda: open_project(root), WITH_INDEX)
    project.open()  # At once: a wrong root or setting ends the command here with its error.

    def opened(url: str, url_for_once: str) -> None:
        show(url)
        if not options.no_browser:
            # In a thread: some browser commands return only when the browser ends.
            threading.Thread(target=_open_browser, args=(url_for_once,), daemon=True).start()

    with suppress(KeyboardInterrupt):  # The usual way to stop the page.
        try:
            serve_page(project, options.port, opened)
        finally:
            project.close()


def _open_browser(url: str) -> None:
    with suppress(webbrowser.Error, OSError):  # Without a browser, the printed address remains.
        browser = webbrowser.get()
        if getattr(browser, "name", "") not in _TEXT_BROWSERS:
            browser.open(url)
