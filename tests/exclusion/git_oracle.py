"""Makes adversarial trees and rule sets from a seed, and asks the real git which paths it ignores."""

import os
import random
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

# None of these is a secret, a binary or version control's own: those are excluded whatever git says.
_NAMES = [
    *("a", "b", "ab", "abc", "B", "foo", "foo.py", "bar.txt", "x.old", "x.older", "build", "src", "lib", "1", "42"),
    *("a b", "a ", " a", "[x]", "x]", "!n", "#h", "-", "a-b", "a\\b", "*", "a*", "?", "$x", "(y)", "a+b", "{z}", "^c"),
    *(".hidden", "..x", "a.b.c", "a\tb", "é", "日本", "caf\udce9", "~"),
]
CLASSES = [
    *("[a-c]", "[!a]", "[^b]", "[abc]", "[]a]", "[!]a]", "[a-]", "[-a]", "[\\]x]", "[z-a]", "[!-~]", "[a-c-e]"),
    *(
        "[\\a-c]",
        "[a-\\c]",
        "[[:]",
        "[[:x]",
        "[a[:]b]",
        "[/]",
        "[a/b]",
        "[é]",
        "[[:alpha:]-z]",
        "[a[:digit:]-c]",
        "[[:alnum:]_]",
    ),
    *("[[:alpha:]]", "[[:digit:][:space:]]", "[![:upper:]]", "[[:punct:]]", "[[:print:]]", "[[:cntrl:]]"),
    *("[[:graph:]]", "[[:xdigit:]]", "[[:lower:]]", "[[:blank:]]"),
    *("[[:bogus:]]", "[[::]]", "[a", "[", "[!", "[a-", "[[:alpha:]", "[\\"),  # Malformed: these match nothing.
]


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One path of a tree, relative to its top."""

    path: str
    is_folder: bool


def create_tree(rng: random.Random, top: Path, count: int) -> list[TreeEntry]:
    """Create a git work tree of empty files and folders, and return what is in it."""
    subprocess.run(["git", "init", "-q", top], check=True)
    folders = [""]
    entries: dict[str, TreeEntry] = {}
    while len(entries) < count:
        path = rng.choice(folders) + rng.choice(_NAMES)
        if path in entries:
            continue
        is_folder = rng.random() < 0.4 and path.count("/") < 5
        if is_folder:
            (top / path).mkdir()
            folders.append(f"{path}/")
        else:
            (top / path).touch()
        entries[path] = TreeEntry(path, is_folder)
    return list(entries.values())


def create_rule_files(rng: random.Random, top: Path, entries: Sequence[TreeEntry]) -> list[Path]:
    """Write an ignore file at the top, some below, and sometimes `info/exclude`; return them."""
    folders = [entry.path for entry in entries if entry.is_folder]
    files = [top / ".gitignore", *(top / folder / ".gitignore" for folder in rng.sample(folders, rng.randint(0, 4)))]
    if rng.random() < 0.3:
        files.append(top / ".git" / "info" / "exclude")
    for file in files:
        file.write_bytes(_make_rules(rng, entries))
    return files


def list_ignored(top: Path, entries: Sequence[TreeEntry]) -> set[str]:
    """Return the paths that git ignores."""
    answer = subprocess.run(
        ["git", "check-ignore", "--no-index", "-z", "--stdin"],
        cwd=top,
        input=b"".join(os.fsencode(entry.path) + b"\0" for entry in entries),
        capture_output=True,
        check=False,
    )
    assert answer.returncode in (0, 1), answer.stderr
    return {os.fsdecode(path) for path in answer.stdout.split(b"\0") if path}


def _make_rules(rng: random.Random, entries: Sequence[TreeEntry]) -> bytes:
    lines = [_make_line(rng, rng.choice(entries)) for _ in range(rng.randint(1, 12))]
    ending = b"\r\n" if rng.random() < 0.2 else b"\n"
    mark = b"\xef\xbb\xbf" if rng.random() < 0.1 else b""
    return mark + ending.join(os.fsencode(line) for line in lines) + rng.choice([b"", ending])


def _make_line(rng: random.Random, entry: TreeEntry) -> str:
    pattern = _make_pattern(rng, entry)
    while _OLD_GIT_DIFFERS.match(pattern):
        pattern = _make_pattern(rng, entry)
    return pattern


# Git before 2.52 lost sight of the text before `**` here, so that `a**/b` matched more than `a*/b`; it is documented to
# match the same, and newer ones do.
_OLD_GIT_DIFFERS = re.compile(r"!?[^*?\[\\]*[^*?\[\\/]\*\*+(\\?/|\s*$)")


def _make_pattern(rng: random.Random, entry: TreeEntry) -> str:
    segments = entry.path.split("/")
    segments = segments[rng.randrange(len(segments)) :] if rng.random() < 0.6 else segments
    segments = segments[: rng.randint(1, len(segments))] if rng.random() < 0.3 else segments
    pattern = _pick(rng, 0.9, "/", "\\/").join(_mutate_segment(rng, segment) for segment in segments)
    pattern = _pick(rng, 0.75, "", "/", "**/", "/**/", "*/", "//") + pattern
    pattern += _pick(rng, 0.7, "", "/", "/", "/**", "/*", "**", "//", "/**/")
    if pattern.startswith(("!", "#")) and rng.random() < 0.7:
        pattern = "\\" + pattern
    pattern = _pick(rng, 0.75, "", "!", "!", "!!", "#", " ") + pattern
    return pattern + _pick(rng, 0.85, "", " ", "  ", "\\ ", "\\  ", "\t", "\\", "\\\\ ", "\0x", "\r")


def _pick(rng: random.Random, chance: float, usual: str, *others: str) -> str:
    return usual if rng.random() < chance else rng.choice(others)


def _mutate_segment(rng: random.Random, segment: str) -> str:
    choice = rng.random()
    if choice < 0.12:
        return rng.choice(["*", "**", "***", "?*", "*?", "**a", "a**", "*.*", "[!.]*"])
    if choice < 0.5:
        return "".join(_mutate_char(rng, char) for char in segment)
    if choice < 0.65:
        cut = rng.randint(0, len(segment))
        return segment[:cut] + rng.choice(["*", "?", "**", "*?*", *CLASSES]) + segment[rng.randint(cut, len(segment)) :]
    if choice < 0.75:
        return "*" + segment[rng.randint(0, len(segment)) :]
    return segment


def _mutate_char(rng: random.Random, char: str) -> str:
    choice = rng.random()
    if choice < 0.5:
        return char
    return rng.choice([f"[{char}]", "?", "*", f"\\{char}", f"[!{char}]", "[a-z]", rng.choice(CLASSES), f"*{char}"])
