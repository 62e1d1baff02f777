"""What the plugin, the bundle and the registry's file say of the server is what the server is."""

import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from graphrag_mcp import __version__
from graphrag_mcp.cli.init import SECTION
from graphrag_mcp.cli.options import ROOT_VARIABLES, create_parser
from graphrag_mcp.model.fields import outer_fields
from graphrag_mcp.settings import ENVIRONMENT_PREFIX, SECTIONS
from graphrag_mcp.tools.table import TOOLS

REPOSITORY = Path(__file__).parents[1]
PLUGIN = "packaging/claude-code/.claude-plugin/plugin.json"
MARKETPLACE = ".claude-plugin/marketplace.json"
HOOKS = "packaging/claude-code/hooks/hooks.json"
BUNDLE = "packaging/mcpb/manifest.json"
REGISTRY = "server.json"
SKILL = REPOSITORY / "packaging" / "claude-code" / "skills" / "code-search" / "SKILL.md"
CHARACTERS = 1_024  # Of a skill's description: what is longer is cut.


def read(name: str) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads((REPOSITORY / name).read_text(encoding="utf-8"))
    return manifest


def setting_variables() -> set[str]:
    names = (name for section in SECTIONS.values() for name in outer_fields(section))
    return {f"{ENVIRONMENT_PREFIX}{name.upper()}" for name in names} | set(ROOT_VARIABLES)


@pytest.mark.parametrize("name", [PLUGIN, BUNDLE, REGISTRY])
def test_its_version_is_the_packages(name: str) -> None:
    """A release changes one number, and no manifest is forgotten."""
    assert read(name)["version"] == __version__


def test_the_registry_names_this_package() -> None:
    """What a client installs from the registry is this version of this package."""
    (package,) = read(REGISTRY)["packages"]
    assert (package["identifier"], package["version"]) == ("graphrag-mcp", __version__)


def test_the_bundle_installs_the_wheel_of_this_version() -> None:
    """The project inside the bundle asks for the wheel that is packed beside it."""
    project = tomllib.loads((REPOSITORY / "packaging" / "mcpb" / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["version"] == __version__
    assert project["project"]["dependencies"] == [f"graphrag-mcp=={__version__}"]
    assert project["tool"]["uv"]["sources"] == {
        "graphrag-mcp": {"path": f"graphrag_mcp-{__version__}-py3-none-any.whl"}
    }


def test_what_they_need_of_python_is_what_the_package_needs() -> None:
    """No host installs the bundle into a Python that the package refuses."""
    ours = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]["requires-python"]
    bundled = tomllib.loads((REPOSITORY / "packaging" / "mcpb" / "pyproject.toml").read_text(encoding="utf-8"))
    assert bundled["project"]["requires-python"] == ours
    assert read(BUNDLE)["compatibility"]["runtimes"]["python"] == ours


def test_the_bundle_lists_the_tools_that_there_are() -> None:
    """A host shows its user exactly what the server offers."""
    assert [tool["name"] for tool in read(BUNDLE)["tools"]] == list(TOOLS)


def test_every_variable_they_name_is_a_setting() -> None:
    """A misspelt variable would be ignored by the server, and nobody would know."""
    (package,) = read(REGISTRY)["packages"]
    named = {variable["name"] for variable in package["environmentVariables"]}
    named |= set(read(BUNDLE)["server"]["mcp_config"]["env"])
    named |= {name for server in read(PLUGIN)["mcpServers"].values() for name in server.get("env", {})}
    assert named <= setting_variables()


def test_what_they_start_is_a_command_of_the_program() -> None:
    """The command lines of the plugin and of the registry's file are accepted."""
    (package,) = read(REGISTRY)["packages"]
    (server,) = read(PLUGIN)["mcpServers"].values()
    assert server["command"] == package["identifier"] == "graphrag-mcp"
    assert create_parser().parse_args(server["args"]).command == "serve"
    assert create_parser().parse_args([one["value"] for one in package["packageArguments"]]).command == "serve"


def test_the_marketplace_offers_the_plugin() -> None:
    """`claude plugin install graphrag-mcp@graphrag-mcp` finds it."""
    (offered,) = read(MARKETPLACE)["plugins"]
    assert offered["name"] == read(PLUGIN)["name"]
    assert (REPOSITORY / offered["source"] / ".claude-plugin" / "plugin.json").samefile(REPOSITORY / PLUGIN)
    assert offered["description"] == read(PLUGIN)["description"]


def test_the_package_says_which_server_it_is() -> None:
    """The registry looks for this line in the package's description, to see that both belong to the same people."""
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"mcp-name: (\S+)", readme) == [read(REGISTRY)["name"]]


def test_the_skill_knows_every_tool_and_no_other() -> None:
    """An agent that follows the skill never calls what is not there, and hears of everything that is."""
    text = SKILL.read_text(encoding="utf-8")
    called = set(re.findall(r"`([a-z]+_[a-z_]+|impact)`", text)) - {"excluded_files", "token_budget"}
    assert called == set(TOOLS)


def test_the_skill_and_the_section_for_agents_name_every_tool() -> None:
    """Who has one of them knows all tools."""
    skill = SKILL.read_text(encoding="utf-8")
    for name in TOOLS:
        assert f"`{name}`" in SECTION
        assert f"| `{name}`" in skill


@pytest.mark.parametrize(("value", "said"), [("1", True), ("0", False), (None, False)])
def test_the_plugin_reminds_of_the_tools_only_on_request(value: str | None, said: bool) -> None:
    """One line at the start of a session, with tools that there are; nothing unless the variable is 1."""
    (start,) = read(HOOKS)["hooks"]["SessionStart"]
    (hook,) = start["hooks"]
    variables = {} if value is None else {"CODE_SEARCH_REMINDER": value}
    done = subprocess.run(["sh", "-c", hook["command"]], env=variables, capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) == said
    assert set(re.findall(r"[a-z]+_[a-z_]+", done.stdout)) <= set(TOOLS)


def test_the_arguments_in_the_skill_exist() -> None:
    """Every `name: value` of the skill is an argument of some tool, with a value that its schema accepts."""
    text = SKILL.read_text(encoding="utf-8").partition("\n---\n")[2]
    schemas = [tool.schema()["properties"] for tool in TOOLS.values()]
    given = re.findall(r"`([a-z_]+): ([^`]+)`", text)
    assert {name for name, _ in given} == {"categories", "direction", "exclude_archived", "response_format"}
    for name, value in given:
        accepted = [schema[name] for schema in schemas if name in schema]
        kinds = accepted[0].get("enum") or accepted[0].get("items", {}).get("enum") or [True, False]
        values = json.loads(value)
        assert all(one in kinds for one in (values if isinstance(values, list) else [values]))
    for name in ("excluded_files", "paths", "queries", "token_budget", "cursor"):
        assert any(name in schema for schema in schemas)


def test_the_skill_has_what_a_client_reads_first() -> None:
    """Its name is its folder's, and its description is short enough to be kept."""
    front = yaml.safe_load(SKILL.read_text(encoding="utf-8").split("---\n")[1])
    assert front["name"] == SKILL.parent.name
    assert 0 < len(front["description"]) <= CHARACTERS


def test_the_skill_quotes_the_words_of_answers() -> None:
    """It explains what an agent reads."""
    explained = SKILL.read_text(encoding="utf-8").partition("## Read the answer")[2]
    quoted = re.findall(r'"(?:\d+ )?([^"`]+?)(?: `[^`]*`)?"', explained)
    sources = (REPOSITORY / "src" / "graphrag_mcp").rglob("*.py")
    texts = "".join(path.read_text(encoding="utf-8") for path in sources).lower()
    assert len(quoted) > 8
    assert [words for words in quoted if words.lower() not in texts] == []
