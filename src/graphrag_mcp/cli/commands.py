"""`index`, `search`, `find`, `grep`, `read`, `trace`, `history`, `impact`, `map`, `watch`, `status` and `sync`."""

import argparse
import os
import shlex
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from graphrag_mcp.app.local import App
from graphrag_mcp.cli.options import project_root
from graphrag_mcp.cli.project import open_project, open_remote
from graphrag_mcp.cli.terminal import ProgressLine, Spans, coloured, page, show
from graphrag_mcp.errors import CheckError, IndexLockedError, IndexStoreError, RequestError, ServerError
from graphrag_mcp.model.reports import IndexPhase, IndexReport, SyncReport
from graphrag_mcp.text.counts import counted
from graphrag_mcp.tools.printing import SHELL, json_text, printable

if TYPE_CHECKING:  # A command imports its own tool when it runs.
    from graphrag_mcp.app.remote import RemoteApp
    from graphrag_mcp.tools.tool import Tool

WAIT_SECONDS = 0.5
NICENESS = 5  # Servers that start or search meanwhile have priority; on an idle machine nothing is slower.


def run_index(options: argparse.Namespace) -> None:
    """Bring the index up to date and print what was done."""
    os.setpriority(os.PRIO_PROCESS, 0, max(NICENESS, os.getpriority(os.PRIO_PROCESS, 0)))  # Less is not allowed.
    with _open(options) as app, ProgressLine() as progress:
        report = _index(app, options.rebuild, progress)
    show(json_text(report, 2) if options.json else describe_report(report))


def _index(app: App, rebuild: bool, progress: ProgressLine) -> IndexReport:
    """Return what was done: nothing, with a warning, where another process keeps a complete index up to date."""
    while True:
        try:
            return app.index(rebuild, progress)
        except IndexLockedError as error:
            if rebuild or not error.is_kept:
                raise
            state = app.index_state()
            if state.state is IndexPhase.READY:
                return IndexReport(unchanged=state.files_done, chunks=state.chunks, warnings=(str(error),))
        time.sleep(WAIT_SECONDS)  # Its first run goes on.


def run_search(options: argparse.Namespace) -> bool:
    """Search once and print the results."""
    from graphrag_mcp.tools.excerpts import SEARCH_TOKENS
    from graphrag_mcp.tools.search import HYBRID, search_for, search_request
    from graphrag_mcp.tools.search_answer import render, search_payload

    with _open_either(options) as project:
        call = HYBRID.read(_search_arguments(options), project.settings, project.root, SHELL)
        request = replace(search_request(call), min_score=options.min_score)
        if options.unique:
            request = replace(request, chunks_per_document=1)
        if isinstance(project, App) and not options.no_update:
            bring_up_to_date(project)
        result = project.ask(search_for, request)
    if options.json:
        show(json_text(search_payload(replace(result, primary=result.primary[call.first :])), 2))
    else:
        tokens = options.token_budget or min(project.settings.retrieval.response_tokens, SEARCH_TOKENS)
        with_code = options.format == "detailed"
        text = render(
            result,
            tokens,
            with_code=with_code,
            explained=options.explain,
            have=options.have,
            first=call.first,
            following=call.next_at,
            asking=call.asking,
        )
        _show_answer(text, options)
    return not HYBRID.is_empty(result)


def run_completion(options: argparse.Namespace) -> None:
    """Print the completion of a shell."""
    import shtab

    from graphrag_mcp.cli.options import create_parser

    show(shtab.complete(create_parser(argparse.ArgumentParser), shell=options.shell))


def run_grep(options: argparse.Namespace) -> bool:
    """Print every line with a text."""
    from graphrag_mcp.grep.needles import Needle, create_needle
    from graphrag_mcp.model.search import Case
    from graphrag_mcp.tools.find_occurrences import OCCURRENCES

    arguments = _given(options, "text", "regex", "whole_word", "case", "context", "limit") | _scope_arguments(options)
    arguments["paths"] = [*options.path, *options.paths]

    @cache
    def needle() -> Needle:  # Only when the text was found: it is right then.
        return create_needle(options.text, regex=options.regex, whole_word=options.whole_word, case=Case(options.case))

    return _answer(OCCURRENCES, arguments, options, lambda line: needle().spans(line))


def run_find(options: argparse.Namespace) -> bool:
    """Print where a name is defined, and what uses it."""
    from graphrag_mcp.tools.find_symbol import FIND_SYMBOL

    return _answer(FIND_SYMBOL, _given(options, "symbol", "limit"), options)


def run_read(options: argparse.Namespace) -> bool:
    """Print the code of definitions, with what calls, uses and tests them."""
    from graphrag_mcp.tools.find_symbol import FIND_SYMBOL

    symbols = {"symbol": ", ".join(options.symbol), "body": True}
    return _answer(FIND_SYMBOL, _given(options, "focus") | symbols, options)


def run_trace(options: argparse.Namespace) -> bool:
    """Print the relations of a definition, or how code reaches other code."""
    from graphrag_mcp.tools.trace_relations import TRACE

    names = ("symbol", "from", "to", "question", "direction", "hops", "unresolved", "limit")
    return _answer(TRACE, _given(options, *names), options)


def run_history(options: argparse.Namespace) -> bool:
    """Print the commits that explain code, or match words."""
    from graphrag_mcp.tools.find_history import HISTORY

    names = ("query", "symbol", "path", "line", "since", "until", "author", "limit")
    return _answer(HISTORY, _given(options, *names), options)


def _given(options: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Return the arguments of a tool that have the names of options, and the form of its answer."""
    form = {"response_format": "json" if options.json else "detailed"}
    page = {"cursor": options.cursor} if "cursor" in options else {}
    archived = {"exclude_archived": False} if getattr(options, "include_archived", False) else {}
    given = {name: getattr(options, name) for name in ("token_budget", *names)}
    return {name: value for name, value in given.items() if value is not None} | form | page | archived


def _answer(
    tool: "Tool[Any, Any, Any]",
    arguments: Mapping[str, object],
    options: argparse.Namespace,
    spans: Spans | None = None,
) -> bool:
    """Print the answer of a tool, and return whether anything was found. spans: what to mark in a line."""
    with _open(options) as app:
        call = tool.read(arguments, app.settings, app.root, SHELL)
        if not options.no_update:
            bring_up_to_date(app)
        answer = app.ask(tool.ask, call)
        text = tool.write(answer, call)
    _show_answer(text, options, spans)
    return not tool.is_empty(answer)


def _show_answer(text: str, options: argparse.Namespace, spans: Spans | None = None) -> None:
    text = coloured(text, spans) if options.is_coloured and not options.json else text
    if not (options.is_paged and page(text, os.environ)):
        show(text)


def run_impact(options: argparse.Namespace) -> bool:
    """Print what a change affects; raises CheckError if it breaks more than it may."""
    from graphrag_mcp.tools.impact import IMPACT, impact_of_diff

    if options.symbol and (options.patch or options.fail_on):
        raise RequestError("SYMBOL", "SYMBOL: --patch and --fail-on are about a diff; leave out one or the other")
    with _open(options) as app:
        call = IMPACT.read(_given(options, "symbol", "base", "hops", "limit"), app.settings, app.root, SHELL)
        patch = _read_patch(options.patch) if options.patch else ""
        if not options.no_update:
            bring_up_to_date(app)
        answer = app.ask(impact_of_diff, call, patch) if patch else app.ask(IMPACT.ask, call)
        text = IMPACT.write(answer, call)
    _show_answer(text, options)
    if options.fail_on and answer.result.broken:
        raise CheckError(f"certainly broken outside the change: {counted(answer.result.broken, 'place')}")
    return bool(options.fail_on) or not IMPACT.is_empty(answer)


def _read_patch(name: str) -> str:
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except (OSError, ValueError) as error:  # A path with a zero byte is a ValueError.
        why = error.strerror if isinstance(error, OSError) else error
        raise RequestError("--patch", f"--patch: {name} cannot be read ({why})") from None
    return data.decode("utf-8", "replace") or "\n"


def run_watch(options: argparse.Namespace) -> None:
    """Index, then follow the edits until interrupted."""
    stop = threading.Event()
    with _open(options) as app:
        with ProgressLine() as progress:
            report = app.index(progress=progress)
        show(describe_report(report) + f"\nwatching {printable(str(app.root))}")
        # Not earlier: while indexing, an interrupt ends the run, and the next run resumes it.
        stop_on_signals(stop)
        app.watch(stop, lambda change: show(describe_report(change)))


def stop_on_signals(stop: threading.Event) -> None:
    """Set the event at an interrupt, from a thread: the handler may run while this one holds the event's own lock."""
    interrupts: SimpleQueue[int] = SimpleQueue()  # Its `put` may be called at any point of the program.

    def follow() -> None:
        interrupts.get()
        stop.set()

    threading.Thread(target=follow, name="follow-signals", daemon=True).start()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _frame: interrupts.put(number))


def run_status(options: argparse.Namespace) -> None:
    """Print what is indexed, or why some files are not found."""
    from graphrag_mcp.tools.index_status import render_status

    if options.file:
        if options.remote:
            raise RequestError("--file", "--file: files are looked up in a local index; leave out --remote")
        with _open(options) as app:
            show(printable("\n".join(_describe_file(app, name) for name in options.file)))
        return
    with _open_either(options) as project:
        status = project.status()
    _show_answer(json_text(status, 2) if options.json else render_status(status), options)


def run_map(options: argparse.Namespace) -> None:
    """Print what a newcomer to the repository needs first."""
    from graphrag_mcp.tools.index_status import STATUS

    _answer(STATUS, _given(options) | {"overview": True}, options)


def run_sync(options: argparse.Namespace) -> None:
    """Replicate the index to the servers and print what was done; raises ServerError when a replica is incomplete."""
    from graphrag_mcp.cli.init import agrees

    with _open(options) as app:
        if not options.no_update:
            bring_up_to_date(app)
        with ProgressLine() as progress:
            reports = app.sync(
                options.verify, options.rebuild, progress.files, lambda removal: options.yes or agrees(f"{removal}?")
            )
    if options.json:
        show(json_text(reports, 2))
    else:
        show("\n".join(describe_sync(report, verified=options.verify) for report in reports))
    problems = [f"{report.server}: {report.problem}" for report in reports if report.problem]
    if problems:
        raise ServerError("; ".join(problems) + "; the next sync sends the rest")


def bring_up_to_date(app: App) -> None:
    """Index what changed, unless another process is the writer; what cannot be written is answered as it is."""
    try:
        with ProgressLine() as progress:
            app.index(progress=progress)
    except IndexStoreError as error:
        if not isinstance(error, IndexLockedError) and app.index_state().state is IndexPhase.EMPTY:
            raise
        sys.stderr.write(f"{error}\n")


def describe_report(report: IndexReport) -> str:
    """Return what an index run did, in one line and one more for each warning."""
    from graphrag_mcp.tools.index_status import describe_failures

    line = (
        f"{report.added:,} added, {report.changed:,} changed, {report.removed:,} removed, "
        f"{report.unchanged:,} unchanged, {report.skipped:,} left out; {counted(report.chunks, 'chunk')} "
        f"({report.embedded:,} embedded, {report.reused:,} reused) in {report.seconds:.1f} s"
    )
    warnings = (f"warning: {warning}" for warning in report.warnings)
    return printable("\n".join([line, *describe_failures(report.failures), *warnings]))


def describe_sync(report: SyncReport, *, verified: bool) -> str:
    """Return what was sent to one server, in one line."""
    line = (
        f"{report.server}: {counted(report.written, 'file')} ({counted(report.chunks, 'chunk')}) sent, "
        f"{report.removed:,} removed in {report.seconds:.1f} s"
    )
    if verified:
        line += f"; it lacked {report.missing:,}, had {report.outdated:,} outdated and {report.foreign:,} foreign"
    return printable(line)


def _describe_file(app: App, name: str) -> str:
    file = Path(os.path.normpath(app.root / name))
    path = file.relative_to(app.root).as_posix() if file.is_relative_to(app.root) else name
    if absent := app.why_absent(path):
        return f"{path}: {absent}"
    note = app.note(path)
    return f"{path}: found by searches" + (f" ({note})" if note else "")


def _search_arguments(options: argparse.Namespace) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "query": options.query,
        "queries": options.also,
        "limit": options.limit,
        "include_patterns": options.include_pattern,
        "excluded_files": options.excluded_file,
        "use_rrf": not options.no_rrf,
        "rerank_with_recency": not options.no_recency,
        "cursor": options.cursor,
        **_scope_arguments(options),
    }
    graph = {"include_graph_context": not options.no_graph} if options.no_graph or options.json else {}
    return arguments | graph | ({} if options.max_hops is None else {"max_hops": options.max_hops})


def _scope_arguments(options: argparse.Namespace) -> dict[str, Any]:
    arguments = {"paths": options.path, "categories": options.category, "languages": options.language}
    return arguments | ({"exclude_archived": False} if options.include_archived else {})


@contextmanager
def _open(options: argparse.Namespace) -> Iterator[App]:
    """Open the project, unless the command is a line of a batch, which has it open."""
    if "project" in options:
        yield options.project
        return
    root = project_root(options.root, os.environ)
    if not options.root and (note := _note_of_folder(root)):
        sys.stderr.write(f"{printable(note)}\n")
    with closing(open_project(root)) as app:
        yield app


def _note_of_folder(root: Path) -> str:
    """Return what to say where the current folder is a part of a repository, "" for nothing."""
    if root != Path(os.curdir):
        return ""
    folder = root.resolve()
    top = next((parent for parent in (folder, *folder.parents) if (parent / ".git").exists()), folder)
    return f"only {folder.name} is searched; --root {shlex.quote(str(top))} is its repository" if top != folder else ""


def _open_either(options: argparse.Namespace) -> AbstractContextManager["App | RemoteApp"]:
    return closing(open_remote(project_root(options.root, os.environ))) if options.remote else _open(options)
