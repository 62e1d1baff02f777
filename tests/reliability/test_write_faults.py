"""When the disk is full or broken, whichever write it hits: a sentence, and the next run has everything."""

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from graphrag_mcp.app import App
from graphrag_mcp.settings import load_settings
from tests.index_contents import assert_same_contents
from tests.reliability.conftest import Report, Size
from tests.reliability.projects import Project

SHIM = Path(__file__).with_name("failing_writes.c")
FILES = 30
ERRORS = {"full disk": errno.ENOSPC, "broken disk": errno.EIO, "no permission": errno.EACCES}


@pytest.fixture(scope="session")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that makes writes fail."""
    if sys.platform != "linux" or shutil.which("cc") is None:
        pytest.skip("needs Linux and a C compiler")
    library = tmp_path_factory.mktemp("shim") / "failing_writes.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, SHIM, "-ldl"], check=True)
    return library


class Index:
    """An index of a project, made by a process whose writes fail."""

    def __init__(self, folder: Path, shim: Path) -> None:
        self.project = Project(folder / "project", FILES)
        self.data = folder / "data"
        self._shim = shim

    def run(self, **failing: str) -> "subprocess.CompletedProcess[str]":
        """Run the index command with these variables of the library."""
        environment = {
            **os.environ,
            "GRAPHRAG_DATA_DIR": str(self.data),
            "GRAPHRAG_WORKERS": "1",
            "LD_PRELOAD": str(self._shim),
            "FAIL_BELOW": str(self.data),
            **failing,
        }
        command = [sys.executable, "-m", "tests.reliability.killed", str(self.project.root)]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)

    def open(self, data: str = "") -> App:
        folder = self.data.with_name(data) if data else self.data
        environment = {"GRAPHRAG_DATA_DIR": str(folder), "GRAPHRAG_WORKERS": "1"}
        return App(self.project.root, load_settings(self.project.root, environment))


@pytest.mark.parametrize("name", ERRORS)
def test_a_write_that_fails_is_a_sentence_and_then_the_next_run_has_everything(
    tmp_path: Path, shim: Path, size: Size, report: Report, name: str
) -> None:
    """Each write in turn fails, alone or with all that come after it."""
    counted = Index(tmp_path / "counted", shim)
    assert counted.run(FAIL_COUNT=str(tmp_path / "count")).returncode == 0
    writes = int((tmp_path / "count").read_text())
    assert writes > 30
    clean = counted.open()
    step = max(1, writes // size(3, 120))
    failed = survived = 0
    for number in range(1, writes, step):
        index = Index(tmp_path / str(number), shim)
        last = {"FAIL_ON": "1"} if number % 2 else {}
        done = index.run(FAIL_AT=str(number), FAIL_ERRNO=str(ERRORS[name]), **last)
        assert "Traceback" not in done.stdout + done.stderr
        if done.returncode:
            failed += 1
            *progress, sentence = done.stderr.splitlines()
            assert all(line.startswith("indexing ") for line in progress), done.stderr
            assert sentence.startswith("graphrag-mcp: "), done.stderr
            assert len(sentence) < 400
        else:  # A write that SQLite could do without.
            survived += 1
        app = index.open()
        app.index()
        assert_same_contents(app, clean)
        assert not list(index.data.glob("*/*unusable*"))
        app.close()
        shutil.rmtree(tmp_path / str(number))
    clean.close()
    report(f"writes that fail: {name}", writes=writes, failed=failed, survived=survived)
    assert failed


def test_a_folder_that_may_not_be_written_is_named(tmp_path: Path, shim: Path) -> None:
    """The sentence says which file, and why."""
    index = Index(tmp_path, shim)
    done = index.run(FAIL_AT="1", FAIL_ON="1", FAIL_ERRNO=str(errno.EACCES))
    assert done.returncode
    assert str(index.data) in done.stderr
