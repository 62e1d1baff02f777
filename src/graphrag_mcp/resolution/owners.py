"""What a member means in languages without facts, by the type or module before its name."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from itertools import islice

from graphrag_mcp.languages.language import ImportStyle, Language
from graphrag_mcp.languages.registry import builtins_of, describe, platform_of
from graphrag_mcp.model.files import CALLABLE, MACRO, OF_FIELD, Relation, RelationKind, Resolution, SymbolKind
from graphrag_mcp.model.grouping import grouped
from graphrag_mcp.model.links import How, Link
from graphrag_mcp.model.sources import Keyed, Named
from graphrag_mcp.resolution.candidates import NOTHING, Called, Meant, candidate_of, one_or_guess, scopes
from graphrag_mcp.resolution.reads import BASES, MOST_OF_A_NAME, PASSED_ON, Reads

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
MOST_HEADERS = 300  # More headers of one file are not followed.
MOST_PASSING = 20  # Files that pass one name on.
MOST_PLACES = 20  # By manifests a module has no more places.
MOST_SEGMENTS = 20  # A longer name gets no place from a manifest.
NAMESPACES = 2  # If a name has more, the first has no folder, where no manifest says otherwise.
USED = (SymbolKind.TYPE, SymbolKind.MODULE, SymbolKind.CONSTANT)
_ANYTHING = ("Any", "AnyObject", "Object")  # Types that say nothing of a value.


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


class NamedModules:
    """The modules that one file names."""

    def __init__(self, source: Reads, path: str, language: Language) -> None:
        self._source, self._path, self._language = source, path, language
        self._passed: dict[str, Mapping[str, Sequence[str]]] = {}

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
            passed = (module for path in level for module in self._passed_on(path).get(name, ()))
            found = {file.path: None for module in islice(passed, MOST_PASSING) for file in self.named(module)}
            level = [path for path in found if path not in modules]
            modules |= found
        return modules

    def _passed_on(self, path: str) -> Mapping[str, Sequence[str]]:
        """Return the modules from which a file imports names, by these."""
        if path not in self._passed:
            self._passed[path] = grouped(
                (relation.target, relation.target_module)
                for relation in self._source.outline(path)
                if relation.kind is RelationKind.IMPORTS and relation.target_module
            )
        return self._passed[path]

    def is_own(self, module: str) -> bool:
        """Return whether a module is of the project: by its path, or by a manifest that has its first part."""
        first = module.partition("/")[0]
        return not first or first in self._source.homes(self._language.manifests)

    def named(self, module: str) -> Sequence[Keyed]:
        """Return the files of a module: where a manifest says, else those whose paths end so."""
        parts = module.split("/")
        homes = self._source.homes(self._language.manifests)
        for count in range(min(len(parts), MOST_SEGMENTS), -1, -1) if homes else ():
            if places := homes.get("/".join(parts[:count])):
                keys = ["/" + "/".join(filter(None, (place, *parts[count:]))) for place in places[:MOST_PLACES]]
                return [file for key in dict.fromkeys(keys) for file in self._source.keyed(key)]
        is_namespace = self._language.imports is ImportStyle.NAMESPACE and len(parts) > NAMESPACES
        return self._source.keyed("/".join(parts[1:]) if is_namespace else module)


class Owners:
    """The types and modules that one file names before members."""

    def __init__(self, source: Reads, file: Keyed, modules: NamedModules, inherited: Inherited) -> None:
        self._source, self._path, self._modules, self._inherited = source, file.path, modules, inherited
        self._language, self._platform = describe(file.language), platform_of(file.language)
        self._builtins = builtins_of(file.language)
        self._followed: dict[tuple[str, str], tuple[str, str]] = {}  # By the owner and module of a relation.
        self._fields: dict[str, Mapping[str, Mapping[str, Collection[tuple[str, str]]]]] = {}  # By the file.

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
            if not inside and relation.target_module:  # The module is not of the project.
                return NOTHING
            if not inside and self._types_written(written):
                return self._of_types_above(written, relation.target)
            owned, said = (inside, said) if inside else (owned, How.NAMED)
        here = [each for each in owned if each.path == self._path and (not modules or each.path in modules)]
        imported = [each for each in owned if each.path in files]
        whole = {each.name.rpartition(".")[0].replace(".", "/") for each in owned[:MOST_OF_A_NAME]}
        is_found = bool(modules or around) or relation.target_module in ("", MACRO, *whole)  # Else a foreign one.
        for how, chosen in ((said, here), (said if is_found else How.NAMED, imported or owned)):
            if chosen:
                return one_or_guess(how, chosen)
        is_type_in_it = relation.kind is RelationKind.INHERITS and relation.owner.endswith("::")
        if is_type_in_it or self.is_of_unknown(relation):
            return NOTHING
        is_type = self._is_type(owner)
        if relation.kind is RelationKind.HANDS_ON and not (is_type and self._may_inherit(owner, relation.target)):
            return NOTHING
        if is_type and called.methods:
            above = self._of_types_above(owner, relation.target)
            return above if above.chosen else self._extensions(relation)
        return self._extensions(relation) if self._is_of_foreign_type(owner) else None

    def followed(self, relation: Relation) -> Relation:
        """Return a relation whose owner is written as fields of a type with the type of the last of them.

        Each type on the way is one of the project; else it is not known whose member is meant.
        """
        head, mark, fields = relation.owner.partition(OF_FIELD)
        key = relation.owner, relation.target_module
        if mark and key not in self._followed:
            self._followed[key] = self._type_of_field(head, fields.split("."), relation.target_module)
        owner, module = self._followed[key] if mark else (relation.owner, relation.target_module)
        return relation._replace(owner=owner, target_module=module) if mark else relation

    def _type_of_field(self, owner: str, fields: Sequence[str], module: str) -> tuple[str, str]:
        """Return the owner and the module of a member of the last field, as a relation has them."""
        path, is_sure = self._path, "?" not in owner
        for field in fields:
            kinds = self._only_types(owner.rstrip(":?"), path, module)
            types = self._fields_of(*kinds[0]).get(field, ()) if len(kinds) == 1 else ()
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

    def _fields_of(self, path: str, kind: str) -> Mapping[str, Collection[tuple[str, str]]]:
        """Return the types of the fields of a type, each with the module from which it is imported."""
        self._source.note(path, BASES, kind)
        if path not in self._fields:
            fields: dict[str, dict[str, set[tuple[str, str]]]] = {}
            for said in self._source.outline(path):
                if said.kind is RelationKind.CONTAINS:
                    types = fields.setdefault(said.source, {}).setdefault(said.target, set())
                    types.update([(said.owner, said.target_module)] if said.owner else ())
            self._fields[path] = fields
        return self._fields[path].get(kind, {})

    def _is_of_foreign_type(self, owner: str) -> bool:
        """Return whether a type is certainly foreign: none of the project, no type parameter, and not `Any`."""
        is_parameter = len(owner) == 1 or (owner[:1] == "T" and owner[1:2].isupper())
        is_known = not (is_parameter or owner in _ANYTHING or any(self._of_platform(owner)))
        return self._language.typed_members and owner[:1].isupper() and is_known

    def _extensions(self, relation: Relation) -> Meant:
        """Return the functions that extend foreign types: a value of such a type may have them."""
        named = self._source.called(relation.target)[:MOST_OF_A_NAME]
        around = {each.place: each.qualified_name.rpartition(".")[0].rpartition(".")[2] for each in named}
        found = [
            each
            for each in named
            if each.is_extension
            or (each.kind in CALLABLE and around[each.place] and not any(self._of_platform(around[each.place])))
        ]
        return one_or_guess(How.NAMED, list(map(candidate_of, found)))

    def _of_platform(self, name: str) -> Iterator[Named]:
        return (each for each in self._source.called(name) if each.file.language in self._platform)

    def _of_types_above(self, written: str, name: str) -> Meant:
        """Return the member that the types of a name have from those above them, if one of these has it."""
        kinds = self._types_written(written)
        above = {each.place: each for kind in kinds for each in self._inherited.above(kind, name)}
        return one_or_guess(How.NAMED, list(map(candidate_of, above.values())))

    def _types_written(self, written: str) -> Sequence[tuple[str, str]]:
        """Return the types and modules of a name that may be written with what is around them: path, qualified name."""
        return [
            (each.file.path, each.qualified_name)
            for each in islice(self._of_platform(written.rpartition(".")[2]), MOST_OF_A_NAME)
            if each.kind in (SymbolKind.TYPE, SymbolKind.MODULE) and f".{each.qualified_name}".endswith(f".{written}")
        ]

    def _may_inherit(self, owner: str, name: str) -> bool:
        """Return whether a member is none of the fields of a type of the project."""
        fields = (each.qualified_name for each in self._source.called(name) if each.kind is SymbolKind.FIELD)
        return not any(field.rpartition(".")[0].rpartition(".")[2] == owner for field in fields)

    def is_of_unknown(self, relation: Relation) -> bool:
        """Return whether a name is that of a member of something that the project does not have."""
        owner = relation.owner.rstrip(":?").rpartition(".")[2]
        return relation.owner.endswith("::") and not (self._is_type(owner, USED) or self._modules.named(owner))

    def _is_type(self, name: str, kinds: Collection[SymbolKind] = (SymbolKind.TYPE, SymbolKind.MODULE)) -> bool:
        return any(each.kind in kinds for each in self._of_platform(name))
