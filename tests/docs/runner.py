"""Runs what a page shows, from top to bottom, as a reader would: in a project, a home folder and a shell of its own."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from doctest import ELLIPSIS, OutputChecker
from itertools import groupby
from pathlib import Path
from typing import Any

import yaml

from tests.docs.blocks import Block, PageError, read_blocks
from tests.docs.commands import check_shell
from tests.docs.sample import FOLDER, create_sample
from tests.docs.settings_files import check_settings_file
from tests.stdio_client import Server

HOME_SHOWN = "/home/you"
SECONDS = 120  # One command, on a busy machine; a page that starts what never ends has to say so.

# What differs from one run to the next, and is recorded as "...".
_PASSING = (
    (re.compile(r"\b\d+\.\d s\b"), "... s"),
    (re.compile(r"\d+\.\d MB"), "... MB"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC"), "... UTC"),
    (re.compile(rf"\b{FOLDER}-[0-9a-f]{{12}}\b"), f"{FOLDER}-..."),
    (re.compile(r"graphrag-mcp \d\S* on Python .*"), "graphrag-mcp ... on Python ..."),
    (re.compile(r"\d\S* with FTS5"), "... with FTS5"),
    (re.compile(r"\b[0-9a-f]{10}\b"), "..."),
    (re.compile(r"(?<=cursor=\"\d-)[0-9a-f]{8}\b"), "..."),  # Of a question that names a path of this machine.
    (re.compile(r"\b[0-9a-f]{7}\b(?= \d{4}-\d\d-\d\d \")"), "..."),  # A commit.
)
_ELISION = "..."
_ALIKE = 0.8  # The share of equal characters from which a line is the one that a page showed before.
# Said by whatever takes longer than a moment, as anything may on a busy machine.
_PROGRESS = re.compile(r"^indexing [\d,]+ of [\d,]+ files.*\n", re.MULTILINE)


class Reader:
    """Somebody who does what a page says.

    `problems` has what did not happen as it is written, `recorded` what happens instead, by the block's line.
    """

    def __init__(self, page: Path, folder: Path, text: str | None = None) -> None:
        """folder: for the home folder and all else. text: in the place of the page's own."""
        self.page = page
        self._text = text
        self.problems: list[str] = []
        self.recorded: dict[int, str] = {}
        self._folder = folder
        self._server: Server | None = None
        self._answer: str | None = None  # Of the call in the block before.
        self._begin()

    def read(self) -> "Reader":
        """Go through the page and return itself; a problem does not keep the rest from being looked at."""
        for block in read_blocks(self.page, self._text):
            try:
                self._do(block)
            except PageError as error:
                self.problems.append(str(error))
        self._leave()
        return self

    def _begin(self) -> None:
        self._leave()
        shutil.rmtree(self._folder, ignore_errors=True)
        self.home = self._folder / "you"
        self.root = create_sample(self.home)
        self.environment = {
            "HOME": str(self.home),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "LANG": "C.UTF-8",
            "GRAPHRAG_DATA_DIR": str(self.home / ".local/share/graphrag-mcp"),  # Linux's own, elsewhere too.
            "GRAPHRAG_WORKERS": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
            **{f"GIT_{who}_{what}": "you" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        }

    def _leave(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None

    def _do(self, block: Block) -> None:
        if "fresh project" in block.notes:
            self._begin()
        text = self._own(block.text)
        answer, self._answer = self._answer, None
        if block.language not in KINDS:
            raise PageError(f"{block.place}: nothing is known of {block.language or 'no language'!r} blocks")
        if block.is_run:
            if name := block.notes.get("file"):
                self._write(name, text)
            if block.language == "text":
                self._compare_answer(block, answer)
            else:
                KINDS[block.language](self, block, text)
        elif block.language in ("sh", "console"):
            check_shell(block, text if block.language == "sh" else "".join(f"{one}\n" for one, _ in commands_of(text)))
        if not block.notes.get("not run", "a reason"):
            raise PageError(f"{block.place}: say why it is not run")

    # ------------------------------------------------------------ one kind of block each

    def _run_script(self, block: Block, text: str) -> None:
        check_shell(block, text)
        self._shell(block, ["sh", "-e", "-c", text], int(block.notes.get("exit code", 0)))

    def _run_python(self, block: Block, text: str) -> None:
        self._shell(block, [sys.executable, "-c", text], int(block.notes.get("exit code", 0)))

    def _run_session(self, block: Block, _text: str) -> None:
        """Run the commands of a recorded session, and compare what each prints."""
        told = list(commands_of(block.text))
        check_shell(block, "".join(f"{command}\n" for command, _ in told))
        lines = []
        for number, (command, wanted) in enumerate(told, 1):
            last = number == len(told)
            code = int(block.notes.get("exit code", 0)) if last else 0
            printed = self._shown(self._shell(block, ["sh", "-c", self._own(command)], code))
            same = _is_same(wanted, printed)
            if not same:
                self.problems.append(f"{block.place}: $ {command}\nis written to print\n{wanted}but prints\n{printed}")
            lines.append(f"$ {command}\n{wanted if same else _elided(wanted, _without_passing(printed))}")
        self.recorded[block.line] = "".join(lines)

    def _use_json(self, block: Block, text: str) -> None:
        value = _read(block, json.loads, text)
        if isinstance(value, dict) and set(value) == {"name", "arguments"}:
            self._call(block, value)
        elif isinstance(value, dict) and set(value) == {"uri"}:
            self._read_resource(block, value["uri"])
        elif "file" not in block.notes or not block.notes["file"].endswith("queries.json"):
            check_settings_file(block, text)

    def _call(self, block: Block, call: Mapping[str, Any]) -> None:
        """Ask the server; what it answers is compared with the block that follows."""
        answer, is_error = self._started().call(call["name"], call["arguments"])
        if is_error != (block.notes.get("exit code") == "1"):
            raise PageError(f"{block.place}: the answer is {'an error' if is_error else 'no error'}: {answer}")
        self._answer = self._shown(answer.rstrip("\n") + "\n")

    def _read_resource(self, block: Block, uri: str) -> None:
        answer = self._started().ask("resources/read", {"uri": uri})
        if "error" in answer:
            raise PageError(f"{block.place}: the answer is an error: {answer['error']['message']}")
        (content,) = answer["result"]["contents"]
        self._answer = self._shown(content["text"].rstrip("\n") + "\n")

    def _started(self) -> Server:
        """Return the page's server, which knows the whole project."""
        if self._server is None:
            subprocess.run(
                ["graphrag-mcp", "index"], cwd=self.root, env=self.environment, check=True, capture_output=True
            )
            self._server = Server(self.root, self.environment)
        return self._server

    def _compare_answer(self, block: Block, answer: str | None) -> None:
        if answer is None:
            raise PageError(f"{block.place}: no call stands before this text; mark it if it is a drawing")
        same = _is_same(block.text, answer)
        if not same:
            self.problems.append(f"{block.place}: the answer is\n{answer}")
        self.recorded[block.line] = block.text if same else _elided(block.text, _without_passing(answer))

    # ------------------------------------------------------------ helpers

    def _shell(self, block: Block, command: list[str], code: int) -> str:
        try:
            ended = subprocess.run(
                command, cwd=self.root, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True, timeout=SECONDS, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise PageError(f"{block.place}: does not end; mark it as not run") from None
        if ended.returncode != code:
            raise PageError(f"{block.place}: ended with {ended.returncode}: {ended.stdout}")
        return ended.stdout

    def _write(self, name: str, text: str) -> None:
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def _own(self, text: str) -> str:
        return text.replace(HOME_SHOWN, str(self.home))

    def _shown(self, text: str) -> str:
        text = _PROGRESS.sub("", text)
        return text.replace(str(self.home.resolve()), HOME_SHOWN).replace(str(self.home), HOME_SHOWN)


def commands_of(session: str) -> Iterator[tuple[str, str]]:
    """Yield the commands of a recorded session (after "$ ", continued after "> "), each with what it prints."""
    for part in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
        lines = part.splitlines(keepends=True)
        last = next(number for number, line in enumerate(lines) if not line.endswith("\\\n"))
        yield "".join(lines[: last + 1]).rstrip("\n"), "".join(lines[last + 1 :])


def _is_same(wanted: str, printed: str) -> bool:
    return OutputChecker().check_output(wanted, printed, ELLIPSIS)


def _without_passing(text: str) -> str:
    for pattern, shown in _PASSING:
        text = pattern.sub(shown, text)
    return text


def _elided(shown: str, printed: str) -> str:
    """Leave out the lines that the page leaves out: a line stays if it resembles one that is shown."""
    lines = shown.splitlines()
    if _ELISION not in lines:
        return printed
    kept = [line if get_close_matches(line, lines, 1, _ALIKE) else _ELISION for line in printed.splitlines()]
    return "".join(f"{line}\n" for line, group in groupby(kept) for _ in ([1] if line == _ELISION else group))


def _read(block: Block, parse: Callable[[str], Any], text: str) -> Any:
    try:
        return parse(text)
    except (ValueError, yaml.YAMLError) as error:
        raise PageError(f"{block.place}: {error}") from None


def _check_steps(_reader: Reader, block: Block, text: str) -> None:
    """Read YAML, and check the commands in what a pipeline runs."""
    for script in _scripts_in(_read(block, yaml.safe_load, text)):
        check_shell(block, script)


def _scripts_in(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inside in value.items():
            if name == "run" and isinstance(inside, str):
                yield inside
            else:
                yield from _scripts_in(inside)
    elif isinstance(value, list):
        for inside in value:
            yield from _scripts_in(inside)


KINDS: Mapping[str, Callable[[Reader, Block, str], None]] = {
    "sh": Reader._run_script,
    "console": Reader._run_session,
    "python": Reader._run_python,
    "json": Reader._use_json,
    "toml": lambda _reader, block, text: check_settings_file(block, text),
    "gitignore": lambda _reader, block, text: check_settings_file(block, text),
    "yaml": _check_steps,
    "cypher": lambda _reader, _block, _text: None,  # tests/servers/test_cypher.py executes it.
    "text": Reader._run_script,  # Never: an answer is compared, a drawing is marked.
}
