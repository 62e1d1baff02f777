"""`graphrag-mcp init`: connects clients and instructs agents, or undoes it; shows the changes before it writes them."""

import argparse
import difflib
import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct

from graphrag_mcp.cli.clients import CLIENTS, NOT_ON_PATH, PROGRAM, SERVER_NAME, Client
from graphrag_mcp.cli.hook_notes import paths_of
from graphrag_mcp.cli.jsonc import indent_of
from graphrag_mcp.cli.options import project_root
from graphrag_mcp.errors import GraphragError, RequestError, RootError, SettingsError
from graphrag_mcp.settings import load_settings
from graphrag_mcp.text.expressions import folder_of_package
from graphrag_mcp.tools.printing import printable

NOTES_FILE = "written.json"
BEGIN = "<!-- graphrag-mcp: begin (written by `graphrag-mcp init --agents`) -->"
END = "<!-- graphrag-mcp: end -->"
SECTION = (folder_of_package(__package__) / "agents.md").read_text("utf-8")
_FILES = ("AGENTS.md", "CLAUDE.md")
_IMPORT = re.compile(r"^\s*@(?:\./)?AGENTS\.md\s*$", re.MULTILINE)  # How CLAUDE.md includes another file.
_BLOCK = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
IGNORE_FILE = """\
# Files that graphrag-mcp does not index, in .gitignore syntax, in addition to those in .gitignore.
# Archived code needs no rule: it is indexed, marked, and hidden from searches by default.
# While this file exists, the built-in rules (node_modules/, dist/, ...) do not apply, so they are listed here:
"""
HOOK_SETTINGS = Path(".claude", "settings.local.json")  # For one project and one user.
# A client takes exit code 2 for a veto, and that is what a version without this command would end with.
_HOOK_COMMAND = f"{PROGRAM} hook || exit 0"
_HOOKS = {
    "PostToolUse": ("Edit|MultiEdit|Write", ("Edit", "MultiEdit", "Write")),
    "PreToolUse": ("Grep|Bash", ("Grep", "Bash(rg *)", "Bash(grep *)", "Bash(git grep *)")),
}


class WrittenFiles:
    """What was written for one project. A note has no text of a file but what was replaced."""

    def __init__(self, data: Path, root: Path) -> None:
        """data: the folder of all indexes, where the notes are."""
        self.file = data / NOTES_FILE
        self._projects: dict[str, dict[str, Any]] = {}
        with suppress(OSError, ValueError, AttributeError, TypeError):
            self._projects = {
                str(project): dict(notes) for project, notes in json.loads(self.file.read_bytes()).items()
            }
        self._notes = self._projects.setdefault(os.fspath(root), {})

    def before(self, file: Path, text: str | None) -> tuple[bool, str | None]:
        """Return whether a file was not edited since `init` wrote it, and its text before; None if there was none."""
        with suppress(KeyError, TypeError):
            note = self._notes[os.fspath(file)]
            if text is not None and note["digest"] == _digest(text):
                return True, None if note["is_new"] else text[: note["start"]] + note["text"] + text[note["stop"] :]
        return False, None

    def note(self, file: Path, before: str | None, after: str | None) -> None:
        """Remember what was written; None stands for a file that does not exist."""
        if after is None or after == before:
            self._notes.pop(os.fspath(file), None)
            return
        old = before or ""
        start = _common(old, after)
        end = _common(old[start:][::-1], after[start:][::-1])
        self._notes[os.fspath(file)] = {
            "digest": _digest(after),
            "is_new": before is None,
            "start": start,
            "stop": len(after) - end,
            "text": old[start : len(old) - end],
        }

    def noted(self) -> list[Path]:
        return [Path(file) for file in self._notes]

    def as_text(self) -> str:
        """Return the notes of all projects."""
        return json.dumps({project: notes for project, notes in self._projects.items() if notes}, indent=1)


def _common(one: str, other: str) -> int:
    """Return the number of characters with which both texts begin."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (left, right) in enumerate(pairs) if left != right), min(len(one), len(other)))


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).hexdigest()


def agent_files(root: Path) -> list[Path]:
    """Return the files that get the section: those that exist, else AGENTS.md; no text twice."""
    files = [root / name for name in _FILES if (root / name).is_file()] or [root / _FILES[0]]
    if len(files) == 2 and (files[0].samefile(files[1]) or _IMPORT.search(files[1].read_text(errors="replace"))):
        return files[:1]
    return files


def with_section(text: str, file: Path) -> str:
    """Return the text with the section as it is now, the rest byte for byte. Raises GraphragError."""
    line_end = "\r\n" if "\r\n" in text else "\n"
    block = f"{BEGIN}\n{SECTION}{END}".replace("\n", line_end)
    if _find(text, file):
        return _BLOCK.sub(lambda _: block, text, count=1)
    if not text:
        return block + line_end
    # The end of the text stays its end, so that `without_section` can restore it.
    return f"{text}{line_end}{block}{line_end}" if text.endswith("\n") else f"{text}{line_end * 2}{block}"


def without_section(text: str, file: Path) -> str:
    """Return the text as it was before `with_section`. Raises GraphragError."""
    block = _find(text, file)
    if block is None:
        return text
    before, after = text[: block.start()], text[block.end() :]
    line_end = "\r\n" if before.endswith("\r\n") else "\n"
    above = before.removesuffix(line_end)
    if not after:
        return above.removesuffix(line_end)
    return (above if above.endswith("\n") else before) + after.removeprefix(line_end)


def _find(text: str, file: Path) -> re.Match[str] | None:
    block = _BLOCK.search(text)
    if text.count(BEGIN) > 1 or (block is None and (BEGIN in text or END in text)):
        raise GraphragError(
            f"{file} has a part of the section of graphrag-mcp; remove {BEGIN} to {END}, then run again"
        )
    return block


class _Part(Struct, frozen=True):
    """A part of a file that `init` writes or removes. add, remove: return the text with it, and without it."""

    title: str
    what: str
    file: Path
    add: Callable[[str], str]
    remove: Callable[[str], str]
    is_removal: bool


class _Change(Struct):
    """The texts of a file: as it is, without what `init` wrote, and as it will be; None where it does not exist."""

    file: Path
    before: str | None
    bare: str | None
    after: str | None
    is_restored: bool


def run_init(options: argparse.Namespace) -> None:
    """Show the changes, ask, and write them; existing settings are kept."""
    root = project_root(options.root, os.environ)
    if not root.is_dir():
        raise RootError(f"{root} is not a directory; pass the folder of your repository as --root")
    root = root.resolve()
    if options.remove and not (options.agents or options.hooks):
        raise RequestError("--remove", "--remove takes away what --agents or --hooks writes; give one of them too")
    if options.hooks and not options.dry_run:  # A hook that was not used may speak again.
        paths_of(root).hooks.unlink(missing_ok=True)
    clients = _clients(options, root)
    written = WrittenFiles(paths_of(root).folder.parent, root)
    is_removal = options.remove or options.uninstall
    changes, problems = _plan(_parts(options, clients, root, written), root, written)
    if not changes and not problems:
        _say(f"{root} has nothing of {PROGRAM}." if is_removal else f"{root} is already set up.")
    for change in changes:
        _say(_difference(change))
    for twice in filter(None, (client.starts_twice(root) for client in clients if not options.uninstall)):
        _say(f"Warning: {twice}.")
    if changes and not options.dry_run:
        if not options.yes and not agrees("Write this?"):
            raise GraphragError("nothing was written; run it again with --yes to write without being asked")
        problems += _write_all(changes, root, written)
        if not options.uninstall:
            _say_what_next(clients, is_hooked=options.hooks and not options.remove)
    if problems:
        raise GraphragError("; ".join(problems))


def _clients(options: argparse.Namespace, root: Path) -> list[Client]:
    """Return the clients that were named, else those that are found; Claude Code where none is."""
    if options.client:
        return [CLIENTS[name] for name in options.client]
    if options.uninstall:
        return list(CLIENTS.values())
    if options.agents or options.hooks:
        return []
    found = [client for client in CLIENTS.values() if client.is_found(root)]
    others = [name for name, client in CLIENTS.items() if client not in found]
    _say(f"Not found here: {', '.join(others)}; --client NAME connects one." if found else "No client was found here.")
    return found or [CLIENTS["claude-code"]]


def _parts(
    options: argparse.Namespace, clients: Sequence[Client], root: Path, written: WrittenFiles
) -> Iterator[_Part]:
    for client in clients:
        what = f"entry {SERVER_NAME}" if not client.is_shared else "an entry for this project"
        add = partial(client.with_entry, root=root, command=server_command(client, root))
        remove = partial(client.without_entry, root=root)
        yield _Part(client.title, what, client.settings(root), add, remove, options.uninstall)
    is_all = options.uninstall and not options.client
    is_removal = options.remove or options.uninstall
    for file in agent_files(root) if options.agents or is_all else ():
        add, remove = partial(with_section, file=file), partial(without_section, file=file)
        yield _Part("Agents", "section", file, add, remove, is_removal)
    if options.hooks or is_all:
        file = root / HOOK_SETTINGS
        add, remove = partial(_with_hooks, file=file, remove=False), partial(_with_hooks, file=file, remove=True)
        yield _Part("Claude Code", "hooks", file, add, remove, is_removal)
    if options.ignore_file or is_all:
        yield from _ignore_part(root, written, is_removal=options.uninstall)


def _plan(parts: Iterable[_Part], root: Path, written: WrittenFiles) -> tuple[list[_Change], list[str]]:
    """Say what becomes of each part, and return the changes, and why parts were left out."""
    changes: dict[Path, _Change] = {}
    problems = []
    for part in parts:
        try:
            target = Path(os.path.realpath(part.file))
            change = changes.get(target) or _unchanged(part.file, root, written)
            bare = change.bare if change.is_restored else _edited(change.bare, part.remove)
            after = bare if part.is_removal else _edited(change.after, part.add)
        except GraphragError as error:
            problems.append(_sentence(part.file, error))
            _say(f"{part.title}: {part.file}: {part.what}, skipped")
            continue
        if not part.is_removal or after != change.after:
            verb = "removed" if part.is_removal else _verb(change, bare, after)
            _say(f"{part.title}: {part.file}: {part.what}, {verb}")
        change.bare, change.after = bare, after
        changes[target] = change
    return [change for change in changes.values() if change.before != change.after], problems


def _verb(change: _Change, bare: str | None, after: str | None) -> str:
    if after != change.after:
        return "new" if bare == change.before else "changed"
    return "unchanged" if after == change.before else "the same one"


def _unchanged(file: Path, root: Path, written: WrittenFiles) -> _Change:
    text = _read_inside(file, root)
    is_restored, bare = written.before(file, text)
    return _Change(file, text, bare if is_restored else text, text, is_restored)


def _edited(text: str | None, edit: Callable[[str], str]) -> str | None:
    new = edit(text or "")
    return text if new == (text or "") else new or None


def _sentence(file: Path, error: GraphragError) -> str:
    return str(error) if str(file) in str(error) else f"{file} was left as it is ({error}); correct it, then run again"


def _write_all(changes: Sequence[_Change], root: Path, written: WrittenFiles) -> list[str]:
    """Write the files, and the notes of it; return why files were not written."""
    problems = []
    for change in changes:
        file = change.file
        try:
            if _read_inside(file, root) != change.before:
                raise GraphragError(f"{file} was changed meanwhile, so it was left as it is; run again")
            if change.after is None:
                _remove(file, root)
            else:
                write_atomically(file, change.after)
        except GraphragError as error:
            problems.append(str(error))
            continue
        written.note(file, change.bare, change.after)
        _say(f"{'removed' if change.after is None else 'wrote'} {file}")
    try:
        write_atomically(written.file, written.as_text(), mode=0o600)
    except GraphragError as error:
        problems.append(f"{error}; what was written can be removed, but not restored byte for byte")
    return problems


def _remove(file: Path, root: Path) -> None:
    """Remove a file, and the folders of the project that are empty then."""
    try:
        file.resolve().unlink()
    except OSError as error:
        raise GraphragError(f"{file} cannot be removed ({error})") from error
    with suppress(OSError):
        for folder in file.parents:
            if folder == root or not folder.is_relative_to(root):
                break
            folder.rmdir()


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


def write_atomically(file: Path, text: str, mode: int = 0o644) -> None:
    """Write a file as a whole or not at all; a symlink stays one, and the file keeps its mode. mode: of a new file."""
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
                Path(name).chmod(mode)
            Path(name).replace(file)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except (OSError, UnicodeEncodeError) as error:
        raise GraphragError(f"{file} cannot be written ({error}), so it was left as it is") from error


def _with_hooks(text: str, file: Path, *, remove: bool) -> str:
    """Return the settings with our hooks as they are now, or without them; all others stay. Raises GraphragError."""
    try:
        settings = json.loads(text) if text.strip() else {}
        hooks = {event: list(_other_hooks(groups)) for event, groups in settings.get("hooks", {}).items()}
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
        raise GraphragError(f"{file} is not what Claude Code reads ({error}); correct it, then run again") from error
    for event, (matcher, conditions) in _HOOKS.items() if not remove else ():
        command = {"type": "command", "command": _HOOK_COMMAND, "timeout": 5}
        ours = {"matcher": matcher, "hooks": [{**command, "if": condition} for condition in conditions]}
        hooks[event] = [*hooks.get(event, ()), ours]
    others = {name: value for name, value in settings.items() if name != "hooks"}
    kept = {event: groups for event, groups in hooks.items() if groups}
    new = {**settings, "hooks": kept} if kept else others
    if new == settings:
        return text
    return json.dumps(new, indent=indent_of(text), ensure_ascii=False) + "\n" if new else ""


def _other_hooks(groups: Any) -> Iterator[Any]:
    """Yield the groups of hooks without ours."""
    for group in groups:
        others = [hook for hook in group["hooks"] if not hook.get("command", "").startswith(f"{PROGRAM} hook")]
        if others or not group["hooks"]:
            yield {**group, "hooks": others}


def _ignore_part(root: Path, written: WrittenFiles, *, is_removal: bool) -> Iterator[_Part]:
    """Yield the ignore file with the built-in rules where the project has none; another one is never changed."""
    from graphrag_mcp.exclusion.defaults import DEFAULT_PATTERNS

    with suppress(SettingsError):  # Other commands report what is wrong.
        file = root / load_settings(root, os.environ).indexing.ignore_file
        if file in written.noted() or not os.path.lexists(file):
            rules = IGNORE_FILE + DEFAULT_PATTERNS.strip() + "\n"
            yield _Part("Files", "built-in rules", file, lambda text: text or rules, lambda text: text, is_removal)


def _read_inside(file: Path, root: Path) -> str | None:
    """Return the text of a file with its line ends, None if there is none; a link may not lead out of the project."""
    target = Path(os.path.realpath(file))  # Which takes links in a circle, too.
    if file.is_relative_to(root) and not target.is_relative_to(root):
        raise GraphragError(f"{file} leads out of the project, to {target}; remove the link, then run again")
    try:
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise GraphragError(f"{file} cannot be read ({error}); fix or remove it, then run again") from error


def _difference(change: _Change) -> str:
    old, new = (change.before or "").splitlines(), (change.after or "").splitlines()
    return "\n".join(difflib.unified_diff(old, new, str(change.file), str(change.file), n=2, lineterm=""))


def agrees(question: str) -> bool:
    """Return whether the user says yes; without a terminal, no."""
    if not sys.stdin.isatty():
        return False
    sys.stdout.write(printable(f"{question[:1].upper()}{question[1:]} [y/N] "))
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _say(text: str) -> None:
    sys.stdout.write(printable(text) + "\n")
