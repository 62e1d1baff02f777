"""What calls give, and what functions take."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from graphrag_mcp.languages.policy import Policy
from graphrag_mcp.model.expressions import (
    Application,
    Each,
    Expression,
    Known,
    Member,
    ModuleName,
    Name,
    TypeItself,
    names_in,
    parse,
    replaced_name,
)
from graphrag_mcp.model.facts import METACLASS, Mark, SymbolId, Use
from graphrag_mcp.model.values import (
    NOTHING,
    OUTSIDE,
    Above,
    All,
    Arguments,
    Either,
    Foreign,
    Function,
    Instance,
    Later,
    Many,
    Nothing,
    Outside,
    Package,
    Signature,
    Table,
    Type,
    Value,
    Variable,
    alternatives,
    always,
    at_least,
    either,
    foreign_instance,
    has_variable,
    nothing,
    of_kind,
    part_at,
    replaced,
    symbols_of,
    value_of,
    without_variables,
)
from graphrag_mcp.resolution.members import Members
from graphrag_mcp.resolution.overloads import Overloads
from graphrag_mcp.resolution.state import ResolverPart, is_foreign
from graphrag_mcp.resolution.symbols import Symbols
from graphrag_mcp.resolution.types import Lineage, Types


@dataclass(eq=False)
class Calls(ResolverPart):
    """Decides the results and the parameters of calls, with the type arguments that follow from what is given."""

    symbols: Symbols
    types: Types
    lineage: Lineage
    overloads: Overloads
    members: Members

    def parameter(self, value: Value | None, place: int) -> Value | None:
        """Return what a function is given as an argument."""
        match value:
            case Function(symbols, of):
                parts = self.overloads.callable_parts(symbols)
                return either(self.taken(part, of, place) for part in parts if self.declared(part).taking(place))
            case Type(symbols, kinds) if self.symbols.has_method_sets(symbols[0]):
                return Instance(symbols, kinds)  # A conversion.
            case Type() if own := self.symbols.constructors(value, -1):
                return self.parameter(Function(own, Instance(value.symbols, value.arguments)), place)
            case Signature(parameters, _):
                return part_at(parameters, place)
            case Instance():
                return self.parameter(self.operation(value), place)
            case Either(values):
                # No literal is called.
                return either(self.parameter(value, place) for value in values if value != OUTSIDE)
        return None

    def taken(self, symbol: SymbolId, of: Value | None, place: int) -> Value | None:
        """Return what a function takes as its argument of a number."""
        parameters = self.declared(symbol).inputs
        parameter = parameters[min(place, len(parameters) - 1)]
        value = self.ask.written(symbol, parameter.value)
        if parameter.rest and isinstance(held := self.types.underlying(value), Many):
            value = held.element
        return self._seen_by(of, value)

    def _seen_by(self, of: Value | None, value: Value | None) -> Value | None:
        """Return a value with the type arguments of that whose member it is."""
        return replaced(value, self.types.arguments(of)) if isinstance(of, Instance) else value

    def operation(self, value: Instance) -> Value | None:
        """Return what is called where a value is: the only abstract method of an interface."""
        return self.state.once(("operation", value), lambda: self._operation(value))

    def _operation(self, value: Instance) -> Value | None:
        made_of = self.types.underlying(value)
        if made_of != value:
            return made_of
        if not self.state.policy(value.symbols[0]).calls.overloads:
            return value_of(self.members.find(value, "()"))
        abstract: dict[str, Value] = {}
        for other in self.lineage.above((value,)):
            if not isinstance(other, Instance):
                return None
            for symbol in self.symbols.methods_of(other.symbols[0]):
                if self.symbols.is_abstract(symbol):
                    abstract.setdefault(self.declared(symbol).name, Function((symbol,), other))
        return next(iter(abstract.values())) if len(abstract) == 1 else None

    def created(self, made: Value | None, arguments: tuple[Value | None, ...]) -> Value | None:
        match made:
            case Type(symbols, kinds) | Function(symbols, _, kinds):
                return Instance(symbols, kinds)
            case Signature(_, result):
                return result
            case Instance() if makes := self._maker(made):
                return self.result(makes, arguments.__getitem__, len(arguments))
        return self.result(made, arguments.__getitem__, len(arguments)) if isinstance(made, Outside) else None

    def called(self, path: str, at: int, function: Expression, arguments: tuple[Expression, ...]) -> Value | None:
        """Return what a call with some arguments gives."""
        called, value = self.callee(path, at, function, len(arguments)), self.ask.value
        policy = self.state.open(path).policy
        if arguments and self._makes(policy, function, called):
            return self.created(value(path, at, arguments[0]), ())
        if isinstance(called, Outside):
            how = policy.calls.passes.get(called.name, "")
            is_element_of_one = how != "element" or len(arguments) == 1
            if how == "itself":
                return foreign_instance(called.name)
            if how == "anything" or (arguments and how not in ("", "later") and is_element_of_one):
                return self._passed(how, path, at, arguments)
            if not policy.foreign.is_generic(called.name) or called.name in policy.foreign.plain:
                return OUTSIDE
            if f"{called.name}()" in (*policy.calls.passes, *policy.members.type_variables):
                return Outside(f"{called.name}()")
            if policy.foreign.is_open and called.name:
                given = [value(path, at, argument) for argument in arguments]
                is_plain = "()" not in called.name and all(isinstance(each, Outside | Nothing) for each in given)
                return foreign_instance(called.name) if is_plain else None
        return self.result(called, lambda place: value(path, at, arguments[place]), len(arguments))

    def _passed(self, how: str, path: str, at: int, arguments: tuple[Expression, ...]) -> Value | None:
        """Return what a foreign function makes of its arguments. how: see `CallRules.passes`."""
        value = self.ask.value
        match how, arguments:
            case "module", (ModuleName() as first, *_):
                return value(path, at, first)
            case "module", (first, *_):
                module = value(path, at, first)
                return None if isinstance(module, Outside) else module
            case "each", (first, *_):
                return Many(value(path, at, Each(first)))
            case "element", (first, *_):
                return value(path, at, Each(first))
            case "all", _:
                return All(tuple(value(path, at, part) for part in arguments))
            case "type", (TypeItself(first) | first, *_):
                return self.types.named(path, at, first)
            case "value", (TypeItself(first) | first, *_):
                return value(path, at, first)
        return None  # Anything.

    def _makes(self, policy: Policy, function: Expression, called: Value | None) -> bool:
        """Return whether a call makes an instance of its first argument, since no type of the project decides it."""
        is_foreign_call = called is None or isinstance(called, Outside)
        return is_foreign_call and isinstance(function, Member) and function.name == policy.calls.making

    def callee(self, path: str, at: int, function: Expression, count: int = -1) -> Value | None:
        """Return what is called with a number of arguments."""
        match function:
            case Name() | Member():
                return value_of(self.ask.referent(path, at, function, Use.CALL, count))
            case Application(generic, arguments):
                kinds = tuple(self.types.named(path, at, part) for part in arguments)
                return self.ask.instantiated(self.callee(path, at, generic, count), kinds)
        return self.ask.value(path, at, function)

    def result(self, called: Value | None, argument: Arguments, count: int) -> Value | None:
        """Return what a call gives. argument: returns the value of an argument by its place."""
        match called := at_least(called):
            case Type(symbols, arguments):
                made = Instance(symbols, arguments)
                return self.state.once(("made", made), lambda: self._made_otherwise(called, made)) or made
            case Function() | Either() if overloads := self.overloads.of(called):
                fit = self.overloads.applicable(overloads, argument, count)
                return either(self._result_of(function, function.symbols[0], argument, count) for function in fit)
            case Function():
                symbols = self.overloads.callable_with(called, argument, count)
                return either(self._result_of(called, symbol, argument, count) for symbol in symbols)
            case Package(_, True):
                return self.result(OUTSIDE, argument, count)
            case Instance():
                made_of, calling = self.types.underlying(called), self.state.policy(called.symbols[0]).members.calling
                if calling and (method := self.members.find(called, calling)):
                    return self.result(method.value, argument, count)
                if isinstance(made_of, Instance):
                    return self.result(value_of(self.members.find(made_of, "()")), argument, count)
                return made_of.result if isinstance(made_of, Signature) else None
            case Either(values):
                return either(self.result(value, argument, count) for value in values)
            case Signature(_, result):
                return without_variables(replaced(result, self._given(called, argument, count)))
            case Above(symbols):  # It may be given a class, from which on the order of another is looked through.
                is_own = not (count and self.state.policy(symbols[0]).members.is_linear) or argument(0) == Type(symbols)
                return called if is_own else None
            case Outside():  # Its module cannot know the project's types, unless it is given some.
                types = (argument(place) for place in range(count))
                return OUTSIDE if all(value == NOTHING or is_foreign(value) for value in types) else None
        return None

    def _made_otherwise(self, kind: Type, made: Instance) -> Value | None:
        """Return what a call of a type gives, if what makes its instances is known to give something else."""
        policy, find = self.state.policy(kind.symbols[0]), self.members.find
        above = self.lineage.order(made) if policy.calls.making else ()
        classes = (symbol for value in above if isinstance(value, Instance) for symbol in value.symbols)
        marks = ((each, mark) for each in classes for mark in self.declared(each).marks if mark.startswith(METACLASS))
        kinds = [self.ask.written(each, mark.removeprefix(METACLASS)) for each, mark in marks]
        makers = [find(of_kind(Instance, meta), policy.members.calling) for meta in kinds[:1]]
        makers += [find(kind, policy.calls.making)] if above else []
        given = [self.result(value_of(maker), nothing, 0) for maker in makers if symbols_of(maker)]
        return next((value for value in given if isinstance(value, Instance | Either) and value not in above), None)

    def _result_of(self, called: Function, symbol: SymbolId, argument: Arguments, count: int) -> Value | None:
        declaration = self.declared(symbol)
        value = self._declared_result(symbol, called.receiver or called.of)
        known: dict[str, Value | None] = {}
        if isinstance(called.of, Instance):
            known |= self.types.arguments(called.of)
            if self.state.policy(symbol).modules.open_types:  # Its methods rename the type parameters.
                known |= zip(declaration.type_parameters, called.of.arguments, strict=False)
        known |= zip(declaration.type_parameters, called.arguments, strict=False)
        if value is not None and has_variable(value):
            parameters = declaration.inputs
            if self.overloads.has_self(symbol):
                self._match(self.ask.written(symbol, parameters[0].value), always(called.of), 0, known)
                parameters = parameters[1:]
            for place, parameter in enumerate(parameters[:count]):
                expected = self.ask.written(symbol, parameter.value)
                if parameter.rest and isinstance(expected, Many) and not isinstance(argument(place), Many):
                    expected = expected.element
                self._match(expected, argument, place, known)
        return without_variables(replaced(value, known))

    def _given(self, called: Signature, argument: Arguments, count: int) -> Mapping[str, Value | None]:
        """Return the type arguments that follow from what a value of a function type is given."""
        known: dict[str, Value | None] = {}
        for place, parameter in enumerate(called.parameters[:count] if has_variable(called.result) else ()):
            self._match(parameter, argument, place, known)
        return known

    def _maker(self, kind: Instance) -> Function | None:
        """Return the signature of a constructor that a type declares: `new (): T`."""
        made = value_of(self.members.find(kind, "new"))
        return made if isinstance(made, Function) else None

    def _declared_result(self, symbol: SymbolId, of: Value | None) -> Value | None:
        """Return what a function says that it gives, or what it returns."""
        declaration, policy = self.declared(symbol), self.state.policy(symbol)
        is_later = (
            policy.calls.asynchronous and Mark.ASYNC in declaration.marks and Mark.GENERATOR not in declaration.marks
        )
        if declaration.value:
            value = self._said_result(symbol, declaration.value, of)
            return Later(value) if is_later else value
        is_generator = Mark.GENERATOR in declaration.marks
        if Mark.ABSTRACT in declaration.marks or (is_generator and not policy.calls.asynchronous):
            return None
        values = [
            of if of and text in policy.calls.own else self.ask.value(symbol.path, at, parse(text))
            for at, text in declaration.returns
        ]
        value = either([NOTHING, *values])
        if is_generator:
            return Many(value)
        if is_later:
            return Later(value)
        if Mark.ASYNC not in declaration.marks:
            return value
        return Instance(self.ask.library(self.state.open(symbol.path), policy.foreign.library.promise), (value,))

    def _said_result(self, symbol: SymbolId, text: str, of: Value | None) -> Value | None:
        """Return what a function says that it gives: the value whose member it is, or something that holds that."""
        own = self.state.policy(symbol).calls.own
        if of and text in own:
            return of
        expression = parse(text)
        for name in names_in(text) & own if of else ():
            expression = replaced_name(expression, name, Known(of))
        return self.ask.value(symbol.path, self.declared(symbol).at, expression)

    def _match(self, expected: Value | None, argument: Arguments, place: int, known: dict[str, Value | None]) -> None:
        """Learn type arguments from what a parameter is given."""
        if expected is not None and (has_variable(expected) or self._has_nameless(expected)):
            self._unify(expected, argument(place), known)

    def _has_nameless(self, kind: Value) -> bool:
        """Return whether a type without a name is expected: its members may have type parameters."""
        kinds = (each for each in alternatives(kind) if isinstance(each, Instance))
        return not all(self.declared(symbol).name for each in kinds for symbol in each.symbols)

    def _unify(self, expected: Value | None, actual: Value | None, known: dict[str, Value | None]) -> None:  # noqa: C901 - a case for each kind
        match expected, actual:
            case Variable(name), _:
                if name not in known:
                    known[name] = actual
            case (Many(a), Many(b)):
                self._unify(a, b, known)
            case (Table(a, c), Table(b, d)):
                self._unify(a, b, known)
                self._unify(c, d, known)
            case (Signature(a, c), Signature(b, d)):
                for value, other in zip(a, b, strict=False):
                    self._unify(value, other, known)
                self._unify(c, d, known)
            case (Signature(_, c), Type(symbols, b)):
                self._unify(c, Instance(symbols, b), known)
            case (Instance(), Type(symbols, b)) if makes := self._maker(expected):
                result = self._seen_by(expected, self._declared_result(makes.symbols[0], None))
                self._unify(result, Instance(symbols, b), known)
            case (Signature(handed, c), Function()):
                self._unify(c, self.result(actual, lambda place: handed[place], len(handed)), known)
            case (Either(values), _):
                for value in values:
                    self._unify(value, actual, known)
            case (Instance(own, a), Instance(of, b)) | (Foreign(own, a), Foreign(of, b)) if own == of:
                for value, other in zip(a, b, strict=False):
                    self._unify(value, other, known)
            case (Instance(), Function() | Type()) if isinstance(does := self.operation(expected), Function):
                count = len(self.declared(does.symbols[0]).inputs)
                result = self._seen_by(does.of, self._declared_result(does.symbols[0], None))
                self._unify(result, self.result(actual, partial(self.parameter, does), count), known)
            case (Instance() | Foreign(), Instance()) if above := self.lineage.seen_as(actual, expected):
                self._unify(expected, above, known)
