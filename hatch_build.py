"""Puts the page's three libraries where the wheel takes them from: fetched from npm, pinned, checked, never committed.

Runs before wheels, sdists and editable installs. What is there already with the right hashes is kept, so a wheel builds
from an sdist without a network.
"""

import base64
import hashlib
import io
import os
import tarfile
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = Path("src", "graphrag_mcp", "serving", "static", "vendor")
REGISTRY = "https://registry.npmjs.org"
TIMEOUT_SECONDS = 60


class Wanted(NamedTuple):
    """A file of a package, the name that it gets here, and its SHA-256."""

    member: str
    name: str
    sha256: str


class Archive(NamedTuple):
    """A package of npm: its version, npm's own hash of the archive, and the files that are wanted of it."""

    name: str
    version: str
    integrity: str
    files: Sequence[Wanted]


ARCHIVES = (
    Archive(
        "@highlightjs/cdn-assets",
        "11.12.0",
        "sha512-KvOKXODaiFmId9xaq3xc5xCL66wVLUuOngDbO9B/kewbFTqdGbn2nJxNhN3H5R1cgDTVj6R8vH0zgiNDEGjpDw==",
        (
            Wanted(
                "es/highlight.min.js",
                "highlight.js",
                "1ed8fc5256b738b8875b74e4d3f0754f60d6411fb034d618dfbc4e6e6c9999d7",
            ),
            Wanted("LICENSE", "highlight.LICENSE", "6c081431591d9df696c82dc598fe1423765b8a299b200ed00b281afd0f64c490"),
        ),
    ),
    Archive(
        "cytoscape",
        "3.34.4",
        "sha512-msY99tMY8iWTg+sIPGfSqDcPNOt4xcj+v/K/7qUFaCUxxlqnMkUYLBjRUzn9W5CU/R2hrmtJa5+UtovrEM2ctg==",
        (
            Wanted(
                "dist/cytoscape.esm.min.mjs",
                "cytoscape.js",
                "0d7e373a706f0f01d6fb7a6ccf04988c01307cee1c2f9bcc7b068e9f6b431e3f",
            ),
            Wanted("LICENSE", "cytoscape.LICENSE", "eb319c6e6f233607f71e8e2f450391751883cfc0eeb3ca7ef574c13d1d9c2203"),
        ),
    ),
    Archive(
        "tabulator-tables",
        "6.5.3",
        "sha512-nJ2QaqZzQvd9B4rf4LBnRxfb6sSqA/BX2OsXnSJ2d8k21oXDSTtFtOUrDap04a/6BDGivC/MByCxy43ugadJIg==",
        (
            Wanted(
                "dist/js/tabulator_esm.min.js",
                "tabulator.js",
                "cbb80c1276155615f9c3fe99a040e70fe102b4bd209b78694d258ecb4fdf8581",
            ),
            Wanted(
                "dist/css/tabulator_simple.min.css",
                "tabulator.css",
                "edef8839235a4b6a8c3dc391ec93f2ce1bc633dd5270a5f990753b6f9183d32b",
            ),
            Wanted("LICENSE", "tabulator.LICENSE", "191a2ee554684e1064c897b432f0e1bc6dfa714ca045d3f6ea2cf692cbd398b7"),
        ),
    ),
)


class VendorHook(BuildHookInterface):  # type: ignore[type-arg]
    """Called by hatchling."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - hatchling's signature
        """Fetch what is missing before the files of the build are collected."""
        folder = Path(self.root) / FOLDER
        for archive in ARCHIVES:
            if not is_complete(archive, folder):
                extract(archive, folder)


def is_complete(archive: Archive, folder: Path) -> bool:
    """Tell whether the files of an archive are there, and are what was pinned."""
    try:
        return all(hashlib.sha256((folder / one.name).read_bytes()).hexdigest() == one.sha256 for one in archive.files)
    except OSError:
        return False


def extract(archive: Archive, folder: Path) -> None:
    """Download an archive, check its hash, and write the files that are wanted.

    Raises SystemExit with one sentence when the registry cannot be reached or sends something else.
    """
    content = _download(archive)
    found = "sha512-" + base64.b64encode(hashlib.sha512(content).digest()).decode()
    if found != archive.integrity:
        raise SystemExit(
            f"{archive.name} {archive.version} from {_registry()} is not what was pinned ({found}); "
            "set npm_config_registry to a registry that can be trusted"
        )
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(content)) as packed:
        for one in archive.files:
            try:
                file = packed.extractfile(f"package/{one.member}")
            except KeyError:
                file = None
            if file is None:
                raise SystemExit(f"{archive.name} {archive.version} has no {one.member}; correct hatch_build.py")
            (folder / one.name).write_bytes(file.read())
    if not is_complete(archive, folder):
        raise SystemExit(f"{archive.name} {archive.version} holds other files than were pinned; correct hatch_build.py")


def _download(archive: Archive) -> bytes:
    url = f"{_registry()}/{archive.name}/-/{archive.name.rpartition('/')[2]}-{archive.version}.tgz"
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as answer:  # noqa: S310 - of the user's registry
            content: bytes = answer.read()
            return content
    except (OSError, ValueError) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise SystemExit(
            f"{url}, which the page of `graphrag-mcp ui` needs, cannot be downloaded ({reason}); go online, set "
            "npm_config_registry to a registry that can be reached, or install a built wheel, which has it"
        ) from None


def _registry() -> str:
    return os.environ.get("npm_config_registry", "").rstrip("/") or REGISTRY  # noqa: SIM112 - npm's own spelling
