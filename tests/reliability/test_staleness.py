"""No result shows lines that its file does not have, however fast the file changes."""

import json
import os
import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from tests.reliability.conftest import Report, Size
from tests.reliability.projects import NOUNS, VERBS, Project
from tests.stdio_client import Server

pytestmark = pytest.mark.slow

FILES = 40


class Versions:
    """Every content that a file had, with the time from which on it had it."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._guard = threading.Lock()
        self._known: dict[str, list[tuple[float, float, str | None]]] = defaultdict(list)
        for path in project.paths:
            self._note(path, 0.0)

    def edit(self) -> None:
        """Make one change and remember it: the change happened at some time between `before` and now."""
        before = time.monotonic()
        with self._guard:
            paths = set(self._project.paths)
            edited = self._project.edit()
            for path in {edited} | paths.symmetric_difference(self._project.paths):
                self._note(path, before)

    def had(self, path: str, start: int, end: int, text: str, since: float, until: float) -> bool:
        """Tell whether a file had these lines at any time between two moments."""
        with self._guard:
            versions = self._known[path]
            ends = [later[1] for later in versions[1:]] + [float("inf")]
            alive = [one[2] for one, over in zip(versions, ends, strict=True) if one[0] <= until and over >= since]
        return any(
            content is not None and "\n".join(content.split("\n")[start - 1 : end]).rstrip("\n") == text.rstrip("\n")
            for content in alive
        )

    def _note(self, path: Path, before: float) -> None:
        text = path.read_text() if path.exists() else None
        name = path.relative_to(self._project.root).as_posix()
        self._known[name].append((before, time.monotonic(), text))


def test_no_result_shows_lines_that_its_file_does_not_have(tmp_path: Path, size: Size, report: Report) -> None:
    """Random edits while two servers are asked without pause: the lines are the file's, or marked as stale."""
    project = Project(tmp_path / "project", FILES)
    versions = Versions(project)
    environment = {**os.environ, "GRAPHRAG_DATA_DIR": str(tmp_path / "data"), "GRAPHRAG_WORKERS": "1"}
    servers = [Server(project.root, environment) for _ in range(2)]
    for server in servers:
        server.call("graphrag_hybrid_search", {"query": "open a file"})
    over = threading.Event()
    wrong: list[dict[str, Any]] = []
    counts = {"searches": 0, "results": 0, "marked": 0}

    def ask(server: Server) -> None:
        while not over.is_set():
            number = counts["searches"]
            query = f"{VERBS[number % len(VERBS)]} {NOUNS[number * 7 % len(NOUNS)]}"
            since = time.monotonic()
            arguments = {"query": query, "limit": 10, "response_format": "json"}
            text, failed = server.call("graphrag_hybrid_search", arguments)
            assert not failed, text
            until = time.monotonic()
            hits = [hit for hit in json.loads(text)["primary"] if not hit["hidden_lines"]]
            counts["searches"] += 1
            counts["results"] += len(hits)
            counts["marked"] += sum(bool(hit["stale"]) for hit in hits)
            wrong.extend(
                hit
                for hit in hits
                if not hit["stale"]
                and not versions.had(hit["path"], hit["start_line"], hit["end_line"], hit["text"], since, until)
            )

    threads = [threading.Thread(target=ask, args=(server,)) for server in servers]
    for thread in threads:
        thread.start()
    edits = size(60, 1_000)
    for _ in range(edits):
        versions.edit()
        time.sleep(0.03)
    over.set()
    for thread in threads:
        thread.join()
    for server in servers:
        server.close()
    report("staleness", edits=edits, wrong=len(wrong), **counts)
    assert wrong == []
    assert counts["results"] > edits
    assert counts["marked"] < counts["results"] / 2
