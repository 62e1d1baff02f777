"""`indexes`, `uninstall` and `servers`: what this user's disk and servers hold, and its removal."""

import argparse
import os
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from graphrag_mcp.cli.init import agrees, run_init
from graphrag_mcp.cli.options import project_root
from graphrag_mcp.cli.terminal import show
from graphrag_mcp.errors import GraphragError, RequestError, ServerError
from graphrag_mcp.index.backends import Servers
from graphrag_mcp.index.paths import KnownIndex, data_folder, known_indexes, remove_index
from graphrag_mcp.model.reports import HeldProject
from graphrag_mcp.settings import load_settings
from graphrag_mcp.text.counts import counted, listed
from graphrag_mcp.tools.printing import json_text, printable

PROJECTS_SHOWN = 3
_MEGABYTE = 1_000_000
_DAY_SECONDS = 86_400


def run_indexes(options: argparse.Namespace) -> None:
    """List the indexes, or remove those of projects that are gone, each after a question."""
    with _known(options) as indexes:
        if options.action == "prune":
            orphans = [index for index in indexes if index.is_orphan]
            if not orphans:
                show("No index is of a project that is gone.")
            _remove(orphans, is_agreed=options.yes)
        elif options.json:
            show(json_text(indexes, 2))
        else:
            show("\n".join(map(describe, indexes)) or "There is no index.")


def run_uninstall(options: argparse.Namespace) -> None:
    """Undo `init` in this project, then remove its index after a question; with --all, each index of this user."""
    undo = {"client": None, "agents": False, "hooks": False, "ignore_file": False, "remove": False, "uninstall": True}
    run_init(argparse.Namespace(**{**vars(options), **undo}))
    root = os.path.realpath(project_root(options.root, os.environ))
    with _known(options) as known:
        indexes = known if options.all else [index for index in known if root in index.projects]
        if options.dry_run:
            show("\n".join(f"would ask to remove {describe(index)}" for index in indexes))
        else:
            _remove(indexes, is_agreed=options.yes)
    show("`uv tool uninstall graphrag-mcp` or `pipx uninstall graphrag-mcp` removes the program.")


@contextmanager
def _known(options: argparse.Namespace) -> Iterator[list[KnownIndex]]:
    settings = load_settings(Path(os.path.realpath(project_root(options.root, os.environ))), os.environ)
    data = data_folder(settings.indexing.data_dir)
    try:
        yield list(known_indexes(data))
    except OSError as error:
        raise GraphragError(f"{error.filename or data}: {error.strerror}; nothing else was changed") from error


def _remove(indexes: list[KnownIndex], *, is_agreed: bool) -> None:
    for index in indexes:
        if not is_agreed and not agrees(f"remove {describe(index)}?"):
            show(f"kept {index.folder}")
        elif remove_index(index):
            show(f"removed {index.folder}")
        else:
            show(f"kept {index.folder}, which a process has open; stop that, and run this again")


def describe(index: KnownIndex) -> str:
    """Return an index with its projects, its size and when it was last used, in one line."""
    projects = listed(index.projects, PROJECTS_SHOWN) if index.projects else "of another version, or unreadable"
    gone = ", which is gone" if index.is_orphan else ""
    used = datetime.fromtimestamp(index.used_at, UTC).date()
    return printable(f"{index.folder}  {index.size / _MEGABYTE:.1f} MB, used {used}: {projects}{gone}")


def run_servers(options: argparse.Namespace) -> None:
    """List the projects on the servers, or remove those that were not copied for some days."""
    settings = load_settings(Path(os.path.realpath(project_root(options.root, os.environ))), os.environ)
    with closing(Servers(settings.servers, "")) as servers:
        if not servers.any:
            raise ServerError("no server is configured; set GRAPHRAG_QDRANT_URL, GRAPHRAG_NEO4J_URI or both")
        projects = servers.projects()
        if options.action == "prune":
            prune(servers, projects, options)
        else:
            lines = [describe_copy(project) for project in projects] or ["The servers hold no project."]
            show(json_text(projects, 2) if options.json else "\n".join(lines))


def prune(servers: Servers, projects: list[HeldProject], options: argparse.Namespace) -> None:
    """Remove the projects that were last copied too long ago, each after a question."""
    if options.days is None or options.days < 1:
        raise RequestError("--days", "--days: give the days without a copy after which a project goes, at least 1")
    latest = time.time() - options.days * _DAY_SECONDS
    old = [project for project in projects if project.written_at and project.written_at < latest]
    if not old:
        show(f"No copy is older than {counted(options.days, 'day')}.")
    for project in old:
        if options.yes or agrees(f"remove {describe_copy(project)}?"):
            servers.remove(project)
            show(f"removed {project.name} from {project.server}")
        else:
            show(f"kept {project.name} on {project.server}")


def describe_copy(project: HeldProject) -> str:
    """Return a project with what is known of its copy, in one line."""
    when = f"copied {datetime.fromtimestamp(project.written_at, UTC).date()}" if project.written_at else "no whole copy"
    commit = f", commit {project.commit[:8]}" if project.commit else ""
    return printable(f"{project.name}  {project.server}: {counted(project.chunks, 'chunk')}, {when}{commit}")
