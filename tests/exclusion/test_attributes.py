"""What a project states of its files in `.gitattributes`."""

from pathlib import Path

import pytest

from graphrag_mcp.exclusion.manager import ATTRIBUTES_FILE, StatedCategories
from graphrag_mcp.model.files import Category
from graphrag_mcp.model.search import SearchRequest
from tests.indexed import indexed

TEXT = """\
# What Linguist reads.
*.pb.go linguist-generated=true -diff
lib/json/** linguist-vendored
lib/json/own.c -linguist-vendored
!kept.c linguist-vendored
samples/* text eol=lf linguist-documentation
api/*.ts linguist-generated=false
"old code/*.c"\tlinguist-vendored
"""


@pytest.mark.parametrize(
    ("path", "category"),
    [
        ("rpc/shop.pb.go", Category.DATA),
        ("lib/json/src/parse.c", Category.VENDORED),
        ("lib/json/own.c", None),
        ("samples/shop.c", Category.DOCUMENTATION),
        ("samples/deep/shop.c", None),
        ("api/shop.ts", None),
        ("kept.c", None),
        ("old code/parse.c", Category.VENDORED),
    ],
)
def test_the_attributes_of_linguist_state_a_category(tmp_path: Path, path: str, category: Category | None) -> None:
    """The last line that matches decides, and one that unsets the attribute takes the statement back."""
    (tmp_path / ATTRIBUTES_FILE).write_text(TEXT)
    assert StatedCategories(tmp_path).of(path) is category


def test_a_project_without_the_file_states_nothing(tmp_path: Path) -> None:
    """Nor does one whose file is a link to elsewhere."""
    assert StatedCategories(tmp_path).of("lib/json/parse.c") is None
    (tmp_path / "elsewhere").write_text("* linguist-vendored\n")
    (tmp_path / ATTRIBUTES_FILE).symlink_to(tmp_path / "elsewhere")
    assert StatedCategories(tmp_path).of("lib/json/parse.c") is None


def test_what_is_stated_holds_from_the_next_index_run_on(tmp_path: Path) -> None:
    """For files that have not changed themselves, too; and no longer than it is stated."""
    with indexed(tmp_path, {"lib/json/parse.py": "def parse_json(text):\n    return text\n"}) as app:
        for line, category in (("lib/** linguist-vendored", Category.VENDORED), ("", Category.IMPLEMENTATION)):
            (app.root / ATTRIBUTES_FILE).write_text(line)
            app.index()
            hit = app.search(SearchRequest("parse_json")).primary[0]
            assert (hit.chunk.path, hit.chunk.category) == ("lib/json/parse.py", category)
