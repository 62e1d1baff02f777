"""The index of one project as this process has it open: the stores to search and to write, and their models.

The two may differ for a while. Searches are answered from the complete tree of the old model while the tree of a new
model is written, and the file may be replaced by any process while others still read the old one.
"""

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock

from graphrag_mcp.errors import IndexDamagedError, IndexLockedError, IndexStoreError, ModelUnavailableError
from graphrag_mcp.index.failures import LOCKED, REBUILD, harm
from graphrag_mcp.index.paths import IndexPaths, is_gone
from graphrag_mcp.index.stores import IndexStores
from graphrag_mcp.index.write_lock import Holder, WriteLock
from graphrag_mcp.stores.sqlite.database import Database, can_write, is_busy, is_damage
from graphrag_mcp.stores.sqlite.unusable import Depth, move_aside, remove_unused, replace_if_unusable

if TYPE_CHECKING:  # Only a search and an index run need a model.
    from graphrag_mcp.ports import Embedder

MODEL_LOADING = "the model is still loading"
MODEL_CHANGES = "the vectors are being rebuilt with another model"
REPLACE_SECONDS = 60.0  # Reading 5 GB takes as long; a process that is stopped meanwhile holds the lock for good.
SOON = "it is being checked, and rebuilt if damaged; retry in a moment"


class Handle:
    """Opens the index file on demand, and reopens it after it was replaced. Safe to use from any thread."""

    def __init__(self, root: Path, paths: IndexPaths, model_name: str) -> None:
        """model_name: the setting `embedding_model`."""
        self.paths = paths
        self._root = root
        self._model_name = model_name
        self._lock = WriteLock(paths.write_lock)
        self._guard = threading.RLock()
        self._searched: IndexStores | None = None
        self._written: IndexStores | None = None  # It is the same object, except while the model changes.
        self._retired: list[IndexStores] = []  # Searches may still be reading them.
        self._kept: Embedder | None = None
        self._doubt = ""
        self._is_examined = False
        self.repairs_itself = False
        self.embedder: Embedder | None = None
        self.model_problem = MODEL_LOADING
        self.warnings: tuple[str, ...] = ()

    # ------------------------------------------------------------ reading

    @contextmanager
    def snapshot(self) -> Iterator[IndexStores]:
        """Lend the searched index at one commit: all look-ups of the block see the same generation.

        Raises IndexDamagedError like `searched`.
        """
        while True:
            index = self.searched()
            with index.database.snapshot():
                if index.database.is_tree_of(None):  # It may have been replaced in between.
                    yield index
                    return

    def searched(self) -> IndexStores:
        """Return the index to search; a new object after the file or its model was replaced.

        Raises IndexDamagedError from the detection of damage until the file has been examined.
        """
        with self._guard:
            opened = self._searched
            if opened is not None and not self._doubt and (damage := opened.database.harm()):
                self._doubt = f"the index file is damaged ({damage})"
            if self._doubt:
                raise self._in_doubt()
            if opened is not None and not opened.database.is_tree_of(None):
                self._retired.append(opened)
                opened = None
            if opened is None:
                written = self._written
                opened = written if written and written.database.is_tree_of(None) else IndexStores(self._open())
            self._searched = opened
            return opened

    def suspect(self, error: sqlite3.Error) -> IndexStoreError:
        """Have the file examined after SQLite could not read it, and return the error to raise."""
        if is_busy(error):
            return IndexStoreError(LOCKED)
        with self._guard:
            self._doubt = self._doubt or harm(error)
            return self._in_doubt()

    @property
    def is_in_doubt(self) -> bool:
        """Whether the file has to be examined."""
        return bool(self._doubt)

    def model_of(self, index: IndexStores) -> "tuple[Embedder | None, str]":
        """Return the model of an index's vectors, or None and the reason; a kept one while the model changes."""
        model = index.database.tree.model
        if self.embedder is None or model in ("", self.embedder.fingerprint):
            return self.embedder, self.model_problem
        from graphrag_mcp.embedding.models import load_kept

        if self._kept is None or self._kept.fingerprint != model:
            self._kept = load_kept(model, self.paths.models)
        return self._kept, "" if self._kept else MODEL_CHANGES

    def load_model(self) -> None:
        """Load the embedding model once; blocks. Without it, searches use keywords and the graph."""
        with self._guard:
            if self.embedder is not None or self.model_problem != MODEL_LOADING:
                return
            from graphrag_mcp.embedding.models import load_embedder

            try:
                self.embedder = load_embedder(self._model_name)
            except ModelUnavailableError as error:
                self.model_problem = str(error)
                self.warnings += (f"searching by keywords and graph only: {error}",)

    def close(self) -> None:
        """Close every database, each after its last reader."""
        with self._guard:
            opened = [*filter(None, (self._searched, self._written)), *self._retired]
            self._searched, self._written, self._retired = None, None, []
        for index in opened:
            index.database.close()

    # ------------------------------------------------------------ writing

    @property
    def is_writer(self) -> bool:
        """Whether this process is the writer."""
        return self._lock.is_mine

    @property
    def frozen(self) -> str:
        """Why no process of this user can write the index; "" when one can."""
        folder = self.paths.folder
        return "" if can_write(self.paths.file) else f"{folder} cannot be written, so it is not kept up to date"

    def holder(self) -> Holder | None:
        """Return the writer, None when there is none."""
        return self._lock.holder()

    def written(self) -> IndexStores:
        """Return the index that a run writes: the one with the vectors of the current model."""
        with self._guard:
            model = self.embedder.fingerprint if self.embedder else None
            searched = self.searched()
            if self._written is None or not self._written.database.is_tree_of(model):
                database = self._open(model)
                self._written = searched if database.tree == searched.database.tree else IndexStores(database)
            return self._written

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the write lock; replace an unusable index file first.

        Raises IndexLockedError while another process is the writer, IndexDamagedError when the index turned out to be
        damaged, IndexStoreError when it cannot be written now.
        """
        try:
            self.paths.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            if self.paths.folder.resolve().is_relative_to(self._root):
                # Git must not list the index as a part of the project.
                (self.paths.folder / ".gitignore").write_text("*\n")
            is_mine = self._lock.acquire()
        except OSError as error:
            raise self._unwritable(error) from error
        if not is_mine:
            holder = self.holder() or Holder()
            locked = IndexLockedError(f"{holder} is writing the index of {self._root}; {holder.advice}")
            locked.is_kept = holder.is_keeping
            raise locked
        try:
            with self._lock.signed():
                self.repair()
                self.searched()
                self.load_model()
                yield
        except IndexDamagedError:
            raise
        except Exception as error:
            cause = error.__cause__ if isinstance(error, IndexStoreError) else error
            if isinstance(cause, sqlite3.DatabaseError) and is_damage(cause):
                with self._replacing():
                    warning = move_aside(self.paths.file, f"{self.paths.file} is damaged ({cause})")
                raise self._replaced(warning) from error
            self.examine()  # Impossible rows can cause any error.
            if isinstance(error, sqlite3.DatabaseError | OSError):
                raise self._unwritable(error) from error
            raise
        finally:
            self._lock.release()

    @contextmanager
    def writing_briefly(self) -> Iterator[bool]:
        """Hold the write lock to write a few files; yields False while another process holds it."""
        is_mine = self._lock.acquire()
        try:
            yield is_mine
        finally:
            if is_mine:
                self._lock.release()

    def repair(self) -> None:
        """Move the file aside if it is damaged; checks its header, or all of it after an error.

        Any process may do this: a writer notices that its file is gone.
        """
        depth: Depth = "words" if self._doubt else "head"
        if self._doubt:
            self.close()  # A removed log stays in use until its last reader closes it.
        with self._replacing():
            warning = replace_if_unusable(self.paths.file, depth)
        with self._guard:
            self._doubt = ""
        if warning:
            self._replaced(warning)

    def examine(self) -> None:
        """Read the whole file once, as its writer, to find damage that no query has met.

        Raises IndexDamagedError when it is damaged; the file was moved aside.
        """
        if self._is_examined:
            return
        with self._replacing():
            warning = replace_if_unusable(self.paths.file, "pages")
        if warning:
            raise self._replaced(warning)
        self._is_examined = True

    def tidy(self) -> None:
        """Keep the current model, and remove trees whose folders are gone and unused old index files."""
        index = self.written()
        index.writer.forget_trees(is_gone)
        with suppress(OSError, sqlite3.Error):
            remove_unused(self.paths.folder, time.time())
        if self.embedder is not None:
            from graphrag_mcp.embedding.models import keep_model

            with suppress(OSError):  # Without it, a newer package searches by keywords and graph for a while.
                keep_model(self.embedder, self.paths.models, index.database.models())

    def _open(self, model: str | None = None) -> Database:
        try:
            return Database(self.paths.file, self.paths.tree, model)
        except IndexDamagedError as error:
            self._doubt = f"the index file is damaged ({error.__cause__ or error})"
            raise self._in_doubt() from error

    def _in_doubt(self) -> IndexDamagedError:
        return IndexDamagedError(f"{self._doubt}; {SOON if self.repairs_itself else REBUILD}")

    def _replaced(self, warning: str) -> IndexDamagedError:
        self.warnings += (warning,)
        return IndexDamagedError(warning)

    def _replacing(self) -> FileLock:
        return FileLock(self.paths.replace_lock, REPLACE_SECONDS, mode=0o600)

    def _unwritable(self, error: Exception) -> IndexStoreError:
        reason = getattr(error, "strerror", None) or error
        return IndexStoreError(
            f"the index in {self.paths.folder} cannot be written ({reason}); make room there, check the disk and its"
            " permissions, or set GRAPHRAG_DATA_DIR to another folder, and run again: committed data is not lost"
        )
