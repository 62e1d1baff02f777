"""What all parts of the resolver share: open files, what is known, and what the languages' libraries declare."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Protocol, TypeVar

from graphrag_mcp.languages.policy import Policy, policy_of
from graphrag_mcp.languages.registry import FACT_LANGUAGES
from graphrag_mcp.model.expressions import Expression
from graphrag_mcp.model.facts import Declared, FileFacts, SymbolId, Use
from graphrag_mcp.model.grouping import grouped
from graphrag_mcp.model.links import Place
from graphrag_mcp.model.sources import FactSource
from graphrag_mcp.model.values import Arguments, Foreign, Instance, Outside, Referent, Value, is_large
from graphrag_mcp.resolution.files import ANYTHING, File, Sought
from graphrag_mcp.resolution.reads import Reads

MAX_STEPS = 20_000  # A question that takes more is undecided; most take a few dozen.
# Steps of a question, or while one file is resolved: some, and more for each mention and declaration. What is left is
# undecided. Real files take up to 13 for each.
MAX_OF_FILE, MIN_OF_FILE, MAX_OF_EACH = 1_000_000, 10_000, 50
MAX_KNOWN = 300_000
MAX_FILES = 300  # Files whose facts are kept from earlier questions; more save no time.
MAX_DEPTH = 80  # Questions within questions; each takes up to nine of Python's thousand frames.
MAX_LEVELS = 12  # Base types above each other.
_UNKNOWN = object()  # In place of a result that is not known: None may be one.
T = TypeVar("T")


def _read_library(path: str, language: str, text: str) -> FileFacts | None:
    from graphrag_mcp.languages.grammars import load_grammar  # Few questions read a library, and so need a parser.
    from graphrag_mcp.languages.syntax import SourceCode
    from graphrag_mcp.parsing.code.symbols import read_outline
    from graphrag_mcp.parsing.facts.reader import read_facts

    grammar, code = load_grammar(language), SourceCode(text)
    if grammar is None:
        return None
    matches = grammar.find(grammar.parse(code), code)
    return read_facts(matches, grammar, path, code, read_outline(matches, grammar, path, code).definitions)


LIBRARIES: Mapping[str, Callable[[], FileFacts | None]] = {
    path: cache(partial(_read_library, path, language, text))
    for name in sorted(FACT_LANGUAGES)
    for path, (language, text) in policy_of(name).foreign.declarations.items()
}


class WithLibraries:
    """The modules of a project, and behind them those of the libraries."""

    def __init__(self, source: FactSource) -> None:
        self.has, self.manifests = source.has, source.manifests
        self.unit_of_folder = source.unit_of_folder
        self._source = source

    def has_unit(self, unit: str) -> bool:
        return self._source.has_unit(unit) or f"<{unit}>" in LIBRARIES

    def find(self, unit: str, qualified_name: str) -> Sequence[SymbolId]:
        path = f"<{unit}>"
        symbols = self._source.find(unit, qualified_name)
        return symbols or (_named(path).get(qualified_name, ()) if path in LIBRARIES else ())


@cache
def _named(path: str) -> Mapping[str, Sequence[SymbolId]]:
    """Return the declarations of a file of a library by their qualified names."""
    facts = LIBRARIES[path]()
    declared = enumerate(facts.declared if facts else ())
    return grouped((declaration.qualified, SymbolId(path, number)) for number, declaration in declared)


def of_project(symbols: Iterable[SymbolId]) -> tuple[SymbolId, ...]:
    """Return the declarations but those of libraries."""
    return tuple(symbol for symbol in symbols if symbol.path not in LIBRARIES)


def is_foreign(value: Value | None) -> bool:
    """Return whether a value holds nothing that the project defines."""
    match value:
        case Outside():
            return True
        case Foreign(_, arguments):
            return all(map(is_foreign, arguments))
        case Instance(symbols, arguments):
            return symbols[0].path in LIBRARIES and all(map(is_foreign, arguments))
    return False


class State:
    """Remembers what is found, so it serves one state of the index, and bounds the steps of a question."""

    def __init__(self, source: FactSource) -> None:
        self.source, self.with_libraries = source, WithLibraries(source)
        self._reads = source if isinstance(source, Reads) else None
        self._files: dict[str, File | None] = {}
        self._known: dict[tuple[Any, ...], object] = {}
        self._asked: dict[tuple[Any, ...], int] = {}  # What is being found, each with how deep.
        self._way_back = MAX_DEPTH  # How deep the outermost is on which something depends that depends on it.
        self.is_cut = False  # Whether a limit left something undecided.
        self.steps = self.spent = 0  # Steps of the mention, and of the file or question.
        self._most = MAX_OF_FILE

    def begin(self) -> None:
        """Begin a question: forget what is known when it is very much, or was cut."""
        self.steps = self.spent = 0
        self._most = MAX_OF_FILE
        if self.is_cut or len(self._known) > MAX_KNOWN:
            self._known.clear()
            self.is_cut = False
        if len(self._files) > MAX_FILES:
            self._files.clear()

    def forget(self) -> None:
        """Forget what is known, but not the facts."""
        self._known.clear()
        self.begin()

    def declared(self, symbol: SymbolId) -> Declared:
        """Return a declaration."""
        if self._reads is not None:
            self._reads.add(symbol)
        return self.open(symbol.path).facts.declared[symbol.number]

    def file(self, path: str) -> File | None:
        """Return the facts of a file, None if it has none."""
        if path not in self._files:
            facts = LIBRARIES[path]() if path in LIBRARIES else self.source.facts(path)
            self._files[path] = File(path, facts, self._reads) if facts else None
        file = self._files[path]
        if file is None and self._reads is not None:  # If it is there, something else of it is read.
            self._reads.note(path, "file")
        return file

    def open(self, path: str) -> File:
        """Return the facts of a file that has some. Raises LookupError."""
        file = self._files.get(path)  # First, since two million calls find it there.
        if file is None and (file := self.file(path)) is None:
            raise LookupError(path)
        return file

    def place(self, symbol: SymbolId) -> Place:
        """Return the place of a declaration."""
        return self.open(symbol.path).places[symbol.number]

    def policy(self, symbol: SymbolId) -> Policy:
        """Return the policy of the language of a declaration."""
        return self.open(symbol.path).policy

    def importing(self, path: str, module: str, find: Callable[[], T]) -> T | None:
        """Return what an import of a file means."""
        if self._reads is not None:
            return self._reads.importing(path, module, find)
        return self.once(("import", path, module), find)

    def begin_file(self, file: File) -> None:
        """Begin to resolve what a file mentions and declares, for which it has as many steps as it is long."""
        parts = len(file.facts.mentions) + len(file.facts.declared)
        self._most = min(MAX_OF_FILE, MIN_OF_FILE + MAX_OF_EACH * parts)

    def begin_part(self) -> bool:
        """Begin the next mention or declaration of a file; return whether steps are left for it."""
        self.steps = 0
        return self.spent <= self._most

    def step(self, count: int = 1) -> bool:
        """Count steps of the file or question; return whether they are within the limit."""
        self.spent += count
        self.is_cut |= self.spent > self._most
        return self.spent <= self._most

    def once(self, key: tuple[Any, ...], find: Callable[[], T]) -> T | None:
        """Return what is known, or find it; what depends on itself, or takes too long, is unknown.

        What was found on the way round is not kept, except for where the way began: asked alone, it may be known.
        """
        known = self._known.get(key, _UNKNOWN)
        if known is not _UNKNOWN:
            return known  # type: ignore[return-value]
        if key in self._asked:
            self._way_back = min(self._way_back, self._asked[key])
            return None
        depth = len(self._asked)
        self.steps += 1
        if not self.step() or self.steps > MAX_STEPS or depth > MAX_DEPTH:
            self.is_cut = True
            return None
        outer, self._way_back = self._way_back, depth
        self._asked[key] = depth
        try:
            found = find()
            result = None if is_large(found) else found
        finally:
            del self._asked[key]
            is_whole = self._way_back >= depth
            self._way_back = min(outer, self._way_back)
        if is_whole:
            self._known[key] = result
        return result


class Questions(Protocol):
    """What a part asks of those that are built on it: a name has a value, a value has members, and these have names.

    The state ends what goes round in a circle. What each returns is said where it is defined.
    """

    def value(self, path: str, at: int, expression: Expression) -> Value | None: ...
    def written(self, symbol: SymbolId, text: str) -> Value | None: ...
    def list_of(self, path: str, element: Value | None) -> Value: ...
    def instantiated(self, value: Value | None, kinds: tuple[Value | None, ...]) -> Value | None: ...
    def referent(
        self, path: str, at: int, expression: Expression, use: str = Use.VALUE, count: int = -1
    ) -> Referent | None: ...
    def in_file(self, file: File, at: int, name: str) -> Referent | None: ...
    def library(self, file: File, name: str) -> tuple[SymbolId, ...]: ...
    def meaning(self, symbols: tuple[SymbolId, ...]) -> Value | None: ...
    def function(self, symbols: tuple[SymbolId, ...], of: Value | None = None) -> Value | None: ...
    def find(self, value: Value | None, name: str, sought: Sought = ANYTHING) -> Referent | None: ...
    def result(self, called: Value | None, argument: Arguments, count: int) -> Value | None: ...
    def taken(self, symbol: SymbolId, of: Value | None, place: int) -> Value | None: ...
    def parameter(self, value: Value | None, place: int) -> Value | None: ...
    def operation(self, value: Instance) -> Value | None: ...


@dataclass(eq=False)
class ResolverPart:
    """A part of the resolver: built on the parts that it names, it asks the others through `ask`."""

    state: State
    ask: Questions

    def __post_init__(self) -> None:
        self.declared = self.state.declared
