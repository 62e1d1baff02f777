"""The values of one file: its category, chunks, symbols and relations, and what a manifest says."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import asdict

# The first "=" of a declaration, outside of any call, and one literal behind it up to the end or a comment.
_WRITTEN = re.compile(
    r"""[^=(]*(?<![!<>])=(?![=>])\s?
    (?P<value>[-+]?\d[\w.]*(?:\s?[-+*/]\s?\w[\w.]*)*|"[^"\\]*"|'[^'\\]*'|`[^`\\]*`|(?i:true|false)|[\[{(][\w\s.,:"'-]*[\]})])
    \s?;?\s*(?:(?:\#|//|/\*).*)?$""",
    re.VERBOSE,
)

# ---------------------------------------------------------------- what a file is
MOST_PLACES = 20  # By manifests a name has no more places.
OUTPUT = "<output>"  # The folder that a compiler writes to, and the one that it reads.


class Category(StrEnum):
    """The purpose of a file; decides the fusion weights and the prior, and is a filter of the search."""

    IMPLEMENTATION = "implementation"
    TESTS = "tests"
    DOCUMENTATION = "documentation"
    CONFIG = "config"
    EXAMPLES = "examples"
    VENDORED = "vendored"
    DATA = "data"
    OTHER = "other"


ASIDE = frozenset((Category.TESTS, Category.EXAMPLES, Category.VENDORED))  # What shows or serves the project's code.


class ParseMode(StrEnum):
    """How a file was cut into chunks."""

    SYNTAX = "syntax"
    MARKDOWN = "markdown"
    TEXT = "text"
    CARD = "card"
    NONE = "none"  # It is not text.


class ArchiveClass(Struct, frozen=True):
    """Why a file is archived, and the factor on its score when it is shown."""

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


class DocumentFacts(Struct, frozen=True):
    """What a document declares about itself; a field is empty when it declares nothing."""

    title: str = ""
    status: DocumentStatus | None = None
    priority: int | None = None
    type: str = ""
    tags: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()


NO_FACTS = DocumentFacts()


# ---------------------------------------------------------------- what a file contains


HEADER_SUFFIXES = (".h", ".hh", ".hpp", ".hxx", ".h++", ".inl")  # Files that declare what others define.
DECLARATION_SUFFIXES = (".d.ts", ".d.mts", ".d.cts", ".pyi")  # Files with nothing but declarations.
UNPARSED = "lines that do not parse"  # Said of a file that is parsed around them, where no facts say it.


class SymbolKind(StrEnum):
    """The kinds of definitions."""

    TYPE = "type"
    FUNCTION = "function"
    METHOD = "method"
    CONSTANT = "constant"
    FIELD = "field"
    MODULE = "module"
    SECTION = "section"
    KEY = "key"  # A key of a configuration file, or an option or setting that code declares.
    FILE = "file"  # A whole file as a node of the code graph.


CALLABLE = (SymbolKind.FUNCTION, SymbolKind.METHOD)
VARIABLE = (SymbolKind.FIELD, SymbolKind.CONSTANT)


class Count(NamedTuple):
    """How many arguments a call gives or a function takes, in languages without facts: as many as least to most."""

    least: int = 0
    most: int = 255  # Any number.

    def meets(self, other: "Count") -> bool:
        """Return whether a number is in both."""
        return self.least <= other.most and other.least <= self.most


ANY_COUNT = Count()


class Symbol(Struct, frozen=True):
    """One definition with its exact span (lines are 1-based and inclusive).

    identity: its qualified name, and which of that name in the file: a name that stays when the lines change.
    """

    name: str
    qualified_name: str
    kind: SymbolKind
    start_line: int
    end_line: int
    signature: str = ""
    identity: str = ""
    takes: Count = ANY_COUNT

    @property
    def value(self) -> str:
        """The value of a constant or field of one line, if that is written as a number, a text, true or false."""
        is_held = self.kind in (SymbolKind.CONSTANT, SymbolKind.FIELD) and self.start_line == self.end_line
        written = _WRITTEN.match(self.signature) if is_held else None
        return written["value"] if written else ""


class ListedFile(NamedTuple):
    """A file of the tree, as the index has it."""

    file_id: int
    path: str
    category: Category
    language: str


class RelationKind(StrEnum):
    """The kinds of relations in the code graph."""

    CONTAINS = "contains"
    CALLS = "calls"
    INSTANTIATES = "instantiates"
    IMPORTS = "imports"
    INHERITS = "inherits"  # Names a type as its base.
    IMPLEMENTS = "implements"  # Is below a type, also by having the methods of an interface.
    OVERRIDES = "overrides"
    USES = "uses"  # Names a type: of a parameter, a field, a variable.
    HANDS_ON = "hands_on"  # A function as a value: registered, stored, passed.
    READS = "reads"
    WRITES = "writes"
    TESTS = "tests"
    LINKS_TO = "links_to"
    SUPERSEDES = "supersedes"


# Shown beside a result; relations of other kinds are too many.
RELATED_KINDS = (
    RelationKind.CONTAINS,
    RelationKind.CALLS,
    RelationKind.IMPORTS,
    RelationKind.INHERITS,
    RelationKind.TESTS,
    RelationKind.LINKS_TO,
    RelationKind.SUPERSEDES,
)


BARE_CONFIDENCE = 0.5  # A bare name of unknown origin; a member has less.
OF_FIELD = ">"  # Behind a type, before the fields that lead from its value to another one.
MACRO = "!"  # It stands for the module of a name that is an invoked macro.
BASE_CONFIDENCE = 0.95  # A member of a base class that the same file defines.


class Resolution(StrEnum):
    """How the target of a relation was found, strongest first."""

    SYNTAX = "syntax"  # Explicit in the source: a member in its class.
    LOCAL = "local"  # The same file defines the name.
    IMPORT = "import"  # The file imports the name or its module.
    LIBRARY = "library"  # Imported from the standard library; only in parsed files, never in an edge.
    MEMBER = "member"  # A member of a variable: of no module, nor of a type.
    UNKNOWN = "unknown"  # A member of an expression of unknown type.
    UNRESOLVED = "unresolved"  # Nothing in the project has the name.
    BASE = "base"  # A member of a base class (`super().name()`); only in parsed files.
    BUILTIN = "builtin"  # A name that is also a builtin of the language; only in parsed files.


class Relation(NamedTuple):
    """One relation, as far as its own file determines it.

    `source` is the qualified name of the enclosing definition ("" for the file itself). `target` is the name as it is
    written, without its qualifier; `target_module` is the module from which the file imports it: a path without
    extension, relative to the root if it starts with "/", else compared with the ends of paths ("pkg/mod"). `owner` is
    the type or module before the name, or that of the variable: "Cart" of `Cart.add()`; "Cart::" where nothing else can
    stand there, "Cart?" of a variable that may hold something else, "Cart>owner.home" of a field; of a member of a
    block, the type above that the block implements (`Language.blocks_implement`), of a field its own type. What the
    file alone does not determine is `UNRESOLVED`; `resolution/by_name.py` resolves it with the whole project.
    """

    kind: RelationKind
    source: str
    target: str
    line: int
    confidence: float
    resolution: Resolution
    target_module: str = ""
    owner: str = ""
    given: Count = ANY_COUNT  # The arguments of a call.


# Kinds of chunks that only name what is defined elsewhere: functions without a body, and imports.
DECLARATIONS, IMPORTS = "declarations", "imports"


class Chunk(Struct, frozen=True):
    """A run of whole lines that is found, ranked and shown together (lines are 1-based and inclusive).

    kind: "function", "method", "type", "members", "block", "section", "text", "card", DECLARATIONS or IMPORTS.
    symbol: qualified name of the definition that the chunk contains or is part of; "" without one.
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
    comments: str = ""


class PackedFacts(NamedTuple):
    """The facts of a code file (`model/facts.py`), packed. unit: its package."""

    unit: str
    has_errors: bool
    data: bytes


class Failure(NamedTuple):
    """A stage that failed on one file, which is indexed with what the other stages gave."""

    stage: str
    reason: str

    def __str__(self) -> str:
        return f"{self.stage} ({self.reason})"


FAILED = "failed: "  # It begins the failures in the note of a file.


def with_failures(note: str, failures: Iterable[Failure]) -> str:
    """Return the note of a file with failures behind it."""
    told = ", ".join(map(str, failures))
    return "; ".join(filter(None, (note, told and (told if FAILED in note else FAILED + told))))


def without_last_failure(note: str, stage: str) -> str:
    """Return the note of a file without the failure at its end, if it is one of a stage."""
    before, found, _ = note.rpartition(f"{stage} (")
    return before.removesuffix("; ").removesuffix(FAILED).removesuffix("; ") if found else note


class ParsedFile(Struct, frozen=True):
    """Everything that the index stores of one file. note: why it was not parsed by syntax; "" when it was.

    failures: the stages that gave nothing. code: what it says of the names in it. manifest: what it says of modules,
    packed; "" for other files.
    """

    path: str
    language: str
    category: Category
    mode: ParseMode
    chunks: tuple[Chunk, ...]
    symbols: tuple[Symbol, ...] = ()
    relations: tuple[Relation, ...] = ()
    facts: DocumentFacts = NO_FACTS
    note: str = ""
    code: PackedFacts | None = None
    manifest: str = ""
    failures: tuple[Failure, ...] = ()


class Manifest(Struct, frozen=True):
    """One manifest. folder: where it is, "" for the root; name: of the module or package that it declares.

    targets: places that a name stands for, the first that exists counts; `*` stands for the same text in both.
    requires: the versions of other packages that it needs, as they are written.
    """

    folder: str
    kind: str  # The file's name.
    name: str = ""
    targets: Mapping[str, Sequence[str]] = field(default_factory=dict)
    version: str = ""
    requires: Mapping[str, str] = field(default_factory=dict)


def write_manifest(manifest: Manifest) -> str:
    """Return a manifest as JSON."""
    return json.dumps(asdict(manifest))


def load_manifest(text: str) -> Manifest:
    """Return what `write_manifest` wrote."""
    return Manifest(**json.loads(text))
