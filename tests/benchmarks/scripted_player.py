"""A player for the trial of agents: asks its first tool once, and answers with the first place that it reads.

python -m tests.benchmarks.scripted_player PROMPT CONFIG
"""

import json
import os
import re
import sys
from pathlib import Path

from tests.stdio_client import Server


def main() -> None:
    """Speak MCP to the server of the settings, and print a stream of events as Claude Code does."""
    prompt, config = sys.argv[1:3]
    ((name, entry),) = json.loads(Path(config).read_text())["mcpServers"].items()
    server = Server(Path(), dict(os.environ), command=[entry["command"], *entry["args"]])
    tools = server.ask("tools/list", {})["result"]["tools"]
    emit({"type": "system", "subtype": "init", "cwd": str(Path.cwd()), "tools": [tool["name"] for tool in tools]})
    words = re.search(r"`([^`]+)`", prompt)
    asked = words[1] if words else prompt.splitlines()[2]
    place = None
    if tools:
        required = tools[0]["inputSchema"].get("required", ["query"])[0]
        text, _ = server.call(tools[0]["name"], {required: asked})
        call = {"type": "tool_use", "id": "toolu_1", "name": f"mcp__{name}__{tools[0]['name']}", "input": {}}
        emit({"type": "assistant", "message": {"role": "assistant", "content": [call]}})
        result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": text}]}
        emit({"type": "user", "message": {"role": "user", "content": [result]}})
        place = re.search(r"[\w./-]+\.\w+:\d+(?:-\d+)?", text)
    emit({"type": "result", "result": f"I looked.\nANSWER: {place[0] if place else ''}"})
    server.close()


def emit(event: object) -> None:
    """Print an event."""
    sys.stdout.write(json.dumps(event) + "\n")


if __name__ == "__main__":
    main()
