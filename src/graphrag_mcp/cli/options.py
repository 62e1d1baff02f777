"""The commands and options of the command line."""

import argparse
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from graphrag_mcp import __version__
from graphrag_mcp.errors import RequestError

ROOT_VARIABLES = ("GRAPHRAG_ROOT", "CLAUDE_PROJECT_DIR")

# Names of cli/clients.py and of the model, which only what needs them imports: a server takes its streams before that.
_NAMES = "claude-code claude-desktop cursor vscode copilot-cli codex gemini-cli opencode windsurf zed cline jetbrains"
CLIENT_NAMES = tuple(_NAMES.split())
CATEGORY_NAMES = ("implementation", "tests", "documentation", "config", "examples", "vendored", "data", "other")
_NAMES = "callers callees users readers writers implementers overrides importers imports subclasses superclasses tests"
DIRECTION_NAMES = tuple(_NAMES.split())

_REMOTE = (None, "serve", "search", "status")

_NO_CHOICE = re.compile(
    r"argument (?P<argument>.*?): invalid choice: ['\"](?P<given>.*)['\"] \(choose from (?P<choices>.*)\)", re.DOTALL
)
_EXIT_CODES = "exit status: 0 done or found, 1 nothing found or a check failed, 2 an error"
_EXAMPLES = {
    "serve": ("serve", "serve --root ~/shop"),
    "init": ("init", "init --dry-run"),
    "uninstall": ("uninstall", "uninstall --yes"),
    "doctor": ("doctor", "doctor --json"),
    "index": ("index", "index --rebuild"),
    "search": ('search "where are sessions refreshed"', 'search "renew the token" --also refresh --path shop'),
    "grep": ("grep expires_at", "grep 'def \\w+_session' --regex -C 2 --path shop"),
    "find": ("find Session.refresh", "find shop/session.py"),
    "read": ("read charge", "read Session.refresh place_order --focus token"),
    "history": ('history "expired session"', "history --path shop/session.py --line 21"),
    "trace": ("trace charge", "trace --from place_order --to charge"),
    "impact": ("impact charge", "impact --base main"),
    "map": ("map", "map --json"),
    "batch": ("batch 'find charge' 'trace charge'", "batch --no-update < questions.txt"),
    "usage": ("usage", "usage ~/transcripts"),
    "hook": ("hook < event.json", "init --hooks"),
    "watch": ("watch", "watch --root ~/shop"),
    "status": ("status", "status --file .env"),
    "ui": ("ui", "ui --no-browser --port 8765"),
    "sync": ("sync", "sync --verify"),
    "servers": ("servers list", "servers prune --days 90"),
    "indexes": ("indexes", "indexes prune"),
    "completion": ("completion bash", "completion fish"),
    "eval": ("eval --from-history", "eval queries.json --misses"),
}
QUESTIONS = ("search", "find", "read", "trace", "impact", "grep", "history", "map", "status")  # Lines of `batch`.
ANSWERING = {*QUESTIONS, "batch"}


class IntermixedParser(argparse.ArgumentParser):
    """A parser that takes options before, between and behind other arguments: `grep TEXT --regex PATH`.

    With `--`, all options stand before the first argument.
    """

    _is_within = False

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Return the values of the arguments, and the arguments that nothing takes."""
        if self._is_within or self._subparsers is not None or "--" in (args or ()):
            return super().parse_known_args(args, namespace)
        self._is_within = True  # parse_known_intermixed_args calls this method twice.
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._is_within = False


class Parser(IntermixedParser):
    """A parser that names what may be meant by a mistyped command or choice."""

    def error(self, message: str) -> NoReturn:
        super().error(advise(message))


def advise(message: str) -> str:
    """Return what is wrong with a command line, with what may be meant."""
    if wrong := _NO_CHOICE.fullmatch(message):
        from difflib import get_close_matches  # Not for what is right.

        choices = re.findall(r"'(.*?)'", wrong["choices"])
        near = get_close_matches(wrong["given"], choices, 1)
        advice = f"did you mean {near[0]}?" if near else f"choose from {', '.join(choices)}"
        return f"{wrong['argument']}: {wrong['given']!r} is none; {advice}"
    return f"{message}; one that begins with - goes after --" if message.endswith((" TEXT", " QUERY")) else message


def create_parser(kind: type[argparse.ArgumentParser] = Parser) -> argparse.ArgumentParser:
    """Return the parser; its result has `command` (None: serve) and the options of that command.

    kind: what it and the parsers of the commands are.
    """
    parser = kind(
        prog="graphrag-mcp",
        description="Code-aware semantic search over your own repository: an MCP server and a command line.",
        epilog=_EXIT_CODES,
    )
    parser.add_argument("--version", action="version", version=f"graphrag-mcp {__version__}")
    _add_root(parser)
    _add_remote(parser, default=False)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    _add_remote(_add_command(commands, "serve", "serve MCP over standard input and output (also without any command)"))
    _add_init(_add_command(commands, "init", "connect a client to this project, or instruct its agents"))
    _add_json(_add_command(commands, "doctor", "check every part, and print the fix for each problem"))
    _add_index(_add_command(commands, "index", "bring the index up to date"))
    _add_search(_add_command(commands, "search", "search, after bringing the index up to date"))
    _add_grep(_add_command(commands, "grep", "print every line with a text, after bringing the index up to date"))
    _add_find(_add_command(commands, "find", "print where a name is defined, and what uses it"))
    _add_read(_add_command(commands, "read", "print the code of definitions, and what calls, uses and tests them"))
    _add_history(_add_command(commands, "history", "print the commits that explain code, or match words"))
    _add_trace(_add_command(commands, "trace", "print who calls, uses or tests code, or how it reaches other code"))
    _add_impact(_add_command(commands, "impact", "print what a change breaks or may affect, and the tests to run"))
    _add_plain(_add_command(commands, "map", "print what a newcomer needs first: languages, entry points, modules"))
    batch = _add_command(commands, "batch", "answer several questions: commands, or lines of standard input")
    batch.add_argument("questions", nargs="*", metavar="QUESTION", help="a command in quotes, such as 'trace refresh'")
    _add_flag(batch, "--no-update", "answer without updating the index first")
    usage = _add_command(commands, "usage", "count what agents looked up with it, by the transcripts on this machine")
    usage.add_argument(
        "transcripts", metavar="TRANSCRIPTS", nargs="*",
        help="files or folders (default: those of Claude Code and Codex for this project)",
    )  # fmt: skip
    _add_json(usage)
    _add_command(commands, "hook", "answer an event of Claude Code on standard input, as init --hooks has it asked")
    _add_command(commands, "watch", "keep the index up to date until interrupted")
    status = _add_command(commands, "status", "show what is indexed, and what is not and why")
    how = status.add_mutually_exclusive_group()
    _add_json(how)
    how.add_argument(
        "--file", action="append", metavar="FILE", help="show whether a search can find this file, and if not, why"
    )
    _add_remote(status)
    _add_ui(_add_command(commands, "ui", "show the index and explain results on a page in the browser"))
    _add_sync(_add_command(commands, "sync", "replicate the index to the configured servers"))
    _add_servers(_add_command(commands, "servers", "list the projects on the servers, or remove old ones"))
    indexes = _add_command(commands, "indexes", "list the indexes of this user, or remove those of vanished projects")
    indexes.add_argument("action", choices=("list", "prune"), nargs="?", default="list")
    _add_flag(indexes, "--yes", "remove without asking")
    _add_json(indexes)
    _add_uninstall(
        _add_command(commands, "uninstall", "undo init in this project, and remove its index, or with --all every one")
    )
    completion = _add_command(commands, "completion", "print what completes commands and options in a shell")
    completion.add_argument("shell", choices=("bash", "zsh", "fish"))
    _add_eval(_add_command(commands, "eval", "measure the search on queries with known answers"))
    return parser


def check_remote(options: argparse.Namespace) -> None:
    """Raise RequestError when --remote is given to a command that needs a local index."""
    if options.remote and options.command not in _REMOTE:
        raise RequestError("--remote", f"--remote: {options.command} needs a local index; leave out --remote")


def project_root(folder: str | None, environ: Mapping[str, str]) -> Path:
    """Return the root to work on: as given, else from the environment, else the current folder.

    Raises RequestError for an empty one: a variable that is not set must not mean the current folder.
    """
    if folder is not None and not folder.strip():
        raise RequestError("--root", "--root: it is empty; pass the folder of your repository, or leave it out")
    named = [folder, *(environ.get(variable) for variable in ROOT_VARIABLES), os.curdir]
    return Path(next(name for name in named if name))


def _add_command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, summary: str
) -> argparse.ArgumentParser:
    first, second = _EXAMPLES[name]
    command = commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=f"examples:\n  graphrag-mcp {first}\n  graphrag-mcp {second}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    if name in ANSWERING:
        terminal = command.add_argument_group("terminal")
        terminal.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="default: auto")
        _add_flag(terminal, "--no-pager", "print at once, not in $PAGER or less")
        command.set_defaults(is_coloured=False, is_paged=False)
        if name not in ("batch", "status"):
            terminal.add_argument("--token-budget", type=int, metavar="N", help="longest answer, in tokens")
    # Without a default of its own, so that it does not undo `graphrag-mcp --root DIR COMMAND`.
    _add_root(command, default=argparse.SUPPRESS)
    return command


def _add_root(parser: argparse.ArgumentParser, default: str | None = None) -> None:
    parser.add_argument(
        "--root",
        metavar="DIR",
        default=default,
        help=f"folder of the repository (default: ${', $'.join(ROOT_VARIABLES)}, or the current folder)",
    )


def _add_flag(parser: "argparse._ActionsContainer", name: str, words: str) -> None:
    parser.add_argument(name, action="store_true", help=words)


def _add_repeated(parser: "argparse._ActionsContainer", name: str, metavar: str, words: str) -> None:
    """Add an option that may be repeated; its value is a list, empty without it."""
    parser.add_argument(name, action="append", default=[], metavar=metavar, help=words)


def _add_init(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--client",
        action="append",
        choices=CLIENT_NAMES,
        metavar="NAME",
        help=f"client to connect, may be repeated (default: those that are found): {', '.join(CLIENT_NAMES)}",
    )
    _add_flag(parser, "--ignore-file", "also write a .graphragignore with the built-in rules")
    _add_flag(parser, "--agents", "tell coding agents in AGENTS.md and CLAUDE.md which question goes to which tool")
    _add_flag(parser, "--hooks", "have Claude Code name calls that an edit breaks, and what a search is for")
    _add_flag(parser, "--remove", "with --agents or --hooks: remove that again")
    _add_flag(parser, "--uninstall", "undo all that was written for this project")
    _add_flag(parser, "--dry-run", "only show what would be written")
    _add_flag(parser, "--yes", "write without asking")


def _add_uninstall(parser: argparse.ArgumentParser) -> None:
    _add_flag(parser, "--dry-run", "only show what would be removed")
    _add_flag(parser, "--yes", "remove without asking")
    _add_flag(parser, "--all", "the indexes of all projects, not only that of this one")


def _add_index(parser: argparse.ArgumentParser) -> None:
    _add_flag(parser, "--rebuild", "rebuild the index from scratch")
    _add_json(parser)


def _add_remote(parser: argparse.ArgumentParser, default: object = argparse.SUPPRESS) -> None:
    words = "search the servers without a local index"
    parser.add_argument("--remote", action="store_true", default=default, help=words)


def _add_ui(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", type=int, default=0, metavar="N", help="port on 127.0.0.1 (default: a free one)")
    _add_flag(parser, "--no-browser", "only print the address")


def _add_sync(parser: argparse.ArgumentParser) -> None:
    _add_flag(parser, "--no-update", "replicate without updating the index first")
    how = parser.add_mutually_exclusive_group()
    _add_flag(how, "--verify", "compare the servers with the index first")
    _add_flag(how, "--rebuild", "remove the project from the servers and start over")
    _add_flag(parser, "--yes", "remove most of a project without asking")
    _add_json(parser)


def _add_servers(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action", choices=("list", "prune"), help="prune removes projects that were not copied for some days"
    )
    parser.add_argument("--days", type=int, metavar="N", help="with prune: those that were not copied for N days")
    _add_flag(parser, "--yes", "remove without asking")
    _add_json(parser)


def _add_search(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", metavar="QUERY", help="words, a question, an identifier or a path")
    _add_repeated(
        parser, "--also", "QUERY", "the same question in other words, ranked together with QUERY; may be repeated"
    )
    parser.add_argument("--limit", type=int, default=5, metavar="N", help="results to show, 1 to 25 (default: 5)")
    _add_flag(parser, "--unique", "at most one result per file")
    scope = parser.add_argument_group("scope")
    _add_scope(scope)
    _add_repeated(scope, "--excluded-file", "FILE", "exclude this file")
    _add_repeated(scope, "--include-pattern", "GLOB", "show archived files that match")
    _add_remote(parser)
    ranking = parser.add_argument_group("ranking")
    _add_flag(ranking, "--no-graph", "without the code graph")
    ranking.add_argument("--max-hops", type=int, metavar="N", help="relations to follow, 0 to 3")
    _add_flag(ranking, "--no-rrf", "vector search alone")
    _add_flag(ranking, "--no-recency", "without the boost for recent files")
    ranking.add_argument("--min-score", type=_share, metavar="X", help="drop results below this score, 0 to 1")
    output = parser.add_argument_group("output")
    output.add_argument("--format", choices=("concise", "detailed"), default="detailed", help="with or without code")
    _add_repeated(output, "--have", "ID", "code that you have (#a2b3): it is not printed again")
    _add_flag(output, "--explain", "show every factor of each score")
    _add_flag(output, "--json", "print JSON, with whole chunks")
    _add_cursor(output)


def _add_scope(scope: "argparse._ArgumentGroup") -> None:
    _add_repeated(scope, "--path", "PATH", "only this folder, file or glob; !PATH leaves out")
    scope.add_argument("--category", action="append", default=[], choices=CATEGORY_NAMES, help="only these")
    scope.add_argument("--language", action="append", default=[], help="only this language, for example python")
    _add_flag(scope, "--include-archived", "show archived and deprecated files too")
    _add_flag(scope, "--no-update", "search without updating the index first")


def _add_grep(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", metavar="TEXT", help="a literal text; with --regex, a pattern")
    parser.add_argument("paths", nargs="*", default=[], metavar="PATH", help="the same as --path PATH")
    _add_flag(parser, "--regex", "TEXT is a regular expression of RE2")
    parser.add_argument("-w", "--whole-word", action="store_true", help="match whole words only")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("-i", "--ignore-case", action="store_const", dest="case", const="ignore", help="ignore case")
    how.add_argument(
        "-s", "--case-sensitive", action="store_const", dest="case", const="sensitive",
        help="never ignore case (default: ignore it when TEXT has no capitals)",
    )  # fmt: skip
    parser.set_defaults(case="smart")
    parser.add_argument("-C", "--context", type=int, default=0, metavar="N", help="lines to show around each")
    parser.add_argument("--limit", type=int, default=50, metavar="N", help="lines to show, 1 to 500 (default: 50)")
    _add_json(parser)
    _add_scope(parser.add_argument_group("scope"))
    _add_cursor(parser)


def _add_find(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("symbol", metavar="SYMBOL", help="a name, Class.name, path::name, path:line or file")
    parser.add_argument("--limit", type=int, default=10, metavar="N", help="rows to show, 1 to 500 (default: 10)")
    _add_flag(parser, "--include-archived", "show archived and deprecated files too")
    _add_plain(parser)
    _add_cursor(parser)


def _add_read(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("symbol", metavar="SYMBOL", nargs="+", help="a name, path::name, path:line or file; up to ten")
    parser.add_argument("--focus", default="", metavar="WORDS", help="fold long code around the lines with these words")
    _add_plain(parser)
    _add_cursor(parser)


def _add_cursor(parser: "argparse._ActionsContainer") -> None:
    parser.add_argument(
        "--cursor", default="", metavar="CURSOR", help="go on from an answer that had more and named it"
    )


def _add_plain(parser: argparse.ArgumentParser) -> None:
    _add_flag(parser, "--no-update", "answer without updating the index first")
    _add_json(parser)


def _add_json(parser: "argparse._ActionsContainer") -> None:
    _add_flag(parser, "--json", "print JSON")


def _add_history(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", metavar="WORDS", nargs="?", default="", help="words of the messages")
    parser.add_argument("--symbol", default="", metavar="NAME", help="the commits that changed this definition")
    parser.add_argument("--path", default="", metavar="FILE", help="the commits that changed this file")
    parser.add_argument("--line", type=int, metavar="N", help="of --path: the commit that explains this line")
    parser.add_argument("--since", default="", metavar="DAY", help="only commits after this day")
    parser.add_argument("--until", default="", metavar="DAY", help="only commits before this day")
    parser.add_argument("--author", default="", metavar="NAME", help="only commits of this author")
    parser.add_argument("--limit", type=int, default=10, metavar="N", help="commits to show, 1 to 25 (default: 10)")
    _add_plain(parser)
    _add_cursor(parser)


def _add_trace(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("symbol", metavar="SYMBOL", nargs="?", default="", help="a definition or file")
    parser.add_argument(
        "--direction",
        type=_direction,
        choices=DIRECTION_NAMES,
        default="callers",
        help="which relation (default: callers)",
    )
    parser.add_argument(
        "--hops", type=int, metavar="N", help="how far to follow, 1 to 4 (default: 1; of types and overrides all)"
    )
    _add_flag(parser, "--unresolved", "also places whose receiver is not known")
    flow = parser.add_argument_group("how code reaches other code")
    _add_repeated(flow, "--from", "SYMBOL", "where it starts; may be repeated")
    _add_repeated(flow, "--to", "SYMBOL", "what it reaches; may be repeated")
    flow.add_argument("--question", default="", metavar="TEXT", help="how X reaches Y, in words")
    parser.add_argument("--limit", type=int, default=500, metavar="N", help="rows to show, 1 to 500 (default: 500)")
    _add_flag(parser, "--include-archived", "follow archived and deprecated files too")
    _add_plain(parser)
    _add_cursor(parser)


def _add_impact(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "symbol", metavar="SYMBOL", nargs="?", default="", help="a definition or file (default: all that differs)"
    )
    of = parser.add_mutually_exclusive_group()
    of.add_argument(
        "--base", default="", metavar="COMMIT", help="compare with where this branch left it, or a range a..b"
    )
    of.add_argument("--patch", metavar="FILE", help="of this patch, - for standard input")
    parser.add_argument("--hops", type=int, default=3, metavar="N", help="how far to follow, 1 to 4 (default: 3)")
    parser.add_argument("--limit", type=int, default=40, metavar="N", help="rows to show, 1 to 500 (default: 40)")
    _add_flag(parser, "--include-archived", "follow archived and deprecated files too")
    parser.add_argument(
        "--fail-on", choices=("breaking",), help="exit with 1 if certain dependants outside of the change break"
    )
    _add_plain(parser)
    _add_cursor(parser)


def _share(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text}: expected a number from 0 to 1")
    return value


def _add_eval(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "queries", metavar="QUERIES.json", type=Path, nargs="?", help="file of queries with their right locations"
    )
    _add_flag(parser, "--from-history", "use commit messages as queries, and their files as answers")
    parser.add_argument("--commits", type=int, default=50, metavar="N", help="maximum number of commits (default: 50)")
    parser.add_argument("--index-root", default="", metavar="SUB", help="index only this folder below the root")
    parser.add_argument("--repo", metavar="NAME", help="use the queries of this repo (default: the root's name)")
    parser.add_argument("--by", choices=["category", "language"], default="category", help="grouping of the scores")
    _add_flag(parser, "--components", "compare the ranking with and without each part")
    _add_flag(parser, "--misses", "for each query without a hit, show where its answer was lost")
    parser.add_argument("--run-out", type=Path, metavar="RUN.json", help="write the results found")
    parser.add_argument(
        "--compare", nargs=2, type=Path, metavar=("RUN_A", "RUN_B"), help="compare two runs without searching again"
    )
    _add_json(parser)


def _direction(name: str) -> str:
    """Return the direction that a name means; the name itself, for the error, if it means none."""
    from graphrag_mcp.model.graph import Direction

    try:
        return str(Direction(name))
    except ValueError:
        return name
