"""`graphrag-mcp ui`: serves a page that shows the index, to the browser of this machine."""

import argparse
import os
import sys
import threading
import webbrowser
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from graphrag_mcp.cli.options import project_root
from graphrag_mcp.cli.project import open_project
from graphrag_mcp.server.backend import Backend
from graphrag_mcp.ui.serve import serve_page

# They would take the terminal, and run no script.
_TEXT_BROWSERS = {"www-browser", "links", "elinks", "lynx", "w3m"}
_LEADS_ON = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url={url}">
<title>graphrag</title>
<p><a href="{url}">Open the page</a></p>
</html>
"""


def run_ui(options: argparse.Namespace) -> None:
    """Serve the page until interrupted; the index is built meanwhile."""
    root = project_root(options.root, os.environ)
    backend = Backend(lambda: open_project(root))
    backend.app()  # At once: a wrong root or setting ends the command here, with its sentence.

    with suppress(KeyboardInterrupt), ExitStack() as closing:  # As the page is meant to end.
        closing.callback(backend.close)

        def show(url: str) -> None:
            sys.stdout.write(url + "\n")
            sys.stdout.flush()
            if not options.no_browser:
                with suppress(OSError):  # Without the file, there is the address.
                    folder = closing.enter_context(TemporaryDirectory(prefix="graphrag-mcp-"))
                    _open_browser(_leading_to(url, Path(folder)))

        serve_page(backend, options.port, show)


def _leading_to(url: str, folder: Path) -> str:
    """Return the address of a file that leads to the page: every user can read a browser's arguments, not this file."""
    path = folder / "page.html"
    path.touch(0o600)
    path.write_text(_LEADS_ON.format(url=url), encoding="utf-8")
    return path.as_uri()


def _open_browser(url: str) -> None:
    threading.Thread(target=_open, args=(url,), daemon=True).start()  # Some browsers wait for their end.


def _open(url: str) -> None:
    with suppress(webbrowser.Error, OSError):  # Without a browser, there is the address.
        browser = webbrowser.get()
        if getattr(browser, "name", "") not in _TEXT_BROWSERS:
            browser.open(url)
