"""Decides what names mean: names, values, members and calls, from facts alone.

Unknown (None) is contagious: nothing that is made of an unknown value is ever decided. The resolver has no knowledge of
a language beyond its policy. It remembers what it found, so one resolver serves one state of the index.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from enum import Enum
from functools import cached_property, partial
from posixpath import commonpath, dirname, join
from typing import Any, NamedTuple, TypeGuard, TypeVar

from graphrag_mcp.model.expressions import Expression, parse
from graphrag_mcp.model.facts import (
    GIVEN,
    NO_OWNER,
    USES_OF_FUNCTIONS,
    Bound,
    Declared,
    Exported,
    FileFacts,
    Flow,
    Imported,
    Mark,
    Mention,
    Thing,
    Use,
)
from graphrag_mcp.model.files import SymbolKind
from graphrag_mcp.resolution.policies import LIBRARIES, POLICIES, Policy, find_declared
from graphrag_mcp.resolution.sources import FactSource
from graphrag_mcp.resolution.values import (
    NOTHING,
    OUTSIDE,
    Above,
    All,
    Either,
    Folder,
    Foreign,
    Found,
    Function,
    Instance,
    Later,
    Many,
    Module,
    Nothing,
    Outside,
    Package,
    Several,
    Signature,
    Table,
    Type,
    Value,
    Variable,
    either,
    foreign_instance,
    has_variable,
    held_by,
    replaced,
    without_variables,
)

MAX_STEPS = 20_000  # Of one question; a site takes a few dozen.
MAX_KNOWN = 300_000
MAX_FILES = 1_000  # Whose facts are kept from earlier questions.
MAX_DEPTH = 150
MAX_LEVELS = 12  # Of base types.

T = TypeVar("T")
_CALLABLE = (SymbolKind.FUNCTION, SymbolKind.METHOD)
_ABSENT = Found((), None)  # It is known that there is no such member.
_INHERITED = Found((), OUTSIDE)  # A foreign type above may have it.


def _method_of(value: Value, name: str) -> Value | None:
    """Return a method of a list or map, as far as it gives what is in it."""
    match value, name:
        case Table(key, held), "items":
            return Signature((), Many(Several((key, held))))
        case Table(key, _), "keys":
            return Signature((), Many(key))
        case Table(_, held), "values":
            return Signature((), Many(held))
        case (Table(_, held), "get" | "pop" | "setdefault") | (Many(held), "pop" | "popleft"):
            return Signature((), held)
        case ((Table() | Many()), "copy"):
            return Signature((), value)
    return None


class _Fit(Enum):
    """How well a value is what a parameter expects."""

    EXACT, MAYBE, NEVER = range(3)


class Sought(NamedTuple):
    """As what a name is looked up. given: the number of arguments of a call, -1 where it does not matter."""

    use: str = ""
    given: int = -1


ANYTHING = Sought()


_BOUND_KINDS = {"type": SymbolKind.TYPE}


class _File:
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
        return any(one.kind in _CALLABLE and start < one.at < at < one.stop for one in self.facts.declared)

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


def _is_same(one: Value | None, other: Value) -> bool:
    """Return whether values are of the same declarations, whatever their type arguments are."""
    if isinstance(one, Instance | Type | Function) and type(one) is type(other):
        return one.things == other.things
    return one == other


def _nothing(_place: int) -> None:
    return None


def _always(value: Value | None) -> Callable[[int], Value | None]:
    return lambda _place: value


class Resolver:
    """Answers what names and expressions mean, in one state of the index."""

    def __init__(self, source: FactSource) -> None:
        self._source = source
        self._files: dict[str, _File | None] = {}
        self._known: dict[tuple[Any, ...], object] = {}
        self._steps = 0
        self._depth = 0

    # ------------------------------------------------------------ questions

    def begin(self) -> None:
        """Begin a question: forget what is known when it is very much."""
        self._steps = 0
        if len(self._known) > MAX_KNOWN:
            self._known.clear()
        if len(self._files) > MAX_FILES:
            self._files.clear()

    def resolve(self, path: str, mention: Mention) -> Found | None:
        """Return what a mention refers to; None if that is not decided."""
        self._steps = 0
        file = self._file(path)
        if file is None:
            return None
        sought = file.sought(mention.use, mention.given)
        if not mention.receiver:
            found = self.name(path, mention.at, mention.name, sought)
        else:
            receiver = parse(mention.receiver)
            named = ("member", receiver, mention.name) if mention.name else receiver
            found = self.found(path, mention.at, named, mention.use, mention.given)
        if found and len(found.things) > 1 and mention.arguments:
            found = self._chosen(path, mention, found)
        if found and mention.use == Use.CREATE and isinstance(found.value, Type) and file.policy.overloads:
            found = Found(found.things + self._constructors(found.value, mention.given), found.value)
        if found is None or found is _ABSENT or (found.is_open and not found.things):
            return None
        return found._replace(things=tuple(thing for thing in found.things if thing.path not in LIBRARIES))

    def _chosen(self, path: str, mention: Mention, found: Found) -> Found:
        """Return those overloads that take the arguments of a call."""
        given = parse(mention.arguments)
        items = given[1:] if mention.given > 1 else (given,)
        values = found.value.values if isinstance(found.value, Either) else (found.value,)
        called = [one for value in values if isinstance(value, Function) for one in _apart(value)]
        if {thing for one in called for thing in one.things} != set(found.things):
            return found
        fit = self._applicable(called, lambda place: self.value(path, mention.at, items[place]), mention.given)
        return Found(tuple(one.things[0] for one in fit), either(fit)) if fit else found

    def fits(self, path: str, mention: Mention, thing: Thing) -> bool:
        """Return whether a declaration is of a kind that a mention can mean, and takes its number of arguments."""
        return bool(self._fitting((thing,), self._open(path).sought(mention.use, mention.given)))

    def declared(self, thing: Thing) -> Declared:
        """Return a declaration."""
        return self._open(thing.path).facts.declared[thing.number]

    def bases_of(self, thing: Thing) -> list[Value | None]:
        """Return the types that a type names as its bases, also those from which it inherits nothing."""
        one = self.declared(thing)
        return [self.type(thing.path, one.at, parse(base.type)) for base in one.bases]

    def taker(self, path: str, flow: Flow) -> Value | None:
        """Return what takes a value that a file hands over: the type of the parameter, variable or result."""
        into = parse(flow.into)
        if flow.argument < 0:
            return self.value(path, flow.at, into)
        return self._parameter(self._callee(path, flow.at, into), flow.argument)

    def may_run(self, path: str, mention: Mention, found: Found, method: Thing) -> bool:
        """Return whether a call of a method of an interface may run one of a type that is not known to implement it.

        The interface is foreign, or one of the project in a language where having its methods is enough.
        """
        one, file = self.declared(method), self._open(path)
        if mention.use != Use.CALL or not mention.receiver or one.kind not in _CALLABLE or Mark.ABSTRACT in one.marks:
            return False
        if found.things:
            interfaces = [Thing(thing.path, self.declared(thing).owner) for thing in found.things]
            return any(self.may_satisfy(Thing(method.path, one.owner), interface) for interface in interfaces)
        receiver = self.value(path, mention.at, parse(mention.receiver))
        above = self._lineage((receiver,)) if isinstance(receiver, Instance) else (receiver,)
        modules = {imported.module for imported in file.facts.imports}
        return any(
            isinstance(base, Outside | Foreign)
            and one.kind == SymbolKind.METHOD
            and base.name not in modules
            and file.policy.may_be_interface(base.name, one.name, len(one.parameters or ()))
            for base in above
        )

    def may_satisfy(self, kind: Thing, interface: Thing) -> bool:
        """Return whether a type has all methods of an interface, by their names, in a language where that may do."""
        if min(kind.number, interface.number) < 0 or not self._open(kind.path).policy.has_spaces:
            return False
        marks = (self.declared(kind).marks, self.declared(interface).marks)
        return [Mark.INTERFACE in one for one in marks] == [False, True] and all(
            self.member(Instance((kind,)), name) is not _ABSENT for name in self.required(interface)
        )

    def required(self, interface: Thing) -> Set[str]:
        """Return the names of the methods that an interface declares itself, without optional ones."""
        methods = map(self.declared, self.methods_of(interface))
        return {one.name for one in methods if Mark.OPTIONAL not in one.marks}

    def operation(self, thing: Thing) -> Thing | None:
        """Return the method that a function is where a type is expected: the only abstract one of an interface."""
        found = self._operation(Instance((thing,))) if self.has_overloads(thing) else None
        return found.things[0] if isinstance(found, Function) else None

    def methods_of(self, thing: Thing) -> Sequence[Thing]:
        """Return the methods that a type declares itself, in whichever file of its unit."""
        own = [
            Thing(thing.path, number)
            for number, one in enumerate(self._open(thing.path).facts.declared)
            if one.owner == thing.number and one.kind == SymbolKind.METHOD
        ]
        return own or self._source.methods(self._open(thing.path).facts.unit, self.declared(thing).qualified)

    def has_method_sets(self, thing: Thing) -> bool:
        """Return whether types implement an interface by having its methods."""
        return self._open(thing.path).policy.method_sets

    def has_overloads(self, thing: Thing) -> bool:
        """Return whether functions of one name are told apart by their arguments."""
        return self._open(thing.path).policy.overloads

    def is_common(self, thing: Thing) -> bool:
        """Return whether a declaration is a member that every type has."""
        return self.declared(thing).name in self._open(thing.path).policy.common

    def can_override(self, one: Thing, other: Thing) -> bool:
        """Return whether a method can be the same operation as one of a type above or below, as far as is known."""
        first, second = self.declared(one), self.declared(other)
        if not self.has_overloads(one) or min(first.owner, second.owner) < 0:
            return True
        if not {Mark.STATIC, Mark.PRIVATE}.isdisjoint((*first.marks, *second.marks)):
            return False
        kinds = [
            Instance((Thing(thing.path, number),)) for thing, number in ((one, first.owner), (other, second.owner))
        ]
        if any(self.is_constructor(thing, kind.things[0]) for thing, kind in zip((one, other), kinds, strict=True)):
            return False
        above, below = self._as(kinds[0], kinds[1]), self._as(kinds[1], kinds[0])
        return self._is_overridden(one, below or kinds[0], other, above or kinds[1])

    def foreign_methods(self, thing: Thing, base: Value | None) -> Mapping[str, int] | None:
        """Return the methods of a foreign interface with their numbers of parameters, None where they are not known."""
        policy = self._open(thing.path).policy
        return policy.foreign_methods.get(base.name) if isinstance(base, Outside | Foreign) else None

    def is_constructor(self, thing: Thing, owner: Thing) -> bool:
        """Return whether a member makes the instances of its type."""
        name, policy = self.declared(thing).name, self._open(thing.path).policy
        return (name if name != self.declared(owner).name else "") in policy.constructors

    def is_run_by_call(self, thing: Thing, owner: Thing) -> bool:
        """Return whether a member runs when its type or an instance is called."""
        return self.is_constructor(thing, owner) or self.declared(thing).name == self._open(thing.path).policy.calling

    def exported(self, path: str, one: Exported) -> Found | None:
        """Return what a file exports."""
        if one.module:
            return self._import(self._open(path), one)
        return self.found(path, one.at, parse(one.value))

    def _constructors(self, kind: Type, count: int) -> tuple[Thing, ...]:
        """Return the constructors of a type that take a number of arguments."""
        own = [
            thing
            for one in kind.things
            for name in self._open(one.path).policy.constructors
            for thing in self._declared_in(one, name or self.declared(one).name)
        ]
        return self._fitting(own, Sought(Use.CALL, count))

    # ------------------------------------------------------------ names

    def name(self, path: str, at: int, name: str, sought: Sought | None = None) -> Found | None:
        """Return what a bare name means at an offset of a file."""
        file = self._open(path)
        wanted = file.sought(Use.VALUE) if sought is None else sought
        return self._once(("name", path, at, name, wanted), lambda: self._name(file, at, name, wanted))

    def _name(self, file: _File, at: int, name: str, sought: Sought) -> Found | None:
        if file.policy.rebinds:
            found = self._in_file(file, at, name)
            return Found((), Outside(name) if name in file.policy.builtins else OUTSIDE) if found is _ABSENT else found
        inside = self._inside(file, at, name, sought)
        if inside is not _ABSENT and inside is not _INHERITED:
            return inside
        found = self._outside(file, name, sought)
        is_imported = bool(name) and name in file.imports  # For nothing, if a foreign type above had it.
        if inside is _INHERITED and not is_imported:
            return None if found is None or found.things else inside
        return found

    def _inside(self, file: _File, at: int, name: str, sought: Sought) -> Found | None:
        """Return what a name means by the blocks and types around an offset, innermost first."""
        bound = file.innermost(name, at, sought)
        may_be_foreign = False
        for one in reversed(file.around("", at)):
            if bound and bound[0].start >= one.start:
                break
            value = self.value(file.path, one.at, parse(one.value))
            found = self.member(value, name, sought) if value else None
            if found is _INHERITED:  # Foreign types rarely have variables and types that others see.
                may_be_foreign = may_be_foreign or sought.use == Use.CALL
            elif found is not _ABSENT:
                return None if may_be_foreign else found
        if bound:
            return self._bound(file, bound)
        return _INHERITED if may_be_foreign else _ABSENT

    def _outside(self, file: _File, name: str, sought: Sought) -> Found | None:
        """Return what a name means by the imports and the package of a file."""
        if imported := self._imported(file, name, sought):
            return self._nearest(file, imported[0]) if all(one == imported[0] for one in imported) else None
        if things := self._fitting(self._top(file, name), sought):
            return self._nearest(file, Found(things, self.meaning(things)))
        is_unknown = file.facts.has_errors or name in file.given
        for one in file.imports.get("", ()):
            value = self._module(file, one.module)
            if one.item == "*":
                found = self.member(value, name, sought) if value else None
                if found and found.things:
                    return self._nearest(file, found)
                is_unknown = is_unknown or found is None
            elif value and name in file.policy.names_of(value, one.module):
                return Found((), value)
        if things := self._library(file, name):
            return Found(things, self.meaning(things))
        if name in file.policy.builtins:
            return Found((), Outside(name))
        if is_unknown:
            return None
        is_package = file.policy.nested and sought.use != Use.CALL
        return Found((), Package(name, is_nested=True) if is_package else OUTSIDE)

    def _in_file(self, file: _File, at: int, name: str) -> Found | None:
        """Return what a file says of a name that may be bound several times, _ABSENT if it knows none."""
        bound = file.innermost(name, at)
        if bound and bound[0].start > 0:
            return self._one_of([self._meant(file, one) for one in bound])
        around = file.types_around(at)
        if around and not file.is_in_function(at, around[-1]) and (numbers := file.members.get((around[-1], name))):
            things = tuple(Thing(file.path, number) for number in numbers)
            return Found(things, self.meaning(things))
        things = self._top(file, name)
        given = [one for one in bound if things and one.kind == "variable"]  # Of the same variable, by functions.
        found = [self._meant(file, one) for one in bound if one not in given]
        if things:
            held = (self.value(file.path, one.at, parse(one.value)) for one in given)
            found.append(Found(things, either([self.meaning(things), *held])))
        if found:
            return self._one_of(found)
        if (imported := self._listed(file, name)) is not _ABSENT:
            return imported
        is_hidden = file.facts.has_errors or any((owner, name) in file.members for owner in around)
        return None if is_hidden else _ABSENT

    def _listed(self, file: _File, name: str) -> Found | None:
        """Return a name that a file imports without saying it."""
        for one in file.imports.get("", ()):
            value, first = self._module(file, one.module), file.policy.first
            if one.item == "*":
                found = self.member(value, name) if value and not isinstance(value, Outside) else None
                if found is not _ABSENT:
                    return found
            elif first and name == one.module.partition(".")[0]:
                return Found((), first(self._source, value, one.module)) if value else None
        return _ABSENT

    def _meant(self, file: _File, one: Bound) -> Found | None:
        return self._bound(file, [one])

    def _one_of(self, found: Sequence[Found | None]) -> Found | None:
        """Return one of several things of a name, None if only some are of the project."""
        if None in found:
            return None
        meant = [one for one in found if one and one.value != NOTHING]
        if len(meant) < 2:
            return meant[0] if meant else found[0]
        things = tuple(dict.fromkeys(thing for one in meant for thing in one.things))
        if things and any(not one.things and isinstance(one.value, Outside) for one in meant):
            return None
        same = self.meaning(things) if all(one.things for one in meant) else either(one.value for one in meant)
        return Found(things, same)

    def _imported(self, file: _File, name: str, sought: Sought) -> list[Found | None]:
        """Return what the imports of a name mean."""
        found: list[Found | None] = []
        for one in file.imports.get(name, ()) if name else ():
            item = self._import(file, one, sought)
            if item is not _ABSENT and item is not _INHERITED:
                found.append(item)
        return found

    def _nearest(self, file: _File, found: Found | None) -> Found | None:
        """Return which of several types of one name a file means: that of the nearest folder, if it is one."""
        if not file.policy.nested or found is None or len(found.things) < 2 or not isinstance(found.value, Type):
            return found
        shared = {thing: len(commonpath((dirname(file.path), thing.path))) for thing in found.things}
        nearest = tuple(thing for thing in shared if shared[thing] == max(shared.values()))
        return Found(nearest, Type(nearest)) if len(nearest) == 1 else None

    def found(self, path: str, at: int, expression: Expression, use: str = Use.VALUE, count: int = -1) -> Found | None:
        """Return what an expression names, as it is used, with what it gives."""
        sought = self._open(path).sought(use, count)
        match expression:
            case ("name", str(name)):
                return self.name(path, at, name, sought)
            case ("member", ("module", module), str(name)) if module == GIVEN:
                return self._given_to(self._open(path), at, name)
            case ("member", ("module", str(module)), str(name)) if self._open(path).policy.inside:
                return self._item_of(self._open(path), module, name)
            case ("member", ("name" | "member", *_) as owner, str(name)) if sought.use == use == Use.TYPE and (
                self._open(path).policy.nested
            ):  # A type is a member of types and packages.
                before = self.found(path, at, owner, use)
                return self.member(before.value, name, sought) if before and before.value else None
            case ("member", owner, str(name)):
                value = self.value(path, at, owner)
                if isinstance(value, Outside) and value.name.endswith("()"):
                    known = self._open(path).policy.foreign_members(value.name)
                    if known is not None and name not in known:  # It is of a type below.
                        return None
                if isinstance(value, Outside) and value.name and (given := self._attached(value, path, name)):
                    return given._replace(is_open=True)  # Another object made of the same may lack it.
                found = self.member(value, name, sought) if value else None
                return Found((), None) if found is _ABSENT and self._is_below_library(value) else found
            case ("module", str(module)):
                return self._whole(self._module(self._open(path), module))
            case ("declared", int(number)):
                return Found((Thing(path, number),), self.meaning((Thing(path, number),)))
        return Found((), self.value(path, at, expression))

    def _item_of(self, file: _File, module: str, name: str) -> Found | None:
        """Return an item of a module; what a package imports from itself is a module in it."""
        value, inside = self._module(file, module), None
        if isinstance(value, Outside):
            inside = self._module(file, f"{module}.{name}")
        elif isinstance(value, Module) and value.path == file.path and file.policy.inside:
            inside = file.policy.inside(self._source, file.path, name)
        if isinstance(inside, Module):
            return Found((), inside)
        found = self.member(value, name) if value else None
        return None if found is _ABSENT else found

    def _given_to(self, file: _File, at: int, name: str) -> Found:
        """Return the function that gives an argument of a name: of the class, the file or the nearest folder."""
        things = [
            Thing(file.path, number)
            for owner in reversed(file.types_around(at))
            for number in file.members.get((owner, name), ())
        ]
        folders = [file.path]
        while folders[-1]:
            folders.append(dirname(folders[-1]))
        for path in (file.path, *(join(folder, file.policy.giving) for folder in folders[1:])):
            near = self._file(path)
            found = self._in_module(near, name) if near else None
            for thing in (*things, *(found.things if found else ())):
                one = self.declared(thing)
                if Mark.FIXTURE in one.marks and not (thing.path == file.path and one.start <= at < one.stop):
                    given = self.call(Function((thing,)), _nothing, 0)
                    if isinstance(given, Many) and Mark.GENERATOR in one.marks:
                        given = given.element
                    return Found((thing,), Signature((), given.value if isinstance(given, Later) else given))
        return Found((), None)

    def _is_below_library(self, value: Value | None) -> bool:
        """Return whether a type above a value is of the language's own library, of which not all is declared."""
        above = self._lineage((value,)) if isinstance(value, Instance | Type) else ()
        return any(isinstance(one, Instance | Type) and one.things[0].path in LIBRARIES for one in above)

    def _bound(self, file: _File, bound: Sequence[Bound]) -> Found | None:
        first = bound[0]
        if first.kind == "type":
            bound_type = self.type(file.path, first.at, parse(first.value)) if first.value else None
            return Found((), Variable(first.name, bound_type))
        if first.kind == "declared":
            things = tuple(Thing(file.path, int(one.value[1:])) for one in bound if one.kind == "declared")
            return Found(things, self.meaning(things))
        if first.kind == "alias" and len(bound) == 1:
            found = self.found(file.path, first.at, parse(first.value))
            return found if found and (found.things or found.value) else None
        values = [self.value(file.path, one.at, parse(one.value)) for one in bound]
        if not any(one.value.endswith("!") for one in bound):
            values += self._assigned(file, first.name, bound)
        return Found((), either(values))

    def _assigned(self, file: _File, name: str, bound: Sequence[Bound]) -> Iterator[Value | None]:
        """Return what a variable is given later."""
        for flow, owner in file.given.get(name, ()):
            if owner is None and file.innermost(name, flow.at) == bound:
                yield self.value(file.path, flow.at, parse(flow.value))

    def _top(self, file: _File, name: str) -> tuple[Thing, ...]:
        """Return the declarations of a name that the whole file sees."""
        if file.policy.whole_unit:
            return tuple(find_declared(self._source, file.facts.unit, name))
        return tuple(Thing(file.path, number) for number in file.members.get((-1, name), ()))

    def _import(self, file: _File, one: Imported | Exported, sought: Sought = ANYTHING) -> Found | None:
        module = self._module(file, one.module)
        if module is None or not one.item:
            return Found((), module) if module else None
        return self.member(module, one.item, sought)

    def _library(self, file: _File, name: str) -> tuple[Thing, ...]:
        """Return what the language's own library declares."""
        if not name:
            return ()
        library = self._file(file.policy.library) if file.policy.library else None
        return self._top(library, name) if library else ()

    # ------------------------------------------------------------ modules

    def _whole(self, module: Value | None) -> Found | None:
        """Return all that a module is: its names, or the one value that it exports."""
        file = self._file(module.path) if isinstance(module, Module) else None
        if file is None or "=" not in file.exports:
            return Found((), module) if module else None
        wholes = {self.found(file.path, one.at, parse(one.value)) for one in file.exports["="]}
        return wholes.pop() if len(wholes) == 1 else None

    def _exported(self, module: Module, name: str) -> Found | None:
        """Return what a module exports under a name."""
        file = self._file(module.path)
        if file is None:
            return None
        if file.policy.rebinds:
            return self._in_module(file, name)
        if one := next(iter(file.exports.get(name, ())), None):
            return self._import(file, one) if one.module else self.found(file.path, one.at, parse(one.value))
        if "=" in file.exports:
            whole = self._whole(module)
            if name == "default" or whole is None or whole.value is None:
                return whole
            return self.member(whole.value, name)
        if given := self._attached(module, module.path, name):
            return given
        return self._passed_on(file, name)

    def _in_module(self, file: _File, name: str) -> Found | None:
        """Return a name of a module, or a module of a package."""
        found = self._in_file(file, 0, name)
        if found is not _ABSENT:
            return found
        inside = file.policy.inside(self._source, file.path, name) if file.policy.inside else None
        if inside:
            return Found((), inside)
        return None if any((-1, hook) in file.members for hook in file.policy.hooks) else _ABSENT

    def _passed_on(self, file: _File, name: str) -> Found | None:
        """Return a name of the modules whose names a file all exports."""
        modules = [self._module(file, one.module) for one in file.exports.get("*", ())]
        found = [self.member(one, name) if one else None for one in modules if not isinstance(one, Outside)]
        if hit := next((one for one in found if one and one is not _ABSENT), None):
            return hit
        if None in found or file.facts.has_errors:
            return None
        return Found((), OUTSIDE) if len(found) < len(modules) else _ABSENT

    def _attached(self, value: Value, path: str, name: str) -> Found | None:
        """Return the member that a value is given outside of its declaration; None if it is given none."""
        file = self._open(path)
        given = [
            (self.found(path, flow.at, parse(flow.value)), owner)
            for flow, owner in file.given.get(name, ())
            if owner is not None and _is_same(self.value(path, flow.at, owner), value)
        ]
        if not given:
            return None
        things = dict.fromkeys(
            thing
            for one, owner in given
            for thing in (one.things if one else ())
            if owner[:1] == ("module",) or self.declared(thing).owner == NO_OWNER
        )
        return Found(tuple(things), either(one.value if one else None for one, _ in given))

    def _module(self, file: _File, module: str) -> Value | None:
        key = ("import", file.path, module)
        return self._once(key, lambda: file.policy.module(self._source, file.path, module))

    def meaning(self, things: tuple[Thing, ...]) -> Value | None:
        """Return the value of declarations of one name."""
        return self._once(("meaning", things), lambda: self._meaning(things))

    def _meaning(self, things: tuple[Thing, ...]) -> Value | None:
        if len(things) > 1:
            values = tuple(one for one in things if not self._is_only_type(one))
            things = things if all(map(self._is_type, values)) else values
        kinds = {self.declared(thing).kind for thing in things}
        if kinds & {SymbolKind.TYPE, SymbolKind.MODULE} and kinds <= {SymbolKind.TYPE, SymbolKind.MODULE}:
            return self._aliased(things[0]) or Type(things)
        if functions := tuple(one for one in things if self.declared(one).kind in _CALLABLE):
            if Mark.PROPERTY in self.declared(functions[0]).marks:
                return self.call(Function(functions[:1]), lambda _place: None, 0)
            others = [self._held(one) for one in things if one not in functions] if self._rebinds(things) else []
            return either([self._function(functions), *others])
        held = [thing for thing in things if self.declared(thing).value.endswith("!")]
        return either(self._held(thing) for thing in held or things)

    def _rebinds(self, things: tuple[Thing, ...]) -> bool:
        return self._open(things[0].path).policy.rebinds

    def _function(self, things: tuple[Thing, ...], of: Value | None = None) -> Value | None:
        """Return functions, as their decorators change them."""
        if not any(self.declared(thing).decorators for thing in things):
            return Function(things, of)
        made = [self._decorated(thing, Function((thing,), of)) for thing in things]
        if all(one == Function((thing,), of) for one, thing in zip(made, things, strict=True)):
            return Function(things, of)
        return either(made)

    def _decorated(self, thing: Thing, value: Value | None) -> Value | None:
        one, policy = self.declared(thing), self._open(thing.path).policy
        for text in reversed(one.decorators):
            decorator, given = self.value(thing.path, one.at, parse(text)), value
            how = policy.passes.get(decorator.name, "") if isinstance(decorator, Outside) else ""
            if how == "later":
                value = Signature((), Later(self._each(self.call(given, _nothing, 0), 1)))
            elif how != "value":
                value = self.call(decorator, _always(given), 1)
        return value

    def _is_only_type(self, thing: Thing) -> bool:
        """Return whether a declaration is no value."""
        return not {Mark.INTERFACE, Mark.ALIAS}.isdisjoint(self.declared(thing).marks) and self._is_type(thing)

    def _is_type(self, thing: Thing) -> bool:
        return self.declared(thing).kind == SymbolKind.TYPE

    def _aliased(self, thing: Thing) -> Value | None:
        one = self.declared(thing)
        if Mark.ALIAS not in one.marks or not one.value:
            return None
        value = self.type(thing.path, one.at, parse(one.value))
        return Type(value.things, value.arguments) if isinstance(value, Instance) else value

    def _held(self, thing: Thing) -> Value | None:
        """Return what a variable or field holds."""
        one = self.declared(thing)
        if not one.value:
            return None
        file = self._open(thing.path)
        values = [self.value(thing.path, one.at, parse(one.value))]
        if one.owner < 0 and not one.value.endswith("!"):
            values += self._assigned(file, one.name, [])
        return either(values)

    # ------------------------------------------------------------ types

    def type(self, path: str, at: int, expression: Expression) -> Value | None:
        """Return a value of the type that an expression names."""
        return self._once(("type", path, at, expression), lambda: self._type(path, at, expression))

    def _type(self, path: str, at: int, expression: Expression) -> Value | None:
        def inner(part: Expression) -> Value | None:
            return self.type(path, at, part)

        match expression:
            case ("name", _) | ("member", _, _):
                found = self._found_type(path, at, expression)
                if found and self._open(path).policy.is_open:
                    return self._open_type(path, at, found, expression[-1])
                return self._of_type(found.value) if found else None
            case ("apply", kind, arguments):
                given = tuple(map(inner, arguments))
                found = self._found_type(path, at, kind)
                foreign = found.value.values[0] if found and isinstance(found.value, Either) else found and found.value
                if isinstance(foreign, Outside) and self._open(path).policy.is_open:
                    make = self._open(path).policy.containers.get(foreign.name.rpartition(".")[2])
                    return make(given) if make else foreign_instance(foreign.name)
                if found and found.things and Mark.ALIAS in self.declared(found.things[0]).marks:
                    return replaced(inner(kind), dict(zip(self._parameters(found.things[0]), given, strict=False)))
                return self._applied(path, inner(kind), given)
            case ("all", *values):
                return All(tuple(map(inner, values)))
            case ("list", element):
                return self._list(path, inner(element))
            case ("map", key, value):
                return Table(inner(key), inner(value))
            case ("tuple", *items):
                return Several(tuple(map(inner, items)))
            case ("function", parameters, result):
                return Signature(tuple(map(inner, parameters)), inner(result))
            case ("either", *values):
                return either(map(inner, values))
            case ("declared", int(number)):
                thing = Thing(path, number)
                return self._signature(thing) if self.declared(thing).kind in _CALLABLE else Instance((thing,))
            case ("typeof", value):
                return self.value(path, at, value)
            case ("literal", *name):
                return Outside(*name)
            case ("nothing",):
                return NOTHING
        return None

    def _open_type(self, path: str, at: int, found: Found, name: str) -> Value | None:
        """Return a value of a type, where a foreign one may say nothing or hold anything."""
        value, policy = found.value, self._open(path).policy
        if len(found.things) == 1 and (alias := self._aliased_type(found.things[0])):
            return alias
        if isinstance(value, Either):
            return either(self._open_type(path, at, Found((), one), name) for one in value.values)
        if not isinstance(value, Outside):
            return self._of_type(value)
        if value.name in policy.own_types:
            around = self._open(path).types_around(at)
            return Instance((Thing(path, around[-1]),)) if around else None
        if value.name in policy.type_variables:
            return Variable(name)
        if value.name in policy.plain:
            return OUTSIDE
        return None if value.name in policy.anything else foreign_instance(value.name)

    def _aliased_type(self, thing: Thing) -> Value | None:
        """Return the type that a constant is another name for."""
        one = self.declared(thing)
        texts = [base.type for base in one.bases if base.how == "aliased"]
        return self.type(thing.path, one.at, parse(texts[0])) if texts else None

    def _found_type(self, path: str, at: int, expression: Expression) -> Found | None:
        """Return what the name of a type means, without values of the same name."""
        found = self.found(path, at, expression, Use.TYPE)
        types = tuple(filter(self._is_type, found.things)) if found else ()
        return Found(types, self.meaning(types)) if types else found

    def _signature(self, thing: Thing) -> Value | None:
        """Return a function type that is written with parameters of its own."""
        one = self.declared(thing)
        given = tuple(self.value(thing.path, one.at, parse(parameter.value)) for parameter in one.parameters or ())
        return Signature(given, self.value(thing.path, one.at, parse(one.value)) if one.value else None)

    def _parameters(self, thing: Thing) -> Sequence[str]:
        return self.declared(thing).type_parameters

    def _of_type(self, kind: Value | None) -> Value | None:
        """Return a value of what a name stands for, if that is a type."""
        match kind:
            case Type(things, arguments):
                return Instance(things, arguments)
            case Package(unit, True):
                return Outside(unit)
            case (
                Outside()
                | Variable()
                | Many()
                | Table()
                | Signature()
                | Instance()
                | Either()
                | Several()
                | All()
                | Later()
                | Nothing()
            ):
                return kind  # The last ones are aliases.
            case Function(things):
                return Instance(things)
        return None

    def _applied(self, path: str, value: Value | None, arguments: tuple[Value | None, ...]) -> Value | None:
        match value:
            case Instance(things) | Type(things):
                return Instance(things, arguments)
            case Outside(name):
                policy = self._open(path).policy
                return None if policy.is_dynamic or policy.is_open else Foreign(name, arguments)
        return None

    def underlying(self, value: Value | None) -> Value | None:
        """Return what a named type is made of; a struct, a class or an interface is made of itself."""
        for _ in range(MAX_LEVELS):
            if not isinstance(value, Instance):
                return value
            one = self.declared(value.things[0])
            if one.kind != SymbolKind.TYPE or not one.value:
                return value
            inner = replaced(self.type(value.things[0].path, one.at, parse(one.value)), self._arguments(value))
            if isinstance(inner, Instance) and inner.things == value.things:  # The library's own type of lists.
                return Many(inner.arguments[0])
            value = inner
        return None

    def _arguments(self, value: Instance | Type) -> Mapping[str, Value | None]:
        """Return the type arguments of a value by the names of the parameters."""
        names = self.declared(value.things[0]).type_parameters
        return dict(zip(names, value.arguments, strict=False))

    # ------------------------------------------------------------ values

    def value(self, path: str, at: int, expression: Expression) -> Value | None:
        """Return what an expression gives at an offset of a file."""
        return self._once(("value", path, at, expression), lambda: self._value(path, at, expression))

    def _value(self, path: str, at: int, expression: Expression) -> Value | None:
        def inner(part: Expression) -> Value | None:
            return self.value(path, at, part)

        match expression:
            case ("name", _) | ("member", _, _) | ("module", _):
                found = self.found(path, at, expression)
                return found.value if found else None
            case ("function member", owner, str(name)):
                found = self.found(path, at, ("member", owner, name), Use.FUNCTION)
                return found.value if found else None
            case ("create", made, arguments):
                return self._created(inner(made), tuple(map(inner, arguments)))
            case ("await", of):
                return self._awaited(inner(of))
            case ("parameter", of, int(place)):
                return without_variables(self._parameter(self._callee(path, at, of), place))
            case ("call", function, arguments):
                return self._called(path, at, function, arguments)
            case ("instance", kind):
                return self.type(path, at, kind)
            case ("type", kind):
                value = self.type(path, at, kind)
                return Type(value.things, value.arguments) if isinstance(value, Instance) else value
            case ("apply", function, arguments):
                return self._instantiated(inner(function), tuple(self.type(path, at, one) for one in arguments))
            case ("literal", *name):
                return Outside(*name)
            case ("nothing",):
                return NOTHING
            case ("declared", int(number)):
                return self.meaning((Thing(path, number),))
            case ("above", int(number)):
                return Above((Thing(path, number),))
            case ("element", of):
                return self._element(inner(of))
            case ("each", of):
                looped = self.underlying(inner(of))
                if isinstance(looped, Several):
                    return either(looped.items)
                by_key = isinstance(looped, Table) and self._open(path).policy.loops_over_keys
                return self._each(looped, 0 if by_key else 1)
            case ("key", of):
                return self._each(inner(of), 0)
            case ("item", of, int(place)):
                return self._item(inner(of), place)
            case ("list", element):
                return self._list(path, self._kept(path, inner(element)))
            case ("map", key, value):
                return Table(inner(key), self._kept(path, inner(value)))
            case ("tuple", *items):
                return Several(tuple(map(inner, items)))
            case ("either", *values):
                return either(map(inner, values))
        return None

    def _kept(self, path: str, value: Value | None) -> Value | None:
        """Return what a list or map holds later: things of the same type, but not the same functions."""
        is_open = self._open(path).policy.is_open
        return None if is_open and isinstance(value, Function | Type | Either) else value

    def _instantiated(self, value: Value | None, kinds: tuple[Value | None, ...]) -> Value | None:
        match value:
            case Function(things, of):
                return Function(things, of, kinds)
            case Type(things):
                return Type(things, kinds)
            case Outside() if not all(isinstance(kind, Outside | Nothing) for kind in kinds):
                return None
        return value

    def _list(self, path: str, element: Value | None) -> Value:
        """Return a list, of the type that the language's library declares for it."""
        file = self._open(path)
        library = self._library(file, file.policy.lists)
        return Instance(library, (element,)) if library else Many(element)

    def _element(self, value: Value | None) -> Value | None:
        if isinstance(value, Function | Type):  # An instantiation: f[int]
            return value
        match self.underlying(value):
            case Many(element):
                return element
            case Table(_, held):
                return held
            case Outside() as foreign:
                return held_by(foreign)
        return None

    def _each(self, value: Value | None, place: int) -> Value | None:
        """Return what a loop gives, second and first."""
        match self.underlying(value):
            case Many(element):
                return element if place else OUTSIDE
            case Table(key, held):
                return held if place else key
            case Signature((Signature(given, _), *_), _):  # A function that calls the body of the loop.
                return given[place] if place < len(given) else None
            case Instance(things) as looped:
                return self._iterated(looped, self._open(things[0].path).policy.iterating)
            case Outside() as foreign:
                return held_by(foreign)
        return None

    def _iterated(self, value: Value | None, names: Sequence[str]) -> Value | None:
        """Return what the members give that a loop over an object calls."""
        for name in names:
            found = self.member(value, name) if value else None
            value = self.call(found.value, _nothing, 0) if found else None
            if not isinstance(value, Instance):
                return self._each(value, 1)
        return value if names else None

    def _item(self, value: Value | None, place: int) -> Value | None:
        match self.underlying(value):
            case Several(items):
                return items[place] if place < len(items) else None
            case Many(element):
                return element
            case Outside() as foreign:
                return held_by(foreign)
        return None

    def _awaited(self, value: Value | None) -> Value | None:
        """Return what awaiting a value gives: what it hands to the function that is to be called then."""
        for _ in range(MAX_LEVELS):
            if isinstance(value, Either):
                return either(map(self._awaited, value.values))
            if isinstance(value, Later):
                return value.value
            if isinstance(value, Instance) and self._open(value.things[0].path).policy.asynchronous:
                return None
            if not isinstance(value, Instance | All):
                return value
            then = self.member(value, "then")
            if then is _ABSENT:
                return value
            value = self._parameter(self._parameter(then.value, 0), 0) if then else None
        return None

    def _parameter(self, value: Value | None, place: int) -> Value | None:
        """Return what a function is given as an argument."""
        match value:
            case Function(things, of):
                return either(
                    self._taken(one, of, place)
                    for one in things
                    if (parameters := self.declared(one).parameters)
                    and (place < len(parameters) or parameters[-1].rest)
                )
            case Type() if own := self._constructors(value, -1):
                return self._parameter(Function(own, Instance(value.things, value.arguments)), place)
            case Signature(parameters, _):
                return parameters[place] if place < len(parameters) else None
            case Instance():
                return self._parameter(self._operation(value), place)
            case Either(values):
                return either(self._parameter(one, place) for one in values)
        return None

    def _taken(self, thing: Thing, of: Value | None, place: int) -> Value | None:
        """Return what a function takes as its argument of a number."""
        one = self.declared(thing)
        parameters = one.parameters or ()
        parameter = parameters[min(place, len(parameters) - 1)]
        value = self.value(thing.path, one.at, parse(parameter.value))
        if parameter.rest and isinstance(value, Many):
            value = value.element
        return replaced(value, self._arguments(of)) if isinstance(of, Instance) else value

    def _operation(self, value: Instance) -> Value | None:
        """Return what is called where a value is: the only abstract method of an interface."""
        made_of = self.underlying(value)
        if made_of != value:
            return made_of
        if not self._open(value.things[0].path).policy.overloads:
            found = self.member(value, "()")
            return found.value if found else None
        abstract: dict[str, Value] = {}
        for one in self._lineage((value,)):
            if not isinstance(one, Instance):
                return None
            for thing in self.methods_of(one.things[0]):
                if Mark.ABSTRACT in self.declared(thing).marks:
                    abstract.setdefault(self.declared(thing).name, Function((thing,), one))
        return next(iter(abstract.values())) if len(abstract) == 1 else None

    # ------------------------------------------------------------ calls

    def _created(self, made: Value | None, arguments: tuple[Value | None, ...]) -> Value | None:
        match made:
            case Type(things, kinds) | Function(things, _, kinds):
                return Instance(things, kinds)
        return self.call(made, arguments.__getitem__, len(arguments)) if isinstance(made, Outside) else None

    def _called(self, path: str, at: int, function: Expression, arguments: tuple[Expression, ...]) -> Value | None:
        called = self._callee(path, at, function, len(arguments))
        if isinstance(called, Outside):
            policy = self._open(path).policy
            how = policy.passes.get(called.name, "") if arguments else ""
            if how == "each" or (how == "element" and len(arguments) == 1):
                held = self.value(path, at, ("each", arguments[0]))
                return Many(held) if how == "each" else held
            if how in ("type", "value"):
                given = arguments[0][1] if arguments[0][0] == "type" else arguments[0]
                return self.type(path, at, given) if how == "type" else self.value(path, at, given)
            if not policy.is_generic(called.name) or called.name in policy.plain:
                return OUTSIDE
            if f"{called.name}()" in policy.passes:
                return Outside(f"{called.name}()")
            if policy.is_open and called.name:
                values = [self.value(path, at, argument) for argument in arguments]
                is_plain = "()" not in called.name and all(isinstance(one, Outside | Nothing) for one in values)
                return foreign_instance(called.name) if is_plain else None
        return self.call(called, lambda place: self.value(path, at, arguments[place]), len(arguments))

    def _callee(self, path: str, at: int, function: Expression, count: int = -1) -> Value | None:
        """Return what is called with a number of arguments."""
        match function:
            case ("name", _) | ("member", _, _):
                found = self.found(path, at, function, Use.CALL, count)
                return found.value if found else None
            case ("apply", generic, arguments):
                kinds = tuple(self.type(path, at, one) for one in arguments)
                return self._instantiated(self._callee(path, at, generic, count), kinds)
        return self.value(path, at, function)

    def call(self, called: Value | None, argument: Callable[[int], Value | None], count: int) -> Value | None:
        """Return what a call gives. argument: returns the value of an argument by its place."""
        match called:
            case Type(things, arguments):
                return Instance(things, arguments)
            case Function():
                if not self._open(called.things[0].path).policy.overloads:
                    things = self._callable(called, argument, count)
                    return either(self._result(called, thing, argument, count) for thing in things)
                overloads = self._applicable(list(_apart(called)), argument, count)
                return either(self._result(one, one.things[0], argument, count) for one in overloads)
            case Either(values) if self._are_overloads(values):
                overloads = self._applicable([one for part in values for one in _apart(part)], argument, count)
                return either(self._result(one, one.things[0], argument, count) for one in overloads)
            case Package(_, True):
                return self.call(OUTSIDE, argument, count)
            case Instance():
                made_of, calling = self.underlying(called), self._open(called.things[0].path).policy.calling
                if calling and (found := self.member(called, calling)):
                    return self.call(found.value, argument, count)
                if isinstance(made_of, Instance) and (found := self.member(made_of, "()")):
                    return self.call(found.value, argument, count)
                return made_of.result if isinstance(made_of, Signature) else None
            case Either(values):
                return either(self.call(one, argument, count) for one in values)
            case Signature(_, result):
                return without_variables(replaced(result, self._given(called, argument, count)))
            case Above():
                return called
            case Outside():  # Its module cannot know the project's types, unless it is given some.
                given = (argument(place) for place in range(count))
                return OUTSIDE if all(one == NOTHING or _is_foreign(one) for one in given) else None
        return None

    def _callable(self, called: Function, argument: Callable[[int], Value | None], count: int) -> tuple[Thing, ...]:
        """Return the functions that can be called: of overloads not the one that implements them."""
        things = tuple(one for one in called.things if Mark.ABSTRACT in self.declared(one).marks) or called.things
        if len(things) < 2 or not self._open(things[0].path).policy.is_open:
            return things
        return tuple(one for one in things if self._takes(one, argument, count)) or things

    def _takes(self, thing: Thing, argument: Callable[[int], Value | None], count: int) -> bool:
        """Return whether an overload can be called with some arguments: with as many, and no text for a function."""
        one = self.declared(thing)
        given = (one.parameters or ())[1 if self._has_self(thing) else 0 :]
        required = sum(not (parameter.optional or parameter.rest) for parameter in given)
        if required > count or (count > len(given) and not any(parameter.rest for parameter in given)):
            return False
        expected = (self.value(thing.path, one.at, parse(parameter.value)) for parameter in given)
        pairs = [{type(one), type(argument(place))} for place, one in zip(range(count), expected, strict=False)]
        return not any(Outside in pair and not pair.isdisjoint((Function, Signature, Type)) for pair in pairs)

    def _has_self(self, thing: Thing) -> bool:
        """Return whether the first parameter of a function is the own instance."""
        one = self.declared(thing)
        is_member = one.kind == SymbolKind.METHOD and Mark.STATIC not in one.marks
        return is_member and bool(one.parameters) and self._open(thing.path).policy.passes_self

    def _are_overloads(self, values: Sequence[Value]) -> TypeGuard[Sequence[Function]]:
        """Return whether values are the functions of one name that several types have, told apart by arguments."""
        return all(isinstance(one, Function) and self.has_overloads(one.things[0]) for one in values)

    def _applicable(
        self, called: Sequence[Function], argument: Callable[[int], Value | None], count: int
    ) -> Sequence[Function]:
        """Return the overloads that take the arguments; only one that takes exactly their types, if there is one."""
        if len(called) == 1:
            return called
        given = [argument(place) for place in range(count)]
        fits = [
            (one, {self._fit(self._parameter(one, place), value) for place, value in enumerate(given)})
            for one in called
        ]
        exact = [one for one, how in fits if how <= {_Fit.EXACT}]
        return exact or [one for one, how in fits if _Fit.NEVER not in how]

    def _fit(self, expected: Value | None, given: Value | None) -> "_Fit":
        """Return how well a value is what a parameter expects."""
        match expected, given:
            case (Instance(things), Instance(others)):
                if things == others:
                    return _Fit.EXACT
                is_library = things[0].path in LIBRARIES
                above = self._lineage((given,))
                is_unknown = any(one is None or (is_library and isinstance(one, Outside | Foreign)) for one in above)
                return _Fit.MAYBE if is_unknown or self._as(given, expected) else _Fit.NEVER
            case (Instance(things), Outside() | Foreign()):
                return _Fit.MAYBE if things[0].path in LIBRARIES else _Fit.NEVER
            case (Instance(), Many()):
                return _Fit.NEVER
            case (Outside(name) | Foreign(name), Outside(other) | Foreign(other)) if name or other:
                is_same = name.rpartition(".")[2] == other.rpartition(".")[2]
                return _Fit.EXACT if is_same else _Fit.MAYBE
            case (Many(element), Many(other)):
                return self._fit(element, other)
        return _Fit.MAYBE

    def _result(
        self, called: Function, thing: Thing, argument: Callable[[int], Value | None], count: int
    ) -> Value | None:
        one = self.declared(thing)
        value = self._declared_result(thing, one, called.receiver or called.of)
        known: dict[str, Value | None] = {}
        if isinstance(called.of, Instance) and called.of.arguments:
            known |= self._arguments(called.of)
            if self._open(thing.path).policy.open_types:  # Its methods name the type parameters anew.
                known |= zip(one.type_parameters, called.of.arguments, strict=False)
        if called.arguments:
            known |= zip(one.type_parameters, called.arguments, strict=False)
        if value is not None and has_variable(value):
            parameters = one.parameters or ()
            if self._has_self(thing):
                self._match(self.value(thing.path, one.at, parse(parameters[0].value)), _always(called.of), 0, known)
                parameters = parameters[1:]
            for place, parameter in enumerate(parameters[:count]):
                expected = self.value(thing.path, one.at, parse(parameter.value))
                if parameter.rest and isinstance(expected, Many) and not isinstance(argument(place), Many):
                    expected = expected.element
                self._match(expected, argument, place, known)
        return without_variables(replaced(value, known))

    def _given(
        self, called: Signature, argument: Callable[[int], Value | None], count: int
    ) -> Mapping[str, Value | None]:
        """Return the type arguments that follow from what a value of a function type is given."""
        known: dict[str, Value | None] = {}
        for place, parameter in enumerate(called.parameters[:count] if has_variable(called.result) else ()):
            self._match(parameter, argument, place, known)
        return known

    def _declared_result(self, thing: Thing, one: Declared, of: Value | None) -> Value | None:
        """Return what a function says that it gives, or what it returns."""
        policy = self._open(thing.path).policy
        is_later = policy.asynchronous and Mark.ASYNC in one.marks and Mark.GENERATOR not in one.marks
        if one.value:
            value = of if of and one.value in policy.own else self.value(thing.path, one.at, parse(one.value))
            return Later(value) if is_later else value
        if Mark.ABSTRACT in one.marks or (Mark.GENERATOR in one.marks and not policy.asynchronous):
            return None
        given = [
            of if of and text in policy.own else self.value(thing.path, at, parse(text)) for at, text in one.returns
        ]
        value = either(given) if given else NOTHING
        if policy.asynchronous and Mark.GENERATOR in one.marks:
            return Many(value)
        if is_later:
            return Later(value)
        if Mark.ASYNC not in one.marks or not policy.promise:
            return value
        return Instance(self._library(self._open(thing.path), policy.promise), (value,))

    def _match(
        self,
        expected: Value | None,
        argument: Callable[[int], Value | None],
        place: int,
        known: dict[str, Value | None],
    ) -> None:
        """Learn type arguments from what a parameter is given."""
        if expected is not None and has_variable(expected):
            self._unify(expected, argument(place), known)

    def _unify(self, expected: Value | None, given: Value | None, known: dict[str, Value | None]) -> None:
        match expected, given:
            case Variable(name), _:
                if name not in known:
                    known[name] = given
            case (Many(a), Many(b)):
                self._unify(a, b, known)
            case (Table(a, c), Table(b, d)):
                self._unify(a, b, known)
                self._unify(c, d, known)
            case (Signature(a, c), Signature(b, d)):
                for one, other in zip(a, b, strict=False):
                    self._unify(one, other, known)
                self._unify(c, d, known)
            case (Signature(handed, c), Function()):
                self._unify(c, self.call(given, lambda place: handed[place], len(handed)), known)
            case (Either(values), _):
                for one in values:
                    self._unify(one, given, known)
            case (Instance(things, a), Instance(others, b)) if things == others:
                for one, other in zip(a, b, strict=False):
                    self._unify(one, other, known)
            case (Foreign(name, a), Foreign(other, b)) if name == other:
                for one, part in zip(a, b, strict=False):
                    self._unify(one, part, known)
            case (Instance(), Function() | Type()) if isinstance(does := self._operation(expected), Function):
                result = self._declared_result(does.things[0], self.declared(does.things[0]), None)
                given = self.call(
                    given, partial(self._parameter, does), len(self.declared(does.things[0]).parameters or ())
                )
                self._unify(
                    replaced(result, self._arguments(does.of) if isinstance(does.of, Instance) else {}), given, known
                )
            case (Instance() | Foreign(), Instance()) if above := self._as(given, expected):
                self._unify(expected, above, known)

    def _as(self, value: Instance, kind: Instance | Foreign) -> Value | None:
        """Return a value as one of a type above its own."""
        for one in self._lineage((value,))[1:]:
            match one, kind:
                case (Instance(things), Instance(others)) if things == others:
                    return one
                case (Foreign(name), Foreign(other)) if name == other:
                    return one
        return None

    # ------------------------------------------------------------ members

    def member(self, value: Value, name: str, sought: Sought = ANYTHING) -> Found | None:
        """Return a member of a value: _ABSENT if it has none of that name, None if that is not known."""
        return self._once(("member", value, name, sought), lambda: self._member(value, name, sought))

    def _member(self, value: Value, name: str, sought: Sought) -> Found | None:
        match value:
            case Outside(of) if of.endswith("()"):
                return Found((), None)
            case Foreign():
                return Found((), OUTSIDE if _is_foreign(value) else None)
            case Outside(of):
                return Found((), Outside(f"{of}.{name}" if of else ""))
            case Module():
                return self._exported(value, name)
            case Folder(path, language) if find := POLICIES[language].inside:
                inside = find(self._source, path, name)
                return Found((), inside) if inside else None
            case Later(held) if name in ("__enter__", "__aenter__"):
                return Found((), Signature((), Later(held) if name == "__aenter__" else held))
            case Instance(things) | Type(things) if self._open(things[0].path).policy.is_linear:
                return self._in_order(self._open(things[0].path).policy, self.order(value), name)
            case Above(things) if self._open(things[0].path).policy.is_linear:
                return self._in_order(self._open(things[0].path).policy, self.order(Instance(things))[1:], name)
            case All(values):
                return self._any([self.member(one, name, sought) if one else None for one in values])
            case Type(things, arguments) if name == self._open(things[0].path).policy.prototype:
                return Found((), Instance(things, arguments))
            case Function(things):
                return self._of_function(value, things[0].path, name)
            case Package(unit, is_nested):
                if things := self._fitting(find_declared(self._source, unit, name), sought):
                    return Found(things, self.meaning(things))
                return Found((), Package(f"{unit}.{name}", is_nested=True)) if is_nested else None
            case Either(values):
                return self._common([self.member(one, name, sought) for one in values])
            case Instance(things) | Type(things):
                if self._open(things[0].path).policy.overloads:
                    return self._along((value,), name, sought)
                found = self._inherited([value], name)
                if found and isinstance(called := found.value, Function) and called.of != value:
                    return Found(found.things, replace(called, receiver=value))
                return found if found and found.things else self._given_member(value, name) or found
            case Above(things):
                bases = tuple(self._bases(Instance(things)))
                is_linear = self._open(things[0].path).policy.overloads
                return self._along(bases, name, sought) if is_linear else self._inherited(list(bases), name)
            case Variable(known, above) if above:
                found = self.member(above, name, sought)
                return found if known or (found and found.things) else None
            case Many() | Table() | Several() | Signature() | Later():
                return Found((), _method_of(value, name))
        return None

    def _fitting(self, things: Sequence[Thing], sought: Sought) -> tuple[Thing, ...]:
        """Return the declarations that a name may mean by its use; of functions those that take the arguments."""
        if not things:
            return ()
        spaces = self._open(things[0].path).policy.spaces.get(sought.use)
        if not spaces:
            return tuple(things)
        for kinds in spaces:
            if found := [one for one in things if self.declared(one).kind in kinds]:
                break
        if sought.use not in USES_OF_FUNCTIONS:
            return tuple(found)
        accessors = [one for one in things if self.declared(one).parameters == ()]
        return tuple(one for one in found or accessors if sought.use != Use.CALL or self._has_room(one, sought.given))

    def _has_room(self, thing: Thing, count: int) -> bool:
        """Return whether a function takes a number of arguments."""
        parameters = self.declared(thing).parameters
        if count < 0 or parameters is None:
            return True
        has_rest = bool(parameters) and parameters[-1].rest
        return count >= len(parameters) - 1 if has_rest else count == len(parameters)

    def _along(self, values: tuple[Value | None, ...], name: str, sought: Sought) -> Found | None:
        """Look in the types one by one: the first variable or type counts, and all functions that none overrides."""
        hits: list[Found] = []
        is_foreign = is_common = False
        owner = None
        for one in self._lineage(values):
            match one:
                case Instance() | Type():
                    owner = one
                    own = self._own(one, name, sought=sought)
                    if own and not isinstance(own.value, Function) and not hits:
                        return own
                    hits += [own] if own else []
                case Outside() | Foreign():
                    known = self.foreign_methods(owner.things[0], one) if owner else None
                    is_foreign, is_common = is_foreign or known is None, is_common or name in (known or ())
                case _ if hits:
                    break
                case _:
                    return None
        if hits:
            return hits[0] if len(hits) == 1 else self._overloads(hits)
        if is_foreign:
            return _INHERITED
        is_common = is_common or (owner is not None and name in self._open(owner.things[0].path).policy.common)
        return Found((), Outside(name)) if is_common else _ABSENT

    def _lineage(self, values: tuple[Value | None, ...]) -> list[Value | None]:
        """Return values and all that is above them: a type before its bases, the first base before the others."""
        return self._once(("lineage", values), lambda: self._ordered(values)) or [None]

    def _ordered(self, values: tuple[Value | None, ...]) -> list[Value | None]:
        order: dict[Value | None, None] = {}
        entered: set[Value | None] = set()

        def enter(one: Value | None) -> None:
            if one not in entered:
                entered.add(one)
                for base in reversed(list(self._bases(one)) if isinstance(one, Instance | Type) else []):
                    enter(base)
                order[one] = None

        for one in reversed(values):
            enter(one)
        return list(reversed(order))

    def _overloads(self, hits: Sequence[Found]) -> Found:
        """Return the functions of several types of one name, without those that one before overrides."""
        kept: dict[Thing, Value] = {}
        for hit in hits:
            of = hit.value.of if isinstance(hit.value, Function) else None
            fresh = [
                one for one in hit.things if not any(self._is_overridden(one, of, *other) for other in kept.items())
            ]
            kept |= dict.fromkeys(fresh, of or OUTSIDE)
        return Found(tuple(kept), either(Function((thing,), of) for thing, of in kept.items()))

    def _is_overridden(self, thing: Thing, of: Value | None, other: Thing, other_of: Value | None) -> bool:
        """Return whether two functions may take the same: one overrides the other."""
        counts = [len(self.declared(one).parameters or ()) for one in (thing, other)]
        return counts[0] == counts[1] and not any(
            _differ(self._taken(thing, of, place), self._taken(other, other_of, place)) for place in range(counts[0])
        )

    def _of_function(self, value: Function, path: str, name: str) -> Found | None:
        file = self._open(path)
        if file.policy.prototype and name == file.policy.prototype:
            return Found((), Instance(value.things))
        if attached := self._attached(value, path, name):
            return attached
        library = self._library(file, file.policy.functions)
        return self.member(Instance(library), name) if library else None

    def order(self, value: Instance | Type) -> list[Value | None]:
        """Return a type and all above it, as members are looked for; None stands for what is not known."""
        return self._once(("order", value), lambda: self._merged(value)) or [None]

    def _merged(self, value: Instance | Type) -> list[Value | None]:
        """Merge the orders of the bases so that each type stands before its own bases (C3)."""
        as_kind = type(value)
        bases = [as_kind(one.things, one.arguments) if isinstance(one, Instance) else one for one in self._bases(value)]
        rows = [list(self.order(one)) if isinstance(one, Instance | Type) else [one] for one in bases]
        rows.append(list(bases))
        merged: list[Value | None] = [value]
        while rows := [row for row in rows if row]:
            later = [one for row in rows for one in row[1:]]
            following = next((row[0] for row in rows if row[0] not in later), None)
            merged.append(following)
            if following is None:  # Unknown, or there is no such order.
                break
            rows = [row[1:] if row[0] == following else row for row in rows]
        return merged

    def _in_order(self, policy: Policy, order: Sequence[Value | None], name: str) -> Found | None:
        is_foreign = is_hooked = False
        for one in order:
            if isinstance(one, Outside):
                known = policy.foreign_members(one.name)
                is_foreign = is_foreign or known is None or name in known
            elif isinstance(one, Many | Table | Several | Signature | Later):
                is_foreign = True
            elif not isinstance(one, Instance | Type):
                return None
            elif own := self._own(one, name, order[0]):
                return None if is_foreign else own
            else:
                is_hooked = is_hooked or any(self._own(one, hook) for hook in policy.hooks)
        return Found((), None) if is_foreign else None if is_hooked else _ABSENT

    def _given_member(self, value: Instance | Type, name: str) -> Found | None:
        """Return a member that a value, or what it inherits from, is given outside of its declaration."""
        for _ in range(MAX_LEVELS):
            if found := self._attached(value, value.things[0].path, name):
                return found
            above = next((base for base in self._bases(value) if isinstance(base, Instance | Type)), None)
            if above is None:
                return None
            value = above
        return None

    def _any(self, members: Sequence[Found | None]) -> Found | None:
        """Return a member of a value that has several types."""
        hits = [one for one in members if one and (one.things or not isinstance(one.value, Outside | None))]
        if hits or None in members:
            return min(hits, key=lambda one: (not one.things, one.is_open)) if hits else None
        return next((one for one in members if one is not _ABSENT), _ABSENT)

    def _common(self, members: Sequence[Found | None]) -> Found | None:
        """Return a member of one of several values; those without it are not meant."""
        if None in members:
            return None
        having = [one for one in members if one is not _ABSENT]
        if not having:
            return _ABSENT
        if len(having) < len(members) and all(
            one and not one.things and isinstance(one.value, Outside) for one in having
        ):
            return None
        members = having
        things = dict.fromkeys(thing for one in members if one for thing in one.things)
        if things and Found((), None) in members:
            return None
        is_open = len(things) > max(len(one.things) for one in members if one) or any(
            one.is_open for one in members if one
        )
        return Found(tuple(things), either(one.value for one in members if one), is_open)

    def _inherited(self, level: list[Value | None], name: str) -> Found | None:
        """Look level by level: in the types themselves, then in what they embed."""
        seen: set[Value] = set()
        for _ in range(MAX_LEVELS):
            hits: list[Found] = []
            following: list[Value | None] = []
            is_unknown = is_foreign = False
            for one in level:
                if one is None or isinstance(one, Variable):
                    is_unknown = True
                elif isinstance(one, Outside | Foreign):
                    is_foreign = True
                elif isinstance(one, Instance | Type) and one not in seen:
                    seen.add(one)
                    own = self._own(one, name)
                    if own and not own.things and own.value is None:
                        is_unknown = True
                    elif own:
                        hits.append(own)
                    else:
                        bases = [base for base in self._bases(one) if self._may_have(one, base, name)]
                        named = [base for base in bases if self._is_called(one, base, name)]
                        if named:
                            hits.append(Found((), named[0]))
                        following += bases
            if hits:
                if is_unknown or any(hit != hits[0] for hit in hits):
                    return None
                if not is_foreign:
                    return hits[0]
                is_likely = bool(hits[0].things) and not self.has_method_sets(hits[0].things[0])
                return Found(hits[0].things, None, is_open=True) if is_likely else None
            if is_unknown:
                return None
            if is_foreign:
                return Found((), OUTSIDE)
            if not following:
                return _ABSENT
            level = following
        return None

    def _may_have(self, owner: Instance | Type, base: Value | None, name: str) -> bool:
        known = self.foreign_methods(owner.things[0], base)
        return known is None or name in known

    def _own(
        self, value: Instance | Type, name: str, of: Value | None = None, sought: Sought = ANYTHING
    ) -> Found | None:
        """Return what a type declares itself, or what the type that it is made of has. of: whose member it is."""
        things = self._fitting([thing for one in value.things for thing in self._declared_in(one, name)], sought)
        if len(things) == 1 and Mark.ALIAS in (one := self.declared(things[0])).marks and not self._is_type(things[0]):
            return self.found(things[0].path, one.at, parse(one.value))
        if things:
            kinds = {self.declared(thing).kind for thing in things}
            is_function = kinds <= set(_CALLABLE) or sought.use in USES_OF_FUNCTIONS
            if is_function and Mark.PROPERTY not in self.declared(things[0]).marks:
                whose = of if isinstance(of, Instance | Type) else value
                return Found(things, self._function(things, Instance(whose.things, whose.arguments)))
            if kinds <= set(_CALLABLE) and self._rebinds(things):  # A property, and what sets it.
                is_read = isinstance(value, Instance)
                return Found(things, self.call(Function(things[:1], of or value), _nothing, 0) if is_read else None)
            return Found(things, self._read(value, replaced(self.meaning(things), self._arguments(value))))
        made_of = self.underlying(Instance(value.things, value.arguments))
        if self._open(value.things[0].path).policy.has_spaces:
            return self._of_mapped(made_of, name) if made_of != value else None
        if isinstance(made_of, Instance) and made_of.things != value.things:
            fields = tuple(
                thing
                for one in made_of.things
                for thing in self._declared_in(one, name)
                if self.declared(thing).kind == SymbolKind.FIELD or Mark.INTERFACE in self.declared(one).marks
            )
            if fields:
                return Found(fields, self.meaning(fields))
        return None

    def _of_mapped(self, made_of: Value | None, name: str) -> Found | None:
        """Return a member of a type that is made of another: with an index, or with the members of that one."""
        match made_of:
            case Table(key, held) if key is not None and key != OUTSIDE:
                found = self.member(key, name)
                things = found.things if found else ()
                return None if found is _ABSENT else Found(things, held, is_open=not things)
            case Table(key, held):
                return Found((), held, is_open=key is None)
            case Instance() | All() | Either():
                found = self.member(made_of, name)
                return None if found is _ABSENT else found or Found((), None)
        return None

    def _read(self, owner: Instance | Type, held: Value | None) -> Value | None:
        """Return what reading a field gives: of an enumeration an instance; a field may decide it itself."""
        policy = self._open(owner.things[0].path).policy
        if policy.enumerations and any(
            isinstance(one, Outside) and one.name.removesuffix("()") in policy.enumerations for one in self.order(owner)
        ):
            return Instance(owner.things)
        is_own = isinstance(held, Instance) and policy.reading and self.member(held, policy.reading) is not _ABSENT
        return None if is_own else held

    def _declared_in(self, owner: Thing, name: str) -> Iterator[Thing]:
        file = self._open(owner.path)
        if self.declared(owner).kind in _CALLABLE:
            return
        for number in file.members.get((owner.number, name), ()):
            yield Thing(owner.path, number)
        one = self.declared(owner)
        if file.policy.open_types and one.name:
            for thing in self._source.find(self._source.unit(owner.path), f"{one.qualified}.{name}"):
                if self.declared(thing).owner != owner.number or thing.path != owner.path:
                    yield thing

    def _bases(self, value: Instance | Type) -> Iterator[Value | None]:
        for thing in value.things:
            one = self.declared(thing)
            for base in one.bases:
                if base.how in self._open(thing.path).policy.not_inherited:
                    continue
                found = self.type(thing.path, one.at, parse(base.type))
                yield replaced(found, self._arguments(value))

    def _is_called(self, owner: Instance | Type, base: Value | None, name: str) -> bool:
        """Return whether an embedded type has a name: in a struct it is the name of the field."""
        if Mark.INTERFACE in self.declared(owner.things[0]).marks:
            return False
        if isinstance(base, Instance):
            return self.declared(base.things[0]).name == name
        return isinstance(base, Outside) and base.name.rpartition(".")[2] == name

    # ------------------------------------------------------------ bookkeeping

    def _file(self, path: str) -> _File | None:
        if path not in self._files:
            facts = LIBRARIES[path]() if path in LIBRARIES else self._source.facts(path)
            self._files[path] = _File(path, facts) if facts else None
        return self._files[path]

    def _open(self, path: str) -> _File:
        if (file := self._file(path)) is None:
            raise LookupError(path)
        return file

    def _once(self, key: tuple[Any, ...], find: Callable[[], T]) -> T | None:
        """Return what is known, or find it; what depends on itself, or takes too long, is unknown."""
        if key in self._known:
            return self._known[key]  # type: ignore[return-value]
        self._steps += 1
        if self._steps > MAX_STEPS or self._depth > MAX_DEPTH:
            return None
        self._known[key] = None
        self._depth += 1
        try:
            found = find()
        finally:
            self._depth -= 1
        self._known[key] = found
        return found


def _apart(function: Function) -> Iterator[Function]:
    """Yield the overloads of a function one by one."""
    yield from (replace(function, things=(thing,)) for thing in function.things)


def _is_foreign(value: Value | None) -> bool:
    """Return whether a value holds nothing that the project defines."""
    match value:
        case Outside():
            return True
        case Foreign(_, arguments):
            return all(map(_is_foreign, arguments))
        case Instance(things, arguments):
            return things[0].path in LIBRARIES and all(map(_is_foreign, arguments))
    return False


def _differ(one: Value | None, other: Value | None) -> bool:
    """Return whether two types are known to be different; a type parameter may be any."""
    match one, other:
        case (None, _) | (_, None) | (Variable(), _) | (_, Variable()):
            return False
        case (Instance(things), Instance(others)):
            return things != others
        case (Many(element), Many(another)):
            return _differ(element, another)
        case (Outside(name) | Foreign(name), Outside(another) | Foreign(another)):
            return name.rpartition(".")[2] != another.rpartition(".")[2]
    return True
