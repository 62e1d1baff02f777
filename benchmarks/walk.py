"""Which packages a call of a tool goes through, and how often it comes back to one: `python -m benchmarks.walk ROOT`.

A door is a module, where it is entered from another package for the first time: the modules to read, in order. A
return is a step to a package that was left before.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Mapping
from contextlib import closing
from itertools import groupby
from pathlib import Path
from types import FrameType

import graphrag_mcp
from benchmarks.figures import add_option, write_rows
from graphrag_mcp.app.local import App
from graphrag_mcp.serving.calls import answer_now
from graphrag_mcp.settings import load_settings
from graphrag_mcp.tools.table import TOOLS

PACKAGE = f"{Path(graphrag_mcp.__file__).parent}{os.sep}"
COMMON = frozenset(("text", "system", "model", "languages", "errors.py", "settings.py", "ports.py"))
"""What any package may use in passing."""
CALLS: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "search": ("graphrag_hybrid_search", {"query": "which callers are counted"}),
    "trace": ("trace_relations", {"symbol": "App.search"}),
}


class Walk:
    """The doors of a call. rooms: the packages that they lead to, in order, without repetitions in a row."""

    def __init__(self) -> None:
        self.doors: dict[str, None] = {}

    def follow(self, frame: FrameType, event: str, _argument: object) -> None:
        """Note a call; for `sys.setprofile`."""
        if event == "call" and (room := _room_of(frame)) and room not in COMMON and room != _room_of(frame.f_back):
            self.doors.setdefault(frame.f_code.co_filename.removeprefix(PACKAGE))

    @property
    def rooms(self) -> list[str]:
        return [room for room, _ in groupby(door.partition(os.sep)[0] for door in self.doors)]

    @property
    def returns(self) -> int:
        return len(self.rooms) - len(set(self.rooms))


def _room_of(frame: FrameType | None) -> str:
    name = frame.f_code.co_filename if frame else ""
    return name.removeprefix(PACKAGE).partition(os.sep)[0] if name.startswith(PACKAGE) else ""


def walk(app: App, name: str) -> Walk:
    """Return the walk of a call that is not the first: everything is imported and open."""
    tool, arguments = CALLS[name]
    walked = Walk()
    for follow in (None, walked.follow):
        sys.setprofile(follow)
        try:
            app.ask(answer_now, TOOLS[tool], arguments, 0.0)
        finally:
            sys.setprofile(None)
    return walked


def main() -> None:
    """Print the walks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path, help="a repository that defines `App.search`: this one")
    parser.add_argument("--doors", action="store_true", help="print the modules too")
    add_option(parser)
    options = parser.parse_args()
    rows = {}
    with tempfile.TemporaryDirectory() as data:
        settings = load_settings(options.root, {**os.environ, "GRAPHRAG_DATA_DIR": data})
        with closing(App(options.root, settings)) as app:
            app.index()
            for name in CALLS:
                walked = walk(app, name)
                print(f"{name}: {len(walked.doors)} doors, {walked.returns} returns: {' > '.join(walked.rooms)}")
                if options.doors:
                    print("\n".join(f"  {door}" for door in walked.doors))
                rows[name] = {"doors": str(len(walked.doors)), "returns": str(walked.returns)}
    write_rows(options.figures, rows)


if __name__ == "__main__":
    main()
