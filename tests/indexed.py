"""An application over the files that a test writes."""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from textwrap import dedent

from graphrag_mcp.app.local import App
from graphrag_mcp.settings import load_settings


@contextmanager
def indexed(folder: Path, files: Mapping[str, str]) -> Iterator[App]:
    """Write files by path to a project in a folder, index them, and close the application in the end."""
    root = folder / "project"
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(dedent(text))
    variables = {"GRAPHRAG_DATA_DIR": str(folder / "data"), "GRAPHRAG_WORKERS": "1"}
    with closing(App(root, load_settings(root, variables))) as app:
        app.index()
        yield app
