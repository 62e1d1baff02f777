"""Files that no grammar describes: Markdown, other text, cards."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrag_mcp.model.files import Category, DocumentStatus, ParsedFile, ParseMode, Relation
from graphrag_mcp.parsing.documents.documents import parse_markdown, parse_text
from graphrag_mcp.parsing.documents.sections import LIMIT, LINE_LIMIT
from graphrag_mcp.parsing.parser import card, needs_card
from tests.waiting import HANG_SECONDS

DOCUMENTATION, CONFIG, DATA = Category.DOCUMENTATION, Category.CONFIG, Category.DATA

_MARKDOWN_LINES = st.sampled_from((
    "# One", "## Two", "### Three", "Title", "===", "---", "```", "~~~~", "    code", "- item", "  - nested",
    "1. first", "> quote", "> ```", "<!-- open", "-->", "<div>", "", "", "text with `code` and [link](a.md)",
    "[[wiki]]", "[r]: b.md", "| a | b |", "\t- tab", "* * *", "- ```", "status: accepted", "é" * 300, "word " * 200,
))  # fmt: skip
_ANY_LINES = st.text(alphabet=st.sampled_from("ab #-=`>[](){}:|!*_~\\<\t\v\f\u2028\ud800\"'&"), max_size=30)
_TEXTS = st.one_of(
    st.lists(_MARKDOWN_LINES, max_size=60).map("\n".join),
    st.lists(_ANY_LINES, max_size=30).map("\n".join),
    st.text(max_size=200).map(lambda text: text.replace("\r", "")),
)


def assert_laws(parsed: ParsedFile, text: str) -> None:
    """Spans are ordered, do not overlap, cover every line that is not blank, and `text` is what they hold."""
    rows = text.split("\n")
    covered: set[int] = set()
    last = 0
    for chunk in parsed.chunks:
        assert last < chunk.start_line <= chunk.end_line <= len(rows)
        assert chunk.text == "\n".join(row[:LINE_LIMIT] for row in rows[chunk.start_line - 1 : chunk.end_line])
        covered.update(range(chunk.start_line, chunk.end_line + 1))
        last = chunk.end_line
    assert all(not row.strip() or number in covered for number, row in enumerate(rows, 1))


@pytest.mark.requirement("004-11")
@given(_TEXTS)
@settings(derandomize=True, max_examples=300, deadline=None)
def test_markdown_chunks_are_ordered_disjoint_and_cover_every_line(text: str) -> None:
    """Whatever the text, nothing raises and nothing is lost."""
    assert_laws(parse_markdown("docs/a.md", text), text)


@pytest.mark.requirement("004-11")
@given(_TEXTS, st.sampled_from(["a.rst", "a.adoc", "a.txt", "a.yaml", "a.py"]))
@settings(derandomize=True, max_examples=300, deadline=None)
def test_text_chunks_are_ordered_disjoint_and_cover_every_line(text: str, path: str) -> None:
    """Whatever the text, nothing raises and nothing is lost."""
    assert_laws(parse_text(path, text, CONFIG), text)


@given(_TEXTS)
@settings(derandomize=True, max_examples=100, deadline=None)
def test_chunks_of_more_than_one_line_keep_to_the_limit(text: str) -> None:
    """A chunk is about what the embedding model reads of it."""
    for chunk in (*parse_markdown("a.md", text).chunks, *parse_text("a.txt", text, DATA).chunks):
        assert len(chunk.text) <= LIMIT or chunk.start_line == chunk.end_line


# ---------------------------------------------------------------- Markdown: sections

GUIDE = """\
# Guide

Welcome.

## Install

Run it.

### On Linux

Use the package.

Usage
-----

```sh
# not a heading
```

## `run()` and [more](x.md) ##
"""


@pytest.mark.requirement("003-08")
def test_headings_become_section_symbols_with_their_path_and_span() -> None:
    """ATX and setext headings; a comment inside a fence is none."""
    symbols = parse_markdown("guide.md", GUIDE).symbols
    assert [(symbol.qualified_name, symbol.start_line, symbol.end_line) for symbol in symbols] == [
        ("Guide", 1, 20),
        ("Guide > Install", 5, 11),
        ("Guide > Install > On Linux", 9, 11),
        ("Guide > Usage", 13, 18),
        ("Guide > run() and more", 20, 20),
    ]


@pytest.mark.requirement("003-08")
def test_a_chunk_knows_the_headings_around_it_and_those_that_begin_in_it() -> None:
    """The header path; subsections are joined to a small section, the next chapter is not."""
    chunks = parse_markdown("guide.md", GUIDE).chunks
    assert [(chunk.enclosing, chunk.names, chunk.symbol) for chunk in chunks] == [
        ((), ("Guide",), "Guide"),
        (("Guide",), ("Install", "On Linux"), "Guide > Install"),
        (("Guide",), ("Usage",), "Guide > Usage"),
        (("Guide",), ("run() and more",), "Guide > run() and more"),
    ]


def test_a_long_section_is_cut_between_paragraphs_and_its_pieces_keep_the_path() -> None:
    """The pieces after the first lie in the section, they do not begin it."""
    text = "# Book\n\n## Chapter\n\n" + "\n\n".join(f"Paragraph {n}. " + "word " * 100 for n in range(6))
    first, *rest = parse_markdown("book.md", text).chunks
    assert first.names == ("Book", "Chapter")
    assert rest
    assert all(chunk.text.startswith("Paragraph") for chunk in rest)
    assert all(chunk.enclosing == ("Book", "Chapter") and chunk.names == () for chunk in rest)


def test_a_fenced_block_is_not_cut_at_its_blank_lines() -> None:
    """Half an example is no example."""
    fence = "```py\n" + "\n\n".join("x = 1  # " + "y" * 60 for _ in range(12)) + "\n```"
    text = "# Long\n\n" + "intro " * 150 + "\n\n" + fence + "\n\n" + "outro " * 150
    assert any(fence in chunk.text for chunk in parse_markdown("long.md", text).chunks)


@pytest.mark.parametrize(
    "text",
    [
        "```\n# a\n```",
        "~~~~\n```\n# a\n~~~\n~~~~",
        "- item\n\n  ```\n# closes the item, so the fence too\n  ```\n",
        "    # indented code",
        "<!--\n# a\n-->",
        "<pre>\n\n# a\n</pre>",
        "> # quoted",
        "- # in a list",
        "#hashtag",
        "a | b\n--- | ---\n1 | 2",
        "\\# escaped",
    ],
)
def test_what_only_looks_like_a_heading_is_none(text: str) -> None:
    """CommonMark: fences, indented code, HTML, quotes, lists, tables."""
    headings = [symbol.name for symbol in parse_markdown("a.md", text).symbols]
    assert headings == (["closes the item, so the fence too"] if "closes" in text else [])


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        ("# A #\n\n## [1.2.0](x) - now\n\n### **Bold** _x_ `c`", ["A", "1.2.0 - now", "Bold _x_ c"]),
        ("two\nlines\n===\n", ["two lines"]),
        ("- item\n---\n# after a rule", ["after a rule"]),
        ("```\nunclosed\n# a", []),
        ("# C#\n## {#only-anchor}", ["C#"]),
        ("<details>\n\n## inside\n\n</details>", ["inside"]),
    ],
)
def test_titles_are_bare_text(text: str, titles: list[str]) -> None:
    """Markup says nothing; underscores are part of names and stay."""
    assert [symbol.name for symbol in parse_markdown("a.md", text).symbols] == titles


# ---------------------------------------------------------------- Markdown: links


def links(text: str, path: str = "docs/guide/start.md") -> list[tuple[str, str, int]]:
    relations: tuple[Relation, ...] = parse_markdown(path, text).relations
    return [(relation.target, relation.target_module, relation.line) for relation in relations]


@pytest.mark.requirement("001-08b")
@pytest.mark.parametrize(
    ("text", "link"),
    [
        ("[[note]]", ("note", "note", 1)),
        ("a\n[[note|shown]]", ("note", "note", 2)),
        ("[[folder/note.md#Heading]]", ("note", "folder/note", 1)),
        ("[[Node.js]]", ("Node.js", "Node.js", 1)),
        ("![[embed]]", ("embed", "embed", 1)),
        ("[t](../api.md#h)", ("api", "/docs/api", 1)),
        ("[t](./b.md 'title')", ("b", "/docs/guide/b", 1)),
        ("[t](<with space.md>)", ("with space", "/docs/guide/with space", 1)),
        ("[t](with%20space.md?raw=1)", ("with space", "/docs/guide/with space", 1)),
        ("[t](/docs/x.md)", ("x", "docs/x", 1)),
        ("[t](a(1).md)", ("a(1)", "/docs/guide/a(1)", 1)),
        ("[code](../../src/app.py)", ("app", "/src/app", 1)),
        ("[![badge](b.svg)](c.md)", ("c", "/docs/guide/c", 1)),
        ("[t][r]\n\n[r]: ref.md", ("ref", "/docs/guide/ref", 1)),
        ("[Ref Name][]\n\n[ref  name]: <ref.md> 'title'", ("ref", "/docs/guide/ref", 1)),
        ("see [ref]\n\n[ref]: ref.md", ("ref", "/docs/guide/ref", 1)),
        ("- a\n- [t](b.md)", ("b", "/docs/guide/b", 2)),
        ("`unclosed [t](b.md)", ("b", "/docs/guide/b", 1)),
    ],
)
def test_a_link_leads_to_a_file(text: str, link: tuple[str, str, int]) -> None:
    """Wikilinks, embeds, relative and reference links; "/" begins a path that is certain."""
    assert links(text) == [link]


@pytest.mark.requirement("001-08b")
@pytest.mark.parametrize(
    "text",
    [
        "[t](https://example.com/a.md)",
        "[t](mailto:a@b.c)",
        "[t](//host/a.md)",
        "[t](#section)",
        "![image](a.png)",
        "`[t](a.md)`",
        "``[[x]] ` ``",
        "```\n[t](a.md)\n```",
        "    [[indented]]",
        "<!-- [[x]] -->",
        "\\[t](a.md)",
        "[t](../../../outside.md)",
        "- [ ] task",
        "[undefined]",
        "[r]: unused.md",
        "[t][missing]",
        "a](b.md)",
    ],
)
def test_what_leads_to_no_other_file_is_no_link(text: str) -> None:
    """URLs, anchors, images, code, escapes and paths outside of the project."""
    assert links(text) == []


@pytest.mark.requirement("B-15")
def test_a_link_knows_the_section_it_stands_in_and_counts_once_there() -> None:
    """One edge per section and target, from the section's qualified name."""
    text = "[[a]]\n# One\n[[a]] [[a]]\n## Two\n[[a]]\n"
    relations = parse_markdown("a.md", text).relations
    assert [(relation.source, relation.line) for relation in relations] == [("", 1), ("One", 3), ("One > Two", 5)]


# ---------------------------------------------------------------- Markdown: facts


@pytest.mark.requirement("002-04", "K-20")
def test_front_matter_states_facts() -> None:
    """Status, priority, type, tags and supersedes feed the trust signals."""
    text = (
        "---\ntitle: Use SQLite\nStatus: Superseded by ADR-0012\nretrieval_priority: 80\ntype: adr\n"
        "tags: [db, storage]\nsupersedes:\n  - ADR-0003\nnested: {status: draft}\n---\n# Other title\n"
    )
    facts = parse_markdown("adr.md", text).facts
    assert (facts.title, facts.status, facts.priority) == ("Use SQLite", DocumentStatus.SUPERSEDED, 80)
    assert (facts.type, facts.tags, facts.supersedes) == ("adr", ("db", "storage"), ("ADR-0003",))


@pytest.mark.requirement("002-20", "K-20")
@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("# 1. Use X\n\n## Status\n\nAccepted\n\n## Context\n", DocumentStatus.ACTIVE),
        ("# 1. Use X\n\n## Status\n\n![](superseded by y.md)\n", None),
        ("# 1. Use X\n\n## Status\n\nSuperceded by [2. Use Y](0002-use-y.md)\n", DocumentStatus.SUPERSEDED),
        ("# X\n\n## Status\n\nAccepted\n\nSuperseded by [ADR-2](2.md)\n", DocumentStatus.SUPERSEDED),
        ("# X\n\n## Status\n\nAccepted. Supersedes [ADR-1](1.md)\n", DocumentStatus.ACTIVE),
        ("# X\n\nStatus\n------\n\nThis decision is deprecated.\n", DocumentStatus.DEPRECATED),
        ("# X\n\n* Status: rejected\n* Date: 2024-01-01\n", DocumentStatus.REJECTED),
        ("# X\n\n- **Status**: Proposed\n", DocumentStatus.PROPOSED),
        ("# X\n\n**Status:** Accepted\n", DocumentStatus.ACTIVE),
        ("---\nstatus: accepted\n---\n## Status\n\nRejected\n", DocumentStatus.ACTIVE),
        ("# X\n\n## Status\n\n{proposed | accepted | rejected}\n", None),
        ("# X\n\n## Status\n\nThe old endpoints are now deprecated, the new ones are not.\n", None),
        ("# X\n\nWe deprecated it.\n", None),
        ("", None),
    ],
)
def test_the_status_is_read_in_madr_and_nygard_form(text: str, status: DocumentStatus | None) -> None:
    """A `status:` key, a `Status:` line or a `Status` section."""
    assert parse_markdown("adr.md", text).facts.status is status


@pytest.mark.requirement("K-20")
def test_a_status_section_names_what_the_decision_supersedes() -> None:
    """In the Nygard form the successor names its predecessor below its status."""
    facts = parse_markdown("a.md", "## Status\n\nAccepted\n\nSupersedes [ADR-0003](0003.md)\n").facts
    assert facts.supersedes == ("ADR-0003",)


@pytest.mark.requirement("002-04")
@pytest.mark.parametrize("value", ["101", "-1", "high", "nan", "inf", "[1, 2", ".5e999", "''"])
def test_a_priority_out_of_range_is_none(value: str) -> None:
    """0 to 100; nothing is clamped."""
    assert parse_markdown("a.md", f"---\npriority: {value}\n---\n").facts.priority is None


@pytest.mark.parametrize(
    "block", ["? [a, b]\n: c\nstatus: draft", "*x : y\nstatus: draft", "a: &x {b: c}\nstatus: draft"]
)
def test_keys_and_values_that_are_not_flat_are_passed_over(block: str) -> None:
    """Whatever stands around it, a flat value keeps its key."""
    assert parse_markdown("a.md", f"---\nx: &x 1\n{block}\n---\n").facts.status is DocumentStatus.PROPOSED


@pytest.mark.requirement("004-11")
def test_malformed_front_matter_is_a_note_and_the_document_is_still_read() -> None:
    """The note names the line; what stands before the fault is kept."""
    parsed = parse_markdown("a.md", "---\nstatus: draft\nx: [1\ny: 'z\n---\n# Title\n")
    assert parsed.note.startswith("the front matter is not valid YAML")
    assert (parsed.facts.status, parsed.facts.title) == (DocumentStatus.PROPOSED, "Title")


def test_an_alias_bomb_costs_no_more_than_its_length() -> None:
    """Front matter is untrusted: nothing is constructed, so nothing expands."""
    levels = [f"l{n}: &l{n}\n  <<: [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 30)]
    text = "---\nl0: &l0 {a: b}\n" + "\n".join(levels) + "\ntags: *l29\nstatus: draft\n---\n"
    began = time.process_time()
    facts = parse_markdown("a.md", text).facts
    assert time.process_time() - began < HANG_SECONDS
    assert (facts.status, facts.tags) == (DocumentStatus.PROPOSED, ())


def test_a_rule_at_the_top_without_a_closing_one_is_no_front_matter() -> None:
    """`---` is also a thematic break."""
    assert [symbol.name for symbol in parse_markdown("a.md", "---\n# Title\n").symbols] == ["Title"]


# ---------------------------------------------------------------- other text


def test_restructured_text_has_sections_by_the_order_of_its_adornments() -> None:
    """The style met first is the highest level; an overline makes another style."""
    text = "=====\nTitle\n=====\n\nIntro.\n\nPart\n====\n\nChapter\n-------\n\nText.\n\nOther\n=====\n"
    names = [symbol.qualified_name for symbol in parse_text("a.rst", text, DOCUMENTATION).symbols]
    assert names == ["Title", "Title > Part", "Title > Part > Chapter", "Title > Other"]


def test_asciidoc_has_sections_outside_of_its_blocks() -> None:
    """A listing may hold lines that look like titles."""
    text = "= Title\n\n== Part\n\n----\n== not a title\n----\n"
    names = [symbol.qualified_name for symbol in parse_text("a.adoc", text, DOCUMENTATION).symbols]
    assert names == ["Title", "Title > Part"]


@pytest.mark.parametrize(("heading", "part"), [(".SH", ".SS"), (".Sh", ".Ss")])
def test_man_pages_have_sections(heading: str, part: str) -> None:
    """With the macros of man and of mdoc."""
    text = f'.TH tool 1\n{heading} "EXIT STATUS"\n.B 0\n{part} "On\\-\\fBline\\fR"\nText.\n{heading} FILES\n.nf\n'
    symbols = parse_text("man/tool.1", text, DOCUMENTATION).symbols
    assert [symbol.qualified_name for symbol in symbols] == ["EXIT STATUS", "EXIT STATUS > On-line", "FILES"]


def test_configuration_is_cut_at_its_least_indented_keys() -> None:
    """A job of a pipeline stays in one piece when it fits."""
    job = "  job{n}:\n    steps:\n" + "".join(f"      - run: command {n} with options\n" for n in range(20))
    text = "name: ci\njobs:\n" + "".join(job.replace("{n}", str(n)) for n in range(5))
    chunks = parse_text("ci.yml", text, CONFIG, "yaml").chunks
    assert [chunk.text.splitlines()[0].strip() for chunk in chunks[1:]] == [f"job{n}:" for n in range(1, 5)]


@pytest.mark.requirement("004-12")
def test_a_giant_line_is_a_chunk_of_its_own_cut_to_what_can_be_shown() -> None:
    """A line of megabytes costs neither the file nor the memory."""
    parsed = parse_text("a.txt", "before\n\n" + "x" * 1_000_000 + "\n\nafter", DATA)
    assert [len(chunk.text) for chunk in parsed.chunks] == [6, LINE_LIMIT, 5]


@pytest.mark.requirement("004-11")
def test_the_note_and_language_of_a_fallback_are_kept() -> None:
    """Code that cannot be parsed says so."""
    parsed = parse_text("a.py", "def (", Category.IMPLEMENTATION, "python", "syntax errors")
    assert (parsed.language, parsed.note, parsed.mode) == ("python", "syntax errors", ParseMode.TEXT)


# ---------------------------------------------------------------- cards


@pytest.mark.requirement("004-12")
@pytest.mark.parametrize(
    ("path", "text", "category", "reason"),
    [
        ("yarn.lock", "a\n", DATA, "lock file"),
        ("logo.svg", "<svg/>", DATA, "drawing"),
        ("app.min.js", "x", Category.VENDORED, "minified"),
        ("app.js", "var a=1;" * 2000, Category.IMPLEMENTATION, "minified"),
        ("app.js", "var a=1;" * 2000 + "\n" + "run()\n" * 1000, Category.IMPLEMENTATION, "minified"),
        ("api.ts", "import {a} from 'b'" * 300 + "\n" + "run()\n" * 1000, Category.IMPLEMENTATION, ""),
        ("prices.csv", "1,2,3\n" * 20_000, DATA, "data file of 120.0 kB"),
        ("schema.json", '{"a": 1},\n' * 310_000, CONFIG, "configuration of 3.1 MB"),
        ("docs/Foo.html", "<html><!-- Generated by javadoc -->", DOCUMENTATION, "generated HTML"),
        ("api.pb.go", "// Code generated by x. DO NOT EDIT.\n", DATA, "generated"),
        ("app.py", "x = 1\n", Category.IMPLEMENTATION, ""),
        ("README.md", "A long paragraph. " * 2000, DOCUMENTATION, ""),
        ("page.html", "<html>\n<p>Hello</p>\n", DOCUMENTATION, ""),
        ("prices.csv", "1,2,3\n", DATA, ""),
    ],
)
def test_what_nobody_reads_line_by_line_becomes_a_card(path: str, text: str, category: Category, reason: str) -> None:
    """Data, lock, minified and generated files, with the reason."""
    assert needs_card(path, text, category) == reason


def test_a_card_shows_path_reason_size_and_first_lines() -> None:
    """One chunk that spans the lines it shows."""
    parsed = card("data/prices.csv", "name,price\n" + "apple,1\n" * 9_999, DATA, "data file")
    (chunk,) = parsed.chunks
    head, first, *_ = chunk.text.split("\n")
    assert head == "data/prices.csv (data file, 80.0 kB, 10,000 lines)"
    assert first == "name,price"
    assert (chunk.start_line, chunk.end_line) == (1, chunk.text.count("\n"))
    assert (parsed.mode, parsed.note, len(chunk.text) <= 500) == (ParseMode.CARD, "data file", True)


@pytest.mark.requirement("004-12")
@given(_TEXTS, st.sampled_from(list(Category)))
@settings(derandomize=True, max_examples=100, deadline=None)
def test_any_text_makes_a_card_of_bounded_length(text: str, category: Category) -> None:
    """Cards never raise, and their span lies in the file."""
    assert isinstance(needs_card("a.html", text, category), str)
    for chunk in card("a" * 600, text, category, "why").chunks:
        assert len(chunk.text) <= 500
        assert 1 == chunk.start_line <= chunk.end_line <= text.count("\n") + 1


# ---------------------------------------------------------------- hostile input


@pytest.mark.requirement("004-12")
@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "](" * 50_000,
        "`" * 50_001 + "a" + "``" * 20_000,
        "".join("`" * n + " " for n in range(1, 300)) * 2,
        "# " + " " * 100_000 + "x",
        "# " + "#" * 100_000 + "x",
        "> " * 50_000,
        "- " * 50_000,
        "status" + "*" * 100_000,
        "[a]:" + " " * 100_000,
        "```\n" * 20_000,
        "a\n===\n" * 5_000,
        "x\n\n" * 20_000,
        "<a " * 30_000,
        "".join(" " * n + "k:\n" for n in range(400)),
        "[t](b" + " " * 100_000,
        "---\n" + "[" * 16_000 + "\n---\n",
        "![[" * 30_000,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_no_text_takes_longer_than_its_length_allows(text: str) -> None:
    """Time is linear in the text: 100 kB of the worst kind would take hours otherwise."""
    began = time.process_time()
    assert_laws(parse_markdown("a.md", text), text)
    assert_laws(parse_text("a.rst", text, DATA), text)
    assert time.process_time() - began < HANG_SECONDS
