"""Compares embedding models on a benchmark: by themselves, and inside the whole search.

    python -m training.compare MODEL… --repos-dir CHECKOUTS --benchmark BENCHMARK [--scope root] [--dense-only]

MODEL is `package`, a folder (static or ONNX), a name that fastembed knows, `transformer:FOLDER` (sentence-transformers'
own implementation) or `bm25`. Each one runs in a process of its own, whose largest memory is its memory. Quality is the
mean over repositories of NDCG@10 over chunks and of what is found among ten; by itself, a model sees chunks of code and
documents alike unless --implementation says otherwise.
"""

import argparse
import json
import os
import resource
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from graphrag_mcp.app.local import App
from graphrag_mcp.embedding.chunk_texts import embedding_texts
from graphrag_mcp.embedding.models import embed_chunks, is_static, load_embedder, open_second_model
from graphrag_mcp.embedding.static import PACKAGE_MODEL
from graphrag_mcp.exclusion.manager import ExclusionManager
from graphrag_mcp.exclusion.walker import WalkedFile, walk
from graphrag_mcp.model.files import Category
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import SearchRequest
from graphrag_mcp.parsing.parser import parse_file
from graphrag_mcp.ports import Embedder, Matrix
from graphrag_mcp.search.evaluation.scores import JudgedQuery, Location, Scores, mean, read_queries, score
from graphrag_mcp.search.query.understand import understand
from graphrag_mcp.settings import load_settings

DEPTH = 50  # Chunks ranked; the reciprocal rank of a file looks beyond the ten that count elsewhere.
LIMIT = 10
TRANSFORMER = "transformer:"


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured of one model; rates of one process with all of this machine's cores, sizes in megabytes."""

    model: str
    dense_ndcg: float = 0.0
    dense_mrr: float = 0.0
    dense_span: float = 0.0
    search_ndcg: float = 0.0
    search_file: float = 0.0
    search_span: float = 0.0
    chunks_per_second: float = 0.0
    query_ms: float = 0.0
    memory_mb: float = 0.0
    size_mb: float = 0.0


@dataclass(frozen=True, slots=True)
class _Repository:
    name: str
    root: Path
    start: str
    queries: Sequence[JudgedQuery]


def main() -> None:
    options = read_arguments()
    print(" ".join(f"{name:>{max(len(name), 8)}}" for name in Row.__dataclass_fields__))
    for model in options.models:
        # A process of its own: what one model keeps in memory must not count for the next.
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            row = asdict(process.submit(measure, model, options).result())
        print(" ".join(f"{v:>{max(len(k), 8)}.3f}" if k != "model" else f"{v:>8}" for k, v in row.items()), flush=True)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m training.compare", description="Compare embedding models.")
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--repos-dir", type=Path, required=True, help="folder of the checkouts")
    parser.add_argument("--benchmark", type=Path, required=True, help="folder of queries.json and repos.json")
    parser.add_argument("--scope", choices=["root", "full"], default="root")
    parser.add_argument("--implementation", action="store_true", help="alone, a model sees only code of that kind")
    parser.add_argument("--repos", nargs="*", help="only these repositories")
    parser.add_argument("--dense-only", action="store_true", help="leave the whole search out")
    return parser.parse_args()


def measure(model: str, options: argparse.Namespace) -> Row:
    """Measure one model on all repositories of the benchmark."""
    repositories = list(read_benchmark(options))
    found: dict[str, Any] = {"model": model}
    if model == "bm25":
        dense = [by_words(one, options) for one in repositories]
    else:
        embedder, folder = open_model(model)
        dense, speed = by_vectors(embedder, repositories, options)
        found |= speed
        if folder is not None:
            files = ("model.safetensors", "tokenizer.json", "model.onnx")
            found["size_mb"] = sum((folder / name).stat().st_size for name in files if (folder / name).is_file()) / 1e6
        if not options.dense_only and not model.startswith(TRANSFORMER):
            whole = mean([in_search(model, one) for one in repositories])
            found |= {"search_ndcg": whole.chunk_ndcg, "search_file": whole.file_ndcg, "search_span": whole.span10}
    alone = mean(dense)
    found |= {"dense_ndcg": alone.chunk_ndcg, "dense_mrr": alone.mrr, "dense_span": alone.span10}
    return Row(**found, memory_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3)


def read_benchmark(options: argparse.Namespace) -> Iterator[_Repository]:
    queries = read_queries(options.benchmark / "queries.json")
    for one in json.loads((options.benchmark / "repos.json").read_text()):
        asked = [query for query in queries if query.repo == one["name"]]
        start = one["index_root"] if options.scope == "root" else ""
        if asked and (not options.repos or one["name"] in options.repos):
            yield _Repository(one["name"], options.repos_dir / one["name"], start, asked)


def open_model(name: str) -> tuple[Embedder, Path | None]:
    """Return the model, and its folder where it has one."""
    if name == "package":
        return load_embedder(), PACKAGE_MODEL
    if name.startswith(TRANSFORMER):
        folder = Path(name.removeprefix(TRANSFORMER))
        return SentenceTransformer(folder), folder
    model = load_embedder(name) if is_static(name) else open_second_model(name)
    return model, Path(name) if Path(name).is_dir() else None


class SentenceTransformer:
    """A transformer as sentence-transformers runs it, to see what a model gives that the product does not ship."""

    def __init__(self, folder: Path) -> None:
        os.environ["HF_HUB_OFFLINE"] = "1"
        from sentence_transformers import SentenceTransformer as Model

        self._model = Model(str(folder), device="cpu")
        self.dimensions = len(self.embed_query("width"))
        self.fingerprint = str(folder)

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        return np.asarray(self._model.encode(list(texts), normalize_embeddings=True), np.float32)

    def embed_query(self, text: str) -> Matrix:
        return np.asarray(self.embed_documents([text])[0])


def by_vectors(
    embedder: Embedder, repositories: Sequence[_Repository], options: argparse.Namespace
) -> tuple[list[Scores], dict[str, float]]:
    """Rank all chunks by their cosine with the query, and nothing else."""
    embedder.embed_query("loaded, so that loading is not part of the speed")
    scores, count, seconds, query_ms = [], 0, 0.0, []
    for repository in repositories:
        places, texts = chunks_of(repository, options)
        started = time.perf_counter()
        vectors = embed_chunks(embedder, texts)
        seconds, count = seconds + time.perf_counter() - started, count + len(texts)
        answers = []
        for query in repository.queries:
            started = time.perf_counter()
            nearness = vectors @ embedder.embed_query(query.query)
            query_ms.append((time.perf_counter() - started) * 1e3)
            answers.append(score(query, [places[row] for row in np.argsort(-nearness, kind="stable")[:DEPTH]]))
        scores.append(mean(answers))
    return scores, {"chunks_per_second": count / seconds, "query_ms": statistics.median(query_ms)}


def chunks_of(repository: _Repository, options: argparse.Namespace) -> tuple[list[Location], list[tuple[str, str]]]:
    """Return the places of the chunks and the texts that are embedded for them."""
    places: list[Location] = []
    texts = []
    walked = (one.path for one in walk(ExclusionManager(repository.root)) if isinstance(one, WalkedFile))
    inside = f"{repository.start}/" if repository.start else ""
    for path in sorted(path for path in walked if path.startswith(inside)):
        parsed = parse_file(path, (repository.root / path).read_bytes())
        if not options.implementation or parsed.category is Category.IMPLEMENTATION:
            places += [(path, chunk.start_line, chunk.end_line) for chunk in parsed.chunks]
            texts += [embedding_texts(path, parsed.language, chunk) for chunk in parsed.chunks]
    return places, texts


def by_words(repository: _Repository, options: argparse.Namespace) -> Scores:
    """Rank chunks by BM25 alone."""
    with indexed(repository, "") as app:
        stores = app.stores()
        categories = frozenset({Category.IMPLEMENTATION}) if options.implementation else frozenset()
        answers = []
        for query in repository.queries:
            terms = understand(query.query, app.settings.retrieval).terms
            ids = [one.chunk_id for one in stores.keywords.search(terms, DEPTH, Scope(categories=categories))]
            chunks = stores.catalog.chunks(ids)
            found = [chunks[one] for one in ids]
            answers.append(score(query, [(one.path, one.start_line, one.end_line) for one in found]))
    return mean(answers)


def in_search(model: str, repository: _Repository) -> Scores:
    """Ask the whole search, as a tool call does."""
    with indexed(repository, "" if model == "package" else model) as app:
        answers = []
        for query in repository.queries:
            hits = app.search(SearchRequest(query.query, limit=LIMIT)).primary
            places = [(hit.chunk.path, hit.chunk.start_line, hit.chunk.end_line) for hit in hits]
            answers.append(score(query, places))
    return mean(answers)


@contextmanager
def indexed(repository: _Repository, model: str) -> Iterator[App]:
    """Index the repository in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        # One worker: those of a pool would be waited for when this process ends.
        environment = {"GRAPHRAG_DATA_DIR": folder, "GRAPHRAG_EMBEDDING_MODEL": model, "GRAPHRAG_WORKERS": "1"}
        app = App(repository.root, load_settings(repository.root, environment), repository.start)
        try:
            app.index()
            yield app
        finally:
            app.close()


if __name__ == "__main__":
    main()
