"""Every command, answer and settings file of README.md and docs/ is run or checked, and every link leads somewhere."""

import re
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.docs import PAGES, ROOT
from tests.docs.blocks import PageError, read_blocks
from tests.docs.commands import PROGRAM, check_command, check_names
from tests.docs.links import anchors_of, links_of
from tests.docs.runner import KINDS, Reader
from tests.servers.neo4j_server import Neo4jServer

INTERNALS = tuple(sorted((ROOT / "docs/internals").glob("*.md")))
OF_ROOT = ("AGENTS.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
TEXTS = (*PAGES, *INTERNALS, *(ROOT / name for name in OF_ROOT))
TEXTS += (ROOT / "training/README.md", ROOT / "benchmarks/README.md", ROOT / "benchmarks/RESULTS.md")
PLACES = (ROOT, ROOT / "src/graphrag_mcp")  # Where a path in a text for contributors may begin.
INLINE = re.compile(r"`([^`\n]+)`")
AT_ONCE = 2  # A page is read in a process after the other; two pages keep two cores busy.


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture(scope="module")
def readers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[Path, Future[Reader]]]:
    """All pages, being read."""
    folders = {page: tmp_path_factory.mktemp(page.stem) for page in PAGES}
    pool = ThreadPoolExecutor(AT_ONCE)
    yield {page: pool.submit(lambda page=page: Reader(page, folders[page]).read()) for page in PAGES}
    pool.shutdown(cancel_futures=True)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_what_a_page_shows_is_what_happens(page: Path, readers: Mapping[Path, "Future[Reader]"]) -> None:
    """From top to bottom, as a reader would; `make docs` records anew what the program prints."""
    problems = readers[page].result().problems
    assert not problems, "\n\n".join(problems)


@pytest.mark.requirement("003-28")
@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_what_a_page_names_exists(page: Path) -> None:
    """Every variable, and every command of ours or of make's inside a sentence."""
    text = page.read_text(encoding="utf-8")
    for block in read_blocks(page):
        if "exit code" in block.notes:  # A mistake may be shown there.
            text = text.replace(block.text, "")
    check_names(text, _name(page))
    for words in (command.split() for command in INLINE.findall(text)):
        if words[:1] in ([PROGRAM], ["make"]) and len(words) > 1 and words[1] != "COMMAND":
            check_command(words)


@pytest.mark.parametrize("text", TEXTS, ids=_name)
def test_a_link_leads_somewhere(text: Path) -> None:
    """Every relative link names a file of the repository, and a heading in it where it names one."""
    for target in links_of(text):
        name, _, anchor = target.partition("#")
        file = text.parent / name if name else text
        assert file.exists(), target
        assert not anchor or anchor in anchors_of(file), target


def test_the_index_page_has_every_page() -> None:
    """A page that is not linked is not found."""
    linked = set(links_of(ROOT / "docs/index.md"))
    assert {page.name for page in (ROOT / "docs").glob("*.md")} - {"index.md"} <= linked
    assert {f"internals/{page.name}" for page in INTERNALS} <= linked


@pytest.mark.parametrize("text", [*INTERNALS, *(ROOT / name for name in OF_ROOT if name != "CHANGELOG.md")], ids=_name)
def test_a_file_that_a_text_for_contributors_names_exists(text: Path) -> None:
    """A contributor finds the file of a change under the name that the text gives."""
    named = [word for word in INLINE.findall(text.read_text(encoding="utf-8")) if word.endswith((".py", "/"))]
    inside = [word for word in named if "/" in word and " " not in word and not word.startswith(("/", "~", "."))]
    assert not [word for word in inside if not any((place / word).exists() for place in PLACES)]


def test_the_texts_for_contributors_stay_short() -> None:
    """What is longer is not read: ARCHITECTURE.md in ten minutes, AGENTS.md at the start of every session."""
    assert len((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").split()) <= 1800
    assert len((ROOT / "AGENTS.md").read_text(encoding="utf-8").splitlines()) <= 60
    assert len((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split()) <= 450


def _words(text: str) -> int:
    """Return how many words of a page are read: without comments and the lines of tables."""
    return len(re.sub(r"<!--.*?-->|-{3}", "", text, flags=re.DOTALL).replace("|", " ").split())


def test_the_pages_for_users_can_be_read_in_an_hour() -> None:
    """What is only true of the inside stands in docs/internals/."""
    assert sum(_words(page.read_text(encoding="utf-8")) for page in (ROOT / "docs").glob("*.md")) <= 14_000


@pytest.mark.requirement("000-41")
def test_the_readme_stays_a_page_to_begin_with() -> None:
    """What it is, the two commands, a client, the tools, in two minutes; the rest stands in docs/."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 150
    assert _words(text) <= 900
    assert "\nmake demo " in text
    assert "\nmake test " in text


# ---------------------------------------------------------------- the checks themselves


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("```ruby\nputs 1\n```\n", "nothing is known of 'ruby' blocks"),
        ("```\nputs 1\n```\n", "nothing is known of 'no language' blocks"),
        ("```sh\ngraphrag-mcp serch x\n```\n", "not accepted: graphrag-mcp serch x"),
        ("```sh\nfalse\ntrue\n```\n", "ended with 1"),
        ("```sh\nif\n```\n", "yntax error"),
        ("<!-- not run: no Docker -->\n```sh\nGRAPHRAG_ROOT=a graphrag-mcp index --al\n```\n", "not accepted"),
        ("<!-- not run -->\n```sh\ndocker run x\n```\n", "say why it is not run"),
        ("<!-- not run: a reason -->\n\n```sh\ntrue\n```\n", "directly above a block"),
        ("```sh\nmake nothing\n```\n", "no target 'nothing'"),
        ("```console\n$ echo one\ntwo\n```\n", "is written to print"),
        ("```console\n$ false\n```\n", "ended with 1"),
        ("```python\nraise ValueError\n```\n", "ended with 1"),
        ("```toml\n[retrieval]\nrrf_kk = 3\n```\n", "rrf_kk is not a setting"),
        ("```toml\n[retrieval]\nrrf_k = 60\n```\n", "every value is the default"),
        ("```gitignore\n[a\n```\n", "can never match"),
        ('```json\n{"mcpServers": {"graphrag": {"command": "graphrag-mcp", "args": ["serv"]}}}\n```\n', "SystemExit"),
        ('```json\n{"name": "find_symbol", "arguments": {"symbl": "x"}}\n```\n', "the answer is an error"),
        (
            '```json\n{"name": "find_symbol", "arguments": {"symbol": "charge"}}\n```\n```text\nx\n```\n',
            "the answer is",
        ),
        ('```json\n{"anything": 1}\n```\n', "neither a call"),
        ("```text\na drawing\n```\n", "no call stands before"),
        ("```yaml\n- run: graphrag-mcp snyc\n```\n", "not accepted"),
        ("```sh\ntrue\n", "not closed"),
        ("* a list\n  ```sh\n  true\n  ```\n", "has to begin its line"),
    ],
)
def test_a_page_that_says_what_is_not_so_is_found_out(text: str, words: str, tmp_path: Path) -> None:
    """Each kind of block can fail."""
    page = ROOT / "docs" / "index.md"
    try:
        problems = Reader(page, tmp_path, text).read().problems
    except PageError as error:
        problems = [str(error)]
    assert words in "\n".join(problems)


@pytest.mark.slow
def test_what_is_recorded_anew_keeps_the_lines_left_out(tmp_path: Path) -> None:
    """A page stays as short as it was made when the program prints something else."""
    command = r"$ printf 'first result 2\nsecond\nthird\nend\n'"
    text = f"```console\n{command}\nfirst result 1\n...\nend\n```\n"
    recorded = Reader(ROOT / "docs" / "index.md", tmp_path, text).read().recorded
    assert recorded == {1: f"{command}\nfirst result 2\n...\nend\n"}


def test_every_kind_of_block_is_used() -> None:
    """Nothing is kept that no page needs."""
    assert {block.language for page in PAGES for block in read_blocks(page)} == set(KINDS)


@pytest.mark.server
def test_the_commands_for_servers_run_on_one(neo4j_server: Neo4jServer, tmp_path: Path) -> None:
    """Those of docs/servers.md that need no Qdrant, on a real Neo4j."""
    page = ROOT / "docs/servers.md"
    lines = [line for block in read_blocks(page) if block.language == "sh" for line in block.text.splitlines()]
    commands = [line for line in lines if line.startswith(f"{PROGRAM} ") and "--remote" not in line]
    assert len(commands) >= 5
    reader = Reader(page, tmp_path, "```sh\n" + "\n".join(commands) + "\n```\n")
    reader.environment |= {"GRAPHRAG_NEO4J_URI": neo4j_server.uri, "GRAPHRAG_NEO4J_PASSWORD": neo4j_server.password}
    assert reader.read().problems == []
