"""Turns one file into the rows of every store and the texts to embed; runs in the parsing processes."""

import hashlib
import time
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field

from graphrag_mcp.embedding.chunk_texts import embedding_texts
from graphrag_mcp.model.files import FAILED, ArchiveClass, Category, Chunk, ParsedFile, ParseMode
from graphrag_mcp.parsing.code.imports import module_keys
from graphrag_mcp.parsing.parser import parse_file
from graphrag_mcp.parsing.stages import failure
from graphrag_mcp.stores.sqlite.rows import PackedFile, TreeEntry, pack_rows
from graphrag_mcp.stores.sqlite.schema import MAX_CHUNKS_PER_FILE
from graphrag_mcp.system.safe_files import RECENT_NS, hash_content, read_file_below
from graphrag_mcp.text.counts import counted
from graphrag_mcp.text.words import directory_words, index_text, stem_words

_KEY_BYTES = 16  # Collisions become likely at 2**64 texts.
UNSETTLED = 0  # The time of such a file is stored as 0, so that the next comparison reads its content.


class Job(Struct, frozen=True):
    """One file to read. `stored`: contents that the index has already, by hash, with the recipe of their rows.

    stated: the category that the project states, whatever the path and the content say. without_syntax: a grammar
    crashed on it.
    """

    root: Path
    path: str
    size: int
    mtime_ns: int
    changed_ns: int
    recipe: str
    stated: Category | None
    archive: ArchiveClass | None
    max_bytes: int
    stored: Mapping[bytes, str] = field(default_factory=dict)
    without_syntax: bool = False


class Prepared(Struct, frozen=True):
    """A file's rows, with the two texts that each of its chunks is embedded from."""

    rows: PackedFile
    texts: list[tuple[str, str]]


class Stored(Struct, frozen=True):
    """The index has this content already, from an earlier run or from another tree."""

    entry: TreeEntry


class Rejected(Struct, frozen=True):
    """The file cannot be indexed; `status` shows the reason. `may_pass`: the failure may be temporary."""

    path: str
    reason: str
    may_pass: bool = False


Outcome = Prepared | Stored | Rejected


def prepare(job: Job) -> Outcome:
    """Read and parse one file; a file that cannot be read or stored is an outcome, not an error."""
    try:
        return _prepare(job)
    except Exception as error:  # A file may hold anything, and must not end the run.
        return Rejected(job.path, f"{FAILED}{failure('reading', error)}", may_pass=True)


def _prepare(job: Job) -> Outcome:
    try:
        data = read_file_below(job.root, job.path, job.max_bytes)
    except FileNotFoundError:
        return Rejected(job.path, "vanished while it was being indexed")
    except OSError as error:
        return Rejected(job.path, f"unreadable: {error.strerror or error}", may_pass=True)
    content_hash = hash_content(data)
    recipe = job.stored.get(content_hash)
    entry = TreeEntry(
        path=job.path,
        content_hash=content_hash,
        recipe=job.recipe if recipe is None else recipe,
        size=job.size,
        changed_ns=job.changed_ns if time.time_ns() - job.changed_ns > RECENT_NS else UNSETTLED,
        archive=job.archive,
        modified_at=job.mtime_ns / 1e9,
    )
    if recipe is not None:
        return Stored(entry)
    parsed = parse_file(job.path, data, MAX_CHUNKS_PER_FILE, job.stated, job.without_syntax)
    if parsed.mode is ParseMode.NONE:
        return Rejected(job.path, parsed.note)
    if (count := len(parsed.chunks)) > MAX_CHUNKS_PER_FILE:
        limit = f"the limit for one file is {MAX_CHUNKS_PER_FILE:,}"
        return Rejected(job.path, f"too long: {counted(count, 'chunk')}, {limit}")
    try:
        return _rows(entry, parsed)
    except Exception as error:
        failures = (*parsed.failures, failure("rows", error))
        return _rows(entry, ParsedFile(parsed.path, "", parsed.category, parsed.mode, (), failures=failures))


def _rows(entry: TreeEntry, parsed: ParsedFile) -> Prepared:
    texts = [embedding_texts(parsed.path, parsed.language, chunk) for chunk in parsed.chunks]
    stem, directory = stem_words(parsed.path), directory_words(parsed.path)
    path_fields = (" ".join(stem), " ".join(directory))
    rows = pack_rows(
        parsed,
        entry,
        path_words={word: 1 / len(stem) for word in stem},
        module_keys=module_keys(parsed.path),
        keywords=[_keyword_fields(chunk, *path_fields) for chunk in parsed.chunks],
        text_hashes=[_hash_texts(*pair) for pair in texts],
    )
    return Prepared(rows, texts)


def _keyword_fields(chunk: Chunk, stem: str, directory: str) -> tuple[str, ...]:
    """Return the words of one chunk, in the order of the keyword index's fields."""
    return (
        index_text(" ".join(chunk.names)),
        stem,
        index_text(" ".join(chunk.enclosing)),
        index_text(chunk.comments),
        directory,
        index_text(chunk.text),
    )


def _hash_texts(context: str, full: str) -> bytes:
    return hashlib.blake2b(f"{context}\0{full}".encode(errors="surrogatepass"), digest_size=_KEY_BYTES).digest()
