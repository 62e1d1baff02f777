"""Opens the project that a command works on."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from graphrag_mcp.errors import SettingsError
from graphrag_mcp.settings import Settings, load_settings

if TYPE_CHECKING:  # The server answers before either is imported.
    from graphrag_mcp.app.local import App
    from graphrag_mcp.app.remote import RemoteApp


def open_project(root: Path, index_root: str = "") -> "App":
    """Return the application over `root` with its settings.

    Raises RootError, SettingsError, or ServerError when a server is configured and its client is not installed.
    """
    from graphrag_mcp.app.local import App

    try:
        settings = load_settings(root, os.environ)
    except SettingsError:
        App(root, Settings(), index_root)  # If the root is wrong too, its error is raised.
        raise
    return App(root, settings, index_root)


def open_remote(root: Path) -> "RemoteApp":
    """Return the search without a local index. Raises SettingsError, or ServerError when no Qdrant is configured."""
    from graphrag_mcp.app.remote import RemoteApp

    return RemoteApp(root, load_settings(root, os.environ))
