"""Which definitions a question about a flow means."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from pydantic import BeforeValidator, Field, StringConstraints

from graphrag_mcp.app.session import View
from graphrag_mcp.errors import RequestError
from graphrag_mcp.model.files import CALLABLE, VARIABLE, Category, SymbolKind
from graphrag_mcp.model.graph import CodeNode
from graphrag_mcp.model.search import Hit, SearchRequest
from graphrag_mcp.text.names import NAME, is_identifier
from graphrag_mcp.text.words import index_words, query_words
from graphrag_mcp.tools.arguments import MAXIMUM_QUERY, SYMBOL, CodeArguments, SymbolText, hint
from graphrag_mcp.tools.matches import match_of
from graphrag_mcp.tools.tool import Call

if TYPE_CHECKING:  # They import numpy through the ports, and no client should wait for that.
    from graphrag_mcp.graph.navigator import Navigator

MAX_ENDS = 12  # A question has no more on each side.
MAX_HITS = 25
_PER_NAMESAKE = 0.02  # What the second definition of a name costs more than the first.
_OF_A_TYPE = 0.25  # What a member costs that has the name, where something else has it without an owner.
_MOST = 0.3  # An end that costs more is a guess.
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
QuestionText = Annotated[str, StringConstraints(strip_whitespace=True, max_length=MAXIMUM_QUERY)]
EndNames = Annotated[
    list[SymbolText],
    Field(max_length=MAXIMUM_ENDS),
    BeforeValidator(lambda ends: [ends] if isinstance(ends, str) else ends),
]


class FlowArguments(CodeArguments):
    """What names the ends of a flow."""

    symbol: str = Field(
        "",
        max_length=1_000,
        description=f"{SYMBOL}.",
        json_schema_extra=hint("name, Class.name, path::name, path:line or path"),
    )
    from_: EndNames = Field(
        [],
        alias="from",
        description="Symbols, or one: how they reach `to`; without `to`, what they lead to.",
        json_schema_extra=hint("symbols: how they reach `to`"),
    )
    to: EndNames = Field([], description="Symbols, or one: what reaches them.")
    question: QuestionText = Field(
        "",
        description="How something reaches, becomes or affects something else; finds `from` and `to` if they are not "
        "given.",
        json_schema_extra=hint("how X reaches Y; finds from and to"),
    )

    @property
    def is_flow(self) -> bool:
        """Whether it asks how code reaches other code."""
        return bool(self.from_ or self.to or self.question)

    @property
    def starts(self) -> list[str]:
        """The symbols at which a flow starts."""
        return self.from_ or list(filter(None, [self.symbol.strip()]))


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
            weights |= {node: min(least + _PER_NAMESAKE * place, _MOST) for place, node in enumerate(others)}
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
