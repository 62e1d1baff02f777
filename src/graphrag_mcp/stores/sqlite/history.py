"""Past commits in tables: which words their messages have, and which files they changed."""

import hashlib
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, NamedTuple

from graphrag_mcp.model.history import Commit, Recalled, Touched
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import Frequencies
from graphrag_mcp.stores.keywords import any_term
from graphrag_mcp.stores.sqlite.database import Database, id_list, marks
from graphrag_mcp.stores.sqlite.schema import ORDINAL_BITS
from graphrag_mcp.stores.sqlite.scope import ScopeResolver
from graphrag_mcp.text.source import is_utf8
from graphrag_mcp.text.words import index_text

if TYPE_CHECKING:  # It imports numpy.
    from graphrag_mcp.stores.replica import ReplicatedCommit

_IS_MEMBER = "substr(?, c.id + 1, 1) IS x'01'"
_TABLES = ("commits", "commit_paths", "commit_changes", "commit_renames", "tree_history")


class State(NamedTuple):
    """Which commits a tree has; see the table `tree_history`."""

    tip: str = ""
    note: str = ""
    folder: str = ""
    members: bytes = b""


class _Renames(NamedTuple):
    """The renames of a tree's ancestors, by the path before and by the path after, each in the order of commits."""

    after: Mapping[int, Sequence[tuple[int, int]]]
    before: Mapping[int, Sequence[tuple[int, int]]]


class SqliteHistory:
    """The past commits of one tree: the ancestors of what is checked out."""

    remote = False

    def __init__(self, database: Database, scopes: ScopeResolver) -> None:
        self._database = database
        self._scopes = scopes
        self._renames = lru_cache(1)(self._read_renames)

    # ------------------------------------------------------------ reading

    def state(self) -> State:
        """Return which commits the tree has."""
        rows = self._database.rows(
            "SELECT tip, note, folder, members FROM main.tree_history WHERE tree_id = ?",
            (self._database.tree.tree_id,),
        )
        return State(*rows[0]) if rows else State()

    def count(self) -> int:
        """Return the number of commits with files that the tree has."""
        ((count,),) = self._database.rows(
            f"SELECT count(*) FROM main.commits c WHERE files > 0 AND {_IS_MEMBER}", (self.state().members,)
        )
        return int(count)

    def recall(self, frequencies: Frequencies, limit: int) -> list[Recalled]:
        query = any_term(frequencies)
        state = self.state()
        if not query or not state.tip:
            return []
        rows = self._database.rows(
            f"""SELECT c.id, lower(hex(c.name)), c.seconds, c.subject, found.score
                FROM (SELECT rowid AS id, -bm25(messages) AS score FROM messages c
                      WHERE messages MATCH ? AND {_IS_MEMBER.replace("c.id", "rowid")}
                      ORDER BY score DESC, rowid DESC LIMIT ?) found
                CROSS JOIN main.commits c ON c.id = found.id ORDER BY found.score DESC, c.id DESC""",
            (query, state.members, limit),
        )
        return list(map(Recalled._make, rows))

    def frequencies(self, terms: Sequence[str]) -> Frequencies:
        """Return how many messages contain each term, of all trees."""
        ((count,),) = self._database.rows("SELECT count(*) FROM main.messages_docsize")
        rows = self._database.rows(f"SELECT term, doc FROM message_terms WHERE term IN ({marks(terms)})", terms)
        return Frequencies(dict.fromkeys(terms, 0) | dict(rows), count)

    def files(self, commit_ids: Collection[int], scope: Scope) -> list[Touched]:
        """Return the files inside a scope that commits changed, also those that were renamed since."""
        state = self.state()
        rows = self._database.rows(
            """SELECT x.commit_id, x.path_id, c.files FROM main.commit_changes x
               CROSS JOIN main.commits c ON c.id = x.commit_id WHERE x.commit_id IN (SELECT value FROM json_each(?))""",
            (id_list(commit_ids),),
        )
        renames = self._renames(state)
        now = {(commit, path): self._path_now(renames, commit, path) for commit, path, _ in rows}
        hidden = self._scopes.resolve(scope)
        start = len(state.folder) + 1
        file_of = dict(
            self._database.rows(
                f"""SELECT p.id, f.id FROM main.commit_paths p CROSS JOIN files f ON f.path = substr(p.path, {start})
                    WHERE p.id IN (SELECT value FROM json_each(?)) AND substr(p.path, 1, {start - 1}) = ?
                    AND {hidden.condition("f.id")}""",
                (id_list(set(now.values())), state.folder, *hidden.parameters),
            )
        )
        return [
            Touched(commit, file_of[now[commit, path]] << ORDINAL_BITS, files)
            for commit, path, files in rows
            if now[commit, path] in file_of
        ]

    def changed_by(self, path: str) -> list[int]:
        """Return the commits that changed a file, under the paths that it had, the newest first."""
        state = self.state()
        rows = self._database.rows("SELECT id FROM main.commit_paths WHERE path = ?", (state.folder + path,))
        commits: list[int] = []
        spans = [(path_id, len(state.members)) for (path_id,) in rows]
        seen = {path_id for path_id, _ in spans}
        while spans:
            path_id, end = spans.pop()
            commits += chain.from_iterable(
                self._database.rows(
                    f"""SELECT c.id FROM main.commit_changes x CROSS JOIN main.commits c ON c.id = x.commit_id
                        WHERE x.path_id = ? AND c.id < ? AND c.files > 0 AND {_IS_MEMBER}""",
                    (path_id, end, state.members),
                )
            )
            for commit, before in self._renames(state).before.get(path_id, ()):
                if commit < end and before not in seen:
                    seen.add(before)
                    spans.append((before, commit))
        return sorted(set(commits), reverse=True)

    def times_changed(self, file_ids: Collection[int]) -> dict[int, tuple[str, int]]:
        """Return the path of files and how many commits changed them under it."""
        state = self.state()
        rows = self._database.rows(
            f"""SELECT f.id, f.path, count(*) FROM files f
                CROSS JOIN main.commit_paths p ON p.path = ? || f.path
                CROSS JOIN main.commit_changes x ON x.path_id = p.id CROSS JOIN main.commits c ON c.id = x.commit_id
                WHERE f.id IN (SELECT value FROM json_each(?)) AND {_IS_MEMBER} GROUP BY f.id""",
            (state.folder, id_list(file_ids), state.members),
        )
        return {file_id: (path, count) for file_id, path, count in rows}

    def path_now(self, name: str, path: str) -> str:
        """Return the path that a file has now, from the top of the work tree, by its path after a commit."""
        sql = "SELECT c.id, p.id FROM main.commits c CROSS JOIN main.commit_paths p WHERE c.name = ? AND p.path = ?"
        rows = self._database.rows(sql, (bytes.fromhex(name), path)) if is_utf8(path) else ()
        if not rows:
            return path
        now = self._path_now(self._renames(self.state()), *rows[0])
        return str(self._database.rows("SELECT path FROM main.commit_paths WHERE id = ?", (now,))[0][0])

    def _path_now(self, renames: _Renames, commit: int, path_id: int) -> int:
        """Return the path that a file has now, by its path after a commit."""
        while later := [rename for rename in renames.after.get(path_id, ()) if rename[0] > commit]:
            commit, path_id = later[0]
        return path_id

    def _read_renames(self, state: State) -> _Renames:
        rows = self._database.rows(
            f"""SELECT c.commit_id, c.before_id, c.path_id FROM main.commit_renames c
                WHERE {_IS_MEMBER.replace("c.id", "c.commit_id")} ORDER BY c.commit_id""",
            (state.members,),
        )
        after: dict[int, list[tuple[int, int]]] = {}
        before: dict[int, list[tuple[int, int]]] = {}
        for commit, old, new in rows:
            after.setdefault(old, []).append((commit, new))
            before.setdefault(new, []).append((commit, old))
        return _Renames(after, before)

    def copy(self, state: State) -> "Iterator[ReplicatedCommit]":
        """Yield the commits that changed files, for another store, with their files under the paths of today."""
        from graphrag_mcp.stores.replica import ReplicatedCommit

        names = dict(self._database.rows("SELECT id, path FROM main.commit_paths"))
        renames, start = self._renames(state), len(state.folder)
        changes: defaultdict[int, list[str]] = defaultdict(list)
        for commit_id, path_id in self._database.rows("SELECT commit_id, path_id FROM main.commit_changes"):
            path = names[self._path_now(renames, commit_id, path_id)]
            if path.startswith(state.folder):
                changes[commit_id].append(path[start:])
        words: defaultdict[int, Counter[str]] = defaultdict(Counter)
        with self._database.transaction() as connection:
            connection.execute("CREATE VIRTUAL TABLE temp.message_words USING fts5vocab(main, messages, instance)")
            for term, commit_id in connection.execute("SELECT term, doc FROM temp.message_words"):
                words[commit_id][term] += 1
            connection.execute("DROP TABLE temp.message_words")
        for commit_id, name, seconds, subject, files in self._database.rows(
            f"""SELECT id, lower(hex(name)), seconds, subject, files FROM main.commits c
                WHERE files > 0 AND {_IS_MEMBER}""",
            (state.members,),
        ):
            paths = sorted(set(changes[commit_id]))
            digest = hashlib.blake2b("\0".join(paths).encode(errors="surrogateescape"), digest_size=8).hexdigest()
            yield ReplicatedCommit(name, seconds, subject, files, words[commit_id], paths, digest)

    # ------------------------------------------------------------ writing

    def write(self, state: State, commits: Sequence[tuple[Commit, int]]) -> None:
        """Add commits to the ancestors that `state` has, and set the tip of the tree.

        commits: parents before children, each with its number of files with code; those stored already are reused.
        """
        with self._database.transaction() as connection:
            known = {name: commit_id for commit_id, name in connection.execute("SELECT id, name FROM main.commits")}
            ids = [
                known.get(bytes.fromhex(commit.name)) or _insert(connection, commit, files) for commit, files in commits
            ]
            members = bytearray(state.members.ljust(max(ids, default=0) + 1, b"\0"))
            for commit_id in ids:
                members[commit_id] = 1
            connection.execute(
                "INSERT OR REPLACE INTO main.tree_history VALUES (?, ?, ?, ?, ?)",
                (self._database.tree.tree_id, state.tip, state.note, state.folder, bytes(members)),
            )

    def tidy(self) -> None:
        """Remove all commits if no tree has most of them; those that are needed are read again."""
        trees = self._database.column("SELECT members FROM main.tree_history")
        used = sum(map(any, zip_longest(*trees, fillvalue=0)))
        ((stored,),) = self._database.rows("SELECT count(*) FROM main.commits")
        if stored > 2 * used:
            with self._database.transaction() as connection:
                connection.execute("INSERT INTO messages (messages) VALUES ('delete-all')")
                for table in _TABLES:
                    connection.execute(f"DELETE FROM main.{table}")


def _insert(connection: sqlite3.Connection, commit: Commit, files: int) -> int:
    cursor = connection.execute(
        "INSERT INTO main.commits VALUES (NULL, ?, ?, ?, ?)",
        (bytes.fromhex(commit.name), commit.seconds, files, commit.subject if files else ""),
    )
    commit_id = int(cursor.lastrowid or 0)
    if files:
        words = index_text(commit.message)
        connection.execute("INSERT INTO messages (rowid, words) VALUES (?, ?)", (commit_id, words))
        paths = {_path_id(connection, change.path) for change in commit.changes}
        connection.executemany("INSERT INTO main.commit_changes VALUES (?, ?)", [(commit_id, path) for path in paths])
    renames = {
        (commit_id, _path_id(connection, change.before), _path_id(connection, change.path))
        for change in commit.changes
        if change.before
    }
    connection.executemany("INSERT OR IGNORE INTO main.commit_renames VALUES (?, ?, ?)", renames)
    return commit_id


def _path_id(connection: sqlite3.Connection, path: str) -> int:
    row = connection.execute("SELECT id FROM main.commit_paths WHERE path = ?", (path,)).fetchone()
    if row is None:
        return int(connection.execute("INSERT INTO main.commit_paths VALUES (NULL, ?)", (path,)).lastrowid or 0)
    return int(row[0])
