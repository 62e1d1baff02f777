"""What a mention of a declaration is: the kind of the relation."""

from collections.abc import Mapping, Sequence

from graphrag_mcp.model.facts import Mark, Mention, SymbolId, Use
from graphrag_mcp.model.files import CALLABLE, RelationKind, SymbolKind
from graphrag_mcp.resolution.symbols import Symbols

_USES: Mapping[SymbolKind, Mapping[RelationKind, Sequence[Use]]] = {
    SymbolKind.TYPE: {
        RelationKind.INSTANTIATES: (Use.CALL, Use.CREATE),
        RelationKind.INHERITS: (Use.BASE,),
        RelationKind.USES: (Use.TYPE, Use.VALUE, Use.FILL, Use.QUERY),
        RelationKind.WRITES: (Use.WRITE,),
    },
    SymbolKind.FUNCTION: {
        RelationKind.CALLS: (Use.CALL, Use.CREATE, Use.REFLECTED),
        RelationKind.HANDS_ON: (Use.VALUE, Use.FUNCTION),
        RelationKind.USES: (Use.TYPE, Use.BASE, Use.FILL, Use.QUERY),
        RelationKind.WRITES: (Use.WRITE, Use.ELEMENT, Use.KEY),
    },
    SymbolKind.FIELD: {
        RelationKind.CALLS: (Use.CALL,),
        RelationKind.READS: (Use.VALUE, Use.CREATE, Use.REFLECTED, Use.QUERY),
        RelationKind.USES: (Use.TYPE, Use.BASE),
        RelationKind.WRITES: (Use.WRITE, Use.FILL, Use.KEY, Use.ARGUMENT, Use.ADDRESS),
    },
}
_KINDS = {
    kind: {use: relation for relation, uses in relations.items() for use in uses} for kind, relations in _USES.items()
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
