"""What the types mean that code names."""

from collections.abc import Mapping
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
)
from graphrag_mcp.model.facts import Mark, SymbolId, Use
from graphrag_mcp.model.files import CALLABLE, SymbolKind
from graphrag_mcp.model.notation import parse
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
    at_least,
    either,
    foreign_instance,
    replaced,
)
from graphrag_mcp.resolution.state import MAX_LEVELS, ResolverPart
from graphrag_mcp.resolution.symbols import Symbols


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
                kind = self._of_type(referent.value) if referent else None
                aliases = self.state.open(path).policy.foreign.aliases
                return Outside(aliases.get(kind.name, kind.name)) if isinstance(kind, Outside) else kind
            case Application(kind, arguments):
                types = tuple(map(inner, arguments))
                referent = self._type_referent(path, at, kind)
                value = referent and referent.value
                foreign = value.values[0] if isinstance(value, Either) else value
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
                return self._signature(symbol) if self.declared(symbol).kind in CALLABLE else Instance((symbol,))
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
        parameters = tuple(self.ask.written(symbol, parameter.value) for parameter in declaration.parameters or ())
        return Signature(parameters, self.ask.written(symbol, declaration.value) if declaration.value else None)

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
                policy = self.state.open(path).policy
                return None if policy.names.is_dynamic or policy.foreign.is_open else Foreign(name, arguments)
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
