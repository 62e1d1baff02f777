"""Orders the definitions of the name that a query consists of: the one that agrees in most is the one that is meant.

The order is lexicographic, so that no sum of weaker signals turns it round. The definitions share the places that they
have already: the k-th of them takes the k-th place, so no other result moves.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from graphrag_mcp.model.files import DECLARATION_SUFFIXES, HEADER_SUFFIXES, Category, SymbolKind
from graphrag_mcp.model.search import StoredFile, SymbolMatch
from graphrag_mcp.search.ranking.scored import Move, Scored
from graphrag_mcp.text.names import NamedSymbol, qualified_by

_CATEGORIES = tuple(Category)
_KINDS = {SymbolKind.CONSTANT: 1, SymbolKind.FIELD: 2, SymbolKind.MODULE: 2}


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
    """Return the hits with those that define the name by their standing, in the places of such hits."""
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
    is_function = symbol.kind in (SymbolKind.FUNCTION, SymbolKind.METHOD)
    return path.endswith(DECLARATION_SUFFIXES) or (
        is_function and path.endswith(HEADER_SUFFIXES) and symbol.start_line == symbol.end_line
    )
