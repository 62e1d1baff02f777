"""Ask why code is as it is, with one call of `history` each.

    python -m benchmarks.agents.why --checkouts DIR

why.json was written from the messages of commits before the first call. An answer is right if it names the commit.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
from itertools import groupby
from pathlib import Path

from benchmarks.paired import HERE, environment
from benchmarks.questions import check_commit

QUESTIONS = Path(__file__).with_name("why.json")
_COMMIT = re.compile(r"^([0-9a-f]{7,}) \d{4}-", re.MULTILINE)


def main() -> None:
    """Print how many answers have the commit, how many have it first, and how long they are."""
    parser = argparse.ArgumentParser(description="Ask why code is as it is.")
    parser.add_argument("--checkouts", type=Path, required=True)
    options = parser.parse_args()
    questions = json.loads(QUESTIONS.read_text(encoding="utf-8"))
    found, first, sizes = 0, 0, list[int]()
    with tempfile.TemporaryDirectory() as data:
        for repo, asked in groupby(questions, lambda question: question["repo"]):
            root = (options.checkouts / repo.rpartition("/")[2]).resolve()
            env, program = environment(HERE, Path(data)), [sys.executable, "-m", "graphrag_mcp"]
            subprocess.run([*program, "index"], cwd=root, env=env, check=True, capture_output=True)
            for question in asked:
                check_commit(root, question["commit"])
                command = [*program, "history", question["question"]]
                text = subprocess.run(command, cwd=root, env=env, capture_output=True, text=True).stdout
                sizes.append(len(text))
                commits = _COMMIT.findall(text)
                places = [place for place, commit in enumerate(commits) if question["gold"].startswith(commit)]
                found, first = found + bool(places), first + (places[:1] == [0])
                if places[:1] != [0]:
                    place = f"place {places[0] + 1}" if places else "not found"
                    sys.stdout.write(f"{repo} {question['gold'][:9]} {place}: {question['question']}\n")
    cells = {"in the answer": f"{found}/{len(sizes)}", "first": f"{first}/{len(sizes)}"}
    cells["characters"] = f"{statistics.mean(sizes):.0f}"
    sys.stdout.write(f"{cells}\n")


if __name__ == "__main__":
    main()
