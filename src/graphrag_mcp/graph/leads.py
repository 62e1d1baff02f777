"""Where a program, or what it stored, may go on from a definition: the steps of flows."""

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from graphrag_mcp.graph.code import IndexedCode
from graphrag_mcp.model.expressions import parse
from graphrag_mcp.model.facts import Declared, FileFacts, Mention, Thing, Use
from graphrag_mcp.model.files import CALLABLE, VARIABLE, Category, RelationKind, SymbolKind
from graphrag_mcp.model.graph import Certainty, CodeEdge, CodeNode
from graphrag_mcp.resolution.search import Site, functions_of

_LEADING = (Use.CALL, Use.CREATE, Use.VALUE, Use.FUNCTION)  # What may let a program go on elsewhere.
_READING = (Use.CALL, Use.CREATE, Use.VALUE)
MAX_NAMED = 12  # Of methods that an undecided call may mean; more say nothing.
LEAST_RECEIVER = 3  # Letters of a receiver that says what its type is called.
_FILLING = re.compile(  # Methods of collections, in all languages.
    "add|addAll|append|appendleft|enqueue|extend|insert|offer|push|put|putAll|set|setdefault|store|unshift|update"
)
_INVOKING = ("call", "apply")  # Members of functions in JavaScript.
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
        for number, inner in enumerate(facts.declared)
        if inner.name and inner.kind in CALLABLE and inner is not around and start <= inner.start < inner.stop <= stop
    ]


def _surest(leads: Iterable[Lead]) -> list[Lead]:
    """Return one lead to each definition: the surest, then the first."""
    ordered = sorted(leads, key=lambda lead: (-lead.edge.confidence, lead.choices, lead.edge.line))
    return list({lead.edge.target_id: lead for lead in reversed(ordered)}.values())


class Leads:
    """Finds the leads of definitions."""

    def __init__(self, code: IndexedCode) -> None:
        self._code = code

    def onward(self, node: CodeNode) -> list[Lead]:
        """Return where a program may go on from a definition, or from the code of a file outside of functions.

        Where it calls, creates, hands over, and calls what a variable holds; from a function to those inside it; from a
        type to its methods.
        """
        with self._code.searching():
            return _surest(lead for lead in self._leads(node) if lead.edge.target_id != node.node_id)

    def of_data(self, node: CodeNode) -> list[Lead]:
        """Return who reads the fields and shared variables that a function writes, or to which it adds something."""
        with self._code.searching():
            facts = self._code.facts.facts(node.path)
            functions = [facts.declared[thing.number] for thing in self._code.things(node)] if facts else []
            mentions = (one for function in functions for one in self._mentions_of(node.path, function))
            return _surest(one for one in self._data_leads(node, mentions) if one.edge.target_id != node.node_id)

    def _data_leads(self, node: CodeNode, mentions: Iterable[Mention]) -> Iterator[Lead]:
        written: dict[Thing, int] = {}
        for mention in mentions:
            for thing in self._written(node.path, mention):
                written.setdefault(thing, mention.line)
        for thing, line in written.items():
            name = self._code.resolver.declared(thing).name
            readers: dict[int, Site] = {}
            for site in self._code.search.sites((thing,)).found:
                if site.target and site.mention.use in _READING:
                    readers.setdefault(self._code.source_id(site.path, site.source), site)
            for target_id, site in readers.items():
                certainty = Certainty.CERTAIN if len(readers) == 1 else Certainty.MAY_CALL
                edge = CodeEdge(node.node_id, target_id, RelationKind.READS, node.path, line, certainty)
                yield Lead(edge, len(readers), f"{name} is read at {site.path}:{site.mention.line}")

    def _written(self, path: str, mention: Mention) -> Sequence[Thing]:
        """Return the variables and fields that a mention writes, or to whose value it adds something."""
        resolver = self._code.resolver
        if mention.use == Use.CALL and _FILLING.fullmatch(mention.name) and mention.receiver:
            meant = resolver.names.found(path, mention.at, parse(mention.receiver))
        else:
            meant = resolver.resolve(path, mention) if mention.use in (Use.WRITE, Use.FILL) else None
        return [thing for thing in meant.things if resolver.declared(thing).kind in VARIABLE] if meant else ()

    def _leads(self, node: CodeNode) -> Iterator[Lead]:
        facts = self._code.facts.facts(node.path)
        if facts is None:
            yield from self._stored_leads(node)
            return
        if node.is_file:
            yield from self._leads_of_code(node, facts, None)
        for thing in self._code.things(node):
            declared = facts.declared[thing.number]
            if declared.kind == SymbolKind.TYPE:
                yield from self._leads_of_type(node, thing)
            elif declared.kind in VARIABLE:
                yield from self._leads_to(node, self._held(thing), RelationKind.HANDS_ON, declared.line)
                given = self._leads_of_code(node, facts, declared)
                yield from (lead for lead in given if lead.edge.kind is RelationKind.HANDS_ON)
            else:
                yield from self._leads_of_code(node, facts, declared)

    def _stored_leads(self, node: CodeNode) -> Iterator[Lead]:
        """Yield the calls of a definition in a language without facts: by names and imports."""
        edges, _ = self._code.edges_in(node, (RelationKind.CALLS, RelationKind.INSTANTIATES))
        choices = Counter(edge.line for edge in edges if edge.is_guess)
        for edge in edges:
            if not edge.is_guess:
                yield Lead(edge)
            elif choices[edge.line] <= MAX_NAMED:
                yield Lead(edge._replace(certainty=Certainty.BY_NAME), choices[edge.line])

    def _leads_of_type(self, node: CodeNode, kind: Thing) -> Iterator[Lead]:
        """Yield the methods of a type: those that run when it, or an instance, is called come before all others."""
        resolver = self._code.resolver
        methods = resolver.things.methods_of(kind)
        for method in methods:
            is_run = resolver.things.is_run_by_call(method, kind)
            edge = self._code.edge_from(node, method, RelationKind.CONTAINS, resolver.declared(method).line)
            certainty = Certainty.CERTAIN if is_run else Certainty.MAY_CALL
            yield Lead(edge._replace(certainty=certainty), 1 if is_run else len(methods))

    def _leads_of_code(self, node: CodeNode, facts: FileFacts, around: Declared | None) -> Iterator[Lead]:
        """Yield the leads of a function, or of a file, without those of the functions inside it."""
        for number in _inside(facts, around) if around else ():
            line = facts.declared[number].line
            yield from self._leads_to(node, [Thing(node.path, number)], RelationKind.CONTAINS, line)
        mentions = list(self._mentions_of(node.path, around))
        members = {
            one.at - len(".") - len(one.receiver.rpartition(".")[2]): one.name for one in mentions if one.receiver
        }
        for mention in mentions:
            member = members.get(mention.at) if mention.use == Use.VALUE else None
            if member in _INVOKING:
                yield from self._leads_at(node, msgspec.structs.replace(mention, use=Use.CALL))
            elif mention.use in _LEADING and member is None:  # Whose member is asked for is not handed over.
                yield from self._leads_at(node, mention)

    def _mentions_of(self, path: str, around: Declared | None) -> Iterator[Mention]:
        """Yield the mentions in a function, or in a file, that are in no function inside it."""
        facts = self._code.facts.facts(path)
        start, stop = (around.start, around.stop) if around else (0, sys.maxsize)
        inner = [facts.declared[number] for number in _inside(facts, around)] if facts else []
        for mention in facts.mentions if facts else ():
            if start <= mention.at < stop and not any(one.start <= mention.at < one.stop for one in inner):
                yield mention

    def _leads_at(self, node: CodeNode, mention: Mention) -> Iterator[Lead]:
        resolver = self._code.resolver
        meant = resolver.resolve(node.path, mention)
        if meant is None or not meant.things:
            if mention.use == Use.CALL and mention.receiver:
                yield from self._leads_by_name(node, mention, is_foreign=meant is not None)
            return
        certainty = Certainty.MAY_CALL if meant.is_open else Certainty.CERTAIN
        for thing in meant.things:
            kind = self._code.relation(thing, mention)
            declared = resolver.declared(thing)
            if kind is RelationKind.CALLS and declared.kind in VARIABLE:
                yield from self._leads_to(node, self._held(thing), kind, mention.line, Certainty.MAY_CALL)
            elif kind is not RelationKind.READS or self._code.is_property(thing):
                yield from self._leads_to(node, [thing], kind, mention.line, certainty)
                if kind is RelationKind.CALLS:
                    yield from self._leads_to(node, self._overriding(thing), kind, mention.line, Certainty.MAY_CALL)

    def _leads_by_name(self, node: CodeNode, mention: Mention, *, is_foreign: bool) -> Iterator[Lead]:
        """Yield what an undecided call may mean: the methods of a type that is called like the receiver, else all.

        is_foreign: whether the receiver is of a library, so that only a member that it was given can be meant.
        """
        site = Site(node.path, mention)
        named = [member for member in self._code.facts.named(mention.name) if self._code.search.can_mean(site, member)]
        code = [member for member in named if self._category(member.path) is node.category]
        receiver = _LAST_NAME.search(mention.receiver)
        near = [member for member in code if receiver and self._is_called(member, receiver[0])]
        things = near or ([] if is_foreign else code)
        if len(things) <= MAX_NAMED:
            yield from self._leads_to(node, things, RelationKind.CALLS, mention.line, Certainty.BY_NAME)

    def _is_called(self, member: Thing, receiver: str) -> bool:
        """Return whether the type of a member is called like a receiver: `Session` or `DbSession` like `session`."""
        owner = self._code.resolver.declared(member).qualified.rpartition(".")[0].rpartition(".")[2].lower()
        return len(receiver) >= LEAST_RECEIVER and owner.endswith(receiver.lower().lstrip("_"))

    def _category(self, path: str) -> Category | None:
        nodes = self._code.nodes_of(path)
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
            yield Lead(self._code.edge_from(node, thing, kind, line)._replace(certainty=certainty), len(things))

    def _held(self, thing: Thing) -> Sequence[Thing]:
        """Return the functions that a variable or field holds, as far as what is assigned to it is known."""
        return functions_of(self._code.resolver.things.meaning((thing,)))

    def _overriding(self, thing: Thing) -> Sequence[Thing]:
        is_method = self._code.resolver.declared(thing).kind == SymbolKind.METHOD
        return self._code.hierarchy.overriding(thing) if is_method else ()
