"""Changed definitions with what depends on them; one in a header and its definition elsewhere are one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from graphrag_mcp.graph.declared import in_header, may_define
from graphrag_mcp.graph.definitions import Change, ChangedDefinition
from graphrag_mcp.graph.tracing import Dependant
from graphrag_mcp.languages.registry import FACT_LANGUAGES, counts_parameters, detect_language
from graphrag_mcp.model.files import Category
from graphrag_mcp.model.graph import CodeNode, Line
from graphrag_mcp.model.shown import shown


@shown("definition", "breaks", "may_break", "others", "is_decided")
@dataclass(frozen=True, slots=True)
class Affected:
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
        nodes = (place.node for place in (*self.breaks, *self.may_break, *self.others))
        return (node for node in nodes if node.category is not Category.TESTS)


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
    known = {place.site for place in definition.breaks}
    breaks = [place for place in declared.breaks if place.site not in known]
    known |= {place.site for place in breaks}
    may = [place for place in definition.may_break if place.site not in known]
    known |= {place.site for place in may}
    may += [place for place in declared.may_break if place.site not in known]
    nodes = {place.node for place in (*definition.breaks, *breaks, *may)}
    others = {place.node: place for place in (*declared.others, *definition.others) if place.node not in nodes}
    return replace(
        definition, breaks=(*definition.breaks, *breaks), may_break=tuple(may), others=tuple(others.values())
    )


def _places(row: Affected) -> set[Line]:
    return {place.site for place in (*row.breaks, *row.may_break, *row.others)}
