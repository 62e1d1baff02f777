"""The servers of docker-compose.yml: for this machine only, bounded, quiet, and with the keys of the page."""

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
PAGE = (ROOT / "docs" / "servers.md").read_text()


def test_each_server_is_bounded_checked_and_of_this_machine() -> None:
    """Whoever starts it exposes nothing, and loses nothing with a container."""
    for name, service in COMPOSE["services"].items():
        assert re.fullmatch(r"\d+g", service["mem_limit"]), name
        assert service["healthcheck"]["test"], name
        assert all(port.startswith("127.0.0.1:") for port in service["ports"]), name
        assert {volume.partition(":")[0] for volume in service["volumes"]} <= COMPOSE["volumes"].keys(), name
    mounted = {volume for service in COMPOSE["services"].values() for volume in service["volumes"]}
    assert {volume.partition(":")[0] for volume in mounted} == COMPOSE["volumes"].keys()


def test_the_keys_that_the_page_names_reach_the_servers() -> None:
    """A variable without a value in the file is passed on from the shell, and not set where the shell has none."""
    named = set(re.findall(r"^export (QDRANT__\w+)=", PAGE, re.M))
    assert named == {name for name, value in COMPOSE["services"]["qdrant"]["environment"].items() if value is None}
    assert "${NEO4J_PASSWORD:?" in COMPOSE["services"]["neo4j"]["environment"]["NEO4J_AUTH"]


def test_no_server_reports_to_its_maker() -> None:
    """Nothing of a project leaves the machine."""
    qdrant, neo4j = (COMPOSE["services"][name]["environment"] for name in ("qdrant", "neo4j"))
    assert qdrant["QDRANT__TELEMETRY_DISABLED"] == "true"
    assert {neo4j["NEO4J_dbms_usage__report_enabled"], neo4j["NEO4J_client_allow__telemetry"]} == {"false"}


def test_the_versions_are_those_of_the_tests() -> None:
    """Neo4j's is that of the jars, Qdrant's that of the page."""
    jars = (ROOT / "tests" / "servers" / "pom.xml").read_text()
    assert COMPOSE["services"]["neo4j"]["image"].removeprefix("neo4j:").removesuffix("-community") in jars
    assert f"tested with {COMPOSE['services']['qdrant']['image'].rpartition(':v')[2]}" in PAGE
