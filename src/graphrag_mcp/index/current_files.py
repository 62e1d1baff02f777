"""The indexed files as they are on disk now, for questions that must not miss an occurrence."""

import codecs
import os
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from graphrag_mcp.grep.needles import Required
from graphrag_mcp.grep.occurrences import ReadFile
from graphrag_mcp.grep.signatures import Signatures, Stamp, stamp_of
from graphrag_mcp.index.freshness import has_time_of
from graphrag_mcp.ingest.prepare import RECENT_NS, hash_content
from graphrag_mcp.model.files import Symbol
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.parsing.parser import PARSER_VERSION
from graphrag_mcp.search.filters import check_paths
from graphrag_mcp.stores.sqlite.catalog import FileState, IndexedFile, SqliteCatalog
from graphrag_mcp.system.safe_files import FilesBelow
from graphrag_mcp.text.source import MASKED, WIDE_MARKS, NotText, decode, read_text

KEPT_BYTES = 64_000_000  # Of masked texts: a repository of 18,000 files has 18 million in files with secrets.

_MARKS = (codecs.BOM_UTF8, *WIDE_MARKS)
_THIS_PARSER = f"{PARSER_VERSION}."  # The beginning of the recipes of its files.


class MaskedTexts:
    """Caches the masked texts of recently read files: masking takes longer than all other steps.

    Safe to use from several threads at once.
    """

    def __init__(self) -> None:
        self._texts: dict[bytes, bytes] = {}  # By hash of the content, the oldest first.
        self._size = 0
        self._guard = threading.Lock()

    def text_of(self, data: bytes) -> bytes | None:
        """Return the UTF-8 of the masked text of a file; None if it is not text."""
        key = hash_content(data)
        with self._guard:
            if key in self._texts:
                return self._texts[key]
        text = read_text(data)
        if isinstance(text, NotText):
            return None
        masked = text.text.encode()
        with self._guard:
            self._keep(key, masked)
        return masked

    def _keep(self, key: bytes, text: bytes) -> None:
        if key in self._texts:
            return
        self._texts[key] = text
        self._size += len(text)
        while self._size > KEPT_BYTES:
            self._size -= len(self._texts.pop(next(iter(self._texts))))


@dataclass(frozen=True, slots=True)
class CurrentFiles:
    """The files of one commit of the index, with what earlier questions have learnt of their contents."""

    root: Path
    catalog: SqliteCatalog
    masked: MaskedTexts
    signatures: Signatures
    max_bytes: int

    def listed(self, scope: Scope) -> Sequence[IndexedFile]:
        """Return the files of a scope in the order of their paths. Raises RequestError for a path without files."""
        check_paths(scope, self.catalog)
        return self.catalog.listed(scope)

    def definitions(self, file_ids: Collection[int]) -> Mapping[int, Sequence[Symbol]]:
        """Return the definitions of files by file id, in the order of their lines."""
        return self.catalog.definitions(file_ids)

    def read(self, paths: Sequence[str], required: Required = ()) -> Iterator[ReadFile]:
        """Yield the current contents of files, in their order, without those that lack something which is required.

        One is left out without reading it only while its size and time are those that it had when it was last read.
        Only files in which the index found no secret, and that have not changed since, are not masked again.
        """
        lacking = self.signatures.without(required)
        clean = self.catalog.states_without(MASKED)
        folder = f"{self.root}/"
        with FilesBelow(self.root) as files:
            for path in paths:
                if path in lacking and _has_stamp(folder + path, lacking[path]):
                    continue
                try:
                    data, status = files.read(path, self.max_bytes)
                except OSError:
                    yield ReadFile(path, None)
                    continue
                is_clean = path in clean and _is_same(data, status, clean[path])
                searched = _decoded(data) if is_clean else self.masked.text_of(data)
                self._learn(path, stamp_of(status), searched)
                yield ReadFile(path, searched)

    def _learn(self, path: str, stamp: Stamp, searched: bytes | None) -> None:
        """Keep the signature of what is searched, unless another write could leave the same stamp."""
        is_settled = time.time_ns() - stamp.changed_ns > RECENT_NS
        if searched is not None and is_settled and not self.signatures.has(path, stamp):
            self.signatures.keep(path, stamp, searched)


def _decoded(data: bytes) -> bytes | None:
    """Return the UTF-8 of the text of a file; None if it is not text. Most files are that already."""
    if b"\r" not in data and not data.startswith(_MARKS) and (data.isascii() or _is_utf8(data)):
        return data
    text = decode(data)
    return None if isinstance(text, NotText) else text.text.encode()


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _has_stamp(file: str, stamp: Stamp) -> bool:
    try:
        return stamp_of(os.lstat(file)) == stamp
    except OSError:
        return False


def _is_same(data: bytes, status: os.stat_result, state: FileState) -> bool:
    """Return whether these bytes are what this version of the program indexed. status: of the file after reading."""
    if not state.recipe.startswith(_THIS_PARSER) or len(data) != state.size:
        return False
    return has_time_of(status, state) or hash_content(data) == state.content_hash
