"""A text that no line has as a whole: the lines with its longest part that occurs, and those in another case."""

import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.settings import load_settings
from graphrag_mcp.tools.find_occurrences import OCCURRENCES
from tests.repositories import write_files

MESSAGE = "multipart content is not allowed in HTTP verb"
FILES = {
    "send.py": f'def send(verb):\n    raise ValueError(f"{MESSAGE} [{{verb}}]")\n',
    "revision.py": 'def find(name):\n    raise KeyError("Multiple revisions start "\n        "with %r" % name)\n',
    "tests/test_send.py": f'def test_send():\n    assert "{MESSAGE} [GET]" in str(error)\n',
    "common.py": "\n".join(f"# it is not allowed here, number {number}" for number in range(30)),
    "header.py": 'NAME = "WWW-Authenticate"\nOTHER = "Www-Authenticate"\nsession = Session()\n',
    "keys.py": 'TOKEN = "api-token-key"\n\n\ndef read(env):\n    return env[TOKEN]\n',
    "settings.py": 'PREFIX = "SHOP_"\nREAD = {"MAX_BODY_SIZE": int, "OLD_MAX_BODY_SIZE_KB": int}\n',
    "counting.py": 'def told(files):\n    print(f"Skipped {len(files)} file{end}")\n\nclass FileSkipped: file = 1\n',
    "using.py": "from keys import TOKEN\n\n\ndef send(box):\n    box[TOKEN] = TOKEN\n    return box[TOKEN]\n",
}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """A project with messages that are composed."""
    root = tmp_path_factory.mktemp("fragments") / "project"
    write_files(root, FILES)
    with closing(App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(root.parent / "data")}))) as app:
        app.index()
        yield app


def ask(app: App, text: str, **arguments: object) -> str:
    """Return what the tool answers."""
    call = OCCURRENCES.read({"text": text, **arguments}, app.settings, app.root)
    return OCCURRENCES.write(app.ask(OCCURRENCES.ask, call), call)


def test_a_message_in_two_literals_is_found_by_its_longer_part(app: App) -> None:
    """The first of them is on a line of its own."""
    answer = ask(app, "Multiple revisions start with")
    assert answer.startswith("0 lines of 0 files")
    assert '  revision.py:2: raise KeyError("Multiple revisions start "' in answer


def test_a_message_with_its_value_is_found_where_it_is_composed(app: App) -> None:
    """A test has it as it is printed; the code does not."""
    answer = ask(app, f"{MESSAGE} [GET]")
    assert answer.startswith("1 line of 1 file")
    assert "Only tests have the whole text" in answer
    assert "  send.py:2: raise ValueError(" in answer
    alone = ask(app, f"{MESSAGE} [POST]")
    assert "No line has the whole text" in alone
    assert "send.py:2" in alone
    assert "test_send.py:2" in alone


def test_the_name_of_a_setting_that_has_a_prefix_is_found_by_the_rest(app: App) -> None:
    """Where it stands as a name of its own."""
    text = ask(app, "SHOP_MAX_BODY_SIZE")
    assert '  settings.py:2: READ = {"MAX_BODY_SIZE": int' in text
    assert "have parts" not in ask(app, "SHOP_MAX_BODY_LENGTH") + ask(app, "SHOP_TOKEN")


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("it is not allowed there", {}),  # A part on 30 lines tells nothing.
        ("nothing of this occurs anywhere", {}),
        ("is not at", {}),
        ("revisions begin", {}),
        ("Multiple revisions\nstart with", {}),
        ("Multiple revisions start with", {"regex": True}),
        ("Multiple revisions start with", {"whole_word": True}),
        ("Multiple revisions start with", {"paths": ["common.py"]}),
        ("Multiple revisions start with " * 12, {}),
    ],
)
def test_other_texts_have_no_part_that_tells_anything(app: App, text: str, arguments: dict[str, object]) -> None:
    """The answer is that no line has it."""
    answer = ask(app, text, **arguments)
    assert answer.startswith("0 lines of 0 files")
    assert "parts of it" not in answer


def test_lines_in_another_case_are_counted(app: App) -> None:
    """Whoever reads "1 line" would take it for all; of a name, another case is another name."""
    assert "1 more line in another case: case=ignore." in ask(app, "WWW-Authenticate")
    assert "another case" not in ask(app, "WWW-Authenticate", case="sensitive")
    assert "another case" not in ask(app, "www-authenticate")
    assert "another case" not in ask(app, "Session")
    assert "1 more line in another case" in ask(app, "OTHER =".title())
    assert "another case" not in ask(app, "WWW-Auth.*", regex=True)  # Ignoring it may make the pattern too large.


def test_a_long_text_takes_no_longer_than_others(app: App) -> None:
    """Its parts are looked for in as many passes as their lengths are tried."""
    started = time.process_time()
    ask(app, " ".join(f"w{number}" * 4 for number in range(24)))
    assert time.process_time() - started < 1


@pytest.mark.parametrize("letters", ["kskssi", "абвгд", "漢字仮名", "éßİK", "\U0001f600\U0001f601"])
@pytest.mark.parametrize("words", [3, 12, 30])
def test_no_text_is_refused_for_the_size_of_its_parts(app: App, letters: str, words: int) -> None:
    """The parts of a text are searched as one pattern, of which its author knows nothing."""
    word = (letters * 100)[: 290 // words - 1]
    for case in ("smart", "ignore", "sensitive"):
        assert ask(app, " ".join([word] * words), case=case).startswith("0 lines of 0 files")


def test_a_constant_that_holds_the_text_is_followed(app: App) -> None:
    """A key is read by its constant, which no search for its text finds."""
    assert ask(app, "api-token-key").endswith("\nkeys.py:1-1  TOKEN is read at keys.py:5; using.py:5, 6.")
    assert "is read at" not in ask(app, "TOKEN")
    assert "is read at" not in ask(app, "www-authenticate")


@pytest.mark.parametrize("text", ["Skipped 3 files", "Skipped 'a.py' files"])
def test_a_message_is_found_with_other_values_in_its_place(app: App, text: str) -> None:
    """Whatever the code writes there, and in the singular."""
    found = ask(app, text)
    assert "counting.py:2: print(f" in found
    assert "counting.py:4" not in found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("--max-body-size", "Spelled MAX_BODY_SIZE: settings.py:2.\n"),
        ("apiTokenKey", "Spelled api-token-key: keys.py:1.\n"),
        ("session", ""),  # One word has no other spelling.
    ],
)
def test_a_name_of_several_words_is_found_in_its_other_spellings(app: App, text: str, said: str) -> None:
    """An option is read under the name of a variable."""
    found = f"{ask(app, text)}\n"
    assert said in found
    assert found.count("Spelled") == bool(said)
