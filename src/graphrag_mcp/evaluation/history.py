"""Makes queries from a repository's own history: the message of a commit, with the files that it changed as answers.

The searched tree is the one before all of the chosen commits, so that it contains no answer.
"""

import re
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from graphrag_mcp.errors import RequestError
from graphrag_mcp.evaluation.scores import JudgedQuery, Target
from graphrag_mcp.model.files import Category
from graphrag_mcp.parsing.categories import categorise
from graphrag_mcp.parsing.languages import detect_language
from graphrag_mcp.system.git import GitError, run_git, start_git

MOST_FILES = 8  # A commit that changes more does not answer one question.
FEWEST_CHARACTERS = 25  # "fix typo" is not a question.
_COMMITS_READ = 3_000
_TIMEOUT_SECONDS = 120.0
_RECORD = "\x01"
_FORMAT = f"--format={_RECORD}%H%x00%B%x00"

# Subjects that do not mention code, and lines of a message about the process.
_ROUTINE = re.compile(
    r"(merge|revert|bump|release|version|prepare|update (dependenc|changelog|readme)|changelog|typo|v?\d+\.\d+)\b", re.I
)
_TRAILER = re.compile(r"^[\w-]+: \S|^(fix(es)?|close[sd]?|resolve[sd]?|refs?|see) #\d+", re.I)
_REFERENCE = re.compile(r"\s*\(?#\d+\)?")


@dataclass(frozen=True, slots=True)
class History:
    """Queries, and the commit whose tree is searched."""

    queries: tuple[JudgedQuery, ...]
    tree: str


@dataclass(frozen=True, slots=True)
class _Commit:
    hash: str
    message: str
    paths: tuple[str, ...]


def read_history(root: Path, most: int) -> History:
    """Return at most `most` queries, from the newest suitable commits.

    Raises RequestError when the folder is not a repository, or no commit is suitable.
    """
    try:
        chosen = _choose(root, most)
        if not chosen:
            raise RequestError("--from-history", f"{root} has no commit whose message and files make a query")
        tree = _git(root, "rev-parse", "--verify", f"{chosen[-1].hash}^").strip()
        known = set(_git(root, "ls-tree", "-r", "-z", "--name-only", "--full-tree", tree).split("\0"))
    except GitError as error:
        raise RequestError("--from-history", f"{root}: {error}") from None
    queries = [_query(commit, tuple(path for path in commit.paths if path in known)) for commit in chosen]
    return History(tuple(query for query in queries if query.relevant), tree)


def export_tree(root: Path, tree: str, folder: Path) -> None:
    """Write the files of a commit to a folder as they are stored: the repository's filters do not run.

    Raises RequestError when git cannot read them.
    """
    try:
        listing = _git(root, "ls-tree", "-r", "-z", "--full-tree", tree)
        with start_git(root, "cat-file", "--batch", stdin=subprocess.PIPE) as process:
            for path, blob in _read_blobs(process, listing):
                file = folder / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(blob)
    except GitError as error:
        raise RequestError("--from-history", f"{root}: {error}") from None


def _read_blobs(process: "subprocess.Popen[bytes]", listing: str) -> Iterator[tuple[str, bytes]]:
    questions, answers = process.stdin, process.stdout
    if questions is None or answers is None:
        return
    for entry in filter(None, listing.split("\0")):
        facts, _, path = entry.partition("\t")
        mode, kind, name = facts.split()
        if kind != "blob" or mode == "120000" or ".." in path.split("/"):  # A symlink could point out of the folder.
            continue
        questions.write(f"{name}\n".encode())
        questions.flush()
        header = answers.readline().split()
        if len(header) != 3:  # Missing in a partial clone; nothing is fetched here.
            continue
        blob = answers.read(int(header[2]))
        answers.read(1)
        yield path, blob


def _choose(root: Path, most: int) -> list[_Commit]:
    log = _git(
        root, "log", "--no-merges", "--min-parents=1", f"--max-count={_COMMITS_READ}", "--name-only", "-z",
        "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", _FORMAT,
    )  # fmt: skip
    chosen: list[_Commit] = []
    for record in log.split(_RECORD)[1:]:
        name, message, *rest = record.split("\0")
        commit = _Commit(name, _question(message), tuple(path.lstrip("\n") for path in rest if path.strip("\n")))
        if _is_a_query(commit):
            chosen.append(commit)
            if len(chosen) == most:
                break
    return chosen


def _question(message: str) -> str:
    """Return the subject and first paragraph of the message, without references and trailers."""
    subject, _, body = message.strip().partition("\n")
    paragraph = body.strip().split("\n\n")[0]
    lines = [line for line in paragraph.splitlines() if not _TRAILER.match(line)]
    return "\n".join([_REFERENCE.sub("", subject).strip(), *lines]).strip()


def _is_a_query(commit: _Commit) -> bool:
    subject = commit.message.partition("\n")[0]
    if len(subject) < FEWEST_CHARACTERS or _ROUTINE.match(subject) or not 1 <= len(commit.paths) <= MOST_FILES:
        return False
    return any(_is_code(path) for path in commit.paths)


def _is_code(path: str) -> bool:
    return categorise(path) is Category.IMPLEMENTATION and bool(detect_language(path))


def _query(commit: _Commit, paths: tuple[str, ...]) -> JudgedQuery:
    code = tuple(path for path in paths if _is_code(path))
    return JudgedQuery(
        id=commit.hash[:10],
        query=commit.message,
        category="subject" if "\n" not in commit.message else "message",
        relevant=frozenset(code),
        targets=tuple(Target((path,)) for path in code),
        language=detect_language(code[0]) if code else "",
    )


def _git(root: Path, *arguments: str) -> str:
    output = run_git(root, time.monotonic() + _TIMEOUT_SECONDS, *arguments)
    return output.decode("utf-8", "surrogateescape")
