"""Writes the commits that answer a question as text."""

import re

from graphrag_mcp.answers.arguments import HistoryArguments
from graphrag_mcp.answers.asking import CodeAnswer, History, ToldCommit
from graphrag_mcp.answers.code_text import lay_out, location_of
from graphrag_mcp.answers.render import one_line
from graphrag_mcp.answers.requests import Call
from graphrag_mcp.model.history import DIGITS_SHOWN, day_of
from graphrag_mcp.text.counts import counted
from graphrag_mcp.text.names import as_name

FILES_SHOWN = 3
SYMBOLS_SHOWN = 3
BODY_CHARACTERS = 240
_TRAILER = re.compile(r"[\w-]+-by: |-{3,}")  # "Co-authored-by: ..."
_FENCE = "```"  # A line of a message begins with a name or with blanks, so it cannot close it.


def history_text(answer: CodeAnswer[History, ToldCommit], call: Call[HistoryArguments]) -> str:
    """Return each commit in a line, with the beginning of its message and what it changed."""
    asked, found, total = call.arguments, answer.found, answer.page.total
    words = f' that match{"es" if total == 1 else ""} "{one_line(asked.query)}"' if asked.query else ""
    of = f" of {location_of(found.node)}" if found.node else ""
    if asked.line and found.node:
        of = f" that explain{'s' if total == 1 else ''} {as_name(found.node.path)}:{asked.line}"
    explains = bool(asked.line and found.node)
    order = "" if total == 1 else ", the best first" if asked.query and not found.node else ", the newest first"
    if explains and total > 1:
        order = ", the first after passing over others, which changed many files"
    if not total:
        return lay_out(answer, call, [f"No commits{words}{of}" + (f": {found.note}." if found.note else ".")], _lines)

    def lines(row: ToldCommit) -> list[str]:
        return _lines(row, is_whole_message=total == 1 or (explains and row is answer.page.rows[0]))

    notes = [f"Not complete: {found.note}."] if found.note else []
    return lay_out(answer, call, [f"{counted(total, 'commit')}{words}{of}{order}:", _FENCE], lines, [_FENCE, *notes])


def _lines(row: ToldCommit, *, is_whole_message: bool = False) -> list[str]:
    commit = row.commit
    author = f" {commit.author.partition(' <')[0]}:" if commit.author else ""
    head = one_line(f"{commit.name[:DIGITS_SHOWN]} {day_of(commit)}{author} {commit.subject}")
    body = commit.message.partition("\n")[2].strip()
    if not is_whole_message:
        paragraphs = (part for part in body.split("\n\n") if not _TRAILER.match(part))
        body = " ".join(next(paragraphs, "").split())
        body = body if len(body) <= BODY_CHARACTERS else f"{body[:BODY_CHARACTERS].rsplit(' ', 1)[0]} …"
    rows = [f"    {one_line(line)}" for line in body.splitlines() if line.strip()]
    return ["\n".join([head, *rows, *_files(row)])]


def _files(row: ToldCommit) -> list[str]:
    told = []
    for path, symbols in list(row.files.items())[:FILES_SHOWN]:
        names = ", ".join(symbols[:SYMBOLS_SHOWN]) + (", …" if len(symbols) > SYMBOLS_SHOWN else "")
        told.append(one_line(f"{path} ({names})" if names else path))
    left = len(row.files) - len(told) + row.others
    more = [counted(left, "more file")] if left and told else []
    return [f"    in {'; '.join([*told, *more])}"] if told else []
