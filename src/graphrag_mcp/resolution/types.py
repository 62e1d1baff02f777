"""What the types mean that code names, and what is above them in which order."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from graphrag_mcp.model.expressions import (
    AllOf,
    AnyOf,
    Application,
    Expression,
    FunctionOf,
    ListOf,
    Literal,
    MapOf,
    Member,
    Name,
    NoValue,
    Numbered,
    TupleOf,
    TypeOf,
    parse,
)
from graphrag_mcp.model.facts import Mark, SymbolId, Use
from graphrag_mcp.model.files import SymbolKind
from graphrag_mcp.model.values import (
    NOTHING,
    OUTSIDE,
    Above,
    All,
    Either,
    Folder,
    Foreign,
    Function,
    Instance,
    Many,
    Module,
    Outside,
    Package,
    Referent,
    Several,
    Signature,
    Table,
    Type,
    Value,
    Variable,
    alternatives,
    at_least,
    either,
    foreign_instance,
    of_kind,
    replaced,
    value_of,
)
from graphrag_mcp.resolution.state import MAX_LEVELS, ResolverPart
from graphrag_mcp.resolution.symbols import Symbols

MAX_ABOVE = 100  # Types above each other; what is above them is unknown. Libraries have 10.


@dataclass(eq=False)
class Types(ResolverPart):
    """Decides what values of a type are."""

    symbols: Symbols

    def named(self, path: str, at: int, expression: Expression) -> Value | None:
        """Return a value of the type that an expression names."""
        at = self.state.open(path).scope_at(at)
        return self.state.once(("type", path, at, expression), lambda: self._named(path, at, expression))

    def _named(self, path: str, at: int, expression: Expression) -> Value | None:  # noqa: C901 - a case for each kind
        def inner(part: Expression) -> Value | None:
            return self.named(path, at, part)

        match expression:
            case Name(name) | Member(_, name):
                referent = self._type_referent(path, at, expression)
                if referent and self.state.open(path).policy.foreign.is_open:
                    return self._open_type(path, at, referent, name)
                kind = self._of_type(value_of(referent))
                aliases = self.state.open(path).policy.foreign.aliases
                return Outside(aliases.get(kind.name, kind.name)) if isinstance(kind, Outside) else kind
            case Application(kind, arguments):
                types = tuple(map(inner, arguments))
                referent = self._type_referent(path, at, kind)
                value = value_of(referent)
                foreign = alternatives(value)[0]
                if isinstance(foreign, Outside) and self.state.open(path).policy.foreign.is_open:
                    make = self.state.open(path).policy.foreign.containers.get(foreign.name.rpartition(".")[2])
                    return make(types) if make else foreign_instance(foreign.name)
                if referent and referent.symbols and Mark.ALIAS in (alias := self.declared(referent.symbols[0])).marks:
                    return replaced(inner(kind), dict(zip(alias.type_parameters, types, strict=False)))
                return self._applied(path, inner(kind), types)
            case AllOf(values):
                return All(tuple(map(inner, values)))
            case ListOf(element):
                return self.ask.list_of(path, inner(element))
            case MapOf(key, value):
                return Table(inner(key), inner(value))
            case TupleOf(items):
                return Several(tuple(map(inner, items)))
            case FunctionOf(parameters, result):
                return Signature(tuple(map(inner, parameters)), inner(result))
            case AnyOf(values):
                return either(map(inner, values))
            case Numbered(number):
                symbol = SymbolId(path, number)
                return self._signature(symbol) if self.symbols.is_callable(symbol) else Instance((symbol,))
            case TypeOf(value):
                return self.ask.value(path, at, value)
            case Literal(foreign):
                return Outside(foreign)
            case NoValue():
                return NOTHING
        return None

    def _open_type(self, path: str, at: int, referent: Referent, name: str) -> Value | None:
        """Return a value of a type, where a foreign one may say nothing or hold anything."""
        value, policy = referent.value, self.state.open(path).policy
        if len(referent.symbols) == 1 and (alias := self._aliased_type(referent.symbols[0])):
            return alias
        if isinstance(value, Either):
            return either(self._open_type(path, at, Referent((), other), name) for other in value.values)
        if not isinstance(value, Outside):
            return self._of_type(value)
        if value.name in policy.members.own_types:
            around = self.state.open(path).types_around(at)
            return Instance((SymbolId(path, around[-1]),)) if around else None
        if value.name in policy.members.type_variables:
            return Variable(name)
        if value.name in policy.foreign.plain:
            return OUTSIDE
        return None if value.name in policy.foreign.anything else foreign_instance(value.name)

    def _aliased_type(self, symbol: SymbolId) -> Value | None:
        """Return the type that a constant is another name for."""
        declaration = self.declared(symbol)
        texts = [base.type for base in declaration.bases if base.how == "aliased"]
        return self.named(symbol.path, declaration.at, parse(texts[0])) if texts else None

    def _type_referent(self, path: str, at: int, expression: Expression) -> Referent | None:
        """Return what the name of a type means, without values of the same name."""
        referent = self.ask.referent(path, at, expression, Use.TYPE)
        types = tuple(filter(self.symbols.is_type, referent.symbols)) if referent else ()
        return Referent(types, self.ask.meaning(types)) if types else referent

    def _signature(self, symbol: SymbolId) -> Value | None:
        """Return a function type that is written with parameters of its own."""
        declaration = self.declared(symbol)
        parameters = tuple(self.ask.written(symbol, parameter.value) for parameter in declaration.inputs)
        return Signature(parameters, self.ask.written(symbol, declaration.value))

    def _of_type(self, kind: Value | None) -> Value | None:
        """Return a value of what a name stands for, if that is a type."""
        match kind:
            case Type(symbols, arguments):
                return Instance(symbols, arguments)
            case Package(unit, True):
                return Outside(unit)
            case Function(symbols):
                return Instance(symbols)
            case Foreign() | Package() | Module() | Folder() | Above():
                return None
        return kind  # Anything but a type is an alias of one.

    def _applied(self, path: str, value: Value | None, arguments: tuple[Value | None, ...]) -> Value | None:
        match value:
            case Instance(symbols) | Type(symbols):
                return Instance(symbols, arguments)
            case Outside(name):
                return None if self.state.open(path).policy.names.is_dynamic else Foreign(name, arguments)
        return None

    def underlying(self, value: Value | None) -> Value | None:
        """Return what a named type is made of, of a type parameter what it is at least; a class is made of itself."""
        for _ in range(MAX_LEVELS):
            value = at_least(value)
            if not isinstance(value, Instance):
                return value
            declaration = self.declared(value.symbols[0])
            if declaration.kind != SymbolKind.TYPE or not declaration.value:
                return value
            inner = replaced(
                self.named(value.symbols[0].path, declaration.at, parse(declaration.value)), self.arguments(value)
            )
            if isinstance(inner, Instance) and inner.symbols == value.symbols:  # The library's own type of lists.
                return Many(inner.arguments[0]) if inner.arguments else None
            value = inner
        return None

    def arguments(self, value: Instance | Type) -> Mapping[str, Value | None]:
        """Return the type arguments of a value by the names of the parameters."""
        names = self.declared(value.symbols[0]).type_parameters
        return dict(zip(names, value.arguments, strict=False))


@dataclass(eq=False)
class Lineage(ResolverPart):
    """Follows types to their bases."""

    types: Types

    def bases_of(self, symbol: SymbolId) -> list[Value | None]:
        """Return the types that a type names as its bases, also those from which it inherits nothing."""
        declaration = self.declared(symbol)
        if self.is_no_type(symbol):
            return [None] * len(declaration.bases)
        return [self.types.named(symbol.path, declaration.at, parse(base.type)) for base in declaration.bases]

    def is_no_type(self, symbol: SymbolId) -> bool:
        """Return whether what looks like the making of a type calls something else by the name of what makes types."""
        declaration = self.declared(symbol)
        if declaration.name or declaration.kind != SymbolKind.TYPE or not self.state.policy(symbol).names.rebinds:
            return False
        maker = self.ask.referent(symbol.path, declaration.start, Name("type"))
        return maker is not None and not isinstance(maker.value, Outside)

    def seen_as(self, value: Instance, kind: Instance | Foreign) -> Value | None:
        """Return a value as one of a type above its own."""
        for inner in self.above((value,))[1:]:
            match inner, kind:
                case (Instance(own), Instance(other)) | (Foreign(own), Foreign(other)) if own == other:
                    return inner
        return None

    def above(self, values: tuple[Value | None, ...]) -> list[Value | None]:
        """Return values and all that is above them: a type before its bases, the first base before the others."""
        return self.state.once(("lineage", values), lambda: self._ordered(values)) or [None]

    def _ordered(self, values: tuple[Value | None, ...]) -> list[Value | None]:
        order: dict[Value | None, None] = {}
        entered: set[Value | None] = set()

        def enter(value: Value | None, depth: int) -> None:
            if value not in entered:
                entered.add(value)
                for base in reversed(list(self.bases(value)) if isinstance(value, Instance | Type) else []):
                    enter(base if depth < MAX_ABOVE else None, depth + 1)
                order[value] = None

        for value in reversed(values):
            enter(value, 0)
        return list(reversed(order))

    def order(self, value: Instance | Type) -> list[Value | None]:
        """Return a type and all above it, as members are looked for; None stands for what is not known."""
        return self.state.once(("order", value), lambda: self._merged(value)) or [None]

    def _merged(self, value: Instance | Type) -> list[Value | None]:
        """Merge the orders of the bases so that each type stands before its own bases (C3)."""
        bases = [of_kind(type(value), other) for other in self.bases(value)]
        rows = [list(self.order(value)) if isinstance(value, Instance | Type) else [value] for value in bases]
        rows.append(bases)
        merged: list[Value | None] = [value]
        later = Counter(value for row in rows for value in row[1:])
        while rows := [row for row in rows if row]:
            is_short = len(merged) < MAX_ABOVE
            following = next((row[0] for row in rows if not later[row[0]]), None) if is_short else None
            merged.append(following)
            if following is None:  # It is unknown, or the types have no such order.
                break
            later.subtract(row[1] for row in rows if row[0] == following and len(row) > 1)
            rows = [row[1:] if row[0] == following else row for row in rows]
        return merged

    def bases(self, value: Instance | Type) -> Iterator[Value | None]:
        """Yield the types from which a type inherits, with its type arguments."""
        for symbol in value.symbols:
            declaration = self.declared(symbol)
            for base in declaration.bases:
                if base.how in self.state.policy(symbol).members.not_inherited:
                    continue
                above = self.types.named(symbol.path, declaration.at, parse(base.type))
                yield replaced(above, self.types.arguments(value))
