"""Says of a miss at which step it was lost: never indexed, filtered, never a candidate, or ranked too low."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from graphrag_mcp.evaluation.judged import JudgedQuery
from graphrag_mcp.evaluation.scores import CUTOFF

FindReason = Callable[[str], str]
AskDeep = Callable[[JudgedQuery], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Miss:
    """A query of which no relevant file is among the first ten, with the reason for each of those files."""

    query: JudgedQuery
    reasons: tuple[str, ...]


def diagnose(query: JudgedQuery, why_absent: FindReason, ask_deep: AskDeep) -> Miss:
    """Explain a miss.

    why_absent: why a file cannot be found, "" when it can. ask_deep: the paths of all candidates, best first.
    """
    ranked = list(dict.fromkeys(ask_deep(query)))
    return Miss(query, tuple(f"{path}: {_reason(path, ranked, why_absent)}" for path in sorted(query.relevant)))


def _reason(path: str, ranked: Sequence[str], why_absent: FindReason) -> str:
    if absent := why_absent(path):
        return absent
    if path not in ranked:
        return "never a candidate: neither its words nor its meaning came near"
    place = ranked.index(path) + 1
    if place <= CUTOFF:
        return f"file {place}, behind several chunks of other files"
    return f"ranked low: file {place} of {len(ranked)} candidates"
