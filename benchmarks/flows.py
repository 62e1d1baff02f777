"""Measure "how does X reach Y": the share of the chains, found by reading, that one answer of trace_relations prints.

    python -m benchmarks.flows --checkouts DIR --data DIR [--repos NAME ...] [--search] [--misses] [--sample N]

DIR has a folder for each repository of flows.json, named after it, at its commit. Each question is asked alone, and
with its ends as `from` and `to`; `--search` asks graphrag_hybrid_search instead. Kinds: a names both ends, b one, c
none. A hop is [path, name, first line, last line]: found where a line of the answer has `path:LINE` in that definition
with its name. A link is [path, line, kind, other sites "path:line" ...]: found where one of its sites is printed on or
under the line of a hop at one of its ends. Of several chains the one that is found best counts. Ends are found if both
the first and the last hop of a chain are printed. `--sample` shows printed sites with their lines, to judge by reading.
"""

import argparse
import json
import random
import re
import statistics
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.figures import add_option, write_rows
from benchmarks.questions import check_commit
from graphrag_mcp.app.local import App
from graphrag_mcp.settings import load_settings
from graphrag_mcp.tools.search import HYBRID
from graphrag_mcp.tools.trace_relations import TRACE

FLOWS = Path(__file__).parent / "flows.json"

_PATH = r"[\w@$./+-]+\.\w+"
_HEADER = re.compile(rf"^\W*(?:\d+\.?\s+)?({_PATH}):(\d+)(?:-\d+)?\b(.*)$")
_PLACE = re.compile(rf"({_PATH}):(\d+)(?:-(\d+))?\b")
_LINE = re.compile(r"(?<![\w.:/-])(\d+)(?=(?: \([^()]*\))?: |\)|, |$)")

Site = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Hop:
    """A definition on the way."""

    path: str
    name: str
    start: int
    end: int

    def is_at(self, block: "Block") -> bool:
        """Return whether a printed definition is this one."""
        last = re.split(r"[.#]", self.name)[-1]
        named = re.search(rf"(?<!\w){re.escape(last)}(?!\w)", block.text)
        return block.path == self.path and self.start <= block.line <= self.end and named is not None


@dataclass(frozen=True, slots=True)
class Chain:
    """A right answer: the sites of the link from each hop to the next, any of which will do."""

    hops: Sequence[Hop]
    links: Sequence[frozenset[Site]]


@dataclass(frozen=True, slots=True)
class Block:
    """A line that prints a definition, and the sites on it and under it."""

    path: str
    line: int
    text: str
    sites: frozenset[Site]


@dataclass(frozen=True, slots=True)
class Score:
    """What an answer prints of the chain that it prints best."""

    hops: int
    of_hops: int
    links: int
    of_links: int
    ends: bool
    characters: int

    @property
    def is_whole(self) -> bool:
        return self.hops == self.of_hops and self.links == self.of_links


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure how much of a flow one answer prints.")
    parser.add_argument("--checkouts", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True, help="folder of the indexes; they are used again")
    parser.add_argument("--repos", nargs="*", help="only these")
    parser.add_argument("--search", action="store_true", help="ask graphrag_hybrid_search, the question alone")
    parser.add_argument("--misses", action="store_true", help="name the hops and links that are not printed")
    parser.add_argument("--sample", type=int, default=0, help="printed sites to judge by reading")
    add_option(parser)
    options = parser.parse_args()
    given = json.loads(FLOWS.read_text(encoding="utf-8"))
    scores: dict[str, list[tuple[str, Score]]] = {}
    printed: list[str] = []
    for repository, commit in given["repositories"].items():
        root = (options.checkouts / repository.rpartition("/")[2]).resolve()
        flows = [flow for flow in given["flows"] if flow["repository"] == repository]
        if options.repos and root.name not in options.repos:
            continue
        check_commit(root, commit)
        with closing(App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(options.data)}))) as app:
            app.index()
            for flow in flows:
                for asked, text in ask(app, flow, search=options.search):
                    one = score(flow, text)
                    scores.setdefault(asked, []).append((flow["kind"], one))
                    printed += [f"{flow['id']} {line}" for line in printed_sites(root, text)]
                    if options.misses:
                        sys.stdout.write(f"{flow['id']} {asked}: {describe(flow, text)}\n")
    for asked, rows in scores.items():
        report(asked, rows, options.figures)
    for line in random.Random(0).sample(printed, min(options.sample, len(printed))):
        sys.stdout.write(f"{line}\n")


def ask(app: App, flow: Mapping[str, Any], *, search: bool) -> Iterator[tuple[str, str]]:
    """Yield how a flow was asked for, and the answer."""
    if search:
        call = HYBRID.read({"query": flow["question"]}, app.settings, app.root)
        yield "search", HYBRID.write(app.ask(HYBRID.ask, call), call)
        return
    question = {"question": flow["question"]}
    for asked, arguments in (("question", question), ("ends", {**question, "from": flow["from"], "to": flow["to"]})):
        trace = TRACE.read(arguments, app.settings, app.root)
        yield asked, TRACE.write(app.ask(TRACE.ask, trace), trace)


def chains(flow: Mapping[str, Any]) -> Iterator[Chain]:
    """Yield the right answers to a question."""
    for given in flow["chains"]:
        yield Chain([Hop(*hop) for hop in given["hops"]], [frozenset(_sites(link)) for link in given["links"]])


def _sites(link: Sequence[Any]) -> Iterator[Site]:
    path, line, _kind, *others = link
    yield path, line
    for other in others:
        path, _, line = other.rpartition(":")
        yield path, int(line)


def blocks(text: str) -> list[Block]:
    """Return the definitions that an answer prints."""
    found: list[Block] = []
    for line in text.splitlines():
        header = _HEADER.match(line)
        if header:
            found.append(Block(header[1], int(header[2]), header[3], frozenset(_mentioned(header[3], header[1]))))
        elif found:
            last = found[-1]
            sites = last.sites | frozenset(_mentioned(line, last.path))
            found[-1] = Block(last.path, last.line, last.text, sites)
    return found


def _mentioned(text: str, path: str) -> Iterator[Site]:
    for place in _PLACE.finditer(text):
        yield place[1], int(place[2])
    for number in _LINE.finditer(_PLACE.sub("", text)):
        yield path, int(number[1])


def score(flow: Mapping[str, Any], text: str) -> Score:
    """Return what an answer prints of a flow."""
    printed = blocks(text)
    return max(
        (_score(chain, printed, len(text)) for chain in chains(flow)),
        key=lambda one: (one.hops / one.of_hops, one.links / one.of_links),
    )


def _score(chain: Chain, printed: Sequence[Block], characters: int) -> Score:
    hops, links = found_in(chain, printed)
    return Score(sum(hops), len(hops), sum(links), len(links), hops[0] and hops[-1], characters)


def found_in(chain: Chain, printed: Sequence[Block]) -> tuple[list[bool], list[bool]]:
    """Return which hops and which links of a chain are printed."""
    at = [[block for block in printed if hop.is_at(block)] for hop in chain.hops]
    sites = [[block.sites for block in [*at[number], *at[number + 1]]] for number in range(len(chain.links))]
    links = [any(wanted & one for one in near) for wanted, near in zip(chain.links, sites, strict=True)]
    return [bool(one) for one in at], links


def printed_sites(root: Path, text: str) -> Iterator[str]:
    """Yield each printed site under its definition, with the line that stands there."""
    for block in blocks(text):
        for path, line in sorted(block.sites):
            if (root / path).is_file():
                lines = (root / path).read_text(encoding="utf-8", errors="replace").splitlines()
                code = "".join(lines[line - 1 : line]).strip()
                yield f"{block.path}:{block.line}{block.text}\n    {path}:{line}: {code}"


def describe(flow: Mapping[str, Any], text: str) -> str:
    """Name what an answer lacks of the first chain."""
    chain = next(chains(flow))
    hops, links = found_in(chain, blocks(text))
    lacking = [hop.name for hop, found in zip(chain.hops, hops, strict=True) if not found]
    lines = [
        f"{path}:{line}"
        for wanted, found in zip(chain.links, links, strict=True)
        if not found
        for path, line in sorted(wanted)[:1]
    ]
    return f"hops {', '.join(lacking) or 'all'}; links {', '.join(lines) or 'all'}"


def report(asked: str, rows: Sequence[tuple[str, Score]], figures: str | None) -> None:
    for kind in ("all", *sorted({kind for kind, _ in rows})):
        scores = [one for of, one in rows if kind in ("all", of)]
        cells = {
            "questions": str(len(scores)),
            "hops": _share((one.hops, one.of_hops) for one in scores),
            "links": _share((one.links, one.of_links) for one in scores),
            "whole": _share((one.is_whole, 1) for one in scores),
            "both ends": _share((one.ends, 1) for one in scores),
            "characters": f"{statistics.median(one.characters for one in scores):.0f}",
        }
        shown = "".join(f"  {name} {value}" for name, value in cells.items())
        sys.stdout.write(f"{asked + ' ' + kind:14s}{shown}\n")
        write_rows(figures, {f"{asked} {kind}": cells})


def _share(counts: Iterable[tuple[int, int]]) -> str:
    found, wanted = (sum(column) for column in zip(*counts, strict=True))
    return f"{found / wanted:.2f}"


if __name__ == "__main__":
    main()
