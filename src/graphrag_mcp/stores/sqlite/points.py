"""Maps the points of a server to chunks of the index, and back."""

from collections.abc import Mapping, Sequence

from graphrag_mcp.stores.points import Point, file_version, point_key
from graphrag_mcp.stores.sqlite.database import Database, id_list
from graphrag_mcp.stores.sqlite.schema import ORDINAL_BITS, ORDINAL_MASK


class SqliteChunkIds:
    """Maps points by path and version, so that hits that the index no longer has are dropped."""

    def __init__(self, database: Database, project: str) -> None:
        self._database = database
        self._project = project

    def ids(self, points: Sequence[Point]) -> list[int | None]:
        rows = self._database.rows(
            "SELECT path, id, content_hash, recipe FROM files WHERE path IN (SELECT value FROM json_each(?))",
            (id_list(sorted({point.path for point in points})),),
        )
        known = {
            (path, file_version(path, content_hash, recipe)): file_id << ORDINAL_BITS
            for path, file_id, content_hash, recipe in rows
        }
        found = []
        for point in points:
            first = known.get((point.path, point.version))
            found.append(None if first is None else first | point.ordinal)
        return found

    def keys(self, chunk_ids: Sequence[int]) -> Mapping[int, str]:
        rows = self._database.rows(
            "SELECT id, path, content_hash, recipe FROM files WHERE id IN (SELECT value FROM json_each(?))",
            (id_list({chunk_id >> ORDINAL_BITS for chunk_id in chunk_ids}),),
        )
        versions = {file_id: file_version(path, content_hash, recipe) for file_id, path, content_hash, recipe in rows}
        return {
            chunk_id: point_key(self._project, versions[chunk_id >> ORDINAL_BITS], chunk_id & ORDINAL_MASK)
            for chunk_id in chunk_ids
            if chunk_id >> ORDINAL_BITS in versions
        }
