"""How code reaches other code: what `trace_relations` asks and writes for `from`, `to` and `question`."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, field
from msgspec.structs import replace

from graphrag_mcp.app.session import View
from graphrag_mcp.errors import RequestError
from graphrag_mcp.graph.chains import Branch, Chain, Flow, Link
from graphrag_mcp.model.fields import Before
from graphrag_mcp.model.files import CALLABLE, VARIABLE, Category, RelationKind, SymbolKind
from graphrag_mcp.model.graph import Certainty, CodeNode, Line
from graphrag_mcp.model.search import Hit, SearchRequest
from graphrag_mcp.text.counts import counted, listed
from graphrag_mcp.text.names import NAME, SEPARATORS, as_name, is_identifier
from graphrag_mcp.text.words import index_words, query_words
from graphrag_mcp.tools.arguments import MAXIMUM_QUERY, SYMBOL, CodeArguments, SymbolText, hint, stripped
from graphrag_mcp.tools.code_answer import LINE_CHARACTERS, CodeAnswer, answer_of, lay_out, location_of
from graphrag_mcp.tools.excerpts import match_of
from graphrag_mcp.tools.printing import one_line, printable
from graphrag_mcp.tools.tool import Call, page_of

if TYPE_CHECKING:
    from graphrag_mcp.app.view import IndexView
    from graphrag_mcp.graph.navigator import Navigator


MAX_ENDS = 12  # A question has no more on each side.
MAX_HITS = 25
_PER_NAMESAKE = 0.02  # What the second definition of a name costs more than the first.
_OF_A_TYPE = 0.25  # What a member costs that has the name, where something else has it without an owner.
_GUESS = 0.3  # An end that costs more is a guess.
_PER_WORD = 0.2  # Each word of the question in a name adds this.
_OF_ALL = 0.4  # A candidate that only a search for the whole question finds has this share of its rank.
_PER_RANK = 0.05  # What the second candidate of a question costs more than the first.
_PIVOTS = (  # From what certainly begins the end of a flow to what may.
    r"(?:,|;|\.|\?|:) (?:and )?how\b",
    (
        r"\b(?:until|end(?:s|ing)? up|take(?:s)? effect|get(?:s)? (?:to|as far as)|come(?:s)? to|arrive(?:s)?"
        r"|lead(?:s)? to|result(?:s)? in|make(?:s)? it to|reach(?:es)?|become(?:s)?|turn(?:s|ed)? into)\b"
    ),
    r"\b(?:into|affect(?:s)?|limit(?:s)?)\b",
)
_NAMES = re.compile(f"`([^`]+)`|({NAME.pattern})")
_CODE_KINDS = (*CALLABLE, SymbolKind.TYPE, *VARIABLE)
Ends = Mapping[CodeNode, float]
MAXIMUM_ENDS = 10  # On each side of a flow.
QuestionText = Annotated[str, Before(stripped), Meta(max_length=MAXIMUM_QUERY)]
EndNames = Annotated[
    tuple[SymbolText, ...],
    Meta(max_length=MAXIMUM_ENDS),
    Before(lambda ends: [ends] if isinstance(ends, str) else ends),
]
LINES_AROUND = 2  # Before and after the line of a link, in the first chain of a flow.
FIRST_CHARACTERS = 1_800  # The first chain has no more, with the lines around its links.
NAMESAKES_SHOWN = 4
LINES_SHOWN = 4  # Further ones with a link.
MOST_ABOVE = 12  # Lines of attributes above the name of a definition.
_WORDS = re.compile(r"\w+")
_TELLING = re.compile(r"\w")  # A line without one, such as a brace, is not shown.
_SAID = {
    RelationKind.HANDS_ON: "hands over",
    RelationKind.USES: "hands over the type",
    RelationKind.CONTAINS: "contains",
    RelationKind.WRITES: "writes",
}
_PARTS = (RelationKind.CONTAINS, RelationKind.USES)
_NO_CALLS = ("by data", "as a part")
_CERTAINTY = {
    Certainty.CERTAIN: "certain",
    Certainty.MAY_CALL: "may call",
    Certainty.BY_NAME: "by name only",
}


class FlowArguments(CodeArguments, frozen=True, kw_only=True):
    """What names the ends of a flow."""

    symbol: Annotated[
        str, Meta(max_length=1_000), f"{SYMBOL}.", hint("name, Class.name, path::name, path:line or path")
    ] = ""
    from_: Annotated[
        EndNames,
        "Symbols, or one: how they reach `to`; without `to`, what they lead to.",
        hint("symbols: how they reach `to`"),
    ] = field(default=(), name="from")
    to: Annotated[EndNames, "Symbols, or one: what reaches them."] = ()
    question: Annotated[
        QuestionText,
        "How something reaches, becomes or affects something else; finds `from` and `to` if they are not given.",
        hint("how X reaches Y; finds from and to"),
    ] = ""

    @property
    def is_flow(self) -> bool:
        """Whether it asks how code reaches other code."""
        return bool(self.from_ or self.to or self.question)

    @property
    def starts(self) -> Sequence[str]:
        """The symbols at which a flow starts."""
        return self.from_ or [name for name in [self.symbol.strip()] if name]


def parts_of(question: str) -> tuple[str, str]:
    """Return what a question says of the start and of the end of a flow; twice the whole where that is not told."""
    for pivot in _PIVOTS:
        for match in re.finditer(pivot, question, re.IGNORECASE):
            before, after = question[: match.start()], question[match.end() :]
            if query_words(before) and query_words(after):
                return before, after
    return question, question


def find_hits(view: View, call: Call[FlowArguments]) -> list[Sequence[Hit]]:
    """Return what a search finds for each part of the question that no argument names, then for all of it."""
    arguments = call.arguments
    if not arguments.question or (arguments.starts and arguments.to):
        return [(), (), ()]
    scope = replace(call.scope, categories=frozenset((Category.IMPLEMENTATION,)))
    parts = (*parts_of(arguments.question), arguments.question)
    needed = (not arguments.starts, not arguments.to, parts[0] != parts[1])
    requests = [SearchRequest(part, limit=MAX_HITS, scope=scope, include_graph_context=False) for part in parts]
    return [
        view.search(request).primary if is_needed else () for request, is_needed in zip(requests, needed, strict=True)
    ]


def ends_of(navigator: "Navigator", call: Call[FlowArguments], hits: Sequence[Sequence[Hit]]) -> tuple[Ends, Ends]:
    """Return the starts and the ends, each with what it costs to choose it. Raises RequestError for unknown names."""
    arguments = call.arguments
    parts = parts_of(arguments.question)
    *of_parts, of_all = hits
    sides = [
        _named(navigator, call, names) if names else _asked(navigator, call, part, searched, of_all)
        for part, names, searched in zip(parts, (arguments.starts, arguments.to), of_parts, strict=True)
    ]
    if parts[0] == parts[1] and arguments.question and not (arguments.starts or arguments.to):
        sides = _in_order(navigator, call, arguments.question) or sides
    if sides[0] and (arguments.to or not any(sides[1].values())):  # What a search finds costs something.
        sides[1] = {**_members(navigator, sides[1]), **sides[1]}
    return sides[0], sides[1]


def _named(navigator: "Navigator", call: Call[FlowArguments], names: Sequence[str]) -> Ends:
    weights: dict[CodeNode, float] = {}
    problem: RequestError | None = None
    for name in names:
        try:
            nodes = _code(navigator.starts(name, call.scope))[:MAX_ENDS]
            whole = [node for node in nodes if node.qualified_name == name.strip()]
            others = [node for node in nodes if node not in whole]
            least = _OF_A_TYPE if whole else 0.0
            weights |= {node: _PER_NAMESAKE * place for place, node in enumerate(whole)}
            weights |= {node: min(least + _PER_NAMESAKE * place, _GUESS) for place, node in enumerate(others)}
        except RequestError as error:
            problem = error
    if problem is not None and not weights:
        raise problem
    return weights


def _members(navigator: "Navigator", ends: Ends) -> dict[CodeNode, float]:
    """Return the functions of the types among some ends: who reaches one of them reaches the type."""
    types = {node: cost for node, cost in ends.items() if node.kind is SymbolKind.TYPE}
    return {
        member: cost
        for node, cost in types.items()
        for member in navigator.code_at(node.path, node.start_line, node.end_line)
        if member.qualified_name.startswith(f"{node.qualified_name}.")
    }


def _asked(
    navigator: "Navigator", call: Call[FlowArguments], part: str, hits: Sequence[Hit], of_all: Sequence[Hit]
) -> Ends:
    """Return the definitions that a part of a question names, else those that searches for it and for all find."""
    scores: dict[CodeNode, float] = {}
    words = frozenset(index_words(part))
    for name in names_in(part):
        scores |= _told_apart(_code(navigator.known(name, call.scope)), words)
    if scores:
        return scores
    for ranked, least in ((hits, 0.0), (of_all, _OF_ALL)):
        for rank, hit in enumerate(ranked):
            match = match_of(hit)
            nodes = navigator.code_at(hit.chunk.path, match.start_line, match.end_line)
            shared = {node: len(words.intersection(index_words(node.qualified_name))) for node in nodes}
            for place, node in enumerate(sorted(nodes, key=lambda node: -shared[node])[:3]):
                scores.setdefault(node, least + _PER_RANK * (rank + place) - _PER_WORD * shared[node])
    lowest = min(scores.values(), default=0.0)
    return {node: cost - lowest for node, cost in sorted(scores.items(), key=lambda item: item[1])[:MAX_ENDS]}


def _told_apart(nodes: Sequence[CodeNode], words: frozenset[str]) -> dict[CodeNode, float]:
    """Return definitions of one name, those first and cheapest whose path and owner have most words of the question."""
    shared = {node: len(words.intersection(index_words(f"{node.path} {node.qualified_name}"))) for node in nodes}
    most = max(shared.values(), default=0)
    costs = {node: _PER_WORD * (most - count) for node, count in shared.items()}
    return dict(sorted(costs.items(), key=lambda item: item[1])[:MAX_ENDS])


def _in_order(navigator: "Navigator", call: Call[FlowArguments], question: str) -> list[Ends]:
    """Return the first and the last definition that a question names, [] unless it names two."""
    words = frozenset(index_words(question))
    named = (_told_apart(_code(navigator.known(name, call.scope)), words) for name in names_in(question))
    known = list(filter(None, named))
    return [known[0], known[-1]] if len(known) > 1 else []


def names_in(text: str) -> Iterator[str]:
    """Yield the names of code in a text: what is between backticks, and what only code is written like."""
    for quoted, name in _NAMES.findall(text):
        if quoted or is_identifier(name):
            yield quoted or name.rstrip(".")


def _code(nodes: Sequence[CodeNode]) -> list[CodeNode]:
    """Return what can be a part of a flow: code before tests, and nothing else if there is some."""
    code = [node for node in nodes if node.kind in _CODE_KINDS]
    return [node for node in code if node.category is code[0].category] if code else list(nodes[:1])


def find_flow(view: "IndexView", call: Call[FlowArguments]) -> CodeAnswer[Flow, Chain | Branch]:
    hits, navigator = find_hits(view, call), view.navigator
    ends = ends_of(navigator, call, hits)
    flow = navigator.flow(*ends, call.arguments.question, call.scope)
    links = [link for _, link in flow.tree] + [link for chain in flow.chains for link in chain.links]
    links += [*flow.beside]
    links += [link for gap in flow.gaps[:1] for link in (*gap.before, *gap.after)]
    nodes = dict.fromkeys(node for link in links for node in (link.source, link.target))
    places = {(link.edge.path, n) for link in links for n in _lines_of(link)}
    for chain in flow.chains[:1]:
        places |= {(node.path, n) for node, lines in chain.around(LINES_AROUND).items() for n in lines}
    texts = navigator.texts(places)

    def told(link: Link) -> Link:
        return replace(link, text=texts.get((link.edge.path, _line_of(link, texts)), "").strip())

    rows: list[Chain | Branch] = [Chain(tuple(map(told, chain.links))) for chain in flow.chains]
    rows += [Branch(depth, told(link)) for depth, link in flow.tree]
    page = page_of(rows, call.first, call.arguments.limit)
    return answer_of(view, flow, page, nodes, texts)


def flow_text(answer: CodeAnswer[Flow, Chain | Branch], call: Call[FlowArguments]) -> str:
    """Return the chains, the best first, each hop above the line that leads on; without one, where the graph ends."""
    flow = answer.result
    head: list[str] = []
    if flow.tree:
        names = _names(flow.starts or flow.ends)
        word = "from" if flow.starts else "to"
        head = [f"{counted(len(flow.tree), 'step')} {word} {names}, the most relevant first."]
    tail = [] if flow.tree or flow.chains else list(_where_it_breaks(flow, call, answer.texts))
    if flow.through:
        tail.append(f"Further chains go through {listed(list(map(location_of, flow.through)), len(flow.through))}.")
    near = [line for node in flow.near for line in (_hop(node), *_excerpt(node, {}, answer.texts, _beside(node, flow)))]
    if flow.is_guessed and flow.chains:
        head = ["An end of the flow is guessed. The question names most:", *near, "A chain between guesses:"]
    elif near:
        tail += ["Near, on none of these chains:" if flow.chains else "Near:", *near]
    tail += _namesakes(flow, call)
    if flow.is_cut:
        count = counted(len(flow.tree), "step") if flow.tree else counted(len(flow.chains), "chain")
        head = [f"At least {count}: the search was cut by a limit.", *head]

    def lines(row: Chain | Branch) -> list[str]:
        if isinstance(row, Branch):
            depth, link = row
            far = link.target if flow.starts else link.source
            return ["  " * (depth - 1) + f"{_hop(far)}   {_site(link, answer.texts)}"]
        return _chain_lines(row, flow, answer.texts)

    return lay_out(answer, call, head, lines, tail)


def _namesakes(flow: Flow, call: Call[FlowArguments]) -> Iterator[str]:
    """Yield, for each argument, the other definitions that a name of it may mean: a chain has the nearest one."""
    chosen = {(node.path, node.qualified_name) for chain in flow.chains for node in chain.nodes}
    known = {node.name for chain in flow.chains for node in chain.nodes}
    for argument, names, nodes in (("from", call.arguments.starts, flow.starts), ("to", call.arguments.to, flow.ends)):
        asked = known & {SEPARATORS.split(name)[-1] for name in names}
        others = [node for node in nodes if node.name in asked and (node.path, node.qualified_name) not in chosen]
        if others:
            where = listed([location_of(node) for node in others], NAMESAKES_SHOWN)
            named = ", ".join(sorted({as_name(node.name) for node in others}))
            yield f"Other definitions named {named} ({call.asking.argument(argument)}): {where}"


def _beside(node: CodeNode, flow: Flow) -> Sequence[Link]:
    return [link for link in flow.beside if link.source == node]


def _chain_lines(chain: Chain, flow: Flow, texts: Mapping[Line, str]) -> list[str]:
    """Return a chain; of one after the first only what is different, between two definitions that both have.

    The first one has the lines around each site too, as many as fit.
    """
    if chain != flow.chains[0]:
        return _hops(chain, flow, texts, {})
    written = (_hops(chain, flow, texts, chain.around(radius)) for radius in range(LINES_AROUND, 0, -1))
    fitting = (lines for lines in written if sum(map(len, lines)) <= FIRST_CHARACTERS)
    return next(fitting, None) or _hops(chain, flow, texts, {})


def _hops(chain: Chain, flow: Flow, texts: Mapping[Line, str], around: Mapping[CodeNode, range]) -> list[str]:
    first, place = flow.chains[0], flow.chains.index(chain)
    printed = [node for earlier in flow.chains[:place] for node in earlier.nodes]
    before, after = (0, 0) if chain == first else _shared_ends(chain, first)
    links = chain.links[before : len(chain.links) - after]
    kinds = Counter(map(_kind, links))
    said = [f"{kinds[kind]:,} {kind}" for kind in (*_CERTAINTY.values(), *_NO_CALLS) if kinds[kind]]
    start, end = links[0].source, links[-1].target
    also = "" if chain == first else "also "
    way = f"{also}{'leads to' if any(kinds[kind] for kind in _NO_CALLS) else 'reaches'}"
    lines = [f"{as_name(start.qualified_name)} {way} {as_name(end.qualified_name)}: {', '.join(said)}."]
    for number, link in enumerate(links, before + 1):
        beside = [] if link.source in printed else _beside(link.source, flow)
        lines += [f"{number} {_hop(link.source)}", *_excerpt(link.source, around, texts, beside, link)]
    beside = [] if end in printed else _beside(end, flow)
    return [*lines, f"{before + len(links) + 1} {_hop(end)}", *_excerpt(end, around, texts, beside)]


def _kind(link: Link) -> str:
    """Return what a link is counted as: a value that is read elsewhere, and what is in a type, are no calls."""
    return "by data" if link.read else "as a part" if link.edge.relation in _PARTS else _CERTAINTY[link.edge.certainty]


def _excerpt(
    node: CodeNode,
    around: Mapping[CodeNode, range],
    texts: Mapping[Line, str],
    beside: Sequence[Link],
    link: Link | None = None,
) -> list[str]:
    """Return the line that leads on, those that lead to others and, marked as ripgrep marks them, those around it."""
    shown = {n: texts.get((node.path, n), "").expandtabs(2).rstrip() for n in around.get(node, ())}
    indent = min((len(text) - len(text.lstrip()) for text in shown.values() if text), default=0)
    rows = {
        n: f"    {n}- {printable(text[indent:][:LINE_CHARACTERS])}"
        for n, text in shown.items()
        if _TELLING.search(text)
    }
    for hop in (*beside, *((link,) if link else ())):
        line, to = _line_of(hop, texts), "" if hop is link else as_name(hop.target.qualified_name)
        blanks = " " * (len(shown[line]) - len(shown[line].lstrip()) - indent) if line in shown else ""
        rows[line] = f"    {_site(hop, texts, blanks, to)}"
    return [rows[n] for n in sorted(rows)]


def _shared_ends(chain: Chain, first: Chain) -> tuple[int, int]:
    most = min(len(chain.links), len(first.links)) - 1
    before = next((n for n in range(most) if chain.links[n] != first.links[n]), most)
    after = next((n for n in range(most - before) if chain.links[-1 - n] != first.links[-1 - n]), most - before)
    return before, after


def _hop(node: CodeNode) -> str:
    name = "" if node.is_file else f":{node.start_line}  {as_name(node.qualified_name)}"
    return f"{as_name(node.path)}{name}"


def _names(nodes: Sequence[CodeNode]) -> str:
    return ", ".join(as_name(node.qualified_name) for node in nodes[:3])


def _site(link: Link, texts: Mapping[Line, str], indent: str = "", to: str = "") -> str:
    """Return the line of a link, and what it is unless it is a call that is certain; to: whereto, if that is said."""
    place = (link.edge.path, _line_of(link, texts))
    where = "" if link.edge.path == link.source.path else f"{as_name(link.edge.path)}:"
    words = [link.read] if link.read else [_SAID[link.edge.relation]] if link.edge.relation in _SAID else []
    if link.edge.certainty is Certainty.BY_NAME:
        words.append("by name only")
    elif link.edge.certainty is Certainty.MAY_CALL and not words:
        words.append("may call")
    if link.choices > 1:
        words.append(f"one of {link.choices}")
    words += [f"to {to}"] if to else []
    words += (
        [f"also {listed(list(map(str, link.also)), LINES_SHOWN)}"] if link.also and place[1] == link.edge.line else []
    )
    text = texts.get(place, "").strip()[:LINE_CHARACTERS].rstrip()
    said = f" ({', '.join(words)})" if words else ""
    return f"{where}{place[1]}{said}: {indent}{one_line(text)}"


def _lines_of(link: Link) -> range:
    """Return the line of a link; where it may be that of an attribute above a definition, those below it too."""
    path, line = link.edge.path, link.edge.line
    may_have_none = link.edge.relation is RelationKind.CONTAINS or link.edge.certainty is Certainty.MAY_CALL
    nodes = (link.source, link.target) if may_have_none else ()
    last = next((node.end_line for node in nodes if (node.path, node.start_line) == (path, line)), line)
    return range(line, min(last, line + MOST_ABOVE) + 1)


def _line_of(link: Link, texts: Mapping[Line, str]) -> int:
    """Return the line of a link; of one without a line of its own that with the name of the definition."""
    ends = {link.source.name, link.target.name}
    lines = ((n, _WORDS.findall(texts.get((link.edge.path, n), ""))) for n in _lines_of(link))
    return next((n for n, words in lines if not ends.isdisjoint(words)), link.edge.line)


def _where_it_breaks(flow: Flow, call: Call[FlowArguments], texts: Mapping[Line, str]) -> Iterator[str]:
    """Yield how far a search without a chain got, and the ends that a question was taken to mean."""
    arguments, asking = call.arguments, call.asking
    if not flow.starts and not flow.ends:
        start, end = map(asking.argument, ("from", "to"))
        yield f"No definition is found for the question; name some with {start} and {end}."
        return
    if not flow.starts or not flow.ends:
        names = _names(flow.starts or flow.ends)
        yield f"Nothing is known that {names} leads to." if flow.starts else f"Nothing is known to lead to {names}."
        return
    starts, ends = (_names(flow.starts), _names(flow.ends))
    yield f"No chain is known from {starts} to {ends}."
    yield f"Looked at {counted(flow.reached, 'definition')} after the start, {flow.reaching:,} before the end."
    for gap in flow.gaps[:1]:
        yield from _links("Known from the start:", gap.before, texts)
        yield f"Not known: how {_hop(gap.reached)} leads to {_hop(gap.reaching)}"
        yield from _links("Known to the end:", gap.after, texts)
    if flow.stops:
        stops = ", ".join(f"{as_name(stop.name)} ({as_name(stop.path)}:{stop.line})" for stop in flow.stops)
        yield f"Not followed, since it is not known which definition is meant: {stops}"
    guessed = [("from", flow.starts)] * (not arguments.starts) + [("to", flow.ends)] * (not arguments.to)
    for name, nodes in guessed:
        yield f"Call again with {asking.argument(name)}, one of: " + ", ".join(map(location_of, nodes[:5]))


def _links(title: str, links: Sequence[Link], texts: Mapping[Line, str]) -> Iterator[str]:
    if not links:
        return
    yield title
    for link in links:
        yield _hop(link.source)
        yield f"    {_site(link, texts)}"
    yield _hop(links[-1].target)
