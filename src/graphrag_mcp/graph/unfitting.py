"""What does not fit a definition any more since its parameters were edited: calls, and methods that override it.

What an edit changes is read from the syntax of the text before and after it. Calls are known from stored links, and
their arguments are counted in the present text of their files. What is not certain is left out.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from itertools import chain, repeat
from typing import TYPE_CHECKING, NamedTuple

from tree_sitter import Node, Query, QueryCursor, Tree

from graphrag_mcp.languages.registry import describe, detect_language, load_part
from graphrag_mcp.languages.shapes import Writer, arguments
from graphrag_mcp.languages.syntax import SourceCode
from graphrag_mcp.model.facts import METACLASS, Declared, FileFacts, Mark, Parameter, Takes, Use
from graphrag_mcp.model.files import ANY_COUNT, CALLABLE, Count, SymbolKind
from graphrag_mcp.model.graph import CodeNode, Line
from graphrag_mcp.model.grouping import grouped
from graphrag_mcp.model.links import How, Place, place_id
from graphrag_mcp.parsing.code.parts import behind_star, parse_part
from graphrag_mcp.text.names import as_name

if TYPE_CHECKING:  # The hook of `cli/hook.py` runs at each edit, and should not wait for these imports.
    from graphrag_mcp.graph.code import IndexedCode
    from graphrag_mcp.graph.definitions import ChangedDefinition
    from graphrag_mcp.languages.policy import Policy
    from graphrag_mcp.model.sources import FactSource
    from graphrag_mcp.resolution.references import LinkSource


MOST_FILES = 6  # No more files with calls are read.
_MOST_AROUND = 40  # Nodes of syntax around a function; one that is deeper has no name here.
_CALLED = ("function", "name", "constructor", "type")  # The fields of a call that may have what is called.
_UNCOUNTED = {"list_splat", "dictionary_splat", "spread_element", "variadic_argument", "template_string"}
_NAMED = "keyword_argument"
_OTHERS = {Mark.PROPERTY, Mark.TYPED, Mark.FIXTURE}  # Such functions are not called with what they declare.
# Decorators that do not change what calls give.
_KEEPING = {"staticmethod", "classmethod", "abstractmethod", "override", "final"}
_VOID = re.compile(r"\bvoid\b")


class Unfitting(NamedTuple):
    """A function with calls that do not fit: path, line, what they pass. is_all: whether all were looked at.

    passed: a number of arguments, or names of arguments in backticks that it does not take any more.
    """

    name: str
    takes: Takes
    calls: Sequence[tuple[str, int, str]]
    is_all: bool


class _Given(NamedTuple):
    """What a call passes. number: of its arguments, -1 where it is not known. names: those that it gives."""

    number: int
    names: frozenset[str]


class _Function(NamedTuple):
    """A function as a text has it. text: of its parameters. named: those that calls give by their names only."""

    parameters: Sequence[Parameter]
    text: str
    is_decorated: bool
    named: frozenset[str]
    takes_names: bool  # Whether it takes any.

    @property
    def names(self) -> list[str]:
        """The names of its parameters."""
        return [row.name for row in self.parameters]

    @property
    def needed(self) -> set[str]:
        """The names of those that each call gives."""
        return {row.name for row in self.parameters if not (row.optional or row.rest)}

    def takes(self, *, has_self: bool = False) -> Takes:
        """Return what it is given. has_self: whether the first parameter is the own instance or type."""
        is_passed = has_self and not any(row.rest for row in self.parameters[:1])
        return Takes.of(self.parameters[1:] if is_passed else self.parameters)


class _Change(NamedTuple):
    """A function that takes other arguments than before. declared, owner: it and the type around it, as indexed."""

    policy: "Policy"
    old: _Function
    new: _Function
    declared: Declared
    owner: Declared | None

    @property
    def takes(self) -> tuple[Takes, Takes]:
        """What a call gives before and after."""
        is_method = self.declared.kind == SymbolKind.METHOD and Mark.STATIC not in self.declared.marks
        has_self = is_method and self.policy.calls.passes_self
        return self.old.takes(has_self=has_self), self.new.takes(has_self=has_self)

    def gone(self, given: _Given) -> list[str]:
        """Return the names that a call gives and that the function does not take any more."""
        gone = given.names.intersection(self.old.names).difference(self.new.names)
        return [] if self.new.takes_names else sorted(gone)

    def lacking(self, given: _Given) -> list[str]:
        """Return the names that a call has to give now, and does not."""
        wanted = self.new.needed & self.new.named
        return [] if given.number < 0 else sorted(wanted - self.old.needed - given.names)

    def breaks(self, given: _Given) -> str:
        """Return what a call passes that was right before, and certainly is not any more; "" for nothing."""
        if names := self.gone(given):
            return ", ".join(f"`{as_name(name)}`" for name in names)
        if names := self.lacking(given):
            return f"no {', '.join(f'`{as_name(name)}`' for name in names)}"
        return str(given.number) if self._breaks(given.number) else ""

    def _breaks(self, count: int) -> bool:
        before, after = self.takes
        if not before.fits(count) or after.fits(count):
            return False
        if self.declared.kind == SymbolKind.METHOD and before.fits(count - 1) and after.fits(count - 1):
            return False  # `Type.method(instance, …)` has one more.
        # TypeScript: a parameter that may be void may be left out.
        if self.policy.names.has_spaces and count < after.least:
            types = {*self.declared.type_parameters, *(self.owner.type_parameters if self.owner else ())}
            lacking = {row.value.rstrip("!") for row in self.new.parameters[count:]}
            return not (lacking & types or _VOID.search(self.new.text))
        return True

    def target(self, facts: FileFacts) -> Declared | None:
        """Return what calls of it mean: itself, or the type that it makes; None where that is not certain."""
        function, owner, policy = self.declared, self.owner, self.policy
        decorators = {row.rpartition(".")[2] for row in function.decorators}
        is_plain = decorators <= _KEEPING and _OTHERS.isdisjoint(function.marks)
        if not is_plain or self.old.is_decorated != self.new.is_decorated or function.kind not in CALLABLE:
            return None
        if owner is None:
            return function
        if (function.name if function.name != owner.name else "") in policy.members.constructors:
            is_special = owner.bases or owner.decorators or any(mark.startswith(METACLASS) for mark in owner.marks)
            others = {f"{owner.qualified}.{name}" for name in policy.members.constructors} - {function.qualified}
            is_made = any(row.qualified in others for row in facts.declared)
            is_generated = any(row.module.startswith("lombok") for row in facts.imports)
            return None if is_made or is_generated or (policy.names.rebinds and is_special) else owner
        may_be_other = policy.calls.overloads and (owner.bases or function.name in policy.members.common)
        # A call of a protocol's method runs that of another type.
        is_protocol = any("Protocol" in base.type for base in owner.bases)
        return None if may_be_other or is_protocol else function


class Edit:
    """A file before and after an edit. functions: those that take other arguments now, by their qualified names."""

    def __init__(self, path: str, before: str, after: str) -> None:
        self._path, self._language, self._texts = path, detect_language(path), (before, after)
        self.functions: dict[str, tuple[_Function, _Function]] = {}
        is_counted = _counts_arguments(path)
        self._trees = [parse_part(text, self._language) if is_counted else None for text in self._texts]
        old, new = map(_functions, self._trees, repeat(self._language), self._texts)
        for name in (old.keys() & new.keys()) - {""}:
            pair = (*old[name], *new[name])
            if len(pair) == 2 and self._differ(*pair):
                self.functions[name] = pair[0], pair[1]

    def _differ(self, old: _Function, new: _Function) -> bool:
        """Return whether a function takes others: as many with other names are, where calls may give names."""
        is_renamed = describe(self._language).names_arguments and old.names != new.names
        return is_renamed or old.takes() != new.takes()

    def unfitting(
        self,
        facts: "FactSource",
        links: "LinkSource",
        read: Callable[[str], str | None],
        together: Mapping[int, _Change] | None = None,
    ) -> Iterator[Unfitting]:
        """Yield the functions with calls that do not fit. read: returns a file, None if it is not as it was indexed.

        together: as `changed` returns, of all edits made with this one, if there are others. A call of a method that
        others override does not fit if it fits none of them.
        """
        edited = self.changed(facts) if together is None else together
        for change, target in self._changes(facts):
            place = place_id(Place(self._path, target.qualified))
            overriding = _overriding(place, links) if target.kind in CALLABLE else set()
            if not overriding <= edited.keys():
                continue
            run = [change, *(edited[other] for other in overriding)]
            lines = _lines(self._path, place, target, links)
            counted = [(path, self._counts(path, target.name, read)) for path in sorted(lines)[:MOST_FILES]]
            passed = [
                (path, line, [own.breaks(given) for given in counts[line] for own in run])
                for path, counts in counted
                for line in sorted(lines[path] & counts.keys())
            ]
            calls = [(path, line, broken[0]) for path, line, broken in passed if all(broken)]
            if calls:
                yield Unfitting(target.name, change.takes[1], calls, len(lines) == len(counted))

    def changed(self, facts: "FactSource") -> dict[int, _Change]:
        """Return the changes of functions by the places of what calls of them mean."""
        return {place_id(Place(self._path, target.qualified)): change for change, target in self._changes(facts)}

    def _changes(self, facts: "FactSource") -> Iterator[tuple[_Change, Declared]]:
        """Yield the changes of those functions that are the only ones of their names, with what calls of them mean."""
        from graphrag_mcp.languages.policy import policy_of  # It imports much, and few edits need it.

        stored = facts.facts(self._path)
        if stored is None:
            return
        for name, pair in self.functions.items():
            declared = [row for row in stored.declared if row.qualified == name]
            others = [symbol for symbol in facts.find(facts.unit(self._path), name) if symbol.path != self._path]
            if len(declared) == 1 and not others:
                owner = stored.declared[declared[0].owner] if declared[0].owner >= 0 else None
                change = _Change(policy_of(self._language), *pair, declared[0], owner)
                if target := change.target(stored):
                    yield change, target

    def _counts(self, path: str, name: str, read: Callable[[str], str | None]) -> dict[int, list[_Given]]:
        """Return what calls of a name pass by line; none if the edit moved any in its own file."""
        text = read(path) or ""
        if path != self._path:
            return _counts_in(parse_part(text, detect_language(path)), name)
        if text not in self._texts:
            return {}
        old, new = (_counts_in(tree, name) for tree in self._trees)
        return new if old.keys() == new.keys() else {}


def _overriding(place: int, links: "LinkSource") -> set[int]:
    """Return the places of what overrides a method, also of what overrides that."""
    reached, level = set[int](), {place}
    while level:
        level = {link.source for link in links.to(level, (How.BELOW,))} - reached - {place}
        reached |= level
    return reached


def _lines(path: str, place: int, target: Declared, links: "LinkSource") -> dict[str, set[int]]:
    """Return the lines with calls that certainly mean a declaration; none if it may be given another value."""
    lines = dict[str, set[int]]()
    if not (links.to({place}, (How.REPLACED,)) or set(links.pending((target.name,))) - {path}):
        for link in links.to({place}, (How.CERTAIN,)):
            if link.use in (Use.CALL, Use.CREATE) and _counts_arguments(link.path):
                lines.setdefault(link.path, set()).add(link.line)
    return lines


def _counts_arguments(path: str) -> bool:
    """Return whether another number of arguments than a function takes is an error in the language of a file."""
    language = describe(detect_language(path))
    return language.has_facts and (language.types_calls or language.names_arguments)


def _functions(tree: Tree | None, language: str, text: str) -> dict[str, list[_Function]]:
    """Return the functions of a text by their qualified names; none where it does not parse."""
    if tree is None or tree.root_node.has_error:
        return {}
    shapes, found = load_part(language, "shapes").SHAPES, dict[str, list[_Function]]()
    writer, own = Writer(shapes, SourceCode(text), {}), {shapes.this} - {""}
    for node, part in _with(tree, "parameters"):
        rows = [row for row, _ in writer.parameters(part) if row.name not in own]
        beside = node.prev_named_sibling
        is_decorated = beside is not None and beside.type == "decorator"
        # `**names: str` is a typed parameter, which begins with the stars.
        begun = (inner for child in part.named_children for inner in (child, *child.named_children[:1]))
        takes_names = any(inner.type == "dictionary_splat_pattern" for inner in begun)
        function = _Function(rows, _text(part), is_decorated, behind_star(part), takes_names)
        found.setdefault(_qualified(node), []).append(function)
    return found


def _counts_in(tree: Tree | None, name: str) -> dict[int, list[_Given]]:
    """Return what the calls of a name pass, by the line of the name."""
    counts: dict[int, list[_Given]] = {}
    for call, given in _with(tree, "arguments"):
        leaf = next(filter(None, map(call.child_by_field_name, _CALLED)), call)
        while leaf.named_children:
            leaf = leaf.named_children[-1]
        if _text(leaf) == name:
            parts = arguments(given) if given.type in ("argument_list", "arguments") else [given]
            types = {part.type for part in parts}
            # In Go, a call as the only argument may give all of them.
            gives_several = given.type == "argument_list" and len(parts) == 1 and types == {"call_expression"}
            is_known = types.isdisjoint(_UNCOUNTED) and not (gives_several or given.has_error)
            named = (part.child_by_field_name("name") for part in parts if part.type == _NAMED)
            names = frozenset(map(_text, filter(None, named)))
            counts.setdefault(leaf.start_point.row + 1, []).append(_Given(len(parts) if is_known else -1, names))
    return counts


def _with(tree: Tree | None, field: str) -> Iterator[tuple[Node, Node]]:
    """Yield the nodes with a field, and what it has."""
    if tree is not None:
        for _, captures in QueryCursor(Query(tree.language, f"(_ {field}: (_) @part) @whole")).matches(tree.root_node):
            yield captures["whole"][0], captures["part"][0]


def _qualified(function: Node) -> str:
    """Return the qualified name of a function as facts have it, "" where it has none, or too many nodes around it."""
    names, node = list[str](), function
    around = function.parent
    if not function.child_by_field_name("name") and not (around and around.child_by_field_name("value") == function):
        return ""
    for _ in range(_MOST_AROUND):
        name, kind = node.child_by_field_name("name"), node.child_by_field_name("receiver")
        if name and (node is function or node.child_by_field_name("body") or node.child_by_field_name("value")):
            names.append(_text(name))
        while kind and kind.type != "type_identifier" and kind.named_children:
            kind = kind.named_children[0 if kind.type == "generic_type" else -1]
        if kind:
            names.append(_text(kind))
        if node.parent is None:
            return ".".join(names[::-1])
        node = node.parent
    return ""


def _text(node: Node) -> str:
    return (node.text or b"").decode(errors="replace")


class Misfits:
    """What does not fit any more, in one state of the index."""

    def __init__(self, code: "IndexedCode") -> None:
        self._code = code

    def calls(self, edits: Sequence[Edit], read: Callable[[str], str | None]) -> set[Line]:
        """Return the calls that certainly do not fit since edits. read: see `Edit.unfitting`."""
        facts = self._code.facts
        together = {place: change for edit in edits for place, change in edit.changed(facts).items()}
        functions = chain.from_iterable(edit.unfitting(facts, self._code.links, read, together) for edit in edits)
        return {(path, line) for function in functions for path, line, _ in function.calls}

    def miscounted(self, node: CodeNode, places: Set[Line], took: Count, takes: Count) -> set[Line]:
        """Return those of some places whose calls of a name gave a right number of arguments, and do not any more.

        In languages without facts; none in others. took, takes: the right numbers before and now.
        """
        if describe(self._code.language(node.path)).headers:  # Another declaration may have the default values.
            leasts = [each.least for each in self._code.facts.called(node.name) if each.most == takes.most]
            takes = Count(min((takes.least, *leasts)), takes.most)
        calls = self._code.calls_said(node.name, {path for path, _ in places})
        given = grouped((line, said.given) for line, said in calls)
        return {
            place
            for place in places & given.keys()
            if all(count.meets(took) and not count.meets(takes) for count in given[place])
        }

    def overriding(self, node: CodeNode, changed: "ChangedDefinition") -> set[int]:
        """Return the places of methods that take what a changed one above them took, and so override it no longer.

        Of those that must, in languages without facts that check it; none where they may override another one instead.
        """
        language = describe(self._code.language(node.path))
        took, takes = changed.took, changed.takes
        if not language.overrides_exactly or took.most == takes.most or ANY_COUNT in (took, takes):
            return set()
        named = [each for each in self._code.facts.called(node.name) if each.place != node.place]
        words = [*_words_before(changed.signature), *_words_before(changed.was)]
        # If it overrides, others override what is above it.
        if "override" in words or any(each.qualified_name == node.qualified_name for each in named):
            return set()
        if not language.blocks_implement:
            if any(each.most == takes.most for each in named):
                return set()
            if changed.has_body or not self._is_in_interface(node.path, node.qualified_name):
                named = [each for each in named if "override" in _words_before(each.signature)]
            else:
                explicit = [each for each in named if f".{each.name}" in each.signature.split("(")[0]]
                named = explicit or [
                    each for each in named if not self._is_in_interface(each.file.path, each.qualified_name)
                ]
        return {each.place for each in named if each.most == took.most}

    def _is_in_interface(self, path: str, member: str) -> bool:
        owner = member.rpartition(".")[0]
        around = (each for each in self._code.store.in_file(path) if each.qualified_name == owner)
        return any(map(self._code.is_interface, around))


def _words_before(signature: str) -> list[str]:
    """Return the words of a signature before its parameters."""
    return signature.split("(")[0].split()
