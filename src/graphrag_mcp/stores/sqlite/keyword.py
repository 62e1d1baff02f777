"""BM25 over the fields of a chunk, by SQLite's FTS5; words are split and stemmed before they come here."""

from collections.abc import Sequence

from graphrag_mcp.model import Ranked, Scope
from graphrag_mcp.stores.sqlite.database import Database
from graphrag_mcp.stores.sqlite.schema import KEYWORD_FIELDS, ORDINAL_BITS
from graphrag_mcp.stores.sqlite.scope import ScopeResolver

_WEIGHTS = ", ".join(str(weight) for weight in KEYWORD_FIELDS.values())


class SqliteKeywordIndex:
    """The keyword index: any of the terms may match; rare terms and short fields count more.

    Formula: FTS5's bm25() (Robertson's BM25, k1 = 1.2, b = 0.75) with a weight per field, sign turned.
    """

    def __init__(self, database: Database, scopes: ScopeResolver) -> None:
        self._database = database
        self._scopes = scopes

    def search(self, terms: Sequence[str], limit: int, scope: Scope) -> list[Ranked]:
        """Return the best chunks inside the scope, best first."""
        query = " OR ".join('"' + term.replace('"', '""') + '"' for term in terms if term)
        if not query:
            return []
        hidden = self._scopes.resolve(scope)
        rows = self._database.rows(
            f"""SELECT rowid, -bm25(keywords, {_WEIGHTS}) AS score FROM keywords
                WHERE keywords MATCH ? AND {hidden.condition(f"(rowid >> {ORDINAL_BITS})")}
                ORDER BY score DESC, rowid LIMIT ?""",
            (query, *hidden.parameters, limit),
        )
        return [Ranked(rowid, score) for rowid, score in rows]
