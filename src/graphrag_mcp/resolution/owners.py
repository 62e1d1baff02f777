"""What a member means in languages without facts, by the type or module before its name."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import cache, cached_property, partial
from itertools import chain, islice

from graphrag_mcp.languages.language import ImportStyle, Language
from graphrag_mcp.languages.registry import builtins_of, describe, platform_of
from graphrag_mcp.model.files import (
    CALLABLE,
    MACRO,
    MOST_PLACES,
    OF_FIELD,
    Relation,
    RelationKind,
    Resolution,
    SymbolKind,
)
from graphrag_mcp.model.grouping import grouped
from graphrag_mcp.model.links import How, Link
from graphrag_mcp.model.sources import Keyed, Named
from graphrag_mcp.resolution.candidates import (
    NOTHING,
    Called,
    Meant,
    are_alike,
    candidate_of,
    guess,
    one_or_guess,
    owner_name,
    scopes,
)
from graphrag_mcp.resolution.reads import BASES, MOST_OF_A_NAME, PASSED_ON, Reads

MOST_ABOVE = 100  # Types above a type, besides those that it names itself.
MOST_OVERLOADS = 8  # More methods of one name in a type are not told apart.

Kind = tuple[str, str]  # A type: its file and its qualified name.
Member = tuple[str, bool]  # The name of a member, and whether it is a method.

_MEMBERS = (SymbolKind.METHOD, SymbolKind.FIELD)
_SCOPES = (SymbolKind.TYPE, SymbolKind.MODULE)
_INTERFACES = frozenset({"interface", "protocol", "trait"})
_BESIDE = re.compile(r"#?\[[^\]]*+\]|@\w++(?:\([^()]*+\))?|\b\w++\(set\)")  # Attributes, and who may set a property.
_AFTER = re.compile(r"[({=]")  # Behind it are no words that say what a member is.
_SAYS_SO = re.compile(r"\boverride\b")
_OF_TYPE = re.compile(r"\b(?:class|static) (?:func|let|subscript|var)\b")  # No instance has it.
MOST_HEADERS = 300  # More headers of one file are not followed.
MOST_PASSING = 20  # Files that pass one name on.
MOST_SEGMENTS = 20  # A longer name gets no place from a manifest.
NAMESPACES = 2  # If a name has more, the first has no folder, where no manifest says otherwise.
USED = (SymbolKind.TYPE, SymbolKind.MODULE, SymbolKind.CONSTANT)
_ANYTHING = ("Any", "AnyObject", "Object")  # Types that say nothing of a value.


class Definitions:
    """The definitions that the code of one file may mean by their names."""

    def __init__(self, source: Reads, file: Keyed) -> None:
        self._source, self._languages = source, platform_of(file.language)

    def of(self, name: str, kinds: Collection[SymbolKind] = frozenset(SymbolKind)) -> Iterator[Named]:
        """Yield the definitions of a name, of some kinds."""
        called = self._source.called(name)
        return (each for each in called if each.kind in kinds and each.file.language in self._languages)

    def types(self, name: str) -> Mapping[str, list[Kind]]:
        """Return the types of a name by their qualified names."""
        types = self.of(name, (SymbolKind.TYPE,))
        return grouped((each.qualified_name, (each.file.path, each.qualified_name)) for each in types)


class Inherited:
    """Collects the types above those of one file, then finds the members that theirs override.

    Of properties, which are fields, those that say it, and those that an interface or an abstract type demands.
    """

    def __init__(self, source: Reads, file: Keyed, definitions: Definitions) -> None:
        self._source, self._path, language = source, file.path, describe(file.language)
        self._has_overloads, self._has_headers = language.overloads, language.headers
        self._says_overrides = language.says_overrides
        self._constructors = language.constructors.split()  # Methods that override none.
        self._blocks_implement, self._unreplaced = language.blocks_implement, frozenset(language.unreplaced.split())
        self._above: defaultdict[str, dict[Kind, How]] = defaultdict(dict)  # By the type of this file.
        self._members = cache(partial(_members_in, source))
        self._interfaces = cache(partial(_interfaces_in, source))
        self._bases = cache(partial(_bases_in, source))
        self._types = cache(definitions.types)
        self._made: dict[Kind, Sequence[Named]] = {}

    def add(self, kind: str, above: Iterable[Kind], how: How) -> None:
        """Add types above one of this file."""
        self._above[kind].update(dict.fromkeys(above, how))

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
            members = self._members(path)[kind]
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
        for kind, above in self._above.items():
            yield from self._of_members(kind, above)

    def _of_members(self, kind: str, above: Mapping[Kind, How]) -> Iterator[Link]:
        members = self._members(self._path)[kind]
        left = {member: own for member, own in members.items() if member[0] not in self._constructors}
        unlike: dict[int, list[Link]] = {}  # Of members to the first above with other parameters, by their places.
        compared, linked, taken = Counter[int](), set[int](), set[int]()
        level, seen, room = [*above.items()], {(self._path, kind)}, MOST_ABOVE
        while level and left:
            found: set[int] = set()
            higher: list[tuple[Kind, How]] = []
            for other, how in level:
                if other in seen:
                    continue
                seen.add(other)
                self._source.note(other[0], BASES, other[1])
                members = self._members(other[0])[other[1]]
                for member in [each for each in min(members, left, key=len) if each in members and each in left]:
                    is_apart = self._has_overloads and member[1] and len(left[member]) <= MOST_OVERLOADS
                    for own in left[member]:
                        named = self._overridden(own, members[member][:MOST_OVERLOADS], other)
                        alike = [each for each in named if are_alike(own, each)] if is_apart else named
                        yield from _overriding(own, alike, how)
                        taken.update(each.place for each in alike)
                        compared[own.place] += len(named)
                        if alike or not is_apart:
                            linked.add(own.place)
                        elif named and own.place not in unlike:
                            unlike[own.place] = list(_overriding(own, self._unlike(own, named, other), how))
                        if own.place in linked or compared[own.place] >= MOST_OVERLOADS:
                            found.add(own.place)
                bases = list(islice(self._bases_of(other), room))
                room -= len(bases)
                higher += [(base, how) for base in bases]
            kept = ((member, [each for each in own if each.place not in found]) for member, own in left.items())
            left = {member: own for member, own in kept if own}
            level = higher
        left_over = chain.from_iterable(links for place, links in unlike.items() if place not in linked)
        yield from (link for link in left_over if link.target not in taken)

    def _overridden(self, own: Named, above: Sequence[Named], kind: Kind) -> Sequence[Named]:
        """Return which members of its name, of a type above, a member may override by what is written before them."""
        if self._blocks_implement and self._of_blocks.get((own.start_line, own.name)) != kind[1].rpartition(".")[2]:
            return ()
        return [each for each in above if self._overrides(own, each, kind)]

    def _unlike(self, own: Named, above: Sequence[Named], kind: Kind) -> Sequence[Named]:
        """Return which members one overrides though its parameters are written in another way, or were changed."""
        is_said = bool(_SAYS_SO.search(own.signature))
        if self._has_headers and not is_said:
            return ()
        as_many = [each for each in above if each.most == own.most]
        return as_many or [each for each in above if is_said or self._is_demanded(each, kind)]

    def _overrides(self, own: Named, above: Named, kind: Kind) -> bool:
        """Return whether a member overrides one of its name, by what is written before them. kind: that above."""
        words, others = _words(own.signature), _words(above.signature)
        if "override" in words:
            return True
        if bool(_OF_TYPE.search(own.signature)) != bool(_OF_TYPE.search(above.signature)):
            return False
        if others.isdisjoint(("abstract", "virtual")) and not self._unreplaced.isdisjoint(words | others):
            return False
        is_enough = not self._says_overrides and (own.kind is SymbolKind.METHOD or "abstract" in others)
        return is_enough or self._is_demanded(above, kind)

    def _is_demanded(self, member: Named, kind: Kind) -> bool:
        """Return whether a member is of an interface."""
        around = self._interfaces(kind[0])[kind[1]][:MOST_OVERLOADS]
        return any(each.start_line <= member.start_line <= each.end_line for each in around)

    @cached_property
    def _of_blocks(self) -> Mapping[tuple[int, str], str]:
        """Return which type above the block of a member implements, by the member's line and name."""
        said = (each for each in self._source.outline(self._path) if each.kind is RelationKind.CONTAINS)
        return {(each.line, each.target): each.owner for each in said}

    def _bases_of(self, kind: Kind) -> Iterator[Kind]:
        """Yield the types above a type: those of their names in what is around it, or the only ones of their names."""
        path, name = kind
        yield from filter(None, (self._only(base, name) for base in self._bases(path)[name]))

    def _only(self, base: str, below: str) -> Kind | None:
        types = self._types(base.rpartition(".")[2])
        around = (f"{scope}.{base}" for scope in scopes(below))
        near = next((types[each] for each in around if each in types and each != below), [])
        found = near or [kind for kinds in types.values() for kind in kinds]
        return found[0] if len(found) == 1 else None


def _overriding(own: Named, above: Iterable[Named], how: How) -> Iterator[Link]:
    """Yield the links of a member to those that it overrides."""
    for each in above:
        yield Link(each.place, own.place, own.start_line, RelationKind.OVERRIDES, "", how)


def _members_in(source: Reads, path: str) -> defaultdict[str, defaultdict[Member, list[Named]]]:
    """Return the members of the types of a file."""
    members: defaultdict[str, defaultdict[Member, list[Named]]] = defaultdict(lambda: defaultdict(list))
    for named in source.inside(path):
        if named.kind in _MEMBERS:
            owner = named.qualified_name.removesuffix(named.name).removesuffix(".")
            members[owner][named.name, named.kind is SymbolKind.METHOD].append(named)
    return members


def _interfaces_in(source: Reads, path: str) -> defaultdict[str, list[Named]]:
    """Return the interfaces of a file by their qualified names."""
    types = (named for named in source.inside(path) if named.kind is SymbolKind.TYPE)
    return grouped(
        (named.qualified_name, named) for named in types if not _INTERFACES.isdisjoint(_words(named.signature))
    )


def _bases_in(source: Reads, path: str) -> defaultdict[str, list[str]]:
    """Return the names of the types above each type of a file."""
    inherited = (relation for relation in source.outline(path) if relation.kind is RelationKind.INHERITS)
    return grouped(
        (relation.source, f"{relation.owner.rstrip(':?')}.{relation.target}".lstrip(".")) for relation in inherited
    )


def _words(signature: str) -> Set[str]:
    """Return the words before the parameters or the value of what has a signature, without its attributes."""
    return {*_AFTER.split(_BESIDE.sub(" ", signature), 1)[0].split()}


class NamedModules:
    """The modules that one file names."""

    def __init__(self, source: Reads, path: str, language: Language) -> None:
        self._source, self._path, self._language = source, path, language
        self._passed = cache(partial(_passed_in, source))

    @cached_property
    def included(self) -> Collection[str]:
        """The headers that the file includes, and those that these do."""
        files: dict[str, None] = {}
        level = [self._path] if self._language.headers else []
        while level and len(files) < MOST_HEADERS:
            headers = [path for near in level for path in self._headers(near) if path not in files]
            files |= dict.fromkeys(headers)
            level = headers
        return files

    def _headers(self, path: str) -> Iterator[str]:
        """Yield the headers that a file includes itself, by their whole names."""
        self._source.note(path, PASSED_ON)
        for relation in self._source.outline(path):
            for file in self._source.keyed(relation.target_module) if relation.kind is RelationKind.IMPORTS else ():
                if f"/{file.path}".endswith(f"/{relation.target}"):
                    yield file.path

    def of(self, relation: Relation) -> Collection[str]:
        """Return the files that the module of a relation stands for, and those from which these import it."""
        if relation.target_module in ("", MACRO):
            return ()
        modules = {file.path: None for file in self.named(relation.target_module)}
        name = relation.owner.rstrip(":?").rpartition(".")[2] or relation.target
        level = [*modules]
        while level and len(modules) < MOST_PASSING:
            for path in level:
                self._source.note(path, PASSED_ON, name)
            passed = (module for path in level for module in self._passed(path)[name])
            found = {file.path: None for module in islice(passed, MOST_PASSING) for file in self.named(module)}
            level = [path for path in found if path not in modules]
            modules |= found
        return modules

    def is_own(self, module: str) -> bool:
        """Return whether a module is of the project: by its path, or by a manifest that has its first part."""
        first = module.partition("/")[0]
        return not first or first in self._source.homes(self._language.manifests)

    def named(self, module: str) -> Sequence[Keyed]:
        """Return the files of a module: where a manifest says, else those whose paths end so."""
        parts = module.split("/")
        homes = self._source.homes(self._language.manifests)
        for count in range(min(len(parts), MOST_SEGMENTS), -1, -1):
            if places := homes.get("/".join(parts[:count])):
                keys = ["/" + "/".join(filter(None, (place, *parts[count:]))) for place in places[:MOST_PLACES]]
                return [file for key in dict.fromkeys(keys) for file in self._source.keyed(key)]
        is_namespace = self._language.imports is ImportStyle.NAMESPACE and len(parts) > NAMESPACES
        return self._source.keyed("/".join(parts[1:]) if is_namespace else module)


def _passed_in(source: Reads, path: str) -> defaultdict[str, list[str]]:
    """Return the modules from which a file imports names, by these."""
    imports = (relation for relation in source.outline(path) if relation.kind is RelationKind.IMPORTS)
    return grouped((relation.target, relation.target_module) for relation in imports if relation.target_module)


class Owners:
    """The types and modules that one file names before members."""

    def __init__(
        self, source: Reads, file: Keyed, modules: NamedModules, definitions: Definitions, inherited: Inherited
    ) -> None:
        self._source, self._path, self._modules, self._inherited = source, file.path, modules, inherited
        self._language, self._builtins = describe(file.language), builtins_of(file.language)
        self._implicit = frozenset(self._language.implicit.split())
        self._definitions, self._fields = definitions, cache(partial(_fields_in, source))
        self._followed: dict[tuple[str, str], tuple[str, str]] = {}  # By the owner and module of a relation.

    def of(self, relation: Relation, called: Called) -> Meant | None:
        """Return what is meant by a member of a type or module that is named; None where that says nothing."""
        written, modules = relation.owner.rstrip(":?"), self._modules.of(relation)
        around, _, owner = written.rpartition(".")
        is_own = relation.owner.endswith("?::") and self._modules.is_own(relation.target_module)
        said = How.NAMED if "?" in relation.owner and not is_own else How.SAID
        if relation.resolution is Resolution.LIBRARY and not modules:
            return NOTHING
        files = dict.fromkeys(modules) or {file.path: None for file in self._modules.named(owner)}
        owned = called.of_owner.get(owner) or [each for each in called.inside(files) if "." not in each.name]
        if around and not modules:  # A type inside of another one, or in a namespace.
            inside = [each for each in owned if f".{each.name}".endswith(f".{written}.{relation.target}")]
            if inside:
                owned = inside
            elif relation.target_module:  # The module is not of the project.
                return NOTHING
            elif self._types_written(written):
                return self._of_types_above(written, relation.target)
            else:
                said = How.NAMED
        imported = [each for each in owned if each.path in files]
        here = [each for each in (imported if modules else owned) if each.path == self._path]
        whole = {each.name.rpartition(".")[0].replace(".", "/") for each in owned[:MOST_OF_A_NAME]}
        is_found = bool(modules or around) or relation.target_module in ("", MACRO, *whole)  # Else a foreign one.
        is_known = any(self._definitions.of(owner, _SCOPES))
        if owned and not is_known and relation.target in self._implicit:  # A foreign type has others of that name.
            return guess(here or imported or owned)
        if owned:
            return one_or_guess(said if here or is_found else How.NAMED, here or imported or owned)
        if relation.kind is RelationKind.USES and not self._may_inherit(owner, relation.target):
            return NOTHING
        is_type_in_it = relation.kind is RelationKind.INHERITS and relation.owner.endswith("::")
        if is_type_in_it or self.is_of_unknown(relation):
            return NOTHING
        if relation.kind is RelationKind.HANDS_ON and not (is_known and self._may_inherit(owner, relation.target)):
            return NOTHING
        if is_known and called.methods:
            above = self._of_types_above(owner, relation.target)
            return above if above.chosen else self._extensions(relation)
        return self._extensions(relation) if self._is_of_foreign_type(owner) else None

    def followed(self, relation: Relation) -> Relation:
        """Return a relation whose owner is written as fields of a type with the type of the last of them.

        Each type on the way is one of the project; else it is not known whose member is meant.
        """
        head, mark, fields = relation.owner.partition(OF_FIELD)
        if not mark:
            return relation
        key = relation.owner, relation.target_module
        if key not in self._followed:
            self._followed[key] = self._type_of_field(head, fields.split("."), relation.target_module)
        owner, module = self._followed[key]
        return relation._replace(owner=owner, target_module=module)

    def _type_of_field(self, owner: str, fields: Sequence[str], module: str) -> tuple[str, str]:
        """Return the owner and the module of a member of the last field, as a relation has them."""
        path, is_sure = self._path, "?" not in owner
        for field in fields:
            kinds = self._only_types(owner.rstrip(":?"), path, module)
            types = self._types_of_field(*kinds[0], field) if len(kinds) == 1 else ()
            if len(types) != 1:
                return fields[-1] if fields[-1][:1].isupper() else "", ""
            ((owner, module),), ((path, _),) = types, kinds
            is_sure = is_sure and "?" not in owner
        owner = owner.rstrip("?")
        is_sure = is_sure and len(self._only_types(owner, path, module)) == 1
        return owner if is_sure else f"{owner}?", module

    def _only_types(self, written: str, path: str, module: str) -> Sequence[Kind]:
        """Return the types that a file means by a name: its own or those of the module, else all of the project."""
        types = dict.fromkeys(self._types_written(written))
        if module:
            named = {file.path for file in self._modules.named(module)}
            passing = self._modules.of(Relation(RelationKind.USES, "", written, 0, 1, Resolution.IMPORT, module))
            return [kind for kind in types if kind[0] in named] or [kind for kind in types if kind[0] in passing]
        return [kind for kind in types if kind[0] == path] or ([] if written in self._builtins else list(types))

    def _types_of_field(self, path: str, kind: str, field: str) -> Collection[tuple[str, str]]:
        """Return the types of a field of a type, each with the module from which it is imported."""
        self._source.note(path, BASES, kind)
        return set(self._fields(path)[kind, field])

    def _is_of_foreign_type(self, owner: str) -> bool:
        """Return whether a type is certainly foreign: none of the project, no type parameter, and not `Any`."""
        is_parameter = len(owner) == 1 or (owner[:1] == "T" and owner[1:2].isupper())
        is_known = not (is_parameter or owner in _ANYTHING or any(self._definitions.of(owner)))
        return self._language.typed_members and owner[:1].isupper() and is_known

    def _extensions(self, relation: Relation) -> Meant:
        """Return the functions that extend foreign types: a value of such a type may have them."""
        named = self._source.called(relation.target)[:MOST_OF_A_NAME]
        return one_or_guess(How.NAMED, list(map(candidate_of, filter(self._is_extension, named))))

    def _is_extension(self, named: Named) -> bool:
        owner = owner_name(named.qualified_name)
        is_of_foreign = named.kind in CALLABLE and owner and not any(self._definitions.of(owner))
        return named.is_extension or bool(is_of_foreign)

    def _of_types_above(self, written: str, name: str) -> Meant:
        """Return the member that the types of a name have from those above them, if one of these has it."""
        kinds = self._types_written(written)
        above = {each.place: each for kind in kinds for each in self._inherited.above(kind, name)}
        return one_or_guess(How.NAMED, list(map(candidate_of, above.values())))

    def _types_written(self, written: str) -> Sequence[tuple[str, str]]:
        """Return the types and modules of a name that may be written with what is around them: path, qualified name."""
        return [
            (each.file.path, each.qualified_name)
            for each in islice(self._definitions.of(written.rpartition(".")[2], _SCOPES), MOST_OF_A_NAME)
            if f".{each.qualified_name}".endswith(f".{written}")
        ]

    def _may_inherit(self, owner: str, name: str) -> bool:
        """Return whether a member is none of the fields of a type of the project."""
        fields = (each.qualified_name for each in self._source.called(name) if each.kind is SymbolKind.FIELD)
        return owner not in map(owner_name, fields)

    def is_of_unknown(self, relation: Relation) -> bool:
        """Return whether a name is that of a member of something that the project does not have."""
        owner = relation.owner.rstrip(":?").rpartition(".")[2]
        return relation.owner.endswith("::") and not (
            any(self._definitions.of(owner, USED)) or self._modules.named(owner)
        )


def _fields_in(source: Reads, path: str) -> defaultdict[tuple[str, str], list[tuple[str, str]]]:
    """Return the types of the fields of a file by the type and name of these."""
    fields = (said for said in source.outline(path) if said.kind is RelationKind.CONTAINS)
    return grouped(((said.source, said.target), (said.owner, said.target_module)) for said in fields if said.owner)
