"""The trial of agents: its tasks are well formed, and a scripted player is counted and judged as it played."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.agents import shell, tools, trial
from tests.repositories import commit, git

ROOT = Path(__file__).parents[2]
TASKS = json.loads(trial.TASKS.read_text(encoding="utf-8"))


def test_there_are_six_tasks_of_each_kind_with_places() -> None:
    """A task of structure wants single lines, since each line beside them is wrong."""
    assert sorted(task["kind"] for task in TASKS) == sorted([*trial.BESIDE] * 6)
    assert len({task["id"] for task in TASKS}) == len(TASKS)
    places = [(task["kind"], place) for task in TASKS for group in task["gold"] for place in group]
    assert all(0 < place["start"] <= place["end"] for _, place in places)
    assert all(place["start"] == place["end"] for kind, place in places if kind == "structure")
    for task in TASKS:
        answer = ", ".join(f"{group[0]['path']}:{group[0]['start']}" for group in task["gold"])
        assert trial.judge(task, f"ANSWER: {answer}")[1]


@pytest.fixture
def checkouts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with one repository, whose last commit is later than that of the task."""
    root = tmp_path / "checkouts" / "lamp"
    root.mkdir(parents=True)
    git(root, "init", "-q")
    for number in (1, 2):
        commit(root, {"lamp.py": f"def light_lamp():\n    return {number}\n"})
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    monkeypatch.chdir(ROOT)
    return root.parent


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("rg") is None, reason="one of the arms needs rg")
@pytest.mark.parametrize("cut", ["", " | tail -n 1"], ids=["with a transcript", "without one"])
def test_each_arm_is_recorded_as_it_was_played(
    checkouts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], cut: str
) -> None:
    """By the agent's transcript, or else by the calls of the server; a second start repeats nothing."""
    gold = [[{"path": "lamp.py", "start": 1, "end": 2}]]
    task = {"id": "t", "kind": "fix", "repo": "a/lamp", "commit": first_commit(checkouts), "gold": gold}
    (tmp_path / "tasks.json").write_text(json.dumps([{**task, "task": "What lights `light_lamp`?"}]))
    monkeypatch.setenv("PYTHONPATH", f"{ROOT / 'src'}:{ROOT}")
    out = tmp_path / "records.jsonl"
    player = f'{sys.executable} -m tests.benchmarks.scripted_player "$0" "$1"{cut}'
    words = ["trial", "--checkouts", str(checkouts), "--out", str(out), "--tasks", str(tmp_path / "tasks.json")]
    monkeypatch.setattr(sys, "argv", [*words, "--command", f"sh -c '{player}' {{prompt}} {{config}}"])
    trial.main()
    trial.main()
    rows = {row["arm"]: row for row in trial.read_records(out)}
    assert len(out.read_text().splitlines()) == len(rows) == len(tools.ARMS)
    assert {arm: (row["first"], row["calls"], row["right"]) for arm, row in rows.items()} == {
        "none": ("none", 0, False), "ours": ("tool", 1, True), "placebo": ("tool", 1, False), "grep": ("tool", 1, True),
    }  # fmt: skip
    assert rows["placebo"]["characters"] == len(tools.PLACEBO)
    assert rows["ours"]["places"][0][0] == "lamp.py"
    assert "right, ours - placebo: +1.000" in capsys.readouterr().out


@pytest.mark.slow
def test_a_player_without_a_client_is_recorded_as_it_played(checkouts: Path, tmp_path: Path) -> None:
    """In each arm; a run without an answer is none, and nothing says whose command it is."""
    gold = [[{"path": "lamp.py", "start": 1, "end": 2}]]
    task = {"id": "t", "kind": "fix", "repo": "a/lamp", "commit": first_commit(checkouts), "gold": gold}
    table = tmp_path / "table"
    shell.deal(table, checkouts, [{**task, "task": "What lights `light_lamp`?"}], shell.ALL, seed=0)
    folders = {json.loads(run.read_text())["arm"]: run.with_suffix("") for run in table.glob("*.json")}
    assert folders.keys() == {*shell.ALL}
    said = {}
    search = "codebase search 'who lights it' --also light_lamp"
    commands = {
        "ours": f"{search}; which graphrag-mcp; ls",
        "placebo": search,
        "hooks": "rg -n light_lamp",
        "none": "ls",
    }
    for arm, folder in folders.items():
        command = commands[arm]
        done = subprocess.run([folder / "look", command], capture_output=True, text=True, check=True, timeout=60)
        said[arm] = done.stdout
        assert ("codebase search" in (folder / "task.md").read_text()) == (arm in ("ours", "placebo"))
    assert "1. lamp.py:1-2  light_lamp" in said["ours"] and "graphrag" not in said["ours"]
    assert said["none"] == "lamp.py\n" and shell.played(table) == []
    assert said["placebo"] == tools.PLACEBO
    hook, *found = said["hooks"].splitlines()
    assert "`light_lamp` is defined at lamp.py:1 (0 certain callers" in hook and "graphrag" not in hook
    assert found == ["lamp.py:1:def light_lamp():"]
    (folders["ours"] / "answer.txt").write_text("ANSWER: lamp.py:1")
    (folders["none"] / "answer.txt").write_text("ANSWER: lamp.py:7")
    (folders["hooks"] / "answer.txt").write_text("ANSWER: lamp.py:1")
    rows = {row["arm"]: row for row in shell.played(table)}
    assert rows.pop("hooks")["hooks"]["search"][:2] == [1, 0]
    assert {arm: (row["first"], row["right"], row["characters"]) for arm, row in rows.items()} == {
        "ours": ("tool", True, len(said["ours"])), "none": ("own", False, len(said["none"])),
    }  # fmt: skip
    assert (rows["ours"]["searches"], rows["ours"]["with_phrasings"]) == (1, 1)
    cells = shell.figures(list(rows.values()), "all")
    assert (cells["first"], cells["right"], cells["right, without"]) == ("1/1", "1/1", "0/1")


def test_a_copy_ends_with_the_commit_of_its_task(checkouts: Path, tmp_path: Path) -> None:
    """The fix that a task asks for is in no commit that a player can see, and what a player left is gone."""
    task = {"repo": "a/lamp", "commit": first_commit(checkouts)}
    root = trial.prepare(tmp_path, checkouts, task)
    (root / "lamp.py").write_text("changed")
    (root / "new.py").write_text("new")
    assert trial.prepare(tmp_path, checkouts, task) == root
    assert [file.name for file in root.iterdir() if file.name != ".git"] == ["lamp.py"]
    assert "return 1" in (root / "lamp.py").read_text()
    assert len(git(root, "log", "--all", "--oneline").splitlines()) == 1


def test_no_word_of_the_tools_says_whose_they_are(checkouts: Path, tmp_path: Path) -> None:
    """The names, the descriptions, the instructions and the answers."""
    with tools.open_arm("ours", checkouts / "lamp", tmp_path / "data") as arm:
        answers = [arm.call("search_code", {"query": "light_lamp"}), arm.call("index_status", {})]
        shown = json.dumps([arm.tools, arm.instructions, answers])
    assert "search_code" in shown
    assert "graphrag" not in shown.lower()


def first_commit(checkouts: Path) -> str:
    return git(checkouts / "lamp", "rev-parse", "HEAD~1").strip()


GOLD: dict[str, Any] = {"gold": [[{"path": "a.py", "start": 3, "end": 5}], [{"path": "b.py", "start": 1, "end": 1}]]}


@pytest.mark.parametrize(
    ("kind", "answer", "right"),
    [
        ("structure", "a.py:3, b.py:1", True),
        ("structure", "`./a.py:4-9`, b.py:1", True),
        ("structure", "a.py:3, b.py:1, c.py:1", False),
        ("flow", "a.py:3, b.py:1, c.py:1", True),
        ("fix", "a.py:3, b.py:1, c.py:1, c.py:2, c.py:9", False),
        ("fix", "a.py:6, b.py:1", False),
    ],
)
def test_an_answer_is_right_if_it_has_each_place_and_few_beside_them(kind: str, answer: str, right: bool) -> None:
    """How few, the kind of the task says; what stands above the last line is no answer."""
    assert trial.judge({**GOLD, "kind": kind}, f"See z.py:7.\nANSWER: {answer}\n")[1] is right
    assert trial.judge({**GOLD, "kind": kind}, answer) == ([], False)
