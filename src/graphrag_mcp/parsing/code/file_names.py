"""What a name means within its file: what the file defines or imports under it."""

from bisect import bisect_right
from collections.abc import Set

from graphrag_mcp.languages.language import Language
from graphrag_mcp.languages.registry import library_of
from graphrag_mcp.model.files import BARE_CONFIDENCE, BASE_CONFIDENCE, MACRO, Resolution, SymbolKind
from graphrag_mcp.parsing.code.imports import is_library
from graphrag_mcp.parsing.code.names import last_name
from graphrag_mcp.parsing.outline import (
    GIVEN_RECEIVER,
    MACRO_RECEIVER,
    SUPER_RECEIVER,
    UNKNOWN_RECEIVER,
    Base,
    Import,
    Outline,
    Reference,
    around,
    enclosing_indexes,
)

# The estimated share of correct relations of each kind; only their order matters.
_OWN_METHOD = 0.95  # self.name(), defined in the class
_LOCAL = 0.9  # name(), with one definition in the file
_IMPORTED = 0.9  # name(), imported by the file
_IMPORTED_MEMBER = 0.8  # module.name()
_UNKNOWN_MEMBER = 0.3  # value.name(), with an unknown type
_BUILTIN = 0.25  # name(), also a builtin
Resolved = tuple[float, Resolution, str]
"""The confidence in what a name is resolved to, how it is resolved, and the module from which it is imported."""


class FileNames:
    """Resolves names by the definitions and imports of their file. own: the words for the own instance."""

    def __init__(self, outline: Outline, language: Language, own: Set[str]) -> None:
        self._definitions, self._own = outline.definitions, own
        self._super, self._has_bare_members = language.super, language.bare_members
        self._library = library_of(language.name)
        self.imports = {imported.name: imported for imported in (*outline.implied, *outline.imports)}
        self._inside = {(each.inside, each.name): each for each in outline.imports if each.inside >= 0}
        self.local: dict[str, set[str]] = {}  # The qualified names of what has a name,
        self._bare: dict[str, set[str]] = {}  # and of what is not a method.
        self._members: set[tuple[str, str]] = set()
        for definition in outline.definitions:
            if definition.kind not in (None, SymbolKind.FIELD):
                self.local.setdefault(definition.name, set()).add(definition.qualified_name)
                is_owned = definition.parent < 0 and definition.qualified_name != definition.name
                if definition.kind is not SymbolKind.METHOD and (self._has_bare_members or not is_owned):
                    self._bare.setdefault(definition.name, set()).add(definition.qualified_name)
                self._members.add((definition.qualified_name.rpartition(".")[0], definition.name))
        self.around_bases = _of_bases(outline)
        self.bases: dict[int, list[str]] = {}  # What each definition is based on.
        for index, base in zip(self.around_bases, outline.bases, strict=True):
            if not (base.below or base.is_above):
                self.bases.setdefault(index, []).append(self.target(base))

    def target(self, reference: Reference | Base) -> str:
        """Return the name under which the target is defined, rather than its alias in an import."""
        name, imported = reference.name, self.imports.get(reference.name)
        if imported is None or reference.receiver or name in self.local or imported.target.startswith(f"{name}."):
            return name  # The target of a header is its file.
        return imported.target

    def imported(self, owner: str, ending: str, edge: Resolved) -> tuple[str, Resolved]:
        """Return a type as it is called where it is defined. ending: what is said of it."""
        first, _, rest = owner.partition(".")
        if rest and (imported := self.imports.get(first)):
            module = "/".join([imported.as_module, *rest.split(".")[:-1]])
            return owner + ending, self.by_import(module, edge[0])
        imported = self.imports.get(owner)
        if imported and not imported.whole:
            owner, edge = last_name(imported.target), (*edge[:2], edge[2] or _module_of_members(imported))
        return owner + ending, edge

    def resolve_call(self, call: Reference, index: int) -> Resolved:
        """Resolve what is called in a definition, or handed on as a value."""
        if not call.receiver:
            return self.resolve_bare(call, index)
        if call.receiver == GIVEN_RECEIVER:
            is_of_file = call.name in self._bare or call.name in self.imports
            return self.resolve_bare(call, index) if is_of_file else (_UNKNOWN_MEMBER, Resolution.UNKNOWN, "")
        if call.receiver == MACRO_RECEIVER:
            return BARE_CONFIDENCE, Resolution.UNRESOLVED, MACRO
        if call.receiver in (self._super, SUPER_RECEIVER) and self._super:
            return self._resolve_super(call.name, index)
        if call.receiver in self._own:
            return self._resolve_own(call.name, index)
        if call.is_of_value:  # A variable may have the name of a module.
            is_named = call.receiver != UNKNOWN_RECEIVER
            return _UNKNOWN_MEMBER, Resolution.MEMBER if is_named else Resolution.UNKNOWN, ""
        return self.resolve_member(call.receiver, call.name)

    def resolve_bare(self, reference: Reference, index: int = -1) -> Resolved:
        """Resolve a bare name; unless the file defines or imports it, it may be a builtin."""
        resolved = self._resolve(reference.name, index)
        if reference.is_builtin and resolved[1] is Resolution.UNRESOLVED:
            return _BUILTIN, Resolution.BUILTIN, ""
        return resolved

    def _resolve_super(self, name: str, index: int) -> Resolved:
        """Resolve `super().name()` in the base classes of this file, never in the class itself."""
        outwards = around(self._definitions, index)
        container = next((outer for outer, definition in outwards if definition.is_container), -1)
        if any(self._is_member_of_nested(base, name) for base in self.bases.get(container, ())):
            return BASE_CONFIDENCE, Resolution.BASE, ""
        return _UNKNOWN_MEMBER, Resolution.BASE, ""

    def by_import(self, module: str, confidence: float = _IMPORTED) -> Resolved:
        """Resolve to what a module has, or to the module."""
        return confidence, Resolution.LIBRARY if is_library(module, self._library) else Resolution.IMPORT, module

    def resolve_base(self, base: Base) -> Resolved:
        """Resolve a type that another one extends."""
        return self.resolve_member(base.receiver, base.name) if base.receiver else self._resolve(base.name)

    def resolve_member(self, receiver: str, name: str) -> Resolved:
        """Resolve `receiver.name`, of which only the text of the receiver is known."""
        if receiver == UNKNOWN_RECEIVER:
            return _UNKNOWN_MEMBER, Resolution.UNKNOWN, ""
        if (receiver, name) in self._members or self._is_member_of_nested(receiver, name):
            return _LOCAL, Resolution.LOCAL, ""
        if imported := self.imports.get(receiver):
            return self.by_import(_module_of_members(imported), _IMPORTED_MEMBER)
        return _UNKNOWN_MEMBER, Resolution.UNRESOLVED, ""

    def _is_member_of_nested(self, receiver: str, name: str) -> bool:
        owners = self.local.get(receiver, ())
        return len(owners) == 1 and (next(iter(owners)), name) in self._members

    def _resolve_own(self, name: str, index: int) -> Resolved:
        """Resolve `self.name()` in the types around the definition."""
        for _, definition in around(self._definitions, index):
            if (definition.qualified_name, name) in self._members or (
                (definition.qualified_name.rpartition(".")[0], name) in self._members and definition.parent < 0
            ):
                return _OWN_METHOD, Resolution.LOCAL, ""
        return _UNKNOWN_MEMBER, Resolution.UNRESOLVED, ""

    def _resolve(self, name: str, index: int = -1) -> Resolved:
        """Resolve a bare name; not one with several definitions, and a method only within its type."""
        for outer, _ in around(self._definitions, index) if self._inside else ():
            if imported := self._inside.get((outer, name)):
                return self.by_import(imported.module)
        local = self._bare.get(name, ())
        if len(local) == 1:  # Overloads, or a class with its companion.
            return _LOCAL, Resolution.LOCAL, ""
        if not local:
            if self._has_bare_members and (own := self._resolve_own(name, index))[1] is Resolution.LOCAL:
                return own
            if imported := self.imports.get(name):
                return self.by_import(imported.module)
        return BARE_CONFIDENCE, Resolution.UNRESOLVED, ""


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


def _module_of_members(imported: Import) -> str:
    """Return the module of `receiver.name`: that of the type, or the receiver itself if it is a module."""
    return imported.module if imported.target[:1].isupper() else imported.as_module
