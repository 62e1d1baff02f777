"""The links of a tree: what each mention resolves to, stored until something changes that the link depends on."""

import json
import re
import zlib
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from graphrag_mcp.model.facts import FileFacts, Use, unpack, unpack_outline
from graphrag_mcp.model.files import Failure, RelationKind, SymbolKind, with_failures, without_last_failure
from graphrag_mcp.model.links import MORE, How, Link, Place, Read, StoredLink, place_id
from graphrag_mcp.model.sources import Keyed, Named, Names
from graphrag_mcp.stores.sqlite.database import Database, id_list, marks
from graphrag_mcp.stores.sqlite.schema import LINK_BITS, of_file, of_linked
from graphrag_mcp.stores.sqlite.trees import JOINED_FACTS, OF_FILE, REMOVE_LINKS
from graphrag_mcp.text.counts import counted

if TYPE_CHECKING:  # Only what compares hashes imports it: a hook must be quick.
    import numpy as np
    from numpy.typing import NDArray

KIND_NUMBERS = {kind: number for number, kind in enumerate(RelationKind)}
_USES = {"": 0, **{str(use): number for number, use in enumerate(Use, 1)}}

_KIND_OF, _USE_OF, _HOW_OF = list(RelationKind), ["", *map(str, Use)], {int(how): how for how in How}

Row = tuple[int, ...]
LINE_BITS = 8  # The lowest bits of a position number the mentions of a line.
MOST_TEXTS = 100  # If more files are not resolved, any of them may contain a name.
_COLUMNS = "v.target, f.path, v.position, v.source, v.kind, v.use, v.how, v.given, v.receiver"
_READ_BYTES = 3
_Hashes: TypeAlias = "NDArray[np.uint32]"


class PackedLinks(NamedTuple):
    """The links of one file as rows, with the hashes of what they depend on."""

    path: str
    rows: Sequence[Row]
    reads: bytes
    of_imports: bytes
    meanings: bytes

    @property
    def is_cut(self) -> bool:
        """Whether the file may have more."""
        return any(how == How.CUT for *_, how, _, _ in self.rows[-1:])


class Superseded(NamedTuple):
    """A file that was changed since others were resolved: its facts and names at that time, and now."""

    path: str
    before: FileFacts | None
    now: FileFacts | None
    names_before: Names | None
    names_now: Names | None
    is_manifest_changed: bool


def pack_links(path: str, links: Iterable[Link]) -> list[Row]:
    """Return links as rows of plain numbers, without duplicates. Raises ValueError for too many."""
    ids: dict[Place, int] = {}

    def number_of(place: Place | int | None, *, is_end: bool = False) -> int:
        if place is None or (place == Place(path, "") and not is_end):
            return 0
        if isinstance(place, int):
            return place
        if place not in ids:
            ids[place] = place_id(place)
        return ids[place]

    on_line: dict[int, int] = {}
    rows: list[Row] = []
    for link in dict.fromkeys(links):
        number = on_line[link.line] = on_line.get(link.line, -1) + 1
        position = link.line << LINE_BITS | min(number, (1 << LINE_BITS) - 1)
        places = (number_of(link.target, is_end=True), position, number_of(link.source))
        kinds = (KIND_NUMBERS[link.kind], _USES[link.use], int(link.how))
        rows.append((*places, *kinds, link.arity, number_of(link.receiver)))
    if len(rows) >> LINK_BITS:
        raise ValueError(counted(len(rows), "link"))
    return rows


def pack_meanings(meanings: Mapping[str, str]) -> bytes:
    """Return a hash for what each import of a file means, in the order of their modules."""
    return array("I", [zlib.crc32(meanings[module].encode()) for module in sorted(meanings)]).tobytes()


def pack_reads(reads: Iterable[Read]) -> bytes:
    """Return 24 bits for each read; if two reads share them, a file may be resolved in vain."""
    hashes = {zlib.crc32("\0".join(read).encode(errors="surrogatepass")) & 0xFFFFFF for read in reads}
    return b"".join(number.to_bytes(_READ_BYTES, "little") for number in sorted(hashes))


def _hashes(packed: bytes) -> _Hashes:
    """Return the numbers that `pack_reads` packed."""
    import numpy as np

    numbers = np.zeros((len(packed) // _READ_BYTES, 4), dtype=np.uint8)
    numbers[:, :_READ_BYTES] = np.frombuffer(packed, dtype=np.uint8).reshape(-1, _READ_BYTES)
    return numbers.view(np.uint32).ravel()


class SqliteLinks:
    """The links of one tree as of one commit, see `LinkSource`: make a new one when the index has changed."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._tree_id = database.tree.tree_id

    def to(self, targets: Collection[int], hows: Collection[How], /) -> list[StoredLink]:
        rows = self._database.rows(
            f"""SELECT {_COLUMNS} FROM json_each(?) wanted CROSS JOIN main.links v ON v.target = wanted.value
                CROSS JOIN linked l ON l.id = v.id >> {LINK_BITS} CROSS JOIN files f ON f.id = l.file_id
                WHERE v.how IN ({marks(hows)}) ORDER BY f.path, v.position""",
            (id_list(targets), *hows),
        )
        return list(map(_stored, rows))

    def of(self, path: str, /) -> list[StoredLink]:
        rows = self._database.rows(
            f"""SELECT {_COLUMNS} FROM files f CROSS JOIN linked l ON l.file_id = f.id
                CROSS JOIN main.links v ON {of_linked("v.id", "l.id")} WHERE f.path = ? ORDER BY v.position""",
            (path,),
        )
        return list(map(_stored, rows))

    def pending(self, names: Collection[str], /) -> list[str]:
        """Return the files that are not wholly resolved and contain any of some names, and those that just changed.

        Links of other files may depend on the old content of the latter.
        """
        word = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)")
        unresolved = [path for path, text in self._unresolved.items() if text is None or word.search(text)]
        return sorted({*unresolved, *self._changed})

    def unresolved(self, path: str, /) -> bool:
        return path in self._unresolved

    @cached_property
    def _unresolved(self) -> Mapping[str, str | None]:
        """The files that are not wholly resolved, with their text unless they are many."""
        missing = [*self.missing(), *(link.path for link in self.to((place_id(MORE),), (How.CUT,)))]
        if len(missing) > MOST_TEXTS:
            return dict.fromkeys(missing)
        rows = self._database.rows(
            f"""SELECT f.path, group_concat(c.text, char(10)) FROM json_each(?) wanted
                CROSS JOIN files f ON f.path = wanted.value
                LEFT JOIN chunks c ON {of_file("c.id", "f.id")} GROUP BY f.id""",
            (id_list(missing),),
        )
        return dict(rows)

    @cached_property
    def _changed(self) -> Sequence[str]:
        return self._database.column(
            """SELECT s.path FROM superseded s LEFT JOIN files f ON f.path = s.path
               WHERE s.facts IS NOT NULL OR s.manifest IS NOT NULL OR s.outline IS NOT NULL
                   OR f.id IN (SELECT file_id FROM main.facts) OR f.id IN (SELECT file_id FROM main.manifests)
                   OR f.id IN (SELECT file_id FROM main.outlines)"""
        )

    def missing(self) -> list[str]:
        """Return the files whose links are missing, in the order of their paths."""
        return self._database.column(
            """SELECT f.path FROM (SELECT file_id FROM facts UNION SELECT file_id FROM outlines) x
               CROSS JOIN files f ON f.id = x.file_id
               WHERE NOT EXISTS (SELECT 1 FROM linked l WHERE l.file_id = x.file_id) ORDER BY f.path"""
        )

    def adopt(self) -> None:
        """Copy the links of the tree that has most of the same contents, if this one has none.

        Files that differ between the two count as changed since.
        """
        if self._database.rows("SELECT 1 FROM linked LIMIT 1"):
            return
        rows = self._database.rows(
            """SELECT l.tree_id FROM main.linked l
               CROSS JOIN main.tree_files t ON t.file_id = l.file_id AND t.tree_id = ?
               WHERE l.tree_id NOT IN (SELECT tree_id FROM main.superseded)
               GROUP BY l.tree_id ORDER BY count(*) DESC LIMIT 1""",
            (self._tree_id,),
        )
        if not rows:
            return
        trees = (self._tree_id, *rows[0])
        with self._database.change() as connection:
            connection.execute(
                """INSERT INTO main.linked
                   SELECT NULL, ?1, l.file_id, l.reads, l.of_imports, l.meanings, l.relations, l.digest
                   FROM main.linked l WHERE l.tree_id = ?2
                       AND l.file_id IN (SELECT file_id FROM main.tree_files WHERE tree_id = ?1)""",
                trees,
            )
            connection.execute(
                f"""INSERT INTO main.links SELECT (own.id << {LINK_BITS}) | (v.id & {(1 << LINK_BITS) - 1}),
                       v.target, v.position, v.source, v.kind, v.use, v.how, v.given, v.receiver
                   FROM main.linked own CROSS JOIN main.linked l ON l.tree_id = ?2 AND l.file_id = own.file_id
                   CROSS JOIN main.links v ON {of_linked("v.id", "l.id")} WHERE own.tree_id = ?1""",
                trees,
            )
            connection.execute(
                f"""INSERT INTO main.superseded
                   SELECT ?1, d.path, {OF_FILE} FROM (
                       SELECT path FROM main.tree_files WHERE tree_id IN (?1, ?2)
                       GROUP BY path HAVING count(*) = 1 OR min(file_id) != max(file_id)
                           OR count(archive_reason) = 1) d
                   LEFT JOIN main.tree_files t ON t.tree_id = ?2 AND t.path = d.path {JOINED_FACTS}""",
                trees,
            )

    def superseded(self) -> Iterator[Superseded]:
        """Yield the files that were changed since others were resolved."""
        rows = self._database.rows(
            f"""SELECT s.path, s.facts, s.manifest, s.symbols, s.outline, s.is_archived, {OF_FILE}
               FROM superseded s LEFT JOIN main.tree_files t ON t.tree_id = ? AND t.path = s.path {JOINED_FACTS}""",
            (self._tree_id,),
        )
        for path, *columns in rows:
            (facts, manifest, *names), (facts_now, manifest_now, *names_now) = columns[:5], columns[5:]
            yield Superseded(
                path,
                unpack(facts) if facts else None,
                unpack(facts_now) if facts_now else None,
                _names(path, *names),
                _names(path, *names_now),
                manifest != manifest_now,
            )

    def readers(self, reads: Iterable[Read]) -> set[str]:
        """Return the files whose links depend on any of some reads."""
        return set(self._having("reads", reads))

    def importers(self, reads: Iterable[Read]) -> Mapping[str, bytes]:
        """Return the files whose imports depend on any of some reads, with the hashes of what the imports mean."""
        return self._having("of_imports", reads)

    def _having(self, column: str, reads: Iterable[Read]) -> dict[str, bytes]:
        wanted = _hashes(pack_reads(reads))
        rows = self._database.rows(
            f"SELECT f.path, l.{column}, l.meanings FROM linked l CROSS JOIN files f ON f.id = l.file_id"
        )
        unpacked = ((path, _hashes(hashes), meanings) for path, hashes, meanings in rows)
        return {path: meanings for path, hashes, meanings in unpacked if _have_common(hashes, wanted)}

    def settle(self, stale: Collection[str], imports: Mapping[str, tuple[bytes, bytes]]) -> None:
        """Remove the links of stale files, and forget the changes.

        imports: by file, the packed reads and meanings of imports that were resolved again.
        """
        with self._database.change() as connection:
            rows = connection.execute(
                """SELECT l.id FROM json_each(?) wanted CROSS JOIN files f ON f.path = wanted.value
                   CROSS JOIN main.linked l ON l.tree_id = ? AND l.file_id = f.id""",
                (id_list(stale), self._tree_id),
            ).fetchall()
            connection.executemany(REMOVE_LINKS, rows)
            connection.executemany("DELETE FROM main.linked WHERE id = ?", rows)
            connection.executemany(
                """UPDATE main.linked SET of_imports = ?, meanings = ?
                   WHERE tree_id = ? AND file_id = (SELECT id FROM files WHERE path = ?)""",
                [(*packed, self._tree_id, path) for path, packed in imports.items()],
            )
            connection.execute("DELETE FROM main.superseded WHERE tree_id = ?", (self._tree_id,))

    def resolved(self) -> list[str]:
        """Return the files that have links."""
        return self._database.column("SELECT path FROM linked l CROSS JOIN files f ON f.id = l.file_id")

    def note(self, stage: str, failures: Mapping[str, Failure | None]) -> None:
        """Note why files could not be resolved, or not wholly; forget what was noted of those that now are."""
        wanted = "SELECT path, id, note FROM files WHERE path IN (SELECT value FROM json_each(?))"
        for path, number, note in self._database.rows(wanted, (id_list(failures),)):
            failure = failures[path]
            noted = with_failures(without_last_failure(note, stage), [failure] if failure else ())
            if noted != note:
                with self._database.change() as connection:
                    connection.execute("UPDATE main.files SET note = ? WHERE id = ?", (noted, number))

    def write(self, files: Sequence[PackedLinks]) -> None:
        """Store the links of files, without those of files that are gone meanwhile."""
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
                    relations = sum(target > 0 for target, *_ in file.rows)
                    cursor = connection.execute(
                        "INSERT INTO main.linked VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)",
                        (self._tree_id, ids[file.path], *file[2:], relations, zlib.crc32(repr(file.rows).encode())),
                    )
                    first = (cursor.lastrowid or 0) << LINK_BITS
                    connection.executemany(
                        "INSERT INTO main.links VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                        [(number, *row) for number, row in enumerate(file.rows, first)],
                    )


def _stored(row: tuple[int, str, int, int, int, int, int, int, int]) -> StoredLink:
    target, path, position, source, kind, use, how, count, receiver = row
    return StoredLink(
        target, path, position >> LINE_BITS, source, _KIND_OF[kind], _USE_OF[use], _HOW_OF[how], count, receiver
    )


def _names(path: str, symbols: str | None, outline: bytes | None, is_archived: int | None) -> Names | None:
    """Return the names of a file that was or is there."""
    if symbols is None:
        return None
    file = Keyed(path, "", bool(is_archived))
    rows = ((name, qualified, SymbolKind(kind), *rest) for name, qualified, kind, *rest in json.loads(symbols))
    return Names(file, [Named(file, *row) for row in rows], unpack_outline(outline) if outline else ())


def _have_common(hashes: _Hashes, wanted: _Hashes) -> bool:
    """Return whether two sorted lists have a number in common."""
    import numpy as np

    if not len(hashes) or not len(wanted):
        return False
    positions = np.searchsorted(hashes, wanted)
    return bool(np.any(hashes[np.minimum(positions, len(hashes) - 1)] == wanted))
