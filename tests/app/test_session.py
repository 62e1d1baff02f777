"""The one place where a question is asked again: after the index file was closed, or could not be read."""

import sqlite3
from pathlib import Path

import pytest

from graphrag_mcp.errors import IndexStoreError
from tests.fakes import FakeApp


def test_a_question_is_asked_again_when_the_index_file_was_closed_meanwhile(tmp_path: Path) -> None:
    """As when another question has the file examined; nothing is examined for this."""
    app = FakeApp(tmp_path)
    connections = [sqlite3.connect(":memory:"), sqlite3.connect(":memory:")]
    connections[0].close()

    def count(_view: FakeApp, most: int) -> int:
        connection = connections.pop(0)
        rows = connection.execute("SELECT ?", (most,)).fetchone()
        connection.close()
        return int(rows[0])

    assert app.ask(count, 7) == 7
    assert app.doubted == []


@pytest.mark.parametrize("content", [b"", b"no database" * 500])
def test_an_index_file_that_cannot_be_read_is_examined_and_the_caller_is_told(tmp_path: Path, content: bytes) -> None:
    """The error names the next step, and is not asked away."""
    app, file = FakeApp(tmp_path), tmp_path / "index.sqlite"
    file.write_bytes(content)
    asked = []

    def read(_view: FakeApp) -> None:
        asked.append(file)
        connection = sqlite3.connect(file)
        try:
            connection.execute("SELECT * FROM files")
        finally:
            connection.close()

    with pytest.raises(IndexStoreError, match="ask again in a moment"):
        app.ask(read)
    assert (len(asked), len(app.doubted)) == (1, 1)
