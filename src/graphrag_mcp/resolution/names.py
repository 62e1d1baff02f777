"""What names mean where they stand, and what an expression names."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from posixpath import commonpath, dirname, join

from graphrag_mcp.model.expressions import Expression, Member, ModuleName, Name, Numbered, parse, says_type
from graphrag_mcp.model.facts import GIVEN, Bound, Mark, SymbolId, Use
from graphrag_mcp.model.files import SymbolKind
from graphrag_mcp.model.grouping import grouped
from graphrag_mcp.model.values import (
    ABSENT,
    INHERITED,
    NOTHING,
    OUTSIDE,
    Function,
    Instance,
    Later,
    Many,
    Outside,
    Package,
    Referent,
    Signature,
    Type,
    Value,
    Variable,
    either,
    nothing,
    symbols_of,
    value_of,
)
from graphrag_mcp.resolution.calls import Calls
from graphrag_mcp.resolution.expressions import Expressions
from graphrag_mcp.resolution.files import ANYTHING, File, Sought, sought_in
from graphrag_mcp.resolution.members import Members
from graphrag_mcp.resolution.modules import Modules
from graphrag_mcp.resolution.state import LIBRARIES, ResolverPart
from graphrag_mcp.resolution.symbols import Symbols
from graphrag_mcp.resolution.types import Lineage, Types

MAX_BINDINGS = 100  # A variable with more values in one scope is not known.


@dataclass(eq=False)
class Names(ResolverPart):
    """Decides what bare names and the names in expressions mean."""

    symbols: Symbols
    types: Types
    lineage: Lineage
    modules: Modules
    members: Members
    calls: Calls
    expressions: Expressions

    def name(self, path: str, at: int, name: str, sought: Sought = ANYTHING) -> Referent | None:
        """Return what a bare name means at an offset of a file."""
        file = self.state.open(path)
        at = file.scope_at(at)
        return self.state.once(("name", path, at, name, sought), lambda: self._name(file, at, name, sought))

    def _name(self, file: File, at: int, name: str, sought: Sought) -> Referent | None:
        if file.policy.names.rebinds:
            referent = self.in_file(file, at, name)
            if referent is not ABSENT:
                return referent
            return Referent((), Outside(name) if name in file.policy.names.builtins else OUTSIDE)
        inside = self._inside(file, at, name, sought)
        if inside is not ABSENT and inside is not INHERITED:
            return inside
        referent = self.state.once(("outside", file.path, name, sought), lambda: self._outside(file, name, sought))
        # If a foreign type above had the name, its import would be of no use.
        is_imported = name in file.imports
        if inside is INHERITED and not is_imported:
            return None if referent is None or referent.symbols else inside
        return referent

    def _inside(self, file: File, at: int, name: str, sought: Sought) -> Referent | None:
        """Return what a name means by the blocks and types around an offset, innermost first."""
        bound = file.innermost(name, at, sought)
        may_be_foreign = False
        for binding in reversed(file.around("", at)):  # A name may be a constant of the value that is looked at.
            if bound and bound[0].start >= binding.start:
                break
            value = self.expressions.value(file.path, binding.at, parse(binding.value))
            member = self.members.find(value, name, sought)
            if member is INHERITED:  # Foreign types rarely have variables and types that others see.
                may_be_foreign = may_be_foreign or sought.use == Use.CALL
            elif member is not ABSENT and not isinstance(value, Outside):
                return None if may_be_foreign else member
        if bound:
            return self._bound(file, bound)
        return INHERITED if may_be_foreign else ABSENT

    def _outside(self, file: File, name: str, sought: Sought) -> Referent | None:
        """Return what a name means by the imports and the package of a file."""
        if imported := self._imported(file, name, sought):
            return self._nearest(file, imported[0]) if len(imported) == 1 else None
        if symbols := self.symbols.fitting(self._top(file, name), sought):
            return self._nearest(file, Referent(symbols, self.ask.meaning(symbols)))
        is_unknown = file.facts.has_errors or name in file.assigned
        for row in file.unnamed_imports(name):
            value = self.modules.module(file, row.module)
            if row.item == "*":
                member = self.members.find(value, name, sought)
                if symbols_of(member):
                    return self._nearest(file, member)
                is_unknown = is_unknown or member is None
            elif value and name in file.policy.modules.names_of(value, row.module):
                return Referent((), value)
        if symbols := self._ambient(file, name) or self.library(file, name):
            return Referent(symbols, self.ask.meaning(symbols))
        if name in file.policy.names.builtins:
            return Referent((), Outside(name))
        if is_unknown:
            return None
        is_package = file.policy.modules.nested and sought.use != Use.CALL
        return Referent((), Package(name, is_nested=True) if is_package else OUTSIDE)

    def in_file(self, file: File, at: int, name: str) -> Referent | None:
        """Return what a name is in a file that may bind it several times, ABSENT if it does not."""
        bound = file.innermost(name, at)
        if len(bound) > MAX_BINDINGS:
            return None
        if bound and (bound[0].start, bound[0].stop) != (0, file.facts.stop):  # It holds in a part of the file.
            if all(binding.kind in ("parameter", "variable", "each") for binding in bound):
                return self._bound(file, bound)
            return self._one_of([self._bound(file, [binding]) for binding in bound])
        around = file.types_around(at)
        if around and not file.is_in_function(at, around[-1]):
            members = [symbol for symbol in file.symbols(around[-1], name) if not self._is_later(symbol, at)]
            if members:
                return Referent(tuple(members), self.ask.meaning(tuple(members)))
        symbols = self._top(file, name)
        assigned = [
            binding for binding in bound if symbols and binding.kind == "variable"
        ]  # Functions assign the same variable.
        referents = [self._bound(file, [binding]) for binding in bound if binding not in assigned]
        if symbols:
            held = (self.expressions.value(file.path, binding.at, parse(binding.value)) for binding in assigned)
            referents.append(Referent(symbols, either([self.ask.meaning(symbols), *held])))
        if referents:
            return self._one_of(referents)
        if (imported := self._listed(file, name)) is not ABSENT:
            return imported
        is_hidden = file.facts.has_errors or any((owner, name) in file.members for owner in around)
        return None if is_hidden else ABSENT

    def _is_later(self, member: SymbolId, at: int) -> bool:
        """Return whether a member of a class is declared at an offset in its body or after it, so not yet a name.

        An annotation may name a type before it is declared.
        """
        declaration = self.declared(member)
        is_before = at < declaration.start and declaration.kind != SymbolKind.TYPE
        return self.symbols.is_only_assigned(member) or is_before or declaration.start <= at < declaration.stop

    def _listed(self, file: File, name: str) -> Referent | None:
        """Return a name that a file imports without saying it."""
        for imported in file.unnamed_imports(name):
            value = self.modules.module(file, imported.module)
            if imported.item == "*":
                member = self.members.find(value, name) if value and not isinstance(value, Outside) else None
                if member is not ABSENT:
                    return member
            elif name == imported.module.partition(".")[0]:
                first = file.policy.modules.first
                return Referent((), first(self.state.source, value, imported.module)) if value else None
        return ABSENT

    def _one_of(self, referents: Sequence[Referent | None]) -> Referent | None:
        """Return one of several referents of a name, None if only some are of the project."""
        if None in referents:
            return None
        known = [hit for hit in referents if hit and hit.value != NOTHING]
        if len(known) < 2:
            return (known or referents)[0]
        symbols = tuple(dict.fromkeys(symbol for hit in known for symbol in hit.symbols))
        if symbols and any(not hit.symbols and isinstance(hit.value, Outside) for hit in known):
            return None
        if all(hit.symbols for hit in known):
            return Referent(symbols, self.ask.meaning(symbols))
        return Referent(symbols, either(hit.value for hit in known))

    def _imported(self, file: File, name: str, sought: Sought) -> list[Referent | None]:
        """Return what the imports of a name mean."""
        referents = [self.modules.imported(file, imported, sought) for imported in file.imports.get(name, ())]
        return list(dict.fromkeys(item for item in referents if item is not ABSENT))

    def _nearest(self, file: File, referent: Referent | None) -> Referent | None:
        """Return which of several types of one name a file means: that of the nearest folder, if it is one."""
        symbols = symbols_of(referent)
        if len(symbols) < 2 or not (file.policy.modules.nested and isinstance(value_of(referent), Type)):
            return referent
        shared = grouped((len(commonpath((dirname(file.path), symbol.path))), symbol) for symbol in symbols)
        nearest = tuple(shared[max(shared)])
        return Referent(nearest, Type(nearest)) if len(nearest) == 1 else None

    def referent(
        self, path: str, at: int, expression: Expression, use: str = Use.VALUE, count: int = -1
    ) -> Referent | None:
        """Return what an expression names, as it is used, with what it gives."""
        file = self.state.open(path)
        sought = sought_in(file.policy, use, count)
        match expression:
            case Name(name):
                return self.name(path, at, name, sought)
            case Member(ModuleName(module), name) if module == GIVEN:
                return self._given_to(file, at, name)
            case Member(ModuleName(module), name) if file.policy.names.rebinds:
                return self.modules.item(file, module, name)
            case Member((Name() | Member()) as owner, name) if sought.use == use == Use.TYPE and (
                file.policy.modules.nested
            ):  # A type is a member of types and packages.
                return self.members.find(value_of(self.referent(path, at, owner, use)), name, sought)
            case Member(owner, name):
                return self._member(file, at, self._owner(path, at, owner, sought), name, sought)
            case ModuleName(module):
                return self.modules.whole(self.modules.module(file, module))
            case Numbered(number):
                return Referent((SymbolId(path, number),), self.ask.meaning((SymbolId(path, number),)))
        return Referent((), self.expressions.value(path, at, expression))

    def _member(self, file: File, at: int, value: Value | None, name: str, sought: Sought) -> Referent | None:
        """Return a member of a value as an expression names it, with what the file itself gives to the value."""
        if isinstance(value, Outside) and value.name:
            known = file.policy.foreign.members(value.name) if value.name.endswith("()") else None
            if known is not None and name not in known:  # It is of a type below.
                return None
            if assigned := self.modules.attached(value, file.path, name):
                return assigned._replace(is_open=True)  # Another object made of the same may lack it.
        member = self.members.find(value, name, sought)
        if name.startswith("#") and not symbols_of(member):
            return self._private(file, at, name)
        return Referent((), None) if member is ABSENT and self._is_below_library(value) else member

    def _owner(self, path: str, at: int, owner: Expression, sought: Sought) -> Value | None:
        """Return the value whose member is meant; a type is a member of something other than a variable."""
        if sought.use == Use.TYPE:
            kind = self.referent(path, at, owner, Use.TYPE)
            spaces = self.symbols.spaces(symbols_of(kind))
            if inside := Type(spaces) if spaces else value_of(kind):
                return inside
        return self.expressions.value(path, at, owner)

    def _given_to(self, file: File, at: int, name: str) -> Referent:
        """Return the function that gives an argument of a name: of the class, the file or the nearest folder."""
        symbols = [symbol for owner in reversed(file.types_around(at)) for symbol in file.symbols(owner, name)]
        folders = [file.path]
        while folders[-1]:
            folders.append(dirname(folders[-1]))
        for path in (file.path, *(join(folder, file.policy.modules.giving) for folder in folders[1:])):
            near = self.state.file(path)
            if near is None:
                continue
            hits = [self.modules.in_module(near, name)]
            hits += [self.modules.exported(path, export) for export in near.exports.get(name, ())]
            for symbol in (*symbols, *(symbol for hit in hits for symbol in symbols_of(hit))):
                declaration = self.declared(symbol)
                if Mark.FIXTURE in declaration.marks and not (
                    symbol.path == file.path and declaration.start <= at < declaration.stop
                ):
                    value = self.calls.result(Function((symbol,)), nothing, 0)
                    if isinstance(value, Many) and Mark.GENERATOR in declaration.marks:
                        value = value.element
                    return Referent((symbol,), Signature((), value.value if isinstance(value, Later) else value))
        is_given = name in file.policy.modules.given and not self.state.source.named(name)
        return Referent((), Signature((), OUTSIDE) if is_given else None)

    def _private(self, file: File, at: int, name: str) -> Referent | None:
        """Return a private member of JavaScript: whatever has it is of the type around that declares it."""
        for owner in reversed(file.types_around(at)):
            if symbols := file.symbols(owner, name):
                return Referent(symbols, self.ask.meaning(symbols))
        return None

    def _is_below_library(self, value: Value | None) -> bool:
        """Return whether a type above a value is of the language's own library, of which not all is declared."""
        above = self.lineage.above((value,)) if isinstance(value, Instance | Type) else ()
        return any(isinstance(value, Instance | Type) and value.symbols[0].path in LIBRARIES for value in above)

    def _bound(self, file: File, bound: Sequence[Bound]) -> Referent | None:
        first = bound[0]
        if first.kind == "type":
            bound_type = self.types.named(file.path, first.at, parse(first.value)) if first.value else None
            return Referent((), Variable(first.name, bound_type))
        if first.kind == "declared":
            symbols = tuple(
                SymbolId(file.path, int(binding.value[1:])) for binding in bound if binding.kind == "declared"
            )
            return Referent(symbols, self.ask.meaning(symbols))
        if first.kind == "alias" and len(bound) == 1:
            referent = self.referent(file.path, first.at, parse(first.value))
            return referent if referent and (referent.symbols or referent.value) else None
        if len(bound) > MAX_BINDINGS:
            return Referent((), None)
        assigned = [(binding.at, binding.value) for binding in bound]
        if not any(says_type(binding.value) for binding in bound):
            assigned += self.assigned(file, first.name, bound)
        return Referent((), self.expressions.in_turn(file.path, first.name, assigned))

    def assigned(self, file: File, name: str, bound: Sequence[Bound]) -> Iterator[tuple[int, str]]:
        """Yield what a variable is given later, and where."""
        for flow, owner in file.assigned.get(name, ()):
            if owner is None and file.innermost(name, flow.at) == bound:
                yield flow.at, flow.value

    def _top(self, file: File, name: str) -> tuple[SymbolId, ...]:
        """Return the declarations of a name that the whole file sees."""
        if file.policy.modules.whole_unit:
            symbols = tuple(self.state.with_libraries.find(file.facts.unit, name))
            # Other files declare it for another build.
            return tuple(symbol for symbol in symbols if symbol.path == file.path) or symbols
        return file.symbols(-1, name)

    def _ambient(self, file: File, name: str) -> tuple[SymbolId, ...]:
        """Return what files declare for all others: those that only declare, and are no modules."""
        return tuple(
            symbol
            for symbol in self.state.source.named(name)
            if file.policy.modules.is_ambient(symbol.path)
            and self.declared(symbol).owner == -1
            and not self.state.open(symbol.path).is_module
        )

    def library(self, file: File, name: str) -> tuple[SymbolId, ...]:
        """Return what the language's own library declares."""
        path = file.policy.foreign.library.path
        library = self.state.file(path) if name and path else None
        return self._top(library, name) if library else ()
