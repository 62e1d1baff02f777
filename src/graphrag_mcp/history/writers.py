"""The commits that wrote lines, as git ascribes them, and those that moved them to where they stand."""

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from typing import NamedTuple

from msgspec.structs import replace

from graphrag_mcp.history.lines import (
    Evolution,
    Lines,
    as_text,
    changed_paths,
    is_moved,
    patched_path,
    removed_texts,
    without_blanks,
)
from graphrag_mcp.history.log import commits_named
from graphrag_mcp.history.update import MOST_FILES
from graphrag_mcp.model.history import ChangedLines, Commit, CommitRange, Told
from graphrag_mcp.model.search import Frequencies
from graphrag_mcp.system.git import Git, GitError, GitTimeoutError
from graphrag_mcp.text.words import query_words

LEAST_ALIKE, MOST_COMPARED = 0.5, 300  # The share of two lines that is equal, and of how many characters.
LITTLE_CHANGED = 0.8  # The share that is equal where a commit changed a sign or a name.
FOLLOWED = ("-M", "-C")  # Options of `blame`: lines are followed where a commit moved them.
_LINE = re.compile(  # A line of the file begins with a tab, so it cannot look like a head.
    r"^(?P<name>[0-9a-f]{40,64}) (?P<before>\d+) (?P<now>\d+).*\n"
    r"(?:[^\t\n].*\n)*?filename (?P<path>.*)\n\t(?P<text>.*)",
    re.MULTILINE,
)
MOST_PASSED = 3  # No more commits of many files are passed over for the one that explains a line.
EXPLAINING = 2  # Commits of a line: the newest may have changed a name in it.
MOST_EXPLAINING = 4  # As many while each changed little of what the one before wrote.
_OF_SUBJECT, _OF_BODY = 1.0, 0.3  # What a word counts in a message.
SHORTEST_TAKEN = 20  # Characters of a line that was taken from other code, as in git; shorter ones are everywhere.
MOST_TAKEN = 5  # Commits that wrote such lines.
MOST_BEHIND = 3  # Commits that wrote the lines which words mean.
_OF_HEAD = 0.5  # The first line has the words of the name, which are not what a question of its lines is about.


class Written(NamedTuple):
    """A line with the commit that wrote it, and where. number: in the file whose lines were asked for.

    moved_by: the commit that moved it to where it stands, "" for none.
    """

    commit: str
    place: ChangedLines
    number: int
    text: str
    moved_by: str = ""


def blame(git: Git, lines: Lines, deadline: float, *options: str) -> Iterator[Written]:
    """Yield the lines of a file in their order, each with the commit that wrote it, apart from blanks."""
    # This command has no end of options.
    where = ("-L", f"{lines.start},{lines.end}", lines.commit, "--", lines.path)
    blamed = as_text(git.run(deadline, "blame", "--line-porcelain", "-w", "--root", *options, *where))
    for match in _LINE.finditer(blamed):
        place = ChangedLines(patched_path(match["path"]), frozenset([int(match["before"])]))
        yield Written(match["name"], place, int(match["now"]), match["text"].strip())


def explained(git: Git, lines: Lines, passed: Sequence[str], deadline: float) -> Written | None:
    """Return the first of some lines with the commit that made it what it is, apart from moves; None for no other.

    passed: commits that do not count, the last of which wrote what stood there; git then takes any line near it for
    what was there before, so that it has to be like it. A line that was moved was written before; one that only equals
    another was not. Raises GitError.
    """
    first = lines._replace(end=lines.start)
    before = next(blame(git, first, deadline, *(f"--ignore-rev={name}" for name in passed), *FOLLOWED), None)
    if before is None:
        raise GitError("git could not tell which commit wrote this line")
    if passed:
        return before if before.commit not in passed and is_earlier(git, before, deadline) else None
    return unmoved(git, next(blame(git, first, deadline), before), before, deadline)


def unmoved(git: Git, own: Written, before: Written, deadline: float) -> Written:
    """Return a line with the commit that wrote it before its own one moved it; its own one if that wrote it.

    before: the line as git ascribes it with copies, too. Raises GitError.
    """
    if own.commit == before.commit:
        return before
    is_new = not is_moved(git, own.commit, own.place.path, own.text, deadline)
    return own if is_new else before._replace(moved_by=own.commit)


def is_earlier(git: Git, written: Written, deadline: float) -> bool:
    """Return whether the line that a commit wrote is like the text that it has now; no where git cannot read it."""
    return likeness(text_then(git, written, deadline), written.text) >= LEAST_ALIKE


def is_reworded(git: Git, written: Written, earlier: Written, deadline: float) -> bool:
    """Return whether a commit changed little of a line that an earlier one wrote, so that this one explains it, too."""
    before, after = (text_then(git, line, deadline) for line in (earlier, written))
    return bool(before) and likeness(before, after) >= LITTLE_CHANGED


def text_then(git: Git, written: Written, deadline: float) -> str:
    """Return a line as its commit wrote it; "" where git cannot read it."""
    try:
        content = as_text(git.run(deadline, "cat-file", "blob", f"{written.commit}:{written.place.path}")).split("\n")
    except GitError:
        return ""
    [number] = written.place.added
    return "".join(content[number - 1 : number]).strip()


def likeness(before: str, after: str) -> float:
    """Return the share of two lines that is equal, of the first MOST_COMPARED characters."""
    return SequenceMatcher(None, before[:MOST_COMPARED], after[:MOST_COMPARED]).ratio()


def explain_line(git: Git, lines: Lines, deadline: float, late: float) -> Told:
    """Return the commits that moved a line, that made it what it is apart from blanks, and the one before these.

    Where that one changed little of the line, those before it are returned, too, until the one that wrote it.

    Those that changed many files, as a formatter does, come last. late: until when commits are read that are found.
    Raises GitError.
    """
    written: dict[str, ChangedLines] = {}
    small: list[str] = []  # Commits that changed few files.
    moved: list[str] = []
    last: Written | None = None
    with suppress(GitTimeoutError):
        while len(written) - len(small) < MOST_PASSED and len(small) < MOST_EXPLAINING:
            found = explained(git, lines, list(written), deadline)
            if found is None:
                break
            if last and len(small) >= EXPLAINING and not is_reworded(git, last, found, deadline):
                break
            last = found
            moved += [found.moved_by] if found.moved_by else []
            written[found.commit] = found.place
            small += [found.commit] if _is_small(git, found.commit, deadline) else []
        small[:0] = [name for name in moved if _is_small(git, name, deadline)]
    if not written:
        return Told((), "git was not ready in time")
    large = [name for name in (*reversed(written), *moved) if name not in small]
    return Told(tuple(commits_named(git, late, [*small, *large])), "", written, moved=frozenset(moved))


def _is_small(git: Git, commit: str, deadline: float) -> bool:
    return len(changed_paths(git, commit, deadline)) <= MOST_FILES


def survivors(git: Git, lines: Lines, deadline: float) -> set[str]:
    """Return the commits that wrote or moved lines, as far as git tells them in time."""
    found: set[str] = set()
    with suppress(GitError):
        for options in ((), FOLLOWED):
            found.update(line.commit for line in blame(git, lines, deadline, *options))
    return found


def with_taken(git: Git, evolution: Evolution, lines: Lines, deadline: float) -> Evolution:
    """Return an evolution with the commits that wrote what the one that added the lines took from other code.

    Only lines that this one removed somewhere were taken from there.
    """
    places: dict[str, set[int]] = {}
    paths: dict[str, str] = {}
    with suppress(GitError):  # A partial clone has not all contents that are compared.
        long = {text for text in evolution.added if len(text) >= SHORTEST_TAKEN}
        taken = long & removed_texts(git, deadline, "--end-of-options", evolution.added_by) if long else set()
        known = {commit.name for commit in evolution.commits}
        for line in blame(git, lines, deadline, *FOLLOWED) if taken else ():
            if line.commit not in known and without_blanks(line.text) in taken:
                paths.setdefault(line.commit, line.place.path)
                places.setdefault(line.commit, set()).update(line.place.added)
        names = sorted(places, key=lambda name: -len(places[name]))[:MOST_TAKEN]
        read = commits_named(git, deadline, names, "--no-walk=sorted")
        older = {commit: ChangedLines(paths[commit.name], frozenset(places[commit.name])) for commit in read}
        return replace(evolution, commits={**evolution.commits, **older})
    return evolution


def writers(
    git: Git, lines: Lines, texts: Collection[str], frequencies: Frequencies, span: CommitRange, deadline: float
) -> Told:
    """Return the commits that wrote lines which share words, each with its best line. Raises GitError.

    Behind one that moved its line is the one that wrote it. texts: of lines, masked; no others are compared.
    """
    masked = {text.strip() for text in texts}
    best: dict[str, tuple[float, Written]] = {}
    for written in blame(git, lines, deadline):
        of_line = _OF_HEAD if written.number == lines.start else 1.0
        worth = of_line * rarity(written.text, frequencies) if written.text in masked else 0.0
        if worth > best.get(written.commit, (-1.0,))[0]:
            best[written.commit] = worth, written
    read = commits_named(git, deadline, best, *span.options)
    sums = {commit: best[commit.name][0] + rarity(commit.message, frequencies) for commit in read}
    ordered = sorted(filter(sums.__getitem__, sums), key=lambda commit: -sums[commit])[:MOST_BEHIND]
    own = [best[commit.name][1] for commit in ordered]
    origins = _origins(git, lines, own, deadline)
    older = commits_named(git, deadline, [line.commit for line in origins.values()], *span.options)
    known = {commit.name: commit for commit in (*older, *ordered)}
    names = [name for line in own for name in (line.commit, origins.get(line.commit, line).commit) if name in known]
    changed = {line.commit: line.place for line in (*origins.values(), *own)}
    return Told(tuple(known[name] for name in dict.fromkeys(names)), "", changed, moved=frozenset(origins))


def _origins(git: Git, lines: Lines, own: list[Written], deadline: float) -> dict[str, Written]:
    """Return the lines that their commits only moved, by these, with the commits that wrote them."""
    found: dict[str, Written] = {}
    with suppress(GitError):  # A partial clone has not all contents that are compared.
        followed = {line.number: line for line in blame(git, lines, deadline, *FOLLOWED)} if own else {}
        for line in own:
            origin = unmoved(git, line, followed.get(line.number, line), deadline)
            if origin.moved_by:
                found[line.commit] = origin
    return found


def rarity(text: str, frequencies: Frequencies) -> float:
    """Return the sum of the rarities of those of the counted words that a text has."""
    return sum(map(frequencies.idf, frequencies.of_terms.keys() & set(query_words(text))))


def worth_of(commit: Commit, frequencies: Frequencies) -> float:
    """Return how well a message matches: its subject says what the commit is about."""
    subject, _, body = commit.message.partition("\n")
    in_subject = rarity(subject, frequencies)
    return _OF_SUBJECT * in_subject + _OF_BODY * (rarity(f"{subject} {body}", frequencies) - in_subject)
