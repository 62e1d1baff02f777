"""The tools of a player in the trial: an MCP server on standard input and output that records what it answers.

    python -m benchmarks.agents.tools FOLDER

FOLDER/run.json has the arm, the root of the repository and the folder of the indexes. Each call is a line of
FOLDER/calls.jsonl. Arms: "ours", under names that do not say whose they are; "placebo", which offers the same tools and
answers each call alike; "grep", which has one tool; "none", which has no tool.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.paired import HERE, environment
from tests.stdio_client import Server

SERVER = "codebase"  # The name by which a client knows the server.
ARMS = ("none", "ours", "placebo", "grep")
PLACEBO = """Nearest in this repository, best first:

1. README.md:1-24  (section)
   The entry point of the project; its modules are described below.
2. README.md:25-60  (section)
   How the parts work together.
"""
MOST_LINES = 200
_NEUTRAL = (
    ("graphrag_hybrid_search", "search_code"),
    ("graphrag-mcp", SERVER),
    ("graphrag", SERVER),
    ("GRAPHRAG", SERVER.upper()),
)
_GREP = {
    "name": "search_text",
    "description": "Search the files of the repository for a regular expression, with ripgrep.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "pattern": {"type": "string"},
            "path": {"type": "string", "description": "a file or folder; by default all"},
            "context": {"type": "integer", "description": "lines around each match", "minimum": 0, "maximum": 60},
        },
        "required": ["pattern"],
    },
}

Result = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Arm:
    """What a player may call, and what answers the calls."""

    tools: list[dict[str, Any]]
    call: Callable[[str, dict[str, Any]], Result]
    instructions: str = ""


def main() -> None:
    """Answer requests until standard input ends."""
    folder = Path(sys.argv[1])
    given = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    opened = open_arm(given["arm"], Path(given["root"]), Path(given["data"]))
    with opened as arm, (folder / "calls.jsonl").open("a", encoding="utf-8") as calls:
        for line in sys.stdin:
            request = json.loads(line)
            if "id" not in request:
                continue
            reply = {"jsonrpc": "2.0", "id": request["id"], **answer(arm, request["method"], request.get("params", {}))}
            sys.stdout.write(json.dumps(reply) + "\n")
            sys.stdout.flush()
            if request["method"] == "tools/call" and "result" in reply:
                characters = sum(len(part.get("text", "")) for part in reply["result"]["content"])
                calls.write(json.dumps({"tool": request["params"]["name"], "characters": characters}) + "\n")
                calls.flush()


def answer(arm: Arm, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of a request, or the error that it is not understood."""
    if method == "initialize":
        about = {"serverInfo": {"name": SERVER, "version": "1"}, "instructions": arm.instructions}
        version = params.get("protocolVersion", "2025-06-18")
        return {"result": {"protocolVersion": version, "capabilities": {"tools": {}}, **about}}
    if method == "tools/list":
        return {"result": {"tools": arm.tools}}
    if method == "tools/call" and any(tool["name"] == params.get("name") for tool in arm.tools):
        return {"result": arm.call(params["name"], params.get("arguments") or {})}
    return {"result": {}} if method == "ping" else {"error": {"code": -32601, "message": f"there is no {method}"}}


@contextmanager
def open_arm(name: str, root: Path, data: Path) -> Iterator[Arm]:
    """Offer the tools of an arm."""
    if name in ("none", "grep"):
        yield Arm([_GREP] if name == "grep" else [], lambda _, arguments: grep(root, arguments))
        return
    server = Server(root, environment(HERE, data))
    tools = neutral(server.ask("tools/list", {})["result"]["tools"])

    def call(tool: str, arguments: dict[str, Any]) -> Result:
        if name == "placebo":
            return text_result(PLACEBO)
        own = next((own for own, shown in _NEUTRAL if shown == tool), tool)
        reply = server.ask("tools/call", {"name": own, "arguments": arguments})
        return dict(neutral(reply["result"])) if "result" in reply else text_result(reply["error"]["message"], True)

    try:
        yield Arm(tools, call, neutral(server.introduction.get("instructions", "")))
    finally:
        server.close()


def grep(root: Path, arguments: Mapping[str, Any]) -> Result:
    """Return the first lines that ripgrep prints."""
    command = ["rg", "--line-number", "--with-filename", "--no-heading", "--sort=path", "--max-columns=300"]
    context = arguments.get("context")
    command += [f"--context={context if isinstance(context, int) else 0}", f"--regexp={arguments.get('pattern')}"]
    command += ["--", str(arguments.get("path") or ".")]
    done = subprocess.run(command, cwd=root, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    lines = (done.stdout or done.stderr or "Nothing matches.").splitlines()
    cut = [f"({len(lines) - MOST_LINES} more lines)"] if len(lines) > MOST_LINES else []
    return text_result("\n".join([*lines[:MOST_LINES], *cut]), done.returncode > 1)


def text_result(text: str, failed: bool = False) -> Result:
    """Return the result of a call that is a text."""
    return {"content": [{"type": "text", "text": text}], "isError": failed}


def neutral(value: Any) -> Any:
    """Return a value of JSON without a word that says whose tools these are."""
    text = json.dumps(value)
    for own, shown in _NEUTRAL:
        text = text.replace(own, shown)
    return json.loads(text)


if __name__ == "__main__":
    main()
