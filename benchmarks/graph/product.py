"""Asks the product what refers to a symbol: the one part of this benchmark that knows the form of its answers."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from pathlib import Path

from benchmarks.graph.records import Symbol
from graphrag_mcp.app.local import App
from graphrag_mcp.errors import RequestError
from graphrag_mcp.graph.navigator import Navigator
from graphrag_mcp.graph.tracing import Step
from graphrag_mcp.model import graph as code
from graphrag_mcp.model.files import RelationKind
from graphrag_mcp.model.graph import Direction
from graphrag_mcp.settings import load_settings


class Certainty(IntEnum):
    """How sure an answer is of a row, the surest first."""

    CERTAIN = 0
    MAY_CALL = 1
    BY_NAME = 2


class Says(StrEnum):
    """What a row says of its line."""

    CALLS = "calls"
    USES = "uses"  # A type, or a function as a value.
    ACCESSES = "accesses"  # Reads or writes.
    BELOW = "below"  # Extends, implements or overrides.


@dataclass(frozen=True, slots=True)
class Row:
    """One line of an answer."""

    path: str
    line: int
    says: Says
    certainty: Certainty


class Product:
    """Answers about one repository."""

    def __init__(self, navigator: Navigator) -> None:
        self._navigator = navigator

    def ask(self, symbol: Symbol) -> Sequence[Row] | None:
        """Return the rows of every relation to a symbol; None where the product does not know it."""
        location = f"{symbol.place.path}:{symbol.place.line}"
        rows: list[Row] = []
        for direction in (Direction.USERS, Direction.IMPLEMENTERS):
            try:
                found = self._navigator.trace(location, direction, 1, unresolved=True)
            except RequestError:
                return None
            if all(start.is_file or start.name != symbol.place.name.removeprefix("#") for start in found.starts):
                return None
            rows += [row for step in found.steps for row in _rows(step)]
        return rows


@contextmanager
def open_product(root: Path, data: Path) -> Iterator[Product]:
    """Index a repository, unless the data folder has it already, and answer about it."""
    with closing(App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(data)}))) as app:
        app.index()
        yield Product(app.navigator())


_SAYS = {
    RelationKind.CALLS: Says.CALLS,
    RelationKind.INSTANTIATES: Says.CALLS,
    RelationKind.USES: Says.USES,
    RelationKind.HANDS_ON: Says.USES,
    RelationKind.READS: Says.ACCESSES,
    RelationKind.WRITES: Says.ACCESSES,
    RelationKind.INHERITS: Says.BELOW,
    RelationKind.IMPLEMENTS: Says.BELOW,
    RelationKind.OVERRIDES: Says.BELOW,
}
_CERTAINTY = {
    code.Certainty.CERTAIN: Certainty.CERTAIN,
    code.Certainty.MAY_CALL: Certainty.MAY_CALL,
    code.Certainty.BY_NAME: Certainty.BY_NAME,
}


def _rows(step: Step) -> list[Row]:
    says, certainty = _SAYS[step.edge.relation], _CERTAINTY[step.edge.certainty]
    return [Row(step.edge.path, line, says, certainty) for line in step.lines]
