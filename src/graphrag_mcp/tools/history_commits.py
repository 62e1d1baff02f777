"""Which commits answer a question about the past, and which definition it is of."""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from pydantic import Field

from graphrag_mcp.errors import RequestError, UnknownNameError, no_such_line
from graphrag_mcp.model.files import SymbolKind
from graphrag_mcp.model.graph import CodeNode
from graphrag_mcp.model.history import Commit, CommitRange, Told
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import SearchRequest
from graphrag_mcp.text.names import LOCATION, SEPARATORS
from graphrag_mcp.text.words import is_telling, query_words
from graphrag_mcp.tools.arguments import MAXIMUM_ENTRY, MAXIMUM_QUERY, PagedArguments
from graphrag_mcp.tools.flow_ends import names_in
from graphrag_mcp.tools.tool import Call

if TYPE_CHECKING:  # They import numpy through the ports, and no client should wait for that.
    from graphrag_mcp.app.view import IndexView
    from graphrag_mcp.graph.navigator import Navigator
    from graphrag_mcp.history.find import Past

MAXIMUM_LINE = 100_000_000
NAMES_LOOKED_UP = 5  # Of a query, no more names are looked up.
SHORTEST_GONE = 4  # Characters of a name that is looked for in what commits removed.
LEAST_WORDS = 3  # A query of fewer words names a topic, and no search looks for code that it means.
MOST_LINES = 5_000  # The lines of a longer definition are not compared with a query.
_COMING = re.compile(r"\b(?:remov|delet|dropp?|added|introduc|gone)", re.IGNORECASE)
_CAPITALIZED = re.compile(r"\b[A-Z]\w{3,}")  # A plain word that may be the name of what came or went.
NOT_CODE = (SymbolKind.SECTION, SymbolKind.KEY, SymbolKind.MODULE)


class HistoryQuestion(PagedArguments):
    """What names the past that is asked about."""

    query: str = Field("", max_length=MAXIMUM_QUERY, description="Why code is so, or words of messages.")
    symbol: str = Field("", max_length=1_000, description="How its lines came to be.")
    path: str = Field("", max_length=MAXIMUM_ENTRY, description="How this file came to be.")
    line: int | None = Field(None, ge=1, le=MAXIMUM_LINE, description="Of path: the commit that explains it.")
    since: str = Field("", max_length=100, description="Only commits after this day (2026-01-31, 2 weeks ago).")
    until: str = Field("", max_length=100, description="Only commits before this day.")
    author: str = Field("", max_length=200, description="A part of name or address.")


class Asked(NamedTuple):
    """What a question is of, as in `History` of `find_history.py`, and the commits that answer it."""

    node: CodeNode | None
    named: CodeNode | None
    gone: str
    told: Told
    meant: CodeNode | None = None


def find_commits(past: "Past", view: "IndexView", call: Call[HistoryQuestion]) -> Asked:
    """Return the definition that is asked about, and the commits that answer.

    Raises RequestError if nothing has or had the name.
    """
    arguments, navigator = call.arguments, view.navigator
    start = arguments.symbol or arguments.path
    span = CommitRange(arguments.since, arguments.until, arguments.author)
    node = None
    if start:
        try:
            node = navigator.starts(start, call.scope)[0]
        except UnknownNameError:
            told = _of_gone(past, arguments, view, span)
            if not told.commits:
                raise
            return Asked(None, None, start, told)
    if node and arguments.line and arguments.line > node.end_line and node.is_file:
        raise RequestError("line", no_such_line(node.path, arguments.line, node.end_line))
    told = past.answer(arguments.query, node, arguments.line, span)
    named, gone = (None, "") if node else named_in(navigator, arguments.query, call.scope)
    path = named.path if named and named.is_file else ""
    of_names = [past.of_gone(gone, path, span, arguments.query, _excluded(view))] if gone else []
    of_names += [past.of_named(arguments.query, named, span)] if named else []
    if of_names:
        gone = gone if of_names[0].commits else ""
        told = _first(of_names, told, arguments.query)
    if node:
        is_asked = bool(arguments.query) and not arguments.line and node.end_line - node.start_line < MOST_LINES
        meant = node if is_asked and is_weak(*words_matched(arguments.query, told.commits)) else None
    else:
        is_question = len(query_words(arguments.query)) >= LEAST_WORDS and not (named or gone)
        meant = _meant(view, call) if is_question else None
    if meant is not None:
        texts = navigator.texts({(meant.path, line) for line in range(meant.start_line, meant.end_line + 1)})
        both = past.with_writers(told, arguments.query, meant, texts.values(), span)
        told, meant = both, meant if both is not told else None
    return Asked(node, named, gone, told, meant)


def _first(of_names: Sequence[Told], told: Told, query: str) -> Told:
    """Return all commits: those of the names in the query before others, unless these share more of its words."""
    named = dict.fromkeys(commit for of in of_names for commit in of.commits)
    words, most = words_matched(query, named)
    least = max(most, words // 2) + 1
    better = [commit for commit in told.commits if words_matched(query, [commit])[1] >= least]
    return replace(
        told,
        commits=tuple(dict.fromkeys((*better, *named, *told.commits))),
        note=next(filter(None, (of.note for of in (told, *of_names))), ""),
        changed={name: lines for of in of_names for name, lines in of.changed.items()},
        added_by=of_names[-1].added_by,
        moved=told.moved.union(*(of.moved for of in of_names)),
    )


def words_matched(query: str, commits: Iterable[Commit]) -> tuple[int, int]:
    """Return how many words a query has, and how many of them the message of one commit has at most."""
    words = set(query_words(query))
    return len(words), max((len(words.intersection(query_words(commit.message))) for commit in commits), default=0)


def is_weak(words: int, most_matched: int) -> bool:
    """Return whether no message has more than half of the words of a query. Arguments: see `words_matched`."""
    return most_matched * 2 <= words


def _meant(view: "IndexView", call: Call[HistoryQuestion]) -> CodeNode | None:
    """Return the definition that a search finds first for the query; None if nothing matches."""
    request = SearchRequest(call.arguments.query, limit=1, scope=call.scope, include_graph_context=False)
    found = view.search(request)
    focus = next((hit.focus for hit in found.primary), None)
    if found.meta.nothing_matches or focus is None or focus.symbol is None:
        return None
    around = view.navigator.code_at(found.primary[0].chunk.path, focus.symbol.start_line, focus.symbol.start_line)
    name = focus.symbol.qualified_name
    return next((node for node in around if node.qualified_name == name and node.kind not in NOT_CODE), None)


def _of_gone(past: "Past", arguments: HistoryQuestion, view: "IndexView", span: CommitRange) -> Told:
    """Return the commits of a definition or file that is not there any more; none of one that is not indexed."""
    if not arguments.symbol:
        try:
            is_there = os.path.lexists(view.root / arguments.path)
        except ValueError:  # No file can have such a name.
            is_there = True
        is_plain = os.path.normpath(arguments.path) == arguments.path
        if is_there or arguments.line or not is_plain or _excluded(view)(arguments.path):
            return Told(())
        return past.of_gone_file(arguments.path, span, arguments.query)
    name = SEPARATORS.split(arguments.symbol.strip().removesuffix("()"))[-1]
    is_told = len(name) >= SHORTEST_GONE
    return past.of_gone(name, "", span, arguments.query, _excluded(view)) if is_told else Told(())


def _excluded(view: "IndexView") -> Callable[[str], bool]:
    from graphrag_mcp.exclusion.manager import ExclusionManager  # Only for names that are gone.

    return ExclusionManager(view.root, view.settings.indexing).should_exclude


def named_in(navigator: "Navigator", query: str, scope: Scope) -> tuple[CodeNode | None, str]:
    """Return the definition that a query names, else the file, None for none or several; and a name that is gone.

    That is one that nothing has, or nothing in the file.
    """
    found = {name: navigator.known(name, scope) for name in islice(dict.fromkeys(names_in(query)), NAMES_LOOKED_UP)}
    for place in islice(filter(LOCATION.match, query.split()), NAMES_LOOKED_UP):
        if nodes := navigator.known(place, scope):  # Else it may be a time of day.
            found[place] = nodes
    files = {nodes[0] for nodes in found.values() if len(nodes) == 1 and nodes[0].is_file}
    file = files.pop() if len(files) == 1 else None
    if file:
        found = {name: [node for node in nodes if node.path == file.path] for name, nodes in found.items()}
    missing = (name for name, nodes in found.items() if not nodes and "/" not in name)
    gone = next((name.removesuffix("()").rpartition(".")[2] for name in missing), "")
    if not found and _COMING.search(query):
        coming = filter(is_telling, islice(_CAPITALIZED.findall(query), NAMES_LOOKED_UP))
        gone = next((name for name in coming if not navigator.known(name, scope)), "")
    definitions = {nodes[0] for nodes in found.values() if len(nodes) == 1} - {file}
    return definitions.pop() if len(definitions) == 1 else file, gone if len(gone) >= SHORTEST_GONE else ""
