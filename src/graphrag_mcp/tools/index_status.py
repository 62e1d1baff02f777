"""`index_status`: what is indexed, or where to start in a repository."""

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Annotated, cast

from graphrag_mcp.app.session import Capability, View
from graphrag_mcp.errors import RequestError
from graphrag_mcp.model.reports import ServerState, Status
from graphrag_mcp.text.counts import counted
from graphrag_mcp.text.names import as_name
from graphrag_mcp.tools.arguments import ToolArguments
from graphrag_mcp.tools.excerpts import cut_text, room_of
from graphrag_mcp.tools.outlines import write_orientation
from graphrag_mcp.tools.printing import as_json, describe_state, one_line, printable
from graphrag_mcp.tools.tool import Call, Tool

if TYPE_CHECKING:  # They import numpy through the ports, and no client should wait for that.
    from graphrag_mcp.app.view import IndexView
    from graphrag_mcp.graph.orientation import Orientation

SHOWN_FAILURES = 20
SHOWN_KINDS = 12  # Languages or reasons on one line; the JSON form lists all.


class IndexStatusArguments(ToolArguments, frozen=True, kw_only=True):
    """`index_status`."""

    overview: Annotated[
        bool, "What a newcomer needs first instead: languages, entry points, modules, tests, settings."
    ] = False


def index_status(view: View, call: Call[IndexStatusArguments]) -> "Status | Orientation":
    """Return the status of the index, or what a newcomer to the repository needs first."""
    return orientation(view) if call.arguments.overview else view.status()


def orientation(view: View) -> "Orientation":
    """Return what a newcomer to the repository needs first. Raises RequestError without an index file."""
    if Capability.CODE not in view.capabilities:
        raise RequestError("overview", "overview: this server searches without an index file; start one in the project")
    return cast("IndexView", view).navigator.orientation()


def status_text(status: "Status | Orientation", call: Call[IndexStatusArguments]) -> str:
    """Return the answer of `index_status`; without a token budget, all of it."""
    if not isinstance(status, Status):
        return write_orientation(status)
    text = render_status(status, call.arguments.response_format == "detailed")
    return cut_text(text, room_of(call.tokens)).text if call.arguments.token_budget else text


def render_status(status: Status, detailed: bool = True) -> str:
    """Return what is indexed, how complete it is, and what was left out and why; `detailed` adds examples."""
    lines = [
        f"Index: {describe_state(status.state)}",
        f"Root: {as_name(status.root)}" + _describe_tree(status),
        f"Files: {status.files:,} ({status.archived_files:,} archived)",
        f"Chunks: {status.chunks:,}, symbols: {status.symbols:,}, relations: {status.relations:,}",
        _describe_model(status),
        f"Languages: {_counts(status.languages)}",
        f"Categories: {_counts(status.categories)}",
        _describe_history(status),
        f"Left out: {status.exclusion_rate:.1%} of all paths; {_counts(status.skipped)}",
    ]
    if status.fallbacks:
        lines.append(f"Not parsed by syntax: {_counts(status.fallbacks)}")
    lines += describe_failures(status.failures)
    if detailed:
        lines += [f"  left out: {as_name(path)} ({reason})" for path, reason in status.skipped_examples]
        when = status.last_indexed
        lines.append(f"Last indexed: {f'{when:%Y-%m-%d %H:%M:%S} UTC' if when else 'never'}")
        lines.append(f"Index file: {status.index_file} ({status.index_bytes / 1e6:,.1f} MB)")
    for server in status.servers:
        lines.append(f"Server: {server.name}: {_replica(server)}" + (f"; {server.problem}" if server.problem else ""))
    lines += [f"Warning: {warning}" for warning in status.warnings]
    return printable("\n".join(lines))


def describe_failures(failures: Mapping[str, str]) -> list[str]:
    """Return a line for each file of which a part is not indexed."""
    lines = [f"Not indexed in full: {one_line(path)}: {why}" for path, why in islice(failures.items(), SHOWN_FAILURES)]
    more = len(failures) - len(lines)
    return [*lines, f"Not indexed in full: {counted(more, 'more file')}"] if more > 0 else lines


def _replica(server: ServerState) -> str:
    """Return how complete the replica of a server is, if known, and whether the key may write it."""
    if server.lost:
        return f"has lost {server.lost:,} of {counted(server.sent or 0, 'chunk')}; {server.next_step}"
    if server.pending and not server.is_from_elsewhere:
        return f"lacks {counted(server.pending, 'file')}; {server.next_step}"
    key = "" if server.may_write else "; this key may only read"
    if server.is_from_elsewhere:
        chunks = counted(server.held or 0, "chunk")
        return f"holds {chunks} written by another machine, not compared with this index{key}"
    if server.held is not None:
        return f"up to date{key}"
    return "up to date at the last sync" if server.sent is not None else "contents unknown"


def _describe_tree(status: Status) -> str:
    branch = f", on {as_name(status.branch)}" if status.branch else ""
    shared = f"; the index is shared by {status.trees} work trees" if status.trees > 1 else ""
    return branch + shared


def _describe_model(status: Status) -> str:
    if not status.model_available:
        return f"Model: {status.model or 'none'} is not available; searching by keywords and graph only"
    of = counted(status.chunks, "chunk")
    second = f"\nSecond look: {status.second_model}, {status.second_chunks:,} of {of} embedded"
    return f"Model: {status.model}, {status.embedded_chunks:,} of {of} embedded{second if status.second_model else ''}"


def _describe_history(status: Status) -> str:
    if status.no_history:
        return f"History: not used ({one_line(status.no_history)})"
    return f"History: {counted(status.commits, 'past commit')}"


def _counts(counts: Mapping[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    words = [f"{name or 'unknown'} {count:,}" for name, count in ordered[:SHOWN_KINDS]]
    if len(ordered) > SHOWN_KINDS:
        words.append(counted(len(ordered) - SHOWN_KINDS, "more kind"))
    return ", ".join(words) or "none"


STATUS = Tool(
    name="index_status",
    description=(
        "What is indexed, and what was left out and why, when a search finds too little; with overview=true, "
        "where to start in this repository."
    ),
    arguments=IndexStatusArguments,
    needs=Capability.STATUS,
    find=index_status,
    text=status_text,
    json=lambda found, _call: as_json(found),
)
