"""What a member means in languages without facts, by the type or module before its name."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice

from graphrag_mcp.languages.registry import builtins_of, describe, platform_of
from graphrag_mcp.model.files import CALLABLE, MACRO, OF_FIELD, Relation, RelationKind, Resolution, SymbolKind
from graphrag_mcp.model.links import How
from graphrag_mcp.model.sources import Keyed, Named
from graphrag_mcp.resolution.candidates import NOTHING, Called, Meant, candidate_of, one_or_guess
from graphrag_mcp.resolution.inherited import Inherited, Kind
from graphrag_mcp.resolution.named_modules import NamedModules
from graphrag_mcp.resolution.reads import BASES, MOST_OF_A_NAME, Reads

USED = (SymbolKind.TYPE, SymbolKind.MODULE, SymbolKind.CONSTANT)

_ANYTHING = ("Any", "AnyObject", "Object")  # Types that say nothing of a value.


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
            if not inside and relation.target_module:  # Of what is not of the project.
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
