"""Checks command lines without running them: the options, the variables and the make targets that they name exist."""

import re
import shlex
import subprocess
from collections.abc import Iterator

from graphrag_mcp.cli.options import create_parser
from graphrag_mcp.model.fields import outer_fields
from graphrag_mcp.settings import ENVIRONMENT_PREFIX, SECTIONS
from tests.docs import ROOT
from tests.docs.blocks import Block, PageError

PROGRAM = "graphrag-mcp"
VARIABLES = {"GRAPHRAG_ROOT", "GRAPHRAG_LOG_LEVEL", "GRAPHRAG_TRUST_PROJECT"} | {
    ENVIRONMENT_PREFIX + name.upper() for section in SECTIONS.values() for name in outer_fields(section)
}

_OPERATORS = {";", "&&", "||", "|", "&", "(", ")"}
_COMMENT = re.compile(r"(^|\s)# .*$", re.MULTILINE)
_REDIRECTION = re.compile(r"\d?>>?(&\d|\s*\S+)")
_MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def check_shell(block: Block, script: str) -> None:
    """Raise PageError when a shell cannot read a script, or a command in it has an option that does not exist."""
    read = subprocess.run(["sh", "-n"], input=script, capture_output=True, text=True, check=False)
    if read.returncode:
        raise PageError(f"{block.place}: {read.stderr}")
    for command in split_commands(script):
        try:
            check_command(command)
        except PageError as error:
            raise PageError(f"{block.place}: {error}") from None


def split_commands(script: str) -> Iterator[list[str]]:
    """Yield the simple commands of a script, word by word."""
    lines = _REDIRECTION.sub("", _COMMENT.sub("", script.replace("\\\n", " "))).replace("\n", " ; ")
    lexer = shlex.shlex(lines, posix=True, punctuation_chars=";&|()")
    lexer.whitespace_split = True
    lexer.commenters = ""
    command: list[str] = []
    for word in lexer:
        if word in _OPERATORS:
            yield command
            command = []
        else:
            command.append(word)
    yield command


def check_command(words: list[str]) -> None:
    """Raise PageError when our program would not accept a command's options, or make has no such target."""
    for number, word in enumerate(words):
        if word == PROGRAM or word.endswith(f"/{PROGRAM}"):
            _parse(words[number + 1 :])
            return
    if words[:1] == ["make"] and f"\n{words[1]}: " not in _MAKEFILE:
        raise PageError(f"the Makefile has no target {words[1]!r}")


def check_names(block_or_text: str, place: str) -> None:
    """Raise PageError when a text names a variable of ours that does not exist."""
    named = set(re.findall(rf"\b{ENVIRONMENT_PREFIX}[A-Z0-9_]*[A-Z0-9]\b", block_or_text))
    if unknown := sorted(named - VARIABLES):
        raise PageError(f"{place}: there is no {', '.join(unknown)}")


def _parse(arguments: list[str]) -> None:
    try:
        create_parser().parse_args(arguments)
    except SystemExit as ended:
        if ended.code:
            raise PageError(f"not accepted: {PROGRAM} {shlex.join(arguments)}") from None
