"""BM25 over the fields of a chunk, by SQLite's FTS5; words are already split and stemmed."""

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct

from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import Frequencies, Ranked
from graphrag_mcp.ports import Embedder
from graphrag_mcp.stores.keywords import any_term
from graphrag_mcp.stores.replica import Inventory, file_version, version_number
from graphrag_mcp.stores.sqlite.database import Database, id_list, marks
from graphrag_mcp.stores.sqlite.schema import KEYWORD_FIELDS, ORDINAL_BITS
from graphrag_mcp.stores.sqlite.scope import Scopes, ScopesWithin
from graphrag_mcp.stores.sqlite.vectors import SqliteVectorIndex
from graphrag_mcp.text.words import index_text

MAX_COMPARED = 300  # Comparing the text of 300 chunks with a literal takes about 2 ms.
_WEIGHTS = ", ".join(str(weight) for weight in KEYWORD_FIELDS.values())


class SqliteKeywordIndex:
    """The keyword index: any of the terms may match; rare terms and short fields count more.

    Formula: FTS5's bm25() (Robertson's BM25, k1 = 1.2, b = 0.75) with a weight per field, negated.
    """

    remote = False

    def __init__(self, database: Database, scopes: Scopes) -> None:
        self._database = database
        self._scopes = scopes
        self._frequencies: dict[str, int] = {}
        self._commit = -1
        self._chunks = 0

    def search(self, terms: Sequence[str], limit: int, scope: Scope) -> list[Ranked]:
        query = any_term(self.frequencies(terms))
        if not query:
            return []
        rows = self._database.rows(
            f"""SELECT rowid, -bm25(keywords, {_WEIGHTS}) AS score FROM keywords
                WHERE keywords MATCH ? AND substr(?, (rowid >> {ORDINAL_BITS}) + 1, 1) IS x'01'
                ORDER BY score DESC, rowid LIMIT ?""",
            (query, self._scopes.resolve(scope).visible, limit),
        )
        return list(map(Ranked._make, rows))

    def chunks_with_words(self, phrases: Sequence[str], limit: int, scope: Scope) -> list[int]:
        wanted = " OR ".join(f'"{words}"' for words in map(index_text, phrases) if words)
        if not wanted:
            return []
        return self._database.column(
            f"""SELECT rowid FROM keywords
                WHERE keywords MATCH ? AND substr(?, (rowid >> {ORDINAL_BITS}) + 1, 1) IS x'01' LIMIT ?""",
            (f"body : ({wanted})", self._scopes.resolve(scope).visible, limit),
        )

    def chunks_with_text(self, texts: Sequence[str], limit: int, scope: Scope) -> list[int]:
        """Return chunks inside the scope that contain any of some texts, at most `limit`.

        An empty list where more than MAX_COMPARED chunks have the words in a row: a flag may be a common word.
        """
        proposed = self.chunks_with_words(texts, MAX_COMPARED + 1, scope)
        if not 0 < len(proposed) <= MAX_COMPARED:
            return []
        contains = " OR ".join("instr(text, ?)" for _ in texts)
        return self._database.column(
            f"SELECT id FROM main.chunks WHERE id IN (SELECT value FROM json_each(?)) AND ({contains}) LIMIT ?",
            (id_list(proposed), *texts, limit),
        )

    def words(self, chunk_ids: Sequence[int]) -> Mapping[int, Mapping[str, str]]:
        """Return the words of each field of chunks, separated by blanks, in the given order."""
        fields = list(KEYWORD_FIELDS)
        rows = self._database.rows(
            f"""SELECT k.rowid, {", ".join(f"k.{field}" for field in fields)}
                FROM json_each(?) wanted CROSS JOIN keywords k ON k.rowid = wanted.value""",
            (id_list(chunk_ids),),
        )
        return {chunk_id: dict(zip(fields, words, strict=True)) for chunk_id, *words in rows}

    def frequencies(self, terms: Sequence[str]) -> Frequencies:
        """Return how many chunks contain each term; cached until the next commit."""
        commit = self._database.commit_number()
        if commit != self._commit:
            ((self._chunks,),) = self._database.rows("SELECT coalesce(sum(chunks), 0) FROM main.files")
            self._frequencies, self._commit = {}, commit
        known = self._frequencies
        new = [term for term in terms if term and term not in known]
        if new:
            rows = self._database.rows(f"SELECT term, doc FROM keyword_terms WHERE term IN ({marks(new)})", new)
            known.update(dict.fromkeys(new, 0) | dict(rows))
        return Frequencies({term: known[term] for term in terms if term}, self._chunks)


class Overlay(Struct, frozen=True):
    """Such files, with the indexes that search only them. files: their numbers, ascending. held: how many others."""

    files: Sequence[int]
    paths: Sequence[str]
    held: int
    keywords: SqliteKeywordIndex
    vectors: SqliteVectorIndex | None


def find_overlay(database: Database, scopes: Scopes, inventory: Inventory, embedder: Embedder | None) -> Overlay:
    """Return the files of the tree whose versions are not in an inventory."""
    rows = database.rows("SELECT id, path, content_hash, recipe FROM files WHERE chunks ORDER BY id")
    numbers = [version_number(file_version(*row)) for _, *row in rows]
    is_held = np.isin(np.array(numbers, dtype=np.uint64), inventory.versions)
    own = [row for row, held in zip(rows, is_held.tolist(), strict=True) if not held]
    files = [file_id for file_id, *_ in own]
    within = ScopesWithin(scopes, files)
    vectors = SqliteVectorIndex(database, within, embedder.fingerprint, embedder.dimensions) if embedder else None
    paths = [path for _, path, *_ in own]
    return Overlay(files, paths, len(rows) - len(own), SqliteKeywordIndex(database, within), vectors)
