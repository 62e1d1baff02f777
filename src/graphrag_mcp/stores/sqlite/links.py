"""What the mentions of a tree's files mean: rows that stay until something changes that they follow from."""

import zlib
from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrag_mcp.model.facts import FileFacts, Use, unpack
from graphrag_mcp.model.files import RelationKind
from graphrag_mcp.model.links import Link, Place, place_id
from graphrag_mcp.resolution.linking import Linked
from graphrag_mcp.resolution.reads import Read
from graphrag_mcp.stores.sqlite.database import Database, id_list

_KINDS = {kind: number for number, kind in enumerate(RelationKind)}
_USES = {"": 0, **{str(use): number for number, use in enumerate(Use, 1)}}

Row = tuple[int, ...]
_Hashes = NDArray[np.uint32]


class PackedLinks(NamedTuple):
    """The links of one file as rows, with the hashes of what they follow from; see `Linked`."""

    path: str
    rows: Sequence[Row]
    reads: bytes
    of_imports: bytes
    meanings: bytes


class Superseded(NamedTuple):
    """A file that was changed since others were resolved: its facts at that time, and now."""

    path: str
    before: FileFacts | None
    now: FileFacts | None
    is_manifest_changed: bool


def pack_links(path: str, linked: Linked) -> PackedLinks:
    """Return the links of a file as rows of plain numbers, in the parsing processes."""
    ids: dict[Place, int] = {}

    def number_of(place: Place | None) -> int:
        if place is None:
            return 0
        if place not in ids:
            ids[place] = place_id(place)
        return ids[place]

    def row_of(link: Link) -> Row:
        source = number_of(Place(path, link.source)) if link.source else 0
        kinds = (_KINDS[link.kind], _USES[link.use], int(link.how))
        return number_of(link.target), link.line, source, *kinds, link.given, number_of(link.receiver)

    rows = list(dict.fromkeys(map(row_of, linked.links)))
    return PackedLinks(path, rows, _hashes(linked.reads), *pack_imports(linked.meanings, linked.of_imports))


def pack_imports(meanings: Mapping[str, str], of_imports: Iterable[Read]) -> tuple[bytes, bytes]:
    """Return the hashes of the reads by which the meaning of imports was found, and of what each means."""
    return _hashes(of_imports), array("I", [zlib.crc32(meanings[one].encode()) for one in sorted(meanings)]).tobytes()


def _hashes(reads: Iterable[Read]) -> bytes:
    """Return 32 bits for each read: two with the same only make a file be resolved in vain."""
    found = {zlib.crc32("\0".join(read).encode(errors="surrogatepass")) for read in reads}
    return array("I", sorted(found)).tobytes()


class SqliteLinks:
    """The links of one tree."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._tree_id = database.tree.tree_id

    def pending(self) -> list[str]:
        """Return the files whose links are missing, in the order of their paths."""
        rows = self._database.rows(
            """SELECT f.path FROM facts x CROSS JOIN files f ON f.id = x.file_id
               WHERE x.file_id NOT IN (SELECT file_id FROM linked) ORDER BY f.path"""
        )
        return [path for (path,) in rows]

    def superseded(self) -> list[Superseded]:
        """Return the files that were changed since others were resolved."""
        rows = self._database.rows(
            """SELECT s.path, s.facts, x.data, s.manifest IS NOT m.data FROM superseded s
               LEFT JOIN files f ON f.path = s.path
               LEFT JOIN main.facts x ON x.file_id = f.id LEFT JOIN main.manifests m ON m.file_id = f.id"""
        )
        return [
            Superseded(path, unpack(before) if before else None, unpack(now) if now else None, bool(is_changed))
            for path, before, now, is_changed in rows
        ]

    def readers(self, reads: Iterable[Read]) -> set[str]:
        """Return the files whose links follow from any of some reads."""
        return self._having("reads", reads).keys()  # type: ignore[return-value]

    def importers(self, reads: Iterable[Read]) -> Mapping[str, bytes]:
        """Return the files whose imports mean what they do by any of some reads, with the hashes of the meanings."""
        return self._having("of_imports", reads)

    def _having(self, column: str, reads: Iterable[Read]) -> dict[str, bytes]:
        wanted = np.frombuffer(_hashes(reads), dtype=np.uint32)
        rows = self._database.rows(
            f"SELECT f.path, l.{column}, l.meanings FROM linked l CROSS JOIN files f ON f.id = l.file_id"
        )
        found = ((path, np.frombuffer(hashes, dtype=np.uint32), meanings) for path, hashes, meanings in rows)
        return {path: meanings for path, hashes, meanings in found if _have_common(hashes, wanted)}

    def settle(self, stale: Collection[str], imports: Mapping[str, tuple[bytes, bytes]]) -> None:
        """Remove the links of some files, and forget the changes; imports: of others, whose imports were found anew."""
        with self._database.change() as connection:
            connection.execute(
                """DELETE FROM main.links WHERE linked_id IN (
                       SELECT l.id FROM linked l CROSS JOIN files f ON f.id = l.file_id
                       WHERE f.path IN (SELECT value FROM json_each(?)))""",
                (id_list(stale),),
            )
            connection.execute(
                """DELETE FROM main.linked WHERE tree_id = ? AND file_id IN (
                       SELECT id FROM files WHERE path IN (SELECT value FROM json_each(?)))""",
                (self._tree_id, id_list(stale)),
            )
            connection.executemany(
                """UPDATE main.linked SET of_imports = ?, meanings = ?
                   WHERE tree_id = ? AND file_id = (SELECT id FROM files WHERE path = ?)""",
                [(*packed, self._tree_id, path) for path, packed in imports.items()],
            )
            connection.execute("DELETE FROM main.superseded WHERE tree_id = ?", (self._tree_id,))

    def write(self, files: Sequence[PackedLinks]) -> None:
        """Store the links of files; those of a file that is gone meanwhile are left out."""
        if not files:
            return
        with self._database.change() as connection:
            ids = dict(
                connection.execute(
                    "SELECT path, id FROM files WHERE path IN (SELECT value FROM json_each(?))",
                    (id_list(file.path for file in files),),
                )
            )
            for file in files:
                if file.path in ids:
                    cursor = connection.execute(
                        "INSERT INTO main.linked VALUES (NULL, ?, ?, ?, ?, ?)",
                        (self._tree_id, ids[file.path], file.reads, file.of_imports, file.meanings),
                    )
                    connection.executemany(
                        f"INSERT INTO main.links VALUES (?, {cursor.lastrowid}, ?, ?, ?, ?, ?, ?, ?)", file.rows
                    )


def _have_common(hashes: _Hashes, wanted: _Hashes) -> bool:
    """Return whether two sorted lists have a number in common."""
    if not len(hashes) or not len(wanted):
        return False
    places = np.searchsorted(hashes, wanted)
    return bool(np.any(hashes[np.minimum(places, len(hashes) - 1)] == wanted))
