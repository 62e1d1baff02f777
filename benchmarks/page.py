"""Measure the page of `graphrag-mcp ui` in a browser: its first paint, and how soon results stand there while typing.

    python -m benchmarks.page --root FOLDER [--runs N]

The index is where GRAPHRAG_DATA_DIR says, and is completed first. Each run opens the page in a fresh context, so that
nothing is cached. Queries are typed a key at a time, slowly enough that every key can be answered. "typed" counts from
the key to the painted results, with the page's debounce; "asked" from the request, without it; "search" is what the
server says of its part. The browser is found as the tests find it: `make test-ui` gets one.
"""

import argparse
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.figures import add_option, write_rows
from tests.serving.get_browser import find_chromium

KEY_MS = 400  # Between two keys.
QUERIES = (
    "where is the sparse matrix multiplied",
    "how are tokens padded",
    "read a csv file with dates",
    "DataFrame.groupby",
    "gradient descent step",
    "html formatter of tokens",
    "shortest path between nodes",
    "parse the configuration",
)
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"
SEARCHES = "performance.getEntriesByName('asked-to-results').map(one => one.detail)"
SHIFT = """new Promise(done => new PerformanceObserver(list => done(list.getEntries()
    .reduce((sum, one) => sum + (one.hadRecentInput ? 0 : one.value), 0)))
    .observe({type: 'layout-shift', buffered: true}) ?? setTimeout(() => done(0), 300))"""


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the page.")
    parser.add_argument(
        "--root", type=Path, required=True, help="folder of any repository; of 100,000 chunks to report"
    )
    parser.add_argument("--runs", type=int, default=11, help="how often the page is opened")
    add_option(parser)
    options = parser.parse_args()
    command = [sys.executable, "-m", "graphrag_mcp", "ui", "--root", str(options.root), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server, sync_playwright() as playwright:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        browser = playwright.chromium.launch(executable_path=find_chromium() or None, args=["--no-sandbox"])
        tab = open_page(browser, url)
        tab.wait_for_selector("#state[data-state=ready]", timeout=1_800_000)
        print(f"index: {tab.locator('#state .words').inner_text()}")
        paints = [paint(browser, url) for _ in range(options.runs)]
        report("first contentful paint, nothing cached", paints, options.figures)
        type_queries(tab)
        for name in ("typed-to-results", "asked-to-results"):
            report(name, durations(tab, name), options.figures)
        report("search", tab.evaluate(SEARCHES), options.figures)
        print(f"layout shift of the opened page: {tab.evaluate(SHIFT):.3f}")
        browser.close()
        server.terminate()


def open_page(browser: Browser, url: str) -> Page:
    tab = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    tab.goto(url)
    return tab


def paint(browser: Browser, url: str) -> float:
    tab = open_page(browser, url)
    tab.wait_for_function(f"{PAINT} !== null")
    milliseconds = float(tab.evaluate(PAINT))
    tab.context.close()
    return milliseconds


def type_queries(tab: Page) -> None:
    box = tab.locator("#query")
    for query in ("warm the matrix up", *QUERIES):
        if query == QUERIES[0]:
            tab.evaluate("performance.clearMeasures()")
        box.fill("")
        box.press_sequentially(query, delay=KEY_MS)
        tab.wait_for_timeout(800)


def durations(tab: Page, name: str) -> list[float]:
    times: list[float] = tab.evaluate("name => performance.getEntriesByName(name).map(one => one.duration)", name)
    return times


def report(name: str, times: Sequence[float], figures: str | None) -> None:
    ordered = sorted(times)
    late = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    print(f"{name}: p50 {statistics.median(ordered):.0f} ms, p95 {late:.0f} ms ({len(ordered)} times)")
    write_rows(figures, {name: {"p50": f"{statistics.median(ordered):.0f}", "p95": f"{late:.0f}"}})


if __name__ == "__main__":
    main()
