"""The nodes and edges of the code graph, for exact questions."""

from enum import StrEnum
from typing import NamedTuple

from graphrag_mcp.model.files import Category, RelationKind, Resolution, SymbolKind


class CodeNode(NamedTuple):
    """A definition, or a whole file (with a negative id, and its path as the name); lines as in `Symbol`."""

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
        """Whether the node is a whole file."""
        return self.node_id < 0


class CodeEdge(NamedTuple):
    """A resolved relation between two nodes, and the line that contains it."""

    relation_id: int
    source_id: int
    target_id: int
    kind: RelationKind
    path: str
    line: int
    confidence: float
    resolution: Resolution


class Mentioned(NamedTuple):
    """A reference that was not resolved.

    module: the module from which the file imports the name, "" if none. is_defined: whether the project defines it.
    """

    kind: RelationKind
    name: str
    module: str
    path: str
    line: int
    is_defined: bool


class Dependency(NamedTuple):
    """References of one file to a definition in another.

    mentions: number of references. definitions: number of definitions with this name. is_imported: whether the file
    imports the name from the file that defines it.
    """

    file_id: int
    node_id: int
    node_file_id: int
    mentions: int
    definitions: int
    is_imported: bool


class Direction(StrEnum):
    """The direction of a trace from a definition."""

    CALLERS = "callers"
    CALLEES = "callees"
    IMPORTERS = "importers"
    IMPORTS = "imports"
    SUBCLASSES = "subclasses"
    SUPERCLASSES = "superclasses"
    TESTS = "tests"
