"""Compares the definitions of a file before and after a change."""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from enum import StrEnum
from itertools import islice
from operator import attrgetter
from typing import NamedTuple

from graphrag_mcp.history.differing import Differing
from graphrag_mcp.languages.registry import describe, detect_language
from graphrag_mcp.model.expressions import names_in
from graphrag_mcp.model.facts import NO_FACTS, Parameter, Takes, unpack
from graphrag_mcp.model.files import ANY_COUNT, CALLABLE, Category, Count, ParsedFile, Symbol, SymbolKind
from graphrag_mcp.model.grouping import grouped
from graphrag_mcp.model.shown import shown
from graphrag_mcp.parsing.code.parts import starred_parameters
from graphrag_mcp.parsing.parser import parse_file
from graphrag_mcp.text.source import NotText, read_text

_CONTAINERS = (SymbolKind.TYPE, SymbolKind.MODULE)


class Change(StrEnum):
    """What happened to a definition, the gravest first."""

    REMOVED = "removed"
    MOVED = "moved"  # Its file moved, so what imports it from there does not find it.
    SIGNATURE = "signature"
    BODY = "body"
    ADDED = "added"


@shown("change", "path", "line", "symbol", "kind", "signature", "was", "is_public", "is_breaking")
class ChangedDefinition(NamedTuple):
    """A definition that a change concerns. path, line: now; of a removed one, before.

    before: its path before. was: its signature before. is_breaking: whether calls that were right may not be any
    more. breaks_all: whether none of them is. is_hidden: whether its file exports others only. took, takes: the numbers
    of its arguments before and now, in languages without facts. has_body: whether it had one.
    """

    change: Change
    path: str
    line: int
    symbol: str
    kind: SymbolKind
    category: Category
    signature: str = ""
    was: str = ""
    before: str = ""
    is_breaking: bool = False
    breaks_all: bool = False
    is_hidden: bool = False
    took: Count = ANY_COUNT
    takes: Count = ANY_COUNT
    has_body: bool = True

    @property
    def is_public(self) -> bool:
        """Whether its name is meant for others, by the habits of its language."""
        language, parts = describe(detect_language(self.path)), self.symbol.split(".")
        if self.category is not Category.IMPLEMENTATION or self.kind is SymbolKind.KEY or self.is_hidden:
            return False
        if language.exports_capitals:
            return all(part[:1].isupper() for part in parts)
        if language.public:
            return language.public in self.signature.split()
        return not any(part.startswith(("_", "#")) and not part.endswith("__") for part in parts)


def compare(file: Differing) -> list[ChangedDefinition]:
    """Return the definitions of a file that differ, without those in one that was added or removed as a whole."""
    old, new = (_read(path, data) for path, data in ((file.before, file.old), (file.path, file.new)))
    changes = []
    for key in dict.fromkeys((*old, *new)):
        befores, afters = old.get(key, []), new.get(key, [])
        same = {side.text for side in afters} & {side.text for side in befores}
        lost, come = ([other for other in side if other.text not in same] for side in (befores, afters))
        changes += [_changed(file, before, after) for before, after in zip(lost, come, strict=False)]
        changes += [_of(file, side, Change.REMOVED) for side in lost[len(come) :]]
        changes += [_of(file, side, Change.ADDED) for side in come[len(lost) :]]
        if file.before != file.path and "." not in key[0]:
            changes += [_of(file, side, Change.MOVED) for side in afters if side.text in same]
    whole = {(row.change, row.symbol) for row in changes if row.change in (Change.ADDED, Change.REMOVED)}
    return [row for row in changes if (row.change, row.symbol.rpartition(".")[0]) not in whole]


class _Side(NamedTuple):
    """A definition before or after. text: its own lines. is_hidden: whether its file exports others only.

    parameters, value: of its facts; None and "" where there are none.
    """

    symbol: Symbol
    text: str
    file: ParsedFile
    parameters: Sequence[Parameter] | None
    value: str
    is_hidden: bool


def _read(path: str, data: bytes) -> dict[tuple[str, SymbolKind], list[_Side]]:
    parsed = parse_file(path, data)
    text = read_text(data)
    if isinstance(text, NotText):
        return {}
    lines = text.text.split("\n")
    facts = unpack(parsed.code.data) if parsed.code else NO_FACTS
    values = [names_in(export.value) for export in facts.exports if not export.module]
    # An exported value without names may hold any definition.
    exported = frozenset[str]().union(*values) if all(values) else ()
    sides: dict[tuple[str, SymbolKind], list[_Side]] = {}
    stated = grouped((fact.qualified, fact) for fact in sorted(facts.declared, key=attrgetter("line")))
    symbols = sorted(parsed.symbols, key=attrgetter("start_line"))
    for symbol in parsed.symbols:
        if symbol.kind is not SymbolKind.SECTION:
            begun = stated[symbol.qualified_name]
            first = bisect_left(begun, symbol.start_line, key=attrgetter("line"))
            declared = next((fact for fact in begun[first : first + 1] if fact.line <= symbol.end_line), None)
            is_hidden = bool(exported) and symbol.qualified_name.partition(".")[0] not in exported
            said = (declared.parameters, declared.value) if declared else (None, "")
            side = _Side(symbol, _own_text(symbol, symbols, lines), parsed, *said, is_hidden)
            sides.setdefault((symbol.qualified_name, symbol.kind), []).append(side)
    return sides


def _own_text(symbol: Symbol, symbols: Sequence[Symbol], lines: Sequence[str]) -> str:
    """Return the lines of a definition without those of definitions in it, which are compared on their own.

    symbols: in the order of their first lines.
    """
    if symbol.start_line == symbol.end_line:
        return lines[symbol.start_line - 1].rstrip()
    hidden: set[int] = set()
    first = bisect_left(symbols, symbol.start_line, key=attrgetter("start_line"))
    for inner in islice(symbols, first, bisect_right(symbols, symbol.end_line, key=attrgetter("start_line"))):
        is_inside = inner.end_line <= symbol.end_line and inner is not symbol
        if is_inside and (symbol.kind in _CONTAINERS or inner.kind in (*CALLABLE, SymbolKind.TYPE)):
            hidden.update(range(inner.start_line, inner.end_line + 1))
    if symbol.start_line in hidden:  # A class of one line shares it with its members.
        hidden.clear()
    own_lines = (lines[n - 1].rstrip() for n in range(symbol.start_line, symbol.end_line + 1) if n not in hidden)
    return "\n".join(line for line in own_lines if line)


def _changed(file: Differing, before: _Side, after: _Side) -> ChangedDefinition:
    was, now = (" ".join(side.symbol.signature.split()) for side in (before, after))
    changed = after.symbol.kind in (*CALLABLE, *_CONTAINERS) and was != now
    changes = _of(file, after, Change.SIGNATURE if changed else Change.BODY)
    is_breaking = changed and _breaks(before, after)
    breaks_all = is_breaking and not _share_a_count(before.parameters, after.parameters)
    has_body = "{" in before.text or "=>" in before.text
    changes = changes._replace(took=before.symbol.takes, takes=after.symbol.takes, has_body=has_body)
    return changes._replace(was=before.symbol.signature, is_breaking=is_breaking, breaks_all=breaks_all)


def _of(file: Differing, side: _Side, change: Change) -> ChangedDefinition:
    path = file.before if change is Change.REMOVED else file.path
    symbol, is_lost = side.symbol, change in (Change.REMOVED, Change.MOVED)
    kind = (symbol.qualified_name, symbol.kind, side.file.category)
    was = symbol.signature if change is Change.REMOVED else ""
    return ChangedDefinition(
        change, path, symbol.start_line, *kind, symbol.signature, was, file.before, is_lost, is_lost, side.is_hidden
    )


def _breaks(before: _Side, after: _Side) -> bool:
    """Return whether a call that the signature before allowed may be wrong after."""
    if before.symbol.kind not in CALLABLE:
        return False
    old, new = before.parameters, after.parameters
    if old is None or new is None:
        return True
    if describe(before.file.language).types_calls and before.value != after.value:
        return True
    rest, now_rest = ({parameter.name for parameter in side if parameter.rest} for side in (old, new))
    if not rest <= now_rest:
        return True
    by_name, now_by_name = (starred_parameters(side.text, side.file.language) for side in (before, after))
    named = {parameter.name: parameter for parameter in new if not parameter.rest}
    placed = [parameter for parameter in old if not parameter.rest and parameter.name not in by_name]
    now_placed = [parameter for parameter in named.values() if parameter.name not in now_by_name]
    added = [parameter for parameter in now_placed[len(placed) :] if parameter.name not in by_name]
    added += [named[name] for name in now_by_name - by_name]
    pairs = zip(placed, now_placed, strict=False)
    if len(now_placed) < len(placed) or any(not parameter.optional for parameter in added):
        return True
    is_same = all(_takes_the_same(*pair, named, before.file.language) for pair in pairs)
    needed = {parameter.name for parameter in old if not parameter.optional}
    is_given = all(name in named and (named[name].optional or name in needed) for name in by_name)
    return not (is_same and is_given)


def _share_a_count(old: Sequence[Parameter] | None, new: Sequence[Parameter] | None) -> bool:
    """Return whether some number of arguments is right before and after."""
    if old is None or new is None:
        return True
    before, after = Takes.of(old), Takes.of(new)
    return before.least <= after.most and after.least <= before.most


def _takes_the_same(was: Parameter, now: Parameter, named: Collection[str], language: str) -> bool:
    if was.optional and not now.optional:
        return False
    if describe(language).types_calls:
        return was.value == now.value
    return was.name == now.name or (not describe(language).names_arguments and was.name not in named)
