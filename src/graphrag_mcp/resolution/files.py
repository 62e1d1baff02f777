"""The facts of one file, arranged for look-ups."""

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple, TypeVar

from graphrag_mcp.model.expressions import Expression, parse
from graphrag_mcp.model.facts import Bound, Exported, FileFacts, Flow, Imported, Use
from graphrag_mcp.model.files import CALLABLE, SymbolKind
from graphrag_mcp.resolution.languages import POLICIES
from graphrag_mcp.resolution.policy import Policy

T = TypeVar("T")

_BOUND_KINDS = {"type": SymbolKind.TYPE}


class Sought(NamedTuple):
    """As what a name is looked up. given: the number of arguments of a call, -1 where it does not matter."""

    use: str = ""
    given: int = -1


ANYTHING = Sought()


class File:
    """The facts of one file, arranged for look-ups."""

    def __init__(self, path: str, facts: FileFacts) -> None:
        self.path, self.facts = path, facts
        self.policy: Policy = POLICIES[facts.language]

    @cached_property
    def bound(self) -> Mapping[str, list[Bound]]:
        found: dict[str, list[Bound]] = {}
        for one in self.facts.bound:
            found.setdefault(one.name, []).append(one)
        return found

    @cached_property
    def members(self) -> Mapping[tuple[int, str], list[int]]:
        """The declarations by their owner and name."""
        found: dict[tuple[int, str], list[int]] = {}
        for number, one in enumerate(self.facts.declared):
            found.setdefault((one.owner, one.name), []).append(number)
        return found

    @cached_property
    def imports(self) -> Mapping[str, list[Imported]]:
        found: dict[str, list[Imported]] = {}
        for one in self.facts.imports:
            found.setdefault(one.name, []).append(one)
        return found

    @cached_property
    def exports(self) -> Mapping[str, list[Exported]]:
        found: dict[str, list[Exported]] = {}
        for one in self.facts.exports:
            found.setdefault(one.name, []).append(one)
        return found

    @cached_property
    def given(self) -> Mapping[str, list[tuple[Flow, Expression | None]]]:
        """What variables and members are given, by the name; with the value whose member it is."""
        found: dict[str, list[tuple[Flow, Expression | None]]] = {}
        for one in self.facts.flows:
            into = parse(one.into) if one.argument < 0 and self.policy.is_dynamic else ()
            if into[:1] == ("member",):
                found.setdefault(into[2], []).append((one, into[1]))
            elif into[:1] == ("name",):
                found.setdefault(into[1], []).append((one, None))
        return found

    def sought(self, use: str, given: int = -1) -> Sought:
        """Return what tells names of this use apart from others, in the language of the file."""
        if self.policy.has_spaces:
            return Sought(Use.TYPE if use == Use.TYPE else Use.VALUE)
        return Sought(use, given) if self.policy.spaces else ANYTHING

    def types_around(self, at: int) -> list[int]:
        """Return the types around an offset, outer ones first."""
        return [
            number
            for number, one in enumerate(self.facts.declared)
            if one.kind == SymbolKind.TYPE and one.start <= at < one.stop
        ]

    def is_in_function(self, at: int, owner: int) -> bool:
        """Return whether an offset is in a function inside of a type, behind its beginning."""
        start = self.facts.declared[owner].start
        return any(one.kind in CALLABLE and start < one.at < at < one.stop for one in self.facts.declared)

    def innermost(self, name: str, at: int, sought: Sought = ANYTHING) -> list[Bound]:
        """Return the bindings of a name in the smallest range around an offset."""
        around = [one for one in self.around(name, at) if self._may_mean(one, sought.use)]
        if not around:
            return []
        start, stop = max((one.start, -one.stop) for one in around)
        return [one for one in around if one.start == start and one.stop == -stop]

    def around(self, name: str, at: int) -> list[Bound]:
        """Return the bindings of a name around an offset, the outer ones first."""
        return [one for one in self.bound.get(name, ()) if one.start <= at < one.stop]

    def _may_mean(self, one: Bound, use: str) -> bool:
        if use and self.policy.has_spaces:
            return one.kind in ("declared", "alias") or (one.kind == "type") == (use == Use.TYPE)
        spaces = self.policy.spaces.get(use)
        if not spaces:
            return True
        kind = self.facts.declared[int(one.value[1:])].kind if one.kind == "declared" else _BOUND_KINDS.get(one.kind)
        return any((kind or SymbolKind.FIELD) in kinds for kinds in spaces)
