"""Where indexes are: outside the repository, shared by its work trees; those of this user, and their removal."""

import hashlib
import os
import re
import secrets
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import platformdirs
from filelock import FileLock
from msgspec import Struct

from graphrag_mcp.model.paths import printable
from graphrag_mcp.stores.sqlite.schema import SCHEMA_VERSION
from graphrag_mcp.stores.sqlite.unusable import remove_unless_open
from graphrag_mcp.system.git_dirs import find_common_folder, find_work_tree

_START = "//"  # No resolved path contains it.
_FOLDER = re.compile(r".+-[0-9a-f]{12}")


class IndexPaths:
    """The files of one tree's index."""

    def __init__(self, root: Path, data_dir: str, start: str = "") -> None:
        """root: resolved. data_dir: "" for the user's own data folder. start: the subfolder that is indexed, or ""."""
        repository = _repository(root)
        self.folder = data_folder(data_dir) / f"{repository.name or 'root'}-{_digest(os.fspath(repository))}"
        self.tree = printable(os.fspath(root)) + (_START + start if start else "")
        self.file = self.folder / f"index-{SCHEMA_VERSION}.sqlite"
        self.models = self.folder / "models"
        self.replace_lock = self.folder / "replace.lock"
        self.quarantine = self.folder / f"quarantine-{_digest(self.tree)}.json"
        self.hooks = self.folder / f"hooks-{_digest(self.tree)}.json"
        # Each format has its own file: an older version of the package may run for weeks.
        self.write_lock = self.folder / f"write-{SCHEMA_VERSION}-{_digest(self.tree)}.lock"
        self.sync_lock = self.folder / f"sync-{_digest(self.tree)}.lock"

    def project_id(self, *, create: bool = True) -> str:
        """Return the id that tells this folder from others of its name; "" where there is none and none can be made."""
        file = self.folder / f"project-{_digest(self.tree)}"
        with suppress(OSError):
            if create:
                self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                with FileLock(f"{file}.lock", mode=0o600):
                    if not file.exists() or not file.read_text():
                        file.write_text(secrets.token_hex(4))
            return file.read_text()
        return ""

    @property
    def size(self) -> int:
        """The bytes of the index file and its log."""
        return sum(part.stat().st_size for part in self.folder.glob(f"{self.file.name}*"))


def data_folder(data_dir: str) -> Path:
    """Return the folder of all indexes. data_dir: "" for the user's own data folder."""
    return Path(data_dir).expanduser() if data_dir else platformdirs.user_data_path("graphrag-mcp")


def root_of(tree: str) -> str:
    """Return the root of a tree, without the subfolder that is indexed."""
    return tree.partition(_START)[0]


def is_gone(tree: str) -> bool:
    """Return whether the root of a tree was removed: the folder is missing, but not the disk that it was on."""
    name = root_of(tree)
    if "\\x" in name:  # It is an escaped byte that is not UTF-8 or a literal `\x`, so the folder is ambiguous.
        return False
    root = Path(name)
    return not root.exists() and root.parent.exists()


def _repository(root: Path) -> Path:
    """Return the folder that all work trees of a repository share; the root itself outside of a repository."""
    top = find_work_tree(root)
    common = find_common_folder(top) if top is not None else None
    if common is None:
        return root
    common = common.resolve()
    return common.parent if common.name == ".git" else common


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(errors="surrogateescape"), digest_size=6).hexdigest()


class KnownIndex(Struct, frozen=True):
    """The folder of an index.

    projects: the folders that it is of, none where it cannot be read. size: in bytes. used_at: seconds since 1970.
    is_orphan: whether all of them are gone, so that nothing will use it again.
    """

    folder: str
    projects: tuple[str, ...]
    size: int
    used_at: float
    is_orphan: bool


def known_indexes(data: Path) -> Iterator[KnownIndex]:
    """Yield the indexes below a data folder, in the order of their names. Raises OSError."""
    folders = (folder for folder in sorted(data.iterdir()) if _FOLDER.fullmatch(folder.name)) if data.is_dir() else ()
    for folder in folders:
        files = [] if folder.is_symlink() else [file.stat() for file in folder.glob("index-*.sqlite")]
        if files:
            used_at = max(time for file in files for time in (file.st_mtime, file.st_atime))  # Before it is read.
            size = sum(part.stat().st_size for part in folder.rglob("*") if part.is_file())
            trees = _trees(folder / f"index-{SCHEMA_VERSION}.sqlite")
            is_orphan = bool(trees) and all(map(is_gone, trees))
            yield KnownIndex(str(folder), tuple(dict.fromkeys(map(root_of, trees))), size, used_at, is_orphan)


def remove_index(index: KnownIndex) -> bool:
    """Remove the folder of an index; return False where a process has it open. Raises OSError."""
    if not all(map(remove_unless_open, Path(index.folder).glob("index-*.sqlite"))):
        return False
    shutil.rmtree(index.folder)
    return True


def _trees(file: Path) -> list[str]:
    """Return the roots of the trees in an index file, none where it cannot be read."""
    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True, timeout=0)) as connection:
            return [root for (root,) in connection.execute("SELECT DISTINCT root FROM trees ORDER BY root")]
    except sqlite3.Error:
        return []
