"""The answer to a search for a needle: every line in an order, and what is shown of those of one page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from graphrag_mcp.grep.needles import Needle
from graphrag_mcp.grep.occurrences import Files, ListedFile, Occurrence, Occurrences, find_occurrences
from graphrag_mcp.grep.roles import Placed, Role, RoleFinder, definition_lines, innermost
from graphrag_mcp.model.files import Category, Symbol
from graphrag_mcp.model.scope import Scope

MOST_FILES = 400  # In more files than these, definitions are not looked for, so they are not first.

_CATEGORIES = {category: position for position, category in enumerate(Category)}


@dataclass(frozen=True, slots=True)
class Hits:
    """All lines with a needle. found: definitions first, then in the order of the files."""

    found: Occurrences
    needle: Needle
    files: Files
    listed: Mapping[str, ListedFile]
    defined: Mapping[tuple[str, int], Symbol]
    finder: RoleFinder

    def place(self, rows: Sequence[Occurrence], context: int = 0) -> list[Placed]:
        """Return lines with their roles and the definitions around them. context: lines before and after each."""
        by_path: dict[str, list[Occurrence]] = {}
        for row in rows:
            by_path.setdefault(row.path, []).append(row)
        symbols = self.files.definitions([self.listed[path].file_id for path in by_path])
        texts = {file.path: file.text for file in self.files.read(list(by_path))}
        placed: dict[tuple[str, int], Placed] = {}
        for path, lines in by_path.items():
            file = self.listed[path]
            others = [row for row in lines if (path, row.line) not in self.defined]
            roles = self.finder.roles(others, texts[path], file, symbols[file.file_id], self.needle)
            around = _Context(texts[path], lines, context)
            for row in lines:
                definition = self.defined.get((path, row.line))
                role = roles.get(row.line, Role.DEFINITION)
                symbol = innermost(symbols[file.file_id], row.line, definition)
                placed[path, row.line] = Placed(row, role, symbol, *around.of(row.line))
        return [placed[row.path, row.line] for row in rows]


def find_hits(needle: Needle, scope: Scope, files: Files, finder: RoleFinder) -> Hits:
    """Find a needle in the files of a scope."""
    listed = {file.path: file for file in sorted(files.listed(scope), key=lambda file: _CATEGORIES[file.category])}
    found = find_occurrences(needle, list(listed), files)
    paths = dict.fromkeys(row.path for row in found.lines)
    defined: Mapping[tuple[str, int], Symbol] = {}
    if len(paths) <= MOST_FILES:
        symbols = files.definitions([listed[path].file_id for path in paths])
        defined = definition_lines(found.lines, {path: symbols[listed[path].file_id] for path in paths}, needle)
    lines = sorted(found.lines, key=lambda row: (row.path, row.line) not in defined) if defined else found.lines
    return Hits(replace(found, lines=tuple(lines)), needle, files, listed, defined, finder)


class _Context:
    """The lines around those of one file, each once."""

    def __init__(self, text: str, rows: Sequence[Occurrence], context: int) -> None:
        self._rows = text.split("\n") if context else []
        self._context = context
        self._taken = {row.line for row in rows}

    def of(self, line: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the lines before and after one that are not shown yet, each up to the next that is."""
        return tuple(reversed(self._take(line, -1))), tuple(self._take(line, 1))

    def _take(self, line: int, step: int) -> list[str]:
        taken: list[str] = []
        for number in range(line + step, line + step * (self._context + 1), step):
            if number in self._taken or not 0 < number <= len(self._rows):
                break
            self._taken.add(number)
            taken.append(self._rows[number - 1])
        return taken
