"""What raises for one file costs that file the stage in which it does, and is named everywhere."""

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.cli.commands import describe_report
from graphrag_mcp.cli.doctor import examine
from graphrag_mcp.index import indexer, linking, prepare
from graphrag_mcp.languages import grammars
from graphrag_mcp.model.expressions import UNKNOWN, NotAnExpressionError, parse, parse_strictly
from graphrag_mcp.model.search import SearchRequest
from graphrag_mcp.parsing import parser
from graphrag_mcp.settings import load_settings
from graphrag_mcp.stores.sqlite.writer import SqliteIndexWriter

STAGES: dict[str, tuple[object, str]] = {
    "masking": (parser.source, "read_text"),
    "category": (parser, "categorise"),
    "language": (parser, "language_of"),
    "card": (parser, "needs_card"),
    "syntax": (grammars, "parse_tree"),
    "outline": (parser, "read_outline"),
    "chunks": (parser, "cut_spans"),
    "relations": (parser, "build_relations"),
    "facts": (parser, "read_facts"),
    "manifest": (parser, "read_manifest"),
    "rows": (prepare, "embedding_texts"),
    "reading": (prepare, "read_file_below"),
    "embedding": (indexer, "embed_chunks"),
    "writing": (SqliteIndexWriter, "write"),
    "resolution": (linking, "link_file"),
}
WITHOUT_THE_FILE = ("masking", "rows", "reading", "writing", "language", "syntax", "outline")  # Its symbols are lost.


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of ten files, one of which has a word that none of the others has."""
    folder = tmp_path / "project"
    folder.mkdir()
    for number in range(9):
        (folder / f"good_{number}.py").write_text(f"def polish_{number}(x):\n    return x\n")
    (folder / "cursed.py").write_text("# abracadabra\ndef wither(x):\n    return x\n")
    monkeypatch.setenv("GRAPHRAG_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("GRAPHRAG_WORKERS", "1")
    return folder


@pytest.fixture
def app(root: Path) -> Iterator[App]:
    """The application over the project."""
    with closing(App(root, load_settings(root, os.environ))) as application:
        yield application


def _failing(work: Callable[..., Any]) -> Callable[..., Any]:
    """Return the work, which raises for what is of the one file."""

    def run(*arguments: Any, **named: Any) -> Any:
        told = "".join(f"{argument!r}{getattr(argument, 'data', b'')!r}" for argument in arguments)
        if "cursed" in told or "abracadabra" in told:
            raise KeyError("abracadabra")
        return work(*arguments, **named)

    return run


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_that_raises_costs_one_file_that_stage(
    stage: str, root: Path, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nine files are whole; the run, the status and the doctor name the tenth, without a word of its text."""
    owner, name = STAGES[stage]
    monkeypatch.setattr(owner, name, _failing(getattr(owner, name)))
    cursed = "cursed.py"
    if stage == "relations":  # Of files without facts.
        cursed = (root / cursed).rename(root / "cursed.rb").name
    report = app.index()
    status = app.status()
    found = {symbol for number in range(9) for symbol in _symbols(app, f"polish_{number}")}
    assert found == {f"good_{number}.py" for number in range(9)}
    assert list(report.failures) == list(status.failures) == [cursed]
    assert stage in status.failures[cursed]
    assert cursed in describe_report(report)
    app.close()
    verdicts = {finding.part: finding for finding in examine(root)}
    assert verdicts["index"].verdict == "failed"
    assert cursed in verdicts["index"].text
    assert "abracadabra" not in f"{report}{status}{verdicts}"


@pytest.mark.parametrize("stage", [stage for stage in STAGES if stage not in WITHOUT_THE_FILE])
def test_what_the_other_stages_gave_is_found(stage: str, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """The definition of the file is one of the index."""
    owner, name = STAGES[stage]
    monkeypatch.setattr(owner, name, _failing(getattr(owner, name)))
    app.index()
    assert "cursed.py" in _symbols(app, "wither")


def test_keys_that_cannot_be_read_cost_a_configuration_file_its_keys(root: Path, app: App) -> None:
    """Two hundred blocks in each other, at which the grammar of YAML ends its process."""
    (root / "deep.yaml").write_text("- " * 400 + "glimmer\n")
    app.index()
    assert app.status().failures == {"deep.yaml": "keys (nested too deeply)"}
    assert _symbols(app, "glimmer") == {"deep.yaml"}


def _symbols(app: App, name: str) -> set[str]:
    return {hit.chunk.path for hit in app.search(SearchRequest(name)).primary if name in hit.chunk.text}


def test_a_file_without_chunks_is_unchanged_in_the_next_run(root: Path, app: App) -> None:
    """Empty files, files of blanks, and cards of nothing."""
    for name in ("empty.py", "empty.md", "blank.txt", "drawing.svg", "package-lock.json"):
        (root / name).write_text("" if "blank" not in name else "\n\n")
    app.index()
    again = app.index()
    assert (again.added, again.changed) == (0, 0)


@pytest.mark.parametrize(
    "text", ["Map<Job,import('lib').Task>", "((ROOT|.config)|jobs)", "[" * 500 + "]" * 500, "a" + ".b" * 500, ""]
)
def test_a_text_that_is_no_expression_is_unknown(text: str) -> None:
    """A question that meets it goes on; whoever asks strictly is told."""
    assert parse(text) == UNKNOWN
    with pytest.raises(NotAnExpressionError):
        parse_strictly(text)
