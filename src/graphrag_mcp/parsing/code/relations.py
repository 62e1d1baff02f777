"""Derives the relations of a file from its outline, as far as the file alone determines them."""

from collections.abc import Iterable, Iterator, Sequence, Set
from typing import NamedTuple

from graphrag_mcp.languages.registry import describe
from graphrag_mcp.model.files import (
    ANY_COUNT,
    OF_FIELD,
    VARIABLE,
    Category,
    Count,
    Relation,
    RelationKind,
    Resolution,
    SymbolKind,
)
from graphrag_mcp.parsing.code.file_names import FileNames, Resolved
from graphrag_mcp.parsing.code.imports import module_of_path
from graphrag_mcp.parsing.code.names import last_name
from graphrag_mcp.parsing.outline import (
    SUPER_RECEIVER,
    Definition,
    Outline,
    Reference,
    around,
    as_parameter,
    enclosing_indexes,
    modules_around,
)

MOST_KINDS = 40  # Times that a variable gets another type; one with more has none.
_MOST_HELD = 4  # Variables that hold a field of another one in a row.
# The estimated share of correct relations of each kind; only their order matters.
_SYNTAX = 1.0
_TESTED_BY_NAME = 0.6  # test_name
_MAYBE_CREATED = 0.3  # the constructor of what may be a base, or be below
_TESTED_BY_CALL = 0.4  # a call inside a test
_BY_LINE = (RelationKind.CALLS, RelationKind.HANDS_ON, RelationKind.USES)
_MODULES = frozenset({"crate", "self", "super"})  # In a path they mean modules, in files of languages that nest these.
_LATE = "static"  # The type around it, or one below.
_OWN = frozenset({"self", "this", "cls", "Self", "static", "__MODULE__"})


class _Kind(NamedTuple):
    """The type of a variable, with "?" where it may hold something else. is_new: see `Variable`."""

    start: int
    name: str
    is_new: bool


class VariableTypes:
    """The types of the variables of one file. own: the words for the own instance."""

    def __init__(self, outline: Outline, own: Set[str]) -> None:
        self._own = own
        self._definitions = outline.definitions
        self._types = _kinds_of_variables(outline)
        self._bindings = outline.bindings
        self._typed = {-1, *(variable.start for variable in outline.variables)}  # -1 is none that is bound.
        self._around: dict[tuple[int, str], list[Sequence[_Kind]]] = {}

    def of_receiver(self, use: Reference, index: int) -> str:
        """Return the type of the value before a name, "Cart>owner" of a field of a value of a type; "" if unknown."""
        kind = self.of(use.receiver, index, use.start) if use.is_plain else ""
        fields = kind if kind.startswith(OF_FIELD) else "" if kind else use.fields
        return self._of_fields(fields, index, use.start, _MOST_HELD) if fields else kind

    def of_field(self, kind: str, name: str) -> str:
        """Return the type of a field of a type, "" if unknown. kind: the qualified name of the type."""
        found = _only_or_last(self._types.get((kind, name), ()), 0)
        return "" if found.startswith(OF_FIELD) or len(found) == 1 else found  # One letter stands for any type.

    def _of_fields(self, written: str, index: int, at: int, most: int) -> str:
        """Return the type of the fields of a variable; most: variables that are looked at."""
        first, _, fields = written.strip(f"{OF_FIELD}?").partition(".")
        kind = self.type_around(index) if first in self._own else self.of(first, index, at)
        if kind.startswith(OF_FIELD):
            kind = self._of_fields(kind, index, at, most - 1) if most else ""
        if not kind:
            return ""
        kind, mark, before = kind.partition(OF_FIELD)
        unsure = "?" if written.endswith("?") and not kind.endswith("?") else ""
        return f"{kind}{unsure}{OF_FIELD}{before}{'.' if mark and fields else ''}{fields}"

    def type_around(self, index: int) -> str:
        """Return the name of the type or module around a definition, "" for none."""
        outwards = (definition for _, definition in around(self._definitions, index))
        return next((last_name(outer.qualified_name) for outer in outwards if outer.is_container), "")

    def of(self, variable: str, index: int, at: int) -> str:
        """Return the type of a variable of a definition, or of a field of the types around it; "" if unknown.

        Of a value whose type is a parameter, the only type that bounds it; likewise of that parameter.
        """
        kind = self._said(variable, index, at)
        name = kind.rstrip("?") or variable
        bound = self._said(as_parameter(name), index, at)
        return bound + kind.removeprefix(name) if bound and not bound.endswith("?") else kind

    def _said(self, variable: str, index: int, at: int) -> str:
        if (index, variable) not in self._around:
            self._around[index, variable] = list(self._types_around(variable, index))
        begin = self._bindings.start_of(variable, at) if self._bindings else -1
        if begin not in self._typed:  # Another variable of its name hides it.
            return ""
        known = (_only_or_last(kinds, at, begin) for kinds in self._around[index, variable])
        return next(filter(None, known), "")

    def _types_around(self, variable: str, index: int) -> Iterator[Sequence[_Kind]]:
        outermost, is_of_file = "", True
        for outer, definition in around(self._definitions, index):
            is_of_file &= definition.name.startswith('"')  # The block of a test sees the variables around it.
            place = definition.qualified_name if definition.is_container else outer
            if kinds := self._types.get((place, variable)):
                yield kinds
            outermost = definition.qualified_name
        if kinds := self._types.get((outermost.rpartition(".")[0], variable)):  # Defined outside of its type.
            yield kinds
        if is_of_file and (kinds := self._types.get((-1, variable))):
            yield kinds


def _kinds_of_variables(outline: Outline) -> dict[tuple[int | str, str], list[_Kind]]:
    """Return the types of variables by the index of the function and by their names, of fields by that of the type.

    With each type where it is said; of one that may hold something else it ends in "?".
    """
    definitions = outline.definitions
    fields = {definition.name_start: definition.parent for definition in definitions if definition.kind in VARIABLE}
    indexes = enclosing_indexes(definitions, [variable.start for variable in outline.variables])
    kinds: dict[tuple[int | str, str], list[_Kind]] = {}
    for index, variable in zip(indexes, outline.variables, strict=True):
        is_field = variable.is_own or variable.start in fields
        places = (
            outer.qualified_name if outer.is_container else place
            for place, outer in around(definitions, fields.get(variable.start, index))
            if outer.is_container or (outer.is_callable and not is_field)
        )
        key = (next(places, -1), variable.name)
        kind = variable.kind + ("" if variable.is_declared else "?")
        said = kinds.setdefault(key, [])
        if not said or said[-1].name != kind:
            said.append(_Kind(variable.start, kind, variable.is_new or (variable.is_declared and not is_field)))
    return {key: said for key, said in kinds.items() if len(said) <= MOST_KINDS}


def _only_or_last(kinds: Sequence[_Kind], at: int, begin: int = -1) -> str:
    """Return the only type of what has a name; of several variables, unsurely, that of the last one before a place.

    begin: where the variable begins, if that is known.
    """
    if own := next((kind.name for kind in kinds if kind.start == begin and kind.is_new), ""):
        return own
    if len({kind.name.rstrip("?") for kind in kinds}) < 2:
        return min((kind.name for kind in kinds), default="")  # A type that is written says it of what is unsure.
    if not all(kind.is_new for kind in kinds):
        return ""
    last = max((kind for kind in kinds if kind.start <= at), default=None)
    return f"{last.name.rstrip('?')}?" if last else ""


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
    """Makes the edges of one file."""

    def __init__(self, path: str, language: str, category: Category, outline: Outline) -> None:
        self._path, self._outline = path, outline
        described = describe(language)
        self._super, self._has_capitals = described.super, described.capitals
        self._inner_modules, self._blocks_implement = described.inner_modules, described.blocks_implement
        self._own = _OWN if self._super else _OWN | {SUPER_RECEIVER}
        self._is_test_file = category is Category.TESTS
        self._names = FileNames(outline, described, self._own)
        self._variables = VariableTypes(outline, self._own)

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
                block, edge = self._names.bases.get(definition.parent, ()), (_SYNTAX, Resolution.SYNTAX, "")
                owner = block[0] if block and self._blocks_implement else ""
                if definition.kind in VARIABLE and (kind := self._variables.of_field(container, definition.name)):
                    name = kind.rstrip("?")
                    owner, (_, _, module) = self._names.imported(name, kind.removeprefix(name), edge)
                    edge = (*edge[:2], module)
                yield _edge(RelationKind.CONTAINS, container, definition.name, definition.first_row, edge, owner)

    def _inherits(self) -> Iterator[Relation]:
        for index, base in zip(self._names.around_bases, self._outline.bases, strict=True):
            is_title = index >= 0 and self._outline.definitions[index].name.startswith('"')  # It is that of a test.
            below = "" if is_title else self._name_of(index)
            if base.below:
                named = self._names.local.get(base.below, ())
                below = next(iter(named)) if len(named) == 1 else ""
            is_itself = base.name == last_name(below) and not base.receiver
            if below and not is_itself:
                edge = self._names.resolve_base(base)
                owner = base.receiver + ("::" if base.receiver and self._has_capitals else "")
                yield _edge(RelationKind.INHERITS, below, self._names.target(base), base.row, edge, owner)

    def _import_edges(self) -> Iterator[Relation]:
        for imported in self._outline.imports:
            edge = self._names.by_import(imported.module)
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
            reference
            for reference in self._outline.references
            if reference.is_call and (reference.is_base or reference.name not in reserved)
        ]
        is_test = _are_tests(self._outline.definitions)
        for index, call, rows in self._each_once(calls):
            name = self._name_of(index)
            created, is_sure = self._created(call, index) if call.is_base else (call.name, True)
            if not created:
                continue
            call = call._replace(name=created)
            owner, edge = self._owner(call, index, self._names.resolve_call(call, index))
            edge = edge if is_sure else (min(edge[0], _MAYBE_CREATED), *edge[1:])
            target = self._names.target(call)
            yield from (_edge(RelationKind.CALLS, name, target, row, edge, owner, call.given) for row in rows)
            is_helper = self._is_test_file and edge[1] is Resolution.LOCAL
            if (self._is_test_file or is_test[index]) and not is_helper:
                tested = (min(edge[0], _TESTED_BY_CALL), edge[1], edge[2])
                yield _edge(RelationKind.TESTS, name, target, call.row, tested, owner, call.given)

    def _created(self, call: Reference, index: int) -> tuple[str, bool]:
        """Return which type's constructor is called, "" if none, and whether that is sure."""
        outwards = around(self._outline.definitions, index)
        container = next((outer for outer, definition in outwards if definition.is_container), -1)
        own = last_name(self._name_of(container) if container >= 0 else self._name_of(index).rpartition(".")[0])
        bases = self._names.bases.get(container, [])
        if call.name in self._own:  # In a trait they mean what has it.
            is_shared = container >= 0 and "trait" in self._outline.definitions[container].signature.split()
            return own, call.name != _LATE and not is_shared
        if call.name == self._super:
            return next(iter(bases), ""), True
        is_known = call.name == own or call.name in bases  # Else it is mostly a field.
        return call.name if is_known or (container < 0 and call.name[:1].isupper()) else "", is_known

    def _uses(self) -> Iterator[Relation]:
        references = self._outline.references
        taken = {call.start for call in references if call.is_call} | {base.start for base in self._outline.bases}
        named = [reference for reference in references if not reference.is_handed and reference.start not in taken]
        owners = [_owner_of(use) for use in references if use.receiver[:1].isupper()]
        for index, use, rows in self._each_once(sorted(use for use in named + owners if use.name not in self._own)):
            edge = self._names.resolve_member(use.receiver, use.name) if use.receiver else self._names.resolve_bare(use)
            owner, edge = self._owner(use, index, edge)
            name, target = self._name_of(index), self._names.target(use)
            yield from (_edge(RelationKind.USES, name, target, row, edge, owner) for row in rows)

    def _handed_on(self) -> Iterator[Relation]:
        handed = [reference for reference in self._outline.references if reference.is_handed]
        for index, use, rows in self._each_once(handed):
            owner, edge = self._owner(use, index, self._names.resolve_call(use, index))
            name, target = self._name_of(index), self._names.target(use)
            yield from (_edge(RelationKind.HANDS_ON, name, target, row, edge, owner) for row in rows)

    def _name_of(self, index: int) -> str:
        return self._outline.definitions[index].qualified_name if index >= 0 else ""

    def _each_once(self, references: Sequence[Reference]) -> Iterable[tuple[int, Reference, list[int]]]:
        """Return the first of equal references in one definition, with its index and the rows of all of them."""
        by_target: dict[tuple[object, ...], tuple[int, Reference, list[int]]] = {}
        around = enclosing_indexes(self._outline.definitions, [reference.start for reference in references])
        for index, use in zip(around, references, strict=True):
            kind = self._variables.of_receiver(use, index)
            fields = use.fields if use.fields[:1].isupper() else ""
            key = (index, use.name, use.receiver, kind, use.path, use.is_far, fields, use.given)
            rows = by_target.setdefault(key, (index, use, []))[2]
            is_known = kind or use.receiver[:1].isupper() or use.receiver in self._own
            is_dull = use.is_builtin and not (is_known or (not use.receiver and use.name in self._names.local))
            if not rows or (not is_dull and use.row > rows[-1]):
                rows.append(use.row)
        return by_target.values()

    def _owner(self, reference: Reference, index: int, edge: Resolved) -> tuple[str, Resolved]:
        """Return the type or module that is written before a name, as it is called where it is defined.

        index: of the definition around it, whose type the own instance is of. edge: how the name is resolved, which is
        returned with the module from which the owner is imported.
        """
        receiver = reference.receiver
        path = self._path_of(reference)
        if path:
            edge = self._names.by_import(self._module_of(path, index))
            if _MODULES.issuperset(receiver.split("::")):
                return "", edge
        if receiver in (self._super, SUPER_RECEIVER):
            return "", edge
        if receiver in self._own:
            return self._variables.type_around(index), edge
        owner, ending = receiver, ""
        is_name = receiver[:1].isupper()
        # Else it may be a constant, or a parameter for types. Neither is before `::`.
        is_type = is_name and (self._has_capitals or reference.is_path or not receiver.isupper())
        kind = self._variables.of_receiver(reference, index)
        if not kind and is_type and reference.fields[:1].isupper():  # `Xml.Document` may be a field of a type.
            kind = reference.fields.replace(".", OF_FIELD, 1)
        kind = "" if OF_FIELD in kind and (edge[2] or "." in kind.partition(OF_FIELD)[0]) else kind
        if kind and not (reference.is_path and kind.endswith("?")):  # `pager::open()` is of a module.
            owner = kind.partition(OF_FIELD)[0].rstrip(":?")
            ending = kind.removeprefix(owner)
        elif receiver[:1] == "<" and not reference.is_call:  # A type in one that is not known: no name of the code.
            owner, ending = receiver.rstrip(">"), "::"
        elif not (is_type or (reference.is_path and receiver.isidentifier() and receiver.islower())):
            return "", edge
        elif reference.is_path:
            ending = "?::" if reference.is_far and self._inner_modules else "::"
            owner = f"{reference.path.replace('::', '.')}.{owner}" if reference.is_far and ending == "::" else owner
        elif is_name and self._has_capitals:
            owner, ending = ".".join(filter(None, [*reference.path.split("::"), owner])), "::"
        is_here = OF_FIELD in ending and owner in self._names.local
        return (owner + ending, edge) if is_here else self._names.imported(owner, ending, edge)

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
        if (imported := self._names.imports.get(first)) and first not in _MODULES:
            return "/".join(filter(None, (imported.as_module, rest.replace("::", "/"))))
        return module_of_path(self._path, path, modules_around(self._outline.definitions, index))


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


def _owner_of(use: Reference) -> Reference:
    """Return the type before a member as what is used, with the path before it."""
    path, _, receiver = use.path.rpartition("::")
    if not receiver and use.fields[:1].isupper():
        before = use.fields.split(".")[-2]
        return use._replace(name=use.receiver, receiver=before, fields="", is_plain=False)
    return use._replace(name=use.receiver, receiver=receiver, path=path, is_path=bool(receiver), is_plain=False)


def _are_tests(definitions: Sequence[Definition]) -> dict[int, bool]:
    """Return for each definition whether it is in a block of tests within the code, as in Rust; -1 is none."""
    flags = {-1: False}
    for index, definition in enumerate(definitions):
        is_block = definition.kind is SymbolKind.MODULE and definition.name in ("test", "tests")
        flags[index] = flags[definition.parent] or is_block
    return flags


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
