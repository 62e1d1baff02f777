"""Fuzz what reads bytes that anybody may have written, guided by coverage.

    python -m benchmarks.fuzz TARGET --seconds N [--corpus DIR] [--findings DIR]
    python -m benchmarks.fuzz TARGET --replay FILE

In an environment with atheris: `pip install --group fuzz --editable .`. Only graphrag_mcp is instrumented. The corpus
begins with the samples of the tests, and DIR keeps what was found to reach new code. An input that breaks a law of its
target, or takes longer than five seconds, is written into the folder of the findings, each kind once; the run goes on,
and ends with status 1. `tests/reliability/test_fuzz.py` holds the same laws against what Hypothesis makes up.
"""

import argparse
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha1
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parent.parent / "tests"
SLOW_SECONDS = 5.0
HANG_SECONDS = 60  # libFuzzer ends the process then: nothing else would.
MAX_BYTES = 20_000
HANG_STATUS = 70

Law = Callable[..., None]


# ---------------------------------------------------------------- the laws

# Each function imports what its law is about when it is called: that is where atheris instruments it. It is given a
# folder for the files that it needs.


def parser_law(_folder: Path) -> Law:
    """Any bytes under any path become a `ParsedFile` whose chunks are whole lines in order."""
    from graphrag_mcp.model.files import ParseMode
    from graphrag_mcp.parsing.documents.sections import LINE_LIMIT
    from graphrag_mcp.parsing.parser import parse_file
    from graphrag_mcp.text.source import Text, read_text

    def hold(path: str, data: bytes) -> None:
        parsed = parse_file(path, data)
        source = read_text(data)
        assert parsed.path == path
        lines = source.text.split("\n") if isinstance(source, Text) else []
        covered: set[int] = set()
        last = 0
        for chunk in parsed.chunks:
            assert last < chunk.start_line <= chunk.end_line <= len(lines), "chunks are in order, within the file"
            last = chunk.end_line
            covered.update(range(chunk.start_line, last + 1))
            shown = lines[chunk.start_line - 1 : last]
            if parsed.mode is ParseMode.SYNTAX:
                assert chunk.text == "\n".join(shown), "a chunk is whole lines"
            elif parsed.mode is not ParseMode.CARD:
                assert chunk.text == "\n".join(line[:LINE_LIMIT] for line in shown), "a chunk is whole lines"
            texts = (chunk.text, chunk.symbol, chunk.signature, chunk.comments)
            "".join((*texts, *chunk.names, *chunk.enclosing)).encode()
        if parsed.mode is not ParseMode.CARD:
            blank = all(number in covered or not line.strip() for number, line in enumerate(lines, 1))
            assert blank, "every line that is not blank is in a chunk"
        for symbol in parsed.symbols:
            assert 1 <= symbol.start_line <= symbol.end_line <= len(lines), "symbols lie in the file"
            assert symbol.name.strip(), "every symbol has a name"
            "".join((symbol.name, symbol.qualified_name, symbol.signature)).encode()
        for relation in parsed.relations:
            assert 1 <= relation.line <= len(lines), "relations lie in the file"
            "".join((relation.source, relation.target, relation.target_module)).encode()

    return hold


def secrets_law(_folder: Path) -> Law:
    """Whatever is masked, lines stay where they are, and masked text stays as it is."""
    from graphrag_mcp.text.secrets import mask_secrets
    from graphrag_mcp.text.source import NotText, Text, decode, read_text

    def hold(data: bytes) -> None:
        source, decoded = read_text(data), decode(data)
        if isinstance(decoded, NotText):
            assert source == decoded
            return
        assert isinstance(source, Text)
        assert source.text.count("\n") == decoded.text.count("\n"), "lines stay where they are"
        assert "\r" not in source.text
        assert mask_secrets(source.text) == source.text, "what is masked stays as it is"

    return hold


def front_matter_law(folder: Path) -> Law:
    """Any text is a document; its front matter is flat, and is part of the text."""
    from graphrag_mcp.parsing.documents.documents import parse_markdown, read_front_matter

    hold_parser = parser_law(folder)

    def hold(text: str) -> None:
        rows = text.split("\n")
        front = read_front_matter(rows)
        assert 0 <= front.end <= len(rows)
        assert front.end > 0 or not front.values
        for key, value in front.values.items():
            assert key == key.strip().lower()
            assert all(isinstance(one, str) for one in ([value] if isinstance(value, str) else value))
        parsed = parse_markdown("docs/a.md", text)
        assert parsed.facts.priority is None or 0 <= parsed.facts.priority <= 100
        hold_parser("docs/a.md", text.encode("utf-8", "replace"))

    return hold


def ignore_file_law(folder: Path) -> Law:
    """Any bytes are an ignore file, and any path has one answer."""
    from graphrag_mcp.exclusion.manager import ExclusionManager
    from graphrag_mcp.settings import IndexingSettings

    manager = ExclusionManager(folder, IndexingSettings(default_exclusions=False))

    def hold(content: bytes, path: str, is_folder: bool) -> None:
        for name in (".gitignore", ".graphragignore"):
            (folder / name).write_bytes(content)
        manager.reload()
        answer = manager.explain(path, is_folder)
        assert manager.should_exclude(path, is_folder) is (answer is not None), "the same is said twice"
        manager.reload()
        assert manager.explain(path, is_folder) == answer, "the same is said when the rules are read again"
        "\n".join(manager.warnings).encode()

    return hold


def settings_law(folder: Path) -> Law:
    """Any file and any environment are settings, or problems that each name a setting."""
    from graphrag_mcp.errors import SettingsError
    from graphrag_mcp.settings import _SECTION_OF, SECTIONS, SETTINGS_FILE, load_settings

    known = {SETTINGS_FILE, *SECTIONS, *_SECTION_OF}

    def hold(content: bytes, environment: Mapping[str, str]) -> None:
        (folder / SETTINGS_FILE).write_bytes(content)
        try:
            load_settings(folder, environment)
        except SettingsError as error:
            assert error.problems
            names = {*known, *environment, *_keys(content)}
            for problem in error.problems:
                assert any(name in problem for name in names), f"no setting is named: {problem}"

    return hold


def _keys(content: bytes) -> Iterator[str]:
    with suppress(ValueError, RecursionError):
        pending: list[object] = [tomllib.loads(content.decode())]
        while pending:
            if isinstance(table := pending.pop(), dict):
                yield from table
                pending += table.values()


def arguments_law(folder: Path) -> Law:
    """Any JSON object is a request, or a RequestError that names the argument."""
    from graphrag_mcp.errors import RequestError
    from graphrag_mcp.settings import Settings
    from graphrag_mcp.tools.table import TOOLS
    from graphrag_mcp.tools.tool import Call

    settings = Settings()
    shown_characters = 60  # Of a name that is none; the message cuts it a little later.

    def hold(tool: str, arguments: Mapping[str, object]) -> None:
        try:
            assert isinstance(TOOLS[tool].read(arguments, settings, folder), Call)
        except RequestError as error:
            name = error.argument
            shown = json.dumps(name, ensure_ascii=False)[1:-1][:shown_characters]
            assert name in str(error) or shown in str(error), f"{name!r} is not named: {error}"

    return hold


def wire_law(_folder: Path) -> Law:
    """Every line that is not blank is handed on as JSON, or answered with an error."""
    from graphrag_mcp.serving.stdio import AnswerWriter, RequestReader

    def hold(data: bytes) -> None:
        answered = io.BytesIO()
        answers = AnswerWriter(answered, encoding="utf-8", newline="\n", line_buffering=True)
        reader = RequestReader(io.BytesIO(data), answers)
        handed_on = [line for line in iter(reader.readline, "") if line.strip()]
        for line in handed_on:
            json.loads(line)
        refusals = [json.loads(line) for line in answered.getvalue().decode().splitlines()]
        for refusal in refusals:
            assert refusal["jsonrpc"] == "2.0"
            assert "id" in refusal
            assert refusal["error"]["code"] < 0
            assert refusal["error"]["message"]
        lines = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", errors="replace").readlines()
        assert len(handed_on) + len(refusals) == sum(bool(line.strip()) for line in lines), "no line is dropped"

    return hold


# ---------------------------------------------------------------- the targets


@dataclass(frozen=True, slots=True)
class Target:
    """A law, how the bytes of an input become what it is about, and the inputs to begin with."""

    law: Callable[[Path], Law]
    read: Callable[[bytes], tuple[Any, ...]]
    seeds: Callable[[], Iterable[bytes]]


def _read_file(data: bytes) -> tuple[str, bytes]:
    """The first line is the path."""
    path, _, content = data.partition(b"\n")
    return path.decode("utf-8", "replace").replace("\0", "") or "a", content


def _read_ignore_file(data: bytes) -> tuple[bytes, str, bool]:
    """The last line is the path."""
    content, _, path = data.rpartition(b"\n")
    return content, os.fsdecode(path.rstrip(b"/")), path.endswith(b"/")


def _read_settings(data: bytes) -> tuple[bytes, dict[str, str]]:
    """What follows a NUL is the environment, a line each."""
    content, _, lines = data.partition(b"\0")
    pairs = (os.fsdecode(line).partition("=") for line in lines.split(b"\n") if line)
    return content, {name: value for name, _, value in pairs}


def _read_arguments(data: bytes) -> tuple[str, dict[str, object]]:
    """The first byte is the tool; then each line is a name and a value, in JSON where it is any."""
    arguments: dict[str, object] = {}
    for line in data[1:].decode("utf-8", "replace").split("\n"):
        name, _, text = line.partition("=")
        try:
            arguments[name] = json.loads(text)
        except (ValueError, RecursionError):
            arguments[name] = text
    return ASKED_TOOLS[(data[:1] or b"\0")[0] % len(ASKED_TOOLS)], arguments


ASKED_TOOLS = ("graphrag_hybrid_search", "query_documents", "query_unique_documents", "index_status")


def _file_seeds() -> Iterator[bytes]:
    for file in sorted((TESTS / "parsing" / "samples").glob("*.txt")):
        yield f"src/{file.name.removesuffix('.txt')}\n".encode() + file.read_bytes()
    yield b"notes.txt\none\n\ntwo\n"
    yield b"a.rst\nTitle\n=====\n\ntext\n\n===\nOne\n===\n"
    yield b"a.adoc\n= Title\n\n----\ncode\n----\n== One\n"
    yield from (b"docs/a.md\n" + seed for seed in _front_matter_seeds())


def _front_matter_seeds() -> Iterator[bytes]:
    yield b"---\ntitle: A\nstatus: accepted\ntags: [a, b]\npriority: 7\nsupersedes:\n  - old.md\n---\n# A\n\ntext\n"
    yield b"---\na: &a [x, x]\nb: &b [*a, *a]\nc: {d: [*b, *b]}\n? [complex]\n: 1\n...\ntext\n"
    yield b'---\n"a": |\n  x\n  y\nb: >-\n  z\n!!str c: "\\u263a"\n---\n## Status\n\nSuperseded by [x](x.md)\n'
    yield b"# A\n\n* one\n  ```py\n  x\n  ```\n> quote\n\n<div>\n"
    yield b"[[Note|x]] [a](b.md#c) [d][e] `f`\n\n[e]: g.md\nB\n---\n"


def _ignore_file_seeds() -> Iterator[bytes]:
    for line in (
        b"*.py",
        b"!a/**/b?[a-z]",
        b"/docs/",
        b"a\\ ",
        b"[[:alpha:]]*[!x-]",
        b"**/x/**",
        b":include:.gitignore",
    ):
        yield line + b"\n# comment\n*.log\nbuild/\na/docs/xb.py"
    for file in (TESTS / "parsing" / "samples").glob("*.sh.txt"):
        yield file.read_bytes()[:500] + b"\nsrc/a/b.py/"


def _settings_seeds() -> Iterator[bytes]:
    import msgspec

    from graphrag_mcp.settings import Settings

    values = msgspec.to_builtins(Settings(), enc_hook=str)
    for section, fields in values.items():
        lines = [f"{name} = {json.dumps(value)}" for name, value in fields.items() if value is not None]
        yield "\n".join([f"[{section}]", *lines]).encode()
        for name, value in fields.items():
            yield f"[{section}]\n{name} = 1\n\0GRAPHRAG_{name.upper()}={value}".encode()
    yield b"a = " + b"[" * 100 + b"]" * 100
    yield b'indexing = [1, {a = 1979-05-27T07:32:00Z}]\n[servers]\nqdrant_url = "http://[::1]:6333"\n\0KB_RRF_K=7'


def _arguments_seeds() -> Iterator[bytes]:
    from graphrag_mcp.tools.table import TOOLS

    for index, tool in enumerate(ASKED_TOOLS):
        names = TOOLS[tool].schema()["properties"]
        for value in (
            None,
            True,
            3,
            0.5,
            -1e308,
            "a query",
            "json",
            [],
            ["tests", "*.py"],
            ["/a/../..", " "],
            {"a": [1]},
        ):
            lines = [f"{name}={json.dumps(value)}" for name in names]
            yield bytes([index]) + "\n".join(lines).encode()
            yield bytes([index]) + "\n".join(["query=a query", *lines[:2], f"include_patterns={value}"]).encode()


def _wire_seeds() -> Iterator[bytes]:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "a", "arguments": {"query": "x"}}}
    line = json.dumps(call).encode()
    yield line + b"\n" + line.replace(b'"x"', b'"\\ud800"') + b"\r\n\n{\n[1, NaN, 1e999]\n" + line[:-1]
    yield line.replace(b'{"query": "x"}', b'["\\udc00"]') + b"\n" + b"[" * 300 + b"]" * 300 + b"\n\xff\xfe\n"


def _secrets_seeds() -> Iterator[bytes]:
    letters = "a1B2c3D4e5F6g7H8i9J0kLmN"
    prefixes = (
        "AKIA ghp_ glpat- xoxb- sk_live_ sk-ant- AIza GOCSPX- ya29. npm_ pypi-Ag SG. hf_ dop_v1_ shpat_ 12345678:AA "
        "eyJ AccountKey= github_pat_ https://hooks.slack.com/services/ https://user:"
    )
    yield from (f"x = {prefix}{letters * 3}@host\n".encode() for prefix in prefixes.split())
    yield f"password = '{letters}'\naws_secret_key = \"{(letters * 2)[:40]}\"\n".encode()
    yield f"eyJ{letters}.eyJ{letters}.{letters}".encode()
    yield f"-----BEGIN RSA PRIVATE KEY-----\n{letters * 2}\n{letters * 2}\n-----END RSA PRIVATE KEY-----\n".encode()


TARGETS = {
    "parser": Target(parser_law, _read_file, _file_seeds),
    "front-matter": Target(front_matter_law, lambda data: (data.decode("utf-8", "replace"),), _front_matter_seeds),
    "ignore-file": Target(ignore_file_law, _read_ignore_file, _ignore_file_seeds),
    "settings": Target(settings_law, _read_settings, _settings_seeds),
    "arguments": Target(arguments_law, _read_arguments, _arguments_seeds),
    "wire": Target(wire_law, lambda data: (data,), _wire_seeds),
    "secrets": Target(secrets_law, lambda data: (data,), _secrets_seeds),
}


# ---------------------------------------------------------------- running


def main() -> int:
    parser = argparse.ArgumentParser(description="Fuzz a part of the program, guided by coverage.")
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--corpus", type=Path, help="folder that keeps what reaches new code; else a temporary one")
    parser.add_argument(
        "--findings", type=Path, default=Path("fuzz-findings"), help="folder of inputs that break a law"
    )
    parser.add_argument("--replay", type=Path, metavar="FILE", help="run one input, without atheris")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.environ["PATH"] = ""  # git is asked for its global excludes file, thousands of times a second.
    target = TARGETS[options.target]
    if options.replay:
        with tempfile.TemporaryDirectory() as folder:
            target.law(Path(folder))(*target.read(options.replay.read_bytes()))
        return 0
    if options.inside:
        fuzz(target, options)
    return run(target, options)


def run(target: Target, options: argparse.Namespace) -> int:
    """Run the fuzzer in a process of its own, again after a hang, and sum up what it did."""
    options.findings.mkdir(parents=True, exist_ok=True)
    before = set(options.findings.iterdir())
    started = time.monotonic()
    executions, covered, status = 0, 0, HANG_STATUS
    with tempfile.TemporaryDirectory() as temporary:
        corpus = options.corpus or Path(temporary, "corpus")
        corpus.mkdir(parents=True, exist_ok=True)
        for seed in target.seeds():
            (corpus / sha1(seed).hexdigest()).write_bytes(seed)
        while status == HANG_STATUS and (left := options.seconds - (time.monotonic() - started)) >= 1:
            status, done, reached = run_once(options, corpus, int(left), temporary)
            executions, covered = executions + done, max(covered, reached)
        kept = len(list(corpus.iterdir()))
    findings = sorted(file for file in set(options.findings.iterdir()) - before if file.suffix != ".txt")
    print(f"{options.target}: {executions:,} executions, {covered:,} edges covered, {kept:,} inputs in the corpus")
    print(f"{len(findings)} findings" + "".join(f"\n  {file}" for file in findings))
    return 1 if findings or status else 0


def run_once(options: argparse.Namespace, corpus: Path, seconds: int, temporary: str) -> tuple[int, int, int]:
    """Return the status, the executions and the coverage of one process."""
    command = [sys.executable, "-m", "benchmarks.fuzz", options.target, "--inside", "--seconds", str(seconds)]
    command += ["--corpus", str(corpus), "--findings", str(options.findings)]
    environment = {**os.environ, "TMPDIR": temporary}
    executions = covered = 0
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True, errors="replace") as process:
        assert process.stderr is not None
        for line in process.stderr:
            sys.stderr.write(line)
            if found := re.match(r"#(\d+)\s.*cov: (\d+)", line):
                executions, covered = int(found[1]), int(found[2])
    return process.returncode, executions, covered


def fuzz(target: Target, options: argparse.Namespace) -> None:
    """Fuzz in this process; libFuzzer ends it."""
    import atheris

    with atheris.instrument_imports(include=["graphrag_mcp"]):
        law = target.law(Path(tempfile.mkdtemp()))  # In a folder that `run` removes.
    seen: set[tuple[str, ...]] = set()

    def try_one(data: bytes) -> None:
        started = time.perf_counter()
        try:
            law(*target.read(data))
        except Exception as error:
            keep(error, traceback.format_exc(), data)
        if (seconds := time.perf_counter() - started) > SLOW_SECONDS:
            keep(None, f"{seconds:.1f} seconds", data)

    def keep(error: Exception | None, words: str, data: bytes) -> None:
        """Write down the first input of each kind: of each error at each place."""
        frames = traceback.extract_tb(error.__traceback__) if error else []
        kind = (type(error).__name__, *(f"{frame.filename}:{frame.lineno}" for frame in frames[-2:]))
        if kind in seen or len(seen) > 100:
            return
        seen.add(kind)
        file = (
            options.findings / f"{options.target}-{'slow' if error is None else 'crash'}-{sha1(data).hexdigest()[:12]}"
        )
        file.write_bytes(data)
        file.with_suffix(".txt").write_text(words)
        print(f"FINDING {file}\n{words}", file=sys.stderr)

    arguments = [
        f"-max_total_time={options.seconds}",
        f"-timeout={HANG_SECONDS}",
        f"-max_len={MAX_BYTES}",
        "-len_control=20",
        "-rss_limit_mb=4096",
        f"-artifact_prefix={options.findings}/{options.target}-",
    ]
    atheris.Setup([sys.argv[0], *arguments, str(options.corpus)], try_one)
    atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main())
