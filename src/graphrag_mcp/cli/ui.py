"""`graphrag-mcp ui`: serves a page that shows the index, to the browser of this machine."""

import argparse
import os
import threading
import webbrowser
from contextlib import suppress

from graphrag_mcp.app.session import WITH_INDEX, LazySession
from graphrag_mcp.cli.options import project_root
from graphrag_mcp.cli.project import open_project
from graphrag_mcp.cli.terminal import show
from graphrag_mcp.serving.page import serve_page

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
