"""The page in a real browser: its views, its keys, its looks for those who cannot see it, and what it does not run."""

import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.serving.conftest import HOSTILE_NAME
from tests.serving.get_browser import AXE
from tests.serving.running import RunningPage, running_page
from tests.waiting import wait_until

pytestmark = pytest.mark.browser

_DRAWN = "document.querySelector('.picture')._cyreg.cy"  # Where cytoscape keeps what it draws.
VIEWS = {
    "nothing asked": "#/search",
    "code": "#/search?q=refresh the session token",
    "score": "#/search?q=Session.refresh&tab=score",
    "related": "#/search?q=renew&tab=related",
    "run": "#/search?q=renew&tab=run",
    "agent": "#/search?q=renew&tab=agent",
    "archived": "#/search?q=old_session&exclude_archived=false",
    "nothing found": "#/search?q=refresh&languages=cobol",
    "graph": "#/graph?symbol=renew&hops=2",
    "no graph": "#/graph?symbol=nothing_of_that_name",
    "index": "#/index",
    "left out": "#/index?show=skipped",
    "no symbol asked": "#/symbol",
    "function": "#/symbol?symbol=renew",
    "type": "#/symbol?symbol=Session",
    "no symbol": "#/symbol?symbol=nothing_of_that_name",
    "file": "#/file?path=src/session.py&line=12",
    "document": "#/file?path=docs/sessions.md",
    "no file": "#/file?path=nowhere.py",
    "grep": "#/grep?text=token",
    "pattern": "#/grep?text=def \\w+&regex=true",
    "wrong pattern": "#/grep?text=(&regex=true",
    "impact": "#/impact?symbol=renew",
    "no impact": "#/impact",
    "flow": "#/flow?from=sign_in&to=renew",
    "no flow": "#/flow?from=renew&to=sign_in",
}


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """One browser for all tests."""
    with sync_playwright() as playwright:
        # Root, as in a container, has no sandbox; what is shown is this project's own page.
        started = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def tab(browser: Browser, page: RunningPage) -> Iterator[Page]:
    """The page, opened as the command opens it; whatever the browser complains of fails the test."""
    yield from _open(browser, page)


def _open(browser: Browser, page: RunningPage, **options: Any) -> Iterator[Page]:
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
    tab = context.new_page()
    complaints: list[str] = []
    tab.on("console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None)
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.goto(page.url)
    expect(tab.locator("#state[data-state=ready]")).to_be_visible()
    yield tab
    context.close()
    assert [text for text in complaints if "400 (Bad Request)" not in text] == []


def _show(tab: Page, address: str) -> None:
    tab.evaluate("address => { location.hash = address }", address)
    tab.wait_for_load_state("networkidle")
    if address.startswith("#/index"):
        expect(tab.locator(".tabulator-tableholder[role=rowgroup]")).to_be_visible()
    tab.wait_for_timeout(150)


def test_the_token_leaves_the_address_and_no_script_sees_the_cookie(tab: Page, page: RunningPage) -> None:
    """A reload and a copied address do without it."""
    assert page.token not in tab.url
    assert "graphrag-mcp" not in tab.evaluate("document.cookie")
    tab.reload()
    expect(tab.locator("#query")).to_be_focused()
    assert page.token not in tab.evaluate("JSON.stringify([document.referrer, history.state, {...localStorage}])")


def test_what_the_command_opens_leads_to_the_page(browser: Browser, project: Path, tmp_path: Path) -> None:
    """Once, since every user can read what a browser was started with; the printed address goes on to."""
    asked = tmp_path / "asked"
    named = tmp_path / "browser"
    named.write_text(f'#!/bin/sh\necho "$@" > {asked}.part && mv {asked}.part {asked}\n')
    named.chmod(0o755)
    with running_page(project, tmp_path, browser=str(named)) as running:
        running.wait_ready()
        address = _written(asked)
        assert running.token not in address
        tab = browser.new_page()
        tab.goto(address)
        expect(tab.locator("#state[data-state=ready]")).to_be_visible()
        tab.reload()
        expect(tab.locator("#query")).to_be_focused()
        other = browser.new_context().new_page()
        refused = other.goto(address)
        assert refused is not None and refused.status == 403
        other.goto(running.url)
        expect(other.locator("#query")).to_be_focused()
        other.context.close()
        tab.close()


def _written(path: Path) -> str:
    return wait_until(lambda: path.exists() and path.read_text().strip(), 10)


def test_results_come_while_typing(tab: Page) -> None:
    """For what was typed last, and the address says what is shown."""
    tab.locator("#query").press_sequentially("renew the to", delay=30)
    expect(tab.locator(".results > li").first).to_contain_text("renew")
    tab.locator("#query").press_sequentially("ken", delay=30)
    expect(tab).to_have_url(re.compile(r"#/search\?q=renew\+the\+token"))
    expect(tab.locator(".detail .code")).to_be_visible()
    assert tab.locator(".results mark").count() > 0


def test_what_is_typed_while_the_page_starts_stays(tab: Page) -> None:
    """The first letters were lost to whoever typed before the project's tools and settings had come."""
    held: list[Any] = []
    tab.route("**/api/project", lambda route: held.append(route))
    tab.goto(tab.url.split("#")[0] + "#/search?languages=python")
    tab.reload()
    tab.locator("#query").press_sequentially("renew the token")
    assert len(held) == 1
    held[0].continue_()
    expect(tab).to_have_url(re.compile(r"#/search\?q=renew\+the\+token&languages=python$"))
    expect(tab.locator("#query")).to_have_value("renew the token")
    expect(tab.locator("#main li:visible", has_text="session.py").first).to_be_visible()


def test_a_list_that_was_left_says_nothing_any_more(tab: Page) -> None:
    """Neither how many files there are, below the list of what was left out, nor in the browser's console."""
    held: list[Any] = []
    tab.route("**/api/files", lambda route: held.append(route))
    with tab.expect_request("**/api/files"):
        tab.get_by_role("link", name="Index").click()
    tab.get_by_role("tab", name="Left out").click()
    total = tab.locator("#view-index .note")
    expect(total).to_have_text(re.compile(r"\d path"))
    with tab.expect_response("**/api/files"):
        held[0].continue_()
    tab.wait_for_timeout(150)
    expect(total).to_have_text(re.compile(r"\d path"))


def test_an_outdated_answer_never_replaces_a_newer_one(tab: Page) -> None:
    """However long it takes."""

    def answer(route: Any) -> None:
        if "slow" in (route.request.post_data or ""):
            tab.wait_for_timeout(700)
        with suppress(Exception):  # The page has given the slow one up by then.
            route.continue_()

    tab.route("**/api/search", answer)
    tab.locator("#query").fill("slow session")
    tab.wait_for_timeout(200)
    tab.locator("#query").fill("sign_in")
    expect(tab.locator(".results > li").first).to_contain_text("login.py")
    tab.wait_for_timeout(900)
    expect(tab.locator(".results > li").first).to_contain_text("login.py")


def test_everything_can_be_done_with_keys(tab: Page) -> None:
    """/ searches, arrows and j, k move, Enter opens, g shows the graph, digits choose the view, ? helps, Esc closes."""
    tab.locator("#query").fill("session")
    chosen = tab.locator(".results > li[aria-selected=true]")
    expect(chosen).to_have_attribute("data-place", "0")
    tab.keyboard.press("ArrowDown")
    expect(chosen).to_have_attribute("data-place", "1")
    tab.keyboard.press("Enter")
    expect(tab.locator(".detail")).to_be_focused()
    tab.keyboard.press("j")
    expect(chosen).to_have_attribute("data-place", "2")
    tab.keyboard.press("k")
    tab.keyboard.press("k")
    expect(chosen).to_have_attribute("data-place", "0")
    tab.keyboard.press("g")
    expect(tab).to_have_url(re.compile("#/graph"))
    expect(tab.locator(".centre h2")).to_be_visible()
    for digit, view in enumerate(("search", "grep", "symbol", "flow", "impact", "graph", "index"), 1):
        tab.evaluate("document.activeElement.blur()")
        tab.keyboard.press(str(digit))
        expect(tab.locator(f"#view-{view}")).to_be_visible()
        tab.wait_for_timeout(150)  # Some views take the focus into their field.
    tab.keyboard.press("?")
    expect(tab.locator("#keys")).to_be_visible()
    tab.keyboard.press("Escape")
    expect(tab.locator("#keys")).to_be_hidden()
    tab.evaluate("document.activeElement.blur()")  # A field that took the focus late has it again.
    tab.keyboard.press("/")
    expect(tab.locator("#query")).to_be_focused()
    tab.keyboard.type("/?12gjk")
    expect(tab.locator("#query")).to_have_value(re.compile(r"/\?12gjk"))


def test_skipping_to_the_content_keeps_what_is_shown(tab: Page) -> None:
    """The focus goes there, and the address stays."""
    _show(tab, VIEWS["code"])
    before = tab.url
    tab.locator(".skip").press("Enter")
    expect(tab.locator("main")).to_be_focused()
    expect(tab.locator(".results > li").first).to_be_visible()
    assert tab.url == before


def test_the_focus_stays_where_the_page_is_drawn_anew(tab: Page) -> None:
    """Whoever works with keys goes on where they were: at the tab, the choice, the field, and behind it."""
    _show(tab, "#/index")
    tab.get_by_role("tab", name="Indexed files").press("ArrowRight")
    expect(tab.get_by_role("tab", name="Left out", selected=True)).to_be_focused()
    _show(tab, "#/index")
    tab.get_by_label("Every language").focus()
    tab.keyboard.press("p")
    expect(tab.locator(".tabulator-row", has_text="settings.yaml")).to_have_count(0)
    expect(tab.get_by_label("Every language")).to_be_focused()
    _show(tab, VIEWS["agent"])
    tab.get_by_label("Format").focus()
    tab.keyboard.press("j")
    expect(tab.get_by_role("region", name="The tool's answer")).to_contain_text('{"')
    expect(tab.get_by_label("Format")).to_be_focused()
    tab.get_by_role("tab", name="As the agent sees it").press("Enter")
    expect(tab.get_by_role("tab", name="As the agent sees it")).to_be_focused()


def test_filters_narrow_the_search_and_stand_in_the_address(tab: Page) -> None:
    """They are the tool's own arguments."""
    _show(tab, "#/search?q=session")
    tab.get_by_role("button", name="Filters").click()
    tab.get_by_label("tests", exact=True).check()
    expect(tab.locator(".results > li")).to_have_count(1)
    expect(tab.locator(".results > li")).to_contain_text("test_session.py")
    assert "categories=tests" in tab.url
    tab.keyboard.press("Escape")
    expect(tab.locator("#filters")).to_be_hidden()
    tab.get_by_label("Tool").select_option("query_unique_documents")
    expect(tab).to_have_url(re.compile("tool=query_unique_documents"))


def test_a_score_is_taken_apart(tab: Page) -> None:
    """Each term with its value and what the score is so far; the last line is the score of the list."""
    _show(tab, VIEWS["score"])
    last = tab.locator(".terms tfoot td").nth(1).inner_text()
    assert f"{float(last):.2f}" == tab.locator(".results > li .score").first.inner_text().strip()
    expect(tab.locator(".terms tbody th").first).to_contain_text("fused")
    expect(tab.locator(".rank").first).to_contain_text("#")


def test_a_score_that_was_summed_anew_adds_up(
    browser: Browser, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The terms of the linear reranker are added up, without the fused score that they replace."""
    monkeypatch.setenv("GRAPHRAG_RERANK", "weighted_sum")
    with running_page(project, tmp_path) as running:
        running.wait_ready()
        for tab in _open(browser, running):
            _show(tab, VIEWS["score"])
            for result in tab.locator(".results > li").all():
                result.click()
                total, score = _summed(tab)
                assert total == pytest.approx(score, abs=0.005)


def _summed(tab: Page) -> tuple[float, float]:
    """Return what the terms of the chosen result add up to, and its score."""
    names, values = (tab.locator(f".terms tbody {cell}").all_inner_texts() for cell in ("th", "td:nth-child(2)"))
    assert len(names) > 1 and "fused" not in names
    total = 0.0
    for name, (sign, number) in zip(names, (value.split() for value in values), strict=True):
        assert (sign == "×") is (name == "file")
        total = total * float(number) if sign == "×" else total + float(number) * (-1 if sign == "−" else 1)
    return total, float(tab.locator(".terms tfoot td").nth(1).inner_text())


def test_the_graph_is_walked_by_its_list(tab: Page) -> None:
    """The picture and the list show the same; a press centres what was pressed."""
    _show(tab, "#/graph?symbol=renew")
    expect(tab.locator(".picture canvas").first).to_be_visible()
    tab.get_by_role("button", name="sign_in").press("Enter")
    expect(tab.locator(".centre h2")).to_have_text("sign_in")
    tab.go_back()
    expect(tab.locator(".centre h2")).to_have_text("renew")


def test_the_neighbours_of_one_file_are_grouped_and_folded_where_many_are_shown(
    browser: Browser, tmp_path: Path
) -> None:
    """At first 15 in boxes of their files; of 40 those of one file are one, until it is clicked."""
    root = tmp_path / "project"
    root.mkdir()
    for name, count in (("many", 20), ("few", 3), ("one", 1)):
        calls = "".join(f"def {name}_{number}():\n    return start()\n\n\n" for number in range(count))
        (root / f"{name}.py").write_text("from core import start\n\n\n" + calls)
    (root / "core.py").write_text("def start():\n    return 1\n")
    with running_page(root, tmp_path / "data") as running:
        running.wait_ready()
        for tab in _open(browser, running):
            _show(tab, "#/graph?symbol=start")
            assert len(_boxes(tab)) > 0
            tab.get_by_role("button", name="Show up to 40").click()
            expect(tab.locator(".note").last).to_contain_text("27 neighbours")
            assert _boxes(tab) == ["few.py", "many.py · 21", "one.py"]
            tab.evaluate(f"{_DRAWN}.nodes('.folded').emit('tap')")
            assert _boxes(tab) == ["few.py", "many.py", "one.py"]
            expect(tab.locator(".centre h2")).to_have_text("start")


def _boxes(tab: Page) -> list[str]:
    labels: list[str] = tab.evaluate(f"{_DRAWN}.nodes('.box, .folded').map((node) => node.data('label'))")
    return sorted(labels)


def test_the_lines_that_differ_are_under_what_they_may_break(browser: Browser, project: Path, tmp_path: Path) -> None:
    """With their numbers, and which came and went."""
    root = tmp_path / "clone"
    shutil.copytree(project, root)
    session = root / "src/session.py"
    session.write_text(session.read_text().replace("def renew(token):", "def renew(token, days):"))
    with running_page(root, tmp_path / "data") as running:
        running.wait_ready()
        for tab in _open(browser, running):
            _show(tab, "#/impact")
            expect(tab.locator("#view-impact .places")).to_contain_text("breaks")
            lines = tab.get_by_role("region", name="Lines that differ")
            expect(lines.locator(".line.removed")).to_have_text("def renew(token):\n")
            expect(lines.locator(".line.added")).to_have_attribute("data-line", "12")


def test_a_symbol_has_its_code_its_callers_and_what_is_not_known(tab: Page) -> None:
    """Each caller with its line and its certainty; the same answer as the agent reads; links lead on, and back."""
    _show(tab, "#/symbol?symbol=renew")
    expect(tab.locator("#view-symbol .code").first).to_contain_text("return token[::-1]")
    expect(tab.locator("#view-symbol .hljs-keyword").first).to_have_text("def")
    callers = tab.get_by_role("region", name="Callers", exact=True)
    expect(callers.locator(".places > li")).to_have_count(3)
    expect(callers).to_contain_text("certain")
    expect(callers.locator(".complete")).to_have_text(re.compile("^Complete"))
    expect(tab.get_by_role("region", name="Tests", exact=True)).to_contain_text("test_renew")
    expect(tab.get_by_role("region", name="History")).to_contain_text("change")
    callers.locator("summary").click()
    expect(callers.get_by_role("region", name="The answer of trace_relations")).to_contain_text("3 callers of")
    callers.get_by_role("link", name="sign_in", exact=True).click()
    expect(tab.locator("#view-symbol h2")).to_contain_text("sign_in")
    tab.go_back()
    expect(tab.locator("#view-symbol h2")).to_contain_text("renew")


def test_a_file_has_its_outline_and_shows_the_line_of_the_address(tab: Page) -> None:
    """A definition of the outline leads to its page."""
    _show(tab, "#/file?path=src/session.py&line=12")
    expect(tab.locator(".line.chosen")).to_contain_text("def renew(token):")
    outline = tab.get_by_role("region", name="Outline")
    expect(outline.locator("li")).to_have_count(3)
    expect(tab.get_by_role("region", name="Importers")).to_contain_text("login.py")
    outline.get_by_role("link", name="refresh", exact=True).click()
    expect(tab).to_have_url(re.compile(r"#/symbol\?symbol=src%2Fsession.py%3A%3ASession.refresh"))


def test_every_line_with_a_text_comes_while_typing(tab: Page) -> None:
    """By file; a pattern too; the address says what is shown."""
    _show(tab, "#/grep")
    tab.locator("#text").press_sequentially("def re", delay=30)
    expect(tab.locator("#view-grep .occurrences > li")).to_have_count(2)
    tab.locator("#text").fill(r"def (renew|sign_in)\b")
    tab.get_by_label("Pattern", exact=True).check()
    expect(tab.locator("#view-grep .occurrences > li")).to_have_count(2)
    expect(tab).to_have_url(re.compile("regex=true"))
    tab.get_by_label("Folder", exact=True).fill("src/login.py")
    tab.keyboard.press("Enter")
    expect(tab.locator("#view-grep .occurrences > li")).to_have_count(1)


def test_a_flow_is_a_chain_with_the_lines_that_lead_on(tab: Page) -> None:
    """From one function to another, by a form."""
    _show(tab, "#/flow")
    tab.get_by_label("From", exact=True).fill("sign_in")
    tab.get_by_label("To", exact=True).fill("renew")
    tab.keyboard.press("Enter")
    chain = tab.get_by_role("region", name="Chain 1")
    expect(chain.locator("li").first).to_contain_text("sign_in")
    expect(chain.locator("li").last).to_contain_text("renew")
    expect(chain.locator(".leads code").first).to_contain_text("renew(name)")


def test_what_a_change_may_break_has_the_tests_to_run(tab: Page) -> None:
    """Of a symbol, and of the working tree."""
    _show(tab, "#/impact?symbol=renew")
    expect(tab.locator("#view-impact .places")).to_contain_text("sign_in")
    expect(tab.get_by_role("region", name="Tests", exact=True)).to_contain_text("pytest tests/test_session.py")
    _show(tab, "#/impact")
    expect(tab.locator("#view-impact")).to_contain_text("0 files differ from HEAD")


def test_a_place_is_copied_and_opened_in_the_users_editor(browser: Browser, page: RunningPage, project: Path) -> None:
    """As path:line; by a template that this browser keeps, and that runs no script."""
    for tab in _open(browser, page, permissions=["clipboard-read", "clipboard-write"]):
        _show(tab, "#/file?path=src/session.py&line=12")
        tab.get_by_role("button", name="Copy path:line").click()
        expect(tab.get_by_role("button", name="Copied")).to_be_visible()
        assert tab.evaluate("navigator.clipboard.readText()") == "src/session.py:12"
        open_in_editor = tab.get_by_text("Open in editor").first
        expect(open_in_editor).to_have_attribute("href", f"vscode://file/{project}/src/session.py:12")
        for template, href in (
            ("idea://open?file={path}&line={line}", "idea://"),
            ("javascript:alert(1)//{path}", None),
        ):
            tab.get_by_role("button", name="Keys and help").click()
            tab.get_by_label("leads to").fill(template)
            tab.keyboard.press("Tab")
            tab.keyboard.press("Escape")
            tab.reload()
            if href:
                expect(tab.get_by_text("Open in editor").first).to_have_attribute("href", re.compile(f"^{href}"))
            else:
                expect(tab.get_by_text("Open in editor").first).not_to_have_attribute("href", re.compile("."))


def test_the_index_is_sorted_and_filtered(tab: Page) -> None:
    """By the server, a page at a time."""
    _show(tab, "#/index")
    tab.get_by_role("columnheader", name="Size").click()
    expect(tab.locator(".tabulator-row").first).to_contain_text("gitignore")
    tab.get_by_label("Part of the path").fill("login")
    expect(tab.locator(".tabulator-row")).to_have_count(1)
    expect(tab.get_by_label("Part of the path")).to_be_focused()
    tab.get_by_role("tab", name="Left out").click()
    panel = tab.get_by_role("tabpanel", name="Left out")
    expect(panel.locator(".tabulator-row", has_text="picture.bin")).to_be_visible()


def test_nothing_typed_into_the_filter_of_the_index_is_lost(tab: Page) -> None:
    """Whatever the page draws meanwhile; an address with another text puts that in."""
    _show(tab, "#/index")
    field = tab.get_by_label("Part of the path")

    def answer(route: Any) -> None:
        tab.wait_for_timeout(100)
        with suppress(Exception):  # The page has given an old one up by then.
            route.continue_()

    tab.route("**/api/status", answer)
    field.press_sequentially("src /login", delay=230)
    expect(tab).to_have_url(re.compile(r"text=src\+%2Flogin"))
    expect(field).to_have_value("src /login")
    tab.unroute("**/api/status")
    _show(tab, "#/index?text=login")
    expect(field).to_have_value("login")


@pytest.mark.parametrize("request_name", ["status", "files"])
def test_what_failed_in_the_index_is_said_and_can_be_tried_again(tab: Page, request_name: str) -> None:
    """With the sentence of the server; the second try shows the table."""
    _show(tab, "#/index")
    _fail(tab, request_name)
    tab.get_by_label("Part of the path").fill("login")
    expect(tab.get_by_role("alert")).to_contain_text("the disk is gone")
    tab.unroute(f"**/api/{request_name}")
    tab.get_by_role("button", name="Try again").click()
    expect(tab.locator(".tabulator-row")).to_have_count(1)
    expect(tab.get_by_role("alert")).to_have_count(0)


def _fail(tab: Page, request_name: str) -> None:
    tab.route(f"**/api/{request_name}", lambda route: route.fulfill(status=400, json={"error": "the disk is gone"}))


def test_the_same_graph_can_be_asked_for_again(tab: Page) -> None:
    """After a failure, for example."""
    _fail(tab, "graph")
    _show(tab, "#/graph?symbol=renew")
    expect(tab.get_by_role("alert")).to_contain_text("the disk is gone")
    tab.unroute("**/api/graph")
    tab.get_by_role("button", name="Show").click()
    expect(tab.locator(".centre h2")).to_have_text("renew")


def test_a_view_whose_script_does_not_come_says_so(browser: Browser, page: RunningPage) -> None:
    """It is not left blank, and a second try shows it."""
    tab = browser.new_page()
    tab.route("**/static/impact.js", lambda route: route.abort())
    tab.goto(page.url + "#/impact?symbol=renew")
    expect(tab.locator("#view-impact").get_by_role("alert")).to_contain_text("start graphrag-mcp ui again")
    tab.unroute("**/static/impact.js")
    tab.get_by_role("button", name="Try again").click()
    expect(tab.locator("#view-impact .places")).to_contain_text("sign_in")
    tab.close()


@pytest.mark.parametrize("view", ["search", "agent", "index", "graph", "symbol", "file", "grep"])
def test_a_hostile_repository_runs_nothing(tab: Page, view: str) -> None:
    """Names and contents that are markup are shown as they are written."""
    addresses = {
        "search": "#/search?q=gatecrash",
        "agent": "#/search?q=gatecrash&tab=agent",
        "index": "#/index?text=<img",
        "graph": "#/graph?symbol=gatecrash",
        "symbol": "#/symbol?symbol=gatecrash",
        "file": f"#/file?path={quote(HOSTILE_NAME)}",
        "grep": "#/grep?text=gatecrash",
    }
    _show(tab, addresses[view])
    place = tab.locator(f"#view-{'search' if view == 'agent' else view}")
    expect(place).to_contain_text("</script>" if view == "agent" else HOSTILE_NAME.rpartition("/")[2][:12])
    assert tab.locator("main :is(script, svg, b b, img:not(.glass))").count() == 0
    assert "owned" not in tab.title()


@pytest.mark.parametrize("rest", ["hit=abc", "hit=0", "hit=-2", "hit=1.5", "hit=99", "tool=constructor", "toString=1"])
def test_a_wrong_address_shows_what_it_can(tab: Page, rest: str) -> None:
    """A place that is none, a tool or an argument of no such name: the search is shown all the same."""
    _show(tab, f"#/search?q=renew&{rest}")
    expect(tab.locator(".results > li[aria-selected=true]")).to_have_count(1)
    expect(tab.locator(".detail .code")).to_be_visible()
    expect(tab.get_by_role("alert")).to_have_count(0)


def test_a_hostile_address_runs_nothing(tab: Page) -> None:
    """What stands behind # is as foreign as a file."""
    for address in ("#/search?q=<img src=x onerror=document.title='owned'>", "#/constructor", "#/grep?text=<b>"):
        _show(tab, address)
    _show(tab, "#/graph?symbol=<img src=x onerror=document.title='owned'>")
    expect(tab.get_by_role("alert")).to_contain_text("<img src=x")
    assert "owned" not in tab.title()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_view_has_a_serious_flaw_of_accessibility(browser: Browser, page: RunningPage, theme: str) -> None:
    """By axe-core's rules: no serious and no critical finding, at either contrast."""
    if not AXE.exists():
        pytest.skip("axe-core is missing; `make test-ui` gets it")
    findings = []
    for tab in _open(browser, page, color_scheme=theme):
        tab.evaluate(AXE.read_text(encoding="utf-8") + "; undefined")
        for name, address in VIEWS.items():
            _show(tab, address)
            findings += [f"{name}: {one}" for one in _flaws(tab)]
        _show(tab, VIEWS["code"])
        tab.get_by_role("button", name="Filters").click()
        findings += [f"filters: {one}" for one in _flaws(tab)]
        tab.get_by_role("button", name="Keys and help").click()
        findings += [f"help: {one}" for one in _flaws(tab)]
    assert findings == []


def _flaws(tab: Page) -> list[str]:
    result = tab.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    grave = [one for one in result["violations"] if one["impact"] in ("serious", "critical")]
    return [f"{one['id']} ({one['help']}): {node['html'][:160]}" for one in grave for node in one["nodes"][:3]]


def test_the_theme_is_remembered(tab: Page) -> None:
    """Also by the next run, on another port."""
    before = tab.locator("html").get_attribute("data-theme")
    tab.get_by_role("button", name="Switch between light and dark").click()
    after = tab.locator("html").get_attribute("data-theme")
    assert {before, after} == {"light", "dark"}
    tab.reload()
    expect(tab.locator("html")).to_have_attribute("data-theme", str(after))


def test_nothing_moves_for_who_wants_no_motion(browser: Browser, page: RunningPage) -> None:
    """The system's setting is respected."""
    for tab in _open(browser, page, reduced_motion="reduce"):
        moving = (
            "[...document.querySelectorAll('*')].filter(one => getComputedStyle(one).animationName !== 'none').length"
        )
        tab.evaluate("document.getElementById('state').dataset.state = 'building'")
        assert tab.evaluate(moving) == 0


def test_a_small_screen_has_everything(browser: Browser, page: RunningPage) -> None:
    """Nothing is wider than the screen; a result opens over the list, and closes."""
    for tab in _open(browser, page, viewport={"width": 390, "height": 760}):
        for name, address in VIEWS.items():
            _show(tab, address)
            assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        _show(tab, VIEWS["code"])
        tab.locator(".results > li").first.click()
        expect(tab.locator(".detail")).to_be_visible()
        tab.get_by_role("button", name="Back to the results").click()
        expect(tab.locator(".detail")).to_be_hidden()


def test_the_end_of_the_command_is_said(browser: Browser, project: Path, tmp_path: Path) -> None:
    """With the next step."""
    with running_page(project, tmp_path) as running:
        running.wait_ready()
        context = browser.new_context()
        tab = context.new_page()
        tab.goto(running.url)
        running.stop()
        tab.locator("#query").fill("session")
        expect(tab.get_by_role("alert")).to_contain_text("start graphrag-mcp ui again")
        context.close()
