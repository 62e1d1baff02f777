"""An application over the files that a test writes."""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from textwrap import dedent

from graphrag_mcp.app.local import App
from graphrag_mcp.settings import load_settings
from tests.repositories import write_files


@contextmanager
def indexed(folder: Path, files: Mapping[str, str]) -> Iterator[App]:
    """Write files by path to a project in a folder, index them, and close the application in the end."""
    root = folder / "project"
    write_files(root, {path: dedent(text) for path, text in files.items()})
    variables = {"GRAPHRAG_DATA_DIR": str(folder / "data"), "GRAPHRAG_WORKERS": "1"}
    with closing(App(root, load_settings(root, variables))) as app:
        app.index()
        yield app
