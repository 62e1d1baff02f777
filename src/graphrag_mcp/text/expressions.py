"""Reads regular expressions from the data files of the package."""

import tomllib
from importlib import resources
from typing import Any


def read_table(package: str, name: str) -> dict[str, Any]:
    """Return a TOML file of a package."""
    return tomllib.loads((resources.files(package) / name).read_text("utf-8"))


def expand(expression: str, parts: dict[str, str]) -> str:
    """Return an expression with each `{{name}}` replaced by the part of that name; a part may contain earlier parts."""
    for name, part in reversed(parts.items()):
        expression = expression.replace(f"{{{{{name}}}}}", part)
    return expression
