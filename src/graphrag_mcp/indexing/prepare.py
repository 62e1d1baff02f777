"""Turns one file into the rows of every store and the texts to embed; runs in the parsing processes."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from graphrag_mcp.embedding.context import embedding_texts
from graphrag_mcp.exclusion.excluded_files import match_keys
from graphrag_mcp.model import ArchiveClass, Chunk, ParsedFile
from graphrag_mcp.parsing.modules import module_keys
from graphrag_mcp.parsing.parser import parse_file
from graphrag_mcp.stores.sqlite.catalog import FileState
from graphrag_mcp.stores.sqlite.writer import FileRows, PackedFile, pack_rows
from graphrag_mcp.words import directory_words, index_text, stem_words

_HASH_BYTES = 16  # Collisions become likely at 2**64 files.


@dataclass(frozen=True, slots=True)
class Job:
    """One file to read. `known_hash`: the content that would make the work unnecessary, empty for none."""

    path: str
    location: Path
    size: int
    mtime_ns: int
    recipe: str
    archive: ArchiveClass | None
    known_hash: bytes = b""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A file's rows, with the two texts that each of its chunks is embedded from."""

    rows: PackedFile
    texts: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The file was touched, its content is the same."""

    path: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Rejected:
    """The file cannot be indexed; the reason is shown by `status`. `may_pass`: later it may be the same file again."""

    path: str
    reason: str
    may_pass: bool = False


Outcome = Prepared | Unchanged | Rejected


def prepare(job: Job) -> Outcome:
    """Read and parse one file; a file that cannot be read is an outcome, not an error."""
    try:
        data = job.location.read_bytes()
    except FileNotFoundError:
        return Rejected(job.path, "vanished while it was being indexed")
    except OSError as error:
        return Rejected(job.path, f"unreadable: {error.strerror or error}", may_pass=True)
    content_hash = hashlib.blake2b(data, digest_size=_HASH_BYTES).digest()
    if content_hash == job.known_hash:
        return Unchanged(job.path, job.size, job.mtime_ns)
    parsed = parse_file(job.path, data)
    if not parsed.chunks and parsed.note:
        return Rejected(job.path, parsed.note)
    return _rows(job, parsed, content_hash)


def _rows(job: Job, parsed: ParsedFile, content_hash: bytes) -> Prepared:
    texts = [embedding_texts(parsed.path, parsed.language, chunk) for chunk in parsed.chunks]
    stem, directory = stem_words(parsed.path), directory_words(parsed.path)
    path_fields = (" ".join(stem), " ".join(directory))
    rows = FileRows(
        parsed=parsed,
        state=FileState(job.size, job.mtime_ns, content_hash, job.recipe),
        archive=job.archive,
        modified_at=job.mtime_ns / 1e9,
        match_keys=match_keys(parsed.path),
        path_words={word: 1 / len(stem) for word in stem},
        module_keys=module_keys(parsed.path),
        keywords=[_keyword_fields(chunk, *path_fields) for chunk in parsed.chunks],
        text_hashes=[_hash_texts(*pair) for pair in texts],
    )
    return Prepared(pack_rows(rows), texts)


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
    return hashlib.blake2b(f"{context}\0{full}".encode(errors="surrogatepass"), digest_size=_HASH_BYTES).digest()
