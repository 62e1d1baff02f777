"""Which files an `excluded_files` entry leaves out."""

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrag_mcp.errors import RequestError
from graphrag_mcp.model.scope import match_keys, normalise_entry, normalise_excluded_files
from tests.exclusion.project_files import touch_files

ROOT = Path("/nonexistent-root-of-the-tests")


def is_excluded(path: str, *entries: str, root: Path = ROOT) -> bool:
    """Tell whether the entries leave the file out."""
    keys, warnings = normalise_excluded_files(entries, root)
    assert warnings == ()
    return not keys.isdisjoint(match_keys(path))


@pytest.mark.requirement("003-03", "003-16", "K-21")
@pytest.mark.parametrize(
    ("entry", "path"),
    [
        *(("README.md", path) for path in ("README", "README.md", "dir/README.md")),
        *(("docs/api.md", path) for path in ("docs/api", "docs/api.md")),
        *((f"{ROOT}/docs/api.md", path) for path in ("docs/api", "docs/api.md")),
        *(("docs/api", path) for path in ("docs/api", "docs/api.md", "docs/api.markdown")),
    ],
)
def test_the_seeds_table_holds(entry: str, path: str) -> None:
    """Bare name, relative and absolute path, with and without extension."""
    assert is_excluded(path, entry)


@pytest.mark.requirement("003-15", "K-21")
@pytest.mark.parametrize(
    ("entry", "path"),
    [
        *(("docs/api.md", path) for path in ("api.md", "other/docs/api.md", "docs/api.py", "docs/api.md/x.py")),
        *(("api.py", path) for path in ("api.md", "api.pyi", "xapi.py", "api.py.md", "API.py", "api/x.py")),
        *(("foo.h", path) for path in ("foo.c", "foo.hpp", "foo")),
        *(("README", path) for path in ("README2.md", "dir/READ.ME", "readme.md")),
    ],
)
def test_a_code_extension_a_folder_and_the_case_must_match(entry: str, path: str) -> None:
    """`api.md` is not `api.py`, `foo.h` is not `foo.c`."""
    assert not is_excluded(path, entry)


@pytest.mark.requirement("K-21")
def test_documents_equal_one_another() -> None:
    """.md, .markdown, .mdx, .rst and .txt."""
    extensions = (".md", ".markdown", ".mdx", ".rst", ".txt")
    assert all(is_excluded(f"docs/a{one}", f"docs/a{other}") for one in extensions for other in extensions)


@pytest.mark.requirement("003-17", "K-21")
def test_no_extension_means_any() -> None:
    """`api` is every api.* in any folder."""
    assert all(is_excluded(path, "api") for path in ("api.py", "docs/api.md", "src/api.ts", "api"))


@pytest.mark.requirement("B-25")
@pytest.mark.parametrize("anchor", ["./", "/", f"{ROOT}/", "x/../"])
def test_a_name_can_be_anchored_in_the_root(anchor: str) -> None:
    """The root's README alone."""
    assert is_excluded("README.md", f"{anchor}README.md")
    assert not is_excluded("docs/README.md", f"{anchor}README.md")


@pytest.mark.requirement("003-17", "B-24")
@pytest.mark.parametrize(
    ("entry", "path", "expected"),
    [
        *(("api.v2", path, True) for path in ("api.v2", "api.v2.md", "docs/api.v2.py")),
        *(("docs/api.v2.md", path, path == "docs/api.v2.md") for path in ("docs/api.v2.md", "docs/api.md")),
        *(("a.tar.gz", path, path == "a.tar.gz") for path in ("a.tar.gz", "a.tar", "a.md")),
        *((".gitignore", path, True) for path in (".gitignore", "sub/.gitignore")),
        *(("my notes.md", path, True) for path in ("my notes.md", "x/my notes.md")),
        *(("docs/my notes", path, True) for path in ("docs/my notes.md", "docs/my notes.txt")),
        *(("foo.test.ts", path, path == "foo.test.ts") for path in ("foo.test.ts", "foo.ts")),
    ],
)
def test_dots_dotfiles_and_blanks_are_parts_of_names(entry: str, path: str, expected: bool) -> None:
    """Several dots, names that begin with one, blanks."""
    assert is_excluded(path, entry) is expected


@pytest.mark.requirement("003-04", "K-12")
def test_entries_are_literal() -> None:
    """No wildcard; `[id].tsx` is a name."""
    assert is_excluded("app/[id].tsx", "[id].tsx")
    assert not is_excluded("app/i.tsx", "[id].tsx")
    assert not is_excluded("api.md", "*.md")
    assert not is_excluded("api.py", "api.*")


@pytest.mark.requirement("B-24")
@pytest.mark.parametrize("entry", ["", " ", "\t\n"])
def test_a_blank_entry_is_an_error(entry: str) -> None:
    """The error names the argument, the value and what is accepted."""
    with pytest.raises(RequestError, match="a path relative to the root or absolute") as caught:
        normalise_excluded_files(["a.py", entry], ROOT)
    assert caught.value.argument == "excluded_files"
    assert repr(entry) in str(caught.value)


@pytest.mark.requirement("B-26")
@pytest.mark.parametrize("entry", ["../a.py", "a/../../b.py", "/etc/passwd", "/tmp/x/y.py", "/etc/\0", "/etc/\ud800"])
def test_a_path_outside_the_root_is_a_warning(entry: str) -> None:
    """Named, without an error, and the other entries stand."""
    keys, (warning,) = normalise_excluded_files([entry, "a.py"], ROOT)
    assert keys == {"a.py"}
    assert repr(entry) in warning
    assert "outside the project root" in warning


@pytest.mark.requirement("B-24")
@pytest.mark.parametrize("entry", [".", "/", "./", "docs/", "{root}", "{root}/docs/"])
def test_a_folder_is_a_warning(entry: str, tmp_path: Path) -> None:
    """`.` and `/` raise nothing; only files can be excluded."""
    keys, (warning,) = normalise_excluded_files([entry.format(root=tmp_path)], tmp_path)
    assert keys == frozenset()
    assert "is a folder" in warning


@pytest.mark.requirement("003-18")
def test_no_entries_exclude_nothing() -> None:
    """An empty list is the old behaviour."""
    assert normalise_excluded_files([], ROOT) == (frozenset(), ())


@pytest.mark.requirement("K-23")
def test_both_sides_are_composed() -> None:
    """A name typed composed and one stored decomposed are the same."""
    decomposed = unicodedata.normalize("NFD", "docs/café.md")
    assert is_excluded(decomposed, "docs/café.md")
    assert is_excluded("docs/café.md", decomposed)


@pytest.mark.requirement("003-24", "K-23")
def test_symlinks_of_absolute_paths_are_resolved(tmp_path: Path) -> None:
    """Through a link to the root, and a linked file inside it."""
    root = touch_files(tmp_path / "root", "docs/api.md")
    (tmp_path / "link").symlink_to(root)
    (root / "alias.md").symlink_to("docs/api.md")
    for entry in (tmp_path / "link/docs/api.md", root / "alias.md"):
        assert is_excluded("docs/api.md", str(entry), root=root)
        assert is_excluded("docs/api.md", str(entry), root=tmp_path / "link")


@pytest.mark.requirement("B-25", "B-26")
def test_a_slash_means_the_root_unless_only_the_machine_has_such_a_folder(tmp_path: Path) -> None:
    """`/etc/x` is outside, until the project has an `etc` of its own."""
    assert normalise_entry("/etc/x.md", tmp_path) is None
    touch_files(tmp_path, "etc/x.md")
    assert normalise_entry("/etc/x.md", tmp_path) == "./etc/x.md"


@pytest.mark.requirement("003-14", "K-21")
@pytest.mark.parametrize(
    ("entry", "normalised"),
    [
        ("api.md", "api.md"),
        ("docs/api.md", "./docs/api.md"),
        ("docs//../docs/./api.md", "./docs/api.md"),
        (f"{ROOT}/docs/api.md", "./docs/api.md"),
        (f"{ROOT}/api.md", "./api.md"),
        ("/etc/api.md", None),
        ("../api.md", None),
    ],
)
def test_an_entry_becomes_a_name_or_a_path_below_the_root(entry: str, normalised: str | None) -> None:
    """With its extension, and nothing for what lies outside."""
    assert normalise_entry(entry, ROOT) == normalised


@pytest.mark.requirement("003-23", "K-23")
def test_backslashes_separate_folders_on_windows_only() -> None:
    """Elsewhere a backslash is part of a name."""
    assert normalise_entry("docs\\api.md", ROOT, windows=True) == "./docs/api.md"
    assert normalise_entry("docs\\api.md", ROOT, windows=False) == "docs\\api.md"


@pytest.mark.requirement("003-23", "K-23")
@pytest.mark.parametrize("entry", ["caf\udce9.md", "docs/caf\udce9.md", "\ud800"])
def test_a_name_that_is_not_utf8_is_a_warning(entry: str) -> None:
    """No index has such a file, and no store could be asked for it."""
    keys, (warning,) = normalise_excluded_files([entry, "a.py"], ROOT)
    assert keys == {"a.py"}
    assert "never indexed" in warning


_PATHS = st.text(st.sampled_from("ab./ é[*\\"), max_size=12)


@pytest.mark.requirement("B-24")
@given(_PATHS)
@settings(derandomize=True, max_examples=300, deadline=None)
def test_normalising_twice_changes_nothing(entry: str) -> None:
    """Idempotent for every entry."""
    once = normalise_entry(entry, ROOT)
    assert once is None or normalise_entry(once, ROOT) == once


@pytest.mark.requirement("003-03")
@given(
    _PATHS.map(lambda text: text.strip("/")).filter(lambda text: text and not set(text.split("/")) & {"", ".", ".."})
)
@settings(derandomize=True, max_examples=300, deadline=None)
def test_a_file_is_excluded_by_its_own_path(path: str) -> None:
    """Relative, anchored, absolute, and by its name."""
    name = path.rpartition("/")[2]
    for entry in (path, f"./{path}", f"{ROOT}/{path}", name):
        assert not entry.strip() or is_excluded(path, entry)
