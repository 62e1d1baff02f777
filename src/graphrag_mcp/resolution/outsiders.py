"""What outside of the project may call a function, or read a type: libraries, test runners, other languages."""

import re
from collections.abc import Iterable, Iterator

from graphrag_mcp.languages.policy import policy_of
from graphrag_mcp.languages.registry import FACT_LANGUAGES
from graphrag_mcp.model.facts import METACLASS, Mark, SymbolId
from graphrag_mcp.model.files import SymbolKind
from graphrag_mcp.model.notation import parse
from graphrag_mcp.model.values import Foreign, Instance, Outside, Type
from graphrag_mcp.resolution.foreign import OVERRIDE
from graphrag_mcp.resolution.hierarchy import Hierarchy
from graphrag_mcp.resolution.places import types_of
from graphrag_mcp.resolution.references import References
from graphrag_mcp.resolution.uses import Uses


class Outsiders:
    """Answers about the declarations of one state of the index."""

    def __init__(self, references: References, hierarchy: Hierarchy, uses: Uses) -> None:
        self._hierarchy, self._uses = hierarchy, uses
        self._resolver, self._source = references.resolver, references.source
        self._declared, self._symbols = self._resolver.declared, self._resolver.symbols

    def run_by(self, symbol: SymbolId) -> str:
        """Return what is known to start a function: a test runner by its annotation, or by that of its class."""
        declaration, owner = self._declared(symbol), self._hierarchy.owner_of(symbol)
        run_by = self._resolver.state.policy(symbol).calls.run_by
        is_open = owner is not None and declaration.kind == SymbolKind.METHOD and Mark.PRIVATE not in declaration.marks
        of_class = run_by(symbol.path, self._declared(owner)) if owner and is_open else ""
        return run_by(symbol.path, declaration) or (of_class if of_class[:1] == "@" else "")

    def callers(self, symbol: SymbolId) -> Iterator[str]:
        """Yield the foreign interfaces, bases and annotations by which others may call a function."""
        declaration, policy = self._declared(symbol), self._resolver.state.policy(symbol)
        if self.run_by(symbol):
            return
        owner = self._hierarchy.owner_of(symbol)
        around = owner if owner and self._symbols.is_constructor(symbol, owner) else None
        marks = (*declaration.marks, *(self._declared(around).marks if around else ()))
        replaced = self._hierarchy.overridden(symbol) if owner and policy.calls.overloads else []
        marks += tuple(mark for above in replaced for mark in self._declared(above).marks if mark[:1] == "@")
        yield from (
            mark for mark in dict.fromkeys(marks) if mark[:1] == "@" and policy.foreign.is_registering(mark[1:])
        )
        if Mark.EXPORTED in marks:
            yield "other languages"
        if (
            owner
            and policy.members.method_sets
            and Mark.ABSTRACT not in marks
            and declaration.kind == SymbolKind.METHOD
        ):
            holders = (owner, *self._hierarchy.method_sets.embedding(owner))
            yield from (
                name
                for name, methods in policy.foreign.interfaces.items()
                if declaration.name in methods
                and any(self._hierarchy.method_sets.takes_all(kind, methods) for kind in holders)
            )
            unsure = (other for kind in holders for other in self._hierarchy.method_sets.unsure(kind, declaration.name))
            yield from (self._declared(other).name for other in unsure)
            yield from self._replacing(declaration.name, holders)
            yield from self._taking(owner) if declaration.name[:1].isupper() else ()
        if owner and policy.calls.overloads:
            above = replaced if OVERRIDE in declaration.marks else []
            yield from (name for method in above or [symbol] for name in self._resolver.foreign.overridden(method))

    def class_readers(self, symbol: SymbolId) -> Iterator[str]:
        """Yield what is given a class, or that of a field or one below it, and may keep it or read what it declares."""
        policy, owner = self._resolver.state.policy(symbol), self._hierarchy.owner_of(symbol)
        own_kind = self._declared(symbol).kind
        is_field = owner is not None and own_kind == SymbolKind.FIELD
        if is_field and owner:
            kinds = [owner, *self._hierarchy.descendants(owner)]
        else:
            kinds = [symbol] if own_kind == SymbolKind.TYPE else []
        if not kinds or not policy.members.class_hooks or self._symbols.is_only_assigned(symbol):
            return
        if is_field:
            yield from (reader for kind in kinds for reader in self._resolver.foreign.callers(kind))
        above = dict.fromkeys(base for kind in kinds for base in self._resolver.lineage.above((Instance((kind,)),)))
        for base in above:
            if isinstance(base, Instance | Type):
                for kind in base.symbols:
                    yield from self._metaclasses(kind)
                    inside = {self._declared(method).name for method in self._symbols.methods_of(kind)}
                    yield from inside.intersection(policy.members.class_hooks)
            elif is_field and policy.foreign.called_back(self._resolver.foreign.name(base)) is None:
                yield self._resolver.foreign.name(base) or "a base that is not known"

    def _metaclasses(self, kind: SymbolId) -> Iterator[str]:
        """Yield the metaclass that a type names, unless it is one of the language's own library."""
        declaration, foreign = self._declared(kind), self._resolver.state.policy(kind).foreign
        for mark in declaration.marks:
            if mark.startswith(METACLASS):
                value = self._resolver.expressions.written(kind, mark.removeprefix(METACLASS))
                if not isinstance(value, Outside) or foreign.called_back(value.name) is None:
                    yield mark.removeprefix(METACLASS)

    def _replacing(self, name: str, kinds: Iterable[SymbolId]) -> Iterator[str]:
        """Yield the foreign interfaces that types embed, and of which a method stands for one."""
        for kind in kinds:
            policy = self._resolver.state.policy(kind)
            for base in self._resolver.lineage.above((Instance((kind,)),)):
                foreign = base.name if isinstance(base, Outside | Foreign) else ""
                known = policy.foreign.interfaces.get(foreign)
                if foreign and (name in known if known is not None else policy.foreign.may_be_interface(foreign)):
                    yield foreign

    def _taking(self, kind: SymbolId) -> Iterator[str]:
        """Yield the interfaces and functions of other libraries that are given values of a type where it is named.

        What tests hand over is compared or printed.
        """
        policy = self._resolver.state.policy(kind)
        for path in sorted({site.path for site in self._uses.of((kind,)).sites if site.target}):
            facts = None if path.endswith(policy.modules.tests) else self._source.facts(path)
            for flow in facts.flows if facts else ():
                into = parse(flow.into)
                if flow.argument < 0:
                    taker = self._resolver.expressions.value(path, flow.at, into)
                else:
                    taker = self._resolver.calls.callee(path, flow.at, into)
                if (
                    isinstance(taker, Outside)
                    and "/" in taker.name
                    and (taker.name in policy.foreign.interfaces or policy.foreign.may_be_interface(taker.name))
                ):
                    value = self._resolver.expressions.value(path, flow.at, parse(flow.value))
                    yield from (taker.name,) if kind in types_of(value) else ()

    def satisfying(self, interface: str) -> tuple[list[SymbolId], list[SymbolId]]:
        """Return the types that have all methods of foreign interfaces of a name, where that is enough.

        Then those that have them if foreign types that they embed do.
        """
        rules = [policy_of(language).foreign.interfaces.items() for language in sorted(FACT_LANGUAGES)]
        named = [
            methods
            for interfaces in rules
            for name, methods in interfaces
            if re.fullmatch(rf"(.*[./])?{re.escape(interface)}", name)
        ]
        fits: dict[SymbolId, bool | None] = {}
        method_sets = self._hierarchy.method_sets
        for methods in filter(None, named):
            rarest = min(methods, key=lambda name: len(self._source.named(name)))
            owners = filter(None, map(self._hierarchy.owner_of, self._source.named(rarest)))
            having = filter(self._symbols.has_method_sets, (*owners, *method_sets.embedders))
            fits |= {kind: method_sets.takes_all(kind, methods) for kind in having if not fits.get(kind)}
        return [kind for kind, fit in fits.items() if fit], [kind for kind, fit in fits.items() if fit is None]

    def foreign_interfaces(self, kind: SymbolId) -> list[str]:
        """Return the foreign interfaces whose methods a type has, in a language where that is enough."""
        interfaces = self._resolver.state.policy(kind).foreign.interfaces.items()
        return [
            name for name, methods in interfaces if methods and self._hierarchy.method_sets.takes_all(kind, methods)
        ]
