"""`find_history`: the commits that match words, or that made code what it is."""

import os
import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, NamedTuple

from msgspec import Meta, Struct
from msgspec.structs import replace

from graphrag_mcp.app.session import Capability
from graphrag_mcp.errors import RequestError, UnknownNameError, no_such_line
from graphrag_mcp.history.messages import shortened_message, told_parts
from graphrag_mcp.model.files import SymbolKind
from graphrag_mcp.model.graph import CodeNode
from graphrag_mcp.model.history import DIGITS_SHOWN, Commit, CommitRange, Told, day_of
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import SearchRequest
from graphrag_mcp.text.counts import counted
from graphrag_mcp.text.names import LOCATION, SEPARATORS, as_name
from graphrag_mcp.text.words import is_telling, query_words
from graphrag_mcp.tools.arguments import MAXIMUM_ENTRY, MAXIMUM_QUERY, PagedArguments
from graphrag_mcp.tools.code_answer import CodeAnswer, answer_of, code_json, is_empty, lay_out, location_of
from graphrag_mcp.tools.flow import names_in
from graphrag_mcp.tools.printing import one_line
from graphrag_mcp.tools.search import ResultCount
from graphrag_mcp.tools.tool import Call, Page, Tool

if TYPE_CHECKING:
    from graphrag_mcp.app.view import IndexView
    from graphrag_mcp.graph.navigator import Navigator
    from graphrag_mcp.history.find import Past


MAXIMUM_LINE = 100_000_000
NAMES_LOOKED_UP = 5  # No more names of a query are looked up.
SHORTEST_GONE = 4  # Characters of a name that is looked for in what commits removed.
LEAST_WORDS = 3  # A query of fewer words names a topic, and no search looks for code that it means.
MOST_LINES = 5_000  # The lines of a longer definition are not compared with a query.
_COMING = re.compile(r"\b(?:remov|delet|dropp?|added|introduc|gone)", re.IGNORECASE)
_CAPITALIZED = re.compile(r"\b[A-Z]\w{3,}")  # A plain word that may be the name of what came or went.
NOT_CODE = (SymbolKind.SECTION, SymbolKind.KEY, SymbolKind.MODULE)
HISTORY_TOKENS = 750  # 2,400 characters.
NOT_INDEXED = "(changed only files that are not indexed)"
FILES_SHOWN = 3
SYMBOLS_SHOWN = 3
CHANGES_SHOWN = 3  # The first commits of an answer have their changed lines shown.
CHANGED_LINES = 6
CHANGED_CHARACTERS = 120
BODY_CHARACTERS, FIRST_BODY_CHARACTERS = 240, 600  # The reason is often in the second paragraph.
_FENCE = "```"  # A line of a message begins with a name or with blanks, so it cannot close it.


LineNumber = Annotated[int, Meta(ge=1, le=MAXIMUM_LINE)]


class HistoryArguments(PagedArguments, frozen=True, kw_only=True):
    """`find_history`."""

    default_tokens: ClassVar[int] = HISTORY_TOKENS

    query: Annotated[str, Meta(max_length=MAXIMUM_QUERY), "Why code is so, or words of messages."] = ""
    symbol: Annotated[str, Meta(max_length=1_000), "How its lines came to be."] = ""
    path: Annotated[str, Meta(max_length=MAXIMUM_ENTRY), "How this file came to be."] = ""
    line: Annotated[LineNumber | None, "Of path: the commit that explains it."] = None
    since: Annotated[str, Meta(max_length=100), "Only commits after this day (2026-01-31, 2 weeks ago)."] = ""
    until: Annotated[str, Meta(max_length=100), "Only commits before this day."] = ""
    author: Annotated[str, Meta(max_length=200), "A part of name or address."] = ""
    limit: ResultCount = 10

    def __post_init__(self) -> None:
        if not any((self.query.strip(), self.symbol, self.path, self.since, self.until, self.author)):
            raise RequestError("query", "query is required, or symbol, path, since, until or author")
        if self.line and not self.path:
            raise RequestError("line", "line needs the path that it is in")


class Asked(NamedTuple):
    """What a question is of, as in `History`, and the commits that answer it."""

    node: CodeNode | None
    named: CodeNode | None
    gone: str
    told: Told
    meant: CodeNode | None = None


def find_commits(past: "Past", view: "IndexView", call: Call[HistoryArguments]) -> Asked:
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


def _meant(view: "IndexView", call: Call[HistoryArguments]) -> CodeNode | None:
    """Return the definition that a search finds first for the query; None if nothing matches."""
    request = SearchRequest(call.arguments.query, limit=1, scope=call.scope, include_graph_context=False)
    found = view.search(request)
    focus = next((hit.focus for hit in found.primary), None)
    if found.meta.nothing_matches or focus is None or focus.symbol is None:
        return None
    around = view.navigator.code_at(found.primary[0].chunk.path, focus.symbol.start_line, focus.symbol.start_line)
    name = focus.symbol.qualified_name
    return next((node for node in around if node.qualified_name == name and node.kind not in NOT_CODE), None)


def _of_gone(past: "Past", arguments: HistoryArguments, view: "IndexView", span: CommitRange) -> Told:
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


class ToldCommit(Struct, frozen=True):
    """A commit with the indexed files that it changed and the definitions in them, and how many other files.

    changed: lines that it changed, each after "-" or "+", where the question is of lines. is_first: whether it added
    them. is_move: whether it moved them to where they stand.
    """

    commit: str
    date: str
    author: str
    message: str
    files: Mapping[str, Sequence[str]]
    other_files: int
    changed: Sequence[str] = ()
    is_first: bool = False
    is_move: bool = False


class History(Struct, frozen=True):
    """What is said of all commits.

    of: the definition or file whose past they are, None for any. named: the definition that the query names, whose
    commits are first. meant: the one that a search finds for it, or that is asked about where no message matches well,
    whose lines some of the first wrote. gone: a name in the query that nothing has any more, whose last are before
    them. missing: what is. words: of the query, and most_matched: how many of them the message of one commit has at
    most. added_by: the commit that added the lines and its day, "" if that is not known.
    """

    of: CodeNode | None
    named: CodeNode | None
    gone: str
    missing: str
    words: int
    most_matched: int
    added_by: str = ""
    meant: CodeNode | None = None


def find_history(view: "IndexView", call: Call[HistoryArguments]) -> CodeAnswer[History, ToldCommit]:
    """Return the commits that match words, or that made a definition, a file or a line what it is."""
    arguments, navigator = call.arguments, view.navigator
    past = navigator.past
    if past.is_missing:
        raise RequestError("find_history", f"there is no history of git to read: {past.problem}")
    asked = find_commits(past, view, call)
    told, node = asked.told, asked.node
    about = list(filter(None, (node, asked.named, asked.meant)))
    commits = told.commits[call.first : call.first + arguments.limit]
    texts = _texts_of_line(navigator, node, arguments.line)
    whole = past.long_messages(commits, navigator.until)
    words = _words(arguments.query, about, texts)
    changes = [past.changes(commit, navigator.until) for commit in commits]
    shown = navigator.visible({path for files in changes for path in files}, call.scope)
    own = next((of.path for of in about), "")
    rows = []
    for place, (commit, files) in enumerate(zip(commits, changes, strict=True)):
        changed, is_first = told.changed.get(commit.name), commit.name == told.added_by
        named_in_it = changed.path if changed and changed.name else ""
        message = shortened_message(whole[commit.name], words) if commit.name in whole else commit.message
        row = _told(commit._replace(message=message), files, shown, view.root, named_in_it or own)
        is_shown = place < CHANGES_SHOWN and (named_in_it or (own in row.files and not is_first))
        lines = past.changed_lines(commit, told, own, navigator.until) if is_shown else []
        rows.append(replace(row, changed=lines, is_first=is_first, is_move=commit.name in told.moved))
    page = Page(rows, call.first, len(told.commits))
    count, matched = words_matched(arguments.query, told.commits)
    firsts = (
        f"{commit.name[:DIGITS_SHOWN]} {day_of(commit)}" for commit in told.commits if commit.name == told.added_by
    )
    missing = told.note or past.problem
    history = History(node, asked.named, asked.gone, missing, count, matched, next(firsts, ""), asked.meant)
    return answer_of(view, history, page, about, texts)


def _texts_of_line(navigator: "Navigator", file: CodeNode | None, line: int | None) -> Mapping[tuple[str, int], str]:
    """Return a line that is asked about, and the one with which the definition around it begins."""
    if file is None or not line:
        return {}
    around = [node for node in navigator.code_at(file.path, line, line) if node.kind not in NOT_CODE]
    return navigator.texts({(file.path, line), *((file.path, node.start_line) for node in around)})


def _words(query: str, nodes: Iterable[CodeNode], texts: Mapping[tuple[str, int], str]) -> str:
    """Return the words by which a part of a message is chosen: of the question, and of the code that it is about."""
    return " ".join([query, *(node.name for node in nodes if not node.is_file), *texts.values()])


def _told(
    commit: Commit, files: Mapping[str, Sequence[str]], shown: Container[str], root: Path, own: str
) -> ToldCommit:
    """Return a commit without what is not indexed; its message too, if it changed nothing else that exists.

    own: the file that is asked about, which comes first; it may be given from the top of the repository.
    """
    told = {path: files[path] for path in sorted(files, key=lambda path: not own.endswith(path)) if path in shown}
    author, message = commit.author, commit.message
    if not told and any((root / path).exists() for path in files):
        author, message = "", NOT_INDEXED
    return ToldCommit(commit.name, day_of(commit), author, message, told, len(files) - len(told))


def history_text(answer: CodeAnswer[History, ToldCommit], call: Call[HistoryArguments]) -> str:
    """Return each commit in a line, with the beginning of its message and what it changed."""
    arguments, history, total = call.arguments, answer.result, answer.page.total
    explains = bool(arguments.line and history.of)
    is_matched = bool(arguments.query and not explains and not (history.gone and arguments.symbol))
    matching = f' that match{"es" if total == 1 else ""} "{one_line(arguments.query)}"' if is_matched else ""
    of = _of_what(history, arguments, total)
    if not total:
        why = f": {history.missing}." if history.missing else "."
        return lay_out(answer, call, [f"No commits{matching}{of}{why}"], _lines)

    about = filter(None, (history.of, history.named, history.meant))
    words = _words(arguments.query, about, answer.texts)

    def lines(row: ToldCommit) -> list[str]:
        is_first = row is answer.page.rows[0]
        most = FIRST_BODY_CHARACTERS if is_first and not call.first else BODY_CHARACTERS
        return _lines(row, most, words, is_whole_message=total == 1 or (explains and is_first))

    notes = [f"Not complete: {history.missing}."] if history.missing else []
    head = f"{counted(total, 'commit')}{matching}{of}{_order(history, arguments, answer.page)}:"
    return lay_out(answer, call, [head, _FENCE], lines, [_FENCE, *notes])


def _of_what(history: History, arguments: HistoryArguments, total: int) -> str:
    if arguments.line and history.of:
        return f" that explain{'s' if total == 1 else ''} {as_name(history.of.path)}:{arguments.line}"
    if history.gone and arguments.symbol:
        return f" that added or removed {as_name(history.gone)}"
    if history.gone and arguments.path:
        return f" of {as_name(history.gone)}, which is not there any more"
    return f" of {location_of(history.of)}" if history.of else ""


def _order(history: History, arguments: HistoryArguments, page: Page[ToldCommit]) -> str:
    """Return in words in which order the commits are, and what the first ones are not."""
    explains = bool(arguments.line and history.of)
    order = ""
    if page.total > 1:
        usual = ", the best first" if arguments.query else ", the newest first"
        order = ", the newest of few files first" if explains else usual
    if history.gone and not (arguments.symbol or arguments.path):
        order += f", those that added or removed {as_name(history.gone)} before most others"
    if history.meant:
        where = "it" if history.meant == history.of else location_of(history.meant)
        order += f", in turn with those that wrote lines of {where}"
    if history.named:
        order += f", those of {location_of(history.named)} before most others"
    if history.added_by and not any(row.is_first for row in page.rows):
        of_what = as_name(next(of for of in (history.of, history.named) if of).name)
        order += f"; {history.added_by} added {of_what}"
    if history.words > 1 and not explains and is_weak(history.words, history.most_matched):
        most = f"more than {history.most_matched}" if history.most_matched else "one"
        order += f"; none has {most} of the {history.words} words"
    return order


def _lines(
    row: ToldCommit, most: int = BODY_CHARACTERS, words: str = "", *, is_whole_message: bool = False
) -> list[str]:
    author = f" {row.author.partition(' <')[0]}:" if row.author else ""
    subject, _, body = row.message.partition("\n")
    added = " (added here)" if row.is_first else " (moved here)" if row.is_move else ""
    head = one_line(f"{row.commit[:DIGITS_SHOWN]} {row.date}{added}{author} {subject.strip()}")
    body = body.strip()
    if not is_whole_message:
        parts = told_parts(body, words, most, is_brief=most == BODY_CHARACTERS)
        body = " ".join(" ".join(parts).split())
    rows = [f"    {one_line(line)}" for line in body.splitlines() if line.strip()]
    return ["\n".join([head, *rows, *_files(row), *_changed(row)])]


def _files(row: ToldCommit) -> list[str]:
    told = []
    for path, symbols in list(row.files.items())[:FILES_SHOWN]:
        names = ", ".join(symbols[:SYMBOLS_SHOWN]) + (", …" if len(symbols) > SYMBOLS_SHOWN else "")
        told.append(one_line(f"{path} ({names})" if names else path))
    left = len(row.files) - len(told) + row.other_files
    more = [counted(left, "more file")] if left and told else []
    return [f"    in {'; '.join([*told, *more])}"] if told else []


def _changed(row: ToldCommit) -> list[str]:
    """Return the changed lines of a commit; of many, as many removed as added ones."""
    removed, added = ([line for line in row.changed if line[0] == sign] for sign in "-+")
    most = max(CHANGED_LINES // 2, CHANGED_LINES - len(added))
    shown = removed[:most] + added[: CHANGED_LINES - len(removed[:most])]
    blanks = min((len(line) - 2 - len(line[2:].lstrip()) for line in shown), default=0)
    lines = [f"    {one_line(line[:2] + line[2 + blanks :])[:CHANGED_CHARACTERS]}" for line in shown]
    left = len(row.changed) - len(shown)
    return [*lines, f"    ... {counted(left, 'more changed line')}"] if left else lines


HISTORY = Tool(
    name="find_history",
    description=(
        "Why code is as it is, when it changed, whether it was tried before: the commits that match a query, "
        "or changed a symbol or path."
    ),
    arguments=HistoryArguments,
    needs=Capability.CODE,
    find=find_history,
    text=history_text,
    json=code_json,
    is_empty=is_empty,
)
