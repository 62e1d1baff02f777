"""What other files can see of a file, by name: the counterpart of `Reads`.

What is compared does not depend on what stands before it in the file, nor on what the file mentions: places are given
by the declarations and scopes around them.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from graphrag_mcp.languages.policy import policy_of
from graphrag_mcp.model.expressions import Member, Name, parse
from graphrag_mcp.model.facts import ASSIGNED, Bound, FileFacts, Mark, identities_of
from graphrag_mcp.model.files import RelationKind, SymbolKind
from graphrag_mcp.model.grouping import grouped
from graphrag_mcp.model.links import Read
from graphrag_mcp.model.sources import Names
from graphrag_mcp.parsing.code.imports import module_keys
from graphrag_mcp.resolution.files import Nested, Span
from graphrag_mcp.resolution.reads import BASES, IMPORTED_BY_ALL, PASSED_ON

_NUMBER = re.compile(r"([#%])(\d+)")


def changed_reads(path: str, old: FileFacts | None, new: FileFacts | None) -> set[Read]:
    """Return which reads of a file, or of the whole tree, give something else since the facts of the file changed."""
    return _different(_visible(path, old), _visible(path, new))


def changed_names(path: str, old: Names | None, new: Names | None) -> set[Read]:
    """Return which reads of files without facts give something else since a file changed."""
    return _different(_visible_names(path, old), _visible_names(path, new))


def _different(before: Mapping[Read, object], after: Mapping[Read, object]) -> set[Read]:
    return {read for read in before.keys() | after.keys() if before.get(read) != after.get(read)}


def _visible_names(path: str, names: Names | None) -> Mapping[Read, set[object]]:
    visible: defaultdict[Read, set[object]] = defaultdict(set)
    if names is None:
        return visible
    for key in module_keys(path):
        visible[Read("", "key", key)].add(names.file.is_archived)
    for named in names.inside:
        said = (names.file.is_archived, *named._replace(start_line=0, end_line=0, signature="")[2:])
        visible[Read("", "called", named.name)].add(said)
        if named.kind in (SymbolKind.METHOD, SymbolKind.FIELD):
            owner = named.qualified_name.removesuffix(named.name).removesuffix(".")
            visible[Read(path, BASES, owner)].add((named.kind, named.name, named.signature))
        elif named.kind is SymbolKind.TYPE:
            visible[Read(path, BASES, named.qualified_name)].add((named.signature,))
    visible[Read(path, PASSED_ON)] = set()
    for passed in names.outline:
        if passed.kind is RelationKind.IMPORTS:
            visible[Read(path, PASSED_ON)].add(passed.target_module)
            visible[Read(path, PASSED_ON, passed.target)].add(passed.target_module)
        elif passed.kind is RelationKind.INHERITS:
            visible[Read(path, BASES, passed.source)].add((passed.owner, passed.target))
        elif passed.kind is RelationKind.CONTAINS and passed.owner:
            visible[Read(path, BASES, passed.source)].add((passed.owner, passed.target, passed.target_module))
    return visible


def _visible(path: str, facts: FileFacts | None) -> Mapping[Read, Sequence[object]]:
    """Return what each read gives."""
    if facts is None:
        return {}
    of_tree = ((Read("", kind, name), (path, facts.unit)) for kind, name in _of_tree(facts))
    return grouped(chain(_of_file(path, facts), of_tree))


def _of_tree(facts: FileFacts) -> Iterator[tuple[str, str]]:
    """Yield the reads of the whole tree to which a file adds something."""
    yield "unit", facts.unit
    yield "folder", facts.unit.rpartition(":")[0]
    for declaration in facts.declared:
        if declaration.name:
            yield "declared", f"{facts.unit} {declaration.qualified}"
            yield "named", declaration.name
            if declaration.kind == SymbolKind.METHOD:
                yield "methods", f"{facts.unit} {declaration.qualified.rpartition('.')[0]}"


def _of_file(path: str, facts: FileFacts) -> Iterator[tuple[Read, object]]:
    """Yield the reads of a file, each with a part of what it gives."""
    policy, places = policy_of(facts.language), _Places(facts)
    names, text, at = places.names, places.text, places.at
    yield Read(path, "has"), True
    yield Read(path, "file"), (facts.language, facts.unit, facts.has_errors, bool(facts.imports or facts.exports))
    for bound in facts.bound:
        yield Read(path, "bound", bound.name), (places.of_bound(bound), at(bound.at))
    for number, declaration in enumerate(facts.declared):
        owner = names[declaration.owner] if declaration.owner >= 0 else str(declaration.owner)
        yield Read(path, "member", declaration.name), (owner, names[number])
        yield (
            Read(path, "declaration", names[number]),
            (
                declaration.name,
                declaration.kind,
                owner,
                at(declaration.at),
                declaration.start == declaration.stop,
                text(declaration.value),
                tuple((at(place), text(value)) for place, value in declaration.returns),
                declaration.parameters is None,
                tuple(
                    (parameter.name, text(parameter.value), parameter.optional, parameter.rest)
                    for parameter in declaration.inputs
                ),
                declaration.type_parameters,
                tuple((text(base.type), base.how) for base in declaration.bases),
                declaration.marks,
                tuple(map(text, declaration.decorators)),
            ),
        )
        if Mark.PROPERTY in declaration.marks:
            yield Read(path, "property", declaration.qualified), True
        if declaration.kind == SymbolKind.METHOD and declaration.owner >= 0:
            yield Read(path, "methods", owner), names[number]
    stars = 0  # Imports of all names, each of which may give a name before the next import does.
    for imported in facts.imports:
        read = Read(path, "import", imported.name)
        if not imported.name:
            is_some = imported.item != "*" and policy.names.rebinds
            first = imported.module.partition(".")[0]
            read = Read(path, "imported as", first) if is_some else Read(path, IMPORTED_BY_ALL)
        stars += imported.item == "*"
        yield read, (imported.module, imported.item, 0 if imported.name else stars)
    for export in facts.exports:
        yield Read(path, "export", export.name), (text(export.value), export.module, export.item, at(export.at))
    for flow in facts.flows if policy.names.is_dynamic else ():
        into = parse(flow.into)
        if flow.argument == ASSIGNED and isinstance(into, Member | Name):
            yield Read(path, "given", into.name), (text(flow.into), text(flow.value), at(flow.at))


class _Places:
    """Where offsets of a file are: in which declaration, and in which of its scopes.

    Scopes lie in each other or beside each other.
    """

    def __init__(self, facts: FileFacts) -> None:
        self.names = identities_of(facts)
        spans = [(declaration.start, declaration.stop) for declaration in facts.declared]
        self._declared = {
            span: name for span, name in zip(reversed(spans), reversed(self.names), strict=True) if span[0] < span[1]
        }
        self._nested = Nested({(binding.start, binding.stop) for binding in facts.bound} | self._declared.keys())
        self._scopes = self._named_scopes()

    def _named_scopes(self) -> Mapping[Span, tuple[str, int]]:
        """Return the scopes by the declaration in which each is, with its number there; of a declaration that is 0."""
        scopes: dict[Span, tuple[str, int]] = {}
        counts: dict[str, int] = {}
        for span, parent in zip(self._nested.spans, self._nested.parents, strict=True):
            if span in self._declared:
                scopes[span] = self._declared[span], 0
            else:
                owner = scopes[self._nested.spans[parent]][0] if parent >= 0 else ""
                counts[owner] = counts.get(owner, 0) + 1
                scopes[span] = owner, counts[owner]
        return scopes

    def at(self, offset: int) -> tuple[tuple[str, int], ...]:
        """Return the scopes around an offset, the inner ones first, out to the first declaration."""
        places: list[tuple[str, int]] = []
        for span in self._nested.around(offset):
            places.append(self._scopes[span])
            if span in self._declared:
                break
        return tuple(places)

    def of_bound(self, binding: Bound) -> object:
        """Return what a binding is, and where it holds."""
        return binding.kind, self.text(binding.value), self._scopes[binding.start, binding.stop]

    def text(self, expression: str) -> str:
        """Return an expression with the identities of the declarations that it gives by their numbers."""
        return _NUMBER.sub(self._named, expression)

    def _named(self, match: re.Match[str]) -> str:
        number = int(match[2])
        return f"{match[1]}<{self.names[number]}>" if number < len(self.names) else match[0]
