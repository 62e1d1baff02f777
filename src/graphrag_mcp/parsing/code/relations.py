"""Derives the relations of a file from its outline, as far as the file alone determines them."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from graphrag_mcp.languages.registry import describe, library_of
from graphrag_mcp.model.files import (
    ANY_COUNT,
    BARE_CONFIDENCE,
    BASE_CONFIDENCE,
    MACRO,
    OF_FIELD,
    VARIABLE,
    Category,
    Count,
    Relation,
    RelationKind,
    Resolution,
    SymbolKind,
)
from graphrag_mcp.parsing.code.imports import is_library, module_of_path
from graphrag_mcp.parsing.code.names import last_name
from graphrag_mcp.parsing.code.variables import VariableTypes
from graphrag_mcp.parsing.outline import (
    MACRO_RECEIVER,
    SUPER_RECEIVER,
    UNKNOWN_RECEIVER,
    Base,
    Definition,
    Import,
    Outline,
    Reference,
    enclosing_indexes,
)

# The estimated share of correct relations of each kind; only their order matters.
_SYNTAX = 1.0
_OWN_METHOD = 0.95  # self.name(), defined in the class
_LOCAL = 0.9  # name(), with one definition in the file
_IMPORTED = 0.9  # name(), imported by the file
_IMPORTED_MEMBER = 0.8  # module.name()
_UNKNOWN_MEMBER = 0.3  # value.name(), with an unknown type
_BUILTIN = 0.25  # name(), also a builtin
_TESTED_BY_NAME = 0.6  # test_name
_TESTED_BY_CALL = 0.4  # a call inside a test

_BY_LINE = (RelationKind.CALLS, RelationKind.HANDS_ON, RelationKind.USES)
_MODULES = frozenset({"crate", "self", "super"})  # In a path they mean modules, in files of languages that nest these.
_OWN = frozenset({"self", "this", "cls", "Self", "static", "__MODULE__"})

Resolved = tuple[float, Resolution, str]


def build_relations(path: str, language: str, category: Category, outline: Outline) -> list[Relation]:
    """Return the distinct edges of a file in the order in which they first occur, each with its highest confidence."""
    relations: dict[tuple[object, ...], Relation] = {}
    called: set[tuple[str, str, int]] = set()
    for relation in _Builder(path, language, category, outline).relations():
        place = (*relation[1:3], relation.line if relation.kind in _BY_LINE else 0)
        key = (relation.kind, *place, relation.owner, relation.given)
        if relation.kind is RelationKind.CALLS:
            called.add(place)
        elif relation.kind is RelationKind.USES and place in called:  # A call is more specific.
            continue
        if key not in relations or relations[key].confidence < relation.confidence:
            relations[key] = relation
    return list(relations.values())


class _Builder:
    """Resolves names within a file: its definitions and its imports."""

    def __init__(self, path: str, language: str, category: Category, outline: Outline) -> None:
        self._path, self._outline = path, outline
        self._library = library_of(language)
        described = describe(language)
        self._super, self._has_bare_members = described.super, described.bare_members
        self._inner_modules, self._blocks_implement = described.inner_modules, described.blocks_implement
        self._has_capitals = described.capitals
        self._own = _OWN if self._super else _OWN | {SUPER_RECEIVER}
        self._is_test_file = category is Category.TESTS
        self._imports = {imported.name: imported for imported in (*outline.implied, *outline.imports)}
        self._local: dict[str, set[str]] = {}  # The qualified names of what has a name,
        self._bare: dict[str, set[str]] = {}  # and of what is not a method.
        self._members: set[tuple[str, str]] = set()
        for definition in outline.definitions:
            if definition.kind is not None and definition.kind is not SymbolKind.FIELD:
                self._local.setdefault(definition.name, set()).add(definition.qualified_name)
                is_owned = definition.parent < 0 and definition.qualified_name != definition.name
                if definition.kind is not SymbolKind.METHOD and (self._has_bare_members or not is_owned):
                    self._bare.setdefault(definition.name, set()).add(definition.qualified_name)
                self._members.add((definition.qualified_name.rpartition(".")[0], definition.name))
        self._variables = VariableTypes(outline, self._own)
        self._bases: dict[int, list[str]] = {}
        self._around_bases = _of_bases(outline)
        for index, base in zip(self._around_bases, outline.bases, strict=True):
            if not (base.below or base.is_above):
                self._bases.setdefault(index, []).append(self._target(base))

    def relations(self) -> Iterator[Relation]:
        yield from self._contains()
        yield from self._inherits()
        yield from self._import_edges()
        yield from self._tests_by_name()
        yield from self._calls()
        yield from self._uses()
        yield from self._handed_on()

    def _contains(self) -> Iterator[Relation]:
        for definition in self._outline.definitions:
            container = definition.qualified_name.removesuffix(definition.name).rstrip(".#")
            if definition.kind is not None:
                block, edge = self._bases.get(definition.parent, ()), (_SYNTAX, Resolution.SYNTAX, "")
                owner = block[0] if block and self._blocks_implement else ""
                if definition.kind in VARIABLE and (kind := self._variables.of_field(container, definition.name)):
                    name = kind.rstrip("?")
                    owner, (_, _, module) = self._imported(name, kind.removeprefix(name), edge)
                    edge = (*edge[:2], module)
                yield _edge(RelationKind.CONTAINS, container, definition.name, definition.first_row, edge, owner)

    def _inherits(self) -> Iterator[Relation]:
        for index, base in zip(self._around_bases, self._outline.bases, strict=True):
            around = self._outline.definitions[index] if index >= 0 else None
            below = around.qualified_name if around and not around.name.startswith('"') else ""
            if base.below:
                named = self._local.get(base.below, ())
                below = next(iter(named)) if len(named) == 1 else ""
            if below and (base.name != last_name(below) or base.receiver):
                edge = self._resolve_member(base.receiver, base.name) if base.receiver else self._resolve(base.name)
                owner = base.receiver + ("::" if base.receiver and self._has_capitals else "")
                yield _edge(RelationKind.INHERITS, below, self._target(base), base.row, edge, owner)

    def _import_edges(self) -> Iterator[Relation]:
        for imported in self._outline.imports:
            edge = self._by_import(_IMPORTED, imported.module)
            yield _edge(RelationKind.IMPORTS, "", imported.target, imported.row, edge)

    def _tests_by_name(self) -> Iterator[Relation]:
        if not self._is_test_file:
            return
        edge = (_TESTED_BY_NAME, Resolution.UNRESOLVED, "")
        stem = self._path.rpartition("/")[2].rpartition(".")[0]
        if tested := _tested_name(stem):
            yield _edge(RelationKind.TESTS, "", tested, 0, edge)
        for definition in self._outline.definitions:
            if definition.kind is not None and (tested := _tested_name(definition.name)):
                yield _edge(RelationKind.TESTS, definition.qualified_name, tested, definition.first_row, edge)

    def _calls(self) -> Iterator[Relation]:
        reserved = self._own | {self._super}
        calls = [
            reference for reference in self._outline.references if reference.is_call and reference.name not in reserved
        ]
        definitions = self._outline.definitions
        is_test = _are_tests(definitions)
        for index, call, rows in self._each_once(calls):
            source = definitions[index] if index >= 0 else None
            name = source.qualified_name if source else ""
            owner, edge = self._owner(call, index, self._resolve_call(call, index))
            target = self._target(call)
            yield from (_edge(RelationKind.CALLS, name, target, row, edge, owner, call.given) for row in rows)
            is_helper = self._is_test_file and edge[1] is Resolution.LOCAL
            if (self._is_test_file or (source and is_test[index])) and not is_helper:
                tested = (min(edge[0], _TESTED_BY_CALL), edge[1], edge[2])
                yield _edge(RelationKind.TESTS, name, target, call.row, tested, owner, call.given)

    def _uses(self) -> Iterator[Relation]:
        definitions, references = self._outline.definitions, self._outline.references
        taken = {call.start for call in references if call.is_call} | {base.start for base in self._outline.bases}
        named = [
            reference
            for reference in references
            if not reference.is_call and not reference.is_handed and reference.start not in taken
        ]
        owners = [_owner_of(use) for use in references if use.receiver[:1].isupper()]
        for index, use, rows in self._each_once(sorted(use for use in named + owners if use.name not in self._own)):
            source = definitions[index] if index >= 0 else None
            edge = self._resolve_member(use.receiver, use.name) if use.receiver else self._resolve_bare(use)
            name = source.qualified_name if source else ""
            owner, edge = self._owner(use, index, edge)
            target = self._target(use)
            yield from (_edge(RelationKind.USES, name, target, row, edge, owner) for row in rows)

    def _handed_on(self) -> Iterator[Relation]:
        definitions = self._outline.definitions
        handed = [reference for reference in self._outline.references if reference.is_handed]
        for index, use, rows in self._each_once(handed):
            source = definitions[index].qualified_name if index >= 0 else ""
            owner, edge = self._owner(use, index, self._resolve_call(use, index))
            yield from (_edge(RelationKind.HANDS_ON, source, self._target(use), row, edge, owner) for row in rows)

    def _each_once(self, references: Sequence[Reference]) -> Iterable[tuple[int, Reference, list[int]]]:
        """Return the first of equal references in one definition, with its index and the rows of all of them."""
        by_target: dict[tuple[object, ...], tuple[int, Reference, list[int]]] = {}
        around = enclosing_indexes(self._outline.definitions, [reference.start for reference in references])
        for index, use in zip(around, references, strict=True):
            kind = self._variables.of_receiver(use, index)
            key = (index, use.name, use.receiver, kind, use.path, use.is_far, use.given)
            rows = by_target.setdefault(key, (index, use, []))[2]
            if not rows or (not use.is_builtin and use.row > rows[-1]):
                rows.append(use.row)
        return by_target.values()

    def _target(self, reference: Reference | Base) -> str:
        """Return the name under which the target is defined, rather than its alias in an import."""
        imported = None if reference.receiver else self._imports.get(reference.name)
        is_header = imported is not None and imported.target.startswith(f"{reference.name}.")
        return imported.target if imported and not is_header and reference.name not in self._local else reference.name

    def _owner(self, reference: Reference, index: int, edge: Resolved) -> tuple[str, Resolved]:
        """Return the type or module that is written before a name, as it is called where it is defined.

        index: of the definition around it, whose type the own instance is of. edge: how the name is resolved, which is
        returned with the module from which the owner is imported.
        """
        receiver = reference.receiver
        path = self._path_of(reference)
        if path:
            edge = self._by_import(_IMPORTED, self._module_of(path, index))
            if _MODULES.issuperset(receiver.split("::")):
                return "", edge
        if receiver in (self._super, SUPER_RECEIVER):
            return "", edge
        if receiver in self._own:
            return self._variables.type_around(index), edge
        owner, ending = receiver, ""
        is_name = receiver[:1].isupper()
        is_type = is_name and (
            self._has_capitals or not receiver.isupper()
        )  # Else maybe a constant or a type's parameter.
        kind = self._variables.of_receiver(reference, index)
        kind = "" if OF_FIELD in kind and (edge[2] or "." in kind.partition(OF_FIELD)[0]) else kind
        if kind and not (reference.is_path and kind.endswith("?")):  # `pager::open()` is of a module.
            owner = kind.partition(OF_FIELD)[0].rstrip(":?")
            ending = kind.removeprefix(owner)
        elif not (is_type or (reference.is_path and receiver.isidentifier() and receiver.islower())):
            return "", edge
        elif reference.is_path:
            ending = "?::" if reference.is_far and self._inner_modules else "::"
            owner = f"{reference.path.replace('::', '.')}.{owner}" if reference.is_far and ending == "::" else owner
        elif is_name and self._has_capitals:
            owner, ending = ".".join(filter(None, [*reference.path.split("::"), owner])), "::"
        is_here = OF_FIELD in ending and owner in self._local
        return (owner + ending, edge) if is_here else self._imported(owner, ending, edge)

    def _imported(self, owner: str, ending: str, edge: Resolved) -> tuple[str, Resolved]:
        """Return a type as it is called where it is defined. ending: what is said of it."""
        first, _, rest = owner.partition(".")
        if rest and (imported := self._imports.get(first)):
            module = imported.module if imported.whole else f"{imported.module}/{imported.target}"
            _, resolution, module = self._by_import(edge[0], "/".join([module, *rest.split(".")[:-1]]))
            return owner + ending, (edge[0], resolution, module)
        imported = self._imports.get(owner)
        if imported and not imported.whole:
            owner, edge = last_name(imported.target), (*edge[:2], edge[2] or _module_of_members(imported))
        return owner + ending, edge

    def _path_of(self, reference: Reference) -> str:
        """Return the path of the module before a name or its type, "" for a single name, which may be a type's."""
        receiver = reference.receiver
        is_path = self._inner_modules and reference.is_path
        if is_path and reference.path:
            return reference.path if receiver[:1].isupper() else f"{reference.path}::{receiver}"
        return receiver if is_path and receiver.partition("::")[0] in _MODULES else ""

    def _module_of(self, path: str, index: int) -> str:
        """Return the module of a path in a definition, in the form of `Relation.target_module`."""
        first, _, rest = path.partition("::")
        if (imported := self._imports.get(first)) and first not in _MODULES:
            module = imported.module if imported.whole else f"{imported.module}/{imported.target}"
            return "/".join(filter(None, (module, rest.replace("::", "/"))))
        return module_of_path(self._path, path, self._modules_around(index))

    def _modules_around(self, index: int) -> int:
        """Return how many modules of the file are around a definition, itself too."""
        definitions, count = self._outline.definitions, 0
        while index >= 0:
            count, index = count + (definitions[index].kind is SymbolKind.MODULE), definitions[index].parent
        return count

    def _resolve_call(self, call: Reference, index: int) -> Resolved:
        if not call.receiver:
            return self._resolve_bare(call, index)
        if call.receiver == MACRO_RECEIVER:
            return BARE_CONFIDENCE, Resolution.UNRESOLVED, MACRO
        if call.receiver in (self._super, SUPER_RECEIVER) and self._super:
            return self._resolve_super(call.name, index)
        if call.receiver in self._own:
            return self._resolve_own(call.name, index)
        if call.is_of_value:  # A variable may have the name of a module.
            return (
                _UNKNOWN_MEMBER,
                Resolution.MEMBER if call.receiver != UNKNOWN_RECEIVER else Resolution.UNKNOWN,
                "",
            )
        return self._resolve_member(call.receiver, call.name)

    def _resolve_bare(self, reference: Reference, index: int = -1) -> Resolved:
        """Resolve a bare name; unless the file defines or imports it, it may be a builtin."""
        resolved = self._resolve(reference.name, index)
        if reference.is_builtin and resolved[1] is Resolution.UNRESOLVED:
            return _BUILTIN, Resolution.BUILTIN, ""
        return resolved

    def _resolve_super(self, name: str, index: int) -> Resolved:
        """Resolve `super().name()` in the base classes of this file, never in the class itself."""
        definitions = self._outline.definitions
        while index >= 0 and not definitions[index].is_container:
            index = definitions[index].parent
        if any(self._is_member_of_nested(base, name) for base in self._bases.get(index, ())):
            return BASE_CONFIDENCE, Resolution.BASE, ""
        return _UNKNOWN_MEMBER, Resolution.BASE, ""

    def _by_import(self, confidence: float, module: str) -> Resolved:
        return confidence, Resolution.LIBRARY if is_library(module, self._library) else Resolution.IMPORT, module

    def _resolve_member(self, receiver: str, name: str) -> Resolved:
        if receiver == UNKNOWN_RECEIVER:
            return _UNKNOWN_MEMBER, Resolution.UNKNOWN, ""
        if (receiver, name) in self._members or self._is_member_of_nested(receiver, name):
            return _LOCAL, Resolution.LOCAL, ""
        if imported := self._imports.get(receiver):
            return self._by_import(_IMPORTED_MEMBER, _module_of_members(imported))
        return _UNKNOWN_MEMBER, Resolution.UNRESOLVED, ""

    def _is_member_of_nested(self, receiver: str, name: str) -> bool:
        owners = self._local.get(receiver, ())
        return len(owners) == 1 and (next(iter(owners)), name) in self._members

    def _resolve_own(self, name: str, index: int) -> Resolved:
        """Resolve `self.name()` in the types around the definition."""
        definitions = self._outline.definitions
        while index >= 0:
            definition = definitions[index]
            if (definition.qualified_name, name) in self._members or (
                (definition.qualified_name.rpartition(".")[0], name) in self._members and definition.parent < 0
            ):
                return _OWN_METHOD, Resolution.LOCAL, ""
            index = definition.parent
        return _UNKNOWN_MEMBER, Resolution.UNRESOLVED, ""

    def _resolve(self, name: str, index: int = -1) -> Resolved:
        """Resolve a bare name; not one with several definitions, and a method only within its type."""
        local = self._bare.get(name, ())
        if len(local) == 1:  # Overloads, or a class with its companion.
            return _LOCAL, Resolution.LOCAL, ""
        if not local:
            if index >= 0 and self._has_bare_members and (own := self._resolve_own(name, index))[1] is Resolution.LOCAL:
                return own
            if imported := self._imports.get(name):
                return self._by_import(_IMPORTED, imported.module)
        return BARE_CONFIDENCE, Resolution.UNRESOLVED, ""


def _edge(
    kind: RelationKind,
    source: str,
    target: str,
    row: int,
    resolved: Resolved,
    owner: str = "",
    given: Count = ANY_COUNT,
) -> Relation:
    confidence, resolution, module = resolved
    return Relation(kind, source, target, row + 1, confidence, resolution, module, owner, given)


def _of_bases(outline: Outline) -> list[int]:
    """Return for each base the index of the definition around it, or of the type below it whose attribute names it."""
    definitions, starts = outline.definitions, [definition.start for definition in outline.definitions]
    indexes = enclosing_indexes(definitions, [base.start for base in outline.bases])
    for place, base in enumerate(outline.bases):
        if base.is_above:
            below = bisect_right(starts, base.start)
            following = definitions[below] if below < len(starts) else None
            is_of_it = following and following.kind is SymbolKind.TYPE and following.parent == indexes[place]
            indexes[place] = below if is_of_it else -1
    return indexes


def _owner_of(use: Reference) -> Reference:
    """Return the type before a member as what is used, with the path before it."""
    path, _, receiver = use.path.rpartition("::")
    return use._replace(name=use.receiver, receiver=receiver, path=path, is_path=bool(receiver), is_plain=False)


def _are_tests(definitions: Sequence[Definition]) -> list[bool]:
    """Return for each definition whether it is in a block of tests within the code, as in Rust."""
    flags: list[bool] = []
    for definition in definitions:
        is_inside = definition.parent >= 0 and flags[definition.parent]
        flags.append(is_inside or (definition.kind is SymbolKind.MODULE and definition.name in ("test", "tests")))
    return flags


def _module_of_members(imported: Import) -> str:
    """Return the module of `receiver.name`: that of the type, or the receiver itself if it is a module."""
    if imported.whole or imported.target[:1].isupper():
        return imported.module
    return f"{imported.module}/{imported.target}"


def _tested_name(name: str) -> str:
    """Return the name that a test tests: `foo` for test_foo, foo_test, and `Foo` for FooTest, TestFoo."""
    lowered = name.lower()
    for word in ("tests", "test", "specs", "spec"):
        for separator in ("_", "-", "."):
            if lowered.startswith(word + separator):
                return name[len(word) + 1 :]
            if lowered.endswith(separator + word):
                return name[: -len(word) - 1]
        if name.endswith(word.capitalize()):
            return name[: -len(word)]
        if name.startswith(word.capitalize()) and name[len(word) : len(word) + 1].isupper():
            return name[len(word) :]
    return ""
