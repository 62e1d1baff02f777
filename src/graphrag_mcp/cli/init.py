"""`graphrag-mcp init`: connects clients and instructs agents; shows the changes before it writes them."""

import argparse
import difflib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from graphrag_mcp.cli.agents import agent_files, with_section, without_section
from graphrag_mcp.cli.clients import CLIENTS, NOT_ON_PATH, PROGRAM, Client
from graphrag_mcp.cli.hook_notes import paths_of
from graphrag_mcp.cli.hook_settings import SETTINGS, with_hooks
from graphrag_mcp.cli.options import project_root
from graphrag_mcp.errors import GraphragError, RequestError, RootError, SettingsError
from graphrag_mcp.settings import load_settings
from graphrag_mcp.tools.printing import printable

IGNORE_FILE = """\
# Files that graphrag-mcp does not index, in .gitignore syntax, in addition to those in .gitignore.
# Archived code needs no rule: it is indexed, marked, and hidden from searches by default.
# While this file exists, the built-in rules (node_modules/, dist/, ...) do not apply, so they are listed here:
"""


class DeclinedError(GraphragError):
    """The user declined the changes."""


def run_init(options: argparse.Namespace) -> None:
    """Show the changes, ask, and write them; existing settings are kept."""
    root = project_root(options.root, os.environ)
    if not root.is_dir():
        raise RootError(f"{root} is not a directory; pass the folder of your repository as --root")
    root = root.resolve()
    if options.remove and not (options.agents or options.hooks):
        raise RequestError("--remove", "--remove takes away what --agents or --hooks writes; give one of them too")
    if options.hooks:  # A hook that was not used may speak again.
        paths_of(root).hooks.unlink(missing_ok=True)
    clients = [CLIENTS[name] for name in options.client or ([] if options.agents or options.hooks else ["claude-code"])]
    changes = [(file, before, after) for file, before, after in _changes(options, clients, root) if before != after]
    if not changes:
        _say(f"{root} is already set up.")
        return
    for change in changes:
        _say(_difference(*change))
    for twice in filter(None, (client.starts_twice(root) for client in clients)):
        _say(f"Warning: {twice}.")
    if not options.yes and not agrees("Write this?"):
        raise DeclinedError("nothing was written; run it again with --yes to write without being asked")
    for file, _, after in changes:
        if after:
            write_atomically(file, after)
        else:
            file.unlink()
        _say(f"{'wrote' if after else 'removed'} {file}")
    _say_what_next(clients, is_hooked=options.hooks and not options.remove)


def _changes(options: argparse.Namespace, clients: Sequence[Client], root: Path) -> Iterator["_Change"]:
    yield from (_client_change(client, root) for client in clients)
    if options.agents:
        yield from (_agents_change(file, root, remove=options.remove) for file in agent_files(root))
    if options.hooks:
        before = _read_inside(root / SETTINGS, root)
        yield root / SETTINGS, before, with_hooks(before, root / SETTINGS, remove=options.remove)
    if options.ignore_file:
        yield from _ignore_change(root)


def _say_what_next(clients: Sequence[Client], *, is_hooked: bool) -> None:
    for client in clients:
        if client.first_use:
            _say(client.first_use)
    if (is_hooked or any(not client.is_shared for client in clients)) and shutil.which(PROGRAM) is None:
        _say(f"Warning: {NOT_ON_PATH}.")
    if is_hooked:
        _say("Restart Claude Code; `graphrag-mcp usage` counts how often what the hooks say is used.")
    if clients:
        _say("Restart the client or reload its servers, then ask it a question about the code.")


def server_command(client: Client, root: Path) -> list[str]:
    """Return the command line that starts the server; paths of this machine are only in a file of the user's own."""
    if not client.is_shared:
        return [PROGRAM, "serve", *(["--root", client.root] if client.root else [])]
    program = shutil.which(PROGRAM) or str(Path(sys.executable).with_name(PROGRAM))
    command = [program] if Path(program).exists() else [sys.executable, "-m", "graphrag_mcp"]
    return [*command, "serve", "--root", str(root)]


def write_atomically(file: Path, text: str) -> None:
    """Write a file as a whole or not at all; a symlink stays one, and the file keeps its mode."""
    file = file.resolve()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=file.parent)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as temporary:
                temporary.write(text)
            if file.exists():
                shutil.copymode(file, name)
            else:
                Path(name).chmod(0o644)
            Path(name).replace(file)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except (OSError, UnicodeEncodeError) as error:
        raise GraphragError(f"{file} cannot be written ({error}), so it was left as it is") from error


_Change = tuple[Path, str, str]


def _client_change(client: Client, root: Path) -> _Change:
    file = client.settings(root)
    before = _read_inside(file, root)
    return file, before, client.merge(before, file, root, server_command(client, root))


def _agents_change(file: Path, root: Path, *, remove: bool) -> _Change:
    before = _read_inside(file, root)
    return file, before, (without_section if remove else with_section)(before, file)


def _ignore_change(root: Path) -> list[_Change]:
    """Return the ignore file with the built-in rules, where the project has none; an existing one is never changed."""
    from graphrag_mcp.exclusion.defaults import DEFAULT_PATTERNS

    try:
        file = root / load_settings(root, os.environ).indexing.ignore_file
    except SettingsError:  # Other commands report what is wrong.
        return []
    return [] if os.path.lexists(file) else [(file, "", IGNORE_FILE + DEFAULT_PATTERNS.strip() + "\n")]


def _read_inside(file: Path, root: Path) -> str:
    """Return the text of a file with its line ends, "" if there is none; a link may not lead out of the project."""
    if file.is_relative_to(root) and not file.resolve().is_relative_to(root):
        raise GraphragError(f"{file} leads out of the project, to {file.resolve()}; remove the link, then run again")
    try:
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise GraphragError(f"{file} cannot be read ({error}); fix or remove it, then run again") from error


def _difference(file: Path, before: str, after: str) -> str:
    old, new = before.splitlines(), after.splitlines()
    return "\n".join(difflib.unified_diff(old, new, str(file), str(file), n=2, lineterm=""))


def agrees(question: str) -> bool:
    """Return whether the user says yes; without a terminal, no."""
    if not sys.stdin.isatty():
        return False
    sys.stdout.write(printable(f"{question[:1].upper()}{question[1:]} [y/N] "))
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _say(text: str) -> None:
    sys.stdout.write(printable(text) + "\n")
