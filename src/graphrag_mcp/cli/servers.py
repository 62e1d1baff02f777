"""`servers`: which projects the servers hold, and the removal of old copies."""

import argparse
import os
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from graphrag_mcp.cli.init import agrees
from graphrag_mcp.cli.options import project_root
from graphrag_mcp.cli.terminal import show
from graphrag_mcp.errors import RequestError, ServerError
from graphrag_mcp.model.reports import HeldProject
from graphrag_mcp.replication.backends import Servers
from graphrag_mcp.settings import load_settings
from graphrag_mcp.text.counts import counted
from graphrag_mcp.tools.as_json import json_text
from graphrag_mcp.tools.printing import printable

_DAY_SECONDS = 86_400


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
            lines = [describe(project) for project in projects] or ["The servers hold no project."]
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
        if options.yes or agrees(f"remove {describe(project)}?"):
            servers.remove(project)
            show(f"removed {project.name} from {project.server}")
        else:
            show(f"kept {project.name} on {project.server}")


def describe(project: HeldProject) -> str:
    """Return a project with what is known of its copy, in one line."""
    when = f"copied {datetime.fromtimestamp(project.written_at, UTC).date()}" if project.written_at else "no whole copy"
    commit = f", commit {project.commit[:8]}" if project.commit else ""
    return printable(f"{project.name}  {project.server}: {counted(project.chunks, 'chunk')}, {when}{commit}")
