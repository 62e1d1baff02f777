"""Measure `find_occurrences` beside ripgrep on one repository, or compare the lines that the two find.

    python -m benchmarks.occurrences --root FOLDER [--runs N] [PATTERN ...]
    python -m benchmarks.occurrences --root FOLDER --equal N [--seed N]

The index is kept in a temporary folder, unless GRAPHRAG_DATA_DIR names one. Without patterns, fifty are cut from the
files: literal texts and regular expressions, rare, common and absent, with and without case. ripgrep prints every line
of the files that it searches by default; ours is the whole tool call, with the text of its answer. The two alternate;
the first calls, which mask the files with secrets and learn the signatures, are reported apart.

With --equal, random patterns of the common ASCII subset are compared line by line. Files that only one of the two
searches, lines with a masked secret, lines outside ASCII, and patterns that match the empty string are counted apart.
"""

import argparse
import os
import random
import re
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from benchmarks.figures import add_option, write_rows
from graphrag_mcp.app.local import App
from graphrag_mcp.errors import RequestError
from graphrag_mcp.grep.needles import create_needle
from graphrag_mcp.grep.occurrences import find_occurrences
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.settings import load_settings
from graphrag_mcp.text.secrets import MASK
from graphrag_mcp.tools.find_occurrences import OCCURRENCES

SMART = ["--smart-case"]
EVERYTHING = Scope(exclude_archived=False)
MOST = 10**9  # Lines that are compared: all.
SHORTEST, LONGEST = 3, 24  # Characters of a literal text.


@dataclass(frozen=True, slots=True)
class Pattern:
    """What to look for."""

    text: str
    regex: bool = False


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure find_occurrences beside ripgrep.")
    parser.add_argument("--root", type=Path, required=True, help="folder of any repository")
    parser.add_argument("--runs", type=int, default=5, help="how often each pattern is timed")
    parser.add_argument("--equal", type=int, default=0, help="number of random patterns whose lines are compared")
    parser.add_argument("--seed", type=int, default=1, help="of the random patterns")
    parser.add_argument("patterns", nargs="*", metavar="PATTERN", help="literal texts; /.../ is a regular expression")
    add_option(parser)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = {"GRAPHRAG_DATA_DIR": os.environ.get("GRAPHRAG_DATA_DIR", folder)}
        with closing(App(options.root, load_settings(options.root, data))) as app:
            app.index()
            chooser = Chooser(app.root, random.Random(options.seed))
            if options.equal:
                print_differences(compare(app, [chooser.any() for _ in range(options.equal)]), options.equal)
            else:
                measure(
                    app, [_read(text) for text in options.patterns] or chooser.fifty(), options.runs, options.figures
                )


# ---------------------------------------------------------------- time


def measure(app: App, patterns: Sequence[Pattern], runs: int, figures: str | None) -> None:
    """Print how long each takes for each pattern, and the median and the 95th percentile of all."""
    print(f"{app.status().files:,} files")
    for nth in ("first", "second"):
        print(f"{nth} call: {_seconds(lambda: ask(app, Pattern('nowhere_at_all'))):.2f} s")
    ours, theirs = [], []
    for pattern in patterns:
        pairs = [
            (_seconds(partial(ask, app, pattern)), _seconds(partial(ripgrep, app.root, pattern))) for _ in range(runs)
        ]
        ours += [one for one, _ in pairs]
        theirs += [other for _, other in pairs]
        one, other = (statistics.median(times) for times in zip(*pairs, strict=True))
        found = ask(app, pattern).partition(";")[0]
        print(f"{1e3 * one:7.1f} ms  rg {1e3 * other:7.1f} ms  {one / other:5.2f}  {pattern.text!r}: {found}")
    for name, share in (("median", 50), ("95th percentile", 95)):
        one, other = (statistics.quantiles(times, n=100)[share - 1] for times in (ours, theirs))
        print(f"{name}: {1e3 * one:.1f} ms, ripgrep {1e3 * other:.1f} ms, {one / other:.2f} times")
        cells = {"graphrag-mcp, ms": f"{1e3 * one:.0f}", "ripgrep, ms": f"{1e3 * other:.0f}"}
        write_rows(figures, {f"{app.status().files:,} files, {name}": {**cells, "times": f"{one / other:.2f}"}})


def ask(app: App, pattern: Pattern) -> str:
    """Return what the tool answers."""
    call = OCCURRENCES.read({"text": pattern.text, "regex": pattern.regex}, app.settings, app.root)
    return OCCURRENCES.write(app.ask(OCCURRENCES.ask, call), call)


def ripgrep(root: Path, pattern: Pattern, more: Sequence[str] = SMART) -> bytes:
    """Return what ripgrep prints."""
    how = [] if pattern.regex else ["--fixed-strings"]
    command = ["rg", "--no-config", "--line-number", "--no-heading", *more, *how, "-e", pattern.text, "."]
    return subprocess.run(command, cwd=root, capture_output=True).stdout


def _seconds(act: Callable[[], object]) -> float:
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


def _read(text: str) -> Pattern:
    is_regex = len(text) > 2 and text.startswith("/") and text.endswith("/")
    return Pattern(text[1:-1], True) if is_regex else Pattern(text)


# ---------------------------------------------------------------- what is found


@dataclass(slots=True)
class Comparison:
    """What both find. equal: patterns that find the same lines. apart: lines with a secret, or outside ASCII."""

    equal: int = 0
    refused: int = 0
    lines: int = 0
    apart: int = 0
    files: int = 0
    only_ours: int = 0
    different: list[str] = field(default_factory=list)


def compare(app: App, patterns: Iterable[Pattern]) -> Comparison:
    """Compare the lines that patterns find in the files that both programs search."""
    files = app.navigator().files
    listed = [file.path for file in files.listed(EVERYTHING)]
    shared = sorted(set(listed) & set(_searched_by_ripgrep(app.root)))
    apart = {
        (path, number)
        for path, searched in files.read(shared)
        for number, line in enumerate((searched or b"").decode().split("\n"), 1)
        if MASK in line or not line.isascii()
    }
    both = set(shared)
    result = Comparison(files=len(shared), only_ours=len(listed) - len(shared))
    for pattern in patterns:
        try:
            needle = create_needle(pattern.text, regex=pattern.regex)
        except RequestError:
            result.refused += 1  # It matches the empty string.
            continue
        found = find_occurrences(needle, shared, files, wanted=MOST)
        ours = {(row.path, row.line) for row in found.lines}
        theirs = {place for place in _places(ripgrep(app.root, pattern)) if place[0] in both}
        different = (ours ^ theirs) - apart
        result.apart += len((ours ^ theirs) & apart)
        result.lines += len(ours & theirs)
        result.equal += not different
        if different:
            result.different.append(f"{pattern}: {sorted(different)[:5]}")
    return result


def print_differences(found: Comparison, count: int) -> None:
    """Print how many patterns find the same lines, and the differences of the others."""
    print(*found.different, sep="\n")
    print(f"{found.equal:,} of {count - found.refused:,} patterns find the same lines, {found.lines:,} in all;")
    print(f"apart: {found.refused:,} patterns that match the empty string, {found.apart:,} lines with a secret or")
    print(f"outside ASCII; {found.files:,} files are searched by both, {found.only_ours:,} by this program only")


def _searched_by_ripgrep(root: Path) -> list[str]:
    found = subprocess.run(["rg", "--no-config", "--files", "."], cwd=root, capture_output=True).stdout
    return [os.fsdecode(line).removeprefix("./") for line in found.split(b"\n")]


def _places(printed: bytes) -> Iterator[tuple[str, int]]:
    for line in printed.split(b"\n"):
        if found := re.match(rb"\./(.+?):(\d+):", line):
            yield os.fsdecode(found[1]), int(found[2])


class Chooser:
    """Cuts patterns from the files of a repository."""

    def __init__(self, root: Path, chance: random.Random) -> None:
        self._root = root
        self._chance = chance
        self._paths = sorted(path for path in _searched_by_ripgrep(root) if path)

    def fifty(self) -> list[Pattern]:
        """Return literal texts and regular expressions: rare, common, absent, and in lower case."""
        common = ["return", "import", "error", "TODO", "test", "== ", "()", "name"]
        absent = ["nowhere_at_all", "Zq7Lw2Xc9", "no such text here", "xyzzy_plugh", "QQQQ"]
        regexes = [r"\bTODO\b", r"[A-Z]\w+Error\b", r"(get|set)_?\w+\(", r"return \w+\.\w+", r"0x[0-9a-f]{4,}",
                   r"nowhere(_at)?_all", r"\w+_test\b", r"if .* == .*null", r"^import ", r"https?://\S+"]  # fmt: skip
        words = [Pattern(self._word()) for _ in range(12)] + [Pattern(self._word().lower()) for _ in range(5)]
        cuts = [Pattern(self._literal()) for _ in range(5)] + [Pattern(self._regex(), True) for _ in range(5)]
        return [*map(Pattern, common + absent), *(Pattern(text, True) for text in regexes), *words, *cuts]

    def any(self) -> Pattern:
        """Return a literal text or a regular expression."""
        return Pattern(self._literal()) if self._chance.random() < 0.5 else Pattern(self._regex(), True)

    def _line(self) -> str:
        """Return any line of ASCII with a word."""
        while True:
            text = (self._root / self._chance.choice(self._paths)).read_bytes()
            lines = [line.strip() for line in text.split(b"\n") if re.search(rb"\w{3}", line) and line.isascii()]
            if lines and b"\0" not in text:
                line: bytes = self._chance.choice(lines)
                return line.decode()

    def _literal(self) -> str:
        line = self._line()
        start = self._chance.randrange(max(1, len(line) - SHORTEST))
        return line[start : start + self._chance.randint(SHORTEST, LONGEST)]

    def _word(self) -> str:
        words: list[str] = re.findall(r"\w{3,}", self._line())
        return self._chance.choice(words)

    def _regex(self) -> str:
        """Return the escaped parts of a line, some of them in another form that matches them."""
        parts = re.findall(r"\w+|\s+|[^\w\s]", self._literal())
        return "".join(self._loosened(part) for part in parts)

    def _loosened(self, part: str) -> str:
        whole = _escaped(part)
        if part.isspace():
            return self._chance.choice([whole, r"\s+", r"\s*", "[ \t]+"])
        if not part[0].isalnum():
            return self._chance.choice([whole, whole, ".", f"{whole}?"])
        head, tail = _escaped(part[0]), _escaped(part[1:])
        forms = [whole, whole, r"\w+", rf"\b{whole}", rf"{whole}\b", f"({whole}|nowhere)", f"[{part[0]}Zz]{tail}",
                 f"{head}(?:{tail})?", f".{tail}", f"{whole}+", f"{head}.*{_escaped(part[-1])}"]  # fmt: skip
        return self._chance.choice(forms)


def _escaped(text: str) -> str:
    """Return the text as a pattern; ripgrep refuses an escaped blank."""
    return re.escape(text).replace("\\ ", " ")


if __name__ == "__main__":
    main()
