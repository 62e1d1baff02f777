"""The tables of docs/: what they say of settings, tools and excluded files is what the code does."""

import json
import re
from pathlib import Path

import pytest
from qdrant_client import QdrantClient, models

from graphrag_mcp.errors import IndexStoreError
from graphrag_mcp.exclusion.manager import ExclusionManager
from graphrag_mcp.model.fields import outer_fields
from graphrag_mcp.model.scope import match_keys, normalise_excluded_files
from graphrag_mcp.settings import SECTIONS, ServerSettings
from graphrag_mcp.stores.qdrant.schema import create_collection
from graphrag_mcp.tools.table import TOOLS
from tests.docs import ROOT
from tests.docs.blocks import read_blocks
from tests.docs.tables import PAGES, SETTINGS_PAGE, TOOLS_PAGE, replace_tables

ROOT_ON_PAGE = "/abs/path"
SETTINGS = [name for section in SECTIONS.values() for name in outer_fields(section)]
SETTINGS_TEXT, TOOLS_TEXT = (page.read_text(encoding="utf-8") for page in (SETTINGS_PAGE, TOOLS_PAGE))


def exclusion_rows() -> list[tuple[str, list[str], list[str]]]:
    """Return the rows of the table of excluded_files: the entry, what it leaves out, what it keeps."""
    text = (ROOT / "docs/exclude.md").read_text(encoding="utf-8")
    table = text.partition("| entry | leaves out | keeps |\n")[2].partition("\n\n")[0]
    cells = [[re.findall("`(.+?)`", cell) for cell in row.strip("|").split("|")] for row in table.splitlines()[1:]]
    return [(entry, out, kept) for (entry,), out, kept in cells]


@pytest.mark.requirement("000-41", "001-20", "003-28")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_tables_are_those_of_the_code(page: Path) -> None:
    """Every setting and argument is listed with its default and what is accepted."""
    assert replace_tables(page) == page.read_text(encoding="utf-8"), "run: make tables"


@pytest.mark.requirement("001-20", "K-18")
@pytest.mark.parametrize("name", SETTINGS)
def test_every_setting_is_named(name: str) -> None:
    """A setting that is not documented does not exist for its users, and one without a reason should not exist."""
    assert f"| `{name}` | " in SETTINGS_TEXT
    assert f"`{name}`" in (ROOT / "docs/internals/settings.md").read_text(encoding="utf-8")


@pytest.mark.requirement("P-1", "000-34", "003-28")
@pytest.mark.parametrize("tool", TOOLS)
def test_every_argument_of_every_tool_is_named(tool: str) -> None:
    """Every tool is there, with a call, and every argument of it."""
    assert f"\n## {tool}\n" in TOOLS_TEXT
    assert f'"name": "{tool}"' in TOOLS_TEXT
    assert f"| `{tool}` |" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert all(f"\n* `{argument}` (" in TOOLS_TEXT for argument in TOOLS[tool].schema()["properties"])


@pytest.mark.parametrize(
    ("vectors", "sparse"),
    [
        ({"dense": {"size": 3, "distance": "Cosine"}}, {"keywords": {"modifier": "idf"}}),
        ({"dense": {"size": 256, "distance": "Euclid"}}, {"keywords": {}}),
        ({"dense": {"size": 256, "distance": "Cosine"}}, {}),
    ],
)
def test_a_collection_of_another_kind_is_refused(vectors: dict[str, object], sparse: dict[str, object]) -> None:
    """Nothing is written into one whose dense vectors have another size or distance, or that has none for words."""
    made = models.CreateCollection(vectors=vectors, sparse_vectors=sparse)
    client = QdrantClient(":memory:")
    client.create_collection("code", vectors_config=made.vectors, sparse_vectors_config=made.sparse_vectors)
    with pytest.raises(IndexStoreError, match="GRAPHRAG_QDRANT_COLLECTION"):
        create_collection(client, "code", 256, ServerSettings())
    client.close()


@pytest.mark.requirement("000-08", "000-41")
def test_the_ignore_file_that_is_shown_is_understood(tmp_path: Path) -> None:
    """The example of an ignore file has no line that is warned about, and excludes what it says."""
    block = next(block for block in read_blocks(ROOT / "docs/exclude.md") if block.language == "gitignore")
    (tmp_path / ".gitignore").touch()
    (tmp_path / ".graphragignore").write_text(block.text, encoding="utf-8")
    manager = ExclusionManager(tmp_path)
    assert manager.should_exclude("api.generated.ts")
    assert not manager.should_exclude("schema.generated.ts")
    assert manager.warnings == ()


@pytest.mark.requirement("003-16", "K-21")
@pytest.mark.parametrize(("entry", "out", "kept"), exclusion_rows())
def test_the_table_of_excluded_files_is_true(entry: str, out: list[str], kept: list[str], tmp_path: Path) -> None:
    """Every row of the table leaves out what it says and nothing that it keeps."""
    keys, warnings = normalise_excluded_files([entry.replace(ROOT_ON_PAGE, str(tmp_path))], tmp_path)
    assert warnings == ()
    assert [path for path in [*out, *kept] if keys & match_keys(path)] == out


@pytest.mark.requirement("000-36", "000-39")
def test_a_client_block_is_the_example_file() -> None:
    """The block for .mcp.json is the file that lies beside it."""
    example = json.loads((ROOT / ".mcp.json.example").read_text(encoding="utf-8"))
    block = next(block for block in read_blocks(ROOT / "docs/set-up.md") if block.language == "json")
    assert json.loads(block.text) == example
