"""The changed definitions, what depends on them, and which of it does not fit any more."""

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from operator import attrgetter
from pathlib import PurePosixPath

from msgspec import Struct
from msgspec.structs import replace

from graphrag_mcp.graph.declared import in_header, may_define
from graphrag_mcp.graph.definitions import Change, ChangedDefinition
from graphrag_mcp.graph.impact import LEADING
from graphrag_mcp.graph.relations import Relations
from graphrag_mcp.graph.tracing import Dependant, dependant, is_shown, with_sources
from graphrag_mcp.languages.policy import policy_of
from graphrag_mcp.languages.registry import FACT_LANGUAGES, counts_parameters, describe, detect_language
from graphrag_mcp.model.files import Category, RelationKind, SymbolKind
from graphrag_mcp.model.graph import NO_DOUBT, Certainty, CodeEdge, CodeNode, Doubt, Line, Mentioned
from graphrag_mcp.model.grouping import firsts
from graphrag_mcp.model.links import Place, place_id
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.shown import shown
from graphrag_mcp.parsing.code.imports import module_keys
from graphrag_mcp.ports import SymbolGraph

_BROKEN = (RelationKind.CALLS, RelationKind.INSTANTIATES, RelationKind.OVERRIDES)  # Another signature breaks these.
_MOST_OVERRIDING = 20  # The calls of no more methods are looked at.


@shown("definition", "breaks", "may_break", "others", "is_decided")
class Affected(Struct, frozen=True):
    """A changed definition with its direct dependants outside the change. node: None where it is not indexed.

    breaks: what certainly depends on it and does not fit any more. may_break: that of which it is not certain. others:
    a place of each further definition that uses it.
    """

    definition: ChangedDefinition
    node: CodeNode | None
    breaks: tuple[Dependant, ...] = ()
    may_break: tuple[Dependant, ...] = ()
    others: tuple[Dependant, ...] = ()

    @property
    def is_decided(self) -> bool:
        """Whether it is known what does not fit any more: in some languages neither facts nor arguments are."""
        definition = self.definition
        is_of_arguments = definition.change is Change.SIGNATURE
        language = detect_language(definition.path)
        is_known = language in FACT_LANGUAGES or (is_of_arguments and counts_parameters(language))
        return not definition.is_breaking or is_known or not (is_of_arguments or self.may_break)

    @property
    def on_the_way(self) -> Iterator[CodeNode]:
        """The code that depends on it."""
        places = (*self.breaks, *self.may_break, *self.others)
        return (place.node for place in places if place.node.category is not Category.TESTS)


def without_declarations(rows: Sequence[Affected]) -> tuple[Affected, ...]:
    """Return what changed without the declarations whose definitions changed likewise, and are listed for both."""
    definitions: dict[tuple[Change, str], int] = {}
    for number, row in enumerate(rows):
        if may_define(row.definition):
            definitions.setdefault(_key(row), number)
    joined: dict[int, Affected] = dict(enumerate(rows))
    for number, row in enumerate(rows):
        other = definitions.get(_key(row)) if in_header(row.definition) else None
        if other is not None and _are_one(row, joined[other]):
            joined[other] = _joined(joined[other], joined.pop(number))
    return tuple(joined.values())


def without_certain(rows: Sequence[Affected]) -> tuple[Affected, ...]:
    """Return what changed without the places that may break by one change where another certainly breaks them."""
    certain = {place.site for row in rows for place in row.breaks}
    return tuple(
        replace(row, may_break=tuple(place for place in row.may_break if place.site not in certain)) for row in rows
    )


def _key(row: Affected) -> tuple[Change, str]:
    return row.definition.change, row.definition.symbol


def _are_one(declared: Affected, definition: Affected) -> bool:
    """Return whether places mean both, or none means a declaration that is changed with the definition."""
    places = _places(declared)
    return bool(places & _places(definition)) or not (places or declared.definition.change is Change.BODY)


def _joined(definition: Affected, declared: Affected) -> Affected:
    """Return a definition with the places that mean its declaration only."""
    breaks = firsts((*definition.breaks, *declared.breaks), attrgetter("site"))
    may = firsts((*definition.may_break, *declared.may_break), attrgetter("site"))
    nodes = {place.node for place in (*breaks, *may)}
    others = {place.node: place for place in (*declared.others, *definition.others) if place.node not in nodes}
    return replace(definition, breaks=tuple(breaks), may_break=tuple(may), others=tuple(others.values()))


def _places(row: Affected) -> set[Line]:
    return {place.site for place in (*row.breaks, *row.may_break, *row.others)}


class Dependants:
    """Answers for one difference.

    changed: its definitions. inside: their nodes. unfitting: calls that certainly do not fit edits.
    """

    def __init__(
        self,
        graph: SymbolGraph,
        relations: Relations,
        scope: Scope,
        changed: Sequence[ChangedDefinition],
        inside: Set[int],
        unfitting: Set[Line],
    ) -> None:
        self._graph, self._relations, self._scope = graph, relations, scope
        self._inside, self._unfitting = inside, unfitting
        self._symbols = {each.symbol for each in changed}
        other = [each.symbol for each in changed if each.change is not Change.BODY]
        self._changed, self._names = Counter(other), Counter(symbol.rpartition(".")[2] for symbol in other)

    def of(self, definition: ChangedDefinition, node: CodeNode | None) -> tuple[Affected, Doubt]:
        """Return a changed definition with what depends on it outside the change, and what is not known of that."""
        is_gone = definition.change in (Change.REMOVED, Change.MOVED)
        unfitting, breaks_all = self._unfitting, definition.breaks_all
        if is_gone and (node is None or definition.change is Change.MOVED):
            places, doubt = self._left_behind(definition)
        elif node is None or definition.change is Change.ADDED:
            return Affected(definition, node), NO_DOUBT
        else:
            edges, doubt = self._relations.incoming(node, LEADING, self._scope)
            places = self._outside([edge for edge in edges if is_shown(edge)])
            doubt = doubt.without([place.site for place in places])
            if not (is_gone or describe(detect_language(definition.path)).types_calls):  # One below may be called.
                breaks_all &= all(edge.relation is not RelationKind.OVERRIDES for edge in edges)
            if definition.change is Change.SIGNATURE:
                places, doubt, misfitting = self._counted(definition, node, places, doubt)
                unfitting = unfitting | misfitting
        given = dict.fromkeys(self._given(definition))
        broken = [place for place in places if definition.is_breaking and (is_gone or place.relation in _BROKEN)]
        broken += given
        certain = [
            place
            for place in broken
            if place.certainty is Certainty.CERTAIN
            and (
                (breaks_all and place.relation is not RelationKind.OVERRIDES)
                or place.site in unfitting
                or place in given
            )
        ]
        sure = set(certain)
        may = [place for place in broken if place not in sure]
        taken = {place.node for place in broken}
        uses = [place for place in places if place.relation is not RelationKind.IMPORTS and place.node not in taken]
        others = {place.node: place for place in reversed(uses)}
        return Affected(definition, node, tuple(certain), tuple(may), tuple(reversed(others.values()))), doubt

    def _outside(self, edges: Sequence[CodeEdge]) -> list[Dependant]:
        """Return the sources of relations that are outside the change."""
        outside = [edge for edge in edges if edge.source_id not in self._inside]
        return [dependant(node, edge) for edge, node in with_sources(self._graph, outside)]

    # ------------------------------------------------------------ another signature

    def _counted(
        self, definition: ChangedDefinition, node: CodeNode, places: Sequence[Dependant], doubt: Doubt
    ) -> tuple[list[Dependant], Doubt, Set[Line]]:
        """Return the places and the doubt of another signature, with the lines that do not fit its number of arguments.

        In languages without facts; nothing is changed in others.
        """
        misfits, counts = self._relations.misfits, (definition.took, definition.takes)
        own = misfits.overriding(node, definition)
        sure = (place for place in places if place.certainty is Certainty.CERTAIN and place.node.place in own)
        overriding = [place for place in sure if place.relation is RelationKind.OVERRIDES]
        calls = self._calls_of(overriding)
        calling = {place.site for place in calls}
        lines = {place.site for place in places} | calling
        unfitting = misfits.miscounted(node, lines, *counts) | {place.site for place in overriding}
        by_name = misfits.miscounted(node, doubt.undecided, *counts)
        others = [
            self._around(Mentioned(RelationKind.CALLS, node.name, "", *line, False), Certainty.BY_NAME)
            for line in sorted(by_name)
        ]
        kept = [place for place in places if place.site not in calling]
        return [*kept, *calls, *others], doubt.without(by_name), unfitting

    def _calls_of(self, overriding: Sequence[Dependant]) -> list[Dependant]:
        """Return the calls of methods that override, where their block says what they override: they call that one."""
        called: list[Dependant] = []
        for place in overriding[:_MOST_OVERRIDING]:
            node = place.node
            alike = [each for each in self._graph.in_file(node.path) if each.qualified_name == node.qualified_name]
            is_said = describe(detect_language(node.path)).blocks_implement
            if is_said and len(alike) == 1:  # Else a call may run another method of that name of the type.
                edges = self._relations.decided(node, (RelationKind.CALLS,), self._scope)
                called += self._outside([edge for edge in edges if edge.certainty is Certainty.CERTAIN])
        return called

    def _given(self, definition: ChangedDefinition) -> list[Dependant]:
        """Return where values are given as an interface that demands a method as it was.

        It is not certain that they do not fit if what they are given to changed too, or the type itself.
        """
        is_moved = self._changed[definition.symbol] > 1
        if not definition.is_breaking or definition.kind is not SymbolKind.METHOD or is_moved:
            return []
        edges = self._relations.removed.given(definition, self._inside, self._names)
        if not definition.breaks_all or definition.symbol.rpartition(".")[0] in self._symbols:
            edges = [edge._replace(certainty=Certainty.MAY_CALL) for edge in edges]
        return self._outside(edges)

    # ------------------------------------------------------------ gone

    def _left_behind(self, definition: ChangedDefinition) -> tuple[list[Dependant], Doubt]:
        """Return what still names a definition that is not there any more, and no other one of its name."""
        owner, _, name = definition.symbol.rpartition(".")
        mentions = self._relations.removed.uses(name.removeprefix("#"), self._scope)
        if "." in definition.symbol:
            type_place = place_id(Place(definition.before, owner))
            certain = [row for row in mentions if row.receiver == type_place]
        else:
            modules = _exporting(definition.before, mentions)
            certain = [row for row in mentions if _is_meant(row, definition.before, modules)]
        taken = {(row.path, row.line) for row in certain}
        others = mentions if definition.change is Change.REMOVED else ()
        left = [row for row in others if not row.is_defined and (row.path, row.line) not in taken]
        named = [
            *(self._around(row, Certainty.CERTAIN) for row in certain),
            *(self._around(row, Certainty.BY_NAME) for row in left),
        ]
        places = [place for place in named if place.node.node_id not in self._inside]
        language = detect_language(definition.before)
        kind, category = definition.kind, definition.category
        gone = CodeNode(0, 0, definition.before, category, name, definition.symbol, kind, 1, 1)
        doubt = Doubt(
            undecided=frozenset(place.site for place in places if place.certainty is Certainty.BY_NAME),
            is_typed=language in FACT_LANGUAGES or definition.kind is SymbolKind.KEY,
            is_listed=False,
            unread=self._relations.unread(gone, language, self._scope),
        )
        return places, doubt

    def _around(self, row: Mentioned, certainty: Certainty) -> Dependant:
        """Return a mention as what depends on something: the innermost definition around it, or else its file."""
        around = [*self._graph.in_file(row.path, row.line), *filter(None, [self._graph.file(row.path)])]
        return Dependant(around[0], row.path, row.line, row.kind, certainty)


def _exporting(path: str, mentions: Sequence[Mentioned]) -> set[str]:
    """Return the keys of the modules from which a name of a file is imported: its own, and those that export it too."""
    keys = set(module_keys(path))
    importing = [row for row in mentions if row.kind is RelationKind.IMPORTS]
    while more := {key for row in importing if row.module in keys for key in module_keys(row.path)} - keys:
        keys |= more
    return keys


def _is_meant(row: Mentioned, path: str, modules: Set[str]) -> bool:
    """Return whether a mention of a name means what a file defined at its top. modules: as `_exporting` returns."""
    if row.module:
        return row.module in modules
    here, there = PurePosixPath(row.path), PurePosixPath(path)
    is_beside = (here.parent, here.suffix) == (there.parent, there.suffix)
    language = detect_language(row.path)
    # In some languages a bare name may mean what another file of the folder defines.
    return here == there or (is_beside and language in FACT_LANGUAGES and policy_of(language).modules.whole_unit)
