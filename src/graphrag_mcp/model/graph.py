"""The nodes and edges of the code graph, for exact questions."""

from collections.abc import Collection
from enum import StrEnum
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import fields, replace

from graphrag_mcp.model.files import Category, RelationKind, SymbolKind
from graphrag_mcp.model.shown import shown


@shown(
    "path", "start_line", "end_line", "symbol", "kind", "signature", "category", "is_archived", "inherited_by",
    "asked_as",
)  # fmt: skip
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
    inherited_by: str = ""  # The type whose member was asked for.
    asked_as: str = ""  # The name that was asked for, where nothing has it as it is written.
    place: int = 0  # The number by which links name it (`place_id`).

    @property
    def is_file(self) -> bool:
        """Whether the node is a whole file."""
        return self.node_id < 0

    @property
    def symbol(self) -> str:
        """The qualified name of a definition, "" of a file."""
        return "" if self.is_file else self.qualified_name


class Certainty(StrEnum):
    """What is known of a relation, the surest first."""

    CERTAIN = "certain"  # Decided by type or scope.
    MAY_CALL = "may call"  # A call of a method that this one overrides or implements.
    BY_NAME = "by name"  # Not decided: only the name is the same.


CONFIDENCE = {Certainty.CERTAIN: 1.0, Certainty.MAY_CALL: 0.7, Certainty.BY_NAME: 0.5}


@shown("relation", "path", "line", "certainty", "confidence", "is_guess")
class CodeEdge(NamedTuple):
    """A relation between two nodes, and the line that contains it.

    is_guess: whether it may as well be another definition of the name. is_named: whether names were compared, since
    types are not known in the language.
    """

    source_id: int
    target_id: int
    relation: RelationKind
    path: str
    line: int
    certainty: Certainty = Certainty.CERTAIN
    is_guess: bool = False
    is_named: bool = False

    @property
    def confidence(self) -> float:
        """How likely it is, from 0 to 1: the same for all relations of one certainty."""
        return CONFIDENCE[self.certainty]


Line = tuple[str, int]  # A path and a line.


@shown(
    "is_complete", "is_typed", "is_cut", "undecided", "undecided_on_the_way", "others", "unread", "unparsed",
    "files_pending", "callers_outside", "run_by", "methods", "is_structural", "is_protocol", "is_given",
    "archived", "embedding", "is_implicit", "is_copy",
)  # fmt: skip
class Doubt(Struct, frozen=True):
    """What keeps an answer from being complete.

    undecided: places of the name whose receiver is not known. unread: lines that may mean it and are not read as code.
    undecided_on_the_way: undecided and unread places of the names that lead to it. others: places of the name that mean
    something else. unparsed: files with the name, of which some lines could not be parsed. is_cut: whether a limit
    ended the walk. files_pending: files that are not wholly resolved, with the name or of what is asked. is_typed:
    whether types are known at all, else names and imports are compared. is_listed: whether the undecided places can be
    listed. is_implicit: whether the language calls the definition by itself as well. callers_outside: the foreign types
    and decorators that may call it, which no place in the repository shows. run_by: what is known to start it: a test
    runner. is_structural: whether functions are of the asked type without naming it; is_protocol: whether types are.
    is_given: whether it is a field, which may be given functions. archived: files with more, which are left out.
    methods: where those of the asked type are declared, which name it and are not listed. embedding: types that
    implement it if foreign types that they embed, or take, are what it demands. is_copy: whether it is from a server,
    where callers from outside of the project and lines that are not read as code were not looked for.
    """

    undecided: frozenset[Line] = frozenset()
    others: frozenset[Line] = frozenset()
    unparsed: frozenset[str] = frozenset()
    files_pending: frozenset[str] = frozenset()
    is_typed: bool = True
    is_listed: bool = True
    undecided_on_the_way: frozenset[Line] = frozenset()
    is_implicit: bool = False
    callers_outside: frozenset[str] = frozenset()
    unread: frozenset[Line] = frozenset()
    is_cut: bool = False
    run_by: frozenset[str] = frozenset()
    is_structural: bool = False
    methods: frozenset[Line] = frozenset()
    is_copy: bool = False
    is_protocol: bool = False
    is_given: bool = False
    archived: frozenset[str] = frozenset()
    embedding: frozenset[Line] = frozenset()

    @property
    def is_complete(self) -> bool:
        """Whether nothing is missing."""
        places = self.undecided or self.undecided_on_the_way or self.unread
        others = self.unparsed or self.callers_outside or self.files_pending or self.archived or self.embedding
        is_unnamed = self.is_structural or self.is_protocol or self.is_given
        return self.is_typed and not (places or others or is_unnamed or self.is_cut or self.is_implicit or self.is_copy)

    def __or__(self, other: "Doubt") -> "Doubt":
        either = {field.name: getattr(self, field.name) | getattr(other, field.name) for field in fields(self)}
        both = {"is_typed": self.is_typed and other.is_typed, "is_listed": self.is_listed and other.is_listed}
        return Doubt(**either | both)

    def at(self, hop: int) -> "Doubt":
        """Return what it means for an answer of this many hops."""
        nothing: frozenset[Line] = frozenset()
        if hop == 1:
            return self
        here = replace(self, undecided=nothing, unread=nothing, others=nothing, methods=nothing, run_by=frozenset())
        return replace(here, undecided_on_the_way=self.undecided | self.unread)

    def without(self, places: Collection[Line]) -> "Doubt":
        """Leave out places that are known after all, from another definition of the name."""
        return replace(
            self,
            undecided=self.undecided.difference(places),
            undecided_on_the_way=self.undecided_on_the_way.difference(places),
            others=self.others.difference(places),
        )


NO_DOUBT = Doubt()


UNKNOWN_MODULE = "?"  # The module of a member of an expression.


@shown("kind", "name", "module", "path", "line", "is_defined")
class Mentioned(NamedTuple):
    """A reference that was not resolved.

    module: the module from which the file imports the name, "" if none. is_defined: whether the project defines it.
    receiver: the place of the type whose member it would be, 0 if that is not known.
    """

    kind: RelationKind
    name: str
    module: str
    path: str
    line: int
    is_defined: bool
    receiver: int = 0


class Dependency(NamedTuple):
    """References of one file to a definition in another.

    mentions: number of references. is_named: whether names were compared, and nothing else decides that it is meant.
    """

    file_id: int
    node_id: int
    node_file_id: int
    mentions: int
    is_named: bool


RUNNING = (RelationKind.CALLS, RelationKind.INSTANTIATES, RelationKind.HANDS_ON)
CALLING = (*RUNNING, RelationKind.USES)
ACCESSING = (RelationKind.READS, RelationKind.WRITES)


class Direction(StrEnum):
    """The direction of a trace from a definition."""

    CALLERS = "callers"
    CALLEES = "callees"
    USERS = "users"
    READERS = "readers"
    WRITERS = "writers"
    IMPLEMENTERS = "implementers"
    OVERRIDES = "overrides"
    IMPORTERS = "importers"
    IMPORTS = "imports"
    SUBCLASSES = "subclasses"
    SUPERCLASSES = "superclasses"
    TESTS = "tests"

    @classmethod
    def _missing_(cls, value: object) -> "Direction | None":
        return next((direction for direction, names in _ALSO_CALLED.items() if value in names), None)

    @property
    def is_outgoing(self) -> bool:
        """Whether it leads from a definition to what that refers to."""
        return self in (Direction.CALLEES, Direction.IMPORTS, Direction.SUPERCLASSES)


# What else they are called, by those who ask.
_ALSO_CALLED = {
    Direction.CALLERS: ("caller", "called_by", "call_sites"),
    Direction.CALLEES: ("callee", "calls"),
    Direction.USERS: ("usages", "uses", "references", "usage"),
    Direction.IMPLEMENTERS: ("implementations", "implementors", "implementation"),
    Direction.SUBCLASSES: ("subtypes", "children", "derived"),
    Direction.SUPERCLASSES: ("supertypes", "parents", "bases"),
}

# The directions that list the places which use something.
OF_USES = (Direction.CALLERS, Direction.USERS, Direction.READERS, Direction.WRITERS)
