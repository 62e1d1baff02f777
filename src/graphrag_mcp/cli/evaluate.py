"""`graphrag-mcp eval`: runs queries with known answers, and prints the scores of the results and their causes."""

import argparse
import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from msgspec.structs import astuple, fields, replace

from graphrag_mcp.app.local import App
from graphrag_mcp.cli.commands import bring_up_to_date
from graphrag_mcp.cli.options import project_root
from graphrag_mcp.cli.project import open_project
from graphrag_mcp.cli.terminal import show
from graphrag_mcp.errors import RequestError
from graphrag_mcp.model.reports import IndexPhase, IndexState
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import SearchRequest
from graphrag_mcp.search.evaluation import components
from graphrag_mcp.search.evaluation.comparison import Comparison, Interval, bootstrap, compare
from graphrag_mcp.search.evaluation.history import export_tree, read_history
from graphrag_mcp.search.evaluation.scores import (
    CUTOFF,
    JudgedQuery,
    Location,
    Miss,
    Scores,
    diagnose,
    mean,
    read_queries,
    score,
)
from graphrag_mcp.search.orchestrator import SearchOrchestrator
from graphrag_mcp.settings import RetrievalSettings, Settings
from graphrag_mcp.tools.printing import json_text
from graphrag_mcp.tools.search import HybridSearchArguments

ALL = "all"
DEEP = 200  # Results requested to find the rank of a missed file.
CHANGES_SHOWN = 10
MEASURES = [field.name for field in fields(Scores)]

Answers = Mapping[str, Sequence[Location]]


def run_eval(options: argparse.Namespace) -> None:
    """Run every query as the hybrid tool does, with ten results, and print the mean scores with their intervals."""
    if options.compare:
        queries = _read_queries(options, "")
        before, after = (_score_all(queries, _read_run(path)) for path in options.compare)
        comparison = compare(before, after)
        show(json_text(comparison) if options.json else _comparison_table(comparison))
        return
    with _project(options) as (app, queries):
        bring_up_to_date(app)
        answers = _ask_all(app, queries, app.settings.retrieval)
        scores = _score_all(queries, answers)
        parts = _ask_with_components(app, queries) if options.components else {}
        misses = _find_misses(app, queries, scores) if options.misses else ()
    groups = {ALL: [scores[query.id] for query in queries]}
    for query in queries:
        groups.setdefault(str(getattr(query, options.by)), []).append(scores[query.id])
    if options.run_out:
        run = {"name": "graphrag-mcp", "scope": "root" if options.index_root else "full", "results": answers}
        options.run_out.write_text(json.dumps(run), encoding="utf-8")
    if options.json:
        missed = {"misses": {miss.query.id: miss.reasons for miss in misses}} if misses else {}
        show(json_text(_groups_json(groups) | _parts_json(parts) | missed))
    else:
        show("\n\n".join(filter(None, (_groups_table(groups), _parts_table(parts), _misses_text(misses)))))


@contextmanager
def _project(options: argparse.Namespace) -> Iterator[tuple[App, list[JudgedQuery]]]:
    """Open the project as it is, or, for queries from its history, the tree before those commits."""
    root = project_root(options.root, os.environ)
    if not options.from_history:
        queries = _read_queries(options, root.resolve().name)
        with closing(open_project(root, options.index_root)) as app:
            yield app, queries
        return
    history = read_history(root, options.commits)
    settings = open_project(root).settings
    with tempfile.TemporaryDirectory(prefix="graphrag-eval-") as folder:
        tree = Path(folder) / (root.resolve().name or "tree")
        tree.mkdir()
        export_tree(root, history.tree, tree)
        apart = replace(settings.indexing, data_dir=str(Path(folder) / "data"))
        alike = Settings(indexing=apart, retrieval=settings.retrieval)
        with closing(App(tree, alike, options.index_root, past=(root, history.tree))) as app:
            yield app, list(history.queries)


def _read_queries(options: argparse.Namespace, root_name: str) -> list[JudgedQuery]:
    """Return the queries of --repo; without one, those of the root's name if there are any, else all."""
    if options.queries is None:
        raise RequestError(
            "QUERIES.json", "pass a file of queries, or --from-history to use your commit messages as queries"
        )
    queries = read_queries(options.queries)
    chosen = [query for query in queries if query.repo == (options.repo or root_name)]
    if options.repo and not chosen:
        known = ", ".join(sorted({query.repo for query in queries}))
        raise RequestError("--repo", f"--repo {options.repo}: no query has this repo; available: {known}")
    return chosen or list(queries)


def _read_run(path: Path) -> dict[str, list[Location]]:
    try:
        results = json.loads(path.read_text(encoding="utf-8"))["results"]
        return {name: [(file, start, end) for file, start, end in locations] for name, locations in results.items()}
    except OSError as error:
        raise RequestError("--compare", f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise RequestError("--compare", f"{path} is not a run; `eval --run-out RUN.json` writes one") from None


# ---------------------------------------------------------------- asking


def _ask_all(app: App, queries: Sequence[JudgedQuery], settings: RetrievalSettings) -> dict[str, list[Location]]:
    stores, state = app.stores(), IndexState(IndexPhase.READY)
    with closing(SearchOrchestrator(settings)) as orchestrator:
        results = {query.id: orchestrator.search(_request(query, settings), stores, state) for query in queries}
    return {
        name: [(hit.chunk.path, hit.chunk.start_line, hit.chunk.end_line) for hit in result.primary]
        for name, result in results.items()
    }


def _request(query: JudgedQuery, settings: RetrievalSettings) -> SearchRequest:
    """Return the request of the hybrid tool, without its minimum length: a query may be a symbol of one letter."""
    return SearchRequest(
        query.query,
        limit=CUTOFF,
        scope=Scope(exclude_archived=settings.exclude_archived),
        chunks_per_document=HybridSearchArguments.chunks_per_document,
    )


def _ask_with_components(app: App, queries: Sequence[JudgedQuery]) -> dict[str, dict[str, Scores]]:
    """Return the scores of the baseline, of each component alone, of all, and of all without each component."""
    variants = {
        "baseline": components.baseline(),
        **{f"baseline + {part}": components.alone(part) for part in components.OFF},
        "together": RetrievalSettings(),
        **{f"together - {part}": components.without(part) for part in components.OFF},
    }
    return {name: _score_all(queries, _ask_all(app, queries, settings)) for name, settings in variants.items()}


def _score_all(queries: Sequence[JudgedQuery], answers: Answers) -> dict[str, Scores]:
    return {query.id: score(query, answers[query.id]) for query in queries if query.id in answers}


def _find_misses(app: App, queries: Sequence[JudgedQuery], scores: Mapping[str, Scores]) -> tuple[Miss, ...]:
    settings = app.settings.retrieval
    stores, state = app.stores(), IndexState(IndexPhase.READY)
    with closing(SearchOrchestrator(settings)) as orchestrator:

        def ask_deep(query: JudgedQuery) -> list[str]:
            request = replace(_request(query, settings), limit=DEEP, chunks_per_document=0)
            return [hit.chunk.path for hit in orchestrator.search(request, stores, state).primary]

        missed = [query for query in queries if not scores[query.id].mrr]
        return tuple(diagnose(query, app.why_absent, ask_deep(query)) for query in missed)


# ---------------------------------------------------------------- reporting


def _groups_json(groups: Mapping[str, Sequence[Scores]]) -> dict[str, Any]:
    return {
        name: {"queries": len(group)} | {measure: _interval(group, measure) for measure in MEASURES}
        for name, group in groups.items()
    }


def _groups_table(groups: Mapping[str, Sequence[Scores]]) -> str:
    if not groups[ALL]:
        return "no queries"
    whole = {measure: _interval(groups[ALL], measure) for measure in MEASURES}
    between = (f"{measure} {interval.low:.3f} to {interval.high:.3f}" for measure, interval in whole.items())
    return "\n".join([*_means(groups), "", "95 % intervals: " + ", ".join(between)])


def _means(groups: Mapping[str, Sequence[Scores]]) -> list[str]:
    width = max(map(len, groups))
    lines = [f"{'':{width}}  {'n':>4}  " + "  ".join(f"{name:>10}" for name in MEASURES)]
    for name, group in groups.items():
        values = "  ".join(f"{value:10.3f}" for value in astuple(mean(group)))
        lines.append(f"{name:{width}}  {len(group):4}  {values}")
    return lines


def _interval(scores: Sequence[Scores], measure: str) -> Interval:
    return bootstrap([getattr(row, measure) for row in scores])


def _parts_table(parts: Mapping[str, Mapping[str, Scores]]) -> str:
    if not parts:
        return ""
    lines = _means({name: list(scores.values()) for name, scores in parts.items()})
    whole = compare(parts["baseline"], parts["together"])
    return "\n".join([*lines, "", "all components compared with the baseline:", _comparison_table(whole)])


def _parts_json(parts: Mapping[str, Mapping[str, Scores]]) -> dict[str, Any]:
    means = {name: mean(list(scores.values())) for name, scores in parts.items()}
    return {"components": means} if means else {}


def _comparison_table(comparison: Comparison) -> str:
    lines = [
        f"{name:>10}  {interval.mean:+.3f}  ({interval.low:+.3f} to {interval.high:+.3f})"
        for name, interval in comparison.differences.items()
    ]
    for title, changes in (("won", comparison.won), ("lost", comparison.lost)):
        lines.append(f"{title}: {len(changes)}")
        lines += [f"  {change.before:.3f} -> {change.after:.3f}  {change.id}" for change in changes[:CHANGES_SHOWN]]
    return "\n".join(lines)


def _misses_text(misses: Sequence[Miss]) -> str:
    lines = []
    for miss in misses:
        lines.append(f"missed: {miss.query.id}  {miss.query.query.splitlines()[0]}")
        lines += [f"  {reason}" for reason in miss.reasons]
    return "\n".join(lines)
