"""`graphrag-mcp doctor`: checks every part that can be wrong, and prints the next step for each problem."""

import argparse
import os
import shutil
import sqlite3
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Literal

from msgspec import Struct

from graphrag_mcp import __version__
from graphrag_mcp.app.local import App
from graphrag_mcp.cli.clients import CLIENTS, NOT_ON_PATH, PROGRAM, SERVER_NAME, Client
from graphrag_mcp.cli.options import project_root
from graphrag_mcp.embedding.models import is_static, load_embedder, open_second_model
from graphrag_mcp.errors import CheckError, GraphragError
from graphrag_mcp.exclusion.manager import ExclusionManager
from graphrag_mcp.index.failures import explain
from graphrag_mcp.index.paths import IndexPaths
from graphrag_mcp.index.watcher import WatchedTree, shared_file_system
from graphrag_mcp.index.write_lock import Holder, WriteLock
from graphrag_mcp.languages.grammars import load_grammar
from graphrag_mcp.languages.registry import LANGUAGES
from graphrag_mcp.model.reports import IndexPhase
from graphrag_mcp.settings import Settings, load_settings
from graphrag_mcp.stores.sqlite.database import connect, is_damage
from graphrag_mcp.stores.sqlite.unusable import DAY_SECONDS, KEPT_DAYS, old_indexes
from graphrag_mcp.system.git import Git, GitError
from graphrag_mcp.system.git_dirs import find_work_tree
from graphrag_mcp.text.counts import counted
from graphrag_mcp.tools.index_status import describe_failures
from graphrag_mcp.tools.printing import json_text, printable

LEAST_FREE_BYTES = 500_000_000
GIT_SECONDS = 5.0
INOTIFY_LIMIT = Path("/proc/sys/fs/inotify/max_user_watches")

Verdict = Literal["ok", "warning", "failed"]
Result = tuple[Verdict, str, str]  # Verdict, text and next step of a finding.
_MARKS = {"ok": "ok     ", "warning": "warning", "failed": "FAILED "}


class Finding(Struct, frozen=True):
    """The result of checking one part. next_step: "" when nothing has to be done."""

    part: str
    verdict: Verdict
    text: str
    next_step: str = ""


def run_doctor(options: argparse.Namespace) -> None:
    """Check everything and print a line for each part; raises CheckError when a part has failed."""
    root = project_root(options.root, os.environ)
    findings = list(examine(root))
    text = json_text(findings, 2) if options.json else printable("\n".join(map(_line, findings)))
    sys.stdout.write(text + "\n")  # Not flushed: a reader who has gone must not hide that a check failed.
    failed = [finding.part for finding in findings if finding.verdict == "failed"]
    if failed:
        raise CheckError(f"problems found: {', '.join(failed)}")


def examine(root: Path) -> Iterator[Finding]:
    """Yield the finding for every part; an error in one does not keep the others from being checked."""
    yield _guarded("python", _python)
    yield _guarded("sqlite", _sqlite)
    yield _guarded("grammars", _grammars)
    try:
        settings = load_settings(root, os.environ)
        yield Finding("settings", "ok", "can be read")
    except GraphragError as error:
        yield Finding("settings", "failed", str(error), "correct these settings; docs/settings.md lists all")
        settings = Settings()
    yield _guarded("model", lambda: _model(settings))
    yield _guarded("root", lambda: _root(root))
    if root.is_dir():
        root = root.resolve()
        yield _guarded("git", lambda: _git(root))
        paths = IndexPaths(root, settings.indexing.data_dir)
        yield _guarded("index folder", lambda: _folder(paths))
        yield _guarded("index", lambda: _index(root, settings, paths))
        yield from _old_indexes(paths)
        yield _guarded("writer", lambda: _lock(paths))
        yield _guarded("watching", lambda: _watching(root, settings))
        yield _guarded("servers", lambda: _servers(root, settings))
        for client in filter(lambda client: client.is_found(root), CLIENTS.values()):
            yield _guarded(client.title, partial(_client, client, root))


def _guarded(part: str, look: Callable[[], Result]) -> Finding:
    try:
        return Finding(part, *look())
    except Exception as error:  # Any error of a part is a finding.
        known = explain(error)
        text = known or f"it cannot be examined ({error})"
        return Finding(part, "failed", text, "see the message" if known else "report it, with the whole of this output")


def _line(finding: Finding) -> str:
    line = f"{_MARKS[finding.verdict]} {finding.part}: {finding.text}"
    return f"{line}\n        -> {finding.next_step}" if finding.next_step else line


# ---------------------------------------------------------------- the installation


def _python() -> Result:
    version = ".".join(map(str, sys.version_info[:3]))
    return "ok", f"graphrag-mcp {__version__} on Python {version} ({sys.executable})", ""


def _sqlite() -> Result:
    with closing(sqlite3.connect(":memory:")) as connection:
        options = {row[0] for row in connection.execute("PRAGMA compile_options")}
    if "ENABLE_FTS5" not in options:
        step = "use a Python whose SQLite has FTS5, such as python.org's or your distribution's"
        return "failed", f"{sqlite3.sqlite_version} has no full-text search", step
    return "ok", f"{sqlite3.sqlite_version} with FTS5", ""


def _grammars() -> Result:
    broken = []
    for language in LANGUAGES:
        try:
            load_grammar(language)
        except Exception as error:  # A wheel of another version may raise anything.
            broken.append(f"{language} ({error})")
    if broken:
        step = "reinstall the package, with the versions that it asks for"
        return "failed", f"cannot be loaded: {', '.join(broken)}", step
    return "ok", f"{len(LANGUAGES)} languages", ""


def _model(settings: Settings) -> Result:
    started = time.perf_counter()
    embedder = load_embedder(settings.indexing.embedding_model)
    embedder.embed_query("test of the model")
    model = settings.indexing.embedding_model
    has_own, second = is_static(model), ""
    if model and not has_own:
        second = f"; second look: {model}, {open_second_model(model).dimensions} dimensions"
    seconds = time.perf_counter() - started
    name = model if has_own else "the package's own"
    return "ok", f"{name}, {embedder.dimensions} dimensions{second}, ready in {seconds:.1f} s", ""


# ---------------------------------------------------------------- the project


def _root(root: Path) -> Result:
    if not root.is_dir():
        return "failed", f"{root} is not a directory", "pass the folder of your repository as --root"
    if not os.access(root, os.R_OK | os.X_OK):
        return "failed", f"{root} cannot be read", "check its permissions"
    return "ok", str(root.resolve()), ""


def _git(root: Path) -> Result:
    if shutil.which("git") is None:
        return "warning", "is not installed", "install it: file ages are read from the history"
    if find_work_tree(root) is None:
        return "ok", "the root is not in a Git work tree: file times are used as ages", ""
    try:
        git = Git(root)
        git.run(time.monotonic() + GIT_SECONDS, "cat-file", "commit", git.head())
    except GitError as error:
        return "warning", str(error), "check `git log` there"
    return "ok", "the history can be read", ""


def _folder(paths: IndexPaths) -> Result:
    existing = next(folder for folder in (paths.folder, *paths.folder.parents) if folder.exists())
    if not os.access(existing, os.W_OK | os.X_OK):
        return "failed", f"{existing} cannot be written", "set GRAPHRAG_DATA_DIR to one that can"
    if paths.folder.exists() and stat.S_IMODE(paths.folder.stat().st_mode) & 0o077:
        return "warning", f"{paths.folder} is readable by other users", f"chmod 700 {paths.folder}"
    free = shutil.disk_usage(existing).free
    if free < LEAST_FREE_BYTES:
        return "warning", f"{free / 1e6:,.0f} MB are free at {existing}", "make room"
    return "ok", str(paths.folder), ""


def _index(root: Path, settings: Settings, paths: IndexPaths) -> Result:
    if not paths.file.exists():
        return "warning", "not built yet", "run `graphrag-mcp index`, or let the server build it"
    try:
        with closing(connect(paths.file)) as connection:
            ((verdict,),) = connection.execute("PRAGMA quick_check(1)").fetchall()
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        verdict = str(error)
    if verdict != "ok":
        step = "run `graphrag-mcp index`, which moves it aside and rebuilds it"
        return "failed", f"it is damaged ({verdict})", step
    with closing(App(root, settings)) as app:
        status = app.status()
    state = status.state
    size = f"{counted(state.files_done, 'file')}, {counted(state.chunks, 'chunk')}, {paths.size / 1e6:,.1f} MB"
    text = f"{state.state}, {size}"
    if state.state is not IndexPhase.READY:
        return "warning", text, "run `graphrag-mcp index`, or wait for the server"
    if status.failures:
        text = "; ".join([text, *describe_failures(status.failures)])
        return "failed", text, "exclude these files in .graphragignore, or report the reasons; all else is indexed"
    return "ok", text, ""


def _old_indexes(paths: IndexPaths) -> Iterator[Finding]:
    for old in old_indexes(paths.folder):
        days = max(0, int((time.time() - old.used_at) / DAY_SECONDS))
        used = f"{old.size / 1e6:,.1f} MB, last used {'today' if not days else f'{days} days ago'}"
        text = f"{old.path.name} ({used}) is from an older version; it is removed {KEPT_DAYS} days after its last use"
        yield Finding("older index", "ok", text)


def _lock(paths: IndexPaths) -> Result:
    if not paths.write_lock.exists():
        return "ok", "no process has written this index yet", ""
    lock = WriteLock(paths.write_lock)
    if lock.acquire():
        lock.release()
        return "ok", "no writer; the next server becomes it", ""
    holder = lock.holder() or Holder()
    if holder.is_silent:
        return "failed", f"{holder} holds the lock of the index", holder.advice
    return "ok", f"{holder} writes the index; {holder.advice}", ""


def _watching(root: Path, settings: Settings) -> Result:
    if settings.indexing.watch == "off":
        return "ok", "off: changes are found at the next start", ""
    if INOTIFY_LIMIT.exists() and (limit := int(INOTIFY_LIMIT.read_text())) < 65_536:
        step = "sudo sysctl fs.inotify.max_user_watches=524288"
        return "warning", f"the system allows {counted(limit, 'watched folder')}", step
    tree = WatchedTree(ExclusionManager(root, settings.indexing))
    if kind := shared_file_system(tree.root, tree.may_contain_files):
        seen = f"on (or contains) a network or shared file system ({kind})"
        return "ok", f"{seen}; changes are polled every 10 s or more", ""
    return "ok", "edits are followed while a server runs", ""


def _servers(root: Path, settings: Settings) -> Result:
    if not settings.servers.qdrant_url and not settings.servers.neo4j_uri:
        return "ok", "not configured (local index only)", ""
    with closing(App(root, settings)) as app:
        states = app.status().servers
    problems = [f"{state.name}: {state.problem}" for state in states if state.problem]
    behind = sum(state.pending for state in states if not state.is_from_elsewhere)
    lost = sum(state.lost for state in states)
    if problems:
        return "failed", "; ".join(problems), "check that they run, and the addresses and keys"
    step = next((state.next_step for state in states if not state.may_write), states[0].next_step)
    if lost:
        return "warning", f"lost: {counted(lost, 'chunk')}", step
    if behind:
        return "warning", f"not replicated yet: {counted(behind, 'file')}", step
    key = "" if all(state.may_write for state in states) else "; the key may only read"
    if any(state.is_from_elsewhere for state in states):
        return "ok", f"they hold a replica made by another machine{key}", ""
    return "ok", f"{counted(len(states), 'server')} up to date{key}", ""


def _client(client: Client, root: Path) -> Result:
    file = client.settings(root)
    try:
        command = client.command(file.read_text(encoding="utf-8"), root)
    except (FileNotFoundError, NotADirectoryError):
        return "ok", "not configured for this project", ""
    except (GraphragError, OSError, UnicodeDecodeError) as error:
        step = f"compare it with what `graphrag-mcp init --client {client.name}` says; it asks before it writes"
        return "warning", f"{file} cannot be checked: {error}", step
    if not command:
        missing = "server for this project" if client.is_shared else f"server {SERVER_NAME!r}"
        return "ok", f"{file} has no {missing}", ""
    if shutil.which(command) is None and not Path(command).exists():
        step = NOT_ON_PATH if command == PROGRAM else f"run `graphrag-mcp init --client {client.name}`"
        return "failed", f"{file} starts {command}, which cannot be found", step
    if twice := client.starts_twice(root):
        return "warning", f"{file} starts {command}", twice
    return "ok", f"{file} starts {command}", ""
