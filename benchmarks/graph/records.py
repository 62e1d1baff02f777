"""The truth about one repository, as the checkers print it: files, symbols, sites and pairs."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple


class Place(NamedTuple):
    """Where a declaration is; an anonymous class or a lambda has no name."""

    path: str
    line: int
    name: str


class Unit(NamedTuple):
    """A file and the definition in it that encloses a line, "" for none; overloads and parts of one thing are one."""

    path: str
    qualified: str


class Use(StrEnum):
    """How a name is used."""

    CALL = "call"
    INSTANTIATE = "instantiate"
    TYPE = "type"
    VALUE = "value"
    READ = "read"
    WRITE = "write"
    BASE = "base"  # Of a declared type; a pair says the same.
    IMPORT = "import"
    RECEIVER = "receiver"  # Of a declared method, in Go.
    DESTRUCTURE = "destructure"


class Found(StrEnum):
    """What the checker says that a name is."""

    PROJECT = "project"
    OUTSIDE = "outside"
    LOCAL = "local"  # A variable, a parameter, a label.
    DISPUTED = "disputed"  # One checker of two, or each another.
    UNKNOWN = "unknown"


class Pair(StrEnum):
    """How a declaration is below another."""

    IMPLEMENTS = "implements"
    EXTENDS = "extends"
    OVERRIDES = "overrides"
    EMBEDS = "embeds"
    SATISFIES = "satisfies"  # An interface with at least the methods of another.
    LAMBDA = "lambda"


@dataclass(frozen=True, slots=True)
class Symbol:
    """A declaration with its whole span. local: inside a function or a nameless object."""

    place: Place
    start: int
    end: int
    qualified: str
    kind: str
    local: bool

    @property
    def group(self) -> Unit:
        """What its overloads share with it; a local declaration is alone."""
        return Unit(self.place.path, f"{self.qualified}:{self.place.line}" if self.local else self.qualified)


@dataclass(frozen=True, slots=True)
class Site:
    """A use of a name. dispatch: what a call may reach besides its targets."""

    path: str
    line: int
    name: str
    use: Use
    found: Found
    targets: tuple[Place, ...]
    dispatch: tuple[Place, ...]
    receiver: str


@dataclass(frozen=True)
class Truth:
    """Everything that is known of one repository. pairs: kind, what is below, what is above."""

    files: frozenset[str]
    symbols: Mapping[Place, Symbol]
    sites: tuple[Site, ...]
    pairs: tuple[tuple[Pair, Place, Place], ...]

    def unit(self, path: str, line: int) -> Unit:
        """Return the innermost definition around a line that is not local."""
        return self._painted[path].get(line, Unit(path, ""))

    def group(self, place: Place) -> Unit:
        """Return what a declaration shares with its overloads."""
        return self.symbols[place].group

    @cached_property
    def _painted(self) -> Mapping[str, Mapping[int, Unit]]:
        lines: defaultdict[str, dict[int, Unit]] = defaultdict(dict)
        for symbol in sorted(self.symbols.values(), key=lambda one: one.start - one.end):
            if not symbol.local and symbol.kind != "field":
                lines[symbol.place.path] |= dict.fromkeys(range(symbol.start, symbol.end + 1), symbol.group)
        return lines


def read_truth(file: Path) -> Truth:
    """Read what a checker printed."""
    rows: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            rows[row["record"]].append(row)
    symbols = [_symbol(row) for row in rows["symbol"]]
    return Truth(
        frozenset(row["path"] for row in rows["file"]),
        {symbol.place: symbol for symbol in symbols},
        tuple(_site(row) for row in rows["site"]),
        tuple((Pair(row["kind"]), Place(*row["source"]), Place(*row["target"])) for row in rows["pair"]),
    )


def _symbol(row: Mapping[str, Any]) -> Symbol:
    place = Place(row["path"], row["line"], row["name"])
    return Symbol(place, row["start_line"], row["end_line"], row["qualified"], row["kind"], row.get("local", False))


def _site(row: Mapping[str, Any]) -> Site:
    targets, dispatch = tuple(_places(row.get("targets"))), tuple(_places(row.get("dispatch")))
    use, found = Use(row["kind"]), Found(row["found"])
    return Site(row["path"], row["line"], row["name"], use, found, targets, dispatch, row["receiver"])


def _places(rows: Iterable[Any] | None) -> Iterator[Place]:
    return (Place(*row) for row in rows or ())
