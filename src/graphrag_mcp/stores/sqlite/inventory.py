"""The inventory: pages of the indexed files and of those that were left out."""

from dataclasses import dataclass
from typing import Literal

from graphrag_mcp.model.reports import FileAge, IndexedFile
from graphrag_mcp.stores.sqlite.database import Database

FileOrder = Literal["path", "language", "category", "size", "modified_at", "chunks", "symbols", "archived", "note"]

_COLUMNS = (
    "path, language, category, size, modified_at, chunks, symbols, coalesce(archive_reason, '') AS archived, note"
)


@dataclass(frozen=True, slots=True)
class FileQuery:
    """Which files to list: those whose path contains `text`, ignoring case; "" means all. archived: None means both."""

    text: str = ""
    language: str = ""
    category: str = ""
    archived: bool | None = None
    order: FileOrder = "path"
    descending: bool = False
    first: int = 0
    limit: int = 100


class SqliteInventory:
    """Lists the files of the tree, a page at a time."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def files(self, query: FileQuery) -> tuple[list[IndexedFile], int]:
        """Return a page of files, and how many there are in all."""
        conditions, values = ["1"], list[object]()
        if query.text:
            conditions.append("instr(lower(path), ?)")
            values.append(query.text.lower())
        for column, wanted in (("language", query.language), ("category", query.category)):
            if wanted:
                conditions.append(f"{column} = ?")
                values.append(wanted)
        if query.archived is not None:
            conditions.append(f"archive_reason IS {'NOT ' if query.archived else ''}NULL")
        where = " AND ".join(conditions)
        direction = "DESC" if query.descending else "ASC"
        rows = self._database.rows(
            f"SELECT {_COLUMNS} FROM files WHERE {where} ORDER BY {query.order} {direction}, path LIMIT ? OFFSET ?",
            (*values, query.limit, query.first),
        )
        ((total,),) = self._database.rows(f"SELECT count(*) FROM files WHERE {where}", tuple(values))
        return [IndexedFile(*row) for row in rows], int(total)

    def skipped(
        self, text: str = "", reason: str = "", first: int = 0, limit: int = 100
    ) -> tuple[list[tuple[str, str]], int]:
        """Return a page of the paths that were left out, each with its reason, and how many there are in all."""
        where = "instr(lower(path), ?) AND (? = '' OR reason = ?)" if text else "? = '' AND (? = '' OR reason = ?)"
        values = (text.lower(), reason, reason)
        rows = self._database.rows(
            f"SELECT path, reason FROM skipped WHERE {where} ORDER BY path LIMIT ? OFFSET ?", (*values, limit, first)
        )
        ((total,),) = self._database.rows(f"SELECT count(*) FROM skipped WHERE {where}", values)
        return [(path, why) for path, why in rows], int(total)

    def ages(self, folder: str = "") -> list[FileAge]:
        """Return the age of every file in a folder, at any depth; "" for the whole tree."""
        columns = "path, chunks, modified_at, archive_reason IS NOT NULL"
        if not folder:
            rows = self._database.rows(f"SELECT {columns} FROM files ORDER BY path")
        else:  # "0" follows "/".
            rows = self._database.rows(
                f"SELECT {columns} FROM files WHERE path > ?1 || '/' AND path < ?1 || '0' ORDER BY path",
                (folder,),
            )
        return [FileAge(path, chunks, modified_at, bool(archived)) for path, chunks, modified_at, archived in rows]
