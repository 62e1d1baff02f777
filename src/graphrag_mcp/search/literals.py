"""The literal lane: finds what a question has letter for letter from the code, and where it is defined.

The full-text index proposes the chunks that have the words in a row; the stored text of a chunk, which is masked, then
shows whether the literal itself is there. No file is read. A literal of many places identifies none.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from msgspec import Struct

from graphrag_mcp.model.files import Category
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import LiteralPlace, StoredChunk
from graphrag_mcp.ports import ChunkStore
from graphrag_mcp.search.query.literals import ASKING, Literal, Run, words
from graphrag_mcp.search.query.understand import Query
from graphrag_mcp.stores.sqlite.keyword import SqliteKeywordIndex

MAX_LINES = 20
MAX_FILES = 8
MAX_RUNS = 12  # No more words of messages are looked up.
RUNS_KEPT = 3  # However frequent their words are.
MAX_READ = 10_000  # Entries of the words of further runs in the full-text index: .3 ms.
MAX_FREQUENCY = 5_000  # Chunks with the rarest word of a run: looking for more takes longer than the rest of a search.
MAX_CHUNKS = 3 * MAX_LINES  # Proposed by the index: more than this is a frequent phrase.

_PLAIN = frozenset({Category.IMPLEMENTATION, Category.CONFIG, Category.OTHER})


class _Line(NamedTuple):
    """A line of a chunk that contains a literal: where the line begins in the chunk, and the literal in the line."""

    chunk: StoredChunk
    number: int
    begin: int
    text: str
    start: int
    end: int

    @property
    def is_comment(self) -> bool:
        """Whether the literal is in a comment or in the text that documents a definition."""
        before = self.chunk.text[: self.begin + self.start]
        documents = any(before.count(mark) % 2 for mark in _DOCSTRINGS)
        return documents or before.rfind("/*") > before.rfind("*/") or _COMMENT.match(self.text) is not None


Judge = Callable[[_Line], bool | None]  # Whether a line defines a literal; None for a line that does not count.


def find_places(query: Query, scope: Scope, index: SqliteKeywordIndex, catalog: ChunkStore) -> list[LiteralPlace]:
    """Return the chunks that contain a literal of the query, or the text of a message between its values."""
    question_words = words(query.title.lower())  # Its text may hold more than the question.
    question = " ".join(question_words) if question_words[:1] and question_words[0] in ASKING else ""
    lane = _Lane(_PLAIN | query.categories, question, scope, index, catalog)
    return [*lane.literals(query.literals), *_joined(lane.runs(_rarest(query.runs, index)))]


class _Lane(Struct, frozen=True):
    plain: Collection[Category]  # Kinds of files that define something, and those that the query asks for.
    question: str  # Its words, "" where it is none: a test or a document that holds it does not answer it.
    scope: Scope
    index: SqliteKeywordIndex
    catalog: ChunkStore

    def literals(self, literals: Iterable[Literal]) -> Iterator[LiteralPlace]:
        for literal in literals:
            look_up = self.index.chunks_with_words if " " in literal.text else self.index.chunks_with_text
            chunks = self._read(look_up([literal.text], MAX_CHUNKS + 1, self.scope))
            spaced = r"\s+".join(map(re.escape, literal.text.split()))
            pattern = re.compile(rf"(?<![\w-]){spaced}(?![\w-])")
            judge = self._defines_compound if literal.is_compound else self._defines
            yield from self._places(literal.text, chunks, pattern, judge)

    def runs(self, runs: Sequence[Run]) -> Iterator[tuple[Run, LiteralPlace]]:
        """Look all runs up together, since most questions contain no message; one by one if one is frequent."""
        together = self._with_words(runs)
        for run in runs:
            chunks = self._with_words([run]) if together is None else together
            spaced = r"[^\w\n]+".join(map(re.escape, run.words))
            pattern = re.compile(rf"(?<!\w){spaced}(?!\w)", re.IGNORECASE)
            yield from ((run, place) for place in self._places(run.text, chunks, pattern, self._composes))

    def _defines(self, line: _Line) -> bool | None:
        """Return whether a line of code or configuration defines a literal; a comment only mentions it."""
        if line.is_comment and line.chunk.category is not Category.DOCUMENTATION:
            return None
        return line.chunk.category in self.plain and _defines(line)

    def _composes(self, line: _Line) -> bool | None:
        """Return whether words in a string compose a message, as code does and a test does not; None outside of one."""
        is_question = bool(self.question) and self.question in " ".join(words(line.text.lower()))
        return None if is_question or not _is_in_string(line) else line.chunk.category in self.plain

    def _defines_compound(self, line: _Line) -> bool | None:
        """Return True where a line defines what else may be English; None elsewhere."""
        return self._defines(line) or None

    def _with_words(self, runs: Sequence[Run]) -> Sequence[StoredChunk] | None:
        if not runs:
            return ()
        return self._read(self.index.chunks_with_words([run.text for run in runs], MAX_CHUNKS + 1, self.scope))

    def _read(self, chunk_ids: Sequence[int]) -> Sequence[StoredChunk] | None:
        """Return the chunks; None for too many."""
        if len(chunk_ids) > MAX_CHUNKS:
            return None
        return list(self.catalog.chunks(chunk_ids).values()) if chunk_ids else ()

    def _places(
        self, text: str, chunks: Sequence[StoredChunk] | None, pattern: re.Pattern[str], judge: Judge
    ) -> Iterator[LiteralPlace]:
        judged = [
            (line, defines)
            for chunk in chunks or ()
            for line in _lines(chunk, pattern)
            if (defines := judge(line)) is not None
        ]
        telling = self._telling(judged)
        defining: dict[int, bool] = {}
        for line, defines in telling:
            defining[line.chunk.chunk_id] = defines or defining.get(line.chunk.chunk_id, False)
        for chunk_id, defines in defining.items():
            yield LiteralPlace(chunk_id, text, defines, len(telling))

    def _telling(self, lines: Sequence[tuple[_Line, bool]]) -> Sequence[tuple[_Line, bool]]:
        """Return the lines if they are few; else those of code and configuration, if these are few."""
        plain = [run for run in lines if run[0].chunk.category in self.plain]
        return next((some for some in (lines, plain) if _are_few(line for line, _ in some)), ())


def _are_few(lines: Iterable[_Line]) -> bool:
    places = {(line.chunk.path, line.number) for line in lines}
    return 0 < len(places) <= MAX_LINES and len({path for path, _ in places}) <= MAX_FILES


def _rarest(runs: Sequence[Run], index: SqliteKeywordIndex) -> list[Run]:
    """Return the runs to look up: those whose words all occur, by their rarest word."""
    if not runs:
        return []
    counts = index.frequencies(sorted({word.lower() for run in runs for word in run.words})).of_terms
    rarest = {run: min(counts.get(word.lower(), 0) for word in run.words) for run in runs}
    known = sorted((run for run in runs if 0 < rarest[run] <= MAX_FREQUENCY), key=rarest.__getitem__)
    entries = accumulate(sum(counts[word.lower()] for word in run.words) for run in known)
    return [
        run
        for number, (run, read) in enumerate(zip(known, entries, strict=True))
        if number < RUNS_KEPT or (number < MAX_RUNS and read <= MAX_READ)
    ]


def _joined(places: Iterable[tuple[Run, LiteralPlace]]) -> list[LiteralPlace]:
    """Join runs of one segment that overlap in one chunk; a test that repeats a message has what is composed of it."""
    by_segment: dict[tuple[int, tuple[str, ...]], list[tuple[Run, LiteralPlace]]] = {}
    for run, place in places:
        by_segment.setdefault((place.chunk_id, run.segment), []).append((run, place))
    joined = [place for pairs in by_segment.values() for place in _overlapping(sorted(pairs))]
    composed = dict.fromkeys(place.literal for place in joined if place.defines)
    return [
        place._replace(
            literal=max((part for part in composed if part in place.literal), key=len, default=place.literal)
        )
        for place in joined
    ]


def _overlapping(pairs: Sequence[tuple[Run, LiteralPlace]]) -> Iterator[LiteralPlace]:
    (joined, place), *rest = pairs
    for run, other in rest:
        if run.start < joined.stop:
            joined = joined._replace(stop=max(joined.stop, run.stop))
            place = place._replace(lines=min(place.lines, other.lines))
        else:
            yield place._replace(literal=joined.text)
            joined, place = run, other
    yield place._replace(literal=joined.text)


def _lines(chunk: StoredChunk, pattern: re.Pattern[str]) -> Iterator[_Line]:
    last = 0
    for match in pattern.finditer(chunk.text):
        begin = chunk.text.rfind("\n", 0, match.start()) + 1
        end = chunk.text.find("\n", match.start())
        number = chunk.start_line + chunk.text.count("\n", 0, begin)
        if number != last:
            text = chunk.text[begin : end if end >= 0 else None]
            yield _Line(chunk, number, begin, text, match.start() - begin, min(match.end() - begin, len(text)))
            last = number


# ---------------------------------------------------------------- what a line does with a literal

_QUOTES = "\"'`"
_DOCSTRINGS = ('"""', "'''")
_COMMENT = re.compile(r"\s*(?://|#(?!define|!?\[)|\*|/\*|--\s|;|<!--|%)")
_GETS_VALUE = re.compile(r"\s*[?!]?(?::=|=>|:(?!:)|=(?!=))(?!\s*(?:require|import)\b)")
_DECLARED = re.compile(r"(?:[@#]?[A-Za-z_][\w.<>*&\[\]]*\s+[*&]*)*|[-*\[<{,\s]*")
_DECLARES = re.compile(
    r"(?:^|\s)(?:class|const|def|#define|enum|final|fn|func|function|fun|interface|let|static|struct|trait|type|val|var)"
    r"\s[^=(]*$"
)
_FIRST_ARGUMENT = re.compile(r"[\w)>\]]!?\s*\(\s*$")
# What gives a name to an option or a field: `.name = "max-rows"`, `key: "…"`, `@Property("…")`, `#[arg(long = "…")]`.
_NAMES = re.compile(
    r"(?:^|[\s{(\[,.])(?:name|key|flag|option|long|property)\s*(?:=>|[:=])\s*$|@\w[\w.]*\(\s*(?:\w+\s*=\s*)?$|#\[.*=\s*$"
)
_TAG = re.compile(r"`[^`]*\w:$")  # `json:"max_rows,omitempty"`


def _defines(line: _Line) -> bool:
    """Return whether a line declares a literal, gives it a value, or passes it to a call with one, as an option is."""
    before, after = line.text[: line.start], line.text[line.end :]
    if before[-1:] == '"' and after[:1] in ('"', ",") and _TAG.search(before[:-1]):
        return True
    if before and after and before[-1] in _QUOTES and after[0] == before[-1]:
        before, after = before[:-1], after[1:]
        # What follows a first argument is its value or its text.
        if _NAMES.search(before) or (_FIRST_ARGUMENT.search(before) and after.lstrip()[:1] == ","):
            return True
    is_setting = line.chunk.category is Category.CONFIG and not before.strip() and bool(re.match(r"\s+\S", after))
    return bool(_DECLARES.search(before) or (_DECLARED.fullmatch(before) and (is_setting or _GETS_VALUE.match(after))))


def _is_in_string(line: _Line) -> bool:
    before = line.text[: line.start]
    is_prose = line.chunk.category is Category.DOCUMENTATION or line.is_comment
    return not is_prose and any(before.count(quote) % 2 for quote in _QUOTES)
