"""The matcher against the real git: random hard cases, and every case of the parts that are small enough to exhaust.

A longer run: DIFFERENTIAL_RULE_SETS=500 pytest tests/exclusion/test_against_git.py
"""

import itertools
import os
import random
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from git_oracle import CLASSES, TreeEntry, create_rule_files, create_tree, list_ignored

from graphrag_mcp.exclusion.manager import ExclusionManager
from graphrag_mcp.settings import IndexingSettings

_TREES = 4
_RULE_SETS = int(os.environ.get("DIFFERENTIAL_RULE_SETS", "60"))
_PATHS_PER_TREE = 200


@pytest.mark.requirement("000-08", "000-11", "B-01", "B-02", "B-03", "B-07")
@pytest.mark.parametrize("seed", range(_TREES))
def test_every_path_gets_the_answer_that_git_gives(seed: int, tmp_path: Path) -> None:
    """No path of any tree differs from `git check-ignore`."""
    rng = random.Random(seed)
    entries = create_tree(rng, tmp_path, _PATHS_PER_TREE)
    for _ in range(_RULE_SETS // _TREES):
        files = create_rule_files(rng, tmp_path, entries)
        rules = {str(file.relative_to(tmp_path)): file.read_bytes().split(b"\n") for file in files}
        assert list_differing(tmp_path, entries) == [], rules
        for file in files:
            file.unlink()


@pytest.mark.requirement("B-02")
def test_a_class_has_the_members_that_git_gives_it(tmp_path: Path) -> None:
    """Every class of the list, asked for every byte that a name can hold."""
    names = [os.fsdecode(b"x%cy" % byte) for byte in range(1, 256) if byte != ord("/")]
    entries = create_files(tmp_path, names)
    for members in CLASSES:
        (tmp_path / ".gitignore").write_text(f"x{members}y\n")
        assert list_differing(tmp_path, entries) == [], members


@pytest.mark.requirement("000-14", "B-01")
def test_stars_between_slashes_match_the_folders_that_git_matches(tmp_path: Path) -> None:
    """Every pattern of up to three parts, in a tree of every path of up to four."""
    folders = ["/".join(parts) for depth in range(1, 4) for parts in itertools.product("ab", repeat=depth)]
    for folder in folders:
        (tmp_path / folder).mkdir(parents=True)
    entries = create_files(tmp_path, [f"{folder}/{name}" for folder in folders for name in ("c", "ab")])
    entries += [TreeEntry(folder, True) for folder in folders]
    for parts in itertools.chain(*(itertools.product(("a", "*", "**", "**\\"), repeat=count) for count in (2, 3))):
        (tmp_path / ".gitignore").write_text("/".join(parts) + "\n")
        assert list_differing(tmp_path, entries) == [], parts


@pytest.mark.requirement("000-10", "B-07")
def test_the_end_of_a_line_is_read_as_git_reads_it(tmp_path: Path) -> None:
    """Every end of up to three of blank, tab, backslash and carriage return."""
    ends = ["".join(end) for count in range(4) for end in itertools.product(" \t\\\r", repeat=count)]
    entries = create_files(tmp_path, [f"a{end}" for end in ends])
    for end in ends:
        (tmp_path / ".gitignore").write_bytes(f"a{end}\n".encode())
        assert list_differing(tmp_path, entries) == [], end


def list_differing(top: Path, entries: Sequence[TreeEntry]) -> list[str]:
    """Return the paths for which git and the manager, reading the same files, disagree."""
    manager = ExclusionManager(top, IndexingSettings(default_exclusions=False))
    excluded = {entry.path for entry in entries if manager.should_exclude(entry.path, entry.is_folder)}
    return sorted(excluded ^ list_ignored(top, entries))


def create_files(top: Path, paths: Sequence[str]) -> list[TreeEntry]:
    """Create empty files in a new work tree."""
    subprocess.run(["git", "init", "-q", top], check=True)
    for path in paths:
        (top / path).touch()
    return [TreeEntry(path, False) for path in paths]
