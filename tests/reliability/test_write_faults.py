"""When the disk is full or broken, whichever write it hits: a sentence, and the next run has everything."""

import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.settings import load_settings
from tests.index_contents import assert_same_contents
from tests.reliability.conftest import Report, Size
from tests.reliability.projects import Project

pytestmark = pytest.mark.slow

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


@pytest.fixture
def runner(shim: Path, tmp_path: Path) -> Iterator["Runner"]:
    """What runs the index command with the library in place."""
    runner = Runner(shim, tmp_path / "errors")
    yield runner
    runner.close()


class Runner:
    """A warm process that indexes in its children."""

    def __init__(self, shim: Path, errors: Path) -> None:
        self._errors = errors
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.reliability.forked"],
            env={**os.environ, "GRAPHRAG_WORKERS": "1", "LD_PRELOAD": str(shim)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def index(self, index: "Index", **failing: str) -> tuple[int, str]:
        """Index with these variables of the library; return the exit code and what was said."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._errors.unlink(missing_ok=True)
        environment = {"GRAPHRAG_DATA_DIR": str(index.data), "FAIL_BELOW": str(index.data), **failing}
        task = {"root": str(index.project.root), "environment": environment, "errors": str(self._errors)}
        self._process.stdin.write(json.dumps(task) + "\n")
        self._process.stdin.flush()
        code = self._process.stdout.readline()
        return int(code), self._errors.read_text(encoding="utf-8")

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        assert self._process.wait(10) == 0
        self._process.stdout.close()


class Index:
    """An index of a project."""

    def __init__(self, folder: Path) -> None:
        self.project = Project(folder / "project", FILES)
        self.data = folder / "data"

    def open(self, data: str = "") -> App:
        folder = self.data.with_name(data) if data else self.data
        environment = {"GRAPHRAG_DATA_DIR": str(folder), "GRAPHRAG_WORKERS": "1"}
        return App(self.project.root, load_settings(self.project.root, environment))


@pytest.mark.parametrize("name", ERRORS)
def test_a_write_that_fails_is_a_sentence_and_then_the_next_run_has_everything(
    tmp_path: Path, shim: Path, runner: Runner, size: Size, report: Report, name: str
) -> None:
    """Each write in turn fails, alone or with all that come after it."""
    counted = Index(tmp_path / "counted")
    writes = count_writes(counted, shim, tmp_path / "count")
    assert writes > 30
    clean = counted.open()
    failed = survived = 0
    tried = range(1, writes + 1, max(1, writes // size(3, writes)))
    for number in tried:
        index = Index(tmp_path / str(number))
        last = {"FAIL_ON": "1"} if number % 2 else {}
        code, said = runner.index(index, FAIL_AT=str(number), FAIL_ERRNO=str(ERRORS[name]), **last)
        assert "Traceback" not in said
        if code:
            failed += 1
            *progress, sentence = said.splitlines()
            assert all(line.startswith("indexing ") for line in progress), said
            assert sentence.startswith("graphrag-mcp: "), said
            assert len(sentence.replace(str(tmp_path), "")) < 300
        else:  # A write that SQLite could do without.
            survived += 1
        app = index.open()
        app.index()
        assert_same_contents(app, clean)
        assert not list(index.data.glob("*/*unusable*"))
        app.close()
        shutil.rmtree(tmp_path / str(number))
    clean.close()
    report(f"writes that fail: {name}", writes=writes, tried=len(tried), failed=failed, survived=survived)
    assert failed


def count_writes(index: Index, shim: Path, file: Path) -> int:
    """Index without a fault, in a process of its own, and return how often it wrote."""
    variables = {"GRAPHRAG_DATA_DIR": str(index.data), "FAIL_BELOW": str(index.data), "FAIL_COUNT": str(file)}
    environment = {**os.environ, "GRAPHRAG_WORKERS": "1", "LD_PRELOAD": str(shim), **variables}
    command = [sys.executable, "-m", "tests.reliability.killed", str(index.project.root)]
    subprocess.run(command, env=environment, capture_output=True, timeout=60, check=True)
    return int(file.read_text())


def test_a_folder_that_may_not_be_written_is_named(tmp_path: Path, runner: Runner) -> None:
    """The sentence says which file, and why."""
    index = Index(tmp_path)
    code, said = runner.index(index, FAIL_AT="1", FAIL_ON="1", FAIL_ERRNO=str(errno.EACCES))
    assert code
    assert str(index.data) in said
