"""Makes queries from a repository's own history: the message of a commit, with the files that it changed as answers.

The searched tree is the one before all of the chosen commits, so that it contains no answer.
"""

import re
import time
from contextlib import closing
from pathlib import Path

from msgspec import Struct

from graphrag_mcp.errors import RequestError
from graphrag_mcp.history.log import read_commits
from graphrag_mcp.languages.registry import detect_language
from graphrag_mcp.model.files import Category
from graphrag_mcp.parsing.categories import categorise
from graphrag_mcp.search.evaluation.scores import JudgedQuery, Target
from graphrag_mcp.system.git import Git, GitError
from graphrag_mcp.system.git_files import files_of, paths_of, read_blobs

MOST_FILES = 8  # A commit that changes more does not answer one question.
FEWEST_CHARACTERS = 25  # "fix typo" is not a question.
_COMMITS_READ = 3_000
_FILES_AT_ONCE = 200
_MOST_BYTES = 1 << 32  # No more is written: many paths may share one blob.
_TIMEOUT_SECONDS = 120.0

# Such subjects do not mention code, and such lines of a message are about the process.
_ROUTINE = re.compile(
    r"(merge|revert|bump|release|version|prepare|update (dependenc|changelog|readme)|changelog|typo|v?\d+\.\d+)\b", re.I
)
_TRAILER = re.compile(r"^[\w-]+: \S|^(fix(es)?|close[sd]?|resolve[sd]?|refs?|see) #\d+", re.I)
_REFERENCE = re.compile(r"\s*\(?#\d+\)?")


class History(Struct, frozen=True):
    """Queries, and the commit whose tree is searched."""

    queries: tuple[JudgedQuery, ...]
    tree: str


class _Commit(Struct, frozen=True):
    hash: str
    message: str
    paths: tuple[str, ...]


def read_history(root: Path, most: int) -> History:
    """Return at most `most` queries, from the newest suitable commits.

    Raises RequestError when the folder is not a repository, or no commit is suitable.
    """
    try:
        git = Git(Git(root).top)
        chosen = _choose(git, most)
        if not chosen:
            raise RequestError("--from-history", f"{root} has no commit whose message and files make a query")
        deadline = time.monotonic() + _TIMEOUT_SECONDS
        tree = git.resolve(f"{chosen[-1].hash}^", deadline)
        known = set(paths_of(git, tree, deadline))
    except GitError as error:
        raise RequestError("--from-history", f"{root}: {error}") from None
    queries = [_query(commit, tuple(path for path in commit.paths if path in known)) for commit in chosen]
    return History(tuple(query for query in queries if query.relevant), tree)


def export_tree(root: Path, tree: str, folder: Path) -> None:
    """Write the files of a commit to a folder as they are stored: the repository's filters do not run.

    Raises RequestError when git cannot read them.
    """
    try:
        git = Git(Git(root).top)
        deadline = time.monotonic() + _TIMEOUT_SECONDS
        files = list(files_of(git, tree, deadline).items())
        left = _MOST_BYTES
        for first in range(0, len(files), _FILES_AT_ONCE):
            some = files[first : first + _FILES_AT_ONCE]
            blobs = read_blobs(git, [blob for _, blob in some], deadline)
            for path, blob in some:
                if blob in blobs:  # Else it is too large, or missing in a partial clone.
                    left -= len(blobs[blob])
                    if left < 0:
                        raise GitError(f"the files of {tree[:10]} have more than {_MOST_BYTES >> 30} GB")
                    (folder / path).parent.mkdir(parents=True, exist_ok=True)
                    (folder / path).write_bytes(blobs[blob])
    # A forged tree may hold a name twice, or a very long one, which is an OSError.
    except (GitError, OSError) as error:
        reason = getattr(error, "strerror", None) or error
        raise RequestError("--from-history", f"{root}: {tree[:10]} cannot be written out ({reason})") from None


def _choose(git: Git, most: int) -> list[_Commit]:
    deadline = time.monotonic() + _TIMEOUT_SECONDS
    options = ("--min-parents=1", f"--max-count={_COMMITS_READ}", "--name-only", "-z", "--no-renames")
    chosen: list[_Commit] = []
    with closing(read_commits(git, deadline, *options, "--end-of-options", git.head(), "--")) as commits:
        for past, changes in commits:
            paths = tuple(path for path in changes.lstrip("\0\n").split("\0") if path)
            commit = _Commit(past.name, _question(past.message), paths)
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
