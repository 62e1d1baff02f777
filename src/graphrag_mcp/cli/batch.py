"""`batch`: several questions in one call, each a command: an argument, or a line of standard input."""

import argparse
import os
import shlex
import sys
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from itertools import chain
from typing import NoReturn

from graphrag_mcp.cli import commands
from graphrag_mcp.cli.options import QUESTIONS, IntermixedParser, advise, create_parser, project_root
from graphrag_mcp.cli.project import open_project
from graphrag_mcp.cli.terminal import show
from graphrag_mcp.errors import GraphragError, RequestError, UnknownNameError
from graphrag_mcp.tools.printing import printable

MOST = 50  # Questions of one call.
LONGEST = 20_000  # Bytes of a line; the longest question fits.


def run_batch(options: argparse.Namespace) -> bool:
    """Answer the commands in the order of the lines; raises GraphragError at the end if some failed."""
    lines = _asked(options.questions)
    failed, is_found = 0, False
    with closing(open_project(project_root(options.root, os.environ))) as project:
        if not options.no_update:
            commands.bring_up_to_date(project)
        for line in lines:
            show(printable(f"$ {line}"))
            try:
                question = _read(line)
                question.project, question.no_update, question.is_coloured = project, True, options.is_coloured
                is_found = getattr(commands, f"run_{question.command}")(question) is not False or is_found
            except BrokenPipeError:
                raise
            except Exception as error:  # The other questions are answered in any case.
                failed += not isinstance(error, UnknownNameError)
                is_known = isinstance(error, GraphragError)
                show(printable(str(error) if is_known else f"this failed unexpectedly ({error})"))
            show("")
    if failed:
        raise GraphragError(f"{failed} of {len(lines)} questions failed; each says why")
    return is_found


def _asked(arguments: Sequence[str]) -> list[str]:
    """Return the lines that ask something, of standard input without arguments; no more is read than is answered."""
    expected = f"batch: give 1 to {MOST} questions, such as `trace Session.open`, as arguments or lines of input"
    if sys.stdin is None and not arguments:
        raise RequestError("batch", f"{expected}; it is closed")
    given = (os.fsencode(argument) for argument in arguments)
    from_input = iter(partial(sys.stdin.buffer.readline, LONGEST + 1), b"") if not arguments else ()
    lines: list[str] = []
    for read in chain(given, from_input):
        line = read.decode("utf-8", "backslashreplace").strip()
        is_question = bool(line) and line[0] != "#"
        if len(read) > LONGEST or (is_question and len(lines) == MOST):
            raise RequestError("batch", f"{expected}, each of {LONGEST:,} bytes at most")
        lines += [line] if is_question else []
    if not lines:
        raise RequestError("batch", expected)
    return lines


def _read(line: str) -> argparse.Namespace:
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise RequestError("batch", f"the line cannot be read ({error})") from None
    if words and words[0] == "graphrag-mcp":
        words = words[1:]
    if not words or words[0] not in QUESTIONS:
        raise RequestError("batch", f"a line begins with one of: {', '.join(QUESTIONS)}")
    try:
        options = create_parser(_Refusing).parse_args(words)
    except argparse.ArgumentError as error:
        raise RequestError("batch", advise(str(error))) from None
    if options.root or options.remote or getattr(options, "patch", None) == "-":
        raise RequestError("batch", "--root and --remote are of the whole call, and --patch - reads standard input")
    return options


class _Refusing(IntermixedParser):
    """Raises what is wrong instead of ending the program."""

    def error(self, message: str) -> NoReturn:
        raise argparse.ArgumentError(None, message)

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:  # noqa: ARG002 - those of the base class
        raise argparse.ArgumentError(None, "--help and --version are of the command alone")
