"""Where the packages of Python are, by the manifests of the projects of a tree."""

import pytest

from graphrag_mcp.languages.manifests import read_manifest
from tests.resolution.projects import OTHER, UNDECIDED, Project

MADE = "def make(): pass\n"
USED = "from tool.core import make\n«make»()\n"


def setup(arguments: str) -> str:
    return f"from setuptools import *\nsetup({arguments})\n"


@pytest.mark.parametrize(
    ("manifest", "text", "package"),
    [
        ("pyproject.toml", '[project]\nname = "tool"', "src/tool"),
        ("pyproject.toml", '[project]\nname = "tool"', "tool"),
        ("pyproject.toml", '[tool.setuptools.package-dir]\n"" = "code"', "code/tool"),
        ("pyproject.toml", '[tool.setuptools.package-dir]\ntool = "inner"', "inner"),
        ("pyproject.toml", '[tool.setuptools.packages.find]\nwhere = ["code"]', "code/tool"),
        ("pyproject.toml", '[tool.poetry]\npackages = [{include = "tool", from = "code"}]', "code/tool"),
        ("pyproject.toml", '[tool.hatch.build.targets.wheel]\npackages = ["code/tool"]', "code/tool"),
        ("pyproject.toml", '[tool.hatch.build]\nsources = ["code"]', "code/tool"),
        ("pyproject.toml", '[tool.pdm.build]\npackage-dir = "code"', "code/tool"),
        ("pyproject.toml", '[tool.uv.build-backend]\nmodule-root = "code"', "code/tool"),
        ("pyproject.toml", '[tool.maturin]\npython-source = "code"', "code/tool"),
        ("pyproject.toml", '[tool.pytest.ini_options]\npythonpath = "code"', "code/tool"),
        ("setup.cfg", "[options]\npackage_dir =\n    = code\n", "code/tool"),
        ("setup.cfg", "[options]\npackage_dir =\n    tool = inner\n", "inner"),
        ("setup.cfg", "[options]\npackages = find:\n[options.packages.find]\nwhere = code\n", "code/tool"),
        ("setup.py", setup("package_dir={'': 'code'}, packages=['tool']"), "code/tool"),
        ("setup.py", setup("package_dir={'tool': 'inner'}"), "inner"),
        ("setup.py", setup("packages=find_packages('code')"), "code/tool"),
        ("setup.py", setup("packages=find_namespace_packages(where='code')"), "code/tool"),
    ],
)
@pytest.mark.parametrize("project", ["", "parts/one/", ".hidden/"])
def test_a_manifest_says_where_packages_are(manifest: str, text: str, package: str, project: str) -> None:
    """Of the project that a file is in, which may be the whole tree or a part of it."""
    files = {
        f"{project}{manifest}": text,
        f"{project}{package}/__init__.py": "",
        f"{project}{package}/core.py": MADE,
        f"{project}tests/unit/test_core.py": USED,
    }
    assert Project(files).answer() == f"{project}{package}/core.py:1 make"


@pytest.mark.parametrize(
    ("needed", "meant"),
    [
        ('dependencies = ["The.Tool>=1"]', "libs/tool/src/tool/core.py:1 make"),
        ('optional-dependencies = {all = ["the-tool"]}', "libs/tool/src/tool/core.py:1 make"),
        ("dependencies = []", "libs/tool/src/tool/core.py:1 make"),
        ('dependencies = ["other"]', UNDECIDED),
        ('dependencies = ["tool"]', OTHER),
    ],
)
def test_a_package_of_another_project_of_the_tree_is_one_that_is_needed(needed: str, meant: str) -> None:
    """By the name of its project; a published package of the same name is not the one beside it."""
    files = {
        "libs/tool/pyproject.toml": '[project]\nname = "the_tool"',
        "libs/tool/src/tool/__init__.py": "",
        "libs/tool/src/tool/core.py": MADE,
        "app/pyproject.toml": f'[project]\nname = "app"\n{needed}',
        "app/src/app/main.py": USED,
    }
    assert Project(files).answer() == meant


def test_a_package_that_two_other_projects_have_is_not_decided() -> None:
    """A fixture may have the name of the package that is meant; its own files mean it."""
    files = {
        "libs/tool/pyproject.toml": '[project]\nname = "tool"',
        "libs/tool/src/tool/core.py": MADE,
        "libs/tool/src/tool/__init__.py": "",
        "fixtures/tool/pyproject.toml": '[project]\nname = "tool"',
        "fixtures/tool/tool/core.py": MADE,
        "fixtures/tool/tool/__init__.py": "",
        "fixtures/tool/run.py": USED,
        "docs/example.py": USED,
    }
    assert Project(files).answers() == ["fixtures/tool/tool/core.py:1 make", UNDECIDED]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", "[project"),
        ("pyproject.toml", "project = 1\ntool = [1]"),
        ("pyproject.toml", "[tool.poetry]\npackages = 1\n[tool.hatch.build]\ntargets = [1]\n[project]\nname = 1"),
        ("pyproject.toml", '[tool.setuptools.package-dir]\n"" = "../../etc"\nx = "/etc"\ny = 1'),
        ("pyproject.toml", "x = " + "[" * 100_000),
        ("setup.cfg", "no section\n[options]\npackage_dir"),
        ("setup.py", "setup(package_dir={'': " + "(" * 50_000),
        ("setup.py", "setup(name=" + "-" * 200_000 + "1)"),
        ("setup.py", "setup(package_dir=dict(a=1), packages=find_packages(*x), install_requires=[1, read()], **more)"),
        ("setup.py", "\0"),
        ("setup.py", "setup('\\d')"),
    ],
)
def test_whatever_a_manifest_holds_nothing_leads_out_of_the_tree(name: str, text: str) -> None:
    """What cannot be read says nothing, and warns of nothing."""
    found = read_manifest(f"a/{name}", text)
    assert found is not None
    assert (found.name, dict(found.targets), dict(found.requires)) == ("", {}, {})
