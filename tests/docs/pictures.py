"""Makes the pictures of docs/page.md from this very repository.

    python -m tests.docs.pictures

`make pictures` gets the browser first. Where a Pillow is installed, colours are reduced to 256, which halves the files.
What each picture shows is written down, so that a test can tell when that is no longer so.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

from playwright.sync_api import Page, ViewportSize, sync_playwright

from tests.serving.get_browser import find_chromium

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "pictures"
SHOWN = Path(__file__).with_name("shown.json")  # By picture: its hash, the files that it shows, and the headings.
LARGEST = 150_000
SIZE = ViewportSize(width=1280, height=760)
PICTURES: dict[str, tuple[Literal["dark", "light"], str]] = {
    "search": ("light", "#/search?q=how are ranked lists fused"),
    "score": ("dark", "#/search?q=fuse_rrf&tab=score"),
    "graph": ("light", "#/graph?symbol=fuse_rrf"),
    "symbol": ("dark", "#/symbol?symbol=find_neighbourhood"),
    "flow": ("light", "#/flow?from=_rank_phrasing&to=fuse_relative"),
}


# How many files there are, and how long a search took, is false of the next version and of any other machine.
HIDE_FIGURES = r"""() => {
    document.querySelector('#state .words').textContent = 'ready';
    for (const place of document.querySelectorAll('[role=status]')) {
        for (const node of place.childNodes) node.textContent = node.textContent.replace(/ · \d+ ms/, '');
    }
}"""


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    shown: dict[str, dict[str, object]] = {}
    with running() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium() or None, args=["--no-sandbox"])
        for name, (theme, address) in PICTURES.items():
            tab = browser.new_context(color_scheme=theme, viewport=SIZE).new_page()
            tab.goto(url)
            tab.wait_for_selector("#state[data-state=ready]", timeout=300_000)
            shown[name] = take(tab, address, FOLDER / f"{name}.png")
        browser.close()
    SHOWN.write_text(json.dumps(shown, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


@contextmanager
def running() -> Iterator[str]:
    """Serve this repository's files that git knows, with an index of their own, and yield the address."""
    with tempfile.TemporaryDirectory() as data:
        command = [sys.executable, "-m", "graphrag_mcp", "ui", "--root", str(ROOT), "--no-browser"]
        environment = os.environ | {"GRAPHRAG_DATA_DIR": data}
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
            assert server.stdout is not None
            try:
                yield server.stdout.readline().strip()
            finally:
                server.terminate()


def take(tab: Page, address: str, path: Path) -> dict[str, object]:
    """Take one picture and return what it shows."""
    tab.evaluate("address => { location.hash = address; document.activeElement.blur(); }", address)
    tab.wait_for_load_state("networkidle")
    tab.wait_for_timeout(800)
    # Whose clone it is says nothing about the page.
    tab.evaluate("document.querySelector('.brand span').textContent = 'graphrag-mcp'")
    tab.evaluate(HIDE_FIGURES)
    tab.screenshot(path=path)
    with suppress(ImportError):
        from PIL import Image

        Image.open(path).quantize(256, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(path, optimize=True)
    if path.stat().st_size > LARGEST:
        sys.exit(f"{path.name} has {path.stat().st_size:,} bytes, {LARGEST:,} are allowed; make it show less")
    text = tab.locator("main").inner_text().replace("\n", "")
    files = re.findall(r"(?:src|tests|docs|benchmarks|training)/[\w./-]+?\.(?:py|js|md)\b", text)
    headings = tab.locator("main h2, main h3, main th, main [role=tab]").all_inner_texts()
    labels = {heading.partition("\n")[0].rstrip("0123456789 ") for heading in headings if "/" not in heading}
    return {"hash": digest(path), "files": sorted(set(files)), "labels": sorted(labels - {""})}


def digest(path: Path) -> str:
    """Return what tells a picture from another version of it."""
    return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()


if __name__ == "__main__":
    main()
