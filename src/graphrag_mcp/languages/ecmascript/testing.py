"""How tests in JavaScript and TypeScript are run."""

import json
import re
from collections.abc import Mapping, Sequence

from graphrag_mcp.languages.testing import quoted
from graphrag_mcp.model.graph import CodeNode

BUILD_FILES = ("package.json",)
_RUNNERS = {  # The first that a script names runs the files.
    "vitest": "npx vitest run",
    "jest": "npx jest",
    "mocha": "npx mocha",
    "ava": "npx ava",
    "playwright": "npx playwright test",
}
_CHAIN = re.compile(r"&&|\|\||;|\b(?:npm|pnpm|yarn|bun|turbo|nx|lerna|run-[sp]|npm-run-all|concurrently)\b")


def command(nodes: Sequence[CodeNode], _whole: bool, build_files: Mapping[str, str]) -> str:
    """Return the command that runs some tests; whole: names files and packages only.

    Arguments of `npm test` reach the last of several commands only, so of these the runner itself is called.
    """
    scripts = _scripts(build_files.get("package.json", ""))
    runner = "npm test --"
    if _CHAIN.search(scripts.get("test", "")):
        words = re.findall(r"[\w-]+", " ".join(text for name, text in scripts.items() if name.startswith("test")))
        runner = next((_RUNNERS[name] for name in _RUNNERS if name in words), runner)
    return f"{runner} {quoted(node.path for node in nodes)}"


def _scripts(manifest: str) -> dict[str, str]:
    try:
        scripts = json.loads(manifest)["scripts"].items()
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        return {}
    return {name: text for name, text in scripts if isinstance(text, str)}
