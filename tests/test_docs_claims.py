"""Sentences of the documentation that state a number, a list or an "all" are those of the program."""

import argparse
import json
import re
import tomllib
from pathlib import Path

import pytest

from graphrag_mcp.app.session import WITHOUT_INDEX
from graphrag_mcp.cli.clients import CLIENTS
from graphrag_mcp.cli.init import SECTION
from graphrag_mcp.model.fields import outer_fields
from graphrag_mcp.search.query.understand import MAX_ADDED, MAX_CHARACTERS, SYNONYMS
from graphrag_mcp.search.ranking.weights import Weights
from graphrag_mcp.tools.arguments import MAXIMUM_ENTRIES, MAXIMUM_LIST, ToolArguments
from graphrag_mcp.tools.table import SEARCH_TOOLS, TOOLS
from tests.cli.test_options import parsers
from tests.docs.pictures import FOLDER, PICTURES, SHOWN, digest
from tests.docs.terminal import drawn, printed

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
ABSOLUTE = re.compile(
    r"\b(?:all|every|everything|never|nothing|no other|always|whatever|none|anything)\b", re.IGNORECASE
)
NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def _page(name: str) -> str:
    return (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")


def _rows(text: str, heading: str) -> list[list[str]]:
    """Return the cells of the table that begins with a line."""
    lines = text[text.index(heading) :].splitlines()[2:]
    table = lines[: next((number for number, line in enumerate(lines) if not line.startswith("|")), None)]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table]


def _has(command: argparse.ArgumentParser, option: str) -> bool:
    return any(option in action.option_strings for action in command._actions)


def test_the_page_of_the_tools_says_of_each_what_readme_says() -> None:
    """README has every tool in the order of the server, and the section of a tool begins with the same words."""
    rows = _rows(README, "| tool | what it answers |")
    assert [row[0] for row in rows] == [f"`{name}`" for name in TOOLS]
    sections = {name: re.findall(rf"\n## {name}\n\n(.*)", _page("tools")) for name in TOOLS}
    openings = {name: f"{answers[0].upper()}{answers[1:]}" for name, (_, answers) in zip(TOOLS, rows, strict=True)}
    assert [name for name in TOOLS if not sections[name][0].startswith(openings[name])] == []


def test_the_tools_are_counted_right() -> None:
    """On their page, in the sentence about the common arguments, and where some of them work without an index."""
    tools, common = _page("tools"), [*outer_fields(ToolArguments), "cursor", "exclude_archived"]
    assert f"The server has {NUMBERS[len(TOOLS)]} read-only tools" in tools
    assert f"All {NUMBERS[len(SEARCH_TOOLS)]} searches take" in tools
    assert f"A list has at most {MAXIMUM_ENTRIES} entries and {MAXIMUM_LIST:,}" in tools
    assert "`index_status` takes the first two of these arguments, `find_history` the first three, every other" in tools
    schemas = {name: tool.schema()["properties"] for name, tool in TOOLS.items()}
    taken = {name: [argument for argument in common if argument in schema] for name, schema in schemas.items()}
    few = {"index_status": common[:2], "find_history": common[:3]}
    assert taken == dict.fromkeys(TOOLS, common) | few
    remote = [name for name, tool in TOOLS.items() if tool.needs in WITHOUT_INDEX]
    assert remote == [*SEARCH_TOOLS, "index_status"]
    assert f"lists the {NUMBERS[len(SEARCH_TOOLS)]} searches, `index_status`" in _page("servers")


def test_every_tool_has_a_section_with_a_call() -> None:
    """As README says of the page."""
    sections = re.split(r"\n## ", _page("tools"))
    shown = {
        name: f'"name": "{name}"' in section
        for section in sections
        for name in TOOLS
        if section.startswith(f"{name}\n")
    }
    assert shown == dict.fromkeys(TOOLS, True)


def test_the_page_of_the_command_line_has_every_command() -> None:
    """Its table names each, and its sentences say which of them take `--json` and `--root`."""
    text, commands = _page("command-line"), parsers()
    named = [
        re.sub(r"`graphrag-mcp (\S+?)`.*|`graphrag-mcp (\S+) .*", r"\1\2", row[0]) for row in _rows(text, "| command |")
    ]
    assert sorted(named) == sorted(commands)
    (sentence,) = re.findall(r"lists the rest\. (.*?) print JSON", text, re.DOTALL)
    assert set(re.findall(r"`(\w+)`", sentence)) == {name for name, one in commands.items() if _has(one, "--json")}
    assert "All take `--root DIR`" in text
    assert all(_has(command, "--root") for command in commands.values())


def test_the_clients_are_those_that_init_connects() -> None:
    """In the table of the set-up, in README, and for the doctor."""
    rows = _rows(_page("set-up"), "| `--client` |")
    documented = {name: row for row in rows for name in re.findall(r"`(.*?)`", row[0])}
    assert set(documented) == set(CLIENTS)
    assert f"of {_COUNTS[len(CLIENTS)]}; --client NAME" in README
    (shared,) = re.findall(r"The last (\w+) files are for all projects", _page("set-up"))
    assert [CLIENTS[name].is_shared for name in documented] == [
        number >= len(documented) - _COUNTS.index(shared) for number in range(len(documented))
    ]
    for name, row in documented.items():
        assert Path(row[1].split("`")[1]).name == Path(CLIENTS[name].files[0]).name
    asking = {CLIENTS[name].title for name in CLIENTS if "project that you trust" in CLIENTS[name].first_use}
    (sentence,) = re.findall(r"(\*\*Codex\*\*.*?) read the file only in a project", _page("set-up"))
    assert set(re.findall(r"\*\*(.*?)\*\*", sentence)) == asking


_COUNTS = "zero one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905


def test_the_section_for_agents_is_as_long_as_the_page_says() -> None:
    """A reader decides by it whether to have it written."""
    (lines,) = re.findall(r"adds a section of (\d+) lines", _page("set-up"))
    assert abs(len(SECTION.splitlines()) - int(lines)) <= 1


_WEIGHTS = "| signal | formula | weight | name |"


@pytest.mark.parametrize("row", _rows(_page("ranking"), _WEIGHTS), ids=lambda row: row[3])
def test_the_weights_on_the_page_of_the_ranking_are_those_of_the_code(row: list[str]) -> None:
    """A weight that changed would leave the formula wrong."""
    assert float(row[2]) == getattr(Weights(), row[3].strip("`"))


def test_the_synonyms_are_counted_right() -> None:
    """How many there are, how many are added, and to how long a query."""
    text = " ".join(_page("ranking").split())
    assert f"{len(SYNONYMS)} entries of synonyms add at most {MAX_ADDED} terms" in text
    assert f"none beyond {MAX_CHARACTERS} characters" in text


def test_what_the_page_of_reliability_runs_exists() -> None:
    """Each row ends with the file that made its figure."""
    rows = _rows(_page("internals/reliability"), "| what | goal | figure | command")
    files = {name for row in rows for name in re.findall(r"`([./\w]*test_\w+\.py)`", row[3])}
    assert len(files) > 10
    assert [name for name in sorted(files) if not (ROOT / "tests" / "reliability" / name).exists()] == []


def test_readme_leads_to_every_page() -> None:
    """A page that nothing leads to is not read."""
    pages = [page.name for page in (ROOT / "docs").glob("*.md") if page.name != "index.md"]
    assert [name for name in pages if f"docs/{name}" not in README] == []


def _claims(text: str) -> list[str]:
    """Return the sentences of a page that claim "all" and the like, without blocks and comments."""
    text = re.sub(r"^(`{3,}).*?^\1\s*$|<!--.*?-->", "", text, flags=re.DOTALL | re.MULTILINE)
    blocks = (" ".join(block.split()) for block in re.split(r"\n\s*\n|\n(?=\s*[*|\d-])", text))
    sentences = (one for block in blocks for one in re.split(r"(?<=[.:;!?])\s+(?=[A-Z`*\[(a-z])", block))
    return [sentence for sentence in sentences if ABSOLUTE.search(sentence)]


def test_every_claim_of_readme_is_held_by_a_test() -> None:
    """tests/docs/claims.toml has the sentences with their tests; a new or changed one has to be looked at."""
    claims: dict[str, list[str]] = tomllib.loads((ROOT / "tests/docs/claims.toml").read_text(encoding="utf-8"))
    assert sorted(_claims(README)) == sorted(claims)
    for name in {name for tests in claims.values() for name in tests}:
        file, _, test = name.partition("::")
        assert f"def {test}(" in (ROOT / "tests" / file).read_text(encoding="utf-8"), name


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_shows_what_there_is(name: str) -> None:
    """Each is the one that was written down, and the files and headings on it exist; else `make pictures`."""
    shown = json.loads(SHOWN.read_text(encoding="utf-8"))[name]
    assert digest(FOLDER / f"{name}.png") == shown["hash"]
    assert [path for path in shown["files"] if not (ROOT / path).exists()] == []
    package = ROOT / "src" / "graphrag_mcp"
    text = "".join(path.read_text("utf-8") for kind in ("py", "js", "html") for path in package.rglob(f"*.{kind}"))
    assert [label for label in shown["labels"] if label not in text] == []


@pytest.mark.parametrize(
    "page", sorted([ROOT / "README.md", ROOT / "SECURITY.md", *(ROOT / "docs").glob("*.md")]), ids=str
)
def test_no_page_for_users_names_a_requirement(page: Path) -> None:
    """The numbers are for those who change the program."""
    assert not re.search(r"\bseed \d|\b00\d-\d\d\b|[BK]-\d\d\b", page.read_text(encoding="utf-8"))


def test_the_terminal_of_readme_shows_what_the_program_prints() -> None:
    """Else: make pictures."""
    assert drawn() == printed()
