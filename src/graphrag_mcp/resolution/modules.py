"""What modules are, and what they export."""

from dataclasses import dataclass

from graphrag_mcp.model.expressions import ModuleName, parse
from graphrag_mcp.model.facts import MERGES, NO_OWNER, Exported, Imported, SymbolId
from graphrag_mcp.model.values import (
    ABSENT,
    OUTSIDE,
    Function,
    Instance,
    Module,
    Outside,
    Referent,
    Type,
    Value,
    either,
    symbols_of,
    value_of,
)
from graphrag_mcp.resolution.files import ANYTHING, File, Sought
from graphrag_mcp.resolution.state import ResolverPart
from graphrag_mcp.resolution.symbols import Symbols


def _is_same(value: Value | None, other: Value) -> bool:
    """Return whether values are of the same declarations, whatever their type arguments are."""
    if isinstance(value, Instance | Type | Function) and type(value) is type(other):
        return value.symbols == other.symbols
    return value == other


@dataclass(eq=False)
class Modules(ResolverPart):
    """Follows imports and exports from file to file."""

    symbols: Symbols
    as_run: bool = False  # Whether the code is meant beside which a file declares what it has.

    def exported(self, path: str, export: Exported) -> Referent | None:
        """Return what a file exports."""
        if export.module:
            return self.imported(self.state.open(path), export)
        return self.ask.referent(path, export.at, parse(export.value))

    def merged(self, symbol: SymbolId) -> tuple[tuple[SymbolId, ...], list[str]]:
        """Return the types of which a declaration is a part, and the modules outside of the project that have one."""
        declaration, file = self.declared(symbol), self.state.open(symbol.path)
        modules = [mark.removeprefix(MERGES) for mark in declaration.marks if mark[:1] == MERGES]
        module_values = [(module, self.module(file, module)) for module in modules]
        known = [(module, self.ask.find(value, declaration.name)) for module, value in module_values]
        symbols = tuple(other for _, referent in known for other in symbols_of(referent))
        return symbols, [module for module, referent in known if not symbols_of(referent)]

    def item(self, file: File, module: str, name: str) -> Referent | None:
        """Return an item of a module; what a package imports from itself is a module in it."""
        value, inside = self.module(file, module), None
        if value is None or isinstance(value, Outside):
            inside = self.module(file, f"{module}.{name}")
            if value is None and isinstance(inside, Module) and module[:1] != ".":  # The module is a folder.
                root = inside.path.partition(f"{module}.{name}".replace(".", "/"))[0]
                inside = inside if file.path.startswith(root) else None
        elif isinstance(value, Module) and value.path == file.path:
            inside = file.policy.modules.inside(self.state.source, file.path, name)
        if isinstance(inside, Module):
            return Referent((), inside)
        member = self.ask.find(value, name)
        return None if member is ABSENT else member

    def imported(self, file: File, row: Imported | Exported, sought: Sought = ANYTHING) -> Referent | None:
        """Return what an import or a re-export brings: an item of a module, or all of it."""
        module = self.module(file, row.module)
        if not row.item:
            return self.whole(module)
        return self.ask.find(module, row.item, sought)

    def whole(self, module: Value | None) -> Referent | None:
        """Return all that a module is: its names, or the one value that it exports."""
        file = self.state.file(module.path) if isinstance(module, Module) else None
        if file is None or "=" not in file.exports:
            return Referent((), module) if module else None
        return self.state.once(("whole", file.path), lambda: self._whole(file))

    def _whole(self, file: File) -> Referent | None:
        wholes = {self.ask.referent(file.path, export.at, parse(export.value)) for export in file.exports["="]}
        return wholes.pop() if len(wholes) == 1 else None

    def export(self, module: Module, name: str) -> Referent | None:
        """Return what a module exports under a name, or what is declared beside it: code has no types."""
        file = self.state.file(module.path)
        if file is None:
            return None
        exported = self._export(file, module, name)
        beside = file.policy.modules.beside(self.state.source, file.path) if exported is ABSENT else ""
        return self.export(Module(beside), name) if beside else exported

    def _export(self, file: File, module: Module, name: str) -> Referent | None:
        if file.policy.names.rebinds:
            return self.in_module(file, name)
        if exported := next(iter(file.exports.get(name, ())), None):
            return self.exported(module.path, exported)
        if "=" in file.exports:
            whole = self.whole(module)
            if spaces := self.symbols.spaces(symbols_of(whole)):
                inside = self.ask.find(Type(spaces), name)
                if inside is not ABSENT:
                    return inside
            if name == "default" or value_of(whole) is None:
                return whole
            member = self.ask.find(value_of(whole), name)
            if member is not ABSENT or "*" not in file.exports:
                return member
        if assigned := self.attached(module, module.path, name):
            return assigned
        return self._passed_on(file, name)

    def in_module(self, file: File, name: str) -> Referent | None:
        """Return a name of a module, or a module of a package."""
        referent = self.ask.in_file(file, file.facts.stop - 1, name)
        if referent is not ABSENT:
            return referent
        if inside := file.policy.modules.inside(self.state.source, file.path, name):
            return Referent((), inside)
        return None if any((-1, hook) in file.members for hook in file.policy.members.hooks) else ABSENT

    def _passed_on(self, file: File, name: str) -> Referent | None:
        """Return a name of the modules whose names a file all exports."""
        modules = [self.module(file, export.module) for export in file.exports.get("*", ())]
        if not self.state.step(len(modules)):
            return None
        own = [value for value in modules if not isinstance(value, Outside) and not self._lacks(value, name)]
        members = [self.ask.find(value, name) for value in own]
        hits = [value for value in members if value and value is not ABSENT]
        if hit := next((value for value in hits if value.symbols or value.value != OUTSIDE), None):
            return hit
        if None in members or file.facts.has_errors:
            return None
        return Referent((), OUTSIDE) if hits or any(isinstance(value, Outside) for value in modules) else ABSENT

    def _lacks(self, module: Value | None, name: str) -> bool:
        """Return whether a module exports nothing of a name, and passes nothing on: most of many do."""
        file = self.state.file(module.path) if isinstance(module, Module) else None
        if file is None or file.facts.has_errors or file.policy.modules.beside(self.state.source, file.path):
            return False
        return not any(key in file.exports for key in (name, "*", "=")) and name not in file.assigned

    def attached(self, value: Value, path: str, name: str) -> Referent | None:
        """Return the member that a value is given outside of its declaration; None if it is given none."""
        if name not in self.state.open(path).assigned:
            return None
        return self.state.once(("attached", value, path, name), lambda: self._attached(value, path, name))

    def _attached(self, value: Value, path: str, name: str) -> Referent | None:
        file = self.state.open(path)
        assigned = [
            (self.ask.referent(path, flow.at, parse(flow.value)), owner)
            for flow, owner in file.assigned.get(name, ())
            if owner is not None and _is_same(self.ask.value(path, flow.at, owner), value)
        ]
        if not assigned:
            return None
        symbols = dict.fromkeys(
            symbol
            for hit, owner in assigned
            for symbol in symbols_of(hit)
            if isinstance(owner, ModuleName) or self.declared(symbol).owner == NO_OWNER
        )
        return Referent(tuple(symbols), either(value_of(hit) for hit, _ in assigned))

    def module(self, file: File, module: str) -> Value | None:
        """Return what an import of a file means: a module, a package, or something foreign."""
        find = file.policy.modules.module
        value = self.state.importing(file.path, module, lambda: find(self.state.with_libraries, file.path, module))
        code = self.code(value.path) if self.as_run and isinstance(value, Module) else ""
        return Module(code) if code else value

    def code(self, path: str) -> str:
        """Return the file of code that has what a file declares, "" for none."""
        file = self.state.file(path)
        find = file.policy.modules.code if file else None
        return (find and self.state.once(("code", path), lambda: find(self.state.source, path))) or ""
