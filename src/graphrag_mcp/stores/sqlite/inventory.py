"""The inventory: pages of the indexed files and of those that were left out."""

from collections.abc import Mapping
from typing import Literal

from graphrag_mcp.model.reports import IndexedFile
from graphrag_mcp.stores.sqlite.database import Database

FileOrder = Literal["path", "language", "category", "size", "modified_at", "chunks", "symbols", "archived", "note"]

_COLUMNS = (
    "path, language, category, size, modified_at, chunks, symbols, coalesce(archive_reason, '') AS archived, note"
)


class SqliteInventory:
    """Lists the files of the tree, a page at a time."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def files(
        self,
        text: str,
        columns: Mapping[str, str],
        archived: bool | None,
        order: FileOrder,
        *,
        descending: bool,
        first: int,
        limit: int,
    ) -> tuple[list[IndexedFile], int]:
        """Return a page of files, and how many there are in all.

        text: a part of their paths, ignoring case. columns: the values of some columns; "" for any. archived: None for
        both kinds.
        """
        wanted = {column: value for column, value in columns.items() if value}
        conditions = ["instr(lower(path), ?)", *(f"{column} = ?" for column in wanted)]
        values = (text.lower(), *wanted.values())
        if archived is not None:
            conditions.append(f"archive_reason IS {'NOT ' if archived else ''}NULL")
        where, direction = " AND ".join(conditions), "DESC" if descending else "ASC"
        rows = self._database.rows(
            f"SELECT {_COLUMNS} FROM files WHERE {where} ORDER BY {order} {direction}, path LIMIT ? OFFSET ?",
            (*values, limit, first),
        )
        ((total,),) = self._database.rows(f"SELECT count(*) FROM files WHERE {where}", values)
        return [IndexedFile(*row) for row in rows], int(total)

    def skipped(
        self, text: str = "", reason: str = "", first: int = 0, limit: int = 100
    ) -> tuple[list[tuple[str, str]], int]:
        """Return a page of the paths that were left out, each with its reason, and how many there are in all."""
        where = "instr(lower(path), ?) AND (? = '' OR reason = ?)"
        values = (text.lower(), reason, reason)
        rows = self._database.rows(
            f"SELECT path, reason FROM skipped WHERE {where} ORDER BY path LIMIT ? OFFSET ?", (*values, limit, first)
        )
        ((total,),) = self._database.rows(f"SELECT count(*) FROM skipped WHERE {where}", values)
        return [(path, why) for path, why in rows], int(total)
