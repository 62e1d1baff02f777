"""Reads where names are mentioned, as what, and which names are bound, to what, from where to where."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import islice
from operator import itemgetter

from msgspec import Struct
from msgspec.structs import replace
from tree_sitter import Node, Tree

from graphrag_mcp.languages.grammars import Captures
from graphrag_mcp.languages.shapes import LITERAL, UNKNOWN, arguments, instance, is_name, module
from graphrag_mcp.languages.syntax import outwards
from graphrag_mcp.model.facts import ANY_MEMBER, GIVEN, IN_BLOCK, Bound, Mark, Mention, Use
from graphrag_mcp.model.files import CALLABLE, SymbolKind
from graphrag_mcp.parsing.facts.declarations import Declarations, Functions
from graphrag_mcp.parsing.facts.reading import (
    NAMES,
    Draft,
    Held,
    ReaderPart,
    Reading,
    by_place,
    innermost,
    source_around,
    whole,
)

BINDERS = ("bind", "bind.block", "bind.each", "bind.outer", "bind.type", "bind.accessor", "bind.member", "within",
           "narrows")  # fmt: skip
OUTER = ("global", "nonlocal")
HOISTED = ("hoisted", "hoisted.also")
_DEFINED = (*CALLABLE, SymbolKind.TYPE)  # These hold no value besides what they are.
_BLOCKS = (*CALLABLE, SymbolKind.MODULE)
MENTIONS = ("use.", "as.")
_MOST_AROUND = 3  # Nodes between a name and what updates it.
_STATEMENTS = ("expression_statement", "for_statement")  # They take no value.
_PASSING = ("parenthesized_expression", "sequence_expression")
_READ_OR_WRITTEN = frozenset((Use.VALUE, Use.WRITE, Use.FILL, Use.PART, Use.ADDRESS))
_ELEMENTS = frozenset(
    ("slice_expression", "subscript", "subscript_expression", "index_expression", "array_access",
     "parenthesized_expression",
     "as_expression", "satisfies_expression", "non_null_expression", "unary_expression")
)  # fmt: skip
_INDEXED = "indexed."  # A member whose name is not written.
_NAMED_ARGUMENTS = ("keyword_argument", "list_splat", "dictionary_splat")
_BESIDE = ("key", "placed", "set")  # What `{name}` is besides a value.
_ACTION = re.compile(r"\{\{[^{}]*\}\}")
_DOTTED = re.compile(r"'[^']*'|\"[^\"]*\"|([^\W\d]\w*(?:\.[^\W\d]\w*){0,20})")  # Names, and not what is in quotes.
_MEMBER = re.compile(r"\.([A-Z]\w*)")
Used = tuple[int, str, list[Captures]]
"""The matches of mentions of one kind: the number of the pattern, its role, and what it found."""


class _Binding(Struct):
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
        if self.role in ("bind.type", "bind.each"):
            return self.role.removeprefix("bind.")
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
        part = {"narrows": "name", "bind.each": "loop"}.get(role)  # What it stands for is as it is there.
        at = captures[part][0].start_byte if part else node.start_byte
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
        kinds = (outer.type for outer in outwards(pattern.parent) if not outer.type.endswith("_pattern"))
        return next(kinds, "") == self._shapes.assigning

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
        beyond: dict[tuple[int, int], tuple[int, int]] = {}
        for scope in filter(self._outside.__contains__, scopes):
            beyond[scope] = beyond.get(parents[scope], parents[scope])
        for binding in self._bindings:
            for name, _ in binding.names if binding.role != "narrows" else ():
                self._starts.setdefault(name, []).append(binding.node.start_byte)
        for binding, (start, stop) in zip(self._bindings, around, strict=True):
            if binding.role == "bind.outer":
                start, stop = beyond.get((start, stop), (start, stop))
            is_field = binding.role in ("bind.block", "bind.outer")
            owner = self._declarations.types.get((start, stop), -1) if is_field else -1
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
            outside = self._outside.get((start, stop), (stop, stop)) if binding.role == "bind.each" else (stop, stop)
            self._bound += [
                Bound(name, *elsewhere.get((start, stop, name), span), value, binding.at, binding.kind(value))
                for name, value in binding.names
                for span in ((first, outside[0]), (outside[1], stop))
                if span[0] < span[1] and (name != "_" or binding.role == "bind.each")
                if not (binding.role == "narrows" and self._is_bound(name, first, stop))
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
        """Bind what is declared inside functions, modules and blocks, in the blocks where it is."""
        inner = [
            (draft.start, draft.stop, index)
            for index, draft in enumerate(self._drafts[: len(self._definitions)])
            if draft.kind != SymbolKind.FIELD and self._is_in_block(draft)
        ]
        inner.sort()
        spans = [row[:2] for row in inner]
        shared = {node.byte_range for node in self._nodes.get("shared", ())}
        wholes = by_place({scopes[0], *self._functions.bodies, *shared})
        hoisted = {node.start_byte: role for role in HOISTED for node in self._nodes.get(role, ())}
        around = zip(innermost(scopes, spans), innermost(wholes, spans), strict=True)
        for (at, _, index), (block, outer) in zip(inner, around, strict=True):
            draft = self._drafts[index]
            role = hoisted.get(self._definitions[index].name_start, "") if block != outer else ""
            seen_in = {outer} if role == "hoisted" else {block, outer} if role else {block}
            if role:
                draft.marks += (Mark.HOISTED,)
            elif draft.owner < 0 and block != outer:
                draft.owner = IN_BLOCK
            if draft.owner == -1:  # All of the file sees it.
                seen_in.discard(outer)
            self._bound += [Bound(draft.name, *span, f"#{index}", at, "declared") for span in seen_in]

    def _is_in_block(self, draft: Draft) -> bool:
        """Return whether a declaration is one of a function, of a module or of the file."""
        kind = self._drafts[draft.owner].kind if draft.owner >= 0 else ""
        return kind in _BLOCKS or (draft.owner == -1 and draft.kind != SymbolKind.METHOD)


class Mentions(ReaderPart):
    """Tells mentions from declarations, and from reads and writes of variables."""

    def __init__(self, reading: Reading, bindings: Bindings) -> None:
        super().__init__(reading)
        self._bindings = bindings
        self._variables: dict[str, list[int]] = {}
        self._taken: dict[str, list[int]] = {}
        self._elements: dict[int, list[int]] = {}  # Where those of a literal begin, by the id of its node.

    def read(self, used: Iterable[Used]) -> Iterator[Mention]:
        """Yield the mentions, without reads and writes of variables; a call of a variable may reach what it holds."""
        uses = _decided(used)
        self._find_variables()
        if self._taken and (changed := self._taken_and_set(uses)):
            self._bound[:] = [replace(bound, kind="variable") if bound in changed else bound for bound in self._bound]
            self._find_variables()
        for node, name in self._bindings.written:
            if not self._is_written(name, node.start_byte):
                yield Mention(node.start_byte, self._code.row(node.start_byte) + 1, name, Use.WRITE, "")
        for use, node, captures in uses:
            if use == "template":
                yield from self._in_template(node)
            elif use == "quoted":
                yield from self._in_quotes(node)
            elif (mention := self._mention(use, node, captures)) is not None:
                yield mention
                if mention.use == Use.WRITE and self._is_read_too(node):
                    yield replace(mention, use=Use.VALUE)

    def _taken_and_set(self, uses: Iterable[tuple[str, Node, Captures]]) -> Set[Bound]:
        """Return what is taken out of a value, and is given another one in its block."""
        ends = {
            self._end_of_taken(self._writer.text(node), node.start_byte)
            for use, node, captures in uses
            if use == Use.WRITE and "from" not in captures and node.start_byte not in self._named
        }
        ends.discard(None)
        taken = (bound for bound in self._bound if bound.kind == "alias")
        return {bound for bound in taken if self._end_of_taken(bound.name, bound.start) in ends}

    def _end_of_taken(self, name: str, at: int) -> tuple[str, int] | None:
        """Return where what is taken out of a value under a name ends, with the name; None where there is no such."""
        spans = self._taken.get(name, ())
        place = bisect_right(spans, at)
        return (name, spans[place]) if place % 2 else None

    def _is_read_too(self, place: Node) -> bool:
        """Return whether what updates a place gives its value to something."""
        around = islice(outwards(place.parent), _MOST_AROUND)
        update = next((outer for outer in around if outer.type in self._shapes.updates), None)
        operator, value = (update.child_by_field_name(part) if update else None for part in ("operator", "right"))
        is_plain = operator is not None and operator.type == "="
        if update is None or is_plain or (value and value.start_byte <= place.start_byte):
            return False
        outer = next((outer for outer in outwards(update.parent) if outer.type not in _PASSING), None)
        return outer is not None and outer.type not in _STATEMENTS

    def _mention(self, use: str, node: Node, captures: Captures) -> Mention | None:
        """Return a mention; None for a declaration, a variable, and what the language says to be none."""
        start = node.start_byte
        if use == "key":
            return self._key(node)
        is_member = "from" in captures and (start not in self._by_name or use == Use.WRITE)  # A function may be set.
        is_declared = start in self._named and not is_member
        if (
            use == "none"
            or (use in ("placed", "set") and (node.is_extra or node.type in _NAMED_ARGUMENTS))
            or (is_declared and "named" not in captures)
        ):
            return None
        name = self._writer.text(captures["named"][0] if "named" in captures else node)
        receiver = self._receiver(use, captures) if len(captures) > 1 or use == "field" else None
        is_variable = self._is_written if use == Use.WRITE else self._is_variable
        if receiver is None and use in _READ_OR_WRITTEN and is_variable(name, start):
            return None
        before = receiver or ""
        if name in self._shapes.inferred or before in self._shapes.unmentioned.get(name, ()):
            return None
        name, use, before = self._translated(use, name, before, node)
        nothing_given = (0 if "unargued" in captures else -1, "")
        arguments_given = self._arguments(captures["arguments"][0]) if "arguments" in captures else nothing_given
        return Mention(start, self._code.row(start) + 1, name, use, before, *arguments_given)

    def _place_of(self, element: Node) -> int:
        """Return how many elements of a literal are before one."""
        literal = element.parent
        if literal is None:
            return 0
        if literal.id not in self._elements:
            self._elements[literal.id] = [node.start_byte for node in arguments(literal)]
        return bisect_left(self._elements[literal.id], element.start_byte)

    def _translated(self, use: str, name: str, receiver: str, node: Node) -> tuple[str, str, str]:
        """Return the name, the use and the receiver of a mention that a pattern describes by a word of its own."""
        match use:
            case "called":
                return "", Use.CALL.value, receiver
            case "module":
                return module(name), Use.IMPORT.value, ""
            case "placed":
                return str(self._place_of(node)), Use.WRITE.value, receiver
            case "set":
                return str(self._place_of(node)), Use.ARGUMENT.value, receiver
            case "addressed":  # As `a.Type#method(int)` is in a text.
                owner, _, member = name.rpartition("#")
                return member.partition("(")[0], Use.FUNCTION.value, owner.replace("$", ".") or receiver
            case "given":
                return name, Use.CALL.value, module(GIVEN)
            case "super":
                return self._shapes.constructor, Use.CALL.value, receiver
            case "field":
                return name, Use.WRITE.value, receiver
        if use.startswith(_INDEXED):
            return ANY_MEMBER, use.removeprefix(_INDEXED), receiver
        return name, use, receiver

    def _in_template(self, node: Node) -> Iterator[Mention]:
        """Yield the members that a text names between braces, of what the program gives it when it runs."""
        text, done, at = self._writer.text(node), 0, node.start_byte
        for action in _ACTION.finditer(text):
            for name in _MEMBER.finditer(text, *action.span()):
                at += len(text[done : name.start(1)].encode())
                done = name.start(1)
                yield Mention(at, self._code.row(at) + 1, name[1], Use.REFLECTED, UNKNOWN)

    def _in_quotes(self, node: Node) -> Iterator[Mention]:
        """Yield the names of a type that is written as a text."""
        text, done, at = self._writer.text(node), 0, node.start_byte
        for dotted in _DOTTED.finditer(text):
            for name in re.finditer(r"\w+", dotted[1] or ""):
                start = dotted.start() + name.start()
                at += len(text[done:start].encode())
                done = start
                receiver = dotted[1][: max(0, name.start() - 1)]
                use = Use.TYPE if name.end() == len(dotted[1]) else Use.VALUE
                if receiver or use == Use.TYPE or not self._is_variable(name[0], at):
                    yield Mention(at, self._code.row(at) + 1, name[0], use, receiver)

    def _key(self, node: Node) -> Mention | None:
        """Return the member that a name in an object literal sets: of what the place of the literal expects."""
        text = self._writer.text(node)
        literals = (outer for outer in outwards(node.parent) if outer.type not in self._shapes.around_keys)
        expected = self._writer.expected(next(literals, None))
        if expected in (UNKNOWN, LITERAL) or not is_name(text):
            return None
        return Mention(node.start_byte, self._code.row(node.start_byte) + 1, text, Use.KEY, expected)

    def _receiver(self, use: str, captures: Captures) -> str | None:
        """Return what stands before a name, or whose member it is; None for a name alone."""
        if before := captures.get("from"):
            return self._writer.value(before[0])
        if kind := captures.get("from.type"):
            return instance(self._writer.type(kind[0]))
        if qualified := captures.get("from.qualified"):
            return self._writer.type(qualified[0])
        if source := captures.get("from.module") or source_around(captures.get("from.around")):
            return module(self._writer.text(source[0]))
        return UNKNOWN if use == "field" or "from.other" in captures else None

    def _arguments(self, node: Node) -> tuple[int, str]:
        """Return the number of the arguments of a call, and what they are where that decides what is called."""
        nodes = arguments(node)
        values = self._writer.values(nodes) if self._shapes.overloads else []
        return len(nodes), f"({';'.join(values)})" if set(values) - {UNKNOWN} else ""

    def _find_variables(self) -> None:
        """Collect for each name where it holds a value: the offsets at which that begins and ends, in turn."""
        self._variables, self._taken = {}, {}
        named = {(bound.name, bound.stop) for bound in self._bound if bound.kind in ("declared", "alias")}
        for bound in self._bound:
            if (bound.name, bound.stop) not in named and (bound.start or not self._shapes.binds_imports):
                self._add(self._variables, bound)
            elif bound.kind == "alias" and self._shapes.taken:
                self._add(self._taken, bound)

    def _add(self, variables: dict[str, list[int]], bound: Bound) -> None:
        ends = variables.setdefault(bound.name, [])
        if not ends or bound.start > ends[-1]:
            ends += (bound.start, bound.stop)
        ends[-1] = max(ends[-1], bound.stop)

    def _is_variable(self, name: str, at: int) -> bool:
        return bisect_right(self._variables.get(name, ()), at) % 2 == 1

    def _is_written(self, name: str, at: int) -> bool:
        """Return whether only a variable is written: what is taken out of a value, or imported, is one of its own."""
        return self._is_variable(name, at) or bisect_right(self._taken.get(name, ()), at) % 2 == 1


def _collection(node: Node) -> Node:
    """Return what a node is an element of, also of elements, without what changes nothing but its type."""
    while node.type in _ELEMENTS and node.named_children:
        node = node.named_children[0]
    return node


def _decided(used: Iterable[Used]) -> Iterable[tuple[str, Node, Captures]]:
    """Return the use of each name, by its first pattern, with what another pattern says is before it."""
    uses: dict[tuple[int, bool], tuple[str, Node, Captures]] = {}  # The key is the end of the name.
    stated: dict[int, str] = {}
    for _, role, matches in sorted(used, key=itemgetter(0)):
        kind, _, use = role.partition(".")
        for captures in matches:
            node = captures[role][0]
            end = node.end_byte
            if (place := (end, use in _BESIDE or use.startswith(_INDEXED))) not in uses:
                if kind == "as":
                    stated.setdefault(_collection(node).end_byte, use)
                else:
                    uses[place] = (stated.get(end, use), node, captures)
    return uses.values()
