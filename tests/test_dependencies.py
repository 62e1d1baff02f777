"""What is installed with the package: nothing that only an extra needs."""

import subprocess
import sys
import tomllib
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

REPOSITORY = Path(__file__).parents[1]


def test_the_package_brings_no_library_of_other_models() -> None:
    """fastembed, which runs them, and what it brings are as large as half of everything else."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    base = _all_needed(project["dependencies"])
    extra = _all_needed(project["optional-dependencies"]["fastembed"])
    assert {"fastembed", "onnxruntime", "pillow"} <= extra - base


def test_a_run_of_a_few_tests_loads_no_library_of_a_server() -> None:
    """The fixtures of all folders import neither Neo4j's driver nor Qdrant's client until a test asks for one."""
    script = "import sys, tests.conftest; print(*{'neo4j', 'qdrant_client'} & set(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", script], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert loaded.stdout.split() == []


def _all_needed(requirements: list[str]) -> set[str]:
    """Return the names of the packages that are installed for these requirements, on this machine."""
    found: set[str] = set()
    wanted = [Requirement(text) for text in requirements]
    while wanted:
        needed = wanted.pop()
        name = canonicalize_name(needed.name)
        if name not in found or needed.extras:
            found.add(name)
            wanted += [one for one in map(Requirement, distribution(name).requires or []) if _applies(one, needed)]
    return found


def _applies(requirement: Requirement, needed: Requirement) -> bool:
    """Tell whether a package's requirement is installed with the package as it is needed: with these extras."""
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in needed.extras or {""})
