"""The comparison of models, on a benchmark of one small project."""

import argparse
import json
from pathlib import Path

import pytest

from tests.training.project import make_project
from training.compare import chunks_of, measure, read_benchmark


@pytest.fixture
def options(tmp_path: Path) -> argparse.Namespace:
    make_project(tmp_path / "sessions")
    target = {"paths": ["routes.go"], "start_line": 4, "end_line": 12}
    query = {"id": "q", "repo": "sessions", "query": "longest prefix of a path", "category": "semantic"}
    (tmp_path / "queries.json").write_text(json.dumps([{**query, "relevant": ["routes.go"], "targets": [target]}]))
    (tmp_path / "repos.json").write_text(json.dumps([{"name": "sessions", "index_root": "src"}]))
    return argparse.Namespace(
        repos_dir=tmp_path, benchmark=tmp_path, scope="full", implementation=False, dense_only=False, repos=None
    )


def test_a_model_is_measured_alone_and_in_the_whole_search(options: argparse.Namespace) -> None:
    row = measure("package", options)
    assert (row.dense_ndcg, row.dense_span) == (1, 1)
    assert (row.search_ndcg, row.search_file, row.search_span) == (1, 1, 1)
    assert min(row.chunks_per_second, row.query_ms, row.memory_mb) > 0
    assert 1 < row.size_mb < 5


def test_words_alone_are_measured_on_the_same_queries(options: argparse.Namespace) -> None:
    row = measure("bm25", options)
    assert row.dense_ndcg == 1
    assert row.search_ndcg == row.chunks_per_second == 0


def test_only_the_repositories_asked_for_count(options: argparse.Namespace) -> None:
    options.repos = ["another"]
    assert measure("bm25", options).dense_ndcg == 0


def test_in_the_scope_of_the_root_only_the_source_folder_is_seen(options: argparse.Namespace) -> None:
    (options.repos_dir / "sessions" / "src_of_tests").mkdir()
    (options.repos_dir / "sessions" / "src_of_tests" / "routes.go").write_text("package routes\n")
    (options.repos_dir / "sessions" / "src").mkdir()
    options.scope = "root"
    (repository,) = read_benchmark(options)
    assert chunks_of(repository, options) == ([], [])
