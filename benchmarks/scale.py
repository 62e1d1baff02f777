"""Measure how everything grows with a repository: made-up ones of so many lines, or a folder of your own.

    python -m benchmarks.scale --lines 10000 100000 1000000 --work DIR
    python -m benchmarks.scale --root FOLDER --queries QUERIES.json --work DIR

The repositories are made from a seed, in five languages and Markdown, with the words of the package's own tokenizer as
often as Zipf's law has them. They and their indexes stay in DIR, some 600 MB for a million lines; a second run makes
them anew. FOLDER is copied there, since files are edited; QUERIES.json is a list of objects with a "query". Every step
is a process of its own. Prints a table, and for each figure by how much it grows from the smallest repository on.
"""

import argparse
import itertools
import json
import os
import random
import shutil
import statistics
import string
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from benchmarks.figures import add_option, write_rows
from graphrag_mcp.languages.registry import LANGUAGES, detect_language
from graphrag_mcp.model.files import Category
from graphrag_mcp.parsing.categories import categorise
from tests.repositories import commit, git
from tests.stdio_client import Server

SYNTAX = frozenset(LANGUAGES)
SEED = 20_240
QUERIES = 100
EDITS = 5
CALLS_TOGETHER = 30
EDITED_SHARE = 0.01
REINDEXED_SHARE = 0.1  # While queries are timed: long enough to time them at all.
PATIENCE_SECONDS = 300
SAMPLE_SECONDS = 0.1
IDLE_SECONDS = 20
SETTLE_SECONDS = 25  # By then the parsing processes that a run left have ended.
SLOWDOWN_LIMIT = 3.0
TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")

Figures = dict[str, float]


# ---------------------------------------------------------------- what is written


class Words:
    """Words of code, the frequent ones often."""

    def __init__(self, chance: random.Random) -> None:
        tokenizer = resources.files("graphrag_mcp").joinpath("embedding/model/tokenizer.json")
        pieces = json.loads(tokenizer.read_text(encoding="utf-8"))["model"]["vocab"]
        known = [piece for piece, *_ in pieces] if isinstance(pieces, list) else sorted(pieces, key=pieces.get)
        self._words = [word for word in known if word.isascii() and word.isalpha() and 3 <= len(word) <= 10]
        self._words = [word.lower() for word in self._words if word.islower()]
        chance.shuffle(self._words)
        self._weights = list(itertools.accumulate(1 / rank for rank in range(3, len(self._words) + 3)))
        self._chance = chance

    def some(self, count: int) -> list[str]:
        return self._chance.choices(self._words, cum_weights=self._weights, k=count)

    def snake(self, count: int = 2) -> str:
        return "_".join(self.some(count))

    def pascal(self, count: int = 2) -> str:
        return "".join(word.title() for word in self.some(count))

    def camel(self, count: int = 2) -> str:
        name = self.pascal(count)
        return name[0].lower() + name[1:]

    def sentence(self) -> str:
        return " ".join(self.some(self._chance.randint(5, 12))).capitalize() + "."


@dataclass(frozen=True, slots=True)
class Module:
    """A file that others may import."""

    folder: str
    name: str
    functions: tuple[str, ...]


class Repository:
    """Writes files that import and call one another."""

    def __init__(self, root: Path, seed: int = SEED) -> None:
        self.root = root
        self.chance = random.Random(seed)
        self.words = Words(self.chance)
        self._names: list[str] = []
        self._docs: list[str] = []
        self._modules: dict[str, list[Module]] = {}
        self._folders = [f"{self.words.snake(1)}/{self.words.snake(1)}" for _ in range(40)]
        self._makers: tuple[Callable[[], tuple[str, str]], ...] = (
            self._python,
            self._typescript,
            self._go,
            self._java,
            self._rust,
            self._test,
            self._markdown,
        )
        self._taken: set[str] = set()

    def write(self, lines: int) -> None:
        """Write so many lines."""
        written = 0
        while written < lines:
            (maker,) = self.chance.choices(self._makers, (35, 20, 12, 10, 5, 10, 8))
            path, text = maker()
            if path in self._taken:
                continue
            self._taken.add(path)
            file = self.root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            written += text.count("\n")

    def queries(self) -> list[str]:
        """Return what to ask: names, and questions in the words of a description."""
        names = sorted(set(self._names))
        described = [" ".join(doc[:-1].lower().split()[:5]) for doc in self.chance.sample(self._docs, QUERIES // 2)]
        return [*self.chance.sample(names, QUERIES // 2), *(f"where is {words} done" for words in described)]

    def _folder(self, top: str) -> str:
        if self.chance.random() < 0.002:
            self._folders.append(f"{self.words.snake(1)}/{self.words.snake(1)}")
        return f"{top}/{self.chance.choice(self._folders)}"

    def _count(self) -> int:
        return max(1, round(self.chance.lognormvariate(0.75, 0.6)))

    def _begin(self, language: str) -> list[Module]:
        known = self._modules.setdefault(language, [])
        return self.chance.sample(known, min(len(known), self.chance.randint(1, 4)))

    def _end(self, language: str, folder: str, name: str, functions: Sequence[str]) -> None:
        self._modules[language].append(Module(folder, name, tuple(functions)))
        self._names += functions

    def _doc(self) -> str:
        self._docs.append(self.words.sentence())
        return self._docs[-1]

    def _calls(self, imported: Sequence[Module], local: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield what the statements of one body call, and with what."""
        choices = [*local, *(function for module in imported for function in module.functions)] or ["print"]
        for _ in range(self.chance.randint(2, 8)):
            yield self.chance.choice(choices), self.words.snake(self.chance.randint(1, 2))

    def _python(self) -> tuple[str, str]:
        folder, name = self._folder("src"), self.words.snake()
        imported = self._begin("python")
        lines = [f'"""{self._doc()}"""', "", "import json"]
        lines += [f"from {m.folder.replace('/', '.')}.{m.name} import {', '.join(m.functions[:3])}" for m in imported]
        lines += ["", f"{self.words.snake().upper()} = {self.chance.randint(1, 9999)}", ""]
        functions: list[str] = []
        if self.chance.random() < 0.6:
            lines += ["", f"class {self.words.pascal()}:", f'    """{self._doc()}"""', ""]
            for _ in range(self._count()):
                lines += self._python_function(self.words.snake(), imported, functions, "    ")
        for _ in range(self._count()):
            functions.append(self.words.snake(self.chance.randint(2, 3)))
            lines += ["", *self._python_function(functions[-1], imported, functions, "")]
        self._end("python", folder, name, functions)
        return f"{folder}/{name}.py", "\n".join(lines) + "\n"

    def _python_function(self, name: str, imported: Sequence[Module], local: Sequence[str], indent: str) -> list[str]:
        one, other = self.words.some(2)
        own = "self, " if indent else ""
        lines = [f"def {name}({own}{one}: str, {other}_count: int = 0) -> int:", f'    """{self._doc()}"""']
        for callee, value in self._calls(imported, local):
            form = self.chance.randint(0, 3)
            if form == 0:
                lines += [f"    if {value} := {callee}({one}):", f"        {other}_count += {value}"]
            elif form == 1:
                lines += [f"    for {value} in {callee}({one}, {other}_count):", f"        json.dumps({value})"]
            elif form == 2:
                lines += [f"    # {self.words.sentence()}", f"    {value} = {callee}({one})"]
            else:
                lines.append(f'    {value} = {callee}({one}, "{self.words.snake(1)}")')
        return [indent + line for line in (*lines, f"    return {other}_count")] + [""]

    def _braces(self, language: str, head: str, body: str, comment: str, extra: int = 0) -> tuple[list[str], list[str]]:
        """Return the functions of a file in a language with braces, and their names."""
        imported, functions, lines = self._begin(language), [], []
        for _ in range(self._count() + extra):
            functions.append(self.words.camel(self.chance.randint(2, 3)))
            argument = self.words.camel(1) + "Value"
            lines += [f"{comment} {self._doc()}", head.format(name=functions[-1], argument=argument) + " {"]
            for callee, value in self._calls(imported, functions):
                if self.chance.random() < 0.3:
                    lines.append(f"    {comment} {self.words.sentence()}")
                lines.append(
                    "    " + body.format(value=value.replace("_", "") + "Of", callee=callee, argument=argument)
                )
            lines += [f"    return {argument}" + (";" if body.endswith(";") else ""), "}", ""]
        return lines, functions

    def _typescript(self) -> tuple[str, str]:
        folder, name = self._folder("web"), self.words.camel()
        head, body = "export function {name}({argument}: number): number", "const {value} = {callee}({argument});"
        lines, functions = self._braces("typescript", head, body, "//")
        imports = [
            f'import {{ {", ".join(m.functions[:3])} }} from "../../../{m.folder}/{m.name}";'
            for m in self._begin("typescript")
        ]
        shape = [f"export interface {self.words.pascal()} {{", f"    {self.words.camel()}: string;", "}", ""]
        self._end("typescript", folder, name, functions)
        return f"{folder}/{name}.ts", "\n".join([*imports, "", *shape, *lines]) + "\n"

    def _go(self) -> tuple[str, str]:
        folder, name = self._folder("pkg"), self.words.snake()
        lines, functions = self._braces(
            "go", "func {name}({argument} int) int", "{value} := {callee}({argument})", "//"
        )
        imports = [f'import "example.org/project/{m.folder}"' for m in self._begin("go")]
        kind = [f"type {self.words.pascal()} struct {{", f"    {self.words.pascal()} string", "}", ""]
        self._end("go", folder, name, functions)
        package = folder.rpartition("/")[2]
        return f"{folder}/{name}.go", "\n".join([f"package {package}", "", *imports, "", *kind, *lines]) + "\n"

    def _java(self) -> tuple[str, str]:
        folder, name = self._folder("java/org/project"), self.words.pascal()
        head, body = "public int {name}(int {argument})", "int {value} = {callee}({argument});"
        lines, functions = self._braces("java", head, body, "//", extra=1)
        package = folder.removeprefix("java/").replace("/", ".")
        imports = [f"import {m.folder.removeprefix('java/').replace('/', '.')}.{m.name};" for m in self._begin("java")]
        self._end("java", folder, name, functions)
        inner = [f"    {line}" if line else line for line in lines]
        opening = [f"package {package};", "", *imports, "", f"/** {self._doc()} */", f"public class {name} {{"]
        return f"{folder}/{name}.java", "\n".join([*opening, *inner, "}"]) + "\n"

    def _rust(self) -> tuple[str, str]:
        folder, name = self._folder("crates"), self.words.snake()
        head, body = "pub fn {name}({argument}: u32) -> u32", "let {value} = {callee}({argument});"
        lines, functions = self._braces("rust", head, body, "///")
        imports = [f"use crate::{m.folder.replace('/', '::')}::{m.name};" for m in self._begin("rust")]
        self._end("rust", folder, name, functions)
        return f"{folder}/{name}.rs", "\n".join([*imports, "", *lines]) + "\n"

    def _test(self) -> tuple[str, str]:
        imported = self._begin("python")
        name = f"test_{self.words.snake()}"
        lines = [f'"""{self._doc()}"""', ""]
        lines += [f"from {m.folder.replace('/', '.')}.{m.name} import {', '.join(m.functions[:3])}" for m in imported]
        for module in imported:
            for function in module.functions[:4]:
                lines += ["", "", f"def test_{function}_{self.words.snake(1)}():", f'    """{self._doc()}"""']
                lines += [f'    {value} = {function}("{value}")' for _, value in self._calls((), ())]
                lines.append(f"    assert {function}({self.chance.randint(0, 9)}) == {self.chance.randint(0, 9)}")
        return f"{self._folder('tests')}/{name}.py", "\n".join(lines) + "\n"

    def _markdown(self) -> tuple[str, str]:
        lines = [f"# {' '.join(self.words.some(3)).capitalize()}", ""]
        for _ in range(self._count() + 1):
            lines += [f"## {' '.join(self.words.some(2)).capitalize()}", ""]
            lines += [" ".join(self.words.sentence() for _ in range(3)) for _ in range(self._count())]
            for module in self._begin("python"):
                lines += [
                    f"* `{module.functions[0]}` of [{module.name}](/{module.folder}/{module.name}.py): {self._doc()}"
                ]
            lines.append("")
        return f"{self._folder('docs')}/{self.words.snake()}.md", "\n".join(lines) + "\n"


# ---------------------------------------------------------------- what is measured


@dataclass(frozen=True, slots=True)
class Place:
    """A repository to measure, and the folder of its index."""

    name: str
    root: Path
    data: Path
    queries: list[str]

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "GRAPHRAG_DATA_DIR": str(self.data), "GRAPHRAG_LOG_LEVEL": "ERROR"}

    def files(self) -> list[Path]:
        """Return the files to edit: every line of them is indexed, and what is found in them is shown first."""
        listed = sorted(git(self.root, "ls-files").splitlines())
        return [
            self.root / path
            for path in listed
            if detect_language(path) in SYNTAX and categorise(path) is Category.IMPLEMENTATION
        ]


def make_place(work: Path, lines: int) -> Place:
    """Write a repository of so many lines."""
    folder = work / str(lines)
    shutil.rmtree(folder, ignore_errors=True)
    repository = Repository(folder / "tree")
    repository.root.mkdir(parents=True)
    repository.write(lines)
    _commit(repository.root)
    return Place(f"{lines:,} lines", repository.root, folder / "data", repository.queries())


def copy_place(work: Path, root: Path, queries: Path) -> Place:
    """Copy a folder, so that its files can be edited."""
    folder = work / root.resolve().name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(root, folder / "tree", symlinks=True, ignore=shutil.ignore_patterns(".git"))
    _commit(folder / "tree")
    asked = [one["query"] for one in json.loads(queries.read_text(encoding="utf-8"))]
    return Place(root.resolve().name, folder / "tree", folder / "data", list(dict.fromkeys(asked)))


def _commit(root: Path) -> None:
    git(root, "init", "-q")
    commit(root, {})


def measure(place: Place, chance: random.Random) -> Figures:
    """Return all figures of one repository, in the order of the table."""
    files = place.files()
    asked = chance.sample(place.queries, min(QUERIES, len(place.queries)))
    figures: Figures = {"files": len(git(place.root, "ls-files").splitlines())}
    figures |= measure_run(place, "first index")
    figures["index on disk, MB"] = sum(file.stat().st_size for file in place.data.glob("*/*.sqlite*")) / 1e6
    figures |= measure_run(place, "nothing changed")
    for file in chance.sample(files, max(1, round(len(files) * EDITED_SHARE))):
        edit(file, new_word())
    figures |= measure_run(place, "1 % edited")
    with serving(place) as server:
        figures["chunks"] = status(server)["chunks"]
        figures |= quantiles("cold query", [ask(server, query) for query in asked])
        warm = [ask(server, query) for _ in range(2) for query in asked]
        figures |= quantiles("warm query", warm)
        figures["serving, MB"] = memory(server.process.pid, alone=True)
        figures |= measure_burst(server, asked)
        seconds = [time_edit(server, place, file) for file in chance.sample(files, EDITS)]
        figures["edit until found, median s"] = statistics.median(seconds)
        figures["edit until found, slowest s"] = max(seconds)
        figures |= measure_reindex(server, place, asked, files, chance)
        time.sleep(SETTLE_SECONDS)
        before = cpu_seconds(server.process.pid)
        time.sleep(IDLE_SECONDS)
        figures["idle CPU, %"] = 100 * (cpu_seconds(server.process.pid) - before) / IDLE_SECONDS
        figures["serving at the end, MB"] = memory(server.process.pid, alone=True)
    return figures


def measure_run(place: Place, name: str) -> Figures:
    """Run `graphrag-mcp index`: seconds, CPU seconds of all its processes, the most memory of all at once."""
    command = [sys.executable, "-m", "graphrag_mcp", "index", "--root", str(place.root)]
    started = time.perf_counter()
    process = subprocess.Popen(command, env=place.environment, stdout=subprocess.DEVNULL)
    peak = 0.0
    while True:
        ended, process_status, used = os.wait4(process.pid, os.WNOHANG)
        if ended:
            break
        peak = max(peak, memory(process.pid))
        time.sleep(SAMPLE_SECONDS)
    process.returncode = os.waitstatus_to_exitcode(process_status)
    assert process.returncode == 0, f"{name} failed"
    return {
        f"{name}, s": time.perf_counter() - started,
        f"{name}, CPU s": used.ru_utime + used.ru_stime,
        f"{name}, peak MB": peak,
    }


@contextmanager
def serving(place: Place) -> Iterator[Server]:
    """Keep a server running, from when its index is complete."""
    server = Server(place.root, place.environment)
    try:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while status(server)["state"] != "ready":
            assert time.monotonic() < deadline, "the server does not become ready"
            time.sleep(0.1)
        yield server
    finally:
        server.close()


def status(server: Server) -> dict[str, Any]:
    """Return the state of the index."""
    text, _ = server.call("index_status", {"response_format": "json"})
    found: dict[str, Any] = json.loads(text)["state"]
    return found


def ask(server: Server, query: str) -> float:
    """Return the milliseconds of one tool call."""
    started = time.perf_counter()
    text, failed = server.call("graphrag_hybrid_search", {"query": query})
    assert not failed, text
    return (time.perf_counter() - started) * 1000


def measure_burst(server: Server, asked: Sequence[str]) -> Figures:
    """Send many calls before the first answer is read, as parallel agents do."""
    started = time.perf_counter()
    together = asked[:CALLS_TOGETHER]
    for query in together:
        server.start_asking("tools/call", {"name": "graphrag_hybrid_search", "arguments": {"query": query}})
    times: list[float] = []
    while len(times) < len(together):
        if "id" in server.receive(PATIENCE_SECONDS):
            times.append((time.perf_counter() - started) * 1000)
    return {
        f"{CALLS_TOGETHER} calls at once, half answered, ms": statistics.median(times),
        f"{CALLS_TOGETHER} calls at once, all answered, ms": times[-1],
        f"after {CALLS_TOGETHER} calls at once, MB": memory(server.process.pid, alone=True),
    }


def quantiles(name: str, times: Sequence[float]) -> Figures:
    return {f"{name}, p50 ms": statistics.median(times), f"{name}, p95 ms": p95(times)}


def p95(times: Sequence[float]) -> float:
    return sorted(times)[int(0.95 * len(times))]


def new_word() -> str:
    """Return a word that stands nowhere."""
    return "".join(random.choices(string.ascii_lowercase, k=16))


def edit(file: Path, word: str) -> None:
    with file.open("a", encoding="utf-8") as stream:
        stream.write(f"\n{word}\n")


def time_edit(server: Server, place: Place, file: Path) -> float:
    """Return the seconds from a saved edit until it is found."""
    word = new_word()
    edit(file, word)
    saved = time.perf_counter()
    await_word(server, place, file, word)
    return time.perf_counter() - saved


def await_word(server: Server, place: Place, file: Path, word: str) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_found(server, place, file, word):
        assert time.monotonic() < deadline, f"the edit of {file} is not found"
        time.sleep(0.02)


def is_found(server: Server, place: Place, file: Path, word: str) -> bool:
    arguments = {"query": word, "top_n": 3, "response_format": "json", "exclude_archived": False}
    text, _ = server.call("query_documents", arguments)
    path = file.relative_to(place.root).as_posix()
    return any(hit["path"] == path and "keyword" in hit["ranks"] for hit in json.loads(text)["primary"])


def measure_reindex(
    server: Server, place: Place, asked: Sequence[str], files: Sequence[Path], chance: random.Random
) -> Figures:
    """Edit many files at once, and time queries until the last of them is found; again, until there are many times."""
    idle = p95([ask(server, query) for query in asked])
    queries = itertools.cycle(asked)
    times: list[float] = []
    rounds: list[float] = []
    while len(times) < QUERIES // 2:
        word = new_word()
        edited = chance.sample(files, max(1, round(len(files) * REINDEXED_SHARE)))
        started = time.perf_counter()
        for file in edited:
            edit(file, word if file is edited[-1] else new_word())
        while not is_found(server, place, edited[-1], word):
            assert time.perf_counter() - started < PATIENCE_SECONDS
            times += [ask(server, next(queries)) for _ in range(5)]
        rounds.append(time.perf_counter() - started)
    return {
        "10 % edited under the server, s": statistics.median(rounds),
        "idle query then, p95 ms": idle,
        "query meanwhile, p50 ms": statistics.median(times),
        "query meanwhile, p95 ms": p95(times),
        f"meanwhile / idle, p95 (law: {SLOWDOWN_LIMIT:g})": p95(times) / idle,
    }


# ---------------------------------------------------------------- processes


def family(pid: int) -> list[int]:
    """Return a process with all that descend from it."""
    found = [pid]
    for parent in found:  # Grows meanwhile.
        for children in Path(f"/proc/{parent}/task").glob("*/children"):
            with suppress(OSError):
                found += [int(child) for child in children.read_text().split()]
    return found


def memory(pid: int, *, alone: bool = False) -> float:
    """Return the resident megabytes of a process, with its children."""
    pages = 0
    for one in [pid] if alone else family(pid):
        with suppress(OSError, IndexError):
            pages += int(Path(f"/proc/{one}/statm").read_text().split()[1])
    return pages * PAGE / 1e6


def cpu_seconds(pid: int) -> float:
    """Return the CPU seconds that a process and its present children have used."""
    ticks = 0
    for one in family(pid):
        with suppress(OSError):
            fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / TICKS


# ---------------------------------------------------------------- the table


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure how everything grows with a repository.")
    parser.add_argument("--lines", type=int, nargs="*", default=[], help="lines of each made-up repository")
    parser.add_argument("--root", type=Path, help="a folder of any repository instead; it is copied")
    parser.add_argument("--queries", type=Path, help="what to ask it")
    parser.add_argument("--work", type=Path, required=True, help="folder of the repositories and their indexes")
    add_option(parser)
    options = parser.parse_args()
    if bool(options.lines) == bool(options.root) or bool(options.root) != bool(options.queries):
        parser.error("either --lines, or --root and --queries")
    columns: dict[str, Figures] = {}
    for lines in sorted(options.lines) or [0]:
        place = make_place(options.work, lines) if lines else copy_place(options.work, options.root, options.queries)
        columns[place.name] = measure(place, random.Random(SEED))
        print(table(columns), flush=True)
    for row, *cells in rows(columns):
        write_rows(options.figures, {row: dict(zip(columns, cells, strict=True))})


def table(columns: dict[str, Figures]) -> str:
    """Return the figures as Markdown."""
    lines = [["", *columns], ["---"] * (len(columns) + 1), *rows(columns)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def rows(columns: dict[str, Figures]) -> Iterator[list[str]]:
    """Yield the name of each figure and its cells; from the second repository on, each with its ratio to the first."""
    first = next(iter(columns.values()))
    for name in first:
        cells = [shown(figures[name]) for figures in columns.values()]
        for place, figures in enumerate(columns.values()):
            if place and first[name]:
                cells[place] += f" (× {figures[name] / first[name]:.3g})"
        yield [name, *cells]


def shown(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"


if __name__ == "__main__":
    main()
