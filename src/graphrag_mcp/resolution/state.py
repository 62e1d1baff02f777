"""What all parts of the resolver share: the files that are open, and what is known."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from graphrag_mcp.languages.policy import Policy
from graphrag_mcp.model.facts import Declared, Thing
from graphrag_mcp.model.sources import FactSource
from graphrag_mcp.resolution.files import File
from graphrag_mcp.resolution.libraries import LIBRARIES, WithLibraries
from graphrag_mcp.resolution.reads import Reads

if TYPE_CHECKING:
    from graphrag_mcp.resolution.resolver import Resolver

MAX_STEPS = 20_000  # Of one question; a site takes a few dozen.
MAX_OF_FILE = (
    2_000_000  # Steps while one file is resolved; what is left is undecided. Files of 1,000 lines take 12,000.
)
MAX_KNOWN = 300_000
MAX_FILES = 300  # Whose facts are kept from earlier questions; more take memory and save no time.
MAX_DEPTH = 80  # Of questions within one: each takes up to nine of Python's thousand frames.
MAX_LEVELS = 12  # Of base types.

T = TypeVar("T")


class State:
    """Remembers what is found, so it serves one state of the index, and bounds the steps of a question."""

    def __init__(self, source: FactSource) -> None:
        self.source, self.modules = source, WithLibraries(source)
        self._reads = source if isinstance(source, Reads) else None
        self._files: dict[str, File | None] = {}
        self._known: dict[tuple[Any, ...], object] = {}
        self._asked: dict[tuple[Any, ...], int] = {}  # What is being found, each with how deep.
        self._way_back = MAX_DEPTH  # How deep the outermost is on which something depends that depends on it.
        self._is_cut = False
        self.steps = self.spent = 0  # Of the mention, and of the file or question.

    def begin(self) -> None:
        """Begin a question: forget what is known when it is very much, or was cut."""
        self.steps = self.spent = 0
        if self._is_cut or len(self._known) > MAX_KNOWN:
            self._known.clear()
            self._is_cut = False
        if len(self._files) > MAX_FILES:
            self._files.clear()

    def forget(self) -> None:
        """Forget what is known, but not the facts."""
        self._known.clear()
        self.begin()

    def declared(self, thing: Thing) -> Declared:
        """Return a declaration."""
        if self._reads is not None:
            self._reads.add(thing)
        return self.open(thing.path).facts.declared[thing.number]

    def file(self, path: str) -> File | None:
        """Return the facts of a file, None if it has none."""
        if path not in self._files:
            facts = LIBRARIES[path]() if path in LIBRARIES else self.source.facts(path)
            self._files[path] = File(path, facts, self._reads) if facts else None
        file = self._files[path]
        if file is None and self._reads is not None:  # Of one that there is, something else is read.
            self._reads.note(path, "file")
        return file

    def open(self, path: str) -> File:
        """Return the facts of a file that has some. Raises LookupError."""
        if (file := self.file(path)) is None:
            raise LookupError(path)
        return file

    def policy(self, thing: Thing) -> Policy:
        """Return the policy of the language of a declaration."""
        return self.open(thing.path).policy

    def importing(self, path: str, module: str, find: Callable[[], T]) -> T | None:
        """Return what an import of a file means."""
        if self._reads is not None:
            return self._reads.importing(path, module, find)
        return self.once(("import", path, module), find)

    def once(self, key: tuple[Any, ...], find: Callable[[], T]) -> T | None:
        """Return what is known, or find it; what depends on itself, or takes too long, is unknown.

        What was found on the way round is not kept, except for where the way began: asked alone, it may be known.
        """
        if key in self._known:
            return self._known[key]  # type: ignore[return-value]
        if key in self._asked:
            self._way_back = min(self._way_back, self._asked[key])
            return None
        self.steps += 1
        self.spent += 1
        depth = len(self._asked)
        if self.steps > MAX_STEPS or depth > MAX_DEPTH or self.spent > MAX_OF_FILE:
            self._is_cut = True
            return None
        outer, self._way_back = self._way_back, depth
        self._asked[key] = depth
        try:
            found = find()
        finally:
            del self._asked[key]
            is_whole = self._way_back >= depth
            self._way_back = min(outer, self._way_back)
        if is_whole:
            self._known[key] = found
        return found


class Part:
    """A part of the resolver.

    The parts ask each other, and have to: a name has a value, a value has members, and what a member is, is written in
    names. They share one state, which ends what goes round in a circle.
    """

    def __init__(self, resolver: "Resolver") -> None:
        self.resolver, self.state = resolver, resolver.state
        self.declared = self.state.declared
