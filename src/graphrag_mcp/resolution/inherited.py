"""What types have from those above them, in languages without facts: by the types that they name, and by names."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from itertools import islice

from graphrag_mcp.languages.registry import describe, platform_of
from graphrag_mcp.model.files import RelationKind, SymbolKind
from graphrag_mcp.model.grouping import grouped
from graphrag_mcp.model.links import How, Link
from graphrag_mcp.model.sources import Keyed, Named
from graphrag_mcp.resolution.candidates import scopes
from graphrag_mcp.resolution.reads import BASES, MOST_OF_A_NAME, Reads

MOST_ABOVE = 100  # Types above a type, besides those that it names itself.
MOST_OVERLOADS = 8  # More methods of one name in a type are not told apart.

Kind = tuple[str, str]  # A type: its file and its qualified name.
Member = tuple[str, bool]  # The name of a member, and whether it is a method.
Members = Mapping[str, Mapping[Member, list[Named]]]  # The members of a file, by their type and name.

_MEMBERS = (SymbolKind.METHOD, SymbolKind.FIELD)
_INTERFACES = frozenset({"interface", "protocol", "trait"})
_BESIDE = re.compile(r"#?\[[^\]]*+\]|@\w++(?:\([^()]*+\))?|\b\w++\(set\)")  # Attributes, and who may set a property.
_AFTER = re.compile(r"[({=]")  # Behind it are no words that say what a member is.
_OF_TYPE = re.compile(r"\b(?:class|static) (?:func|let|subscript|var)\b")  # No instance has it.


class Inherited:
    """Collects the types above those of one file, then finds the members that theirs override.

    Of properties, which are fields, those that say it, and those that an interface or an abstract type demands.

    constructors: the names of methods that override none.
    """

    def __init__(self, source: Reads, file: Keyed, constructors: Collection[str]) -> None:
        self._source, self._path, self._constructors = source, file.path, constructors
        self._platform = platform_of(file.language)
        language = describe(file.language)
        self._blocks_implement, self._unreplaced = language.blocks_implement, frozenset(language.unreplaced.split())
        self._above: dict[str, dict[Kind, How]] = {}  # By the type of this file.
        self._members: dict[str, Members] = {}  # By the file.
        self._interfaces: dict[Kind, list[Named]] = {}
        self._bases: dict[str, Mapping[str, list[str]]] = {}  # By the file, the names of the types above each.
        self._types: dict[str, dict[str, list[Kind]]] = {}  # By the name, the types that have it.
        self._made: dict[Kind, Sequence[Named]] = {}

    def add(self, kind: str, above: Iterable[Kind], how: How) -> None:
        """Add types above one of this file."""
        self._above.setdefault(kind, {}).update(dict.fromkeys(above, how))

    def run_by_creation(self, kind: Kind) -> Sequence[Named]:
        """Return the constructors of a type, or of the nearest type above it that has some."""
        if kind not in self._made:
            self._made[kind] = self._nearest({kind: None}, self._constructors) if self._constructors else ()
        return self._made[kind]

    def above(self, kind: Kind, name: str) -> Sequence[Named]:
        """Return the methods of a name of the nearest type above one that has some."""
        return self._nearest(dict.fromkeys(self._bases_of(kind)), (name,))

    def _nearest(self, kinds: dict[Kind, None], names: Collection[str]) -> Sequence[Named]:
        for path, kind in islice(self._climbed(kinds), MOST_ABOVE):
            self._source.note(path, BASES, kind)
            members = self._members_of(path).get(kind, {})
            if found := [method for name in names for method in members.get((name, True), ())]:
                return found[:MOST_OF_A_NAME]
        return ()

    def _climbed(self, kinds: dict[Kind, None]) -> Iterator[Kind]:
        """Yield types and those above them, level by level, each once."""
        level = list(kinds)
        while level:
            yield from level
            above = (base for kind in level for base in self._bases_of(kind))
            level = [base for base in dict.fromkeys(islice(above, MOST_ABOVE)) if base not in kinds]
            kinds |= dict.fromkeys(level)

    def links(self) -> Iterator[Link]:
        """Yield for each member the nearest ones of its name above that it overrides."""
        of_blocks = self._in_blocks() if self._blocks_implement else {}
        for kind, above in self._above.items():
            members = self._members_of(self._path).get(kind, {})
            left = {member: own for member, own in members.items() if member[0] not in self._constructors}
            level, seen, room = [*above.items()], {(self._path, kind)}, MOST_ABOVE
            while level and left:
                found: set[Member] = set()
                higher: list[tuple[Kind, How]] = []
                for other, how in level:
                    if other in seen:
                        continue
                    seen.add(other)
                    self._source.note(other[0], BASES, other[1])
                    members = self._members_of(other[0]).get(other[1], {})
                    for member in [each for each in min(members, left, key=len) if each in members and each in left]:
                        found.add(member)
                        yield from (
                            Link(above.place, own.place, own.start_line, RelationKind.OVERRIDES, "", how)
                            for own in left[member]
                            if not self._blocks_implement
                            or of_blocks.get((own.start_line, member[0])) == other[1].rpartition(".")[2]
                            for above in members[member][:MOST_OVERLOADS]
                            if self._overrides(own, above, other)
                        )
                    bases = list(islice(self._bases_of(other), room))
                    room -= len(bases)
                    higher += [(base, how) for base in bases]
                left = {member: own for member, own in left.items() if member not in found} if found else left
                level = higher

    def _overrides(self, own: Named, above: Named, kind: Kind) -> bool:
        """Return whether a member overrides one of its name, by what is written before them. kind: that above."""
        words, others = _words(own.signature), _words(above.signature)
        if "override" in words:
            return True
        if bool(_OF_TYPE.search(own.signature)) != bool(_OF_TYPE.search(above.signature)):
            return False
        if others.isdisjoint(("abstract", "virtual")) and not self._unreplaced.isdisjoint(words | others):
            return False
        around = self._interfaces.get(kind, ())[:MOST_OVERLOADS]
        is_demanded = any(each.start_line <= above.start_line <= each.end_line for each in around)
        return own.kind is SymbolKind.METHOD or is_demanded or "abstract" in others

    def _in_blocks(self) -> Mapping[tuple[int, str], str]:
        """Return which type above the block of a member implements, by the member's line and name."""
        said = (each for each in self._source.outline(self._path) if each.kind is RelationKind.CONTAINS)
        return {(each.line, each.target): each.owner for each in said}

    def _members_of(self, path: str) -> Members:
        if path not in self._members:
            members: dict[str, dict[Member, list[Named]]] = {}
            for named in self._source.inside(path):
                if named.kind in _MEMBERS:
                    owner = named.qualified_name.removesuffix(named.name).removesuffix(".")
                    member = (named.name, named.kind is SymbolKind.METHOD)
                    members.setdefault(owner, {}).setdefault(member, []).append(named)
                elif named.kind is SymbolKind.TYPE and not _INTERFACES.isdisjoint(_words(named.signature)):
                    self._interfaces.setdefault((path, named.qualified_name), []).append(named)
            self._members[path] = members
        return self._members[path]

    def _bases_of(self, kind: Kind) -> Iterator[Kind]:
        """Yield the types above a type: those of their names in what is around it, or the only ones of their names."""
        path, name = kind
        if path not in self._bases:
            self._bases[path] = grouped(
                (relation.source, f"{relation.owner.rstrip(':?')}.{relation.target}".lstrip("."))
                for relation in self._source.outline(path)
                if relation.kind is RelationKind.INHERITS
            )
        yield from filter(None, (self._only(base, name) for base in self._bases[path].get(name, ())))

    def _only(self, base: str, below: str) -> Kind | None:
        name = base.rpartition(".")[2]
        if name not in self._types:
            self._types[name] = grouped(
                (each.qualified_name, (each.file.path, each.qualified_name))
                for each in self._source.called(name)
                if each.kind is SymbolKind.TYPE and each.file.language in self._platform
            )
        types = self._types[name]
        around = (f"{scope}.{base}" for scope in scopes(below))
        near = next((types[each] for each in around if each in types and each != below), [])
        found = near or [kind for kinds in types.values() for kind in kinds]
        return found[0] if len(found) == 1 else None


def _words(signature: str) -> Set[str]:
    """Return the words before the parameters or the value of what has a signature, without its attributes."""
    return {*_AFTER.split(_BESIDE.sub(" ", signature), 1)[0].split()}
