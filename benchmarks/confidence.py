"""Fit the judgement "nothing matches well" (search/confidence.py), and measure it on repositories it was not fitted on.

    python -m benchmarks.confidence --fit QUERIES.json:TREES … --judge QUERIES.json:TREES …

QUERIES.json is in the benchmark's format, and names the set; TREES holds one checkout per repository, or is
the only one, where the queries name none.

* answerable: a repository's own queries whose right file is among its first five results, or which a person judged so
  (`gold` is "three" in `unanswerable/of_trials.json`);
* absent: own queries without a right file: questions of users about what the repository does not have;
* of others: the same set's queries to repositories of another topic (`unanswerable/topics.json`; a repository that is
  not listed is a topic of its own), without those all of whose words stand in one file of the repository;
* off topic: `unanswerable/off_topic.txt`, every second line to fit and the others to judge.

Each set weighs the same, and in it answerable queries as much as all others. The threshold is the score below which
FALSE_ALARMS of the answerable queries of the sets to fit lie, each repository being scored by a fit without it.
"""

import argparse
import json
import math
import os
import random
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.figures import add_option, write_rows
from graphrag_mcp.app.local import App
from graphrag_mcp.embedding.models import load_embedder
from graphrag_mcp.exclusion.manager import ExclusionManager
from graphrag_mcp.exclusion.walker import WalkedFile, walk
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import SearchRequest
from graphrag_mcp.search import confidence
from graphrag_mcp.search.confidence import Signals, known_frequencies, read_signals
from graphrag_mcp.search.query.understand import understand
from graphrag_mcp.search.retrieval import Lookups, Retriever
from graphrag_mcp.settings import load_settings
from graphrag_mcp.text.words import index_words, query_words

HERE = Path(__file__).parent / "unanswerable"
WEIGHTS = ("INTERCEPT", "COSINE", "RARE")
FALSE_ALARMS = 0.0125
SHOWN = 5
CANDIDATES = 120  # As a search with the default settings has them.
OF_OTHERS = 40  # Queries of other repositories that each is asked.
KINDS = {"answerable": 1.0, "absent": 0.8, "of others": 0.8, "off topic": 0.2}  # And what each weighs.
CERTAIN = 9.0  # The score of a query whose name or path exists.
SMOOTHING = 1e-5  # L2, per example: it only keeps the fit finite.

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Example:
    """One query to one repository, and what the search knew of it."""

    group: str
    repo: str
    kind: str
    signals: Signals


@dataclass(frozen=True, slots=True)
class QuerySet:
    """The queries of one file, by repository, and where the repositories lie."""

    name: str
    queries: Sequence[Mapping[str, Any]]
    trees: Path

    @classmethod
    def read(cls, text: str) -> "QuerySet":
        file, _, trees = text.rpartition(":")
        queries = [{"repo": "", **one} for one in json.loads(Path(file).read_text())]
        return cls(Path(file).stem, queries, Path(trees).resolve())

    @property
    def repos(self) -> list[str]:
        return sorted({one["repo"] for one in self.queries})


def main() -> None:
    parser = argparse.ArgumentParser(description="Fit and measure when nothing matches well.")
    parser.add_argument("--fit", nargs="*", type=QuerySet.read, default=[], metavar="QUERIES:TREES")
    parser.add_argument("--judge", nargs="*", type=QuerySet.read, default=[], metavar="QUERIES:TREES")
    parser.add_argument("--data-dir", type=Path, help="keep the indexes here and use them again")
    add_option(parser)
    options = parser.parse_args()
    load_embedder().embed_query("loaded")
    off_topic = (HERE / "off_topic.txt").read_text().splitlines()
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["GRAPHRAG_DATA_DIR"] = str(options.data_dir or temporary)
        if options.judge:
            judge_with_those_in_use(list(collect(options.judge, off_topic[1::2])), options.figures)
        if options.fit:
            fit_anew(list(collect(options.fit, off_topic[::2])), options.figures)


def judge_with_those_in_use(examples: Sequence[Example], figures: str | None) -> None:
    scores = np.array([confidence.confidence(one.signals) for one in examples])
    report("not fitted on: the coefficients and the threshold in use", examples, scores, confidence.LOW, figures)


def fit_anew(examples: Sequence[Example], figures: str | None) -> None:
    """Print coefficients and threshold; the examples have to be of two repositories at least."""
    left_out = scores_left_out(examples)
    threshold = float(np.quantile(left_out[[one.kind == "answerable" for one in examples]], FALSE_ALARMS))
    for name, value in zip(WEIGHTS, fit(examples), strict=True):
        print(f"{name} = {value:.2f} (in use: {getattr(confidence, name)})")
    print(f"LOW = {1 / (1 + math.exp(-threshold)):.3f} (in use: {confidence.LOW})")
    in_use = math.log(confidence.LOW / (1 - confidence.LOW))
    report("fitted on, each repository left out in turn: the threshold in use", examples, left_out, in_use, figures)


# ---------------------------------------------------------------- examples


def collect(sets: Sequence[QuerySet], off_topic: Sequence[str]) -> Iterator[Example]:
    """Ask every repository of the sets its own queries, those of others and those of nobody."""
    for query_set in sets:
        for repo in query_set.repos:
            root = query_set.trees / repo
            app = App(root, load_settings(root, os.environ))
            app.index()
            own = [one for one in query_set.queries if one["repo"] == repo]
            foreign = [one for one in query_set.queries if topic(one["repo"]) != topic(repo)]
            asked = [(one["query"], "answerable") for one in own if is_answered(app, one)]
            asked += [(one["query"], "absent") for one in own if is_absent(one)]
            asked += [(text, "of others") for text in unanswered(root, foreign)]
            asked += [(text, "off topic") for text in off_topic]
            for (_, kind), signals in zip(asked, signals_of(app, [text for text, _ in asked]), strict=True):
                if signals is not None:
                    yield Example(query_set.name, f"{query_set.name}/{repo}", kind, signals)
            app.close()
            print(f"{query_set.name} {repo}: {len(asked)} queries", flush=True)


def topic(repo: str) -> str:
    topics: Mapping[str, Sequence[str]] = json.loads((HERE / "topics.json").read_text())
    return next((name for name, repos in topics.items() if repo in repos), repo)


def is_absent(query: Mapping[str, Any]) -> bool:
    return query["gold"] == "absent" if "gold" in query else not query["relevant"]


def is_answered(app: App, query: Mapping[str, Any]) -> bool:
    if "gold" in query:
        return bool(query["gold"] == "three")
    if len(query["query"]) < 3:  # The tools refuse it.
        return False
    shown = app.search(SearchRequest(query["query"], limit=SHOWN, include_graph_context=False)).primary
    return bool({hit.chunk.path for hit in shown} & set(query["relevant"]))


def unanswered(root: Path, queries: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return some of the queries, without those that one file of the repository may happen to answer."""
    paths = [entry.path for entry in walk(ExclusionManager(root), "") if isinstance(entry, WalkedFile)]
    files = [set(index_words(f"{path} {(root / path).read_text(errors='replace')}")) for path in paths]
    texts = [one["query"] for one in random.Random(0).sample(queries, len(queries)) if len(one["query"]) >= 3]
    kept = (text for text in texts if not any(words.issuperset(query_words(text)) for words in files))
    return [text for text, _ in zip(kept, range(OF_OTHERS), strict=False)]


def signals_of(app: App, texts: Sequence[str]) -> Iterator[Signals | None]:
    stores, retriever = app.stores(), Retriever()
    for text in texts:
        query = understand(text, app.settings.retrieval)
        found = Lookups(retriever, stores).retrieve(query, Scope(), CANDIDATES)
        frequencies = known_frequencies(query.terms, stores.keywords)
        yield read_signals(query, found, frequencies) if frequencies is not None else None
    retriever.close()


# ---------------------------------------------------------------- the fit


def fit(examples: Sequence[Example]) -> Floats:
    """Return intercept and coefficients of a logistic regression, by Newton's method."""
    judged = [one for one in examples if not one.signals.is_named]
    inputs = np.array([inputs_of(one.signals) for one in judged])
    wanted = np.array([one.kind == "answerable" for one in judged], float)
    parts = [(one.group, one.kind) for one in judged]
    sizes = Counter(parts)
    weights = np.array([KINDS[part[1]] / sizes[part] for part in parts])
    weights *= len(weights) / weights.sum()
    penalty = SMOOTHING * len(judged) * np.diag([0.0, *np.ones(inputs.shape[1] - 1)])
    coefficients = np.zeros(inputs.shape[1])
    for _ in range(100):
        chance = 1 / (1 + np.exp(-inputs @ coefficients))
        slope = inputs.T @ (weights * (chance - wanted)) + penalty @ coefficients
        curvature = (inputs.T * (weights * chance * (1 - chance))) @ inputs + penalty
        coefficients -= np.linalg.solve(curvature, slope) / 2  # A whole step may be too long.
    return coefficients


def inputs_of(signals: Signals) -> list[float]:
    return [1.0, signals.cosine, signals.rare]


def scores_left_out(examples: Sequence[Example]) -> Floats:
    """Return the score z of each example, by a fit without its repository."""
    scores = np.full(len(examples), CERTAIN)
    name = [one.repo.rpartition("/")[2] for one in examples]  # In whichever set: the same repository.
    for repo in sorted(set(name)):
        coefficients = fit([one for one, its in zip(examples, name, strict=True) if its != repo])
        for row, one in enumerate(examples):
            if name[row] == repo and not one.signals.is_named:
                scores[row] = np.array(inputs_of(one.signals)) @ coefficients
    return scores


# ---------------------------------------------------------------- the report


def report(
    title: str, examples: Sequence[Example], scores: Floats, threshold: float, figures: str | None = None
) -> None:
    print(f"\n{title}\n{'':<14}AUC of absent, of others, off topic" + "".join(f"   {kind} called so" for kind in KINDS))
    for group in dict.fromkeys(one.group for one in examples):
        of = {
            kind: np.array(
                [score for one, score in zip(examples, scores, strict=True) if one.kind == kind and group == one.group]
            )
            for kind in KINDS
        }
        answerable, absent, others, off = of.values()
        row = f"{group:<14}" + " ".join(f"{area(answerable, part):.3f}" for part in (absent, others, off))
        print(
            row + "".join(f"   {(part < threshold).mean():7.1%} of {len(part):<5}" for part in of.values() if len(part))
        )
        cells = {f"{kind}, %": f"{100 * (part < threshold).mean():.1f}" for kind, part in of.items() if len(part)}
        parts = {"absent": absent, "others": others, "off topic": off}
        cells |= {f"AUC of {name}": f"{area(answerable, part):.3f}" for name, part in parts.items() if len(part)}
        write_rows(figures, {group: {"questions": str(len(answerable)), **cells}})


def area(higher: Floats, lower: Floats) -> float:
    """Return the area under the ROC curve: the chance that an answerable query scores higher."""
    if not (len(higher) and len(lower)):
        return math.nan
    wins = (higher[:, None] > lower).mean() + (higher[:, None] == lower).mean() / 2
    return float(wins)


if __name__ == "__main__":
    main()
