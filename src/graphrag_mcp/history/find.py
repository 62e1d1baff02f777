"""Answers from past commits: those that match words, and those that made a file or lines what they are."""

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path

from graphrag_mcp.history.hunks import changed_symbols
from graphrag_mcp.history.lines import Lines, committed_lines, follow_lines
from graphrag_mcp.history.log import NO_REPOSITORY, find_folder, head_of, read_commits, why_no_history
from graphrag_mcp.history.together import companions
from graphrag_mcp.history.update import MOST_FILES
from graphrag_mcp.model.graph import CodeNode
from graphrag_mcp.model.history import Commit, Companion, Span, Told
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.stores.sqlite.history import SqliteHistory
from graphrag_mcp.system.git import GitError, GitTimeoutError, run_git
from graphrag_mcp.text.words import query_words

MOST_COMPANIONS = 5
SECONDS = 1.8  # For the search of an answer, and again to read what it found; what came until then is told.
MOST_COMMITS = 200
MOST_PASSED = 3  # Commits of many files that hide the one that explains a line.
_PAUSE = 0.05  # Seconds.
LEAST_SHARE = 0.25  # Of the best commit's score: a match below has a word or two in common.


class Past:
    """The past of one project."""

    def __init__(self, root: Path, history: SqliteHistory) -> None:
        self._history = history
        self.problem = why_no_history(root)
        self.is_missing = self.problem == NO_REPOSITORY
        self._top, self._folder = find_folder(root)

    def answer(self, words: str, node: CodeNode | None, line: int | None, span: Span) -> Told:
        """Return the commits that changed a definition, a file, or one line of it; without a node, all of them.

        words: of their messages, "" for any. It reads git, for SECONDS at most.
        """
        try:
            if node is None:
                return self.about(words, span) if words else self.of_project(span)
            if line:
                told = self.of_line(node.path, line)
            elif node.is_file:
                told = self.of_file(node.path, span)
            else:
                told = self.of_lines(node.path, node.start_line, node.end_line, span)
        except GitError as error:
            return Told((), str(error))
        wanted = set(query_words(words))
        kept = (commit for commit in told.commits if not wanted or wanted.intersection(query_words(commit.message)))
        return replace(told, commits=tuple(kept))

    def about(self, words: str, span: Span) -> Told:
        """Return the commits whose messages match some words, the best first."""
        deadline = time.monotonic() + SECONDS
        while not ((state := self._history.state()).tip or state.note) and time.monotonic() < deadline:
            time.sleep(_PAUSE)  # The first index of a project is being made; its history comes right after it.
        if not state.tip:
            return Told((), state.note or "the history has not been read yet")
        found = self._history.recall(self._history.frequencies(query_words(words)), MOST_COMMITS)
        names = [one.name for one in found if one.score >= LEAST_SHARE * found[0].score]
        if not names:
            return Told((), is_newest_first=False)
        known = {commit.name: commit for commit in self._read(deadline, "--no-walk=unsorted", *span.options, *names)}
        return Told(tuple(known[name] for name in names if name in known), is_newest_first=False)

    def of_project(self, span: Span) -> Told:
        """Return the newest commits."""
        return self._told(time.monotonic() + SECONDS, *span.options, "HEAD", "--")

    def of_file(self, path: str, span: Span) -> Told:
        """Return the commits that changed a file, also under earlier names."""
        deadline = time.monotonic() + SECONDS
        return self._told(deadline, "--follow", *span.options, "HEAD", "--", self._folder + path)

    def of_lines(self, path: str, start: int, end: int, span: Span) -> Told:
        """Return the commits that changed lines of a file on the disk. Raises GitError."""
        deadline = time.monotonic() + SECONDS
        lines = self._committed(path, start, end, deadline)
        if lines is None:
            return Told((), "these lines are not committed yet")
        evolution = follow_lines(self._top, lines, deadline)
        note = "" if evolution.is_whole else "older commits were not read in time"
        if not span.options:
            return Told(evolution.commits, note)
        names = [commit.name for commit in evolution.commits]
        kept = {commit.name for commit in self._read(deadline + SECONDS, "--no-walk", *span.options, *names)}
        return Told(tuple(commit for commit in evolution.commits if commit.name in kept), note)

    def last_change(self, node: CodeNode, deadline: float) -> Told:
        """Return the newest commit that changed a definition or a file; none that is not found in time."""
        path = self._folder + node.path
        try:
            place = ("HEAD", "--", path)
            if not node.is_file:
                lines = self._committed(node.path, node.start_line, node.end_line, deadline)
                if lines is None:
                    return Told((), "not committed yet")
                place = (f"-L{lines.start},{lines.end}:{lines.path}", "--no-patch", lines.commit)
            found = tuple(commit for commit, _ in read_commits(self._top, deadline, "-1", *place))
            return Told(found, "" if found else "not committed yet")
        except GitError as error:
            return Told((), str(error))

    def of_line(self, path: str, line: int) -> Told:
        """Return the commit that made a line what it is, apart from blanks and moves. Raises GitError.

        One that changed many files, as a formatter does, comes after the one before it.
        """
        deadline = time.monotonic() + SECONDS
        lines = self._committed(path, line, line, deadline)
        if lines is None:
            return Told((), "this line is not committed yet")
        place = ("-L", f"{lines.start},{lines.start}", lines.commit, "--", lines.path)
        passed: list[str] = []
        with suppress(GitTimeoutError):
            while len(passed) < MOST_PASSED:
                ignored = [f"--ignore-rev={name}" for name in passed]
                blamed = run_git(self._top, deadline, "blame", "--porcelain", "-w", "-M", "-C", *ignored, *place)
                name = blamed.split(b" ", 1)[0].decode("ascii", "replace").lstrip("^")
                if name in passed:
                    break
                passed.append(name)
                changed = run_git(self._top, deadline, "diff-tree", "-r", "--root", "--name-only", name)
                if changed.count(b"\n") <= MOST_FILES:
                    break
        if not passed:
            return Told((), "git was not ready in time")
        return Told(tuple(self._read(deadline + SECONDS, "--no-walk=unsorted", *reversed(passed))))

    def together(self, path: str, scope: Scope) -> list[Companion]:
        """Return the files that usually change together with a file."""
        return companions(self._history, path, scope, MOST_COMPANIONS)

    def changes(self, commit: Commit, deadline: float) -> dict[str, tuple[str, ...]]:
        """Return the files that a commit changed, under the paths that they have now, with the definitions in them."""
        if time.monotonic() > deadline:
            return {}
        try:
            changed = changed_symbols(self._top, commit.name, deadline)
        except GitError:
            return {}
        now = {path: self._history.path_now(commit.name, path) for path in changed}
        inside = {path: after for path, after in now.items() if after.startswith(self._folder)}
        return {after.removeprefix(self._folder): changed[path] for path, after in inside.items()}

    def _committed(self, path: str, start: int, end: int, deadline: float) -> Lines | None:
        return committed_lines(self._top, head_of(self._top), self._folder + path, start, end, deadline)

    def _told(self, deadline: float, *arguments: str) -> Told:
        commits: list[Commit] = []
        try:
            for commit, _ in islice(read_commits(self._top, deadline, *arguments), MOST_COMMITS + 1):
                commits.append(commit)
        except GitTimeoutError:
            return Told(tuple(commits), "older commits were not read in time")
        note = f"only the newest {MOST_COMMITS} are listed" if len(commits) > MOST_COMMITS else ""
        return Told(tuple(commits[:MOST_COMMITS]), note)

    def _read(self, deadline: float, *arguments: str) -> Iterator[Commit]:
        return (commit for commit, _ in read_commits(self._top, deadline, *arguments))
