"""Whatever bytes, text or values come in, nothing breaks: the laws of `benchmarks.fuzz`, held against what Hypothesis
makes up, and against what once broke them or is built to take long.
"""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks import fuzz
from graphrag_mcp.app.local import App
from graphrag_mcp.errors import RequestError, SettingsError
from graphrag_mcp.exclusion.manager import ExclusionManager
from graphrag_mcp.model.fields import outer_fields
from graphrag_mcp.model.paths import normalise_paths
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import SearchRequest
from graphrag_mcp.parsing.documents.documents import parse_markdown
from graphrag_mcp.parsing.parser import parse_file
from graphrag_mcp.settings import SECTIONS, IndexingSettings, load_settings
from graphrag_mcp.text.secrets import load_rules, mask_secrets
from graphrag_mcp.tools.table import TOOLS
from tests.parsing.code_samples import SAMPLES
from tests.reliability.conftest import Size
from tests.waiting import HANG_SECONDS

Hold = Callable[..., None]


@pytest.fixture
def hold(size: Size) -> Hold:
    """`hold(law, *strategies, short=…, whole=…)`: try a law with so many values; in the short form, always the same."""

    def check(law: Callable[..., None], *strategies: st.SearchStrategy[Any], short: int, whole: int) -> None:
        @settings(
            max_examples=size(short, whole),
            derandomize=bool(size(True, False)),
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(st.tuples(*strategies))
        def try_all(values: tuple[Any, ...]) -> None:
            law(*values)

        try_all()

    return check


@pytest.fixture
def no_git(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without git on the path, rules are read in a tenth of the time; its own are not what is tested here."""
    monkeypatch.setenv("PATH", "")


def timed(work: Callable[[], object]) -> float:
    """Return the seconds of CPU time that it takes, since the machine may have other work."""
    started = time.process_time()
    work()
    return time.process_time() - started


# ---------------------------------------------------------------- what is made up

names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="/\0"), min_size=1, max_size=20)
paths = st.one_of(
    st.lists(names, min_size=1, max_size=4).map("/".join),
    st.sampled_from(["src/", "tests/", "docs/", "vendor/a/", ""]).flatmap(
        lambda folder: st.sampled_from([*SAMPLES, "a.md", "a.rst", "a.adoc", "a.json", "a.h", "a.svg", "Makefile"]).map(
            folder.__add__
        )
    ),
)
any_bytes = st.one_of(
    st.binary(max_size=400),
    st.text(max_size=300).map(lambda text: text.encode("utf-8", "replace")),
    st.text(max_size=200).flatmap(
        lambda text: st.sampled_from(["utf-8-sig", "utf-16", "utf-32"]).map(lambda name: text.encode(name, "replace"))
    ),
)


@st.composite
def mutated(draw: st.DrawFn, data: bytes) -> bytes:
    """Bytes of which pieces are gone, doubled, moved, or replaced."""
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.sampled_from([0, 1, 3, 20, 200, 5000])))
        piece = data[start:end]
        put = draw(st.one_of(st.just(b""), st.just(piece * 2), st.binary(max_size=8), st.sampled_from(MARKS)))
        data = data[:start] + put + data[end:]
    return data


MARKS = [
    b"\0",
    b"\xff",
    b"\r",
    b"\n\n",
    b"\t",
    b"(" * 50,
    b"}" * 50,
    b'"""',
    b"/*",
    b"`",
    b"<!--",
    b"\xef\xbb\xbf",
    b"\\",
]
mutated_code = st.sampled_from(sorted(SAMPLES)).flatmap(
    lambda name: st.tuples(st.just(f"src/{name}"), mutated(SAMPLES[name].encode()))
)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=8), inner, max_size=4)),
    max_leaves=8,
)


@pytest.mark.usefixtures("no_git")
@pytest.mark.parametrize("name", fuzz.TARGETS)
def test_the_first_inputs_of_every_target_keep_its_law(tmp_path: Path, name: str) -> None:
    """What `python -m benchmarks.fuzz` begins with."""
    target = fuzz.TARGETS[name]
    law = target.law(tmp_path)
    for seed in target.seeds():
        law(*target.read(seed))


# ---------------------------------------------------------------- files


def test_any_bytes_under_any_path_are_a_file_of_whole_lines(hold: Hold, tmp_path: Path) -> None:
    """The parser never raises, and keeps the order and the lines."""
    law = fuzz.parser_law(tmp_path)
    hold(law, paths, any_bytes, short=40, whole=20_000)


def test_broken_code_of_every_language_is_a_file_of_whole_lines(hold: Hold, tmp_path: Path) -> None:
    """What is half written, cut off or mixed up is parsed like the rest."""
    law = fuzz.parser_law(tmp_path)
    hold(lambda given: law(*given), mutated_code, short=40, whole=20_000)


@pytest.mark.parametrize(
    "unit", ["(", "[{", "<a>", "# ", "> ", "- ", "* [", "```\n", "if x:\n ", "a.", "'", "\\", "🎉", "a,\n"]
)
@pytest.mark.parametrize("path", ["a.py", "a.ts", "a.md", "a.rst", "a.hs"])
def test_no_repetition_takes_long_to_parse(size: Size, path: str, unit: str) -> None:
    """300 kB of one thing, as one line and as lines of a hundred."""
    text = unit * (size(6_000, 300_000) // len(unit))
    lines = "\n".join(text[at : at + 100] for at in range(0, len(text), 100))
    assert timed(lambda: parse_file(path, text.encode())) < fuzz.SLOW_SECONDS
    assert timed(lambda: parse_file(path, lines.encode())) < fuzz.SLOW_SECONDS


# ---------------------------------------------------------------- secrets


def test_masking_keeps_the_lines_and_is_done_once(hold: Hold, tmp_path: Path) -> None:
    """For bytes, and for what resembles secrets."""
    law = fuzz.secrets_law(tmp_path)
    letters = st.text("a1B2-_./+= \n\"'", min_size=1, max_size=60)
    hints = st.sampled_from([*load_rules().formats, "password", "Token: ", "db_pass=", "| secret |", "kind: Secret"])
    alike = st.lists(st.one_of(hints, letters, st.just("aB3dE6gH1jK4mN7pQ0sT2vW5yZ8" * 2)), max_size=12).map("".join)
    hold(law, any_bytes, short=50, whole=20_000)
    hold(law, alike.map(str.encode), short=100, whole=50_000)


def _hostile() -> Iterator[str]:
    yield from load_rules().formats
    yield from (
        "password",
        "token1=",
        "pass ",
        "salt',",
        "password,token\n",
        "|secret|a|\n",
        "password {",
        "secret is ",
    )
    yield from ("kind: Secret\ndata:\n", "password: |\n", "passwordvalue=", 'token"a" + ', "pwd ? 'a' : ", "key -p ")
    yield from ("-----BEGIN PRIVATE KEY-----", "-----BEGIN ", "://" + "a" * 99 + ":", "aws key=", "password='", "://:@")
    yield from ('"', "'", "`", '"' + "a1" * 90, "secret: '", "eyJ" + "a" * 10 + ".", "A" * 39 + "/")


MORE_ENDS = [pytest.param(end, marks=pytest.mark.slow) for end in ("-", ".", "a1", ":", "=")]


@pytest.mark.parametrize("end", ["", " ", "\n", "A", *MORE_ENDS], ids=repr)
def test_masking_what_resembles_a_secret_takes_time_in_proportion(size: Size, end: str) -> None:
    """A megabyte of nothing but what rules begin with is read in eight seconds, and most in two."""
    for unit in _hostile():
        for length in sorted({4_000, size(4_000, 1_000_000)}):  # First little: quadratic time would be hours of much.
            text = ((end + unit) * (length // len(end + unit) + 1))[:length]
            seconds = timed(lambda text=text: mask_secrets(text))
            assert seconds < HANG_SECONDS, (unit, length)


@pytest.mark.parametrize(
    "start", ["://", "-----BEGIN PRIVATE KEY-----", "aws key=", "awsaws" * 4 + "key" * 4 + "=" * 12, "eyJ", '"']
)
@pytest.mark.parametrize("unit", [":", " ", "A", "\n", "A" * 40 + "\n", "-"])
def test_masking_what_begins_and_never_ends_takes_time_in_proportion(size: Size, start: str, unit: str) -> None:
    """The same, where the end of a secret is looked for in all the rest."""
    text = start + unit * (size(50_000, 1_000_000) // len(unit))
    assert timed(lambda: mask_secrets(text)) < HANG_SECONDS


# ---------------------------------------------------------------- front matter

YAML_MARKS = [
    "---",
    "...",
    "a:",
    "b:",
    "-",
    "[",
    "]",
    "{",
    "}",
    "&",
    "*",
    "!",
    "|",
    ">",
    "'",
    '"',
    "#",
    "%",
    "@",
    "?",
    ",",
    ":",
    "status",
    "tags",
    "&a",
    "*a",
    "!!x",
]
yaml_pieces = st.lists(
    st.one_of(
        st.sampled_from([*YAML_MARKS, "\t", "\n"]),
        st.sampled_from(["\n", "\n  ", ": ", "\n- "]),
        st.text(max_size=6),
    ),
    max_size=25,
).map("".join)


def test_any_front_matter_is_read(hold: Hold, tmp_path: Path) -> None:
    """Flat values or a note; never an exception."""
    law = fuzz.front_matter_law(tmp_path)
    hold(law, yaml_pieces.map(lambda text: f"---\n{text}\n---\n# A\n\ntext\n"), short=50, whole=20_000)
    hold(law, st.text(max_size=300), short=20, whole=10_000)


BOMBS = {
    "aliases": "a: &a [x, x]\n"
    + "".join(f"{b}: &{b} [*{a}, *{a}]\n" for a, b in zip("abcdefghijk", "bcdefghijkl", strict=True)),
    "merge keys": "a: &a {x: 1}\nb:\n" + "  <<: *a\n" * 1_000,
    "flow lists": "a: " + "[" * 8_000,
    "flow tables": "a: " + "{a: " * 990,
    "flow lists, few": "[" * 990 + "]" * 990,
    "block lists": "- " * 8_000,
    "keys": "? " * 8_000,
    "block tables": "".join(f"{' ' * depth}a:\n" for depth in range(170)),
    "anchors": "&a " * 5_000,
    "quotes": '"' * 16_000,
    "tags": "!" * 16_000,
    "block scalars": "a: |\n" * 3_000,
    "documents": "--- a\n" * 2_000,
    "comments": "#\n" * 8_000,
}


@pytest.mark.parametrize("name", BOMBS)
def test_no_front_matter_takes_long(name: str, tmp_path: Path) -> None:
    """Bombs of aliases and of nesting cost what their length costs."""
    text = f"---\n{BOMBS[name]}\n---\n# A\n"
    fuzz.front_matter_law(tmp_path)(text)
    assert timed(lambda: parse_markdown("docs/a.md", text)) < HANG_SECONDS


# ---------------------------------------------------------------- ignore files

patterns = st.lists(
    st.one_of(
        st.sampled_from(
            [b"*", b"**", b"/", b"!", b"?", b"[", b"]", b"[!", b"a-z", b"[:alpha:]", b"\\", b" ", b"\n", b"#"]
        ),
        st.sampled_from([b":include:", b".gitignore\n", b"..", b"a", b"b.py", b"\r\n", b"\0", b"\xef\xbb\xbf"]),
        st.binary(max_size=3),
    ),
    max_size=20,
).map(b"".join)
asked = st.one_of(
    st.sampled_from(["a", "a/b.py", "./a/", "/", "", "..", "a/../../b", "a\0b", "\udcff", "a//b"]), st.text()
)


@pytest.mark.usefixtures("no_git")
def test_any_bytes_are_an_ignore_file(hold: Hold, tmp_path: Path) -> None:
    """And any path has one answer, also when the rules are read again."""
    hold(fuzz.ignore_file_law(tmp_path), patterns, asked, st.booleans(), short=60, whole=20_000)


@pytest.mark.usefixtures("no_git")
@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 60 + "*b", "a" * 4_000),
        ("a*" * 60 + "b", "a" * 4_000),
        ("**/a/" * 60 + "b", "a/" * 300 + "c"),
        ("/**/a" * 60 + "/**/b/*", "a/" * 300 + "c"),
        ("*/" * 60 + "**/*a*/b", "aa/" * 1_000 + "c"),
        ("[a-z]*" * 60 + "[!a]", "a" * 4_000),
        ("?*" * 100 + "b", "a" * 4_000),
        ("*" * 3_000 + "b", "a" * 4_000),
        ("[" * 3_000, "["),
        ("[[:alpha:]" * 500 + "]", "a"),
        ("\\" * 3_001, "\\"),
        ("\n".join(f"*{number}*x/?" for number in range(1_000)), "a/b/" * 10),
        ("\n".join(f"/a/**/{number}[0-9]" for number in range(200)), "a/" * 20 + "b"),
        (":include:.graphragignore\n" * 500, "a"),
    ],
    ids=range(14),
)
def test_no_pattern_takes_long(tmp_path: Path, pattern: str, path: str) -> None:
    """A second for reading the file and asking about one path."""
    (tmp_path / ".graphragignore").write_text(pattern)

    def ask() -> bool:
        return ExclusionManager(tmp_path, IndexingSettings()).should_exclude(path)

    assert timed(ask) < HANG_SECONDS


# ---------------------------------------------------------------- settings

setting_names = st.sampled_from(
    [f"GRAPHRAG_{name.upper()}" for section in SECTIONS.values() for name in outer_fields(section)]
)
variables = st.one_of(
    setting_names,
    st.sampled_from(["KB_RRF_K", "GRAPHRAG_ROOT", "GRAPHRAG_LOG_LEVEL", "HOME"]),
    st.text(max_size=10).map("GRAPHRAG_".__add__),
)
environments = st.dictionaries(
    variables,
    st.one_of(
        st.text(max_size=20),
        st.sampled_from(
            ["1", "-1", "nan", "inf", "1e999", "9" * 5_000, "true", "{}", "http://[", "bolt://u:p@h", "\udcff"]
        ),
    ),
    max_size=5,
)
SETTINGS_TEXT = (
    b"\n".join(list(fuzz.TARGETS["settings"].seeds())[:1]) + b"\n[retrieval]\nrrf_k = 60\nexpansions = {a = ['b']}\n"
)


def test_any_file_and_environment_are_settings_or_named_problems(hold: Hold, tmp_path: Path) -> None:
    """Nothing but a SettingsError comes out, and it says which setting is meant."""
    law = fuzz.settings_law(tmp_path)
    hold(law, st.one_of(st.just(b""), any_bytes, mutated(SETTINGS_TEXT)), environments, short=80, whole=20_000)


@pytest.mark.parametrize(
    "content",
    [
        b"a = " + b"[" * 5_000 + b"]" * 5_000,
        b"a = " + b"{a=" * 2_000 + b"1" + b"}" * 2_000,
        b"a = " + b"1" * 5_000,
        b"[retrieval]\nrrf_k = " + b"1" * 4_000,
        b"a" + b".a" * 500 + b" = 1",
        b"[[a]]\n" * 500,
        b"\xff\xfe",
        b"[indexing]\nignore_file = ''",
        b"indexing = 1\nservers = [1]\nretrieval = 1979-05-27",
    ],
    ids=range(9),
)
def test_a_settings_file_that_is_built_to_break_is_a_problem_like_any_other(tmp_path: Path, content: bytes) -> None:
    """Nesting, and numbers that Python refuses to read."""
    fuzz.settings_law(tmp_path)(content, {"GRAPHRAG_RRF_K": "7"})


@pytest.mark.parametrize("name", ["ignore_file", "data_dir"])
def test_no_setting_holds_a_nul(tmp_path: Path, name: str) -> None:
    """No file and no folder has such a name; whoever opened it would break."""
    (tmp_path / ".graphrag.toml").write_text(f'[indexing]\n{name} = "a\\u0000"\n')
    with pytest.raises(SettingsError, match=name):
        load_settings(tmp_path, {})


# ---------------------------------------------------------------- tool arguments

argument_names = sorted({name for tool in fuzz.ASKED_TOOLS for name in TOOLS[tool].schema()["properties"]})
sensible = st.one_of(
    st.text(max_size=30),
    st.lists(st.one_of(paths, patterns.map(lambda text: text.decode(errors="replace"))), max_size=4),
    st.sampled_from(
        ["json", "concise", ["tests"], 1, 0.5, True, None, "a query", ["/etc/passwd"], ["\ud800"], "\udfff" * 3]
    ),
)
arguments = st.dictionaries(
    st.one_of(st.sampled_from(argument_names), st.text(max_size=10)), st.one_of(sensible, values)
)


def test_any_json_object_is_a_request_or_an_error_that_names_the_argument(hold: Hold, tmp_path: Path) -> None:
    """For each tool; most calls are made valid but for one argument."""
    law = fuzz.arguments_law(tmp_path)
    hold(law, st.sampled_from(fuzz.ASKED_TOOLS), arguments, short=25, whole=20_000)
    hold(
        lambda tool, given: law(tool, {"query": "a query", **given}),
        st.sampled_from(fuzz.ASKED_TOOLS),
        st.dictionaries(st.sampled_from(argument_names), sensible, max_size=2),
        short=25,
        whole=20_000,
    )


# ---------------------------------------------------------------- the wire

messages = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0"),
        "id": values,
        "method": st.one_of(st.just("tools/call"), values),
        "params": st.one_of(st.fixed_dictionaries({}, optional={"name": values, "arguments": values}), values),
    },
).map(json.dumps)
broken_messages = st.sampled_from([r"\ud800", r"\udfff", "NaN", "1e999", "\x1f", '"', "{", "[" * 300]).flatmap(
    lambda mark: messages.map(lambda text: text.replace("null", f'"{mark}"').replace("0", f'["{mark}"]'))
)
lines = st.lists(
    st.one_of(any_bytes, messages.map(str.encode), broken_messages.map(str.encode)), min_size=1, max_size=5
).flatmap(lambda parts: st.sampled_from([b"\n", b"\r\n", b"\n\n"]).map(lambda end: end.join(parts)))


def test_every_line_is_handed_on_as_json_or_answered(hold: Hold, tmp_path: Path) -> None:
    """None is dropped, and none stops the reader."""
    hold(fuzz.wire_law(tmp_path), lines, short=60, whole=50_000)


@pytest.mark.parametrize(
    "line",
    [
        rb'{"jsonrpc": "2.0", "id": 1, "method": "a", "params": {"arguments": ["\ud800"]}}',
        rb'{"jsonrpc": "2.0", "id": 1, "method": "a", "params": {"arguments": "\ud800"}}',
        rb'{"jsonrpc": "2.0", "id": "\ud800"}',
        rb'["\ud800"]',
        b'{"id": 1, "a": ' + b"[" * 300 + b"]" * 300 + b"}",
        b"[" * 100_000,
        b'{"id": ' + b"1" * 5_000 + b"}",
    ],
    ids=range(7),
)
def test_a_line_that_is_built_to_break_is_answered(tmp_path: Path, line: bytes) -> None:
    """Half a surrogate pair in a strange place, nesting, and numbers that Python refuses to read."""
    fuzz.wire_law(tmp_path)(line + b"\n")


# ---------------------------------------------------------------- queries


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """A small real index."""
    root = tmp_path_factory.mktemp("tree")
    for name, text in SAMPLES.items():
        (root / name).write_text(text, encoding="utf-8")
    (root / "README.md").write_text("# The shop\n\nSee [the cart](cart.js).\n")
    opened = App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(tmp_path_factory.mktemp("data"))}))
    opened.index()
    yield opened
    opened.close()


QUERY_MARKS = [
    '"',
    "(",
    ")",
    "*",
    "^",
    ":",
    "-",
    "+",
    "{",
    "}",
    "AND",
    "OR",
    "NOT",
    "NEAR(",
    "keywords:",
    "who",
    "calls",
    "tests",
    "for",
    "cart.js",
    "Account.open",
    "src/",
]
query_pieces = st.lists(
    st.one_of(
        st.sampled_from([*QUERY_MARKS, "\n"]),
        st.text(max_size=10),
    ),
    max_size=12,
).map(" ".join)


def test_any_text_is_a_query(hold: Hold, app: App) -> None:
    """Words of the query language of SQLite, names, paths, control characters, nothing at all."""

    def search(query: str, limit: int) -> None:
        assert len(app.search(SearchRequest(query, limit=limit)).primary) <= limit

    hold(search, st.one_of(query_pieces, st.text(max_size=100)), st.integers(1, 25), short=30, whole=5_000)


@pytest.mark.parametrize(
    "query",
    ["", " \n", "\0", "a" * 8_000, "a b " * 2_000, "(" * 8_000, '"' * 7_999, "A." * 4_000, "🎉" * 2_000],
)
def test_no_query_takes_long(app: App, query: str) -> None:
    """The longest that a tool accepts, and the shortest."""
    assert timed(lambda: app.search(SearchRequest(query))) < HANG_SECONDS


def test_any_scope_is_searched(hold: Hold, app: App) -> None:
    """Languages without files find nothing; what is no language, and paths without files, are refused."""

    def search(languages: Sequence[str], below: Sequence[str]) -> None:
        try:
            paths = normalise_paths(below, app.root)
            app.search(SearchRequest("open account", scope=Scope(languages=frozenset(languages), paths=paths)))
        except RequestError as error:
            assert error.argument in ("languages", "paths")

    hold(
        search,
        st.lists(st.one_of(st.sampled_from(["python", "ada"]), st.text(max_size=8)), max_size=3),
        st.lists(st.text(max_size=8), max_size=3),
        short=30,
        whole=2_000,
    )
