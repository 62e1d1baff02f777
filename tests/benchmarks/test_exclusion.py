"""The benchmark of `excluded_files`, on a project small enough for a test."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from graphrag_mcp.model.scope import Scope, normalise_excluded_files

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.requirement("003-21", "003-22", "B-27")
def test_it_measures_every_share(tmp_path: Path) -> None:
    """One line for each of 0, 10, 20 and 50 % of the files, with the difference to 0 %."""
    root = tmp_path / "project"
    root.mkdir()
    for number in range(20):
        (root / f"lamp{number}.py").write_text(f"def polish_lamp_{number}():\n    return {number}\n")
    queries = tmp_path / "queries.json"
    queries.write_text(json.dumps([{"query": "polish the lamp"}, {"query": "polish_lamp_3"}]))
    command = [sys.executable, "-m", "benchmarks.exclusion", str(root), "--queries", str(queries), "--rounds", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    first, _, *rows = done.stdout.splitlines()
    assert first.startswith("20 files, ")
    assert [row.split()[:2] for row in rows] == [[str(share), "%"] for share in (0, 10, 20, 50)]
    assert all("+0.00 ms" in row for row in rows[:1])


@pytest.mark.requirement("003-18", "003-22", "B-27")
def test_an_empty_list_is_no_list(tmp_path: Path) -> None:
    """With nothing excluded a search is the very same one, so it cannot cost more."""
    keys, _ = normalise_excluded_files([], tmp_path)
    assert Scope(excluded_keys=keys) == Scope()
