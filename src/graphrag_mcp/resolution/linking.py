"""Resolves a file once, and notes what of other files its links follow from."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from graphrag_mcp.model.facts import SymbolId, modules_of
from graphrag_mcp.model.links import Link, Read
from graphrag_mcp.model.sources import FactSource
from graphrag_mcp.resolution.by_name import NameResolution
from graphrag_mcp.resolution.declarations import DeclarationLinks
from graphrag_mcp.resolution.handing import Handing
from graphrag_mcp.resolution.mentions import Mentions
from graphrag_mcp.resolution.reads import Noting, Reads
from graphrag_mcp.resolution.references import NoLinks, References


@dataclass(frozen=True, slots=True)
class Linked:
    """The links of a file, and what of other files they follow from.

    meanings: what each of its own imports means, in the order of their modules. of_imports: the reads by which that was
    found.
    """

    links: Sequence[Link]
    reads: frozenset[Read]
    meanings: Mapping[str, str]
    of_imports: frozenset[Read]


class Linker:
    """Resolves files of one state of the index, one after the other; remembers facts, and nothing that follows.

    So what a file depends on is exactly what is read while it is resolved.
    """

    def __init__(self, source: FactSource) -> None:
        self._reads = Reads(source)
        self._references = References(self._reads, NoLinks())
        self._resolver = self._references.resolver

    def link(self, path: str) -> Linked:
        """Return the links of a file."""
        meanings, _ = self.meanings(path)
        file, named = self._resolver.state.file(path), self._reads.file(path)
        if file is not None:
            handing = Handing(self._references, file)
            parts = (Mentions(self._references, file, handing), DeclarationLinks(self._references, file), handing)
            links = tuple(link for part in parts for link in part.links())
        else:
            links = tuple(NameResolution(self._reads, named).links()) if named else ()
        reads = frozenset(self._named(self._reads.noted))
        reads |= {Read(path, "file") for path in {read.path for read in reads} if path}
        return Linked(links, reads, meanings, frozenset(self._named(self._reads.of_imports)))

    def meanings(self, path: str) -> tuple[Mapping[str, str], frozenset[Read]]:
        """Return what each import of a file means, and the reads by which that was found."""
        self._reads.begin(path)
        self._resolver.state.forget()
        file = self._resolver.state.file(path)
        meanings: dict[str, str] = {}
        if file is not None:
            for module in sorted(modules_of(file.facts)):
                # With the libraries, as others who read it find it: the first who does decides for all.
                find = partial(file.policy.modules.module, self._resolver.state.with_libraries, path, module)
                meanings[module] = repr(self._reads.finding(path, module, find))
        return meanings, frozenset(self._named(self._reads.of_imports))

    def _named(self, noted: Iterable[Noting]) -> Iterator[Read]:
        """Yield what was read of other files by names that do not change when something else does."""
        for noting in noted:
            if not self._reads.is_elsewhere(noting[0]):
                continue
            if isinstance(noting, SymbolId):
                yield Read(noting.path, "declaration", self._resolver.state.open(noting.path).identities[noting.number])
            else:
                yield Read(*noting)
