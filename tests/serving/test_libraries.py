"""The page's libraries: pinned, checked, taken from the registry that npm is told to use, and only when missing."""

import base64
import hashlib
import io
import tarfile
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from hatch_build import ARCHIVES, FOLDER, Archive, Wanted, extract, is_complete

ROOT = Path(__file__).parents[2]
SCRIPT = b"export default 1;\n"


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A registry with one package, `little`, in version 1.0.0."""
    folder = tmp_path / "registry" / "little" / "-"
    folder.mkdir(parents=True)
    with tarfile.open(folder / "little-1.0.0.tgz", "w:gz") as packed:
        member = tarfile.TarInfo("package/dist/little.js")
        member.size = len(SCRIPT)
        packed.addfile(member, io.BytesIO(SCRIPT))
    handler = partial(_Silent, directory=str(tmp_path / "registry"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        monkeypatch.setenv("npm_config_registry", f"http://127.0.0.1:{server.server_port}/")
        yield folder / "little-1.0.0.tgz"
        server.shutdown()


class _Silent(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _archive(packed: Path) -> Archive:
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(packed.read_bytes()).digest()).decode()
    wanted = Wanted("dist/little.js", "little.js", hashlib.sha256(SCRIPT).hexdigest())
    return Archive("little", "1.0.0", integrity, (wanted,))


def test_only_the_wanted_files_are_extracted(registry: Path, tmp_path: Path) -> None:
    """Under the names that the page knows."""
    archive = _archive(registry)
    assert not is_complete(archive, tmp_path / "vendor")
    extract(archive, tmp_path / "vendor")
    assert is_complete(archive, tmp_path / "vendor")
    assert [path.name for path in (tmp_path / "vendor").iterdir()] == ["little.js"]


def test_another_archive_than_was_pinned_is_refused(registry: Path, tmp_path: Path) -> None:
    """Before anything of it is unpacked."""
    archive = _archive(registry)
    registry.write_bytes(registry.read_bytes() + b"\0")
    with pytest.raises(SystemExit, match=r"little 1\.0\.0 from .* is not what was pinned"):
        extract(archive, tmp_path / "vendor")
    assert not (tmp_path / "vendor").exists()


def test_a_file_that_the_archive_lacks_is_said(registry: Path, tmp_path: Path) -> None:
    """In one sentence."""
    lacking = _archive(registry)._replace(files=(Wanted("dist/other.js", "other.js", ""),))
    with pytest.raises(SystemExit, match=r"little 1\.0\.0 has no dist/other\.js; correct hatch_build\.py"):
        extract(lacking, tmp_path)


def test_a_registry_that_cannot_be_reached_is_said_with_the_next_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one sentence."""
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9")
    with pytest.raises(SystemExit, match=r"cannot be downloaded .* set npm_config_registry to a registry") as failure:
        extract(ARCHIVES[0], tmp_path)
    assert "\n" not in str(failure.value)


def test_a_changed_file_is_not_complete(registry: Path, tmp_path: Path) -> None:
    """So that the next build takes it anew."""
    archive = _archive(registry)
    extract(archive, tmp_path)
    (tmp_path / "little.js").write_text("changed")
    assert not is_complete(archive, tmp_path)


def test_this_installation_has_the_libraries() -> None:
    """The editable installation fetched them, and git does not know them."""
    assert all(is_complete(archive, ROOT / FOLDER) for archive in ARCHIVES)
    assert f"{FOLDER.as_posix()}/" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
