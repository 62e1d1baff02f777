"""A project with a local index: it answers questions, and keeps the index up to date."""

import os
import sqlite3
import threading
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from graphrag_mcp.app.parts import Parts
from graphrag_mcp.app.session import Session
from graphrag_mcp.app.view import IndexView
from graphrag_mcp.errors import IndexStoreError, RootError
from graphrag_mcp.model.reports import IndexReport, IndexState, SyncReport
from graphrag_mcp.settings import Settings

if TYPE_CHECKING:  # A command imports what it needs of these when it runs.
    from graphrag_mcp.graph.navigator import Navigator
    from graphrag_mcp.index.indexer import ReportProgress
    from graphrag_mcp.index.replicator import Agree, ReportSync
    from graphrag_mcp.index.stores import IndexStores
    from graphrag_mcp.index.supervisor import ReportRun
    from graphrag_mcp.search.retrieval import Stores

BUILDING_SECONDS = 5.0  # The import of the servers' clients waits up to this long for the index to be built,
SEARCH_SECONDS = 0.5  # and then this long for the search that has waited for it.


class App(Session[IndexView]):
    """One project: search it, index it, watch it.

    Any number of processes may open the same project. One of them is the writer: it holds a lock that the system
    releases when the process ends for any reason. The others are readers and see its commits.
    """

    def __init__(
        self, root: Path, settings: Settings, index_root: str = "", past: tuple[Path, str] | None = None
    ) -> None:
        """Check the root and open nothing yet; `index_root` limits the index to a subfolder.

        past: a repository with the same paths, and a commit of it: its ancestors are the history of this tree.
        Raises RootError when the root is not a readable folder.
        """
        self.root = _checked(root)
        self.settings = settings
        self._stop = threading.Event()
        self._parts = Parts(self.root, settings, index_root.strip("/"), past or (self.root, ""), self._stop)

    # ------------------------------------------------------------ answering

    @contextmanager
    def view(self) -> Iterator[IndexView]:
        """Lend what a question sees: all of its look-ups see one commit, and index runs of this process pause."""
        parts = self._parts
        with ExitStack() as opened:

            def open_index() -> "IndexStores":
                opened.enter_context(parts.supervisor.search_priority.first())
                return opened.enter_context(parts.handle.snapshot())

            yield IndexView(parts, open_index)

    def refresh(self, paths: Collection[str]) -> bool:
        return self._parts.supervisor.refresh_stale(paths)

    def suspect(self, error: sqlite3.Error) -> IndexStoreError:
        return self._parts.handle.suspect(error)

    def index_state(self) -> IndexState:
        """Return how complete the index is."""
        return self._parts.supervisor.state()

    def wait_ready(self, timeout_seconds: float) -> IndexState:
        return self._parts.supervisor.wait_ready(timeout_seconds)

    def navigator(self) -> "Navigator":
        """Return the navigator over what is indexed now, for callers that ask it often."""
        return IndexView(self._parts, self._parts.handle.searched).navigator

    def stores(self) -> "Stores":
        """Return what a search reads, for callers that compare ways to search."""
        return IndexView(self._parts, self._parts.handle.searched).stores()

    def why_absent(self, path: str) -> str:
        """Return why a search cannot find a file, "" when it can."""
        catalog, exclusion = self._parts.handle.searched().catalog, self._parts.exclusion
        if path in catalog.states_at(path):
            return "filtered: it is archived" if catalog.is_archived(path) else ""
        if not self._parts.handle.is_writer:  # A reader does not follow changes of the rules.
            exclusion.reload()
        if rule := exclusion.explain(path):
            return f"not indexed: {rule}"
        reason = catalog.skipped().get(path)
        return f"not indexed: {reason}" if reason else "not in the index"

    def note(self, path: str) -> str:
        """Return how a file was read, where that was not as usual."""
        return self._parts.handle.searched().catalog.note(path)

    # ------------------------------------------------------------ keeping the index

    def start(self) -> None:
        """Open everything, bring the index up to date and keep it so, in the background; returns at once."""
        self._parts.supervisor.start()
        self._use_servers()

    def index(self, rebuild: bool = False, progress: "ReportProgress | None" = None) -> IndexReport:
        """Bring the index up to date and return what was done; `rebuild` starts from nothing.

        Raises IndexLockedError while another process writes this index.
        """
        report = self._parts.supervisor.index(rebuild, progress)
        return replace(report, warnings=(*self._parts.handle.warnings, *report.warnings))

    def watch(self, stop: threading.Event, report: "ReportRun") -> None:
        """Follow the edits of the tree until `stop` is set; `report` is called after each run that changed something.

        Raises IndexLockedError while another process writes this index, RootError when the tree cannot be watched.
        """
        self._use_servers()
        self._parts.supervisor.watch(stop, report)

    def sync(
        self,
        verify: bool = False,
        rebuild: bool = False,
        progress: "ReportSync | None" = None,
        agree: "Agree" = lambda _: False,
    ) -> tuple[SyncReport, ...]:
        """Send to each server what it lacks of the index; see `Replicator.sync`."""
        return self._parts.replicator.sync(verify=verify, rebuild=rebuild, progress=progress, agree=agree)

    def close(self) -> None:
        self._stop.set()
        self._parts.close()

    # ------------------------------------------------------------ inside

    def _use_servers(self) -> None:
        """Load the servers' clients, and replicate each commit while this process is the writer of a complete index."""
        servers = self._parts.servers
        if not servers.any:
            return
        servers.load_soon(self._wait_until_idle)
        if self.settings.servers.sync_servers:
            self._parts.replicator.start_following(lambda: self._own_commit() if servers.is_loaded else None)

    def _wait_until_idle(self) -> None:
        self._parts.supervisor.settled.wait(BUILDING_SECONDS)
        self._stop.wait(SEARCH_SECONDS)
        self._parts.supervisor.search_priority.idle.wait()

    def _own_commit(self) -> int | None:
        writes = self._parts.supervisor.settled.is_set() and self._parts.handle.is_writer
        return self._parts.handle.searched().database.commit_number() if writes else None


def _checked(root: Path) -> Path:
    try:
        resolved = root.expanduser().resolve(strict=True)
    except (OSError, RuntimeError):
        raise RootError(f"{root} does not exist; pass the folder of your repository as --root") from None
    if not resolved.is_dir():
        raise RootError(f"{root} is a file; pass the folder that contains it as --root")
    if (resolved / "HEAD").is_file() and (resolved / "objects").is_dir() and (resolved / "refs").is_dir():
        raise RootError(f"{root} is a repository without files; pass the folder of a work tree as --root")
    if not os.access(resolved, os.R_OK | os.X_OK):
        raise RootError(f"{root} cannot be read; check its permissions or pass another --root")
    return resolved
