"""Every occurrence: what the bytes of a file rule out is exactly what is not in its masked text."""

import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrag_mcp.answers.tools import OCCURRENCES
from graphrag_mcp.app.local import App
from graphrag_mcp.grep.occurrences import Needle, Occurrence, ReadFile, find_occurrences
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.settings import load_settings
from graphrag_mcp.text.source import MASKED, NotText, read_text

EVERYTHING = Scope(exclude_archived=False)

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


def expected_lines(data: bytes, text: str, *, whole_word: bool, ignore_case: bool) -> list[tuple[int, int, str, int]]:
    """Return (line, column, its text, occurrences), found by a plain search of the whole masked text."""
    before = r"(?<!\w)" if whole_word and re.match(r"\w", text) else ""
    after = r"(?!\w)" if whole_word and re.search(r"\w\Z", text) else ""
    pattern = re.compile(before + re.escape(text) + after, re.IGNORECASE if ignore_case else 0)
    read = read_text(data)
    assert not isinstance(read, NotText)
    lines: dict[int, tuple[int, int, str, int]] = {}
    for found in pattern.finditer(read.text):
        above = read.text[: found.start()]
        number, column = above.count("\n") + 1, len(above.rpartition("\n")[2])
        _, first, _, count = lines.get(number, (number, column, "", 0))
        lines[number] = (number, first, read.text.split("\n")[number - 1], count + 1)
    return list(lines.values())


def as_read(path: str, data: bytes) -> ReadFile:
    """Return a file as the application hands it over: bytes only where nothing is masked."""
    read = read_text(data)
    if isinstance(read, NotText):
        return ReadFile(path, None)
    return ReadFile(path, read.text if MASKED in read.note else data)


@settings(max_examples=1_500, deadline=None)
@given(st.lists(files, max_size=4), texts.filter(bool), st.booleans(), st.booleans())
def test_what_is_found_is_what_a_search_of_every_masked_text_finds(
    contents: list[bytes], text: str, whole_word: bool, ignore_case: bool
) -> None:
    """For any encoding, any letters that stand for one another, any line ends, and texts that masks are made of."""
    read = {f"{number}.txt": data for number, data in enumerate(contents)}
    readable = {path: data for path, data in read.items() if not isinstance(read_text(data), NotText)}
    expected = [
        Occurrence(path, *line)
        for path, data in readable.items()
        for line in expected_lines(data, text, whole_word=whole_word, ignore_case=ignore_case)
    ]
    needle = Needle(text, whole_word=whole_word, ignore_case=ignore_case)
    found = find_occurrences(needle, [as_read(path, data) for path, data in read.items()])
    assert list(found.lines) == expected
    assert found.total == sum(one.count for one in expected)
    assert found.files == len({one.path for one in expected})
    assert (found.files_read, found.unread) == (len(readable), tuple(path for path in read if path not in readable))


def test_most_files_are_neither_decoded_nor_masked(tmp_path: Path) -> None:
    """To mask the text of every file takes many times as long as to read it."""
    root = tmp_path / "project"
    root.mkdir()
    line = "def password_{0}(token, secret): return 'access_key_{0}', \"https://example.org/{0}\"  # aws\n"
    for number in range(60):
        (root / f"module_{number}.py").write_text("".join(line.format(f"{number}_{row}") for row in range(400)))
    with closing(App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(tmp_path / "data")}))) as app:
        app.index()
        navigator = app.navigator()
        searched = _seconds(
            lambda: navigator.occurrences("not there", EVERYTHING)
        )  # The first, so nothing is kept yet.
    masked = _seconds(lambda: [read_text(file.read_bytes()) for file in root.iterdir()])
    assert searched < masked / 3


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


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """Files with a secret in each, one of them in UTF-16, and files without any."""
    folder = tmp_path_factory.mktemp("planted")
    root = folder / "project"
    root.mkdir()
    for name, secret in SECRETS.items():
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
    return OCCURRENCES.write(OCCURRENCES.ask(app, call), call)


@pytest.mark.parametrize("name", SECRETS)
@pytest.mark.parametrize("response_format", ["detailed", "json"])
@pytest.mark.parametrize("ignore_case", [False, True])
def test_a_secret_cannot_be_guessed_letter_by_letter(
    planted: App, name: str, response_format: str, ignore_case: bool
) -> None:
    """A right beginning, middle or end of it is answered as a wrong one is."""
    secret = SECRETS[name]
    how = {"whole_word": False, "ignore_case": ignore_case, "response_format": response_format}
    nothing = ask(planted, "no_file_has_this", **how)
    for length in range(5, len(secret) + 1):
        for wrong in ALPHABET:
            guesses = {secret[:length], secret[: length - 1] + wrong, secret[-length:], wrong + secret[1 - length :]}
            assert {ask(planted, guess, **how) for guess in guesses} == {nothing}
    with_quote = ask(planted, f'= "{secret[:4]}', **how)
    assert with_quote == nothing
    assert "plain_word" in ask(planted, "plain_word", **how, paths=[name])


def test_what_stands_for_a_secret_is_found(planted: App) -> None:
    """An agent may look for what was masked."""
    assert "aws.cfg" in ask(planted, "[secret: AWS access key]")
    assert "on 4 lines of 4 files" in ask(planted, "secret")


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
        assert ask(app, "x" * 40).startswith("1 occurrence")
        file.write_text(f'TOKEN = "{SECRETS["deploy.py"]}"\nplain_word = 1\n')
        if hides_its_time:
            os.utime(file, ns=(old, old))
        navigator = app.navigator()
        found = navigator.occurrences(SECRETS["deploy.py"][:12], EVERYTHING, whole_word=False)
        assert (found.total, found.files, found.files_read) == (0, 0, 1)
        assert navigator.occurrences("plain_word", EVERYTHING).total == 1


def _seconds(act: Callable[[], object]) -> float:
    started = time.process_time()
    act()
    return time.process_time() - started
