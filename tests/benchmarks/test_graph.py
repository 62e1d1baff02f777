"""The benchmark of the code graph: what counts as right, wrong and missing, and what a checker prints."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks.graph.product import Certainty, Row, Says, open_product
from benchmarks.graph.records import Place, Truth, read_truth
from benchmarks.graph.score import Fault, Relation, Score, Scorer

CHECKERS = Path(__file__).parents[2] / "benchmarks" / "graph" / "checkers"
OPEN, OTHER = ["lamp.py", 1, "open"], ["door.py", 1, "open"]


def symbol(path: str, line: int, name: str, end: int, kind: str = "function") -> dict[str, Any]:
    """Return the record of a declaration that begins at its name."""
    place = {"path": path, "line": line, "column": 1, "start_line": line, "end_line": end, "name": name}
    return {"record": "symbol", **place, "qualified": name, "kind": kind}


def site(path: str, line: int, targets: Sequence[Any], **more: Any) -> dict[str, Any]:
    """Return the record of a call of `open`."""
    found = "project" if targets else "outside"
    place = {"path": path, "line": line, "column": 1, "name": "open", "kind": "call"}
    return {"record": "site", **place, "found": found, "targets": targets, "receiver": "bare"} | more


def truth_of(folder: Path, *records: dict[str, Any]) -> Truth:
    """Return the truth about two files that declare `open`, and one with callers at the lines 1, 11, 21 and so on."""
    files: list[dict[str, Any]] = [{"record": "file", "path": path} for path in ("lamp.py", "door.py", "use.py")]
    declared = [symbol("lamp.py", 1, "open", 5), symbol("door.py", 1, "open", 5)]
    callers = [symbol("use.py", 10 * number + 1, f"caller{number}", 10 * number + 9) for number in range(5)]
    file = folder / "truth.jsonl"
    file.write_text("\n".join(json.dumps(record) for record in [*files, *declared, *callers, *records]))
    return read_truth(file)


def scored(truth: Truth, rows: Sequence[Row], relation: Relation = Relation.CALLERS) -> Score:
    """Return the score of some rows about the `open` of lamp.py."""
    return Scorer(truth).score(relation, {Place("lamp.py", 1, "open"): rows})


def call(line: int, certainty: Certainty = Certainty.CERTAIN, path: str = "use.py") -> Row:
    """Return a row that says that a line calls."""
    return Row(path, line, Says.CALLS, certainty)


def test_a_row_answers_the_definition_around_its_line(tmp_path: Path) -> None:
    """A row at another line of the same caller is right, and two rows of one caller count once."""
    truth = truth_of(tmp_path, site("use.py", 3, [OPEN]), site("use.py", 13, [OPEN]))
    score = scored(truth, [call(5), call(3, Certainty.BY_NAME)])
    assert (score.wanted, score.right, score.wrong) == (2, {Certainty.CERTAIN: 1}, {})
    assert score.recall(Certainty.CERTAIN) == 0.5
    assert [fault for fault, _ in score.why] == [Fault.MISSING]


def test_a_call_of_another_symbol_of_the_name_is_wrong(tmp_path: Path) -> None:
    """Neither a call of the other `open` nor one of the library's makes a row right."""
    truth = truth_of(tmp_path, site("use.py", 3, [OTHER]), site("use.py", 13, []), site("use.py", 23, [OPEN]))
    score = scored(truth, [call(3), call(13, Certainty.BY_NAME), call(23)])
    assert score.precision(Certainty.CERTAIN) == 0.5
    assert score.precision(*Certainty) == 1 / 3


def test_what_no_checker_knows_is_judged_neither_way(tmp_path: Path) -> None:
    """A row at an undecided name, and one in a file of another build variant, are neither right nor wrong."""
    truth = truth_of(tmp_path, site("use.py", 3, [], found="unknown"))
    score = scored(truth, [call(3), call(1, path="use_windows.py")])
    assert (score.neither, score.right, score.wrong) == (2, {}, {})


def test_a_dispatched_call_is_right_where_the_row_says_may_call(tmp_path: Path) -> None:
    """It is wanted as dispatch, and as a caller it is right for "may call" and not judged for a certain row."""
    truth = truth_of(tmp_path, site("use.py", 3, [OTHER], dispatch=[OPEN]))
    assert scored(truth, [call(3, Certainty.MAY_CALL)]).right == {Certainty.MAY_CALL: 1}
    assert scored(truth, [call(3)]).neither == 1
    found = scored(truth, [call(3, Certainty.MAY_CALL)], Relation.DISPATCH)
    assert (found.wanted, found.recall(Certainty.MAY_CALL), found.precision(Certainty.MAY_CALL)) == (1, 1.0, 1.0)


def test_overloads_are_one_symbol_and_recursion_is_left_out(tmp_path: Path) -> None:
    """A row about either overload finds a call of the other, and a call inside of them is no caller."""
    overload = symbol("lamp.py", 7, "open", 9)
    truth = truth_of(tmp_path, overload, site("lamp.py", 8, [OPEN]), site("use.py", 3, [["lamp.py", 7, "open"]]))
    score = scored(truth, [call(3), call(8, path="lamp.py")])
    assert (score.wanted, score.right, score.wrong) == (1, {Certainty.CERTAIN: 1}, {})


def test_the_product_answers_with_lines(tmp_path: Path) -> None:
    """A call in another file is a row with its path and line; what is not defined there has no answer."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "lamp.py").write_text("def kindle():\n    return 1\n")
    (root / "use.py").write_text("from lamp import kindle\n\n\ndef start():\n    return kindle()\n")
    truth = truth_of(tmp_path, symbol("lamp.py", 1, "kindle", 2), symbol("lamp.py", 2, "gone", 2))
    kindle, gone = (truth.symbols[Place("lamp.py", line, name)] for line, name in ((1, "kindle"), (2, "gone")))
    with open_product(root, tmp_path / "data") as product:
        assert [(row.path, row.line, row.says) for row in product.ask(kindle) or ()] == [("use.py", 5, Says.CALLS)]
        assert product.ask(gone) is None


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("java") is None, reason="needs Java")
def test_the_java_checker_names_targets_dispatch_and_anonymous_classes(tmp_path: Path) -> None:
    """A call through an interface has its method as target, and its implementation as what it may reach."""
    (tmp_path / "A.java").write_text(
        "interface Lamp { void kindle(); }\n"
        "class Torch implements Lamp { public void kindle() {} }\n"
        "class Use {\n  void start(Lamp lamp) { lamp.kindle(); new Torch().kindle(); }\n"
        "  Lamp other = new Lamp() { public void kindle() {} };\n}\n"
    )
    command = ["java", str(CHECKERS / "Truth.java"), str(tmp_path), ""]
    done = subprocess.run(command, input="A.java\n", capture_output=True, text=True, check=True)
    file = tmp_path / "truth.jsonl"
    file.write_text(done.stdout)
    truth = read_truth(file)
    torch, anonymous = Place("A.java", 2, "kindle"), Place("A.java", 5, "kindle")
    calls = [(site.targets, set(site.dispatch)) for site in truth.sites if site.use == "call"]
    assert calls == [((Place("A.java", 1, "kindle"),), {torch, anonymous}), ((torch,), set())]
    below = {(kind.value, source.line) for kind, source, target in truth.pairs if target.name == "Lamp"}
    assert below == {("implements", 2), ("extends", 5)} or below == {("implements", 2), ("implements", 5)}
    assert truth.unit("A.java", 4).qualified == "Use.start"
