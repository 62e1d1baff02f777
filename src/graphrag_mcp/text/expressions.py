"""Reads the data files of the package, and the regular expressions in them."""

import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any


def folder_of_package(package: str) -> Path:
    """Return the folder of a package. `importlib.resources` would import 30 modules to tell it."""
    return Path(import_module(package).__path__[0])


def read_table(package: str, name: str) -> dict[str, Any]:
    """Return a TOML file of a package."""
    return tomllib.loads((folder_of_package(package) / name).read_text("utf-8"))


def expand(expression: str, parts: dict[str, str]) -> str:
    """Return an expression with each `{{name}}` replaced by the part of that name; a part may contain earlier parts."""
    for name, part in reversed(parts.items()):
        expression = expression.replace(f"{{{{{name}}}}}", part)
    return expression
