"""Measure what the product says of calls, uses, values and implementers beside what compilers say.

    python -m benchmarks.graph LANGUAGE --work DIR [--origin URL] [--repos NAME ...] [--lines] [--why N]

LANGUAGE is go, typescript, javascript, python or java. DIR keeps the checkouts, what they depend on, the truth and the
indexes; what is there is used again, except the indexes of another version. See README.md for what is counted.
"""

import argparse
import sys
from collections import Counter, defaultdict
from pathlib import Path

from benchmarks.figures import add_option, write_rows
from benchmarks.graph.checking import Language, Places, Repository, make_truth, read_repositories
from benchmarks.graph.product import Certainty, open_product
from benchmarks.graph.records import Truth, read_truth
from benchmarks.graph.score import FUNCTIONS, Answers, Fault, Relation, Score, Scorer

CERTAIN, DECIDED, ALL = (Certainty.CERTAIN,), (Certainty.CERTAIN, Certainty.MAY_CALL), tuple(Certainty)
HEAD = f"{'':36s}{'wanted':>8s}   certain P    R   decided P    R       all P    R   not judged"

Scores = dict[Relation, Score]


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the code graph beside compilers.")
    parser.add_argument("language", type=Language, choices=list(Language))
    parser.add_argument("--work", type=Path, required=True, help="folder of checkouts, truth and indexes")
    parser.add_argument("--origin", default="https://github.com", help="where OWNER/NAME is cloned from")
    parser.add_argument("--repos", nargs="*", help="only these")
    parser.add_argument("--lines", action="store_true", help="count lines too, besides enclosing definitions")
    parser.add_argument("--why", type=int, default=0, help="number of causes of wrong and missing rows to print")
    add_option(parser)
    options = parser.parse_args()
    places = Places(options.origin, options.work)
    pooled: defaultdict[str, Scores] = defaultdict(lambda: {relation: Score() for relation in Relation})
    for repository in read_repositories(options.language):
        if not options.repos or repository.name in options.repos:
            truth = read_truth(make_truth(options.language, repository, places))
            sys.stdout.write(f"\n{repository.name}: {len(truth.files):,} files\n")
            for title, scores in measure(truth, ask(truth, repository, places), by_line=options.lines).items():
                report(title, scores)
                for relation, score in scores.items():
                    pooled[title][relation] += score
    for title, scores in pooled.items():
        sys.stdout.write(f"\n{options.language}, pooled\n")
        report(title, scores)
        explain(scores, options.why)
        if title == "by definition":
            cells = {relation.value: {options.language.value: _cell(one)} for relation, one in scores.items()}
            write_rows(options.figures, cells)


def ask(truth: Truth, repository: Repository, places: Places) -> Answers:
    """Return what the product says of every declaration that is not local."""
    asked = [symbol for symbol in truth.symbols.values() if not symbol.local]
    with open_product(places.checkout(repository), places.work / "indexes") as product:
        answers = {symbol.place: product.ask(symbol) for symbol in asked}
    unknown = sum(answers[symbol.place] is None for symbol in asked if symbol.kind in FUNCTIONS)
    sys.stdout.write(f"{len(asked):,} declarations are asked for; {unknown:,} functions are not known\n")
    return answers


def measure(truth: Truth, answers: Answers, *, by_line: bool) -> dict[str, Scores]:
    """Return the scores of each relation, by enclosing definition and, if asked for, by line."""
    scorers = {"by definition": Scorer(truth)}
    if by_line:
        scorers["by line"] = Scorer(truth, lambda path, line: (path, line))
    return {
        title: {relation: scorer.score(relation, answers) for relation in Relation} for title, scorer in scorers.items()
    }


def report(title: str, scores: Scores) -> None:
    """Print precision and recall of each relation."""
    sys.stdout.write(f"{title}\n{HEAD}\n")
    for relation, score in scores.items():
        shares = "".join(
            f"{_share(score.precision(*levels)):>12s} {_share(score.recall(*levels))}"
            for levels in (CERTAIN, DECIDED, ALL)
        )
        sys.stdout.write(f"{relation.value:36s}{score.wanted:8,d}{shares}{score.neither:13,d}\n")


def _share(value: float | None) -> str:
    return "   -" if value is None else f"{value:.3f}".removeprefix("0").rjust(4)


def _cell(score: Score) -> str:
    """Return P / R of what is decided; P of what is certain, and its share of what is true; P / R with all rows."""

    def shares(levels: tuple[Certainty, ...], between: str) -> str:
        values = (score.precision(*levels), score.recall(*levels))
        return between.join("-" if value is None else f"{value:.3f}" for value in values)

    return f"{shares(DECIDED, ' / ')}; {shares(CERTAIN, ', ')}; {shares(ALL, ' / ')}"


def explain(scores: Scores, count: int) -> None:
    """Print the most frequent causes of each fault, with an example."""
    for relation, score in scores.items():
        for fault in Fault if count else ():
            causes = Counter({cause: len(cases) for (kind, cause), cases in score.why.items() if kind is fault})
            if causes:
                sys.stdout.write(f"\n{relation.value}, {fault.value}: {causes.total():,d}\n")
            for cause, number in causes.most_common(count):
                sys.stdout.write(f"  {number:7,d}  {cause}   ({score.why[fault, cause][0]})\n")


if __name__ == "__main__":
    main()
