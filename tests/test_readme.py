"""README.md: what it says of settings, tools, commands and excluded files is what the code does."""

import json
import re
import shlex
from pathlib import Path

import pytest
from qdrant_client import QdrantClient, models

from graphrag_mcp.cli.options import create_parser
from graphrag_mcp.embedding.loader import load_embedder
from graphrag_mcp.errors import IndexStoreError
from graphrag_mcp.exclusion.excluded_files import match_keys, normalise_excluded_files
from graphrag_mcp.exclusion.manager import ExclusionManager
from graphrag_mcp.server.arguments import SEARCH_TOOLS, TOOLS, input_schema
from graphrag_mcp.server.requests import read_question
from graphrag_mcp.settings import SETTINGS_FILE, IndexingSettings, RetrievalSettings, Settings, load_settings
from graphrag_mcp.stores.qdrant.schema import create_collection
from tests.readme_tables import README, replace_tables

TEXT = README.read_text(encoding="utf-8")
ROOT_IN_README = "/abs/path"


def blocks(language: str) -> list[str]:
    """Return the code blocks of a language."""
    found = re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
    assert found, f"README.md has no {language} block"
    return found


def exclusion_rows() -> list[tuple[str, list[str], list[str]]]:
    """Return the rows of the table of excluded_files: the entry, what it leaves out, what it keeps."""
    table = TEXT.partition("| entry | leaves out | keeps |\n")[2].partition("\n\n")[0]
    cells = [[re.findall("`(.+?)`", cell) for cell in row.strip("|").split("|")] for row in table.splitlines()[1:]]
    return [(entry, out, kept) for (entry,), out, kept in cells]


def test_its_tables_are_those_of_the_code() -> None:
    """Every setting and argument is listed with its default and what is accepted (001-20, 003-28, 000-41)."""
    assert replace_tables(TEXT) == TEXT, "run: python -m tests.readme_tables"


@pytest.mark.parametrize("name", [*IndexingSettings.model_fields, *RetrievalSettings.model_fields])
def test_it_names_every_setting(name: str) -> None:
    """A setting that is not documented does not exist for its users (001-20, K-18)."""
    assert f"| `{name}` | `GRAPHRAG_{name.upper()}` |" in TEXT


@pytest.mark.parametrize("tool", TOOLS)
def test_it_names_every_argument_of_every_tool(tool: str) -> None:
    """Every tool is there, and every argument of it (P-1, 000-34, 003-28)."""
    assert f"| `{tool}` |" in TEXT
    assert all(f"\n| `{argument}` | " in TEXT for argument in input_schema(tool)["properties"])


@pytest.mark.parametrize("block", blocks("toml"))
def test_its_settings_files_are_valid(block: str, tmp_path: Path) -> None:
    """An example of settings can be used as it stands (K-18)."""
    (tmp_path / SETTINGS_FILE).write_text(block, encoding="utf-8")
    assert load_settings(tmp_path, {}) != Settings()


@pytest.mark.parametrize("block", [block for block in blocks("json") if "mcpServers" in block])
def test_its_client_settings_start_the_server(block: str, tmp_path: Path) -> None:
    """A client's block has a command line and an environment that are accepted (000-36 to 000-39)."""
    for server in json.loads(block)["mcpServers"].values():
        assert create_parser().parse_args(server["args"]).command == "serve"
        load_settings(tmp_path, server.get("env", {}))


@pytest.mark.parametrize("block", [block for block in blocks("json") if "mcpServers" not in block])
@pytest.mark.parametrize("tool", SEARCH_TOOLS)
def test_its_calls_are_accepted(tool: str, block: str, tmp_path: Path) -> None:
    """An example of a call passes the validation of every search tool (003-28)."""
    call = json.loads(block.replace(ROOT_IN_README, str(tmp_path)))
    assert read_question(tool, call, Settings(), tmp_path).request.warnings == ()


COMMANDS = [line for block in blocks("sh") for line in block.splitlines()]
COMMANDS += [line for block in blocks("bash") for line in block.splitlines() if line.startswith("graphrag-mcp")]


@pytest.mark.parametrize("line", COMMANDS)
def test_its_commands_parse(line: str) -> None:
    """Every command line has only options that exist (003-28)."""
    program, *arguments = shlex.split(line, comments=True)
    if program == "make":
        assert f"\n{arguments[0]}: " in (README.parent / "Makefile").read_text(encoding="utf-8")
    else:
        assert program == "graphrag-mcp"
        create_parser().parse_args(arguments)


def test_its_collection_is_one_that_a_copy_keeps() -> None:
    """A collection made beforehand, with shards and replicas, has the vectors that are written into it."""
    (block,) = [block for block in blocks("bash") if "shard_number" in block]
    body = json.loads(shlex.split(block)[-1])
    made = models.CreateCollection(**body)
    client = QdrantClient(":memory:")
    client.create_collection("code", vectors_config=made.vectors, sparse_vectors_config=made.sparse_vectors)
    create_collection(client, "code", load_embedder("").dimensions)
    assert (made.shard_number, made.replication_factor) == (6, 2)
    client.close()


@pytest.mark.parametrize(
    ("vectors", "sparse"),
    [
        ({"dense": {"size": 3, "distance": "Cosine"}}, {"keywords": {"modifier": "idf"}}),
        ({"dense": {"size": 256, "distance": "Cosine"}}, {"keywords": {}}),
        ({"dense": {"size": 256, "distance": "Cosine"}}, {}),
    ],
)
def test_a_collection_of_another_kind_is_refused(vectors: dict[str, object], sparse: dict[str, object]) -> None:
    """Nothing is written into one whose dense vectors have another size, or whose words would all weigh the same."""
    made = models.CreateCollection(vectors=vectors, sparse_vectors=sparse)
    client = QdrantClient(":memory:")
    client.create_collection("code", vectors_config=made.vectors, sparse_vectors_config=made.sparse_vectors)
    with pytest.raises(IndexStoreError, match="GRAPHRAG_QDRANT_COLLECTION"):
        create_collection(client, "code", 256)
    client.close()


@pytest.mark.parametrize("block", blocks("gitignore"))
def test_its_ignore_file_is_understood(block: str, tmp_path: Path) -> None:
    """The example of an ignore file has no line that is warned about, and excludes what it says (000-08, 000-41)."""
    (tmp_path / ".gitignore").touch()
    (tmp_path / ".graphragignore").write_text(block, encoding="utf-8")
    manager = ExclusionManager(tmp_path)
    assert manager.should_exclude("api.generated.ts")
    assert not manager.should_exclude("schema.generated.ts")
    assert manager.warnings == ()


@pytest.mark.parametrize(("entry", "out", "kept"), exclusion_rows())
def test_its_table_of_excluded_files_is_true(entry: str, out: list[str], kept: list[str], tmp_path: Path) -> None:
    """Every row of the table leaves out what it says and nothing that it keeps (003-16, K-21)."""
    keys, warnings = normalise_excluded_files([entry.replace(ROOT_IN_README, str(tmp_path))], tmp_path)
    assert warnings == ()
    assert [path for path in [*out, *kept] if keys & match_keys(path)] == out


def test_its_client_block_is_the_example_file() -> None:
    """The block for .mcp.json is the file that lies beside it."""
    example = json.loads((README.parent / ".mcp.json.example").read_text(encoding="utf-8"))
    assert json.loads(blocks("json")[0]) == example


def test_its_links_lead_somewhere() -> None:
    """Every relative link names a file of the repository."""
    targets = re.findall(r"\]\((?!https?:)([^)#]+)\)", TEXT)
    assert [target for target in targets if not (README.parent / target).exists()] == []
