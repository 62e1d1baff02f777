"""The benchmark of tokens: what is counted is what an agent would read, and it ends at the first right result."""

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path

import msgspec
import pytest

from benchmarks.tokens import LIMIT, Corpus, Cost, Page, answer, cost, our_pages, results_of, semble_results
from graphrag_mcp.app.local import App
from graphrag_mcp.settings import Settings

LAMPS = 12
QUERY = "polish the lamp"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    folder = tmp_path_factory.mktemp("lamps")
    root = folder / "project"
    root.mkdir()
    for number in range(LAMPS):
        words = "1. lamp.py:1-2  def polish\n\n" * (number == 3)  # A text that looks like a result.
        (root / f"lamp{number}.py").write_text(
            f'def polish_{number}(cloth):\n    """Polish the lamp.\n\n{words}    """\n    return cloth.rub({number})\n'
        )
    indexing = msgspec.structs.replace(Settings().indexing, data_dir=str(folder / "data"))
    with closing(App(root, Settings(indexing=indexing))) as opened:
        opened.index()
        yield opened


@pytest.mark.parametrize("response_format", ["concise", "detailed"])
def test_ours_is_the_servers_answer_cut_after_each_result(app: App, response_format: str) -> None:
    """Nothing of an answer is left out, and the next pages are those of its cursors."""
    first, *others = our_pages(app, QUERY, response_format)
    assert "".join(text for text, _ in first) == answer(app, {"query": QUERY, "response_format": response_format})
    places = [place for page in (first, *others) for _, shown in page for place in shown]
    assert {path for path, _, _ in places} == {f"lamp{number}.py" for number in range(LAMPS)}
    for text, shown in first[:-1]:
        ((path, start, end),) = shown
        assert f"{path}:{start}-{end}" in text


def test_a_line_of_code_that_looks_like_a_result_is_none() -> None:
    """Else the count would end before the result is read."""
    text = "found 2\n\n1. a.py:1-9  f\ntext\n1. b.py:1-2  g\n\n2. c.py:3-4\nmore\n"
    assert [place for _, places in results_of(text) for place in places] == [("a.py", 1, 9), ("c.py", 3, 4)]
    assert "".join(part for part, _ in results_of(text)) == text


def test_the_cost_ends_with_the_first_right_result() -> None:
    """With the result itself; without one all that was read counts, up to the limit."""
    read: list[Page] = [
        [("one two", [("a.py", 1, 9)]), ("three", [("b.py", 5, 8)])],
        [("four five", [("b.py", 20, 30)])],
    ]

    def spent(*targets: dict[str, object], answers: list[Page] = read) -> Cost:
        return cost(iter(answers), targets, lambda text: len(text.split()))

    assert spent({"paths": ["a.py"]}) == Cost(2, True, 3)
    assert spent({"paths": ["b.py"], "start_line": 30, "end_line": 31}) == Cost(5, True, 3)
    assert spent({"paths": ["b.py"], "start_line": 9, "end_line": 19}) == Cost(5, False, 3)
    assert spent({"paths": ["c.py"]}, answers=[[("word " * LIMIT, [])], *read]) == Cost(LIMIT, False, LIMIT)
    assert spent({"paths": ["a.py"]}, answers=[]) == Cost(0, False, 0)


def test_sembles_pieces_are_the_json_it_answers() -> None:
    """With the first ten lines of each chunk, as by its default."""
    results = [{"file_path": f"{name}.py", "start_line": 1, "end_line": 20, "content": "x\n" * 20} for name in "ab"]
    pieces = list(semble_results('say "hello"', results))
    told = json.loads("".join(text for text, _ in pieces) + "]}")
    assert told["query"] == 'say "hello"'
    assert [one["content"].count("x") for one in told["results"]] == [10, 10]
    assert [places for _, places in pieces] == [[("a.py", 1, 20)], [("b.py", 1, 20)]]


def test_grep_prints_what_grep_prints(tmp_path: Path) -> None:
    """The real grep finds the same lines, with the same context; then the windows that hold them are read."""
    for name, words in (("a.py", {3: "polish", 6: "lamp", 40: "LAMP"}), ("b.py", {250: "Polish"})):
        lines = [words.get(number, f"line {number}") for number in range(1, 301)]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    printed, *windows = chain.from_iterable(Corpus(tmp_path, ["a.py", "b.py"]).read_for("polish lamp"))
    command = ["grep", "-niE", "-C", "2", "polish|lamp", "a.py", "b.py"]
    found = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert printed == (re.sub(r"^(\w\.py)-(\d+)-", r"\1:\2:", found, flags=re.MULTILINE), [])
    assert [places for _, places in windows] == [[("a.py", 1, 200)], [("b.py", 201, 300)]]
    assert windows[1][0].splitlines()[50] == "250\tPolish"
