"""The hooks in the settings of Claude Code that are for one project and one user."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from graphrag_mcp.cli.clients import PROGRAM
from graphrag_mcp.cli.jsonc import indent_of
from graphrag_mcp.errors import GraphragError

SETTINGS = Path(".claude", "settings.local.json")
# A client takes exit code 2 for a veto, and that is what a version without this command would end with.
COMMAND = f"{PROGRAM} hook || exit 0"
_HOOKS = {
    "PostToolUse": ("Edit|MultiEdit|Write", ("Edit", "MultiEdit", "Write")),
    "PreToolUse": ("Grep|Bash", ("Grep", "Bash(rg *)", "Bash(grep *)", "Bash(git grep *)")),
}


def with_hooks(text: str, file: Path, *, remove: bool) -> str:
    """Return the settings with our hooks as they are now, or without them; all others stay. Raises GraphragError."""
    try:
        settings = json.loads(text) if text.strip() else {}
        hooks = {event: list(_others(groups)) for event, groups in settings.get("hooks", {}).items()}
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
        raise GraphragError(f"{file} is not what Claude Code reads ({error}); correct it, then run again") from error
    for event, (matcher, conditions) in _HOOKS.items() if not remove else ():
        command = {"type": "command", "command": COMMAND, "timeout": 5}
        ours = {"matcher": matcher, "hooks": [{**command, "if": condition} for condition in conditions]}
        hooks[event] = [*hooks.get(event, ()), ours]
    others = {name: value for name, value in settings.items() if name != "hooks"}
    kept = {event: groups for event, groups in hooks.items() if groups}
    new = {**settings, "hooks": kept} if kept else others
    if new == settings:
        return text
    return json.dumps(new, indent=indent_of(text), ensure_ascii=False) + "\n" if new else ""


def _others(groups: Any) -> Iterator[Any]:
    """Yield the groups of hooks without ours."""
    for group in groups:
        others = [hook for hook in group["hooks"] if not hook.get("command", "").startswith(f"{PROGRAM} hook")]
        if others or not group["hooks"]:
            yield {**group, "hooks": others}
