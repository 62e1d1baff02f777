"""What a mention of a declaration is: the kind of the relation."""

from graphrag_mcp.model.facts import Mark, Mention, SymbolId, Use
from graphrag_mcp.model.files import CALLABLE, RelationKind, SymbolKind
from graphrag_mcp.resolution.symbols import Symbols

_KINDS: dict[SymbolKind, dict[Use, RelationKind]] = {
    SymbolKind.TYPE: {
        Use.CALL: RelationKind.INSTANTIATES,
        Use.CREATE: RelationKind.INSTANTIATES,
        Use.BASE: RelationKind.INHERITS,
        Use.TYPE: RelationKind.USES,
        Use.VALUE: RelationKind.USES,
        Use.FILL: RelationKind.USES,
        Use.WRITE: RelationKind.WRITES,
        Use.QUERY: RelationKind.USES,
    },
    SymbolKind.FUNCTION: {
        Use.CALL: RelationKind.CALLS,
        Use.CREATE: RelationKind.CALLS,
        Use.VALUE: RelationKind.HANDS_ON,
        Use.FILL: RelationKind.USES,
        Use.FUNCTION: RelationKind.HANDS_ON,
        Use.ELEMENT: RelationKind.WRITES,
        Use.KEY: RelationKind.WRITES,
        Use.TYPE: RelationKind.USES,
        Use.BASE: RelationKind.USES,
        Use.WRITE: RelationKind.WRITES,
        Use.REFLECTED: RelationKind.CALLS,
        Use.QUERY: RelationKind.USES,
    },
    SymbolKind.FIELD: {
        Use.REFLECTED: RelationKind.READS,
        Use.CALL: RelationKind.CALLS,
        Use.CREATE: RelationKind.READS,
        Use.ADDRESS: RelationKind.WRITES,
        Use.ARGUMENT: RelationKind.WRITES,
        Use.KEY: RelationKind.WRITES,
        Use.VALUE: RelationKind.READS,
        Use.FILL: RelationKind.WRITES,
        Use.TYPE: RelationKind.USES,
        Use.BASE: RelationKind.USES,
        Use.WRITE: RelationKind.WRITES,
        Use.QUERY: RelationKind.READS,
    },
}


def relation_kind(symbols: Symbols, symbol: SymbolId, mention: Mention) -> RelationKind:
    """Return what a mention of a declaration is."""
    declared, use = symbols.declared(symbol), Use(mention.use)
    if use is Use.IMPORT:
        return RelationKind.IMPORTS
    kind = SymbolKind.FIELD if symbols.is_property(symbol) else SymbolKind(declared.kind)
    kinds = _KINDS.get(SymbolKind.FUNCTION if kind in CALLABLE else kind, _KINDS[SymbolKind.FIELD])
    if use is Use.PART:
        use = Use.WRITE if Mark.INLINE in declared.marks else Use.VALUE
    relation = kinds.get(use, RelationKind.CONTAINS)
    is_embedded = relation is RelationKind.INHERITS and symbols.has_method_sets(symbol)
    return RelationKind.USES if is_embedded else relation
