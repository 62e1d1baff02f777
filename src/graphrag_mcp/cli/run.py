"""Runs one command and returns its exit status."""

import argparse
import gc
import importlib
import logging
import os
import sys
from collections.abc import Callable, Sequence
from io import TextIOWrapper

from graphrag_mcp.cli.options import check_remote, create_parser
from graphrag_mcp.cli.terminal import has_colours
from graphrag_mcp.errors import CheckError, GraphragError, UnknownNameError
from graphrag_mcp.system.process import collect_rarely

_START = """\
Search for the code and documents of your repository. In its folder:

  graphrag-mcp search "where are sessions refreshed"    where something is, and how it works
  graphrag-mcp find NAME                                where a name is defined, and what uses it
  graphrag-mcp trace NAME                               every caller; --from A --to B: how A reaches B
  graphrag-mcp grep TEXT                                every line with a text
  graphrag-mcp impact                                   what your changes break, and the tests to run
  graphrag-mcp init                                     connects Claude Code, Cursor and other clients

`graphrag-mcp --help` lists all commands. A client starts `graphrag-mcp serve`."""

DONE, NOTHING, FAILED = 0, 1, 2
INTERRUPTED = 130  # As a shell reports it.

logger = logging.getLogger(__name__)


def run(arguments: Sequence[str]) -> int:
    """Run the command and return 0 (done, or found), 1 (nothing found, or a check failed) or 2 (an error)."""
    options = create_parser().parse_args(arguments)
    if options.command is None and _is_terminal():
        sys.stdout.write(f"{_START}\n")
        return DONE
    _start_logging()
    if closed := _closed_stream(options.command or "serve"):
        return _complain(closed, FAILED)
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # The terminal may lack a character.
    try:
        check_remote(options)
        if "color" in options:  # It answers a question.
            options.is_coloured = has_colours(options.color, sys.stdout, os.environ)
            options.is_paged = sys.stdout.isatty() and not options.no_pager
        is_found = _command(options.command or "serve")(options)
        sys.stdout.flush()
        return NOTHING if is_found is False else DONE
    except (UnknownNameError, CheckError) as error:
        return _complain(str(error), NOTHING)
    except GraphragError as error:
        return _complain(str(error), FAILED)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader, such as `head`, has closed the pipe; keep the interpreter from an error when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except Exception as error:
        from graphrag_mcp.index.failures import explain  # Only now: it imports SQLite.

        logger.debug("the traceback", exc_info=True)
        unknown = f"this failed unexpectedly ({error}); GRAPHRAG_LOG_LEVEL=DEBUG shows where"
        return _complain(explain(error) or unknown, FAILED)
    return DONE


def _command(name: str) -> Callable[[argparse.Namespace], bool | None]:
    """Import and return a command, which returns False if it found nothing.

    Only when it runs, so that help and the server start quickly.
    """
    gc.disable()  # The imports leave no garbage; collecting takes a fifteenth of the start.
    module = importlib.import_module(f"graphrag_mcp.cli.{_MODULES.get(name, 'commands')}")
    if name != "serve":  # Which imports more.
        collect_rarely()
    command: Callable[[argparse.Namespace], bool | None] = getattr(module, f"run_{name}")
    return command


# The modules of the commands that are not in cli/commands.py.
_MODULES = {"eval": "evaluate", "uninstall": "indexes", "servers": "indexes"} | {
    name: name for name in ("serve", "ui", "init", "doctor", "indexes", "batch", "usage", "hook")
}


def _start_logging() -> None:
    level = os.environ.get("GRAPHRAG_LOG_LEVEL", "WARNING").upper()
    known = level in logging.getLevelNamesMapping()
    logging.basicConfig(level=level if known else "WARNING", stream=sys.stderr, format="%(levelname)s %(message)s")
    if not known:
        logger.warning("GRAPHRAG_LOG_LEVEL = %r: expected DEBUG, INFO, WARNING, ERROR or CRITICAL", level)


def _is_terminal() -> bool:
    """Return whether a person started the program: no client, which would talk to the server."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def _closed_stream(command: str) -> str:
    """Return an error when a stream that the command needs was closed before it started, else ""."""
    if command == "serve" and None in (sys.stdin, sys.stdout):
        return "standard input or output is closed; let an MCP client start the server, which holds both open"
    return "standard output is closed; send it to a file or to /dev/null" if sys.stdout is None else ""


def _complain(problem: str, code: int) -> int:
    if sys.stderr is not None:
        sys.stderr.write(f"graphrag-mcp: {problem}\n")
    return code
