"""Brings the index up to date with the tree, in batches that a kill can interrupt at any point."""

import json
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from graphrag_mcp.embedding.chunk_texts import CONTEXT_VERSION
from graphrag_mcp.embedding.models import embed_chunks
from graphrag_mcp.exclusion.manager import ArchiveClassifier, ExclusionManager, StatedCategories
from graphrag_mcp.exclusion.walker import UNREADABLE, WalkedFile, walk
from graphrag_mcp.index.ages import AGES_VERSION, CommitTimes, commit_times
from graphrag_mcp.index.linking import LinkStage
from graphrag_mcp.index.prepare import Job, Outcome, Prepared, Rejected, Stored
from graphrag_mcp.index.workers import Quarantine, SearchYield, prepare_all
from graphrag_mcp.model.files import FAILED, ArchiveClass, Failure
from graphrag_mcp.model.paths import folders
from graphrag_mcp.model.reports import IndexReport, Progress
from graphrag_mcp.parsing import PARSER_VERSION
from graphrag_mcp.parsing.stages import failure
from graphrag_mcp.ports import Embedder
from graphrag_mcp.stores.sqlite.catalog import FileState, SqliteCatalog
from graphrag_mcp.stores.sqlite.database import Database
from graphrag_mcp.stores.sqlite.rows import PackedFile, TreeEntry
from graphrag_mcp.stores.sqlite.writer import SqliteIndexWriter, StoredContent, pack_vectors
from graphrag_mcp.system.git import head_commit
from graphrag_mcp.text.counts import counted

BATCH_CHUNKS = 500  # A kill costs no more; a batch is embedded and written while the next files are parsed.
BATCH_SECONDS = 2.0
LEAST_DONE = 0.05  # The share of the files after which the remaining time is estimated.
STEP_CHUNKS = 25  # Embedding them takes about 5 ms; a search may run between two steps.
GIT_TIMEOUT_SECONDS = 60.0

_ROW_ERRORS = (sqlite3.DataError, sqlite3.IntegrityError, sqlite3.InterfaceError, sqlite3.ProgrammingError)

ReportProgress = Callable[[Progress], None]


class Changes(Struct, frozen=True):
    """The work of one index run. possibly_changed: known files whose size, time or recipe differs."""

    added: tuple[str, ...]
    possibly_changed: tuple[str, ...]
    removed: tuple[str, ...]
    unchanged: int


def compare(
    known: Mapping[str, FileState], disk: Mapping[str, WalkedFile], is_current: Callable[[str, str], bool]
) -> Changes:
    """Return which files are new, possibly changed or removed; is_current: whether a recipe is still that of a path."""
    possibly_changed = tuple(
        path
        for path, file in known.items()
        if path in disk
        and not (
            (file.size, file.changed_ns) == (disk[path].size, disk[path].changed_ns) and is_current(path, file.recipe)
        )
    )
    removed = tuple(path for path in known if path not in disk)
    return Changes(
        added=tuple(path for path in disk if path not in known),
        possibly_changed=possibly_changed,
        removed=removed,
        unchanged=len(known) - len(possibly_changed) - len(removed),
    )


@dataclass(eq=False)
class Indexer:
    """Writes the index of one project; the caller holds the write lock.

    exclusion, start: the files to index are those that the rules let through below the subfolder `start` ("": all).
    archive: decides which of them are archived. stated: the categories that the project gives its files.
    database: the one of catalog and writer. embedder: without one, files are indexed without vectors.
    quarantine_file: keeps the names of files that ended a parsing process.
    workers: parsing processes, 0 for as many as there are cores. reuse: take the stored rows of a content instead of
    parsing it again. idle: set while no search runs; otherwise the run works in short turns.
    """

    exclusion: ExclusionManager
    start: str
    archive: ArchiveClassifier
    stated: StatedCategories
    database: Database
    catalog: SqliteCatalog
    writer: SqliteIndexWriter
    embedder: Embedder | None
    quarantine_file: Path
    workers: int
    reuse: bool
    idle: threading.Event | None

    def __post_init__(self) -> None:
        """Give this indexer its turns, its last stage, and the number of its model."""
        self._search_yield = SearchYield(self.idle)
        self._links = LinkStage(self.database, self.workers, self._search_yield)
        model = self.embedder
        self._model_id = self.writer.model_id(model.fingerprint, model.dimensions) if model else None

    def reconcile(self, progress: ReportProgress | None = None, stop: threading.Event | None = None) -> IndexReport:
        """Compare the whole tree with the catalog and redo what differs; `stop` ends the run after the next batch."""
        run = _Run(progress, stop)
        self.exclusion.reload()
        walked, skipped = self._walk(self.start)
        changes = self._compare(self.catalog.file_states(), walked, skipped, run)
        known_ages = "" if changes.added or changes.possibly_changed else self.catalog.meta("ages")
        with ThreadPoolExecutor(1) as git:
            dates = git.submit(self._date, walked, known_ages)
            self.writer.set_skipped(skipped, complete=True)
            self.writer.set_archived(self._other_archive_classes(walked))
            self._process(walked, run)
            ages, times = dates.result()
        self.writer.set_modified_at(times)
        if not run.stopped:  # A run that was cut short is not a complete index.
            rules = json.dumps(self.exclusion.warnings)  # Readers do not load the rules.
            self.writer.complete({"ages": ages, "indexed_at": str(time.time()), "rule_warnings": rules})
        self.writer.checkpoint()
        notes = (f"recency: {times.note}",) if times.note else ()
        report = run.report(len(skipped), (*self.exclusion.warnings, *notes))
        return replace(report, failures=self.catalog.failures())

    def update(self, paths: Iterable[str], stop: threading.Event | None = None, *, ask_git: bool = True) -> IndexReport:
        """Index these paths again, relative to the root: files or folders that appeared, changed or vanished.

        ask_git: also read the times of their commits.
        """
        run = _Run(None, stop)
        wanted = list(dict.fromkeys(path.rstrip("/") for path in paths))
        walked, skipped = self._walk(*wanted)
        touched = {path: state for start in wanted for path, state in self.catalog.states_at(start).items()}
        changes = self._compare(touched, walked, skipped, run)
        self.writer.set_skipped(skipped, below=wanted)
        self._process(walked, run)
        if ask_git and (changes.added or changes.possibly_changed):
            # A checkout sets the mtime of every file that it writes to now; the commits have the real ages.
            _, times = self._date(walked)
            self.writer.set_modified_at(times)
        return run.report(len(skipped), ())

    def _is_current(self, path: str, recipe: str) -> bool:
        """Whether rows of this recipe are up to date; without a model, the vectors of any model are kept."""
        own = self._recipe(path)
        return recipe.startswith(own) if self.embedder is None else recipe == own

    def _recipe(self, path: str) -> str:
        fingerprint = self.embedder.fingerprint if self.embedder else ""
        return f"{PARSER_VERSION}.{CONTEXT_VERSION}.{self.stated.of(path) or ''}.{fingerprint}"

    def _walk(self, *starts: str) -> tuple[dict[str, WalkedFile], dict[str, str]]:
        """Return the files at and below some paths, and why others are left out there."""
        walked: dict[str, WalkedFile] = {}
        skipped: dict[str, str] = {}
        for entry in chain.from_iterable(walk(self.exclusion, start) for start in starts):
            self._search_yield.yield_to_searches()
            if isinstance(entry, WalkedFile):
                walked[entry.path] = entry
            else:
                skipped[entry.path] = entry.reason
        return walked, skipped

    def _other_archive_classes(self, paths: Iterable[str]) -> dict[str, ArchiveClass | None]:
        """Return the files whose archive class differs from the stored one, because the patterns changed."""
        known = self.catalog.archived()
        classes = {path: self.archive.classify(path) for path in paths}
        return {path: archive for path, archive in classes.items() if archive != known.get(path)}

    def _compare(
        self, known: Mapping[str, FileState], walked: Mapping[str, WalkedFile], skipped: Mapping[str, str], run: "_Run"
    ) -> Changes:
        """Find what changed, and remove the files that are gone."""
        seen, hidden = without_unreadable(known, skipped)
        run.unreadable += hidden
        run.changes = changes = compare(seen, walked, self._is_current)
        run.hashes = {path: known[path].content_hash for path in changes.possibly_changed}
        self.writer.delete(changes.removed)
        return changes

    def _process(self, walked: Mapping[str, WalkedFile], run: "_Run") -> None:
        """Index the new and the possibly changed files, and resolve what their names mean."""
        paths = (*run.changes.added, *run.changes.possibly_changed)
        run.stored = self.writer.stored_contents(paths) if self.reuse else {}
        run.total = len(paths)
        run.advance(0, 0)
        self._prepare([self._job(walked[path], run.stored.get(path, {})) for path in paths], run)
        self._prepare([self._job(walked[path], {}) for path in run.lost], run)
        self._links.run(run.stop)

    def _prepare(self, jobs: Sequence[Job], run: "_Run") -> None:
        quarantine = Quarantine(self.quarantine_file)
        for batch in _batches(prepare_all(jobs, self.workers, quarantine, self._search_yield), run):
            self._commit(batch, run)

    def _job(self, file: WalkedFile, stored: Mapping[bytes, StoredContent]) -> Job:
        return Job(
            root=self.exclusion.root,
            path=file.path,
            size=file.size,
            mtime_ns=file.mtime_ns,
            changed_ns=file.changed_ns,
            recipe=self._recipe(file.path),
            stated=self.stated.of(file.path),
            archive=self.archive.classify(file.path),
            max_bytes=self.exclusion.max_file_bytes,
            stored={
                key: content.recipe for key, content in stored.items() if self._is_current(file.path, content.recipe)
            },
        )

    def _commit(self, batch: Sequence[Outcome], run: "_Run") -> None:
        prepared = [outcome for outcome in batch if isinstance(outcome, Prepared)]
        entries = [outcome.entry for outcome in batch if isinstance(outcome, Stored)]
        refused = [outcome for outcome in batch if isinstance(outcome, Rejected)]
        rejected = {outcome.path: outcome.reason for outcome in refused}
        vectors = self._vectors(prepared, run)
        self._search_yield.yield_to_searches()
        rejected |= self._write([_embedded(*pair) for pair in zip(prepared, vectors, strict=True)])
        lost = set(self.writer.attach(entries))
        dropped = [outcome.path for outcome in refused if not outcome.may_pass]
        self.writer.delete(dropped)
        self.writer.set_skipped(rejected)
        run.rejected |= rejected.keys()
        run.removed += sum(path in run.hashes for path in dropped)
        run.lost += sorted(lost)
        run.count_attached([entry for entry in entries if entry.path not in lost])
        run.advance(len(batch) - len(lost), sum(len(file.texts) for file in prepared))
        run.unreadable += sum(outcome.may_pass for outcome in refused)

    def _write(self, files: Sequence[tuple[PackedFile, Sequence[bytes]]]) -> dict[str, str]:
        """Write files in one commit, or each alone if one of them cannot be; return why some were not, by path."""
        try:
            self.writer.write(files, self._model_id)
        except Exception as error:
            if isinstance(error, sqlite3.Error) and not isinstance(error, _ROW_ERRORS):
                raise
            if len(files) == 1:
                return {files[0][0].entry.path: f"{FAILED}{failure('writing', error)}"}
            return {path: why for file in files for path, why in self._write([file]).items()}
        return {}

    def _vectors(self, prepared: Sequence[Prepared], run: "_Run") -> list[list[bytes | Failure]]:
        """Return each file's vectors; a chunk whose text did not change keeps its vector."""
        if self.embedder is None or self._model_id is None:
            return [[] for _ in prepared]
        stored = [
            self.writer.stored_vectors(file.rows.entry.path, self._model_id) if self.reuse else {} for file in prepared
        ]
        missing = [
            texts
            for file, old in zip(prepared, stored, strict=True)
            for texts, text_hash in zip(file.texts, file.rows.text_hashes, strict=True)
            if text_hash not in old
        ]
        fresh = iter([vector for step in _steps(missing) for vector in self._embed(self.embedder, step)])
        run.embedded += len(missing)
        run.reused += sum(len(file.texts) for file in prepared) - len(missing)
        return [
            [old[text_hash] if text_hash in old else next(fresh) for text_hash in file.rows.text_hashes]
            for file, old in zip(prepared, stored, strict=True)
        ]

    def _embed(self, embedder: Embedder, texts: Sequence[tuple[str, str]]) -> list[bytes | Failure]:
        """Return the vector of each text, or why a text that was tried alone has none."""
        self._search_yield.yield_to_searches()
        try:
            return [*pack_vectors(embed_chunks(embedder, texts))]
        except Exception as error:  # A text may hold anything, and must not end the run.
            if len(texts) == 1:
                return [failure("embedding", error)]
        return [vector for text in texts for vector in self._embed(embedder, [text])]

    def _date(self, walked: Mapping[str, WalkedFile], known_ages: str = "") -> tuple[str, CommitTimes]:
        """Return the key of these ages and the time of each file's last commit; no times if the catalog has the key."""
        head = head_commit(self.exclusion.root) if shutil.which("git") else ""
        ages = f"{AGES_VERSION} {head}"
        if not head or ages == known_ages:
            return ages, CommitTimes()
        wanted = {path: file.mtime_ns for path, file in walked.items()}
        return ages, commit_times(self.exclusion.root, wanted, GIT_TIMEOUT_SECONDS)


class _Run(Struct):
    """Counts the work of one run and reports its progress."""

    progress: ReportProgress | None
    stop: threading.Event | None
    started: float = field(default_factory=time.monotonic)
    changes: Changes = Changes((), (), (), 0)
    stored: Mapping[str, Mapping[bytes, StoredContent]] = field(default_factory=dict)
    # These are the stored hashes of the possibly changed files.
    hashes: Mapping[str, bytes] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)  # Another tree had these contents when the run began.
    total: int = 0
    done: int = 0
    chunks: int = 0
    embedded: int = 0
    reused: int = 0
    touched: int = 0
    removed: int = 0  # Possibly changed files that cannot be indexed any more.
    rejected: set[str] = field(default_factory=set)
    unreadable: int = 0

    def count_attached(self, entries: Iterable[TreeEntry]) -> None:
        """Count files whose content was stored already, for this tree or for another one."""
        for entry in entries:
            if self.hashes.get(entry.path) == entry.content_hash:
                self.touched += 1
            else:
                self.reused += self.stored[entry.path][entry.content_hash].chunks

    def advance(self, files: int, chunks: int) -> None:
        self.done += files
        self.chunks += chunks
        if self.progress is None:
            return
        elapsed = time.monotonic() - self.started
        is_told = self.done >= self.total * LEAST_DONE > 0  # Before that, most of the time is that of the start.
        left = elapsed / self.done * (self.total - self.done) if is_told else None
        self.progress(Progress(self.done, self.total, self.chunks, left))

    @property
    def stopped(self) -> bool:
        return self.stop is not None and self.stop.is_set()

    def report(self, skipped: int, warnings: tuple[str, ...]) -> IndexReport:
        changes = self.changes
        if self.unreadable:
            kept = f"{counted(self.unreadable, 'file')} could not be read; the index keeps their last content"
            warnings = (*warnings, kept)
        return IndexReport(
            added=len(set(changes.added) - self.rejected),
            changed=len(set(changes.possibly_changed) - self.rejected) - self.touched,
            removed=len(changes.removed) + self.removed,
            unchanged=changes.unchanged + self.touched,
            skipped=skipped + len(self.rejected),
            chunks=self.chunks,
            embedded=self.embedded,
            reused=self.reused,
            seconds=time.monotonic() - self.started,
            warnings=warnings,
        )


def _embedded(file: Prepared, vectors: Sequence[bytes | Failure]) -> tuple[PackedFile, list[bytes]]:
    """Return the rows of a file with its vectors; with none if a chunk could not be embedded."""
    failures = [vector for vector in vectors if isinstance(vector, Failure)]
    if failures:
        return file.rows.with_failure(failures[0]), []
    return file.rows, [vector for vector in vectors if isinstance(vector, bytes)]


def _steps(texts: Sequence[tuple[str, str]]) -> Iterator[Sequence[tuple[str, str]]]:
    return (texts[start : start + STEP_CHUNKS] for start in range(0, len(texts), STEP_CHUNKS))


def without_unreadable(known: Mapping[str, FileState], skipped: Mapping[str, str]) -> tuple[dict[str, FileState], int]:
    """Return the known files without those in folders that cannot be read now, and the number of these.

    Whether those changed or were deleted is unknown until the folder can be read again.
    """
    unreadable = {path.rstrip("/") for path, reason in skipped.items() if reason == UNREADABLE}
    if not unreadable:
        return dict(known), 0
    seen = {path: state for path, state in known.items() if unreadable.isdisjoint(("", *folders(path)))}
    return seen, len(known) - len(seen)


def _batches(outcomes: Iterator[Outcome], run: _Run) -> Iterator[list[Outcome]]:
    """Group outcomes into commits, by number of chunks or by age, whichever comes first."""
    batch: list[Outcome] = []
    chunks, begun = 0, time.monotonic()
    for outcome in outcomes:
        batch.append(outcome)
        chunks += len(outcome.texts) if isinstance(outcome, Prepared) else 0
        if chunks >= BATCH_CHUNKS or time.monotonic() - begun >= BATCH_SECONDS:
            yield batch
            batch, chunks, begun = [], 0, time.monotonic()
        if run.stopped:
            break
    if batch:
        yield batch
