"""The golden corpus: indexed as a project of its own, asked every query, and written down as a text to review."""

import json
import os
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphrag_mcp.app.local import App
from graphrag_mcp.model.reports import IndexPhase, IndexState
from graphrag_mcp.model.search import Hit
from graphrag_mcp.search.evaluation.scores import CUTOFF, JudgedQuery, Scores, Target, score
from graphrag_mcp.search.orchestrator import SearchOrchestrator
from graphrag_mcp.settings import RetrievalSettings, load_settings
from graphrag_mcp.tools.search import HYBRID, search_request

FOLDER = Path(__file__).parent
RANKING = FOLDER / "ranking.txt"
SECONDS_PER_DAY = 86_400
SHOWN = 3


@dataclass(frozen=True, slots=True)
class GoldenQuery:
    """A judged query with the arguments that the hybrid tool is called with."""

    judged: JudgedQuery
    arguments: Mapping[str, Any]
    hard: bool


def read_queries() -> list[GoldenQuery]:
    """Return the queries of `queries.json`."""
    entries = json.loads((FOLDER / "queries.json").read_text(encoding="utf-8"))
    return [
        GoldenQuery(
            JudgedQuery(
                entry["id"],
                entry["query"],
                entry["category"],
                frozenset(entry["relevant"]),
                tuple(Target(tuple(one["paths"]), one["start_line"], one["end_line"]) for one in entry["targets"]),
            ),
            entry.get("arguments", {}),
            entry.get("hard", False),
        )
        for entry in entries
    ]


class Golden:
    """A copy of the corpus with the ages of its files, indexed."""

    def __init__(self, folder: Path) -> None:
        root = folder / "stockroom"
        shutil.copytree(FOLDER / "corpus", root)
        _set_ages(root, json.loads((FOLDER / "ages.json").read_text(encoding="utf-8")))
        variables = {"GRAPHRAG_DATA_DIR": str(folder / "data"), "GRAPHRAG_WORKERS": "1"}
        self.app = App(root, load_settings(root, variables))
        self.app.index()
        self.queries = read_queries()

    def ask(self, settings: RetrievalSettings | None = None, only_hard: bool = False) -> dict[str, list[Hit]]:
        """Return the hits of each query by its id, under the default settings or others."""
        used = settings or self.app.settings.retrieval
        orchestrator = SearchOrchestrator(used)
        stores, state = self.app.stores(), IndexState(IndexPhase.READY)
        answers = {}
        for query in self.queries:
            if only_hard and not query.hard:
                continue
            arguments = {"query": query.judged.query, "limit": CUTOFF, **query.arguments}
            request = search_request(HYBRID.read(arguments, self.app.settings, self.app.root))
            answers[query.judged.id] = list(orchestrator.search(request, stores, state).primary)
        orchestrator.close()
        return answers

    def scores(self, answers: Mapping[str, Sequence[Hit]]) -> dict[str, Scores]:
        """Return the scores of each query by its id."""
        return {
            query.judged.id: score(
                query.judged,
                [(hit.chunk.path, hit.chunk.start_line, hit.chunk.end_line) for hit in answers[query.judged.id]],
            )
            for query in self.queries
            if query.judged.id in answers
        }

    def ranking(self, answers: Mapping[str, Sequence[Hit]]) -> str:
        """Return how each query was answered: the place of the first right file, and the first files, one a line."""
        lines = []
        for query in self.queries:
            files = list(dict.fromkeys(hit.chunk.path for hit in answers[query.judged.id]))
            place = next((rank for rank, path in enumerate(files, 1) if path in query.judged.relevant), None)
            lines.append(f"{query.judged.id}  {place or 'not found'}  {query.judged.query.splitlines()[0]}")
            lines += [f"    {'*' if path in query.judged.relevant else ' '} {path}" for path in files[:SHOWN]]
        return "\n".join(lines) + "\n"

    def close(self) -> None:
        """Close the index."""
        self.app.close()


def _set_ages(root: Path, days: Mapping[str, float]) -> None:
    """Give each file the age of the longest key that names it or a folder around it."""
    now = time.time()
    for file in root.rglob("*"):
        path = file.relative_to(root).as_posix()
        known = [key for key in days if key == path or (key.endswith("/") and path.startswith(key))]
        modified = now - SECONDS_PER_DAY * days[max(known, key=len, default="default")]
        os.utime(file, (modified, modified))
