"""The places that mean a definition, or may mean it, in languages with facts."""

from collections.abc import Iterator, Sequence, Set

from graphrag_mcp.graph.code import IndexedCode
from graphrag_mcp.model.facts import Mention, SymbolId, Use
from graphrag_mcp.model.files import CALLABLE, VARIABLE, SymbolKind
from graphrag_mcp.model.graph import UNKNOWN_MODULE, Certainty, Line
from graphrag_mcp.model.links import How, Place, place_id
from graphrag_mcp.model.values import Type
from graphrag_mcp.resolution.references import Site


class SiteFinder:
    """Finds them in stored links."""

    def __init__(self, code: IndexedCode) -> None:
        self._code = code

    def of(
        self, symbols: Sequence[SymbolId], *, with_guesses: bool
    ) -> tuple[Sequence[tuple[Site, Certainty]], Set[Line], Sequence[str]]:
        """Return the places that mean or may mean the symbols, those that mean others, and what is not resolved.

        with_guesses: also places that have their name and may mean anything; without them, nothing else is said.
        """
        references = self._code.references
        methods = filter(self._code.resolver.symbols.is_replaceable, symbols)
        above = {place for symbol in methods for place in self._code.hierarchy.above(symbol)}
        handed = {link.source for link in references.linked(symbols, (How.HANDED_AS,))}
        wanted = frozenset(self._with_constructed(symbols))
        own, created = set(map(references.place, symbols)), set(map(references.place, wanted))
        with_certainty: list[tuple[Site, Certainty]] = []
        sites, elsewhere, pending = self._code.uses.of(wanted, (above | handed) - created, with_guesses=with_guesses)
        for site in sites:
            if site.target in created:
                # For a constructor only the places that create its type count.
                if site.mention.use in (Use.CALL, Use.CREATE) or site.target in own:
                    with_certainty.append((site, Certainty.CERTAIN if site.is_certain else Certainty.MAY_CALL))
            elif site.target:
                is_handed = site.mention.use == Use.CALL and site.target in handed
                if is_handed or any(self._code.hierarchy.may_reach(site, symbol) for symbol in symbols):
                    with_certainty.append((site, Certainty.MAY_CALL))
            elif any(self._code.uses.can_mean(site, symbol) for symbol in symbols):
                with_certainty.append((site, Certainty.BY_NAME))
        for find in (self._by_text, self._by_key, self._by_field) if with_guesses else ():
            with_certainty += [(site, Certainty.BY_NAME) for symbol in symbols for site in find(symbol)]
        if self._code.replaced(own):  # A call may run the other value that the method is given.
            with_certainty = [
                (site, Certainty.MAY_CALL if how is Certainty.CERTAIN and site.mention.use == Use.CALL else how)
                for site, how in with_certainty
            ]
        return with_certainty, elsewhere, pending

    def _by_text(self, constant: SymbolId) -> Iterator[Site]:
        """Yield where an enumeration is handed over, or asked for a constant by its name: that may be any of them."""
        owner, resolver = self._code.hierarchy.owner_of(constant), self._code.resolver
        is_field = owner is not None and resolver.declared(constant).kind in VARIABLE
        if owner is None or not is_field or not resolver.members.is_enumeration(Type((owner,))):
            return
        for link in self._code.references.linked((owner,), (How.ANY,)):
            mention = Mention(-1, link.line, resolver.declared(constant).name, Use.VALUE)
            yield Site(link.path, mention, source=link.source)

    def _by_field(self, symbol: SymbolId) -> Iterator[Site]:
        """Yield the calls of fields that hold a function or class, on values of unknown types."""
        references, resolver = self._code.references, self._code.resolver
        owner = self._code.hierarchy.owner_of(symbol)
        if owner is not None and resolver.symbols.is_constructor(symbol, owner):
            symbol = owner
        if not resolver.state.policy(symbol).names.rebinds or resolver.declared(symbol).kind not in (
            *CALLABLE,
            SymbolKind.TYPE,
        ):
            return
        fields: set[str] = set()
        for link in references.linked((symbol,), (How.CERTAIN, How.OPEN)):
            facts = self._code.facts.facts(link.path) if link.use == Use.VALUE else None
            fields |= {declaration.name for declaration in (facts.declared if facts else ())
                       if declaration.kind == SymbolKind.FIELD and declaration.line == link.line}  # fmt: skip
        for name in fields - {resolver.declared(symbol).name}:
            for link in references.to((place_id(Place("", name)),), (How.UNDECIDED,)):
                if link.use == Use.CALL and link.receiver:
                    mention = Mention(-1, link.line, name, link.use, UNKNOWN_MODULE, link.arity)
                    yield Site(link.path, mention, source=link.source)

    def _by_key(self, member: SymbolId) -> Iterator[Site]:
        """Yield where a member of its type is used whose name is computed."""
        references, owner = self._code.references, self._code.hierarchy.owner_of(member)
        if owner is None or self._code.resolver.members.is_enumeration(Type((owner,))):
            return
        for link in references.to({references.place(owner), *references.above(owner)}, (How.ANY,)):
            mention = Mention(-1, link.line, self._code.resolver.declared(member).name, link.use)
            yield Site(link.path, mention, source=link.source)

    def _with_constructed(self, symbols: Sequence[SymbolId]) -> Iterator[SymbolId]:
        """Yield the symbols, and for a constructor its type, and those that inherit it: creating one calls it."""
        for symbol in symbols:
            yield symbol
            owner = self._code.hierarchy.owner_of(symbol)
            if owner is not None and self._code.resolver.symbols.is_constructor(symbol, owner):
                yield from self._code.hierarchy.inheriting(symbol)
                # With overloads a creation already means the constructor that it calls.
                if not self._code.resolver.symbols.has_overloads(symbol):
                    yield owner
