"""Generated rule sets against `git check-ignore`: whole, 10,000 paths x 500 rule sets, five million verdicts."""

import os
import random
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from graphrag_mcp.exclusion.manager import ExclusionManager
from graphrag_mcp.settings import IndexingSettings
from tests.reliability.conftest import Report, Size
from tests.repositories import git

_SETTINGS = IndexingSettings(default_exclusions=False)
_FIELDS = 4  # Of one verdict of `check-ignore -z --verbose`: the file, the line, the pattern, the path.
_SHOWN = 10


@pytest.fixture(autouse=True)
def no_rules_of_the_machine(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give git and the package an empty home folder."""
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for name in ("XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL"):
        monkeypatch.delenv(name, raising=False)


def test_no_path_gets_another_verdict_than_git_gives_it(tmp_path: Path, size: Size, report: Report) -> None:
    """Whatever a rule set holds, the matcher agrees with git on every path, and never raises."""
    rng = random.Random(20_240)
    paths = _make_paths(rng, size(500, 10_000))
    git(tmp_path, "init", "-q")
    for path in paths:
        if path.is_folder:  # Git asks the disk whether a path is a folder; what is missing is a file.
            (tmp_path / path.name).mkdir(parents=True)
    manager = ExclusionManager(tmp_path, _SETTINGS)
    assert not [path for path in paths if manager.should_exclude(path.name, path.is_folder)], "a barrier, not a rule"

    rule_sets, ignored, taken_back, exceptions, differing = size(40, 500), 0, 0, [], []
    for seed in range(rule_sets):
        files = _write_rules(random.Random(seed), tmp_path, paths)
        verdicts = _ask_git(tmp_path, paths)
        ignored += sum(verdict == "ignored" for verdict in verdicts)
        taken_back += sum(verdict == "taken back" for verdict in verdicts)
        manager.reload()
        for path, verdict in zip(paths, verdicts, strict=True):
            try:
                excluded = manager.should_exclude(path.name, path.is_folder)
            except Exception as error:  # Whatever it is, it is what this counts.
                exceptions.append((seed, path.name, repr(error)))
                continue
            if excluded != (verdict == "ignored"):
                differing.append((seed, path, verdict, str(manager.explain(path.name, path.is_folder))))
        for file in files:
            file.unlink()
    count = rule_sets * len(paths)
    report(
        "ignore rules against git",
        rule_sets=rule_sets,
        paths=len(paths),
        verdicts=count,
        ignored=ignored,
        taken_back=taken_back,
        differences=len(differing),
        exceptions=len(exceptions),
    )
    assert exceptions[:_SHOWN] == []
    assert differing[:_SHOWN] == [], f"{len(differing)} of {count}"
    assert 0.05 * count < ignored < 0.95 * count, "the rules must divide the paths"
    assert taken_back > 0.002 * count


# ---------------------------------------------------------------- paths


@dataclass(frozen=True, slots=True)
class _Path:
    name: str
    is_folder: bool


# None of these is a secret, a binary or version control's own: those are excluded whatever git says.
_WORDS = (
    *("src", "lib", "app", "test", "tests", "docs", "main", "index", "util", "build", "dist", "node_modules", "vendor"),
    *(
        "a",
        "b",
        "ab",
        "abc",
        "foo",
        "bar",
        "baz",
        "x",
        "1",
        "42",
        "007",
        "é",
        "ü",
        "日本語",
        "ñandú",
        "ẞ",
        "😀",
        "e\u0301",
    ),
)
_ENDINGS = (".py", ".js", ".ts", ".txt", ".md", ".log", ".tmp", ".c", ".h", ".min.js", ".d.ts", ".old", ".PY", ".", "")
_ODD = (
    *(
        "a b",
        " a",
        "a ",
        "a  ",
        "\ta",
        "a\t",
        "[x]",
        "[abc]",
        "x]",
        "[",
        "!n",
        "!",
        "#h",
        "#",
        "-",
        "--",
        "a-b",
        "a\\b",
    ),
    *("\\", "\\a", "a\\", "*", "**", "a*", "?", "a?b", "$x", "(y)", "a+b", "{z}", "^c", "~", "~x", "'q'", '"q"', "%41"),
    *(
        ".hidden",
        "..x",
        "...",
        "a.b.c",
        "a..b",
        "a\nb",
        "a\rb",
        "a\r",
        "\x01",
        "\x7f",
        "a:b",
        ":a",
        "caf\udce9",
        "\udcff",
    ),
    *("n" * 200, "é" * 100, "a" * 255, "-a-" * 50),
)


def _make_paths(rng: random.Random, count: int) -> list[_Path]:
    """Return distinct paths in the order of the walk, each with the folders it lies in."""
    folders = [""]
    made: dict[str, bool] = {}
    while len(made) < count:
        folder = rng.choice(folders)
        name = _make_name(rng)
        path = f"{folder}{name}"
        if path in made or name in (".", "..") or len(os.fsencode(name)) > 255 or len(os.fsencode(path)) > 1_500:
            continue
        made[path] = rng.random() < 0.2 and folder.count("/") < 7
        if made[path]:
            folders.append(f"{path}/")
    return [_Path(name, is_folder) for name, is_folder in sorted(made.items())]


def _make_name(rng: random.Random) -> str:
    choice = rng.random()
    if choice < 0.25:
        return rng.choice(_ODD)
    name = rng.choice(_WORDS)
    if choice < 0.4:
        name += rng.choice(("_", "-", "", " ", "+")) + rng.choice(_WORDS)
    if rng.random() < 0.1:
        name = rng.choice((name.upper(), name.title(), name.swapcase()))
    return name + (rng.choice(_ENDINGS) if rng.random() < 0.6 else "") + (" " if rng.random() < 0.02 else "")


# ---------------------------------------------------------------- rules


def _write_rules(rng: random.Random, top: Path, paths: Sequence[_Path]) -> list[Path]:
    """Write an ignore file at the top, some below, and sometimes `info/exclude`; return them."""
    folders = [path.name for path in paths if path.is_folder]
    bases = ["", *rng.sample(folders, min(len(folders), rng.choice((0, 0, 1, 2, 5, 20))))]
    files = {top / base / ".gitignore": base for base in bases}
    if rng.random() < 0.2:
        files[top / ".git" / "info" / "exclude"] = ""
        (top / ".git" / "info").mkdir(exist_ok=True)
    for file, base in files.items():
        below = [path.name[len(base) + bool(base) :] for path in paths if path.name.startswith(base and f"{base}/")]
        lines = [_make_line(rng, rng.choice(below or ["a"])) for _ in range(rng.choice((1, 2, 3, 5, 8, 13, 30)))]
        end = rng.choice(("\n", "\n", "\n", "\r\n"))
        text = os.fsencode(end.join(lines) + rng.choice(("", end)))
        file.write_bytes((b"\xef\xbb\xbf" if rng.random() < 0.05 else b"") + text)
    return list(files)


# Git before 2.52 loses sight of the text before `**` here: see tests/exclusion/git_oracle.py.
_OLD_GIT_DIFFERS = re.compile(r"!?[^*?\[\\]*[^*?\[\\/]\*\*+(\\?/|\s*$)")

_CLASSES = (
    *("[a-z]", "[A-Z]", "[0-9]", "[abc]", "[!abc]", "[^abc]", "[!a-z]", "[a-]", "[-a]", "[]]", "[!]]", "[]a]", "[\\]]"),
    *("[[:alpha:]]", "[[:digit:]]", "[[:alnum:]_]", "[![:upper:]]", "[[:space:]]", "[[:punct:]]", "[^[:lower:]x]"),
    *("[é]", "[z-a]", "[a-c-e]", "[*]", "[?]", "[[]", "[\\\\]", "[!!]", "[.]", "[ ]", "[[:nothing:]]", "[a", "[", "[]"),
)
_PREFIXES = ("", "", "", "", "/", "/", "**/", "/**/", "*/", "./", "//", "**/**/", "?*/")
_SUFFIXES = ("", "", "", "", "", "/", "/", "/", "/*", "/**", "/**/", "/**/*", "*", ".*", "//", "\\")
_LEADS = ("", "", "", "", "", "", "!", "!", "\\!", "#", "\\#", " ", "!!", "! ", "\\")
_TAILS = ("", "", "", "", "", "", "", "", " ", "  ", "\\ ", "\\  ", "\t", "\\\\ ", "\r", "\\\t")
_BROAD = ("*", "!*", "*/", "!*/", "/*", "!/*", "**", "!**", "*.*", "!*.*", "?", "??", "*.py", "!*.py", ".*", "!.*", "/")


def _make_line(rng: random.Random, path: str) -> str:
    choice = rng.random()
    if choice < 0.08:
        return rng.choice(("", " ", "# a comment", "#", "\t", "  # no comment", "!", "!/", "\\"))
    if choice < 0.14:
        return rng.choice(_BROAD)
    while True:
        parts = path.replace("\n", "?").replace("\0", "?").split("/")
        if rng.random() < 0.5:
            parts = parts[rng.randrange(len(parts)) :]
        if rng.random() < 0.4:
            parts = parts[: rng.randint(1, len(parts))]
        glob = rng.choice(_PREFIXES) + "/".join(_make_part(rng, part) for part in parts) + rng.choice(_SUFFIXES)
        line = rng.choice(_LEADS) + glob + rng.choice(_TAILS)
        if not _OLD_GIT_DIFFERS.match(line):
            return line


def _make_part(rng: random.Random, part: str) -> str:
    """Return a pattern that a name may match, more or less."""
    choice = rng.random()
    if choice < 0.3:
        return part
    if choice < 0.4:
        return rng.choice(("*", "**", "***", "?", "*.*", "[!.]*", "*?", ".*", "[[:alnum:]]*", "**a", "a**"))
    if choice < 0.5:
        return "".join(f"\\{char}" if char in "*?[]!#\\ " else char for char in part)
    at, to = sorted((rng.randint(0, len(part)), rng.randint(0, len(part))))
    middle = rng.choice(
        ("*", "*", "**", "?" * (to - at), *(rng.choice(_CLASSES) for _ in range(3)), f"\\{part[at:to]}")
    )
    if choice < 0.6:
        return "*" + part[at:]
    if choice < 0.7:
        return part[:to] + "*"
    if choice < 0.75:
        return part.swapcase()
    return part[:at] + middle + part[to:]


# ---------------------------------------------------------------- git


def _ask_git(top: Path, paths: Sequence[_Path]) -> list[str]:
    """Return "ignored", "taken back" (the last rule is a negated one) or "" for each path."""
    # "./" before it: a name that begins with a colon would be an option.
    asked = b"".join(b"./" + os.fsencode(path.name) + b"\0" for path in paths)
    command = ["git", "check-ignore", "--no-index", "-z", "--stdin", "--verbose", "--non-matching"]
    answer = subprocess.run(command, cwd=top, input=asked, capture_output=True, check=False, timeout=120)
    assert answer.returncode in (0, 1), answer.stderr
    fields = answer.stdout.split(b"\0")[:-1]
    assert [os.fsdecode(name)[2:] for name in fields[3::_FIELDS]] == [path.name for path in paths]
    return ["" if not rule else "taken back" if rule.startswith(b"!") else "ignored" for rule in fields[2::_FIELDS]]
