"""The catalog: the indexed files, their recipes and chunks, and pages of what is indexed and what was left out."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import asdict, replace

from graphrag_mcp.model.facts import Use, unpack, unpack_outline
from graphrag_mcp.model.files import (
    FAILED,
    NO_FACTS,
    ArchiveClass,
    Category,
    DocumentFacts,
    DocumentStatus,
    ListedFile,
    RelationKind,
    Symbol,
    SymbolKind,
)
from graphrag_mcp.model.reports import IndexedFile
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import Ranked, StoredChunk, StoredFile
from graphrag_mcp.stores.sqlite.database import Database, id_list, marks, read_packed
from graphrag_mcp.stores.sqlite.schema import ORDINAL_BITS, of_file

if TYPE_CHECKING:
    from graphrag_mcp.stores.sqlite.scope import ScopeResolver


CHUNK_COLUMNS = """c.id, c.file_id, f.path, f.language, f.category, c.start_line, c.end_line, c.text, c.kind, c.symbol,
    c.names, c.enclosing, c.signature, f.archive_reason, f.archive_penalty, f.modified_at, f.facts"""

KEPT_DEFINITIONS = 20_000  # Twenty thousand definitions take about 10 MB.
_RUNNING = (Use.CALL, Use.CREATE)
KEPT_SCOPES = 4  # The files of a scope take 4 MB in a repository of 18,000 files.
FileOrder = Literal["path", "language", "category", "size", "modified_at", "chunks", "symbols", "archived", "note"]
_COLUMNS = (
    "path, language, category, size, modified_at, chunks, symbols, coalesce(archive_reason, '') AS archived, note"
)


class FileState(NamedTuple):
    """The index entry of a file, to detect changes. recipe: the versions of parser and models that made its rows."""

    size: int
    changed_ns: int
    content_hash: bytes
    recipe: str


class Counts(Struct, frozen=True):
    """How many files, chunks and other rows the index has."""

    files: int
    chunks: int
    symbols: int
    relations: int
    embedded_chunks: int
    archived_files: int


class _Stated(NamedTuple):
    """The status that documents state, as of one commit.

    members: the files of the tree that were read.
    """

    commit: int
    members: frozenset[int]
    by_file: dict[int, DocumentStatus | None]


class _Kept(NamedTuple):
    """What was read since a commit.

    files: by id. symbols: what chunks define. listed: the files of some scopes. states_without: entries by the note
    that they lack.
    """

    commit: int
    files: dict[int, StoredFile]
    symbols: dict[int, str]
    listed: dict[Scope, list[ListedFile]]
    states_without: dict[str, dict[str, FileState]]
    counts: list[Counts]


class SqliteCatalog:
    """Reads files and chunks, from which every other store can be rebuilt."""

    remote = False

    def __init__(self, database: Database, scopes: "ScopeResolver") -> None:
        self._database = database
        self.scope_paths = scopes
        self._definitions: dict[int, tuple[Symbol, ...]] = {}
        self._stated = _Stated(-1, frozenset(), {})
        self._kept = _Kept(-1, {}, {}, {}, {}, [])

    def chunks(self, chunk_ids: Iterable[int]) -> Mapping[int, StoredChunk]:
        rows = self._database.rows(
            f"""SELECT {CHUNK_COLUMNS} FROM chunks c CROSS JOIN files f ON f.id = c.file_id
                WHERE c.id IN (SELECT value FROM json_each(?))""",
            (id_list(chunk_ids),),
        )
        return {row[0]: read_chunk(row) for row in rows}

    def chunk_at(self, path: str, line: int) -> StoredChunk | None:
        """Return the innermost chunk around a line of a file, else its first."""
        rows = self._database.rows(
            f"""SELECT {CHUNK_COLUMNS} FROM files f CROSS JOIN chunks c
                ON {of_file("c.id", "f.id")} WHERE f.path = ?1
                ORDER BY NOT ?2 BETWEEN c.start_line AND c.end_line, c.end_line - c.start_line LIMIT 1""",
            (path, line),
        )
        return read_chunk(rows[0]) if rows else None

    def files(self, chunk_ids: Sequence[int]) -> Mapping[int, StoredFile]:
        """Return the file of each chunk; that of a test in the file of what it tests as one of tests."""
        from graphrag_mcp.languages.registry import has_inline_tests, is_inline_test  # `status` starts without it.

        known = self._kept_now().files
        file_of = {chunk_id: chunk_id >> ORDINAL_BITS for chunk_id in chunk_ids}
        missing = {file_id for file_id in file_of.values() if file_id not in known}
        if missing:
            rows = self._database.rows(
                """SELECT id, path, category, archive_reason, archive_penalty, modified_at, facts FROM files
                   WHERE id IN (SELECT value FROM json_each(?))""",
                (id_list(missing),),
            )
            known.update((row[0], _read_file(row)) for row in rows)
        files = {chunk_id: known[file_id] for chunk_id, file_id in file_of.items() if file_id in known}
        mixed = {file_id for file_id in known.keys() & file_of.values() if has_inline_tests(known[file_id].path)}
        symbols = self._symbols([chunk_id for chunk_id, file_id in file_of.items() if file_id in mixed])
        tests = (chunk_id for chunk_id, symbol in symbols.items() if is_inline_test(files[chunk_id].path, symbol))
        return files | {chunk_id: replace(files[chunk_id], category=Category.TESTS) for chunk_id in tests}

    def _symbols(self, chunk_ids: Collection[int]) -> Mapping[int, str]:
        """Return what the chunks define, as far as they still exist."""
        known = self._kept_now().symbols
        missing = [chunk_id for chunk_id in chunk_ids if chunk_id not in known]
        if missing:
            rows = "SELECT id, symbol FROM chunks WHERE id IN (SELECT value FROM json_each(?))"
            known.update(self._database.rows(rows, (id_list(missing),)))
        return {chunk_id: known[chunk_id] for chunk_id in chunk_ids if chunk_id in known}

    def _kept_now(self) -> _Kept:
        """Return what was read since the last commit."""
        commit = self._database.commit_number()
        if commit != self._kept.commit:
            self._kept = _Kept(commit, {}, {}, {}, {}, [])
        return self._kept

    def definitions(self, file_ids: Collection[int]) -> Mapping[int, Sequence[Symbol]]:
        """Return the definitions of files by file id, in the order of their lines.

        They are kept for the next search: the rows of an id never change.
        """
        known = self._definitions
        missing = [file_id for file_id in file_ids if file_id not in known]
        if missing:
            if sum(map(len, known.values())) > KEPT_DEFINITIONS:
                known = self._definitions = {}
                missing = list(file_ids)
            known.update(self._read_definitions(missing))
        return {file_id: known[file_id] for file_id in file_ids}

    def _read_definitions(self, file_ids: Iterable[int]) -> dict[int, tuple[Symbol, ...]]:
        symbols: defaultdict[int, list[Symbol]] = defaultdict(list)
        for file_id, name, qualified_name, kind, start, end, signature in self._database.rows(
            """SELECT file_id, name, qualified_name, kind, start_line, end_line, signature FROM main.symbols
               WHERE file_id IN (SELECT value FROM json_each(?)) ORDER BY start_line, end_line DESC, id""",
            (id_list(file_ids),),
        ):
            symbols[file_id].append(Symbol(name, qualified_name, SymbolKind(kind), start, end, signature))
        return {file_id: tuple(symbols[file_id]) for file_id in file_ids}

    def spans(self, file_ids: Collection[int]) -> Mapping[int, Mapping[int, tuple[int, int]]]:
        chunks_of: dict[int, dict[int, tuple[int, int]]] = {file_id: {} for file_id in file_ids}
        for chunk_id, start, end in self._database.rows(
            f"""SELECT c.id, c.start_line, c.end_line FROM json_each(?) wanted CROSS JOIN main.chunks c
                ON {of_file("c.id", "wanted.value")}
                ORDER BY c.id""",
            (id_list(file_ids),),
        ):
            chunks_of[chunk_id >> ORDINAL_BITS][chunk_id] = (start, end)
        return chunks_of

    def calls(self, file_ids: Collection[int]) -> Mapping[int, Sequence[tuple[int, str]]]:
        return read_calls(self._database, file_ids)

    def find_paths(self, words: Sequence[str], limit: int, scope: Scope) -> list[Ranked]:
        hidden = self.scope_paths.resolve(scope)
        rows = self._database.rows(
            f"""SELECT (w.file_id << {ORDINAL_BITS}), sum(w.share) AS score FROM path_words w
                WHERE w.word IN ({marks(words)}) AND {hidden.condition("w.file_id")}
                  AND EXISTS (SELECT 1 FROM chunks c WHERE c.id = w.file_id << {ORDINAL_BITS})
                GROUP BY w.file_id ORDER BY score DESC, w.file_id LIMIT ?""",
            (*words, *hidden.parameters, limit),
        )
        return [Ranked(chunk_id, score) for chunk_id, score in rows]

    def documents(self, status: DocumentStatus, limit: int, scope: Scope) -> list[int]:
        ids = [file_id for file_id, stated in self._stated_now().items() if stated is status]
        if not ids:  # This is the usual case, and needs no query.
            return []
        hidden = self.scope_paths.resolve(scope)
        return self._database.column(
            f"""SELECT f.id << {ORDINAL_BITS} FROM files f
                WHERE f.id IN (SELECT value FROM json_each(?)) AND {hidden.condition("f.id")}
                ORDER BY f.path LIMIT ?""",
            (id_list(ids), *hidden.parameters, limit),
        )

    def _stated_now(self) -> dict[int, DocumentStatus | None]:
        """Return the status that each document states, by file id; each content is read once."""
        known = self._stated
        commit, members = self.scope_paths.members()
        if commit != known.commit:
            present = frozenset(members)
            rows = self._database.rows(
                "SELECT id, facts FROM files WHERE id IN (SELECT value FROM json_each(?))",
                (id_list(present - known.members),),
            )
            by_file = {file_id: stated for file_id, stated in known.by_file.items() if file_id in present}
            by_file |= {file_id: unpack_document(facts).status for file_id, facts in rows if facts}
            # Contents that a later commit has removed were not read: they may come back.
            read = known.members & present | {file_id for file_id, _ in rows}
            known = self._stated = _Stated(commit, read, by_file)
        return known.by_file

    def is_archived(self, path: str) -> bool:
        """Return whether a file is indexed as archived, which hides it from most searches."""
        return bool(self._database.rows("SELECT 1 FROM files WHERE path = ? AND archive_reason IS NOT NULL", (path,)))

    def note(self, path: str) -> str:
        """Return what was unusual about reading a file; "" when nothing was."""
        return "".join(self._database.column("SELECT note FROM files WHERE path = ?", (path,)))

    def file_states(self) -> dict[str, FileState]:
        """Return the index entry of every file, by path."""
        return self._states("path", "TRUE")

    def states_without(self, note: str) -> dict[str, FileState]:
        """Return the index entries of the files whose note does not contain this, by path; read once per commit."""
        known = self._kept_now().states_without
        if note not in known:
            known[note] = self._states("path", "NOT instr(note, ?)", note)
        return known[note]

    def states(self, file_ids: Iterable[int]) -> dict[int, FileState]:
        """Return the index entries of those contents that the tree still has, by their ids."""
        return self._states("id", "id IN (SELECT value FROM json_each(?))", id_list(file_ids))

    def archived(self) -> dict[str, ArchiveClass]:
        """Return why files count as archived, by path."""
        rows = self._database.rows(
            "SELECT path, archive_reason, archive_penalty FROM files WHERE archive_reason IS NOT NULL"
        )
        return {path: ArchiveClass(reason, penalty) for path, reason, penalty in rows}

    def states_at(self, path: str) -> dict[str, FileState]:
        """Return the index entry of a file, or of all files in a folder, by path."""
        inside = (
            "SELECT path, size, changed_ns, content_hash, recipe FROM files WHERE path > ?1 || '/' AND path < ?1 || '0'"
        )
        return self._states("path", f"path = ?1 UNION ALL {inside}", path)  # "0" follows "/".

    def _states(self, key: str, condition: str, *parameters: str) -> dict[Any, FileState]:
        """Return the index entries of the files that meet a condition, by the value of a column."""
        rows = self._database.rows(
            f"SELECT {key}, size, changed_ns, content_hash, recipe FROM files WHERE {condition}", parameters
        )
        return {value: FileState(*state) for value, *state in rows}

    def paths(self, scope: Scope) -> list[tuple[str, Category]]:
        return [(file.path, file.category) for file in self.listed(scope)]

    def listed(self, scope: Scope) -> Sequence[ListedFile]:
        """Return the files of a scope in the order of their paths; those of a few scopes are kept until a commit."""
        known = self._kept_now().listed
        if scope not in known:
            hidden = self.scope_paths.resolve(scope)
            rows = self._database.rows(
                f"SELECT id, path, category, language FROM files f WHERE {hidden.condition('f.id')} ORDER BY path",
                hidden.parameters,
            )
            if len(known) >= KEPT_SCOPES:
                known.clear()
            known[scope] = [ListedFile(file_id, path, Category(kind), name) for file_id, path, kind, name in rows]
        return known[scope]

    def meta(self, key: str) -> str:
        """Return a value about the whole index, "" when it is not stored."""
        return self._database.meta(key)

    def skipped(self) -> dict[str, str]:
        """Return the reason for every path that was left out, by path."""
        return dict(self._database.rows("SELECT path, reason FROM skipped"))

    def failures(self) -> dict[str, str]:
        """Return the stages that failed on files, with the reasons, by path."""
        rows = self._database.rows(
            """SELECT path, note FROM files WHERE instr(note, ?1)
               UNION SELECT path, reason FROM skipped WHERE instr(reason, ?1) ORDER BY path""",
            (FAILED,),
        )
        return {path: note.partition(FAILED)[2] for path, note in rows}

    def counts(self) -> Counts:
        """Return the sizes of the index, counted once for each commit."""
        known = self._kept_now().counts
        if not known:
            (row,) = self._database.rows(
                """SELECT count(*), coalesce(sum(chunks), 0), coalesce(sum(symbols), 0),
                          (SELECT coalesce(sum(relations), 0) FROM linked),
                          coalesce(sum(embedded), 0), count(archive_reason) FROM files"""
            )
            known.append(Counts(*row))
        return known[0]

    def languages(self) -> Collection[str]:
        return self.files_by("language").keys()

    def files_by(self, column: str) -> dict[str, int]:
        """Return the number of files for each value of "language", "category" or "note"."""
        if column not in ("language", "category", "note"):
            raise ValueError(f"files are not counted by {column!r}")
        return dict(self._database.rows(f"SELECT {column}, count(*) FROM files GROUP BY 1 ORDER BY 2 DESC, 1"))


def read_chunk(row: Sequence[Any]) -> StoredChunk:
    """Build a chunk from the values of CHUNK_COLUMNS, which are in the order of its fields."""
    chunk_id, file_id, path, language, category, *rest = row[:10]
    names, enclosing, signature, reason, penalty, modified_at, facts = row[10:]
    rest += [_split(names), _split(enclosing), signature]
    rest += [_archive(reason, penalty), modified_at, unpack_document(facts)]
    return StoredChunk(chunk_id, file_id, path, language, Category(category), *rest)


def _read_file(row: Sequence[Any]) -> StoredFile:
    file_id, path, category, reason, penalty, modified_at, facts = row
    return StoredFile(file_id, path, Category(category), _archive(reason, penalty), modified_at, unpack_document(facts))


def _archive(reason: str | None, penalty: float) -> ArchiveClass | None:
    return ArchiveClass(reason, penalty) if reason is not None else None


def pack_document(facts: DocumentFacts) -> str:
    """Return the facts as JSON, "" for a document without facts."""
    return "" if facts == NO_FACTS else json.dumps(asdict(facts), ensure_ascii=False)


@lru_cache(maxsize=1024)
def unpack_document(text: str) -> DocumentFacts:
    """Parse the JSON of `pack_document`."""
    if not text:
        return NO_FACTS
    values = json.loads(text)
    values["status"] = DocumentStatus(values["status"]) if values["status"] else None
    values["tags"], values["supersedes"] = tuple(values["tags"]), tuple(values["supersedes"])
    return DocumentFacts(**values)


def _split(value: str) -> tuple[str, ...]:
    return tuple(value.split("\t")) if value else ()


def read_calls(database: Database, file_ids: Collection[int]) -> Mapping[int, Sequence[tuple[int, str]]]:
    """Return the names that files call, with their lines and in that order, by file id."""
    calls_of: dict[int, Sequence[tuple[int, str]]] = dict.fromkeys(file_ids, ())
    wanted = (id_list(file_ids),)
    for file_id, data in database.rows(
        "SELECT file_id, data FROM main.facts WHERE file_id IN (SELECT value FROM json_each(?))", wanted
    ):
        mentions = read_packed(unpack, data).mentions
        calls_of[file_id] = [
            (mention.line, mention.name) for mention in mentions if mention.use in _RUNNING and mention.name
        ]
    for file_id, data in database.rows(
        "SELECT file_id, data FROM main.outlines WHERE file_id IN (SELECT value FROM json_each(?))", wanted
    ):
        calls = (relation for relation in read_packed(unpack_outline, data) if relation.kind is RelationKind.CALLS)
        calls_of[file_id] = sorted((call.line, call.target) for call in calls)
    return calls_of


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
