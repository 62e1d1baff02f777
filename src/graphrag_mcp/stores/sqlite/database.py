"""Opens the index file: one connection for each reading thread, one for the writer."""

import json
import os
import sqlite3
import threading
import weakref
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import closing, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from weakref import WeakSet

import msgspec
from filelock import FileLock, Timeout
from msgspec import Struct

from graphrag_mcp.errors import IndexDamagedError, IndexStoreError
from graphrag_mcp.stores.sqlite.schema import SCHEMA, SCHEMA_OBJECTS, SCHEMA_VERSION, tree_views
from graphrag_mcp.stores.sqlite.trees import Tree, find_tree, make_tree

Unpacked = TypeVar("Unpacked")

BUSY_TIMEOUT_SECONDS = 2.0  # Readers do not wait, unless a foreign program locks the whole file.
WRITE_TIMEOUT_SECONDS = 10.0  # A writer commits in milliseconds; ten seconds means something is wrong.
LOG_HEADER_BYTES = 32  # https://www.sqlite.org/fileformat2.html#walformat
CACHE_KIB = 2_048  # With 16 MB for the pages of each connection, no search of 70,000 chunks is faster.


def read_packed(unpack: Callable[[bytes], Unpacked], data: bytes) -> Unpacked:
    """Return what a row holds in packed form. Raises sqlite3.DatabaseError where its bytes are damaged."""
    try:
        return unpack(data)
    except (zlib.error, msgspec.DecodeError) as error:
        raise sqlite3.DatabaseError(f"a row is damaged ({error})") from error


class Database:
    """The index file as one tree sees it.

    Each reading thread has its own connection. `commit_number()` changes whenever the tree's files change, so that
    caches can detect that they are out of date.
    """

    def __init__(self, path: Path, root: str = "", model: str | None = None) -> None:
        """Open the file, and create it when it is missing.

        root: of the tree. model: the fingerprint of the vectors to write; None for the tree that is searched.
        Raises IndexDamagedError when the file is damaged or has another format, IndexStoreError when it cannot be
        opened now.
        """
        self.path = path
        self._local = threading.local()
        self._connections: WeakSet[_Connection] = WeakSet()
        self._closed = False
        self._guard = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.tree = _open_tree(path, root, model)
            self._identity = _identity_of(path)
            self._log = _NO_FILE
        except (OSError, sqlite3.Error) as error:
            kind = IndexDamagedError if isinstance(error, sqlite3.Error) and is_damage(error) else IndexStoreError
            raise kind(f"{path} cannot be opened ({error}); {advice(error)}") from error

    def harm(self) -> str:
        """Return what other processes did to the open file, judged by its size and its log; "" for nothing.

        SQLite never shortens the file, since it is never vacuumed, and keeps the log while the file is open.
        """
        open_now = list(self._connections)  # The list keeps the connections open until the log was checked.
        identity, log = _identity_of(self.path), _identity_of(_log_of(self.path))
        if identity.is_same_file(self._identity):
            if identity.size < self._identity.size:
                return "it was cut short"
            self._identity = identity
            if open_now and not log.is_same_file(self._log):
                return "its log was removed"
        return ""

    def is_tree_of(self, model: str | None) -> bool:
        """Return whether this tree is that of a model, or for None that which is searched.

        The file may be replaced, and the tree retired.
        """
        # This comes first, since a missing file must not be read.
        if not _identity_of(self.path).is_same_file(self._identity):
            return False
        with self.connection() as connection:
            return find_tree(connection, self.tree.root, model) == self.tree

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read one commit in the whole block: in this thread, and in threads that run in a copy of its context.

        They share this thread's connection. Nothing may be written inside; a nested snapshot is the outer one.
        """
        mine = self._own_connection()
        if self._snapshot() is not None or mine.opened.in_transaction:
            yield
            return
        with mine.busy:
            mine.opened.execute("BEGIN")
            snapshot = _Snapshot(self, mine, _commit_in(mine.opened.execute(_COMMIT_NUMBER).fetchall()))
        token = _SNAPSHOT.set(snapshot)
        try:
            yield
        finally:
            _SNAPSHOT.reset(token)
            snapshot.is_open = False
            with mine.busy, suppress(sqlite3.ProgrammingError):  # It was closed meanwhile.
                mine.opened.rollback()

    @contextmanager
    def connection(self) -> Iterator[sqlite3.Connection]:
        """Lend the connection of the snapshot, else this thread's; `close` waits for its return."""
        lent = self._lent()
        with lent.busy:
            yield lent.opened

    def models(self) -> set[str]:
        """Return the fingerprints of all trees' models."""
        return set(self.column("SELECT DISTINCT model FROM trees"))

    def roots(self) -> int:
        """Return how many work trees share the file."""
        ((count,),) = self.rows("SELECT count(DISTINCT root) FROM trees")
        return int(count)

    def rows(self, sql: str, parameters: Iterable[object] = ()) -> list[tuple[Any, ...]]:
        lent = self._lent()
        with lent.busy:
            return lent.opened.execute(sql, tuple(parameters)).fetchall()

    def column(self, sql: str, parameters: Iterable[object] = ()) -> list[Any]:
        """Return the first value of each row."""
        return [row[0] for row in self.rows(sql, parameters)]

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Hold the write lock; commit at the end, roll back on any exception."""
        with self.connection() as connection:
            connection.execute(f"PRAGMA busy_timeout = {int(WRITE_TIMEOUT_SECONDS * 1000)}")
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.rollback()
                raise
            connection.commit()

    @contextmanager
    def change(self) -> Iterator[sqlite3.Connection]:
        """Change what is stored of the tree in one transaction, so that `commit_number` changes."""
        with self.transaction() as connection:
            connection.execute(
                """INSERT INTO main.meta VALUES (?, 'generation', '1')
                   ON CONFLICT (tree_id, key) DO UPDATE SET value = CAST(value AS INTEGER) + 1""",
                (self.tree.tree_id,),
            )
            yield connection

    def commit_number(self) -> int:
        """Return the number of the snapshot's commit, else of the last one."""
        snapshot = self._snapshot()
        return snapshot.commit if snapshot is not None else _commit_in(self.rows(_COMMIT_NUMBER))

    def meta(self, key: str) -> str:
        """Return a value of `meta`, "" when there is none."""
        rows = self.rows("SELECT value FROM meta WHERE key = ?", (key,))
        return str(rows[0][0]) if rows else ""

    def disconnect(self) -> None:
        """Close this thread's connection until it reads again: a damaged file cannot be replaced while it is open."""
        mine: _Connection | None = self._local.__dict__.pop("connection", None)
        if mine is not None:
            with mine.busy:
                mine.opened.close()

    def close(self) -> None:
        """Close every thread's connection, once that thread is not using it: SQLite crashes otherwise."""
        with self._guard:
            self._closed = True
            connections = list(self._connections)
        for connection in connections:
            with connection.busy:
                connection.opened.close()

    def _lent(self) -> "_Connection":
        snapshot = self._snapshot()
        return snapshot.connection if snapshot is not None else self._own_connection()

    def _snapshot(self) -> "_Snapshot | None":
        snapshot = _SNAPSHOT.get()
        return snapshot if snapshot is not None and snapshot.is_open and snapshot.database is self else None

    def _own_connection(self) -> "_Connection":
        mine: _Connection | None = getattr(self._local, "connection", None)
        if mine is None:
            mine = self._local.connection = self._connect()
        return mine

    def _connect(self) -> "_Connection":
        with self._guard:
            if self._closed:
                raise sqlite3.ProgrammingError(f"{self.path} is closed")
            connection = _Connection(connect(self.path))
            for statement in tree_views(self.tree.tree_id):
                connection.opened.execute(statement)
            if not self._connections:
                self._log = _identity_of(_log_of(self.path))
            self._connections.add(connection)
            return connection


class _Connection:
    """A thread's connection and the lock that it holds while using it; closed when the thread has ended."""

    def __init__(self, opened: sqlite3.Connection) -> None:
        self.opened = opened
        self.busy = threading.RLock()  # It is reentrant because a transaction also reads.
        weakref.finalize(self, opened.close).atexit = False  # It has files open, and pages of them in memory.


class _Snapshot(Struct):
    """A read transaction on one commit. commit: the number of the commit."""

    database: Database
    connection: _Connection
    commit: int
    is_open: bool = True


_SNAPSHOT: ContextVar[_Snapshot | None] = ContextVar("snapshot", default=None)


_COMMIT_NUMBER = "SELECT value FROM meta WHERE key = 'generation'"


def _commit_in(rows: Sequence[tuple[Any, ...]]) -> int:
    return int(rows[0][0]) if rows else 0


def id_list(ids: Iterable[int | str]) -> str:
    """Return many ids or names as one parameter: use it as `IN (SELECT value FROM json_each(?))`."""
    return json.dumps(list(ids), separators=(",", ":"))


def marks(values: Sized) -> str:
    """Return the placeholders for `IN (…)`, one for each value."""
    return ",".join("?" * len(values))


def connect(path: Path) -> sqlite3.Connection:
    """Open a connection that sees all trees, and create the file when it is missing.

    Raises OSError when another process does not stop creating it.
    """
    is_writable = can_write(path)
    # SQLite cannot create a log there, so it must know that it needs none. It would look for the rest of a log that has
    # only a header until it gives up.
    has_log = _identity_of(_log_of(path)).size > LOG_HEADER_BYTES
    mode = "" if is_writable else "?mode=ro" if has_log else "?immutable=1"
    uri, wait = f"{path.absolute().as_uri()}{mode}", BUSY_TIMEOUT_SECONDS
    # The header is not read: a process that closes a file gives up the locks that SQLite has on it.
    is_new = is_writable and not _identity_of(path).size
    with _creating(path) if is_new else nullcontext():
        connection = sqlite3.connect(
            uri, wait, isolation_level=None, check_same_thread=False, cached_statements=256, uri=True
        )
        if is_writable:
            connection.execute("PRAGMA journal_mode = WAL")
    # With WAL, a power cut may lose the last commits but never damages the file; the next run indexes them again.
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    connection.execute("PRAGMA temp_store = MEMORY")
    return connection


@contextmanager
def _creating(path: Path) -> Iterator[None]:
    """Wait for other processes that create the file: of two that turn on its log, SQLite refuses one at once."""
    try:
        with FileLock(path.with_name("create.lock"), WRITE_TIMEOUT_SECONDS, mode=0o600):
            if not path.exists():  # The log of a missing file would be replayed into the new one.
                for suffix in ("-wal", "-shm"):
                    path.with_name(path.name + suffix).unlink(missing_ok=True)
            yield
    except Timeout:
        raise TimeoutError("another process is creating it, and does not end") from None


def can_write(path: Path) -> bool:
    """Return whether the index file and its log can be written: not on a file system that is mounted to be read."""
    return os.access(path.parent, os.W_OK) and (not path.exists() or os.access(path, os.W_OK))


def _open_tree(path: Path, root: str, model: str | None) -> Tree:
    """Create the tables and the tree if they are missing; a reader does not wait for a writer."""
    with closing(connect(path)) as connection:
        if has_tables(connection, path):
            tree = find_tree(connection, root, model)
            if tree is not None:
                return tree
        connection.execute(f"PRAGMA busy_timeout = {int(WRITE_TIMEOUT_SECONDS * 1000)}")
        connection.execute("BEGIN IMMEDIATE")
        if not has_tables(connection, path):
            for statement in SCHEMA.split(";\n"):
                if statement.strip():
                    connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            path.chmod(0o600)
        made = make_tree(connection, root, model)
        connection.commit()
        return made


def is_busy(error: Exception) -> bool:
    """Return whether another connection has locked the file."""
    return _code(error) == sqlite3.SQLITE_BUSY


def is_damage(error: Exception) -> bool:
    """Return whether the content of the file is wrong; an error of the disk may be temporary."""
    return _code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _code(error: Exception) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def advice(error: Exception) -> str:
    """Return the next step for who cannot open the file."""
    if isinstance(error, TimeoutError):
        return "end that process, or try again"
    if is_busy(error):
        return "close what holds it, such as a database browser or a backup, and try again"
    if is_damage(error):
        return "run `graphrag-mcp index`, which moves it aside and rebuilds it"
    return "check the disk and its permissions, or set GRAPHRAG_DATA_DIR"


def _log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def has_tables(connection: sqlite3.Connection, path: Path) -> bool:
    """Return whether the file has its tables, False for a new one. Raises IndexDamagedError for any other file."""
    # One statement, since another process may be creating the tables: the version and the names are of one commit.
    rows = connection.execute("SELECT user_version, name FROM pragma_user_version LEFT JOIN sqlite_master").fetchall()
    version, names = rows[0][0], {name for _, name in rows if name is not None}
    if version == SCHEMA_VERSION:
        if missing := SCHEMA_OBJECTS - names:
            raise IndexDamagedError(f"{path} is damaged (it lacks {', '.join(sorted(missing))})")
        return True
    if version != 0 or names:
        raise IndexDamagedError(f"{path} has format {version}, this version reads format {SCHEMA_VERSION}")
    return False


class _FileIdentity(NamedTuple):
    """Identifies a file among those that had its name over time. size: in bytes."""

    device: int
    inode: int
    size: int

    def is_same_file(self, other: "_FileIdentity") -> bool:
        return self[:2] == other[:2]


_NO_FILE = _FileIdentity(0, 0, 0)


def _identity_of(path: Path) -> _FileIdentity:
    try:
        status = path.stat()
    except OSError:
        return _NO_FILE
    return _FileIdentity(status.st_dev, status.st_ino, status.st_size)
