"""Brings the index up to date with the tree, in batches that a kill can interrupt at any point."""

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from graphrag_mcp.embedding.chunk_texts import CONTEXT_VERSION
from graphrag_mcp.embedding.chunks import embed_chunks
from graphrag_mcp.exclusion.archive import ArchiveClassifier
from graphrag_mcp.exclusion.manager import ExclusionManager
from graphrag_mcp.exclusion.walker import WalkedFile, walk
from graphrag_mcp.ingest.changes import Changes, compare
from graphrag_mcp.ingest.history import AGES_VERSION, CommitTimes, commit_times, head_commit
from graphrag_mcp.ingest.prepare import Job, Outcome, Prepared, Rejected, Stored
from graphrag_mcp.ingest.workers.pool import prepare_all
from graphrag_mcp.ingest.workers.quarantine import Suspects
from graphrag_mcp.ingest.yielding import Turns
from graphrag_mcp.model.files import ArchiveClass
from graphrag_mcp.model.reports import IndexReport, Progress
from graphrag_mcp.parsing.parser import PARSER_VERSION
from graphrag_mcp.ports import Embedder
from graphrag_mcp.stores.sqlite.catalog import FileState, SqliteCatalog
from graphrag_mcp.stores.sqlite.rows import Place
from graphrag_mcp.stores.sqlite.writer import SqliteIndexWriter, StoredContent, pack_vectors
from graphrag_mcp.text.counts import counted

BATCH_CHUNKS = 500  # What a kill can cost. Embedded and written while the next ones are parsed, so not too many.
BATCH_SECONDS = 2.0
STEP_CHUNKS = 25  # Embedded at a time: some five milliseconds, after which a search may go first.
GIT_TIMEOUT_SECONDS = 60.0

UNREADABLE = "unreadable"  # The walker's reason for what cannot be listed or read.

ReportProgress = Callable[[Progress], None]


class Indexer:
    """The writing side of one project; only one process at a time may use it."""

    def __init__(
        self,
        root: Path,
        exclusion: ExclusionManager,
        archive: ArchiveClassifier,
        catalog: SqliteCatalog,
        writer: SqliteIndexWriter,
        embedder: Embedder | None,
        suspects: Path,
        *,
        workers: int = 0,
        start: str = "",
        reuse: bool = True,
        calm: threading.Event | None = None,
    ) -> None:
        """Index `root`, or only its subfolder `start`. Without an embedder, files are indexed without vectors.

        suspects: where files that ended a process are remembered. reuse: take what the index has of a content, rather
        than parse it again. calm: while it is not set, the run goes on in short turns, since somebody waits for an
        answer.
        """
        self._root = root
        self._exclusion = exclusion
        self._archive = archive
        self._catalog = catalog
        self._writer = writer
        self._embedder = embedder
        self._suspects = suspects
        self._workers = workers
        self._start = start
        self._reuse = reuse
        self._turns = Turns(calm)
        self._model_id = writer.model_id(embedder.fingerprint, embedder.dimensions) if embedder else None
        self._parsed_with = f"{PARSER_VERSION}.{CONTEXT_VERSION}."
        self._recipe = self._parsed_with + (embedder.fingerprint if embedder else "")

    def reconcile(self, progress: ReportProgress | None = None, stop: threading.Event | None = None) -> IndexReport:
        """Compare the whole tree with the catalog and redo what differs; `stop` ends the run after the next batch."""
        run = _Run(progress, stop)
        self._exclusion.reload()
        found, skipped = self._walk(self._start)
        known, hidden = in_sight(self._catalog.file_states(), skipped)
        changes = compare(known, found, self._is_current)
        run.unreadable += hidden
        known_ages = "" if changes.added or changes.suspects else self._catalog.meta("ages")
        with ThreadPoolExecutor(1) as git:
            dates = git.submit(self._date, found, known_ages)
            self._writer.delete(changes.removed)
            self._writer.set_skipped(skipped, complete=True)
            self._writer.set_archived(self._other_archive_classes(found))
            self._process(changes, known, found, run)
            ages, times = dates.result()
        self._writer.set_modified_at(times)
        if not run.stopped:  # A run that was cut short must not pass for a complete index.
            rules = json.dumps(self._exclusion.warnings)  # For those who read the index, but not the rules.
            self._writer.complete({"ages": ages, "indexed_at": str(time.time()), "rule_warnings": rules})
        self._writer.checkpoint()
        notes = (f"recency: {times.note}",) if times.note else ()
        return run.report(changes, len(skipped), (*self._exclusion.warnings, *notes))

    def update(self, paths: Iterable[str], stop: threading.Event | None = None, *, ask_git: bool = True) -> IndexReport:
        """Look again at these paths, relative to the root: files or folders that appeared, changed or vanished.

        ask_git: find out when they were committed.
        """
        run = _Run(None, stop)
        found: dict[str, WalkedFile] = {}
        skipped: dict[str, str] = {}
        touched: dict[str, FileState] = {}
        places = list(dict.fromkeys(path.rstrip("/") for path in paths))
        for path in places:
            here, left_out = self._walk(path)
            found |= here
            skipped |= left_out
            touched |= self._catalog.states_at(path)
        touched, hidden = in_sight(touched, skipped)
        changes = compare(touched, found, self._is_current)
        run.unreadable += hidden
        self._writer.delete(changes.removed)
        self._writer.set_skipped(skipped, below=places)
        self._process(changes, touched, found, run)
        if ask_git and (changes.added or changes.suspects):
            # A checkout gives every file that it writes the time of now: their commits say how old they are.
            _, times = self._date(found)
            self._writer.set_modified_at(times)
        return run.report(changes, len(skipped), ())

    def _is_current(self, recipe: str) -> bool:
        """A file is redone for another parser or model; while no model can be loaded, old vectors are kept."""
        return recipe.startswith(self._parsed_with) if self._embedder is None else recipe == self._recipe

    def _walk(self, start: str) -> tuple[dict[str, WalkedFile], dict[str, str]]:
        found: dict[str, WalkedFile] = {}
        skipped: dict[str, str] = {}
        for entry in walk(self._exclusion, start):
            self._turns.give_way()
            if isinstance(entry, WalkedFile):
                found[entry.path] = entry
            else:
                skipped[entry.path] = entry.reason
        return found, skipped

    def _other_archive_classes(self, found: Iterable[str]) -> dict[str, ArchiveClass | None]:
        """Return the files that other patterns than before make archived, or no longer do."""
        known = self._catalog.archived()
        classes = {path: self._archive.classify(path) for path in found}
        return {path: archive for path, archive in classes.items() if archive != known.get(path)}

    def _process(
        self, changes: Changes, known: Mapping[str, FileState], found: Mapping[str, WalkedFile], run: "_Run"
    ) -> None:
        paths = (*changes.added, *changes.suspects)
        stored = self._writer.stored_contents(paths) if self._reuse else {}
        run.begin(len(paths), stored, {path: known[path].content_hash for path in changes.suspects})
        jobs = [self._job(found[path], stored.get(path, {})) for path in paths]
        suspects = Suspects(self._suspects)
        for batch in _batches(prepare_all(jobs, self._workers, suspects, self._turns), run):
            self._commit(batch, run)
        lost = [self._job(found[path], {}) for path in run.lost]
        for batch in _batches(prepare_all(lost, self._workers, suspects, self._turns), run):
            self._commit(batch, run)

    def _job(self, file: WalkedFile, stored: Mapping[bytes, StoredContent]) -> Job:
        return Job(
            root=self._root,
            path=file.path,
            size=file.size,
            mtime_ns=file.mtime_ns,
            changed_ns=file.changed_ns,
            recipe=self._recipe,
            archive=self._archive.classify(file.path),
            max_bytes=self._exclusion.max_file_bytes,
            stored={one: content.recipe for one, content in stored.items() if self._is_current(content.recipe)},
        )

    def _commit(self, batch: Sequence[Outcome], run: "_Run") -> None:
        prepared = [outcome for outcome in batch if isinstance(outcome, Prepared)]
        places = [outcome.place for outcome in batch if isinstance(outcome, Stored)]
        refused = [outcome for outcome in batch if isinstance(outcome, Rejected)]
        rejected = {outcome.path: outcome.reason for outcome in refused}
        vectors = self._vectors(prepared, run)
        self._turns.give_way()
        self._writer.write_packed(
            [(one.rows, mine) for one, mine in zip(prepared, vectors, strict=True)], self._model_id
        )
        lost = set(self._writer.place(places))
        self._writer.delete([outcome.path for outcome in refused if not outcome.may_pass])
        self._writer.set_skipped(rejected)
        run.lost += sorted(lost)
        run.count_places([place for place in places if place.path not in lost])
        run.advance(len(batch) - len(lost), sum(len(one.texts) for one in prepared), len(rejected))
        run.unreadable += sum(outcome.may_pass for outcome in refused)

    def _vectors(self, prepared: Sequence[Prepared], run: "_Run") -> list[list[bytes]]:
        """Return each file's vectors; chunks whose text did not change keep the one they have."""
        if self._embedder is None or self._model_id is None:
            return [[] for _ in prepared]
        stored = [
            self._writer.stored_vectors(one.rows.place.path, self._model_id) if self._reuse else {} for one in prepared
        ]
        missing = [
            texts
            for one, old in zip(prepared, stored, strict=True)
            for texts, text_hash in zip(one.texts, one.rows.text_hashes, strict=True)
            if text_hash not in old
        ]
        fresh = iter([vector for step in _steps(missing) for vector in self._embed(self._embedder, step)])
        run.embedded += len(missing)
        run.reused += sum(len(one.texts) for one in prepared) - len(missing)
        return [
            [old[text_hash] if text_hash in old else next(fresh) for text_hash in one.rows.text_hashes]
            for one, old in zip(prepared, stored, strict=True)
        ]

    def _embed(self, embedder: Embedder, texts: Sequence[tuple[str, str]]) -> list[bytes]:
        self._turns.give_way()
        return pack_vectors(embed_chunks(embedder, texts))

    def _date(self, found: Mapping[str, WalkedFile], known_ages: str = "") -> tuple[str, CommitTimes]:
        """Return which ages these are, and when each file last changed: nothing where the catalog has these ages."""
        head = head_commit(self._root)
        ages = f"{AGES_VERSION} {head}"
        if not head or ages == known_ages:
            return ages, CommitTimes()
        wanted = {path: file.mtime_ns for path, file in found.items()}
        return ages, commit_times(self._root, wanted, GIT_TIMEOUT_SECONDS)


@dataclass(slots=True)
class _Run:
    """Counts one run and tells its progress."""

    progress: ReportProgress | None
    stop: threading.Event | None
    started: float = field(default_factory=time.monotonic)
    stored: Mapping[str, Mapping[bytes, StoredContent]] = field(default_factory=dict)
    hashes: Mapping[str, bytes] = field(default_factory=dict)  # Of the suspects, before.
    lost: list[str] = field(default_factory=list)  # What another tree had and has no longer.
    total: int = 0
    done: int = 0
    chunks: int = 0
    embedded: int = 0
    reused: int = 0
    touched: int = 0
    rejected: int = 0
    unreadable: int = 0

    def begin(
        self, total: int, stored: Mapping[str, Mapping[bytes, StoredContent]], hashes: Mapping[str, bytes]
    ) -> None:
        self.total, self.stored, self.hashes = total, stored, hashes
        self._tell()

    def count_places(self, places: Iterable[Place]) -> None:
        """Count contents that were stored: the same as before, or another tree's."""
        for place in places:
            if self.hashes.get(place.path) == place.content_hash:
                self.touched += 1
            else:
                self.reused += self.stored[place.path][place.content_hash].chunks

    def advance(self, files: int, chunks: int, rejected: int) -> None:
        self.done += files
        self.chunks += chunks
        self.rejected += rejected
        self._tell()

    @property
    def stopped(self) -> bool:
        return self.stop is not None and self.stop.is_set()

    def report(self, changes: Changes, skipped: int, warnings: Sequence[str]) -> IndexReport:
        return IndexReport(
            added=len(changes.added),
            changed=len(changes.suspects) - self.touched,
            removed=len(changes.removed),
            unchanged=changes.unchanged + self.touched,
            skipped=skipped + self.rejected,
            chunks=self.chunks,
            embedded=self.embedded,
            reused=self.reused,
            seconds=time.monotonic() - self.started,
            warnings=(*warnings, *self._unreadable_warning()),
        )

    def _unreadable_warning(self) -> tuple[str, ...]:
        if not self.unreadable:
            return ()
        return (f"{counted(self.unreadable, 'file')} cannot be read now: the index keeps what it has of them",)

    def _tell(self) -> None:
        if self.progress is None:
            return
        elapsed = time.monotonic() - self.started
        left = elapsed / self.done * (self.total - self.done) if self.done else None
        self.progress(Progress(self.done, self.total, self.chunks, left))


def _steps(texts: Sequence[tuple[str, str]]) -> Iterator[Sequence[tuple[str, str]]]:
    return (texts[start : start + STEP_CHUNKS] for start in range(0, len(texts), STEP_CHUNKS))


def in_sight(known: Mapping[str, FileState], skipped: Mapping[str, str]) -> tuple[dict[str, FileState], int]:
    """Return the known files without those in places that cannot be read now, and the number of these.

    They are neither gone nor unchanged: nobody can tell before the place can be read again.
    """
    places = {path.rstrip("/") for path, reason in skipped.items() if reason == UNREADABLE}
    if not places:
        return dict(known), 0
    seen = {path: state for path, state in known.items() if places.isdisjoint(("", path, *_folders(path)))}
    return seen, len(known) - len(seen)


def _folders(path: str) -> Iterator[str]:
    """Yield the folders that a path lies in, innermost first."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


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
