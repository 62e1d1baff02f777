"""Decides what names mean: names, values, members and calls, from facts alone.

Unknown (None) is contagious: nothing that is made of an unknown value is ever decided. The resolver has no knowledge of
a language beyond its policy. It remembers what it found, so one resolver serves one state of the index.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

from graphrag_mcp.model.expressions import Expression, parse
from graphrag_mcp.model.facts import Bound, Declared, FileFacts, Imported, Mark, Mention, Thing
from graphrag_mcp.model.files import SymbolKind
from graphrag_mcp.resolution.policies import POLICIES, Policy
from graphrag_mcp.resolution.sources import FactSource
from graphrag_mcp.resolution.values import (
    NOTHING,
    OUTSIDE,
    Above,
    Either,
    Found,
    Function,
    Instance,
    Many,
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
    has_variable,
    replaced,
)

MAX_STEPS = 20_000  # Of one question; a site takes a few dozen.
MAX_DEPTH = 150
MAX_LEVELS = 12  # Of base types.

T = TypeVar("T")
_CALLABLE = (SymbolKind.FUNCTION, SymbolKind.METHOD)
_ABSENT = Found((), None)  # It is known that there is no such member.


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

    def innermost(self, name: str, at: int) -> list[Bound]:
        """Return the bindings of a name in the smallest range around an offset."""
        around = [one for one in self.bound.get(name, ()) if one.start <= at < one.stop]
        if not around:
            return []
        start, stop = max((one.start, -one.stop) for one in around)
        return [one for one in around if one.start == start and one.stop == -stop]


class Resolver:
    """Answers what names and expressions mean, in one state of the index."""

    def __init__(self, source: FactSource) -> None:
        self._source = source
        self._files: dict[str, _File | None] = {}
        self._known: dict[tuple[Any, ...], object] = {}
        self._steps = 0
        self._depth = 0

    # ------------------------------------------------------------ questions

    def resolve(self, path: str, mention: Mention) -> Found | None:
        """Return what a mention refers to; None if that is not decided."""
        self._steps = 0
        file = self._file(path)
        if file is None:
            return None
        if not mention.receiver:
            return self.name(path, mention.at, mention.name)
        receiver = self.value(path, mention.at, parse(mention.receiver))
        if receiver is None:
            return None
        found = self.member(receiver, mention.name)
        return None if found is _ABSENT else found

    def declared(self, thing: Thing) -> Declared:
        """Return a declaration."""
        return self._open(thing.path).facts.declared[thing.number]

    def bases_of(self, thing: Thing) -> list[Value | None]:
        """Return the types that a type names as its bases."""
        return list(self._bases(Instance((thing,))))

    def methods_of(self, thing: Thing) -> Sequence[Thing]:
        """Return the methods that a type declares itself, in whichever file of its unit."""
        own = [
            Thing(thing.path, number)
            for number, one in enumerate(self._open(thing.path).facts.declared)
            if one.owner == thing.number and one.kind == SymbolKind.METHOD
        ]
        return own or self._source.methods(self._source.unit(thing.path), self.declared(thing).qualified)

    def has_method_sets(self, thing: Thing) -> bool:
        """Return whether types implement an interface by having its methods."""
        return self._open(thing.path).policy.method_sets

    def foreign_methods(self, thing: Thing, base: Value | None) -> Mapping[str, int] | None:
        """Return the methods of a foreign interface with their numbers of parameters, None where they are not known."""
        policy = self._open(thing.path).policy
        return policy.foreign_methods.get(base.name) if isinstance(base, Outside) else None

    def is_constructor(self, thing: Thing, owner: Thing) -> bool:
        """Return whether a member makes the instances of its type."""
        name, policy = self.declared(thing).name, self._open(thing.path).policy
        return (name if name != self.declared(owner).name else "") in policy.constructors

    # ------------------------------------------------------------ names

    def name(self, path: str, at: int, name: str) -> Found | None:
        """Return what a bare name means at an offset of a file."""
        return self._once(("name", path, at, name), lambda: self._name(self._open(path), at, name))

    def _name(self, file: _File, at: int, name: str) -> Found | None:
        if bound := file.innermost(name, at):
            return self._bound(file, bound)
        things = self._top(file, name)
        if things:
            return Found(things, self.meaning(things))
        if (imported := self._imported(file, name)) is not None:
            return imported
        if name in file.policy.builtins:
            return Found((), Outside(name))
        if file.facts.has_errors or any(one.item == "*" for one in file.facts.imports):
            return None
        return Found((), OUTSIDE)

    def _bound(self, file: _File, bound: Sequence[Bound]) -> Found | None:
        first = bound[0]
        if first.kind == "type":
            return Found((), Variable(first.name))
        if first.kind == "declared":
            things = tuple(Thing(file.path, int(one.value[1:])) for one in bound if one.kind == "declared")
            return Found(things, self.meaning(things))
        values = (self.value(file.path, one.at, parse(one.value)) for one in bound)
        return Found((), either(values))

    def _top(self, file: _File, name: str) -> tuple[Thing, ...]:
        """Return the declarations of a name that the whole file sees."""
        if file.policy.whole_unit:
            return tuple(self._source.find(self._source.unit(file.path), name))
        return tuple(Thing(file.path, number) for number in file.members.get((-1, name), ()))

    def _imported(self, file: _File, name: str) -> Found | None:
        for one in file.imports.get(name, ()):
            return Found((), self._module(file, one.module))
        for one in file.imports.get("", ()):
            value = self._module(file, one.module)
            if one.item == "*":
                things = self._source.find(value.unit, name) if isinstance(value, Package) else ()
                if things:
                    return Found(tuple(things), self.meaning(tuple(things)))
            elif name in file.policy.names_of(value, one.module):
                return Found((), value)
        return None

    def _module(self, file: _File, module: str) -> Value:
        return file.policy.module(self._source, file.path, module)

    def meaning(self, things: tuple[Thing, ...]) -> Value | None:
        """Return the value of declarations of one name."""
        return self._once(("meaning", things), lambda: self._meaning(things))

    def _meaning(self, things: tuple[Thing, ...]) -> Value | None:
        kinds = {self.declared(thing).kind for thing in things}
        if kinds == {SymbolKind.TYPE}:
            return self._aliased(things) or Type(things)
        if kinds <= set(_CALLABLE):
            return Function(things)
        return either(self._held(thing) for thing in things)

    def _aliased(self, things: tuple[Thing, ...]) -> Value | None:
        one = self.declared(things[0])
        if Mark.ALIAS not in one.marks or not one.value:
            return None
        value = self.type(things[0].path, one.at, parse(one.value))
        return Type(value.things, value.arguments) if isinstance(value, Instance) else value

    def _held(self, thing: Thing) -> Value | None:
        """Return what a variable or field holds."""
        one = self.declared(thing)
        return self.value(thing.path, one.at, parse(one.value)) if one.value else None

    # ------------------------------------------------------------ types

    def type(self, path: str, at: int, expression: Expression) -> Value | None:
        """Return a value of the type that an expression names."""
        return self._once(("type", path, at, expression), lambda: self._type(path, at, expression))

    def _type(self, path: str, at: int, expression: Expression) -> Value | None:
        def inner(part: Expression) -> Value | None:
            return self.type(path, at, part)

        match expression:
            case ("name", str(name)):
                found = self.name(path, at, name)
                return self._of_type(found.value) if found else None
            case ("member", owner, str(name)):
                value = self.value(path, at, owner)
                found = self.member(value, name) if value else None
                return self._of_type(found.value) if found else None
            case ("apply", kind, arguments):
                value = inner(kind)
                return self._applied(value, tuple(map(inner, arguments)))
            case ("list", element):
                return Many(inner(element))
            case ("map", key, value):
                return Table(inner(key), inner(value))
            case ("tuple", *items):
                return Several(tuple(map(inner, items)))
            case ("function", parameters, result):
                return Signature(tuple(map(inner, parameters)), inner(result))
            case ("either", *values):
                return either(map(inner, values))
            case ("declared", int(number)):
                return Instance((Thing(path, number),))
            case ("typeof", value):
                return self.value(path, at, value)
            case ("literal",):
                return OUTSIDE
            case ("nothing",):
                return NOTHING
        return None

    def _of_type(self, kind: Value | None) -> Value | None:
        """Return a value of what a name stands for, if that is a type."""
        match kind:
            case Type(things, arguments):
                return Instance(things, arguments)
            case Outside() | Variable() | Many() | Table() | Signature() | Instance() | Either() | Several():
                return kind  # The last ones are aliases.
        return None

    def _applied(self, value: Value | None, arguments: tuple[Value | None, ...]) -> Value | None:
        match value:
            case Instance(things):
                return Instance(things, arguments)
            case Outside(name):
                return None if arguments else Outside(name)
        return None

    def underlying(self, value: Value | None) -> Value | None:
        """Return what a named type is made of; a struct, a class or an interface is made of itself."""
        for _ in range(MAX_LEVELS):
            if not isinstance(value, Instance):
                return value
            one = self.declared(value.things[0])
            if one.kind != SymbolKind.TYPE or not one.value:
                return value
            value = replaced(self.type(value.things[0].path, one.at, parse(one.value)), self._arguments(value))
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
            case ("name", str(name)):
                found = self.name(path, at, name)
                return found.value if found else None
            case ("member", owner, str(name)):
                value = inner(owner)
                found = self.member(value, name) if value else None
                return found.value if found else None
            case ("call", function, arguments):
                return self._called(path, at, function, arguments)
            case ("instance", kind):
                return self.type(path, at, kind)
            case ("type", kind):
                value = self.type(path, at, kind)
                return Type(value.things, value.arguments) if isinstance(value, Instance) else value
            case ("apply", function, arguments):
                value = inner(function)
                kinds = tuple(self.type(path, at, argument) for argument in arguments)
                if isinstance(value, Function):
                    return Function(value.things, value.of, kinds)
                return Type(value.things, kinds) if isinstance(value, Type) else value
            case ("literal",):
                return OUTSIDE
            case ("nothing",):
                return NOTHING
            case ("declared", int(number)):
                return self.meaning((Thing(path, number),))
            case ("above", int(number)):
                return Above((Thing(path, number),))
            case ("element", of):
                return self._element(inner(of))
            case ("each", of):
                return self._each(inner(of), 1)
            case ("key", of):
                return self._each(inner(of), 0)
            case ("item", of, int(place)):
                return self._item(inner(of), place)
            case ("list", element):
                return Many(inner(element))
            case ("map", key, value):
                return Table(inner(key), inner(value))
            case ("tuple", *items):
                return Several(tuple(map(inner, items)))
            case ("either", *values):
                return either(map(inner, values))
        return None

    def _element(self, value: Value | None) -> Value | None:
        if isinstance(value, Function | Type):  # An instantiation: f[int]
            return value
        match self.underlying(value):
            case Many(element):
                return element
            case Table(_, held):
                return held
            case Outside():
                return OUTSIDE
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
            case Outside():
                return OUTSIDE
        return None

    def _item(self, value: Value | None, place: int) -> Value | None:
        match value:
            case Several(items):
                return items[place] if place < len(items) else None
            case Many(element):
                return element
            case Outside():
                return OUTSIDE
        return None

    # ------------------------------------------------------------ calls

    def _called(self, path: str, at: int, function: Expression, arguments: tuple[Expression, ...]) -> Value | None:
        called = self.value(path, at, function)
        if isinstance(called, Outside):
            policy = self._open(path).policy
            if how := policy.passes.get(called.name) if arguments else None:
                given = arguments[0][1] if arguments[0][0] == "type" else arguments[0]
                return self.type(path, at, given) if how == "type" else self.value(path, at, given)
            if not policy.is_generic(called.name):
                return OUTSIDE
        return self.call(called, lambda place: self.value(path, at, arguments[place]), len(arguments))

    def call(self, called: Value | None, argument: Callable[[int], Value | None], count: int) -> Value | None:
        """Return what a call gives. argument: returns the value of an argument by its place."""
        match called:
            case Type(things, arguments):
                return Instance(things, arguments)
            case Function():
                return either(self._result(called, thing, argument, count) for thing in called.things)
            case Instance():
                made_of = self.underlying(called)
                return made_of.result if isinstance(made_of, Signature) else None
            case Signature(_, result):
                return result
            case Outside():  # Its module cannot know the project's types, unless it is given some.
                given = (argument(place) for place in range(count))
                return OUTSIDE if all(isinstance(one, Outside | Nothing) for one in given) else None
        return None

    def _result(
        self, called: Function, thing: Thing, argument: Callable[[int], Value | None], count: int
    ) -> Value | None:
        one = self.declared(thing)
        if not one.value:
            return None
        value = self.value(thing.path, one.at, parse(one.value))
        known: dict[str, Value | None] = {}
        if isinstance(called.of, Instance) and called.of.arguments:
            known |= self._arguments(called.of)
            known |= zip(one.type_parameters, called.of.arguments, strict=False)
        if called.arguments:
            known |= zip(one.type_parameters, called.arguments, strict=False)
        if value is not None and has_variable(value):
            for place, parameter in enumerate((one.parameters or ())[:count]):
                self._match(self.value(thing.path, one.at, parse(parameter.value)), argument, place, known)
        value = replaced(value, known)
        return None if has_variable(value) else value

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
            case (Instance(things, a), Instance(others, b)) if things == others:
                for one, other in zip(a, b, strict=False):
                    self._unify(one, other, known)

    # ------------------------------------------------------------ members

    def member(self, value: Value, name: str) -> Found | None:
        """Return a member of a value: _ABSENT if it has none of that name, None if that is not known."""
        return self._once(("member", value, name), lambda: self._member(value, name))

    def _member(self, value: Value, name: str) -> Found | None:
        match value:
            case Outside(of):
                return Found((), Outside(f"{of}.{name}" if of else ""))
            case Package(unit):
                things = tuple(self._source.find(unit, name))
                return Found(things, self.meaning(things)) if things else None
            case Either(values):
                return self._common([self.member(one, name) for one in values])
            case Instance() | Type():
                return self._inherited([value], name)
            case Above(things):
                return self._inherited(list(self._bases(Instance(things))), name)
            case Many() | Table() | Several() | Signature():
                return Found((), OUTSIDE)
        return None

    def _common(self, members: Sequence[Found | None]) -> Found | None:
        if any(one is None or one is _ABSENT for one in members):
            return None
        things = dict.fromkeys(thing for one in members if one for thing in one.things)
        return Found(tuple(things), either(one.value for one in members if one))

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
                elif isinstance(one, Outside):
                    is_foreign = True
                elif isinstance(one, Instance | Type) and one not in seen:
                    seen.add(one)
                    own = self._own(one, name)
                    if own:
                        hits.append(own)
                    else:
                        bases = [base for base in self._bases(one) if self._may_have(one, base, name)]
                        named = [base for base in bases if self._is_called(one, base, name)]
                        if named:
                            hits.append(Found((), named[0]))
                        following += bases
            if hits:
                same = all(hit == hits[0] for hit in hits)
                return hits[0] if same and not is_unknown and not is_foreign else None
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

    def _own(self, value: Instance | Type, name: str) -> Found | None:
        """Return what a type declares itself, or what the type that it is made of has."""
        things = tuple(thing for one in value.things for thing in self._declared_in(one, name))
        if things:
            kinds = {self.declared(thing).kind for thing in things}
            if kinds <= set(_CALLABLE):
                of = Instance(value.things, value.arguments)
                return Found(things, Function(things, of))
            return Found(things, replaced(self.meaning(things), self._arguments(value)))
        made_of = self.underlying(Instance(value.things, value.arguments))
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

    def _declared_in(self, owner: Thing, name: str) -> Iterator[Thing]:
        file = self._open(owner.path)
        for number in file.members.get((owner.number, name), ()):
            yield Thing(owner.path, number)
        one = self.declared(owner)
        if file.policy.whole_unit and one.name:
            for thing in self._source.find(self._source.unit(owner.path), f"{one.qualified}.{name}"):
                if self.declared(thing).owner != owner.number or thing.path != owner.path:
                    yield thing

    def _bases(self, value: Instance | Type) -> Iterator[Value | None]:
        for thing in value.things:
            one = self.declared(thing)
            for base in one.bases:
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
            facts = self._source.facts(path)
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
