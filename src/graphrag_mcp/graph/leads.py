"""Where a program, or what it stored, may go on from a definition: the steps of flows."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import NamedTuple

from graphrag_mcp.graph.code import CERTAINTY_OF, IndexedCode
from graphrag_mcp.model.facts import Declared, FileFacts, SymbolId, Use
from graphrag_mcp.model.files import CALLABLE, VARIABLE, RelationKind, SymbolKind
from graphrag_mcp.model.graph import RUNNING, Certainty, CodeEdge, CodeNode
from graphrag_mcp.model.grouping import of_each
from graphrag_mcp.model.links import MEANT, How, Place, StoredLink, place_id
from graphrag_mcp.model.values import Foreign, Outside
from graphrag_mcp.resolution.handing import FILLING

_USES = (Use.CALL, Use.CREATE, Use.VALUE, Use.FUNCTION)  # By these uses of a name a program may go on elsewhere.
_READING = (Use.CALL, Use.CREATE, Use.VALUE)
MAX_NAMED = 12  # Methods that an undecided call may mean; if there are more, none is followed.
LEAST_RECEIVER = 3  # Letters of a receiver that says what its type is called.
# What the kinds of steps cost more, or less:
_PUT = -1.3  # What is put into a channel or another collection is meant for those that read it.
_PASSED = 1.0  # What a parameter holds depends on the caller, which also hands it over by itself.
_OF_TYPE = 0.8  # A method of a type that is named on the way, where no call of it is found.
_ASKING = re.compile(  # Members of collections that give nothing of what is in them, in all languages.
    "clear|contains|contains_key|containsKey|count|delete|discard|empty|has|includes|is_empty|isEmpty|length|size"
)
_LAST_NAME = re.compile(r"\w+(?=\W*\Z)")


class Lead(NamedTuple):
    """A place from which a program, or what it stored, may go on at another definition.

    choices: how many definitions the place may mean. read: the variable that is written there, and where it is read.
    extra: what the step costs beside its kind.
    """

    edge: CodeEdge
    choices: int = 1
    read: str = ""
    extra: float = 0.0


def _surest(leads: Iterable[Lead]) -> list[Lead]:
    """Return one lead to each definition: the surest, then the first; where it runs before where it is handed over."""

    def order(lead: Lead) -> tuple[float, int, bool, int]:
        return -lead.edge.confidence, lead.choices, lead.edge.relation is RelationKind.HANDS_ON, lead.edge.line

    ordered = sorted(leads, key=order)
    return list({lead.edge.target_id: lead for lead in reversed(ordered)}.values())


class Leads:
    """Finds the leads of definitions among the stored links."""

    def __init__(self, code: IndexedCode) -> None:
        self._code = code

    def onward(self, node: CodeNode) -> list[Lead]:
        """Return where a program may go on from a definition, or from the code of a file outside of functions.

        Where it calls, creates, hands over, and calls what a variable holds; from a function to those inside it; from a
        type to its methods.
        """
        with self._code.searching():
            return _surest(self._leads(node))

    def of_data(self, node: CodeNode) -> list[Lead]:
        """Return the readers of the fields and shared variables that a function writes or adds to."""
        with self._code.searching():
            links = [*of_each(self._links, self._code.symbols(node))]
            return _surest(self._data_leads(node, links))

    def extra_of(self, node: CodeNode, line: int) -> float:
        """Return what a step costs more that calls a parameter on a line of a function, 0 if it calls none there."""
        declared = map(self._code.resolver.declared, self._code.symbols(node))
        parameters = {parameter.name for each in declared for parameter in each.inputs}
        mentions = self._code.references.mentions(node.path, line) if parameters else ()
        return _PASSED if any(mention.use == Use.CALL and mention.name in parameters for mention in mentions) else 0.0

    def _links(self, symbol: SymbolId) -> Sequence[StoredLink]:
        """Return the links of the code of a declaration, without that of the named functions inside it."""
        if self._code.resolver.declared(symbol).kind in VARIABLE:
            return self._code.references.inside(symbol)
        return self._code.references.directly_in(symbol.path, self._code.references.place(symbol))

    # ------------------------------------------------------------ data

    def _data_leads(self, node: CodeNode, links: Sequence[StoredLink]) -> Iterator[Lead]:
        changing = [link for link in links if link.kind in (RelationKind.WRITES, RelationKind.READS)]
        targets = self._code.nodes_at(link.target for link in changing)
        written: dict[int, tuple[int, str, float]] = {}
        for link in changing:
            target = targets.get(link.target)  # A field that only methods assign has no node.
            name = target.name if target else self._name_of(link)
            is_variable = link.target > 0 and (target is None or target.kind in VARIABLE)
            if is_variable and (link.kind is RelationKind.WRITES or self._is_filled(name, link, links)):
                extra = _PUT if link.use == Use.FILL else 0.0
                written.setdefault(link.target, (link.line, name, extra))
        for place, (line, name, extra) in written.items():
            links_to = self._code.references.to((place,), CERTAINTY_OF)
            reading = [link for link in links_to if link.use in _READING and not self._is_only_asked(link, name)]
            self._code.find_sources([(link.path, link.source) for link in reading])
            readers: dict[int, StoredLink] = {}
            for link in reading:
                readers.setdefault(self._code.source_id(link.path, link.source), link)
            readers.pop(node.node_id, None)
            for target_id, link in readers.items():
                certainty = Certainty.CERTAIN if len(readers) == 1 else Certainty.MAY_CALL
                edge = CodeEdge(node.node_id, target_id, RelationKind.READS, node.path, line, certainty)
                yield Lead(edge, len(readers), f"{name} is read at {link.path}:{link.line}", extra)

    def _is_only_asked(self, link: StoredLink, name: str) -> bool:
        """Return whether a line takes nothing out of a collection: it asks what is in it, or removes something."""
        mentions = self._code.references.mentions(link.path, link.line)
        read = [row for row in mentions if row.name == name and row.use == link.use]
        asked = [row for row in mentions if _ASKING.fullmatch(row.name) and _last_name(row.receiver) == name]
        return 0 < len(read) <= len(asked)

    def _name_of(self, link: StoredLink) -> str:
        """Return the first name on a line that is used as a link says."""
        mentions = self._code.references.mentions(link.path, link.line)
        return next((mention.name for mention in mentions if mention.use == link.use and mention.receiver), "")

    def _is_filled(self, name: str, link: StoredLink, links: Sequence[StoredLink]) -> bool:
        """Return whether something is added on the line to the collection that is read there."""
        unknown = {(link.line, Use.CALL, how) for how in (How.UNDECIDED, How.FOREIGN)}
        calls = (stored for stored in links if (stored.line, stored.use, stored.how) in unknown)
        names = {self._code.references.name(link.path, stored) for stored in calls}
        mentions = self._code.references.mentions(link.path, link.line)
        added = {row.name for row in mentions if _last_name(row.receiver) == name}
        return any(map(FILLING.fullmatch, names & added))

    # ------------------------------------------------------------ code

    def _leads(self, node: CodeNode) -> Iterator[Lead]:
        facts = self._code.facts.facts(node.path)
        if facts is None:
            yield from self._leads_by_names(node)
            return
        if node.is_file:
            links = self._code.references.directly_in(node.path, place_id(Place(node.path, "")))
            yield from self._leads_of(node, links)
        for symbol in self._code.symbols(node):
            declared = facts.declared[symbol.number]
            if declared.kind == SymbolKind.TYPE:
                yield from self._leads_of_type(node, symbol)
                continue
            leads = self._leads_of(node, self._links(symbol))
            if declared.kind in VARIABLE:
                place = self._code.references.place(symbol)
                call = (RelationKind.CALLS, Use.CALL, How.RUNS, -1, 0)
                run = self._code.references.run_by([StoredLink(place, node.path, declared.line, place, *call)])
                yield from self._leads_kept(node, run)
                leads = (lead for lead in leads if lead.edge.relation is RelationKind.HANDS_ON)
            else:
                yield from self._leads_inside(node, facts, declared)
            yield from leads

    def _leads_by_names(self, node: CodeNode) -> Iterator[Lead]:
        """Yield the calls of a definition in a language without facts; of a type what runs when one is created."""
        is_container = node.kind in (SymbolKind.TYPE, SymbolKind.MODULE)
        edges, _ = self._code.edges_in(node, RUNNING, is_direct=is_container)
        if is_container:
            own = f"{node.qualified_name}."
            members = [other for other in self._code.nodes_of(node.path)
                       if other.kind in CALLABLE and other.qualified_name == own + other.name]  # fmt: skip
            for member in members:
                edge = CodeEdge(node.node_id, member.node_id, RelationKind.CONTAINS, node.path, member.start_line)
                yield Lead(edge._replace(certainty=Certainty.MAY_CALL), len(members), extra=_OF_TYPE)
        choices = Counter(edge.line for edge in edges if edge.is_guess)
        for edge in edges:
            if not edge.is_guess:
                yield Lead(edge)
            elif choices[edge.line] <= MAX_NAMED:
                yield Lead(edge._replace(certainty=Certainty.BY_NAME), choices[edge.line])
        if node.kind is SymbolKind.METHOD:
            yield from self._leads_below(node)

    def _leads_below(self, node: CodeNode) -> Iterator[Lead]:
        """Yield the methods that override one by name: a call of it may run each of them."""
        links = self._code.references.to((node.place,), CERTAINTY_OF)
        below = [link for link in links if link.kind is RelationKind.OVERRIDES]
        self._code.find_sources([(link.path, link.source) for link in below])
        for link in below:
            site = (RelationKind.CALLS, node.path, node.start_line, Certainty.MAY_CALL)
            yield Lead(CodeEdge(node.node_id, self._code.source_id(link.path, link.source), *site), len(below))

    def _leads_of_type(self, node: CodeNode, kind: SymbolId) -> Iterator[Lead]:
        """Yield the methods of a type: those that run when it, or an instance, is called come before all others."""
        resolver = self._code.resolver
        methods = resolver.symbols.methods_of(kind)
        for method in methods:
            is_run = resolver.symbols.is_run_by_call(method, kind)
            edge = self._code.edge_from(node, method, RelationKind.CONTAINS, resolver.declared(method).line)
            may_run = Lead(edge._replace(certainty=Certainty.MAY_CALL), len(methods), extra=_OF_TYPE)
            yield Lead(edge) if is_run else may_run

    def _leads_inside(self, node: CodeNode, facts: FileFacts, around: Declared) -> Iterator[Lead]:
        """Yield the named functions inside a function, without those inside them."""
        functions = [
            (declaration.start, declaration.stop, number, declaration.line)
            for number, declaration in enumerate(facts.declared)
            if around.start <= declaration.start < declaration.stop <= around.stop
            if declaration is not around and declaration.name and declaration.kind in CALLABLE
        ]
        last = around.start
        for start, stop, number, line in sorted(functions):
            if start >= last:
                last = stop
                yield Lead(self._code.edge_from(node, SymbolId(node.path, number), RelationKind.CONTAINS, line))

    def _leads_of(self, node: CodeNode, links: Sequence[StoredLink]) -> Iterator[Lead]:
        """Yield the leads of the code of a function, or of a file."""
        decided = [link for link in links if link.how in MEANT]
        foreign = [link for link in links if link.how is How.FOREIGN]
        below = list(self._code.hierarchy.dispatched([*decided, *foreign]))
        targets = self._code.nodes_at(link.target for link in (*decided, *below))
        for group in (decided, below):
            choices = Counter((link.line, targets[link.target].name) for link in group if link.target in targets)
            for link in group:
                target = targets.get(link.target)
                if target is not None and link.use in _USES and self._goes_on(link, target):
                    yield self._lead(node, link, target, choices[link.line, target.name])
        for link in links:
            is_variable = link.target in targets and targets[link.target].kind in VARIABLE
            if link.how is How.RUNS or is_variable:
                extra = self.extra_of(node, link.line)
                kept = list(self._leads_kept(node, self._code.references.run_by([link])))
                yield from (lead._replace(extra=extra) for lead in kept)
                is_called = is_variable and link.how in MEANT and link.use == Use.CALL
                if is_called and not kept and self._is_made_here(targets[link.target]):
                    yield self._lead(node, link, targets[link.target], 1)  # What it holds is not known.
            elif link.how in (How.UNDECIDED, How.FOREIGN) and link.use == Use.CALL and link.receiver:
                yield from self._leads_by_name(node, link)

    def _is_made_here(self, node: CodeNode) -> bool:
        """Return whether a constant holds what the project's own code gives."""
        resolver = self._code.resolver
        return node.kind is SymbolKind.CONSTANT and not any(
            isinstance(resolver.expressions.written(symbol, resolver.declared(symbol).value), Outside | Foreign)
            for symbol in self._code.symbols(node)
        )

    def _goes_on(self, link: StoredLink, target: CodeNode) -> bool:
        """Return whether a program goes on at what a link means: no type of which only a member is asked for."""
        if link.kind is RelationKind.READS:
            return target.kind in CALLABLE  # Reading a property runs it.
        if link.kind is RelationKind.USES and target.kind is SymbolKind.TYPE:
            mentions = self._code.references.mentions(link.path, link.line)
            return all(_last_name(mention.receiver) != target.name for mention in mentions)
        return link.kind in RUNNING and target.kind not in VARIABLE

    def _leads_kept(self, node: CodeNode, links: Sequence[StoredLink]) -> Iterator[Lead]:
        """Yield the functions that a variable, parameter, field or collection may hold when it is called."""
        kept = self._code.with_nodes(links, attrgetter("target"))
        choices = len({target.node_id for _, target in kept})
        yield from (self._lead(node, link, target, choices) for link, target in kept)

    def _lead(self, node: CodeNode, link: StoredLink, target: CodeNode, choices: int) -> Lead:
        edge = CodeEdge(node.node_id, target.node_id, link.kind, node.path, link.line, CERTAINTY_OF[link.how])
        return Lead(edge, choices if link.how in (How.OPEN, How.ONE_OF) else 1)

    def _leads_by_name(self, node: CodeNode, link: StoredLink) -> Iterator[Lead]:
        """Yield what an undecided call may mean: the methods of a type that is called like the receiver, else all.

        Of a foreign receiver only a member that it was given can be meant.
        """
        references, name = self._code.references, self._code.references.name(node.path, link)
        site = references.site(link, name)
        named = (member for member in self._code.facts.named(name) if self._code.uses.can_mean(site, member))
        code = [member for member in named if self._code.file(member.path).category is node.category]
        mentions = references.mentions(node.path, link.line)
        written = {_last_name(mention.receiver) for mention in mentions if mention.name == name}
        near = [member for member in code if any(self._is_called(member, place) for place in written)]
        symbols = near or ([] if link.how is How.FOREIGN else code)
        for symbol in symbols if len(symbols) <= MAX_NAMED else ():
            edge = self._code.edge_from(node, symbol, RelationKind.CALLS, link.line)
            yield Lead(edge._replace(certainty=Certainty.BY_NAME), len(symbols))

    def _is_called(self, member: SymbolId, receiver: str) -> bool:
        """Return whether the type of a member is called like a receiver: `Session` or `DbSession` like `session`."""
        owner = self._code.resolver.declared(member).qualified.rpartition(".")[0].rpartition(".")[2].lower()
        return len(receiver) >= LEAST_RECEIVER and owner.endswith(receiver.lower().lstrip("_"))


def _last_name(receiver: str) -> str:
    last = _LAST_NAME.search(receiver)
    return last[0] if last else ""
