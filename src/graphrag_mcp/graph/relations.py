"""The relations of one definition: decided from facts where the language has them, else by name."""

import re
import sys
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import NamedTuple

from graphrag_mcp.model.expressions import parse
from graphrag_mcp.model.facts import Declared, FileFacts, Mark, Mention, Thing, Use
from graphrag_mcp.model.files import Category, RelationKind, SymbolKind
from graphrag_mcp.model.graph import Certainty, CodeEdge, CodeNode, Doubt, Mentioned, Place
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.ports import SymbolGraph
from graphrag_mcp.resolution.hierarchy import Hierarchy
from graphrag_mcp.resolution.search import Search, Site, functions_of
from graphrag_mcp.resolution.sources import FactSource
from graphrag_mcp.resolution.values import OUTSIDE, Found, Outside

_BY_SYNTAX = (RelationKind.IMPORTS, RelationKind.LINKS_TO, RelationKind.SUPERSEDES)  # Stored as rows in all languages.
_CALLABLE = (SymbolKind.FUNCTION, SymbolKind.METHOD)
_VARIABLE = (SymbolKind.FIELD, SymbolKind.CONSTANT)
_KINDS: dict[SymbolKind, dict[Use, RelationKind]] = {
    SymbolKind.TYPE: {
        Use.CALL: RelationKind.INSTANTIATES,
        Use.CREATE: RelationKind.INSTANTIATES,
        Use.BASE: RelationKind.INHERITS,
        Use.TYPE: RelationKind.USES,
        Use.VALUE: RelationKind.USES,
        Use.FILL: RelationKind.USES,
        Use.WRITE: RelationKind.WRITES,
    },
    SymbolKind.FUNCTION: {
        Use.CALL: RelationKind.CALLS,
        Use.CREATE: RelationKind.CALLS,
        Use.VALUE: RelationKind.HANDS_ON,
        Use.FILL: RelationKind.USES,
        Use.FUNCTION: RelationKind.HANDS_ON,
        Use.ELEMENT: RelationKind.WRITES,
        Use.TYPE: RelationKind.USES,
        Use.BASE: RelationKind.USES,
        Use.WRITE: RelationKind.WRITES,
    },
    SymbolKind.FIELD: {
        Use.CALL: RelationKind.CALLS,
        Use.CREATE: RelationKind.READS,
        Use.VALUE: RelationKind.READS,
        Use.FILL: RelationKind.READS,
        Use.TYPE: RelationKind.USES,
        Use.BASE: RelationKind.USES,
        Use.WRITE: RelationKind.WRITES,
    },
}


SECONDS = 0.3  # For the relations of one node: who asks again gets the rest.
_LEADING = (Use.CALL, Use.CREATE, Use.VALUE, Use.FUNCTION)  # What may let a program go on elsewhere.
_READING = (Use.CALL, Use.CREATE, Use.VALUE)
MAX_NAMED = 12  # Of methods that an undecided call may mean; more say nothing.
LEAST_RECEIVER = 3  # Letters of a receiver that says what its type is called.
_FILLING = re.compile(  # Methods of collections, in all languages.
    "add|addAll|append|appendleft|enqueue|extend|insert|offer|push|put|putAll|set|setdefault|store|unshift|update"
)
_LAST_NAME = re.compile(r"\w+(?=\W*\Z)")


class Lead(NamedTuple):
    """A place from which a program, or what it stored, may go on at another definition.

    choices: how many definitions the place may mean. read: the variable that is written there, and where it is read.
    """

    edge: CodeEdge
    choices: int = 1
    read: str = ""


def _inside(facts: FileFacts, around: Declared | None) -> list[int]:
    """Return the numbers of the functions with a name inside a function, or in a file."""
    start, stop = (around.start, around.stop) if around else (0, sys.maxsize)
    return [
        number
        for number, one in enumerate(facts.declared)
        if one.name and one.kind in _CALLABLE and one is not around and start <= one.start < one.stop <= stop
    ]


def _surest(leads: Iterable[Lead]) -> list[Lead]:
    """Return one lead to each definition: the surest, then the first."""
    ordered = sorted(leads, key=lambda lead: (-lead.edge.confidence, lead.choices, lead.edge.line))
    return list({lead.edge.target_id: lead for lead in reversed(ordered)}.values())


def _is_foreign_function(found: Found) -> bool:
    """Return whether a name is one of a foreign module, or one that nothing declares; builtins are neither."""
    is_named = isinstance(found.value, Outside) and ("." in found.value.name or found.value == OUTSIDE)
    return not found.things and is_named


class Relations:
    """Answers from one state of the index, and remembers what it resolved."""

    def __init__(self, store: SymbolGraph, facts: FactSource) -> None:
        self._store, self._facts = store, facts
        self._search = Search(facts)
        self._hierarchy = Hierarchy(self._search)
        self._nodes: dict[str, list[CodeNode]] = {}
        self._known_overriding: dict[Thing, list[Thing]] = {}
        self._guard = threading.Lock()

    # ------------------------------------------------------------ to a definition

    def decides(self, path: str) -> bool:
        """Return whether a file has facts, so that its relations are decided."""
        return self._facts.has(path)

    def incoming(
        self, node: CodeNode, kinds: Sequence[RelationKind], scope: Scope, seconds: float = SECONDS
    ) -> tuple[list[CodeEdge], Doubt]:
        """Return the relations to a node, undecided ones too, and what is not known of them."""
        with self._guard:
            self._search.begin(seconds)
            return self._incoming(node, kinds, scope)

    def _incoming(self, node: CodeNode, kinds: Sequence[RelationKind], scope: Scope) -> tuple[list[CodeEdge], Doubt]:
        things = self._things(node)
        if not things:
            edges = self._store.incoming(node, kinds, scope)
            shown = {edge.relation_id for edge in edges}
            undecided = self._store.undecided([node], kinds, scope, shown)
            return edges, Doubt(undecided=undecided, is_typed=False)
        by_syntax = [kind for kind in kinds if kind in _BY_SYNTAX]
        edges = self._store.incoming(node, by_syntax, scope) if by_syntax else []
        below = [edge for edge in self._hierarchical(node, things, kinds) if edge.kind in kinds]
        sites, others, left = self._sites(things)
        visible = self._store.visible({site.path for site, _ in sites}, scope)
        found = [self._edge_to(node, things, site, certainty) for site, certainty in sites if site.path in visible]
        asked = set(kinds) - ({RelationKind.INHERITS} if RelationKind.IMPLEMENTS in kinds else set())  # The same twice.
        found = [*below, *(edge for edge in found if edge.kind in asked)]
        undecided = frozenset((edge.path, edge.line) for edge in found if edge.certainty is Certainty.BY_NAME)
        is_listed = not self._search.resolver.is_common(
            things[0]
        )  # Any receiver has it: to list them all says nothing.
        if not is_listed:
            found = [edge for edge in found if edge.certainty is not Certainty.BY_NAME]
        unparsed = frozenset(self._facts.unparsed(node.name, self._language(node.path)))
        return edges + found, Doubt(
            undecided, frozenset(others), unparsed, left or int(self._search.is_cut), is_listed=is_listed
        )

    def _sites(self, things: Sequence[Thing]) -> tuple[list[tuple[Site, Certainty]], Set[Place], int]:
        """Return the places that mean or may mean the things, those that mean others, and how many files are left."""
        declared = self._search.resolver.declared
        above = {
            one
            for thing in things
            if declared(thing).kind == SymbolKind.METHOD
            for one in self._hierarchy.overridden(thing)
        }
        handed = {one for thing in things for one in self._hierarchy.handed_as(thing)}
        meant = frozenset(self._with_constructed(things))
        found: list[tuple[Site, Certainty]] = []
        sites, others, left = self._search.sites(meant | above | handed)
        for site in sites:
            if any(thing in meant for thing in site.things):
                if self._is_of(things, site):
                    found.append((site, Certainty.CERTAIN if site.is_certain else Certainty.MAY_CALL))
            elif site.things:
                is_handed = site.mention.use == Use.CALL and not handed.isdisjoint(site.things)
                if is_handed or any(self._hierarchy.may_reach(site, thing) for thing in things):
                    found.append((site, Certainty.MAY_CALL))
            elif any(self._search.can_mean(site, thing) for thing in things):
                found.append((site, Certainty.BY_NAME))
        return found, others, left

    def _with_constructed(self, things: Sequence[Thing]) -> Iterator[Thing]:
        """Yield the things, and for a constructor its type, and those that inherit it: whoever creates one calls it."""
        for thing in things:
            yield thing
            owner = self._hierarchy.owner_of(thing)
            if owner is not None and self._search.resolver.is_constructor(thing, owner):
                yield from (owner, *self._hierarchy.inheriting(thing))

    def _is_of(self, things: Sequence[Thing], site: Site) -> bool:
        """Return whether a site is one of the things themselves, or creates what a constructor makes."""
        return any(thing in things for thing in site.things) or site.mention.use in (Use.CALL, Use.CREATE)

    def _edge_to(self, node: CodeNode, things: Sequence[Thing], site: Site, certainty: Certainty) -> CodeEdge:
        source = self._search.around(site.path, site.mention.at, named=True)
        source_id = self._node_id(site.path, source, is_around=True)
        kind = self._relation(things[0], site.mention)
        is_guess = certainty is Certainty.BY_NAME
        return CodeEdge(source_id, node.node_id, kind, site.path, site.mention.line, certainty, is_guess=is_guess)

    def _hierarchical(
        self, node: CodeNode, things: Sequence[Thing], kinds: Sequence[RelationKind]
    ) -> Iterator[CodeEdge]:
        if RelationKind.IMPLEMENTS in kinds and node.kind is SymbolKind.TYPE:
            below = (
                one for thing in things for one in (*self._hierarchy.children(thing), *self._hierarchy.functions(thing))
            )
            yield from self._below(node, below, RelationKind.IMPLEMENTS)
            alike = (one for thing in things for one in self._hierarchy.alike(thing))
            for edge in self._below(node, alike, RelationKind.IMPLEMENTS):
                yield edge._replace(certainty=Certainty.BY_NAME, is_guess=True)
        if RelationKind.OVERRIDES in kinds and node.kind is SymbolKind.METHOD:
            below = (
                one
                for thing in things
                for one in (*self._hierarchy.overriding(thing), *self._hierarchy.functions(thing))
            )
            yield from self._below(node, below, RelationKind.OVERRIDES)

    def _below(self, node: CodeNode, things: Iterable[Thing], kind: RelationKind) -> Iterator[CodeEdge]:
        for thing in dict.fromkeys(things):
            line = self._search.resolver.declared(thing).line
            yield CodeEdge(self._node_id(thing.path, thing), node.node_id, kind, thing.path, line)

    # ------------------------------------------------------------ from a definition

    def outgoing(
        self, node: CodeNode, kinds: Sequence[RelationKind], scope: Scope, seconds: float = SECONDS
    ) -> tuple[list[CodeEdge], list[Mentioned]]:
        """Return the relations from a node, and its mentions that are not decided."""
        with self._guard:
            self._search.begin(seconds)
            return self._outgoing(node, kinds, scope)

    def _outgoing(
        self, node: CodeNode, kinds: Sequence[RelationKind], scope: Scope
    ) -> tuple[list[CodeEdge], list[Mentioned]]:
        things = self._things(node)
        if not things:
            return self._store.outgoing(node, kinds, scope)
        by_syntax = [kind for kind in kinds if kind in _BY_SYNTAX]
        edges, unknown = self._store.outgoing(node, by_syntax, scope) if by_syntax else ([], [])
        resolver = self._search.resolver
        for kind, above in (
            (RelationKind.IMPLEMENTS, self._hierarchy.parents),
            (RelationKind.OVERRIDES, self._hierarchy.overridden),
        ):
            if kind in kinds and (node.kind is SymbolKind.TYPE) is (kind is RelationKind.IMPLEMENTS):
                found = dict.fromkeys(one for thing in things for one in above(thing))
                edges += [self._edge_from(node, one, kind, resolver.declared(things[0]).line) for one in found]
        for thing in things:
            for mention in self._mentions_in(thing):
                meant = resolver.resolve(thing.path, mention)
                if meant is None or _is_foreign_function(meant):
                    is_defined = meant is None and bool(self._facts.named(mention.name))
                    unknown.append(
                        Mentioned(RelationKind.CALLS, mention.name, "", thing.path, mention.line, is_defined)
                    )
                for one in meant.things if meant else ():
                    kind = self._relation(one, mention)
                    if kind in kinds:
                        certainty = Certainty.MAY_CALL if meant and meant.is_open else Certainty.CERTAIN
                        edges.append(self._edge_from(node, one, kind, mention.line)._replace(certainty=certainty))
        return edges, unknown

    def leads(self, node: CodeNode, seconds: float = SECONDS) -> list[Lead]:
        """Return where a program may go on from a definition, or from the code of a file outside of functions.

        Where it calls, creates, hands over, and calls what a variable holds; from a function to those inside it; from a
        type to its methods.
        """
        with self._guard:
            self._search.begin(seconds)
            return _surest(lead for lead in self._leads(node) if lead.edge.target_id != node.node_id)

    def data_leads(self, node: CodeNode, seconds: float = SECONDS) -> list[Lead]:
        """Return who reads the fields and shared variables that a function writes, or to which it adds something."""
        with self._guard:
            self._search.begin(seconds)
            facts = self._facts.facts(node.path)
            functions = [facts.declared[thing.number] for thing in self._things(node)] if facts else []
            found = (lead for one in functions for lead in self._data_leads(node, self._mentions_of(node.path, one)))
            return _surest(lead for lead in found if lead.edge.target_id != node.node_id)

    def _data_leads(self, node: CodeNode, mentions: Iterable[Mention]) -> Iterator[Lead]:
        written: dict[Thing, int] = {}
        for mention in mentions:
            for thing in self._written(node.path, mention):
                written.setdefault(thing, mention.line)
        for thing, line in written.items():
            name = self._search.resolver.declared(thing).name
            readers: dict[int, Site] = {}
            for site in self._search.sites(frozenset((thing,))).found:
                if site.things and site.mention.use in _READING:
                    around = self._search.around(site.path, site.mention.at, named=True)
                    readers.setdefault(self._node_id(site.path, around, is_around=True), site)
            for target_id, site in readers.items():
                certainty = Certainty.CERTAIN if len(readers) == 1 else Certainty.MAY_CALL
                edge = CodeEdge(node.node_id, target_id, RelationKind.READS, node.path, line, certainty)
                yield Lead(edge, len(readers), f"{name} is read at {site.path}:{site.mention.line}")

    def _written(self, path: str, mention: Mention) -> Sequence[Thing]:
        """Return the variables and fields that a mention writes, or to whose value it adds something."""
        resolver = self._search.resolver
        if mention.use == Use.CALL and _FILLING.fullmatch(mention.name) and mention.receiver:
            meant = resolver.found(path, mention.at, parse(mention.receiver))
        else:
            meant = resolver.resolve(path, mention) if mention.use in (Use.WRITE, Use.FILL) else None
        return [one for one in meant.things if resolver.declared(one).kind in _VARIABLE] if meant else ()

    def _leads(self, node: CodeNode) -> Iterator[Lead]:
        facts = self._facts.facts(node.path)
        if facts is None:
            yield from self._stored_leads(node)
            return
        if node.is_file:
            yield from self._leads_of_code(node, facts, None)
        for thing in self._things(node):
            one = facts.declared[thing.number]
            if one.kind == SymbolKind.TYPE:
                yield from self._leads_of_type(node, thing)
            elif one.kind in _VARIABLE:
                yield from self._leads_to(node, self._held(thing), RelationKind.HANDS_ON, one.line)
            else:
                yield from self._leads_of_code(node, facts, one)

    def _stored_leads(self, node: CodeNode) -> Iterator[Lead]:
        """Yield the calls of a definition in a language without facts: by names and imports."""
        edges, _ = self._store.outgoing(node, (RelationKind.CALLS, RelationKind.INSTANTIATES), Scope())
        choices = Counter(edge.line for edge in edges if edge.is_guess)
        for edge in edges:
            if not edge.is_guess:
                yield Lead(edge)
            elif choices[edge.line] <= MAX_NAMED:
                yield Lead(edge._replace(certainty=Certainty.BY_NAME), choices[edge.line])

    def _leads_of_type(self, node: CodeNode, kind: Thing) -> Iterator[Lead]:
        """Yield the methods of a type: those that run when it, or an instance, is called come before all others."""
        resolver = self._search.resolver
        methods = resolver.methods_of(kind)
        for method in methods:
            is_run = resolver.is_run_by_call(method, kind)
            edge = self._edge_from(node, method, RelationKind.CONTAINS, resolver.declared(method).line)
            certainty = Certainty.CERTAIN if is_run else Certainty.MAY_CALL
            yield Lead(edge._replace(certainty=certainty), 1 if is_run else len(methods))

    def _leads_of_code(self, node: CodeNode, facts: FileFacts, around: Declared | None) -> Iterator[Lead]:
        """Yield the leads of a function, or of a file, without those of the functions inside it."""
        for number in _inside(facts, around) if around else ():
            line = facts.declared[number].line
            yield from self._leads_to(node, [Thing(node.path, number)], RelationKind.CONTAINS, line)
        for mention in self._mentions_of(node.path, around):
            if mention.use in _LEADING:
                yield from self._leads_at(node, mention)

    def _mentions_of(self, path: str, around: Declared | None) -> Iterator[Mention]:
        """Yield the mentions in a function, or in a file, that are in no function inside it."""
        facts = self._facts.facts(path)
        start, stop = (around.start, around.stop) if around else (0, sys.maxsize)
        inner = [facts.declared[number] for number in _inside(facts, around)] if facts else []
        for mention in facts.mentions if facts else ():
            if start <= mention.at < stop and not any(one.start <= mention.at < one.stop for one in inner):
                yield mention

    def _leads_at(self, node: CodeNode, mention: Mention) -> Iterator[Lead]:
        resolver = self._search.resolver
        meant = resolver.resolve(node.path, mention)
        if meant is None or not meant.things:
            if mention.use == Use.CALL and mention.receiver:
                yield from self._leads_by_name(node, mention, is_foreign=meant is not None)
            return
        certainty = Certainty.MAY_CALL if meant.is_open else Certainty.CERTAIN
        for thing in meant.things:
            kind = self._relation(thing, mention)
            declared = resolver.declared(thing)
            if kind is RelationKind.CALLS and declared.kind in _VARIABLE:
                yield from self._leads_to(node, self._held(thing), kind, mention.line, Certainty.MAY_CALL)
            elif kind is not RelationKind.READS or Mark.PROPERTY in declared.marks:
                yield from self._leads_to(node, [thing], kind, mention.line, certainty)
                if kind is RelationKind.CALLS:
                    yield from self._leads_to(node, self._overriding(thing), kind, mention.line, Certainty.MAY_CALL)

    def _leads_by_name(self, node: CodeNode, mention: Mention, *, is_foreign: bool) -> Iterator[Lead]:
        """Yield what an undecided call may mean: the methods of a type that is called like the receiver, else all.

        is_foreign: whether the receiver is of a library, so that only a member that it was given can be meant.
        """
        site = Site(node.path, mention, ())
        named = [one for one in self._facts.named(mention.name) if self._search.can_mean(site, one)]
        code = [one for one in named if self._category(one.path) is node.category]
        receiver = _LAST_NAME.search(mention.receiver)
        near = [one for one in code if receiver and self._is_called(one, receiver[0])]
        things = near or ([] if is_foreign else code)
        if len(things) <= MAX_NAMED:
            yield from self._leads_to(node, things, RelationKind.CALLS, mention.line, Certainty.BY_NAME)

    def _is_called(self, member: Thing, receiver: str) -> bool:
        """Return whether the type of a member is called like a receiver: `Session` or `DbSession` like `session`."""
        owner = self._search.resolver.declared(member).qualified.rpartition(".")[0].rpartition(".")[2].lower()
        return len(receiver) >= LEAST_RECEIVER and owner.endswith(receiver.lower().lstrip("_"))

    def _category(self, path: str) -> Category | None:
        nodes = self._nodes_of(path)
        return nodes[0].category if nodes else None

    def _leads_to(
        self,
        node: CodeNode,
        things: Sequence[Thing],
        kind: RelationKind,
        line: int,
        certainty: Certainty = Certainty.CERTAIN,
    ) -> Iterator[Lead]:
        for thing in things:
            yield Lead(self._edge_from(node, thing, kind, line)._replace(certainty=certainty), len(things))

    def _held(self, thing: Thing) -> Sequence[Thing]:
        """Return the functions that a variable or field holds, as far as what is assigned to it is known."""
        return functions_of(self._search.resolver.meaning((thing,)))

    def _overriding(self, thing: Thing) -> Sequence[Thing]:
        if self._search.resolver.declared(thing).kind != SymbolKind.METHOD:
            return ()
        known = self._known_overriding.get(thing)
        if known is None:
            known = self._hierarchy.declared_below(thing)
            if not self._search.is_cut:
                self._known_overriding[thing] = known
        return known

    def _edge_from(self, node: CodeNode, target: Thing, kind: RelationKind, line: int) -> CodeEdge:
        target_id = self._node_id(target.path, target)
        return CodeEdge(node.node_id, target_id, kind, node.path, line)

    def _mentions_in(self, thing: Thing) -> Iterator[Mention]:
        facts = self._facts.facts(thing.path)
        one = self._search.resolver.declared(thing)
        for mention in facts.mentions if facts else ():
            if one.start <= mention.at < one.stop and mention.use in (Use.CALL, Use.CREATE):
                yield mention

    def _language(self, path: str) -> str:
        facts = self._facts.facts(path)
        return facts.language if facts else ""

    def _relation(self, thing: Thing, mention: Mention) -> RelationKind:
        """Return what a mention of a declaration is."""
        declared = self._search.resolver.declared(thing)
        kind = SymbolKind.FIELD if Mark.PROPERTY in declared.marks else SymbolKind(declared.kind)
        kinds = _KINDS.get(SymbolKind.FUNCTION if kind in _CALLABLE else kind, _KINDS[SymbolKind.FIELD])
        found = kinds.get(Use(mention.use), RelationKind.CONTAINS)
        is_embedded = found is RelationKind.INHERITS and self._search.resolver.has_method_sets(thing)
        return RelationKind.USES if is_embedded else found

    # ------------------------------------------------------------ nodes and things

    def _things(self, node: CodeNode) -> list[Thing]:
        """Return the declarations of a node; none for a file, a key, or a language without facts."""
        facts = None if node.is_file or node.kind is SymbolKind.KEY else self._facts.facts(node.path)
        return [
            Thing(node.path, number)
            for number, one in enumerate(facts.declared if facts else ())
            if one.qualified == node.qualified_name and node.start_line <= one.line <= node.end_line
        ]

    def _nodes_of(self, path: str) -> list[CodeNode]:
        nodes = self._nodes.get(path)
        if nodes is None:
            nodes = self._nodes[path] = self._store.in_file(path)
        return nodes

    def _node_id(self, path: str, thing: Thing | None, *, is_around: bool = False) -> int:
        """Return the node of a declaration, or of the file; is_around: or of the innermost one around that has one."""
        nodes = self._nodes_of(path)
        if thing is not None:
            one = self._search.resolver.declared(thing)
            for node in nodes:
                if node.qualified_name == one.qualified and node.start_line <= one.line <= node.end_line:
                    return node.node_id
            around = self._search.around(path, one.start, named=True, outside=thing)
            if around is not None and (is_around or not one.name):
                return self._node_id(path, around, is_around=is_around)
        if nodes:
            return -nodes[0].file_id
        file = self._store.file(path)
        return file.node_id if file else 0
