"""Which files a search may see, and the match keys that `excluded_files` and the paths of files are turned into.

A file is excluded if the two sets have a common key, which every store can decide itself. A key is one of

    ./docs/api.md   this file           api.md   a file of this name in any folder
    ./docs/api/     whatever its        api/     the same
                    extension

(no file's name ends in a slash, so the two kinds cannot be confused). Names are literal and case-sensitive.
"""

import os
import posixpath
import unicodedata
from collections.abc import Sequence
from pathlib import Path, PureWindowsPath

from msgspec import Struct

from graphrag_mcp.errors import RequestError, quoted
from graphrag_mcp.model.files import Category
from graphrag_mcp.text.counts import counted
from graphrag_mcp.text.source import is_utf8


class Scope(Struct, frozen=True):
    """Which files a search may see; applied inside every store, never afterwards.

    excluded_keys: match keys of the files to leave out (see `match_keys`); always wins.
    include_patterns: gitignore globs of archived files to include; no other effect.
    categories, languages: empty means all. paths: globs of `normalise_paths`, empty means all.
    """

    excluded_keys: frozenset[str] = frozenset()
    exclude_archived: bool = True
    include_patterns: tuple[str, ...] = ()
    categories: frozenset[Category] = frozenset()
    languages: frozenset[str] = frozenset()
    paths: tuple[str, ...] = ()


DEFAULT_SCOPE = Scope()
EVERYTHING = Scope(exclude_archived=False)

_ARGUMENT = "excluded_files"
SHOWN_WARNINGS = 5


def match_keys(path: str) -> frozenset[str]:
    """Return every key under which a file, relative to the root with forward slashes, can be excluded."""
    path = unicodedata.normalize("NFC", path)
    name = path[path.rfind("/") + 1 :]
    anchored = f"./{path}"
    return frozenset((_exact_key(anchored), _stem_key(anchored), _exact_key(name), _stem_key(name)))


def normalise_excluded_files(entries: Sequence[str], root: Path) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the keys of the entries, and a warning for each entry that cannot name a file of the project.

    An entry is a bare name (in any folder), a path relative to the root, or an absolute path. `./x` and `/x` stand for
    x in the root itself. Code extensions must match; all extensions of documents, and none, count as equal; an entry
    without an extension matches any. Raises RequestError for a blank entry.
    """
    keys: set[str] = set()
    warnings: list[str] = []
    for entry in entries:
        if not entry.strip():
            advice = "give a file name, or a path relative to the root or absolute"
            raise RequestError(_ARGUMENT, f"{_ARGUMENT}: {quoted(entry)} is blank; {advice}")
        path = normalise_entry(entry, root)
        if path is None:
            warnings.append(f"{_ARGUMENT}: {quoted(entry)} is outside the project root; it excludes nothing")
        elif path.endswith("/"):
            warnings.append(f"{_ARGUMENT}: {quoted(entry)} is a folder; it excludes nothing, list the files")
        elif not is_utf8(path):
            reason = "is not UTF-8; it excludes nothing, such files are never indexed"
            warnings.append(f"{_ARGUMENT}: {quoted(entry)} {reason}")
        else:
            keys |= _entry_keys(path)
    if len(warnings) > SHOWN_WARNINGS:
        more = len(warnings) - SHOWN_WARNINGS
        warnings[SHOWN_WARNINGS:] = [f"{_ARGUMENT}: the same holds for {counted(more, 'more entry', 'more entries')}"]
    return frozenset(keys), tuple(warnings)


def normalise_entry(entry: str, root: Path, *, windows: bool = os.name == "nt") -> str | None:
    """Return `name`, `./path/of/a/file` or, for a folder, one of these with a slash at its end; None outside the root.

    Idempotent. Reads the disk only for absolute paths, to resolve symlinks.
    """
    entry = unicodedata.normalize("NFC", entry)
    if windows:
        entry = entry.replace("\\", "/")
    is_absolute = entry.startswith("/") or (windows and PureWindowsPath(entry).is_absolute())
    relative = _relative_to_root(entry, root) if is_absolute else entry
    if relative is None:
        return None
    path = posixpath.normpath(relative)
    if path == ".." or path.startswith("../"):
        return None
    if path == ".":
        return "./"
    anchor = "./" if "/" in relative.rstrip("/") else ""
    return f"{anchor}{path}{'/' if relative.endswith('/') else ''}"


def _relative_to_root(entry: str, root: Path) -> str | None:
    """Return an absolute entry as `./path`, None if it lies outside the root.

    A path outside the root such as `/x/y` means x/y in the root, unless `/x` exists and the root has no `x`.
    """
    try:
        real_root, real_entry = os.path.realpath(root), os.path.realpath(entry)
    except (OSError, ValueError):  # A NUL, an unpaired surrogate, or a missing permission.
        return None
    if os.path.commonpath([real_root, real_entry]) == real_root:
        inside = unicodedata.normalize("NFC", Path(real_entry).relative_to(real_root).as_posix())
        return f"./{inside}{'/' if entry.endswith('/') else ''}"
    first = entry.lstrip("/").partition("/")[0]
    if os.path.lexists(f"/{first}") and not os.path.lexists(root / first):
        return None
    return f".{entry}" if entry.startswith("/") else None


def _entry_keys(path: str) -> set[str]:
    extension = posixpath.splitext(path)[1]
    # `.v2` is not a known extension, so `api.v2` matches `api.v2.md` too.
    return {_exact_key(path)} if extension in _KNOWN_EXTENSIONS else {_exact_key(path), f"{path}/"}


def _exact_key(path: str) -> str:
    stem, extension = posixpath.splitext(path)
    return f"{stem}.md" if not extension or extension in _DOCUMENT_EXTENSIONS else path


def _stem_key(path: str) -> str:
    return f"{posixpath.splitext(path)[0]}/"


_DOCUMENT_EXTENSIONS = frozenset({".md", ".markdown", ".mdx", ".rst", ".txt"})
_CODE_FILES = """
py pyi pyx ipynb js jsx mjs cjs ts tsx mts cts vue svelte astro go rs java kt kts scala groovy gradle
c h cc cpp cxx hh hpp hxx inl ino m mm cs fs fsx vb rb erb rake gemspec php phtml pl pm swift
sh bash zsh fish ps1 bat cmd lua ex exs erl hrl elm hs lhs ml mli clj cljs cljc edn zig nim cr d dart r jl
asm s v sv vhd vhdl sol proto thrift graphql gql sql tf hcl nix cmake mk
html htm xhtml css scss sass less styl xml xsl xsd svg json jsonc json5 jsonl yaml yml toml ini cfg conf properties
csv tsv lock log tex bib adoc org
"""
_KNOWN_EXTENSIONS = _DOCUMENT_EXTENSIONS | {f".{extension}" for extension in _CODE_FILES.split()}
