"""Contrastive training of a table of piece vectors: a query has to be nearer to its document than to all others.

A text's vector is Σ log(1 + count) · v(piece), made unit. The loss is InfoNCE in both directions over a batch (van den
Oord et al., 2018). A large part of each batch comes from one repository: there the negatives are what a search has to
tell apart. From the second epoch on, that part is made of examples and of those that the table takes for their answers.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

Table = NDArray[np.float32]

_BLOCK = 1_024  # Queries that are compared with all documents at a time.


@dataclass(frozen=True, slots=True)
class Schedule:
    """How the training runs.

    batch: pairs a step, of which the share `same_repository` is of one. rate: falls to nothing by a cosine.
    temperature: what the cosines are divided by.
    """

    epochs: int = 2
    batch: int = 1_024
    rate: float = 1e-2
    temperature: float = 0.07
    same_repository: float = 0.6
    hard_negatives: bool = True
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Examples:
    """Encoded pairs: row i of `queries` means row i of `documents`, found in `repositories[i]`.

    Examples with the same query or the same document, by number, are never each other's negatives.
    """

    queries: csr_matrix
    documents: csr_matrix
    repositories: NDArray[np.int64]
    same_query: NDArray[np.int64]
    same_document: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.repositories)


def train(table: Table, examples: Examples, schedule: Schedule, report: Callable[[str], None] = print) -> Table:
    """Return the trained table; `table` (pieces, dimensions) is where it starts."""
    optimiser = _RowAdam(table.copy())
    chance = np.random.default_rng(schedule.seed)
    steps = max(1, len(examples) // schedule.batch)
    losses: list[float] = []
    for epoch in range(schedule.epochs):
        hardest = _hardest(optimiser.table, examples) if epoch and schedule.hard_negatives else None
        for step, rows in enumerate(_batches(examples, schedule, steps, chance, hardest), epoch * steps):
            rate = schedule.rate * 0.5 * (1 + np.cos(np.pi * step / (steps * schedule.epochs)))
            losses.append(_step(optimiser, examples, rows, schedule.temperature, rate))
        report(f"epoch {epoch + 1} of {schedule.epochs}: loss {np.mean(losses[-steps:]):.4f}")
    return optimiser.table


def _batches(
    examples: Examples, schedule: Schedule, steps: int, chance: np.random.Generator, hardest: NDArray[np.int64] | None
) -> Iterator[NDArray[np.int64]]:
    """Yield the rows of each batch: so many of one repository, the others of all."""
    near = int(schedule.batch * schedule.same_repository)
    far = schedule.batch - near
    of_repository = _by_repository(examples)
    sizes = np.array([len(rows) for rows in of_repository])
    everything = chance.permutation(len(examples))
    for step, place in enumerate(chance.choice(len(sizes), steps, p=sizes / sizes.sum())):
        wanted = near if hardest is None else near // 2
        own = chance.choice(of_repository[place], min(wanted, sizes[place]), replace=False)
        if hardest is not None:
            own = np.concatenate([own, hardest[own]])
        yield np.unique(np.concatenate([own, everything[step * far : (step + 1) * far]]))


def _hardest(table: Table, examples: Examples) -> NDArray[np.int64]:
    """Return for each example the one of its repository whose document the table finds nearest to its query."""
    hardest = np.arange(len(examples))
    for rows in _by_repository(examples):
        queries, _ = _unit(examples.queries[rows] @ table)
        documents, _ = _unit(examples.documents[rows] @ table)
        for start in range(0, len(rows), _BLOCK):
            block = rows[start : start + _BLOCK]
            nearness = queries[start : start + _BLOCK] @ documents.T
            nearness[examples.same_document[block][:, None] == examples.same_document[rows]] = -1
            nearness[examples.same_query[block][:, None] == examples.same_query[rows]] = -1
            hardest[block] = rows[nearness.argmax(axis=1)]
    return hardest


def _by_repository(examples: Examples) -> list[NDArray[np.int64]]:
    order = np.argsort(examples.repositories, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(examples.repositories[order])) + 1)


def _step(optimiser: "_RowAdam", examples: Examples, rows: NDArray[np.int64], temperature: float, rate: float) -> float:
    queries, documents = examples.queries[rows], examples.documents[rows]
    pieces = np.unique(np.concatenate([queries.indices, documents.indices]))
    queries, documents = queries[:, pieces], documents[:, pieces]
    vectors = optimiser.table[pieces]
    query_sums, document_sums = queries @ vectors, documents @ vectors
    query_units, query_lengths = _unit(query_sums)
    document_units, document_lengths = _unit(document_sums)

    logits = query_units @ document_units.T / temperature
    twins = _twins(examples.same_query[rows]) | _twins(examples.same_document[rows])
    logits[twins] = -np.inf
    forward, backward = _softmax(logits, 1), _softmax(logits, 0)
    right = np.arange(len(rows))
    loss = -np.log(forward[right, right] * backward[right, right] + 1e-12).mean() / 2
    slope: Table = np.asarray((forward + backward) / 2)
    slope[right, right] -= 1
    slope /= temperature * len(rows)

    gradient = queries.T @ _through_unit(np.asarray(slope @ document_units), query_units, query_lengths)
    gradient += documents.T @ _through_unit(np.asarray(slope.T @ query_units), document_units, document_lengths)
    optimiser.update(pieces, gradient, rate)
    return float(loss)


class _RowAdam:
    """Adam that touches only the rows of a batch and keeps one second moment per row (Kingma & Ba, 2015)."""

    def __init__(self, table: Table, beta1: float = 0.9, beta2: float = 0.999) -> None:
        self.table = table
        self._beta1, self._beta2 = beta1, beta2
        self._first = np.zeros_like(table)
        self._second = np.zeros(len(table), np.float32)
        self._steps = np.zeros(len(table), np.int64)

    def update(self, rows: NDArray[np.integer], gradient: Table, rate: float) -> None:
        self._steps[rows] += 1
        steps = self._steps[rows]
        first = self._beta1 * self._first[rows] + (1 - self._beta1) * gradient
        second = self._beta2 * self._second[rows] + (1 - self._beta2) * (gradient**2).mean(axis=1)
        self._first[rows], self._second[rows] = first, second
        size = np.sqrt(second / (1 - self._beta2**steps)) + 1e-8
        scale = (rate / ((1 - self._beta1**steps) * size)).astype(np.float32)
        self.table[rows] -= scale[:, None] * first


def _unit(sums: Table) -> tuple[Table, Table]:
    lengths = np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-6)
    return sums / lengths, lengths


def _through_unit(slope: Table, units: Table, lengths: Table) -> Table:
    """Return the gradient before the division by the length."""
    return np.asarray((slope - units * (slope * units).sum(axis=1, keepdims=True)) / lengths, np.float32)


def _twins(labels: NDArray[np.int64]) -> NDArray[np.bool_]:
    same: NDArray[np.bool_] = labels[:, None] == labels[None, :]
    np.fill_diagonal(same, False)
    return same


def _softmax(logits: Table, axis: int) -> Table:
    weights = np.exp(logits - logits.max(axis=axis, keepdims=True))
    return np.asarray(weights / weights.sum(axis=axis, keepdims=True))
