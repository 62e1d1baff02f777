"""Exact answers about one project: definitions, relations, impact, outlines and the repository map."""

import time
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, overload

from msgspec import Struct
from msgspec.structs import replace

from graphrag_mcp.errors import RequestError, UnknownNameError, quoted
from graphrag_mcp.graph.cases import cases_of, named_after, read_build_files
from graphrag_mcp.graph.chains import Flow
from graphrag_mcp.graph.elsewhere import IDENTIFIER, DefinedElsewhere
from graphrag_mcp.graph.flow import FlowSearch
from graphrag_mcp.graph.lookup import complete, dotted, find_file, find_nodes, unknown_name
from graphrag_mcp.graph.naming import with_named_lines
from graphrag_mcp.graph.reading import Body, Neighbourhood, find_neighbourhood, read_body
from graphrag_mcp.graph.relations import Relations
from graphrag_mcp.graph.tracing import BELOW, HOPS_TO_TESTS, Dependant, Step, Trace, dependant, trace
from graphrag_mcp.grep.occurrences import Files, Occurrences, read_texts
from graphrag_mcp.history.find import Past
from graphrag_mcp.model.files import CALLABLE, Category, SymbolKind
from graphrag_mcp.model.graph import NO_DOUBT, CodeNode, Direction, Doubt, Line
from graphrag_mcp.model.grouping import firsts, grouped, preferred
from graphrag_mcp.model.scope import EVERYTHING, Scope
from graphrag_mcp.ports import CodeRelations, SymbolGraph
from graphrag_mcp.text.counts import counted, listed
from graphrag_mcp.text.names import as_name
from graphrag_mcp.text.secrets import mask_secrets

if TYPE_CHECKING:  # The questions that need these import them.
    from graphrag_mcp.graph.changes import DiffImpact
    from graphrag_mcp.graph.impact import Impact
    from graphrag_mcp.graph.orientation import Orientation, RepositoryMap
    from graphrag_mcp.history.differing import Difference

    _AnyImpact = TypeVar("_AnyImpact", Impact, DiffImpact)

_NEEDS_INDEX = "this needs a local index; leave out --remote"
MOST_ASKED = 10  # Changed files whose companions are looked up.
MOST_TYPES = 5  # Whose tests are looked for, at each distance from a change.
MEMBERS_NAMED = 8  # Where a type lacks a name, its nearest members are named.
MEMBERS_COMPARED, NAME_COMPARED = 1_000, 48  # No member of a larger type is named, nor one for a longer name.
LINES_NAMING = 5  # Lines that are named, of those with a name that is defined elsewhere.
FILES_UNREAD = 2  # Files that are named, of those that may define it in lines that do not parse.


class FoundSymbol(Struct, frozen=True):
    """A definition with its direct references: calls, imports, subclasses, tests.

    also: other definitions with the same references: overloads and declarations. doubt: what is not known of them.
    members: what a file or a type defines.
    """

    node: CodeNode
    used: tuple[Dependant, ...]
    also: tuple[CodeNode, ...] = ()
    doubt: Doubt = NO_DOUBT
    members: tuple[CodeNode, ...] = ()


class SymbolRows(Sequence[FoundSymbol]):
    """The definitions of a name, in rows of those with the same references, which are found when a row is read.

    definitions: how many there are in all.
    """

    def __init__(self, rows: Sequence[Sequence[CodeNode]], read: Callable[[Sequence[CodeNode]], FoundSymbol]) -> None:
        self._rows, self._read = rows, read
        self.definitions = sum(map(len, rows))

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, place: int) -> FoundSymbol: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[FoundSymbol]: ...

    def __getitem__(self, place: int | slice) -> FoundSymbol | Sequence[FoundSymbol]:
        return list(map(self._read, self._rows[place])) if isinstance(place, slice) else self._read(self._rows[place])


class Outline(Struct, frozen=True):
    """A file and its definitions, or headings, in the order of their lines."""

    file: CodeNode
    definitions: tuple[CodeNode, ...]

    @property
    def nodes(self) -> list[CodeNode]:
        """All nodes that are shown."""
        return [self.file, *self.definitions]


class Navigator:
    """Answers from the code graph and from the current files."""

    def __init__(
        self, graph: SymbolGraph, relations: CodeRelations, root: Path, files: Files, past: Past | None, seconds: float
    ) -> None:
        """past: None where there is no history. seconds: what may be taken from git, for all that is asked."""
        self._past = past
        self.until = time.monotonic() + seconds
        self._graph = graph
        self._relations = relations
        self._root = root
        self.files = files

    def symbols(self, text: str, scope: Scope = EVERYTHING) -> SymbolRows:
        """Return the definitions that a name, path or location means, code first, and the references to each."""
        nodes = self.starts(text, scope)
        named = Counter((node.qualified_name, node.category) for node in nodes)

        def references(node: CodeNode) -> Hashable:
            """Return what definitions of one name have in common that are shown together."""
            if named[node.qualified_name, node.category] == 1:
                return node.node_id
            steps, _ = self._uses(node, scope)
            return frozenset((step.source.node_id, step.lines, step.edge.relation) for step in steps) or node.file_id

        def read(row: Sequence[CodeNode]) -> FoundSymbol:
            (steps, doubt), node = self._uses(row[0], scope), row[0]
            used = tuple(dependant(step.source, step.edge, step.lines) for step in steps)
            return FoundSymbol(node, used, tuple(row[1:]), doubt, self._defined_in(node))

        rows = grouped(((node.qualified_name, node.category, references(node)), node) for node in nodes)
        return SymbolRows(list(rows.values()), read)

    def read(self, nodes: Iterable[CodeNode], scope: Scope = EVERYTHING) -> list[Body]:
        """Return definitions or files as they are now, with what is around them."""
        parts = (self._graph, self._relations, self.files, self._past)
        return [read_body(*parts, node, scope, self.until) for node in nodes]

    def trace(
        self, text: str, direction: Direction, hops: int, scope: Scope = EVERYTHING, *, unresolved: bool = False
    ) -> Trace:
        """Follow one kind of relation from the definitions that a name means; see `tracing.trace`."""
        is_of_types = direction in (Direction.SUBCLASSES, Direction.IMPLEMENTERS)
        name, below = dotted(text.strip()).rpartition(".")[2], None
        may_be_foreign = is_of_types or direction is Direction.OVERRIDES
        if may_be_foreign and all(node.name != name for node in self.known(text, scope)):
            elsewhere = DefinedElsewhere(self._graph, self._relations, self._occurrences)
            find = elsewhere.below if is_of_types else elsewhere.overriding
            below = find(text.strip(), direction, hops, scope)
        starts = [] if below else self.code(text, scope)
        if is_of_types:  # A field or a function may have the name of its type.
            starts = preferred(starts, lambda node: node.kind is SymbolKind.TYPE)
        if direction is Direction.TESTS:  # A test may have the name of what it tests.
            starts = preferred(starts, lambda node: node.category is not Category.TESTS)
        found = below or self._trace(starts, direction, hops, scope, unresolved=unresolved)
        if direction is Direction.TESTS and all(step.hop > 1 for step in found.steps):
            known = {step.source for step in found.steps}
            found = replace(found, named=named_after(self._graph, starts, scope, known))
        # It may itself override a method of what is outside of the project.
        if direction is Direction.OVERRIDES and not found.steps:
            above = self._trace([*self._types_of(starts)], Direction.SUPERCLASSES, hops, scope)
            found = replace(found, stops=above.stops)
        return with_named_lines(self._graph, self._relations, self.files, found, scope)

    def readers(self, node: CodeNode, scope: Scope = EVERYTHING) -> Trace:
        """Return what reads a constant or a field."""
        return self._trace([node], Direction.READERS, 1, scope)

    def flow(
        self, starts: Mapping[CodeNode, float], ends: Mapping[CodeNode, float], question: str, scope: Scope = EVERYTHING
    ) -> Flow:
        """Return how the starts reach the ends, each with what it costs to choose it; none: all that they lead to."""
        search = FlowSearch(self._graph, self._local("from"), question, scope)
        if starts and ends:
            return search.between(starts, ends)
        return search.tree(starts or ends, forward=bool(starts))

    def code_at(self, path: str, first: int, last: int) -> list[CodeNode]:
        """Return the functions and types that begin within lines of a file, else the innermost around the first."""
        inside = [node for node in self._graph.in_file(path) if first <= node.start_line <= last]
        return preferred(inside, lambda node: node.kind in CALLABLE) or self._graph.in_file(path, first)[:1]

    def visible(self, paths: Collection[str], scope: Scope) -> set[str]:
        """Return those of the paths that are indexed, inside a scope."""
        return self._graph.visible(paths, scope)

    def texts(self, places: Collection[Line]) -> Mapping[Line, str]:
        """Return the text of lines by path and number; of generated files as they are now, since no index has them."""
        texts = dict(self._graph.lines(places))
        missing = grouped(place for place in places if place not in texts)
        for path, text in read_texts(self.files, sorted(missing)):
            rows = text.split("\n")
            texts |= {(path, line): rows[line - 1] for line in missing[path] if line <= len(rows)}
        return texts

    def around(self, text: str, hops: int, limit: int, scope: Scope = EVERYTHING) -> Neighbourhood:
        """Return the neighbourhood of the first definition that a name means; code comes before tests and the rest."""
        follow = partial(trace, self._graph, self._relations, hops=1, scope=scope)
        return find_neighbourhood(follow, self.starts(text, scope), hops, limit)

    def impact(self, text: str, hops: int, scope: Scope = EVERYTHING) -> "Impact":
        """Return what a change of a definition or a file may reach."""
        from graphrag_mcp.graph.impact import find_impact

        starts = self.code(text, scope)
        impact = find_impact(self._graph, self._relations, starts, hops, scope)
        impact = self._with_tests_of_types(impact, scope)
        together = self._past.together(impact.starts[0].path, scope) if self._past else ()
        return replace(impact, together=tuple(together), build_files=read_build_files(self._graph, self.files))

    def _with_tests_of_types(self, impact: "_AnyImpact", scope: Scope) -> "_AnyImpact":
        """Return an impact; if no test is known to reach it, with the tests of the types that own what is reached.

        Of the nearest level with such types. They reach the types themselves or through a helper.
        """
        if cases_of(impact.likely):
            return impact
        tested: dict[CodeNode, None] = {}
        tests: dict[CodeNode, None] = {}
        for nodes in impact.levels:
            for kind in islice(self._types_of(nodes), MOST_TYPES):
                steps = self._trace([kind], Direction.TESTS, HOPS_TO_TESTS, scope).steps
                sources = dict.fromkeys(step.source for step in steps if not step.is_guess)
                if cases := cases_of(list(sources)):
                    tested[kind] = None
                    tests |= dict.fromkeys(cases)
            if tests:
                break
        return replace(impact, types_tested=tuple(tested), tests_of_types=tuple(tests))

    def _types_of(self, members: Iterable[CodeNode]) -> Iterator[CodeNode]:
        """Yield the types that own some definitions."""
        inside = [member for member in members if not member.is_file]
        owners = {(member.path, member.qualified_name.rpartition(".")[0]) for member in inside}
        for path in dict.fromkeys(member.path for member in inside):
            types = (node for node in self._graph.in_file(path) if node.kind is SymbolKind.TYPE)
            yield from (node for node in types if (path, node.qualified_name) in owners)

    def difference(self, base: str, patch: str, hops: int, scope: Scope) -> "DiffImpact":
        """Return what a patch affects, or else what differs from a commit or in a range; see `differing_files`."""
        from graphrag_mcp.graph.changes import find_diff_impact, not_changed

        relations = self._local("base")
        difference = self.differing(base, patch, scope)
        paths = [file.path for file in difference.files if file.path]
        companions = [companion for path in paths[:MOST_ASKED] for companion in self.past.together(path, scope)]
        impact = find_diff_impact(self._graph, relations, difference, hops, scope, self.files.read)
        impact = self._with_tests_of_types(impact, scope)
        build_files = read_build_files(self._graph, self.files)
        return replace(impact, together=not_changed(companions, set(paths)), build_files=build_files)

    def differing(self, base: str, patch: str, scope: Scope) -> "Difference":
        """Return the files of a patch, or else those that differ from a commit or in a range, before and after."""
        from graphrag_mcp.history.differing import differing_files, patched_files

        listed = [file.path for file in self.files.listed(scope)]
        if patch:
            return patched_files(patch, listed, self.files.read)
        return differing_files(self._root, base, listed, self.files.read, self.until)

    @property
    def past(self) -> Past:
        """The history. Raises RequestError where there is none."""
        if self._past is None:
            raise RequestError("base", _NEEDS_INDEX)
        return self._past

    def _local(self, argument: str) -> Relations:
        """Return the relations of a local index. Raises RequestError when there is none."""
        if not isinstance(self._relations, Relations):
            raise RequestError(argument, f"{argument}: {_NEEDS_INDEX}")
        return self._relations

    def outline(self, path: str) -> Outline:
        """Return what a file defines. Raises RequestError when no such file is indexed."""
        file = find_file(self._graph, path, self._root)
        return Outline(file, tuple(self._graph.in_file(file.path)))

    def repository_map(self) -> "RepositoryMap":
        """Return the definitions, those that most of the code depends on first."""
        from graphrag_mcp.graph.orientation import map_repository

        return map_repository(self._graph)

    def orientation(self) -> "Orientation":
        """Return what a newcomer needs first."""
        from graphrag_mcp.graph.orientation import find_orientation

        return find_orientation(self._graph, self.files)

    def complete_path(self, beginning: str) -> list[str]:
        """Return the indexed paths that begin with the text, then those that contain it."""
        return complete(beginning, (file.path for file in self.files.listed(EVERYTHING)))

    def complete_symbol(self, beginning: str) -> list[str]:
        """Return the names of definitions likewise; for a text with a dot, qualified names too."""
        typed = dotted(beginning)
        qualified = self._graph.names(qualified=True) if "." in typed else []
        return complete(typed, dict.fromkeys([*self._graph.names(), *qualified]))

    def starts(self, text: str, scope: Scope = EVERYTHING) -> list[CodeNode]:
        """Return what a name, path or location means, code before tests and the rest. Raises RequestError for none."""
        if nodes := self.known(text, scope):
            return nodes
        self._refuse_assigned(text, scope)
        self._refuse_foreign(text.strip(), scope)
        name = text.strip().removesuffix("()")
        raise unknown_name(self._graph, name, scope, self._members_near(name, scope))

    def known(self, text: str, scope: Scope = EVERYTHING) -> list[CodeNode]:
        """Return the same, none where nothing is meant."""
        nodes = find_nodes(self._graph, text, self._root, scope)
        nodes = nodes or self._inherited(text, scope) or self._exported(text, scope)
        return sorted(nodes, key=_by_category)

    def _defined_in(self, node: CodeNode) -> tuple[CodeNode, ...]:
        """Return what a file defines, or the members of a type in its file, none for anything else."""
        if node.is_file:
            return tuple(self._graph.in_file(node.path))
        inside = self._graph.in_file(node.path) if node.kind is SymbolKind.TYPE else ()
        return tuple(inner for inner in inside if inner.qualified_name == f"{node.qualified_name}.{inner.name}")

    def _inherited(self, text: str, scope: Scope) -> list[CodeNode]:
        """Return the members of types above that a `Child.member` means."""
        types, name = self._owners(text.strip().removesuffix("()"), scope)
        for child in types:
            inherited = self._relations.inherited(child, name, scope)
            if members := self._definitions(inherited):
                return [node._replace(inherited_by=child.qualified_name) for node in members]
        return []

    def _refuse_assigned(self, text: str, scope: Scope) -> None:
        """Raise RequestError for an attribute that only methods give to a type."""
        types, name = self._owners(text.strip(), scope)
        for kind in types:
            if places := self._relations.assigned(kind, name):
                where = (
                    f"{quoted(text)} is an attribute that methods assign ({places[0]}), without a definition of its own"
                )
                raise RequestError("symbol", f"{where}; a text search for {name!r} lists the lines that name it")

    def _members_near(self, text: str, scope: Scope) -> str:
        """Return which members a type defines in its file, the nearest first, if the text names another one of it."""
        types, name = self._owners(text, scope)
        for kind in types[:1]:
            members = self._defined_in(kind)
            wanted = name[:NAME_COMPARED].lower()
            names = dict.fromkeys(as_name(node.name)[:NAME_COMPARED] for node in members[:MEMBERS_COMPARED])
            nearest = sorted(names, key=lambda other: -SequenceMatcher(None, wanted, other.lower()).ratio())
            if 0 < len(members) <= MEMBERS_COMPARED:
                shown = listed([mask_secrets(other) for other in nearest], MEMBERS_NAMED)
                return f"{as_name(kind.name)} ({as_name(kind.path)}:{kind.start_line}) defines {shown}"
        return ""

    def _refuse_foreign(self, text: str, scope: Scope) -> None:
        """Raise UnknownNameError with the lines that name what is defined elsewhere, if there are any."""
        if not IDENTIFIER.fullmatch(text) or not isinstance(self._relations, Relations):
            return
        found = self._occurrences(text.removesuffix("()"), scope, 1)
        if places := [f"{as_name(row.path)}:{row.line}" for row in found.lines]:
            lines = f"{counted(found.total, 'line names', 'lines name')} it: {listed(places, LINES_NAMING)}"
            unread = {path for row in found.lines for path in self._relations.unparsed(text, row.path)}
            files = listed(sorted(map(as_name, unread)), FILES_UNREAD)
            where = f", but a definition may be in lines that do not parse: {files}" if unread else ""
            raise UnknownNameError("symbol", f"nothing that is indexed defines {quoted(text)}{where}; {lines}")

    def _occurrences(self, name: str, scope: Scope, wanted: int) -> Occurrences:
        from graphrag_mcp.grep.hits import find_hits
        from graphrag_mcp.grep.needles import create_needle

        return find_hits(create_needle(name, whole_word=True), scope, self.files, wanted).occurrences

    def _owners(self, text: str, scope: Scope) -> tuple[list[CodeNode], str]:
        """Return the types that a text names before its last name, also those in a file, and that name."""
        path, _, member = text.rpartition("::") if "." in text.rpartition("::")[2] else ("", "", text)
        owner, _, name = dotted(member).rpartition(".")
        owners = find_nodes(self._graph, f"{path}::{owner}" if path else owner, self._root, scope) if owner else []
        return [node for node in owners if node.kind is SymbolKind.TYPE], name

    def _exported(self, name: str, scope: Scope) -> list[CodeNode]:
        """Return what files export under a name that is not its own."""
        return self._definitions(self._relations.exported(name.strip(), scope))

    def _definitions(self, ids: Iterable[int]) -> list[CodeNode]:
        return [node for node in self._graph.nodes(ids).values() if not node.is_file]

    def code(self, text: str, scope: Scope = EVERYTHING) -> Sequence[CodeNode]:
        """Return the same without the headings that are called as the code is: nothing calls them."""
        return preferred(self.starts(text, scope), lambda node: node.kind is not SymbolKind.SECTION)

    def _trace(
        self, starts: Sequence[CodeNode], direction: Direction, hops: int, scope: Scope, *, unresolved: bool = False
    ) -> Trace:
        parts = (self._graph, self._relations, starts, direction, hops, scope)
        return trace(*parts, with_members=True, unresolved=unresolved)

    def _uses(self, node: CodeNode, scope: Scope) -> tuple[list[Step], Doubt]:
        directions = (Direction.IMPORTERS,) if node.is_file else _USES
        traces = [self._trace([node], direction, 1, scope) for direction in directions]
        steps = (step for symbol_trace in traces for step in symbol_trace.steps)
        unique = firsts(steps, lambda step: (step.source.node_id, step.edge.relation in BELOW or step.edge.relation))
        return unique, traces[0].doubt


_USES = (Direction.USERS, Direction.SUBCLASSES, Direction.IMPORTERS)
_CATEGORIES = {category: position for position, category in enumerate(Category)}


def _by_category(node: CodeNode) -> tuple[int, bool, bool, str, int]:
    is_key = node.kind is SymbolKind.KEY
    return _CATEGORIES[node.category], node.is_archived, is_key, node.path, node.start_line
