"""`graphrag-mcp eval`: asks queries whose answers are known, and prints how good the answers are."""

import argparse
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from graphrag_mcp.app import App
from graphrag_mcp.cli.commands import bring_up_to_date
from graphrag_mcp.cli.options import project_root
from graphrag_mcp.cli.project import open_project
from graphrag_mcp.errors import RequestError
from graphrag_mcp.evaluation import CUTOFF, JudgedQuery, Place, Scores, Target, mean, score
from graphrag_mcp.model import Scope, SearchRequest
from graphrag_mcp.server.arguments import HybridSearchArguments

ALL = "all"


def run_eval(options: argparse.Namespace) -> None:
    """Ask every query with the hybrid tool's defaults and ten results, and print the mean scores by category."""
    root = project_root(options.root, os.environ)
    queries = _choose(read_queries(options.queries), options.repo, root.resolve().name)
    app = open_project(root, options.index_root)
    try:
        bring_up_to_date(app)
        places = {query.id: _ask(app, query) for query in queries}
    finally:
        app.close()
    if options.run_out:
        run = {"name": "graphrag-mcp", "scope": "root" if options.index_root else "full", "results": places}
        options.run_out.write_text(json.dumps(run), encoding="utf-8")
    scores = _by_category(queries, places)
    sys.stdout.write(_json(scores) if options.json else _table(scores, queries))


def read_queries(path: Path) -> list[JudgedQuery]:
    """Return the queries of a file; raises RequestError when it is not a list of queries."""
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
        return [_read_query(entry) for entry in entries if entry.get("usable", True)]
    except OSError as error:
        raise RequestError("QUERIES.json", f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        needed = "a list of objects with id, query, category, and targets with paths"
        raise RequestError("QUERIES.json", f"{path}: {type(error).__name__} {error}; expected {needed}") from None


def _read_query(entry: Mapping[str, Any]) -> JudgedQuery:
    targets = tuple(
        Target(tuple(target["paths"]), target.get("start_line"), target.get("end_line")) for target in entry["targets"]
    )
    relevant = entry.get("relevant") or [path for target in targets for path in target.paths]
    return JudgedQuery(
        id=entry["id"],
        query=entry["query"],
        category=entry["category"],
        relevant=frozenset(relevant),
        targets=targets,
        repo=entry.get("repo", ""),
    )


def _choose(queries: Sequence[JudgedQuery], repo: str | None, root_name: str) -> list[JudgedQuery]:
    """Return the queries of `repo`; without one, those of the root's name if there are any, else all."""
    chosen = [query for query in queries if query.repo == (repo or root_name)]
    if repo and not chosen:
        known = ", ".join(sorted({query.repo for query in queries}))
        raise RequestError("--repo", f"--repo {repo}: no query is of this repo; there are: {known}")
    return chosen or list(queries)


def _ask(app: App, query: JudgedQuery) -> list[Place]:
    """Ask as the hybrid tool does, but for its shortest query: a symbol of one letter is a fair question here."""
    request = SearchRequest(
        query.query,
        limit=CUTOFF,
        scope=Scope(exclude_archived=app.settings.retrieval.exclude_archived),
        chunks_per_document=HybridSearchArguments.chunks_per_document,
    )
    result = app.search(request)
    return [(hit.chunk.path, hit.chunk.start_line, hit.chunk.end_line) for hit in result.primary]


def _by_category(
    queries: Iterable[JudgedQuery], places: Mapping[str, Sequence[Place]]
) -> dict[str, tuple[int, Scores]]:
    groups: dict[str, list[Scores]] = {ALL: []}
    for query in queries:
        one = score(query, places[query.id])
        groups[ALL].append(one)
        groups.setdefault(query.category, []).append(one)
    return {name: (len(group), mean(group)) for name, group in groups.items()}


def _table(scores: Mapping[str, tuple[int, Scores]], queries: Sequence[JudgedQuery]) -> str:
    width = max(len(name) for name in scores)
    names = [field.name for field in fields(Scores)]
    lines = [f"{'':{width}}  {'n':>4}  " + "  ".join(f"{name:>10}" for name in names)]
    for category, (count, means) in scores.items():
        values = "  ".join(f"{value:10.3f}" for value in asdict(means).values())
        lines.append(f"{category:{width}}  {count:4}  {values}")
    return "\n".join(lines) + "\n" if queries else "no queries\n"


def _json(scores: Mapping[str, tuple[int, Scores]]) -> str:
    return json.dumps({name: {"queries": count, **asdict(means)} for name, (count, means) in scores.items()}) + "\n"
