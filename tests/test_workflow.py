"""The workflow on GitHub runs what contributors run, with as few rights as it can."""

import re
from pathlib import Path
from typing import Any

import yaml

WORKFLOW = Path(__file__).parents[1] / ".github/workflows/ci.yml"


def _read() -> dict[str, Any]:
    workflow: dict[str, Any] = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
    return workflow


def test_the_workflow_runs_the_same_script_as_a_contributor() -> None:
    """It runs .ci/run and no other command, so that the checks are listed once."""
    (job,) = _read()["jobs"].values()
    assert [step["run"] for step in job["steps"] if "run" in step] == [".ci/run"]
    assert (WORKFLOW.parents[2] / ".ci/run").stat().st_mode & 0o111


def test_the_workflow_can_read_the_repository_and_nothing_else() -> None:
    """Its token cannot write, no later step sees it, and each action is pinned to a commit."""
    workflow = _read()
    assert workflow["permissions"] == {"contents": "read"}
    (job,) = workflow["jobs"].values()
    assert "permissions" not in job
    actions = [step for step in job["steps"] if "uses" in step]
    assert all(re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", step["uses"]) for step in actions)
    assert actions[0]["with"]["persist-credentials"] is False
