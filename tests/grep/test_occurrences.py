"""Every occurrence: what the bytes of a file rule out is exactly what is not in its masked text."""

import os
import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from graphrag_mcp.app.local import App
from graphrag_mcp.errors import RequestError, quoted
from graphrag_mcp.grep.needles import Required, create_needle
from graphrag_mcp.grep.occurrences import MAX_LINES, LearntFiles, Occurrence, ReadFile, find_occurrences
from graphrag_mcp.index import current_files, prepare
from graphrag_mcp.index.supervisor import Supervisor
from graphrag_mcp.model.files import ListedFile, Symbol
from graphrag_mcp.model.scope import EVERYTHING, Scope
from graphrag_mcp.model.search import Case
from graphrag_mcp.settings import load_settings
from graphrag_mcp.text.source import NotText, read_text
from graphrag_mcp.tools.find_occurrences import OCCURRENCES
from tests.grep.finding import occurrences
from tests.waiting import HANG_SECONDS

# Letters that stand for one another in any case, line ends, what masks are made of, and secrets.
KELVIN, LONG_S, DOTTED_I, DOTLESS_I = "\u212a", "\u017f", "\u0130", "\u0131"
PIECES = [
    *"kKsSiIaZ_0 []:.\t\n\r\"'=éÉßẞ\ufeff\ufffd",
    *(KELVIN, LONG_S, DOTTED_I, DOTLESS_I, "\r\n", "\U0001f600", "[secret: ", "GitHub token]", "token", "kiss"),
    *("AKIAIOSFODNN7ABCDEF2", "ghp_" + "a1B2" * 9, 'password = "x9Kq2mZ7vT4wB1nR"'),
]
texts = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)
encodings = st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32", "latin-1"])
files = st.one_of(
    st.builds(lambda text, encoding: text.encode(encoding, "replace"), texts, encodings),
    st.builds(lambda one, other: one.encode() + b"\xff\x00"[:1] + other.encode(), texts, texts),
    st.binary(max_size=12),
)


def expected_lines(data: bytes, text: str, *, whole_word: bool, case: Case) -> list[tuple[int, int, str]]:
    """Return (line, column, its text), found by comparing the needle at each place of the whole masked text."""
    read = read_text(data)
    assert not isinstance(read, NotText)
    ignores = case is Case.IGNORE or (case is Case.SMART and text == text.lower())
    searched, needle = (fold(read.text), fold(text)) if ignores else (read.text, text)
    lines: dict[int, tuple[int, int, str]] = {}
    for start in range(len(searched)):
        if searched.startswith(needle, start) and (not whole_word or is_whole(read.text, start, start + len(text))):
            above = read.text[:start]
            number = above.count("\n") + 1
            lines.setdefault(number, (number, len(above.rpartition("\n")[2]), read.text.split("\n")[number - 1]))
    return list(lines.values())


def fold(text: str) -> str:
    """Return letters that stand for one another as one letter, each as one; by Unicode's simple case folding."""
    return "".join({LONG_S: "s", DOTTED_I: DOTTED_I}.get(letter, letter.lower()) for letter in text)


def is_whole(text: str, start: int, end: int) -> bool:
    """Return whether no word goes on beyond either end."""
    return not (re.fullmatch(r"\w\w", text[max(0, start - 1) : start + 1]) if start else None) and not re.fullmatch(
        r"\w\w", text[end - 1 : end + 1]
    )


class Given:
    """Files that are given, with the signatures of those that were read before."""

    def __init__(self, contents: Mapping[str, bytes]) -> None:
        self._contents = contents
        self._learnt = LearntFiles()

    def listed(self, _scope: Scope) -> Sequence[ListedFile]:
        return ()

    def definitions(self, _file_ids: Collection[int]) -> Mapping[int, Sequence[Symbol]]:
        return {}

    def read(self, paths: Sequence[str], required: Required = ()) -> Iterator[ReadFile]:
        lacking = self._learnt.without(required)
        for path in paths:
            read = read_text(self._contents[path])
            if isinstance(read, NotText):
                yield path, None
            elif path not in lacking:
                self._learnt.learn(path, (0, 0, 0), read.text.encode(), is_plain=True)
                yield path, read.text.encode()


@pytest.mark.slow
@settings(max_examples=500, deadline=None)
@given(st.lists(files, max_size=4), texts.filter(bool), st.booleans(), st.sampled_from(Case))
def test_what_is_found_is_what_a_search_of_every_masked_text_finds(
    contents: list[bytes], text: str, whole_word: bool, case: Case
) -> None:
    """For any encoding, any letters that stand for one another, any line ends, and texts that masks are made of."""
    read = {f"{number}.txt": data for number, data in enumerate(contents)}
    readable = {path: data for path, data in read.items() if not isinstance(read_text(data), NotText)}
    expected = [
        Occurrence(path, *line)
        for path, data in readable.items()
        for line in expected_lines(data, text, whole_word=whole_word, case=case)
    ]
    needle = create_needle(text, whole_word=whole_word, case=case)
    given_files = Given(read)
    for found in (find_occurrences(needle, list(read), given_files) for _ in ("without signatures", "with them")):
        assert list(found.lines) == expected
        assert found.total == len(expected)
        assert found.files == len({one.path for one in expected})
        assert (found.files_searched, found.unread) == (
            len(readable),
            tuple(path for path in read if path not in readable),
        )


PARTS = [*'abkK_ ."=', r"\w", r"\s", r"\d", r"\b", "[a-k]", "[^a]", ".", "token", "(?:ab|token|kiss)", "(key|_)", r"\."]
patterns = st.lists(st.tuples(st.sampled_from(PARTS), st.sampled_from(["", "", "", "?", "+", "*", "{2}"])), min_size=1,
                    max_size=6).map(lambda parts: "".join(f"{part}{times}" for part, times in parts))  # fmt: skip
plain_lines = st.lists(st.sampled_from([*"abkK_ .=", "\n", "token", "kiss", "key", "7"]), max_size=30).map("".join)


@pytest.mark.slow
@settings(max_examples=500, deadline=None)
@given(st.lists(plain_lines, max_size=3), patterns, st.sampled_from([Case.IGNORE, Case.SENSITIVE]))
def test_a_pattern_finds_the_lines_that_another_engine_finds(contents: list[str], pattern: str, case: Case) -> None:
    """Also with signatures: what a pattern requires is in every text that it matches."""
    try:
        other = re.compile(pattern, re.IGNORECASE if case is Case.IGNORE else 0)
        needle = create_needle(pattern, regex=True, case=case)
    except (re.error, RequestError):
        assume(False)
    expected = [
        (str(number), line)
        for number, text in enumerate(contents)
        for line, row in enumerate(text.split("\n"), 1)
        if other.search(row)
    ]
    given_files = Given({str(number): text.encode() for number, text in enumerate(contents)})
    for _ in ("without signatures", "with them"):
        found = find_occurrences(needle, [str(number) for number in range(len(contents))], given_files)
        assert [(row.path, row.line) for row in found.lines] == expected


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("(needle", "missing )"),
        ("needle(?=s)", "no look-around"),
        (r"(a)\1", "no back-references"),
        ("x*", "matches the empty string"),
        (r"\b", "matches the empty string"),
        ("^", "matches the empty string"),
        ("^$", "matches the empty string"),
        ("a{2000}", "repetition"),
        (")a(", "unexpected )"),
        ("." * 990, "of 3,000"),
        ("x.{990}", "of 3,000"),
        (r"(\pL*,){100}", "of 3,000"),
        ("(?:.{40}){20}", "of 3,000"),
    ],
)
def test_a_pattern_that_cannot_be_answered_is_refused_in_one_sentence(pattern: str, problem: str) -> None:
    """It names the pattern, what is wrong, and the next step."""
    with pytest.raises(RequestError, match=re.escape(problem)) as refused:
        create_needle(pattern, regex=True, whole_word=pattern == ")a(")
    assert quoted(pattern) in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("form", ["({})", "(?:{})", "(x|{})", "({})*", "[(]({})"])
def test_brackets_are_not_nested_without_end(form: str) -> None:
    """Neither parser is asked to go deeper; brackets that stand for themselves do not count."""
    pattern = "word"
    for _ in range(101):
        pattern = form.format(pattern)
    with pytest.raises(RequestError, match=r"^text: brackets are nested 101 deep; use at most 100"):
        create_needle(pattern, regex=True)
    create_needle("(" * 100 + "word" + ")" * 100, regex=True)
    create_needle(r"\(" * 200 + "word", regex=True)


def test_a_definition_without_a_name_has_no_line(tmp_path: Path) -> None:
    """One that lacks its name is found nowhere, rather than without end."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "one.lua").write_text("function () return needle end\n")
    with closing(App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(tmp_path / "data")}))) as app:
        app.index()
        hits = occurrences(app.navigator(), "needle", EVERYTHING)
    assert (hits.occurrences.total, hits.defined) == (1, {})


def test_every_line_can_be_asked_for(tmp_path: Path) -> None:
    """However many there are, pages go on until the last, each line on one of them."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "one.txt").write_text("needle\n" * (MAX_LINES + 5))
    with closing(App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(tmp_path / "data")}))) as app:
        app.index()
        found = occurrences(app.navigator(), "needle", EVERYTHING, MAX_LINES + 3).occurrences
    assert found.total == MAX_LINES + 5
    assert [row.line for row in found.lines] == list(range(1, MAX_LINES + 4))


def test_what_is_remembered_of_texts_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many files there are, and however often they change; those with secrets are kept before the others."""
    monkeypatch.setattr("graphrag_mcp.grep.occurrences.KEPT_BYTES", 30)
    monkeypatch.setattr("graphrag_mcp.grep.occurrences.PLAIN_BYTES", 20)
    monkeypatch.setattr("graphrag_mcp.grep.occurrences.PART", 1)
    files = LearntFiles()
    for changed in range(3):
        for number in range(9):
            files.learn(str(number), (10, changed, 0), b"x" * 10, is_plain=number < 5)
        kept = [path for path in map(str, range(9)) if (one := files.get(path)) is not None and one.text is not None]
        assert len(kept) == 3
        assert "5" in kept


def test_small_texts_are_kept_when_the_room_gets_scarce(monkeypatch: pytest.MonkeyPatch) -> None:
    """A large one is kept while there is much room."""
    monkeypatch.setattr("graphrag_mcp.grep.occurrences.PLAIN_BYTES", 100)
    monkeypatch.setattr("graphrag_mcp.grep.occurrences.PART", 2)
    files = LearntFiles()
    for path, size in (("first large", 50), ("second large", 50), ("small", 10)):
        files.learn(path, (size, 0, 0), b"x" * size, is_plain=True)
    remembered = {path: files.get(path) for path in ("first large", "second large", "small")}
    assert [path for path, one in remembered.items() if one and one.text] == ["first large", "small"]


def test_a_pattern_takes_linear_time() -> None:
    """A pattern that makes others try all ways to match takes as long as any."""
    data = b"a" * 100_000 + b"!"
    assert _seconds(lambda: list(create_needle("(a+)+$", regex=True).lines(data))) < HANG_SECONDS


@pytest.mark.parametrize(
    ("text", "regex", "found"),
    [("order", False, "Order order"), ("Order", False, "Order"), (r"o\wder\S", True, "Order order"), (r"[O]rder", True,
     "Order"), (r"\Worder", True, "Order order")],
)  # fmt: skip
def test_case_is_ignored_where_the_text_has_no_capital(text: str, regex: bool, found: str) -> None:
    """A class such as \\W is no capital."""
    needle = create_needle(text, regex=regex)
    assert [word for word in ("Order", "order") if needle.spans(f" {word};")] == found.split()


def test_most_files_are_neither_decoded_nor_masked(tmp_path: Path) -> None:
    """To mask the text of every file takes many times as long as to read it."""
    root = tmp_path / "project"
    root.mkdir()
    line = "def password_{0}(token, secret): return 'access_key_{0}', \"https://example.org/{0}\"  # aws\n"
    for number in range(20):
        (root / f"module_{number}.py").write_text("".join(line.format(f"{number}_{row}") for row in range(100)))
    with closing(App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(tmp_path / "data")}))) as app:
        app.index()
        navigator = app.navigator()
        searched = _seconds(
            lambda: occurrences(navigator, "not there", EVERYTHING)
        )  # The first, so nothing is kept yet.
    masked = _seconds(lambda: [read_text(file.read_bytes()) for file in root.iterdir()])
    assert searched < masked / 3


# ---------------------------------------------------------------- files that change


@pytest.mark.parametrize("hides_its_time", [False, True])
def test_an_edit_is_found_at_once_in_a_file_that_was_ruled_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hides_its_time: bool
) -> None:
    """A file is left out only while its size and time are those that it had, even if the edit restores its mtime."""
    for module in (current_files, prepare):
        monkeypatch.setattr(module, "RECENT_NS", 0)  # Else nothing is remembered of it.
    monkeypatch.setattr(Supervisor, "in_background", True)  # A command notes no trigrams.
    root = tmp_path / "project"
    root.mkdir()
    file = root / "one.py"
    file.write_text("old_word = 1\n")
    with closing(App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(tmp_path / "data")}))) as app:
        app.index()
        before = file.stat()
        assert "0 lines" in ask(app, "new_word")
        remembered = app.navigator().files.learnt
        assert set(remembered.without(create_needle("new_word").required)) == {"one.py"}
        file.write_text("new_word = 1\n")
        if hides_its_time:
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert "one.py" in ask(app, "new_word")
        assert "0 lines" in ask(app, "old_word")
        file.unlink()
        assert "Not read, so not counted: one.py" in ask(app, "new_word")


# ---------------------------------------------------------------- nothing is learnt of a secret

SECRETS = {
    "deploy.py": "ghp_" + "Zq7Lw2Xc9Vb4Nm6Tr3Yp8Kd5Hs1Jf0Gu2Wae",
    "aws.cfg": "AKIAQZ7LW2XC5VB4NM6T",
    "wide.py": "Rk7vQ2mZ9xT4wB1nL6pY",
    "naïve.py": "sk_live_9Xc4Vb7Nm2Lq5Wr8Tz3Y",
}
TEMPLATES = {
    "deploy.py": 'TOKEN = "{}"\nkept = "plain_word"\n',
    "aws.cfg": "key = {}\nplain_word\n",
    "wide.py": 'password = "{}"\nplain_word = 1\n',
    "naïve.py": 'stripe = "{}"  # naïve\nplain_word = 2\n',
}
ALPHABET = "ABCXYZabcxyz0189_-"
WRONG = 6  # One letter of so many is tried at each length, and all of them at a few lengths.


OTHERS = {
    "deploy.py": "ghp_" + "Bb8Ty1Rf6Hn3Kq0Wz5Mx2Gc7Ld4Sv9Ja6Pu3E",
    "aws.cfg": "AKIAB3TY6RFHN4KQ7WZM",
    "wide.py": "Hn4Kq8Wz2Mx6Gc1Ld5Sv",
    "naïve.py": "sk_live_3Ty8Rf1Hn6Kq4Wz9Mx2G",
}


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """Files with a secret in each, one of them in UTF-16, and files without any."""
    with plant(tmp_path_factory, SECRETS) as app:
        yield app


@pytest.fixture(scope="module")
def planted_otherwise(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """The same files with other secrets."""
    with plant(tmp_path_factory, OTHERS) as app:
        yield app


@contextmanager
def plant(folders: pytest.TempPathFactory, secrets: Mapping[str, str]) -> Iterator[App]:
    """Open a project with these secrets."""
    folder = folders.mktemp("planted")
    root = folder / "project"
    root.mkdir()
    for name, secret in secrets.items():
        text = TEMPLATES[name].format(secret)
        (root / name).write_bytes(text.encode("utf-16" if name == "wide.py" else "utf-8"))
    (root / "clean.py").write_text("plain_word = 3\n" * 3)
    with closing(App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(folder / "data")}))) as app:
        app.index()
        yield app


def ask(app: App, text: str, **arguments: object) -> str:
    """Return what the tool answers, with the text that was asked for taken out."""
    asked = {"text": text, **arguments}
    call = OCCURRENCES.read(asked, app.settings, app.root)
    return OCCURRENCES.write(app.ask(OCCURRENCES.ask, call), call)


@pytest.mark.parametrize("name", SECRETS)
@pytest.mark.parametrize("response_format", ["detailed", "json"])
@pytest.mark.parametrize("how", [{"case": "sensitive"}, {"case": "ignore"}, {"regex": True}])
def test_a_secret_cannot_be_guessed_letter_by_letter(
    planted: App, name: str, response_format: str, how: dict[str, object]
) -> None:
    """A right beginning, middle or end of it is answered as a wrong one is, whether as a text or as a pattern."""
    secret = SECRETS[name]
    how = {**how, "response_format": response_format}
    nothing = ask(planted, "no_file_has_this", **how)
    for length in range(5, len(secret) + 1):
        guesses = {secret[:length], secret[-length:]}
        for wrong in ALPHABET[length % WRONG :: WRONG]:
            guesses |= {secret[: length - 1] + wrong, wrong + secret[1 - length :]}
        assert {ask(planted, guess, **how) for guess in guesses} == {nothing}
    with_quote = ask(planted, f'= "{secret[:4]}', **how)
    assert with_quote == nothing
    assert "plain_word" in ask(planted, "plain_word", **how, paths=[name])


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_cannot_be_narrowed_by_patterns(planted: App, planted_otherwise: App, name: str) -> None:
    """Any pattern is answered as it is where other secrets are: halves of an alphabet, lengths, what is around it."""
    secret = SECRETS[name]
    halves = [
        f"{re.escape(secret[:place])}[{half}].{{{len(secret) - place - 1}}}"
        for place in range(len(secret))
        for half in ("a-mA-M0-4_", "n-zN-Z5-9-", f"^{secret[place]}")
    ]
    length = len(secret)
    rest = [
        rf"(plain_word|{re.escape(secret[:6])})",
        rf"= ?.{{0,2}}{re.escape(secret[0])}",
        f'"{secret[0]}.*"',
        f"[A-Za-z0-9_-]{{{length}}}",
        f"[A-Za-z0-9_-]{{{length + 1},}}",
        f"{re.escape(secret[-3:])}.?$",
    ]
    for pattern in halves + rest:
        how = {"regex": True, "case": "sensitive"}
        assert ask(planted, pattern, **how) == ask(planted_otherwise, pattern, **how)


def test_what_stands_for_a_secret_is_found(planted: App) -> None:
    """An agent may look for what was masked."""
    assert "aws.cfg" in ask(planted, "[secret: AWS access key]")
    assert "4 lines of 4 files" in ask(planted, "secret")


@pytest.mark.parametrize("hides_its_time", [False, True])
def test_a_secret_that_came_after_the_indexing_is_masked(tmp_path: Path, hides_its_time: bool) -> None:
    """The index remembers that a file had no secret, not that it has none, even with the old size and mtime."""
    root = tmp_path / "project"
    root.mkdir()
    file = root / "late.py"
    file.write_text('TOKEN = "' + "x" * 40 + '"\nplain_word = 1\n')
    old = time.time_ns() - 60_000_000_000
    os.utime(file, ns=(old, old))
    with closing(App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(tmp_path / "data")}))) as app:
        app.index()
        assert ask(app, "x" * 40).startswith("1 line ")
        file.write_text(f'TOKEN = "{SECRETS["deploy.py"]}"\nplain_word = 1\n')
        if hides_its_time:
            os.utime(file, ns=(old, old))
        navigator = app.navigator()
        found = occurrences(navigator, SECRETS["deploy.py"][:12], EVERYTHING).occurrences
        assert (found.total, found.files, found.files_searched) == (0, 0, 1)
        assert occurrences(navigator, "plain_word", EVERYTHING).occurrences.total == 1


def _seconds(act: Callable[[], object]) -> float:
    started = time.process_time()
    act()
    return time.process_time() - started
