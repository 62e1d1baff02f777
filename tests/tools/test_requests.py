"""Which calls of the search tools are questions, and which are refused."""

from pathlib import Path

import pytest

from graphrag_mcp.errors import RequestError
from graphrag_mcp.model.files import Category
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import SearchRequest
from graphrag_mcp.settings import RetrievalSettings, Settings
from graphrag_mcp.tools.arguments import MAXIMUM_ENTRIES, MAXIMUM_ENTRY, MAXIMUM_PHRASINGS, parse_arguments
from graphrag_mcp.tools.flow import MAXIMUM_ENDS
from graphrag_mcp.tools.index_status import STATUS
from graphrag_mcp.tools.search import search_request
from graphrag_mcp.tools.table import SEARCH_TOOLS, TOOLS

HYBRID, DOCUMENTS, UNIQUE = SEARCH_TOOLS
SETTINGS = Settings()


def ask(tool: str, root: Path, **arguments: object) -> SearchRequest:
    return search_request(SEARCH_TOOLS[tool].read({"query": "open a session", **arguments}, SETTINGS, root))


def refusal(tool: str, root: Path, **arguments: object) -> str:
    with pytest.raises(RequestError) as caught:
        SEARCH_TOOLS[tool].read({"query": "open a session", **arguments}, SETTINGS, root)
    return str(caught.value)


@pytest.mark.requirement("000-23", "000-34", "K-15")
def test_the_hybrid_tool_has_the_seeds_defaults(tmp_path: Path) -> None:
    """Limit 5, graph context, 2 hops, archived hidden, RRF, recency, 3 chunks per file."""
    assert ask(HYBRID, tmp_path) == SearchRequest(
        query="open a session",
        limit=5,
        scope=Scope(exclude_archived=True),
        include_graph_context=True,
        max_hops=2,
        use_rrf=True,
        rerank_with_recency=True,
        related_results=0,
        chunks_per_document=3,
    )


@pytest.mark.requirement("K-06")
def test_every_argument_of_the_hybrid_tool_reaches_the_request(tmp_path: Path) -> None:
    """All six of the seed's parameters, include_patterns, and the filters."""
    request = ask(
        HYBRID,
        tmp_path,
        limit=25,
        include_graph_context=False,
        max_hops=0,
        exclude_archived=False,
        include_patterns=[".archive/**"],
        use_rrf=False,
        rerank_with_recency=False,
        categories=["tests"],
        languages=["Python"],
    )
    assert request == SearchRequest(
        query="open a session",
        limit=25,
        scope=Scope(
            exclude_archived=False,
            include_patterns=(".archive/**",),
            categories=frozenset({Category.TESTS}),
            languages=frozenset({"python"}),
        ),
        include_graph_context=False,
        max_hops=0,
        related_hops=0,
        use_rrf=False,
        rerank_with_recency=False,
        chunks_per_document=3,
    )


@pytest.mark.requirement("K-15", "K-19")
@pytest.mark.parametrize(("tool", "chunks_per_document"), [(DOCUMENTS, 0), (UNIQUE, 1)])
def test_the_query_tools_count_in_top_n_and_cap_chunks_per_document(
    tool: str, chunks_per_document: int, tmp_path: Path
) -> None:
    """Each tool keeps its own names; query_unique_documents shows one chunk per document."""
    request = ask(tool, tmp_path, top_n=7, min_score=0.25)
    assert (request.limit, request.min_score) == (7, 0.25)
    assert request.chunks_per_document == chunks_per_document


@pytest.mark.requirement("003-01", "003-03")
@pytest.mark.parametrize("tool", SEARCH_TOOLS)
def test_excluded_files_mean_the_same_to_every_tool(tool: str, tmp_path: Path) -> None:
    """Name, relative and absolute path name the same file in all tools."""
    keys = {
        ask(tool, tmp_path, excluded_files=[entry]).scope.excluded_keys
        for entry in ("docs/api.md", "./docs/api.md", str(tmp_path / "docs/api.md"))
    }
    assert len(keys) == 1
    assert ask(tool, tmp_path, excluded_files=["api.md"]).scope.excluded_keys not in ({frozenset()} | keys)


@pytest.mark.requirement("B-26")
def test_a_path_outside_the_root_is_a_warning(tmp_path: Path) -> None:
    """Results, with a warning that names the path."""
    outside = "../elsewhere/api.md"
    request = ask(DOCUMENTS, tmp_path, excluded_files=[outside])
    assert outside in request.warnings[0]


@pytest.mark.requirement("K-13")
def test_the_setting_decides_about_archived_files_unless_the_call_does(tmp_path: Path) -> None:
    """Argument, then environment, then true."""
    settings = Settings(retrieval=RetrievalSettings(exclude_archived=False))

    def hides(**arguments: object) -> bool:
        call = TOOLS[HYBRID].read({"query": "old code", **arguments}, settings, tmp_path)
        return call.scope.exclude_archived

    assert not hides()
    assert hides(exclude_archived=True)


@pytest.mark.requirement("K-06")
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"limit": 0}, "limit = 0: expected a whole number from 1 to 25"),
        ({"limit": 26}, "limit = 26: expected a whole number from 1 to 25"),
        ({"limit": True}, "limit = true: expected a whole number from 1 to 25"),
        ({"limit": "many"}, 'limit = "many": expected a whole number from 1 to 25'),
        ({"limit": float("nan")}, "limit = NaN: expected a whole number from 1 to 25"),
        ({"limit": "2.5"}, "limit = 2.5: expected a whole number from 1 to 25"),
        ({"max_hops": 4}, "max_hops = 4: expected a whole number from 0 to 3"),
        ({"max_hops": -1}, "max_hops = -1: expected a whole number from 0 to 3"),
        ({"query": "a"}, 'query = "a": expected text of 2 to 8,000 characters'),
        ({"query": "   a   "}, 'query = "   a   ": expected text of 2 to 8,000 characters'),
        ({"query": 12345}, "query = 12345: expected text of 2 to 8,000 characters"),
        ({"query": "half \ud83d"}, "query = "),
        ({"use_rrf": "no"}, 'use_rrf = "no": expected true or false'),
        ({"use_rrf": 1}, "use_rrf = 1: expected true or false"),
        ({"excluded_files": "a.py"}, 'excluded_files = "a.py": expected a list'),
        ({"excluded_files": ["a.py", " "]}, 'excluded_files[1] = " ": expected text that is not blank'),
        ({"excluded_files": [7]}, "excluded_files[0] = 7: expected text"),
        ({"include_patterns": ["docs/[a"]}, "include_patterns: 'docs/[a' can never match: a [ has no matching ]"),
        ({"include_patterns": ["# a remark"]}, "include_patterns: '# a remark' names no file"),
        ({"include_patterns": [""]}, 'include_patterns[0] = "": expected text that is not blank'),
        ({"categories": ["test"]}, 'categories[0] = "test": expected one of implementation, tests'),
        ({"response_format": "xml"}, 'response_format = "xml": expected one of concise, detailed, json'),
        ({"limmit": 3}, '"limmit" is not an argument of graphrag_hybrid_search; did you mean limit?'),
        ({"top_n": 3}, '"top_n" is not an argument of graphrag_hybrid_search'),
    ],
)
def test_a_wrong_argument_is_named_with_what_was_given_and_what_is_accepted(
    arguments: dict[str, object], expected: str, tmp_path: Path
) -> None:
    """Unknown, mistyped and out of range are errors; nothing is clamped."""
    assert expected in refusal(HYBRID, tmp_path, **arguments)


@pytest.mark.requirement("003-10", "K-22")
@pytest.mark.parametrize("score", [-0.1, 1.1, float("nan"), float("inf"), "high", True])
def test_a_score_outside_0_to_1_is_refused(score: object, tmp_path: Path) -> None:
    """Min_score is on the scale of the scores, 0 to 1."""
    assert "expected a number from 0 to 1" in refusal(DOCUMENTS, tmp_path, min_score=score)


@pytest.mark.requirement("000-34")
def test_a_missing_query_is_asked_for(tmp_path: Path) -> None:
    """One phrasing is required, by either argument."""
    with pytest.raises(RequestError, match="query is required, or queries: give text of 2"):
        TOOLS[HYBRID].read({}, SETTINGS, tmp_path)


@pytest.mark.requirement("K-06")
def test_all_problems_of_a_call_are_named_at_once(tmp_path: Path) -> None:
    """An agent corrects its call in one step."""
    message = refusal(HYBRID, tmp_path, limit=0, max_hops=9, colour="red")
    assert message.startswith("3 problems:")
    assert all(name in message for name in ("limit", "max_hops", "colour"))


@pytest.mark.requirement("K-06")
def test_a_long_wrong_value_is_shown_in_part(tmp_path: Path) -> None:
    """An error stays readable, whatever was given."""
    assert len(refusal(HYBRID, tmp_path, query="word " * 100_000)) < 300


@pytest.mark.requirement("000-34", "K-06")
@pytest.mark.parametrize("tool", TOOLS)
def test_a_schema_tells_types_defaults_and_ranges_and_allows_nothing_else(tool: str) -> None:
    """The schema lists what is accepted."""
    schema = TOOLS[tool].schema()
    assert schema["additionalProperties"] is False
    for name, value in schema["properties"].items():
        assert value["description"], name
        assert "type" in value or "anyOf" in value, name
        assert ("default" in value) != (name in schema.get("required", ())), name


@pytest.mark.requirement("K-13")
def test_the_schema_shows_the_projects_own_default() -> None:
    """A client sees what it will get."""
    settings = Settings(retrieval=RetrievalSettings(exclude_archived=False))
    assert TOOLS[HYBRID].schema(settings)["properties"]["exclude_archived"]["default"] is False
    assert TOOLS[HYBRID].schema()["properties"]["limit"] == {
        "default": 5,
        "description": "Results to return.",
        "maximum": 25,
        "minimum": 1,
        "type": "integer",
    }


@pytest.mark.requirement("K-06")
def test_the_status_tool_takes_only_a_form(tmp_path: Path) -> None:
    """Unknown arguments are refused there too."""
    assert STATUS.read({"response_format": "json"}, SETTINGS, tmp_path).arguments.response_format == "json"
    with pytest.raises(RequestError, match="not an argument of index_status"):
        STATUS.read({"query": "x"}, SETTINGS, tmp_path)


LISTS = [
    (tool, name)
    for tool in TOOLS
    for name, schema in TOOLS[tool].schema()["properties"].items()
    if schema["type" if "type" in schema else "anyOf"] == "array"
]


@pytest.mark.parametrize(("tool", "name"), LISTS)
def test_every_list_has_a_limit(tool: str, name: str) -> None:
    """It is in the schema, and a longer list is refused by a sentence that names it, before anything is compiled."""
    schema = TOOLS[tool].schema()["properties"]
    most = {"queries": MAXIMUM_PHRASINGS, "from": MAXIMUM_ENDS, "to": MAXIMUM_ENDS}.get(name, MAXIMUM_ENTRIES)
    assert schema[name]["maxItems"] == most
    arguments = {"query": "open a session", "text": "open", "symbol": "open"}
    given = {key: value for key, value in arguments.items() if key in schema and "from" not in schema}
    entry = "tests" if name == "categories" else "**/a*/**"
    parse_arguments(tool, TOOLS[tool].arguments, {**given, name: [entry] * most})
    with pytest.raises(RequestError) as caught:
        parse_arguments(tool, TOOLS[tool].arguments, {**given, name: [entry] * 20_000})
    assert str(caught.value) == f"{name}: at most {most} entries, 20,000 were given; send fewer"


@pytest.mark.parametrize("name", ["excluded_files", "include_patterns", "languages"])
def test_an_entry_of_a_list_has_a_limit(name: str, tmp_path: Path) -> None:
    """No path is longer."""
    entry = "a" * (MAXIMUM_ENTRY + 1)
    assert refusal(HYBRID, tmp_path, **{name: ["b", entry]}).endswith("expected at most 4,096 characters")


def test_a_cursor_with_an_endless_number_is_refused(tmp_path: Path) -> None:
    """Its mark may be right: it was copied from an answer; no answer has a longer one."""
    call = SEARCH_TOOLS[HYBRID].read({"query": "open a session"}, SETTINGS, tmp_path)
    mark = call.cursor_at(0, 1).partition("-")[2]
    assert "expected text of 0 to 18 characters" in refusal(
        HYBRID, tmp_path, query="open a session", cursor=f"{'9' * 5_000}-{mark}"
    )


def test_many_problems_are_counted_and_a_few_told(tmp_path: Path) -> None:
    """A client that sends nonsense gets a short answer, at once."""
    text = refusal(HYBRID, tmp_path, **{f"x{number}": 1 for number in range(20_000)})
    assert text.startswith("20000 problems:")
    assert text.endswith("- and 19,995 more; send only the arguments of the schema")


@pytest.mark.parametrize("depth", range(930, 1_000, 3))
def test_a_list_within_many_is_refused_by_its_name(tmp_path: Path, depth: int) -> None:
    """What is read at the end of the stack cannot be written there."""
    assert refusal(HYBRID, tmp_path, paths="[" * depth + "]" * depth).startswith("paths")
