"""What each declaration is: a type, a constructor, a property, a member of which type; and each mention of one."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from graphrag_mcp.model.facts import USES_OF_FUNCTIONS, Mark, Mention, SymbolId, Use
from graphrag_mcp.model.files import CALLABLE, RelationKind, SymbolKind
from graphrag_mcp.model.values import Foreign, Outside, Type, Value
from graphrag_mcp.resolution.files import Sought
from graphrag_mcp.resolution.state import ResolverPart

_USES: Mapping[SymbolKind, Mapping[RelationKind, Sequence[Use]]] = {
    SymbolKind.TYPE: {
        RelationKind.INSTANTIATES: (Use.CALL, Use.CREATE),
        RelationKind.INHERITS: (Use.BASE,),
        RelationKind.USES: (Use.TYPE, Use.VALUE, Use.FILL, Use.QUERY),
        RelationKind.WRITES: (Use.WRITE,),
    },
    SymbolKind.FUNCTION: {
        RelationKind.CALLS: (Use.CALL, Use.CREATE, Use.REFLECTED),
        RelationKind.HANDS_ON: (Use.VALUE, Use.FUNCTION),
        RelationKind.USES: (Use.TYPE, Use.BASE, Use.FILL, Use.QUERY),
        RelationKind.WRITES: (Use.WRITE, Use.ELEMENT, Use.KEY),
    },
    SymbolKind.FIELD: {
        RelationKind.CALLS: (Use.CALL,),
        RelationKind.READS: (Use.VALUE, Use.CREATE, Use.REFLECTED, Use.QUERY),
        RelationKind.USES: (Use.TYPE, Use.BASE),
        RelationKind.WRITES: (Use.WRITE, Use.FILL, Use.KEY, Use.ARGUMENT, Use.ADDRESS),
    },
}
_KINDS = {
    kind: {use: relation for relation, uses in relations.items() for use in uses} for kind, relations in _USES.items()
}


class Symbols(ResolverPart):
    """Answers from declarations, and from the policy of their language."""

    def methods_of(self, symbol: SymbolId) -> Sequence[SymbolId]:
        """Return the methods that a type declares itself, in whichever file of its unit."""
        file = self.state.open(symbol.path)
        own = [SymbolId(symbol.path, number) for number in file.methods.get(symbol.number, ())]
        return own or self.state.source.methods(file.facts.unit, self.declared(symbol).qualified)

    def around(self, symbol: SymbolId) -> SymbolId | None:
        """Return the declaration in which one is; None at the top of the file, or if a value leads to it."""
        owner = self.declared(symbol).owner
        return SymbolId(symbol.path, owner) if owner >= 0 else None

    def owner_of(self, member: SymbolId) -> SymbolId | None:
        """Return the type whose member a declaration is."""
        if around := self.around(member):
            return around
        owner, source = self.declared(member).qualified.rpartition(".")[0], self.state.source
        symbols = source.find(source.unit(member.path), owner) if owner else ()
        return next((symbol for symbol in symbols if self.is_type(symbol)), None)

    def has_method_sets(self, symbol: SymbolId) -> bool:
        """Return whether types implement an interface by having its methods."""
        return self.state.policy(symbol).members.method_sets

    def has_overloads(self, symbol: SymbolId) -> bool:
        """Return whether the arguments decide which function of a name is called."""
        return self.state.policy(symbol).calls.overloads

    def is_common(self, symbol: SymbolId) -> bool:
        """Return whether a declaration is a member that every type has."""
        return self.declared(symbol).name in self.state.policy(symbol).members.common

    def is_property(self, symbol: SymbolId) -> bool:
        """Return whether a declaration is read without a call, or is what is run when such a one is written."""
        declaration = self.declared(symbol)
        if Mark.PROPERTY in declaration.marks or declaration.kind != SymbolKind.METHOD:
            return Mark.PROPERTY in declaration.marks
        return declaration.qualified in self.state.open(symbol.path).properties

    def is_implicit(self, symbol: SymbolId) -> bool:
        """Return whether the language itself calls a method, or a function of a module, where nothing names it."""
        declaration, policy = self.declared(symbol), self.state.policy(symbol)
        may_be = declaration.kind == SymbolKind.METHOD or (
            policy.names.rebinds and declaration.owner < 0 and declaration.kind in CALLABLE
        )
        return may_be and policy.members.is_implicit(declaration.name)

    def is_only_assigned(self, symbol: SymbolId) -> bool:
        """Return whether nothing but assignments in methods declares a field: it has no place of its own."""
        declaration = self.declared(symbol)
        return declaration.kind == SymbolKind.FIELD and declaration.start == declaration.stop

    def is_replaceable(self, symbol: SymbolId) -> bool:
        """Return whether types below can declare a member again: a method, or a field in some languages."""
        kind = self.declared(symbol).kind
        return kind == SymbolKind.METHOD or (
            kind == SymbolKind.FIELD and self.state.policy(symbol).members.replaces_fields
        )

    def foreign_methods(self, symbol: SymbolId, base: Value | None) -> Mapping[str, str] | None:
        """Return the methods of a foreign interface with their types, None where they are not known."""
        policy = self.state.policy(symbol)
        return policy.foreign.interfaces.get(base.name) if isinstance(base, Outside | Foreign) else None

    def foreign_members(self, symbol: SymbolId, base: Value | None) -> Collection[str] | None:
        """Return the names of all members of a foreign type, None where they are not known."""
        methods = self.foreign_methods(symbol, base)
        if methods is None and isinstance(base, Outside):
            return self.state.policy(symbol).foreign.members(base.name)
        return methods

    def may_have(self, symbol: SymbolId, base: Value | None, name: str) -> bool:
        """Return whether a foreign type has a member of a name, or not all of its members are known."""
        known = self.foreign_members(symbol, base)
        return known is None or name in known

    def is_constructor(self, symbol: SymbolId, owner: SymbolId) -> bool:
        """Return whether a member makes the instances of its type."""
        name, policy = self.declared(symbol).name, self.state.policy(symbol)
        return (name if name != self.declared(owner).name else "") in policy.members.constructors

    def is_run_by_call(self, symbol: SymbolId, owner: SymbolId) -> bool:
        """Return whether a member runs when its type or an instance is called."""
        return (
            self.is_constructor(symbol, owner)
            or self.declared(symbol).name == self.state.policy(symbol).members.calling
        )

    def constructors(self, kind: Type, count: int) -> tuple[SymbolId, ...]:
        """Return the constructors of a type that take a number of arguments."""
        own = [
            symbol
            for other in kind.symbols
            for name in self.state.policy(other).members.constructors
            for symbol in self.declared_in(other, name or self.declared(other).name)
        ]
        return self.fitting(own, Sought(Use.CALL, count))

    def is_type(self, symbol: SymbolId) -> bool:
        return self.declared(symbol).kind == SymbolKind.TYPE

    def is_callable(self, symbol: SymbolId) -> bool:
        return self.declared(symbol).kind in CALLABLE

    def is_field(self, symbol: SymbolId) -> bool:
        return self.declared(symbol).kind == SymbolKind.FIELD

    def is_method(self, symbol: SymbolId) -> bool:
        return self.declared(symbol).kind == SymbolKind.METHOD

    def is_interface(self, symbol: SymbolId) -> bool:
        return Mark.INTERFACE in self.declared(symbol).marks

    def is_abstract(self, symbol: SymbolId) -> bool:
        return Mark.ABSTRACT in self.declared(symbol).marks

    def is_only_type(self, symbol: SymbolId) -> bool:
        """Return whether a declaration is a type without a value, an interface or an alias: gone when it runs."""
        return self.is_type(symbol) and not {Mark.INTERFACE, Mark.ALIAS}.isdisjoint(self.declared(symbol).marks)

    def spaces(self, symbols: Sequence[SymbolId]) -> tuple[SymbolId, ...]:
        """Return the namespaces among declarations: a function, or a variable, may have the name of one, too."""
        return tuple(symbol for symbol in symbols if self.declared(symbol).kind == SymbolKind.MODULE)

    def fitting(self, symbols: Sequence[SymbolId], sought: Sought) -> tuple[SymbolId, ...]:
        """Return the declarations that a name may mean by its use; of functions those that take the arguments."""
        spaces = self.state.policy(symbols[0]).names.spaces.get(sought.use) if symbols else ()
        if not spaces:
            return tuple(symbols)
        of_kinds = ([symbol for symbol in symbols if self.declared(symbol).kind in kinds] for kinds in spaces)
        fitting = next(filter(None, of_kinds), [])
        if sought.use not in USES_OF_FUNCTIONS:
            return tuple(fitting)
        accessors = [symbol for symbol in symbols if self.declared(symbol).parameters == ()]
        return tuple(
            symbol for symbol in fitting or accessors if sought.use != Use.CALL or self._has_room(symbol, sought.arity)
        )

    def members_of(self, symbols: Sequence[SymbolId], *, is_of_type: bool) -> tuple[SymbolId, ...]:
        """Return those members that a type itself has, or its instances, where both may have one of a name."""
        if not symbols or not self.state.policy(symbols[0]).names.has_spaces:
            return tuple(symbols)
        of_it = [symbol for symbol in symbols if (Mark.STATIC in self.declared(symbol).marks) == is_of_type]
        others = [symbol for symbol in symbols if not self.is_method(symbol)]
        return tuple(of_it or others or filter(self._is_of_interface, symbols))

    def _is_of_interface(self, member: SymbolId) -> bool:
        owner = self.around(member)
        return owner is not None and self.is_interface(owner)

    def _has_room(self, symbol: SymbolId, count: int) -> bool:
        """Return whether a function takes a number of arguments."""
        declaration = self.declared(symbol)
        if count < 0 or declaration.parameters is None:
            return True
        most = len(declaration.inputs)
        return count >= most - 1 if declaration.takes_more else count == most

    def declared_in(self, owner: SymbolId, name: str) -> Iterator[SymbolId]:
        """Yield the members of a name that a type declares, in whichever file of its unit."""
        file = self.state.open(owner.path)
        if self.is_callable(owner):
            return
        yield from file.symbols(owner.number, name)
        declaration = self.declared(owner)
        if file.policy.modules.open_types and declaration.name:
            for symbol in self.state.source.find(self.state.source.unit(owner.path), f"{declaration.qualified}.{name}"):
                if self.declared(symbol).owner != owner.number or symbol.path != owner.path:
                    yield symbol


def relation_kind(symbols: Symbols, symbol: SymbolId, mention: Mention) -> RelationKind:
    """Return what a mention of a declaration is."""
    declared, use = symbols.declared(symbol), Use(mention.use)
    if use is Use.IMPORT:
        return RelationKind.IMPORTS
    kind = SymbolKind.FIELD if symbols.is_property(symbol) else SymbolKind(declared.kind)
    kinds = _KINDS.get(SymbolKind.FUNCTION if kind in CALLABLE else kind, _KINDS[SymbolKind.FIELD])
    if use is Use.PART:
        use = Use.WRITE if Mark.INLINE in declared.marks else Use.VALUE
    relation = kinds.get(use, RelationKind.CONTAINS)
    is_embedded = relation is RelationKind.INHERITS and symbols.has_method_sets(symbol)
    return RelationKind.USES if is_embedded else relation
