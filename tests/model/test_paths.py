"""The `paths` of a search: what each entry means, and how a server is told of the files."""

from pathlib import Path

import pytest

from graphrag_mcp.errors import RequestError
from graphrag_mcp.exclusion.patterns import compile_globs
from graphrag_mcp.model.paths import EVERY_PATH, ChosenPaths, PathCover, folders, normalise_paths

FILES = (
    "README.md",
    "app/[id].tsx",
    "lib/src/deep.py",
    "src/http/client.go",
    "src/http/testdata/answer.go",
    "src/main.py",
    "tests/src/test_main.py",
    "web/vendor/jquery.js",
    "vendor/lib.js",
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The files on the disk."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


def chosen(root: Path, *entries: str) -> list[str]:
    found = ChosenPaths(normalise_paths(entries, root), FILES, compile_globs)
    return [path for path, inside in zip(FILES, found.is_inside, strict=True) if inside]


@pytest.mark.parametrize("entry", ["src", "src/", "./src", "/src", "src/../src/", "ROOT/src", "src/**"])
def test_a_folder_that_exists_means_itself(root: Path, entry: str) -> None:
    """However it is written; a folder of that name elsewhere is not meant."""
    expected = ["src/http/client.go", "src/http/testdata/answer.go", "src/main.py"]
    assert chosen(root, entry.replace("ROOT", str(root))) == expected


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        (["README.md"], ["README.md"]),
        (["*.go"], ["src/http/client.go", "src/http/testdata/answer.go"]),
        (["src/**/*.go", "!**/testdata/**"], ["src/http/client.go"]),
        (["!testdata", "src/**/*.go"], ["src/http/client.go"]),
        (["src/*.py"], ["src/main.py"]),
        (["http"], ["src/http/client.go", "src/http/testdata/answer.go"]),
        (["test_*.py"], ["tests/src/test_main.py"]),
        (["app/[id].tsx"], ["app/[id].tsx"]),
        (["app/[ix]?id*", "vendor"], ["vendor/lib.js"]),
        (["vendor", "README.md"], ["README.md", "vendor/lib.js"]),
        (["!vendor", "!src", "!tests"], ["README.md", "app/[id].tsx"]),
        (["!/vendor", "*.js"], ["web/vendor/jquery.js"]),
        ([".", "src"], list(FILES)),
        ([], list(FILES)),
    ],
)
def test_entries_choose_as_in_gitignore(root: Path, entries: list[str], expected: list[str]) -> None:
    """A name without a slash matches in every folder, and `!` leaves out wherever it stands."""
    assert chosen(root, *entries) == expected


@pytest.mark.parametrize(("entry", "why"), [("../x", "outside the project root"), (" ", "names no"), ("!", "names no")])
def test_an_entry_that_can_mean_nothing_is_refused(root: Path, entry: str, why: str) -> None:
    """It is quoted, with the name of the argument."""
    with pytest.raises(RequestError, match=why) as caught:
        normalise_paths(["src", entry], root)
    assert caught.value.argument == "paths"
    assert repr(entry) in str(caught.value)


def test_the_first_glob_without_a_file_is_named(root: Path) -> None:
    """What a glob leaves out may be absent: then nothing of it is found, as was asked."""
    assert ChosenPaths(("/src", "/scr", "!none"), FILES, compile_globs).unmatched == "/scr"
    assert ChosenPaths(("/src", "!none"), FILES, compile_globs).unmatched == ""


def test_names_are_compared_in_one_unicode_form(tmp_path: Path) -> None:
    """An accent may be one code point or two."""
    found = ChosenPaths(normalise_paths(["caf\u00e9"], tmp_path), ["cafe\u0301/menu.md"], compile_globs)
    assert found.is_inside == [True]


def test_a_server_gets_folders_where_whole_folders_are_meant() -> None:
    """Ten thousand files in a folder are one name, and those outside are listed where they are fewer."""
    paths = [f"src/{number % 100}/{number}.py" for number in range(10_000)] + ["tests/a.py", "README.md"]
    assert ChosenPaths(("/src",), paths, compile_globs).cover == PathCover(("src",), (), is_inside=True)
    assert ChosenPaths(("!tests",), paths, compile_globs).cover == PathCover(("tests",), (), is_inside=False)
    assert ChosenPaths(("*",), paths, compile_globs).cover == EVERY_PATH


@pytest.mark.parametrize(
    "globs", [("/src",), ("src",), ("*.py",), ("!*.py",), ("http", "!testdata"), ("!*.go",), ("/none",), ()]
)
def test_a_server_finds_the_same_files(globs: tuple[str, ...]) -> None:
    """The cover chooses what the globs choose."""
    found = ChosenPaths(globs, FILES, compile_globs)
    listed = {*found.cover.folders, *found.cover.files}
    by_cover = [(not listed.isdisjoint(folders(path))) is found.cover.is_inside for path in FILES]
    assert by_cover == found.is_inside


@pytest.mark.parametrize("entry", ["[", "!\\", "\0"])
def test_what_can_match_nothing_is_named_by_its_argument(tmp_path: Path, entry: str) -> None:
    """And not by that of other globs."""
    with pytest.raises(RequestError, match=r"^paths: "):
        ChosenPaths(normalise_paths([entry], tmp_path), FILES, compile_globs)
