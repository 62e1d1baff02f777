"""Reads which names are bound, to what, and from where to where."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tree_sitter import Node, Tree

from graphrag_mcp.languages.grammars import Captures
from graphrag_mcp.languages.shapes import UNKNOWN, arguments
from graphrag_mcp.model.facts import Bound
from graphrag_mcp.model.files import CALLABLE, SymbolKind
from graphrag_mcp.parsing.facts.declarations import Declarations
from graphrag_mcp.parsing.facts.functions import Functions
from graphrag_mcp.parsing.facts.reading import NAMES, Draft, Held, ReaderPart, Reading, by_place, innermost, whole

BINDERS = ("bind", "bind.block", "bind.type", "bind.accessor", "bind.member", "within", "narrows")
OUTER = ("global", "nonlocal")
_DEFINED = (*CALLABLE, SymbolKind.TYPE)  # These hold no value besides what they are.
_BLOCKS = (*CALLABLE, SymbolKind.MODULE)


@dataclass(slots=True)
class _Binding:
    """Names that a node binds, before its scope is known."""

    node: Node
    role: str
    names: list[tuple[str, str]]  # Each with its value.
    at: int
    first: int  # Where it begins to be visible, unless it is in all of its scope.
    is_part: bool = False  # Whether a pattern takes the value apart.
    of: str = ""  # The name of the value whose member is bound.

    def kind(self, value: str) -> str:
        """Return the kind of the binding: what is imported, or taken out of another value, is an alias."""
        if self.role == "bind.type":
            return "type"
        return "alias" if self.is_part or value[:1] == '"' else "variable"


class Bindings(ReaderPart):
    """Collects what binds names, then binds them in their scopes."""

    def __init__(self, reading: Reading, declarations: Declarations, functions: Functions, held: Held) -> None:
        super().__init__(reading)
        self._declarations, self._functions, self._held = declarations, functions, held
        self.written: list[tuple[Node, str]] = []  # Names that are written to where they are something else besides.
        self._bindings: list[_Binding] = []
        self._starts: dict[str, list[int]] = {}  # Where anything but a narrowing binds a name.

    def add_import(self, node: Node, name: str, value: str) -> None:
        """Bind what an import names."""
        self._bindings.append(_Binding(node, "bind.block", [(name, value)], node.start_byte, node.start_byte))

    def add(self, role: str, captures: Captures) -> None:
        """Add the names that a node binds, with what they hold."""
        names = [name for node in captures["name"] for name in self._held.listed(node)]
        node = captures[role][0]
        if "part" in captures and self._is_assigned(node):
            self.written += [(child, self._writer.text(child)) for child in names if child.type != "identifier"]
            return
        at = captures["name"][0].start_byte if role == "narrows" else node.start_byte
        values = self._held.values(node, captures, len(names))
        bound: list[tuple[str, str]] = []
        for name, value in self._taken_apart(zip(names, values, strict=True)):
            index = self._by_name.get(name.start_byte)
            if index is not None:
                if self._drafts[index].kind not in _DEFINED:
                    self._drafts[index].value, self._drafts[index].at = value, node.start_byte
                    self._drafts[index].parameters = () if role == "bind.accessor" else None
            elif name.type in self._shapes.members and role == "bind.block":
                of, own = (name.child_by_field_name(part) for part in self._shapes.members[name.type])
                if of and own and of.type in NAMES:
                    named = [(self._writer.text(own), value)]
                    self._bindings.append(_Binding(node, "bind.member", named, at, at, of=self._writer.text(of)))
                continue
            elif name.type not in NAMES and role != "bind.type":
                continue
            else:
                bound.append((self._writer.text(name), value))
            if role != "narrows":
                self._named.add(name.start_byte)
        if bound:
            first = captures["after"][0].end_byte if "after" in captures else node.start_byte
            first = node.end_byte if role == "bind" else first
            self._bindings.append(_Binding(node, role, bound, at, first, "part" in captures))

    def _is_assigned(self, pattern: Node) -> bool:
        """Return whether a pattern is part of an assignment, so that it binds no names."""
        around = pattern.parent
        while around is not None and around.type.endswith("_pattern"):
            around = around.parent
        return around is not None and around.type == self._shapes.assigning

    def _taken_apart(self, pairs: Iterable[tuple[Node, str]]) -> Iterator[tuple[Node, str]]:
        """Yield the names of patterns, each with its part of the value."""
        pending = [*pairs][::-1]
        while pending:
            name, value = pending.pop()
            if name.type in self._shapes.patterns:
                parts = arguments(name)
                is_known = value != UNKNOWN and not any(part.type in self._shapes.spreads for part in parts)
                values = [f"{value}[{place}]" if is_known else UNKNOWN for place in range(len(parts))]
                pending += [*zip(parts, values, strict=True)][::-1]
            elif name.type in self._shapes.spreads:
                yield arguments(name)[0], UNKNOWN
            else:
                yield name, value

    def bind_all(self, tree: Tree) -> None:
        """Bind names from where they are visible to the end of their scope."""
        scopes = by_place(self._scopes | {whole(tree)})
        self._bindings.sort(key=lambda binding: binding.node.start_byte)
        around = innermost(scopes, [binding.node.byte_range for binding in self._bindings])
        parents = dict(zip(scopes[1:], innermost(scopes, scopes[1:]), strict=True))
        elsewhere = self._bound_elsewhere(scopes, parents)
        for binding in self._bindings:
            for name, _ in binding.names if binding.role != "narrows" else ():
                self._starts.setdefault(name, []).append(binding.node.start_byte)
        for binding, (start, stop) in zip(self._bindings, around, strict=True):
            owner = self._declarations.types.get((start, stop), -1) if binding.role == "bind.block" else -1
            if binding.role == "bind.member":
                owner = self._type_of_self(parents, (start, stop), binding.of)
            names = [name for name, _ in binding.names]
            self.written += [
                (binding.node, name) for name in names if not elsewhere.get((start, stop, name), (1, 0))[0]
            ]
            if owner >= 0 or binding.role == "bind.member":
                self._add_fields(owner, binding)
                continue
            first = binding.first
            if binding.role in ("within", "narrows"):
                stop = binding.node.end_byte
            elif binding.role != "bind":
                first = start
            self._bound += [
                Bound(name, *elsewhere.get((start, stop, name), (first, stop)), value, binding.at, binding.kind(value))
                for name, value in binding.names
                if name != "_" and not (binding.role == "narrows" and self._is_bound(name, first, stop))
            ]
        self._bind_declared(scopes)

    def _is_bound(self, name: str, start: int, stop: int) -> bool:
        """Return whether a name is bound between two offsets, for whatever follows."""
        starts = self._starts.get(name, ())
        return bisect_left(starts, start) < bisect_left(starts, stop)

    def _bound_elsewhere(
        self, scopes: Sequence[tuple[int, int]], parents: Mapping[tuple[int, int], tuple[int, int]]
    ) -> dict[tuple[int, int, str], tuple[int, int]]:
        """Return the scopes of the names that a function says to be of another one."""
        elsewhere = {}
        for role in OUTER:
            nodes = sorted(self._nodes.get(role, ()), key=lambda node: node.start_byte)
            for node, span in zip(nodes, innermost(scopes, [node.byte_range for node in nodes]), strict=True):
                elsewhere[*span, self._writer.text(node)] = scopes[0] if role == "global" else parents.get(span, span)
        return elsewhere

    def _type_of_self(
        self, parents: Mapping[tuple[int, int], tuple[int, int]], inside: tuple[int, int], name: str
    ) -> int:
        """Return the type whose own instance a name is inside of a scope, -1 if it is none; "" is the nearest type."""
        around: tuple[int, int] | None = inside
        while around is not None:
            index = self._functions.bodies.get(around, -1)
            around = parents.get(around)
            if index < 0:
                continue
            draft = self._drafts[index]
            if not name:
                return draft.owner
            if draft.parameters and draft.parameters[0].name == name:
                return draft.owner if self._functions.self_of(draft) else -1
        return -1

    def _add_fields(self, owner: int, binding: _Binding) -> None:
        """Declare what is bound as a member of a type."""
        at = binding.node.start_byte
        for name, value in binding.names if owner >= 0 else ():
            qualified, line = f"{self._drafts[owner].qualified}.{name}", self._code.row(at) + 1
            self._drafts.append(Draft(name, qualified, SymbolKind.FIELD.value, owner, line, at, at, at, value))

    def _bind_declared(self, scopes: Sequence[tuple[int, int]]) -> None:
        """Bind what is declared inside functions and modules, in the blocks where it is."""
        inner = [
            (draft.start, draft.stop, index)
            for index, draft in enumerate(self._drafts[: len(self._definitions)])
            if draft.owner >= 0 and self._drafts[draft.owner].kind in _BLOCKS and draft.kind != SymbolKind.FIELD
        ]
        inner.sort()
        for (at, _, index), (start, stop) in zip(inner, innermost(scopes, [row[:2] for row in inner]), strict=True):
            self._bound.append(Bound(self._drafts[index].name, start, stop, f"#{index}", at, "declared"))
