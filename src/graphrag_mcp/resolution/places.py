"""Where mentions and declarations of a file are: what is around them."""

from bisect import bisect_left

from graphrag_mcp.model.facts import SymbolId
from graphrag_mcp.model.links import Place
from graphrag_mcp.model.values import All, Either, Instance, Type, Value
from graphrag_mcp.resolution.files import File
from graphrag_mcp.resolution.libraries import of_project
from graphrag_mcp.resolution.references import References


class Places:
    """The places of one file."""

    def __init__(self, references: References, file: File) -> None:
        self._references, self._resolver, self._file = references, references.resolver, file
        self._path, self._facts = file.path, file.facts
        self._place, self._declared = references.resolver.state.place, references.resolver.declared
        self._starts = [mention.at for mention in self._facts.mentions]
        self._around: tuple[int, Place] | None = None

    def _line(self, at: int) -> int:
        """Return the line of an offset: of the mention there, or before it in its declaration, else of the next."""
        place, around = bisect_left(self._starts, at), self._file.declared_around(at)
        mentions = self._facts.mentions
        is_there = place < len(mentions) and mentions[place].at == at
        if not is_there and around and place and mentions[place - 1].at > around[0][1].start:
            return mentions[place - 1].line
        if place < len(mentions):
            return mentions[place].line
        return around[0][1].line if around else 1

    def _source(self, at: int) -> Place:
        """Return what is around an offset; asked several times for one mention."""
        if self._around is None or self._around[0] != at:
            symbol = self._references.around(self._path, at, named=True)
            self._around = at, self._place(symbol) if symbol else Place(self._path, "")
        return self._around[1]


def types_of(value: Value | None) -> tuple[SymbolId, ...]:
    """Return the types of the project that a value may have."""
    if isinstance(value, Either | All):
        return tuple(symbol for other in value.values for symbol in types_of(other))
    return of_project(value.symbols) if isinstance(value, Instance | Type) else ()
