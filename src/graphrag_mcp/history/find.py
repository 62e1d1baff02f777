"""Answers from past commits: those that match words, and those that made a file or lines what they are."""

import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence, Set
from contextlib import suppress
from functools import cached_property
from itertools import islice, zip_longest
from pathlib import Path

from msgspec.structs import replace

from graphrag_mcp.history.lines import (
    NOT_COMMITTED,
    Lines,
    changed_paths,
    changed_symbols,
    committed_lines,
    follow_lines,
    shown_change,
)
from graphrag_mcp.history.log import LONG_MESSAGE_CHARACTERS, MESSAGE_CHARACTERS, commits_named, read_commits
from graphrag_mcp.history.messages import beginnings, shares_of
from graphrag_mcp.history.update import SHALLOW
from graphrag_mcp.history.writers import explain_line, rarity, survivors, with_taken, worth_of, writers
from graphrag_mcp.model.files import Category
from graphrag_mcp.model.graph import CodeNode
from graphrag_mcp.model.grouping import preferred
from graphrag_mcp.model.history import ChangedLines, Commit, CommitRange, Companion, Told
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import Frequencies
from graphrag_mcp.parsing.categories import categorise
from graphrag_mcp.stores.sqlite.history import SqliteHistory
from graphrag_mcp.stores.sqlite.schema import ORDINAL_BITS
from graphrag_mcp.system.git import Git, GitError, GitTimeoutError
from graphrag_mcp.text.counts import counted
from graphrag_mcp.text.words import query_words

MOST_COMPANIONS = 5
SECONDS = 12.0  # This is ten times the slowest measured answer; reading the commits may take as long again.
GONE_SECONDS = 4.0  # For what commits removed, which no index has.
GONE_COMMITS, GONE_READ = 3, 20  # The ones that removed a name and brought it, and what changed it last; of so many.
MOST_SOUGHT = 8  # The rarest words, by which git finds unindexed commits.
MOST_COMMITS = 200
MOST_READ = 1_000  # Without an index of messages, no more are read;
MOST_SCANNED = 20_000  # of those with words of a question that no indexed one answers.
LEAST_MORE = 3  # Words that an unindexed message shares to be shown for more of them.
LEAST_SHARE = 0.25  # A match below this share of the best score has a word or two in common.
FEWEST_COMMITS = 4  # A file with fewer commits has no habits.
_LEAST_TOGETHER = 2
LEAST_LIFT = 1.5  # Independent files have a lift of 1.
NEWEST_COMMITS = 50  # Older commits of a file are not compared.
_OF_CODE = (Category.IMPLEMENTATION, Category.TESTS)
_END = "--end-of-options"
_OF_MATCH = 0.2  # What BM25 counts beside the words of a message.
_MEANT = 0.5  # The share of the words, by their rarity, that a message about them has.


class Past:
    """Answers questions about the past commits of one project."""

    def __init__(self, root: Path, history: SqliteHistory) -> None:
        self._root = root
        self._history = history

    @cached_property
    def problem(self) -> str:
        """Why the past cannot be used or is not whole, "" if it is."""
        try:
            return SHALLOW if self._git.is_shallow else ""
        except GitError as error:
            return str(error)

    @property
    def is_missing(self) -> bool:
        """Whether the folder is outside of any repository."""
        return self.problem not in ("", SHALLOW)

    @cached_property
    def _git(self) -> Git:
        return Git(self._root)

    def answer(self, words: str, node: CodeNode | None, line: int | None, span: CommitRange) -> Told:
        """Return the commits that changed a definition, a file, or one line of it; without a node, all of them.

        words: of their messages, "" for any; those that share the rarest are first. What explains a line need not have
        them. It reads git, for SECONDS at most.
        """
        try:
            if node is None:
                return self.about(words, span) if words else self.of_project(span)
            if line:
                return self.of_line(node.path, line)
            told = self.of_file(node.path, span) if node.is_file else self.of_lines(node, span)
        except GitError as error:
            return Told((), str(error))
        return self._by_words(told, words, set())

    def of_named(self, words: str, node: CodeNode, span: CommitRange) -> Told:
        """Return the commits of a definition that words name, those of which a line is still there first."""
        return self._by_words(self.answer("", node, None, span), words, self._survivors(node))

    def of_gone(self, name: str, path: str, span: CommitRange, words: str, is_excluded: Callable[[str], bool]) -> Told:
        """Return commits after which a name stands more or less often than before, in a file or anywhere.

        The newest, and the one that brought it; those of code before others, since change logs have the name as well,
        and before them those whose messages share more of the words. is_excluded: whether nothing may be told of a
        path, which is relative to the folder.
        """
        where = ("--", self._git.folder + path) if path else ("--",)
        deadline = time.monotonic() + GONE_SECONDS
        try:
            options = (f"-S{_as_word(name)}", "--pickaxe-regex", f"-{GONE_READ}", *span.options)
            told = self._told(deadline, *options, _END, self._git.head(), *where)
        except GitError as error:
            return Told((), str(error))
        deadline = time.monotonic() + GONE_SECONDS
        changed = {commit: self._with_name(commit, name, is_excluded, deadline) for commit in told.commits}
        shown = list(filter(changed.get, told.commits))
        of_code = preferred(shown, lambda commit: categorise(changed[commit][0]) in _OF_CODE)
        oldest = of_code[-1:]
        added_by = next((commit.name for commit in oldest if self._brought(commit, name, where, deadline)), "")
        wanted = set(query_words(words)).difference(query_words(name))
        best = sorted(of_code, key=lambda commit: -len(wanted.intersection(query_words(commit.message))))
        commits = tuple(dict.fromkeys([*best[: GONE_COMMITS - 1], *oldest, *best, *shown]))[:GONE_COMMITS]
        paths = {commit.name: self._git.folder + changed[commit][0] for commit in commits}
        named = {commit: ChangedLines(path, frozenset(), name=name) for commit, path in paths.items()}
        return replace(told, commits=commits, changed=named, added_by=added_by)

    def _with_name(self, commit: Commit, name: str, is_excluded: Callable[[str], bool], deadline: float) -> list[str]:
        """Return the files in which a commit changed how often a name stands, code first, without excluded ones."""
        folder, options = self._git.folder, (f"-S{_as_word(name)}", "--pickaxe-regex")
        try:
            paths = changed_paths(self._git, commit.name, deadline, *options)
        except GitError:
            return []
        inside = (path.removeprefix(folder) for path in paths if path.startswith(folder))
        told = [path for path in inside if not is_excluded(path)]
        return sorted(told, key=lambda path: (*_OF_CODE, categorise(path)).index(categorise(path)))

    def _brought(self, commit: Commit, name: str, where: Sequence[str], deadline: float) -> bool:
        """Return whether a name stands in the files of a commit and not in those of its first parent."""
        before = f"{commit.name}^"
        options = ("--no-textconv", "--text", "--word-regexp", "--fixed-strings", "--files-with-matches", "-e", name)
        try:
            found = self._git.run(deadline, "grep", *options, before, commit.name, *where)
        except GitError:  # It is the first of all, or has the name no more.
            return False
        return not any(line.startswith(f"{before}:".encode()) for line in found.split(b"\n"))

    def of_gone_file(self, path: str, span: CommitRange, words: str) -> Told:
        """Return the commits of a file that is not there any more; with words, those that share some."""
        try:
            told = self.of_file(path, span)
        except GitError as error:
            return Told((), str(error))
        return self._by_words(told, words, set())

    def _by_words(self, told: Told, words: str, kept: Set[str]) -> Told:
        """Return the commits that share words, those that are kept first, then those that share the rarest.

        words: "" for all commits.
        """
        if not words:
            return told
        messages = [commit.message for commit in told.commits]
        worth = dict(zip(told.commits, shares_of(messages, words), strict=True))
        fitting = (commit for commit in worth if worth[commit] or commit.name in kept)
        commits = sorted(fitting, key=lambda commit: (commit.name not in kept, -worth[commit]))
        return replace(told, commits=tuple(commits))

    def about(self, words: str, span: CommitRange) -> Told:
        """Return the commits whose messages match some words, the best first. Raises GitError."""
        deadline = time.monotonic() + SECONDS
        state = self._history.state()
        if not state.tip or state.note:
            return self._about_few(words, span, state.note or "the history is still being read", deadline)
        frequencies = self._history.frequencies(query_words(words))
        recalled = self._history.recall(frequencies, MOST_COMMITS)
        least = LEAST_SHARE * recalled[0].score if recalled else 0.0
        scores = {commit.name: commit.score for commit in recalled if commit.score >= least}
        read = commits_named(self._git, deadline, scores, *span.options)
        indexed = sorted(read, key=lambda commit: -worth_of(commit, frequencies) - _OF_MATCH * scores[commit.name])
        wanted = set(query_words(words))

        def share(commit: Commit) -> int:
            return len(wanted.intersection(query_words(commit.message)))

        most = max(map(share, indexed), default=0)
        others = self._unindexed(words, frequencies, most, span)
        first = sorted((commit for commit in others.commits if share(commit) >= most), key=share, reverse=True)
        commits = tuple(dict.fromkeys((*first, *indexed, *others.commits)))
        return Told(commits[:MOST_COMMITS], others.note)

    def with_writers(self, told: Told, words: str, node: CodeNode, texts: Collection[str], span: CommitRange) -> Told:
        """Return commits that match words, and in turn with them those that wrote the lines of code that they mean.

        A message says what was done, and the question what stands there. Where the first message has most of the words,
        it stays before the code. texts: the lines of the code, masked. Where no line has a word, nothing is changed.
        """
        frequencies = self._history.frequencies(query_words(words))
        written = self._writers(node, texts, frequencies, span)
        if not written.commits:
            return told
        all_words = sum(map(frequencies.idf, frequencies.of_terms))
        is_meant = any(rarity(commit.message, frequencies) >= _MEANT * all_words for commit in told.commits[:1])
        both = (told.commits, written.commits) if is_meant else (written.commits, told.commits)
        commits = dict.fromkeys(commit for pair in zip_longest(*both) for commit in pair if commit)
        changed = {**written.changed, **told.changed}
        return replace(told, commits=tuple(commits), changed=changed, moved=told.moved | written.moved)

    def _writers(self, node: CodeNode, texts: Collection[str], frequencies: Frequencies, span: CommitRange) -> Told:
        """Return the commits that wrote lines of a definition or a file which share words, each with its best line."""
        deadline = time.monotonic() + GONE_SECONDS
        with suppress(GitError):
            return writers(self._git, self._committed(node, deadline), texts, frequencies, span, deadline)
        return Told(())

    def _unindexed(self, words: str, frequencies: Frequencies, most: int, span: CommitRange) -> Told:
        """Return the newest commits with a word that no indexed message has: all their files may be gone.

        most: the words that an indexed message has; if these are half of the words or fewer, commits with more of them
        are returned too. Only masked messages count.
        """
        starts, counts = beginnings(words), frequencies.of_terms
        wanted = sorted(starts.keys() & counts, key=lambda stem: (counts[stem], stem))
        unknown = [stem for stem in wanted if not counts[stem]]
        sought = wanted if 2 * most <= len(wanted) else unknown
        least = max(most + 1, LEAST_MORE)

        def fits(shared: Set[str]) -> bool:
            return not shared.isdisjoint(unknown) or len(shared) >= least

        if not sought:
            return Told(())
        greps = [f"--grep={starts[stem]}" for stem in sought[:MOST_SOUGHT]]
        options = ("--regexp-ignore-case", "--fixed-strings", f"-{MOST_SCANNED + 1}", *greps, *span.options)
        read = read_commits(self._git, time.monotonic() + GONE_SECONDS, *options, _END, self._git.head(), "--")
        found: list[Commit] = []
        try:
            for number, (commit, _) in enumerate(read):
                if number == MOST_SCANNED or len(found) > MOST_COMMITS:
                    return Told(tuple(found), "of older commits, only those that are indexed are listed")
                message = commit.message.lower()
                may_fit = fits({stem for stem in wanted if starts[stem] in message})  # It is quick to see.
                if may_fit and fits(set(query_words(commit.message)).intersection(wanted)):
                    found.append(commit)
        except GitError as error:
            return Told(tuple(found), f"not all commits were read: {error}")
        return Told(tuple(found))

    def _about_few(self, words: str, span: CommitRange, reason: str, deadline: float) -> Told:
        """Return matching commits among the newest ones, since no index has the messages."""
        wanted = set(query_words(words))
        options = (f"-{MOST_READ + 1}", *span.options, _END, self._git.head())
        commits = [commit for commit, _ in read_commits(self._git, deadline, *options)]
        shares = {commit: len(wanted.intersection(query_words(commit.message))) for commit in commits[:MOST_READ]}
        # The sort is stable, so of equals the newest is first.
        matching = sorted(filter(shares.__getitem__, shares), key=lambda commit: -shares[commit])
        note = f"only the newest {counted(MOST_READ, 'commit')} were read: {reason}" if len(commits) > MOST_READ else ""
        return Told(tuple(matching[:MOST_COMMITS]), note)

    def of_project(self, span: CommitRange) -> Told:
        """Return the newest commits."""
        return self._told(time.monotonic() + SECONDS, *span.options, _END, self._git.head(), "--")

    def of_file(self, path: str, span: CommitRange) -> Told:
        """Return the commits that changed a file, also under earlier names, as far as these can be read."""
        deadline = time.monotonic() + SECONDS
        rest = (*span.options, _END, self._git.head(), "--", self._git.folder + path)
        try:
            return self._told(deadline, "--follow", *rest)
        except GitError as error:  # Earlier names are found by contents, which a partial clone lacks.
            told = self._told(deadline, *rest)
            return Told(told.commits, f"those under earlier names were not read: {error}")

    def of_lines(self, node: CodeNode, span: CommitRange) -> Told:
        """Return the commits that changed the lines of a definition on the disk. Raises GitError."""
        deadline = time.monotonic() + SECONDS
        lines = self._committed(node, deadline)
        evolution = with_taken(self._git, follow_lines(self._git, lines, node.name, deadline), lines, deadline)
        names = {commit.name: changed for commit, changed in evolution.commits.items()}
        added_by = "" if self.problem else evolution.added_by
        commits = list(evolution.commits)
        if span.options:
            commits = commits_named(self._git, deadline + SECONDS, names, *span.options)
        return Told(tuple(commits), evolution.note, names, added_by, evolution.moved)

    def last_change(self, node: CodeNode, deadline: float) -> Told:
        """Return the newest commit that changed a definition or a file; none that is not found in time."""
        try:
            if node.is_file:
                options = (_END, self._git.head(), "--", self._git.folder + node.path)
            else:
                lines = self._committed(node, deadline)
                options = (f"-L{lines.start},{lines.end}:{lines.path}", "--no-patch", _END, lines.commit)
            commits = tuple(commit for commit, _ in read_commits(self._git, deadline, "-1", *options))
            return Told(commits, "" if commits else NOT_COMMITTED)
        except GitError as error:
            return Told((), str(error))

    def of_line(self, path: str, line: int) -> Told:
        """Return the commits that explain a line, see `explain_line`. Raises GitError."""
        deadline = time.monotonic() + SECONDS
        lines = committed_lines(self._git, path, line, line, deadline)
        return explain_line(self._git, lines, deadline, deadline + SECONDS)

    def _survivors(self, node: CodeNode) -> set[str]:
        """Return the commits that wrote or moved the present lines of a definition, as far as git tells in time."""
        deadline = time.monotonic() + SECONDS
        with suppress(GitError):
            return survivors(self._git, self._committed(node, deadline), deadline)
        return set()

    def together(self, path: str, scope: Scope) -> list[Companion]:
        """Return the files inside a scope that usually change together with a file, the closest first.

        Only files with a lift, P(both) / (P(path) · P(other)), of at least LEAST_LIFT. Commits that change many files
        do not count.
        """
        history = self._history
        commits = history.changed_by(path)[:NEWEST_COMMITS]
        if len(commits) < FEWEST_COMMITS:
            return []
        touched = {(change.commit_id, change.chunk_id >> ORDINAL_BITS) for change in history.files(commits, scope)}
        counts = Counter(file_id for _, file_id in touched)
        often = {file_id: count for file_id, count in counts.items() if count >= _LEAST_TOGETHER}
        total = history.count()
        others = [
            Companion(other, often[file_id], len(commits), path)
            for file_id, (other, times) in history.times_changed(often).items()
            if other != path and often[file_id] * total >= LEAST_LIFT * len(commits) * times
        ]
        return sorted(others, key=lambda companion: (-companion.together, companion.path))[:MOST_COMPANIONS]

    def long_messages(self, commits: Collection[Commit], deadline: float) -> dict[str, str]:
        """Return by their names the messages of those commits whose messages are longer than what is kept of one."""
        names = [commit.name for commit in commits if len(commit.message) >= MESSAGE_CHARACTERS]
        with suppress(GitError):
            read = commits_named(self._git, deadline, names, most=LONG_MESSAGE_CHARACTERS)
            return {commit.name: commit.message for commit in read}
        return {}

    def changes(self, commit: Commit, deadline: float) -> dict[str, tuple[str, ...]]:
        """Return the files that a commit changed, under the paths that they have now, with the definitions in them."""
        if time.monotonic() > deadline:
            return {}
        try:
            changed = changed_symbols(self._git, commit.name, deadline)
        except GitError:
            return {}
        now = {path: self._history.path_now(commit.name, path) for path in changed}
        folder = self._git.folder
        return {after.removeprefix(folder): changed[path] for path, after in now.items() if after.startswith(folder)}

    def changed_lines(self, commit: Commit, told: Told, path: str, deadline: float) -> list[str]:
        """Return the lines that a commit changed in a file, of those that are asked for; none under another path."""
        changed = told.changed.get(commit.name)
        if changed and (changed.name or changed.path == self._git.folder + path):
            with suppress(GitError):
                return shown_change(self._git, commit.name, changed, deadline)
        return []

    def _committed(self, node: CodeNode, deadline: float) -> Lines:
        return committed_lines(self._git, node.path, node.start_line, node.end_line, deadline)

    def _told(self, deadline: float, *arguments: str) -> Told:
        commits: list[Commit] = []
        try:
            for commit, _ in islice(read_commits(self._git, deadline, *arguments), MOST_COMMITS + 1):
                commits.append(commit)
        except GitTimeoutError:
            return Told(tuple(commits), "older commits were not read in time")
        note = f"only the newest {MOST_COMMITS} are listed" if len(commits) > MOST_COMMITS else ""
        return Told(tuple(commits[:MOST_COMMITS]), note)


def _as_word(name: str) -> str:
    """Return the extended regular expression that matches a name as a whole word."""
    # Some names begin with `$`, or with a letter that is none for git.
    start, end = (bool(re.match(r"[A-Za-z0-9_]", name[place])) for place in (0, -1))
    return _WORD_START * start + re.sub(r"(\W)", r"\\\1", name) + _WORD_END * end


# Those of Apple's and of GNU's library; a set before the name would be tried at each character, in six times the time.
_WORD_START, _WORD_END = ("[[:<:]]", "[[:>:]]") if sys.platform == "darwin" else (r"\b", r"\b")
