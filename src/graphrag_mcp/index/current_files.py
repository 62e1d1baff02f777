"""The indexed files as they are on disk now, for questions that must not miss an occurrence."""

import os
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from graphrag_mcp.grep.needles import Required
from graphrag_mcp.grep.occurrences import Learnt, LearntFiles, ReadFile, Stamp, stamp_of
from graphrag_mcp.index.freshness import has_time_of
from graphrag_mcp.model.files import ListedFile, Symbol
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.parsing import PARSER_VERSION
from graphrag_mcp.search.filters import check_paths
from graphrag_mcp.stores.sqlite.catalog import FileState, SqliteCatalog
from graphrag_mcp.system.safe_files import RECENT_NS, FilesBelow, changed_ns, hash_content
from graphrag_mcp.text.source import MASKED, NotText, decode, read_text

_THIS_PARSER = f"{PARSER_VERSION}."  # The recipes of its files begin with this.


class CurrentFiles(Struct, frozen=True):
    """The files of one commit of the index, with what earlier questions have learnt of their contents.

    is_served: whether more questions will follow, so that trigrams are noted.
    """

    root: Path
    catalog: SqliteCatalog
    learnt: LearntFiles
    max_bytes: int
    is_served: bool

    def listed(self, scope: Scope) -> Sequence[ListedFile]:
        """Return the files of a scope in the order of their paths. Raises RequestError for a path without files."""
        check_paths(scope, self.catalog)
        return self.catalog.listed(scope)

    def definitions(self, file_ids: Collection[int]) -> Mapping[int, Sequence[Symbol]]:
        return self.catalog.definitions(file_ids)

    def read(self, paths: Sequence[str], required: Required = ()) -> Iterator[ReadFile]:
        """Yield the current contents of files, in their order, without those that lack a required text.

        A file is not opened while its size and time are those of what is remembered of it, if that is enough.
        """
        lacking = self.learnt.without(required)
        clean = self.catalog.states_without(MASKED)
        folder = f"{self.root}/"
        with FilesBelow(self.root) as files:
            for path in paths:
                if (stamp := lacking.get(path)) is not None and _has_stamp(folder + path, stamp):
                    continue
                known = self.learnt.get(path)
                if known is not None and known.text is not None and _has_stamp(folder + path, known.stamp):
                    yield path, known.text
                else:
                    yield path, self._read(files, path, known, clean.get(path))

    def _read(self, files: FilesBelow, path: str, known: Learnt | None, clean: FileState | None) -> bytes | None:
        """Return what is searched of a file; None if it cannot be read as text.

        Only a file in which the index found no secret, and that has not changed since, is not masked again. Of a file
        that was just written nothing is remembered, since another write could leave the same stamp.
        """
        try:
            data, status = files.read(path, self.max_bytes)
        except OSError:
            return None
        stamp = stamp_of(status)
        if known is not None and known.is_plain and known.stamp == stamp:
            return data
        text = decode(data) if clean is not None and _is_same(data, status, clean) else read_text(data)
        if isinstance(text, NotText):
            return None
        searched = text.text.encode()
        if time.time_ns() - changed_ns(status) > RECENT_NS and (known is None or known.stamp != stamp):
            self.learnt.learn(path, stamp, searched, is_plain=searched == data, is_signed=self.is_served)
        return searched


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
