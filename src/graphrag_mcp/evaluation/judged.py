"""Queries with known answers, read from a file."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphrag_mcp.errors import RequestError
from graphrag_mcp.parsing.languages import detect_language

Location = tuple[str, int | None, int | None]  # Path, first line, last line; None: the whole file.


@dataclass(frozen=True, slots=True)
class Target:
    """One right answer: any of `paths`; where the lines are known, any location that overlaps them."""

    paths: tuple[str, ...]
    start_line: int | None = None
    end_line: int | None = None


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """A query and its right answers. relevant: their files. language: that of the files."""

    id: str
    query: str
    category: str
    relevant: frozenset[str]
    targets: tuple[Target, ...]
    repo: str = ""
    language: str = ""


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
        language=entry.get("language") or detect_language(relevant[0]) or "other",
    )
