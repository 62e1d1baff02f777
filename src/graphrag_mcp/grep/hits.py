"""The answer to a search for a needle: all lines in order, and what is shown of the lines of one page."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from graphrag_mcp.grep.needles import Needle
from graphrag_mcp.grep.occurrences import Files, Occurrence, Occurrences, find_occurrences
from graphrag_mcp.grep.roles import Placed, Role, definition_lines, innermost, roles_of
from graphrag_mcp.model.files import Category, ListedFile, Symbol
from graphrag_mcp.model.scope import Scope

_CATEGORIES = {category: position for position, category in enumerate(Category)}


@dataclass(frozen=True, slots=True)
class Hits:
    """The lines with a needle. found: definitions first if they are few, then in the order of the files."""

    found: Occurrences
    needle: Needle
    files: Files
    listed: Mapping[str, ListedFile]
    defined: Mapping[tuple[str, int], Symbol]

    def place(self, rows: Sequence[Occurrence], context: int = 0) -> list[Placed]:
        """Return lines with their roles and the definitions around them. context: lines before and after each."""
        by_path: defaultdict[str, list[Occurrence]] = defaultdict(list)
        for row in sorted(rows, key=lambda row: row.line):
            by_path[row.path].append(row)
        symbols = self.files.definitions([self.listed[path].file_id for path in by_path])
        placed: dict[tuple[str, int], Placed] = {}
        for path, searched in self.files.read(list(by_path)):
            text, lines, definitions = (searched or b"").decode(), by_path[path], symbols[self.listed[path].file_id]
            others = [row for row in lines if (path, row.line) not in self.defined]
            roles = roles_of(others, text, self.listed[path], definitions, self.needle)
            around = _surroundings(text.split("\n"), [row.line for row in lines], context)
            for row, (before, after) in zip(lines, around, strict=True):
                symbol = innermost(definitions, row.line, self.defined.get((path, row.line)))
                role = roles.get(row.line, Role.DEFINITION)
                placed[path, row.line] = Placed(*row, role, symbol, before, after)
        return [placed[row.path, row.line] for row in rows]


def find_hits(needle: Needle, scope: Scope, files: Files, wanted: int) -> Hits:
    """Find a needle in the files of a scope. wanted: lines that are needed however many there are."""
    listed = {file.path: file for file in sorted(files.listed(scope), key=lambda file: _CATEGORIES[file.category])}
    found = find_occurrences(needle, list(listed), files, wanted)
    if not found.are_few:
        return Hits(found, needle, files, listed, {})
    paths = dict.fromkeys(row.path for row in found.lines)
    symbols = files.definitions([listed[path].file_id for path in paths])
    defined = definition_lines(found.lines, {path: symbols[listed[path].file_id] for path in paths}, needle)
    lines = tuple(sorted(found.lines, key=lambda row: (row.path, row.line) not in defined))
    return Hits(replace(found, lines=lines), needle, files, listed, defined)


def _surroundings(
    lines: Sequence[str], shown: Sequence[int], context: int
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Yield the lines before and after each of those that are shown, in their order, each line once."""
    end = 0
    for line, following in zip(shown, (*shown[1:], len(lines) + 1), strict=True):
        before = lines[max(end, line - 1 - context) : line - 1]
        end = min(line + context, following - 1)
        yield tuple(before), tuple(lines[line:end])
