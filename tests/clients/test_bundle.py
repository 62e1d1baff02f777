"""The bundle and the registry's file pass their own validators, and the bundle starts as a host starts it."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from graphrag_mcp.tools.table import TOOLS
from tests.clients.programs import REGISTRY_VALIDATOR, REPOSITORY, run

pytestmark = pytest.mark.clients

START_SECONDS = 300  # The first start installs what the server needs.


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory, environ: dict[str, str]) -> Path:
    """What `make bundle` makes, unpacked."""
    folder = tmp_path_factory.mktemp("bundle")
    made = run("make", "bundle", f"DIST={folder / 'dist'}", environ=environ)
    assert made.code == 0, made.output + made.errors
    (bundle,) = (folder / "dist").glob("*.mcpb")
    assert run("mcpb", "unpack", bundle, folder / "unpacked", environ=environ).code == 0
    return folder / "unpacked"


def test_the_bundles_manifest_is_valid(environ: dict[str, str]) -> None:
    """As it stands in the repository."""
    done = run("mcpb", "validate", "packaging/mcpb/manifest.json", environ=environ)
    assert done.code == 0, done.output + done.errors


def test_the_bundle_starts_as_a_host_starts_it(unpacked: Path, project: Path, environ: dict[str, str]) -> None:
    """With its variables replaced, its command serves the tools over the folder that the user chose."""
    manifest = json.loads((unpacked / "manifest.json").read_text(encoding="utf-8"))
    start = _substituted(manifest["server"]["mcp_config"], {"__dirname": unpacked, "user_config.root": project})
    home = Path(os.environ["HOME"])  # The user's caches of uv: what is there is not fetched again.
    start["env"] |= {"UV_CACHE_DIR": environ.get("UV_CACHE_DIR", str(home / ".cache" / "uv"))}
    server = StdioServerParameters(command=start["command"], args=start["args"], env=environ | start["env"])

    async def ask() -> tuple[list[str], str]:
        async with Client(stdio_client(server)) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            answer = await client.call_tool("graphrag_hybrid_search", {"query": "refresh a session"})
            return names, str(answer.content)

    names, answer = asyncio.run(asyncio.wait_for(ask(), START_SECONDS))
    assert names == list(TOOLS)
    assert "session.py:" in answer


def test_the_registrys_validators_accept_the_file(environ: dict[str, str]) -> None:
    """Its schema and its rules, as the registry applies them when a version is published."""
    done = run(REGISTRY_VALIDATOR, "server.json", environ=environ)
    assert (done.code, done.json()) == (0, {"valid": True, "issues": []})


def test_the_registrys_validators_refuse_a_wrong_file(tmp_path: Path, environ: dict[str, str]) -> None:
    """The check above can fail."""
    text = (REPOSITORY / "server.json").read_text(encoding="utf-8")
    (tmp_path / "server.json").write_text(text.replace('"stdio"', '"pipe"'), encoding="utf-8")
    assert run(REGISTRY_VALIDATOR, tmp_path / "server.json", environ=environ).code == 1


def _substituted(value: Any, variables: dict[str, Path]) -> Any:
    if isinstance(value, dict):
        return {name: _substituted(one, variables) for name, one in value.items()}
    if isinstance(value, list):
        return [_substituted(one, variables) for one in value]
    for name, replacement in variables.items():
        value = value.replace(f"${{{name}}}", str(replacement))
    assert "${" not in value
    return value
