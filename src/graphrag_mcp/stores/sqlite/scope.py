"""Turns a `Scope` into the files that a search may not see, so that every store filters inside its own search."""

import json
import threading
from collections.abc import Collection, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct, field

from graphrag_mcp.model.paths import ChosenPaths, GlobCompiler
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.stores.sqlite.database import Database, marks

if TYPE_CHECKING:  # Only vectors need it, and importing it takes longer than many a command.
    import numpy as np
    from numpy.typing import NDArray

_SCOPES_KEPT = 32  # A session uses a handful of scopes.


class FileFilter:
    """The files of the tree that a search may not see.

    hidden: their numbers. members: those of all files of the tree.
    """

    def __init__(self, hidden: Collection[int], members: Collection[int]) -> None:
        self.hidden, self._members = hidden, members
        self._mask = _byte_mask(hidden)

    @cached_property
    def visible(self) -> bytes:
        """A byte for each file number: 1 for a file that is searched, so that what another tree adds later is not."""
        return _byte_mask(set(self._members).difference(self.hidden))

    @cached_property
    def is_hidden(self) -> "NDArray[np.bool_]":
        """Whether a file is hidden, by its number; the last entry applies to all higher numbers."""
        import numpy as np

        return np.frombuffer(self._mask + b"\0", dtype=np.bool_)

    def condition(self, file_id: str) -> str:
        """Return a SQL condition on the column or expression `file_id`, which binds `parameters`."""
        return f"substr(?, {file_id} + 1, 1) IS NOT x'01'" if self._mask else "1"

    @property
    def parameters(self) -> tuple[bytes, ...]:
        """The values that `condition` binds."""
        return (self._mask,) if self._mask else ()


def _byte_mask(file_ids: Collection[int]) -> bytes:
    """Return one byte for each file number, 1 for these.

    SQLite reads it directly; a list of numbers would be sorted into a temporary table for each statement.
    """
    mask = bytearray(max(file_ids, default=-1) + 1)
    for file_id in file_ids:
        mask[file_id] = 1
    return bytes(mask)


class Scopes(Protocol):
    """What an index asks of the files that it searches."""

    def resolve(self, scope: Scope) -> FileFilter: ...

    def members(self) -> tuple[int, Sequence[int]]: ...


class ScopesWithin:
    """The scopes of some files of the tree."""

    def __init__(self, scopes: Scopes, files: Sequence[int]) -> None:
        """files: their numbers, ascending."""
        self._scopes, self._files = scopes, files

    def resolve(self, scope: Scope) -> FileFilter:
        return FileFilter(self._scopes.resolve(scope).hidden, self._files)

    def members(self) -> tuple[int, Sequence[int]]:
        """Return 0, since the files are always the same, and their numbers."""
        return 0, self._files


class _Known(Struct):
    """The resolved scopes of one commit. files: numbers and paths, read when globs are compared with them."""

    commit: int
    members: Sequence[int]
    filters: dict[Scope, FileFilter] = field(default_factory=dict)
    chosen: dict[tuple[str, ...], ChosenPaths] = field(default_factory=dict)
    files: Sequence[tuple[int, str]] = ()


class ScopeResolver:
    """Resolves scopes against the catalog and caches the results until the next commit."""

    def __init__(self, database: Database, compile_globs: GlobCompiler) -> None:
        """compile_globs: compiles gitignore globs, since the stores do not import the ignore rules."""
        self._database = database
        self._compile_globs = compile_globs
        self._guard = threading.Lock()  # After a commit, all stores of a search resolve at once.
        self._known = _Known(-1, ())

    def resolve(self, scope: Scope) -> FileFilter:
        """Return the files that the scope hides, as of the last commit."""
        with self._guard:
            known = self._catch_up()
            file_filter = known.filters.get(scope)
            if file_filter is None:
                hidden = self._archived(scope) | self._excluded(scope) | self._outside(scope)
                hidden |= self._not_chosen(known, scope.paths)
                if len(known.filters) >= _SCOPES_KEPT:
                    known.filters.clear()
                file_filter = known.filters[scope] = FileFilter(hidden, known.members)
            return file_filter

    def members(self) -> tuple[int, Sequence[int]]:
        """Return the number of the current commit, and the numbers of the tree's files in ascending order."""
        with self._guard:
            known = self._catch_up()
            return known.commit, known.members

    def _catch_up(self) -> _Known:
        commit = self._database.commit_number()
        if commit != self._known.commit:
            # The ids are read as one value: reading rows would release and take Python's lock for each of them.
            ((file_ids,),) = self._database.rows(
                "SELECT json_group_array(file_id) FROM main.tree_files WHERE tree_id = ?",
                (self._database.tree.tree_id,),
            )
            self._known = _Known(commit, sorted(json.loads(file_ids)))
        return self._known

    def lifted(self, patterns: Sequence[str]) -> list[str]:
        """Return the paths of archived files that gitignore globs include."""
        if not patterns:
            return []
        matches = self._compile_globs(patterns, "include_patterns")
        return [path for _, path in self._archived_files() if matches(path)]

    def chosen(self, globs: tuple[str, ...]) -> ChosenPaths:
        """Return the files of the tree that the `paths` of a scope choose."""
        with self._guard:
            return self._chosen(self._catch_up(), globs)

    def _chosen(self, known: _Known, globs: tuple[str, ...]) -> ChosenPaths:
        chosen = known.chosen.get(globs)
        if chosen is None:
            known.files = known.files or self._database.rows("SELECT id, path FROM files")
            if len(known.chosen) >= _SCOPES_KEPT:
                known.chosen.clear()
            paths = [path for _, path in known.files]
            chosen = known.chosen[globs] = ChosenPaths(globs, paths, self._compile_globs)
        return chosen

    def _not_chosen(self, known: _Known, globs: tuple[str, ...]) -> set[int]:
        if not globs:
            return set()
        inside = self._chosen(known, globs).is_inside
        return {file_id for (file_id, _), is_inside in zip(known.files, inside, strict=True) if not is_inside}

    def _archived(self, scope: Scope) -> set[int]:
        if not scope.exclude_archived:
            return set()
        lifted = self._compile_globs(scope.include_patterns, "include_patterns")
        return {file_id for file_id, path in self._archived_files() if not lifted(path)}

    def _archived_files(self) -> list[tuple[int, str]]:
        rows = self._database.rows("SELECT id, path FROM files WHERE archive_reason IS NOT NULL")
        return [(file_id, path) for file_id, path in rows]

    def _excluded(self, scope: Scope) -> set[int]:
        return self._ids(
            f"SELECT file_id FROM match_keys WHERE key IN ({marks(scope.excluded_keys)})", sorted(scope.excluded_keys)
        )

    def _outside(self, scope: Scope) -> set[int]:
        wanted = {"category": scope.categories, "language": scope.languages}
        conditions = [f"{column} NOT IN ({marks(values)})" for column, values in wanted.items() if values]
        where = " OR ".join(conditions) or "FALSE"
        return self._ids(f"SELECT id FROM files WHERE {where}", sorted(scope.categories) + sorted(scope.languages))

    def _ids(self, sql: str, values: Sequence[str]) -> set[int]:
        return set(self._database.column(sql, values))
