"""Count what an agent reads until it has seen the first right result: our answers, semble's, and grep with reading.

    python -m benchmarks.tokens --repos-dir CHECKOUTS --benchmark DIR --scope root [--semble ANSWERS.json]

Runs in an environment with `tiktoken` beside this project. CHECKOUTS and DIR are those of quality.py. ANSWERS.json
comes from `peer_semble.py --answers`, asked with `--top-k 50`.

The cost of a query is the number of tokens (cl100k_base) of the answer's text, as a client receives it, up to and
including the first result whose file is a target's and whose lines overlap the target's, where it has any. An answer
without one costs all of its text, and so do the next pages, by cursor, up to LIMIT tokens. "texts alone" is the count
that semble publishes: whole chunks without paths, lines or anything else around them.
"""

import argparse
import json
import os
import re
import statistics
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from benchmarks.figures import add_option, write_rows
from graphrag_mcp.app.local import App
from graphrag_mcp.embedding.models import load_embedder
from graphrag_mcp.errors import RequestError
from graphrag_mcp.exclusion.manager import ExclusionManager
from graphrag_mcp.exclusion.walker import WalkedFile, walk
from graphrag_mcp.model.search import SearchRequest
from graphrag_mcp.settings import load_settings
from graphrag_mcp.text.words import query_words
from graphrag_mcp.tools.search import HYBRID

RESULTS = 5
LIMIT = 10_000  # Tokens after which an agent gives up.
SNIPPET_LINES = 10  # semble's default: the first lines of each chunk.
GREP_WORDS = 2  # The agent greps for the rarest words of the query that occur at all.
GREP_CONTEXT = 2  # grep -C 2
GREP_LINES = 100  # An agent's tool shows no more.
GREP_CHARACTERS = 500  # Of a line: no more of minified code.
WINDOW = 200  # Lines read at a time.

Place = tuple[str, int, int]
Step = tuple[str, Sequence[Place]]  # Text that is read, and what it shows.
Page = Sequence[Step]  # What one call gives.
Count = Callable[[str], int]  # The tokens of a text.

_HEADER = re.compile(r"^(\d+)\. (.+?):(\d+)-(\d+)(?:  .*)?$", re.MULTILINE)
_CURSOR = re.compile(r'cursor="([^"]+)"')
_AFTER_RESULTS = re.compile(r"\n\n(?:Related in the code graph:|Perhaps related|Rejected approaches|\.\.\. )")
_NAME = re.compile(r"\w*(?:_|[a-z][A-Z])\w+")


@dataclass(frozen=True, slots=True)
class Cost:
    """What one query cost by one method; `answer` is all that the first call gives."""

    tokens: int
    found: bool
    answer: int


def main() -> None:
    options = read_arguments()
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["GRAPHRAG_DATA_DIR"] = str(options.data_dir or temporary)
        run(options)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Count the tokens until the first right result.")
    parser.add_argument("--repos-dir", type=Path, required=True, help="folder of the checkouts")
    parser.add_argument("--benchmark", type=Path, required=True, help="folder of queries.json and repos.json")
    parser.add_argument("--scope", choices=["root", "full"], default="root")
    parser.add_argument("--data-dir", type=Path, help="keep the indexes here and use them again")
    parser.add_argument("--semble", type=Path, help="answers of peer_semble.py --answers, of the same scope")
    parser.add_argument("--repos", nargs="*", help="only these repositories")
    parser.add_argument("--half", choices=["even", "odd"], help="only every second query")
    parser.add_argument("--no-grep", action="store_true", help="leave out grep and reading, which is slow")
    parser.add_argument("--out", type=Path, help="write each query's cost")
    add_option(parser)
    return parser.parse_args()


def run(options: argparse.Namespace) -> None:
    queries = json.loads((options.benchmark / "queries.json").read_text())
    if options.half:
        queries = queries[options.half == "odd" :: 2]
    semble = json.loads(options.semble.read_text()) if options.semble else {}
    costs: dict[str, dict[str, Cost]] = {}
    count = token_counter()
    load_embedder().embed_query("loaded once and kept, as in a server")
    for repository in json.loads((options.benchmark / "repos.json").read_text()):
        name = repository["name"]
        if options.repos and name not in options.repos:
            continue
        root = options.repos_dir / name
        start = repository["index_root"] if options.scope == "root" else ""
        app = App(root, load_settings(root, os.environ), start)
        app.index()
        corpus = Corpus(root, indexed_paths(root, start)) if not options.no_grep else None
        for query in (one for one in queries if one["repo"] == name):
            for method, steps in methods(app, query, semble.get(query["id"]), corpus).items():
                costs.setdefault(method, {})[query["id"]] = cost(steps, query["targets"], count)
        app.close()
    report(costs, {query["id"]: query["category"] for query in queries})
    part = "" if options.scope == "root" else "full: "
    for method, by_query in costs.items():
        tokens = [one.tokens for one in by_query.values()]
        cells = {
            "median": f"{statistics.median(tokens):.0f}",
            "mean": f"{statistics.mean(tokens):.0f}",
            "found, %": f"{100 * statistics.mean(one.found for one in by_query.values()):.1f}",
        }
        if options.scope == "root":
            cells["answer"] = f"{statistics.median(one.answer for one in by_query.values()):.0f}"
        write_rows(options.figures, {method: {part + column: value for column, value in cells.items()}})
    if options.out:
        rows = {method: {name: asdict(one) for name, one in of.items()} for method, of in costs.items()}
        options.out.write_text(json.dumps(rows))


def methods(
    app: App, query: Mapping[str, Any], semble: Sequence[Mapping[str, Any]] | None, corpus: "Corpus | None"
) -> dict[str, Iterator[Page]]:
    """Return the ways to the answer that are compared."""
    text = query["query"]
    ways = {
        "ours, concise": our_pages(app, text, "concise"),
        "ours, detailed": our_pages(app, text, "detailed"),
        "ours, texts alone": our_texts(app, text),
    }
    if semble is not None:
        ways["semble"] = pages(semble_results(text, semble))
        ways["semble, texts alone"] = pages((one["content"], [place_of(one)]) for one in semble)
    if corpus is not None:
        ways["grep and read"] = corpus.read_for(text)
    return ways


def cost(answers: Iterator[Page], targets: Sequence[Mapping[str, Any]], count: Count) -> Cost:
    """Add up what is read until a target is seen; each text follows on that before it."""
    first = next(answers, ())
    whole = sum(count(text) for text, _ in first)
    spent = 0
    for text, places in chain(first, chain.from_iterable(answers)):
        spent += count(text)
        if any(is_target(place, targets) for place in places):
            return Cost(spent, True, whole)
        if spent >= LIMIT:
            break
    return Cost(min(spent, LIMIT), False, whole)


def pages(steps: Iterable[Step]) -> Iterator[Page]:
    """Cut results into answers of as many as both tools give by default."""
    rest = iter(steps)
    while page := list(islice(rest, RESULTS)):
        yield page


def is_target(place: Place, targets: Sequence[Mapping[str, Any]]) -> bool:
    path, start, end = place
    return any(
        path in target["paths"]
        and (not target.get("start_line") or (start <= target["end_line"] and end >= target["start_line"]))
        for target in targets
    )


def token_counter() -> Count:
    import tiktoken  # Only here: what is counted can be tested without it.

    encoding = tiktoken.get_encoding("cl100k_base")
    return lambda text: len(encoding.encode(text, disallowed_special=()))


# ---------------------------------------------------------------- ours


def our_pages(app: App, query: str, response_format: str) -> Iterator[Page]:
    """Yield the answer, cut after each result, and then the pages after it, as the server writes them."""
    arguments: dict[str, object] = {"query": query, "response_format": response_format}
    while True:
        try:
            text = answer(app, arguments)
        except RequestError as error:  # Two letters are no question.
            text = str(error)
        yield list(results_of(text))
        cursor = _CURSOR.search(text)
        if not cursor:
            return
        arguments["cursor"] = cursor[1]


def answer(app: App, arguments: Mapping[str, object]) -> str:
    """Return what the server's tool answers."""
    call = HYBRID.read(arguments, app.settings, app.root)
    return HYBRID.write(app.ask(HYBRID.ask, call), call)


def results_of(text: str) -> Iterator[Step]:
    """Cut an answer after each of its results; what stands before the first goes with that."""
    headers: list[re.Match[str]] = []
    for header in _HEADER.finditer(text):
        if not headers or int(header[1]) == int(headers[-1][1]) + 1:  # Else it is a line of code that looks like one.
            headers.append(header)
    if not headers:
        yield text, []
        return
    rest = _AFTER_RESULTS.search(text, headers[-1].end())
    ends = [*(header.start() for header in headers[1:]), rest.start() if rest else len(text)]
    done = 0
    for header, end in zip(headers, ends, strict=True):
        yield text[done:end], [(header[2], int(header[3]), int(header[4]))]
        done = end
    yield text[done:], []


def our_texts(app: App, query: str) -> Iterator[Page]:
    """Yield the chunks of fifty results, whole."""
    found = app.search(SearchRequest(query, limit=50)).primary
    return pages((hit.chunk.text, [(hit.chunk.path, hit.chunk.start_line, hit.chunk.end_line)]) for hit in found)


# ---------------------------------------------------------------- semble


def semble_results(query: str, results: Sequence[Mapping[str, Any]]) -> Iterator[Step]:
    """Yield the JSON text of its tool's answer, result by result; as if a cursor continued it after the fifth."""
    before = '{"query": ' + json.dumps(query) + ', "results": ['
    for result in results:
        shown = dict(result) | {"content": "\n".join(result["content"].splitlines()[:SNIPPET_LINES])}
        yield before + json.dumps(shown), [place_of(result)]
        before = ", "


def place_of(result: Mapping[str, Any]) -> Place:
    return result["file_path"], result["start_line"], result["end_line"]


# ---------------------------------------------------------------- grep and read


class Corpus:
    """The files that an agent without a search tool greps and reads: those that are indexed."""

    def __init__(self, root: Path, paths: Iterable[str]) -> None:
        self._lines = {path: (root / path).read_text(errors="replace").splitlines() for path in paths}
        self._lower = {path: [line.lower() for line in lines] for path, lines in self._lines.items()}

    def read_for(self, query: str) -> Iterator[Page]:
        """Yield what grep prints for the rarest words, and then windows of the files with most of their lines.

        A word is a whole identifier as the query writes it, or else a stem of the query's telling words; what no file
        holds is tried and costs nothing. Of each file only the windows that hold a match are read, from the top.
        """
        matches = {
            word: self._grep(word)
            for word in dict.fromkeys([*map(str.lower, _NAME.findall(query)), *query_words(query)])
        }
        occurring = sorted((word for word in matches if matches[word]), key=lambda word: len(matches[word]))
        hits = sorted({place for word in occurring[:GREP_WORDS] for place in matches[word]})
        if hits:
            yield [(self._printed(hits), [])]
        files = Counter(path for path, _ in hits)
        for path, _ in sorted(files.items(), key=lambda item: (-item[1], item[0])):
            windows = sorted({number // WINDOW for where, number in hits if where == path})
            for window in windows:
                lines = self._lines[path][window * WINDOW : (window + 1) * WINDOW]
                first = window * WINDOW + 1
                text = "\n".join(f"{number}\t{line}" for number, line in enumerate(lines, first))
                yield [(f"{path}\n{text}\n", [(path, first, first + len(lines) - 1)])]

    def _grep(self, word: str) -> list[tuple[str, int]]:
        return [
            (path, number) for path, lines in self._lower.items() for number, line in enumerate(lines) if word in line
        ]

    def _printed(self, hits: Sequence[tuple[str, int]]) -> str:
        """Return `grep -rniE -C 2 WORD|WORD`, cut after GREP_LINES lines."""
        shown: list[str] = []
        for (path, number), previous in zip(hits, [None, *hits], strict=False):
            after = previous[1] + GREP_CONTEXT + 1 if previous is not None and previous[0] == path else 0
            first = max(number - GREP_CONTEXT, after, 0)
            if shown and first > after:
                shown.append("--")
            lines = self._lines[path][first : number + GREP_CONTEXT + 1]
            shown += [f"{path}:{place}:{line[:GREP_CHARACTERS]}" for place, line in enumerate(lines, first + 1)]
            if len(shown) >= GREP_LINES:
                break
        return "\n".join(shown[:GREP_LINES]) + "\n"


def indexed_paths(root: Path, start: str) -> list[str]:
    manager = ExclusionManager(root)
    return [entry.path for entry in walk(manager, start) if isinstance(entry, WalkedFile)]


# ---------------------------------------------------------------- the table


def report(costs: Mapping[str, Mapping[str, Cost]], category_of: Mapping[str, str]) -> None:
    print(f"{'':<14}{'method':<22}{'n':>5}  median    mean   found  median if found  answer    most")
    for part in ("all", *sorted(set(category_of.values()))):
        for method, by_query in costs.items():
            chosen = [one for query, one in by_query.items() if part in ("all", category_of[query])]
            if chosen:
                print_row(part, method, chosen)


def print_row(part: str, method: str, costs: Sequence[Cost]) -> None:
    tokens, found = [one.tokens for one in costs], [one.tokens for one in costs if one.found]
    whole = [one.answer for one in costs]
    print(
        f"{part:<14}{method:<22}{len(costs):>5}{statistics.median(tokens):>8.0f}{statistics.mean(tokens):>8.0f}"
        f"{len(found) / len(costs):>8.1%}{statistics.median(found) if found else 0:>17.0f}"
        f"{statistics.median(whole):>8.0f}{max(whole):>7}"
    )


if __name__ == "__main__":
    main()
