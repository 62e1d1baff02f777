"""Puts the hits of each file in the order of the definitions that they show, or definitions of one name by standing.

A hit takes a place that its file, or a definition of the name, has already: the k-th best takes the k-th place, so no
other result moves.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from graphrag_mcp.model.files import CALLABLE, DECLARATION_SUFFIXES, HEADER_SUFFIXES, Category, SymbolKind
from graphrag_mcp.model.search import StoredFile, SymbolMatch
from graphrag_mcp.ports import Matrix
from graphrag_mcp.search.query.understand import Intent, Query, asks_for_behaviour
from graphrag_mcp.search.ranking.bonuses import WORDING
from graphrag_mcp.search.ranking.scored import Candidates, Move, Scored
from graphrag_mcp.search.ranking.sketches import FileSketches
from graphrag_mcp.search.retrieval import Stores
from graphrag_mcp.text.names import NamedSymbol, qualified_by

FILES = 10  # The first ones of a search are put in order.
_NO_DEFINITION = (0.0, "")
_CATEGORIES = tuple(Category)
_KINDS = {SymbolKind.CONSTANT: 1, SymbolKind.FIELD: 2, SymbolKind.MODULE: 2}

ReadSketches = Callable[[Collection[int]], Mapping[int, FileSketches]]


def order_definitions(query: Query, order: list[Scored], candidates: Candidates, stores: Stores) -> list[Scored]:
    """Put the hits of each of the first files in the order of their definitions, by the package's own model only.

    Where the query is a name, put its definitions in the order of their standing instead.
    """
    definitions = candidates.retrieved.definitions
    is_name = query.intent is Intent.SYMBOL and candidates.is_hybrid and not candidates.related
    if is_name and definitions:
        return definitions_first(order, query.symbols[0], definitions)
    vector, sketches = candidates.retrieved.query_vector, stores.measured_sketches
    if sketches is None or vector is None or not candidates.is_hybrid:
        return order
    return order_within_files(order, vector, sketches.of, asks_for_behaviour=asks_for_behaviour(query.title))


def order_within_files(
    order: Sequence[Scored], query: Matrix, read: ReadSketches, *, asks_for_behaviour: bool = False
) -> list[Scored]:
    """Return the hits with those of each of the first files in the order of their definitions.

    A file's hits share its bonuses, and their texts repeat each other's words: which of its functions is meant, their
    names, signatures and callees decide best; the question's wording, which chose the file, would repeat its texts.
    query: its vector. asks_for_behaviour: whether types come after functions. A hit that was moved to its place stays
    before the others of its file.
    """
    places: defaultdict[int, list[int]] = defaultdict(list)
    for place, scored in enumerate(order):
        places[scored.file.file_id].append(place)
    several = [file_id for file_id in list(places)[:FILES] if len(places[file_id]) > 1]
    changed = list(order)
    for file_id, sketches in read(several).items():
        hits = [order[place] for place in places[file_id]]
        gains = _gains(hits, sketches, sketches.gains(query, asks_for_behaviour=asks_for_behaviour))
        shown = [(hit, *gains.get(hit.fused.chunk_id, _NO_DEFINITION)) for hit in hits]
        shown.sort(key=lambda row: (row[0].moved is None, -(_without_wording(row[0]) + row[1])))
        for place, before, (hit, _, name) in zip(places[file_id], hits, shown, strict=True):
            if hit is not before:
                changed[place] = hit._replace(score=before.score, place=before.place, moved=Move("order in file", name))
    return changed


def _without_wording(hit: Scored) -> float:
    return hit.base - sum(factor.value for factor in hit.own if factor.name == WORDING)


def _gains(hits: Sequence[Scored], sketches: FileSketches, gains: Matrix) -> dict[int, tuple[float, str]]:
    """Return gain and name of the best definition that each hit shows, by chunk id.

    Of a definition that was cut into several chunks, only the best of them shows it.
    """
    fused = {hit.fused.chunk_id: hit.fused.score for hit in hits}
    best: dict[int, tuple[float, str]] = {}
    for definition, shown, gain in zip(sketches.sketches, sketches.shown, gains.tolist(), strict=True):
        known = [chunk_id for chunk_id in shown if chunk_id in fused]
        if known:
            chunk_id = max(known, key=fused.__getitem__)
            if gain > best.get(chunk_id, _NO_DEFINITION)[0]:
                best[chunk_id] = (gain, definition.symbol.name)
    return best


# ---------------------------------------------------------------- definitions of one name


class NameAgreement(NamedTuple):
    """How a definition agrees with a name, the most important first; less is better.

    case: of a name with capitals; one in lower case may just be typed so. is_no_type: for a capitalised name, types
    come before functions. nesting: the outer of two equal names is meant. lines: an overload without a body is shorter
    than the implementation.
    """

    is_section: bool
    misses_parameters: bool
    qualifiers: int
    case: bool
    is_no_type: bool
    is_declaration: bool
    is_archived: bool
    category: int
    kind: int
    typed_case: bool
    nesting: int
    lines: int


def definitions_first(order: Sequence[Scored], named: NamedSymbol, matches: Iterable[SymbolMatch]) -> list[Scored]:
    """Return the hits with those that define the name by their standing, in the places of such hits.

    The order is lexicographic, so that no sum of weaker signals turns it round.
    """
    by_file: dict[int, list[SymbolMatch]] = {}
    for match in matches:
        by_file.setdefault(match.chunk_id, []).append(match)
    places = [place for place, scored in enumerate(order) if scored.fused.chunk_id in by_file]
    best = [
        min(
            (_standing(named, match, order[place].file), match.symbol.qualified_name)
            for match in by_file[order[place].fused.chunk_id]
        )
        for place in places
    ]
    by_standing = sorted(zip(best, places, strict=True))
    changed = list(order)
    for place, ((_, name), before) in zip(places, by_standing, strict=True):
        if place != before:
            changed[place] = order[before]._replace(score=order[place].score, moved=Move("exact name", name))
    return changed


def _standing(named: NamedSymbol, match: SymbolMatch, file: StoredFile) -> NameAgreement:
    symbol = match.symbol
    wants_type, is_other = named.name[:1].isupper(), symbol.name != named.name
    return NameAgreement(
        is_section=symbol.kind is SymbolKind.SECTION,
        misses_parameters=named.misses(symbol.signature),
        qualifiers=qualified_by(named.qualifiers, symbol.qualified_name, match.path) if named.qualifiers else 0,
        case=is_other and not named.name.islower(),
        is_no_type=wants_type and symbol.kind is not SymbolKind.TYPE,
        is_declaration=_is_declaration(match),
        is_archived=file.archive is not None,
        category=_CATEGORIES.index(file.category),
        kind=_KINDS.get(symbol.kind, 0),
        typed_case=is_other,
        nesting=symbol.qualified_name.count("."),
        lines=symbol.start_line - symbol.end_line,
    )


def _is_declaration(match: SymbolMatch) -> bool:
    """Return whether a definition only declares: a file of declarations, or one line in a header of C."""
    path, symbol = match.path.lower(), match.symbol
    is_function = symbol.kind in CALLABLE
    return path.endswith(DECLARATION_SUFFIXES) or (
        is_function and path.endswith(HEADER_SUFFIXES) and symbol.start_line == symbol.end_line
    )
