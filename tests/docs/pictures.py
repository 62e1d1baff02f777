"""Makes the pictures of docs/page.md from this very repository.

    python -m tests.docs.pictures

The browser is found as the tests find it: `make test-ui` gets one. Where a Pillow is installed, colours are reduced to
256, which halves the files.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.ui.get_browser import find_chromium

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "pictures"
LARGEST = 150_000
SIZE = {"width": 1280, "height": 760}
PICTURES = {
    "search": ("light", "#/search?q=how are results fused"),
    "score": ("dark", "#/search?q=fuse_rrf&tab=score"),
    "graph": ("light", "#/graph?symbol=fuse_rrf"),
    "index": ("dark", "#/index"),
    "recency": ("light", "#/recency"),
    "compare": ("dark", '#/compare?q=how are results fused&right={"fusion_algorithm":"rrf","prior_tests":1}'),
}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with running() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium() or None, args=["--no-sandbox"])
        for name, (theme, address) in PICTURES.items():
            tab = browser.new_context(color_scheme=theme, viewport=SIZE).new_page()
            tab.goto(url)
            tab.wait_for_selector("#state[data-state=ready]", timeout=120_000)
            take(tab, address, FOLDER / f"{name}.png")
        browser.close()


@contextmanager
def running() -> Iterator[str]:
    """Serve this repository's files that git knows, with an index of their own, and yield the address."""
    with tempfile.TemporaryDirectory() as data:
        command = [sys.executable, "-m", "graphrag_mcp", "ui", "--root", str(ROOT), "--no-browser"]
        environment = os.environ | {"GRAPHRAG_DATA_DIR": data}
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
            assert server.stdout is not None
            yield server.stdout.readline().strip()
            server.terminate()


def take(tab: Page, address: str, path: Path) -> None:
    tab.evaluate("address => { location.hash = address; document.activeElement.blur(); }", address)
    tab.wait_for_load_state("networkidle")
    tab.wait_for_timeout(800)
    # Whose clone it is says nothing about the page.
    tab.evaluate("document.querySelector('.brand span').textContent = 'graphrag-mcp'")
    tab.screenshot(path=path)
    with suppress(ImportError):
        from PIL import Image

        Image.open(path).quantize(256, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(path, optimize=True)
    if path.stat().st_size > LARGEST:
        sys.exit(f"{path.name} has {path.stat().st_size:,} bytes, {LARGEST:,} are allowed; make it show less")


if __name__ == "__main__":
    main()
