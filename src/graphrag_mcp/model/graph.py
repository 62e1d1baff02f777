"""The code graph, node by node, as exact questions see it."""

from enum import StrEnum
from typing import NamedTuple

from graphrag_mcp.model.files import Category, RelationKind, Resolution, SymbolKind


class CodeNode(NamedTuple):
    """A definition, or a whole file (then the id is negative, and the names are its path); lines as in `Symbol`."""

    node_id: int
    file_id: int
    path: str
    category: Category
    name: str
    qualified_name: str
    kind: SymbolKind
    start_line: int
    end_line: int
    signature: str = ""
    is_archived: bool = False

    @property
    def is_file(self) -> bool:
        """Whether it stands for a whole file."""
        return self.node_id < 0


class CodeEdge(NamedTuple):
    """A settled relation between two nodes, and the line that says it."""

    relation_id: int
    source_id: int
    target_id: int
    kind: RelationKind
    path: str
    line: int
    confidence: float
    resolution: Resolution


class Mentioned(NamedTuple):
    """A name whose meaning was not found.

    module: where the file says it comes from, "" if nowhere. is_defined: whether something in the project has the name.
    """

    kind: RelationKind
    name: str
    module: str
    path: str
    line: int
    is_defined: bool


class Dependency(NamedTuple):
    """A file says the name of a definition in another file, so many times.

    definitions: how many have that name. is_imported: whether the file imports it from where it is defined.
    """

    file_id: int
    node_id: int
    node_file_id: int
    mentions: int
    definitions: int
    is_imported: bool


class Direction(StrEnum):
    """What of a definition is asked for."""

    CALLERS = "callers"
    CALLEES = "callees"
    IMPORTERS = "importers"
    IMPORTS = "imports"
    SUBCLASSES = "subclasses"
    SUPERCLASSES = "superclasses"
    TESTS = "tests"
