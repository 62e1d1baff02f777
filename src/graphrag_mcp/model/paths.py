"""The `paths` of a scope: folders, files and globs as a user writes them, and the indexed files that they choose.

They are kept as the globs of a .gitignore, with `!` before those that leave files out. An entry that exists as it is
written means that file or folder; any other is a glob, whose name without a slash matches in every folder. What `!`
names is left out wherever it is in the list.
"""

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

from msgspec import Struct

from graphrag_mcp.errors import RequestError, quoted
from graphrag_mcp.model.scope import normalise_entry

GlobCompiler = Callable[[Sequence[str], str], Callable[[str], bool]]  # Of globs, and the argument that has them.

_ARGUMENT = "paths"
_SPECIAL = re.compile(r"([*?\[\]\\!# ])")
NOWHERE = "/"  # The path of no file.


def normalise_paths(entries: Sequence[str], root: Path) -> tuple[str, ...]:
    """Return the entries as globs below the root; none when they choose every file.

    Reads the disk to see which entries exist. Raises RequestError for an entry outside the root, or without a name.
    """
    globs = [_glob(entry, root) for entry in entries]
    left_out = [glob for glob in globs if glob.startswith("!")]
    chosen = [] if "" in globs else [glob for glob in globs if not glob.startswith("!")]
    return tuple(dict.fromkeys([*chosen, *left_out]))


def _glob(entry: str, root: Path) -> str:
    """Return an entry as a glob, "" for the root itself."""
    sign = "!" if entry.startswith("!") else ""
    path = normalise_entry(entry.removeprefix("!"), root) if entry.strip("! ") else "./"
    if path is None:
        raise RequestError(_ARGUMENT, f"{_ARGUMENT}: {quoted(entry)} is outside the project root; give a path below it")
    anchored, path = path.startswith("./"), path.removeprefix("./")
    name = path.rstrip("/")
    if not name:
        if sign or not entry.strip():
            raise RequestError(_ARGUMENT, f"{_ARGUMENT}: {quoted(entry)} names no file; give a folder, file or glob")
        return ""
    if os.path.lexists(root / name):
        anchored = anchored or not sign  # `!vendor` leaves out every folder of that name, as in .gitignore.
        path = _SPECIAL.sub(r"\\\1", path)
    return f"{sign}{'/' if anchored else ''}{path}"


class PathCover(Struct, frozen=True):
    """Files as they are named to a server: with the folders that contain them and no others.

    is_inside: whether these are the files to search, or those to leave out.
    """

    folders: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    is_inside: bool = False


EVERY_PATH = PathCover()


class ChosenPaths:
    """The indexed files that globs choose."""

    def __init__(self, globs: Sequence[str], paths: Sequence[str], compile_globs: GlobCompiler) -> None:
        """paths: of all indexed files, relative to the root."""
        included = [glob for glob in globs if not glob.startswith("!")]
        is_included = compile_globs(included, "paths") if included else lambda _: True
        is_left_out = compile_globs([glob.removeprefix("!") for glob in globs if glob.startswith("!")], "paths")
        names = [path if path.isascii() else unicodedata.normalize("NFC", path) for path in paths]
        self._paths = paths
        self.is_inside = [is_included(name) and not is_left_out(name) for name in names]
        self.unmatched = next((glob for glob in included if not any(map(compile_globs([glob], "paths"), names))), "")

    @property
    def is_empty(self) -> bool:
        return not any(self.is_inside)

    @cached_property
    def cover(self) -> PathCover:
        """The shorter of two lists: of the files that are chosen, or of those that are not.

        A folder stands for its files where all of them are in the list: 5,000 test files take a name each, a folder
        with as many takes one.
        """
        if self.is_empty:
            return PathCover(files=(NOWHERE,), is_inside=True)
        inside, outside = (self._cover(is_inside=which) for which in (True, False))
        return min(outside, inside, key=lambda cover: len(cover.folders) + len(cover.files))

    def _cover(self, *, is_inside: bool) -> PathCover:
        mixed: Counter[str] = Counter()  # Files of the other kind in each folder.
        for path, inside in zip(self._paths, self.is_inside, strict=True):
            if inside is not is_inside:
                mixed.update(folders(path)[:-1])
        found_folders: dict[str, None] = {}
        found_files: list[str] = []
        for path, inside in zip(self._paths, self.is_inside, strict=True):
            if inside is is_inside:
                *above, _ = folders(path)
                whole = next((folder for folder in above if not mixed[folder]), "")
                if whole:
                    found_folders[whole] = None
                else:
                    found_files.append(path)
        return PathCover(tuple(found_folders), tuple(found_files), is_inside)


def folders(path: str) -> list[str]:
    """Return every folder above a path, outermost first, and the path itself."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]


def printable(path: str) -> str:
    """Show the bytes that are not UTF-8 as `\\xff`; the surrogates that Python has for them are no text."""
    return path.encode(errors="surrogateescape").decode(errors="backslashreplace")
