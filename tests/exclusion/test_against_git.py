"""The matcher against the real git, on rule sets and trees made to be hard.

A longer run: DIFFERENTIAL_RULE_SETS=500 pytest tests/exclusion/test_against_git.py
"""

import os
import random
from pathlib import Path

import pytest
from git_oracle import create_rule_files, create_tree, list_ignored

from graphrag_mcp.exclusion.manager import ExclusionManager
from graphrag_mcp.settings import IndexingSettings

_TREES = 4
_RULE_SETS = int(os.environ.get("DIFFERENTIAL_RULE_SETS", "40"))
_PATHS_PER_TREE = 200


@pytest.mark.parametrize("seed", range(_TREES))
def test_every_path_gets_the_answer_that_git_gives(seed: int, tmp_path: Path) -> None:
    """B-01, B-02, B-03, B-07, 000-08, 000-11: no path of any tree differs from `git check-ignore`."""
    rng = random.Random(seed)
    entries = create_tree(rng, tmp_path, _PATHS_PER_TREE)
    settings = IndexingSettings(default_exclusions=False)
    for number in range(_RULE_SETS // _TREES):
        files = create_rule_files(rng, tmp_path, entries)
        manager = ExclusionManager(tmp_path, settings)
        excluded = {entry.path for entry in entries if manager.should_exclude(entry.path, entry.is_folder)}
        differing = excluded ^ list_ignored(tmp_path, entries)
        rules = {str(file.relative_to(tmp_path)): file.read_bytes().split(b"\n") for file in files}
        assert not differing, (number, sorted(differing), rules)
        for file in files:
            file.unlink()
