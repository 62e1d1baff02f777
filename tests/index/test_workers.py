"""Parsing in processes: the outcomes are those of one process, whatever happens to another."""

import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from multiprocessing import active_children
from pathlib import Path

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.index import workers
from graphrag_mcp.index.prepare import Job, Prepared, Rejected
from graphrag_mcp.index.workers import Quarantine, SearchYield, prepare_all, run_tasks
from graphrag_mcp.settings import load_settings
from tests.index.deadly import DeadlyPath, end_at_seven

MAX_BYTES = 1_000_000
AT_ONCE = SearchYield(None)


@pytest.fixture
def jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Job]]:
    """Enough files for several tasks, which count as a large run."""
    monkeypatch.setattr(workers, "SMALL_RUN_BYTES", 0)
    monkeypatch.setattr(workers, "TINY_RUN_BYTES", 0)
    monkeypatch.setattr(workers, "FILES_PER_TASK", 2)
    yield [_job(tmp_path / f"module_{number}.py", number) for number in range(9)]
    for pool in workers._POOLS.values():
        pool.end_idle()


@pytest.fixture
def quarantine(tmp_path: Path) -> Quarantine:
    """None yet."""
    return Quarantine(tmp_path / "quarantine.json")


def _job(location: Path, number: int) -> Job:
    location.write_text(f"def step_{number}(x):\n    return run(x, {number})\n")
    return Job(location.parent, location.name, location.stat().st_size, 1, 1, "recipe", None, None, MAX_BYTES)


@pytest.mark.requirement("K-24")
def test_several_processes_give_what_one_gives_in_the_same_order(jobs: list[Job], quarantine: Quarantine) -> None:
    """The index does not depend on the number of cores, nor on which of them was faster."""
    assert list(prepare_all(jobs, 2, quarantine, AT_ONCE)) == list(prepare_all(jobs, 1, quarantine, AT_ONCE))


def test_a_process_does_not_collect_what_is_loaded(jobs: list[Job], quarantine: Quarantine) -> None:
    """To look at it after every few hundred objects takes a twentieth of the parsing."""
    list(prepare_all(jobs, 2, quarantine, AT_ONCE))
    with workers._shared(2).borrow() as pool:
        assert pool.submit(gc.get_freeze_count).result() > len(jobs)


@pytest.mark.requirement("K-24")
def test_the_next_run_finds_the_processes_of_the_last(jobs: list[Job], quarantine: Quarantine) -> None:
    """Starting them takes longer than parsing what a small change touches."""
    list(prepare_all(jobs, 2, quarantine, AT_ONCE))
    before = {process.pid for process in active_children()}
    list(prepare_all(jobs, 2, quarantine, AT_ONCE))
    # Those of an earlier test may still be ending; none may be new.
    assert {process.pid for process in active_children()} <= before != set()


@pytest.mark.slow
@pytest.mark.requirement("004-11")
def test_a_file_that_kills_its_process_is_left_out_and_the_others_are_not(
    jobs: list[Job], quarantine: Quarantine
) -> None:
    """Of a crash, one file is lost, and the next run has its processes again."""
    deadly = Job(DeadlyPath("/"), "deadly.py", 40, 1, 1, "recipe", None, None, MAX_BYTES)
    outcomes = list(prepare_all([*jobs[:4], deadly, *jobs[4:]], 2, quarantine, AT_ONCE))
    assert [one for one in outcomes if isinstance(one, Rejected)] == [
        Rejected("deadly.py", "the parser crashed on this file")
    ]
    assert {one.rows.entry.path for one in outcomes if isinstance(one, Prepared)} == {job.path for job in jobs}
    assert len(list(prepare_all(jobs, 2, quarantine, AT_ONCE))) == len(jobs)


@pytest.mark.slow
@pytest.mark.requirement("004-11")
def test_a_file_that_killed_its_process_is_kept_from_this_one(
    jobs: list[Job], quarantine: Quarantine, tmp_path: Path
) -> None:
    """Also where a run is so small that it would be parsed here."""
    deadly = Job(DeadlyPath("/"), "deadly.py", 40, 1, 1, "recipe", None, None, MAX_BYTES)
    assert Rejected("deadly.py", "the parser crashed on this file") in list(
        prepare_all([*jobs, deadly], 2, quarantine, AT_ONCE)
    )
    assert list(prepare_all([deadly], 1, quarantine, AT_ONCE)) == [
        Rejected("deadly.py", "the parser crashed on this file")
    ]
    assert (tmp_path / "quarantine.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.slow
@pytest.mark.requirement("004-11")
def test_what_was_parsed_when_the_process_ended_is_left_out_by_the_next(tmp_path: Path) -> None:
    """A crash of a grammar ends a server once, and not at every start."""
    root = tmp_path / "project"
    root.mkdir()
    for name in ("a.py", "deadly.py", "z.py"):
        (root / name).write_text(f"def {name[0]}_function():\n    pass\n")
    script = tmp_path / "main.py"
    script.write_text(
        "import os\n"
        "from graphrag_mcp.index import prepare\n"
        "parse = prepare.parse_file\n"
        "prepare.parse_file = lambda path, *rest: os._exit(9) if path == 'deadly.py' else parse(path, *rest)\n"
        "if __name__ == '__main__':\n"
        "    from graphrag_mcp.cli.run import run\n"
        f"    raise SystemExit(run(['index', '--root', {str(root)!r}]))\n"
    )
    environment = {**os.environ, "GRAPHRAG_DATA_DIR": str(tmp_path / "data")}

    def index() -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(script)]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)

    assert index().returncode == 9
    for _ in range(2):
        done = index()
        assert (done.returncode, "left out" in done.stdout + done.stderr) == (0, True), done
    settings = load_settings(root, environment)
    with closing(App(root, settings)) as app:
        assert app.status().skipped == {"the parser crashed on this file": 1}
        assert app.status().files == 2
        assert app.index().added == 1  # Mended, it is an ordinary file again.
        assert app.status().files == 3
    assert not list((tmp_path / "data").glob("*/quarantine*"))


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff", b'{"a": 1}'])
def test_an_unreadable_quarantine_file_counts_as_empty(tmp_path: Path, content: bytes) -> None:
    """Bad input: a kill may leave half of it."""
    (tmp_path / "quarantine.json").write_bytes(content)
    assert "a" not in Quarantine(tmp_path / "quarantine.json")


def test_a_program_without_a_main_module_still_indexes(tmp_path: Path) -> None:
    """No process can import a script that came through a pipe; then the files are parsed where they are."""
    script = (
        "from pathlib import Path\n"
        "from graphrag_mcp.index import workers\n"
        "from graphrag_mcp.index.prepare import Job\n"
        "workers.SMALL_RUN_BYTES = workers.TINY_RUN_BYTES = 0\n"
        f"file = Path({str(tmp_path / 'a.py')!r})\n"
        "file.write_text('def f(): pass')\n"
        "jobs = [Job(file.parent, 'a.py', 13, 1, 1, 'r', None, None, 1000)]\n"
        "quarantine = workers.Quarantine(file.with_name('quarantine.json'))\n"
        "print(*(type(one).__name__ for one in workers.prepare_all(jobs, 2, quarantine, workers.SearchYield(None))))\n"
    )
    done = subprocess.run([sys.executable, "-"], input=script, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.split() == ["Prepared"]


def test_the_parsing_processes_do_not_import_numpy() -> None:
    """Importing it takes each process a fifth of a second, and parsing does not need it."""
    script = "import sys, graphrag_mcp.index.workers; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.slow
def test_a_task_that_ends_its_process_costs_only_its_own_answer() -> None:
    """The others are done, in order."""
    tasks = [(number,) for number in range(10)]
    assert list(run_tasks(end_at_seven, tasks, 2)) == [None if number == 7 else number for number in range(10)]
