"""One file has the measured figures; pages take theirs from it, and benchmarks write it."""

import importlib
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from benchmarks.figures import FILE, read_tables, write_rows
from tests.docs import ROOT
from tests.docs.figures import BLOCK, FIGURE_PAGES, NUMBER, RESULTS_PAGE, fill

MOST_WORDS = 3000
TABLES = """# What is measured.

[speed]
command = "run"
commit = "0000000"
columns = ["goal", "p50", "p95"]
[speed.rows]
"a search, ms" = ["≤ 12", 10.90, 20] # on a quiet machine
"""


@pytest.mark.parametrize("page", FIGURE_PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_has_the_figures_of_the_file(page: Path) -> None:
    """So no two pages disagree."""
    assert fill(page) == page.read_text(encoding="utf-8"), "run: make tables"


def test_readme_states_no_figure_by_hand() -> None:
    """Each number of the sentence below the picture is marked with where it comes from."""
    sentence = (ROOT / "README.md").read_text(encoding="utf-8").partition("answers.svg)\n")[2].partition("## Start")[0]
    assert len(NUMBER.findall(sentence)) == 2
    assert not re.search(r"\d", NUMBER.sub("", sentence))


def test_every_table_is_on_a_page_and_has_whole_rows() -> None:
    """A figure that nobody shows is not kept, and a row has a cell for each column."""
    texts = [page.read_text(encoding="utf-8") for page in FIGURE_PAGES]
    shown = {name for text in texts for name in [*BLOCK.findall(text), *(found[0] for found in NUMBER.findall(text))]}
    tables = read_tables()
    assert set(tables) == shown
    for name, table in tables.items():
        assert table.command, name
        assert re.fullmatch(r"[0-9a-f]{7,}", table.commit), name
        assert {len(cells) for cells in table.rows.values()} == {len(table.columns)}, name


STEPS = {"benchmarks.functions": ("make", "ask"), "benchmarks.agents.shell": ("deal", "count")}


def test_the_results_are_short() -> None:
    """What was tried is another page; tables count with their cells."""
    text = re.sub(r"<!--.*?-->|-{3}", "", RESULTS_PAGE.read_text(encoding="utf-8")).replace("|", " ")
    assert len(text.split()) <= MOST_WORDS


def test_a_benchmark_writes_cells_and_the_commit(tmp_path: Path) -> None:
    """It leaves the other cells, the comments and the digits as they are, and adds rows that are new."""
    file = tmp_path / "figures.toml"
    file.write_text(TABLES, encoding="utf-8")
    write_rows("speed", {"a search, ms": {"p95": "1,250"}, "an edit, s": {"p50": "0.30"}}, file)
    command = ["git", "rev-parse", "--short=7", "HEAD"]
    head = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    added = '"an edit, s" = ["", 0.30, ""]\n'
    assert file.read_text(encoding="utf-8") == TABLES.replace("20]", "1250]").replace("0000000", head) + added


@pytest.mark.parametrize(
    ("table", "rows", "problem"),
    [("size", {}, "has no table size"), ("speed", {"a search, ms": {"p99": "1"}}, "has no column p99")],
)
def test_a_table_or_column_that_nobody_described_is_refused(
    tmp_path: Path, table: str, rows: dict[str, dict[str, str]], problem: str
) -> None:
    """A command and a place on a page belong to it, which a person writes."""
    file = tmp_path / "figures.toml"
    file.write_text(TABLES, encoding="utf-8")
    with pytest.raises(SystemExit, match=problem):
        write_rows(table, rows, file)
    assert file.read_text(encoding="utf-8") == TABLES


def test_without_a_table_nothing_is_written(tmp_path: Path) -> None:
    """A benchmark that is run to look at it leaves the file alone."""
    write_rows(None, {"a search, ms": {"p50": "1"}}, tmp_path / "missing.toml")


def test_the_readme_names_every_benchmark() -> None:
    """Who looks for a measurement finds its module."""
    text = (FILE.parent / "README.md").read_text(encoding="utf-8")
    names = {path.stem for path in FILE.parent.glob("*.py")} - {"__init__"}
    assert sorted(name for name in names if f"`{name}`" not in text) == []


def _commands() -> list[str]:
    entries = tomllib.loads(FILE.read_text(encoding="utf-8"))
    lines = (line for entry in entries.values() for line in entry["command"].splitlines())
    return sorted({line for line in lines if line.startswith("python -m benchmarks")})


@pytest.mark.parametrize("module", sorted({line.split()[2] for line in _commands()} - {"benchmarks.peer_semble"}))
def test_a_command_of_the_file_takes_its_options(
    module: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each benchmark knows what the file says that it was given; semble's runs in an environment of its own."""
    program = importlib.import_module(f"{module}.__main__" if module == "benchmarks.graph" else module)
    for step in STEPS.get(module, ("",)):
        monkeypatch.setattr("sys.argv", [module, *filter(None, [step]), "--help"])
        with pytest.raises(SystemExit):
            program.main()
    shown = capsys.readouterr().out
    for line in _commands():
        if line.split()[2] == module:
            assert [option for option in re.findall(r"--[a-z-]+", line) if option not in shown] == []
