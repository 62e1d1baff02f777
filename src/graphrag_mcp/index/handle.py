"""The index of one project as this process has it open: what is searched, what is written, with which models, by whom.

Two things may differ for a while. Searches are answered from the complete tree of the old model while the tree of a new
one is written; and the file itself may be replaced, by this process or another, while others still read the old one.
"""

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock

from graphrag_mcp.embedding.models import keep_model, load_embedder, load_kept
from graphrag_mcp.errors import IndexDamagedError, IndexLockedError, IndexStoreError, ModelUnavailableError
from graphrag_mcp.index.failures import LOCKED, REBUILD, harm
from graphrag_mcp.index.location import IndexPlace, is_gone
from graphrag_mcp.index.open_index import OpenIndex
from graphrag_mcp.index.write_lock import Holder, WriteLock
from graphrag_mcp.ports import Embedder
from graphrag_mcp.stores.sqlite.database import Database, is_busy, is_damage
from graphrag_mcp.stores.sqlite.old_formats import remove_unused
from graphrag_mcp.stores.sqlite.recovery import Depth, move_aside, replace_if_unusable

MODEL_LOADING = "the model is still being loaded"
MODEL_CHANGES = "the vectors are being made anew, with another model than before"
SOON = "it is examined now, and built again if need be; ask again in a moment"


class ProjectIndex:
    """Opens what is asked for when it is asked for. All methods may be called from any thread."""

    def __init__(self, root: Path, place: IndexPlace, model_name: str) -> None:
        """model_name: the setting `embedding_model`."""
        self.place = place
        self._root = root
        self._model_name = model_name
        self._lock = WriteLock(place.write_lock)
        self._guard = threading.RLock()
        self._searched: OpenIndex | None = None
        self._written: OpenIndex | None = None  # The same, but while the model changes.
        self._left: list[OpenIndex] = []  # Others may still be reading them.
        self._kept: Embedder | None = None
        self._doubt = ""
        self._is_examined = False
        self.mends_itself = False
        self.embedder: Embedder | None = None
        self.model_problem = MODEL_LOADING
        self.warnings: tuple[str, ...] = ()

    # ------------------------------------------------------------ reading

    def searched(self) -> OpenIndex:
        """Return the index that is searched; another one when this was replaced, or its model was.

        Raises IndexDamagedError from when the file was found to be damaged until it has been examined.
        """
        with self._guard:
            if self._searched is not None and not self._doubt:
                if harmed := self._searched.database.harm():
                    self._doubt = f"the index file is damaged ({harmed})"
                elif not self._searched.database.is_served():
                    self._left.append(self._searched)
                    self._searched = None
            if self._doubt:
                raise self._in_doubt()
            if self._searched is None:
                if self._written is not None and self._written.database.is_served():
                    self._searched = self._written
                else:
                    self._searched = OpenIndex(self._open())
            return self._searched

    def doubt(self, error: sqlite3.Error) -> IndexStoreError:
        """Have the file examined where SQLite cannot read it, and return the sentence that says so."""
        if is_busy(error):
            return IndexStoreError(LOCKED)
        with self._guard:
            self._doubt = self._doubt or harm(error)
            return self._in_doubt()

    @property
    def is_in_doubt(self) -> bool:
        """Whether the file has to be examined."""
        return bool(self._doubt)

    def model_of(self, index: OpenIndex) -> tuple[Embedder | None, str]:
        """Return the model of an index's vectors, and why there is none."""
        model = index.database.tree.model
        if self.embedder is None or model in ("", self.embedder.fingerprint):
            return self.embedder, self.model_problem
        if self._kept is None or self._kept.fingerprint != model:
            self._kept = load_kept(model, self.place.models)
        return self._kept, "" if self._kept else MODEL_CHANGES

    def load_model(self) -> None:
        """Load the embedding model once, which a search waits for; without it, keyword and graph search say why."""
        with self._guard:
            if self.embedder is not None or self.model_problem != MODEL_LOADING:
                return
            try:
                self.embedder = load_embedder(self._model_name)
            except ModelUnavailableError as error:
                self.model_problem = str(error)
                self.warnings += (f"searching by keywords and graph only: {error}",)

    def close(self) -> None:
        """Close every file, once nobody reads it."""
        with self._guard:
            opened = [*filter(None, (self._searched, self._written)), *self._left]
            self._searched, self._written, self._left = None, None, []
        for index in opened:
            index.database.close()

    # ------------------------------------------------------------ writing

    @property
    def is_writer(self) -> bool:
        """Whether this process is the one that writes."""
        return self._lock.is_mine

    def holder(self) -> Holder | None:
        """Return the process that writes, None when none does."""
        return self._lock.holder()

    def written(self) -> OpenIndex:
        """Return the index that a run writes: the one with the vectors of the present model."""
        with self._guard:
            model = self.embedder.fingerprint if self.embedder else None
            searched = self.searched()
            if self._written is None or not self._written.database.is_written(model):
                database = self._open(model)
                self._written = searched if database.tree == searched.database.tree else OpenIndex(database)
            return self._written

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Be the one process that writes; what is no index is replaced here, where nobody else can be writing it.

        Raises IndexLockedError while another process writes, IndexDamagedError when the index turned out to be damaged,
        IndexStoreError when it cannot be written now.
        """
        try:
            self.place.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            is_mine = self._lock.acquire()
        except OSError as error:
            raise self._unwritable(error) from error
        if not is_mine:
            holder = self.holder() or Holder()
            raise IndexLockedError(f"{holder} is writing the index of {self._root}; {holder.advice}")
        try:
            with self._lock.signed():
                self.mend()
                self.searched()
                self.load_model()
                yield
        except IndexDamagedError:
            raise
        except Exception as error:
            cause = error.__cause__ if isinstance(error, IndexStoreError) else error
            if isinstance(cause, sqlite3.DatabaseError) and is_damage(cause):
                with self._replacing():
                    warning = move_aside(self.place.file, f"{self.place.file} is damaged ({cause})")
                raise self._replaced(warning) from error
            self.examine()  # Rows that cannot be may break anything.
            if isinstance(error, sqlite3.DatabaseError | OSError):
                raise self._unwritable(error) from error
            raise
        finally:
            self._lock.release()

    @contextmanager
    def writing_briefly(self) -> Iterator[bool]:
        """Write a few files, where no other process is writing: tells whether that is so."""
        is_mine = self._lock.acquire()
        try:
            yield is_mine
        finally:
            if is_mine:
                self._lock.release()

    def mend(self) -> None:
        """Move the file aside when it is damaged: its head is looked at, and all of it where something seemed wrong.

        Any process may, since whoever writes notices that its file is gone.
        """
        depth: Depth = "words" if self._doubt else "head"
        if self._doubt:
            self.close()  # A log that was removed is in use until its last reader closes it.
        with self._replacing():
            warning = replace_if_unusable(self.place.file, depth)
        with self._guard:
            self._doubt = ""
        if warning:
            self._replaced(warning)

    def examine(self) -> None:
        """Read the whole file once, as its writer, for damage that nothing has met so far.

        Raises IndexDamagedError when there is some; the file was moved aside.
        """
        if self._is_examined:
            return
        with self._replacing():
            warning = replace_if_unusable(self.place.file, "pages")
        if warning:
            raise self._replaced(warning)
        self._is_examined = True

    def tidy(self) -> None:
        """Keep the model of what was written, and nothing of work trees and versions that are gone."""
        index = self.written()
        index.writer.forget_trees(is_gone)
        with suppress(OSError, sqlite3.Error):
            remove_unused(self.place.folder, time.time())
        if self.embedder is not None:
            with suppress(OSError):  # Without it, a newer package searches by words and graph for a while.
                keep_model(self.embedder, self.place.models, index.database.models())

    def _open(self, model: str | None = None) -> Database:
        try:
            return Database(self.place.file, self.place.tree, model)
        except IndexDamagedError as error:
            self._doubt = f"the index file is damaged ({error.__cause__ or error})"
            raise self._in_doubt() from error

    def _in_doubt(self) -> IndexDamagedError:
        return IndexDamagedError(f"{self._doubt}; {SOON if self.mends_itself else REBUILD}")

    def _replaced(self, warning: str) -> IndexDamagedError:
        self.warnings += (warning,)
        return IndexDamagedError(warning)

    def _replacing(self) -> FileLock:
        return FileLock(self.place.replace_lock, mode=0o600)

    def _unwritable(self, error: Exception) -> IndexStoreError:
        return IndexStoreError(
            f"the index in {self.place.folder} cannot be written ({error}); make room there, or check the disk and its"
            " permissions, and run again: nothing that was committed is lost"
        )
