"""What a file is and what it contains: frozen, slotted, free of I/O. Indexing produces one `ParsedFile` per file."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

# ---------------------------------------------------------------- what a file is


class Category(StrEnum):
    """What a file is for; decides fusion weights and the prior, and can be asked for."""

    IMPLEMENTATION = "implementation"
    TESTS = "tests"
    DOCUMENTATION = "documentation"
    CONFIG = "config"
    EXAMPLES = "examples"
    VENDORED = "vendored"
    DATA = "data"
    OTHER = "other"


class ParseMode(StrEnum):
    """How a file was cut into chunks."""

    SYNTAX = "syntax"
    MARKDOWN = "markdown"
    TEXT = "text"
    CARD = "card"


@dataclass(frozen=True, slots=True)
class ArchiveClass:
    """Why a file counts as archived, and the factor its score is multiplied with when it is shown."""

    reason: str
    penalty: float


class DocumentStatus(StrEnum):
    """The life-cycle state that a document declares in front matter or a `## Status` section."""

    ACTIVE = "active"
    PROPOSED = "proposed"
    REJECTED = "rejected"
    SUPERSEDED = "superseded"
    DEPRECATED = "deprecated"
    ARCHIVED = "archived"


@dataclass(frozen=True, slots=True)
class DocumentFacts:
    """What a document says about itself; every field is empty when it says nothing."""

    title: str = ""
    status: DocumentStatus | None = None
    priority: int | None = None
    type: str = ""
    tags: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()


NO_FACTS = DocumentFacts()


# ---------------------------------------------------------------- what a file contains


HEADER_SUFFIXES = (".h", ".hh", ".hpp", ".hxx", ".h++", ".inl")  # Of files that declare what others define.


class SymbolKind(StrEnum):
    """The kinds of definition that are told apart."""

    TYPE = "type"
    FUNCTION = "function"
    METHOD = "method"
    CONSTANT = "constant"
    FIELD = "field"
    MODULE = "module"
    SECTION = "section"


@dataclass(frozen=True, slots=True)
class Symbol:
    """One definition with its exact span (lines are 1-based and inclusive)."""

    name: str
    qualified_name: str
    kind: SymbolKind
    start_line: int
    end_line: int
    signature: str = ""


class RelationKind(StrEnum):
    """The kinds of edge in the code graph."""

    CONTAINS = "contains"
    CALLS = "calls"
    IMPORTS = "imports"
    INHERITS = "inherits"
    USES = "uses"  # Names it as a type: of a parameter, a field, a variable.
    TESTS = "tests"
    LINKS_TO = "links_to"
    SUPERSEDES = "supersedes"


# Shown beside a result: whatever names a type would leave no room for the others.
RELATED_KINDS = tuple(kind for kind in RelationKind if kind is not RelationKind.USES)


BARE_CONFIDENCE = 0.5  # Of a name without a receiver that may come from anywhere; a member's is lower.
BASE_CONFIDENCE = 0.95  # Of a member of a base class where the same file shows that the base class has it.


class Resolution(StrEnum):
    """How the target of a relation was found, strongest first."""

    SYNTAX = "syntax"  # Stands in the source itself: a member in its class.
    LOCAL = "local"  # The same file defines the name.
    IMPORT = "import"  # The file imports the name or its module.
    LIBRARY = "library"  # The file imports it from the language's own library: a file says so, no edge has it.
    NAME = "name"  # Exactly one definition in the project has the name.
    CANDIDATES = "candidates"  # Several do: each is a candidate, none is a fact.
    UNKNOWN = "unknown"  # A member of an expression: a definition has the name, but its type may be another.
    UNRESOLVED = "unresolved"  # Nothing in the project has the name.
    BASE = "base"  # A member of a base class (`super().name()`): a file says so, no edge has it.
    BUILTIN = "builtin"  # A name that the language has too: a file says so, no edge has it.

    @property
    def is_guess(self) -> bool:
        """Whether another definition may be meant."""
        return self in (Resolution.CANDIDATES, Resolution.UNKNOWN, Resolution.UNRESOLVED)


class Relation(NamedTuple):
    """One edge as its own file can know it.

    `source` is the qualified name of the enclosing definition ("" for the file itself). `target` is the name as it is
    written, without its qualifier; `target_module` is where the file says it comes from: a path without extension,
    relative to the root when it starts with "/", else to be matched against the ends of paths ("pkg/mod"). Whatever the
    file alone cannot decide is left `UNRESOLVED` and settled by the graph store, against the whole project.
    """

    kind: RelationKind
    source: str
    target: str
    line: int
    confidence: float
    resolution: Resolution
    target_module: str = ""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A run of whole lines that is found, ranked and shown together (lines are 1-based and inclusive).

    kind: "function", "method", "type", "members", "block", "section", "text" or "card".
    symbol: qualified name of the definition the chunk shows or lies in, "" outside of any.
    names: unqualified names of the definitions that begin in the chunk.
    enclosing: names of the definitions (or headings) around it, outermost first.
    comments: the words of its comments and docstrings.
    """

    start_line: int
    end_line: int
    text: str
    kind: str
    symbol: str = ""
    names: tuple[str, ...] = ()
    enclosing: tuple[str, ...] = ()
    signature: str = ""
    docstring: str = ""
    comments: str = ""
    imports: tuple[str, ...] = ()
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """Everything the index keeps of one file. `note` says why a file was not parsed by its syntax, when it was not."""

    path: str
    language: str
    category: Category
    mode: ParseMode
    chunks: tuple[Chunk, ...]
    symbols: tuple[Symbol, ...] = ()
    relations: tuple[Relation, ...] = ()
    facts: DocumentFacts = NO_FACTS
    note: str = ""
