"""How tests in JavaScript and TypeScript are run."""

import json
import re
from collections.abc import Mapping, Sequence

from graphrag_mcp.languages.testing import quoted
from graphrag_mcp.model.graph import CodeNode

BUILD_FILES = ("package.json",)
CASES_HAVE_TITLES = True  # A file without one is read by tests, and runs nothing itself.
SAYS_CASE = None  # Only names say what is started.
_ALL = "npm test --"
_RUNNER = re.compile(
    r"\b(?:vitest|jest|mocha|ava|playwright|tap|tape|uvu|jasmine|karma|lab|qunit|wtr|cypress|"
    r"(?:deno|ng|scripts|tsdx) test)\b|--test\b"
)
_CHAIN = re.compile(r"&&|\|\||;|\b(?:npm|pnpm|yarn|bun|turbo|nx|lerna|run-[sp]|npm-run-all|concurrently)\b")
_CONFIGURED_IN = re.compile(r"(?:-c|--config)[ =][\"']?(?:\./)?([\w./-]*/)")
_NAME = re.compile(r"[\w:.-]{1,50}")


def command(nodes: Sequence[CodeNode], _whole: bool, build_files: Mapping[str, str]) -> str:
    """Return the command that runs some tests, or all if none is given; whole: names files and packages only.

    `npm test -- FILE` gives the file to the last of several commands only. Where `test` is several, each file is given
    to the script with one runner whose configuration is nearest to it. Other programs take no files.
    """
    if not nodes:
        return "npm test"
    scripts = _scripts(build_files.get("package.json", ""))
    paths = [node.path for node in nodes]
    if not _CHAIN.search(test := scripts.get("test", "")):
        return f"{_ALL} {quoted(paths)}" if _RUNNER.search(test) or not test else "npm test"
    folders = {
        name: folder[1] if (folder := _CONFIGURED_IN.search(text)) else ""
        for name, text in scripts.items()
        if name.startswith("test") and _NAME.fullmatch(name) and _RUNNER.search(text) and not _CHAIN.search(text)
    }
    by_script: dict[str, list[str]] = {}
    for path in paths:
        able = [name for name, folder in folders.items() if path.startswith(folder)]
        script = max(able, key=lambda name: len(folders[name]), default="")
        by_script.setdefault(f"npm run {script} --" if script else _ALL, []).append(path)
    return " && ".join(f"{run} {quoted(own)}" for run, own in by_script.items())


def _scripts(manifest: str) -> dict[str, str]:
    try:
        scripts = json.loads(manifest)["scripts"].items()
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        return {}
    return {name: text for name, text in scripts if isinstance(text, str)}
